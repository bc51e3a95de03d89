/*
 * HTA's get_frequent_cuda_kernel_sequences: a call tree per host thread by time nesting, device
 * rows below their launches, and only operators at the smallest depth at which any of them occurs.
 */
#include <stdlib.h>

#include "core/analysis/sequences.h"
#include "core/base/sort.h"
#include "core/hta/hta.h"

#define NOBODY UINT32_MAX

struct node { /* beside each row */
    uint32_t parent;
    int depth; /* 0: top of its thread; -1: not in a tree */
};

struct tree {
    const struct tg_hta_rows *r;
    struct node *nodes;
    uint32_t *order; /* host rows by thread, start, longer first, index */
    size_t n;
};

static uint32_t thread_id(const struct tg_hta_rows *r, const struct tg_hta_row *row)
{
    return r->trace->tracks[tg_span_at(r->trace, row->span)->track].thread;
}

static tg_sv name_of(const struct tg_hta_rows *r, uint32_t row)
{
    return r->trace->names->v[r->v[row].name].name;
}

static int by_thread_and_start(const void *pa, const void *pb, void *arg)
{
    const struct tg_hta_rows *r = arg;
    const struct tg_hta_row *a = &r->v[*(const uint32_t *)pa], *b = &r->v[*(const uint32_t *)pb];
    uint32_t ta = thread_id(r, a), tb = thread_id(r, b);
    int c = TG_CMP(ta, tb);
    c = c ? c : TG_CMP(a->ts, b->ts);
    c = c ? c : TG_CMP(b->dur, a->dur);
    return c ? c : TG_CMP(a->index, b->index);
}

static double end_of(const struct tg_hta_row *row)
{
    return row->ts + row->dur;
}

/* ---- nesting ---- */

/* One end of a row. */
struct end {
    double at, dur;
    uint32_t row, index;
    bool closes;
};

/* HTA's order of two ends at one time of which at least one belongs to a row without length. */
static bool before_at_zero(const struct end *x, const struct end *y)
{
    if (x->dur == 0 && y->dur > 0)
        return y->closes;
    if (x->dur > 0 && y->dur == 0)
        return !x->closes;
    if (x->closes != y->closes)
        return !x->closes;
    return x->closes ? x->index > y->index : x->index < y->index;
}

/*
 * HTA's order, which is not a total order: if A closes and B opens at t, and Z has no length there,
 * then Z comes before A's end, A's end before B's start, and B's start before Z. The result depends
 * on the sort; HTA's is Python's, and merge_ends behaves like it in everything that matters.
 */
static bool before(const struct end *x, const struct end *y)
{
    if (x->at != y->at)
        return x->at < y->at;
    if (x->row == y->row)
        return !x->closes;
    if (x->dur == 0 || y->dur == 0)
        return before_at_zero(x, y);
    if (x->closes != y->closes)
        return x->closes;
    if (x->dur != y->dur)
        return (x->dur > y->dur) != x->closes;
    return x->closes ? x->index > y->index : x->index < y->index;
}

#define RUN 64 /* below this, Python's sort is a binary insertion after the first run */

/* The sorted beginning; a descending one is reversed first. */
static size_t first_run(struct end *v, size_t n)
{
    size_t run = 1;
    bool falls = n > 1 && before(&v[1], &v[0]);
    while (run < n && before(&v[run], &v[run - 1]) == falls)
        run++;
    for (size_t i = 0, k = run; falls && i + 1 < k; i++) {
        struct end e = v[i];
        v[i] = v[--k];
        v[k] = e;
    }
    return run;
}

static void insert_ends(struct end *v, size_t n)
{
    for (size_t i = first_run(v, n); i < n; i++) {
        struct end e = v[i];
        size_t at;
        TG_SEARCH(at, i, !before(&e, &v[at]));
        memmove(v + at + 1, v + at, (i - at) * sizeof *v);
        v[at] = e;
    }
}

/* Stable, n log n, and the same on every platform even for an order that is not total. */
static void merge_ends(struct end *v, size_t n)
{
    TG_FREE struct end *other = NULL;
    size_t half = n / 2, i = 0, k = half, out = 0;
    if (n <= RUN) {
        insert_ends(v, n);
        return;
    }
    merge_ends(v, half);
    merge_ends(v + half, n - half);
    other = tg_xrealloc(NULL, half, sizeof *other);
    memcpy(other, v, half * sizeof *other);
    while (i < half)
        v[out++] = k < n && before(&v[k], &other[i]) ? v[k++] : other[i++];
}

static int by_end_time(const void *pa, const void *pb)
{
    const struct end *a = pa, *b = pb;
    int c = TG_CMP(a->at, b->at);
    c = c ? c : TG_CMP(a->closes, b->closes);
    return c ? c : TG_CMP(a->row, b->row);
}

/* Opens push; closes pop whatever is on top. If the order above is inconsistent, a close may
 * meet an empty stack; one row then stays open, and everything after it is one level deeper. */
static void nest_thread(struct tree *t, uint32_t *rows, size_t n)
{
    TG_FREE struct end *ends = tg_xrealloc(NULL, 2 * n, sizeof *ends);
    TG_FREE uint32_t *stack = tg_xrealloc(NULL, n, sizeof *stack);
    size_t depth = 0, out = 0;
    for (size_t k = 0; k < n; k++) {
        const struct tg_hta_row *r = &t->r->v[rows[k]];
        ends[k] = (struct end){ r->ts, r->dur, rows[k], r->index, false };
        ends[n + k] = (struct end){ end_of(r), r->dur, rows[k], r->index, true };
    }
    TG_SORT(ends, 2 * n, by_end_time);
    for (size_t i = 0, k; i < 2 * n; i = k) {
        for (k = i + 1; k < 2 * n && ends[k].at == ends[i].at;)
            k++;
        merge_ends(ends + i, k - i);
    }
    for (size_t i = 0; i < 2 * n; i++) {
        if (ends[i].closes) {
            depth -= depth > 0;
            continue;
        }
        t->nodes[ends[i].row] = (struct node){ depth ? stack[depth - 1] : NOBODY, 0 };
        if (depth)
            t->nodes[ends[i].row].depth = t->nodes[stack[depth - 1]].depth + 1;
        stack[depth++] = ends[i].row;
        rows[out++] = ends[i].row;
    }
}

/* ---- the autograd thread ---- */

/* The only thread other than `except` that has a row of this name; NOBODY: none, or several. */
static uint32_t only_thread_with(const struct tree *t, bool (*is)(tg_sv name, tg_sv text),
                                 tg_sv text, uint32_t except)
{
    uint32_t found = NOBODY;
    for (size_t k = 0; k < t->n; k++) {
        const struct tg_hta_row *row = &t->r->v[t->order[k]];
        uint32_t thread = thread_id(t->r, row);
        if (thread == found || thread == except || !is(name_of(t->r, t->order[k]), text))
            continue;
        if (found != NOBODY)
            return NOBODY;
        found = thread;
    }
    return found;
}

/* Rows of the main thread that may contain the backward pass, in file order. */
static size_t find_hosts(const struct tree *t, uint32_t thread, tg_sv name, uint32_t *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < t->r->n; i++)
        if (t->nodes[i].depth >= 0 && thread_id(t->r, &t->r->v[i]) == thread &&
            tg_sv_starts(name_of(t->r, i), name))
            out[n++] = i;
    return n;
}

/* The top rows of the backward thread become children of the first row of the main thread that
 * contains them. */
static void attach_backward(struct tree *t)
{
    uint32_t main_thread = only_thread_with(t, tg_sv_starts, TG_SV("ProfilerStep#"), NOBODY);
    uint32_t backward = only_thread_with(t, tg_sv_has, TG_SV("autograd::"), main_thread);
    TG_FREE uint32_t *hosts = tg_xrealloc(NULL, t->r->n + 1, sizeof *hosts);
    size_t n = 0;
    if (main_thread != NOBODY && backward != NOBODY) {
        n = find_hosts(t, main_thread, TG_SV("## backward ##"), hosts);
        if (!n)
            n = find_hosts(t, main_thread, TG_SV("ProfilerStep#"), hosts);
    }
    for (size_t k = 0; n && k < t->n; k++) {
        struct node *node = &t->nodes[t->order[k]];
        const struct tg_hta_row *row = &t->r->v[t->order[k]];
        if (thread_id(t->r, row) != backward)
            continue;
        for (size_t i = 0; i < n && node->parent == NOBODY; i++)
            if (t->r->v[hosts[i]].ts <= row->ts && end_of(row) <= end_of(&t->r->v[hosts[i]]))
                node->parent = hosts[i];
        if (node->parent != NOBODY)
            node->depth = t->nodes[node->parent].depth + 1;
    }
}

/* ---- instances ---- */

struct piece {
    uint32_t root, row;
};

static int by_root_and_start(const void *pa, const void *pb, void *arg)
{
    const struct tg_hta_rows *r = arg;
    const struct piece *a = pa, *b = pb;
    int c = TG_CMP(a->root, b->root);
    c = c ? c : TG_CMP(r->v[a->row].ts, r->v[b->row].ts);
    return c ? c : TG_CMP(a->row, b->row);
}

static void add_instance(struct tg_sequence_table *table, const struct tg_hta_rows *r,
                         const struct piece *p, size_t n)
{
    struct tg_sequence_at at = { .span = r->v[p[0].root].span };
    TG_FREE tg_sv *names = tg_xrealloc(NULL, n + 1, sizeof *names);
    double gpu = 0;
    names[0] = name_of(r, p[0].root);
    for (size_t i = 0; i < n; i++) {
        names[i + 1] = name_of(r, p[i].row);
        gpu += r->v[p[i].row].dur;
    }
    struct tg_sequence *s = tg_sequence_table_add(table, names, n + 1, &at);
    s->gpu_us += gpu;
    s->cpu_us += r->v[p[0].root].dur;
}

static void find(struct tg_sequence_table *table, const struct tree *t,
                 const struct tg_analysis_opts *opts)
{
    const struct tg_trace *trace = t->r->trace;
    TG_FREE bool *matches = tg_xrealloc(NULL, trace->names->n + 1, sizeof *matches);
    TG_FREE struct piece *pieces = tg_xrealloc(NULL, t->r->n + 1, sizeof *pieces);
    size_t n = 0;
    for (size_t i = 0; i < trace->names->n; i++)
        matches[i] = tg_sv_has(trace->names->v[i].name, opts->operator_name);
    int depth = -1; /* the least of those that match */
    for (size_t i = 0; i < t->r->n; i++)
        if (matches[t->r->v[i].name] && t->nodes[i].depth >= 0 &&
            (depth < 0 || t->nodes[i].depth < depth))
            depth = t->nodes[i].depth;
    for (uint32_t i = 0; depth >= 0 && i < t->r->n; i++) {
        uint32_t up = i;
        if (t->r->v[i].stream == -1 || t->nodes[i].depth < 0)
            continue;
        while (up != NOBODY && t->nodes[up].depth > depth)
            up = t->nodes[up].parent;
        if (up != NOBODY && up != i && matches[t->r->v[up].name])
            pieces[n++] = (struct piece){ up, i };
    }
    if (n)
        qsort_r(pieces, n, sizeof *pieces, by_root_and_start, (void *)(uintptr_t)t->r);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && pieces[k].root == pieces[i].root;)
            k++;
        if (k - i >= opts->min_length)
            add_instance(table, t->r, pieces + i, k - i);
    }
}

void tg_hta_sequences(const struct tg_hta *in, struct tg_tables *out)
{
    struct tg_table *f =
        tg_tables_add(out, "sequences", tg_sequence_hta_columns, TG_SEQUENCE_HTA_COLUMNS);
    struct tg_sequence_table table = { 0 };
    TG_AUTO(tg_sequences_release) struct tg_sequences s;
    for (size_t k = 0; k < in->n; k++) {
        const struct tg_hta_rows *r = &in->ranks[k];
        struct tree t = { .r = r };
        t.nodes = tg_xrealloc(NULL, r->n + 1, sizeof *t.nodes);
        t.order = tg_xrealloc(NULL, r->n + 1, sizeof *t.order);
        for (size_t i = 0; i < r->n; i++) {
            const struct tg_thread *where = &r->trace->threads[thread_id(r, &r->v[i])];
            t.nodes[i] = (struct node){ NOBODY, -1 };
            if (r->v[i].stream == -1 && !tg_sv_eq(where->pid, TG_SV("0")) &&
                !tg_sv_eq(where->tid, TG_SV("0")))
                t.order[t.n++] = (uint32_t)i;
        }
        if (t.n)
            qsort_r(t.order, t.n, sizeof *t.order, by_thread_and_start, (void *)(uintptr_t)r);
        /* Leaves `order` such that parents come before their children. */
        for (size_t i = 0, next; i < t.n; i = next) {
            for (next = i + 1; next < t.n && thread_id(t.r, &t.r->v[t.order[next]]) ==
                                                 thread_id(t.r, &t.r->v[t.order[i]]);)
                next++;
            nest_thread(&t, t.order + i, next - i);
        }
        attach_backward(&t);
        for (size_t i = 0; i < r->n; i++) {
            const struct tg_hta_row *launch =
                r->v[i].stream > 0 && r->v[i].link > 0 ? tg_hta_linked(r, &r->v[i]) : NULL;
            if (launch && t.nodes[launch - r->v].depth >= 0)
                t.nodes[i] =
                    (struct node){ (uint32_t)(launch - r->v), t.nodes[launch - r->v].depth + 1 };
        }
        find(&table, &t, in->opts);
        free(t.nodes);
        free(t.order);
    }
    tg_sequence_table_finish(&table, &s, out->arena);
    tg_sequences_put(f, &s, in->opts->top_default ? TG_SEQUENCES_TOP : in->opts->top,
                     TG_SEQUENCE_HTA);
}
