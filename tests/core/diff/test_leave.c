/* Which runs leave a comparison because the profiler recorded more of them, or less. */
#include "core/diff/internal.h"
#include "tests/core/diff/by_hand.h"

static void set_up(struct fixture *f)
{
    f->a = tg_arena_new();
}

static void tear_down(struct fixture *f)
{
    tg_arena_free(f->a);
}

#define CASE(name) TEST_IN(struct fixture, f, set_up, tear_down, name)

/* A letter a run: '.' says nothing, 's' records shapes, 'k' stacks. */
static void record(struct fixture *f, int side, const char *runs)
{
    make_side(f, side, strlen(runs), 1);
    for (size_t i = 0; runs[i]; i++) {
        struct tg_shard *h = shard(f, side, i);
        h->source = TG_SV_PRINTF(f->a, "%zu", i);
        h->env = TG_NEW(f->a, struct tg_kv);
        h->env[0].key = runs[i] == 's' ? TG_SV("record_shapes") : TG_SV("with_stack");
        h->env[0].value = TG_SV("1");
        h->n_env = runs[i] != '.';
    }
}

static void leave(struct fixture *f, const char *base, const char *test)
{
    struct tg_diff_work w = { .c = &f->c, .o = &f->o, .a = f->a };
    record(f, TG_BASE, base);
    record(f, TG_TEST, test);
    f->c = (struct tg_comparison){ .arena = f->a, .side = { f->side[0], f->side[1] } };
    tg_runs_leave(&w);
}

CASE(runs_that_differ_from_most_of_both_sides_leave)
{
    static const struct {
        const char *base, *test;
        unsigned min_runs;
        size_t stay[2];
    } rows[] = {
        { "...", "...", 0, { 3, 3 } },
        { "sss", "sss", 0, { 3, 3 } },
        { ".....", "..s..", 0, { 5, 4 } },
        { "k....", "....s", 0, { 4, 4 } },
        { "sss.s", "ssss", 0, { 4, 4 } },
        /* a side as a whole: nothing to be compared with */
        { ".....", "sssss", 0, { 5, 5 } },
        { ".....", ".ssss", 0, { 5, 5 } },
        /* too few would stay, by default or as the policy asks */
        { "...", "..s", 0, { 3, 3 } },
        { ".....", "..s..", 5, { 5, 5 } },
        { "...", "..s", 2, { 3, 2 } },
        /* no majority */
        { "......", "...sss", 0, { 6, 6 } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        f->o.min_runs = rows[i].min_runs;
        leave(f, rows[i].base, rows[i].test);
        for (int side = 0; side < 2; side++)
            if (f->c.side[side].n_runs != rows[i].stay[side])
                fail_msg("row %zu, side %d: %zu stay", i, side, f->c.side[side].n_runs);
        assert_int_equal(f->c.n_left, strlen(rows[i].base) + strlen(rows[i].test) -
                                          rows[i].stay[0] - rows[i].stay[1]);
    }
}

CASE(who_left_is_named)
{
    leave(f, "....", ".k..s.");
    assert_int_equal(f->c.n_left, 2);
    assert_int_equal(f->c.left[0].side, TG_TEST);
    assert_int_equal(f->c.left[0].run, 1);
    assert_sv_equal(f->c.left[0].source, TG_SV("1"));
    assert_sv_equal(f->c.left[0].profile, TG_SV("with_stack=1"));
    assert_sv_equal(f->c.left[1].source, TG_SV("4"));
    assert_sv_equal(f->c.left[1].profile, TG_SV("record_shapes=1"));
    /* those that stay keep their order, and the given side is as it was */
    assert_sv_equal(f->c.side[TG_TEST].at[1][0]->source, TG_SV("2"));
    assert_sv_equal(f->c.side[TG_TEST].at[3][0]->source, TG_SV("5"));
    assert_int_equal(f->side[TG_TEST].n_runs, 6);
}
