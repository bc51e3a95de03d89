/* Kernels of one stem: told apart where both sides agree on them, else one (siblings.c). */
#include "by_hand.h"

/* Kernels of one stem are told apart where both sides launch as many, as often, in one order. */
BY_HAND(kernels_of_one_stem)
{
    static const char *const base[] = { "triton_poi_fused_3", "triton_poi_fused_5" };
    static const char *const test[] = { "triton_poi_fused_4", "triton_poi_fused_9" };

    for (int apart = 0; apart < 2; apart++) {
        f->c = (struct tg_comparison){ 0 };
        make(f, 3, 3, 2);
        for (int k = 0; k < 2; k++)
            for (size_t r = 0; r < 3; r++) {
                uint32_t n = 1 + (uint32_t)k, other = 1 + (uint32_t)(apart ? k : 1 - k);
                struct tg_row *row = add_row(f, TG_BASE, r, TG_KIND_KERNEL, base[k], "", n, 1001);
                row->order = (uint32_t)k;
                row = add_row(f, TG_TEST, r, TG_KIND_KERNEL, test[k], "", other, k ? 2001 : 1001);
                row->order = (uint32_t)k;
            }
        compare(f);
        if (apart) {
            near(find(f, "triton_poi_fused#1")->count[TG_TEST], 1);
            near(find(f, "triton_poi_fused#2")->count[TG_TEST], 2);
            is_text(find(f, "triton_poi_fused#2")->raw[TG_TEST], test[1]);
            assert_false(find(f, "triton_poi_fused#2")->grouped);
            assert_false(find(f, "triton_poi_fused#1")->ev.slower);
            assert_true(find(f, "triton_poi_fused#2")->ev.slower);
        } else {
            near(find(f, "triton_poi_fused")->count[TG_TEST], 3);
            assert_true(find(f, "triton_poi_fused")->grouped);
            assert_int_equal(find(f, "triton_poi_fused")->change, TG_SAME);
        }
    }
}

/* Two kernels of one stem on a side, under operators; the k-th of a side calls `n` times. */
static bool are_apart(struct fixture *f, const char *parent, uint32_t n, size_t kernels)
{
    static const char *const name[] = { "triton_poi_fused_1", "triton_poi_fused_2",
                                        "triton_poi_fused_3" };
    size_t ops = 0;

    f->c = (struct tg_comparison){ 0 };
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++)
        for (size_t k = 0; k < (side == TG_BASE ? 2 : kernels); k++) {
            bool other = side == TG_TEST && k == 1;
            struct tg_row *row = add_row(f, side, 0, TG_KIND_KERNEL, name[k],
                                         other ? parent : "aten::mm", other ? n : 2, 1001);
            row->order = (uint32_t)k;
        }
    compare(f);
    for (size_t i = 0; i < f->c.n_ops; i++)
        ops += f->c.ops[i].kind == TG_KIND_KERNEL;
    return ops > 1;
}

BY_HAND(what_keeps_them_one)
{
    assert_true(are_apart(f, "aten::mm", 2, 2));
    assert_false(are_apart(f, "aten::bmm", 2, 2)); /* another operator launches it */
    assert_false(are_apart(f, "aten::mm", 3, 2));  /* another number of calls */
    assert_false(are_apart(f, "aten::mm", 2, 3));  /* one more of them */
}
