#include "policy/language/value.h"

#include <stdio.h>

#include "core/base/decimal.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

bool tg_value_quantity(tg_sv text, double *number, tg_sv *unit)
{
    size_t i = 0, digits = 0, points = 0;
    if (i < text.n && (text.p[i] == '+' || text.p[i] == '-'))
        i++;
    size_t start = i;
    for (; i < text.n && (is_digit(text.p[i]) || text.p[i] == '.'); i++) {
        digits += is_digit(text.p[i]);
        points += text.p[i] == '.';
    }
    /* ".5" and "5." are more often typing mistakes than numbers. */
    if (digits == 0 || points > 1 || text.p[start] == '.' || text.p[i - 1] == '.')
        return false;
    tg_sv magnitude = { text.p + start, i - start };
    while (magnitude.n > 1 && magnitude.p[0] == '0' && is_digit(magnitude.p[1]))
        magnitude = (tg_sv){ magnitude.p + 1, magnitude.n - 1 };
    if (!tg_dec_double(magnitude, number))
        return false;
    if (text.p[0] == '-')
        *number = -*number;
    *unit = (tg_sv){ text.p + i, text.n - i };
    /* "0x10", "1_000", "1:30", "1e3" and "10 ms" are not numbers with a unit. */
    return unit->n == 0 || (unit->p[0] != 'x' && unit->p[0] != 'e' && unit->p[0] != '_' &&
                            unit->p[0] != ':' && unit->p[0] != ' ' && unit->p[0] != ',');
}

bool tg_value_unit(tg_sv text, struct tg_value_unit *out)
{
    static const struct {
        const char *name;
        struct tg_value_unit unit;
    } units[] = {
        { "", { TG_UNIT_COUNT, 1, false, false } },
        { "ns", { TG_UNIT_NS, 1, false, false } },
        { "us", { TG_UNIT_NS, 1e3, false, false } },
        { "\xC2\xB5s", { TG_UNIT_NS, 1e3, false, false } }, /* micro sign */
        { "\xCE\xBCs", { TG_UNIT_NS, 1e3, false, false } }, /* Greek mu */
        { "ms", { TG_UNIT_NS, 1e6, false, false } },
        { "s", { TG_UNIT_NS, 1e9, false, false } },
        { "B", { TG_UNIT_BYTES, 1, false, false } },
        { "kB", { TG_UNIT_BYTES, 1e3, false, false } },
        { "MB", { TG_UNIT_BYTES, 1e6, false, false } },
        { "GB", { TG_UNIT_BYTES, 1e9, false, false } },
        { "KiB", { TG_UNIT_BYTES, 1024, false, false } },
        { "MiB", { TG_UNIT_BYTES, 1048576, false, false } },
        { "GiB", { TG_UNIT_BYTES, 1073741824, false, false } },
        { "kB/s", { TG_UNIT_RATE, 1e-6, false, false } },
        { "MB/s", { TG_UNIT_RATE, 1e-3, false, false } },
        { "GB/s", { TG_UNIT_RATE, 1, false, false } },
        { "TB/s", { TG_UNIT_RATE, 1e3, false, false } },
        { "%", { TG_UNIT_PERCENT, 1, false, false } },
        { "pp", { TG_UNIT_PERCENT, 1, false, true } },
        { "%step", { TG_UNIT_PERCENT, 1, true, false } },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (tg_sv_eq(text, tg_sv_of(units[i].name))) {
            *out = units[i].unit;
            return true;
        }
    }
    return false;
}

static bool is_leap(int64_t y)
{
    return (y % 4 == 0 && y % 100 != 0) || y % 400 == 0;
}

static int64_t days_in(int64_t y, int64_t m)
{
    static const int64_t days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    return m == 2 && is_leap(y) ? 29 : days[m - 1];
}

/* Days from 1970-01-01 to January 1 of year `y`, y >= 1970. */
static int64_t days_before_year(int64_t y)
{
    int64_t p = y - 1;
    return 365 * (y - 1970) + (p / 4 - p / 100 + p / 400) - (1969 / 4 - 1969 / 100 + 1969 / 400);
}

bool tg_value_date(tg_sv text, int64_t *days)
{
    int64_t y, m, d;
    if (text.n != 10 || text.p[4] != '-' || text.p[7] != '-')
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (i != 4 && i != 7 && !is_digit(text.p[i]))
            return false;
    if (!tg_sv_i64((tg_sv){ text.p, 4 }, &y) || !tg_sv_i64((tg_sv){ text.p + 5, 2 }, &m) ||
        !tg_sv_i64((tg_sv){ text.p + 8, 2 }, &d))
        return false;
    if (y < 1970 || m < 1 || m > 12 || d < 1 || d > days_in(y, m))
        return false;
    *days = days_before_year(y) + d - 1;
    for (int64_t i = 1; i < m; i++)
        *days += days_in(y, i);
    return true;
}

/* Years that begin in March, 146,097 days in 400 of them: a leap day is a year's last. */
void tg_value_date_text(int64_t days, char out[16])
{
    int64_t n = days + 719468; /* from 0000-03-01 */
    int64_t age = (n < 0 ? n - 146096 : n) / 146097, day = n - age * 146097;
    int64_t y = (day - day / 1460 + day / 36524 - day / 146096) / 365, m;
    day -= 365 * y + y / 4 - y / 100;
    m = (5 * day + 2) / 153; /* March is 0 */
    day -= (153 * m + 2) / 5;
    y += 400 * age + (m >= 10);
    (void)snprintf(out, 16, "%04d-%02d-%02d", (int)(y % 10000), (int)(m < 10 ? m + 3 : m - 9) % 100,
                   (int)(day + 1) % 100);
}
