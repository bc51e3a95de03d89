/* The options about traces that several commands have. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/given.h"

TEST(runs_and_ranks_exclude_each_other)
{
    const struct tg_given none = { 0 }, runs = { .runs = true }, ranks = { .ranks = true },
                          both = { .runs = true, .ranks = true };
    struct room r = { 0 };
    tg_err_init(&r.err);
    assert_true(tg_given_check(&none, &r.err) && tg_given_check(&runs, &r.err) &&
                tg_given_check(&ranks, &r.err));
    assert_false(tg_given_check(&both, &r.err));
    assert_failed(&r, TG_ERR_USAGE, "--runs and --ranks exclude each other");
    assert_int_equal(tg_given_arrange(&none, TG_ARRANGE_AUTO), TG_ARRANGE_AUTO);
    assert_int_equal(tg_given_arrange(&none, TG_ARRANGE_RUNS), TG_ARRANGE_RUNS);
    assert_int_equal(tg_given_arrange(&ranks, TG_ARRANGE_RUNS), TG_ARRANGE_RANKS);
    assert_int_equal(tg_given_arrange(&runs, TG_ARRANGE_AUTO), TG_ARRANGE_RUNS);
}

TEST(a_window_is_one_of_three_words)
{
    static const struct {
        const char *text;
        int by;
        const char *name;
        bool ok;
    } cases[] = {
        { NULL, TG_WINDOW_AUTO, "", true },
        { "auto", TG_WINDOW_AUTO, "", true },
        { "whole", TG_WINDOW_WHOLE, "", true },
        { "annotation:execute_*", TG_WINDOW_ANNOTATION, "execute_*", true },
        { "annotation:a:b", TG_WINDOW_ANNOTATION, "a:b", true },
        { "annotation:", TG_WINDOW_AUTO, "", false },
        { "annotation", TG_WINDOW_AUTO, "", false },
        { "steps", TG_WINDOW_AUTO, "", false },
        { "", TG_WINDOW_AUTO, "", false },
    };
    struct room r = { 0 };
    tg_err_init(&r.err);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_given g = { .window = cases[i].text };
        struct tg_window_spec w;
        assert_int_equal(tg_given_window(&w, &g, &r.err), cases[i].ok);
        if (cases[i].ok) {
            assert_int_equal(w.by, cases[i].by);
            assert_sv_equal(w.name, tg_sv_of(cases[i].name));
        } else {
            assert_failed(&r, TG_ERR_USAGE, "--window does not know");
        }
    }
}

TEST(meta_is_a_key_and_a_value)
{
    const char *good[] = { "cpu=Xeon 8480", "a=b=c", "empty=" };
    const char *const bad[] = { "cpu", "=x", "" };
    struct tg_given g = { .meta = { good, 3, 3 }, .strict_json = true };
    struct tg_summarize_opts so = { 0 };
    struct room r = { .arena = tg_arena_new() };
    tg_err_init(&r.err);
    assert_true(tg_given_apply(&so, &g, r.arena, &r.err));
    assert_true(so.load.reader.strict_json && !so.load.reader.allow_truncated);
    assert_int_equal(so.n_meta, 3);
    assert_sv_equal(so.meta[0].key, TG_SV("cpu"));
    assert_sv_equal(so.meta[0].value, TG_SV("Xeon 8480"));
    assert_sv_equal(so.meta[1].value, TG_SV("b=c"));
    assert_sv_equal(so.meta[2].value, TG_SV(""));
    for (size_t i = 0; i < 3; i++) {
        const char *one[] = { bad[i] };
        g = (struct tg_given){ .meta = { one, 1, 1 } };
        assert_false(tg_given_apply(&so, &g, r.arena, &r.err));
        assert_failed(&r, TG_ERR_USAGE, "is not KEY=VALUE");
    }
    tg_arena_free(r.arena);
}
