/*
 * `check --ask`: a verdict in stages (core/diff/confirm.h). Whoever makes the runs asks after each
 * stage how many there have to be; the plan, what is judged and
 * when it is final are decided here alone.
 */
#include <math.h>

#include "cmd/gate/internal.h"
#include "core/base/decimal.h"
#include "core/base/message.h"
#include "core/diff/numbers.h"

bool tg_check_ask_options(struct tg_check *c, struct tg_err *err)
{
    const struct tg_policy_ab *ab = &c->suites.policy->ab;
    const char *text = c->o->detect;
    const tg_sv said = text ? tg_sv_of(text) : ab->detect.n ? ab->detect : TG_SV("20%");
    tg_sv number = said;
    int64_t most = c->o->max_runs != TG_OPT_UNSET ? c->o->max_runs
                   : ab->max_runs                 ? ab->max_runs
                                                  : TG_ASK_FIRST + TG_ASK_LOOKS * TG_ASK_NEW;
    double pct;
    if (!c->o->ask)
        return true;
    if (number.n && number.p[number.n - 1] == '%')
        number.n--;
    if (!tg_dec_double(number, &pct) || !isfinite(pct) || pct <= 0 || pct > 1000)
        return tg_err_usage(err, "--detect '%.*s' is not a size",
                            "Give the slowdown that matters in percent, at most 1000%: --detect "
                            "20%.",
                            TG_SV_ARG(said));
    if (most < 1 || most > 1000)
        return tg_err_usage(err, "--max-runs '%s' is not from 1 to 1000",
                            "Give the most runs a side that there may be.",
                            tg_arena_printf(c->arena, "%lld", (long long)most));
    c->ask = (struct tg_gate_ask){ pct / 100, (size_t)most };
    return true;
}

bool tg_check_ask_begin(struct tg_check *c, struct tg_err *err)
{
    if (!c->o->ask)
        return true;
    if (!c->args->n || !c->o->baseline.n)
        return tg_err_usage(err, "--%s needs the fresh traces and --baseline",
                            "Name both: stages judge one suite against one baseline.", "ask");
    c->stages.standard = c->io->out;
    return tg_given_sides(c->again, &c->o->again, "again", &c->repo, c->arena, err) &&
           tg_outputs_open(&c->stages, c->o->ask, &c->stages_at, err);
}

bool tg_check_ask_load(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    if (!c->o->ask || !j->named) /* other baselines of the policy have no new runs */
        return true;
    j->gate.ask = &c->ask;
    j->gate.has_again = c->again[TG_BASE].n > 0;
    for (int side = 0; j->gate.has_again && side < 2; side++) {
        const struct tg_check_reading r = { .summary = &j->again[side],
                                            .files = &c->again[side],
                                            .to = &j->gate.again[side] };
        tg_summary_release(&j->again[side]);
        tg_summary_init(&j->again[side]);
        if (!tg_check_read(c, j, side, &r, err))
            return tg_err_context(err, "reading the new runs");
    }
    return !j->gate.has_again || tg_check_new_runs(j, err);
}

void tg_check_ask_keep(struct tg_check *c, const struct tg_check_job *j)
{
    if (j->verdict.next_runs > c->next_runs)
        c->next_runs = j->verdict.next_runs;
    c->n_suspects += j->verdict.n_suspects;
    if (j->verdict.suspects.n)
        c->suspects = tg_arena_sv(c->arena, j->verdict.suspects);
}

bool tg_check_ask_end(struct tg_check *c, struct tg_err *err)
{
    TG_BUF b = { 0 };
    if (!c->o->ask)
        return true;
    size_t first = c->next_runs < TG_ASK_FIRST ? c->next_runs : TG_ASK_FIRST;
    tg_buf_printf(&b, "%zu %zu %zu\n", first, c->next_runs - first, c->n_suspects);
    tg_message_put_plain(&b, c->suspects);
    tg_buf_puts(&b, c->suspects.n ? "\n" : "");
    return tg_outputs_put(&c->stages, c->stages_at, tg_buf_sv(&b), err) &&
           tg_outputs_commit(&c->stages, err);
}
