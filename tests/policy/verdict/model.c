#include "model.h"

#include "../../reporters/golden.h"
#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"
#include "core/diff/names.h"
#include "core/summary/summary.h"
#include "policy/language/load.h"
#include "tests/support.h"

/* ---- traces ---- */

struct clock {
    struct tg_buf *out;
    uint32_t seed;
    int64_t host, device; /* ns */
    unsigned serial;
    double all_slower;
};

/* us, and up to 1 % more or less of it, as ns. */
static int64_t vary(struct clock *c, double us)
{
    c->seed = c->seed * 1664525u + 1013904223u;
    return (int64_t)(us * 1000 * (0.99 + 0.02 * (c->seed >> 8) / (double)(1 << 24)));
}

static void put_event(struct clock *c, const char *cat, tg_sv name, int device, int64_t start,
                      int64_t end, const char *args)
{
    tg_buf_printf(c->out,
                  "{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%.*s\",\"pid\":%d,\"tid\":%d,\"ts\":%."
                  "3f,\"dur\":%.3f,\"args\":{%s}},",
                  cat, TG_SV_ARG(name), device ? 0 : 10, device ? 7 : 10, (double)start / 1000,
                  (double)(end - start) / 1000, args);
}

static tg_sv part(tg_sv *rest)
{
    return tg_sv_cut(rest, '|');
}

static const char *category_of(tg_sv sort)
{
    return tg_sv_eq(sort, TG_SV("memcpy"))                                    ? "gpu_memcpy"
           : tg_sv_eq(sort, TG_SV("memset"))                                  ? "gpu_memset"
           : tg_sv_eq(sort, TG_SV("kernel")) || tg_sv_eq(sort, TG_SV("comm")) ? "kernel"
                                                                              : NULL;
}

static const char *call_of(tg_sv sort)
{
    return tg_sv_eq(sort, TG_SV("memcpy"))   ? "cudaMemcpyAsync"
           : tg_sv_eq(sort, TG_SV("memset")) ? "cudaMemsetAsync"
           : tg_sv_eq(sort, TG_SV("sync"))   ? "cudaStreamSynchronize"
           : tg_sv_eq(sort, TG_SV("graph"))  ? "cudaGraphLaunch"
           : tg_sv_eq(sort, TG_SV("op"))     ? NULL
                                             : "cudaLaunchKernel";
}

static void do_work(struct clock *c, tg_sv item, double slower)
{
    tg_sv sort = part(&item), op = part(&item), name = part(&item), us = part(&item), bytes = item;
    double takes = us.n ? strtod(us.p, NULL) : 10,
           most = tg_sv_eq(op, TG_SV("aten::op3")) ? slower : 1;
    int64_t start = c->host, call;
    char args[300];
    c->serial++;
    c->host += 2000;
    if (call_of(sort)) {
        tg_sv called = tg_sv_eq(sort, TG_SV("sync")) && name.n ? name : tg_sv_of(call_of(sort));
        call = c->host;
        c->host += vary(c, 3);
        if (tg_sv_eq(sort, TG_SV("sync")) && c->host < c->device)
            c->host = c->device;
        (void)snprintf(args, sizeof args, "\"External id\":%u,\"correlation\":%u", c->serial,
                       c->serial);
        put_event(c, "cuda_runtime", called, 0, call, c->host, args);
    }
    if (category_of(sort)) {
        int64_t begin = c->device > c->host + 1000 ? c->device : c->host + 1000;
        bool kernel = strcmp(category_of(sort), "kernel") == 0;
        c->device = begin + vary(c, takes * most * c->all_slower) + 500;
        (void)snprintf(args, sizeof args,
                       "\"External id\":%u,\"correlation\":%u,\"device\":0,\"stream\":7,%s%.*s",
                       c->serial, c->serial,
                       kernel ? "\"block\":[128,1,1],\"grid\":[64,1,1],\"registers per thread\":"
                              : "\"bytes\":",
                       bytes.n  ? (int)bytes.n
                       : kernel ? 2
                                : 4,
                       bytes.n  ? bytes.p
                       : kernel ? "32"
                                : "4096");
        put_event(c, category_of(sort), name, 1, begin, c->device - 500, args);
    }
    c->host += vary(c, tg_sv_eq(sort, TG_SV("op")) ? takes * most : 5);
    if (op.n && !tg_sv_eq(op, TG_SV("-"))) {
        (void)snprintf(args, sizeof args, "\"External id\":%u", c->serial);
        put_event(c, "cpu_op", op, 0, start, c->host, args);
    }
    c->host += 1000;
}

static void do_all(struct clock *c, const char *works, const char *gone, double slower)
{
    tg_sv rest = tg_sv_of(works);
    while (rest.n) {
        tg_sv item = tg_sv_cut(&rest, ';'), copy = item;
        (void)part(&copy);
        if (!gone || !tg_sv_eq(part(&copy), tg_sv_of(gone)))
            do_work(c, item, slower);
    }
}

static void put_usual(struct tg_buf *b)
{
    tg_buf_puts(b, "memcpy|aten::copy_|Memcpy HtoD (Pinned -> Device)|5");
    for (int i = 0; i < 12; i++)
        tg_buf_printf(b, ";kernel|aten::op%d|void kern%d(float*)|%d", i, i, 20 + i);
    tg_buf_puts(b, ";memset|aten::zero_|Memset (Device)|2;sync|aten::loss||3");
}

static bool is_in(unsigned bits, unsigned i)
{
    return bits == 0 || (i < 32 && bits & 1u << i);
}

static void put_unpaired(struct clock *c, const struct model_side *s)
{
    char args[100];
    for (unsigned i = 0; i < s->unlinked + s->lost; i++) {
        bool kernel = i < s->unlinked;
        (void)snprintf(args, sizeof args, "\"correlation\":%u%s", 70000 + i,
                       kernel ? ",\"device\":0,\"stream\":7" : "");
        put_event(c, kernel ? "kernel" : "cuda_runtime",
                  kernel ? TG_SV("kern") : TG_SV("cudaLaunchKernel"), kernel, 1000 * (int64_t)i,
                  1000 * (int64_t)i + 500, args);
    }
}

/* `seed` differs between the runs of both sides, so that no two are the same. */
static void put_trace(struct tg_buf *out, const struct model_side *s, unsigned run, unsigned seed,
                      int rank)
{
    struct clock c = { .out = out,
                       .seed = 7 + 97 * seed + 1009 * (unsigned)(rank + 1),
                       .host = 1000000,
                       .all_slower = s->all_slower > 0 ? s->all_slower : 1 };
    const char *marker = s->marker ? s->marker : "ProfilerStep#%d";
    TG_BUF usual = { 0 };
    put_usual(&usual);
    tg_buf_printf(out,
                  "{\"schemaVersion\":1,%s\"deviceProperties\":[{\"id\":0,\"name\":\"%s\","
                  "\"totalGlobalMem\":1,\"computeMajor\":9,\"computeMinor\":0}],",
                  s->properties ? s->properties : "", s->device ? s->device : "NVIDIA H100");
    if (rank >= 0)
        tg_buf_printf(
            out, "\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":%d,\"world_size\":4},", rank);
    tg_buf_printf(out, "\"traceEvents\":[%s", s->events ? s->events : "");
    put_unpaired(&c, s);
    for (unsigned k = 0; k < (s->steps ? s->steps : 4); k++) {
        int64_t start = c.host - 500;
        bool here = is_in(s->in_steps, k) && is_in(s->in_runs, run) &&
                    is_in(s->in_ranks, rank < 0 ? 0 : (unsigned)rank);
        do_all(&c, s->work ? s->work : tg_buf_sv(&usual).p, s->gone,
               s->slower > 0 && is_in(s->slow_steps, k) ? s->slower : 1);
        if (s->more && here)
            do_all(&c, s->more, NULL, 1);
        c.host = (c.host > c.device ? c.host : c.device) + 5000;
        if (*marker) {
            char name[100];
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            (void)snprintf(name, sizeof name, marker, (int)k + 3);
#pragma GCC diagnostic pop
            put_event(&c, "user_annotation", tg_sv_of(name), 0, start, c.host, "");
        }
        c.host += 2000;
        if (s->between && here)
            do_all(&c, s->between, NULL, 1);
        c.host = (c.host > c.device ? c.host : c.device) + 2000;
    }
    out->n -= out->p[out->n - 1] == ',';
    tg_buf_puts(out, s->cut ? "," : "]}");
}

/* ---- sides ---- */

struct scene {
    struct tg_arena *a;
    struct tg_policy *policy;
    const struct tg_suite *suite;
    struct tg_summary summary[2];
    struct tg_side side[2];
    struct tg_compare_opts compare;
    struct tg_comparison c;
    struct tg_err err;
};

static void must(const struct scene *s, bool ok, const char *what)
{
    if (!ok)
        fail_msg("%s: %s %s", what, s->err.message, s->err.hint);
}

static void load_side(struct scene *s, int side, const struct model_side *m, const char *what)
{
    struct tg_summarize_opts so = tg_suite_reading(s->policy, s->suite);
    so.load.reader.allow_truncated = m->cut;
    tg_summary_init(&s->summary[side]);
    for (unsigned run = 0; run < (m->runs ? m->runs : 1); run++)
        for (int rank = m->ranks ? 0 : -1; rank < (int)m->ranks; rank++) {
            TG_BUF text = { 0 };
            TG_SOURCE *from = NULL;
            char id[16];
            if (rank >= 0 && m->without_ranks & 1u << rank)
                continue;
            put_trace(&text, m, run, run + (side == TG_TEST ? 31 : 0), rank);
            from = tg_source_memory(tg_buf_sv(&text), "x.json", NULL, &s->err);
            must(s, from != NULL, what);
            (void)snprintf(id, sizeof id, "run%u", run);
            so.run = tg_sv_of(id);
            must(s, tg_summary_add(&s->summary[side], from, &so, NULL, &s->err), what);
        }
    must(s,
         tg_side_arrange_some(&s->side[side], &s->summary[side],
                              m->ranks ? TG_ARRANGE_AUTO : TG_ARRANGE_RUNS, s->a, &s->err),
         what);
}

static bool read_policy(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    (void)path;
    (void)err;
    tg_buf_puts(out, "version: 1\n");
    tg_buf_puts(out, arg);
    return true;
}

static void open_scene(struct scene *s, const struct model_row *row)
{
    struct tg_policy_opts po = { .path = row->policy ? "p.yml" : NULL,
                                 .today = MODEL_TODAY,
                                 .read = read_policy,
                                 .read_arg = (void *)(uintptr_t)row->policy };
    struct tg_diags diags;
    *s = (struct scene){ .a = tg_arena_new() };
    tg_err_init(&s->err);
    tg_diags_init(&diags);
    s->policy = tg_policy_load(&po, &diags, &s->err);
    if (!s->policy)
        fail_msg("%s: %s", row->what, diags.n ? diags.v[0].message.p : s->err.message);
    tg_diags_release(&diags);
    if (s->policy->n_suites)
        s->suite = &s->policy->suites[0];
    else
        s->suite = TG_NEW(s->a, struct tg_suite);
    tg_gate_compare_opts(&s->compare, s->policy, s->suite, s->a);
    load_side(s, TG_TEST, &row->test, row->what);
    if (row->alone)
        s->side[TG_BASE] = s->side[TG_TEST];
    else
        load_side(s, TG_BASE, &row->base, row->what);
    must(s, tg_compare(&s->c, &s->side[TG_BASE], &s->side[TG_TEST], &s->compare, s->a, &s->err),
         row->what);
}

static void close_scene(struct scene *s)
{
    tg_summary_release(&s->summary[0]);
    tg_summary_release(&s->summary[1]);
    tg_policy_free(s->policy);
    tg_arena_free(s->a);
}

/* Nothing of a part may be needed once it is judged: its arena goes. */
static void judge_part(struct scene *s, struct tg_eval_state *e, const struct tg_part *p,
                       const char *what)
{
    struct tg_compare_opts o = s->compare;
    struct tg_comparison one;
    TG_ARENA *a = tg_arena_new();
    if (p->rank >= 0) {
        o.ranks[0] = o.ranks[1] = &p->rank;
        o.n_rank_numbers[0] = o.n_rank_numbers[1] = 1;
    }
    o.devices = p->devices->n ? p->devices->v : NULL;
    o.n_devices = p->devices->n;
    o.streams = p->streams->n ? p->streams->v : NULL;
    o.n_streams = p->streams->n;
    must(s, tg_compare(&one, &s->side[0], &s->side[1], &o, a, &s->err), what);
    tg_eval_part(e, &one);
}

/* ---- the verdict as text ---- */

static void put_line(struct tg_buf *out, const char *what, tg_sv text)
{
    if (text.n)
        tg_buf_printf(out, "%s%.*s\n", what, TG_SV_ARG(text));
}

static void put_number(struct tg_buf *out, const char *what, double v)
{
    if (isfinite(v))
        tg_buf_printf(out, " %s %.4g", what, v);
}

static void put_result(struct tg_buf *out, const struct tg_result *r)
{
    tg_buf_printf(out, "%s %.*s %.*s (%.*s)", tg_state_name(r->state), TG_SV_ARG(r->rule),
                  TG_SV_ARG(r->op_normalised), TG_SV_ARG(tg_result_kind(r)));
    if (r->at.file && strcmp(r->at.file, "p.yml") == 0)
        tg_buf_printf(out, " %u:%u", r->at.line, r->at.col);
    if (r->folded_under != TG_NO_ID)
        tg_buf_printf(out, " under %u", r->folded_under);
    if (r->has_values) {
        put_number(out, "base", r->base);
        put_number(out, "test", r->test);
        put_number(out, "delta", r->delta);
        put_number(out, "pct", r->delta_pct);
    }
    tg_buf_printf(out, " grounds %d%s%s\n", (int)r->grounds, r->switched_off ? " off" : "",
                  r->why_not && r->needs_runs ? " few" : "");
    put_line(out, "  ", r->message);
    put_line(out, "  evidence: ", r->evidence);
    put_line(out, "  limit: ", r->limit);
    put_line(out, "  inside: ", r->calling_op);
    put_line(out, "  next: ", r->next);
    if (r->why_not)
        put_line(out, "  why not: ", tg_sv_of(r->why_not));
}

/* Everything; of what passes or is not judged the first of its state. */
static void put_verdict(struct tg_buf *out, const struct tg_verdict *v)
{
    size_t shown[TG_STATE_SKIP + 1] = { 0 };
    tg_buf_printf(out, "%s %d: %.*s\n", tg_outcome_name(v->outcome), v->exit_code,
                  TG_SV_ARG(v->headline));
    put_line(out, "coverage: ", v->coverage);
    put_line(out, "error: ", v->error);
    put_line(out, "hint: ", v->error_hint);
    for (size_t i = 0; i < v->n_notes; i++) {
        const struct tg_note *n = &v->notes[i];
        tg_buf_printf(out, "note%s%s%s: %.*s\n", n->warning ? " warning" : "",
                      n->reason ? " row" : "", n->damage ? " damage" : "", TG_SV_ARG(n->text));
        put_line(out, "  next: ", n->next);
    }
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        bool quiet = r->state <= TG_STATE_SKIP && r->has_values;
        if (!quiet || (shown[r->state]++ < 1 && (r->delta != 0 || r->why_not)))
            put_result(out, r);
    }
    for (int s = 0; s <= TG_STATE_FAIL; s++)
        if (v->n_state[s])
            tg_buf_printf(out, "%zu %s%s", v->n_state[s], tg_state_name((enum tg_state)s),
                          v->n_folded[s] ? " (some folded)" : "");
    tg_buf_puts(out, "\n\n");
}

static void without_comparison(struct tg_verdict *v, enum model_alone how, struct tg_arena *a)
{
    struct tg_err why;
    tg_err_init(&why);
    (void)tg_err_set(&why, how == MODEL_ERROR ? TG_ERR_GIT : TG_ERR_LOST, TG_NOWHERE,
                     "no baseline is here");
    (void)tg_err_hint(&why, "Record one.");
    if (how == MODEL_FIRST_RUN || how == MODEL_FIRST_RUN_FAILS)
        tg_verdict_first_run(v, how == MODEL_FIRST_RUN ? TG_OUTCOME_PASS : TG_OUTCOME_FAIL, a);
    else if (how == MODEL_ERROR)
        tg_verdict_of_error(v, &why, a);
    else if (how == MODEL_NO_BASELINE)
        tg_verdict_alone(v, a);
    else
        tg_verdict_lost(v, &why,
                        how == MODEL_LOST_PASSES  ? TG_OUTCOME_PASS
                        : how == MODEL_LOST_FAILS ? TG_OUTCOME_FAIL
                                                  : TG_OUTCOME_INCONCLUSIVE,
                        a);
}

static struct tg_damage damage_of(const char *text)
{
    struct tg_damage d = { 0 };
    for (const char *p = text ? text : ""; *p; p++)
        d.n += *p == '\n';
    tg_buf_puts(&d.text, text ? text : "");
    return d;
}

void model_judge(struct tg_buf *out, const struct model_row *row)
{
    struct scene s;
    struct tg_verdict v, alone;
    bool used[8] = { false };
    struct tg_eval_state *e;
    struct tg_part part;
    open_scene(&s, row);
    struct tg_damage damage = damage_of(row->damage);
    struct tg_eval_input in = { .policy = s.policy,
                                .suite = s.policy->n_suites ? s.suite : NULL,
                                .comparison = &s.c,
                                .today = row->no_today ? 0 : MODEL_TODAY,
                                .waivers_used = row->more_suites ? used : NULL,
                                .more_suites = row->more_suites,
                                .damage = { NULL, &damage },
                                .alone = row->alone != MODEL_COMPARED,
                                .event = row->event,
                                .branch = row->branch };
    tg_buf_printf(out, "== %s\n", row->what);
    e = tg_eval_begin(&v, &in, s.a);
    while (tg_eval_wants(e, &part))
        judge_part(&s, e, &part, row->what);
    tg_eval_end(e);
    if (row->alone) {
        without_comparison(&alone, row->alone, s.a);
        tg_verdict_add_alone(&alone, &v, s.a);
        tg_verdict_settle(&alone, s.policy->fail_on, s.a);
        v = alone;
        tg_buf_printf(out, "%sneeds a baseline\n",
                      tg_policy_asks_fresh_alone(s.policy) ? "no rule " : "");
    }
    put_verdict(out, &v);
    tg_damage_release(&damage);
    close_scene(&s);
}

void model_explain(struct tg_buf *out, const struct model_row *row, const char *id)
{
    struct scene s;
    open_scene(&s, row);
    tg_buf_printf(out, "== %s, %s\n", row->what, id);
    if (!tg_policy_explain_rule(s.policy, tg_sv_of(id), &s.c, out))
        for (size_t i = 0; i < s.c.n_ops; i++)
            if (tg_sv_eq(s.c.ops[i].name, tg_sv_of(id)))
                (void)tg_policy_explain_op(s.policy, &s.c.ops[i], &s.c, out);
    tg_buf_putc(out, '\n');
    close_scene(&s);
}

void model_check(const char *golden, const struct model_row *rows, size_t n)
{
    TG_BUF out = { 0 }, plain = { 0 };
    for (size_t i = 0; i < n; i++)
        model_judge(&out, &rows[i]);
    tg_message_put_plain(&plain, tg_buf_sv(&out));
    golden_check(golden, tg_buf_sv(&plain));
}
