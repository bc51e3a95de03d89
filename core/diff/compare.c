/* The stages of a comparison in order. */
#include "core/diff/uses.h"

/*
 * Counts that vary follow the data. If most of them lie where the baseline's never were, the fresh
 * runs had other data, and other work: longer durations then say nothing about the program.
 */
static void find_other_data(struct tg_comparison *c)
{
    size_t vary = 0, moved = 0;
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        const struct tg_count_evidence *ev = &op->counted;
        if (ev->shape != TG_COUNT_VARIES || op->polling || op->choice ||
            !tg_kind_is_counted(op->kind))
            continue;
        vary++;
        moved += ev->proof == TG_COUNT_HINT && ev->above && !ev->by_step;
    }
    c->other_data = vary >= TG_FEW_VARY && 2 * moved > vary;
}

bool tg_compare(struct tg_comparison *out, const struct tg_side *base, const struct tg_side *test,
                const struct tg_compare_opts *o, struct tg_arena *a, struct tg_err *err)
{
    static const struct tg_compare_opts defaults = { 0 };
    struct tg_diff_work *w = TG_NEW(a, struct tg_diff_work);
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    *out = (struct tg_comparison){ .arena = a };
    out->side[TG_BASE] = *base;
    out->side[TG_TEST] = *test;
    w->c = out;
    w->o = o ? o : &defaults;
    w->a = a;
    w->names = &names;
    tg_strmap_init(&names);
    tg_runs_leave(w);
    /* One shard a side speaks for all: arranging has compared those of one side. */
    if (base->n_runs && base->n_ranks && test->n_runs && test->n_ranks &&
        !tg_shard_comparable(base->at[0][0], test->at[0][0], err))
        return false;
    if (!tg_align(w, err))
        return false;
    size_t nb = out->n_runs[TG_BASE], nt = out->n_runs[TG_TEST];
    if (!w->o->no_evidence) { /* as many runs on each side: one table serves both directions */
        w->rank[0] = tg_rank_table_new(nb, nt, a);
        w->rank[1] = nb == nt ? w->rank[0] : tg_rank_table_new(nt, nb, a);
    }
    tg_callers_find(w);
    tg_compare_env(w);
    tg_compare_attrs(w);
    /* A comparison in which no count differs has no places. */
    bool differs = false;
    TG_EACH(const struct tg_op, op, out->ops, w->n_cells ? out->n_ops : 0)
        differs |= tg_kind_is_counted(op->kind) && !op->polling &&
                   (op->change != TG_SAME || op->counted.proof != TG_COUNT_UNCHANGED);
    if (differs)
        tg_uses_index(w);
    tg_choices_find(w);
    tg_small_numbers(w);
    tg_small_find(w, TG_SLIGHT_FREE);
    tg_places_balance(w);
    tg_small_find(w, TG_SLIGHT_SMALL);
    find_other_data(out);
    tg_leaders_find(w);
    if (!w->o->no_evidence) {
        tg_evidence_of_ops(w);
        tg_excuse_moves(w);
        tg_evidence_of_places(w);
    }
    tg_compare_metrics(w);
    tg_compare_numbers(w);
    tg_places_repay(w);
    tg_account_close(w);
    tg_gradients_compare(w);
    tg_rank_alone_find(w);
    tg_straggler_find(w);
    tg_compare_bytes(w);
    tg_regions_close(out);
    w->names = NULL;
    return true;
}
