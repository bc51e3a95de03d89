#include "reporters/number.h"

#include <math.h>

#include "core/base/decimal.h"

static struct tg_as text_of(const struct tg_buf *b)
{
    struct tg_as text = { "" };
    if (b->n)
        memcpy(text.s, b->p, b->n < sizeof text.s ? b->n : sizeof text.s - 1);
    return text;
}

struct tg_as tg_as(void (*put)(struct tg_buf *out, double v), double v)
{
    TG_BUF b = { 0 };
    put(&b, v);
    return text_of(&b);
}

static bool in_ms(double largest)
{
    return fabs(largest) >= 1e6;
}

struct tg_as tg_as_time(double ns, double largest)
{
    TG_BUF b = { 0 };
    if (in_ms(largest) && isfinite(ns))
        tg_dec_put_fixed(&b, ns / 1e6, fabs(largest) >= 1e8 ? 1 : 2);
    else
        tg_put_us(&b, ns);
    return text_of(&b);
}

struct tg_as tg_as_fixed(double v, int decimals)
{
    TG_BUF b = { 0 };
    tg_dec_put_fixed(&b, v, decimals);
    return text_of(&b);
}

static void put_sign(struct tg_buf *out, double rounded)
{
    if (rounded > 0)
        tg_buf_putc(out, '+');
}

/* At most two decimals, without trailing zeros. */
void tg_put_count(struct tg_buf *out, double v)
{
    if (!isfinite(v))
        return;
    tg_dec_put_fixed(out, v, 2);
    while (out->p[out->n - 1] == '0')
        out->p[--out->n] = '\0';
    if (out->p[out->n - 1] == '.')
        out->p[--out->n] = '\0';
}

void tg_put_count_delta(struct tg_buf *out, double v)
{
    put_sign(out, round(v * 100));
    tg_put_count(out, v);
}

void tg_put_us(struct tg_buf *out, double ns)
{
    if (isfinite(ns))
        tg_dec_put_fixed(out, ns / 1000, 1);
}

const char *tg_time_unit(double largest)
{
    return in_ms(largest) ? "\xc2\xa0ms" : "\xc2\xa0\xc2\xb5s";
}

void tg_put_us_delta(struct tg_buf *out, double ns)
{
    if (!isfinite(ns))
        return;
    put_sign(out, round(ns / 100));
    tg_put_us(out, ns);
}

void tg_put_pct_delta(struct tg_buf *out, double pct)
{
    int decimals = fabs(pct) < 10; /* as in sentences (tg_phrase_pct) */
    if (!tg_dec_pct_tells(pct))
        return;
    put_sign(out, round(pct * 10));
    tg_buf_printf(out, "%s %%", TG_AS_FIXED(pct, decimals));
}

void tg_put_share(struct tg_buf *out, double fraction)
{
    if (isfinite(fraction))
        tg_buf_printf(out, "%s %%", TG_AS_FIXED(100 * fraction, 1));
}

static const char *const byte_unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };

/* The unit of a size, which `v` is then in. */
static size_t scale_bytes(double *v)
{
    size_t i = 0;
    for (; fabs(*v) >= 1023.995 && i < 4; i++)
        *v /= 1024;
    return i;
}

void tg_put_bytes(struct tg_buf *out, double v)
{
    size_t i = scale_bytes(&v);
    tg_buf_printf(out, "%s %s", TG_AS_FIXED(v, i ? 2 : 0), byte_unit[i]);
}

void tg_put_bytes_change(struct tg_buf *out, double before, double after)
{
    double most = fmax(before, after);
    size_t i = scale_bytes(&most);
    double unit = pow(1024, (double)i);
    tg_buf_printf(out, "%s -> %s %s", TG_AS_FIXED(before / unit, i ? 2 : 0),
                  TG_AS_FIXED(after / unit, i ? 2 : 0), byte_unit[i]);
}

void tg_put_value_delta(struct tg_buf *out, double v, enum tg_unit d)
{
    if (!isfinite(v))
        return;
    put_sign(out, round(d == TG_UNIT_NS ? v / 100 : d == TG_UNIT_PERCENT ? v * 10 : v * 100));
    switch (d) {
    case TG_UNIT_NS:
        tg_buf_printf(out, "%s %s", TG_AS_TIME(v, v), fabs(v) >= 1e6 ? "ms" : "us");
        break;
    case TG_UNIT_PERCENT: /* a difference of percentages is in points */
        tg_buf_printf(out, "%s pp", TG_AS_FIXED(v, 1));
        break;
    case TG_UNIT_BYTES:
        tg_put_bytes(out, v);
        break;
    case TG_UNIT_RATE:
        tg_buf_printf(out, "%s GB/s", TG_AS_FIXED(v, 2));
        break;
    case TG_UNIT_NUMBER:
    case TG_UNIT_COUNT:
    case TG_UNIT_ATTR:
        tg_put_count(out, v);
        break;
    }
}

void tg_put_time_unit(struct tg_buf *out, double ns)
{
    if (isfinite(ns))
        tg_buf_printf(out, "%s%s", TG_AS_TIME(ns, ns), tg_time_unit(ns));
}

void tg_put_time_delta(struct tg_buf *out, double ns)
{
    double tenths = round(ns / 100); /* of a microsecond: below that there is no sign */
    if (isfinite(ns))
        tg_buf_printf(out, "%s%s",
                      tenths > 0   ? "+"
                      : tenths < 0 ? "-"
                                   : "",
                      TG_AS(tg_put_time_unit, fabs(ns)));
}

/* ---- words ---- */

/* What a number is kept together with, and how it is printed. */
static const struct {
    const char *said, *printed;
} units[] = { { " us", "\xc2\xa0\xc2\xb5s" },
              { " ms", "\xc2\xa0ms" },
              { " ns", "\xc2\xa0ns" },
              { " %", "\xc2\xa0%" } };
enum { UNITS = sizeof units / sizeof *units };

void tg_put_printed(struct tg_buf *out, tg_sv words)
{
    for (size_t i = 0; i < words.n; i++) {
        tg_sv rest = tg_sv_from(words, i), said = { 0 };
        bool after_digit = i && tg_is_digit(words.p[i - 1]);
        size_t k = after_digit ? 0 : UNITS; /* the unit after a digit */
        for (; k < UNITS; k++) {
            said = tg_sv_of(units[k].said);
            char next = rest.n > said.n ? rest.p[said.n] : ' ';
            if (tg_sv_starts(rest, said) && !tg_is_word(next) && (unsigned char)next < 0x80)
                break;
        }
        if (k < UNITS) {
            tg_buf_puts(out, units[k].printed);
            i += said.n - 1;
        } else if (tg_sv_starts(rest, TG_SV(" -> "))) {
            tg_buf_puts(out, " \xe2\x86\x92 ");
            i += 3;
        } else {
            tg_buf_putc(out, words.p[i]);
        }
    }
}
