/* What is true of an operator or a name by itself (op.c):
 * each rule beside a case just outside it. */
#include "by_hand.h"
#include "core/diff/internal.h"

static bool makes_wait(enum tg_kind kind, enum tg_class class_, const char *name)
{
    const struct tg_op op = { .kind = kind, .class_ = class_, .name = tg_sv_of(name) };
    return tg_op_makes_wait(&op);
}

BY_HAND(what_makes_wait)
{
    assert_true(makes_wait(TG_KIND_SYNC, TG_CLASS_OTHER, "cudaDeviceSynchronize"));
    assert_false(makes_wait(TG_KIND_RUNTIME, TG_CLASS_OTHER, "cudaDeviceSynchronize"));
    assert_true(makes_wait(TG_KIND_MEMCPY, TG_CLASS_MEMORY, "Memcpy HtoD"));
    assert_false(makes_wait(TG_KIND_MEMSET, TG_CLASS_MEMORY, "Memset"));
    assert_true(makes_wait(TG_KIND_KERNEL, TG_CLASS_COMM, "all_reduce"));
    assert_false(makes_wait(TG_KIND_KERNEL, TG_CLASS_COMPUTE, "all_reduce"));
    assert_false(makes_wait(TG_KIND_OP, TG_CLASS_COMM, "all_reduce"));
    assert_true(makes_wait(TG_KIND_OP, TG_CLASS_OTHER, "aten::item"));
    assert_true(makes_wait(TG_KIND_OP, TG_CLASS_OTHER, "aten::is_nonzero"));
    assert_true(makes_wait(TG_KIND_OP, TG_CLASS_OTHER, "aten::_local_scalar_dense"));
    assert_false(makes_wait(TG_KIND_OP, TG_CLASS_OTHER, "aten::items"));
}

/* What came and costs next to nothing: slight.c finds it. */
static struct tg_op small(void)
{
    return (struct tg_op){ .name = TG_SV("aten::neg"),
                           .kind = TG_KIND_OP,
                           .change = TG_ADDED,
                           .slight = TG_SLIGHT_SMALL };
}

BY_HAND(what_costs_next_to_nothing_is_an_exception)
{
    struct tg_op op = small();
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_SMALL);
    op.change = TG_MORE; /* a known name is not another thing */
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_SMALL);
    op.slight = TG_SLIGHT_FREE;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_SMALL);
    op.change = TG_FEWER; /* nothing came */
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_NONE);
    op = small();
    op.slight = TG_SLIGHT_NOT;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_NONE);
    op = small();
    op.leads = true; /* what it calls is large */
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_NONE);
}

BY_HAND(what_a_place_repays_is_replaced)
{
    struct tg_op op = { .name = TG_SV("aten::index"), .kind = TG_KIND_OP, .change = TG_ADDED };
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_NONE);
    op.repaid = true;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_REPLACED);
    op.change = TG_SAME; /* slower, not more */
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_NONE);
}

/* The first that holds: polling, renamed, replaced. */
BY_HAND(exceptions_have_an_order)
{
    struct tg_op op = small();
    op.relation = TG_REL_RENAMED;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_RENAMED);
    op.polling = true;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_POLLING);
    op.polling = false;
    op.relation = TG_REL_REPLACED;
    assert_int_equal(tg_op_exception(&op), TG_EXCEPTION_REPLACED);
}

BY_HAND(which_kinds_are_counted)
{
    static const enum tg_kind counted[] = { TG_KIND_OP,     TG_KIND_SYNC,   TG_KIND_GRAPH,
                                            TG_KIND_KERNEL, TG_KIND_MEMCPY, TG_KIND_MEMSET };
    static const enum tg_kind not_counted[] = { TG_KIND_OTHER,      TG_KIND_RUNTIME,
                                                TG_KIND_ANNOTATION, TG_KIND_STEP,
                                                TG_KIND_PYTHON,     TG_KIND_OVERHEAD,
                                                TG_KIND_MODULE,     TG_KIND_DEVICE_SYNC };
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        assert_true(tg_kind_is_counted(counted[i]));
    for (size_t i = 0; i < sizeof not_counted / sizeof *not_counted; i++)
        assert_false(tg_kind_is_counted(not_counted[i]));
}

/* Aliases are asked after normalising; the first that matches is taken. */
BY_HAND(names_are_normalised_then_aliased)
{
    static const struct tg_kv alias[] = { { { "old*", 4 }, { "new", 3 } },
                                          { { "old_gemm", 8 }, { "never", 5 } } };
    struct tg_strmap names;
    struct tg_compare_opts o = { .aliases = alias, .n_aliases = 2 };
    struct tg_diff_work w = { .c = &f->c, .o = &o, .a = f->a, .names = &names };
    tg_strmap_init(&names);
    is_text(tg_diff_name(&w, TG_KIND_OP, TG_SV("")), "");
    is_text(tg_diff_name(&w, TG_KIND_OP, TG_SV("old_gemm")), "new");
    is_text(tg_diff_name(&w, TG_KIND_OP, TG_SV("an_old_gemm")), "an_old_gemm");
    is_text(tg_diff_name(&w, TG_KIND_KERNEL, TG_SV("triton_poi_fused_7")), "triton_poi_fused");
    o.raw_names = true;
    is_text(tg_diff_name(&w, TG_KIND_KERNEL, TG_SV("triton_poi_fused_7")), "triton_poi_fused_7");
    is_text(tg_diff_name(&w, TG_KIND_OP, TG_SV("old_gemm")), "new");
    /* One copy a name: views of equal names are equal. */
    char other[] = "an_old_gemm";
    assert_ptr_equal(tg_diff_name(&w, TG_KIND_OP, tg_sv_of(other)).p,
                     tg_diff_name(&w, TG_KIND_OP, TG_SV("an_old_gemm")).p);
    assert_ptr_not_equal(tg_diff_name(&w, TG_KIND_OP, tg_sv_of(other)).p, other);
    tg_strmap_release(&names);
}

BY_HAND(sides_have_labels)
{
    struct tg_compare_opts o = { .label = { NULL, "after" } };
    const struct tg_diff_work w = { .o = &o };
    assert_string_equal(tg_side_label(&w, TG_BASE), "baseline");
    assert_string_equal(tg_side_label(&w, TG_TEST), "after");
    o.label[TG_TEST] = NULL;
    assert_string_equal(tg_side_label(&w, TG_TEST), "fresh");
}
