/*
 * A verdict in stages (core/diff/confirm.h): whether it is final, how many runs it asks for, and what of
 * them cannot be told. An open time is never green.
 */
#include <math.h>

#include "core/diff/confirm.h"
#include "core/diff/numbers.h"
#include "policy/verdict/internal.h"
#include "policy/verdict/phrase.h"

#define NAMED 3 /* names in a sentence */

/* A time that is open, or that cannot be told. */
static bool is_asked(const struct tg_result *r, enum tg_asked asked)
{
    return r->state == TG_STATE_NOT_JUDGED && r->ev && r->ev->asked == asked;
}

/* " +12.0 % (+4.1 to +20.5 %)": two standard errors either way. */
static void put_interval(struct tg_buf *b, const struct tg_evidence *ev)
{
    double low = 100 * expm1(ev->e - 2 * ev->se), high = 100 * expm1(ev->e + 2 * ev->se);
    if (isfinite(ev->e) && isfinite(low) && isfinite(high))
        tg_buf_printf(b, " %+.1f %% (%+.1f to %+.1f %%)", 100 * expm1(ev->e), low, high);
}

/* "aten::mm +12.0 % (+4.1 to +20.5 %), aten::add … and 2 more"; how many. */
static size_t put_names(struct tg_buf *b, const struct tg_eval_state *e, enum tg_asked asked)
{
    size_t n = 0;
    for (size_t i = 0; i < e->n; i++) {
        const struct tg_result *r = &e->results[i];
        if (!is_asked(r, asked) || n++ >= NAMED)
            continue;
        tg_buf_printf(b, "%s" TG_NAME, n > 1 ? ", " : "", TG_SV_ARG(r->op_normalised));
        if (asked == TG_ASKED_UNTOLD)
            tg_buf_printf(b, " (varies by %s)", TG_VALUE(100 * r->ev->noise, TG_UNIT_PERCENT));
        else
            put_interval(b, r->ev);
    }
    if (n > NAMED)
        tg_buf_printf(b, " and %zu more", n - NAMED);
    return n;
}

static void open_guard(struct tg_eval_state *e, tg_sv message, const char *next)
{
    tg_eval_message(tg_eval_add(e, NULL), TG_STATE_INCONCLUSIVE, TG_SUBJECT_GUARD, TG_NEED_NEW_RUNS,
                    TG_SV("(asked again)"), message, tg_sv_of(next));
}

void tg_stages_close(struct tg_eval_state *e)
{
    const struct tg_asking *asking = e->in->comparison->asking;
    TG_BUF open = { 0 }, untold = { 0 };
    size_t n_open, n_untold, more = 0;
    if (!asking || asking->early)
        return;
    e->out->n_suspects = n_open = put_names(&open, e, TG_ASKED_OPEN);
    n_untold = put_names(&untold, e, TG_ASKED_UNTOLD);
    if (n_open)
        e->out->suspects = tg_arena_sv(e->arena, tg_buf_sv(&open));
    for (size_t i = 0; i < e->n; i++)
        if (is_asked(&e->results[i], TG_ASKED_UNTOLD) && e->results[i].ev->tell_runs > more)
            more = e->results[i].ev->tell_runs;
    if (tg_result_first(e->results, e->n, TG_STATE_FAIL))
        return;
    if (n_open)
        open_guard(e,
                   TG_SV_PRINTF(e->arena, "%s asked again: %s",
                                n_open == 1 ? "looks slower, and is" : "look slower, and are",
                                open.p),
                   tg_arena_printf(e->arena, "Record %zu runs a side in all: new ones tell.",
                                   asking->next));
    if (n_untold)
        open_guard(e,
                   TG_SV_PRINTF(e->arena, "cannot be told within %zu runs a side: %s",
                                asking->first + asking->new, untold.p),
                   more ? tg_arena_printf(e->arena,
                                          "About %zu runs a side would tell (--max-runs), or a "
                                          "larger --detect.",
                                          asking->first + more)
                        : "Allow more runs a side (--max-runs): new ones have to tell.");
}

/*
 * What the first run of each side proves: an operator's number of calls that is the same in all steps of a side.
 * One that varies from step to step may vary from run to run, and kernels are a library's choice.
 */
static bool is_proven_early(const struct tg_verdict *v, const struct tg_comparison *c)
{
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        const struct tg_op *op = r->subject == TG_SUBJECT_NAME ? tg_result_op(c, r) : NULL;
        if (op && r->state == TG_STATE_FAIL && r->grounds == TG_GROUNDS_COUNT &&
            !tg_kind_is_device(op->kind) && op->counted.shape == TG_COUNT_CONSTANT)
            return true;
    }
    return false;
}

size_t tg_stages_next(const struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_verdict *v = e->out;
    if (!c->asking)
        return 0;
    if (c->asking->early)
        return is_proven_early(v, c) ? 0 : c->asking->next;
    if (v->outcome == TG_OUTCOME_FAIL)
        return 0;
    bool disturbed = (c->busy || c->other_data) && c->n_withheld;
    return v->n_suspects || e->account_open || disturbed ? c->asking->next : 0;
}

/* What a verdict in stages states; its rates: docs/experiments/ask-again.md. */
void tg_stages_note(struct tg_eval_state *e)
{
    const struct tg_asking *asking = e->in->comparison->asking;
    const char *new = "";
    if (!asking || asking->early)
        return;
    if (asking->new)
        new = tg_arena_printf(e->arena, ", then %zu new ones for what looked slower", asking->new);
    TG_NOTE(e, TG_REASON_NONE,
            "On recorded CPU models, with up to 17 runs a side, the same code failed in 3 of "
            "1,000 cases, and +20 % on one operator was found in 8 of 10.",
            "judged in stages: %zu runs a side%s; a time that looks slower fails "
            "only if new runs confirm it, from %s on; the size that matters is %s",
            asking->first, new, TG_PCT(100 * TG_ASK_SIZE), TG_PCT(100 * asking->detect));
}
