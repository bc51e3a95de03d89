#include "core/cause/internal.h"
#include "tests/core/cause/box.h"

static uint32_t at(const struct tg_trace *t, uint32_t index)
{
    for (uint32_t i = 0; i < t->n_spans; i++)
        if (tg_span_at(t, i)->index == index)
            return i;
    fail_msg("no row %u", (unsigned)index);
    return 0;
}

/* Row 0 and 1 share number 5; row 6 took the number again, after row 3 had used it. */
TEST(the_last_of_the_number_that_started_before)
{
    static const struct box_row rows[] = {
        { "cpu_op", "aten::linear", 1, 10, 9, 5 },
        { "cpu_op", "aten::addmm", 1, 12, 4, 5 },
        { "cpu_op", "aten::relu", 1, 20, 4, 6 },
        { "cpu_op", "autograd::engine::evaluate_function: AddmmBackward0", 2, 40, 9, 5 },
        { "cpu_op", "autograd::engine::evaluate_function: XBackward0", 2, 50, 9, 7 },
        { "cpu_op", "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 2, 60,
          9, 0 },
        { "cpu_op", "aten::linear", 1, 70, 9, 5 },
        { "cpu_op", "AddmmBackward0", 2, 80, 9, 5 },
    };
    struct tg_trace *t = box_load(rows, 8);
    bool backward[8];
    struct tg_forwards f;
    for (size_t i = 0; i < t->names->n; i++)
        backward[i] = tg_backward_named(t->names->v[i].name);
    tg_forwards_init(&f, t, backward);
    assert_int_equal(f.n, 4);
    assert_int_equal(tg_forward_of(&f, t, at(t, 3)), at(t, 1));
    assert_int_equal(tg_forward_of(&f, t, at(t, 7)), at(t, 6));
    assert_int_equal(tg_forward_of(&f, t, at(t, 4)), TG_NO_SPAN); /* nothing has number 7 */
    assert_int_equal(tg_forward_of(&f, t, at(t, 5)), TG_NO_SPAN); /* no number */
    tg_forwards_release(&f);
    tg_trace_free(t);
}

TEST(names_of_backward_work)
{
    assert_true(tg_backward_named(TG_SV("autograd::engine::evaluate_function: MmBackward0")));
    assert_true(tg_backward_named(TG_SV("torch::autograd::AccumulateGrad")));
    assert_true(tg_backward_named(TG_SV("ScaleBackward")));
    assert_false(tg_backward_named(TG_SV("aten::mm")));
    assert_false(tg_backward_named(TG_SV("")));
}
