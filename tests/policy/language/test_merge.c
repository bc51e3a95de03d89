/* Layers of a policy: a later one's keys win, as the grammar says. */
#include "tree.h"

#include "policy/language/internal.h"

/* `layer` on top of `base`, as text on one line; `code`: the one mistake of it, 0 none. */
static void merged(const char *base, const char *layer, const char *want, unsigned code)
{
    struct tg_removed removed = { 0 };
    TG_BUF got = { 0 };
    struct tree b, l;
    tree_open(&b, base);
    tree_open(&l, layer);
    tg_show_flow(&got, tg_merge(b.root, l.root, b.a, &removed, &l.d));
    tree_has(&l, layer, code);
    if (!tg_sv_eq(tg_buf_sv(&got), tg_sv_of(want)))
        fail_msg("%s + %s: got %.*s", base, layer, TG_SV_ARG(tg_buf_sv(&got)));
    free(removed.id);
    tree_close(&b);
    tree_close(&l);
}

TEST(values_replace_and_mappings_join)
{
    merged("report: {top: 5, junit_max: 7}", "report: {top: 9}", "{report: {top: 9, junit_max: 7}}",
           0);
    merged("fail_on: [fail, warn]", "fail_on: [fail]", "{fail_on: [fail]}", 0);
    merged("report: {top: 5}", "fail_on: [fail]", "{report: {top: 5}, fail_on: [fail]}", 0);
}

TEST(rules_meet_by_id)
{
    merged("rules: [{id: a, metric: count}, {id: b}]", "rules: [{id: b, optional: true}, {id: c}]",
           "{rules: [{id: a, metric: count}, {id: b, optional: true}, {id: c}]}", 0);
    merged("rules: [{id: a, fail: {abs: 0, pct: 5%}}]", "rules: [{id: a, fail: {pct: 9%}}]",
           "{rules: [{id: a, fail: {pct: 9%}}]}", 0); /* a limit is one value */
    merged("rules: [{id: a}, {id: b}]", "rules: {remove: [a], add: [{id: c}]}",
           "{rules: [{id: b}, {id: c}]}", 0);
    merged("rules: [{id: a}]", "rules: {remove: [x]}", "{rules: [{id: a}]}", TG_DIAG_RULE_UNKNOWN);
}

TEST(aliases_and_waivers_add_up)
{
    merged("aliases: [{from: a, to: b}]", "aliases: [{from: c, to: d}]",
           "{aliases: [{from: a, to: b}, {from: c, to: d}]}", 0);
}

/* The merged tree knows where each value was written. */
TEST(values_keep_their_place)
{
    struct tg_removed removed = { 0 };
    const struct tg_yaml *report;
    struct tree b, l;
    tree_open(&b, "report: {top: 5,\n  junit_max: 7}");
    tree_open(&l, "# a layer\n\nreport: {top: 9}");
    report = tg_yaml_get(tg_merge(b.root, l.root, b.a, &removed, &l.d), "report");
    assert_int_equal(tg_yaml_get(report, "top")->at.line, 3);
    assert_int_equal(tg_yaml_get(report, "junit_max")->at.line, 2);
    tree_close(&b);
    tree_close(&l);
}
