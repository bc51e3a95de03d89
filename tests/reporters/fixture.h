#ifndef TG_TESTS_REPORTERS_FIXTURE_H
#define TG_TESTS_REPORTERS_FIXTURE_H
/* Verdicts built by hand, so that reports are tested without the stages before them. */
#include "core/base/arena.h"
#include "policy/verdict/verdict.h"

enum fixture {
    FIXTURE_PASS,
    FIXTURE_WARN,
    FIXTURE_FAIL, /* counts, durations, gap, attributes, folded callers, replacement, waiver */
    FIXTURE_INCONCLUSIVE,
    FIXTURE_LOST,
    FIXTURE_FIRST_RUN,
    FIXTURE_ERROR,
    FIXTURE_HOSTILE, /* what a stranger may put into names, paths, refs and messages */
    FIXTURE_LARGE,   /* 2,000 rows, 1,200 of them failing */
    FIXTURES
};
const char *fixture_name(enum fixture f); /* "pass", "warn", … */
const struct tg_verdict *fixture_make(enum fixture f, struct tg_arena *a);

/* Names that end code spans, cells, tags, comments, CDATA, strings and lines. */
extern const tg_sv hostile_names[];
extern const size_t n_hostile_names;
/* The k-th of many: pseudo-random mixtures of the above, always the same. */
tg_sv hostile_name(unsigned k, struct tg_arena *a);
#endif
