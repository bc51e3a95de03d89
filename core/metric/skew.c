/*
 * Who waits for whom. A collective ends on all its ranks at about the same time, so the rank that
 * is in it for the shortest time came last, and what the others spend longer they waited:
 *
 *     wait of rank r in collective c = d(r, c) - min over ranks of d(., c)
 *
 * Durations only: the clocks of ranks need not agree. The k-th collective of a kernel name and
 * process group in a step is matched over ranks with the k-th of the same; what not every rank of
 * the name and group has is left out and counted.
 */
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/metric/device.h"
#include "core/metric/parts.h"

enum {
    RANK,
    COLLECTIVES,
    COMM,
    TRANSFER,
    WAIT,
    WAIT_PCT,
    LAST,
    CAUSED,
    UNMATCHED,
    REASON,
    COLUMNS
};
static const struct tg_frame_column columns[COLUMNS] = {
    { "rank", TG_FRAME_INT },         { "collectives", TG_FRAME_INT },
    { "comm_time(us)", TG_FRAME_US }, { "transfer_time(us)", TG_FRAME_US },
    { "wait_time(us)", TG_FRAME_US }, { "wait_pctg", TG_FRAME_REAL },
    { "arrived_last", TG_FRAME_INT }, { "caused_wait(us)", TG_FRAME_US },
    { "unmatched", TG_FRAME_INT },    { "reason", TG_FRAME_TEXT },
};
enum { S_COLLECTIVES, S_RANKS, S_WAIT, S_SKEW_MEAN, S_SKEW_MAX, S_SKEW_PCT, S_SLOWEST, S_COLUMNS };
static const struct tg_frame_column summary_columns[S_COLUMNS] = {
    { "collectives", TG_FRAME_INT },  { "ranks", TG_FRAME_INT },
    { "wait_time(us)", TG_FRAME_US }, { "skew_mean(us)", TG_FRAME_REAL },
    { "skew_max(us)", TG_FRAME_US },  { "skew_pctg", TG_FRAME_REAL },
    { "slowest_rank", TG_FRAME_INT },
};
enum { N_NAME, N_GROUP, N_COUNT, N_RANKS, N_SKEW_MEAN, N_SKEW_MAX, N_SLOWEST, N_COLUMNS };
static const struct tg_frame_column name_columns[N_COLUMNS] = {
    { "name", TG_FRAME_TEXT },          { "group", TG_FRAME_TEXT },
    { "count", TG_FRAME_INT },          { "ranks", TG_FRAME_INT },
    { "skew_mean(us)", TG_FRAME_REAL }, { "skew_max(us)", TG_FRAME_US },
    { "slowest_rank", TG_FRAME_INT },
};

/* One collective on one rank. */
struct piece {
    uint32_t key; /* of (name, group) */
    int64_t step;
    uint32_t nth;  /* of its key in its step on its rank */
    uint32_t rank; /* index into in->ranks */
    tg_ns dur;
};

struct lane { /* what one rank has of one collective, over all of them */
    tg_ns comm, wait, caused;
    int64_t n, last, unmatched;
};

struct job {
    const struct tg_analysis_in *in;
    struct tg_strmap keys; /* name, NUL, group */
    struct piece *v;
    size_t n, cap;
    struct lane *lanes;   /* per rank */
    uint32_t *rank_count; /* per key: ranks that have it */
};

static tg_sv group_of(const struct tg_trace *t, const struct tg_span *s)
{
    if (s->fact == TG_NO_ID)
        return TG_SV("");
    for (tg_sv rest = t->facts.text[s->fact]; rest.n;) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        if (!tg_sv_starts(line, TG_SV("group=")))
            continue;
        line = (tg_sv){ line.p + 6, line.n - 6 };
        if (line.n >= 2 && line.p[0] == '"')
            line = (tg_sv){ line.p + 1, line.n - 2 };
        return line;
    }
    return TG_SV("");
}

static uint32_t key_of(struct job *j, const struct tg_trace *t, const struct tg_span *s,
                       struct tg_buf *text)
{
    tg_buf_clear(text);
    tg_buf_add(text, tg_span_name(t, s)->name);
    tg_buf_putc(text, '\0');
    tg_buf_add(text, group_of(t, s));
    return tg_strmap_add(&j->keys, tg_buf_sv(text));
}

static int by_match(const void *pa, const void *pb)
{
    const struct piece *a = pa, *b = pb;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    if (a->step != b->step)
        return a->step < b->step ? -1 : 1;
    if (a->nth != b->nth)
        return a->nth < b->nth ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* Device rows are in time order, so the pieces of a rank are numbered as they come. */
static void collect_rank(struct job *j, uint32_t rank)
{
    const struct tg_work *w = &j->in->work[rank];
    const struct tg_steps *steps = w->rank->steps;
    const struct tg_trace *t = w->rank->trace;
    struct tg_buf text = { 0 };
    struct tg_strmap seen; /* (key, step) of this rank */
    uint32_t *count = NULL;
    size_t cap = 0;
    tg_strmap_init(&seen);
    for (size_t i = 0; i < w->n; i++) {
        const struct tg_span *s = tg_span_at(t, w->v[i].span);
        int32_t step = steps->step_of[w->v[i].span];
        struct piece p = { .rank = rank, .dur = tg_ns_sub(w->v[i].end, w->v[i].start) };
        struct {
            int64_t step;
            uint64_t key;
        } at;
        size_t known = seen.n;
        uint32_t id;
        if (w->v[i].class_ != TG_CLASS_COMM)
            continue;
        p.key = key_of(j, t, s, &text);
        p.step = steps->marked && step >= 0 ? steps->v[step].number : -1;
        at.step = p.step;
        at.key = p.key;
        id = tg_strmap_add(&seen, (tg_sv){ (const char *)&at, sizeof at });
        count = tg_grow(count, &cap, seen.n, sizeof *count);
        if (seen.n > known)
            count[id] = 0;
        p.nth = count[id]++;
        j->v = tg_grow(j->v, &j->cap, j->n + 1, sizeof *j->v);
        j->v[j->n++] = p;
    }
    free(count);
    tg_strmap_release(&seen);
    tg_buf_release(&text);
}

/* How many ranks have each name and group at all: a collective without one of them is not whole. */
static void count_ranks(struct job *j)
{
    uint32_t *last = tg_xrealloc(NULL, j->keys.n + 1, sizeof *last);
    j->rank_count = tg_xrealloc(NULL, j->keys.n + 1, sizeof *j->rank_count);
    for (size_t k = 0; k < j->keys.n; k++) {
        last[k] = TG_NO_ID;
        j->rank_count[k] = 0;
    }
    for (size_t i = 0; i < j->n; i++) /* as collected: rank by rank */
        if (last[j->v[i].key] != j->v[i].rank) {
            last[j->v[i].key] = j->v[i].rank;
            j->rank_count[j->v[i].key]++;
        }
    free(last);
}

/* --- one collective, all ranks ---------------------------------------------------------------- */

struct waits {
    tg_ns least, longest, waited; /* durations; waited: summed over ranks */
    uint32_t last;                /* the rank that came last; TG_NO_ID: several at once */
};

static struct waits waits_of(const struct piece *p, size_t n)
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

struct tally { /* over collectives */
    int64_t n, ranks;
    tg_ns wait, skew_sum, skew_max, longest_sum;
    tg_ns *caused; /* per rank */
};

static void tally_init(struct tally *t, size_t ranks)
{
    *t = (struct tally){ .caused = tg_xrealloc(NULL, ranks + 1, sizeof *t->caused) };
    memset(t->caused, 0, (ranks + 1) * sizeof *t->caused);
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

static void lanes_add(struct lane *lanes, const struct waits *w, const struct piece *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct lane *l = &lanes[p[i].rank];
        l->n++;
        l->comm = tg_ns_add(l->comm, p[i].dur);
        l->wait = tg_ns_add(l->wait, tg_ns_sub(p[i].dur, w->least));
        if (p[i].rank == w->last) {
            l->last++;
            l->caused = tg_ns_add(l->caused, w->waited);
        }
    }
}

/* The rank that made the others wait longest; unknown when nobody waited. */
static struct tg_frame_cell slowest(const struct job *j, const struct tally *t)
{
    size_t most = 0;
    for (size_t r = 1; r < j->in->n; r++)
        most = t->caused[r] > t->caused[most] ? r : most;
    return t->caused[most] ? tg_frame_int(j->in->ranks[most].rank) : (struct tg_frame_cell){ 0 };
}

static void put_name(struct tg_frame *f, const struct job *j, uint32_t key, const struct tally *t,
                     struct tg_arena *a)
{
    tg_sv group = j->keys.text[key], name = tg_sv_cut(&group, '\0');
    struct tg_frame_cell *row;
    if (!t->n)
        return;
    row = tg_frame_row(f);
    row[N_NAME] = tg_frame_text(tg_arena_sv(a, name));
    if (group.n)
        row[N_GROUP] = tg_frame_text(tg_arena_sv(a, group));
    row[N_COUNT] = tg_frame_int(t->n);
    row[N_RANKS] = tg_frame_int(t->ranks);
    row[N_SKEW_MEAN] = tg_frame_real((double)t->skew_sum / (double)t->n / 1000);
    row[N_SKEW_MAX] = tg_frame_int(t->skew_max);
    row[N_SLOWEST] = slowest(j, t);
}

static bool same_collective(const struct piece *a, const struct piece *b)
{
    return a->key == b->key && a->step == b->step && a->nth == b->nth;
}

/* The collectives of one name and group. */
static void match_key(struct job *j, const struct piece *p, size_t n, struct tally *all,
                      struct tally *one)
{
    for (size_t i = 0, k; i < n; i = k) {
        struct waits w;
        for (k = i + 1; k < n && same_collective(&p[i], &p[k]);)
            k++;
        for (size_t m = i; m < k && (k - i < 2 || k - i < j->rank_count[p[i].key]); m++)
            j->lanes[p[m].rank].unmatched++;
        if (k - i < 2 || k - i < j->rank_count[p[i].key])
            continue;
        w = waits_of(p + i, k - i);
        tally_add(all, &w, k - i);
        tally_add(one, &w, k - i);
        lanes_add(j->lanes, &w, p + i, k - i);
    }
}

static void match(struct job *j, struct tally *all, struct tg_frame *names, struct tg_arena *a)
{
    if (j->n)
        qsort(j->v, j->n, sizeof *j->v, by_match);
    for (size_t i = 0, k; i < j->n; i = k) {
        struct tally one;
        for (k = i + 1; k < j->n && j->v[k].key == j->v[i].key;)
            k++;
        tally_init(&one, j->in->n);
        match_key(j, j->v + i, k - i, all, &one);
        put_name(names, j, j->v[i].key, &one, a);
        free(one.caused);
    }
}

/* --- tables ----------------------------------------------------------------------------------- */

static tg_sv reason(const struct job *j, size_t r)
{
    if (!j->in->work[r].n)
        return tg_work_reason(&j->in->work[r], j->in->opts);
    if (!j->lanes[r].unmatched)
        return TG_SV("no communication");
    return j->in->n < 2 ? TG_SV("one rank alone: give the traces of all ranks")
                        : TG_SV("no collective that the other ranks have too");
}

static void put_rank(struct tg_frame *f, const struct job *j, size_t r)
{
    const struct lane *l = &j->lanes[r];
    struct tg_frame_cell *row = tg_frame_row(f);
    row[RANK] = tg_frame_int(j->in->ranks[r].rank);
    row[UNMATCHED] = tg_frame_int(l->unmatched);
    if (!l->n) {
        row[REASON] = tg_frame_text(reason(j, r));
        return;
    }
    row[COLLECTIVES] = tg_frame_int(l->n);
    row[COMM] = tg_frame_int(l->comm);
    row[TRANSFER] = tg_frame_int(tg_ns_sub(l->comm, l->wait));
    row[WAIT] = tg_frame_int(l->wait);
    if (l->comm > 0)
        row[WAIT_PCT] = tg_frame_real(100.0 * (double)l->wait / (double)l->comm);
    row[LAST] = tg_frame_int(l->last);
    row[CAUSED] = tg_frame_int(l->caused);
}

static void put_summary(struct tg_frame *f, const struct job *j, const struct tally *all)
{
    struct tg_frame_cell *row;
    if (!all->n)
        return;
    row = tg_frame_row(f);
    row[S_COLLECTIVES] = tg_frame_int(all->n);
    row[S_RANKS] = tg_frame_int(all->ranks);
    row[S_WAIT] = tg_frame_int(all->wait);
    row[S_SKEW_MEAN] = tg_frame_real((double)all->skew_sum / (double)all->n / 1000);
    row[S_SKEW_MAX] = tg_frame_int(all->skew_max);
    if (all->longest_sum > 0)
        row[S_SKEW_PCT] = tg_frame_real(100.0 * (double)all->skew_sum / (double)all->longest_sum);
    row[S_SLOWEST] = slowest(j, all);
}

void tg_skew(const struct tg_analysis_in *in, struct tg_frames *out)
{
    struct job j = { .in = in, .lanes = tg_xrealloc(NULL, in->n + 1, sizeof *j.lanes) };
    size_t first = out->n;
    struct tally all;
    tg_frames_add(out, "skew", columns, COLUMNS);
    tg_frames_add(out, "skew-summary", summary_columns, S_COLUMNS);
    tg_frames_add(out, "skew-collectives", name_columns, N_COLUMNS);
    memset(j.lanes, 0, (in->n + 1) * sizeof *j.lanes);
    tg_strmap_init(&j.keys);
    tally_init(&all, in->n);
    for (uint32_t r = 0; r < in->n; r++)
        collect_rank(&j, r);
    count_ranks(&j);
    match(&j, &all, &out->v[first + 2], out->arena);
    for (size_t r = 0; r < in->n; r++)
        put_rank(&out->v[first], &j, r);
    put_summary(&out->v[first + 1], &j, &all);
    free(all.caused);
    free(j.rank_count);
    free(j.lanes);
    free(j.v);
    tg_strmap_release(&j.keys);
}
