/* eval.c, fold.c, describe_verdict.c: order, consequences, outcome, headline, coverage. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_eval.txt, derived from docs/policy.md when it was written and read through at every change. */
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
    { .what = "folded: one in the other",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "folded: side by side",
      .policy = ABS,
      .test = { .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.2},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "b\",\"pid\":10,\"tid\":10,\"ts\":1000.4,\"dur\":0.2}," } },
    { .what = "folded: twice inside",
      .policy = ABS,
      .test = { .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.2},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::b\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.5,\"dur\":0.2}," } },
    { .what = "folded: warnings",
      .policy = COUNT("warn: {abs: 0}"),
      .test = { .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5}," } },
    { .what = "folded: a known operator inside",
      .policy = ABS,
      .test = { .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "op3\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5}," } },
    { .what = "folded: work of a new operator",
      .policy = ABS,
      .test = { .more = "kernel|aten::fresh|void fresh(float*)|20" } },
    { .what = "fail_on: warn",
      .policy = COUNT("warn: {abs: 0}") "fail_on: [fail, warn]",
      .test = { .more = OP } },
    { .what = "fail_on: warn, nothing", .policy = COUNT("warn: {abs: 0}") "fail_on: [fail, warn]" },
    { .what = "fail_on: warn, a note lifts",
      .policy = ABS "fail_on: [fail, warn]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 } },
    { .what = "a note lifts",
      .policy = ABS,
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 } },
    { .what = "a note lifts, and a warning",
      .policy = COUNT("warn: {abs: 0}"),
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2, .more = OP } },
    { .what = "fail_on: inconclusive",
      .policy = ABS "require: {steps: 99}\nfail_on: [fail, inconclusive]" },
    { .what = "fail_on: inconclusive, nothing", .policy = ABS "fail_on: [fail, inconclusive]" },
    { .what = "fail_on: suspicious",
      .policy = TIME("fail: {pct: 10%}") "fail_on: [fail, suspicious]",
      .test = { .slower = 1.6 } },
    { .what = "suspicious", .policy = TIME("fail: {pct: 10%}"), .test = { .slower = 1.6 } },
    { .what = "suspicious and a warning",
      .policy = "rules: [{id: t, match: {kind: kernel}, metric: self, fail: {pct: 10%}}, {id: w, "
                "match: {kind: op}, metric: count, warn: {abs: 0}}]",
      .test = { .slower = 1.6, .more = OP } },
    { .what = "a guard and a warning",
      .policy = COUNT("warn: {abs: 0}") "require: {steps: 99}",
      .test = { .more = OP } },
    { .what = "a guard and a failure",
      .policy = ABS "require: {steps: 99}",
      .test = { .more = OP } },
    { .what = "nothing to count",
      .policy = ABS,
      .base = { .work = "",
                .events = "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}," },
      .test = { .work = "",
                .events =
                    "{\"ph\":\"X\",\"name\":\"a\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}," } },
    { .what = "nothing to count, built-in", .base = { .work = "" }, .test = { .work = "" } },
    { .what = "all optional, none there",
      .policy =
          "rules: [{id: a, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: true}]" },
    { .what = "only elsewhere", .policy = COUNT("fail: {abs: 0}, when: {branch: x}") },
    { .what = "facts alone",
      .policy = "rules: [{id: a, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}]" },
    { .what = "budgets alone",
      .policy = "rules: [{id: a, metric: launch_count, fail: {max: 99}}]" },
    { .what = "durations alone, one run", .policy = TIME("fail: {pct: 10%}") },
    { .what = "durations alone, five runs",
      .policy = TIME("fail: {pct: 10%}"),
      .base = { .runs = 5 },
      .test = { .runs = 5 } },
    { .what = "many violations",
      .policy = ABS,
      .test = { .more = "op|aten::a;op|aten::b;op|aten::c;op|aten::d;op|aten::op3;kernel|-|void "
                        "fresh(float*)|20;sync|-|cudaDeviceSynchronize" } },
    { .what = "a long name",
      .policy = ABS,
      .test = { .more = "op|aten::"
                        "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuv"
                        "wxyz" } },
    { .what = "calls and time, sorted",
      .policy =
          "rules: [{id: t, match: {kind: kernel}, metric: self, fail: {pct: 10%}}, {id: s, metric: "
          "step_time, fail: {max: 1us}}, {id: w, match: {kind: op}, metric: count, fail: {abs: "
          "0}}, {id: f, match: {kind: kernel}, metric: launch_config, fail: {abs: 0}}]",
      .base = { .runs = 5 },
      .test = { .slower = 1.6, .more = OP ";op|aten::op4", .runs = 5 } },
    { .what = "folded, in every step: one in the other",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "folded, in every step: side by side",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.2},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "b\",\"pid\":10,\"tid\":10,\"ts\":1000.4,\"dur\":0.2}," } },
    { .what = "folded, in every step: itself inside",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "a\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5}," } },
    { .what = "folded, in every step: twice inside",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.2},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::b\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.5,\"dur\":0.2}," } },
    { .what = "folded, in every step: a known operator inside",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "op3\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5}," } },
    { .what = "folded, in every step: inside a known operator",
      .policy = ABS,
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events =
                    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::op3\",\"pid\":10,\"tid\":10,"
                    "\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::"
                    "b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5}," } },
    { .what = "folded, in every step: two rules",
      .policy = "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, "
                "match: {kind: op}, metric: count, warn: {abs: 0}}]\n",
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "two rules that fail",
      .policy = "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, "
                "match: {kind: op}, metric: count, fail: {abs: 0}}]\n",
      .test = { .more = OP } },
    { .what = "folded, in every step: and time",
      .policy = "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: new, "
                "match: {kind: op}, metric: added, fail: {abs: 0}}]",
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "a kernel with its operator's name",
      .policy = ABS,
      .test = { .more = "kernel|dup|dup|20" } },
    { .what = "nothing to count, no rule counts",
      .policy = "rules: [{id: s, metric: step_time, fail: {max: 1s}}]",
      .base = { .work = "" },
      .test = { .work = "" } },
    { .what = "a measured number of calls",
      .policy = "rules: [{id: s, metric: short_kernels, fail: {max: 99}}]",
      .base = { .work = "" },
      .test = { .work = "" } },
    { .what = "time of a trace and of a kernel",
      .policy = "rules: [{id: s, metric: gpu_busy, fail: {pct: 1%}}, {id: t, match: {kind: "
                "kernel}, metric: self, fail: {pct: 10%}}]",
      .base = { .runs = 5 },
      .test = { .slower = 3, .runs = 5 } },
    { .what = "fail_on: warn, a note lifts, and suspicious",
      .policy = TIME("fail: {pct: 10%}") "fail_on: [fail, warn]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2, .slower = 1.6 } },
    { .what = "fail_on: warn, a note lifts, and a failure",
      .policy = ABS "fail_on: [fail, warn]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2, .more = OP } },
    { .what = "fail_on: warn, a note lifts, and a guard",
      .policy = ABS "fail_on: [fail, warn]\nrequire: {steps: 9}",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 } },
    { .what = "fail_on: warn, a note lifts, and what is waived",
      .policy = ABS "fail_on: [fail, warn]\n"
                    "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                    "expires: 2026-03-01}]",
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2, .more = "op|aten::a" } },
};

static void verdicts_are_as_written(void **state)
{
    (void)state;
    model_check("verdict_eval.txt", rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_are_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
