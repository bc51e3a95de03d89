/* The calling context tree of a trace, from rows and parents of spans to nodes; and trees whatever
 * they come from: their order, their numbers. */

#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/summary/internal.h"

struct place {
    const struct tg_trace *t;
    const struct tg_steps *s;
    const struct tg_row *rows;
    struct tg_placed *out;
    size_t most, cap;
    uint32_t *home;  /* per node: where its children go */
    uint32_t *depth; /* per node */
    size_t home_cap, depth_cap;
    uint32_t thread;        /* of the step markers; TG_NO_ID: none */
    bool *names_window;     /* per name id */
    struct tg_keymap edges; /* (parent, row) -> the id in `to` */
    uint32_t *to;           /* its node */
    bool *is_cut;           /* is it there in place of another one? */
    size_t to_cap, is_cut_cap;
    struct {
        uint32_t parent, id;
    } * last;                  /* per row: its last edge, which is mostly that of its next span */
    struct tg_strmap stems;    /* numbered names without their numbers */
    struct tg_keymap numbered; /* (parent, stem) -> the id in `series` */
    struct series {
        uint32_t first, n;
    } * series;
    size_t series_cap;
};

/* ---- nodes ---- */

static uint32_t new_node(struct place *p, uint32_t parent, uint32_t row)
{
    uint32_t id = (uint32_t)p->out->n;
    p->out->node = tg_grow(p->out->node, &p->cap, id + 1, sizeof *p->out->node);
    p->home = tg_grow(p->home, &p->home_cap, id + 1, sizeof *p->home);
    p->depth = tg_grow(p->depth, &p->depth_cap, id + 1, sizeof *p->depth);
    p->out->node[id] = (struct tg_tree_node){ parent, row, TG_NO_ID };
    p->home[id] = id;
    p->depth[id] = parent == TG_NO_ID ? 0 : p->depth[parent] + 1;
    p->out->n++;
    return id;
}

/* "execute_32_context_1" -> "execute__context_"; TG_NO_ID: not numbered. */
static uint32_t stem_of(struct place *p, tg_sv name)
{
    TG_BUF stem = { 0 };
    for (size_t i = 0; i < name.n; i++)
        if (!tg_is_digit(name.p[i]))
            tg_buf_putc(&stem, name.p[i]);
    return stem.n == name.n ? TG_NO_ID : tg_strmap_add(&p->stems, tg_buf_sv(&stem));
}

/* After many of one series at one place, the others share what is below the first. */
static void share_home(struct place *p, uint32_t parent, uint32_t node)
{
    const struct tg_row_key *key = p->rows[p->out->node[node].row].key;
    uint32_t stem = key->kind == TG_KIND_ANNOTATION ? stem_of(p, key->name) : TG_NO_ID, id;
    const uint64_t word = (uint64_t)parent << 32 | stem;
    size_t known = p->numbered.n;
    if (stem == TG_NO_ID)
        return;
    id = tg_keymap_add(&p->numbered, &word);
    p->series = tg_grow(p->series, &p->series_cap, id + 1, sizeof *p->series);
    if (id == known)
        p->series[id] = (struct series){ node, 0 };
    if (++p->series[id].n > TG_TREE_NUMBERED)
        p->home[node] = p->series[id].first;
}

/* The deepest node of the row on the path, if it is there often enough; TG_NO_ID. */
static uint32_t recursion(const struct place *p, uint32_t parent, uint32_t row)
{
    uint32_t deepest = TG_NO_ID, n = 0;
    for (uint32_t at = parent; at != TG_NO_ID; at = p->out->node[at].parent)
        if (p->out->node[at].row == row) {
            deepest = deepest == TG_NO_ID ? at : deepest;
            n++;
        }
    return n >= TG_TREE_RECURSION ? deepest : TG_NO_ID;
}

static uint32_t child(struct place *p, uint32_t parent, uint32_t row);

static uint32_t make_child(struct place *p, uint32_t parent, uint32_t row, bool *cut)
{
    uint32_t node = recursion(p, parent, row);
    *cut = false;
    if (node != TG_NO_ID)
        return node;
    if (parent != TG_ROOT_OTHER && (p->out->n >= p->most || p->depth[parent] >= TG_TREE_DEPTH ||
                                    p->out->node[parent].parent == TG_ROOT_OTHER)) {
        *cut = true;
        return child(p, TG_ROOT_OTHER, row);
    }
    node = new_node(p, parent, row);
    share_home(p, parent, node);
    return node;
}

/* The node of a row below another one. */
static uint32_t child(struct place *p, uint32_t parent, uint32_t row)
{
    const uint64_t word = (uint64_t)parent << 32 | row;
    uint32_t id = p->last[row].id;
    if (id == TG_NO_ID || p->last[row].parent != parent)
        id = tg_keymap_find(&p->edges, &word);
    if (id == TG_NO_ID) {
        bool cut;
        uint32_t node = make_child(p, parent, row, &cut);
        id = tg_keymap_add(&p->edges, &word);
        p->to = tg_grow(p->to, &p->to_cap, id + 1, sizeof *p->to);
        p->is_cut = tg_grow(p->is_cut, &p->is_cut_cap, id + 1, sizeof *p->is_cut);
        p->to[id] = node;
        p->is_cut[id] = cut;
    }
    p->last[row].parent = parent;
    p->last[row].id = id;
    p->out->cut += p->is_cut[id];
    return p->to[id];
}

/* ---- spans ---- */

static bool is_window(const struct place *p, uint32_t i)
{
    const struct tg_span *s = tg_span_at(p->t, i);
    if (!p->names_window[s->name])
        return false;
    int32_t step = tg_steps_at(p->s, s->start);
    return step >= 0 && p->s->v[step].span == i;
}

/* Where the node of a span goes. Markers are transparent; a window is where a path begins. */
static uint32_t parent_of(const struct place *p, uint32_t i, bool device,
                          const struct tg_span_rows *node_of)
{
    uint32_t up = p->s->parent[i];
    if (is_window(p, i))
        return TG_ROOT_STEP;
    while (up != TG_NO_SPAN) {
        if (is_window(p, up))
            return TG_ROOT_STEP;
        if (tg_span_kind(p->t, tg_span_at(p->t, up)) != TG_KIND_STEP)
            return p->home[*tg_span_row(node_of, up)];
        up = p->s->parent[up];
    }
    uint32_t thread = p->t->tracks[tg_span_at(p->t, i)->track].thread;
    if (device)
        return TG_ROOT_DEVICE;
    if (p->thread != TG_NO_ID && p->thread != thread)
        return TG_ROOT_THREADS;
    return p->s->step_of[i] >= 0 ? TG_ROOT_STEP : TG_ROOT_BETWEEN;
}

/* In the total order, what encloses a span is before it; a launch need not be. */
static void place_spans(struct place *p, const uint32_t *v, size_t n, bool device,
                        const struct tg_span_rows *row_of)
{
    for (size_t k = 0; k < n; k++) {
        uint32_t i = v[k], *row = tg_span_row(row_of, i);
        if (tg_kind_is_on_device(tg_span_kind(p->t, tg_span_at(p->t, i))) == device)
            *row = child(p, parent_of(p, i, device, row_of), *row);
    }
}

void tg_tree_place(struct tg_placed *out, const struct tg_trace *t, const struct tg_steps *s,
                   const struct tg_row *rows, size_t n_rows, size_t max_nodes,
                   const struct tg_span_rows *row_of)
{
    struct place p = { .t = t,
                       .s = s,
                       .rows = rows,
                       .out = out,
                       .most = max_nodes,
                       .edges.words = 1,
                       .numbered.words = 1 };
    *out = (struct tg_placed){ 0 };
    p.last = tg_xmalloc((n_rows + 1) * sizeof *p.last);
    memset(p.last, 0xff, (n_rows + 1) * sizeof *p.last);
    p.names_window = tg_xcalloc(t->names->n + 1, 1);
    p.thread = TG_NO_ID;
    for (size_t k = 0; s->marked && k < s->n; k++) {
        const struct tg_span *window = tg_span_at(t, s->v[k].span);
        p.names_window[window->name] = true;
        p.thread = t->tracks[window->track].thread;
    }
    for (int root = 0; root < TG_ROOTS; root++)
        (void)new_node(&p, TG_NO_ID, TG_NO_ID);
    place_spans(&p, s->order, t->n_spans, false, row_of);
    place_spans(&p, s->device, s->n_device, true, row_of);
    tg_keymap_release(&p.edges);
    tg_keymap_release(&p.numbered);
    tg_strmap_release(&p.stems);
    free(p.names_window);
    free(p.home);
    free(p.depth);
    free(p.to);
    free(p.is_cut);
    free(p.last);
    free(p.series);
}

void tg_placed_release(struct tg_placed *p)
{
    free(p->node);
    free(p->at);
    *p = (struct tg_placed){ 0 };
}

/* ---- how large ---- */

/* Numbers of nodes with a place for every step: 48 MiB. */
#define MAX_CELLS ((size_t)4 << 20)

size_t tg_tree_room(const struct tg_limits *limits, size_t n_steps)
{
    size_t most = (limits ? *limits : TG_LIMITS_DEFAULT).max_nodes;
    return most < MAX_CELLS / (n_steps + 1) ? most : MAX_CELLS / (n_steps + 1);
}

bool tg_tree_fits(const struct tg_tree *t, size_t n_rows, size_t n_steps)
{
    return t->n_split <= MAX_CELLS / (n_steps + 1) + n_rows;
}

/* ---- the order ---- */

struct placed {
    uint32_t parent, position, id;
};

static int by_place(const void *a, const void *b)
{
    const struct placed *x = a, *y = b;
    int c = TG_CMP(x->parent, y->parent);
    return c ? c : TG_CMP(x->position, y->position);
}

/* Nodes in preorder: a node, what is below it, its sibling. */
static void put_in_order(struct tg_placed *p, const struct placed *v, const size_t *first,
                         struct tg_tree_node *to)
{
    TG_FREE size_t *next = tg_xrealloc(NULL, p->n + 1, sizeof *next); /* by node: the next child */
    uint32_t n = TG_ROOTS;
    memcpy(next, first, p->n * sizeof *next);
    for (uint32_t root = 0; root < TG_ROOTS; root++) {
        p->at[root] = root;
        to[root] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
        for (uint32_t up = root; up != TG_NO_ID;) {
            const struct placed *c = &v[next[up]];
            if (next[up] == first[up + 1]) {
                up = p->node[up].parent;
                continue;
            }
            next[up]++;
            p->at[c->id] = n;
            to[n++] = (struct tg_tree_node){ p->at[up], c->position, TG_NO_ID };
            up = c->id;
        }
    }
}

size_t tg_tree_split(struct tg_tree_node *v, size_t n, size_t n_rows)
{
    TG_FREE uint32_t *nodes = tg_xcalloc(n_rows + 1, sizeof *nodes);
    uint32_t n_split = 0;
    for (size_t i = TG_ROOTS; i < n; i++)
        nodes[v[i].row]++;
    for (size_t i = TG_ROOTS; i < n; i++)
        if (nodes[v[i].row] > 1)
            v[i].split = n_split++;
    return n_split;
}

void tg_tree_order(struct tg_shard *out, struct tg_placed *p, const uint32_t *position,
                   struct tg_arena *a)
{
    /* The nodes by parent, then row; those of parent k begin at first[k]. */
    TG_FREE size_t *first = tg_xrealloc(NULL, p->n + 2, sizeof *first);
    TG_FREE struct placed *v = tg_xrealloc(NULL, p->n, sizeof *v);
    for (size_t i = TG_ROOTS; i < p->n; i++)
        v[i - TG_ROOTS] =
            (struct placed){ p->node[i].parent, position[p->node[i].row], (uint32_t)i };
    TG_SORT(v, p->n - TG_ROOTS, by_place);
    for (size_t parent = 0, i = 0; parent <= p->n; parent++) {
        while (i < p->n - TG_ROOTS && v[i].parent < parent)
            i++;
        first[parent] = i;
    }
    struct tg_tree_node *node = TG_NEW_N(a, struct tg_tree_node, p->n);
    size_t n = out->n_steps + 1;
    p->at = tg_xrealloc(p->at, p->n, sizeof *p->at);
    put_in_order(p, v, first, node);
    out->tree = (struct tg_tree){ .node = node, .n = p->n, .cut = p->cut };
    out->tree.n_split = tg_tree_split(node, p->n, out->n_rows);
    out->tree.count = TG_NEW_N(a, uint32_t, out->tree.n_split * n);
    out->tree.self = TG_NEW_N(a, tg_ns, out->tree.n_split * n);
}

/* ---- numbers ---- */

const uint32_t *tg_tree_count(const struct tg_shard *s, const struct tg_tree_node *node)
{
    return node->split == TG_NO_ID ? s->rows[node->row].count
                                   : s->tree.count + node->split * (s->n_steps + 1);
}

const tg_ns *tg_tree_self(const struct tg_shard *s, const struct tg_tree_node *node)
{
    return node->split == TG_NO_ID ? s->rows[node->row].self
                                   : s->tree.self + node->split * (s->n_steps + 1);
}

void tg_tree_settle(struct tg_shard *s)
{
    TG_FREE bool *seen = tg_xcalloc(s->n_rows + 1, 1);
    for (size_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        tg_ns *self = s->tree.self + node->split * (s->n_steps + 1);
        for (size_t k = 0; node->split != TG_NO_ID && k <= s->n_steps; k++)
            if (s->rows[node->row].self[k] == INT64_MAX)
                self[k] = seen[node->row] ? 0 : INT64_MAX;
        seen[node->row] = true;
    }
}
