#ifndef TG_REPORTERS_CSV_H
#define TG_REPORTERS_CSV_H
/* CSV as defined by RFC 4180, LF line ends; shared by the reporter and `diff`. */
#include "reporters/rows.h"

/*
 * Quoted if needed, or if a line would look like a command of a CI runner (inside a name, the line
 * break before such a line becomes a blank); bad bytes become U+FFFD. What a spreadsheet would take
 * for a formula begins with an apostrophe. On standard output tg_io_put shows controls as text.
 */
void tg_csv_text(struct tg_buf *out, tg_sv text);
/* Would a spreadsheet take it for a formula? Blanks before it do not matter. */
bool tg_csv_is_formula(tg_sv text);
void tg_csv_number(struct tg_buf *out, double v); /* all digits; not finite: nothing */
void tg_csv_header(struct tg_buf *out);
void tg_csv_row(struct tg_buf *out, tg_sv name, const struct tg_row_numbers *n);
#endif
