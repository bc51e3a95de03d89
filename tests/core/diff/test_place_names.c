/* What the names of a replacement are told with (place_names.c), against passes over all rows. */
#include "core/diff/names.h"
#include "core/diff/uses.h"
#include "tests/support.h"

enum { N = 120, REGIONS = 6 };

static const char *const named[] = { "aten::mul",
                                     "MulBackward0",
                                     "aten::_to_copy",
                                     "ToCopyBackward0",
                                     "aten::add",
                                     "AddBackward12",
                                     "aten::mm",
                                     "autograd::engine::evaluate_function: MmBackward0",
                                     "torch::autograd::AccumulateGrad",
                                     "SubBackward0",
                                     "my_kernel",
                                     "Backward" };

static void make(struct tg_comparison *c, struct tg_arena *a, unsigned seed)
{
    static const enum tg_change changes[] = { TG_ADDED, TG_REMOVED, TG_MORE, TG_FEWER, TG_SAME };
    *c = (struct tg_comparison){ .arena = a, .n_ops = N, .n_regions = REGIONS };
    c->ops = TG_NEW_N(a, struct tg_op, N);
    c->regions = TG_NEW_N(a, struct tg_region, REGIONS);
    srand(seed);
    for (size_t i = 0; i < REGIONS; i++)
        c->regions[i].calls[TG_BASE] = c->regions[i].calls[TG_TEST] = rand() % 9;
    for (size_t i = 0; i < N; i++) {
        struct tg_op *op = &c->ops[i];
        op->name = tg_sv_of(named[rand() % (int)(sizeof named / sizeof *named)]);
        op->kind = rand() % 4 ? TG_KIND_OP : TG_KIND_KERNEL;
        op->change = changes[rand() % 5];
        op->relation = rand() % 8 ? TG_REL_REPLACED : TG_REL_RENAMED;
        op->region = rand() % 5 ? (uint32_t)(rand() % REGIONS) : TG_NO_ID;
        for (int s = 0; s < 2; s++) {
            op->count[s] = rand() % 4;
            op->self[s] = rand() % 1000;
        }
    }
}

static bool is_of(const struct tg_op *op, uint32_t region, int side)
{
    return op->region == region && tg_op_side_of_region(op) == side;
}

/* Is it named: no node of another name of its side? */
static bool is_named(const struct tg_comparison *c, const struct tg_op *op, uint32_t region,
                     int side)
{
    for (size_t i = 0; i < N; i++)
        if (op->kind == TG_KIND_OP && tg_name_is_node(op->name) &&
            is_of(&c->ops[i], region, side) && tg_name_is_backward_of(op->name, c->ops[i].name))
            return false;
    return is_of(op, region, side);
}

static double change_of(const struct tg_op *op)
{
    return fabs(op->self[TG_TEST] - op->self[TG_BASE]);
}

static void check_side(const struct tg_comparison *c, uint32_t region, int side)
{
    const struct tg_region *g = &c->regions[region];
    double all[2] = { 0 }, less = 0, bound = INFINITY;
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        const struct tg_op *op = &c->ops[i];
        bool node = tg_backward_named(op->name);
        n += is_named(c, op, region, side);
        if (!is_of(op, region, side))
            continue;
        all[node] += op->count[side];
        less += op->self[TG_BASE] - op->self[TG_TEST];
    }
    assert_int_equal(g->side[side].n, n);
    assert_true(g->side[side].less_ns == less && g->side[side].all[0] == all[0] &&
                g->side[side].all[1] == all[1]);
    for (size_t i = 0; i < n; i++) {
        size_t above = 0;
        const struct tg_op *op = g->side[side].op[i];
        assert_true(is_named(c, op, region, side) && change_of(op) <= bound);
        bound = change_of(op);
        for (size_t k = 0; k < N; k++)
            above += is_named(c, &c->ops[k], region, side) && change_of(&c->ops[k]) > bound;
        assert_true(above <= i);
    }
}

TEST(a_replacement_is_told_by_all_its_names)
{
    for (unsigned seed = 0; seed < 50; seed++) {
        TG_ARENA *a = tg_arena_new();
        struct tg_comparison c;
        make(&c, a, seed);
        tg_regions_group(&c);
        tg_regions_close(&c);
        for (uint32_t region = 0; region < REGIONS; region++)
            for (int side = 0; side < 2; side++)
                check_side(&c, region, side);
    }
}

TEST(no_replacement_has_no_names)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_comparison c = { .arena = a };
    tg_regions_close(&c);
    assert_int_equal(tg_region_names(&c, TG_NO_ID, TG_TEST, NULL, 0), 0);
}
