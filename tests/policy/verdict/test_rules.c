/* rules.c, judge_rows.c, probe.c: each rule over what it selects. Each row is a pair of sides and a
 * policy; what the verdict says of it is tests/golden/verdict_rules.txt, derived from
 * docs/policy.md when it was written and read through at every change. */
#include "by_hand.h"
#include "model.h"

/* A call of the driver, in an `events`. */
#define RUNTIME_EVENT(name, start)                                                                 \
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"" name                                      \
    "\",\"pid\":10,\"tid\":10,\"ts\":" start ",\"dur\":0.2},"
#define CALL(name)                                                                                 \
    ROW("built-in, a call of " name, NULL, SIDE(.steps = 1),                                       \
        SIDE(.steps = 1, .events = RUNTIME_EVENT(name, "1000.1")))
/* The fresh runs are slower; one run and five. */
#define TIMES(title, limits)                                                                       \
    RUNS("time: " title ", 1 run", TIME(limits), 1, .slower = 1.6),                                \
        RUNS("time: " title ", 5 runs", TIME(limits), 5, .slower = 1.6)
#define OF(kinds, rest) "rules: [{id: m, match: {kind: " kinds "}, metric: " rest "}]"
#define KERNELS(metric, limit)                                                                     \
    RUNS("metric " metric ", 1", OF("kernel", metric ", fail: {" limit "}"), 1, .slower = 1.6),    \
        RUNS("metric " metric ", 5", OF("kernel", metric ", fail: {" limit "}"), 5, .slower = 1.6)
#define NAMES(rest) OF("[kernel, memcpy, op]", rest)
#define WHOLE_IN(metric, limit, n)                                                                 \
    RUNS("trace metric " metric " " limit ", " #n,                                                 \
         "rules: [{id: m, metric: " metric ", fail: {" limit "}}]", n, .slower = 3,                \
         .more = OP ";" KERNEL)
#define WHOLE(metric, limit) WHOLE_IN(metric, limit, 1), WHOLE_IN(metric, limit, 5)
/* Operators that are slower by themselves. */
#define WORK "op|aten::op3||50;kernel|aten::op1|void kern1(float*)|21"
#define HOST_IN(metric, limit, n)                                                                  \
    ROW("host " metric " " limit ", " #n, OF("op", metric ", fail: {" limit "}"),                  \
        SIDE(.work = WORK, .runs = n), SIDE(.work = WORK, .slower = 1.6, .runs = n))
#define HOST(metric)                                                                               \
    HOST_IN(metric, "pct: 10%", 1), HOST_IN(metric, "max: 60us", 1),                               \
        HOST_IN(metric, "pct: 10%", 5), HOST_IN(metric, "max: 60us", 5)
/* On both sides, on the fresh one alone, on the baseline alone. */
#define MODULES_ON(title, rest, ...)                                                               \
    {                                                                                              \
        .what = "modules: " title, .policy = OF("module", rest), __VA_ARGS__                       \
    }
#define MODULE_SIDE(us)                                                                            \
    {                                                                                              \
        .steps = 1, .events = MODULE_EVENT("Linear_0", us)                                         \
    }
#define MODULES(title, rest)                                                                       \
    MODULES_ON(title, rest, .base = MODULE_SIDE("30"), .test = MODULE_SIDE("60")),                 \
        MODULES_ON(title ", not in the baseline", rest, .base = { .steps = 1 },                    \
                   .test = MODULE_SIDE("60")),                                                     \
        MODULES_ON(title ", not in the fresh traces", rest, .base = MODULE_SIDE("30"),             \
                   .test = { .steps = 1 })

/* Of two ranks the second one has a kernel of 100 us more; `rank` is the rule's match. Both send a
 * collective. */
#define RANKED(metric, rank, limit, n)                                                             \
    ROW("two ranks, " metric " " rank limit ", " #n,                                               \
        "rules: [{id: m, metric: " metric ", " rank "fail: {" limit "}}]",                         \
        SIDE(.work = SENT, .ranks = 2, .runs = n),                                                 \
        SIDE(.work = SENT, .ranks = 2, .runs = n, .more = "kernel|-|void late(float*)|100",        \
             .in_ranks = 2))
#define SENT "kernel|aten::op1|void kern1(float*)|210;comm|-|ncclDevKernel_AllReduce|20"
/* In one of four steps the calls of aten::op3 take longer, and what aten::loss waits for: a limit
 * of a size of its own asks the mean. */
#define UNEVEN(metric)                                                                             \
    ROW("host " metric ", in some steps, a size of its own",                                       \
        OF("op", metric ", fail: {pct: 10%}"), SIDE(.work = TWO, .runs = 3),                       \
        SIDE(.work = TWO, .slower = 4, .slow_steps = 2, .runs = 3))
#define TWO "op|aten::op3||50;kernel|aten::op3|void kern3(float*)|100;sync|aten::loss||3"

/* aten::op3 is called three times, and nothing counts calls. */
#define UNCOUNTED(metric, limit)                                                                   \
    ROW("host " metric " of three times the calls, " limit,                                        \
        OF("op", metric ", fail: {" limit "}"), SIDE(.work = WORK, .runs = 5),                     \
        SIDE(.work = "op|aten::op3||50;op|aten::op3||50;" WORK, .runs = 5))
#define RENAMED(metric, limit, us)                                                                 \
    ROW("metric " metric " of another name that takes " us " us",                                  \
        OF("kernel", metric ", fail: {" limit "}"), SIDE(.runs = 3),                               \
        SIDE(.gone = "aten::op3", .more = "kernel|aten::op3|void other(float*)|" us, .runs = 3))

static const struct model_row model_rows[] = {
    ROW("built-in, same code", NULL, USUAL, USUAL),
    MORE("built-in, one operator more", NULL, OP),
    MORE("built-in, one new operator", NULL, "op|aten::fresh||10"),
    MORE("built-in, a new small kernel", NULL, "kernel|-|void fresh(float*)|0.05"),
    MORE("built-in, a new operator with work inside", NULL,
         "kernel|aten::fresh|void fresh(float*)|30"),
    MORE("built-in, one synchronisation more", NULL, "sync|-|cudaDeviceSynchronize"),
    MORE("built-in, a polling call more", NULL, "sync|-|cudaEventQuery"),
    CALL("cudaMalloc"),
    CALL("cudaFree"),
    CALL("cuMemAlloc_v2"),
    CALL("cudaEventQuery"),
    CALL("cudaEventRecord"),
    ROW("built-in, one more poll", NULL,
        SIDE(.steps = 1, .events = RUNTIME_EVENT("cudaEventQuery", "1000.1")),
        SIDE(.steps = 1, .events = RUNTIME_EVENT("cudaEventQuery", "1000.1")
                             RUNTIME_EVENT("cudaEventQuery", "1000.4"))),
    ROW("built-in, a polluted baseline run", NULL, SIDE(.runs = 5, .more = OP ";" OP, .in_runs = 4),
        SIDE(.runs = 5, .more = OP ";" OP)),
    ROW("built-in, two polluted baseline runs of three", NULL,
        SIDE(.runs = 3, .more = OP ";" OP, .in_runs = 6), SIDE(.runs = 3, .more = OP ";" OP)),
    MORE("built-in, a copy more", NULL, "memcpy|-|Memcpy DtoD (Device -> Device)|3"),
    ROW("built-in, larger copies", NULL,
        SIDE(.work = "memcpy|aten::copy_|Memcpy HtoD (Pinned -> "
                     "Device)|5|4096;kernel|aten::op1|void kern1(float*)|21"),
        SIDE(.work = "memcpy|aten::copy_|Memcpy HtoD (Pinned -> "
                     "Device)|5|8192;kernel|aten::op1|void kern1(float*)|21")),
    ROW("built-in, other registers", NULL,
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|32"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|64")),
    ROW("built-in, an operator gone", NULL, USUAL, SIDE(.gone = "aten::op5")),
    ROW("built-in, in some steps", NULL, USUAL, SIDE(.more = OP, .in_steps = 2)),
    ROW("built-in, synchronisations in some steps", NULL, USUAL,
        SIDE(.more = "sync|-|cudaDeviceSynchronize", .in_steps = 6)),
    RUNS("built-in, in some runs", NULL, 5, .more = OP, .in_runs = 4),
    RUNS("built-in, in most runs", NULL, 5, .more = OP ";" OP, .in_runs = 30),
    RUNS("built-in, in the first step", NULL, 3, .more = OP, .in_steps = 1),
    ROW("built-in, renamed", NULL,
        SIDE(.work =
                 "kernel|aten::op1|void kern1(float*)|21;kernel|aten::op2|void kern2(float*)|22"),
        SIDE(.work =
                 "kernel|aten::op1|void NEW(float*)|21;kernel|aten::op2|void kern2(float*)|22")),
    RUNS("built-in, slower, five runs", NULL, 5, .slower = 1.6),
    ROW("built-in, slower, one run", NULL, USUAL, SIDE(.slower = 1.6)),
    RUNS("built-in, faster, five runs", NULL, 5, .slower = 0.6),
    RUNS("built-in, all slower", NULL, 5, .all_slower = 1.5),
    ROW("built-in, another device", NULL, USUAL,
        SIDE(.device = "Tesla V100", .more = OP ";" KERNEL)),
    RUNS("built-in, another device, five runs", NULL, 5, .device = "Tesla V100", .slower = 1.6),
    ROW("collectives, one more on a rank", NULL, SIDE(.ranks = 2),
        SIDE(.ranks = 2, .in_ranks = 2, .more = "comm|-|ncclDevKernel_AllReduce|20")),
    ROW("collectives, one fewer", NULL,
        SIDE(.ranks = 2, .more = "comm|-|ncclDevKernel_AllReduce|20"), SIDE(.ranks = 2)),
    ROW("replaced", NULL,
        SIDE(.work = "op|aten::c;op|aten::d;kernel|aten::op2|void kern2(float*)|22"),
        SIDE(.work = "op|aten::a;op|aten::b;kernel|aten::op2|void kern2(float*)|22")),
    TIMES("pct", "fail: {pct: 10%}"),
    TIMES("pct and abs", "fail: {pct: 10%, abs: 1us}"),
    TIMES("abs", "fail: {abs: 5us}"),
    TIMES("abs, too much", "fail: {abs: 50us}"),
    TIMES("of the step", "fail: {abs: 1%step}"),
    TIMES("max", "fail: {max: 30us}"),
    TIMES("max, kept", "fail: {max: 60us}"),
    TIMES("min", "fail: {min: 60us}"),
    TIMES("auto", "fail: {pct: auto}"),
    TIMES("warn", "warn: {pct: 10%}"),
    TIMES("two limits", "fail: [{pct: 1000%}, {abs: 5us}]"),
    TIMES("warn and fail", "warn: {pct: 5%}, fail: {pct: 1000%}"),
    TIMES("off", "fail: off"),
    TIMES("direction down", "direction: down, fail: {pct: 10%}"),
    TIMES("no noise test", "fail: {pct: 10%}, noise: {test: none}"),
    TIMES("more runs", "fail: {pct: 10%}, noise: {min_runs: 9}"),
    TIMES("more steps", "fail: {pct: 10%}, noise: {min_steps: 9}"),
    TIMES("steps enough", "fail: {pct: 10%}, noise: {min_steps: 4}"),
    TIMES("optional", "fail: {pct: 10%}, optional: true"),
    TIMES("an override",
          "fail: {pct: 10%}, overrides: [{match: {name: '*kern3*'}, fail: {pct: 900%}}]"),
    TIMES("an override, off", "fail: {pct: 10%}, overrides: [{match: {name: '*'}, fail: off}]"),
    TIMES("an override, noise",
          "fail: {pct: 10%}, overrides: [{match: {name: '*kern3*'}, noise: {test: none}}]"),
    TIMES("max and pct", "fail: [{max: 30us}, {pct: 10%}]"),
    ROW("time: fewer runs asked for", "noise: {min_runs: 1}\n" TIME("fail: {pct: 10%}"), USUAL,
        SIDE(.slower = 1.6)),
    ROW("time: the rule asks for fewer", TIME("fail: {pct: 10%}, noise: {min_runs: 1}"), USUAL,
        SIDE(.slower = 1.6)),
    KERNELS("total", "pct: 10%"),
    KERNELS("mean", "pct: 10%"),
    KERNELS("median", "pct: 10%"),
    KERNELS("p95", "pct: 10%"),
    KERNELS("max", "pct: 10%"),
    KERNELS("share", "pp: 1pp"),
    KERNELS("self", "pct: 10%"),
    MORE("metric added", NAMES("added, fail: {abs: 1us}"), "kernel|-|void fresh(float*)|30"),
    ROW("metric added, same", NAMES("added, fail: {abs: 1us}"), USUAL, USUAL),
    ROW("metric removed", NAMES("removed, fail: {abs: 1us}"), USUAL, SIDE(.gone = "aten::op5")),
    ROW("metric removed, same", NAMES("removed, fail: {abs: 1us}"), USUAL, USUAL),
    MORE("metric bytes", NAMES("bytes, fail: {pct: 10%}"),
         "memcpy|-|Memcpy HtoD (Pinned -> Device)|5|9999"),
    ROW("metric bytes, same", NAMES("bytes, fail: {pct: 10%}"), USUAL, USUAL),
    ROW("metric launch_config", NAMES("launch_config, fail: {abs: 0}"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|32"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|64")),
    ROW("metric launch_config, same", NAMES("launch_config, fail: {abs: 0}"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|32"),
        SIDE(.work = "kernel|aten::op1|void kern1(float*)|21|32")),
    ROW("metric count", NAMES("count, fail: {pct: 10%}, direction: both"), USUAL,
        SIDE(.gone = "aten::op5")),
    ROW("metric count, same", NAMES("count, fail: {pct: 10%}, direction: both"), USUAL, USUAL),
    WHOLE("step_time", "pct: 10%"),
    WHOLE("step_time", "max: 1us"),
    WHOLE("launch_count", "abs: 0"),
    WHOLE("launch_count", "max: 3"),
    WHOLE("sync_count", "min: 9"),
    WHOLE("idle", "pp: 1pp"),
    WHOLE("idle", "max: 1%"),
    WHOLE("kernel_names", "abs: 0"),
    WHOLE("mem_peak", "pct: 1%"),
    WHOLE("skew", "pp: 1pp"),
    WHOLE("rank_spread", "pct: 10%"),
    WHOLE("collective_skew", "pp: 1pp"),
    WHOLE("gpu_busy", "pct: 1%"),
    WHOLE("memcpy_bytes", "pct: 1%"),
    WHOLE("comm_exposed", "abs: 1us"),
    WHOLE("compute_share", "pp: 1pp"),
    ROW("a trace metric nobody carries, optional",
        "rules: [{id: m, metric: mem_peak, fail: {pct: 1%}, optional: true}]", USUAL, USUAL),
    ROW("a trace metric, another device",
        "rules: [{id: m, metric: launch_count, fail: {abs: 0}}, {id: n, metric: sync_count, fail: "
        "{abs: 0}}, {id: t, metric: step_time, fail: {pct: 10%}}]",
        USUAL, SIDE(.device = "Tesla V100", .more = "sync")),
    ROW("a name that matches nothing", FOR("name: none"), USUAL, USUAL),
    ROW("a name that matches nothing, optional",
        "rules: [{id: w, match: {name: none}, metric: count, fail: {abs: 0}, optional: true}, {id: "
        "v, match: {kind: op}, metric: count, fail: {abs: 0}}]",
        USUAL, USUAL),
    ROW("modules, not taken",
        "rules: [{id: w, match: {kind: module}, metric: total, fail: {pct: 10%}}]", USUAL, USUAL),
    ROW("bytes of kernels",
        "rules: [{id: w, match: {kind: kernel}, metric: bytes, fail: {pct: 10%}}]", USUAL, USUAL),
    ROW("bytes of kernels, optional",
        "rules: [{id: w, match: {kind: kernel}, metric: bytes, fail: {pct: 10%}, optional: true}, "
        "{id: v, match: {kind: op}, metric: count, fail: {abs: 0}}]",
        USUAL, USUAL),
    ROW("bytes of kernels, a note where they are not judged",
        "rules: [{id: w, match: {kind: kernel}, metric: bytes, fail: {pct: 10%}, unjudged: note}, "
        "{id: v, match: {kind: op}, metric: count, fail: {abs: 0}}]",
        USUAL, USUAL),
    MORE("every limit off", COUNT("fail: off"), OP),
    MORE("every limit off, optional", COUNT("fail: off, optional: true"), OP),
    MORE("off, but an override is on",
         COUNT("fail: off, overrides: [{match: {kind: op}, fail: {abs: 0}}]"), OP),
    MORE("everything ignored",
         "noise: {ignore: ['*']}\n" COUNT("fail: {abs: 0}, exceptions: [polling]"), OP),
    ROW("a rank of a list", FOR("kind: op, rank: [1]"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .more = OP, .in_ranks = 2)),
    ROW("another rank of a list", FOR("kind: op, rank: [2]"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .more = OP, .in_ranks = 2)),
    ROW("a rank that is nowhere", FOR("kind: op, rank: [7, 1]"), SIDE(.ranks = 3),
        SIDE(.ranks = 3)),
    ROW("a rank that the baseline lacks", FOR("kind: op, rank: [1]"),
        SIDE(.ranks = 3, .without_ranks = 2), SIDE(.ranks = 3)),
    ROW("a rank that the fresh side lacks", FOR("kind: op, rank: [1]"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .without_ranks = 2)),
    ROW("each rank", FOR("kind: op, rank: each"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .more = OP, .in_ranks = 4)),
    ROW("the slowest rank", FOR("kind: op, rank: slowest"), SIDE(.ranks = 3),
        SIDE(.ranks = 3, .more = OP ";op|aten::wait||500", .in_ranks = 4)),
    ROW("the slowest rank, of a trace metric",
        "rules: [{id: m, metric: step_time, match: {rank: slowest}, fail: {max: 1us}}]",
        SIDE(.ranks = 3), SIDE(.ranks = 3)),
    ROW("one rank a side, another one", FOR("kind: op, rank: each"),
        SIDE(.ranks = 2, .without_ranks = 2), SIDE(.ranks = 2, .without_ranks = 1, .more = OP)),
    MORE("a device", FOR("kind: kernel, device: 0"), KERNEL),
    MORE("another device row", FOR("kind: kernel, device: 5"), KERNEL),
    MORE("a stream", FOR("kind: kernel, stream: 7"), KERNEL),
    MORE("another stream", FOR("kind: kernel, stream: 8"), KERNEL),
    MODULES("total", "total, fail: {pct: 10%}"),
    MODULES("count", "count, fail: {abs: 0}"),
    MODULES("device time", "device_time, fail: {pct: 10%}"),
    MODULES("a budget", "total, fail: {max: 1us}"),
    MODULES("optional", "total, fail: {pct: 10%}, optional: true"),
    MODULES("added", "added, fail: {max: 1us}"),
    RUNS("time: in some steps", TIME("fail: {pct: auto}"), 3, .slower = 3, .slow_steps = 2),
    RUNS("time: in some steps, a warning", TIME("warn: {pct: auto}"), 3, .slower = 3,
         .slow_steps = 2),
    RUNS("time: in some steps, a size of one's own", TIME("fail: {pct: 10%}"), 3, .slower = 3,
         .slow_steps = 2),
    RUNS("time: exceeded and not proven", TIME("fail: {pct: 0.1%}"), 5, .slower = 1.003),
    RUNS("a step's time and its gaps, warned",
         "rules: [{id: s, metric: step_time, warn: {pct: auto}}]", 3, .slower = 3),
    HOST("total"),
    UNCOUNTED("self", "pct: 10%"),
    UNCOUNTED("total", "pct: 10%"),
    UNCOUNTED("mean", "pct: 10%"),
    UNCOUNTED("share", "pp: 10pp"),
    UNCOUNTED("share", "pp: 2000pp"),
    RENAMED("mean", "pct: 10%", "69"),
    RENAMED("mean", "pct: 10%", "23"),
    RENAMED("median", "pct: 10%", "69"),
    RENAMED("median", "pct: 10%", "23"),
    RENAMED("p95", "pct: 10%", "69"),
    RENAMED("p95", "pct: 10%", "23"),
    RENAMED("max", "pct: 10%", "69"),
    RENAMED("max", "pct: 10%", "23"),
    RENAMED("share", "pp: 3pp", "69"),
    RENAMED("share", "pp: 3pp", "23"),
    HOST("self"),
    HOST("mean"),
    HOST("median"),
    HOST("p95"),
    HOST("max"),
    UNEVEN("self"),
    UNEVEN("total"),
    UNEVEN("mean"),
    RENAMED("self", "pct: 10%", "69"),
    RENAMED("self", "pct: 10%", "23"),
    RUNS("gpu_busy, in some steps, a size of its own",
         "rules: [{id: m, metric: gpu_busy, fail: {pct: 10%}}]", 3, .slower = 9, .slow_steps = 2),
    RUNS("gpu_busy of the slowest rank, in some steps, a size of its own",
         "rules: [{id: m, metric: gpu_busy, match: {rank: slowest}, fail: {pct: 10%}}]", 3,
         .ranks = 1, .slower = 9, .slow_steps = 2),
    { .what = "host mean of two calls, 5",
      .policy = OF("op", "mean, fail: {pct: 10%}"),
      .base = { .work = TWO, .runs = 5 },
      .test = { .work = TWO, .slower = 1.6, .runs = 5 } },
    RANKED("skew", "", "max: 10%", 1),
    RANKED("skew", "", "pp: 1pp", 5),
    RANKED("rank_spread", "", "max: 50us", 1),
    RANKED("rank_spread", "", "pct: 10%", 5),
    RANKED("collective_skew", "", "pp: 1pp", 5),
    ROW("two ranks without a collective",
        "rules: [{id: m, metric: collective_skew, fail: {max: 10%}}]", SIDE(.ranks = 2),
        SIDE(.ranks = 2)),
    RANKED("gpu_busy", "", "pct: 10%", 5),
    RANKED("gpu_busy", "match: {rank: slowest}, ", "pct: 10%", 5),
    RANKED("idle", "match: {rank: slowest}, ", "pp: 1pp", 1),
    ROW("host total, in some steps",
        "rules: [{id: m, match: {kind: op}, metric: total, fail: {pct: auto}}]",
        SIDE(.work = WORK, .runs = 3), SIDE(.work = WORK, .slower = 4, .slow_steps = 2, .runs = 3)),
    ROW("step_time, in some steps", "rules: [{id: m, metric: step_time, fail: {pct: auto}}]",
        SIDE(.work = WORK, .runs = 3), SIDE(.work = WORK, .slower = 9, .slow_steps = 2, .runs = 3)),
    ROW("step_time of a host, slower", "rules: [{id: m, metric: step_time, fail: {pct: auto}}]",
        SIDE(.work = "op|aten::op3||500", .runs = 5),
        SIDE(.work = "op|aten::op3||500", .slower = 2, .runs = 5)),
    ROW("the gaps are longer", "rules: [{id: m, metric: step_time, fail: {pct: auto}}]",
        SIDE(.work = "op|aten::op3||50;op|-||50", .runs = 5),
        SIDE(.work = "op|aten::op3||50;op|-||500", .runs = 5)),
    ROW("the gaps are longer, budgets", "rules: [{id: m, metric: step_time, fail: {max: 1us}}]",
        SIDE(.work = "op|aten::op3||50;op|-||50", .runs = 5),
        SIDE(.work = "op|aten::op3||50;op|-||500", .runs = 5)),
    ROW("another device, what new work a step does", NULL, USUAL,
        SIDE(.device = "Tesla V100",
             .more = "kernel|-|void fresh(float*)|30;memcpy|-|Memcpy DtoD (Device -> Device)|3")),
    ROW("a rank alone, step_time",
        "rules: [{id: m, metric: step_time, match: {rank: each}, fail: {max: 1us}}]",
        SIDE(.ranks = 2), SIDE(.ranks = 2)),
};

TEST(verdicts_are_as_written)
{
    model_check("verdict_rules.txt", model_rows, sizeof model_rows / sizeof *model_rows);
}

/* ---- by hand ---- */

static struct tg_rule *rule_of(struct hand *h, enum tg_rule_metric m, struct tg_limit_list fail)
{
    h->rule.metric = m;
    h->rule.fail = fail;
    return &h->rule;
}

static void with_ranks(struct hand *h, int side, const int64_t *v, size_t n)
{
    h->c.side[side].ranks = (int64_t *)(uintptr_t)v;
    h->c.side[side].n_ranks = h->c.n_ranks[side] = h->c.n_brought[side] = n;
}

/* Every kind of budget asks the fresh side alone, but for what is new or gone:
 * that is so of the other side. */
WITH_HAND(frames_that_the_baseline_lacks)
{
    static const struct {
        enum tg_rule_metric m;
        enum tg_bound_kind bound;
        bool inconclusive;
    } rows[] = {
        { TG_RULE_METRIC_COUNT, TG_BOUND_MAX, false },
        { TG_RULE_METRIC_COUNT, TG_BOUND_ABS, true },
        { TG_RULE_METRIC_ADDED, TG_BOUND_MAX, true },
        { TG_RULE_METRIC_ADDED, TG_BOUND_ABS, true },
        { TG_RULE_METRIC_REMOVED, TG_BOUND_MAX, true },
        { TG_RULE_METRIC_REMOVED, TG_BOUND_ABS, true },
    };
    struct tg_op frame = hand_op("Linear", TG_KIND_MODULE);
    h->c.frames = &frame;
    h->c.n_frames = 1;
    h->c.frame_sorts[TG_TEST] = 1u << TG_STACK_MODULES;
    h->rule.match.kinds = 1u << TG_KIND_MODULE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t before = h->e.n;
        tg_rule_judge_part(&h->e, rule_of(h, rows[i].m, hand_limit(h, rows[i].bound, 9)), &h->c,
                           -1);
        if (h->e.n != before + 1 ||
            (h->e.results[before].state == TG_STATE_INCONCLUSIVE) != rows[i].inconclusive)
            fail_msg("row %zu", i);
        if (rows[i].inconclusive)
            hand_text(h->e.results[before].op, "(no totals)");
    }
}

/* Which side, and whether nothing was stored or some trace was recorded without;
 * the fresh side first. */
WITH_HAND(why_frames_are_not_there)
{
    const unsigned sort = 1u << TG_STACK_MODULES;
    static const char fresh[] = "Summarise with --stacks, or name the traces themselves.";
    static const char base[] =
        "Record the baseline again with this policy, or with summarize --stacks.";
    static const char both[] = "Record both sides with with_stack=True.";
    const struct {
        unsigned stored[2], lack[2];
        const char *want, *next;
    } rows[] = {
        { { 0, 0 }, { 0, 0 }, "not in this summary: totals by Python frame were not taken", fresh },
        { { sort, 0 },
          { 0, 0 },
          "not in this summary: totals by Python frame were not taken",
          fresh },
        { { 0, sort },
          { 0, 0 },
          "not in this baseline: totals by Python frame were not taken",
          base },
        { { sort, sort },
          { sort, 0 },
          "not in every trace of the baseline: recorded without Python stacks, unlike the fresh "
          "ones",
          both },
        { { sort, sort },
          { 0, sort },
          "not in every fresh trace: recorded without Python stacks, unlike the baseline",
          both },
    };
    h->rule.match.kinds = 1u << TG_KIND_MODULE;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        h->e.n = 0;
        for (int side = 0; side < 2; side++) {
            h->c.frame_sorts[side] = rows[i].stored[side];
            h->c.frames_lack[side] = rows[i].lack[side];
        }
        tg_rule_judge_part(&h->e, rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 9)),
                           &h->c, -1);
        assert_int_equal(h->e.n, 1);
        hand_text(h->e.results[0].message, rows[i].want);
        hand_text(h->e.results[0].next, rows[i].next);
    }
}

/* Gaps have a line under a rule about a change of step_time, and under no other. */
WITH_HAND(lines_beside_step_time)
{
    static const enum tg_metric id[] = { TG_METRIC_STEP_TIME, TG_METRIC_GPU_BUSY };
    h->c.step = (struct tg_op){ .kind = TG_KIND_STEP, .ev = hand_evidence(100000, 0.5) };
    for (int i = 0; i < 2; i++) {
        struct tg_metric_change *m = &h->c.metrics[id[i]];
        m->known[0] = m->known[1] = true;
        m->ev = hand_evidence(1000000, 0.05);
    }
    tg_rule_judge_part(&h->e, rule_of(h, TG_RULE_METRIC_STEP_TIME, hand_auto(h)), &h->c, -1);
    assert_int_equal(h->e.n, 2);
    hand_text(h->e.results[0].op, "step_time");
    hand_text(h->e.results[1].op, "ProfilerStep");
    tg_rule_judge_part(&h->e, rule_of(h, tg_rule_metric_of(TG_METRIC_GPU_BUSY), hand_auto(h)),
                       &h->c, -1);
    assert_int_equal(h->e.n, 3);
    tg_rule_judge_part(&h->e,
                       rule_of(h, TG_RULE_METRIC_STEP_TIME, hand_limit(h, TG_BOUND_MAX, 2000000)),
                       &h->c, -1);
    assert_int_equal(h->e.n, 4);
}

/* Ranks 0 and 1 are compared. The rule asks for others; why they are not there differs. */
WITH_HAND(ranks_that_are_not_compared)
{
    static const int64_t compared[] = { 0, 1 }, asked[] = { 0, 1, 2, 3, 4, 5, 6 };
    static const int64_t left_out[] = { 9, 2 }, lacks_base[] = { 3, 5 }, lacks_test[] = { 4, 5 };
    static const struct {
        const char *name, *why;
    } want[] = {
        { "(rank 2)", "the stored side has step times only of this rank" },
        { "(rank 3)", "the baseline has no trace of this rank" },
        { "(rank 4)", "the fresh side has no trace of this rank" },
        { "(rank 5)", "the fresh side has no trace of this rank" }, /* nor has the baseline */
        { "(rank 6)", "the fresh side has no trace of this rank" },
    };
    with_ranks(h, TG_BASE, compared, 2);
    with_ranks(h, TG_TEST, compared, 2);
    h->c.steps_only = left_out;
    h->c.n_steps_only = 2;
    h->c.lacking[TG_BASE] = lacks_base;
    h->c.lacking[TG_TEST] = lacks_test;
    h->c.n_lacking[TG_BASE] = h->c.n_lacking[TG_TEST] = 2;
    h->rule.match.rank = TG_MATCH_RANK_LIST;
    h->rule.match.ranks = (struct tg_ints){ asked, 7 };
    tg_rule_judge(&h->e, rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0)));
    assert_int_equal(h->e.n, sizeof want / sizeof *want);
    for (size_t i = 0; i < h->e.n; i++) {
        hand_text(h->e.results[i].op, want[i].name);
        hand_text(h->e.results[i].message, want[i].why);
        assert_int_equal(h->e.results[i].state, TG_STATE_INCONCLUSIVE);
    }
}

/* Sides without a rank in common: nothing to compare the fresh one with,
 * whether it was named or is one of `each`. */
WITH_HAND(another_rank_on_each_side)
{
    static const int64_t base[] = { 0, 1 }, test[] = { 1, 2 }, named[] = { 1, 2 }, other[] = { 1 };
    with_ranks(h, TG_BASE, base, 2);
    with_ranks(h, TG_TEST, test, 2);
    (void)rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    h->rule.match.rank = TG_MATCH_RANK_EACH;
    tg_rule_judge(&h->e, &h->rule);
    assert_int_equal(h->e.n, 1);
    hand_text(h->e.results[0].op, "(rank 2)");
    hand_text(h->e.results[0].message, "the baseline has no trace of this rank");
    h->rule.match.rank = TG_MATCH_RANK_LIST;
    h->rule.match.ranks = (struct tg_ints){ named, 2 };
    tg_rule_judge(&h->e, &h->rule);
    assert_int_equal(h->e.n, 2);
    hand_text(h->e.results[1].op, "(rank 2)");
    h->rule.match.ranks = (struct tg_ints){ other, 1 }; /* it was not asked for */
    tg_rule_judge(&h->e, &h->rule);
    assert_int_equal(h->e.n, 2);
}

/* "x" for each rank from -1 (all together) to 4 that the rule looks at by itself. */
static void wants(struct hand *h, const char *want)
{
    char got[7] = "......";
    for (int i = 0; i < 6; i++)
        got[i] = tg_rule_wants(&h->e, &h->rule, i - 1) ? 'x' : '.';
    assert_string_equal(got, want);
}

WITH_HAND(ranks_that_a_rule_looks_at)
{
    static const int64_t base[] = { 0, 1, 3 }, test[] = { 0, 1, 2 }, list[] = { 0, 2, 3 },
                         one[] = { 0 };
    static const int64_t unknown = -1;
    struct tg_patterns none = { 0 };
    with_ranks(h, TG_BASE, base, 3);
    with_ranks(h, TG_TEST, test, 3);
    (void)rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    wants(h, "......"); /* the whole is not asked for by itself */
    h->rule.match.rank = TG_MATCH_RANK_EACH;
    wants(h, ".xx.x."); /* the baseline has them */
    with_ranks(h, TG_BASE, &unknown, 1);
    wants(h, "......"); /* all together are no rank */
    with_ranks(h, TG_BASE, base, 3);
    h->rule.match.rank = TG_MATCH_RANK_LIST;
    h->rule.match.ranks = (struct tg_ints){ list, 3 };
    wants(h, ".x..x.");
    h->rule.match.rank = TG_MATCH_RANK_SLOWEST;
    h->c.slowest_rank = 1;
    wants(h, "..x...");
    h->c.slowest_rank = 0;
    wants(h, ".x....");
    h->c.slowest_rank = -1; /* not known: nothing, least of all the whole */
    wants(h, "......");
    h->rule.match.rank = TG_MATCH_RANK_DEFAULT;
    h->rule.match.devices = (struct tg_ints){ one, 1 };
    wants(h, "x.....");
    h->rule.match.devices.n = 0;
    h->rule.match.streams = (struct tg_ints){ one, 1 };
    wants(h, "x.....");
    h->rule.fail.state = TG_LIMIT_OFF; /* without a limit, at nothing */
    wants(h, "......");
    h->rule.fail.state = TG_LIMIT_ON;
    h->rule.when = (struct tg_when){ .present = true, .branch = none };
    wants(h, "x....."); /* no key: it holds */
    struct tg_pattern *p = NULL;
    h->rule.when.branch = (struct tg_patterns){ .v = &p, .n = 1 };
    h->in.branch = NULL; /* not known: it does not hold */
    wants(h, "......");
}

/* One rank a side has no rank beside it: `each` and `slowest` mean the whole. */
WITH_HAND(one_rank_is_the_whole)
{
    static const int64_t rank[] = { 0 };
    struct tg_op op = hand_op("aten::mm", TG_KIND_OP);
    static const enum tg_match_rank all[] = { TG_MATCH_RANK_EACH, TG_MATCH_RANK_SLOWEST };
    hand_ops(h, &op, 1);
    for (int side = 0; side < 2; side++)
        with_ranks(h, side, rank, 1);
    (void)rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    for (size_t i = 0; i < 2; i++) {
        h->rule.match.rank = all[i];
        tg_rule_judge(&h->e, &h->rule);
        assert_int_equal(h->e.n, i + 1);
        hand_text(h->e.results[i].op_normalised, "aten::mm");
        wants(h, "......");
    }
}

/* A side brought several ranks, of which one is compared: it is named. */
WITH_HAND(one_common_rank_of_several)
{
    static const int64_t rank[] = { 0 };
    (void)rule_of(h, TG_RULE_METRIC_COUNT, hand_limit(h, TG_BOUND_ABS, 0));
    h->rule.match.rank = TG_MATCH_RANK_EACH;
    for (int side = 0; side < 2; side++) {
        with_ranks(h, side, rank, 1);
        with_ranks(h, !side, rank, 1);
        h->c.n_brought[side] = 2;
        tg_rule_judge(&h->e, &h->rule);
        assert_int_equal(h->e.n, 0); /* rank by rank */
        wants(h, ".x....");
    }
}

/* Results of a rule -> is it closed by "(nothing judged)"? */
static bool closes(struct hand *h, const struct tg_result *v, size_t n)
{
    struct tg_result padded[4] = { 0 }, *own;
    memcpy(padded, v, n * sizeof *v);
    own = hand_results(h, padded, n + 1);
    for (size_t i = 0; i < n; i++)
        own[i].rule = h->rule.id;
    own[n] = hand_row("of another rule", 1);
    own[n].rule = TG_SV("s");
    tg_rule_close(&h->e, &h->rule);
    if (h->e.n > n + 1) {
        assert_int_equal(h->e.results[n + 1].state, TG_STATE_INCONCLUSIVE);
        hand_text(h->e.results[n + 1].op, "(nothing judged)");
    }
    return h->e.n > n + 1;
}

WITH_HAND(a_rule_that_judged_nothing_is_not_green)
{
    const struct tg_result silent = { .state = TG_STATE_NOT_JUDGED, .why_not = "waits" },
                           off = { .state = TG_STATE_SKIP, .why_not = "off", .switched_off = true },
                           passed = { .state = TG_STATE_PASS, .grounds = TG_GROUNDS_RUNS },
                           groundless = { .state = TG_STATE_PASS },
                           few = { .state = TG_STATE_NOT_JUDGED,
                                   .why_not = "few",
                                   .needs_runs = 3 },
                           suspicious = { .state = TG_STATE_SUSPICIOUS },
                           guard = { .state = TG_STATE_SKIP };
    const struct {
        struct tg_result v[2];
        size_t n;
        bool closed, if_note;
    } rows[] = {
        { { silent }, 1, true, false },
        { { off }, 1, true, true }, /* the policy itself leaves it out */
        { { off, silent }, 2, true, false },
        { { silent, passed }, 2, false, false },
        { { silent, groundless }, 2, true, false }, /* passed, and rests on nothing */
        { { silent, few }, 2, false, false },       /* more runs would do: the coverage tells */
        { { silent, suspicious }, 2, false, false },
        { { guard }, 1, false, false }, /* said so already */
        { { silent }, 0, false, false },
    };
    for (int note = 0; note < 2; note++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            h->rule.optional = !note; /* which is about what matches nothing */
            h->rule.unjudged_note = note;
            if (closes(h, rows[i].v, rows[i].n) != (note ? rows[i].if_note : rows[i].closed))
                fail_msg("row %zu, note %d", i, note);
        }
    (void)closes(h, &silent, 1);
    h->rule.unjudged_note = false;
    assert_true(closes(h, &silent, 1));
    hand_text(h->e.results[2].message, "nothing that the rule matches was judged: waits");
}

/* Is "(all gone)" told beside the rows of the rule? */
static bool tells_all_gone(struct hand *h, const struct tg_match *m)
{
    h->e.n = 0;
    h->rule.match = *m;
    h->rule.match.kinds = 1u << TG_KIND_KERNEL;
    tg_rule_judge_part(&h->e, &h->rule, &h->c, -1);
    assert_true(h->e.n >= 1);
    return tg_sv_eq(h->e.results[h->e.n - 1].op, TG_SV("(all gone)"));
}

/* Of a kind as a whole nothing can be elsewhere;
 * of some names of it the work may have another name. */
WITH_HAND(a_rule_whose_names_all_went_warns)
{
    struct tg_op gone = hand_op("gemm", TG_KIND_KERNEL);
    const int64_t zero = 0;
    const struct tg_ints first = { &zero, 1 };
    const struct tg_match narrow[] = {
        { .name = hand_patterns(h, "gemm") },
        { .raw_name = hand_patterns(h, "gemm") },
        { .parent = hand_patterns(h, "p") },
        { .classes = UINT32_MAX },
        { .families = UINT32_MAX },
        { .devices = first },
        { .streams = first },
    };
    const struct tg_match all = { .present = true };
    gone.parent = TG_SV("p");
    gone.present[TG_TEST] = false;
    gone.count[TG_TEST] = 0;
    gone.change = TG_REMOVED;
    hand_ops(h, &gone, 1);
    h->rule.metric = TG_RULE_METRIC_COUNT;
    h->rule.bad = TG_MORE_IS_BAD;
    h->rule.fail = hand_limit(h, TG_BOUND_ABS, 0);
    assert_false(tells_all_gone(h, &all));
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        if (!tells_all_gone(h, &narrow[i]))
            fail_msg("row %zu", i);
    h->rule.bad = TG_LESS_IS_BAD; /* the row itself says it: as a failure, as a warning */
    assert_false(tells_all_gone(h, &narrow[0]));
    h->rule.warn = h->rule.fail;
    h->rule.fail = (struct tg_limit_list){ .state = TG_LIMIT_OFF };
    assert_false(tells_all_gone(h, &narrow[0]));
    h->rule.metric = TG_RULE_METRIC_BYTES; /* nor where it cannot be told what went */
    assert_false(tells_all_gone(h, &narrow[0]));
    hand_text(h->e.results[h->e.n - 1].op, "(no value)");
    h->rule.metric = TG_RULE_METRIC_REMOVED; /* which is about what went */
    h->rule.warn = hand_limit(h, TG_BOUND_ABS, 1e9);
    assert_false(tells_all_gone(h, &narrow[0]));
}
