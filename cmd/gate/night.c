/* Earlier nights as they were: judged again by today's policy, to know what failed then already. */
#include "cmd/gate/internal.h"

struct asked {
    struct tg_check *c;
    struct tg_check_job *j;
};

static enum tg_seen change_start(void *arg, struct tg_commit *out, struct tg_err *err)
{
    const struct asked *x = arg;
    return tg_check_change_start(x->c, x->c->repo.git, out, err);
}

static bool failures_of(void *arg, const char *night, struct tg_known **out, size_t *n,
                        struct tg_err *err)
{
    const struct asked *x = arg;
    struct tg_check c = *x->c;
    struct tg_check_job j = { .suite = x->j->suite, .policy = x->j->policy };
    struct tg_summary summary[2];
    struct tg_err why = TG_ERR_INIT;
    struct tg_arena *a = x->c->arena;
    *n = 0;
    tg_summary_init(&summary[TG_BASE]);
    tg_summary_init(&summary[TG_TEST]);
    c.arena = c.suites.arena = tg_arena_new();
    bool ok = tg_check_find_of_night(&c, &j, night, &why);
    /* Both sides are stored, so nothing is reported or kept, and no remote is asked. */
    tg_check_begin(&c, &j);
    j.gate.waivers_used = NULL;
    j.gate.more_suites = true;
    for (int side = 0; ok && side < 2; side++) {
        const struct tg_check_reading r = { .summary = &summary[side],
                                            .files = side == TG_BASE ? &j.base : &j.fresh,
                                            .damage = &j.gate.damage[side] };
        ok = tg_check_read(&c, &j, side, &r, &why);
    }
    ok = ok && tg_gate_judge(&j.verdict, &j.gate, &why);
    if (ok)
        *out = TG_NEW_N(a, struct tg_known, j.verdict.n_results + 1);
    for (size_t i = 0; ok && i < j.verdict.n_results; i++) {
        struct tg_known *k = &(*out)[*n];
        if (!tg_known_failure(&j.verdict.results[i], k))
            continue;
        k->name = tg_arena_sv(a, k->name);
        k->rule = tg_arena_sv(a, k->rule);
        (*n)++;
    }
    /* A night without a baseline had no failure. In a shallow clone that may be all there is. */
    ok = ok || why.kind == TG_ERR_NONE || why.kind == TG_ERR_LOST || tg_git_is_shallow(c.repo.git);
    if (!ok)
        *err = why;
    for (int side = 0; side < 2; side++) {
        tg_summary_release(&summary[side]);
        tg_damage_release(&j.gate.damage[side]);
    }
    tg_arena_free(c.arena);
    return ok;
}

void tg_check_ask_nights(struct tg_check *c, struct tg_check_job *j)
{
    struct asked *x = TG_NEW(c->arena, struct asked);
    if (j->named) /* whoever chose the commit wants all that came since */
        return;
    *x = (struct asked){ c, j };
    j->known = (struct tg_known_ask){ .git = c->repo.git,
                                      .suite = j->suite->name,
                                      .since = j->oldest ? j->oldest : j->commit,
                                      .until = change_start,
                                      .failures = failures_of,
                                      .arg = x,
                                      .arena = c->arena };
    j->gate.known = &j->known;
}
