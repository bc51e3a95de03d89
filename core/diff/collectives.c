/*
 * Who waits for whom in collectives, from summaries; the definition is that of core/metric/skew.c:
 * skew of a collective = longest - shortest duration over its ranks, as a share of the longest.
 * A row of a summary has the durations of one kernel name under one operator on one stream, in
 * start order. So the k-th collective of (name, process group, operator) in a step is matched over
 * ranks; where a rank runs that on several streams, its first stream with the others' first, and so
 * on.
 */
#include <stdlib.h>

#include "core/diff/work.h"

struct piece { /* one collective on one rank */
    uint32_t key;
    uint32_t rank; /* index of the side's ranks */
    size_t nth;    /* of its key in its step */
    int64_t step;
    tg_ns dur;
};

struct job {
    const struct tg_work *w;
    struct tg_strmap keys;
    struct piece *v;
    size_t n, cap;
};

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

static tg_sv group_line(tg_sv fact)
{
    while (fact.n) {
        tg_sv line = tg_sv_cut(&fact, '\n');
        if (tg_sv_starts(line, TG_SV("group=")))
            return line;
    }
    return TG_SV("");
}

/* The process group of a row: "" unknown, "*" several, which nothing tells apart by call. */
static tg_sv group_of(const struct tg_row *row)
{
    tg_sv group = TG_SV("");
    for (size_t i = 0; i < row->n_facts; i++) {
        tg_sv one;
        if (!tg_sv_eq(row->facts[i].kind, TG_SV("collective")))
            continue;
        one = group_line(row->facts[i].value);
        if (group.n && !tg_sv_eq(group, one))
            return TG_SV("*");
        group = one;
    }
    return group;
}

static uint32_t key_of(struct job *j, const struct tg_row *row, struct tg_strmap *of_rank)
{
    struct tg_buf text = { 0 };
    uint32_t key;
    tg_buf_add(&text, row->name);
    tg_buf_putc(&text, '\0');
    tg_buf_add(&text, group_of(row));
    tg_buf_putc(&text, '\0');
    tg_buf_add(&text, row->parent);
    for (size_t known = of_rank->n;; known = of_rank->n) { /* rows are in order of streams */
        (void)tg_strmap_add(of_rank, tg_buf_sv(&text));
        if (of_rank->n > known)
            break;
        tg_buf_putc(&text, '\0');
    }
    key = tg_strmap_add(&j->keys, tg_buf_sv(&text));
    tg_buf_release(&text);
    return key;
}

static void collect_row(struct job *j, const struct tg_shard *s, const struct tg_row *row,
                        const struct tg_used *used, struct piece p)
{
    size_t from = 0;
    for (size_t k = 0, u = 0; k < s->n_steps && u < used->n; from += row->count[k++]) {
        if (used->step[u] != k)
            continue;
        u++;
        p.step = s->marked ? s->steps[k].number : -1;
        for (p.nth = 0; p.nth < row->count[k]; p.nth++) {
            p.dur = row->slots[from + p.nth];
            j->v = tg_grow(j->v, &j->cap, j->n + 1, sizeof *j->v);
            j->v[j->n++] = p;
        }
    }
}

static bool runs_in_steps(const struct tg_shard *s, const struct tg_row *row)
{
    for (size_t k = 0; k < s->n_steps; k++)
        if (row->count[k])
            return true;
    return false;
}

/* False: single durations were left out of this summary. */
static bool collect_rank(struct job *j, uint32_t rank, size_t at)
{
    const struct tg_shard *s = j->w->shard[at];
    struct tg_strmap of_rank;
    bool whole = true;
    tg_strmap_init(&of_rank);
    for (size_t i = 0; whole && i < s->n_rows; i++) {
        const struct tg_row *row = &s->rows[i];
        if (!tg_kind_is_device(row->kind) || !runs_in_steps(s, row) ||
            tg_class_of(j->w->o->classes, row->kind, row->name, NULL) != TG_CLASS_COMM)
            continue;
        whole = row->slots != NULL;
        if (whole)
            collect_row(j, s, row, &j->w->used[at],
                        (struct piece){ .key = key_of(j, row, &of_rank), .rank = rank });
    }
    tg_strmap_release(&of_rank);
    return whole;
}

/* Per key: how many ranks have it at all. The pieces are as collected, rank by rank. */
static uint32_t *count_ranks(const struct job *j)
{
    uint32_t *n = tg_xrealloc(NULL, j->keys.n + 1, sizeof *n);
    uint32_t *last = tg_xrealloc(NULL, j->keys.n + 1, sizeof *last);
    for (size_t k = 0; k < j->keys.n; k++) {
        n[k] = 0;
        last[k] = TG_NO_ID;
    }
    for (size_t i = 0; i < j->n; i++)
        if (last[j->v[i].key] != j->v[i].rank) {
            last[j->v[i].key] = j->v[i].rank;
            n[j->v[i].key]++;
        }
    free(last);
    return n;
}

/* 100 * sum of skews / sum of longest durations, over the collectives that all their ranks have. */
static bool skew_of(struct job *j, double *out)
{
    uint32_t *ranks = count_ranks(j);
    tg_ns skew = 0, sum = 0;
    if (j->n)
        qsort(j->v, j->n, sizeof *j->v, by_match);
    for (size_t i = 0, k; i < j->n; i = k) {
        tg_ns least = j->v[i].dur, longest = least;
        for (k = i + 1; k < j->n && j->v[k].key == j->v[i].key && j->v[k].step == j->v[i].step &&
                        j->v[k].nth == j->v[i].nth;
             k++) {
            least = j->v[k].dur < least ? j->v[k].dur : least;
            longest = j->v[k].dur > longest ? j->v[k].dur : longest;
        }
        if (k - i < 2 || k - i < ranks[j->v[i].key])
            continue;
        skew = tg_ns_add(skew, tg_ns_sub(longest, least));
        sum = tg_ns_add(sum, longest);
    }
    free(ranks);
    *out = sum > 0 ? 100 * (double)skew / (double)sum : 0;
    return sum > 0;
}

bool tg_collective_skew(const struct tg_work *w, int side, size_t run, double *out)
{
    struct job j = { .w = w };
    bool known = true;
    tg_strmap_init(&j.keys);
    for (uint32_t rank = 0; known && rank < w->c->n_ranks[side]; rank++)
        known = collect_rank(&j, rank, tg_work_cell(w, side, run, rank));
    known = known && skew_of(&j, out);
    free(j.v);
    tg_strmap_release(&j.keys);
    return known;
}
