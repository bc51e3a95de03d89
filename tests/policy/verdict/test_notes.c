/* notes.c: banners, and what makes of a pass a warning. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_notes.txt, derived from docs/policy.md when it was written and read through at every change. */
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
    { .what = "notes: a rank is missing",
      .policy = ABS,
      .base = { .ranks = 3 },
      .test = { .ranks = 3, .without_ranks = 2 } },
    { .what = "notes: two ranks are missing",
      .policy = ABS,
      .base = { .ranks = 4 },
      .test = { .ranks = 4, .without_ranks = 6 } },
    { .what = "notes: missing on both sides",
      .policy = ABS,
      .base = { .ranks = 4, .without_ranks = 4 },
      .test = { .ranks = 4, .without_ranks = 2 } },
    { .what = "notes: another rank",
      .policy = ABS,
      .base = { .ranks = 2, .without_ranks = 2 },
      .test = { .ranks = 2, .without_ranks = 1 } },
    { .what = "notes: ranks, one is left",
      .policy = ABS,
      .base = { .ranks = 2, .without_ranks = 2 },
      .test = { .ranks = 2 } },
    { .what = "notes: another device", .policy = ABS, .test = { .device = "Tesla V100" } },
    { .what = "notes: another device, no kernels",
      .policy = ABS,
      .base = { .work = "op|aten::a" },
      .test = { .device = "Tesla V100", .work = "op|aten::a" } },
    { .what = "notes: outside the steps",
      .policy = ABS,
      .test = { .between = "op|aten::a;sync|-|cudaDeviceSynchronize" } },
    { .what = "notes: more outside the steps",
      .policy = ABS,
      .base = { .between = "op|aten::a" },
      .test = { .between = "op|aten::a;op|aten::a" } },
    { .what = "notes: many outside the steps",
      .policy = ABS,
      .test = { .between = "op|aten::a;op|aten::b;op|aten::c;op|aten::d;op|aten::e" } },
    { .what = "notes: fewer outside", .policy = ABS, .base = { .between = "op|aten::a" } },
    { .what = "notes: outside, fewer steps",
      .policy = ABS,
      .base = { .between = "op|aten::a" },
      .test = { .between = "op|aten::a", .steps = 2 } },
    { .what = "notes: once outside",
      .policy = ABS,
      .test = { .between = "op|aten::a", .in_steps = 8 } },
    { .what = "notes: polling outside",
      .policy = ABS,
      .test = { .between = "sync|-|cudaEventQuery" } },
    { .what = "notes: counted by metrics of the trace",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]",
      .test = { .between = KERNEL ";sync|-|cudaDeviceSynchronize" } },
    { .what = "notes: moved outside the steps",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]",
      .test = { .gone = "aten::op5", .between = "kernel|aten::op5|void kern5(float*)|25" } },
    { .what = "notes: moved outside the steps, by names",
      .policy = ABS,
      .test = { .gone = "aten::op5", .between = "kernel|aten::op5|void kern5(float*)|25" } },
    { .what = "notes: outside once in a trace of three runs",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]",
      .base = { .runs = 3 },
      .test = { .between = KERNEL, .in_steps = 8, .in_runs = 4, .runs = 3 } },
    { .what = "notes: outside once in each of three runs",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]",
      .base = { .runs = 3 },
      .test = { .between = KERNEL, .in_steps = 8, .runs = 3 } },
    { .what = "notes: outside, more steps",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]",
      .base = { .between = KERNEL },
      .test = { .between = KERNEL, .steps = 8 } },
    { .what = "notes: outside, in steps that are skipped",
      .policy = "rules: [{id: l, metric: launch_count, fail: {abs: 0}}, {id: s, metric: "
                "sync_count, fail: {abs: 0}}]"
                "\nsuites: [{name: s, trace: x, window: {by: ProfilerStep, skip_first: 1}}]",
      .test = { .more = KERNEL, .in_steps = 1 } },
    { .what = "notes: an unknown category",
      .policy = ABS,
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"xpu_op\",\"name\":\"lib::more\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.2}," },
      .base = { .steps = 1 } },
    { .what = "notes: a known category that no rule judges",
      .policy = ABS,
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"overhead\",\"name\":\"lib::more\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.2}," },
      .base = { .steps = 1 } },
    { .what = "notes: unmarked",
      .policy = ABS,
      .base = { .marker = "" },
      .test = { .marker = "" } },
    { .what = "notes: unmarked, twice",
      .policy = ABS,
      .base = { .marker = "" },
      .test = { .marker = "", .steps = 8 } },
    { .what = "notes: unmarked, hints",
      .policy = ABS,
      .base = { .marker = "" },
      .test = { .marker = "",
                .events =
                    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"execute_1\",\"pid\":10,"
                    "\"tid\":10,\"ts\":1100,\"dur\":3},{\"ph\":\"X\",\"cat\":\"user_annotation\","
                    "\"name\":\"execute_2\",\"pid\":10,\"tid\":10,\"ts\":1200,\"dur\":3}," } },
    { .what = "notes: the whole machine",
      .policy = ABS "noise: {drift: 1%}",
      .base = { .runs = 5 },
      .test = { .all_slower = 1.3, .runs = 5 } },
    { .what = "notes: the whole machine, faster",
      .policy = ABS "noise: {drift: 1%}",
      .base = { .runs = 5 },
      .test = { .all_slower = 0.7, .runs = 5 } },
};

static void verdicts_are_as_written(void **state)
{
    (void)state;
    model_check("verdict_notes.txt", rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_are_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
