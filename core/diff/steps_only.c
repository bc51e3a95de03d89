/*
 * Ranks of which a stored side holds no more than the step times: nothing else of them is compared.
 */
#include <stdlib.h>

#include "core/diff/internal.h"

static bool column_of(const struct tg_side *s, int64_t rank, size_t *column)
{
    for (*column = 0; *column < s->n_ranks; ++*column)
        if (s->ranks[*column] == rank)
            return true;
    return false;
}

/* In any of the side's runs. */
static bool is_steps_only(const struct tg_side *s, size_t column)
{
    for (size_t run = 0; run < s->n_runs; run++)
        if (s->at[run][column]->steps_only)
            return true;
    return false;
}

static int ascending(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* The ranks that either side leaves out. */
static void list_them(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    int64_t *v = TG_NEW_N(w->a, int64_t, c->side[TG_BASE].n_ranks + c->side[TG_TEST].n_ranks + 1);
    size_t n = 0, kept = 0;

    for (int side = 0; side < 2; side++)
        for (size_t r = 0; r < c->side[side].n_ranks; r++)
            if (is_steps_only(&c->side[side], r))
                v[n++] = c->side[side].ranks[r];
    if (n)
        qsort(v, n, sizeof *v, ascending);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[i - 1])
            v[kept++] = v[i];
    c->steps_only = v;
    c->n_steps_only = kept;
}

static bool none_is_whole(int side, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "for the ranks of the %s side, the stored side has step times only",
               side == TG_BASE ? "baseline" : "fresh");
    return tg_err_hint(err, "`tracegate baseline show` lists the ranks that are stored in full: "
                            "compare one of these too.");
}

bool tg_diff_drop_steps_only(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;

    list_them(w);
    for (int side = 0; c->n_steps_only && side < 2; side++) {
        struct tg_side *s = &c->side[side];
        bool *keep = TG_NEW_N(w->a, bool, s->n_ranks + 1);
        size_t at;
        for (size_t r = 0; r < s->n_ranks; r++)
            keep[r] = true;
        for (size_t i = 0; i < c->n_steps_only; i++)
            if (column_of(s, c->steps_only[i], &at))
                keep[at] = false;
        tg_side_keep(s, keep, w->a);
        if (s->n_ranks == 0)
            return none_is_whole(side, err);
    }
    return true;
}
