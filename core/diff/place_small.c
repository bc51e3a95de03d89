/*
 * What came and costs next to nothing: views and metadata, which cost nothing in a program, callers
 * without work of their own, and other additions that are together less than 0.1 % of the step.
 * Nothing that waits, copies or allocates is small: its price is paid elsewhere. Nor is what calls
 * such an operator (place_lead.c: `leads`).
 */
#include <math.h>

#include "core/diff/names.h"
#include "core/diff/uses.h"

#define MAX_DEPTH 4 /* of callers that only call: `linear`, `matmul`, `mm` */

/* What is called as often on both sides has a pace. Views have their own: a machine that slows
 * dispatch and Python leaves products as they are. */
enum { HOST, DEVICE, VIEWS, PACES };

static int pace_of(const struct tg_op *op)
{
    return op->view ? VIEWS : tg_kind_is_device(op->kind) ? DEVICE : HOST;
}

/* What additions are measured by. */
struct job {
    const struct tg_diff_work *w;
    double pace[PACES]; /* the fresh side's time for the same calls, in times the baseline's */
    /* a call of the baseline's dearest view, at this pace, and what times vary by */
    double view_ns;
};

/* A part of what converts a number has no name of a view. */
static bool is_of_number(const struct tg_op *op)
{
    return op->view && !tg_name_is_view(op->name);
}

/* Calls that came, and the part of the baseline's step that they take. */
struct rise {
    double share, calls;
};

/*
 * All its additional calls are inside calls of the same name: an overload that passes on to
 * another, as `sort` to the stable `sort`. Only the inner one works,
 * so that an average over both says nothing.
 */
static bool passes_on(const struct tg_diff_work *w, const struct tg_op *op)
{
    const struct tg_use *own = w->uses && w->uses->exact ? tg_uses_of_itself(w, op) : NULL;
    double inside = own ? tg_use_rise(own) : 0;
    size_t steps = 0, busy = 0;
    if (inside <= 0 || inside < tg_op_rise(op))
        return false;
    /* The fresh calls that are not inside its own name mostly take time,
     * or are events that were recorded twice. */
    for (size_t at = w->first[TG_TEST]; at < w->n_cells; at++)
        for (size_t r = 0; r < op->rows->cell[at].n; r++) {
            const struct tg_row *row = op->rows->cell[at].row[r];
            bool inner = tg_sv_eq(row->key->parent, row->key->name);
            for (size_t j = 0; !inner && j < w->used[at].n; j++) {
                steps += row->count[w->used[at].step[j]] > 0;
                busy += row->self[w->used[at].step[j]] > 0;
            }
        }
    return 2 * busy > steps;
}

/*
 * As the calls do on average, or what the name takes more than before, whether in time or at the
 * pace of what is called as often (the machine may be slower), if that is more: a call that is
 * longer than the others hides in neither, and a pause makes nothing small. On the rank that has
 * most of it: over many ranks, what one of them does would be little.
 */
static struct rise rise_of(const struct job *j, const struct tg_op *op)
{
    const struct tg_comparison *c = j->w->c;
    struct rise most = { 0, 0 };
    double pace = fmax(j->pace[pace_of(op)], 1);
    bool inner = is_of_number(op) || passes_on(j->w, op); /* an average says nothing */
    for (size_t k = 0; c->step_ns[TG_BASE] > 0 && k < c->n_ranks[TG_TEST]; k++) {
        struct tg_on_rank base = { 0, 0 }, test = tg_op_on_rank(j->w, op, TG_TEST, k, TG_OP_SELF);
        if (op->present[TG_BASE] && k < c->n_ranks[TG_BASE])
            base = tg_op_on_rank(j->w, op, TG_BASE, k, TG_OP_SELF);
        double calls = test.calls - base.calls;
        double by_call = inner ? 0 : test.ns * fmin(calls / test.calls, 1);
        double share = fmax(by_call, test.ns / pace - base.ns) / c->step_ns[TG_BASE];
        if (calls > 0 && share > most.share)
            most = (struct rise){ share, calls };
    }
    return most;
}

/* By name, and by what it costs: a call that takes longer than views do copies. The conversion of
 * a number copies eight bytes, and is measured beside that of tensors. */
static bool is_view(const struct job *j, const struct tg_op *op)
{
    struct rise r = op->view ? rise_of(j, op) : (struct rise){ 0, 0 };
    double dearest = (is_of_number(op) ? TG_TWICE : 1) * j->view_ns;
    return op->view && r.share * j->w->c->step_ns[TG_BASE] <= r.calls * dearest;
}

static bool wraps(const struct job *j, const struct tg_op *op, int depth);

/* What its additional calls launch takes, or call; 0: of that something came, other than a view,
 * that does not itself only call what was there. */
static double inside_ns(const struct job *j, const struct tg_op *op, bool on_device, int depth)
{
    const struct tg_use *of = j->w->uses->inside[op - j->w->c->ops];
    double ns = 0;
    for (; of; of = of->next_inside) {
        const struct tg_op *called = &j->w->c->ops[of->op];
        double rise = tg_use_rise(of);
        if (rise <= 0 || (on_device && !tg_kind_is_device(called->kind)))
            continue;
        if (!on_device && tg_op_rose(called) && !called->view && !passes_on(j->w, called) &&
            !wraps(j, called, depth - 1))
            return 0;
        ns += rise * called->total[TG_TEST] / called->count[TG_TEST];
    }
    return ns;
}

/* A caller without work of its own: what it calls comes as often as before,
 * and takes most of its time. */
static bool wraps(const struct job *j, const struct tg_op *op, int depth)
{
    const struct tg_diff_work *w = j->w;
    return depth && w->uses && w->uses->exact && op->kind == TG_KIND_OP &&
           inside_ns(j, op, false, depth) > tg_op_rise(op) * op->self[TG_TEST] / op->count[TG_TEST];
}

static bool only_wraps(const struct job *j, const struct tg_op *op)
{
    return wraps(j, op, MAX_DEPTH);
}

/* Of a name inside calls of its own name an average over both says nothing. */
static bool only_wraps_others(const struct job *j, const struct tg_op *op)
{
    return only_wraps(j, op) && !tg_uses_of_itself(j->w, op);
}

/* Beside what went, a place's balance says what an addition costs. What it launches may hide among
 * the same kernels of others. */
static bool stands_alone(const struct job *j, const struct tg_op *op)
{
    return op->relation == TG_REL_NONE && !is_of_number(op) &&
           !(j->w->uses && inside_ns(j, op, true, 0) >= TG_FLOOR * j->w->c->step_ns[TG_BASE]);
}

static const struct sort {
    enum tg_slight what;
    double limit; /* part of the step that they take together */
    bool (*is)(const struct job *j, const struct tg_op *op);
} sorts[] = { { TG_SLIGHT_FREE, TG_BIG, is_view },
              { TG_SLIGHT_FREE, TG_BIG, only_wraps },
              { TG_SLIGHT_SMALL, TG_RESTLESS, is_view },
              { TG_SLIGHT_SMALL, TG_RESTLESS, only_wraps_others },
              { TG_SLIGHT_SMALL, TG_FLOOR, stands_alone } };

/*
 * A Python number beside a tensor is converted inside the operator that takes it: `to` calls
 * `_to_copy`, which allocates and copies eight bytes. If that is all that changed of these
 * names, and it launches nothing, they are as free as `to`, at a view's price.
 */
void tg_small_numbers(struct tg_diff_work *w)
{
    enum { TO, TO_COPY, EMPTY, COPY, PARTS };
    const tg_sv name[PARTS] = { TG_SV("aten::to"), TG_SV("aten::_to_copy"),
                                TG_SV("aten::empty_strided"), TG_SV("aten::copy_") };
    const tg_sv around[PARTS] = {
        [TO_COPY] = name[TO], [EMPTY] = name[TO_COPY], [COPY] = name[TO_COPY]
    };
    struct tg_op *part[PARTS] = { NULL };
    double rise[PARTS] = { 0 };
    bool all = w->uses && w->uses->exact;
    for (size_t i = 0; all && i < w->uses->all[TG_IN_CALLER].n; i++) {
        const struct tg_use *of = &w->uses->all[TG_IN_CALLER].v[i];
        struct tg_op *op = &w->c->ops[of->op];
        bool by_op = of->by != TG_NO_ID && w->c->ops[of->by].kind == TG_KIND_OP;
        double more = tg_use_rise(of);
        for (size_t k = 0; more != 0 && k < PARTS; k++) {
            bool inside = by_op && (k == TO || tg_sv_eq(of->in, around[k]));
            all &= op->kind == TG_KIND_OP || !tg_sv_eq(of->in, name[k]);
            if (!tg_sv_eq(op->name, name[k]))
                continue;
            all &= inside || k == TO;
            rise[k] += inside ? more : 0;
            part[k] = op;
        }
    }
    for (size_t k = TO_COPY; k < PARTS; k++)
        all &= rise[k] != 0 && rise[k] == rise[TO];
    for (size_t k = TO_COPY; all && k < PARTS; k++)
        part[k]->view = true;
}

void tg_small_find(struct tg_diff_work *w, enum tg_slight what)
{
    struct tg_comparison *c = w->c;
    struct job j = { .w = w };
    double same[PACES][2] = { { 0 } };
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        for (int side = 0; side < 2 && op->change == TG_SAME && !op->wait; side++)
            same[pace_of(op)][side] += tg_kind_is_counted(op->kind) ? op->self[side] : 0;
        if (op->present[TG_BASE] && op->view && !is_of_number(op))
            j.view_ns = fmax(j.view_ns, op->self[TG_BASE] / op->count[TG_BASE]);
    }
    for (int k = 0; k < PACES; k++)
        j.pace[k] = same[k][TG_BASE] > 0      ? same[k][TG_TEST] / same[k][TG_BASE]
                    : c->step_ns[TG_BASE] > 0 ? c->step_ns[TG_TEST] / c->step_ns[TG_BASE]
                                              : 1;
    j.view_ns = j.view_ns > 0 ? TG_SUSPECT * fmax(j.pace[VIEWS], 1) * j.view_ns : INFINITY;
    TG_EACH(const struct sort, sort, sorts, sizeof sorts / sizeof *sorts) {
        bool *chosen = TG_NEW_N(w->a, bool, c->n_ops + 1);
        double sum = 0;
        for (size_t i = 0; sort->what == what && i < c->n_ops; i++) {
            const struct tg_op *op = &c->ops[i];
            /* New names in some steps are measured by their mean; of known names only a settled
             * count tells what came. */
            bool came = op->change == TG_ADDED ||
                        (op->change == TG_MORE && op->counted.shape == TG_COUNT_CONSTANT &&
                         op->kind != TG_KIND_GRAPH);
            if (op->slight != TG_SLIGHT_NOT || !op->rows || !came || op->polling ||
                !tg_kind_is_counted(op->kind) || tg_op_makes_wait(op) ||
                (!op->view && tg_op_makes_memory(op)) || !sort->is(&j, op))
                continue;
            double share = rise_of(&j, op).share;
            chosen[i] = share < sort->limit;
            sum += chosen[i] ? share : 0;
        }
        for (size_t i = 0; sum < sort->limit && i < c->n_ops; i++)
            if (chosen[i])
                c->ops[i].slight = sort->what;
    }
}
