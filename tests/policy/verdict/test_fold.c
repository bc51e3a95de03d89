/*
 * Consequences under their cause (fold.c), on rows made by hand. An operator that is called as often more as the one that
 * calls it follows from that, and so does what a new operator calls.
 */
#include "by_hand.h"

enum { A, B, C, N };

/* c is called by b, b by a; results in any order. */
static struct tg_op *chain(struct hand *h)
{
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, N);

    ops[A] = hand_op("a", TG_KIND_OP);
    ops[B] = hand_op("b", TG_KIND_OP);
    ops[C] = hand_op("c", TG_KIND_OP);
    ops[B].parent = TG_SV("a");
    ops[C].parent = TG_SV("b");
    h->c.ops = ops;
    h->c.n_ops = N;
    return ops;
}

/* The names of the rows, each followed by that of the row it is under. */
static void folded(struct hand *h, const struct tg_result *v, size_t n, const char *want)
{
    struct tg_buf got = { 0 };

    hand_results(h, v, n);
    tg_fold(&h->e);
    for (size_t i = 0; i < n; i++) {
        const struct tg_result *r = &h->e.results[i];
        tg_buf_printf(&got, "%s%.*s", i ? " " : "", TG_SV_ARG(r->op));
        if (r->folded_under != TG_NO_ID)
            tg_buf_printf(&got, "<%.*s", TG_SV_ARG(h->e.results[r->folded_under].op));
    }
    hand_text(tg_buf_sv(&got), want);
    tg_buf_release(&got);
}

static void a_chain_is_folded_under_its_first(void **state)
{
    struct hand *h = *state;
    const struct tg_result a = hand_row("a", 2), b = hand_row("b", 2), c = hand_row("c", 2);

    (void)chain(h);
    folded(h, (struct tg_result[]){ a, b, c }, 3, "a b<a c<a");
    folded(h, (struct tg_result[]){ c, b, a }, 3, "c<a b<a a");
    folded(h, (struct tg_result[]){ b, c, a }, 3, "b<a c<a a");
    folded(h, (struct tg_result[]){ b, c }, 2, "b c<b");
    folded(h, (struct tg_result[]){ a, c }, 2, "a c"); /* b calls it */
}

/* A circle of names is none of rows: one of them stays. */
static void a_circle_keeps_one_row(void **state)
{
    struct hand *h = *state;

    chain(h)[A].parent = TG_SV("c");
    folded(h, (struct tg_result[]){ hand_row("a", 2), hand_row("b", 2), hand_row("c", 2) }, 3,
           "a<c b<c c");
}

static void other_numbers_states_and_dimensions_are_findings(void **state)
{
    struct hand *h = *state;
    struct tg_result a = hand_row("a", 2), b = hand_row("b", 3);

    (void)chain(h);
    folded(h, (struct tg_result[]){ a, b }, 2, "a b"); /* one more than a makes */
    b = hand_row("b", 2);
    b.state = TG_STATE_WARN;
    folded(h, (struct tg_result[]){ a, b }, 2, "a b");
    a.state = TG_STATE_WARN;
    folded(h, (struct tg_result[]){ a, b }, 2, "a b<a");
    a = hand_row("a", 2);
    b = hand_row("b", 2);
    a.dimension = TG_DIM_DURATION; /* 2 ns longer makes no calls */
    folded(h, (struct tg_result[]){ a, b }, 2, "a b");
    a.dimension = TG_DIM_COUNT;
    b.dimension = TG_DIM_BYTES;
    folded(h, (struct tg_result[]){ a, b }, 2, "a b");
    a.state = b.state = TG_STATE_PASS;
    b.dimension = TG_DIM_COUNT;
    folded(h, (struct tg_result[]){ a, b }, 2, "a b");
}

/* A row is about an operator by name and kind. */
static void a_row_of_another_kind_is_no_operator(void **state)
{
    struct hand *h = *state;
    struct tg_result b = hand_row("b", 2);

    (void)chain(h);
    b.kind = TG_SV("kernel");
    folded(h, (struct tg_result[]){ hand_row("a", 2), b }, 2, "a b");
}

/* The leader is a new operator; it calls c nine times a call, and what else it is called. */
static void what_a_new_operator_calls_is_folded_under_it(void **state)
{
    struct hand *h = *state;
    struct tg_op *ops = chain(h);
    struct tg_result a = hand_row("a", 1), b = hand_row("b", 7), c = hand_row("c", 9);

    ops[B].parent = TG_SV("");
    ops[C].leader = A;
    folded(h, (struct tg_result[]){ b, a, c }, 3, "b a c<a");
    a.kind = TG_SV("kernel"); /* of the leader's name, but not the leader */
    folded(h, (struct tg_result[]){ b, a, c }, 3, "b a c");
    a = hand_row("a", 1);
    ops[C].parent = TG_SV(""); /* mostly called by nobody: a finding of its own */
    folded(h, (struct tg_result[]){ b, a, c }, 3, "b a c");
}

/* A kernel follows the operator of its own name, and no other; never itself. */
static void a_kernel_follows_the_operator_of_its_name(void **state)
{
    struct hand *h = *state;
    struct tg_op *ops = chain(h);
    struct tg_result kernel = hand_row("b", 2);

    ops[B] = hand_op("b", TG_KIND_KERNEL);
    ops[B].parent = TG_SV("b");
    ops[A] = hand_op("b", TG_KIND_OP);
    ops[A].parent = TG_SV("b"); /* of itself: a recursion follows nothing */
    kernel.kind = TG_SV("kernel");
    folded(h, (struct tg_result[]){ hand_row("b", 2), kernel }, 2, "b b<b");
    assert_int_equal(h->e.results[1].folded_under, 0);
    folded(h, (struct tg_result[]){ kernel }, 1, "b");
    ops[B].parent = TG_SV("c");
    ops[C].parent = TG_SV("");
    folded(h, (struct tg_result[]){ hand_row("c", 2), kernel }, 2, "c b");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        hand_test(a_chain_is_folded_under_its_first),
        hand_test(a_circle_keeps_one_row),
        hand_test(other_numbers_states_and_dimensions_are_findings),
        hand_test(a_row_of_another_kind_is_no_operator),
        hand_test(what_a_new_operator_calls_is_folded_under_it),
        hand_test(a_kernel_follows_the_operator_of_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
