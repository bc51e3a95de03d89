#ifndef TG_TESTS_BUILD_STEPS_H
#define TG_TESTS_BUILD_STEPS_H
/* A trace made in memory (build_trace.h) and its steps: for tests of what comes after both. */
#include "core/steps/steps.h"
#include "tests/build_trace.h"
#include "tests/support.h"

struct built {
    struct bt b;
    struct tg_steps s;
    const struct tg_trace *t; /* of the last built_steps */
};

static const struct tg_window_spec BUILT_AUTO = { .by = TG_WINDOW_AUTO };

/* Rows in a random order (`seed` 0: as added), and steps as `w` cuts them. */
static inline void built_steps(struct built *x, uint64_t seed, const struct tg_window_spec *w)
{
    struct tg_err err = TG_ERR_INIT;
    tg_steps_release(&x->s);
    x->t = bt_trace(&x->b, seed);
    assert_true(tg_steps_build(&x->s, x->t, w, &err));
}

static inline void built_release(struct built *x)
{
    tg_steps_release(&x->s);
    bt_release(&x->b);
}
#endif
