/* guards.c: what must hold before anything is judged. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_guards.txt, derived from docs/policy.md when it was written and read through at every change. */
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
    { .what = "nothing more", .policy = ABS },
    { .what = "no steps asked for", .policy = ABS },
    { .what = "require.steps", .policy = ABS "require: {steps: 5}" },
    { .what = "require.steps, just enough", .policy = ABS "require: {steps: 4}" },
    { .what = "require.steps, unmarked",
      .policy = ABS "require: {steps: 1}",
      .base = { .marker = "" },
      .test = { .marker = "" } },
    { .what = "require.kernels", .policy = ABS "require: {kernels: 13}" },
    { .what = "require.kernels, just enough", .policy = ABS "require: {kernels: 12}" },
    { .what = "require.ops", .policy = ABS "require: {ops: ['aten::op1', 'flash*']}" },
    { .what = "require.ops, all there", .policy = ABS "require: {ops: ['aten::op1', 'aten::*']}" },
    { .what = "require.ops, in the baseline alone",
      .policy = ABS "require: {ops: ['aten::op5']}",
      .test = { .gone = "aten::op5" } },
    { .what = "collapse",
      .policy = ABS,
      .test = { .work = "kernel|aten::op1|void kern1(float*)|21;op|aten::op2;op|aten::op3" } },
    { .what = "collapse, off",
      .policy = ABS "require: {collapse: off}",
      .test = { .work = "kernel|aten::op1|void kern1(float*)|21;op|aten::op2;op|aten::op3" } },
    { .what = "collapse and a failure",
      .policy = ABS,
      .test = { .work = "kernel|aten::op1|void kern1(float*)|21;op|aten::op2;op|aten::op3",
                .more = OP } },
    { .what = "two guards", .policy = ABS "require: {steps: 99, kernels: 99}" },
    { .what = "no markers on the fresh side", .policy = ABS, .test = { .marker = "" } },
    { .what = "no markers on the baseline", .policy = ABS, .base = { .marker = "" } },
    { .what = "no markers on either side",
      .policy = ABS,
      .base = { .marker = "" },
      .test = { .marker = "", .more = OP } },
    { .what = "one fresh run without markers",
      .policy = ABS,
      .base = { .runs = 2 },
      .test = { .marker = "execute_%d", .runs = 2 } },
    { .what = "a window by annotation",
      .policy = ABS "suites: [{name: s, trace: x, window: {by: annotation, name: 'execute_*'}}]",
      .base = { .marker = "execute_%d" },
      .test = { .marker = "execute_%d", .more = OP } },
    { .what = "a window by annotation, gone",
      .policy = ABS "suites: [{name: s, trace: x, window: {by: annotation, name: 'execute_*'}}]",
      .base = { .marker = "execute_%d" },
      .test = { .marker = "run_%d" } },
    { .what = "a window by annotation, on neither side",
      .policy = ABS "suites: [{name: s, trace: x, window: {by: annotation, name: 'none*'}}]" },
    { .what = "a window by trace",
      .policy = ABS "suites: [{name: s, trace: x, window: {by: trace}}]",
      .base = { .marker = "" },
      .test = { .marker = "", .more = OP } },
    { .what = "no step is left",
      .policy = ABS
      "suites: [{name: s, trace: x, window: {by: ProfilerStep, skip_first: 2, skip_last: 2}}]",
      .test = { .more = OP } },
    { .what = "one step is left",
      .policy = ABS
      "suites: [{name: s, trace: x, window: {by: ProfilerStep, skip_first: 2, skip_last: 1}}]",
      .test = { .more = OP } },
    { .what = "no step is left of the baseline",
      .policy = ABS "suites: [{name: s, trace: x, window: {by: ProfilerStep, skip_first: 3}}]",
      .base = { .steps = 3 },
      .test = { .more = OP } },
    { .what = "ranks expected, all there",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3 } },
    { .what = "ranks expected, one is missing",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 } },
    { .what = "ranks expected, two are missing",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 4}}]",
      .base = { .ranks = 4 },
      .test = { .ranks = 4, .without_ranks = 5 } },
    { .what = "ranks expected, missing in the baseline",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .base = { .ranks = 3, .without_ranks = 1 },
      .test = { .ranks = 3 } },
    { .what = "a rank is damaged",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 },
      .damage = "rank 1: b/rank1.json: it is cut\n" },
    { .what = "more parts are damaged than are named",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 2}}]",
      .base = { .ranks = 2 },
      .test = { .ranks = 2 },
      .damage = "a: 1\nb: 2\nc: 3\nd: 4\ne: 5\n" },
    { .what = "a rank is damaged, and the others have more work",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 3}}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2, .more = OP },
      .damage = "rank 1: b/rank1.json: it is cut\n" },
    { .what = "ranks expected, others on each side",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 2}}]",
      .base = { .ranks = 3, .without_ranks = 4 },
      .test = { .ranks = 3, .without_ranks = 1 } },
    { .what = "one rank expected, three there",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 1}}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3 } },
    { .what = "ranks expected, no rank known",
      .policy = ABS "suites: [{name: s, trace: x, ranks: {expect: 1}}]" },
    { .what = "negative durations",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"bad\",\"pid\":0,\"tid\":7,"
                          "\"ts\":1001,\"dur\":-5,\"args\":{\"device\":0,\"stream\":7,"
                          "\"correlation\":90000}}," } },
    { .what = "overlap on a stream",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"bad\",\"pid\":0,\"tid\":7,"
                          "\"ts\":1001,\"dur\":400,\"args\":{\"device\":0,\"stream\":7,"
                          "\"correlation\":90000}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                          "\"bad\",\"pid\":0,\"tid\":7,\"ts\":1002,\"dur\":400,\"args\":{"
                          "\"device\":0,\"stream\":7,\"correlation\":90001}}," } },
    { .what = "empty kernels",
      .policy = ABS,
      .test = { .events =
                    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"zero\",\"pid\":0,\"tid\":7,\"ts\":"
                    "0,\"dur\":0,\"args\":{\"device\":0,\"stream\":7,\"correlation\":91000}},{"
                    "\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"zero\",\"pid\":0,\"tid\":7,\"ts\":"
                    "0,\"dur\":0,\"args\":{\"device\":0,\"stream\":7,\"correlation\":91001}},{"
                    "\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"zero\",\"pid\":0,\"tid\":7,\"ts\":"
                    "0,\"dur\":0,\"args\":{\"device\":0,\"stream\":7,\"correlation\":91002}}," } },
    { .what = "the same in the baseline",
      .policy = ABS,
      .base = { .events = "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"bad\",\"pid\":0,\"tid\":7,"
                          "\"ts\":1001,\"dur\":400,\"args\":{\"device\":0,\"stream\":7,"
                          "\"correlation\":90000}},{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
                          "\"bad\",\"pid\":0,\"tid\":7,\"ts\":1002,\"dur\":400,\"args\":{"
                          "\"device\":0,\"stream\":7,\"correlation\":90001}}," } },
    { .what = "an event that never ends",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"aten::open\",\"pid\":10,"
                          "\"tid\":77,\"ts\":1100}," } },
    { .what = "two of them",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":\"aten::open\",\"pid\":10,"
                          "\"tid\":77,\"ts\":1100},{\"ph\":\"B\",\"cat\":\"cpu_op\",\"name\":"
                          "\"aten::open\",\"pid\":10,\"tid\":78,\"ts\":1100}," } },
    { .what = "deviations from JSON",
      .policy = ABS,
      .test = { .properties = "\"a\":\"x\\q\",\"b\":NaN," } },
    { .what = "one deviation", .policy = ABS, .test = { .properties = "\"b\":NaN," } },
    { .what = "a trace that is cut off", .policy = ABS, .test = { .cut = true } },
    { .what = "unmarked, and nothing recurs",
      .policy = ABS,
      .base = { .work = "op|aten::a;op|aten::b;op|aten::c", .steps = 1 },
      .test = { .marker = "", .work = "op|aten::a;op|aten::b;op|aten::c", .steps = 1 } },
    { .what = "no kernels asked for, none there",
      .policy = ABS,
      .base = { .work = "op|aten::a" },
      .test = { .work = "op|aten::a" } },
    { .what = "kernels without a launch, 99", .policy = ABS, .test = { .unlinked = 99 } },
    { .what = "kernels without a launch, 120", .policy = ABS, .test = { .unlinked = 120 } },
    { .what = "kernels without a launch, less than half",
      .policy = ABS,
      .base = { .steps = 12 },
      .test = { .unlinked = 120, .steps = 12 } },
    { .what = "launches without a kernel, 99", .policy = ABS, .test = { .lost = 99 } },
    { .what = "launches without a kernel, 120", .policy = ABS, .test = { .lost = 120 } },
    { .what = "launches without a kernel, under 5 %",
      .policy = ABS,
      .base = { .steps = 200 },
      .test = { .lost = 105, .steps = 200 } },
    { .what = "both, in the baseline", .policy = ABS, .base = { .unlinked = 120, .lost = 120 } },
};

static void verdicts_are_as_written(void **state)
{
    (void)state;
    model_check("verdict_guards.txt", rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_are_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
