#include "core/trace/database.h"
#include "tests/support.h"

/* Names as torch.autograd.profiler.emit_nvtx writes them, and those of people and libraries. */
TEST(operators_among_ranges)
{
    static const struct {
        const char *range, *category, *name;
    } cases[] = {
        { "aten::add, op_id = 314359", "cpu_op", "aten::add" },
        { "aten::add, seq = 12, op_id = 314359", "cpu_op", "aten::add" },
        { "AddmmBackward0, seq = 12, op_id = 9, sizes = [[2, 3], []]", "cpu_op", "AddmmBackward0" },
        { "aten::mm, op_id = 9, input_op_ids = [(7,0)], seq = 1", "cpu_op", "aten::mm" },
        { "train step", "user_annotation", "train step" },
        { "ncclAllReduce", "user_annotation", "ncclAllReduce" },
        { "batch, op_id", "user_annotation", "batch, op_id" },
        { "", "user_annotation", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_sv category = TG_SV("range"), name = tg_sv_of(cases[i].range);
        tg_nvtx_range(&category, &name);
        assert_sv_equal(category, tg_sv_of(cases[i].category));
        assert_sv_equal(name, tg_sv_of(cases[i].name));
    }
}
