#ifndef TG_TESTS_CORE_DIFF_BY_HAND_H
#define TG_TESTS_CORE_DIFF_BY_HAND_H
/* Shards made by hand, and the comparison of two sides of them. Times are in ns; unless said
 * otherwise a step lasts 1 ms, so that the floor of 0.1 % is 1000 ns. */
#include "core/diff/compare.h"
#include "tests/support.h"

struct tg_policy;
enum { MAX_ROWS = 40, MAX_RUNS = 10, MAX_STEPS = 12 };

struct fixture {
    struct tg_arena *a;
    struct tg_err err;
    struct tg_comparison c;
    struct tg_side side[2];
    struct tg_compare_opts o;
    struct tg_policy *policy; /* of tests that ask one; else NULL */
};

static inline void near(double got, double want)
{
    if (!(fabs(got - want) <= 1e-9 * fmax(1, fabs(want))))
        fail_msg("got %.17g, want %.17g", got, want);
}

static inline void within(double got, double want, double by)
{
    if (!(fabs(got - want) <= by))
        fail_msg("got %.17g, want %.17g", got, want);
}

static inline struct tg_shard *empty_shard(struct fixture *f, int64_t rank, size_t steps)
{
    struct tg_shard *h = TG_NEW(f->a, struct tg_shard);
    h->marked = true;
    h->rank = rank;
    h->n_steps = steps;
    h->steps = TG_NEW_N(f->a, struct tg_step, steps);
    for (size_t j = 0; j < steps; j++)
        h->steps[j] = (struct tg_step){ .number = (int64_t)j + 3,
                                        .start = (tg_ns)j * 1000000,
                                        .end = (tg_ns)(j + 1) * 1000000 };
    h->gap_count = TG_NEW_N(f->a, uint32_t, steps);
    h->rows = TG_NEW_N(f->a, struct tg_row, MAX_ROWS);
    h->metrics = TG_NEW_N(f->a, struct tg_metric_value, TG_METRICS * steps);
    return h;
}

/* `runs` of `ranks` empty marked shards of `steps` steps of 1 ms on a side: ranks `first`, ... */
static inline void make_ranks(struct fixture *f, int side, size_t runs, size_t ranks, int64_t first,
                              size_t steps)
{
    struct tg_side *s = &f->side[side];
    s->n_runs = runs;
    s->n_ranks = ranks;
    s->ranks = TG_NEW_N(f->a, int64_t, ranks);
    for (size_t k = 0; k < ranks; k++)
        s->ranks[k] = first + (int64_t)k;
    s->at = TG_NEW_N(f->a, const struct tg_shard **, runs);
    for (size_t r = 0; r < runs; r++) {
        s->at[r] = TG_NEW_N(f->a, const struct tg_shard *, ranks);
        for (size_t k = 0; k < ranks; k++)
            s->at[r][k] = empty_shard(f, s->ranks[k], steps);
    }
}

/* Of one rank, whose number is not known. */
static inline void make_side(struct fixture *f, int side, size_t runs, size_t steps)
{
    make_ranks(f, side, runs, 1, -1, steps);
}

static inline void make(struct fixture *f, size_t nb, size_t nt, size_t steps)
{
    make_side(f, TG_BASE, nb, steps);
    make_side(f, TG_TEST, nt, steps);
}

static inline struct tg_shard *shard_of(struct fixture *f, int side, size_t run, size_t rank)
{
    return (struct tg_shard *)(uintptr_t)f->side[side].at[run][rank];
}

static inline struct tg_shard *shard(struct fixture *f, int side, size_t run)
{
    return shard_of(f, side, run, 0);
}

/*
 * A row of a shard: `count[j]` calls in step j, each of `ns` (odd numbers keep the tick at 1 ns).
 */
static inline struct tg_row *add_to(struct fixture *f, struct tg_shard *h, enum tg_kind kind,
                                    const char *name, const char *parent, const uint32_t *count,
                                    tg_ns ns)
{
    struct tg_row *row = &h->rows[h->n_rows++];
    struct tg_row_key *key = TG_NEW(f->a, struct tg_row_key);
    size_t n = 0, sum = 0;
    assert_true(h->n_rows <= MAX_ROWS);
    *key = (struct tg_row_key){ .name = tg_sv_of(name),
                                .cat = TG_SV("cpu_op"),
                                .parent = tg_sv_of(parent),
                                .kind = kind,
                                .device = tg_kind_is_device(kind) ? 0 : -1,
                                .stream = tg_kind_is_device(kind) ? 7 : -1 };
    *row = (struct tg_row){ .key = key };
    row->count = TG_NEW_N(f->a, uint32_t, h->n_steps + 1);
    row->total = TG_NEW_N(f->a, tg_ns, h->n_steps + 1);
    row->self = TG_NEW_N(f->a, tg_ns, h->n_steps + 1);
    for (size_t j = 0; j < h->n_steps; j++)
        sum += count[j];
    row->slots = TG_NEW_N(f->a, tg_ns, sum + 1);
    for (size_t j = 0; j < h->n_steps; j++) {
        row->count[j] = count[j];
        row->total[j] = row->self[j] = (tg_ns)count[j] * ns;
        for (size_t k = 0; k < count[j]; k++)
            row->slots[n++] = ns;
    }
    return row;
}

/* Of one run. */
static inline struct tg_row *add_counts(struct fixture *f, int side, size_t run, enum tg_kind kind,
                                        const char *name, const char *parent, const uint32_t *count,
                                        tg_ns ns)
{
    return add_to(f, shard(f, side, run), kind, name, parent, count, ns);
}

/* The same in every step. */
static inline struct tg_row *add_row(struct fixture *f, int side, size_t run, enum tg_kind kind,
                                     const char *name, const char *parent, uint32_t count, tg_ns ns)
{
    uint32_t each[MAX_STEPS];
    for (size_t j = 0; j < MAX_STEPS; j++)
        each[j] = count;
    return add_counts(f, side, run, kind, name, parent, each, ns);
}

/* What so many of its calls have: 8 such values at most. */
static inline void add_attr(struct fixture *f, struct tg_row *row, enum tg_attr_kind kind,
                            const char *value, uint64_t times)
{
    if (!row->attrs)
        row->attrs = TG_NEW_N(f->a, struct tg_attr, 8);
    assert_true(row->n_attrs < 8);
    row->attrs[row->n_attrs++] = (struct tg_attr){ kind, tg_sv_of(value), times };
}

/* A metric of a shard in a step. */
static inline void set_metric(struct tg_shard *h, enum tg_metric m, size_t step, int64_t num,
                              int64_t den)
{
    h->metrics[m * h->n_steps + step] = (struct tg_metric_value){ true, num, den };
}

/* What the one call of a step takes. */
static inline void set_call(struct tg_row *row, size_t step, tg_ns ns)
{
    row->slots[step] = row->self[step] = row->total[step] = ns;
}

/* In every run of a side, all alike. */
static inline void add_all(struct fixture *f, int side, enum tg_kind kind, const char *name,
                           const char *parent, uint32_t count, tg_ns ns)
{
    for (size_t r = 0; r < f->side[side].n_runs; r++)
        add_row(f, side, r, kind, name, parent, count, ns);
}

/* Of both sides: calls of so many ns each before and after. */
static inline void add_both(struct fixture *f, enum tg_kind kind, const char *name,
                            const char *parent, uint32_t calls, tg_ns ns, uint32_t fresh_calls,
                            tg_ns fresh_ns)
{
    add_all(f, TG_BASE, kind, name, parent, calls, ns);
    add_all(f, TG_TEST, kind, name, parent, fresh_calls, fresh_ns);
}

static inline void add_same(struct fixture *f, enum tg_kind kind, const char *name,
                            const char *parent, uint32_t calls, tg_ns ns)
{
    add_both(f, kind, name, parent, calls, ns, calls, ns);
}

/* One operator, one call a step, another time in each run: base[], then test[]. */
static inline void add_times(struct fixture *f, const char *name, const tg_ns *base,
                             const tg_ns *test)
{
    for (size_t r = 0; r < f->side[TG_BASE].n_runs; r++)
        add_row(f, TG_BASE, r, TG_KIND_OP, name, "", 1, base[r]);
    for (size_t r = 0; r < f->side[TG_TEST].n_runs; r++)
        add_row(f, TG_TEST, r, TG_KIND_OP, name, "", 1, test[r]);
}

/* What a shard tells of its machine or its profiler. */
static inline void set_env(struct fixture *f, struct tg_shard *h, const char *key,
                           const char *value)
{
    h->env = TG_NEW(f->a, struct tg_kv);
    *h->env = (struct tg_kv){ tg_sv_of(key), tg_sv_of(value) };
    h->n_env = 1;
}

static inline void compare(struct fixture *f)
{
    if (!tg_compare(&f->c, &f->side[TG_BASE], &f->side[TG_TEST], &f->o, f->a, &f->err))
        fail_msg("%s", f->err.message);
}

static inline const struct tg_op *find(struct fixture *f, const char *name)
{
    for (size_t i = 0; i < f->c.n_ops; i++)
        if (tg_sv_eq(f->c.ops[i].name, tg_sv_of(name)))
            return &f->c.ops[i];
    fail_msg("no operator '%s'", name);
    return NULL;
}

static inline void is_text(tg_sv got, const char *want)
{
    if (!tg_sv_eq(got, tg_sv_of(want)))
        fail_msg("got '%.*s', want '%s'", TG_SV_ARG(got), want);
}

static inline void by_hand_set_up(struct fixture *f)
{
    f->a = tg_arena_new();
    tg_err_init(&f->err);
}

static inline void by_hand_tear_down(struct fixture *f)
{
    tg_arena_free(f->a);
}
#define BY_HAND(name) TEST_IN(struct fixture, f, by_hand_set_up, by_hand_tear_down, name)
#endif
