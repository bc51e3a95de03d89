/*
 * Frequent sequences of device work. An instance is an operator whose name contains the given text
 * and that is not inside another such operator, at any depth, on any thread; its sequence is the
 * device work launched inside it, by start. Stream 0, graphs and copies count.
 */
#include "core/analysis/sequences.h"

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/base/sort.h"

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

static uint32_t owner_of(const struct tg_rank_trace *r, const uint32_t *owner, uint32_t span)
{
    uint32_t launch = r->steps->launch[span], up = r->steps->parent[span];
    if (launch != TG_NO_SPAN && owner[launch] != TG_NO_SPAN)
        return owner[launch];
    return up == TG_NO_SPAN ? TG_NO_SPAN : owner[up];
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

static void one_rank(struct tg_sequence_table *table, const struct tg_analysis_in *in, size_t rank)
{
    const struct tg_rank_work *w = &in->work[rank];
    TG_FREE uint32_t *owner = find_owners(w->rank, in->opts->operator_name);
    TG_FREE struct piece *pieces = tg_xrealloc(NULL, w->n + 1, sizeof *pieces);
    size_t n = 0;
    for (size_t i = 0; i < w->n; i++) {
        uint32_t o = owner_of(w->rank, owner, w->v[i].span);
        if (o != TG_NO_SPAN)
            pieces[n++] = (struct piece){ o, i };
    }
    TG_SORT(pieces, n, by_owner);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && pieces[k].owner == pieces[i].owner;)
            k++;
        if (k - i >= in->opts->min_length)
            add_instance(table, w, rank, pieces + i, k - i);
    }
}

void tg_sequences_find(struct tg_sequences *out, const struct tg_analysis_in *in,
                       struct tg_arena *a)
{
    struct tg_sequence_table table;
    tg_sequence_table_init(&table);
    for (size_t r = 0; r < in->n; r++)
        one_rank(&table, in, r);
    tg_sequence_table_finish(&table, out, a);
}

static tg_sv why_nothing(const struct tg_analysis_in *in, struct tg_arena *a)
{
    size_t work = 0;
    for (size_t r = 0; r < in->n; r++)
        work += in->work[r].n;
    if (!work)
        return tg_work_reason(&in->work[0], in->opts);
    return TG_SV_PRINTF(a, "no operator '%.*s' with %zu pieces of device work or more",
                        TG_SV_ARG(in->opts->operator_name), in->opts->min_length);
}

void tg_sequences(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct tg_table *f = tg_tables_add(out, "sequences", tg_sequence_columns, TG_SEQUENCE_COLUMNS);
    TG_AUTO(tg_sequences_release) struct tg_sequences s;
    tg_sequences_find(&s, in, out->arena);
    tg_sequences_put(f, &s, in->opts->top_default ? TG_SEQUENCES_TOP : in->opts->top,
                     TG_SEQUENCE_EXACT);
    if (!s.n)
        tg_table_row(f)[TG_SEQUENCE_COLUMNS - 1] = tg_table_text(why_nothing(in, out->arena));
}
