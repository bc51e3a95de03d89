/* Numbers, units and days. Days are from `date -u -d DAY +%s` divided by 86400. */
#include "policy_support.h"

#include "policy/language/value.h"

TEST(quantities)
{
    static const struct {
        const char *text, *unit; /* unit NULL: no number */
        double number;
    } cases[] = {
        { "10%", "%", 10 },   { "0.25ms", "ms", .25 }, { "+2", "", 2 },
        { "-3pp", "pp", -3 }, { "007us", "us", 7 },    { "0", "", 0 },
        { "00", "", 0 },      { "", NULL, 0 },         { "ms", NULL, 0 },
        { "+", NULL, 0 },     { "1.", NULL, 0 },       { ".5", NULL, 0 },
        { "1.2.3", NULL, 0 }, { "0x10", NULL, 0 },     { "1e3", NULL, 0 },
        { "1_000", NULL, 0 }, { "1:30", NULL, 0 },     { "1,5", NULL, 0 },
        { "10 ms", NULL, 0 }, { "--1", NULL, 0 },      { "10%step", "%step", 10 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double number = -1;
        tg_sv unit;
        bool ok = tg_value_quantity(tg_sv_of(cases[i].text), &number, &unit);
        if (ok != (cases[i].unit != NULL))
            fail_msg("'%s'", cases[i].text);
        if (ok && (number != cases[i].number || !tg_sv_eq(unit, tg_sv_of(cases[i].unit))))
            fail_msg("'%s'", cases[i].text);
    }
}

TEST(units)
{
    struct tg_value_unit u;
    assert_true(tg_value_unit(TG_SV("MiB"), &u));
    assert_int_equal(u.unit, TG_UNIT_BYTES);
    assert_true(u.factor == 1024. * 1024);
    assert_true(tg_value_unit(TG_SV("MB"), &u));
    assert_true(u.factor == 1000. * 1000);
    assert_true(tg_value_unit(TG_SV("%step"), &u));
    assert_true(u.of_step);
    assert_false(tg_value_unit(TG_SV("mb"), &u)); /* megabit or megabyte: not guessed */
    assert_false(tg_value_unit(TG_SV("sec"), &u));
}

TEST(days)
{
    static const struct {
        const char *text;
        int64_t day; /* -1: no day of the calendar */
    } cases[] = {
        { "1970-01-01", 0 },     { "1970-03-01", 59 },    { "1999-12-31", 10956 },
        { "2000-02-29", 11016 }, { "2024-02-29", 19782 }, { "2026-07-01", 20635 },
        { "2026-12-28", 20815 }, { "2100-03-01", 47541 }, { "9999-12-31", 2932896 },
        { "1900-01-01", -1 },    { "2023-02-29", -1 },    { "2100-02-29", -1 },
        { "2026-13-01", -1 },    { "2026-00-10", -1 },    { "2026-04-31", -1 },
        { "2026-01-00", -1 },    { "2026-1-01", -1 },     { "2026/01/01", -1 },
        { "20260101", -1 },      { "2026-01-+1", -1 },    { "2026-01-011", -1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t day = -1;
        char text[16];
        if (tg_value_date(tg_sv_of(cases[i].text), &day) != (cases[i].day >= 0) ||
            day != cases[i].day)
            fail_msg("%s: %lld", cases[i].text, (long long)day);
        if (day < 0)
            continue;
        tg_value_date_text(day, text);
        assert_string_equal(text, cases[i].text);
    }
    for (int64_t day = 0; day < 300000; day++) { /* 821 years */
        int64_t same = -1;
        char text[16];
        tg_value_date_text(day, text);
        if (!tg_value_date(tg_sv_of(text), &same) || same != day)
            fail_msg("%lld: %s", (long long)day, text);
    }
    assert_int_equal(TEST_TODAY, 20635);
}

TEST(times_have_a_unit_or_are_seconds)
{
    static const struct {
        const char *text;
        int64_t ms; /* -1: not a time */
    } cases[] = { { "90", 90000 },    { "90s", 90000 },  { "5m", 300000 },
                  { "5min", 300000 }, { "1h", 3600000 }, { "", -1 },
                  { "min", -1 },      { "0s", -1 },      { "1.5h", -1 },
                  { "5 min", -1 },    { "-5s", -1 },     { "1000000s", -1 },
                  { "5d", -1 },       { "05s", -1 },     { "999999h", 3599996400000 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t ms = -1;
        if (tg_value_time(tg_sv_of(cases[i].text), &ms) != (cases[i].ms >= 0) || ms != cases[i].ms)
            fail_msg("'%s' is %lld ms", cases[i].text, (long long)ms);
    }
}
