/* What an operator is: its raw names, its parent, its class, and what its time and calls mean. */
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

/* Time by text; the largest wins, of equals the first in byte order. */
struct weights {
    struct tg_strmap names;
    tg_ns *v;
    size_t cap;
};

static void weigh(struct weights *x, tg_sv name, tg_ns ns)
{
    size_t known = x->names.n;
    uint32_t id = tg_strmap_add(&x->names, name);

    if (id == known) {
        x->v = tg_grow(x->v, &x->cap, id + 1, sizeof *x->v);
        x->v[id] = 0;
    }
    x->v[id] += ns;
}

static uint32_t heaviest(const struct weights *x)
{
    uint32_t best = 0;

    for (uint32_t i = 1; i < x->names.n; i++)
        if (x->v[i] > x->v[best] ||
            (x->v[i] == x->v[best] && tg_sv_cmp(x->names.text[i], x->names.text[best]) < 0))
            best = i;
    return best;
}

static void forget(struct weights *x)
{
    tg_strmap_release(&x->names);
    free(x->v);
}

/* The raw name with most time on a side, and the main encloser over both sides. */
static void name_largest(struct tg_diff_work *w, struct tg_op *op)
{
    struct weights parents = { 0 };

    tg_strmap_init(&parents.names);
    for (int side = 0; side < 2; side++) {
        struct weights raw = { 0 };
        tg_strmap_init(&raw.names);
        for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                tg_ns sum = 0;
                for (size_t j = 0; j <= w->shard[at]->n_steps; j++)
                    sum += row->total[j];
                weigh(&raw, row->key->name, sum);
                weigh(&parents, row->key->parent, sum);
            }
        op->present[side] = raw.names.n > 0;
        op->grouped |= op->kind == TG_KIND_KERNEL && raw.names.n > 1;
        if (raw.names.n)
            op->raw[side] = tg_arena_sv(w->a, raw.names.text[heaviest(&raw)]);
        forget(&raw);
    }
    op->parent = tg_diff_name(w, TG_KIND_OP, parents.names.text[heaviest(&parents)]);
    forget(&parents);
}

/* Of runtime calls alone: an operator of such a name is the program's own. */
static bool polls(const struct tg_diff_work *w, const struct tg_op *op)
{
    tg_sv raw = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];

    if (op->kind != TG_KIND_RUNTIME && op->kind != TG_KIND_SYNC)
        return false;
    if (!w->o->ignore)
        return tg_is_polling(raw);
    for (size_t i = 0; i < w->o->n_ignore; i++)
        if (tg_sv_glob(w->o->ignore[i], raw))
            return true;
    return false;
}

void tg_op_identify(struct tg_diff_work *w, struct tg_op *op)
{
    name_largest(w, op);
    op->class_ = tg_class_of(w->o->classes, op->kind,
                             op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE], NULL);
    op->polling = polls(w, op);
    /* Its time is somebody else's: collectives, copies, synchronisation. */
    op->wait = tg_name_waits(op->kind, op->name) || tg_op_is_collective(op);
}
