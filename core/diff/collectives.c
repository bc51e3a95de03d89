/*
 * Who waits for whom in collectives, from summaries: skew of a collective = longest - shortest
 * duration over its ranks, as a share of the longest; the definition is that of
 * core/analysis/skew.c, and so is the matching over ranks (core/metric/collective.h). A row of a
 * summary has the durations of one kernel name under one operator on one stream, in start order:
 * its key.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/metric/collective.h"

struct job {
    const struct tg_diff_work *w;
    struct tg_strmap keys;
    struct tg_strmap names; /* of kernels with their groups */
    struct tg_collective_numbers numbers;
    struct tg_strmap kernels; /* names, and whether they communicate: ranks have the same ones */
    bool *comm;
    size_t cap_comm;
    struct tg_collective *v;
    size_t n, cap;
    struct tg_collective_counter counter;              /* of the rank at work */
    tg_ns skew, longest;                               /* summed over what all ranks have */
    void (*visit)(void *arg, const struct tg_wait *p); /* NULL: nobody asks who came last */
    void *arg;
};

tg_sv tg_collective_group(const struct tg_row *row)
{
    tg_sv group = TG_SV("");
    for (size_t i = 0; i < row->n_attrs; i++) {
        tg_sv one;
        if (row->attrs[i].kind != TG_ATTR_KIND_COLLECTIVE)
            continue;
        one = tg_sv_value(row->attrs[i].value, TG_SV("group"));
        if (group.n && !tg_sv_eq(group, one))
            return TG_SV("*");
        group = one;
    }
    return group;
}

/* Its name and its group. */
static void put_name(struct tg_buf *text, const struct tg_row *row)
{
    tg_buf_add(text, row->key->name);
    tg_buf_putc(text, '\0');
    tg_buf_add(text, tg_collective_group(row));
}

static uint32_t name_of(struct job *j, const struct tg_row *row)
{
    TG_BUF text = { 0 };
    put_name(&text, row);
    return tg_strmap_add(&j->names, tg_buf_sv(&text));
}

static uint32_t key_of(struct job *j, const struct tg_row *row, struct tg_strmap *of_rank)
{
    TG_BUF text = { 0 };
    put_name(&text, row);
    tg_buf_putc(&text, '\0');
    tg_buf_add(&text, row->key->parent);
    for (size_t known = of_rank->n;; known = of_rank->n) { /* rows are in order of streams */
        (void)tg_strmap_add(of_rank, tg_buf_sv(&text));
        if (of_rank->n > known)
            break;
        tg_buf_putc(&text, '\0');
    }
    return tg_strmap_add(&j->keys, tg_buf_sv(&text));
}

/* Which collectives its slots are, as core/metric/collective.h has it; NULL: not numbered. */
static const char *which_of(const struct tg_shard *s, const struct tg_row *row)
{
    for (size_t i = 0; i < row->n_attrs; i++)
        if (row->attrs[i].kind == TG_ATTR_KIND_WHICH &&
            row->attrs[i].value.n == (size_t)tg_row_calls(s, row) * TG_COLLECTIVE_ID_TEXT)
            return row->attrs[i].value.p;
    return NULL;
}

/* The key by order is made for the first call that needs it: keys count the streams. */
static void collect_row(struct job *j, const struct tg_shard *s, const struct tg_row *row,
                        const struct tg_used *used, uint32_t rank, struct tg_strmap *of_rank)
{
    const char *which =
        tg_collective_numbers_all(&j->numbers, name_of(j, row)) ? which_of(s, row) : NULL;
    uint32_t by_order = TG_NO_ID;
    size_t from = 0;
    for (size_t k = 0, u = 0; k < s->n_steps && u < used->n; from += row->count[k++]) {
        if (used->step[u] != k)
            continue;
        u++;
        for (size_t i = from; i < from + row->count[k]; i++) {
            struct tg_collective_id id = { 0, 0 };
            struct tg_collective p = { .rank = rank, .dur = row->slots[i] };
            if (which)
                id = tg_collective_id_read(which + i * TG_COLLECTIVE_ID_TEXT);
            if (!id.op && by_order == TG_NO_ID)
                by_order = key_of(j, row, of_rank);
            p.key = by_order;
            if (id.op) {
                TG_BUF text = { 0 };
                tg_buf_add(&text, row->key->name);
                tg_buf_putc(&text, '\0');
                tg_buf_printf(&text, "#%" PRIu32, id.group);
                p.key = tg_strmap_add(&j->keys, tg_buf_sv(&text));
            }
            p.op = id.op;
            p.step = s->marked ? s->steps[k].number : -1;
            tg_collective_count(&j->counter, &p);
            *TG_PUSH(j->v, j->n, j->cap) = p;
        }
    }
}

/* Does it run in these steps, and communicate? */
static bool is_collected(struct job *j, const struct tg_shard *s, const struct tg_row *row)
{
    const struct tg_classes *classes = j->w->o->classes;
    size_t k = 0, known = j->kernels.n;
    while (k < s->n_steps && !row->count[k])
        k++;
    if (!tg_kind_is_device(row->key->kind) || k == s->n_steps)
        return false;
    if (row->key->kind != TG_KIND_KERNEL)
        return tg_class_of(classes, row->key->kind, row->key->name, NULL) == TG_CLASS_COMM;
    uint32_t id = tg_strmap_add(&j->kernels, row->key->name);
    if (id == known) {
        j->comm = tg_grow(j->comm, &j->cap_comm, j->kernels.n, sizeof *j->comm);
        j->comm[id] = tg_class_of(classes, row->key->kind, row->key->name, NULL) == TG_CLASS_COMM;
    }
    return j->comm[id];
}

static void add_collective(void *arg, const struct tg_collective *p, size_t n, bool whole)
{
    struct job *j = arg;
    tg_ns least = p->dur, longest = p->dur;
    for (size_t i = 1; i < n; i++) {
        least = p[i].dur < least ? p[i].dur : least;
        longest = p[i].dur > longest ? p[i].dur : longest;
    }
    if (!whole)
        return;
    /* Ranks that come within a tenth of the wait share it: a node is slow as a whole. */
    tg_sv key = j->keys.text[p->key], name = tg_sv_cut(&key, '\0');
    tg_ns wait = tg_ns_sub(longest, least);
    size_t n_last = 0;
    for (size_t i = 0; i < n; i++)
        n_last += tg_ns_sub(p[i].dur, least) <= wait / 10;
    for (size_t i = 0; j->visit && i < n; i++)
        if (tg_ns_sub(p[i].dur, least) <= wait / 10)
            j->visit(j->arg,
                     &(struct tg_wait){ p[i].rank, name, p->step, (double)wait / (double)n_last });
    j->skew = tg_ns_add(j->skew, wait);
    j->longest = tg_ns_add(j->longest, longest);
}

/* All collectives of a run. False: single durations are missing. */
static bool match_run(struct job *j, int side, size_t run)
{
    const struct tg_side_shards *m = &j->w->measured[side];
    bool known = true;
    tg_strmap_init(&j->keys);
    tg_strmap_init(&j->names);
    tg_strmap_init(&j->kernels);
    for (uint32_t rank = 0; rank < m->n_ranks; rank++) {
        const struct tg_shard *s = m->shard[run * m->n_ranks + rank];
        TG_EACH(const struct tg_row, row, s->rows, s->n_rows) {
            bool numbered = false;
            if (!is_collected(j, s, row))
                continue;
            const char *which = which_of(s, row);
            for (size_t k = 0; which && k < (size_t)tg_row_calls(s, row); k++)
                numbered |= tg_collective_id_read(which + k * TG_COLLECTIVE_ID_TEXT).op != 0;
            tg_collective_numbers_see(&j->numbers, name_of(j, row), rank, numbered);
        }
    }
    for (uint32_t rank = 0; known && rank < m->n_ranks; rank++) {
        const struct tg_shard *s = m->shard[run * m->n_ranks + rank];
        TG_AUTO(tg_strmap_release) struct tg_strmap of_rank;
        tg_strmap_init(&of_rank);
        tg_collective_counter_init(&j->counter);
        for (size_t i = 0; known && i < s->n_rows; i++) {
            if (!is_collected(j, s, &s->rows[i]))
                continue;
            known = s->rows[i].slots != NULL; /* else they were left out of this summary */
            if (known)
                collect_row(j, s, &s->rows[i], &m->used[run * m->n_ranks + rank], rank, &of_rank);
        }
        tg_collective_counter_release(&j->counter);
    }
    tg_collectives_match(j->v, j->n, j->keys.n, add_collective, j);
    free(j->v);
    free(j->comm);
    tg_collective_numbers_release(&j->numbers);
    tg_strmap_release(&j->keys);
    tg_strmap_release(&j->names);
    tg_strmap_release(&j->kernels);
    return known;
}

bool tg_collective_skew(const struct tg_diff_work *w, int side, size_t run, double *out)
{
    struct job j = { .w = w };
    bool known = w->measured[side].n_ranks > 1 && match_run(&j, side, run);
    *out = j.longest > 0 ? 100 * (double)j.skew / (double)j.longest : 0;
    return known && j.longest > 0;
}

bool tg_collective_waits(const struct tg_diff_work *w, int side, size_t run,
                         void (*visit)(void *arg, const struct tg_wait *p), void *arg)
{
    struct job j = { .w = w, .visit = visit, .arg = arg };
    return match_run(&j, side, run);
}
