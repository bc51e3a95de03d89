/*
 * A library's choice. An operator that is called as often as before, on the same shapes and types,
 * and runs other kernels, sets and copies of its own is another algorithm: cuDNN, cuBLAS and
 * autotuning pick by the time that they measure in this very process. A program decides the
 * operator. So the operator is judged by its time on the device,
 * not by the names or the number of its kernels.
 *
 * A run that has all that a run of the baseline has, and more kernels, made no choice: work was
 * added. What no operator launches, but an annotation or the step, the program may have written:
 * there a choice is also about as long, and of at most twice as many kernels (one and its sum).
 */
#include <math.h>

#include "core/diff/uses.h"

/* Work that a library may exchange for other work. A copy to or from the host is the program's. */
static bool may_be_chosen(const struct tg_op *op)
{
    bool within = op->kind == TG_KIND_MEMCPY && (tg_sv_has(op->name, TG_SV("DtoD")) ||
                                                 tg_sv_has(op->name, TG_SV("Device -> Device")));
    return op->kind == TG_KIND_MEMSET || within ||
           (op->kind == TG_KIND_KERNEL && op->class_ != TG_CLASS_COMM);
}

/* The operator or annotation around calls, or the step; TG_NO_ID: another name. */
static uint32_t launcher_of(const struct tg_use *calls, uint32_t step)
{
    return calls->by != TG_NO_ID || calls->in.n ? calls->by : step;
}

/* Called as before. Other shapes or types take other kernels: then the program chose. */
static bool is_steady(const struct tg_op *op)
{
    bool other = false;
    for (size_t i = 0; i < op->n_attrs; i++)
        other |=
            op->attrs[i].kind == TG_ATTR_KIND_TYPES || op->attrs[i].kind == TG_ATTR_KIND_SHAPES;
    return op->change == TG_SAME && op->present[TG_BASE] && op->present[TG_TEST] &&
           op->counted.proof == TG_COUNT_UNCHANGED && op->settled && !other;
}

/* As often in all runs of both sides? */
static bool is_same(const struct tg_comparison *c, const struct tg_use *x)
{
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < c->n_runs[side]; run++)
            if (x->run[side][run] != x->run[TG_BASE][0])
                return false;
    return true;
}

struct work { /* what one operator, annotation or the step launches, if a library may choose it */
    const struct tg_use **v;
    size_t n;
    bool known;  /* as in tg_algorithm */
    bool chosen; /* it is another choice */
    const struct tg_algorithm *choice;
};

/* ns per step that the work takes more, or of it what is launched in another number. */
static double more_ns(struct tg_diff_work *w, uint32_t by, const struct work *x, bool all)
{
    uint32_t *work = TG_NEW_N(w->a, uint32_t, x->n);
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++)
        if (all || !is_same(w->c, x->v[i]))
            work[n++] = x->v[i]->op;
    const struct tg_op *of = tg_ops_join(w, work, n, &w->c->ops[by].name);
    return tg_op_least_ns(w, of, TG_TEST) - tg_op_least_ns(w, of, TG_BASE);
}

/* What no operator launches: is it exchanged for what takes about as long? Names that others in the
 * place launch as well may keep their number. */
static bool is_as_long(struct tg_diff_work *w, uint32_t by, const struct work *x)
{
    double went = 0;
    bool came = false;
    for (size_t i = 0; i < x->n; i++) {
        const struct tg_op *op = &w->c->ops[x->v[i]->op];
        double rise = tg_use_rise(x->v[i]);
        came |= rise > 0;
        went += rise < 0 ? -rise * op->self[TG_BASE] / op->count[TG_BASE] : 0;
    }
    return !came || fmin(more_ns(w, by, x, false), more_ns(w, by, x, true)) <= TG_SLACK * went;
}

/*
 * Is what the operator launches in each fresh run what a run of the baseline did, or something else
 * instead of it? `known`: all of them are the former.
 */
static bool is_choice(const struct tg_comparison *c, const struct work *x, bool by_op, bool *known)
{
    *known = true;
    for (size_t test = 0; test < c->n_runs[TG_TEST]; test++) {
        bool as_before = false, added = false;
        for (size_t base = 0; base < c->n_runs[TG_BASE]; base++) {
            bool same = true;
            double kernels[2] = { 0 }, sets = 0; /* went, came; of sets and copies went */
            for (size_t i = 0; i < x->n; i++) {
                double before = x->v[i]->run[TG_BASE][base], now = x->v[i]->run[TG_TEST][test];
                bool kernel = c->ops[x->v[i]->op].kind == TG_KIND_KERNEL;
                same = same && before == now;
                kernels[now > before] += kernel ? fabs(now - before) : 0;
                sets += kernel ? 0 : fmax(before - now, 0);
            }
            as_before |= same;
            added |= by_op ? kernels[TG_TEST] > 0 && kernels[TG_BASE] + sets <= 0
                           : kernels[TG_TEST] > TG_TWICE * kernels[TG_BASE];
        }
        if (!as_before && added)
            return false;
        *known = *known && as_before;
    }
    return true;
}

/* As many calls of others in every run are a rename or a replacement, which every metric by name is
 * judged for. Of a name that mostly stays, since others launch it, the operator holds the
 * difference: in the name's time it is lost. */
static bool is_exchange(const struct tg_comparison *c, const struct work *x)
{
    double calls[2] = { 0 };
    for (size_t i = 0; i < x->n; i++) {
        const struct tg_op *op = &c->ops[x->v[i]->op];
        const double *n = op->count;
        if (!is_same(c, x->v[i]) &&
            fmin(n[TG_BASE], n[TG_TEST]) >= TG_SETTLED * fmax(n[TG_BASE], n[TG_TEST]))
            return false;
        for (int side = 0; side < 2; side++) {
            const double *run = x->v[i]->run[side];
            for (size_t k = 0; k < c->n_runs[side]; k++)
                if (run[k] != run[0])
                    return false;
            calls[side] += run[0] / (double)c->n_ranks[side];
        }
    }
    return calls[TG_BASE] == calls[TG_TEST];
}

/* What operators that chose and others both launch, the others chose, too:
 * a name is one or the other. */
static bool spread(const struct tg_comparison *c, struct work *x, bool *name_chosen)
{
    bool more = false;
    for (size_t i = 0; i < x->n; i++)
        x->chosen |= name_chosen[x->v[i]->op] && !is_same(c, x->v[i]);
    for (size_t i = 0; i < x->n && x->chosen; i++) {
        more |= !name_chosen[x->v[i]->op] && !is_same(c, x->v[i]);
        name_chosen[x->v[i]->op] |= !is_same(c, x->v[i]);
    }
    return more;
}

static void add_choice(struct tg_diff_work *w, uint32_t by, struct work *x)
{
    struct tg_comparison *c = w->c;
    struct tg_algorithm *to = &c->choices[c->n_choices++];
    uint32_t *work = TG_NEW_N(w->a, uint32_t, x->n);
    double least = 0, most = 0;
    c->ops[by].chooses = c->ops[by].kind != TG_KIND_STEP;
    *to = (struct tg_algorithm){ .by = by, .known = x->known };
    x->choice = to;
    for (size_t i = 0; i < x->n; i++) {
        work[i] = x->v[i]->op;
        const struct tg_op *op = &c->ops[x->v[i]->op];
        double calls[2], more = op->self[TG_TEST] - op->self[TG_BASE];
        for (int side = 0; side < 2; side++) { /* means over the runs */
            calls[side] = tg_mean(x->v[i]->run[side], c->n_runs[side]) / (double)c->n_ranks[side];
            to->calls[side] += calls[side];
        }
        if (calls[TG_TEST] < calls[TG_BASE] && (!to->went || more < least)) {
            to->went = op;
            least = more;
        } else if (calls[TG_TEST] > calls[TG_BASE] && (!to->came || more > most)) {
            to->came = op;
            most = more;
        }
    }
    to->work = tg_ops_join(w, work, x->n, &c->ops[by].name);
}

static struct work *works_of(struct tg_diff_work *w, uint32_t step)
{
    const struct tg_comparison *c = w->c;
    struct work *of = TG_NEW_N(w->a, struct work, c->n_ops + 1);
    struct tg_uses all_uses = w->uses->all[TG_IN_CALLER];
    for (int fill = 0; fill < 2; fill++)
        TG_EACH(const struct tg_use, calls, all_uses.v, all_uses.n) {
            uint32_t by = launcher_of(calls, step);
            if (by == TG_NO_ID || !may_be_chosen(&c->ops[calls->op]) || !is_steady(&c->ops[by]))
                continue;
            if (fill && !of[by].v) {
                of[by].v = TG_NEW_N(w->a, const struct tg_use *, of[by].n);
                of[by].n = 0;
            }
            if (fill)
                of[by].v[of[by].n] = calls;
            of[by].n++;
        }
    for (uint32_t by = 0; by < c->n_ops; by++) {
        bool all = true;
        for (size_t i = 0; i < of[by].n; i++)
            all = all && is_same(c, of[by].v[i]);
        bool op = c->ops[by].kind == TG_KIND_OP;
        if (all || !is_choice(c, &of[by], op, &of[by].known) ||
            !(of[by].known || op || is_as_long(w, by, &of[by])))
            of[by].n = 0;
        of[by].chosen = of[by].n && !is_exchange(c, &of[by]);
    }
    return of;
}

void tg_choices_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    if (!w->uses || !tg_same_device(c) || !c->marked[TG_BASE] || !c->marked[TG_TEST])
        return;
    bool *name_chosen = TG_NEW_N(w->a, bool, c->n_ops + 1), more = true;
    uint32_t step = TG_NO_ID;
    for (uint32_t i = 0; i < c->n_ops && step == TG_NO_ID; i++)
        step = c->ops[i].kind == TG_KIND_STEP ? i : step;
    struct work *of = works_of(w, step);
    c->choices = TG_NEW_N(w->a, struct tg_algorithm, c->n_ops + 1);
    while (more) {
        more = false;
        for (uint32_t by = 0; by < c->n_ops; by++)
            more |= spread(c, &of[by], name_chosen);
    }
    for (uint32_t by = 0; by < c->n_ops; by++) {
        /* A name that changed here changed elsewhere, too, without a choice; or it is chance what
         * launched it (uses.h). */
        bool leaks = false, sure = c->ops[by].kind == TG_KIND_OP && w->uses->exact;
        for (size_t i = 0; of[by].chosen && !sure && i < of[by].n; i++) {
            struct tg_uses u = tg_uses_of(w, TG_IN_CALLER, of[by].v[i]->op);
            TG_EACH(const struct tg_use, use, u.v, is_same(c, of[by].v[i]) ? 0 : u.n) {
                uint32_t other = launcher_of(use, step);
                leaks |= !is_same(c, use) && !(other != TG_NO_ID && of[other].chosen);
            }
        }
        if (of[by].chosen && !leaks)
            add_choice(w, by, &of[by]);
    }
    /* A name is chosen if it is launched as often as before wherever no choice was made. */
    for (uint32_t op = 0; op < c->n_ops; op++) {
        struct tg_uses u = tg_uses_of(w, TG_IN_CALLER, op);
        const struct tg_algorithm *found = NULL;
        bool all = may_be_chosen(&c->ops[op]);
        for (size_t i = 0; all && i < u.n; i++) {
            uint32_t by = launcher_of(&u.v[i], step);
            const struct tg_algorithm *x = by == TG_NO_ID ? NULL : of[by].choice;
            bool same = is_same(c, &u.v[i]);
            all = same || x;
            found = found || same ? found : x;
        }
        c->ops[op].choice = all ? found : NULL;
    }
}
