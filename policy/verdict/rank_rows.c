/*
 * Many ranks in one row. Each rule with `rank: each` has a result for every rank; beyond
 * TG_RANK_ROWS ranks there is one row for each name: the worst rank's, which ranks share its state,
 * and how the change is distributed over all of them.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

struct changes {
    float *v;
    size_t n, cap;
};

struct tg_rank_row {
    struct tg_result worst;
    int64_t *rank; /* those in the worst state, ascending */
    size_t n_rank, cap_rank;
    size_t n;           /* ranks */
    struct changes pct; /* of ranks with values and a baseline, in %; */
    struct changes by;  /* of those without one, in the unit */
    int64_t worst_rank;
};

void tg_rank_rows_init(struct tg_rank_rows *x)
{
    *x = (struct tg_rank_rows){ 0 };
    tg_strmap_init(&x->names);
    tg_strmap_init(&x->rules);
}

void tg_rank_rows_release(struct tg_rank_rows *x)
{
    for (size_t i = 0; i < x->names.n; i++) {
        free(x->v[i].rank);
        free(x->v[i].pct.v);
        free(x->v[i].by.v);
    }
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
    if (to.ev) {
        struct tg_evidence *ev = TG_NEW(a, struct tg_evidence);
        *ev = *to.ev;
        to.ev = ev;
    }
    return to;
}

/* The row of a result's name; a new one is zero. */
static struct tg_rank_row *row_of(struct tg_rank_rows *x, const struct tg_result *r)
{
    TG_BUF key = { 0 };
    size_t known = x->names.n;
    tg_buf_printf(&key, "%.*s\n%.*s\n%.*s\n", TG_SV_ARG(r->rule), TG_SV_ARG(tg_result_kind(r)),
                  TG_SV_ARG(tg_result_metric(r)));
    tg_buf_add(&key, r->plain.n ? r->plain : r->op);
    uint32_t id = tg_strmap_add(&x->names, tg_buf_sv(&key));
    if (id == known) {
        x->v = tg_grow(x->v, &x->cap, x->names.n, sizeof *x->v);
        x->v[id] = (struct tg_rank_row){ .worst_rank = -1 };
    }
    return &x->v[id];
}

static bool is_worse(const struct tg_result *a, const struct tg_result *b)
{
    if (a->state != b->state)
        return a->state > b->state;
    return a->has_values && (!b->has_values || fabs(a->delta) > fabs(b->delta));
}

static void add_change(struct tg_rank_row *row, const struct tg_result *r)
{
    bool pct = isfinite(r->delta_pct);
    struct changes *c = pct ? &row->pct : &row->by;
    if (!r->has_values)
        return;
    *TG_PUSH(c->v, c->n, c->cap) = (float)(pct ? r->delta_pct : r->delta);
}

void tg_rank_rows_add(struct tg_rank_rows *x, const struct tg_result *r, int64_t rank,
                      struct tg_arena *a)
{
    struct tg_rank_row *row = row_of(x, r);
    bool first = row->n == 0;
    (void)tg_strmap_add(&x->rules, r->rule);
    row->n++;
    add_change(row, r);
    if (r->state > row->worst.state)
        row->n_rank = 0;
    if (r->state >= row->worst.state) {
        *TG_PUSH(row->rank, row->n_rank, row->cap_rank) = rank;
    }
    if (first || (r->message.n && is_worse(r, &row->worst))) {
        row->worst = tg_result_copy(r, a);
        row->worst_rank = rank;
    }
}

/* ---- the rows ---- */

static int by_change(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return TG_CMP(x, y);
}

static void put_change(struct tg_buf *b, const struct tg_result *r, float change)
{
    enum tg_unit unit = tg_rule_metric_info(r->metric)->unit;
    if (isfinite(r->delta_pct) || unit == TG_UNIT_PERCENT)
        tg_buf_printf(b, "%+.1f %%", fabsf(change) < 0.05F ? 0.0 : (double)change);
    else
        tg_buf_puts(b, TG_SIGNED((double)change, unit));
}

bool tg_rank_rows_have(const struct tg_rank_rows *x, tg_sv rule)
{
    return tg_strmap_find(&x->rules, rule) != TG_NO_ID;
}

void tg_rank_rows_put(struct tg_rank_rows *x, struct tg_eval_state *e)
{
    for (size_t i = 0; i < x->names.n; i++) {
        struct tg_rank_row *row = &x->v[i];
        struct tg_buf b = { 0 };
        tg_buf_add(&b, row->worst.plain.n ? row->worst.plain : row->worst.op);
        tg_buf_puts(&b, " [");
        if (row->n_rank == row->n && row->n > 1)
            tg_buf_printf(&b, "%zu ranks", row->n);
        else
            tg_ranks_put(&b, row->rank, row->n_rank);
        tg_buf_putc(&b, ']');
        row->worst.op_normalised = tg_phrase_take(&b, e->arena);
        row->worst.names_itself = false; /* not with the ranks */
        /* "8 of 4096 ranks, most on rank 17; on all: median +0.1 %, from −2.0 % to +31.0 %". In %
         * and in the unit are two things: told are the ranks that have what the worst one has. */
        const struct tg_result *r = &row->worst;
        tg_buf_add(&b, r->evidence);
        tg_buf_puts(&b, b.n ? "; " : "");
        tg_buf_printf(&b, "%zu of %zu ranks", row->n_rank, row->n);
        if (r->has_values) {
            const struct changes *c = isfinite(r->delta_pct) ? &row->pct : &row->by;
            TG_SORT(c->v, c->n, by_change);
            tg_buf_printf(&b, ", these are the values of rank %lld; change on ",
                          (long long)row->worst_rank);
            if (c->n < row->n)
                tg_buf_printf(&b, "%zu of them: median ", c->n);
            else
                tg_buf_puts(&b, "all: median ");
            put_change(&b, r, c->v[c->n / 2]);
            tg_buf_puts(&b, ", from ");
            put_change(&b, r, c->v[0]);
            tg_buf_puts(&b, " to ");
            put_change(&b, r, c->v[c->n - 1]);
        }
        row->worst.evidence = tg_phrase_take(&b, e->arena);
        *tg_eval_add(e, NULL) = row->worst;
    }
}
