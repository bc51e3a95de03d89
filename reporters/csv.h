#ifndef TG_REPORTERS_CSV_H
#define TG_REPORTERS_CSV_H
/* CSV as defined by RFC 4180, LF line ends; shared by the reporter and `diff`. */
#include "reporters/rows.h"

/*
 * Quoted where needed, and where a line would look like a command of a CI runner (a line break
 * before one inside a name becomes a blank); bad bytes become U+FFFD. What a spreadsheet takes for a formula is left as it is:
 * docs/reports.md says so.
 */
void tg_csv_text(struct tg_buf *out, tg_sv text);
void tg_csv_header(struct tg_buf *out);
void tg_csv_row(struct tg_buf *out, tg_sv name, const struct tg_row_numbers *n);
#endif
