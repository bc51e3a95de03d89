/*
 * A library's choice. An operator that is called as often as before, on the same shapes and types, and
 * runs other kernels, sets and copies of its own is another algorithm: cuDNN, cuBLAS and autotuning pick
 * by the time that they measure in this very process. A program decides the operator. So the operator is
 * judged by its time on the device, not by the names or the number of its kernels.
 *
 * A run that has all that a run of the baseline has, and more, made no choice: work was added.
 */
#include <math.h>
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/stats.h"

/* Calls per step of one name under one operator, of each run of both sides. */
struct use {
    uint32_t by, op; /* the operator; what it launches */
    double *run[2];
    bool same; /* as often in all runs of both sides */
};

struct uses {
    struct tg_diff_work *w;
    struct use *v;
    size_t n, cap;
    uint32_t *operator_named; /* by id of an interned name; TG_NO_ID */
    uint32_t *first, *next;   /* uses under one operator: by operator, by use; TG_NO_ID */
};

/* Work that a library may exchange for other work. A copy to or from the host is the program's. */
static bool is_of_device_alone(const struct tg_op *op)
{
    bool within = op->kind == TG_KIND_MEMCPY && (tg_sv_has(op->name, TG_SV("DtoD")) ||
                                                 tg_sv_has(op->name, TG_SV("Device -> Device")));

    return op->kind == TG_KIND_MEMSET || within ||
           (op->kind == TG_KIND_KERNEL && op->class_ != TG_CLASS_COMM);
}

static bool is_steady(const struct tg_op *op)
{
    return op->kind == TG_KIND_OP && op->change == TG_SAME && op->present[TG_BASE] &&
           op->present[TG_TEST] && op->counted.proof == TG_COUNT_UNCHANGED && op->settled;
}

static bool differs(const struct tg_op *op)
{
    return op->change != TG_SAME || op->counted.proof != TG_COUNT_UNCHANGED;
}

static void index_operators(struct uses *u)
{
    const struct tg_comparison *c = u->w->c;

    u->operator_named = TG_NEW_N(u->w->a, uint32_t, u->w->names->n + 1);
    for (size_t i = 0; i < u->w->names->n; i++)
        u->operator_named[i] = TG_NO_ID;
    for (uint32_t i = 0; i < c->n_ops; i++) {
        uint32_t id = tg_strmap_find(u->w->names, c->ops[i].name);
        if (c->ops[i].kind == TG_KIND_OP && id != TG_NO_ID)
            u->operator_named[id] = i;
    }
}

static uint32_t launcher_named(const struct uses *u, tg_sv raw)
{
    size_t known = u->w->names->n;
    uint32_t id = tg_strmap_find(u->w->names, tg_diff_name(u->w, TG_KIND_OP, raw));

    return id < known ? u->operator_named[id] : TG_NO_ID;
}

/* Usual calls per step under an operator in one cell. */
static double calls_in(const struct uses *u, const struct tg_op *op, uint32_t by, size_t at)
{
    const struct tg_diff_work *w = u->w;
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    uint64_t *count = TG_NEW_N(w->a, uint64_t, w->used[at].n + 1);

    for (size_t r = 0; r < cell->n; r++)
        for (size_t j = 0; launcher_named(u, cell->row[r]->key->parent) == by && j < w->used[at].n;
             j++)
            count[j] += cell->row[r]->count[w->used[at].step[j]];
    return (double)tg_mode(count, w->used[at].n, NULL);
}

static void add_use(struct uses *u, uint32_t op, uint32_t by)
{
    const struct tg_comparison *c = u->w->c;
    struct use *x = TG_PUSH(u->v, u->n, u->cap);

    *x = (struct use){ .by = by, .op = op, .same = true };
    for (int side = 0; side < 2; side++) {
        x->run[side] = TG_NEW_N(u->w->a, double, c->n_runs[side] + 1);
        for (size_t run = 0; run < c->n_runs[side]; run++) {
            for (size_t rank = 0; rank < c->n_ranks[side]; rank++)
                x->run[side][run] +=
                    calls_in(u, &c->ops[op], by, tg_diff_cell_index(u->w, side, run, rank));
            x->same = x->same && x->run[side][run] == x->run[TG_BASE][0];
        }
    }
}

/* Of one name of device work: once for each operator that launches it; TG_NO_ID is everything else. */
static void find_uses(struct uses *u, uint32_t op)
{
    size_t first = u->n;
    TG_AUTO(tg_strmap_release) struct tg_strmap raw;

    tg_strmap_init(&raw);
    tg_op_parents(u->w, &u->w->c->ops[op], TG_BASE, &raw);
    for (size_t i = 0; i < raw.n; i++) {
        uint32_t by = launcher_named(u, raw.text[i]);
        size_t k = first;
        while (k < u->n && u->v[k].by != by)
            k++;
        if (k == u->n)
            add_use(u, op, by);
    }
}

static void index_uses(struct uses *u)
{
    u->first = TG_NEW_N(u->w->a, uint32_t, u->w->c->n_ops + 1);
    u->next = TG_NEW_N(u->w->a, uint32_t, u->n + 1);
    for (size_t i = 0; i < u->w->c->n_ops; i++)
        u->first[i] = TG_NO_ID;
    for (uint32_t i = (uint32_t)u->n; i-- > 0;) { /* each goes before those after it */
        uint32_t by = u->v[i].by;
        if (by == TG_NO_ID)
            continue;
        u->next[i] = u->first[by];
        u->first[by] = i;
    }
}

/* What one run launches under an operator, against what another one does: is nothing different, is
 * anything gone? */
struct against {
    bool same, gone;
};

static struct against against(const struct uses *u, uint32_t by, size_t base, size_t test)
{
    struct against x = { .same = true };

    for (uint32_t i = u->first[by]; i != TG_NO_ID; i = u->next[i]) {
        double before = u->v[i].run[TG_BASE][base], now = u->v[i].run[TG_TEST][test];
        x.same = x.same && before == now;
        x.gone |= now < before;
    }
    return x;
}

/*
 * Is what the operator launches in each fresh run what a run of the baseline did, or something else
 * instead of it? `known`: all of them are the former.
 */
static bool is_choice(const struct uses *u, uint32_t by, bool *known)
{
    const struct tg_comparison *c = u->w->c;

    *known = true;
    for (size_t test = 0; test < c->n_runs[TG_TEST]; test++) {
        bool same = false, added = false;
        for (size_t base = 0; base < c->n_runs[TG_BASE]; base++) {
            struct against x = against(u, by, base, test);
            same |= x.same;
            added |= !x.same && !x.gone;
        }
        if (!same && added)
            return false;
        *known = *known && same;
    }
    return true;
}

/* All device work of an operator as one. */
static struct tg_op *work_of(const struct uses *u, uint32_t by, const struct tg_op *largest)
{
    struct tg_diff_work *w = u->w;
    struct tg_op *all = TG_NEW(w->a, struct tg_op);
    struct tg_diff_cell *cell;

    *all = *largest;
    all->rows = tg_op_rows_new(w, &cell);
    for (size_t at = 0; at < w->n_cells; at++) {
        const struct tg_row **row;
        size_t n = 0, k = 0;
        for (uint32_t i = u->first[by]; i != TG_NO_ID; i = u->next[i])
            n += w->c->ops[u->v[i].op].rows->cell[at].n;
        row = TG_NEW_N(w->a, const struct tg_row *, n + 1);
        for (uint32_t i = u->first[by]; i != TG_NO_ID; i = u->next[i]) {
            const struct tg_diff_cell *of = &w->c->ops[u->v[i].op].rows->cell[at];
            for (size_t r = 0; r < of->n; r++)
                if (launcher_named(u, of->row[r]->key->parent) == by)
                    row[k++] = of->row[r];
        }
        cell[at] = (struct tg_diff_cell){ row, k };
    }
    return all;
}

static double mean(const double *v, size_t n)
{
    double sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return n ? sum / (double)n : 0;
}

static void fill_choice(const struct uses *u, struct tg_algorithm *x, uint32_t by)
{
    const struct tg_comparison *c = u->w->c;
    double least = 0, most = 0;

    x->by = by;
    for (uint32_t i = u->first[by]; i != TG_NO_ID; i = u->next[i]) {
        const struct use *use = &u->v[i];
        double before = mean(use->run[TG_BASE], c->n_runs[TG_BASE]) / (double)c->n_ranks[TG_BASE];
        double now = mean(use->run[TG_TEST], c->n_runs[TG_TEST]) / (double)c->n_ranks[TG_TEST];
        x->calls[TG_BASE] += before;
        x->calls[TG_TEST] += now;
        double more = c->ops[use->op].self[TG_TEST] - c->ops[use->op].self[TG_BASE];
        x->went = now < before && (!x->went || more < least) ? &c->ops[use->op] : x->went;
        x->came = now > before && (!x->came || more > most) ? &c->ops[use->op] : x->came;
        least = x->went == &c->ops[use->op] ? more : least;
        most = x->came == &c->ops[use->op] ? more : most;
        x->work = &c->ops[use->op];
    }
    x->work = work_of(u, by, x->work);
}

/* Other shapes or types take other kernels: the program chose. */
static bool has_other_input(const struct tg_op *op)
{
    for (size_t i = 0; i < op->n_attrs; i++)
        if (op->attrs[i].kind == TG_ATTR_KIND_TYPES || op->attrs[i].kind == TG_ATTR_KIND_SHAPES)
            return true;
    return false;
}

/* The choices of operators under which anything differs. */
static void find_choices(const struct uses *u)
{
    struct tg_comparison *c = u->w->c;
    bool *seen = TG_NEW_N(u->w->a, bool, c->n_ops + 1), known;

    c->choices = TG_NEW_N(u->w->a, struct tg_algorithm, u->n + 1);
    for (size_t i = 0; i < u->n; i++) {
        uint32_t by = u->v[i].by;
        if (u->v[i].same || by == TG_NO_ID || seen[by] || !is_steady(&c->ops[by]) ||
            has_other_input(&c->ops[by]))
            continue;
        seen[by] = true;
        if (!is_choice(u, by, &known))
            continue;
        struct tg_algorithm *x = &c->choices[c->n_choices++];
        *x = (struct tg_algorithm){ .known = known };
        fill_choice(u, x, by);
    }
}

/* A name is chosen if it is launched as often as before wherever no choice was made. */
static void mark_names(const struct uses *u)
{
    struct tg_comparison *c = u->w->c;
    const struct tg_algorithm **of = TG_NEW_N(u->w->a, const struct tg_algorithm *, c->n_ops + 1);

    for (size_t i = 0; i < c->n_choices; i++)
        of[c->choices[i].by] = &c->choices[i];
    for (size_t i = 0, n; i < u->n; i += n) {
        struct tg_op *op = &c->ops[u->v[i].op];
        const struct tg_algorithm *found = NULL;
        bool all = true;
        for (n = 0; i + n < u->n && u->v[i + n].op == u->v[i].op; n++) {
            const struct use *use = &u->v[i + n];
            const struct tg_algorithm *x = use->same || use->by == TG_NO_ID ? NULL : of[use->by];
            all = all && (use->same || x);
            found = found ? found : x;
        }
        op->choice = all && differs(op) ? found : NULL;
    }
}

static bool is_constant(const double *v, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (v[i] != v[0])
            return false;
    return true;
}

/*
 * As many calls of others in every run are a rename or a replacement, which every metric by name is
 * judged for (replace.c). That holds for all operators that share a name, or for none of them.
 */
static void leave_exchanges(const struct uses *u)
{
    struct tg_comparison *c = u->w->c;
    bool *chosen = TG_NEW_N(u->w->a, bool, c->n_ops + 1), more = true;
    uint32_t *first = TG_NEW_N(u->w->a, uint32_t, u->n + 1); /* of the same name */
    size_t kept = 0;

    for (uint32_t i = 0; i < u->n; i++)
        first[i] = i && u->v[i].op == u->v[i - 1].op ? first[i - 1] : i;
    for (size_t i = 0; i < c->n_choices; i++)
        chosen[c->choices[i].by] = c->choices[i].calls[TG_BASE] != c->choices[i].calls[TG_TEST];
    for (size_t i = 0; i < u->n; i++)
        if (u->v[i].by != TG_NO_ID)
            chosen[u->v[i].by] |= !is_constant(u->v[i].run[TG_BASE], c->n_runs[TG_BASE]) ||
                                  !is_constant(u->v[i].run[TG_TEST], c->n_runs[TG_TEST]);
    while (more) {
        more = false;
        for (size_t i = 0; i < u->n; i++)
            for (size_t k = first[i]; k < u->n && u->v[i].op == u->v[k].op; k++)
                if (!u->v[i].same && !u->v[k].same && u->v[i].by != TG_NO_ID &&
                    u->v[k].by != TG_NO_ID && chosen[u->v[i].by] && !chosen[u->v[k].by])
                    more = chosen[u->v[k].by] = true;
    }
    for (size_t i = 0; i < c->n_choices; i++)
        if (chosen[c->choices[i].by])
            c->choices[kept++] = c->choices[i];
    c->n_choices = kept;
}

void tg_choices_find(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    struct uses u = { .w = w };
    bool any = false;

    for (size_t i = 0; i < c->n_ops; i++)
        any |= is_of_device_alone(&c->ops[i]) && differs(&c->ops[i]);
    if (!any || w->n_cells == 0 || !c->same_device || !c->marked[TG_BASE] || !c->marked[TG_TEST])
        return;
    index_operators(&u);
    for (uint32_t i = 0; i < c->n_ops; i++)
        if (is_of_device_alone(&c->ops[i]))
            find_uses(&u, i);
    index_uses(&u);
    find_choices(&u);
    leave_exchanges(&u);
    mark_names(&u);
    free(u.v);
}
