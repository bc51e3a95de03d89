#include "policy/language/value.h"

#include <time.h>

#include "core/base/decimal.h"

bool tg_value_quantity(tg_sv text, double *number, tg_sv *unit)
{
    size_t i = 0, digits = 0, points = 0;
    if (i < text.n && (text.p[i] == '+' || text.p[i] == '-'))
        i++;
    size_t start = i;
    for (; i < text.n && (tg_is_digit(text.p[i]) || text.p[i] == '.'); i++) {
        digits += tg_is_digit(text.p[i]);
        points += text.p[i] == '.';
    }
    /* ".5" and "5." are more often typing mistakes than numbers. */
    if (digits == 0 || points > 1 || text.p[start] == '.' || text.p[i - 1] == '.')
        return false;
    tg_sv magnitude = { text.p + start, i - start };
    while (magnitude.n > 1 && magnitude.p[0] == '0' && tg_is_digit(magnitude.p[1]))
        magnitude = tg_sv_from(magnitude, 1);
    if (!tg_dec_double(magnitude, number))
        return false;
    if (text.p[0] == '-')
        *number = -*number;
    *unit = tg_sv_from(text, i);
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

enum { DAY = 24 * 60 * 60 }; /* s */

bool tg_value_time(tg_sv text, int64_t *ms)
{
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = { { "", 1000 }, { "s", 1000 }, { "m", 60000 }, { "min", 60000 }, { "h", 3600000 } };
    size_t digits = tg_sv_digits(text, 0);
    int64_t number;
    if (!digits || digits > 6 || text.p[0] == '0' || !tg_sv_i64((tg_sv){ text.p, digits }, &number))
        return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (tg_sv_eq(tg_sv_from(text, digits), tg_sv_of(units[i].unit))) {
            *ms = number * units[i].ms;
            return true;
        }
    return false;
}

bool tg_value_date(tg_sv text, int64_t *days)
{
    struct tm day = { 0 };
    int64_t y, m, d, at;
    char same[16];
    if (text.n != 10 || !tg_sv_i64((tg_sv){ text.p, 4 }, &y) || y < 1970 ||
        !tg_sv_i64((tg_sv){ text.p + 5, 2 }, &m) || !tg_sv_i64((tg_sv){ text.p + 8, 2 }, &d))
        return false;
    day.tm_year = (int)y - 1900;
    day.tm_mon = (int)m - 1;
    day.tm_mday = (int)d;
    at = timegm(&day) / DAY;
    tg_value_date_text(at, same);
    if (!tg_sv_eq(text, tg_sv_of(same)))
        return false; /* "2023-02-29" is March 1, "2026/01/01" is written otherwise */
    *days = at;
    return true;
}

void tg_value_date_text(int64_t days, char out[16])
{
    struct tm day;
    time_t at = (time_t)days * DAY;
    if (!gmtime_r(&at, &day) || !strftime(out, 16, "%Y-%m-%d", &day))
        out[0] = '\0';
}
