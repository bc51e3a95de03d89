#include <math.h>
#include <stdlib.h>

#include "cmd/diff.h"
#include "core/base/sort.h"
#include "reporters/rows.h"

/* Device rows by what they are; HTA goes by the stream, which Triton's host operators carry too. */
static bool on_device(enum tg_kind kind, enum tg_diff_device device)
{
    bool gpu = tg_kind_is_on_device(kind);
    return device < TG_DIFF_CPU || gpu == (device == TG_DIFF_GPU);
}

static bool is_excluded(const struct tg_diff_opts *o, const struct tg_op *op)
{
    for (size_t i = 0; i < o->exclude.n; i++) {
        tg_sv glob = tg_sv_of(o->exclude.v[i]);
        if (tg_sv_glob(glob, op->name) || tg_sv_glob(glob, tg_op_raw(op)))
            return true;
    }
    return false;
}

struct sorted {
    uint32_t row;
    double key; /* larger first */
    tg_sv name;
    enum tg_kind kind;
};

static int by_key(const void *pa, const void *pb)
{
    const struct sorted *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key > b->key ? -1 : 1;
    int c = tg_sv_cmp(a->name, b->name);
    return c ? c : (int)a->kind - (int)b->kind;
}

static double sort_key(enum tg_diff_sort how, const struct tg_row_numbers *n)
{
    switch (how) {
    case TG_DIFF_SORT_COUNT:
        return fabs(n->d_count);
    case TG_DIFF_SORT_CONTROL:
        return n->ns[TG_BASE];
    case TG_DIFF_SORT_TEST:
        return n->ns[TG_TEST];
    case TG_DIFF_SORT_NAME:
        return 0;
    case TG_DIFF_SORT_DEFAULT:
    case TG_DIFF_SORT_DURATION:
        break;
    }
    return fabs(n->d_ns);
}

/* Indices of the rows to show, sorted, in the arena. */
const uint32_t *tg_diff_rows(const struct tg_diff_request *q, const struct tg_comparison *c,
                             size_t *n_out)
{
    const struct tg_diff_opts *o = q->o;
    enum tg_basis basis = o->whole || o->hta ? TG_BASIS_WHOLE : TG_BASIS_ESTIMATED;
    struct sorted *v = tg_xmalloc((c->n_ops + 1) * sizeof *v);
    size_t n = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_row_numbers r = tg_row_numbers(c, &c->ops[i], basis);
        /* What ran only outside steps has no row per step. */
        if ((r.count[0] > 0 || r.count[1] > 0) &&
            (o->hta || on_device(c->ops[i].kind, o->device)) && !is_excluded(o, &c->ops[i]) &&
            (!o->group.n || tg_strs_has(&o->group, tg_row_group(&r))))
            v[n++] = (struct sorted){ (uint32_t)i, sort_key(o->sort, &r), c->ops[i].name,
                                      c->ops[i].kind };
    }
    TG_SORT(v, n, by_key);
    if (o->top != TG_OPT_UNSET && (uint64_t)o->top < n)
        n = (size_t)o->top;
    uint32_t *rows = TG_NEW_N(q->arena, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        rows[i] = v[i].row;
    free(v);
    *n_out = n;
    return rows;
}
