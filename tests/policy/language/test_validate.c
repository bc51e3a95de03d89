/* One file against the grammar: keys, types, words, ranges. */
#include "tree.h"

#include "policy/language/internal.h"

TEST(each_mistake_has_its_code)
{
    static const struct {
        const char *text;
        unsigned code;
    } cases[] = {
        { "version: 1", 0 },
        { "version: 1\nreport: {top: 5}", 0 },
        { "version: 1\nreprot: {top: 5}", TG_DIAG_UNKNOWN_KEY },
        { "report: {top: 5}", TG_DIAG_MISSING },
        { "version: 9", TG_DIAG_VERSION },
        { "version: 1\nreport: [5]", TG_DIAG_TYPE },
        { "version: 1\nreport: {top: many}", TG_DIAG_NUMBER },
        { "version: 1\nfail_on: [sometimes]", TG_DIAG_WORD },
        { "version: 1\nrules: [{id: 'not an id', metric: count}]", TG_DIAG_TEXT },
        { "version: 1\nrules: [{id: a, metric: cuont}]", TG_DIAG_WORD },
        { "version: 1\nrules: [{id: a, metric: count}, {id: a, metric: count}]",
          TG_DIAG_RULE_TWICE },
        { "version: 1\nsuites: [{name: a}, {name: a}]", TG_DIAG_SUITE_TWICE },
        { "version: 1\nsuites: []", TG_DIAG_EMPTY_LIST },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tree t;
        tree_open(&t, cases[i].text);
        tg_validate_file(t.root, &t.d);
        tree_has(&t, cases[i].text, cases[i].code);
        tree_close(&t);
    }
}

TEST(all_of_them_at_once_with_a_fix)
{
    struct tree t;
    tree_open(&t, "version: 1\nreprot: {}\nnoise: {min_rnus: 3}\nfail_on: [x]\n");
    tg_validate_file(t.root, &t.d);
    assert_int_equal(t.d.errors, 3);
    assert_true(tg_sv_has(t.d.v[0].fix, TG_SV("report")));
    assert_true(tg_sv_has(t.d.v[1].fix, TG_SV("min_runs")));
    assert_int_equal(t.d.v[1].at.line, 3);
    tree_close(&t);
}

TEST(words_and_keys_are_found_by_name)
{
    assert_int_equal(tg_sv_index(tg_words_on_off, TG_SV("off")), 1);
    assert_int_equal(tg_sv_index(tg_words_on_off, TG_SV("of")), -1);
    assert_non_null(tg_key_find(tg_key_shape_rule.keys, TG_SV("metric")));
    assert_null(tg_key_find(tg_key_shape_rule.keys, TG_SV("metr")));
    enum tg_kind kind;
    for (size_t i = 0; tg_words_kind[i]; i++) /* the two tables go together */
        assert_true(tg_kind_from_name(tg_sv_of(tg_words_kind[i]), &kind));
}
