/*
 * Frequent sequences of device work. An instance is an operator whose name contains the given text
 * and that is not inside another such operator, at any depth, on any thread; its sequence is the
 * device work launched inside it, by start. Stream 0, graphs and copies count.
 */
#include "core/analysis/sequences.h"

#include <stdlib.h>

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/base/buf.h"
#include "core/base/sort.h"

/* ---- the table of both definitions ---- */

enum { PATTERN, COUNT, GPU, CPU, LENGTH, REASON };
const struct tg_table_column tg_sequence_columns[TG_SEQUENCE_COLUMNS] = {
    { "pattern", TG_TABLE_TEXT },
    { "count", TG_TABLE_INT },
    { "GPU kernel duration (us)", TG_TABLE_US },
    { "CPU op duration (us)", TG_TABLE_US },
    { "length", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};
const struct tg_table_column tg_sequence_hta_columns[TG_SEQUENCE_HTA_COLUMNS] = {
    { "pattern", TG_TABLE_TEXT },
    { "count", TG_TABLE_INT },
    { "GPU kernel duration (us)", TG_TABLE_REAL_US },
    { "CPU op duration (us)", TG_TABLE_REAL_US },
};

struct tg_sequence *tg_sequence_table_add(struct tg_sequence_table *t, const tg_sv *names, size_t n,
                                          const struct tg_sequence_at *at)
{
    size_t known = t->keys.n;
    t->ids = tg_grow(t->ids, &t->ids_cap, n, sizeof *t->ids);
    for (size_t i = 0; i < n; i++)
        t->ids[i] = tg_strmap_add(&t->names, names[i]);
    uint32_t id = tg_strmap_add(&t->keys, (tg_sv){ (const char *)t->ids, n * sizeof *t->ids });
    t->out.v = tg_grow(t->out.v, &t->cap, t->keys.n, sizeof *t->out.v);
    if (t->keys.n > known)
        t->out.v[id] = (struct tg_sequence){ .length = n - 1 };
    t->out.v[id].count++;
    struct tg_sequence_at *mine = TG_PUSH(t->out.at, t->out.n_at, t->at_cap);
    *mine = *at;
    mine->sequence = id;
    return &t->out.v[id];
}

static tg_sv pattern_of(const struct tg_sequence_table *t, uint32_t id, struct tg_buf *text,
                        struct tg_arena *a)
{
    tg_buf_clear(text);
    for (size_t i = 0; i < t->keys.text[id].n / sizeof(uint32_t); i++) {
        uint32_t name;
        memcpy(&name, t->keys.text[id].p + i * sizeof name, sizeof name);
        if (i)
            tg_buf_putc(text, '|');
        tg_buf_add(text, t->names.text[name]);
    }
    return tg_arena_sv(a, tg_buf_sv(text));
}

static int by_count(const void *pa, const void *pb, void *arg)
{
    const struct tg_sequence *v = arg;
    const struct tg_sequence *a = &v[*(const uint32_t *)pa], *b = &v[*(const uint32_t *)pb];
    int c = TG_CMP(b->count, a->count);
    return c ? c : tg_sv_cmp(a->pattern, b->pattern);
}

void tg_sequence_table_finish(struct tg_sequence_table *t, struct tg_sequences *out,
                              struct tg_arena *a)
{
    size_t n = t->keys.n;
    TG_FREE uint32_t *order = tg_xrealloc(NULL, n + 1, sizeof *order);
    TG_FREE uint32_t *place = tg_xrealloc(NULL, n + 1, sizeof *place);
    TG_BUF text = { 0 };
    *out = t->out;
    out->n = n;
    out->v = tg_xrealloc(NULL, n + 1, sizeof *out->v);
    for (uint32_t i = 0; i < n; i++) {
        t->out.v[i].pattern = pattern_of(t, i, &text, a);
        order[i] = i;
    }
    if (n)
        qsort_r(order, n, sizeof *order, by_count, t->out.v);
    for (uint32_t i = 0; i < n; i++) {
        out->v[i] = t->out.v[order[i]];
        place[order[i]] = i;
    }
    for (size_t i = 0; i < out->n_at; i++)
        out->at[i].sequence = place[out->at[i].sequence];
    free(t->out.v);
    free(t->ids);
    tg_strmap_release(&t->keys);
    tg_strmap_release(&t->names);
}

void tg_sequences_release(struct tg_sequences *s)
{
    free(s->v);
    free(s->at);
    *s = (struct tg_sequences){ 0 };
}

void tg_sequences_put(struct tg_table *f, const struct tg_sequences *s, size_t top,
                      enum tg_sequence_form form)
{
    bool hta = form == TG_SEQUENCE_HTA;
    for (size_t i = 0; i < s->n && (!top || i < top); i++) {
        struct tg_table_cell *row = tg_table_row(f);
        row[PATTERN] = tg_table_text(s->v[i].pattern);
        row[COUNT] = tg_table_int((int64_t)s->v[i].count);
        row[GPU] = hta ? tg_table_real(s->v[i].gpu_us) : tg_table_int(s->v[i].gpu);
        row[CPU] = hta ? tg_table_real(s->v[i].cpu_us) : tg_table_int(s->v[i].cpu);
        if (!hta)
            row[LENGTH] = tg_table_int((int64_t)s->v[i].length);
    }
}

/* ---- the default definition ---- */

/* Per span: the outermost matching operator around it, or TG_NO_SPAN. Parents come first. */
static uint32_t *find_owners(const struct tg_rank_trace *r, tg_sv text)
{
    const struct tg_trace *t = r->trace;
    uint32_t *owner = tg_xrealloc(NULL, t->n_spans + 1, sizeof *owner);
    TG_FREE bool *matches = tg_xrealloc(NULL, t->names->n + 1, sizeof *matches);
    for (size_t i = 0; i < t->names->n; i++)
        matches[i] = tg_kind_nests(t->names->v[i].kind) && tg_sv_has(t->names->v[i].name, text);
    for (size_t i = 0; i < t->n_spans; i++)
        owner[i] = TG_NO_SPAN;
    for (size_t k = 0; k < t->n_spans; k++) {
        uint32_t i = r->steps->order[k], up = r->steps->parent[i];
        const struct tg_span *s = tg_span_at(t, i);
        if (tg_kind_is_device(tg_span_kind(t, s)))
            continue;
        if (up != TG_NO_SPAN && owner[up] != TG_NO_SPAN)
            owner[i] = owner[up];
        else if (matches[s->name])
            owner[i] = i;
    }
    return owner;
}

/* A piece of work and the operator it belongs to. */
struct piece {
    uint32_t owner;
    size_t row;
};

static int by_owner(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    int c = TG_CMP(a->owner, b->owner);
    return c ? c : TG_CMP(a->row, b->row);
}

static void add_instance(struct tg_sequence_table *table, const struct tg_rank_work *w, size_t rank,
                         const struct piece *p, size_t n)
{
    const struct tg_trace *t = w->rank->trace;
    const struct tg_span *op = tg_span_at(t, p[0].owner);
    struct tg_sequence_at at = { .rank = rank, .span = p[0].owner };
    TG_FREE tg_sv *names = tg_xrealloc(NULL, n + 1, sizeof *names);
    tg_ns gpu = 0;
    names[0] = tg_span_name(t, op)->name;
    at.start = w->v[p[0].row].start;
    at.end = at.start;
    for (size_t i = 0; i < n; i++) {
        const struct tg_work_row *r = &w->v[p[i].row];
        names[i + 1] = tg_span_name(t, tg_span_at(t, r->span))->name;
        gpu = tg_ns_add(gpu, tg_ns_sub(r->end, r->start));
        at.end = r->end > at.end ? r->end : at.end;
    }
    struct tg_sequence *s = tg_sequence_table_add(table, names, n + 1, &at);
    s->gpu = tg_ns_add(s->gpu, gpu);
    s->cpu = tg_ns_add(s->cpu, op->dur > 0 ? op->dur : 0);
}

void tg_sequences_find(struct tg_sequences *out, const struct tg_analysis_in *in,
                       struct tg_arena *a)
{
    struct tg_sequence_table table = { 0 };
    for (size_t rank = 0; rank < in->n; rank++) {
        const struct tg_rank_work *w = &in->work[rank];
        const struct tg_steps *s = w->rank->steps;
        TG_FREE uint32_t *owner = find_owners(w->rank, in->opts->operator_name);
        TG_FREE struct piece *pieces = tg_xrealloc(NULL, w->n + 1, sizeof *pieces);
        size_t n = 0;
        for (size_t i = 0; i < w->n; i++) {
            uint32_t launch = s->launch[w->v[i].span], up = s->parent[w->v[i].span];
            if (launch == TG_NO_SPAN || owner[launch] == TG_NO_SPAN)
                launch = up;
            if (launch != TG_NO_SPAN && owner[launch] != TG_NO_SPAN)
                pieces[n++] = (struct piece){ owner[launch], i };
        }
        TG_SORT(pieces, n, by_owner);
        for (size_t i = 0, k; i < n; i = k) {
            for (k = i + 1; k < n && pieces[k].owner == pieces[i].owner;)
                k++;
            if (k - i >= in->opts->min_length)
                add_instance(&table, w, rank, pieces + i, k - i);
        }
    }
    tg_sequence_table_finish(&table, out, a);
}

void tg_sequences(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = tg_tables_add(out, "sequences", tg_sequence_columns, TG_SEQUENCE_COLUMNS);
    TG_AUTO(tg_sequences_release) struct tg_sequences s;
    tg_sequences_find(&s, in, out->arena);
    tg_sequences_put(f, &s, in->opts->top_default ? TG_SEQUENCES_TOP : in->opts->top,
                     TG_SEQUENCE_EXACT);
    size_t work = 0;
    for (size_t r = 0; r < in->n; r++)
        work += in->work[r].n;
    if (!s.n)
        tg_table_row(f)[TG_SEQUENCE_COLUMNS - 1] = tg_table_text(
            work ? TG_SV_PRINTF(out->arena,
                                "no operator '%.*s' with %zu pieces of device work or more",
                                TG_SV_ARG(in->opts->operator_name), in->opts->min_length)
                 : tg_work_reason(&in->work[0], in->opts));
}
