/*
 * Ranks in one row. A rule with `rank: each` has a result for every rank, and a row for each name:
 * the worst rank's, and which ranks share its state.
 */
#include <math.h>
#include <stdlib.h>

#include "policy/verdict/internal.h"

struct tg_rank_row {
    struct tg_result worst;
    int64_t worst_rank, *rank;  /* those in the worst state, ascending */
    size_t n_rank, cap_rank, n; /* n: ranks */
    bool differ;                /* in their change */
};

void tg_rank_rows_init(struct tg_rank_rows *x)
{
    *x = (struct tg_rank_rows){ 0 };
    tg_strmap_init(&x->names);
    tg_strmap_init(&x->rules);
}

void tg_rank_rows_release(struct tg_rank_rows *x)
{
    for (size_t i = 0; i < x->names.n; i++)
        free(x->v[i].rank);
    free(x->v);
    tg_strmap_release(&x->names);
    tg_strmap_release(&x->rules);
}

/* A copy whose texts and evidence live in `a`: those of a part go with its comparison. */
struct tg_result tg_result_copy(const struct tg_result *r, struct tg_arena *a)
{
    struct tg_result to = *r;
    tg_sv *const texts[] = { &to.op,         &to.op_normalised, &to.plain, &to.calling_op,
                             &to.message,    &to.evidence,      &to.next,  &to.limit,
                             &to.limit_said, &to.source,        &to.attrs };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = tg_arena_sv(a, *texts[i]);
    if (to.why_not)
        to.why_not = tg_arena_sv(a, tg_sv_of(to.why_not)).p;
    if (to.ev)
        to.ev = tg_arena_copy(a, to.ev, 1, sizeof *to.ev);
    return to;
}

void tg_rank_rows_add(struct tg_rank_rows *x, const struct tg_result *r, int64_t rank,
                      struct tg_arena *a)
{
    TG_BUF key = { 0 }; /* its rule and its name */
    size_t known = x->names.n;
    tg_buf_printf(&key, "%.*s\n%.*s\n%.*s\n", TG_SV_ARG(r->rule), TG_SV_ARG(tg_result_kind(r)),
                  TG_SV_ARG(tg_result_metric(r)));
    tg_buf_add(&key, r->plain.n ? r->plain : r->op);
    uint32_t id = tg_strmap_add(&x->names, tg_buf_sv(&key));
    if (id == known) {
        x->v = tg_grow(x->v, &x->cap, x->names.n, sizeof *x->v);
        x->v[id] = (struct tg_rank_row){ .worst_rank = -1 };
    }
    struct tg_rank_row *row = &x->v[id];
    const struct tg_result *worst = &row->worst;
    bool larger = r->has_values && (!worst->has_values || fabs(r->delta) > fabs(worst->delta));
    bool worse = r->state != worst->state ? r->state > worst->state : larger;
    bool first = row->n == 0;
    (void)tg_strmap_add(&x->rules, r->rule);
    x->n_ranks += !x->n_ranks || rank != x->last_rank;
    x->last_rank = rank;
    row->differ |= !first && r->delta != worst->delta;
    row->n++;
    if (r->state > row->worst.state)
        row->n_rank = 0;
    if (r->state >= row->worst.state)
        *TG_PUSH(row->rank, row->n_rank, row->cap_rank) = rank;
    if (first || (r->message.n && worse)) {
        row->worst = tg_result_copy(r, a);
        row->worst_rank = rank;
    }
}

bool tg_rank_rows_have(const struct tg_rank_rows *x, tg_sv rule)
{
    return tg_strmap_find(&x->rules, rule) != TG_NO_ID;
}

void tg_rank_rows_put(struct tg_rank_rows *x, struct tg_eval_state *e)
{
    TG_EACH(struct tg_rank_row, row, x->v, x->names.n) {
        struct tg_result *r = &row->worst;
        TG_BUF ranks = { 0 };
        if (row->n_rank == row->n && row->n > 1)
            tg_buf_printf(&ranks, "%zu ranks", row->n);
        else
            tg_ranks_put(&ranks, row->rank, row->n_rank);
        /* What all ranks do alike is about the name; a guard is about all. */
        bool alike = row->n_rank == x->n_ranks && x->n_ranks > 1 && r->has_values && !row->differ;
        tg_sv name = r->plain.n ? r->plain : r->op;
        if (!tg_result_is_guard(r))
            r->op_normalised =
                alike ? name : TG_SV_PRINTF(e->arena, "%.*s [%s]", TG_SV_ARG(name), ranks.p);
        r->names_itself &= alike; /* not with the ranks */
        if (row->n > 1 && !tg_result_is_guard(r))
            r->evidence = TG_SV_PRINTF(e->arena, "%.*s%s%zu of %zu ranks", TG_SV_ARG(r->evidence),
                                       r->evidence.n ? "; " : "", row->n_rank, row->n);
        if (row->differ)
            r->evidence = TG_SV_PRINTF(e->arena, "%.*s, these are the values of rank %lld",
                                       TG_SV_ARG(r->evidence), (long long)row->worst_rank);
        *tg_eval_add(e, NULL) = *r;
    }
}
