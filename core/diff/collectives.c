/*
 * Who waits for whom in collectives, from summaries: skew of a collective = longest - shortest
 * duration over its ranks, as a share of the longest; the definition is that of
 * core/analysis/skew.c, and so is the matching over ranks (core/metric/collective.h). A row of a
 * summary has the durations of one kernel name under one operator on one stream, in start order:
 * its key.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/diff/internal.h"
#include "core/metric/collective.h"

struct waits { /* that a side's ranks cause */
    size_t n_ranks;
    struct tg_strmap names; /* of kernels */
    struct tg_keymap steps; /* their numbers */
    double *rank;           /* ns */
    struct one {
        uint32_t rank, name, step; /* indices */
        double ns;
    } * v;
    size_t n, cap;
    double all;
};

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
    struct tg_collective_counter counter; /* of the rank at work */
    tg_ns skew, longest;                  /* summed over what all ranks have */
    struct waits *waits;                  /* NULL: nobody asks who came last */
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
    for (size_t i = 0; j->waits && i < n; i++) {
        double ns = (double)wait / (double)n_last;
        struct waits *x = j->waits;
        if (tg_ns_sub(p[i].dur, least) > wait / 10)
            continue;
        *TG_PUSH(x->v, x->n, x->cap) =
            (struct one){ p[i].rank, tg_strmap_add(&x->names, name),
                          tg_keymap_add(&x->steps, &(const uint64_t){ (uint64_t)p->step }), ns };
        x->rank[p[i].rank] += ns;
        x->all += ns;
    }
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

/*
 * ---- which ranks the others wait for. A collective ends on all of its ranks at once, so that the
 * rank with the shortest one came last, and the longest wait is longest - shortest; ranks that come
 * last together share it. Stragglers are the rank that is waited for most and those with at least
 * half as much, if they are few, cause half of all waiting of the fresh runs, at least TG_LATE_PART
 * of the step, and twice what they caused in the baseline.
 *
 * What they did instead is the operator or kernel whose time on these ranks exceeds the median of
 * the others most. Waiting kernels and host calls that wait say nothing and are left out ----
 */

/* ns that a set of ranks causes. */
static double caused(const struct waits *x, const bool *in)
{
    double sum = 0;
    for (size_t i = 0; i < x->n_ranks; i++)
        sum += in[i] ? x->rank[i] : 0;
    return sum;
}

static void find_instead(const struct tg_diff_work *w, const bool *in, struct tg_straggler *out)
{
    size_t n = w->c->n_ranks[TG_TEST];
    TG_FREE double *room = tg_xrealloc(NULL, n + 1, sizeof *room);
    TG_EACH(const struct tg_op, op, w->c->ops, w->c->n_ops) {
        size_t n_in = 0, n_out = 0;
        if (op->wait || op->polling || !op->present[TG_TEST] || op->kind == TG_KIND_STEP ||
            op->kind == TG_KIND_ANNOTATION || op->kind == TG_KIND_DEVICE_ANNOTATION)
            continue;
        for (size_t rank = 0; rank < n; rank++) {
            /* Self time in the steps of a rank, ns a step, mean over runs. */
            double sum = 0, steps = 0;
            for (size_t run = 0; run < w->c->n_runs[TG_TEST]; run++) {
                size_t at = tg_diff_cell_index(w, TG_TEST, run, rank);
                steps += (double)w->used[at].n;
                for (size_t j = 0; j < w->used[at].n; j++)
                    sum += tg_cell_time(w, op, at, j, TG_OP_SELF);
            }
            room[in[rank] ? n_in++ : n - ++n_out] = steps > 0 ? sum / steps : 0;
        }
        /* Median over the chosen ranks less the median over the others. */
        double more = tg_median(room, n_in) - (n_out ? tg_median(room + n_in, n_out) : 0);
        if (more > out->more_ns) {
            out->more_ns = more;
            out->op = op;
        }
    }
    if (out->more_ns < 0.25 * out->wait_ns) /* nothing of it explains the waiting */
        out->op = NULL;
}

static void tell(struct tg_diff_work *w, const struct waits *x, const bool *in, double ns,
                 double steps)
{
    struct tg_straggler *s = TG_NEW(w->a, struct tg_straggler);
    int64_t *ranks = TG_NEW_N(w->a, int64_t, x->n_ranks);
    for (size_t i = 0; i < x->n_ranks; i++)
        if (in[i])
            ranks[s->n_ranks++] = w->measured[TG_TEST].ranks[i];
    s->ranks = ranks;
    /* The node of all of them; "": they are of several. */
    for (size_t i = 0, n = 0; i < x->n_ranks; i++) {
        tg_sv node = tg_shard_env(w->measured[TG_TEST].shard[i], "node");
        if (in[i])
            s->node = !n++ || tg_sv_eq(node, s->node) ? node : TG_SV("");
        if (in[i] && !s->node.n)
            break;
    }
    s->wait_ns = ns / steps;
    s->share = ns / x->all;
    /* The kernel in which most of the waiting for these ranks is. */
    double *sum = TG_NEW_N(w->a, double, x->names.n + 1);
    size_t best = 0;
    for (size_t i = 0; i < x->n; i++)
        sum[x->v[i].name] += in[x->v[i].rank] ? x->v[i].ns : 0;
    for (size_t i = 1; i < x->names.n; i++)
        if (sum[i] > sum[best])
            best = i;
    s->collective = tg_arena_sv(w->a, x->names.text[best]);
    /* The step from which on these ranks cause half of the waiting in every step; how many those
     * are. */
    double *own = TG_NEW_N(w->a, double, x->steps.n + 1);
    double *all = TG_NEW_N(w->a, double, x->steps.n + 1);
    int64_t last_other = INT64_MIN;
    for (size_t i = 0; i < x->n; i++) {
        all[x->v[i].step] += x->v[i].ns;
        own[x->v[i].step] += in[x->v[i].rank] ? x->v[i].ns : 0;
    }
    for (size_t k = 0; k < x->steps.n; k++)
        if (own[k] < TG_HALF * all[k] && (int64_t)x->steps.key[k] > last_other)
            last_other = (int64_t)x->steps.key[k];
    s->since = INT64_MAX;
    for (size_t k = 0; k < x->steps.n; k++) {
        int64_t number = (int64_t)x->steps.key[k];
        if (number <= last_other)
            continue;
        s->n_late++;
        s->since = number < s->since ? number : s->since;
    }
    s->n_steps = x->steps.n;
    if (!w->c->n_unnamed)
        find_instead(w, in, s);
    w->c->straggler = s;
}

void tg_straggler_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct waits of[2] = { { 0 } }, *base = &of[TG_BASE], *test = &of[TG_TEST];
    size_t n_ranks = w->measured[TG_TEST].n_ranks, n = 0;
    bool known = true, *in = TG_NEW_N(w->a, bool, n_ranks + 1);
    if (n_ranks < 2 || w->o->no_evidence)
        return;
    for (int side = 0; side < 2; side++) {
        of[side].n_ranks = w->measured[side].n_ranks;
        of[side].rank = tg_xcalloc(of[side].n_ranks + 1, sizeof *of[side].rank);
        tg_strmap_init(&of[side].names);
        tg_keymap_init(&of[side].steps, 1);
        for (size_t run = 0; known && run < c->n_runs[side]; run++)
            known = match_run(&(struct job){ .w = w, .waits = &of[side] }, side, run);
    }
    if (known && test->all > 0) {
        double steps = (double)c->n_runs[TG_TEST] * (double)test->steps.n;
        double base_steps = fmax((double)c->n_runs[TG_BASE] * (double)base->steps.n, 1);
        double most = tg_most(test->rank, n_ranks);
        for (size_t i = 0; i < n_ranks; i++) {
            in[i] = test->rank[i] >= most / 2;
            n += in[i];
        }
        /* False: they are many, and nobody is late. */
        bool few = n == 1 || (double)n <= TG_QUARTER * (double)n_ranks;
        double ns = caused(test, in);
        double before = base->n_ranks == n_ranks ? caused(base, in) / base_steps : 0;
        if (few && ns >= TG_HALF * test->all && ns / steps >= TG_LATE_PART * c->step_ns[TG_TEST] &&
            ns / steps >= TG_TWICE * before)
            tell(w, test, in, ns, steps);
    }
    for (int side = 0; side < 2; side++) {
        tg_strmap_release(&of[side].names);
        tg_keymap_release(&of[side].steps);
        free(of[side].rank);
        free(of[side].v);
    }
}
