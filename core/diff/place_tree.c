#include "core/diff/place_tree.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/diff/numbers.h"
#include "core/diff/stats.h"

/* Calls are compared one by one, in the steps with the usual number, if at least this part has it. */

/* What adds to nodes: the nodes of a shard, or in trees of one level its rows. */
struct entry {
    uint32_t node, row;
    const uint32_t *count;
    const tg_ns *self;
};
struct cell {
    struct entry *v;
    size_t n;
    uint32_t *of_row; /* per row: its entry, if it has but one */
    bool flat;        /* every row has but one */
};

struct job {
    struct tg_diff_work *w;
    struct tg_place_tree *out;
    struct tg_strmap raw, key; /* kind + raw name; kind + name */
    uint32_t *key_of_raw;
    struct { /* per key */
        enum tg_kind kind;
        tg_sv name;
    } * names;
    size_t cap_raw, cap_names, cap;
    struct tg_keymap edges; /* (parent, key) -> the node less the roots */
    struct cell *cell;
};

/* ---- one tree of all ---- */

static tg_sv keyed(struct tg_buf *b, enum tg_kind kind, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)kind));
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

static uint32_t key_for(struct job *j, enum tg_kind kind, tg_sv raw)
{
    TG_BUF b = { 0 };
    size_t known = j->raw.n, keys = j->key.n;
    uint32_t id = tg_strmap_add(&j->raw, keyed(&b, kind, raw)), key;
    tg_sv name;
    if (id < known)
        return j->key_of_raw[id];
    name = tg_diff_name(j->w, kind, raw);
    key = tg_strmap_add(&j->key, keyed(&b, kind, name));
    j->key_of_raw = tg_grow(j->key_of_raw, &j->cap_raw, id + 1, sizeof *j->key_of_raw);
    j->key_of_raw[id] = key;
    if (key == keys) {
        j->names = tg_grow(j->names, &j->cap_names, key + 1, sizeof *j->names);
        j->names[key].kind = kind;
        j->names[key].name = name;
    }
    return key;
}

static void push_node(struct job *j, struct tg_place_node node)
{
    *TG_PUSH(j->out->v, j->out->n, j->cap) = node;
}

static uint32_t node_for(struct job *j, int side, uint32_t parent, enum tg_kind kind, tg_sv raw)
{
    uint32_t key = key_for(j, kind, raw);
    const uint64_t word = (uint64_t)parent << 32 | key;
    uint32_t id = tg_keymap_add(&j->edges, &word) + TG_ROOTS;
    if (id == j->out->n)
        push_node(j, (struct tg_place_node){ .parent = parent,
                                             .root = j->out->v[parent].root,
                                             .kind = kind,
                                             .name = j->names[key].name });
    j->out->v[id].present[side] = true;
    return id;
}

/* With a coarse clock a call that follows another one may seem to be inside it: operators are not taken as
 * nested in anything but annotations, runtime calls not in each other. */
static uint32_t encloser(const struct tg_shard *s, const struct tg_tree_node *node, bool coarse)
{
    enum tg_kind kind = s->rows[node->row].key->kind;
    uint32_t up = node->parent;
    while (coarse && up >= TG_ROOTS && (kind == TG_KIND_OP || tg_kind_is_call(kind))) {
        enum tg_kind around = s->rows[s->tree.node[up].row].key->kind;
        if (!tg_kind_is_call(around) && !(around == TG_KIND_OP && kind == TG_KIND_OP))
            break;
        up = s->tree.node[up].parent;
    }
    return up;
}

static void add_tree(struct job *j, int side, const struct tg_shard *s, struct cell *c)
{
    TG_FREE uint32_t *to = tg_xrealloc(NULL, s->tree.n + 1, sizeof *to);
    c->v = tg_xrealloc(NULL, s->tree.n + 1, sizeof *c->v);
    for (uint32_t i = 0; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        const struct tg_row_key *key = i < TG_ROOTS ? NULL : s->rows[node->row].key;
        to[i] = i;
        if (key)
            to[i] = node_for(j, side, to[encloser(s, node, j->out->coarse)], key->kind, key->name);
        if (!key)
            continue;
        c->of_row[node->row] = (uint32_t)c->n;
        c->v[c->n++] =
            (struct entry){ to[i], node->row, tg_tree_count(s, node), tg_tree_self(s, node) };
    }
}

/* The name around a row is a place as well; what it is, a row does not say. */
static void add_rows(struct job *j, int side, const struct tg_shard *s, struct cell *c)
{
    c->v = tg_xrealloc(NULL, s->n_rows + 1, sizeof *c->v);
    for (uint32_t r = 0; r < s->n_rows; r++) {
        const struct tg_row *row = &s->rows[r];
        bool alone = tg_kind_is_on_device(row->key->kind) && !row->key->parent.n;
        uint32_t up = alone ? TG_ROOT_DEVICE : TG_ROOT_STEP;
        if (row->key->parent.n && !tg_sv_eq(row->key->parent, TG_SV("ProfilerStep")))
            up = node_for(j, side, up, TG_KIND_OTHER, row->key->parent);
        c->of_row[r] = r;
        c->v[c->n++] = (struct entry){ node_for(j, side, up, row->key->kind, row->key->name), r,
                                       row->count, row->self };
    }
}

static int side_of(const struct tg_diff_work *w, size_t at)
{
    return at >= w->first[TG_TEST];
}

static bool has_tree(const struct tg_shard *s)
{
    return s->tree.n && !s->tree.cut;
}

static void add_cells(struct job *j)
{
    const struct tg_diff_work *w = j->w;
    j->cell = tg_xcalloc(w->n_cells + 1, sizeof *j->cell);
    for (size_t at = 0; at < w->n_cells; at++)
        j->out->flat |= !has_tree(w->shard[at]);
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_shard *s = w->shard[at];
        struct cell *c = &j->cell[at];
        c->of_row = tg_xcalloc(s->n_rows + 1, sizeof *c->of_row);
        c->flat = j->out->flat;
        if (c->flat)
            add_rows(j, side_of(w, at), s, c);
        else
            add_tree(j, side_of(w, at), s, c);
    }
}

/* ---- its order ---- */

struct child {
    uint32_t parent, id;
    enum tg_kind kind;
    tg_sv name;
};

static int by_name(const void *pa, const void *pb)
{
    const struct child *a = pa, *b = pb;
    int c = TG_CMP(a->parent, b->parent);
    c = c ? c : TG_CMP(a->kind, b->kind);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

/* Whatever came first, nodes are level by level, and sorted below their parent. */
static void sort_nodes(struct job *j)
{
    struct tg_place_tree *t = j->out;
    size_t n = t->n - TG_ROOTS, next = TG_ROOTS;
    TG_FREE struct child *v = tg_xrealloc(NULL, n + 1, sizeof *v);
    TG_FREE size_t *first = tg_xcalloc(t->n + 2, sizeof *first);
    TG_FREE uint32_t *old = tg_xrealloc(NULL, t->n, sizeof *old);
    TG_FREE uint32_t *now = tg_xrealloc(NULL, t->n, sizeof *now);
    struct tg_place_node *to = TG_NEW_N(j->w->a, struct tg_place_node, t->n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_place_node *node = &t->v[i + TG_ROOTS];
        v[i] = (struct child){ node->parent, (uint32_t)(i + TG_ROOTS), node->kind, node->name };
        first[node->parent + 1]++;
    }
    for (size_t i = 1; i <= t->n; i++)
        first[i] += first[i - 1];
    TG_SORT(v, n, by_name);
    for (uint32_t root = 0; root < TG_ROOTS; root++)
        old[root] = now[root] = root;
    for (size_t at = 0; at < next; at++)
        for (size_t i = first[old[at]]; i < first[old[at] + 1]; i++, next++) {
            old[next] = v[i].id;
            now[v[i].id] = (uint32_t)next;
        }
    for (size_t i = 0; i < t->n; i++) {
        to[i] = t->v[old[i]];
        to[i].parent = i < TG_ROOTS ? TG_NO_ID : now[to[i].parent];
    }
    for (size_t at = 0; at < j->w->n_cells; at++)
        for (size_t i = 0; i < j->cell[at].n; i++)
            j->cell[at].v[i].node = now[j->cell[at].v[i].node];
    free(t->v);
    t->v = to;
}

/* ---- the numbers of a shard ---- */

/* Of the nodes of one shard, per step that is compared and one more for what is between them. */
struct sums {
    size_t n_steps, n; /* steps that are compared; the same and one */
    uint64_t *count;   /* [node][n] */
    double *self;      /* [node][n] */
    uint64_t *usual;   /* [node]: calls of most steps */
    bool *settled;     /* [node]: `usual` is the number of enough steps */
    bool *unslotted;   /* [node]: single times are missing */
    size_t *slot;      /* [node]: where its calls begin in `least`; as many as `usual` */
    double *least;     /* each call in its fastest step */
};

static void add_entries(struct sums *x, const struct tg_diff_work *w, size_t at,
                        const struct cell *c)
{
    const struct tg_shard *s = w->shard[at];
    const struct tg_used *used = &w->used[at];
    for (size_t i = 0; i < c->n; i++) {
        const struct entry *e = &c->v[i];
        size_t to = e->node * x->n;
        for (size_t k = 0; k < used->n; k++) {
            x->count[to + k] += e->count[used->step[k]];
            x->self[to + k] += (double)e->self[used->step[k]];
        }
        x->count[to + used->n] += e->count[s->n_steps];
        x->self[to + used->n] += (double)e->self[s->n_steps];
        x->unslotted[e->node] |= !s->rows[e->row].slots;
    }
}

struct calls {
    double usual, low, high;
};

/* The number that all steps have, but for a first one, which may be cold; else the mean: what every third
 * step does is a third of a call. */
static struct calls calls_of(const uint64_t *count, size_t n)
{
    struct calls c = { 0, n ? INFINITY : 0, 0 };
    size_t same = n;
    while (same && count[same - 1] == count[n - 1])
        same--;
    if (same == 1 && n > 2) {
        count++;
        n--;
    }
    for (size_t k = 0; k < n; k++) {
        c.usual += (double)count[k] / (double)n;
        c.low = fmin(c.low, (double)count[k]);
        c.high = fmax(c.high, (double)count[k]);
    }
    c.usual = c.low < c.high ? c.usual : c.low; /* exact */
    return c;
}

static void find_usual(struct sums *x, size_t n_nodes)
{
    TG_FREE uint64_t *sorted = tg_xrealloc(NULL, x->n, sizeof *sorted);
    size_t calls = 0;
    for (size_t i = 0; i < n_nodes; i++) {
        size_t hits = 0;
        memcpy(sorted, x->count + i * x->n, x->n_steps * sizeof *sorted);
        x->usual[i] = x->n_steps ? tg_mode(sorted, x->n_steps, &hits) : 0;
        x->settled[i] = x->n_steps && (double)hits >= TG_SETTLED * (double)x->n_steps;
        x->slot[i] = calls;
        calls += x->settled[i] && !x->unslotted[i] ? (size_t)x->usual[i] : 0;
    }
    x->slot[n_nodes] = calls;
    x->least = tg_xrealloc(NULL, calls + 1, sizeof *x->least);
    for (size_t i = 0; i < calls; i++)
        x->least[i] = INFINITY;
}

/* The calls of one step that is compared. `next`: per node, how many of its calls were seen. */
static void add_slots(struct sums *x, const struct tg_shard *s, const struct cell *c, size_t k,
                      size_t step, const size_t *from, size_t *next, size_t n_nodes)
{
    memset(next, 0, n_nodes * sizeof *next);
    for (size_t r = 0; r < s->n_rows; r++) {
        const struct tg_row *row = &s->rows[r];
        for (size_t i = 0; row->slots && i < row->count[step]; i++) {
            size_t slot = from[r] + i;
            uint32_t e = c->of_row[r], node;
            if (row->slot_node && !c->flat)
                e = row->slot_node[slot] - TG_ROOTS;
            node = c->v[e].node;
            if (x->slot[node] == x->slot[node + 1] || !x->settled[node] ||
                x->count[node * x->n + k] != x->usual[node])
                continue;
            slot = x->slot[node] + next[node]++;
            x->least[slot] = fmin(x->least[slot], (double)row->slots[from[r] + i]);
        }
    }
}

static void find_least(struct sums *x, const struct tg_diff_work *w, size_t at,
                       const struct cell *c, size_t n_nodes)
{
    const struct tg_shard *s = w->shard[at];
    const struct tg_used *used = &w->used[at];
    TG_FREE size_t *from = tg_xcalloc(s->n_rows + 1, sizeof *from);
    TG_FREE size_t *next = tg_xrealloc(NULL, n_nodes + 1, sizeof *next);
    size_t step = 0;
    for (size_t k = 0; k < used->n; k++) {
        for (; step < used->step[k]; step++)
            for (size_t r = 0; r < s->n_rows; r++)
                from[r] += s->rows[r].count[step];
        add_slots(x, s, c, k, step, from, next, n_nodes);
    }
}

static double least_of(const struct sums *x, size_t node, double mean)
{
    double sum = 0;
    if (!x->settled[node] || x->unslotted[node])
        return mean;
    for (size_t i = x->slot[node]; i < x->slot[node + 1]; i++)
        sum += x->least[i];
    return sum;
}

static void add_calls(struct tg_place_node *node, int side, size_t run, struct calls c)
{
    node->calls[side][run] += c.usual;
    node->low[side][run] += c.low;
    node->high[side][run] += c.high;
}

/* What ran between the steps, by the number of all steps of the shard. */
static void add_to_run(const struct sums *x, struct tg_place_tree *t, int side, size_t run,
                       size_t all_steps)
{
    for (size_t i = TG_ROOTS; i < t->n; i++) {
        struct tg_place_node *node = &t->v[i];
        const double *self = x->self + i * x->n;
        double mean = 0;
        if (node->root == TG_ROOT_BETWEEN) {
            double calls = (double)x->count[i * x->n + x->n_steps] / (double)all_steps;
            add_calls(node, side, run, (struct calls){ calls, calls, calls });
            node->mean[side][run] += self[x->n_steps] / (double)all_steps;
            node->least[side][run] += self[x->n_steps] / (double)all_steps;
            continue;
        }
        for (size_t k = 0; k < x->n_steps; k++)
            mean += self[k] / (double)x->n_steps;
        add_calls(node, side, run, calls_of(x->count + i * x->n, x->n_steps));
        node->mean[side][run] += mean;
        node->least[side][run] += least_of(x, i, mean);
    }
}

static void sum_cell(struct job *j, int side, size_t run, size_t at)
{
    size_t n_nodes = j->out->n;
    struct sums x = { .n_steps = j->w->used[at].n, .n = j->w->used[at].n + 1 };
    x.count = tg_xcalloc(n_nodes * x.n, sizeof *x.count);
    x.self = tg_xcalloc(n_nodes * x.n, sizeof *x.self);
    x.usual = tg_xcalloc(n_nodes, sizeof *x.usual);
    x.settled = tg_xcalloc(n_nodes, sizeof *x.settled);
    x.unslotted = tg_xcalloc(n_nodes, sizeof *x.unslotted);
    x.slot = tg_xcalloc(n_nodes + 1, sizeof *x.slot);
    add_entries(&x, j->w, at, &j->cell[at]);
    find_usual(&x, n_nodes);
    find_least(&x, j->w, at, &j->cell[at], n_nodes);
    add_to_run(&x, j->out, side, run, j->w->shard[at]->n_steps);
    free(x.count);
    free(x.self);
    free(x.usual);
    free(x.settled);
    free(x.unslotted);
    free(x.slot);
    free(x.least);
}

static void sum_all(struct job *j)
{
    const struct tg_comparison *c = j->w->c;
    for (size_t i = 0; i < j->out->n; i++)
        for (int side = 0; side < 2; side++) {
            struct tg_place_node *node = &j->out->v[i];
            node->calls[side] = TG_NEW_N(j->w->a, double, c->n_runs[side]);
            node->low[side] = TG_NEW_N(j->w->a, double, c->n_runs[side]);
            node->high[side] = TG_NEW_N(j->w->a, double, c->n_runs[side]);
            node->mean[side] = TG_NEW_N(j->w->a, double, c->n_runs[side]);
            node->least[side] = TG_NEW_N(j->w->a, double, c->n_runs[side]);
        }
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < c->n_runs[side]; run++)
            for (size_t rank = 0; rank < c->n_ranks[side]; rank++)
                sum_cell(j, side, run, tg_diff_cell_index(j->w, side, run, rank));
}

void tg_place_tree_build(struct tg_place_tree *out, struct tg_diff_work *w)
{
    static const char *const roots[TG_ROOTS] = { "step", "other threads", "between steps",
                                                 "device without a launch", "cut" };
    struct job j = { .w = w, .out = out };
    *out = (struct tg_place_tree){ .coarse = w->tick > 1 };
    tg_strmap_init(&j.raw);
    tg_strmap_init(&j.key);
    tg_keymap_init(&j.edges, 1);
    for (int root = 0; root < TG_ROOTS; root++)
        push_node(&j, (struct tg_place_node){ .parent = TG_NO_ID,
                                              .root = (enum tg_root)root,
                                              .name = tg_sv_of(roots[root]),
                                              .present = { true, true } });
    add_cells(&j);
    sort_nodes(&j);
    sum_all(&j);
    for (size_t at = 0; at < w->n_cells; at++) {
        free(j.cell[at].v);
        free(j.cell[at].of_row);
    }
    tg_strmap_release(&j.raw);
    tg_strmap_release(&j.key);
    tg_keymap_release(&j.edges);
    free(j.key_of_raw);
    free(j.names);
    free(j.cell);
}

void tg_place_path(const struct tg_place_tree *t, uint32_t node, struct tg_buf *out)
{
    if (t->v[node].parent != TG_NO_ID) {
        tg_place_path(t, t->v[node].parent, out);
        tg_buf_puts(out, " > ");
    }
    tg_buf_add(out, t->v[node].name);
}
