/*
 * What takes longer on one rank alone is one event: its rows are under the first of the worst, whose
 * sentence tells of the rank. Of equal state one of that rank itself comes first, then a name.
 */
#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "core/diff/numbers.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

/* Is it about time that this rank alone took more of? The step's is longer by at most as much. */
static bool is_of_rank(const struct tg_result *r, const struct tg_comparison *c,
                       const struct tg_strmap *names)
{
    const struct tg_rank_alone *alone = c->rank_alone;
    if ((r->state != TG_STATE_FAIL && r->state != TG_STATE_WARN) || !r->has_values ||
        r->over_budget || r->dimension != TG_DIM_DURATION || !(r->delta > 0) ||
        (r->of_rank >= 0 && r->of_rank != alone->rank))
        return false;
    if (r->subject == TG_SUBJECT_NAME)
        return tg_strmap_find(names, r->plain) != TG_NO_ID;
    return (r->subject == TG_SUBJECT_TRACE || r->subject == TG_SUBJECT_STEP) &&
           r->delta <= TG_AS_LARGE * (alone->value[TG_TEST] - alone->value[TG_BASE]);
}

static unsigned leads_by(const struct tg_result *r)
{
    return (r->state == TG_STATE_FAIL ? 4U : 0U) + (r->of_rank >= 0 ? 2U : 0U) +
           (r->subject == TG_SUBJECT_NAME ? 1U : 0U);
}

void tg_phrase_rank_alone(struct tg_buf *b, const struct tg_comparison *c)
{
    const struct tg_rank_alone *alone = c->rank_alone;
    const struct tg_op *named = NULL;
    for (size_t i = 0; i < c->n_ops && !named; i++)
        named = c->ops[i].on_rank_alone ? &c->ops[i] : NULL;
    if (alone->n_names > 1 || !named)
        tg_buf_printf(b, "%zu %s", alone->n_names, alone->device ? "kernels" : "operators");
    else
        tg_buf_printf(b, TG_NAME, TG_SV_ARG(named->name));
    double more = alone->of_names[TG_TEST] - alone->of_names[TG_BASE];
    double pct = 100 * more / alone->of_names[TG_BASE];
    if (tg_dec_pct_tells(pct))
        tg_buf_printf(b, " %s", TG_PCT(pct));
    tg_buf_printf(b, " (%s)", TG_SIGNED(more, TG_UNIT_NS));
}

void tg_fold_rank(struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    TG_AUTO(tg_strmap_release) struct tg_strmap names = { 0 };
    uint32_t head = TG_NO_ID;
    if (!c || !c->rank_alone)
        return;
    tg_strmap_init(&names);
    for (size_t i = 0; i < c->n_ops; i++)
        if (c->ops[i].on_rank_alone)
            (void)tg_strmap_add(&names, c->ops[i].name);
    for (uint32_t i = 0; i < e->n; i++)
        if (is_of_rank(&e->results[i], c, &names) &&
            (head == TG_NO_ID || leads_by(&e->results[i]) > leads_by(&e->results[head])))
            head = i;
    for (uint32_t i = 0; head != TG_NO_ID && i < e->n; i++)
        if (i != head && is_of_rank(&e->results[i], c, &names))
            e->results[i].folded_under = head;
    if (head == TG_NO_ID)
        return;
    e->results[head].folded_under = TG_NO_ID;
    for (uint32_t i = 0; i < e->n; i++) /* what was under one of them */
        while (i != head && e->results[i].folded_under != TG_NO_ID &&
               e->results[e->results[i].folded_under].folded_under != TG_NO_ID)
            e->results[i].folded_under = e->results[e->results[i].folded_under].folded_under;
    struct tg_result *r = &e->results[head];
    const struct tg_rank_alone *alone = c->rank_alone;
    size_t others = c->n_ranks[TG_TEST] - 1;
    struct tg_buf b = { 0 };
    r->one_rank = true;
    tg_buf_printf(&b, "rank %lld alone: ", (long long)alone->rank);
    tg_phrase_rank_alone(&b, c);
    tg_buf_printf(&b, ": together %s per step, was %s; the other %s as before%s",
                  TG_BESIDE(alone->of_names[TG_TEST], alone->of_names[TG_BASE], TG_UNIT_NS),
                  TG_BESIDE(alone->of_names[TG_BASE], alone->of_names[TG_TEST], TG_UNIT_NS),
                  others == 1 ? "rank works" : "ranks work",
                  !c->straggler ? ""
                  : others == 1 ? " and waits for it"
                                : " and wait for it");
    r->message = tg_phrase_take(&b, e->arena);
    r->next = TG_SV_PRINTF(e->arena,
                           "All ranks run the same program: look at the machine of rank %lld "
                           "first (clock, temperature, other jobs), then at its data.",
                           (long long)alone->rank);
}
