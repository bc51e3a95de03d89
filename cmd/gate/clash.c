/* One file in two roles: fresh and baseline, two ranks, input and report. */
#include <stdlib.h>

#include "cmd/gate/internal.h"
#include "core/base/sort.h"

static bool is_same(const struct tg_input_item *a, const struct tg_input_item *b)
{
    if (a->from_git && b->from_git)
        return strcmp(a->blob.oid, b->blob.oid) == 0;
    if (!a->from_git && !b->from_git)
        return tg_file_same(a->label, b->label);
    return a->from_git ? tg_git_same_bytes(&a->blob, b->label)
                       : tg_git_same_bytes(&b->blob, a->label);
}

bool tg_check_two_sides(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    size_t same = 0;
    if (c->args->n && c->o->baseline.n) /* both were named: whoever does so knows */
        return true;
    for (size_t i = 0; i < j->fresh.n; i++) {
        size_t k = 0;
        while (k < j->base.n && !is_same(&j->fresh.v[i], &j->base.v[k]))
            k++;
        same += k < j->base.n;
    }
    if (!same)
        return true;
    return tg_err_say(err, TG_ERR_IO, TG_NOWHERE,
                      "%zu of %zu fresh traces %s the baseline's own: '%s' is on both sides",
                      "A trace compared with itself shows nothing: `trace:` names what this "
                      "run recorded, `baseline:` what is committed.",
                      same, j->fresh.n, same == 1 ? "is" : "are", j->fresh.v[0].label);
}

/* ---- copies ---- */

static size_t shards_of(const struct tg_side *s)
{
    return s->n_runs * s->n_ranks;
}

static const struct tg_shard *shard_at(const struct tg_side *s, size_t i)
{
    return s->at[i / s->n_ranks][i % s->n_ranks];
}

/* Shards that could be one recording are neighbours by their steps' end. */
static int by_end(const void *pa, const void *pb)
{
    const struct tg_shard *a = *(const struct tg_shard *const *)pa;
    const struct tg_shard *b = *(const struct tg_shard *const *)pb;
    tg_ns x = a->n_steps ? a->steps[a->n_steps - 1].end : 0;
    tg_ns y = b->n_steps ? b->steps[b->n_steps - 1].end : 0;
    return TG_CMP(x, y);
}

static const struct tg_shard **sorted(const struct tg_side *s)
{
    size_t n = shards_of(s);
    const struct tg_shard **v = tg_xrealloc(NULL, n + 1, sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[i] = shard_at(s, i);
    TG_SORT(v, n, by_end);
    return v;
}

/* One of the n that holds the same recording; NULL: none. */
static const struct tg_shard *copy_of(const struct tg_shard *s, const struct tg_shard *const *v,
                                      size_t n)
{
    size_t i;
    TG_SEARCH(i, n, by_end(&v[i], &s) < 0);
    for (; i < n && by_end(&v[i], &s) == 0; i++)
        if (v[i] != s && tg_shard_same_recording(v[i], s))
            return v[i];
    return NULL;
}

/* "ranks 3, 5 of the fresh side are one recording: 'rank5.json'" */
static void note_ranks(struct tg_check *c, struct tg_check_job *j, int side,
                       const struct tg_shard *const *v)
{
    const struct tg_side *s = &j->gate.side[side];
    for (size_t i = 0; i < shards_of(s); i++) {
        const struct tg_shard *one = shard_at(s, i), *other = copy_of(one, v, shards_of(s));
        if (!other || other->rank == one->rank)
            continue;
        tg_verdict_add_note(
            &j->verdict, c->arena, TG_REASON_SAME_RECORDING,
            TG_SV_PRINTF(c->arena, "ranks %lld and %lld of the %s are one recording: '%.*s'",
                         (long long)one->rank, (long long)other->rank,
                         side == TG_BASE ? "baseline" : "fresh side", TG_SV_ARG(one->source)),
            TG_SV("A rank's file was copied to another name: each rank writes its own."));
        return;
    }
}

void tg_check_note_copies(struct tg_check *c, struct tg_check_job *j)
{
    const struct tg_shard **v[2];
    for (int side = 0; side < 2; side++) {
        v[side] = sorted(&j->gate.side[side]);
        note_ranks(c, j, side, v[side]);
    }
    /* "2 of 5 fresh traces are recordings of the baseline: 'run3.json'" */
    const struct tg_side *fresh = &j->gate.side[TG_TEST];
    const struct tg_shard *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < shards_of(fresh); i++)
        if (copy_of(shard_at(fresh, i), v[TG_BASE], shards_of(&j->gate.side[TG_BASE]))) {
            first = first ? first : shard_at(fresh, i);
            n++;
        }
    if (n)
        tg_verdict_add_note(
            &j->verdict, c->arena, TG_REASON_SAME_RECORDING,
            TG_SV_PRINTF(c->arena,
                         "%zu of %zu fresh traces %s the baseline's own recording: '%.*s'", n,
                         shards_of(fresh), n == 1 ? "is" : "are", TG_SV_ARG(first->source)),
            TG_SV("What is compared with itself shows nothing: did the job record, and keep, "
                  "traces of its own?"));
    free(v[TG_BASE]);
    free(v[TG_TEST]);
}

bool tg_check_new_runs(const struct tg_check_job *j, struct tg_err *err)
{
    for (int side = 0; side < 2; side++) {
        const struct tg_side *again = &j->gate.again[side];
        const struct tg_shard **first = sorted(&j->gate.side[side]), *copy = NULL;
        for (size_t i = 0; i < shards_of(again) && !copy; i++)
            if (copy_of(shard_at(again, i), first, shards_of(&j->gate.side[side])))
                copy = shard_at(again, i);
        free(first);
        if (!copy)
            continue;
        return tg_err_say(err, TG_ERR_IO, TG_NOWHERE, "the new run '%.*s' is one of the first runs",
                          "Runs that made a name a suspect cannot confirm it: record new "
                          "ones.",
                          TG_SV_ARG(copy->source));
    }
    return true;
}

bool tg_check_outputs(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err)
{
    return tg_inputs_spare(&j->fresh, &j->outputs, err) &&
           tg_inputs_spare(&j->base, &j->outputs, err) &&
           tg_inputs_spare(&c->cause[TG_BASE], &j->outputs, err) &&
           tg_inputs_spare(&c->cause[TG_TEST], &j->outputs, err) &&
           tg_inputs_spare(&c->again[TG_BASE], &j->outputs, err) &&
           tg_inputs_spare(&c->again[TG_TEST], &j->outputs, err) &&
           tg_inputs_spare_policy(c->suites.policy, &j->outputs, err);
}
