#ifndef TG_BASE_DECIMAL_H
#define TG_BASE_DECIMAL_H
/*
 * Exact decimals. Traces write microseconds as decimal text; we keep integer nanoseconds, which
 * hold both 3 fractional digits and 16-digit epoch values exactly (a double resolves only 0.25 us
 * there).
 */
#include "core/base/buf.h"

enum tg_dec { TG_DEC_OK, TG_DEC_ROUNDED, TG_DEC_RANGE, TG_DEC_BAD };

/* JSON number text in microseconds -> ns, any form (sign, fraction, exponent). Digits beyond the
 * third decimal are rounded half to even and reported as ROUNDED; RANGE: outside int64 ns. */
TG_MUST enum tg_dec tg_dec_us_to_ns(tg_sv text, tg_ns *out);

/* Correctly rounded double of decimal text, independent of the locale. False if `text` is not a
 * number. */
TG_MUST bool tg_dec_double(tg_sv text, double *out);

/* The nearest double of ns/1000, as Python's float("us.fraction") gives it. */
double tg_ns_to_us_double(tg_ns ns);

/* The nearest double of `v` written with 12 significant digits; NaN and infinities stay. */
double tg_dec_round(double v);

void tg_dec_put_us(struct tg_buf *out, tg_ns ns);     /* exact us: "12.345", "-0.001", "7" */
void tg_dec_put_double(struct tg_buf *out, double v); /* shortest text that reads back equal */
void tg_dec_put_fixed(struct tg_buf *out, double v, int decimals); /* "12.30", never "-0.00" */
/* Four digits that count, of a number whose size nobody knows; whole numbers as they are. */
void tg_dec_put_significant(struct tg_buf *out, double v);
/* For people, 3 significant digits and a unit: "850 ns", "12.3 us", "4.56 ms", "1.2 s". */
/* A change in percent of a value near 0 says nothing ("+1199900 %"): up to tenfold it is given as a
 * percentage, beyond that, and from 0, as the difference. */
bool tg_dec_pct_tells(double pct);
void tg_dec_put_human_ns(struct tg_buf *out, double ns);
void tg_dec_put_i64(struct tg_buf *out, int64_t v);
#endif
