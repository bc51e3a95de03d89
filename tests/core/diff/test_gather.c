/* Rows become operators (align.c), by kind and normalised name. */
#include "by_hand.h"

/* Two rows of one kernel under two operators, and an operator of the same name. */
BY_HAND(rows_of_one_kind_and_name_are_one)
{
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_KERNEL, "gemm", "aten::mm", 2, 101);
        add_all(f, side, TG_KIND_KERNEL, "gemm", "aten::bmm", 3, 101);
        add_all(f, side, TG_KIND_OP, "gemm", "", 1, 101);
        add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, 101);
    }
    compare(f);
    assert_int_equal(f->c.n_ops, 3);
    is_text(f->c.ops[0].name, "aten::mm"); /* operators come before kernels, names in order */
    is_text(f->c.ops[1].name, "gemm");
    assert_int_equal(f->c.ops[1].kind, TG_KIND_OP);
    assert_int_equal(f->c.ops[2].kind, TG_KIND_KERNEL);
    near(f->c.ops[2].count[TG_BASE], 2 + 3);
}

/* A kernel on streams 7 and 9 of device 0, beside an operator. */
BY_HAND(devices_and_streams_choose_device_rows_alone)
{
    static const int64_t nine[] = { 9 }, one[] = { 1 };
    make(f, 1, 1, 2);
    for (int side = 0; side < 2; side++) {
        add_all(f, side, TG_KIND_OP, "aten::mm", "", 1, 101);
        add_all(f, side, TG_KIND_KERNEL, "gemm", "", 2, 101);
        struct tg_row *row = add_row(f, side, 0, TG_KIND_KERNEL, "gemm", "", 3, 101);
        struct tg_row_key *key = TG_NEW(f->a, struct tg_row_key);
        *key = *row->key;
        key->stream = 9;
        row->key = key;
    }
    compare(f);
    near(find(f, "gemm")->count[TG_BASE], 5);
    f->o = (struct tg_compare_opts){ .streams = nine, .n_streams = 1 };
    compare(f);
    near(find(f, "gemm")->count[TG_BASE], 3);
    near(find(f, "aten::mm")->count[TG_BASE], 1);
    f->o = (struct tg_compare_opts){ .devices = one, .n_devices = 1 };
    compare(f);
    assert_int_equal(f->c.n_ops, 1);
    is_text(f->c.ops[0].name, "aten::mm");
}
