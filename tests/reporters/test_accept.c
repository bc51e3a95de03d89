/* How many names an item of `waivers` has: to be pasted no more than a reader looks through, else
 * no more than a policy takes. */
#include "core/base/arena.h"
#include "reporters/accept.h"
#include "tests/support.h"

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word)) != NULL)
        n++, text++;
    return n;
}

/* `n` names of one finding; how many did not fit. */
static size_t put(struct tg_buf *out, size_t n, bool visible)
{
    const struct tg_accept_words words = { TG_SV("reason: r"), visible };
    TG_AUTO(tg_accept_release) struct tg_accept_list l = { 0 };
    TG_ARENA *a = tg_arena_new();
    tg_strmap_init(&l.at);
    for (size_t i = 0; i < n; i++) {
        tg_sv name = TG_SV_PRINTF(a, "op%zu", i);
        tg_accept_widen(&tg_accept_for(&l, TG_SV("more"), name, TG_RULE_METRIC_COUNT, 0)->change, 1,
                        100);
    }
    return tg_accept_put_list(out, &l, &words);
}

TEST(one_finding_is_one_item)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, 3, true), 0);
    assert_int_equal(count_of(out.p, "{rule: more"), 1);
    assert_int_equal(count_of(out.p, "{name: "), 2);
}

TEST(a_comment_shows_no_more_names_than_fit)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, 500, true), 500 - TG_ACCEPT_NAMES);
    assert_int_equal(count_of(out.p, "name: "), TG_ACCEPT_NAMES);
}

TEST(no_item_is_too_long_for_a_policy)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, TG_ACCEPT_MOST + 1, false), 0);
    assert_int_equal(count_of(out.p, "{rule: more"), 2);
    assert_int_equal(count_of(out.p, "name: "), TG_ACCEPT_MOST + 1);
}

/* What a comment does not show is counted; a list without an item would not load. */
TEST(a_long_name_is_written_and_not_pasted)
{
    static const size_t sizes[] = { TG_ACCEPT_NAME, TG_ACCEPT_NAME + 1, 5000, 70000 };
    for (size_t i = 0; i < 8; i++) {
        const struct tg_accept_words words = { TG_SV("reason: r"), i % 2 };
        TG_AUTO(tg_accept_release) struct tg_accept_list l = { 0 };
        TG_BUF out = { 0 }, name = { 0 };
        bool there = sizes[i / 2] <= (words.visible ? (size_t)TG_ACCEPT_NAME : 65536);
        for (size_t k = 0; k < sizes[i / 2]; k++)
            tg_buf_putc(&name, 'x');
        tg_strmap_init(&l.at);
        tg_accept_widen(
            &tg_accept_for(&l, TG_SV("more"), tg_buf_sv(&name), TG_RULE_METRIC_COUNT, 0)->change, 1,
            100);
        assert_int_equal(tg_accept_put_list(&out, &l, &words), !there);
        assert_int_equal(tg_sv_has(tg_buf_sv(&out), tg_buf_sv(&name)), there);
    }
}

/* One ceiling. */
static void ceiling(enum tg_bound_kind bound, double value, enum tg_rule_metric m, const char *want)
{
    struct tg_accept_change c = { .metric = m };
    TG_BUF out = { 0 };
    tg_accept_widen(&c, 42, 12);
    tg_accept_budget(&c, bound, value);
    tg_accept_put_ceiling(&out, &c);
    assert_string_equal(out.p, want);
}

TEST(a_budget_is_accepted_in_its_own_terms)
{
    ceiling(TG_BOUND_MAX, 9016200, TG_RULE_METRIC_STEP_TIME, "{max: 11271us}");
    ceiling(TG_BOUND_MAX, 17, TG_RULE_METRIC_COUNT, "{max: 17}");
    ceiling(TG_BOUND_MIN, 61.5, TG_RULE_METRIC_SHARE, "{min: 49%}");
    /* The rest is about the change. */
    ceiling(TG_BOUND_PCT, 9016000, TG_RULE_METRIC_STEP_TIME, "{pct: 15%}");
    ceiling(TG_BOUND_MAX, NAN, TG_RULE_METRIC_STEP_TIME, "{pct: 15%}");
}

TEST(from_nothing_a_benchmarks_number_grows_by_an_amount_without_unit)
{
    struct tg_accept_change c = { .metric = TG_RULE_METRIC_NUMBER };
    TG_BUF out = { 0 };
    tg_accept_widen(&c, 0.5, NAN);
    tg_accept_put_ceiling(&out, &c);
    assert_string_equal(out.p, "{abs: 0.625}");
}

TEST(what_a_finding_is_about_comes_first)
{
    static const char *const names[][2] = { { "new-work", "a" },
                                            { "a-rule", "b" },
                                            { "new-work", "c" } };
    const struct tg_accept_words words = { TG_SV("reason: r"), true };
    TG_AUTO(tg_accept_release) struct tg_accept_list l = { 0 };
    TG_BUF out = { 0 };
    tg_strmap_init(&l.at);
    for (size_t i = 0; i < 3; i++)
        tg_accept_widen(&tg_accept_for(&l, tg_sv_of(names[i][0]), tg_sv_of(names[i][1]),
                                       TG_RULE_METRIC_COUNT, 0)
                             ->change,
                        1, 100);
    assert_int_equal(tg_accept_put_list(&out, &l, &words), 0);
    assert_string_equal(out.p,
                        "  - {rule: new-work, name: 'a', ceiling: {abs: 1}, reason: r, with: [\n"
                        "      {name: 'c', ceiling: {abs: 1}}]}\n"
                        "  - {rule: a-rule, name: 'b', ceiling: {abs: 1}, reason: r}\n");
}
