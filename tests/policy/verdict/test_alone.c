/* alone.c: what is judged without a baseline. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_alone.txt, derived from docs/policy.md when it was written and read through at every change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "model.h"

#define COUNT(more)                                                                                \
    "rules: [{id: work, match: {kind: [kernel, memcpy, memset, graph, op, sync]}, metric: "        \
    "count, " more "}]\n"
#define ABS COUNT("fail: {abs: 0}")
#define TIME(more) "rules: [{id: time, match: {kind: kernel}, metric: self, " more "}]\n"
#define FOR(match) "rules: [{id: work, match: {" match "}, metric: count, fail: {abs: 0}}]\n"
#define OP "op|aten::op3"
#define KERNEL "kernel|aten::op3|void kern3(float*)|23"

static const struct model_row rows[] = {
    { .what = "alone: nothing asked",
      .policy = ABS,
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: steps",
      .policy = ABS "require: {steps: 9}",
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: steps, fail_on",
      .policy = ABS "require: {steps: 9}\nfail_on: [fail, inconclusive]",
      .test = { .more = OP },
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget warns, fail_on",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]\nfail_on: [fail, warn]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: two budgets",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget nobody carries",
      .policy = "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget nobody carries, optional",
      .policy = "rules: [{id: b, metric: mem_peak, fail: {max: 1GiB}, optional: true}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget without a match",
      .policy = "rules: [{id: b, match: {name: none}, metric: count, fail: {max: 1}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a change without a match",
      .policy = "rules: [{id: b, match: {name: none}, metric: count, fail: {abs: 1}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a waived budget",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]\nwaivers: [{rule: b, "
                "ceiling: {max: 99}, reason: r, expires: 2026-03-01}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget and a guard",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]\nrequire: {steps: 9}",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a time budget",
      .policy = TIME("fail: {max: 10us}"),
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a minimum",
      .policy = "rules: [{id: b, metric: sync_count, fail: {min: 9}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "first run fails: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "first run fails: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_FIRST_RUN_FAILS },
    { .what = "lost: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST },
    { .what = "lost: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST },
    { .what = "lost: a guard", .policy = ABS "require: {steps: 9}", .alone = MODEL_LOST },
    { .what = "lost: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST },
    { .what = "lost passes: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost passes: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST_PASSES },
    { .what = "lost fails: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_LOST_FAILS },
    { .what = "lost fails: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_LOST_FAILS },
    { .what = "error: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_ERROR },
    { .what = "error: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_ERROR },
    { .what = "error: a guard", .policy = ABS "require: {steps: 9}", .alone = MODEL_ERROR },
    { .what = "error: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_ERROR },
    { .what = "no baseline: kept",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 99}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: broken",
      .policy = "rules: [{id: b, metric: launch_count, fail: {max: 3}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: a guard",
      .policy = ABS "require: {steps: 9}",
      .alone = MODEL_NO_BASELINE },
    { .what = "no baseline: warns",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]",
      .alone = MODEL_NO_BASELINE },
    { .what = "alone: budgets warn and a guard",
      .policy = "rules: [{id: b, metric: launch_count, warn: {max: 3}}]\nrequire: {steps: 9}",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget with a change that is not judged",
      .policy =
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1s}, {pct: 10%}]}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget of what is new",
      .policy = "rules: [{id: b, match: {kind: op}, metric: added, fail: {max: 1us}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget of what is gone",
      .policy = "rules: [{id: b, match: {kind: op}, metric: removed, fail: {max: 1us}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: no rules", .policy = "", .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget and a change",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 9}}, {id: c, match: "
                "{kind: op}, metric: count, fail: {abs: 9}}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: an exceeded budget beside a change that is suspicious",
      .policy =
          "rules: [{id: b, match: {kind: kernel}, metric: self, fail: [{max: 1us}, {pct: 10%}]}]",
      .alone = MODEL_FIRST_RUN },
    { .what = "alone: a budget that is off for all",
      .policy = "rules: [{id: b, match: {kind: op}, metric: count, fail: {max: 0}, overrides: "
                "[{match: {name: '*'}, fail: off}]}]",
      .alone = MODEL_FIRST_RUN },
};

static void verdicts_are_as_written(void **state)
{
    (void)state;
    model_check("verdict_alone.txt", rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_are_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
