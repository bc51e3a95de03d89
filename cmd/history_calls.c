/* An event that changes calls alone, as `check` judges it. */
#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"
#include "cmd/history.h"

struct pair {
    struct tg_gate gate;
    struct tg_verdict verdict;
    const struct tg_store *store;
    const struct tg_stored_night *after;
    bool judged;
    struct tg_err why;
};

static void take_after(void *arg, size_t i, const struct tg_side *side, bool damaged,
                       const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_TEST] = *side;
    p->judged = tg_gate_judge(&p->verdict, &p->gate, &p->why);
}

/* A side is there until its call ends: the night after is read within that of the night before. */
static void take_before(void *arg, size_t i, const struct tg_side *side, bool damaged,
                        const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_BASE] = *side;
    p->judged = tg_nights_each(p->store, p->after, 1, take_after, p, NULL, &p->why) && p->judged;
}

static bool is_timed(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].worse && (e->v[i].what == TG_MOVED_STEP || e->v[i].what == TG_MOVED_DRIFT))
            return true;
    return false;
}

bool tg_history_cmd_calls_pass(struct tg_history_cmd *c, const struct tg_nights *n,
                               const struct tg_history_event *e, bool *pass, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_suites s = { .io = c->io, .repo = c->repo, .arena = a };
    struct pair p = { .store = &c->store, .after = &n->runs[e->to], .why = TG_ERR_INIT };
    *pass = false;
    if (is_timed(e))
        return true;
    bool ok = tg_suites_load(&s, "tracegate:recommended", NULL, err) &&
              tg_suites_choose(&s, NULL, TG_SUITES_ONE, err);
    if (ok) {
        p.gate = (struct tg_gate){
            .policy = s.policy, .suite = s.v[0], .io = c->io, .arena = a, .more_suites = true
        };
        tg_gate_compare_opts(&p.gate.compare, s.policy, s.v[0], a);
        ok = tg_nights_each(&c->store, &n->runs[e->from], 1, take_before, &p, NULL, err);
    }
    *pass = ok && p.judged &&
            (p.verdict.outcome == TG_OUTCOME_PASS || p.verdict.outcome == TG_OUTCOME_WARN);
    tg_policy_free(s.policy);
    return ok;
}
