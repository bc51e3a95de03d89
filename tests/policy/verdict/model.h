#ifndef TG_TESTS_POLICY_VERDICT_MODEL_H
#define TG_TESTS_POLICY_VERDICT_MODEL_H
/*
 * A verdict in one call, without a process: two sides of small traces written here, a policy as
 * text, and everything that the verdict says, line by line. The traces are those of
 * tests/data/plain_model.py: a step of 12 operators with a kernel each, a copy, a set and a
 * synchronisation; times vary by 1 % between runs, names and numbers never.
 */
#include "policy/verdict/eval.h"

/* Pieces of work, ';' between them: "SORT|OPERATOR|NAME|US|BYTES", all but SORT may be left out.
 * Sorts: op, kernel, comm, memcpy, memset, sync, graph. Operator "-": none. */
struct model_side {
    const char *work, *more, *between;    /* instead of the usual step; after it; between steps */
    unsigned steps, runs, ranks;          /* 0: 4 steps, 1 run, no rank */
    unsigned in_steps, in_runs, in_ranks; /* bits: where `more` is; 0: everywhere */
    unsigned without_ranks;               /* bits: ranks that no run has */
    double slower;                        /* kern3 takes so many times as long; 0: 1 */
    unsigned slow_steps;                  /* bits: where `slower` counts; 0: everywhere */
    double all_slower;                    /* everything on the device does; 0: 1 */
    const char *gone;                     /* an operator of the usual step that is not there */
    const char *device, *marker;          /* NULL: NVIDIA H100, ProfilerStep#%d; marker "": none */
    unsigned unlinked,
        lost;           /* kernels without a launch, launches without a kernel, before the steps */
    const char *events; /* more events, JSON with a comma at the end */
    const char *properties; /* more members of the document, the same */
    bool cut;               /* the end of the file is missing */
};

/* Policies and pieces of work of the usual step, for rows. */
#define COUNT(more)                                                                                \
    "rules: [{id: work, match: {kind: [kernel, memcpy, memset, graph, op, sync]}, metric: "        \
    "count, " more "}]\n"
#define ABS COUNT("fail: {abs: 0}")
#define TIME(more) "rules: [{id: time, match: {kind: kernel}, metric: self, " more "}]\n"
#define FOR(match) "rules: [{id: work, match: {" match "}, metric: count, fail: {abs: 0}}]\n"
#define OP "op|aten::op3"
#define KERNEL "kernel|aten::op3|void kern3(float*)|23"

/* For `events`, with a step from 1000 us on: an operator, in us; a module that holds for `us`. */
#define OP_EVENT(name, start, us)                                                                  \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":10,\"tid\":10,\"ts\":" start   \
    ",\"dur\":" us "},"
#define MODULE_EVENT(name, us)                                                                     \
    "{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"nn.Module: " name                        \
    "\",\"pid\":10,\"tid\":10,\"ts\":1000.0,\"dur\":" us                                           \
    ",\"args\":{\"Python id\":1,\"Python module id\":0}},"

/* The fresh side against itself, added to a verdict without a comparison. */
enum model_alone {
    MODEL_COMPARED,
    MODEL_FIRST_RUN,
    MODEL_FIRST_RUN_FAILS,
    MODEL_LOST,
    MODEL_LOST_PASSES,
    MODEL_LOST_FAILS,
    MODEL_ERROR,
    MODEL_NO_BASELINE
};

struct model_row {
    const char *what, *policy; /* policy without "version: 1"; NULL: the built-in one */
    struct model_side base, test;
    const char *event, *branch;
    enum model_alone alone;
    const char *damage; /* of the fresh side, a line each part */
    bool no_today;      /* the day is not known */
    bool more_suites;   /* another suite is still to come */
};

/* A row: what it shows, its policy, and its sides; a side is SIDE(.members) or the USUAL step.
 * MORE: the fresh side does this work besides. */
#define SIDE(...)                                                                                  \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define USUAL                                                                                      \
    {                                                                                              \
        .work = NULL                                                                               \
    }
#define ROW(what_, policy_, base_, test_)                                                          \
    {                                                                                              \
        .what = what_, .policy = policy_, .base = base_, .test = test_                             \
    }
/* `n` runs a side. */
#define RUNS(what, policy, n, ...) ROW(what, policy, SIDE(.runs = n), SIDE(.runs = n, __VA_ARGS__))
/* With other members of the row. */
#define ROW_WITH(what_, policy_, base_, test_, ...)                                                \
    {                                                                                              \
        .what = what_, .policy = policy_, .base = base_, .test = test_, __VA_ARGS__                \
    }
#define MORE(what_, policy_, work_) ROW(what_, policy_, USUAL, SIDE(.more = work_))

/* The model's today: waivers are judged as of 2026-01-02. */
#define MODEL_TODAY 20455

/* Appends the verdict of a row to `out`; a policy or a trace that cannot be read fails the test. */
void model_judge(struct tg_buf *out, const struct model_row *row);
/* The verdicts of all rows against the golden file of this name. */
void model_check(const char *golden, const struct model_row *rows, size_t n);
/* `tracegate policy explain` of a rule's id or a name, with the fresh side's numbers. */
void model_explain(struct tg_buf *out, const struct model_row *row, const char *id);
#endif
