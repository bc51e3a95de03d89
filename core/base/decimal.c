#include "core/base/decimal.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The program never calls setlocale, so strtod and printf use the decimal point of the C locale. A
 * host program that calls setlocale would break the digits silently; this file would have to change
 * then.
 */

struct number {
    bool negative;
    uint64_t digits; /* significant digits kept, at most 19 */
    int scale;       /* value = (digits + dropped) * 10^scale, 0 <= dropped < 1 */
    int first;       /* first dropped digit; -1: none was dropped */
    bool sticky;     /* a non-zero digit was dropped after it */
};

static bool is_exact(const struct number *num)
{
    return num->first <= 0 && !num->sticky;
}

static void push_digit(struct number *num, char c, bool fraction)
{
    if (num->first < 0 && num->digits < 1000000000000000000u) {
        num->digits = num->digits * 10 + (uint64_t)(c - '0');
        num->scale -= fraction;
        return;
    }
    num->scale += !fraction;
    if (num->first < 0)
        num->first = c - '0';
    else if (c != '0')
        num->sticky = true;
}

static bool split(tg_sv s, struct number *num)
{
    size_t i = 0;
    bool any = false;
    int64_t exponent = 0;
    *num = (struct number){ .first = -1 };
    if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
        num->negative = s.p[i++] == '-';
    for (; i < s.n && tg_is_digit(s.p[i]); i++, any = true)
        push_digit(num, s.p[i], false);
    if (i < s.n && s.p[i] == '.')
        for (i++; i < s.n && tg_is_digit(s.p[i]); i++, any = true)
            push_digit(num, s.p[i], true);
    if (!any)
        return false;
    if (i < s.n && (s.p[i] == 'e' || s.p[i] == 'E')) {
        bool minus = false, some = false;
        i++;
        if (i < s.n && (s.p[i] == '-' || s.p[i] == '+'))
            minus = s.p[i++] == '-';
        for (; i < s.n && tg_is_digit(s.p[i]); i++, some = true)
            if (exponent < 100000)
                exponent = exponent * 10 + (s.p[i] - '0');
        if (!some)
            return false;
        num->scale += (int)(minus ? -exponent : exponent);
    }
    return i == s.n;
}

/* digits / 10^down, half to even. */
static uint64_t divide(const struct number *num, int down, bool *exact)
{
    uint64_t power = 1, quotient, rest, half;
    bool dropped = !is_exact(num), up;
    if (down > 19) {
        *exact = num->digits == 0 && !dropped;
        return 0;
    }
    for (int i = 0; i < down; i++)
        power *= 10;
    quotient = num->digits / power;
    rest = num->digits % power;
    half = power / 2;
    *exact = rest == 0 && !dropped;
    if (down == 0)
        up = num->first > 5 || (num->first == 5 && (num->sticky || (quotient & 1)));
    else
        up = rest > half || (rest == half && (dropped || (quotient & 1)));
    return quotient + up;
}

enum tg_dec tg_dec_us_to_ns(tg_sv text, tg_ns *out)
{
    struct number num;
    uint64_t value;
    bool exact = true;
    int scale;
    if (!split(text, &num))
        return TG_DEC_BAD;
    scale = num.scale + 3; /* us -> ns */
    if (scale <= 0) {
        value = divide(&num, -scale, &exact);
    } else {
        value = num.digits;
        exact = is_exact(&num);
        for (int i = 0; i < scale && value; i++)
            if (__builtin_mul_overflow(value, 10u, &value))
                return TG_DEC_RANGE;
    }
    if (value > (uint64_t)INT64_MAX)
        return TG_DEC_RANGE;
    *out = num.negative ? -(tg_ns)value : (tg_ns)value;
    return exact ? TG_DEC_OK : TG_DEC_ROUNDED;
}

bool tg_dec_double(tg_sv text, double *out)
{
    char local[64], *end, *copy = local;
    struct number shape;
    if (!split(text, &shape))
        return false;
    if (text.n >= sizeof local) {
        copy = malloc(text.n + 1);
        if (!copy)
            return false;
    }
    memcpy(copy, text.p, text.n);
    copy[text.n] = '\0';
    *out = strtod(copy, &end);
    bool ok = end == copy + text.n;
    if (copy != local)
        free(copy);
    return ok;
}

double tg_ns_to_us_double(tg_ns ns)
{
    char text[40], *end;
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    /* Division rounds once, hence correctly, while the dividend is exact. */
    if (u <= (uint64_t)1 << 53)
        return (double)ns / 1000.0;
    (void)snprintf(text, sizeof text, "%s%" PRIu64 ".%03u", ns < 0 ? "-" : "", u / 1000,
                   (unsigned)(u % 1000));
    return strtod(text, &end);
}

/* A table can have millions of numbers, and printf costs ten times as much. */
static void put_digits(struct tg_buf *out, bool negative, uint64_t v)
{
    char text[24], *p = text + sizeof text;
    do
        *--p = (char)('0' + v % 10);
    while ((v /= 10) != 0);
    if (negative)
        *--p = '-';
    tg_buf_add(out, (tg_sv){ p, (size_t)(text + sizeof text - p) });
}

void tg_dec_put_us(struct tg_buf *out, tg_ns ns)
{
    uint64_t u = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    unsigned fraction = (unsigned)(u % 1000);
    char text[4] = { '.', (char)('0' + fraction / 100), (char)('0' + fraction / 10 % 10),
                     (char)('0' + fraction % 10) };
    put_digits(out, ns < 0, u / 1000);
    if (fraction)
        tg_buf_add(out, (tg_sv){ text, fraction % 10 ? 4 : fraction % 100 ? 3 : 2 });
}

double tg_dec_round(double v)
{
    char text[40];
    (void)snprintf(text, sizeof text, "%.12g", v);
    return isfinite(v) ? strtod(text, NULL) : v;
}

void tg_dec_put_double(struct tg_buf *out, double v)
{
    char text[40];
    double thousandths = v * 1000;
    /* Most are means of a few whole numbers. What at most 15 digits say, nothing shorter says. */
    if (fabs(v) < 1e12 && thousandths == floor(thousandths) && thousandths / 1000 == v &&
        !(v == 0 && signbit(v))) {
        tg_dec_put_us(out, (tg_ns)thousandths);
        return;
    }
    /* Up to DBL_DIG (15) digits survive text -> double -> text, so %.15g is the shortest form
     * whenever it reads back equal; subnormals have fewer. */
    for (int digits = fabs(v) < DBL_MIN ? 1 : DBL_DIG; digits <= 17; digits++) {
        (void)snprintf(text, sizeof text, "%.*g", digits, v);
        if (strtod(text, NULL) == v)
            break;
    }
    tg_buf_puts(out, text);
}

/* True: written. A product is off by less than 1e-4 of its last place here: nearer to a half,
 * printf decides. */
static bool put_small_fixed(struct tg_buf *out, double v, int decimals)
{
    static const unsigned power[] = { 1, 10, 100, 1000 };
    if (decimals < 0 || decimals > 3 || !(fabs(v) < 1e9))
        return false;
    double scaled = fabs(v) * power[decimals];
    uint64_t n = (uint64_t)scaled;
    double rest = scaled - (double)n;
    if (rest > 0.499 && rest < 0.501)
        return false;
    n += rest > 0.5;
    put_digits(out, v < 0 && n > 0, n / power[decimals]);
    for (unsigned unit = power[decimals] / 10; unit > 0; unit /= 10) {
        if (unit == power[decimals] / 10)
            tg_buf_putc(out, '.');
        tg_buf_putc(out, (char)('0' + n / unit % 10));
    }
    return true;
}

void tg_dec_put_fixed(struct tg_buf *out, double v, int decimals)
{
    char text[400];
    if (put_small_fixed(out, v, decimals))
        return;
    (void)snprintf(text, sizeof text, "%.*f", decimals, v);
    /* "-0.00" looks like a change although there is none. */
    if (text[0] == '-' && strspn(text + 1, "0.") == strlen(text + 1))
        memmove(text, text + 1, strlen(text));
    tg_buf_puts(out, text);
}

void tg_dec_put_significant(struct tg_buf *out, double v)
{
    int decimals = v == floor(v) ? 0 : 3 - (int)floor(log10(fabs(v)));
    tg_dec_put_fixed(out, v, decimals < 0 ? 0 : decimals > 9 ? 9 : decimals);
}

void tg_dec_put_human_ns(struct tg_buf *out, double ns)
{
    static const struct {
        double below, unit;
        const char *name;
    } scale[] = {
        { 999.5, 1, "ns" }, { 999.5e3, 1e3, "us" }, { 999.5e6, 1e6, "ms" }, { INFINITY, 1e9, "s" }
    };
    double size = fabs(ns);
    size_t i = 0;
    while (size >= scale[i].below && i < 3)
        i++;
    size /= scale[i].unit;
    int decimals = i == 0 || size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2;
    tg_dec_put_fixed(out, ns / scale[i].unit, decimals);
    tg_buf_printf(out, " %s", scale[i].name);
}

void tg_dec_put_i64(struct tg_buf *out, int64_t v)
{
    put_digits(out, v < 0, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

bool tg_dec_pct_tells(double pct)
{
    return isfinite(pct) && fabs(pct) < 1000;
}
