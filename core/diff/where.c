#include "core/diff/where.h"

#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/diff/stats.h"

#define MAX_DEPTH 64 /* of names that enclose each other, which would not end */

/* For each name the host operator that enclosers of that name mean. */
static void index_names(struct tg_where *x)
{
    const struct tg_comparison *c = x->w->c;

    x->n_named = x->w->names->n;
    x->named = TG_NEW_N(x->w->a, const struct tg_op *, x->n_named + 1);
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        uint32_t id = tg_strmap_find(x->w->names, op->name);
        if (id >= x->n_named || !tg_kind_nests(op->kind))
            continue;
        const struct tg_op *known = x->named[id];
        if (!known ||
            op->whole_total[0] + op->whole_total[1] > known->whole_total[0] + known->whole_total[1])
            x->named[id] = op;
    }
}

const struct tg_op *tg_where_op(const struct tg_where *x, tg_sv around)
{
    uint32_t id = around.n ? tg_strmap_find(x->w->names, around) : TG_NO_ID;
    return id < x->n_named ? x->named[id] : NULL;
}

/* The nearest annotation from `name` outwards, by each name's main encloser. */
static tg_sv climb(const struct tg_where *x, tg_sv name)
{
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        const struct tg_op *op = tg_where_op(x, name);
        if (!op || op->kind == TG_KIND_STEP)
            break;
        if (op->kind == TG_KIND_ANNOTATION)
            return name;
        name = op->parent;
    }
    return TG_SV("");
}

/* ---- by the trees ---- */

struct job {
    struct tg_where *x;
    struct tg_strmap around; /* "" and annotations -> id */
    struct tg_keymap keys;   /* operator and id of what is around -> spot */
    struct found {
        uint32_t op;
        tg_sv around;
        double *calls[2]; /* per run */
    } * spot;
    size_t cap;
};

static uint32_t spot_for(struct job *j, uint32_t op, uint32_t around)
{
    const struct tg_comparison *c = j->x->w->c;
    const uint64_t key = (uint64_t)op << 32 | around;
    size_t known = j->keys.n;
    uint32_t id = tg_keymap_add(&j->keys, &key);
    if (id == known) {
        j->spot = tg_grow(j->spot, &j->cap, id + 1, sizeof *j->spot);
        j->spot[id] = (struct found){ .op = op, .around = j->around.text[around] };
        for (int side = 0; side < 2; side++)
            j->spot[id].calls[side] = TG_NEW_N(j->x->w->a, double, c->n_runs[side]);
    }
    return id;
}

/* Of the rows of a cell: their operators; TG_NO_ID: not compared. */
static uint32_t *ops_of_rows(const struct tg_diff_work *w, size_t cell)
{
    const struct tg_shard *s = w->shard[cell];
    uint32_t *of = tg_xrealloc(NULL, s->n_rows + 1, sizeof *of);
    memset(of, 0xff, (s->n_rows + 1) * sizeof *of);
    for (uint32_t i = 0; i < w->c->n_ops; i++) {
        const struct tg_diff_cell *rows = &w->c->ops[i].rows->cell[cell];
        for (size_t k = 0; k < rows->n; k++)
            of[rows->row[k] - s->rows] = i;
    }
    return of;
}

/* Of the nodes of a cell: their spots; TG_NO_ID: work that is not compared, or between the steps. */
static uint32_t *spots_of_nodes(struct job *j, size_t cell)
{
    struct tg_diff_work *w = j->x->w;
    const struct tg_shard *s = w->shard[cell];
    TG_FREE uint32_t *op_of = ops_of_rows(w, cell);
    TG_FREE uint32_t *within = tg_xcalloc(s->tree.n + 1, sizeof *within); /* of what is inside */
    TG_FREE bool *between = tg_xcalloc(s->tree.n + 1, sizeof *between);
    uint32_t *spot = tg_xrealloc(NULL, s->tree.n + 1, sizeof *spot);
    between[TG_ROOT_BETWEEN] = true;
    for (uint32_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        const struct tg_row_key *key = s->rows[node->row].key;
        uint32_t op = op_of[node->row], around = within[node->parent];
        within[i] = key->kind == TG_KIND_ANNOTATION
                        ? tg_strmap_add(&j->around, tg_diff_name(w, key->kind, key->name))
                        : around;
        between[i] = between[node->parent];
        spot[i] = between[i] || op == TG_NO_ID ? TG_NO_ID : spot_for(j, op, around);
    }
    return spot;
}

/* The number that all steps have, but for a first one, which may be cold; else the mean: what every
 * third step does is a third of a call. */
static double calls_of(const uint64_t *count, size_t n)
{
    size_t same = n;
    double sum = 0;
    while (same && count[same - 1] == count[n - 1])
        same--;
    if (n && (same == 0 || (same == 1 && n > 2)))
        return (double)count[n - 1];
    for (size_t k = 0; k < n; k++)
        sum += (double)count[k];
    return n ? sum / (double)n : 0;
}

static void add_cell(struct job *j, int side, size_t run, size_t cell)
{
    const struct tg_shard *s = j->x->w->shard[cell];
    const struct tg_used *used = &j->x->w->used[cell];
    TG_FREE uint32_t *spot = spots_of_nodes(j, cell);
    TG_FREE uint64_t *count = tg_xcalloc(j->keys.n * used->n + 1, sizeof *count);
    for (uint32_t i = TG_ROOTS; i < s->tree.n; i++) {
        const uint32_t *of = tg_tree_count(s, &s->tree.node[i]);
        for (size_t k = 0; spot[i] != TG_NO_ID && k < used->n; k++)
            count[spot[i] * used->n + k] += of[used->step[k]];
    }
    for (size_t i = 0; i < j->keys.n; i++)
        j->spot[i].calls[side][run] += calls_of(count + i * used->n, used->n);
}

static int by_op_and_around(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    int c = TG_CMP(a->op, b->op);
    return c ? c : tg_sv_cmp(a->around, b->around);
}

static void list_spots(struct job *j)
{
    const struct tg_comparison *c = j->x->w->c;
    size_t n = j->keys.n;
    TG_SORT(j->spot, n, by_op_and_around);
    j->x->spot = TG_NEW_N(j->x->w->a, struct tg_spot, n + 1);
    j->x->first = TG_NEW_N(j->x->w->a, size_t, c->n_ops + 2);
    for (size_t i = 0; i < n; i++) {
        j->x->spot[i].around = tg_arena_sv(j->x->w->a, j->spot[i].around);
        for (int side = 0; side < 2; side++)
            j->x->spot[i].calls[side] =
                tg_median(j->spot[i].calls[side], c->n_runs[side]) / (double)c->n_ranks[side];
        j->x->first[j->spot[i].op + 1]++;
    }
    for (size_t op = 0; op < c->n_ops; op++)
        j->x->first[op + 1] += j->x->first[op];
}

static void find_spots(struct tg_where *x)
{
    const struct tg_comparison *c = x->w->c;
    struct job j = { .x = x };
    tg_strmap_init(&j.around);
    tg_keymap_init(&j.keys, 1);
    (void)tg_strmap_add(&j.around, TG_SV(""));
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < c->n_runs[side]; run++)
            for (size_t rank = 0; rank < c->n_ranks[side]; rank++)
                add_cell(&j, side, run, tg_diff_cell_index(x->w, side, run, rank));
    list_spots(&j);
    free(j.spot);
    tg_strmap_release(&j.around);
    tg_keymap_release(&j.keys);
}

static bool have_trees(const struct tg_diff_work *w)
{
    for (size_t i = 0; i < w->n_cells; i++)
        if (!w->shard[i]->tree.n || w->shard[i]->tree.cut)
            return false;
    return true;
}

void tg_where_open(struct tg_where *out, struct tg_diff_work *w)
{
    *out = (struct tg_where){ .w = w, .flat = !have_trees(w) };
    index_names(out);
    if (!out->flat)
        find_spots(out);
}

/* ---- by the names around rows ---- */

/* Adds to the spot there, or makes one: room is for all. */
static void add_spot(struct tg_spot *v, size_t *n, tg_sv around, const double calls[2])
{
    size_t k = 0;

    while (k < *n && !tg_sv_eq(v[k].around, around))
        k++;
    if (k == *n)
        v[(*n)++] = (struct tg_spot){ .around = around };
    for (int side = 0; side < 2; side++)
        v[k].calls[side] += calls[side];
}

static struct tg_spot *spots_of_rows(const struct tg_where *x, const struct tg_op *op, size_t *n)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap parents;
    struct tg_spot *v;

    tg_strmap_init(&parents);
    tg_op_parents(x->w, op, TG_BASE, &parents);
    v = TG_NEW_N(x->w->a, struct tg_spot, parents.n + 1);
    for (size_t i = 0; i < parents.n; i++) {
        const double calls[2] = { tg_count_under(x->w, op, TG_BASE, parents.text[i]),
                                  tg_count_under(x->w, op, TG_TEST, parents.text[i]) };
        add_spot(v, n, climb(x, tg_diff_name(x->w, TG_KIND_OP, parents.text[i])), calls);
    }
    return v;
}

const struct tg_spot *tg_where_of(const struct tg_where *x, const struct tg_op *op, size_t *n)
{
    size_t at = (size_t)(op - x->w->c->ops);

    *n = 0;
    if (x->flat)
        return spots_of_rows(x, op, n);
    *n = x->first[at + 1] - x->first[at];
    return x->spot + x->first[at];
}

tg_sv tg_where_most(const struct tg_where *x, const struct tg_op *op)
{
    int side = op->present[TG_TEST] ? TG_TEST : TG_BASE;
    const struct tg_spot *v;
    size_t n, best = 0;

    if (x->flat)
        return climb(x, op->parent);
    v = tg_where_of(x, op, &n);
    for (size_t i = 1; i < n; i++)
        best = v[i].calls[side] > v[best].calls[side] ? i : best;
    return n ? v[best].around : TG_SV("");
}
