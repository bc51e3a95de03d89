#ifndef TG_REPORTERS_NUMBER_H
#define TG_REPORTERS_NUMBER_H
/* Numbers as people read them; never NaN, Inf or an exponent: an unknown value gives empty text.
 * Durations come in ns and are written in microseconds. */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/* A number as a text that lives as long as the statement: an argument of tg_buf_printf. */
struct tg_as {
    char s[352]; /* of DBL_MAX in full */
};
struct tg_as tg_as(void (*put)(struct tg_buf *out, double v), double v);
/* In the unit that suits `largest` of the values shown together: us, or ms above 1,000 us. */
struct tg_as tg_as_time(double ns, double largest);
struct tg_as tg_as_fixed(double v, int decimals);
#define TG_AS(put, v) (tg_as(put, v).s)
#define TG_AS_TIME(ns, largest) (tg_as_time(ns, largest).s)
#define TG_AS_FIXED(v, decimals) (tg_as_fixed(v, decimals).s)

void tg_put_count(struct tg_buf *out, double v);       /* "12", "1.5", "0.33" */
void tg_put_count_delta(struct tg_buf *out, double v); /* "+8", "-0.5", "0" */
void tg_put_us(struct tg_buf *out, double ns);         /* "1234.5" */
const char *tg_time_unit(double largest);              /* " us", " ms" with a micro sign */
void tg_put_time_unit(struct tg_buf *out, double ns);  /* one time with its unit: "1.50 ms" */
/* "+12.3 us", "-1.50 ms", each in the unit that suits it, with the micro sign. */
void tg_put_time_delta(struct tg_buf *out, double ns);
void tg_put_us_delta(struct tg_buf *out, double ns);   /* "+12.3", "-4.0", "0.0" */
void tg_put_pct_delta(struct tg_buf *out, double pct); /* "+12.3 %", "+250 %"; "" from tenfold on */
void tg_put_bytes(struct tg_buf *out, double v);       /* "4.00 MiB" */
void tg_put_bytes_change(struct tg_buf *out, double before, double after); /* "3.10 -> 4.00 MiB" */
void tg_put_share(struct tg_buf *out, double fraction);                    /* "3.1 %" of 0..1 */
/* A result's change: "+12", "+34.5 us", "-18.2 pp", "+4.00 MiB". */
void tg_put_value_delta(struct tg_buf *out, double v, enum tg_unit d);
/* Words of a sentence, which is written for terminals, as they are printed: "12 us -> 34 us" with a
 * micro sign, blanks that do not break, and an arrow. */
void tg_put_printed(struct tg_buf *out, tg_sv words);
#endif
