#ifndef TG_REPORTERS_CSV_H
#define TG_REPORTERS_CSV_H
/* CSV as defined by RFC 4180, LF line ends; shared by the reporter and `diff`. */
#include "reporters/rows.h"

void tg_csv_text(struct tg_buf *out, tg_sv text); /* quoted where needed; bad bytes U+FFFD */
void tg_csv_header(struct tg_buf *out);
void tg_csv_row(struct tg_buf *out, tg_sv name, const struct tg_row_numbers *n);
#endif
