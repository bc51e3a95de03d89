/*
 * Ranks of which a stored side holds no more than the step times, and those that were loaded without
 * names: of the former nothing else is compared, of the latter no operator.
 */
#include "core/diff/internal.h"

enum lack { LACKS_ALL_BUT_STEPS, LACKS_NAMES };

/* In any of the side's runs. */
static bool lacks(const struct tg_side *s, size_t column, enum lack what)
{
    for (size_t run = 0; run < s->n_runs; run++) {
        const struct tg_shard *at = s->at[run][column];
        if (what == LACKS_ALL_BUT_STEPS ? at->steps_only : at->unnamed)
            return true;
    }
    return false;
}

/* The ranks of which either side lacks something, ascending. */
static size_t list_them(struct tg_diff_work *w, enum lack what, const int64_t **out)
{
    struct tg_comparison *c = w->c;
    int64_t *v = TG_NEW_N(w->a, int64_t, c->side[TG_BASE].n_ranks + c->side[TG_TEST].n_ranks + 1);
    size_t n = 0;

    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r < c->side[side].n_ranks; r++)
            if (lacks(&c->side[side], r, what))
                v[n++] = c->side[side].ranks[r];
    *out = v;
    return tg_sort_distinct(v, n);
}

static void drop(struct tg_diff_work *w, struct tg_side *s, const int64_t *ranks, size_t n)
{
    bool *keep = TG_NEW_N(w->a, bool, s->n_ranks + 1);

    for (size_t r = 0; r < s->n_ranks; r++)
        keep[r] = !tg_is_among(ranks, n, s->ranks[r]);
    tg_side_keep(s, keep, w->a);
}

static bool none_is_whole(int side, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "for the ranks of the %s side, the stored side has step times only",
               side == TG_BASE ? "baseline" : "fresh");
    return tg_err_hint(err, "`tracegate baseline show` lists the ranks that are stored in full: "
                            "compare one of these too.");
}

bool tg_diff_drop_steps_only(struct tg_diff_work *w, struct tg_side measured[2], struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const int64_t *unnamed;

    c->n_steps_only = list_them(w, LACKS_ALL_BUT_STEPS, &c->steps_only);
    for (int side = 0; side < 2; side++) {
        if (c->n_steps_only)
            drop(w, &c->side[side], c->steps_only, c->n_steps_only);
        measured[side] = c->side[side];
    }
    c->n_unnamed = list_them(w, LACKS_NAMES, &unnamed);
    for (int side = 0; side < 2; side++) {
        if (c->n_unnamed)
            drop(w, &c->side[side], unnamed, c->n_unnamed);
        if ((c->n_steps_only || c->n_unnamed) && c->side[side].n_ranks == 0)
            return none_is_whole(side, err);
    }
    return true;
}
