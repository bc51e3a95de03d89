/* The table of metrics: names, units, what a limit of each may have. */
#include "policy_support.h"

#include "policy/language/rule_metric.h"

TEST(every_row_is_found_by_its_name)
{
    for (int m = 0; m < TG_RULE_METRICS; m++) {
        const struct tg_rule_metric_info *info = tg_rule_metric_info((enum tg_rule_metric)m);
        enum tg_rule_metric found;
        assert_true(tg_rule_metric_from_name(tg_sv_of(info->name), &found));
        assert_int_equal(found, m);
        assert_true(info->bounds && info->meaning && *info->meaning);
        /* A percentage of a percentage means nothing; a fact is equal or not. */
        if (info->unit == TG_UNIT_PERCENT)
            assert_false(info->bounds & TG_BOUND_BIT(TG_BOUND_PCT));
        else
            assert_false(info->bounds & TG_BOUND_BIT(TG_BOUND_PP));
        if (info->unit == TG_UNIT_ATTR)
            assert_int_equal(info->bounds, TG_BOUND_BIT(TG_BOUND_ABS));
    }
}

TEST(other_names_are_none)
{
    static const char *const wrong[] = { "", "Count", "counts", "step", "step_time " };
    enum tg_rule_metric m;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(tg_rule_metric_from_name(tg_sv_of(wrong[i]), &m));
}

TEST(scopes)
{
    enum tg_metric id;
    assert_true(tg_rule_metric_of_trace(TG_RULE_METRIC_STEP_TIME, &id) &&
                id == TG_METRIC_STEP_TIME);
    assert_false(tg_rule_metric_of_trace(TG_RULE_METRIC_COUNT, &id));
    assert_false(tg_rule_metric_of_trace(TG_RULE_METRIC_SKEW, &id));
    assert_true(tg_rule_metric_of_launched(TG_RULE_METRIC_DEVICE_COUNT));
    assert_false(tg_rule_metric_of_launched(TG_RULE_METRIC_COUNT));
    assert_int_equal(tg_rule_metric_info(TG_RULE_METRIC_SKEW)->scope, TG_SCOPE_RANKS);
    assert_int_equal(tg_rule_metric_info(TG_RULE_METRIC_STEP_TIME)->scope, TG_SCOPE_TRACE);
}

/* The three lists that people and programs read have every metric. */
TEST(lists_have_them_all)
{
    void (*const write[])(struct tg_buf *) = { tg_rule_metric_text, tg_rule_metric_json,
                                               tg_rule_metric_markdown };
    for (size_t i = 0; i < sizeof write / sizeof *write; i++) {
        TG_BUF b = { 0 };
        write[i](&b);
        for (int m = 0; m < TG_RULE_METRICS; m++)
            assert_true(tg_sv_has(tg_buf_sv(&b),
                                  tg_sv_of(tg_rule_metric_info((enum tg_rule_metric)m)->name)));
        assert_false(tg_sv_has(tg_buf_sv(&b), TG_SV("no_such_metric")));
    }
}
