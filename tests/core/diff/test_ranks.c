/* Which ranks two sides are compared by. Each rank of each run is a shard with one operator; rank r
 * calls it r + 1 times a step, so an average over another set of ranks is another number. */
#include "core/diff/compare.h"
#include "tests/support.h"

struct fixture {
    struct tg_arena *a;
    struct tg_err err;
    struct tg_comparison c;
    struct tg_side side[2];
    struct tg_compare_opts o;
};

static void set_up(struct fixture *f)
{
    f->a = tg_arena_new();
}

static void tear_down(struct fixture *f)
{
    tg_arena_free(f->a);
}

#define CASE(name) TEST_IN(struct fixture, f, set_up, tear_down, name)

static struct tg_shard *shard(struct fixture *f, int64_t rank)
{
    struct tg_shard *s = TG_NEW(f->a, struct tg_shard);
    struct tg_row *row = TG_NEW(f->a, struct tg_row);
    struct tg_row_key *key = TG_NEW(f->a, struct tg_row_key);
    s->rank = rank;
    s->marked = true;
    s->n_steps = 1;
    s->steps = TG_NEW(f->a, struct tg_step);
    s->steps[0] = (struct tg_step){ .number = 3, .end = 1000000 };
    s->metrics = TG_NEW_N(f->a, struct tg_metric_value, TG_METRICS);
    *key = (struct tg_row_key){
        .name = TG_SV("aten::mm"), .kind = TG_KIND_OP, .device = -1, .stream = -1
    };
    row->key = key;
    row->count = TG_NEW_N(f->a, uint32_t, 2);
    row->count[0] = (uint32_t)(rank + 1);
    row->total = TG_NEW_N(f->a, tg_ns, 2);
    row->self = TG_NEW_N(f->a, tg_ns, 2);
    row->total[0] = row->self[0] = 5000;
    s->rows = row;
    s->n_rows = 1;
    return s;
}

/* The ranks in `mask`, a bit each; `partial`: those that some run of the side lacks. */
static void give(struct fixture *f, int side, unsigned mask, unsigned partial)
{
    struct tg_side *s = &f->side[side];
    *s = (struct tg_side){ .n_runs = 1 };
    s->ranks = TG_NEW_N(f->a, int64_t, 32);
    s->partial = TG_NEW_N(f->a, int64_t, 32);
    s->at = TG_NEW(f->a, const struct tg_shard **);
    s->at[0] = TG_NEW_N(f->a, const struct tg_shard *, 32);
    for (int64_t r = 0; r < 32; r++) {
        if (partial >> r & 1)
            s->partial[s->n_partial++] = r;
        if (!(mask >> r & 1))
            continue;
        s->at[0][s->n_ranks] = shard(f, r);
        s->ranks[s->n_ranks++] = r;
    }
}

static bool compare(struct fixture *f)
{
    tg_err_init(&f->err);
    f->o.no_evidence = true;
    return tg_compare(&f->c, &f->side[0], &f->side[1], &f->o, f->a, &f->err);
}

static void assert_lacks(const struct fixture *f, int side, const char *text)
{
    TG_BUF b = { 0 };
    if (f->c.n_lacking[side])
        tg_ranks_put(&b, f->c.lacking[side], f->c.n_lacking[side]);
    assert_string_equal(b.n ? b.p : "", text);
}

CASE(ranks_of_one_side_take_no_part)
{
    give(f, TG_BASE, 0xff, 0);
    give(f, TG_TEST, 0x1df, 0); /* without 5, with 8 */
    assert_true(compare(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 7);
    assert_int_equal(f->c.n_brought[TG_BASE], 8);
    assert_int_equal(f->c.n_brought[TG_TEST], 8);
    assert_int_equal(f->c.given[TG_BASE].n_ranks, 7); /* nor for skew */
    assert_int_equal(f->c.ops[0].change, TG_SAME);
    assert_lacks(f, TG_BASE, "rank 8");
    assert_lacks(f, TG_TEST, "rank 5");
}

CASE(a_rank_that_some_runs_lack_takes_no_part)
{
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x0b, 0x04);
    assert_true(compare(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 3);
    assert_int_equal(f->c.ops[0].change, TG_SAME);
    assert_lacks(f, TG_TEST, "rank 2");
    give(f, TG_BASE, 0x01, 0x06); /* on either side: 1 and 2 of the baseline, 3 and 4 fresh */
    give(f, TG_TEST, 0x01, 0x18);
    assert_true(compare(f));
    assert_lacks(f, TG_BASE, "ranks 1–4");
    assert_lacks(f, TG_TEST, "ranks 1–4");
}

CASE(no_rank_in_common_is_an_error)
{
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x50, 0);
    assert_false(compare(f));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_string_equal(f->err.message, "the sides have no rank in common: the baseline side has "
                                        "ranks 0–3, the fresh side ranks 4, 6");
    assert_true(f->err.hint[0]);
    f->side[TG_BASE].ranks[0] = -1;
    f->side[TG_BASE].n_ranks = 1;
    assert_false(compare(f));
    assert_string_equal(f->err.message, "the sides have no rank in common: the baseline side has "
                                        "a trace without a rank, the fresh side ranks 4, 6");
    f->o.any_ranks = true;
    assert_true(compare(f));
    assert_int_equal(f->c.n_ranks[TG_TEST], 2);
}

CASE(one_rank_a_side_compares_whatever_it_is)
{
    give(f, TG_BASE, 0x01, 0);
    give(f, TG_TEST, 0x08, 0);
    assert_true(compare(f));
    assert_lacks(f, TG_BASE, "rank 3"); /* told */
    assert_true(f->c.ops[0].count[TG_TEST] == 4);
    f->side[TG_BASE].ranks[0] = -1; /* a trace that says no rank lacks none */
    assert_true(compare(f));
    assert_lacks(f, TG_BASE, "");
}

CASE(ranks_chosen_by_hand_are_compared)
{
    const int64_t one[] = { 1 }, two[] = { 1, 2 };
    give(f, TG_BASE, 0x0f, 0);
    give(f, TG_TEST, 0x07, 0);
    f->o.ranks[TG_BASE] = one;
    f->o.n_rank_numbers[TG_BASE] = 1;
    f->o.ranks[TG_TEST] = two;
    f->o.n_rank_numbers[TG_TEST] = 2;
    assert_true(compare(f));
    assert_int_equal(f->c.n_ranks[TG_BASE], 1);
    assert_int_equal(f->c.n_ranks[TG_TEST], 2);
    assert_lacks(f, TG_TEST, "");
}

CASE(many_ranks_are_told_in_pieces)
{
    int64_t v[20];
    TG_BUF b = { 0 };
    (void)f;
    for (int i = 0; i < 20; i++)
        v[i] = 2 * i;
    tg_ranks_put(&b, v, 20);
    assert_string_equal(b.p, "ranks 0, 2, 4, 6, 8, 10, 12, 14 and 12 more");
    tg_buf_clear(&b);
    tg_ranks_put(&b, (const int64_t[]){ 0, 1, 2, 5, 7, 8 }, 6);
    assert_string_equal(b.p, "ranks 0–2, 5, 7, 8");
}
