#include "tests/core/cause/box.h"

/* step f: Block_0 > g > op 20 us; the backward work of op, 30 us, on a thread of its own. */
#define STEP(add)                                                                                  \
    { "user_annotation", "ProfilerStep#1", 1, 0, 200 + (add), 0 },                                 \
        { "python_function", "m.py(3): f", 1, 5, 180 + (add), 0 },                                 \
        { "python_function", "nn.Module: Block_0", 1, 10, 60 + (add), 0 },                         \
        { "python_function", "torch/nn/modules/module.py(9): call", 1, 12, 55 + (add), 0 },        \
        { "python_function", "m.py(7): g", 1, 15, 50 + (add), 0 },                                 \
        { "cpu_op", "op", 1, 20, 20 + (add), 4 },                                                  \
        { "python_function", "<built-in method run_backward of x>", 1, 100 + (add), 60, 0 },       \
        { "cpu_op", "autograd::engine::evaluate_function: OpBackward0", 2, 105 + (add), 40, 4 },   \
    {                                                                                              \
        "cpu_op", "op", 2, 110 + (add), 30, 0                                                      \
    }
static const struct box_row base[] = { STEP(0) };

static const char *text_of(const struct box *b, uint32_t node)
{
    const struct tg_path_tree *t = &b->p.tree[TG_PATHS_BY_CLASS];
    tg_sv text = b->p.texts.text[t->v[node].text];
    const char *own = tg_arena_printf(b->a, "%.*s", TG_SV_ARG(text));
    return t->v[node].parent ? tg_arena_printf(b->a, "%s > %s", text_of(b, t->v[node].parent), own)
                             : own;
}

static const struct tg_path_entry *entry(const struct box *b, uint32_t target, size_t k)
{
    for (size_t i = 0; i < b->p.n[TG_PATHS_BASE]; i++)
        if (b->p.entry[TG_PATHS_BASE][i].target == target && k-- == 0)
            return &b->p.entry[TG_PATHS_BASE][i];
    fail_msg("no such entry");
    return NULL;
}

IN_BOX(paths_of_forward_and_backward_work)
{
    const struct tg_path_entry *e;
    BOX_ADD(b, TG_PATHS_BASE, base);
    tg_paths_finish(&b->p);
    e = entry(b, BOX_OP, 0);
    assert_string_equal(text_of(b, e->node[TG_PATHS_BY_CLASS]), "m.py: f > Block > m.py: g > op");
    assert_int_equal(e->ns, 20000);
    e = entry(b, BOX_OP, 1); /* it has no frames of its own: the path of its forward operator */
    assert_string_equal(text_of(b, e->node[TG_PATHS_BY_CLASS]),
                        "m.py: f > Block > m.py: g > op > backward > "
                        "autograd::engine::evaluate_function: OpBackward0 > op");
    assert_int_equal(e->ns, 30000);
    assert_true(b->p.stacks[TG_PATHS_BASE]);
    assert_false(b->p.stacks[TG_PATHS_TEST]);
}

/* Each frame's own part of the step, and together no more than the step: while autograd's thread
 * works, the main one waits for it. */
IN_BOX(the_step_is_shared_out)
{
    tg_ns sum = 0;
    BOX_ADD(b, TG_PATHS_BASE, base);
    tg_paths_finish(&b->p);
    for (size_t i = 0; i < b->p.n[TG_PATHS_BASE]; i++)
        if (b->p.entry[TG_PATHS_BASE][i].target == BOX_STEP)
            sum += b->p.entry[TG_PATHS_BASE][i].ns;
    assert_int_equal(sum, (200 - 60 + 40) * 1000); /* run_backward's 60 give way to 40 of work */
}

IN_BOX(entries_are_sorted_by_target)
{
    BOX_ADD(b, TG_PATHS_BASE, base);
    tg_paths_finish(&b->p);
    assert_int_equal(b->p.n_targets, BOX_TARGETS);
    assert_int_equal(b->p.first[TG_PATHS_BASE][BOX_STEP], 0);
    for (size_t i = 0; i < b->p.n[TG_PATHS_BASE]; i++)
        assert_int_equal(b->p.entry[TG_PATHS_BASE][i].target,
                         i < b->p.first[TG_PATHS_BASE][BOX_OP] ? BOX_STEP : BOX_OP);
    assert_int_equal(b->p.first[TG_PATHS_BASE][BOX_TARGETS], b->p.n[TG_PATHS_BASE]);
}

IN_BOX(what_ran_and_where_two_meet)
{
    uint32_t line;
    BOX_ADD(b, TG_PATHS_TEST, base);
    tg_paths_finish(&b->p);
    assert_true(tg_paths_ran(&b->p, TG_SV("m.py"), TG_SV("g"), &line));
    assert_int_equal(line, 7);
    assert_false(tg_paths_ran(&b->p, TG_SV("m.py"), TG_SV("h"), &line));
    assert_true(tg_paths_calls(&b->p, TG_SV("m.py"), TG_SV("f"), TG_SV("m.py"), TG_SV("g")));
    assert_false(tg_paths_calls(&b->p, TG_SV("m.py"), TG_SV("g"), TG_SV("m.py"), TG_SV("f")));
    assert_false(tg_paths_calls(&b->p, TG_SV("m.py"), TG_SV("f"), TG_SV("m.py"), TG_SV("h")));
    assert_false(tg_paths_calls(&b->p, TG_SV("m.py"), TG_SV("h"), TG_SV("m.py"), TG_SV("h")));
    /* f calls g, so f itself, the outermost frame, is what they share */
    assert_int_equal(tg_paths_meet(&b->p, TG_SV("m.py"), TG_SV("g"), TG_SV("m.py"), TG_SV("f")), 1);
    assert_int_equal(tg_paths_meet(&b->p, TG_SV("m.py"), TG_SV("g"), TG_SV("m.py"), TG_SV("h")), 0);
}

TEST(names_of_modules)
{
    tg_sv class_name, instance;
    assert_true(tg_path_module(TG_SV("nn.Module: Block_12"), &class_name, &instance));
    assert_sv_equal(class_name, TG_SV("Block"));
    assert_sv_equal(instance, TG_SV("Block_12"));
    assert_true(tg_path_module(TG_SV("nn.Module: Conv2d"), &class_name, &instance));
    assert_sv_equal(class_name, TG_SV("Conv2d"));
    assert_false(tg_path_module(TG_SV("Block_12"), &class_name, &instance));
}

/* The trace of the check has them apart, one that is read for the causes alone might not. */
IN_BOX(python_apart_or_among_the_rest_is_the_same)
{
    BOX_ADD(b, TG_PATHS_BASE, base);
    box_add_as(b, TG_PATHS_TEST, base, sizeof base / sizeof *base, BOX_APART);
    tg_paths_finish(&b->p);
    assert_true(b->p.n[TG_PATHS_BASE] > BOX_TARGETS);
    assert_int_equal(b->p.n[TG_PATHS_TEST], b->p.n[TG_PATHS_BASE]);
    for (size_t i = 0; i < b->p.n[TG_PATHS_BASE]; i++) {
        const struct tg_path_entry *apart = &b->p.entry[TG_PATHS_TEST][i],
                                   *among = &b->p.entry[TG_PATHS_BASE][i];
        assert_memory_equal(apart, among, offsetof(struct tg_path_entry, calls));
        assert_int_equal(apart->calls, among->calls); /* padding follows */
        assert_int_equal(apart->ns, among->ns);
    }
}
