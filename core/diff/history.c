#include "core/diff/history.h"

#include "core/diff/internal.h"

/* What makes two recordings one environment; what else a user says with --meta is only shown. */
static const char *const fingerprint[] = {
    "device",      "devices",      "device_type", "world_size",    "cuda",
    "cuda_driver", "rocm",         "torch",       "cpu",           "backend",
    "nccl",        "clocks",       "with_stack",  "record_shapes", "profile_memory",
    "with_flops",  "with_modules",
};

static bool same_ranks(const struct tg_side *a, const struct tg_side *b)
{
    if (a->n_ranks != b->n_ranks)
        return false;
    for (size_t i = 0; i < a->n_ranks; i++)
        if (a->ranks[i] != b->ranks[i])
            return false;
    return true;
}

const char *tg_history_unfit(const struct tg_side *base, const struct tg_side *earlier)
{
    const struct tg_shard *a = base->at[0][0], *b = earlier->at[0][0];
    struct tg_err ignored;

    tg_err_init(&ignored);
    if (!same_ranks(base, earlier))
        return "other ranks";
    if (!tg_shard_comparable(a, b, &ignored) || a->marked != b->marked)
        return "steps cut in another way";
    for (size_t i = 0; i < sizeof fingerprint / sizeof *fingerprint; i++)
        if (!tg_sv_eq(tg_shard_env(a, fingerprint[i]), tg_shard_env(b, fingerprint[i])))
            return "another environment";
    return NULL;
}

/* The baseline's own runs first, then the earlier ones; `group` as tg_compare_opts wants it. */
static struct tg_side pool(const struct tg_side *base, const struct tg_side *earlier, size_t n,
                           unsigned **group, struct tg_arena *a)
{
    struct tg_side all = *base;
    size_t runs = base->n_runs;

    for (size_t i = 0; i < n; i++)
        runs += earlier[i].n_runs;
    all.at = TG_NEW_N(a, const struct tg_shard **, runs + 1);
    *group = TG_NEW_N(a, unsigned, runs + 1);
    memcpy(all.at, base->at, base->n_runs * sizeof *all.at);
    for (size_t i = 0; i < n; i++)
        for (size_t run = 0; run < earlier[i].n_runs; run++) {
            (*group)[all.n_runs] = (unsigned)i + 1;
            all.at[all.n_runs++] = earlier[i].at[run];
        }
    return all;
}

static const struct tg_op *op_like(const struct tg_comparison *c, const struct tg_op *op)
{
    size_t low = 0, high = c->n_ops; /* sorted by kind, then name */

    while (low < high) {
        size_t mid = low + (high - low) / 2;
        const struct tg_op *at = &c->ops[mid];
        int order =
            at->kind != op->kind ? (at->kind < op->kind ? -1 : 1) : tg_sv_cmp(at->name, op->name);
        if (order == 0)
            return at;
        if (order < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static void adopt(struct tg_evidence *own, const struct tg_evidence *all)
{
    if (own->judged == TG_JUDGED || own->judged == TG_NOT_FEW_RUNS)
        *own = *all;
}

/* Where the program did the same then, all runs speak. Returns whether it did everywhere. */
static bool adopt_ops(struct tg_comparison *c, const struct tg_comparison *all)
{
    bool everywhere = true;

    for (size_t i = 0; i < c->n_ops; i++) {
        struct tg_op *op = &c->ops[i];
        const struct tg_op *like = op_like(all, op);
        bool fits = like && like->agreed && like->change == TG_SAME;
        if (op->change != TG_SAME || op->polling)
            continue;
        if (fits) {
            adopt(&op->ev, &like->ev);
            adopt(&op->ev_total, &like->ev_total);
        } else if (tg_kind_is_counted(op->kind)) {
            everywhere = false;
        }
    }
    return everywhere && c->n_ops == all->n_ops;
}

static void adopt_step(struct tg_comparison *c, const struct tg_comparison *all)
{
    adopt(&c->step.ev, &all->step.ev);
    adopt(&c->step.ev_total, &all->step.ev_total);
    for (int i = 0; i < TG_MEASURES; i++)
        adopt(&c->measures[i].ev, &all->measures[i].ev);
}

bool tg_compare_with_history(struct tg_comparison *out, const struct tg_side *base,
                             const struct tg_side *test, const struct tg_side *earlier, size_t n,
                             const struct tg_compare_opts *o, struct tg_arena *a,
                             struct tg_err *err)
{
    struct tg_compare_opts pooled = *o;
    struct tg_comparison all;
    unsigned *group;
    struct tg_side side;

    if (!tg_compare(out, base, test, o, a, err))
        return false;
    if (n == 0)
        return true;
    side = pool(base, earlier, n, &group, a);
    pooled.base_group = group;
    if (!tg_compare(&all, &side, test, &pooled, a, err))
        return false;
    out->n_history = n;
    out->n_history_runs = side.n_runs - base->n_runs;
    out->drift = all.drift;
    out->drifted = all.drifted;
    if (adopt_ops(out, &all))
        adopt_step(out, &all);
    return true;
}
