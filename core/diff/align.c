/*
 * Alignment: rows of both sides become operators by (kind, normalised name), with counts per step,
 * sums and shares.
 */
#include "core/diff/internal.h"

/* ---- did the benchmark run? ---- */

/* More than half of the kernels gone, no graphs in their place, and busy time gone as well. */
static bool collapsed(const struct tg_comparison *c)
{
    double kernels[2] = { 0 }, graphs[2] = { 0 }, busy[2] = { 0 };

    for (size_t i = 0; i < c->n_ops; i++)
        for (int side = 0; side < 2; side++) {
            if (c->ops[i].kind == TG_KIND_KERNEL) {
                kernels[side] += c->ops[i].count[side];
                busy[side] += c->ops[i].self[side];
            }
            if (c->ops[i].kind == TG_KIND_GRAPH)
                graphs[side] += c->ops[i].count[side];
        }
    return kernels[TG_BASE] > 0 && kernels[TG_TEST] < 0.5 * kernels[TG_BASE] &&
           graphs[TG_TEST] <= graphs[TG_BASE] && busy[TG_TEST] < 0.5 * busy[TG_BASE];
}

/* Which sorts of frames every shard of a side holds. */
static unsigned frame_sorts(const struct tg_diff_work *w, int side)
{
    unsigned all = ~0u;

    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
        all &= w->shard[at]->frame_sorts;
    return all;
}

/* The part of a side's shards that has any frame of a kind. */
static double with_frames(const struct tg_diff_work *w, int side, enum tg_kind kind)
{
    size_t end = side ? w->n_cells : w->first[TG_TEST], n = 0;

    for (size_t at = w->first[side]; at < end; at++) {
        const struct tg_shard *s = w->shard[at];
        size_t i = 0;
        while (i < s->n_frames && s->frames[i].key->kind != kind)
            i++;
        n += i < s->n_frames;
    }
    return (double)n / (double)(end - w->first[side]);
}

bool tg_align(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;

    if (!tg_diff_select(w, err))
        return false;
    tg_gather(w, TG_GATHER_OPS, &c->ops, &c->n_ops);
    tg_gather(w, TG_GATHER_FRAMES, &c->frames, &c->n_frames);
    struct tg_sum_room *x = tg_sum_room_new(w);
    for (size_t i = 0; i < c->n_ops + c->n_frames; i++) {
        struct tg_op *op = i < c->n_ops ? &c->ops[i] : &c->frames[i - c->n_ops];
        struct tg_op_counts *counts = tg_sum_op(w, op, x);
        tg_op_identify(w, op);
        tg_op_find_change(w, op, counts);
    }
    for (int side = 0; side < 2; side++)
        c->frame_sorts[side] = frame_sorts(w, side);
    static const enum tg_kind kinds[TG_STACK_SORTS] = {
        [TG_STACK_MODULES] = TG_KIND_MODULE, [TG_STACK_SOURCES] = TG_KIND_SOURCE
    };
    for (int sort = 0; sort < TG_STACK_SORTS; sort++) {
        double base = with_frames(w, TG_BASE, kinds[sort]);
        double test = with_frames(w, TG_TEST, kinds[sort]);
        if (base != test)
            w->c->frames_lack[base < test ? TG_BASE : TG_TEST] |= 1u << sort;
    }
    tg_share_out(w);
    c->iteration_ratio = 1;
    if (!c->any_marked[TG_BASE] && !c->any_marked[TG_TEST])
        tg_scale_counts(w);
    c->collapsed = collapsed(c);
    return true;
}
