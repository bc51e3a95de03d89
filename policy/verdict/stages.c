/* A verdict in stages (core/diff/confirm.h): whether it is final, how many runs it asks for, and
 * what of them cannot be told. An open time is never green. */
#include <math.h>
#include <string.h>

#include "core/diff/confirm.h"
#include "policy/verdict/internal.h"

enum { NAMED = 3, MOST_HIDDEN = 5 }; /* names in a sentence; those of a pass */
/* Measured on recorded models, with up to MEASURED_RUNS a side: docs/experiments/ask-again.md,
 * which tests/e2e/ab.py compares. */
enum {
    MEASURED_RUNS = TG_ASK_FIRST + TG_ASK_LOOKS * TG_ASK_NEW,
    RED_OF_1000 = 2,
    FOUND_OF_100 = 86
};
enum { MOST_RUNS = 100 }; /* per side: nobody would make more */

/* The one that looks slower most is most likely to be. */
static int by_rank_test(const void *pa, const void *pb)
{
    const struct tg_result *a = *(const struct tg_result *const *)pa,
                           *b = *(const struct tg_result *const *)pb;
    int c = TG_CMP(a->ev->p, b->ev->p), e = TG_CMP(b->ev->e, a->ev->e);
    return c ? c : e ? e : tg_sv_cmp(a->op_normalised, b->op_normalised);
}

struct names { /* of times, in the order of their rank tests */
    const struct tg_result **v;
    size_t n, runs; /* runs per side that would tell of all; 0: unknown */
    double share;   /* of the step */
};

/* Times that are open, that cannot be told, or, of NOT, that could hide the size that matters. */
static struct names find_names(const struct tg_eval_state *e, enum tg_asked asked)
{
    const struct tg_asking *asking = e->in->comparison->asking;
    double step_ns = e->in->comparison->step_ns[TG_BASE];
    struct names x = { .v = TG_NEW_N(e->arena, const struct tg_result *, e->n + 1) };
    TG_EACH(const struct tg_result, r, e->results, e->n) {
        bool listed = r->ev && r->state == TG_STATE_NOT_JUDGED && r->ev->asked == asked;
        if (!asked) /* judged, a part of the step that is asked about, and yet it could hide it */
            listed = r->ev && r->state == TG_STATE_PASS && r->subject == TG_SUBJECT_NAME &&
                     r->of_rank < 0 && r->ev->why_not == TG_JUDGED &&
                     r->ev->value[TG_BASE] >= TG_ASK_PART * step_ns &&
                     !tg_confirm_excludes(r->ev, asking->detect);
        if (!listed)
            continue;
        size_t runs =
            r->ev->asked ? r->ev->tell_runs : tg_confirm_runs(r->ev, asking->first, asking->detect);
        x.runs = runs > x.runs ? runs : x.runs;
        x.share += isfinite(r->share) ? r->share : 0;
        x.v[x.n++] = r;
    }
    TG_SORT(x.v, x.n, by_rank_test);
    return x;
}

/* "aten::mm +12.0 % (+4.1 to +20.5 %), aten::add … and 2 more" */
static const char *text_of(const struct names *x, enum tg_asked asked, struct tg_arena *a)
{
    TG_BUF b = { 0 };
    struct tg_message_list list = { .most = asked ? NAMED : MOST_HIDDEN };
    for (size_t i = 0; i < x->n && tg_message_list_next(&list, &b); i++) {
        tg_buf_printf(&b, TG_NAME,
                      TG_SV_ARG(x->v[i]->subject == TG_SUBJECT_STEP ? TG_SV(TG_HOST_GAP)
                                                                    : x->v[i]->op_normalised));
        const struct tg_evidence *ev = x->v[i]->ev;
        if (asked == TG_ASKED_OPEN || (asked && !ev->tell_runs)) {
            /* " +12.0 % (+4.1 to +20.5 %)": two standard errors either way. */
            double low = 100 * expm1(ev->e - 2 * ev->se), high = 100 * expm1(ev->e + 2 * ev->se);
            if (isfinite(ev->e) && isfinite(low) && isfinite(high))
                tg_buf_printf(&b, " %+.1f %% (%+.1f to %+.1f %%)", 100 * expm1(ev->e), low, high);
        } else {
            tg_buf_printf(&b, " (varies by %s)", TG_VALUE(100 * ev->noise, TG_UNIT_PERCENT));
        }
    }
    list.n = x->n;
    (void)tg_message_list_end(&list, &b);
    return tg_arena_printf(a, "%s", b.p);
}

/* What to do where new runs could not tell. */
static const char *what_would_tell(const struct tg_eval_state *e, const struct names *untold)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_asking *asking = c->asking;
    if (asking->disturbed)
        return "All names rose together in the new runs: run it again on an idle machine.";
    if (c->warming != 0)
        return TG_NEXT_WARM;
    if (c->busy)
        return TG_NEXT_MACHINE(e);
    if (c->other_data)
        return TG_NEXT_DATA;
    if (!untold->runs)
        return "Allow more runs a side (--max-runs): new ones have to tell.";
    return tg_arena_printf(e->arena,
                           "About %zu runs a side would tell (--max-runs), or a larger --detect.",
                           asking->first + untold->runs);
}

void tg_stages_close(struct tg_eval_state *e)
{
    const struct tg_asking *asking = e->in->comparison->asking;
    if (!asking || asking->early)
        return;
    bool unsettled = false;
    /* A rule asks for times of a device whose speed still changes within the runs. */
    for (size_t i = 0; asking->next && i < e->n; i++)
        unsettled |= e->results[i].ev && e->results[i].ev->why_not == TG_NOT_WARM;
    struct names open = find_names(e, TG_ASKED_OPEN), untold = find_names(e, TG_ASKED_UNTOLD);
    e->out->n_suspects = open.n;
    e->asks_again = unsettled; /* the account, which comes after, only sets it */
    e->out->suspects = tg_sv_of(open.n      ? text_of(&open, TG_ASKED_OPEN, e->arena)
                                : unsettled ? tg_judged_text(TG_NOT_WARM)
                                            : "");
    if (tg_result_first(e->results, e->n, TG_STATE_FAIL))
        return;
    if (open.n)
        TG_OPEN(e, TG_NEED_NEW_RUNS, "(asked again)",
                tg_arena_printf(e->arena, "%s asked again: %s",
                                open.n == 1 ? "looks slower, and is" : "look slower, and are",
                                text_of(&open, TG_ASKED_OPEN, e->arena)),
                tg_arena_printf(e->arena, "Record %zu runs a side in all: new ones tell.",
                                asking->next));
    else if (unsettled)
        TG_OPEN(
            e, TG_NEED_NEW_RUNS, "(asked again)",
            tg_arena_printf(e->arena, "%s: its times are asked again", tg_judged_text(TG_NOT_WARM)),
            tg_arena_printf(e->arena, "Record %zu runs a side in all. " TG_NEXT_WARM,
                            asking->next));
    if (untold.n)
        TG_OPEN(e, TG_NEED_NEW_RUNS, "(asked again)",
                tg_arena_printf(e->arena, "cannot be told within %zu runs a side: %s",
                                asking->first + asking->new,
                                text_of(&untold, TG_ASKED_UNTOLD, e->arena)),
                what_would_tell(e, &untold));
    /* A pass says what it could have missed: only a note, because most passes of the same code have
     * such names. */
    struct names hidden = { 0 };
    if (!open.n)
        hidden = find_names(e, TG_ASKED_NOT);
    if (hidden.n)
        TG_NOTE(e, TG_REASON_NONE,
                hidden.runs > MOST_RUNS
                    ? "More runs would not tell: record on a quieter machine, or name a larger "
                      "--detect."
                    : tg_arena_printf(e->arena,
                                      "One look at %zu runs a side would tell (`ab --once`), or a "
                                      "larger --detect.",
                                      hidden.runs),
                "%s could hide in %zu name%s, %s of the step: %s", TG_PCT(100 * asking->detect),
                hidden.n, TG_PLURAL(hidden.n), TG_VALUE(100 * hidden.share, TG_UNIT_PERCENT),
                text_of(&hidden, TG_ASKED_NOT, e->arena));
}

size_t tg_stages_next(const struct tg_eval_state *e)
{
    const struct tg_comparison *c = e->in->comparison;
    const struct tg_verdict *v = e->out;
    if (!c->asking)
        return 0;
    /* What the first run of each side proves: an operator's number of calls that is the same in all
     * steps of a side. One that varies from step to step may vary from run to run, and kernels are
     * a library's choice. A recording without events is a mistake that more of them repeat. */
    for (size_t i = 0; c->asking->early && i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        const struct tg_op *op = r->subject == TG_SUBJECT_NAME ? tg_result_op(c, r) : NULL;
        if (r->because == TG_NEED_FRESH_EVENTS ||
            (op && r->state == TG_STATE_FAIL && r->grounds == TG_GROUNDS_COUNT &&
             !tg_kind_is_device(op->kind) && op->counted.shape == TG_COUNT_CONSTANT))
            return 0;
    }
    if (c->asking->early)
        return c->asking->next;
    if (v->outcome == TG_OUTCOME_FAIL)
        return 0;
    return v->n_suspects || e->asks_again ? c->asking->next : 0;
}

/* What a verdict in stages states; its rates: docs/experiments/ask-again.md. */
void tg_stages_note(struct tg_eval_state *e)
{
    const struct tg_asking *asking = e->in->comparison->asking;
    const char *new = "";
    if (!asking || asking->early)
        return;
    if (!asking->new && !asking->next) {
        TG_NOTE(e, TG_REASON_NONE,
                tg_arena_printf(e->arena, "Allow %d runs a side or more (--max-runs, --budget).",
                                2 * TG_ASK_FIRST + 1),
                "judged in stages, without room for new runs after %zu a side: no time could fail, "
                "and %s may be missed",
                asking->first, TG_PCT(100 * asking->detect));
        return;
    }
    if (asking->new)
        new = tg_arena_printf(e->arena, ", then %zu new ones for what looked slower", asking->new);
    tg_sv measured = e->in->policy->ab.measured;
    const char *rates =
        measured.n ? tg_arena_printf(e->arena, "Measured by `tracegate calibrate` on %.*s.",
                                     TG_SV_ARG(measured))
                   : tg_arena_printf(e->arena,
                                     "On recorded CPU models, with up to %d runs a side, the same "
                                     "code failed in %d of 1,000 cases, and +20 %% on one operator "
                                     "was found in %d of 100; `tracegate calibrate` measures it "
                                     "for yours.",
                                     MEASURED_RUNS, RED_OF_1000, FOUND_OF_100);
    TG_NOTE(e, TG_REASON_NONE, rates,
            "judged in stages: %zu runs a side%s; a time that looks slower fails "
            "only if new runs confirm it, from %s on; the size that matters is %s",
            asking->first, new, TG_PCT(100 * TG_ASK_SIZE), TG_PCT(100 * asking->detect));
}
