/* waive.c: accepted violations. Each row is a pair of sides and a policy; what the verdict says of it is
 * tests/golden/verdict_waive.txt, derived from docs/policy.md when it was written and read through at every change. */
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
    { .what = "waived: a waiver",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: its last day",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-01-02}]\n",
      .test = { .more = OP } },
    { .what = "waived: ended yesterday",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-01-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: ended two days ago",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2025-12-31}]\n",
      .test = { .more = OP } },
    { .what = "waived: ends in two weeks",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-01-16}]\n",
      .test = { .more = OP } },
    { .what = "waived: ends in fifteen days",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-01-17}]\n",
      .test = { .more = OP } },
    { .what = "waived: above its ceiling",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP ";" OP } },
    { .what = "waived: for another name",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op4', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: for many",
      .policy = ABS "waivers: [{rule: work, name: 'aten::*', many: true, ceiling: {abs: 1}, "
                    "reason: because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: for many, none matches",
      .policy = ABS "waivers: [{rule: work, name: 'lib::*', many: true, ceiling: {abs: 1}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: for a kernel by its exact name",
      .policy = ABS "waivers: [{rule: work, name: 'void kern3(float*)', ceiling: {abs: 1}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = "kernel|-|void kern3(float*)|20" } },
    { .what = "waived: unused",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-03-01}]\n" },
    { .what = "waived: unused, elsewhere",
      .policy =
          ABS "waivers: [{rule: work, name: 'aten::op3', when: {branch: 'release/*'}, ceiling: "
              "{abs: 1}, reason: because, owner: me, issue: '#7', expires: 2026-03-01}]\n" },
    { .what = "waived: elsewhere",
      .policy =
          ABS "waivers: [{rule: work, name: 'aten::op3', when: {branch: 'release/*'}, ceiling: "
              "{abs: 1}, reason: because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: of a percentage",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {pct: 50%}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: of a percentage, enough",
      .policy = ABS "waivers: [{rule: work, name: 'aten::op3', ceiling: {pct: 100%}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: what it explains",
      .policy = ABS "waivers: [{rule: work, name: 'aten::fresh', ceiling: {abs: 1}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = "kernel|aten::fresh|void kern3(float*)|20" } },
    { .what = "waived: what it explains, one more elsewhere",
      .policy = ABS "waivers: [{rule: work, name: 'aten::fresh', ceiling: {abs: 1}, reason: "
                    "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = "kernel|aten::fresh|void kern3(float*)|20;op|aten::op5" } },
    { .what = "waived: what is not exceeded",
      .policy = COUNT(
          "warn: {abs: 0}") "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: "
                            "because, owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: a duration",
      .policy = TIME("fail: {pct: 10%}") "waivers: [{rule: time, name: 'void kern3(float*)', "
                                         "ceiling: {pct: 100%}, reason: r, expires: 2026-03-01}]",
      .base = { .runs = 5 },
      .test = { .slower = 1.6, .runs = 5 } },
    { .what = "waived: a duration above its ceiling",
      .policy = TIME("fail: {pct: 10%}") "waivers: [{rule: time, name: 'void kern3(float*)', "
                                         "ceiling: {abs: 1us}, reason: r, expires: 2026-03-01}]",
      .base = { .runs = 5 },
      .test = { .slower = 1.6, .runs = 5 } },
    { .what = "waived: a trace metric",
      .policy = "rules: [{id: m, metric: launch_count, fail: {abs: 0}}]\nwaivers: [{rule: m, "
                "ceiling: {abs: 2}, reason: r, expires: 2026-03-01}]",
      .test = { .more = KERNEL } },
    { .what = "waived: a ratio",
      .policy = "rules: [{id: m, metric: idle, fail: {max: 1%}}]\nwaivers: [{rule: m, ceiling: "
                "{max: 50%}, reason: r, expires: 2026-03-01}]",
      .test = { .more = KERNEL } },
    { .what = "waived: another rule",
      .policy = "rules: [{id: work, match: {kind: graph}, metric: count, fail: {abs: 0}, optional: "
                "true}, {id: other, match: {kind: op}, metric: count, fail: {abs: 0}}]\n"
                "waivers: [{rule: work, name: 'aten::op3', ceiling: {abs: 1}, reason: because, "
                "owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .more = OP } },
    { .what = "waived: nested",
      .policy = ABS "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                    "owner: me, issue: '#7', expires: 2026-03-01}]\n",
      .test = { .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "waived: a consequence under another rule",
      .policy = "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, "
                "match: {kind: op}, metric: count, fail: {abs: 0}}]\n"
                "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                "expires: 2026-03-01}]",
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "waived: consequences",
      .policy = "rules: [{id: work, match: {kind: op}, metric: count, fail: {abs: 0}}, {id: other, "
                "match: {kind: op}, metric: count, warn: {abs: 5}}]\n"
                "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                "expires: 2026-03-01}]",
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "waived: a cause that is not waived",
      .policy = ABS "waivers: [{rule: work, name: 'aten::b', ceiling: {abs: 1}, reason: because, "
                    "expires: 2026-03-01}]",
      .base = { .steps = 1 },
      .test = { .steps = 1,
                .events = "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::a\",\"pid\":10,"
                          "\"tid\":10,\"ts\":1000.1,\"dur\":0.8},{\"ph\":\"X\",\"cat\":\"cpu_op\","
                          "\"name\":\"aten::b\",\"pid\":10,\"tid\":10,\"ts\":1000.2,\"dur\":0.5},{"
                          "\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::c\",\"pid\":10,\"tid\":"
                          "10,\"ts\":1000.3,\"dur\":0.1}," } },
    { .what = "waived: launch attributes",
      .policy = "rules: [{id: f, match: {kind: kernel}, metric: launch_config, fail: {abs: "
                "0}}]\nwaivers: [{rule: f, name: 'void kern1(float*)', ceiling: {abs: 0}, reason: "
                "r, expires: 2026-03-01}]",
      .base = { .work = "kernel|aten::op1|void kern1(float*)|21|32" },
      .test = { .work = "kernel|aten::op1|void kern1(float*)|21|64" } },
    { .what = "waived: expired, the day is not known",
      .policy = ABS "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                    "expires: 2025-12-01}]",
      .test = { .more = "op|aten::a" },
      .no_today = true },
    { .what = "waived: unused, another suite is to come",
      .policy = ABS "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                    "expires: 2026-03-01}]",
      .more_suites = true },
    { .what = "waived: used, another suite is to come",
      .policy = ABS "waivers: [{rule: work, name: 'aten::a', ceiling: {abs: 1}, reason: because, "
                    "expires: 2026-03-01}]",
      .test = { .more = "op|aten::a" },
      .more_suites = true },
};

static void verdicts_are_as_written(void **state)
{
    (void)state;
    model_check("verdict_waive.txt", rows, sizeof rows / sizeof *rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(verdicts_are_as_written) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
