/* Ranks that one side lacks: nothing is averaged over other ranks than on the other side. */
#include <inttypes.h>

#include "core/diff/internal.h"

/* Every rank that any run of either side has, ascending. */
static size_t all_ranks(const struct tg_side side[2], int64_t **out, struct tg_arena *a)
{
    size_t n = 0;
    int64_t *v = TG_NEW_N(
        a, int64_t, side[0].n_ranks + side[0].n_partial + side[1].n_ranks + side[1].n_partial + 1);

    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; i < side[s].n_ranks; i++)
            v[n++] = side[s].ranks[i];
        for (size_t i = 0; i < side[s].n_partial; i++)
            v[n++] = side[s].partial[i];
    }
    *out = v;
    return tg_sort_distinct(v, n);
}

void tg_ranks_put(struct tg_buf *b, const int64_t *v, size_t n)
{
    enum { MOST = 8 }; /* pieces of text */
    size_t pieces = 0;

    tg_buf_puts(b, n == 1 ? "rank " : "ranks ");
    for (size_t i = 0, j; i < n; i = j) {
        for (j = i + 1; j < n && v[j] == v[j - 1] + 1; j++)
            ;
        if (++pieces > MOST) {
            tg_buf_printf(b, " and %zu more", n - i);
            return;
        }
        tg_buf_printf(b, "%s%" PRId64, i ? ", " : "", v[i]);
        if (j - i > 2)
            tg_buf_printf(b, "–%" PRId64, v[j - 1]);
        else if (j - i == 2)
            tg_buf_printf(b, ", %" PRId64, v[j - 1]);
    }
}

static bool none_in_common(const struct tg_diff_work *w, const struct tg_side s[2],
                           struct tg_err *err)
{
    struct tg_buf text[2] = { { 0 }, { 0 } };

    for (int side = 0; side < 2; side++) {
        struct tg_buf *b = &text[side];
        if (s[side].n_ranks == 1 && s[side].ranks[0] < 0)
            tg_buf_puts(b, "a trace without a rank");
        else
            tg_ranks_put(b, s[side].ranks, s[side].n_ranks);
    }
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "the sides have no rank in common: the %s side has %s, the %s side %s",
               tg_side_label(w, TG_BASE), text[TG_BASE].p, tg_side_label(w, TG_TEST),
               text[TG_TEST].p);
    for (int side = 0; side < 2; side++)
        tg_buf_release(&text[side]);
    return tg_err_hint(err, "Ranks are compared with themselves: record the same ones on both "
                            "sides.");
}

/* One trace a run on either side: what their ranks are does not matter. */
static bool is_one_against_one(const struct tg_side side[2])
{
    return side[TG_BASE].n_ranks == 1 && side[TG_TEST].n_ranks == 1 && !side[TG_BASE].n_partial &&
           !side[TG_TEST].n_partial;
}

bool tg_common_ranks(struct tg_diff_work *w, struct tg_err *err)
{
    struct tg_comparison *c = w->c;
    const struct tg_side in[2] = { c->side[TG_BASE], c->side[TG_TEST] };
    int64_t *all;
    size_t n;

    for (int side = 0; side < 2; side++)
        c->n_brought[side] = c->side[side].n_ranks;
    if (w->o->ranks[TG_BASE] || w->o->ranks[TG_TEST])
        return true; /* chosen by hand */
    if (is_one_against_one(in) && (in[TG_BASE].ranks[0] < 0 || in[TG_TEST].ranks[0] < 0))
        return true;
    n = all_ranks(in, &all, w->a);
    for (int side = 0; side < 2; side++) {
        const struct tg_side *s = &c->side[side];
        int64_t *v = TG_NEW_N(w->a, int64_t, n + 1);
        for (size_t i = 0; i < n; i++)
            if (!tg_is_among(s->ranks, s->n_ranks, all[i]))
                v[c->n_lacking[side]++] = all[i];
        c->lacking[side] = v;
    }
    if (is_one_against_one(in))
        return true;
    if (c->n_lacking[TG_BASE] || c->n_lacking[TG_TEST]) {
        for (int side = 0; side < 2; side++) {
            const struct tg_side *s = &in[side], *other = &in[!side];
            bool *keep = TG_NEW_N(w->a, bool, s->n_ranks + 1);
            for (size_t r = 0; r < s->n_ranks; r++)
                keep[r] = tg_is_among(other->ranks, other->n_ranks, s->ranks[r]);
            tg_side_keep(&w->c->side[side], keep, w->a);
        }
    }
    if (c->side[TG_BASE].n_ranks)
        return true;
    c->side[TG_BASE] = in[TG_BASE];
    c->side[TG_TEST] = in[TG_TEST];
    return w->o->any_ranks || none_in_common(w, in, err);
}
