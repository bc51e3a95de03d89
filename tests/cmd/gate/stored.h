#ifndef TG_TESTS_CMD_GATE_STORED_H
#define TG_TESTS_CMD_GATE_STORED_H
/* Stored nights: runs that are summaries of traces made here. */
#include "tests/cmd/gate/job.h"

#include "cmd/gate/gate.h"
#include "tests/cmd/gate/traces.h"

/* A stored run of the suite. */
static inline void store_trace(struct job *k, const char *suite, const char *rev, const char *trace)
{
    static const struct tg_gate_opts none;
    static const char *path[] = { "../t.json" };
    const struct tg_strs args = { path, 1, 1 };
    const struct tg_cmd_call call = job_call(k, &args);
    struct tg_gate_same s;
    TG_BUF b = { 0 };
    assert_no_error(tg_file_write("../t.json", tg_sv_of(trace), &k->err), &k->err);
    assert_no_error(tg_gate_same_open(&s, &none, &call, "x", 1, &k->err), &k->err);
    assert_no_error(tg_summary_write(&s.summary, NULL, &b, &k->err), &k->err);
    tg_gate_same_release(&s);
    tg_buf_putc(&b, '\0');
    job_store(k, suite, rev, b.p);
}

/* Of the trace with so many calls. */
static inline void store_run(struct job *k, const char *suite, const char *rev, unsigned calls)
{
    store_trace(k, suite, rev, trace_text(k->box->a, -1, calls, 10));
}

#endif
