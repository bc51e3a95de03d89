/* Ranks in one row (rank_rows.c): the worst rank's values, and how many share its state. */
#include "by_hand.h"

/* A row of a rank: `base` calls, and `more`. */
static struct tg_result of_rank(enum tg_state s, double base, double more)
{
    struct tg_result r = hand_row("aten::mm", more);
    r.state = s;
    r.base = base;
    r.test = base + more;
    r.delta_pct = base > 0 ? 100 * more / base : NAN;
    r.evidence = TG_SV("exact");
    return r;
}

/* The one row of these ranks, from rank 0 on. */
static struct tg_result row_of(struct hand *h, const struct tg_result *v, size_t n)
{
    struct tg_rank_rows x;
    size_t before = h->e.n;
    tg_rank_rows_init(&x);
    for (size_t i = 0; i < n; i++)
        tg_rank_rows_add(&x, &v[i], (int64_t)i, h->a);
    assert_true(tg_rank_rows_have(&x, v->rule));
    assert_false(tg_rank_rows_have(&x, TG_SV("another rule")));
    tg_rank_rows_put(&x, &h->e);
    assert_int_equal(h->e.n, before + 1);
    tg_rank_rows_release(&x);
    return h->e.results[before];
}

WITH_HAND(the_worst_state_and_its_ranks)
{
    const struct tg_result v[] = {
        of_rank(TG_STATE_PASS, 10, 0), of_rank(TG_STATE_WARN, 10, 9),
        of_rank(TG_STATE_FAIL, 10, 2), of_rank(TG_STATE_FAIL, 10, -3),
        of_rank(TG_STATE_FAIL, 10, 1), of_rank(TG_STATE_PASS, 10, 0),
    };
    struct tg_result r = row_of(h, v, 6);
    assert_int_equal(r.state, TG_STATE_FAIL);
    hand_text(r.op_normalised, "aten::mm [ranks 2–4]");
    assert_true(r.delta == -3); /* the largest change of those */
    hand_text(r.evidence, "exact; 3 of 6 ranks, these are the values of rank 3");
    r = row_of(h, v, 2);
    hand_text(r.op_normalised, "aten::mm [rank 1]");
}

WITH_HAND(all_ranks_alike)
{
    struct tg_result v[] = { of_rank(TG_STATE_FAIL, 10, 1), of_rank(TG_STATE_FAIL, 10, 2),
                             of_rank(TG_STATE_FAIL, 10, 0.001) };
    struct tg_result r = row_of(h, v, 3);
    hand_text(r.op_normalised, "aten::mm [3 ranks]");
    hand_text(r.evidence, "exact; 3 of 3 ranks, these are the values of rank 1");
    v[1].delta = v[2].delta = v[0].delta; /* then it is about the name */
    r = row_of(h, v, 3);
    hand_text(r.op_normalised, "aten::mm");
    hand_text(r.evidence, "exact; 3 of 3 ranks");
    r = row_of(h, v, 1); /* "1 ranks" is no name */
    hand_text(r.op_normalised, "aten::mm [rank 0]");
    hand_text(r.evidence, "exact");
}

/* Alike on two of three ranks; the third lacks the name: it is about those two. */
WITH_HAND(ranks_that_have_the_name)
{
    struct tg_result v = of_rank(TG_STATE_FAIL, 10, 1), other = v;
    struct tg_rank_rows x;
    other.plain = TG_SV("aten::add");
    tg_rank_rows_init(&x);
    tg_rank_rows_add(&x, &other, 0, h->a);
    for (int64_t rank = 1; rank < 3; rank++)
        tg_rank_rows_add(&x, &v, rank, h->a);
    tg_rank_rows_put(&x, &h->e);
    assert_int_equal(h->e.n, 2);
    hand_text(h->e.results[0].op_normalised, "aten::add [rank 0]");
    hand_text(h->e.results[1].op_normalised, "aten::mm [2 ranks]");
    tg_rank_rows_release(&x);
}

/* What has no values, as facts: no spread; of two in one state the first stays. */
WITH_HAND(rows_without_values)
{
    struct tg_result v[] = { of_rank(TG_STATE_FAIL, 10, 0), of_rank(TG_STATE_FAIL, 10, 0) };
    struct tg_result r;
    v[0].has_values = v[1].has_values = false;
    v[1].message = TG_SV("the second");
    r = row_of(h, v, 2);
    hand_text(r.evidence, "exact; 2 of 2 ranks");
    hand_text(r.message, "is called more often");
    v[1].has_values = true; /* values say more than none */
    r = row_of(h, v, 2);
    hand_text(r.message, "the second");
    hand_text(r.evidence, "exact; 2 of 2 ranks");
    v[0].has_values = true;
    v[1].has_values = false;
    r = row_of(h, v, 2);
    hand_text(r.message, "is called more often");
}

/* Passes need no text: a row that says something stays, and the row is one of the whole rule. */
WITH_HAND(a_row_without_a_text_is_no_example)
{
    struct tg_result v[] = { of_rank(TG_STATE_PASS, 10, 1), of_rank(TG_STATE_PASS, 10, 5) };
    v[1].message = TG_SV("");
    assert_true(row_of(h, v, 2).delta == 1);
    v[1].message = TG_SV("text");
    assert_true(row_of(h, v, 2).delta == 5);
    v[0].message = TG_SV(""); /* without another one it is the row all the same */
    v[0].has_values = false;
    hand_text(row_of(h, v, 1).op_normalised, "aten::mm [rank 0]");
}

/* Names are apart by kind and metric; what is no operator goes by what it is called. */
WITH_HAND(a_row_for_each_name)
{
    struct tg_result v[] = { of_rank(TG_STATE_FAIL, 10, 1), of_rank(TG_STATE_FAIL, 10, 1),
                             of_rank(TG_STATE_FAIL, 10, 1), of_rank(TG_STATE_FAIL, 10, 1),
                             of_rank(TG_STATE_FAIL, 10, 1) },
                     of_another_rule = of_rank(TG_STATE_FAIL, 10, 1);
    struct tg_rank_rows x;
    v[1].op_kind = TG_KIND_KERNEL;
    v[2].metric = TG_RULE_METRIC_SELF;
    v[3].plain = v[4].plain = TG_SV("");
    v[3].op = TG_SV("(no match)");
    v[4].op = TG_SV("(no value)");
    tg_rank_rows_init(&x);
    for (size_t i = 0; i < 5; i++)
        tg_rank_rows_add(&x, &v[i], 7, h->a);
    of_another_rule.rule = TG_SV("s");
    tg_rank_rows_add(&x, &of_another_rule, 7, h->a);
    tg_rank_rows_put(&x, &h->e);
    assert_int_equal(h->e.n, 6);
    hand_text(h->e.results[3].op_normalised, "(no match) [rank 7]");
    tg_rank_rows_release(&x);
}

/* What a part says goes with it: the copy has texts and evidence of its own. */
WITH_HAND(a_copy_outlives_its_part)
{
    struct tg_arena *part = tg_arena_new();
    struct tg_result r = hand_row("a", 1), copy;
    const struct {
        tg_sv *of, *kept;
    } texts[] = {
        { &r.op, &copy.op },
        { &r.op_normalised, &copy.op_normalised },
        { &r.plain, &copy.plain },
        { &r.calling_op, &copy.calling_op },
        { &r.message, &copy.message },
        { &r.evidence, &copy.evidence },
        { &r.next, &copy.next },
        { &r.limit, &copy.limit },
        { &r.limit_said, &copy.limit_said },
        { &r.source, &copy.source },
    };
    const size_t n = sizeof texts / sizeof *texts;
    for (size_t i = 0; i < n; i++)
        *texts[i].of = tg_arena_sv(part, TG_SV("text"));
    r.why_not = tg_arena_sv(part, TG_SV("because")).p;
    struct tg_evidence *ev = TG_NEW(part, struct tg_evidence);
    *ev = hand_evidence(1000, 0.5);
    r.ev = ev;
    copy = tg_result_copy(&r, h->a);
    *ev = hand_evidence(9, 0);
    for (size_t i = 0; i < n; i++)
        memset((char *)(uintptr_t)texts[i].of->p, '#', texts[i].of->n);
    memset((char *)(uintptr_t)r.why_not, '#', 7);
    tg_arena_free(part);
    for (size_t i = 0; i < n; i++)
        if (!tg_sv_eq(*texts[i].kept, TG_SV("text")))
            fail_msg("text %zu: '%.*s'", i, TG_SV_ARG(*texts[i].kept));
    assert_string_equal(copy.why_not, "because");
    assert_true(copy.ev->value[TG_BASE] == 1000);
    r = hand_row("a", 1);
    copy = tg_result_copy(&r, h->a);
    assert_null(copy.ev);
    assert_null(copy.why_not);
}
