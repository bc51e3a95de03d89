#ifndef TG_TESTS_CORE_SUMMARY_TRACED_H
#define TG_TESTS_CORE_SUMMARY_TRACED_H
/* Summaries of traces that are made by hand. */
#include "core/summary/summary.h"
#include "tests/build_trace.h"
#include "tests/support.h"

struct traced {
    struct bt b;
    struct tg_summary s;
    struct tg_err err;
};

/* Released where its block ends. */
#define SUMMARY struct tg_summary TG_AUTO(tg_summary_release)

static inline struct tg_summary no_shards(void)
{
    struct tg_summary s;
    tg_summary_init(&s);
    return s;
}

static inline void traced_set_up(struct traced *f)
{
    bt_init(&f->b);
    tg_summary_init(&f->s);
    tg_err_init(&f->err);
}

static inline void traced_tear_down(struct traced *f)
{
    tg_summary_release(&f->s);
    bt_release(&f->b);
}

#define TRACED(name) TEST_IN(struct traced, f, traced_set_up, traced_tear_down, name)

static inline bool traced_add(struct tg_summary *to, struct bt *b, uint64_t seed,
                              const struct tg_summarize_opts *o, struct tg_err *err)
{
    TG_AUTO(tg_steps_release) struct tg_steps steps;
    const struct tg_trace *t = bt_trace(b, seed);
    bool ok =
        tg_steps_build(&steps, t, &o->window, err) && tg_summary_of_trace(to, t, &steps, o, err);
    return ok;
}
#endif
