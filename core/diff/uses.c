#include "core/diff/uses.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/keymap.h"

#define MAX_DEPTH 64 /* of names that enclose each other, which would not end */

struct building {
    struct tg_diff_work *w;
    uint32_t *named; /* by id of an interned name: the longest operator or annotation of it */
    size_t n_named;
    struct tg_keymap key; /* operator, name around -> calls */
    struct tg_use *v;
    size_t cap;
};

/* What a name around calls means. */
static uint32_t op_named(const struct building *b, tg_sv name)
{
    uint32_t id = name.n ? tg_strmap_find(b->w->names, name) : TG_NO_ID;
    return id < b->n_named ? b->named[id] : TG_NO_ID;
}

bool tg_op_is_place(const struct tg_op *op)
{
    return op->kind == TG_KIND_ANNOTATION && op->present[TG_BASE] && op->present[TG_TEST];
}

/* The nearest place from `name` outwards, by each name's main encloser; not `past` an operator. */
static tg_sv climb(const struct building *b, tg_sv name, bool past)
{
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        uint32_t at = op_named(b, name);
        const struct tg_op *op = at == TG_NO_ID ? NULL : &b->w->c->ops[at];
        if (!past && (!op || op->kind != TG_KIND_ANNOTATION))
            return name;
        if (!op || op->kind == TG_KIND_STEP)
            break;
        if (tg_op_is_place(op))
            return name;
        name = op->parent;
    }
    return TG_SV("");
}

static uint32_t use_for(struct building *b, uint32_t op, tg_sv in)
{
    const uint64_t key = (uint64_t)op << 32 | (in.n ? tg_strmap_find(b->w->names, in) : TG_NO_ID);
    size_t known = b->key.n;
    uint32_t id = tg_keymap_add(&b->key, &key);
    if (id == known) {
        b->v = tg_grow(b->v, &b->cap, id + 1, sizeof *b->v);
        b->v[id] = (struct tg_use){ .op = op, .by = op_named(b, in), .in = in };
        for (int side = 0; side < 2; side++)
            b->v[id].run[side] = TG_NEW_N(b->w->a, double, b->w->c->n_runs[side] + 1);
    }
    return id;
}

/* The calls that each row of a cell counts among. */
static uint32_t *uses_of_rows(struct building *b, const struct tg_shard *s, const uint32_t *op)
{
    uint32_t *of = tg_xmalloc((s->n_rows + 1) * sizeof *of);
    TG_AUTO(tg_strmap_release) struct tg_strmap raw;
    TG_FREE tg_sv *name = tg_xmalloc((s->n_rows + 1) * sizeof *name);
    tg_strmap_init(&raw);
    for (size_t i = 0; i < s->n_rows; i++) {
        size_t known = raw.n;
        uint32_t id = tg_strmap_add(&raw, s->rows[i].key->parent);
        if (id == known)
            name[id] = climb(b, tg_diff_name(b->w, TG_KIND_OP, raw.text[id]), false);
        of[i] = op[i] == TG_NO_ID ? TG_NO_ID : use_for(b, op[i], name[id]);
    }
    return of;
}

/* The calls that each node counts among; not those between the steps. */
static uint32_t *uses_of_nodes(struct building *b, const struct tg_shard *s, const uint32_t *op)
{
    uint32_t *of = tg_xmalloc((s->tree.n + 1) * sizeof *of);
    TG_FREE tg_sv *within = tg_xcalloc(s->tree.n + 1, sizeof *within);
    TG_FREE bool *between = tg_xcalloc(s->tree.n + 1, sizeof *between);
    between[TG_ROOT_BETWEEN] = true;
    for (uint32_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        const struct tg_op *at = op[node->row] == TG_NO_ID ? NULL : &b->w->c->ops[op[node->row]];
        within[i] = at && tg_op_is_place(at) ? at->name : within[node->parent];
        between[i] = between[node->parent];
        of[i] = between[i] || op[node->row] == TG_NO_ID
                    ? TG_NO_ID
                    : use_for(b, op[node->row], within[node->parent]);
    }
    return of;
}

/* The number that all steps have, but for a first one, which may be cold; else the mean: what every
 * third step does is a third of a call. */
static double usual_or_mean(const uint64_t *count, size_t n)
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

static void add_cell(struct building *b, enum tg_level level, int side, size_t run, size_t cell)
{
    const struct tg_shard *s = b->w->shard[cell];
    const struct tg_used *used = &b->w->used[cell];
    bool rows = level == TG_IN_CALLER;
    /* The operators of the rows; TG_NO_ID: not compared. */
    TG_FREE uint32_t *op = tg_xmalloc((s->n_rows + 1) * sizeof *op);
    memset(op, 0xff, (s->n_rows + 1) * sizeof *op);
    for (uint32_t i = 0; i < b->w->c->n_ops; i++) {
        const struct tg_diff_cell *of = &b->w->c->ops[i].rows->cell[cell];
        for (size_t k = 0; k < of->n; k++)
            op[of->row[k] - s->rows] = i;
    }
    TG_FREE uint32_t *of = rows ? uses_of_rows(b, s, op) : uses_of_nodes(b, s, op);
    TG_FREE uint64_t *count = tg_xcalloc(b->key.n * used->n + 1, sizeof *count);
    for (uint32_t i = rows ? 0 : TG_ROOTS; i < (rows ? s->n_rows : s->tree.n); i++) {
        if (of[i] == TG_NO_ID)
            continue;
        const uint32_t *in_step = rows ? s->rows[i].count : tg_tree_count(s, &s->tree.node[i]);
        for (size_t k = 0; k < used->n; k++)
            count[of[i] * used->n + k] += in_step[used->step[k]];
    }
    const struct tg_comparison *c = b->w->c;
    for (size_t i = 0; i < b->key.n; i++)
        b->v[i].run[side][run] += tg_calls_over(usual_or_mean(count + i * used->n, used->n),
                                                tg_op_iterations(c, &c->ops[b->v[i].op], side));
    if (!rows) {
        /* Self time of each use inside an annotation. */
        TG_FREE double *ns = tg_xcalloc(b->key.n * used->n + 1, sizeof *ns);
        for (uint32_t i = TG_ROOTS; i < s->tree.n; i++)
            for (size_t k = 0; of[i] != TG_NO_ID && k < used->n; k++)
                ns[of[i] * used->n + k] += (double)tg_tree_self(s, &s->tree.node[i])[used->step[k]];
        for (size_t i = 0; i < b->key.n && used->n; i++) {
            for (int any = 0; any < 2; any++)
                if (!b->v[i].ns[any])
                    b->v[i].ns[any] = TG_NEW_N(b->w->a, double, b->w->c->n_runs[any] + 1);
            b->v[i].ns[side][run] += tg_least(ns + i * used->n, used->n) /
                                     tg_op_iterations(c, &c->ops[b->v[i].op], side);
        }
    }
}

static int by_op_and_name(const void *pa, const void *pb)
{
    const struct tg_use *a = pa, *b = pb;
    int c = TG_CMP(a->op, b->op);
    return c ? c : tg_sv_cmp(a->in, b->in);
}

double tg_use_ns(const struct tg_diff_work *w, const struct tg_use *x, int side)
{
    return tg_median_of(w, x->ns[side], side) / (double)w->c->n_ranks[side];
}

static void list_uses(struct building *b, struct tg_use_index *x, enum tg_level level)
{
    const struct tg_comparison *c = b->w->c;
    size_t n = b->key.n;
    struct tg_uses *of = TG_NEW_N(b->w->a, struct tg_uses, c->n_ops + 1);
    TG_SORT(b->v, n, by_op_and_name);
    struct tg_use *v = tg_arena_copy(b->w->a, b->v, n, sizeof *v);
    TG_EACH(struct tg_use, use, v, n) {
        struct tg_uses *its = &of[use->op];
        for (int side = 0; side < 2; side++)
            use->per_step[side] =
                tg_median_of(b->w, use->run[side], side) / (double)c->n_ranks[side];
        its->v = its->n++ ? its->v : use;
    }
    /* What each operator calls, in the same order. */
    for (size_t i = level == TG_IN_CALLER ? n : 0; i-- > 0;)
        if (v[i].by != TG_NO_ID) {
            v[i].next_inside = x->inside[v[i].by];
            x->inside[v[i].by] = &v[i];
        }
    x->all[level] = (struct tg_uses){ v, n };
    x->of[level] = of;
}

void tg_uses_index(struct tg_diff_work *w)
{
    const struct tg_comparison *c = w->c;
    struct tg_use_index *x = TG_NEW(w->a, struct tg_use_index);
    struct building b = { .w = w };
    bool flat = false;
    for (size_t i = 0; i < w->n_cells; i++)
        flat |= !w->shard[i]->tree.n || w->shard[i]->tree.cut;
    x->exact = w->tick <= 1;
    x->inside = TG_NEW_N(w->a, const struct tg_use *, c->n_ops + 1);
    b.n_named = w->names->n;
    b.named = tg_xmalloc((b.n_named + 1) * sizeof *b.named);
    memset(b.named, 0xff, (b.n_named + 1) * sizeof *b.named);
    for (uint32_t i = 0; i < c->n_ops; i++) {
        uint32_t id = tg_strmap_find(w->names, c->ops[i].name);
        if (id >= b.n_named || !tg_kind_nests(c->ops[i].kind))
            continue;
        const tg_ns *known = b.named[id] == TG_NO_ID ? NULL : c->ops[b.named[id]].whole_total;
        const tg_ns *own = c->ops[i].whole_total;
        if (!known || own[TG_BASE] + own[TG_TEST] > known[TG_BASE] + known[TG_TEST])
            b.named[id] = i;
    }
    for (enum tg_level level = 0; level < TG_LEVELS; level++) {
        tg_keymap_init(&b.key, 1);
        for (int side = 0; side < 2 && !(flat && level == TG_IN_ANNOTATION); side++)
            for (size_t run = 0; run < c->n_runs[side]; run++)
                for (size_t rank = 0; rank < c->n_ranks[side]; rank++)
                    add_cell(&b, level, side, run, tg_diff_cell_index(w, side, run, rank));
        if (flat && level == TG_IN_ANNOTATION) {
            /* Without trees: by the names around the callers. */
            TG_EACH(const struct tg_use, from, x->all[TG_IN_CALLER].v, x->all[TG_IN_CALLER].n) {
                uint32_t to = use_for(&b, from->op, climb(&b, from->in, true));
                for (int side = 0; side < 2; side++)
                    for (size_t run = 0; run < c->n_runs[side]; run++)
                        b.v[to].run[side][run] += from->run[side][run];
            }
        }
        list_uses(&b, x, level);
        tg_keymap_release(&b.key);
    }
    w->uses = x;
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_use *most = tg_uses_most(w, &c->ops[i]);
        w->c->ops[i].place = most && x->exact ? most->in : TG_SV("");
    }
    free(b.v);
    free(b.named);
}

static int by_name(const void *in, const void *use)
{
    return tg_sv_cmp(*(const tg_sv *)in, ((const struct tg_use *)use)->in);
}

const struct tg_use *tg_uses_of_itself(const struct tg_diff_work *w, const struct tg_op *op)
{
    uint32_t at = (uint32_t)(op - w->c->ops);
    /* A launch has as many callers as the program has operators. */
    struct tg_uses u = tg_uses_of(w, TG_IN_CALLER, at);
    const struct tg_use *own = u.n ? bsearch(&op->name, u.v, u.n, sizeof *u.v, by_name) : NULL;
    return own && own->by == at ? own : NULL;
}

const struct tg_use *tg_uses_most(const struct tg_diff_work *w, const struct tg_op *op)
{
    int side = op->present[TG_TEST] ? TG_TEST : TG_BASE;
    bool changed = op->change != TG_SAME;
    const struct tg_use *best = NULL;
    struct tg_uses u = tg_uses_of(w, TG_IN_ANNOTATION, (uint32_t)(op - w->c->ops));
    double most = -1;
    TG_EACH(const struct tg_use, use, u.v, u.n) {
        double rise = tg_use_rise(use);
        double of = !changed ? use->per_step[side] : tg_op_rose(op) ? rise : -rise;
        best = !best || of > most ? use : best;
        most = fmax(of, most);
    }
    return best;
}

double tg_use_rise(const struct tg_use *x)
{
    return x->per_step[TG_TEST] - x->per_step[TG_BASE];
}

struct tg_on_rank tg_op_on_rank(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                size_t rank, enum tg_op_part part)
{
    size_t n = w->c->n_runs[side];
    double *ns = TG_NEW_N(w->a, double, n + 1), calls = 0, all_steps = 0;
    bool least = op->counted.shape == TG_COUNT_CONSTANT;
    for (size_t run = 0; run < n; run++) {
        size_t at = tg_diff_cell_index(w, side, run, rank), steps = w->used[at].n;
        const struct tg_diff_cell *cell = &op->rows->cell[at];
        double sum = 0, shortest = INFINITY;
        for (size_t j = 0; j < steps; j++) {
            double step = tg_cell_time(w, op, at, j, part);
            sum += step / (double)steps;
            shortest = fmin(shortest, step);
            for (size_t r = 0; r < cell->n; r++)
                calls += (double)cell->row[r]->count[w->used[at].step[j]];
        }
        all_steps += (double)steps;
        ns[run] = steps && least ? shortest : sum;
    }
    double iterations = tg_op_iterations(w->c, op, side);
    return (struct tg_on_rank){ n ? tg_median(ns, n) / iterations : 0,
                                tg_calls_over(all_steps > 0 ? calls / all_steps : 0, iterations) };
}

uint64_t tg_op_changed_ranks(const struct tg_diff_work *w, const struct tg_op *op)
{
    const size_t *n = w->c->n_ranks;
    uint64_t hash = 0;
    size_t changed = 0;
    for (size_t k = 0; n[TG_BASE] == n[TG_TEST] && k < n[TG_TEST]; k++) {
        if (tg_op_on_rank(w, op, TG_BASE, k, TG_OP_SELF).calls ==
            tg_op_on_rank(w, op, TG_TEST, k, TG_OP_SELF).calls)
            continue;
        hash = (hash ^ (k + 1)) * UINT64_C(0x9e3779b97f4a7c15);
        changed++;
    }
    return changed < n[TG_TEST] ? hash : 0;
}

double tg_op_least_ns(const struct tg_diff_work *w, const struct tg_op *op, int side)
{
    double ns = 0;
    for (size_t k = 0; k < w->c->n_ranks[side]; k++)
        ns += tg_op_on_rank(w, op, side, k, TG_OP_SELF).ns / (double)w->c->n_ranks[side];
    return ns;
}

/* ---- time of the runtime's calls by the operator that makes them: one name serves many ---- */

static int by_rise(const void *pa, const void *pb)
{
    const struct tg_in_caller *a = pa, *b = pb;
    double more = (b->self[TG_TEST] - b->self[TG_BASE]) - (a->self[TG_TEST] - a->self[TG_BASE]);
    return more > 0 ? 1 : more < 0 ? -1 : tg_sv_cmp(a->in, b->in);
}

static void split(struct tg_diff_work *w, struct tg_op *op)
{
    const struct tg_comparison *c = w->c;
    TG_AUTO(tg_strmap_release) struct tg_strmap callers;
    struct tg_in_caller *v;
    tg_strmap_init(&callers);
    for (size_t at = 0; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++)
            (void)tg_strmap_add(
                &callers, tg_diff_name(w, TG_KIND_OP, op->rows->cell[at].row[r]->key->parent));
    v = TG_NEW_N(w->a, struct tg_in_caller, callers.n + 1);
    for (int side = 0; side < 2; side++) {
        size_t n = c->n_runs[side], n_ranks = c->n_ranks[side];
        TG_FREE double *of_run = tg_xcalloc(callers.n * n + 1, sizeof *of_run);
        /* ns per step of each cell's calls inside each caller, over the ranks of a run. */
        for (size_t i = 0; i < n * n_ranks; i++) {
            const struct tg_diff_cell *cell = &op->rows->cell[w->first[side] + i];
            const struct tg_used *used = &w->used[w->first[side] + i];
            for (size_t r = 0; used->n && r < cell->n; r++) {
                tg_sv in = tg_diff_name(w, TG_KIND_OP, cell->row[r]->key->parent);
                tg_ns self = 0;
                for (size_t j = 0; j < used->n; j++)
                    self += cell->row[r]->self[used->step[j]];
                of_run[tg_strmap_find(&callers, in) * n + i / n_ranks] +=
                    (double)self / (double)used->n / (double)n_ranks;
            }
        }
        for (size_t k = 0; k < callers.n; k++) {
            v[k].in = tg_arena_sv(w->a, callers.text[k]);
            v[k].self[side] = tg_median(of_run + k * n, n); /* and sorts */
            v[k].least[side] = of_run[k * n];
            v[k].most[side] = of_run[k * n + n - 1];
        }
    }
    op->callers = v;
    op->n_callers = callers.n;
    TG_SORT(v, callers.n, by_rise);
}

void tg_callers_find(struct tg_diff_work *w)
{
    /* Waits move from caller to caller, and a cost is that of the calls that came. */
    TG_EACH(struct tg_op, op, w->c->ops, w->c->n_ops)
        if ((op->kind == TG_KIND_RUNTIME || op->kind == TG_KIND_SYNC) && !op->polling &&
            (op->wait || op->change != TG_SAME))
            split(w, op);
}
