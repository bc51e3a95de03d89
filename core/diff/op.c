/* What is true of an operator or a name by itself: every stage asks for it, none is asked here. */
#include <math.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

bool tg_op_makes_wait(const struct tg_op *op)
{
    return op->kind == TG_KIND_SYNC || op->kind == TG_KIND_MEMCPY ||
           (op->kind == TG_KIND_KERNEL && op->class_ == TG_CLASS_COMM) ||
           tg_sv_eq(op->name, TG_SV("aten::item")) ||
           tg_sv_eq(op->name, TG_SV("aten::is_nonzero")) || /* `if x:` */
           tg_sv_eq(op->name, TG_SV("aten::_local_scalar_dense"));
}

static bool is_op_among(const struct tg_op *op, const char *const *names, size_t n)
{
    for (size_t i = 0; op->kind == TG_KIND_OP && i < n; i++)
        if (tg_sv_eq(op->name, tg_sv_of(names[i])))
            return true;
    return false;
}

/* clone and empty_like are named besides what they call, whose number may vary with the data. */
bool tg_op_copies(const struct tg_op *op)
{
    static const char *const names[] = { "aten::copy_", "aten::_copy_from", "aten::clone" };
    return is_op_among(op, names, sizeof names / sizeof *names);
}

bool tg_op_allocates(const struct tg_op *op)
{
    static const char *const names[] = { "aten::empty", "aten::empty_strided", "aten::empty_like",
                                         "aten::resize_", "aten::_resize_output_" };
    return is_op_among(op, names, sizeof names / sizeof *names);
}

enum tg_exception tg_op_exception(const struct tg_op *op)
{
    if (op->polling)
        return TG_EXCEPTION_POLLING;
    if (op->relation == TG_REL_RENAMED)
        return TG_EXCEPTION_RENAMED;
    if (op->relation == TG_REL_REPLACED || op->choice || (op->repaid && tg_op_rose(op)))
        return TG_EXCEPTION_REPLACED;
    if (op->slight != TG_SLIGHT_NOT && tg_op_rose(op) && !op->leads)
        return TG_EXCEPTION_SMALL;
    return TG_EXCEPTION_NONE;
}

bool tg_op_rose(const struct tg_op *op)
{
    return op->change == TG_ADDED || op->change == TG_MORE;
}

double tg_op_iterations(const struct tg_comparison *c, const struct tg_op *op, int side)
{
    return side == TG_TEST && op->iteration_scaled ? c->iteration_ratio : 1;
}

double tg_calls_over(double calls, double iterations)
{
    double each = calls / iterations, whole = round(each);
    return fabs(each - whole) < 1e-9 * whole ? whole : each;
}

bool tg_iterations_explain(const struct tg_comparison *c, double base, double test)
{
    double want = base * c->iteration_ratio;
    return fabs(test - want) <= fmax(0.5, TG_SLACK * want);
}

double tg_op_rise(const struct tg_op *op)
{
    return op->count[TG_TEST] - op->count[TG_BASE];
}

enum tg_exception tg_op_bytes_exception(const struct tg_op *op)
{
    double each = op->count[TG_BASE] > 0 ? op->bytes[TG_BASE] / op->count[TG_BASE] : INFINITY;
    if (op->relation == TG_REL_REPLACED || op->choice)
        return TG_EXCEPTION_REPLACED;
    if (tg_op_rose(op) && op->relation != TG_REL_RENAMED &&
        op->bytes[TG_TEST] <= TG_AS_LARGE * each * op->count[TG_TEST])
        return TG_EXCEPTION_COUNTED;
    return TG_EXCEPTION_NONE;
}

bool tg_kind_is_counted(enum tg_kind k)
{
    return tg_kind_is_device(k) || k == TG_KIND_GRAPH || k == TG_KIND_OP || k == TG_KIND_SYNC;
}

const struct tg_op *tg_op_named(const struct tg_comparison *c, tg_sv name)
{
    TG_EACH(const struct tg_op, op, c->ops, name.n ? c->n_ops : 0)
        if (op->kind == TG_KIND_OP && tg_sv_eq(op->name, name))
            return op;
    return NULL;
}

const struct tg_op_rows *tg_op_rows_new(const struct tg_diff_work *w, struct tg_diff_cell **cell)
{
    struct tg_op_rows *rows = TG_NEW(w->a, struct tg_op_rows);
    *cell = TG_NEW_N(w->a, struct tg_diff_cell, w->n_cells);
    *rows = (struct tg_op_rows){ *cell, w };
    return rows;
}

tg_sv tg_diff_name(struct tg_diff_work *w, enum tg_kind kind, tg_sv raw)
{
    TG_BUF b = { 0 };
    tg_sv name = raw;
    if (raw.n == 0)
        return TG_SV("");
    if (!w->o->raw_names ||
        kind == TG_KIND_STEP) { /* a step's number does not change what it does */
        tg_name_normalise(kind, raw, &b);
        name = tg_buf_sv(&b);
    }
    size_t known = w->names->n, alias = 0;
    while (alias < w->o->n_aliases && !tg_sv_glob(w->o->aliases[alias].key, name))
        alias++;
    name = alias < w->o->n_aliases ? w->o->aliases[alias].value : name;
    uint32_t id = tg_strmap_add(w->names, name);
    if (id == known)
        *TG_ARENA_PUSH(w->a, w->interned, w->n_interned, w->cap_interned) = tg_arena_sv(w->a, name);
    return w->interned[id];
}

const char *tg_side_label(const struct tg_diff_work *w, int side)
{
    static const char *const usual[] = { "baseline", "fresh" };
    return w->o->label[side] ? w->o->label[side] : usual[side];
}

bool tg_op_in_some_steps(const struct tg_op *op)
{
    const struct tg_count_evidence *ev = &op->counted;
    return ev->proof != TG_COUNT_UNCHANGED && !op->launched && ev->above &&
           op->change != TG_FEWER && op->change != TG_REMOVED &&
           (ev->shape == TG_COUNT_SOME_STEPS || ev->shape == TG_COUNT_FIRST_STEP);
}

const struct tg_rank_shift *tg_op_rank_alone(const struct tg_comparison *c, const struct tg_op *op)
{
    const struct tg_rank_shift *s = op->shift;
    double ranks = (double)c->n_ranks[TG_TEST], more = op->count[TG_TEST] - op->count[TG_BASE];
    bool all = s && ranks > 1 && s->n == 1 &&
               fabs(s->count[TG_TEST] - s->count[TG_BASE] - ranks * more) < 1e-6 * ranks;
    return all ? s : NULL;
}

bool tg_has_device_ops(const struct tg_comparison *c)
{
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops)
        if (tg_kind_is_device(op->kind))
            return true;
    return false;
}

double tg_cell_time(const struct tg_diff_work *w, const struct tg_op *op, size_t at, size_t j,
                    enum tg_op_part part)
{
    const struct tg_diff_cell *cell = &op->rows->cell[at];
    size_t step = w->used[at].step[j];
    double sum = 0;
    for (size_t r = 0; r < cell->n; r++)
        sum += (double)(part == TG_OP_TOTAL ? cell->row[r]->total[step] : cell->row[r]->self[step]);
    return sum;
}
