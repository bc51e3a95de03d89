/* Inside which annotation work lies: by the path of each call,
 * not by what a name is mostly called from. */
#include "core/diff/uses.h"
#include "tree_by_hand.h"

/* A helper that is called twice in `one` and once in `two`; what it calls there differs. */
static void program(struct fixture *f, int side, const char *in_one, const char *in_two)
{
    put(f, side, TG_KIND_ANNOTATION, "step/one", 1, 100001);
    put(f, side, TG_KIND_ANNOTATION, "step/two", 1, 100001);
    put(f, side, TG_KIND_OP, "step/one/helper", 2, 10001);
    put(f, side, TG_KIND_OP, "step/two/helper", 1, 10001);
    put(f, side, TG_KIND_OP, tg_arena_printf(f->a, "step/one/helper/%s", in_one), 1, 5001);
    put(f, side, TG_KIND_OP, tg_arena_printf(f->a, "step/two/helper/%s", in_two), 1, 5001);
}

static const struct tg_region *region(struct fixture *f, const char *encloser)
{
    for (size_t i = 0; i < f->c.n_regions; i++)
        if (tg_sv_eq(f->c.regions[i].encloser, tg_sv_of(encloser)))
            return &f->c.regions[i];
    fail_msg("no region '%s'", encloser);
    return NULL;
}

BY_HAND(a_path_tells_the_annotation)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "old");
    program(f, TG_TEST, "same", "new");
    /* in one annotation, with times that are no rename's */
    put(f, TG_BASE, TG_KIND_OP, "step/two/was", 1, 50001);
    put(f, TG_TEST, TG_KIND_OP, "step/two/is", 1, 20001);
    compare(f);
    assert_int_equal(region(f, "two")->calls[TG_BASE], region(f, "two")->calls[TG_TEST]);
    assert_int_equal(find(f, "is")->relation, TG_REL_REPLACED);
    is_text(find(f, "is")->place, "two");
    is_text(find(f, "same")->place, "one");
    is_text(find(f, "helper")->place, "one");
}

/* What went in one annotation excuses nothing that came in the other. */
BY_HAND(what_came_elsewhere_is_not_replaced)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "same");
    program(f, TG_TEST, "same", "same");
    put(f, TG_BASE, TG_KIND_OP, "step/one/helper/was", 1, 50001);
    put(f, TG_TEST, TG_KIND_OP, "step/two/helper/is", 1, 20001);
    compare(f);
    is_text(find(f, "was")->place, "one");
    is_text(find(f, "is")->place, "two");
    assert_int_equal(find(f, "is")->relation, TG_REL_NONE);
}

/* The nearest of two annotations; other threads and what no annotation holds are the step's. */
BY_HAND(the_nearest_annotation_and_none)
{
    make(f, 1, 1, 3);
    put_both(f, TG_KIND_ANNOTATION, "step/outer", 1, 100001);
    put_both(f, TG_KIND_ANNOTATION, "step/outer/inner", 1, 50001);
    put_both(f, TG_KIND_OP, "step/outer/a", 1, 5001);
    put_both(f, TG_KIND_OP, "step/outer/inner/b", 1, 5001);
    put_both(f, TG_KIND_KERNEL, "step/outer/inner/b/k", 1, 5001);
    put_both(f, TG_KIND_OP, "threads/c", 1, 5001);
    put(f, TG_TEST, TG_KIND_OP, "step/d", 1, 5001);
    compare(f);
    is_text(find(f, "a")->place, "outer");
    is_text(find(f, "b")->place, "inner");
    is_text(find(f, "k")->place, "inner");
    is_text(find(f, "c")->place, "");
    is_text(find(f, "d")->place, "");
}

BY_HAND(an_annotation_of_one_side_is_no_place)
{
    make(f, 1, 1, 3);
    put_both(f, TG_KIND_ANNOTATION, "step/outer", 1, 100001);
    put(f, TG_TEST, TG_KIND_ANNOTATION, "step/outer/new", 1, 50001);
    put(f, TG_BASE, TG_KIND_OP, "step/outer/a", 1, 5001);
    put(f, TG_TEST, TG_KIND_OP, "step/outer/new/a", 2, 5001);
    compare(f);
    is_text(find(f, "a")->place, "outer");
}

/* Without trees the name around most of the helper's calls is all that is known:
 * both are in `one`. */
BY_HAND(rows_alone_know_less)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "old");
    program(f, TG_TEST, "same", "new");
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++)
            shard(f, side, run)->tree = (struct tg_tree){ 0 };
    compare(f);
    is_text(find(f, "new")->place, "one");
}

/* As far as the index; `names` is the caller's. */
static void index_uses(struct fixture *f, struct tg_diff_work *w, struct tg_strmap *names)
{
    *w = (struct tg_diff_work){ .c = &f->c, .o = &f->o, .a = f->a, .names = names };
    tg_strmap_init(names);
    f->c = (struct tg_comparison){ .arena = f->a, .iteration_ratio = 1 };
    for (int side = 0; side < 2; side++)
        f->c.side[side] = f->side[side];
    assert_true(tg_diff_select(w, &f->err));
    tg_gather(w);
    for (size_t i = 0; i < f->c.n_ops; i++)
        f->c.ops[i].present[TG_BASE] = f->c.ops[i].present[TG_TEST] = true;
    tg_uses_index(w);
}

/* The calls of an operator, a line each: "around baseline -> fresh". */
static void assert_uses(struct fixture *f, enum tg_level level, const char *name,
                        const char *expected)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    struct tg_diff_work w;
    TG_BUF text = { 0 };
    index_uses(f, &w, &names);
    struct tg_uses u = tg_uses_of(&w, level, (uint32_t)(find(f, name) - f->c.ops));
    TG_EACH(const struct tg_use, use, u.v, u.n) {
        near(tg_use_rise(use), use->per_step[TG_TEST] - use->per_step[TG_BASE]);
        assert_true(use->by == TG_NO_ID || tg_sv_eq(f->c.ops[use->by].name, use->in));
        tg_buf_printf(&text, "%.*s %g -> %g\n", TG_SV_ARG(use->in), use->per_step[TG_BASE],
                      use->per_step[TG_TEST]);
    }
    assert_string_equal(text.p ? text.p : "", expected);
}

static void assert_spots(struct fixture *f, const char *name, const char *expected)
{
    assert_uses(f, TG_IN_ANNOTATION, name, expected);
}

/* By the caller a step counts as most do: the modes are 2, 4 and 3, their median is 3. */
BY_HAND(calls_by_a_caller_are_modes_then_a_median)
{
    static const uint32_t under[3][3] = { { 9, 2, 2 }, { 4, 4, 1 }, { 3, 7, 3 } };
    make(f, 3, 1, 3);
    for (size_t r = 0; r < 3; r++) {
        add_counts(f, TG_BASE, r, TG_KIND_OP, "x", "here", under[r], 101);
        add_row(f, TG_BASE, r, TG_KIND_OP, "x", "there", 50, 101);
    }
    add_row(f, TG_TEST, 0, TG_KIND_OP, "x", "there", 6, 101);
    assert_uses(f, TG_IN_CALLER, "x", "here 3 -> 0\nthere 50 -> 6\n");
}

/* Paths through several operators to one annotation are one spot. */
BY_HAND(spots_of_one_name_are_one)
{
    make(f, 1, 1, 2);
    put_both(f, TG_KIND_ANNOTATION, "step/layer.1", 1, 100001);
    put_both(f, TG_KIND_ANNOTATION, "step/layer.2", 1, 100001);
    put_both(f, TG_KIND_OP, "step/layer.1/a", 1, 5001);
    put_both(f, TG_KIND_OP, "step/layer.1/b", 1, 5001);
    put(f, TG_BASE, TG_KIND_OP, "step/layer.1/a/x", 1, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/layer.1/b/x", 2, 101);
    put(f, TG_TEST, TG_KIND_OP, "step/layer.2/x", 1, 101);
    put_both(f, TG_KIND_OP, "step/x", 3, 101);
    assert_spots(f, "x", " 3 -> 3\nlayer.1 1 -> 2\nlayer.2 0 -> 1\n");
}

/* A cold first step, every third step, steps that agree;
 * of two steps the first is as good as the last. */
BY_HAND(calls_of_a_usual_step)
{
    static const uint32_t steps[][4] = { { 9, 2, 2, 2 }, { 0, 0, 1, 0 }, { 3, 3, 3, 3 } };
    static const uint32_t two[] = { 3, 2 };
    static const char *const spots[] = { " 2 -> 3\n", " 0.25 -> 3\n", " 3 -> 3\n" };
    for (size_t i = 0; i < 3; i++) {
        make(f, 1, 1, 4);
        memcpy(put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 9, 10)->count, steps[i],
               sizeof steps[i]);
        put(f, TG_TEST, TG_KIND_OP, "step/a", 3, 10);
        assert_spots(f, "a", spots[i]);
    }
    make(f, 1, 1, 2);
    memcpy(put_run(f, TG_BASE, 0, TG_KIND_OP, "step/a", 9, 10)->count, two, sizeof two);
    put(f, TG_TEST, TG_KIND_OP, "step/a", 4, 10);
    assert_spots(f, "a", " 2.5 -> 4\n");
}

/* The median of the runs 2, 9 and 3; a skipped step and what ran between the steps do not count. */
BY_HAND(runs_steps_and_what_is_between)
{
    make(f, 3, 1, 3);
    for (size_t run = 0; run < 3; run++)
        (void)put_run(f, TG_BASE, run, TG_KIND_OP, "step/a", (uint32_t[]){ 2, 9, 3 }[run], 101);
    put_run(f, TG_TEST, 0, TG_KIND_OP, "step/a", 1, 101)->count[0] = 7;
    put_both(f, TG_KIND_OP, "between/a", 5, 101);
    f->o.skip_first = 1;
    assert_spots(f, "a", " 3 -> 1\n");
}

/* Three calls in ten steps are as many, however they are spread. */
BY_HAND(calls_of_a_rank_are_exact)
{
    static const uint32_t at_once[10] = { 3 }, spread[10] = { 1, 1, 1 };
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    struct tg_diff_work w;
    make(f, 1, 1, 10);
    for (int side = 0; side < 2; side++)
        memcpy(put_run(f, side, 0, TG_KIND_OP, "step/a", 9, 10)->count, side ? spread : at_once,
               sizeof spread);
    index_uses(f, &w, &names);
    const struct tg_op *a = find(f, "a");
    assert_true(tg_op_on_rank(&w, a, TG_BASE, 0, TG_OP_SELF).calls ==
                tg_op_on_rank(&w, a, TG_TEST, 0, TG_OP_SELF).calls);
}

/* Per rank: 2 calls on one and 4 on the other are 3. */
BY_HAND(ranks_are_averaged)
{
    for (int side = 0; side < 2; side++) {
        make_ranks(f, side, 1, 2, 0, 2);
        for (size_t rank = 0; rank < 2; rank++) {
            struct tg_shard *s = shard_of(f, side, 0, rank);
            struct tg_tree_node *v = TG_NEW_N(f->a, struct tg_tree_node, TG_ROOTS + 1);
            static const uint32_t each[][2] = { { 2, 2 }, { 4, 4 } };
            (void)add_to(f, s, TG_KIND_OP, "a", "", each[rank], 101);
            for (size_t i = 0; i < TG_ROOTS; i++)
                v[i] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
            v[TG_ROOTS] = (struct tg_tree_node){ TG_ROOT_STEP, 0, TG_NO_ID };
            s->tree = (struct tg_tree){ .node = v, .n = TG_ROOTS + 1 };
        }
    }
    assert_spots(f, "a", " 3 -> 3\n");
}

/* A row on two paths: each node has calls of its own. */
BY_HAND(a_row_with_several_nodes)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        struct tg_shard *s = shard(f, side, 0);
        struct tg_tree_node *v;
        (void)put_run(f, side, 0, TG_KIND_ANNOTATION, "step/a", 1, 1);
        (void)put_run(f, side, 0, TG_KIND_ANNOTATION, "step/b", 1, 1);
        (void)put_run(f, side, 0, TG_KIND_OP, "step/a/mm", 3, 1);
        v = (struct tg_tree_node *)(uintptr_t)s->tree.node;
        v[s->tree.n] = (struct tg_tree_node){ TG_ROOTS + 1, 2, 1 };
        v[s->tree.n - 1].split = 0;
        s->tree.count = TG_NEW_N(f->a, uint32_t, 6);
        s->tree.self = TG_NEW_N(f->a, tg_ns, 6);
        s->tree.n_split = 2;
        for (size_t step = 0; step < 2; step++) {
            s->tree.count[step] = 2;
            s->tree.count[3 + step] = 1;
        }
        s->tree.n++;
    }
    assert_spots(f, "mm", "a 2 -> 2\nb 1 -> 1\n");
}

/* ---- what a call of the runtime takes inside each of its callers ---- */

static const struct tg_in_caller *in(const struct tg_op *op, const char *caller)
{
    for (size_t i = 0; i < op->n_callers; i++)
        if (tg_sv_eq(op->callers[i].in, tg_sv_of(caller)))
            return &op->callers[i];
    fail_msg("%.*s has no caller %s", TG_SV_ARG(op->name), caller);
    return NULL;
}

/* One call in each of two steps; 1 us more from run to run. */
static void waits(struct fixture *f, int side, const char *caller, tg_ns ns)
{
    for (size_t run = 0; run < 3; run++)
        add_row(f, side, run, TG_KIND_SYNC, "cudaStreamSynchronize", caller, 1,
                ns + 1000 * (tg_ns)run);
}

/* In all 50 us as before: the one waits 30 us more, the other less. */
BY_HAND(a_wait_moves_from_caller_to_caller)
{
    const struct tg_op *op;
    make(f, 3, 3, 2);
    waits(f, TG_BASE, "aten::item", 10001);
    waits(f, TG_BASE, "aten::copy_", 40001);
    waits(f, TG_TEST, "aten::item", 40001);
    waits(f, TG_TEST, "aten::copy_", 10001);
    compare(f);
    op = find(f, "cudaStreamSynchronize");
    near(op->self[TG_TEST], op->self[TG_BASE]);
    assert_int_equal(op->n_callers, 2);
    assert_sv_equal(op->callers[0].in, TG_SV("aten::item")); /* what rose most */
    near(in(op, "aten::item")->self[TG_BASE], 11001);
    near(in(op, "aten::item")->self[TG_TEST], 41001);
    near(in(op, "aten::item")->least[TG_TEST], 40001);
    near(in(op, "aten::item")->most[TG_TEST], 42001);
    near(in(op, "aten::copy_")->self[TG_TEST], 11001);
}

/* The calls that a new operator makes; of one that is called as often nobody asks,
 * and it is not split. */
BY_HAND(calls_that_came)
{
    make(f, 3, 3, 2);
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++) {
            add_row(f, side, run, TG_KIND_RUNTIME, "cudaLaunchKernel", "aten::mm", 2, 4001);
            add_row(f, side, run, TG_KIND_RUNTIME, "cudaMemsetAsync", "aten::mm", 1, 4001);
            if (side == TG_TEST)
                add_row(f, side, run, TG_KIND_RUNTIME, "cudaLaunchKernel", "aten::clone", 1, 5001);
        }
    compare(f);
    near(in(find(f, "cudaLaunchKernel"), "aten::mm")->self[TG_TEST], 8002);
    near(in(find(f, "cudaLaunchKernel"), "aten::clone")->self[TG_BASE], 0);
    near(in(find(f, "cudaLaunchKernel"), "aten::clone")->self[TG_TEST], 5001);
    assert_int_equal(find(f, "cudaMemsetAsync")->n_callers, 0);
}
