/*
 * HTA's get_frequent_cuda_kernel_sequences: a call tree per host thread by time nesting, device
 * rows below their launches, and only operators at the smallest depth where any of them occurs.
 */
#include <math.h>
#include <stdlib.h>

#include "core/metric/hta.h"
#include "core/metric/parts.h"
#include "core/metric/sequences.h"

#define NOBODY UINT32_MAX

struct node { /* beside each row */
    uint32_t parent;
    int depth; /* 0: top of its thread; -1: in no tree */
};

struct tree {
    const struct tg_hta_rows *r;
    struct node *nodes;
    uint32_t *order; /* host rows by thread, start, longer first, index */
    size_t n;
};

static const struct tg_thread *thread_of(const struct tg_hta_rows *r, const struct tg_hta_row *row)
{
    const struct tg_trace *t = r->trace;
    return &t->threads[t->tracks[tg_span_at(t, row->span)->track].thread];
}

static uint32_t thread_id(const struct tg_hta_rows *r, const struct tg_hta_row *row)
{
    return r->trace->tracks[tg_span_at(r->trace, row->span)->track].thread;
}

static int by_thread_and_start(const void *pa, const void *pb, void *arg)
{
    const struct tg_hta_rows *r = arg;
    const struct tg_hta_row *a = &r->v[*(const uint32_t *)pa], *b = &r->v[*(const uint32_t *)pb];
    uint32_t ta = thread_id(r, a), tb = thread_id(r, b);
    if (ta != tb)
        return ta < tb ? -1 : 1;
    if (a->ts != b->ts)
        return a->ts < b->ts ? -1 : 1;
    if (a->dur != b->dur)
        return a->dur > b->dur ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void collect(struct tree *t, const struct tg_hta_rows *r)
{
    *t = (struct tree){ .r = r };
    t->nodes = tg_xrealloc(NULL, r->n + 1, sizeof *t->nodes);
    t->order = tg_xrealloc(NULL, r->n + 1, sizeof *t->order);
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_thread *where = thread_of(r, &r->v[i]);
        t->nodes[i] = (struct node){ NOBODY, -1 };
        if (r->v[i].stream == -1 && !tg_sv_eq(where->pid, TG_SV("0")) &&
            !tg_sv_eq(where->tid, TG_SV("0")))
            t->order[t->n++] = (uint32_t)i;
    }
    if (t->n)
        qsort_r(t->order, t->n, sizeof *t->order, by_thread_and_start, (void *)(uintptr_t)r);
}

static double end_of(const struct tg_hta_row *row)
{
    return row->ts + row->dur;
}

/* A row lies in the innermost one that has not ended; one without length also at that end. */
static void nest(struct tree *t)
{
    uint32_t *stack = tg_xrealloc(NULL, t->n + 1, sizeof *stack);
    size_t depth = 0;
    for (size_t k = 0; k < t->n; k++) {
        const struct tg_hta_row *row = &t->r->v[t->order[k]];
        if (k && thread_id(t->r, row) != thread_id(t->r, &t->r->v[t->order[k - 1]]))
            depth = 0;
        while (depth) {
            const struct tg_hta_row *top = &t->r->v[stack[depth - 1]];
            if (end_of(top) > row->ts || (end_of(top) == row->ts && row->dur == 0 && top->dur > 0))
                break;
            depth--;
        }
        t->nodes[t->order[k]] = (struct node){ depth ? stack[depth - 1] : NOBODY, (int)depth };
        stack[depth++] = t->order[k];
    }
    free(stack);
}

/* --- the autograd thread ---------------------------------------------------------------------- */

/* The only thread but `except` with a row whose name starts so; NOBODY: none, or several. */
static uint32_t only_thread_with(const struct tree *t, tg_sv prefix, uint32_t except)
{
    uint32_t found = NOBODY;
    for (size_t k = 0; k < t->n; k++) {
        const struct tg_hta_row *row = &t->r->v[t->order[k]];
        uint32_t thread = thread_id(t->r, row);
        if (thread == found || thread == except ||
            !tg_sv_starts(t->r->trace->names->v[row->name].name, prefix))
            continue;
        if (found != NOBODY)
            return NOBODY;
        found = thread;
    }
    return found;
}

/*
 * Rows of the main thread that may hold the backward pass, in start order. Below Python frames
 * (every step deeper than the last) nothing hangs: found by comparison with HTA's tables.
 */
static size_t find_hosts(const struct tree *t, uint32_t thread, tg_sv name, uint32_t *out)
{
    size_t n = 0;
    for (size_t k = 0; k < t->n; k++) {
        const struct tg_hta_row *row = &t->r->v[t->order[k]];
        if (thread_id(t->r, row) == thread && t->nodes[t->order[k]].depth <= 1 &&
            tg_sv_starts(t->r->trace->names->v[row->name].name, name))
            out[n++] = t->order[k];
    }
    return n;
}

/* The tops of the backward thread hang under the row of the main thread they lie in. */
static void hang_backward(struct tree *t)
{
    uint32_t main_thread = only_thread_with(t, TG_SV("ProfilerStep"), NOBODY);
    uint32_t backward =
        only_thread_with(t, TG_SV("autograd::engine::evaluate_function"), main_thread);
    uint32_t *hosts = tg_xrealloc(NULL, t->n + 1, sizeof *hosts);
    size_t n = 0, at = 0;
    if (main_thread != NOBODY && backward != NOBODY) {
        n = find_hosts(t, main_thread, TG_SV("## backward ##"), hosts);
        if (!n)
            n = find_hosts(t, main_thread, TG_SV("ProfilerStep"), hosts);
    }
    for (size_t k = 0; n && k < t->n; k++) {
        uint32_t i = t->order[k];
        const struct tg_hta_row *row = &t->r->v[i];
        struct node *node = &t->nodes[i];
        if (thread_id(t->r, row) != backward)
            continue;
        while (at < n && end_of(&t->r->v[hosts[at]]) < row->ts)
            at++;
        if (node->parent == NOBODY && at < n && t->r->v[hosts[at]].ts <= row->ts)
            node->parent = hosts[at];
        if (node->parent != NOBODY)
            node->depth = t->nodes[node->parent].depth + 1;
    }
    free(hosts);
}

static void hang_device_rows(struct tree *t)
{
    for (size_t i = 0; i < t->r->n; i++) {
        const struct tg_hta_row *launch;
        if (t->r->v[i].stream <= 0 || t->r->v[i].link <= 0)
            continue;
        launch = tg_hta_linked(t->r, &t->r->v[i]);
        if (launch && t->nodes[launch - t->r->v].depth >= 0)
            t->nodes[i] =
                (struct node){ (uint32_t)(launch - t->r->v), t->nodes[launch - t->r->v].depth + 1 };
    }
}

/* --- instances -------------------------------------------------------------------------------- */

struct piece {
    uint32_t root, row;
};

static int by_root_and_start(const void *pa, const void *pb, void *arg)
{
    const struct tg_hta_rows *r = arg;
    const struct piece *a = pa, *b = pb;
    if (a->root != b->root)
        return a->root < b->root ? -1 : 1;
    if (r->v[a->row].ts != r->v[b->row].ts)
        return r->v[a->row].ts < r->v[b->row].ts ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

static tg_sv name_of(const struct tg_hta_rows *r, uint32_t row)
{
    return r->trace->names->v[r->v[row].name].name;
}

static void add_instance(struct tg_sequence_table *table, const struct tg_hta_rows *r,
                         const struct piece *p, size_t n)
{
    struct tg_sequence_at at = { .span = r->v[p[0].root].span };
    tg_sv *names = tg_xrealloc(NULL, n + 1, sizeof *names);
    struct tg_sequence *s;
    double gpu = 0;
    names[0] = name_of(r, p[0].root);
    for (size_t i = 0; i < n; i++) {
        names[i + 1] = name_of(r, p[i].row);
        gpu += r->v[p[i].row].dur;
    }
    s = tg_sequence_table_add(table, names, n + 1, &at);
    s->gpu_us += gpu;
    s->cpu_us += r->v[p[0].root].dur;
    free(names);
}

static int least_depth(const struct tree *t, const bool *matches)
{
    int least = -1;
    for (size_t i = 0; i < t->r->n; i++)
        if (matches[t->r->v[i].name] && t->nodes[i].depth >= 0 &&
            (least < 0 || t->nodes[i].depth < least))
            least = t->nodes[i].depth;
    return least;
}

static void find(struct tg_sequence_table *table, const struct tree *t,
                 const struct tg_analysis_opts *opts)
{
    const struct tg_trace *trace = t->r->trace;
    bool *matches = tg_xrealloc(NULL, trace->names->n + 1, sizeof *matches);
    struct piece *pieces = tg_xrealloc(NULL, t->r->n + 1, sizeof *pieces);
    size_t n = 0;
    int depth;
    for (size_t i = 0; i < trace->names->n; i++)
        matches[i] = tg_sv_has(trace->names->v[i].name, opts->operator_name);
    depth = least_depth(t, matches);
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
    free(pieces);
    free(matches);
}

void tg_hta_sequences(const struct tg_analysis_in *in, struct tg_frames *out)
{
    struct tg_frame *f =
        tg_frames_add(out, "sequences", tg_sequence_hta_columns, TG_SEQUENCE_HTA_COLUMNS);
    struct tg_sequence_table table;
    struct tg_sequences s;
    tg_sequence_table_init(&table);
    for (size_t k = 0; k < in->hta->n; k++) {
        struct tree t;
        collect(&t, &in->hta->ranks[k]);
        nest(&t);
        hang_backward(&t);
        hang_device_rows(&t);
        find(&table, &t, in->opts);
        free(t.nodes);
        free(t.order);
    }
    tg_sequence_table_finish(&table, &s, out->arena);
    tg_sequences_put(f, &s, in->opts->top_default ? TG_SEQUENCES_TOP : in->opts->top, true);
    tg_sequences_release(&s);
}
