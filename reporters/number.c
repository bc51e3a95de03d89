#include "reporters/number.h"

#include <math.h>

#include "core/base/decimal.h"

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

static bool in_ms(double largest)
{
    return fabs(largest) >= 1e6;
}

const char *tg_time_unit(double largest)
{
    return in_ms(largest) ? "\xc2\xa0ms" : "\xc2\xa0\xc2\xb5s";
}

void tg_put_time(struct tg_buf *out, double ns, double largest)
{
    if (!isfinite(ns))
        return;
    if (in_ms(largest))
        tg_dec_put_fixed(out, ns / 1e6, fabs(largest) >= 1e8 ? 1 : 2);
    else
        tg_put_us(out, ns);
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
    int decimals = fabs(pct) < 99.95;
    if (!tg_dec_pct_tells(pct))
        return;
    put_sign(out, round(pct * 10));
    tg_dec_put_fixed(out, pct, decimals);
    tg_buf_putc(out, '%');
}

void tg_put_share(struct tg_buf *out, double fraction)
{
    if (!isfinite(fraction))
        return;
    tg_dec_put_fixed(out, 100 * fraction, 1);
    tg_buf_putc(out, '%');
}

static void put_bytes(struct tg_buf *out, double v)
{
    static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    size_t i = 0;
    while (fabs(v) >= 1023.995 && i < 4) {
        v /= 1024;
        i++;
    }
    tg_dec_put_fixed(out, v, i ? 2 : 0);
    tg_buf_printf(out, " %s", unit[i]);
}

/* "12", "34.5 us", "18.2%", "4.00 MiB" */
static void put_value(struct tg_buf *out, double v, tg_sv unit)
{
    if (!isfinite(v))
        return;
    if (tg_sv_eq(unit, TG_SV("ns"))) {
        tg_put_us(out, v);
        tg_buf_puts(out, " us");
    } else if (tg_sv_eq(unit, TG_SV("%"))) {
        tg_dec_put_fixed(out, v, 1);
        tg_buf_putc(out, '%');
    } else if (tg_sv_eq(unit, TG_SV("bytes"))) {
        put_bytes(out, v);
    } else if (tg_sv_eq(unit, TG_SV("GB/s"))) {
        tg_dec_put_fixed(out, v, 2);
        tg_buf_puts(out, " GB/s");
    } else {
        tg_put_count(out, v);
    }
}

void tg_put_value_delta(struct tg_buf *out, double v, tg_sv unit)
{
    if (!isfinite(v))
        return;
    if (tg_sv_eq(unit, TG_SV("%"))) { /* a difference of percentages is in points */
        put_sign(out, round(v * 10));
        tg_dec_put_fixed(out, v, 1);
        tg_buf_puts(out, " pp");
        return;
    }
    put_sign(out, tg_sv_eq(unit, TG_SV("ns")) ? round(v / 100) : round(v * 100));
    put_value(out, v, unit);
}

void tg_put_time_delta(struct tg_buf *out, double ns)
{
    double tenths = round(ns / 100); /* of a microsecond: below that there is no sign */
    if (!isfinite(ns))
        return;
    tg_buf_puts(out, tenths > 0 ? "+" : tenths < 0 ? "-" : "");
    tg_put_time(out, fabs(ns), fabs(ns));
    tg_buf_puts(out, tg_time_unit(fabs(ns)));
}
