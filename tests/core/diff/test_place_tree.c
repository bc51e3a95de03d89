/* The trees of both sides as one (place_tree.c). */
#include "place_by_hand.h"

static const struct tg_place_node *node(const struct tg_place_tree *t, const char *path)
{
    for (uint32_t i = 0; i < t->n; i++) {
        TG_BUF b = { 0 };
        tg_place_path(t, i, &b);
        if (strcmp(b.p, path) == 0)
            return &t->v[i];
    }
    fail_msg("no node '%s'", path);
    return NULL;
}

/* A number in a name that normalising drops, and a second stream: one node. Roots come first, then level
 * by level, by kind and name. */
BY_HAND(nodes_of_one_path_are_one)
{
    struct tg_places p;
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_OP, "step/b", 1, 101);
    put_both(f, TG_KIND_OP, "step/a", 1, 101);
    put(f, TG_BASE, TG_KIND_KERNEL, "step/b/triton_poi_fused_add_3", 1, 101);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/b/triton_poi_fused_add_7", 2, 101);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/b/triton_poi_fused_add_8", 2, 101);
    p = places(f);
    assert_int_equal(p.tree.n, TG_ROOTS + 3);
    is_text(p.tree.v[TG_ROOTS].name, "a");
    is_text(p.tree.v[TG_ROOTS + 1].name, "b");
    is_text(p.tree.v[TG_ROOTS + 2].name, "triton_poi_fused_add");
    assert_int_equal(p.tree.v[TG_ROOTS + 2].parent, TG_ROOTS + 1);
    near(p.tree.v[TG_ROOTS + 2].calls[TG_BASE][0], 1);
    near(p.tree.v[TG_ROOTS + 2].calls[TG_TEST][0], 4);
    near(p.tree.v[TG_ROOTS + 2].mean[TG_TEST][0], 404);
    assert_false(p.tree.flat);
}

/*
 * Steps of 2, 2, 2 and 5 calls: 11/4 of a call. Times 10 20 | 30 5 | 8 40 | 100 …: the mean of the steps, and
 * each of the two calls in its fastest usual step, 8 + 5.
 */
BY_HAND(the_usual_number_of_calls_and_the_least_time)
{
    static const tg_ns ns[] = { 10, 20, 30, 5, 8, 40, 100, 1, 1, 1, 1 };
    static const uint32_t calls[] = { 2, 2, 2, 5 };
    struct tg_places p;
    struct tg_row *row;
    make(f, 1, 1, 4);
    row = put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 5, 1);
    put(f, TG_TEST, TG_KIND_OP, "step/a", 5, 1);
    for (size_t k = 0, slot = 0; k < 4; k++) {
        row->count[k] = calls[k];
        row->self[k] = 0;
        for (uint32_t i = 0; i < calls[k]; i++, slot++) {
            row->slots[slot] = ns[slot];
            row->self[k] += ns[slot];
        }
    }
    p = places(f);
    near(node(&p.tree, "step > a")->calls[TG_BASE][0], 11 / 4.0);
    near(node(&p.tree, "step > a")->low[TG_BASE][0], 2);
    near(node(&p.tree, "step > a")->high[TG_BASE][0], 5);
    near(node(&p.tree, "step > a")->mean[TG_BASE][0], (30 + 35 + 48 + 104) / 4.0);
    near(node(&p.tree, "step > a")->least[TG_BASE][0], 13);
    row->slots = NULL; /* dropped: the mean is what there is */
    p = places(f);
    near(node(&p.tree, "step > a")->least[TG_BASE][0], (30 + 35 + 48 + 104) / 4.0);
}

/* No number of calls is usual: 1, 2, 3, 6. */
BY_HAND(counts_that_vary_are_means)
{
    struct tg_places p;
    struct tg_row *row;
    make(f, 1, 1, 4);
    row = put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 6, 10);
    for (uint32_t k = 0; k < 3; k++)
        row->count[k] = k + 1;
    put(f, TG_TEST, TG_KIND_OP, "step/a", 3, 10);
    p = places(f);
    near(node(&p.tree, "step > a")->calls[TG_BASE][0], 3);
    near(node(&p.tree, "step > a")->least[TG_BASE][0], 60);
}

/* A cold first step, every third step, steps that agree; of two steps the first is as good as the last. */
BY_HAND(calls_of_steps)
{
    static const uint32_t steps[][4] = { { 9, 2, 2, 2 }, { 0, 0, 1, 0 }, { 3, 3, 3, 3 } };
    static const uint32_t two[] = { 3, 2 };
    static const double calls[] = { 2, 0.25, 3 };
    for (size_t i = 0; i < 3; i++) {
        struct tg_places p;
        make(f, 1, 1, 4);
        memcpy(put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 9, 10)->count, steps[i],
               sizeof steps[i]);
        put(f, TG_TEST, TG_KIND_OP, "step/a", 3, 10);
        p = places(f);
        near(node(&p.tree, "step > a")->calls[TG_BASE][0], calls[i]);
    }
    make(f, 1, 1, 2);
    memcpy(put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 9, 10)->count, two, sizeof two);
    put(f, TG_TEST, TG_KIND_OP, "step/a", 4, 10);
    assert_places(f, "step: contents -50 0, whole -50 0\n"
                     "  ~ a 2.5 -> 4\n");
}

/* Whole microseconds: `to` seems to be inside `mul` or beside it. Its kernel stays with it. */
BY_HAND(a_coarse_clock_does_not_nest_operators)
{
    struct tg_places p;
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/f", 1, 5000);
    put_both(f, TG_KIND_OP, "step/f/mul", 1, 1000);
    put(f, TG_BASE, TG_KIND_OP, "step/f/mul/to", 1, 1000);
    put(f, TG_BASE, TG_KIND_KERNEL, "step/f/mul/to/k", 1, 1000);
    put(f, TG_TEST, TG_KIND_OP, "step/f/to", 1, 1000);
    put(f, TG_TEST, TG_KIND_KERNEL, "step/f/to/k", 1, 1000);
    p = places(f);
    assert_true(p.tree.coarse);
    assert_int_equal(p.n, 0);
    near(node(&p.tree, "step > f > to > k")->calls[TG_BASE][0], 1);
    (void)put_run(f, TG_BASE, 0, TG_KIND_OP, "step/f/fine", 1, 1001);
    p = places(f);
    assert_false(p.tree.coarse);
    assert_int_equal(p.n, 1);
}

/* Two ranks add up, and the step that is skipped does not count. */
BY_HAND(ranks_and_steps)
{
    struct tg_places p;
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, 1, 2, 0, 3);
        for (size_t rank = 0; rank < 2; rank++) {
            struct tg_shard *s = shard_of(f, side, 0, rank);
            struct tg_tree_node *v = TG_NEW_N(f->a, struct tg_tree_node, TG_ROOTS + 1);
            static const uint32_t each[] = { 9, 2, 2 };
            (void)add_to(f, s, TG_KIND_OP, "a", "", each, 101);
            for (size_t i = 0; i < TG_ROOTS; i++)
                v[i] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
            v[TG_ROOTS] = (struct tg_tree_node){ TG_ROOT_STEP, 0, TG_NO_ID };
            s->tree = (struct tg_tree){ .node = v, .n = TG_ROOTS + 1 };
        }
    }
    f->o.skip_first = 1;
    p = places(f);
    near(node(&p.tree, "step > a")->calls[TG_TEST][0], 4);
    near(node(&p.tree, "step > a")->mean[TG_TEST][0], 404);
}

/* What ran between the steps, per step: 6 calls of 50 in 3 steps. */
BY_HAND(between_the_steps)
{
    struct tg_places p;
    make(f, 1, 1, 3);
    for (int side = 0; side < 2; side++) {
        struct tg_row *row = put_run(f, side, 0, TG_KIND_OP, "between/log", 0, 0);
        row->count[3] = side ? 6 : 3;
        row->self[3] = row->total[3] = side ? 300 : 150;
    }
    p = places(f);
    near(node(&p.tree, "between steps > log")->calls[TG_TEST][0], 2);
    near(node(&p.tree, "between steps > log")->mean[TG_TEST][0], 100);
    assert_places(f, "between steps: contents 50 0, whole 50 0\n"
                     "  ~ log 1 -> 2\n");
}

/* A row on two paths: each of its calls is where its slot says. Fastest: 10 + 30, and 25. */
BY_HAND(slots_of_a_row_with_several_nodes)
{
    static const tg_ns ns[] = { 11, 30, 25, 10, 31, 26 };
    static const uint32_t split[] = { 0, 0, 1, 0, 0, 1 };
    struct tg_places p;
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        struct tg_shard *s = shard(f, side, 0);
        struct tg_tree_node *v;
        struct tg_row *row;
        (void)put_run(f, side, 0, TG_KIND_OP, "step/a", 1, 1);
        (void)put_run(f, side, 0, TG_KIND_OP, "step/b", 1, 1);
        row = put_run(f, side, 0, TG_KIND_OP, "step/a/mm", 3, 1);
        v = (struct tg_tree_node *)(uintptr_t)s->tree.node;
        v[s->tree.n] = (struct tg_tree_node){ TG_ROOTS + 1, 2, 1 };
        v[s->tree.n - 1].split = 0;
        row->slot_node = TG_NEW_N(f->a, uint32_t, 6);
        s->tree.count = TG_NEW_N(f->a, uint32_t, 6);
        s->tree.self = TG_NEW_N(f->a, tg_ns, 6);
        s->tree.n_split = 2;
        for (size_t i = 0; i < 6; i++) {
            row->slots[i] = ns[i];
            row->slot_node[i] = (uint32_t)s->tree.n - 1 + split[i];
            s->tree.count[3 * split[i] + i / 3]++;
            s->tree.self[3 * split[i] + i / 3] += ns[i];
        }
        s->tree.n++;
    }
    p = places(f);
    near(node(&p.tree, "step > a > mm")->calls[TG_BASE][0], 2);
    near(node(&p.tree, "step > a > mm")->least[TG_BASE][0], 40);
    near(node(&p.tree, "step > b > mm")->calls[TG_BASE][0], 1);
    near(node(&p.tree, "step > b > mm")->least[TG_BASE][0], 25);
    near(node(&p.tree, "step > b > mm")->mean[TG_BASE][0], 25.5);
}
