/*
 * Which ranks the others wait for. A collective ends on all of its ranks at once, so that the rank
 * with the shortest one came last, and the longest wait is longest - shortest; ranks that come last
 * together share it. Stragglers are the rank that is waited for most and those with at least half
 * as much, if they are few, cause half of all waiting of the fresh runs, at least TG_LATE_PART of
 * the step, and twice what they caused in the baseline.
 *
 * What they did instead is the operator or kernel whose time on these ranks exceeds the median of
 * the others most. Waiting kernels and host calls that wait say nothing and are left out.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/diff/internal.h"

struct waits {
    size_t n_ranks;
    struct tg_strmap names; /* of kernels */
    struct tg_keymap steps; /* their numbers */
    double *rank;           /* ns */
    struct one {
        uint32_t rank, name, step;
        double ns;
    } * v;
    size_t n, cap;
    double all;
};

static void add_wait(void *arg, const struct tg_wait *p)
{
    struct waits *x = arg;
    *TG_PUSH(x->v, x->n, x->cap) =
        (struct one){ p->rank, tg_strmap_add(&x->names, p->name),
                      tg_keymap_add(&x->steps, &(const uint64_t){ (uint64_t)p->step }), p->ns };
    x->rank[p->rank] += p->ns;
    x->all += p->ns;
}

static bool collect(struct waits *x, const struct tg_diff_work *w, int side)
{
    bool known = true;
    *x = (struct waits){ .n_ranks = w->measured[side].n_ranks };
    tg_strmap_init(&x->names);
    tg_keymap_init(&x->steps, 1);
    x->rank = tg_xcalloc(x->n_ranks + 1, sizeof *x->rank);
    for (size_t run = 0; known && run < w->c->n_runs[side]; run++)
        known = tg_collective_waits(w, side, run, add_wait, x);
    return known;
}

static void forget(struct waits *x)
{
    tg_strmap_release(&x->names);
    tg_keymap_release(&x->steps);
    free(x->rank);
    free(x->v);
}

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
    struct waits test, base;
    bool known, *in;
    if (w->measured[TG_TEST].n_ranks < 2 || w->o->no_evidence)
        return;
    in = TG_NEW_N(w->a, bool, w->measured[TG_TEST].n_ranks);
    known = collect(&test, w, TG_TEST);
    known = collect(&base, w, TG_BASE) && known;
    if (known && test.all > 0) {
        double ns, before, steps = (double)c->n_runs[TG_TEST] * (double)test.steps.n;
        double base_steps = fmax((double)c->n_runs[TG_BASE] * (double)base.steps.n, 1);
        /* False: they are many, and nobody is late. */
        double most = tg_most(test.rank, test.n_ranks);
        size_t n = 0;
        for (size_t i = 0; i < test.n_ranks; i++) {
            in[i] = test.rank[i] >= most / 2;
            n += in[i];
        }
        bool few = n == 1 || (double)n <= TG_QUARTER * (double)test.n_ranks;
        ns = caused(&test, in);
        before = base.n_ranks == test.n_ranks ? caused(&base, in) / base_steps : 0;
        if (few && ns >= TG_HALF * test.all && ns / steps >= TG_LATE_PART * c->step_ns[TG_TEST] &&
            ns / steps >= TG_TWICE * before)
            tell(w, &test, in, ns, steps);
    }
    forget(&test);
    forget(&base);
}
