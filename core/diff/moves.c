/*
 * Operators that moved to another parent. What a call costs its caller (dispatch, Python around it)
 * moves with it: the new parent's self time rises and the old one's falls, at no cost. The same holds
 * of calls that are no longer recorded: their time is their parent's own, or runs between operators.
 */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/numbers.h"

/* The operator or annotation that a parent's name means; the longest of several. */
static struct tg_op *parent_named(struct tg_comparison *c, tg_sv name)
{
    struct tg_op *found = NULL;

    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        if (tg_kind_nests(op->kind) && tg_sv_eq(op->name, name) &&
            (!found || op->whole_total[TG_BASE] > found->whole_total[TG_BASE]))
            found = op;
    }
    return found;
}

/* Change of the calls of `op` under a parent, all its raw names together. */
static double moved_under(struct tg_diff_work *w, const struct tg_op *op,
                          const struct tg_strmap *raw, tg_sv parent)
{
    double delta = 0;

    for (size_t i = 0; i < raw->n; i++)
        if (tg_sv_eq(tg_diff_name(w, TG_KIND_OP, raw->text[i]), parent))
            delta += tg_count_under(w, op, TG_TEST, raw->text[i]) -
                     tg_count_under(w, op, TG_BASE, raw->text[i]);
    return delta;
}

/* Marks the parents from which calls of `child` moved to `parent`. */
static void mark_sources(struct tg_diff_work *w, const struct tg_op *child, tg_sv parent,
                         bool *source)
{
    struct tg_comparison *c = w->c;
    TG_AUTO(tg_strmap_release) struct tg_strmap raw;

    tg_strmap_init(&raw);
    tg_op_parents(w, child, TG_BASE, &raw);
    if (moved_under(w, child, &raw, parent) > 0)
        for (size_t i = 0; i < raw.n; i++) {
            tg_sv name = tg_diff_name(w, TG_KIND_OP, raw.text[i]);
            const struct tg_op *from = parent_named(c, name);
            if (from && moved_under(w, child, &raw, name) < 0)
                source[from - c->ops] = true;
        }
}

/* ns per step that the parents lost from which `parent` got calls. */
static double lost_elsewhere(struct tg_diff_work *w, const struct tg_op *parent)
{
    struct tg_comparison *c = w->c;
    bool *source = TG_NEW_N(w->a, bool, c->n_ops + 1);
    double lost = 0;

    for (size_t i = 0; i < c->n_ops; i++)
        if (tg_kind_nests(c->ops[i].kind) && c->ops[i].change == TG_SAME && &c->ops[i] != parent)
            mark_sources(w, &c->ops[i], parent->name, source);
    for (size_t i = 0; i < c->n_ops; i++)
        if (source[i] && &c->ops[i] != parent)
            lost += fmax(c->ops[i].ev.value[TG_BASE] - c->ops[i].ev.value[TG_TEST], 0);
    return lost;
}

/*
 * Host time, ns per step, of calls directly inside `parent` that are gone, less that of calls that came:
 * its own time now, if what they did is still done. Waiting is not work.
 */
static double gone_inside(struct tg_diff_work *w, const struct tg_op *parent)
{
    struct tg_comparison *c = w->c;
    double gone = 0;

    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        int side = op->count[TG_BASE] > 0 ? TG_BASE : TG_TEST;
        if (!tg_kind_nests(op->kind) || op->change == TG_SAME || op->wait || op->count[side] <= 0)
            continue;
        TG_AUTO(tg_strmap_release) struct tg_strmap raw;
        tg_strmap_init(&raw);
        tg_op_parents(w, op, TG_BASE, &raw);
        gone -= moved_under(w, op, &raw, parent->name) * op->total[side] / op->count[side];
    }
    return fmax(gone, 0);
}

void tg_excuse_moves(struct tg_diff_work *w)
{
    for (size_t i = 0; i < w->c->n_ops; i++) {
        struct tg_op *op = &w->c->ops[i];
        if ((!op->ev.slower && !op->ev.suspicious) || tg_kind_is_device(op->kind) ||
            op->change != TG_SAME)
            continue;
        if (op->ev.delta_ns > gone_inside(w, op) + TG_WORSE * lost_elsewhere(w, op))
            continue;
        op->ev.judged = op->ev_total.judged = TG_NOT_REPLACED;
        op->ev.slower = op->ev.proven = op->ev.suspicious = false;
        op->ev_total.slower = op->ev_total.proven = op->ev_total.suspicious = false;
        op->relation = TG_REL_MOVED;
    }
}
