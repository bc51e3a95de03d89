/*
 * Runs that another profile was recorded of. Shapes, stacks and memory cost time, so a run that records
 * them is not a sample beside runs that do not. If enough runs of both sides were recorded alike, the others
 * leave, and the comparison says which; a side that differs as a whole has nothing to be compared with.
 */
#include "core/diff/internal.h"
#include "core/diff/numbers.h"

static const char *const FLAGS[] = { "with_stack", "record_shapes", "profile_memory", "with_flops",
                                     "with_modules" };

size_t tg_profiler_flags(const char *const **flags)
{
    *flags = FLAGS;
    return sizeof FLAGS / sizeof *FLAGS;
}

/* "record_shapes=1, with_stack=0": what the run's first rank says. */
static tg_sv profile_of(const struct tg_side *side, size_t run, struct tg_arena *a)
{
    TG_BUF b = { 0 };

    for (size_t i = 0; side->n_ranks && i < sizeof FLAGS / sizeof *FLAGS; i++) {
        tg_sv value = tg_shard_env(side->at[run][0], FLAGS[i]);
        if (value.n)
            tg_buf_printf(&b, "%s%s=%.*s", b.n ? ", " : "", FLAGS[i], TG_SV_ARG(value));
    }
    return tg_arena_sv(a, tg_buf_sv(&b));
}

static size_t alike(const tg_sv *profile, size_t n, tg_sv as)
{
    size_t found = 0;

    for (size_t i = 0; i < n; i++)
        found += tg_sv_eq(profile[i], as);
    return found;
}

/* The profile of most runs of both sides; false: of not enough of them. */
static bool find_common(const struct tg_comparison *c, tg_sv *const profile[2], size_t least,
                        tg_sv *common)
{
    for (size_t i = 0; i < c->side[TG_BASE].n_runs; i++) {
        bool enough = true;
        for (int side = 0; side < 2; side++) {
            size_t n = c->side[side].n_runs, same = alike(profile[side], n, profile[TG_BASE][i]);
            enough = enough && same >= least && 2 * same > n;
        }
        *common = profile[TG_BASE][i];
        if (enough)
            return true;
    }
    return false;
}

void tg_runs_leave(struct tg_diff_work *w)
{
    struct tg_comparison *c = w->c;
    tg_sv *profile[2], common;
    size_t least = w->o->min_runs ? w->o->min_runs : TG_FEWEST_RUNS, alike_all = 0;

    for (int side = 0; side < 2; side++) {
        profile[side] = TG_NEW_N(w->a, tg_sv, c->side[side].n_runs + 1);
        for (size_t run = 0; run < c->side[side].n_runs; run++)
            profile[side][run] = profile_of(&c->side[side], run, w->a);
    }
    if (!c->side[TG_BASE].n_runs || !find_common(c, profile, least, &common))
        return;
    for (int side = 0; side < 2; side++)
        alike_all += alike(profile[side], c->side[side].n_runs, common);
    if (alike_all == c->side[TG_BASE].n_runs + c->side[TG_TEST].n_runs)
        return;
    c->left = TG_NEW_N(c->arena, struct tg_left_run,
                       c->side[TG_BASE].n_runs + c->side[TG_TEST].n_runs - alike_all);
    for (int side = 0; side < 2; side++) {
        struct tg_side *s = &c->side[side];
        const struct tg_shard ***at = TG_NEW_N(c->arena, const struct tg_shard **, s->n_runs);
        size_t kept = 0;
        for (size_t run = 0; run < s->n_runs; run++) {
            if (tg_sv_eq(profile[side][run], common))
                at[kept++] = s->at[run];
            else
                c->left[c->n_left++] = (struct tg_left_run){ .side = side,
                                                             .run = run,
                                                             .source = s->at[run][0]->source,
                                                             .profile = profile[side][run] };
        }
        s->at = at;
        s->n_runs = kept;
    }
}
