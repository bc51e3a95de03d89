/* Kernels of one stem: `triton_poi_fused_add_3` and `triton_poi_fused_add_7` of one normalised name. */
#include <stdlib.h>

#include "core/diff/internal.h"

/*
 * One raw name of a normalised one on a side: `triton_poi_fused_add_3` of `triton_poi_fused_add`.
 */
struct sibling {
    tg_sv raw, parent;
    uint32_t first;        /* tg_row.order */
    uint64_t calls, steps; /* per step as a fraction */
};

static int by_first(const void *pa, const void *pb)
{
    const struct sibling *a = pa, *b = pb;
    int c = TG_CMP(a->first, b->first);
    return c ? c : tg_sv_cmp(a->raw, b->raw);
}

/* The raw names of a side in order of their first launch. */
static size_t siblings_of(const struct tg_diff_work *w, const struct tg_op *op, int side,
                          struct sibling **out)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    struct sibling *v = NULL;
    size_t n, cap = 0;
    uint64_t steps = 0;

    tg_strmap_init(&names);
    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++) {
        steps += w->shard[at]->n_steps;
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            size_t known = names.n;
            uint32_t id = tg_strmap_add(&names, row->key->name);
            v = tg_grow(v, &cap, names.n, sizeof *v);
            if (id == known)
                v[id] = (struct sibling){ row->key->name, row->key->parent, row->order, 0, 0 };
            if (row->order < v[id].first) {
                v[id].first = row->order;
                v[id].parent = row->key->parent;
            }
            for (size_t j = 0; j < w->shard[at]->n_steps; j++)
                v[id].calls += row->count[j];
        }
    }
    n = names.n;
    for (size_t i = 0; i < n; i++)
        v[i].steps = steps;
    TG_SORT(v, n, by_first);
    *out = v;
    return n;
}

/* The k-th of one side is the k-th of the other if all have the same parent and count. */
static bool siblings_align(const struct sibling *a, const struct sibling *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!tg_sv_eq(a[i].parent, b[i].parent) ||
            a[i].calls * b[i].steps != b[i].calls * a[i].steps)
            return false;
    return true;
}

/* The rows of `op` that carry one of two raw names. */
static const struct tg_op_rows *rows_named(struct tg_diff_work *w, const struct tg_op *op,
                                           const tg_sv raw[2])
{
    struct tg_diff_cell *cell;
    const struct tg_op_rows *rows = tg_op_rows_new(w, &cell);

    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_diff_cell *from = &op->rows->cell[at];
        const struct tg_row **list = TG_NEW_N(w->a, const struct tg_row *, from->n + 1);
        for (size_t r = 0; r < from->n; r++)
            if (tg_sv_eq(from->row[r]->key->name, raw[at >= w->first[TG_TEST]]))
                list[cell[at].n++] = from->row[r];
        cell[at].row = list;
    }
    return rows;
}

void tg_siblings_split(struct tg_diff_work *w, struct tg_op **ops, size_t *n_ops, size_t *cap)
{
    for (size_t i = 0, before = *n_ops; i < before; i++) {
        struct sibling *side[2] = { NULL, NULL };
        size_t n[2];
        if ((*ops)[i].kind != TG_KIND_KERNEL)
            continue;
        for (int k = 0; k < 2; k++)
            n[k] = siblings_of(w, &(*ops)[i], k, &side[k]);
        if (n[0] == n[1] && n[0] > 1 && siblings_align(side[0], side[1], n[0])) {
            struct tg_op whole = (*ops)[i];
            *ops = tg_grow(*ops, cap, *n_ops + n[0], sizeof **ops);
            for (size_t k = 0; k < n[0]; k++) {
                struct tg_op *op = k ? &(*ops)[(*n_ops)++] : &(*ops)[i];
                *op = whole;
                op->name = TG_SV_PRINTF(w->a, "%.*s#%zu", TG_SV_ARG(whole.name), k + 1);
                op->rows = rows_named(w, &whole, (tg_sv[2]){ side[0][k].raw, side[1][k].raw });
            }
        } else {
            (*ops)[i].grouped = n[0] > 1 || n[1] > 1;
        }
        free(side[0]);
        free(side[1]);
    }
}
