#include "tests/support.h"

#include "core/diff/compare.h"
#include "tests/build_trace.h"

/* One side of one small trace whose steps are cut by `by`. */
static void make_side(struct tg_side *out, struct tg_summary *s, struct bt *b,
                      const struct tg_summarize_opts *o)
{
    struct tg_steps steps;
    struct tg_err err = TG_ERR_INIT;
    const struct tg_trace *t = bt_trace(b, 0);
    tg_summary_init(s);
    assert_true(tg_steps_build(&steps, t, &o->window, &err));
    assert_true(tg_summary_of_trace(s, t, &steps, o, &err));
    tg_steps_release(&steps);
    assert_true(tg_side_arrange(out, s, TG_ARRANGE_AUTO, s->arena, &err));
}

/* A stored side with another window or class table is refused, never compared. */
TEST(other_windows_are_refused_between_sides)
{
    struct tg_summarize_opts o[2] = { { .rank = -1 }, { .rank = -1 } };
    struct tg_summary s[2];
    struct tg_side side[2];
    struct tg_comparison c;
    struct tg_err err = TG_ERR_INIT;
    TG_AUTO(bt_release) struct bt b;
    bt_init(&b);
    bt_host(&b, "cpu_op", "aten::mm", "1", 10, 5, -1);
    bt_host(&b, "cpu_op", "aten::mm", "1", 20, 5, -1);
    o[1].window = (struct tg_window_spec){ .by = TG_WINDOW_ANNOTATION, .name = TG_SV("aten::mm") };
    for (int k = 0; k < 2; k++)
        make_side(&side[k], &s[k], &b, &o[k]);
    assert_false(tg_compare(&c, &side[0], &side[1], NULL, s[0].arena, &err));
    assert_int_equal(err.kind, TG_ERR_SUMMARY);
    assert_string_equal(err.message, "steps were cut by different windows: 'auto' and "
                                     "'annotation:aten::mm'");
    tg_err_init(&err);
    assert_true(tg_compare(&c, &side[0], &side[0], NULL, s[0].arena, &err));
    for (int k = 0; k < 2; k++)
        tg_summary_release(&s[k]);
}
