/*
 * Who waits for whom. A collective ends on all its ranks at about the same time, so the rank with
 * the shortest duration came last, and the others waited for as long as theirs took longer:
 *
 *     wait of rank r in collective c = d(r, c) - min over ranks of d(., c)
 *
 * Durations only: the clocks of ranks need not agree. How collectives are matched over ranks:
 * core/metric/collective.h. A collective that some ranks lack is skipped and counted.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/analysis/analysis.h"
#include "core/analysis/device.h"
#include "core/base/buf.h"
#include "core/base/sort.h"
#include "core/metric/collective.h"

static const struct tg_table_column columns[] = {
    { "rank", TG_TABLE_INT },         { "collectives", TG_TABLE_INT },
    { "comm_time(us)", TG_TABLE_US }, { "transfer_time(us)", TG_TABLE_US },
    { "wait_time(us)", TG_TABLE_US }, { "wait_pctg", TG_TABLE_REAL },
    { "arrived_last", TG_TABLE_INT }, { "caused_wait(us)", TG_TABLE_US },
    { "unmatched", TG_TABLE_INT },    { "reason", TG_TABLE_TEXT },
};
static const struct tg_table_column summary_columns[] = {
    { "collectives", TG_TABLE_INT },  { "ranks", TG_TABLE_INT },
    { "wait_time(us)", TG_TABLE_US }, { "skew_mean(us)", TG_TABLE_REAL_US },
    { "skew_max(us)", TG_TABLE_US },  { "skew_pctg", TG_TABLE_REAL },
    { "slowest_rank", TG_TABLE_INT },
};
static const struct tg_table_column name_columns[] = {
    { "name", TG_TABLE_TEXT },
    { "group", TG_TABLE_TEXT },
    { "count", TG_TABLE_INT },
    { "ranks", TG_TABLE_INT },
    { "skew_mean(us)", TG_TABLE_REAL_US },
    { "skew_max(us)", TG_TABLE_US },
    { "slowest_rank", TG_TABLE_INT },
};

struct lane { /* what one rank has of one collective, over all its instances */
    tg_ns comm, wait, caused;
    int64_t n, last, unmatched;
};

struct tally { /* over collectives */
    int64_t n, ranks;
    tg_ns wait, skew_sum, skew_max, longest_sum;
    tg_ns *caused; /* per rank */
};

struct job {
    const struct tg_analysis_in *in;
    struct tg_strmap names; /* of the table: name, NUL, group */
    struct tg_strmap keys;  /* of what is matched: name id, encloser, stream */
    uint32_t *name_of;      /* per key */
    size_t names_cap;
    struct tg_collective *v;
    size_t n, cap;
    struct tg_collective_numbers numbers; /* per name id */
    struct lane *lanes;                   /* per rank */
    struct tally all, *each;              /* each: per name */
};

/* The operator or annotation around the launch, named as summaries do. */
static tg_sv encloser(const struct tg_trace *t, const struct tg_steps *steps, uint32_t span)
{
    uint32_t p = steps->parent[span];
    if (p == TG_NO_SPAN)
        return TG_SV("");
    return tg_span_kind(t, tg_span_at(t, p)) == TG_KIND_STEP
               ? TG_SV("ProfilerStep")
               : tg_span_name(t, tg_span_at(t, p))->name;
}

/* A collective of one rank before it has its key: streams are numbered when all are known. */
struct found {
    uint32_t what;   /* id of (name id, encloser) */
    uint32_t stream; /* lane */
    uint32_t name, row;
    struct tg_collective_id id;
};

static int by_stream(const void *pa, const void *pb)
{
    const struct found *a = pa, *b = pb;
    int c = TG_CMP(a->what, b->what);
    c = c ? c : TG_CMP(a->stream, b->stream);
    return c ? c : TG_CMP(a->row, b->row);
}

static struct found *find_collectives(struct job *j, uint32_t rank, size_t *n)
{
    const struct tg_rank_work *w = &j->in->work[rank];
    const struct tg_trace *t = w->rank->trace;
    const struct tg_steps *steps = w->rank->steps;
    struct found *v = tg_xrealloc(NULL, w->n + 1, sizeof *v);
    TG_BUF text = { 0 };
    TG_AUTO(tg_strmap_release) struct tg_strmap what = { 0 };
    *n = 0;
    for (size_t i = 0; i < w->n; i++) {
        const struct tg_span *s = tg_span_at(t, w->v[i].span);
        if (w->v[i].class_ != TG_CLASS_COMM)
            continue;
        tg_buf_clear(&text);
        tg_buf_add(&text, tg_span_name(t, s)->name);
        tg_buf_putc(&text, '\0');
        tg_buf_add(&text, tg_sv_unquoted(tg_sv_value(tg_span_attrs(t, s), TG_SV("group"))));
        uint32_t name = tg_strmap_add(&j->names, tg_buf_sv(&text));
        tg_buf_clear(&text);
        tg_buf_printf(&text, "%u ", name);
        tg_buf_add(&text, encloser(t, steps, w->v[i].span));
        v[*n] =
            (struct found){ tg_strmap_add(&what, tg_buf_sv(&text)), steps->lanes.stream[s->track],
                            name, (uint32_t)i, tg_collective_id_of(tg_span_attrs(t, s)) };
        tg_collective_numbers_see(&j->numbers, name, rank, v[(*n)++].id.op);
    }
    TG_SORT(v, *n, by_stream);
    return v;
}

static uint32_t key_of(struct job *j, const struct found *f, size_t nth_stream, tg_sv around)
{
    TG_BUF text = { 0 };
    size_t known = j->keys.n;
    if (f->id.op) {
        tg_buf_printf(&text, "%u #%" PRIx32, f->name, f->id.group);
    } else {
        tg_buf_printf(&text, "%u %zu ", f->name, nth_stream);
        tg_buf_add(&text, around);
    }
    uint32_t key = tg_strmap_add(&j->keys, tg_buf_sv(&text));
    if (key == known) {
        j->name_of = tg_grow(j->name_of, &j->names_cap, known + 1, sizeof *j->name_of);
        j->name_of[key] = f->name;
    }
    return key;
}

/* Device rows are in time order, and so are those of one stream. */
static void collect_rank(struct job *j, uint32_t rank, struct found *v, size_t n)
{
    const struct tg_rank_work *w = &j->in->work[rank];
    const struct tg_steps *steps = w->rank->steps;
    TG_AUTO(tg_collective_counter_release) struct tg_collective_counter counter;
    const struct found *last = NULL; /* the last one that is matched by order */
    tg_collective_counter_init(&counter);
    for (size_t i = 0, stream = 0; i < n; i++) {
        const struct tg_work_row *row = &w->v[v[i].row];
        int32_t step = steps->step_of[row->span];
        struct tg_collective p = { .rank = rank, .dur = tg_ns_sub(row->end, row->start) };
        if (!tg_collective_numbers_all(&j->numbers, v[i].name))
            v[i].id.op = 0;
        p.op = v[i].id.op;
        if (!p.op) {
            bool same = last && v[i].what == last->what;
            stream = same ? stream + (v[i].stream != last->stream) : 0;
            last = &v[i];
        }
        p.key = key_of(j, &v[i], stream, encloser(w->rank->trace, steps, row->span));
        p.step = steps->marked && step >= 0 ? steps->v[step].number : -1;
        tg_collective_count(&counter, &p);
        *TG_PUSH(j->v, j->n, j->cap) = p;
    }
}

/* ---- one collective, all ranks ---- */

struct waits {
    tg_ns least, longest, waited; /* durations; waited: summed over ranks */
    uint32_t last;                /* the rank that came last; TG_NO_ID: several at the same time */
};

static struct waits waits_of(const struct tg_collective *p, size_t n)
{
    struct waits w = { p[0].dur, p[0].dur, 0, p[0].rank };
    for (size_t i = 1; i < n; i++) {
        w.longest = p[i].dur > w.longest ? p[i].dur : w.longest;
        if (p[i].dur == w.least)
            w.last = TG_NO_ID;
        if (p[i].dur < w.least) {
            w.least = p[i].dur;
            w.last = p[i].rank;
        }
    }
    for (size_t i = 0; i < n; i++)
        w.waited = tg_ns_add(w.waited, tg_ns_sub(p[i].dur, w.least));
    return w;
}

static void tally_init(struct tally *t, size_t ranks)
{
    *t = (struct tally){ .caused = tg_xcalloc(ranks + 1, sizeof *t->caused) };
}

static void tally_add(struct tally *t, const struct waits *w, size_t n)
{
    tg_ns skew = tg_ns_sub(w->longest, w->least);
    t->n++;
    t->ranks = (int64_t)n > t->ranks ? (int64_t)n : t->ranks;
    t->wait = tg_ns_add(t->wait, w->waited);
    t->skew_sum = tg_ns_add(t->skew_sum, skew);
    t->skew_max = skew > t->skew_max ? skew : t->skew_max;
    t->longest_sum = tg_ns_add(t->longest_sum, w->longest);
    if (w->last != TG_NO_ID)
        t->caused[w->last] = tg_ns_add(t->caused[w->last], w->waited);
}

/* The rank that made the others wait longest; unknown if nobody waited. */
static struct tg_table_cell slowest(const struct job *j, const struct tally *t)
{
    size_t most = 0;
    for (size_t r = 1; r < j->in->n; r++)
        most = t->caused[r] > t->caused[most] ? r : most;
    return t->caused[most] ? tg_table_int(j->in->ranks[most].rank) : TG_TABLE_UNKNOWN;
}

static struct tg_table_cell skew_mean(const struct tally *t)
{
    return tg_table_real((double)t->skew_sum / (double)t->n / 1000);
}

static void add_collective(void *arg, const struct tg_collective *p, size_t n, bool whole)
{
    struct job *j = arg;
    for (size_t i = 0; !whole && i < n; i++)
        j->lanes[p[i].rank].unmatched++;
    if (!whole)
        return;
    struct waits w = waits_of(p, n);
    tally_add(&j->all, &w, n);
    tally_add(&j->each[j->name_of[p->key]], &w, n);
    for (size_t i = 0; i < n; i++) {
        struct lane *l = &j->lanes[p[i].rank];
        l->n++;
        l->comm = tg_ns_add(l->comm, p[i].dur);
        l->wait = tg_ns_add(l->wait, tg_ns_sub(p[i].dur, w.least));
        if (p[i].rank == w.last) {
            l->last++;
            l->caused = tg_ns_add(l->caused, w.waited);
        }
    }
}

/* ---- tables ---- */

static tg_sv reason(const struct job *j, size_t r)
{
    if (!j->in->work[r].n)
        return tg_work_reason(&j->in->work[r], j->in->opts);
    if (!j->lanes[r].unmatched)
        return TG_SV("no communication");
    return j->in->n < 2 ? TG_SV("one rank alone: give the traces of all ranks")
                        : TG_SV("no collective that the other ranks have too");
}

void tg_skew(const struct tg_analysis_in *in, struct tg_tables *out)
{
    struct job j = { .in = in, .lanes = tg_xcalloc(in->n + 1, sizeof *j.lanes) };
    size_t first = out->n;
    TG_TABLES_ADD(out, "skew", columns);
    TG_TABLES_ADD(out, "skew-summary", summary_columns);
    TG_TABLES_ADD(out, "skew-collectives", name_columns);
    tally_init(&j.all, in->n);
    /* All ranks first: a name that one of them does not number is matched by order. */
    TG_FREE struct found **v = tg_xrealloc(NULL, in->n + 1, sizeof(struct found *));
    TG_FREE size_t *n = tg_xrealloc(NULL, in->n + 1, sizeof *n);
    for (uint32_t r = 0; r < in->n; r++)
        v[r] = find_collectives(&j, r, &n[r]);
    for (uint32_t r = 0; r < in->n; r++) {
        collect_rank(&j, r, v[r], n[r]);
        free(v[r]);
    }
    j.each = tg_xrealloc(NULL, j.names.n + 1, sizeof *j.each);
    for (size_t i = 0; i < j.names.n; i++)
        tally_init(&j.each[i], in->n);
    tg_collectives_match(j.v, j.n, j.keys.n, add_collective, &j);
    for (size_t i = 0; i < j.names.n; i++) {
        const struct tally *t = &j.each[i];
        tg_sv group = j.names.text[i], name = tg_sv_cut(&group, '\0');
        if (t->n)
            TG_TABLE_PUT(&out->v[first + 2], tg_table_text(tg_arena_sv(out->arena, name)),
                         tg_table_if(group.n, tg_table_text(tg_arena_sv(out->arena, group))),
                         tg_table_int(t->n), tg_table_int(t->ranks), skew_mean(t),
                         tg_table_int(t->skew_max), slowest(&j, t));
        free(t->caused);
    }
    for (size_t r = 0; r < in->n; r++) {
        const struct lane *l = &j.lanes[r];
        if (l->n) {
            TG_TABLE_PUT(&out->v[first], tg_table_int(in->ranks[r].rank), tg_table_int(l->n),
                         tg_table_int(l->comm), tg_table_int(tg_ns_sub(l->comm, l->wait)),
                         tg_table_int(l->wait), tg_table_percent(l->wait, l->comm),
                         tg_table_int(l->last), tg_table_int(l->caused), tg_table_int(l->unmatched),
                         TG_TABLE_UNKNOWN);
        } else {
            tg_table_put_reason(&out->v[first], in->ranks[r].rank, reason(&j, r));
            tg_table_set(&out->v[first], "unmatched", tg_table_int(l->unmatched));
        }
    }
    if (j.all.n)
        TG_TABLE_PUT(&out->v[first + 1], tg_table_int(j.all.n), tg_table_int(j.all.ranks),
                     tg_table_int(j.all.wait), skew_mean(&j.all), tg_table_int(j.all.skew_max),
                     tg_table_percent(j.all.skew_sum, j.all.longest_sum), slowest(&j, &j.all));
    tg_collective_numbers_release(&j.numbers);
    free(j.each);
    free(j.all.caused);
    free(j.name_of);
    free(j.lanes);
    free(j.v);
    tg_strmap_release(&j.keys);
    tg_strmap_release(&j.names);
}
