/* What one rank alone does is one event (fold.c): rank 5 of eight, two kernels six times as long.
 * The mean over ranks of each is longer by 1 us, and so is the step. */
#include "by_hand.h"
#include "policy/verdict/internal.h"

enum { A, B, C, N };

static void make(struct hand *h)
{
    static const struct tg_rank_alone alone = {
        .rank = 5,
        .device = true,
        .value = { 10000, 26000 },
        .of_names = { 3200, 19200 },
        .n_names = 2,
    };
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, N);
    ops[A] = hand_op("a", TG_KIND_KERNEL);
    ops[B] = hand_op("b", TG_KIND_KERNEL);
    ops[C] = hand_op("c", TG_KIND_KERNEL);
    ops[A].on_rank_alone = ops[B].on_rank_alone = true;
    hand_ops(h, ops, N);
    h->c.n_ranks[TG_BASE] = h->c.n_ranks[TG_TEST] = 8;
    h->c.rank_alone = &alone;
}

/* A time of a kernel, or of the whole trace, by the mean over ranks or of one rank. */
static struct tg_result slower(const char *name, enum tg_subject subject, int64_t rank)
{
    struct tg_result r = hand_row(name, 1000);
    r.unit_id = TG_UNIT_NS;
    r.metric = TG_RULE_METRIC_SELF;
    r.subject = subject;
    r.op_kind = TG_KIND_KERNEL;
    r.of_rank = rank;
    return r;
}

static const struct tg_result *fold(struct hand *h, const struct tg_result *v, size_t n)
{
    make(h);
    hand_results(h, v, n);
    tg_fold_rank(&h->e);
    return h->e.results;
}

WITH_HAND(all_of_it_is_told_once)
{
    const struct tg_result v[] = { slower("a", TG_SUBJECT_NAME, -1),
                                   slower("b", TG_SUBJECT_NAME, -1),
                                   slower("step_time", TG_SUBJECT_TRACE, -1) };
    const struct tg_result *r = fold(h, v, 3);
    assert_int_equal(r[0].folded_under, TG_NO_ID);
    assert_int_equal(r[1].folded_under, 0);
    assert_int_equal(r[2].folded_under, 0);
    assert_true(r[0].one_rank);
    hand_text(
        r[0].message,
        "rank 5 alone: 2 kernels +500 % (+16.0 us): together 19.20 us per step, was 3.20 us; the "
        "other ranks work as before");
    assert_true(tg_sv_has(r[0].next, TG_SV("look at the machine of rank 5 first")));
}

WITH_HAND(the_rank_itself_leads)
{
    const struct tg_result v[] = { slower("step_time", TG_SUBJECT_TRACE, -1),
                                   slower("a", TG_SUBJECT_NAME, -1),
                                   slower("a", TG_SUBJECT_NAME, 5) };
    const struct tg_result *r = fold(h, v, 3);
    assert_int_equal(r[0].folded_under, 2);
    assert_int_equal(r[1].folded_under, 2);
    assert_true(r[2].one_rank);
}

/* Another name, another rank, calls, a budget, and what is more than this rank adds. */
WITH_HAND(what_is_not_the_ranks_stays)
{
    struct tg_result v[] = {
        slower("a", TG_SUBJECT_NAME, -1),          slower("c", TG_SUBJECT_NAME, -1),
        slower("a", TG_SUBJECT_NAME, 4),           hand_row("a", 2),
        slower("step_time", TG_SUBJECT_TRACE, -1), slower("step_time", TG_SUBJECT_TRACE, -1)
    };
    const struct tg_result *r;
    v[3].of_rank = -1;
    v[4].over_budget = true;
    v[5].delta = 20000;
    r = fold(h, v, 6);
    assert_true(r[0].one_rank);
    for (size_t i = 1; i < 6; i++)
        assert_int_equal(r[i].folded_under, TG_NO_ID);
}

WITH_HAND(without_such_a_rank_nothing_changes)
{
    const struct tg_result v[] = { slower("a", TG_SUBJECT_NAME, -1),
                                   slower("b", TG_SUBJECT_NAME, -1) };
    make(h);
    h->c.rank_alone = NULL;
    hand_results(h, v, 2);
    tg_fold_rank(&h->e);
    assert_false(h->e.results[0].one_rank);
    assert_int_equal(h->e.results[1].folded_under, TG_NO_ID);
}
