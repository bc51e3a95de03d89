#include "fixture.h"

#include <math.h>

#include "core/base/message.h"
#include "core/base/strmap.h"
#include "core/diff/internal.h"

#define LONG_KERNEL                                                                                \
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "       \
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"

static const char *const names[FIXTURES] = { "pass",         "warn",    "fail",
                                             "inconclusive", "lost",    "first_run",
                                             "error",        "hostile", "large" };

const char *fixture_name(enum fixture f)
{
    return names[f];
}

/* ---- hostile text ---- */

#define HOSTILE(lit)                                                                               \
    {                                                                                              \
        "" lit, sizeof(lit) - 1                                                                    \
    }
const tg_sv hostile_names[] = {
    HOSTILE("`"),
    HOSTILE("``a`b```"),
    HOSTILE("a|b||c\\|d"),
    HOSTILE("<script>alert(1)</script>"),
    HOSTILE("</summary></details><h1>x"),
    HOSTILE("<!-- tracegate:report key=x -->"),
    HOSTILE("@octocat please look at #123 and GH-1"),
    HOSTILE("https://evil.example/x www.evil.example me@evil.example"),
    HOSTILE("one\r\ntwo\nthree\tfour"),
    HOSTILE("\n::error file=x::pwned"),
    HOSTILE("::warning::pwned"),
    HOSTILE("##[error]pwned ##[set-env name=PATH]x"),
    HOSTILE("\xe2\x80\xae"
            "evil\xe2\x80\xac \xe2\x80\x8bzero"),
    HOSTILE("bad \xff\xfe utf8 \xc3 \xed\xa0\x80 end"),
    HOSTILE("]]> & ]]&gt; &amp; \"quoted\" 'single'"),
    HOSTILE("ctrl \x01\x02\x1b[31mred\x1b[0m \x7f"),
    HOSTILE("nul \0 inside"),
    HOSTILE("=HYPERLINK(\"http://x\")"),
    HOSTILE("$x^2$ ${HOME} $(id) %0A%25"),
    HOSTILE("**bold** _it_ ~~no~~ [l](http://x) ![i](x) :smile:"),
    HOSTILE(" leading and trailing "),
    HOSTILE("  "),
    HOSTILE("\xef\xbf\xbe\xef\xbf\xbf noncharacters"),
    HOSTILE("\xf0\x9f\x94\xa5 \xe6\xbc\xa2\xe5\xad\x97 \xc3\xa9"),
    HOSTILE("--> %% ; \"]\n end"),
    HOSTILE("0123456789abcdef0123456789abcdef01234567"),
    HOSTILE(LONG_KERNEL LONG_KERNEL LONG_KERNEL),
    HOSTILE("void (anonymous namespace)::softmax_warp_forward<float, float, float, 8>(float*)"),
};
const size_t n_hostile_names = sizeof hostile_names / sizeof *hostile_names;

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes; only the mixture matters */
    return *seed >> 8;
}

tg_sv hostile_name(unsigned k, struct tg_arena *a)
{
    uint32_t seed = k * 2654435761u + 1;
    TG_BUF b = { 0 };
    if (k < n_hostile_names)
        return hostile_names[k];
    for (unsigned part = 0, parts = 1 + next_random(&seed) % 4; part < parts; part++) {
        tg_sv piece = hostile_names[next_random(&seed) % n_hostile_names];
        size_t from = next_random(&seed) % piece.n, n = 1 + next_random(&seed) % 24;
        n = n < piece.n - from ? n : piece.n - from;
        tg_buf_add(&b, (tg_sv){ piece.p + from, n });
    }
    tg_buf_printf(&b, "#%u", k); /* so that no two are the same */
    return tg_arena_sv(a, tg_buf_sv(&b));
}

/* ---- building ---- */

struct make {
    struct tg_arena *a;
    struct tg_verdict *v;
    struct tg_comparison *c;
};

static struct tg_evidence no_evidence(enum tg_judged why)
{
    return (struct tg_evidence){ .why_not = why, .mde = NAN, .p = NAN };
}

static struct tg_op *add_op(struct make *m, enum tg_kind kind, tg_sv name, double count_base,
                            double count_test, double us_base, double us_test)
{
    struct tg_op *op = &m->c->ops[m->c->n_ops++];
    *op = (struct tg_op){ .name = name,
                          .kind = kind,
                          .settled = true,
                          .partner = TG_NO_ID,
                          .region = TG_NO_ID,
                          .leader = TG_NO_ID };
    const double count[2] = { count_base, count_test }, us[2] = { us_base, us_test };
    for (int s = 0; s < 2; s++) {
        op->present[s] = count[s] > 0;
        op->raw[s] = count[s] > 0 ? name : TG_SV("");
        op->count[s] = count[s];
        op->self[s] = op->total[s] = us[s] * 1000;
        op->self_least[s] = 990 * us[s]; /* of the runs */
        op->self_most[s] = 1010 * us[s];
        op->share[s] = us[s] * 1000 / m->c->wall_ns[s];
        op->step_count[s] = (uint64_t)llround(count[s] * (double)m->c->n_units[s]);
        op->step_total[s] = llround(us[s] * 1000 * (double)m->c->n_units[s]);
        op->whole_count[s] = op->step_count[s] + 1;
        op->whole_total[s] = op->step_total[s] + 500;
    }
    op->change = count_base <= 0           ? TG_ADDED
                 : count_test <= 0         ? TG_REMOVED
                 : count_test > count_base ? TG_MORE
                 : count_test < count_base ? TG_FEWER
                                           : TG_SAME;
    op->ev = no_evidence(op->change == TG_SAME ? TG_NOT_ONE_SIDED : TG_NOT_COUNT_CHANGED);
    op->ev_total = op->ev;
    return op;
}

static struct tg_result *add_result(struct make *m, enum tg_state state, const char *rule,
                                    const struct tg_op *op, enum tg_rule_metric metric,
                                    enum tg_unit unit)
{
    struct tg_result *r = &m->v->results[m->v->n_results++];
    *r = (struct tg_result){ .state = state,
                             .rule = tg_sv_of(rule),
                             .metric = metric,
                             .unit_id = unit,
                             .delta_pct = NAN,
                             .share = NAN,
                             .folded_under = TG_NO_ID,
                             .at = { .file = ".tracegate.yml", .line = 12, .col = 5 } };
    if (op) {
        bool count = unit == TG_UNIT_COUNT;
        r->op = op->raw[op->present[TG_TEST] ? TG_TEST : TG_BASE];
        r->op_normalised = op->name;
        r->op_kind = op->kind;
        r->unit = count ? TG_SV("count") : TG_SV("ns");
        r->has_values = unit != TG_UNIT_ATTR;
        r->base = count ? op->count[TG_BASE] : op->self[TG_BASE];
        r->test = count ? op->count[TG_TEST] : op->self[TG_TEST];
        r->delta = r->test - r->base;
        r->delta_pct = r->base > 0 ? 100 * r->delta / r->base : NAN;
        r->share = op->share[TG_TEST];
    }
    m->v->n_state[state]++;
    return r;
}

static void limited(struct tg_result *r, const char *as_written, const char *said)
{
    r->limit = tg_sv_of(as_written);
    r->limit_said = tg_sv_of(said);
}

static struct tg_note *add_note(struct make *m, const char *text, const char *next, bool warning)
{
    struct tg_note *n = &m->v->notes[m->v->n_notes++];
    *n = (struct tg_note){ .text = tg_sv_of(text), .next = tg_sv_of(next), .warning = warning };
    return n;
}

static void add_metric(struct make *m, enum tg_metric id, double base, double test)
{
    struct tg_metric_change *x = &m->c->metrics[id];
    *x = (struct tg_metric_change){ .id = id,
                                    .known = { true, true },
                                    .value = { base, test },
                                    .slowest = { base, test },
                                    .ev = no_evidence(TG_NOT_ONE_SIDED) };
}

static struct make begin(struct tg_arena *a, size_t n, bool compared)
{
    struct make m = { a, TG_NEW(a, struct tg_verdict), NULL };
    m.v->results = TG_NEW_N(a, struct tg_result, n);
    m.v->notes = TG_NEW_N(a, struct tg_note, 8);
    m.v->suite = TG_SV("train");
    m.v->policy = TG_SV(".tracegate.yml");
    m.v->version = TG_SV("0.1.0");
    m.v->test_commit = TG_SV("9b1c55e2a07d4c1e8f3b6d2a90c4e7f81a2b3c4d");
    m.v->timestamp = TG_SV("2026-03-14T15:09:26");
    m.v->test_paths = TG_SV("out/run00.json.gz, out/run01.json.gz and 3 more");
    m.v->baseline = (struct tg_baseline_info){
        .commit = TG_SV("3f2a91c4b7e1d0c5a6988f7e6d5c4b3a29180706"),
        .ref = TG_SV("merge-base"),
        .how = TG_SV("merge base of HEAD and origin/main"),
        .situation = TG_SITUATION_FOUND,
        .paths = TG_SV("perf/train"),
    };
    if (!compared)
        return m;
    m.c = TG_NEW(a, struct tg_comparison);
    m.c->arena = a;
    m.v->comparison = m.c;
    m.c->ops = TG_NEW_N(a, struct tg_op, n);
    m.c->regions = TG_NEW_N(a, struct tg_region, 2);
    m.c->iteration_ratio = 1;
    m.c->same_flags = true;
    for (int s = 0; s < 2; s++) {
        m.c->n_runs[s] = 5;
        m.c->n_ranks[s] = 1;
        m.c->n_steps[s] = 8;
        m.c->n_units[s] = 40;
        m.c->marked[s] = true;
        m.c->step_ns[s] = m.c->wall_ns[s] = s ? 41.9e6 : 40e6;
    }
    for (int k = 0; k < TG_METRICS; k++)
        m.c->metrics[k] = (struct tg_metric_change){ .id = (enum tg_metric)k,
                                                     .ev = no_evidence(TG_NOT_NO_STEPS) };
    add_metric(&m, TG_METRIC_STEP_TIME, m.c->step_ns[0], m.c->step_ns[1]);
    add_metric(&m, TG_METRIC_IDLE, 12.5, 16.25);
    add_metric(&m, TG_METRIC_LAUNCH_COUNT, 412, 428);
    m.v->counts_judged = m.v->durations_judged = true;
    m.v->coverage = TG_SV("counts judged; durations judged: 5 baseline runs, 5 fresh runs");
    return m;
}

static const struct tg_verdict *end(struct make *m, enum tg_outcome outcome, const char *headline)
{
    m->v->outcome = outcome;
    if (m->c) {
        tg_regions_group(m->c);
        tg_regions_close(m->c);
    }
    m->v->exit_code = tg_outcome_exit_code(outcome);
    m->v->headline = tg_sv_of(headline);
    return m->v;
}

/* ---- the verdicts ---- */

static const struct tg_verdict *make_pass(struct tg_arena *a)
{
    struct make m = begin(a, 16, true);
    struct tg_op *op = add_op(&m, TG_KIND_OP, TG_SV("aten::addmm"), 24, 24, 1810.2, 1822.9);
    struct tg_result *r =
        add_result(&m, TG_STATE_PASS, "slower", op, TG_RULE_METRIC_SELF, TG_UNIT_NS);
    r->message = TG_SV("1.82 ms per step, was 1.81 ms (+0.7 %, +12.7 us, 4.4 % of the step)");
    r->limit = TG_SV("pct: auto, abs: 0.1%step");
    r = add_result(&m, TG_STATE_PASS, "new-work", op, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("called 24 times per step, was 24 (+0, 4.4 % of the step)");
    add_op(&m, TG_KIND_KERNEL, TG_SV(LONG_KERNEL), 96, 96, 5210.0, 5198.4);
    add_note(&m, "built-in policy: no .tracegate.yml was found",
             "tracegate policy init writes one.", false);
    for (size_t i = 0; i < m.v->n_results; i++)
        m.v->results[i].at.file = "tracegate:recommended"; /* a preset, not a file */
    m.v->policy = TG_SV("built-in policy (tracegate:recommended)");
    return end(&m, TG_OUTCOME_PASS, "PASS: no regression found");
}

static const struct tg_verdict *make_warn(struct tg_arena *a)
{
    struct make m = begin(a, 16, true);
    struct tg_op *op =
        add_op(&m, TG_KIND_KERNEL, TG_SV("ampere_sgemm_128x64_tn"), 12, 12, 900, 1180);
    struct tg_op *fewer = add_op(&m, TG_KIND_OP, TG_SV("aten::relu"), 8, 6, 40, 31);
    struct tg_result *r;
    for (int s = 0; s < 2; s++) {
        m.c->n_runs[s] = 1;
        m.c->n_units[s] = 8;
    }
    op->ev = no_evidence(TG_NOT_FEW_RUNS);
    op->ev.suspicious = true;
    r = add_result(&m, TG_STATE_WARN, "less-work", fewer, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("called 6 times per step, was 8 (-2)");
    r->why = TG_SV("work disappeared: intended?");
    limited(r, "abs: 0", "no fewer than before");
    r = add_result(&m, TG_STATE_SUSPICIOUS, "slower", op, TG_RULE_METRIC_SELF, TG_UNIT_NS);
    r->message = TG_SV("1.18 ms per step, was 900 us (+31 %, +280 us, 2.8 % of the step)");
    r->evidence = TG_SV("not judged: fewer than 3 runs on a side; limit +15 %");
    limited(r, "pct: auto, abs: 0.1%step", "+15 %");
    r->next = TG_SV("Record at least 3 (better 5) runs a side; then this can be judged.");
    m.v->durations_judged = false;
    m.v->coverage = TG_SV("counts judged; durations not judged: 1 baseline run and 1 fresh, at "
                          "least 3 a side are needed");
    add_note(&m, "the torch versions differ: 2.4.1 and 2.5.0", "", true);
    return end(
        &m, TG_OUTCOME_WARN,
        "WARN: nothing failed, 1 warning: " TG_NAMED(
            "aten::relu") " -2 calls; 1 suspicious: " TG_NAMED("ampere_sgemm_128x64_tn") " +31 %");
}

static void add_failures(struct make *m)
{
    static const double nights[] = { 9.12e6, 9.1e6, 9.14e6, 9.6e6, 9.13e6 };
    struct tg_op *copy = add_op(m, TG_KIND_OP, TG_SV("aten::copy_"), 12, 20, 310.5, 522.8);
    struct tg_op *clone = add_op(m, TG_KIND_OP, TG_SV("aten::clone"), 2, 10, 18.2, 96.1);
    struct tg_op *contiguous = add_op(m, TG_KIND_OP, TG_SV("aten::contiguous"), 1, 9, 4.1, 33.0);
    struct tg_op *sync = add_op(m, TG_KIND_SYNC, TG_SV("cudaStreamSynchronize"), 0, 1, 0, 812.4);
    struct tg_op *gemm = add_op(
        m, TG_KIND_KERNEL, TG_SV("ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn"), 48,
        48, 9120, 10410);
    struct tg_op *elementwise =
        add_op(m, TG_KIND_KERNEL, TG_SV(LONG_KERNEL), 96, 96, 5210.0, 5198.4);
    struct tg_op *mm = add_op(m, TG_KIND_OP, TG_SV("aten::mm"), 6, 6, 211, 219);
    struct tg_result *r;
    struct tg_attr_change *attr = TG_NEW(m->a, struct tg_attr_change);
    gemm->ev = (struct tg_evidence){ .why_not = TG_JUDGED,
                                     .value = { 9120e3, 10410e3 },
                                     .e = .1323,
                                     .delta_ns = 1290e3,
                                     .noise = .018,
                                     .se = .011,
                                     .z = 3.1,
                                     .tau = .08,
                                     .p = .004,
                                     .p_limit = .01,
                                     .above = 5,
                                     .n_x = { 5, 5 },
                                     .mde = .045,
                                     .slower = true };
    *attr = (struct tg_attr_change){ TG_ATTR_KIND_LAUNCH, TG_SV("registers 128"),
                                     TG_SV("registers 255") };
    elementwise->attrs = attr;
    elementwise->n_attrs = 1;
    copy->parent = TG_SV("aten::clone");
    clone->parent = TG_SV("aten::contiguous");

    r = add_result(m, TG_STATE_FAIL, "new-sync", sync, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("new, 1 call per step, 1.9 % of the step");
    r->why = TG_SV("the program waits more often");
    limited(r, "abs: 0", "no more than before");
    r = add_result(m, TG_STATE_FAIL, "new-work", copy, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message =
        TG_SV("called 20 times per step, was 12 (+8, 1.2 % of the step), all inside " TG_NAMED(
            "aten::to"));
    r->calling_op = TG_SV("aten::to");
    r->why = TG_SV("more launches, copies or operators per step");
    limited(r, "abs: 0", "no more than before");
    r->evidence = TG_SV("waiver expired 20 days ago (.tracegate.yml:31)");
    r->next = TG_SV("Fix the regression, or renew the waiver with a new date.");
    r = add_result(m, TG_STATE_FAIL, "new-work", clone, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("called 10 times per step, was 2 (+8, 0.2 % of the step)");
    limited(r, "abs: 0", "no more than before");
    r->folded_under = 1;
    m->v->n_folded[r->state]++;
    r = add_result(m, TG_STATE_FAIL, "new-work", contiguous, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("called 9 times per step, was 1 (+8, 0.1 % of the step)");
    limited(r, "abs: 0", "no more than before");
    r->folded_under = 2;
    m->v->n_folded[r->state]++;
    r = add_result(m, TG_STATE_FAIL, "slower", gemm, TG_RULE_METRIC_SELF, TG_UNIT_NS);
    r->at.line = 19;
    r->message = TG_SV("10.4 ms per step, was 9.12 ms (+14 %, +1.29 ms, 24.8 % of the step)");
    r->evidence =
        TG_SV("5 of 5 runs above all 5 baseline runs, noise 1.8 %, detectable from +4.5 %; "
              "limit +15 %");
    limited(r, "pct: auto, abs: 0.1%step", "+15 %");
    r->owner = TG_SV("perf-team");
    r->nights = nights;
    r->n_nights = sizeof nights / sizeof *nights;
    r = add_result(m, TG_STATE_FAIL, "step", NULL, TG_RULE_METRIC_STEP_TIME, TG_UNIT_NS);
    r->op = r->op_normalised = TG_SV("step_time");
    r->subject = TG_SUBJECT_TRACE;
    r->unit = TG_SV("ns");
    r->has_values = true;
    r->base = m->c->step_ns[0];
    r->test = m->c->step_ns[1];
    r->delta = r->test - r->base;
    r->delta_pct = 4.75;
    r->at.line = 23;
    r->message = TG_SV("41.9 ms per step, was 40.0 ms (+4.8 %, +1.90 ms)");
    r->evidence = TG_SV("5 of 5 runs above all 5 baseline runs, noise 0.6 %, detectable from +2.0 "
                        "%; limit pct: 3%, abs: 500us");
    r->limit = r->limit_said = TG_SV("pct: 3%, abs: 500us");
    r = add_result(m, TG_STATE_WARN, "launch-config", elementwise, TG_RULE_METRIC_LAUNCH_CONFIG,
                   TG_UNIT_ATTR);
    r->unit = TG_SV("");
    r->message = TG_SV("same launches: registers 128 -> 255");
    limited(r, "abs: 0", "no change");
    r->at.line = 30;
    r = add_result(m, TG_STATE_WAIVED, "slower", mm, TG_RULE_METRIC_SELF, TG_UNIT_NS);
    r->message = TG_SV("219 us per step, was 211 us (+3.8 %, +8.00 us); waived: 3.8 % of 18 %");
}

static const struct tg_verdict *make_fail(struct tg_arena *a)
{
    struct make m = begin(a, 32, true);
    struct tg_op *gone, *fused;
    struct tg_result *r;
    add_failures(&m);
    gone = add_op(&m, TG_KIND_OP, TG_SV("aten::native_layer_norm"), 12, 0, 402.2, 0);
    fused = add_op(&m, TG_KIND_OP, TG_SV("fused_layer_norm"), 0, 12, 0, 188.7);
    gone->relation = fused->relation = TG_REL_REPLACED;
    gone->region = fused->region = 0;
    m.c->regions[m.c->n_regions++] = (struct tg_region){ .encloser = TG_SV("TransformerLayer"),
                                                         .calls = { 12, 12 },
                                                         .time = { 402.2e3, 188.7e3 } };
    add_op(&m, TG_KIND_OP, TG_SV("aten::item"), 1, 1, 2.2, 2.3);
    add_op(&m, TG_KIND_STEP, TG_SV("ProfilerStep"), 1, 1, 39000, 40900);
    add_op(&m, TG_KIND_PYTHON, TG_SV("train.py: step"), 1, 1, 100, 900);
    r = add_result(&m, TG_STATE_NOT_JUDGED, "slower", gone, TG_RULE_METRIC_SELF, TG_UNIT_NS);
    r->message = TG_SV("gone: 0 ns per step, was 402 us; replaced: one of 2 names that were "
                       "added or removed in TransformerLayer, together 12 -> 12 calls");
    r->evidence = TG_SV("not judged: replaced");
    r = add_result(&m, TG_STATE_SKIP, "exposed-comm", NULL,
                   tg_rule_metric_of(TG_METRIC_COMM_EXPOSED), TG_UNIT_NS);
    r->op = r->op_normalised = TG_SV("comm_exposed");
    r->subject = TG_SUBJECT_TRACE;
    r->message = TG_SV("the traces lack what this metric needs");
    r = add_result(&m, TG_STATE_PASS, "new-work", gone, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->message = TG_SV("gone, was 12 calls per step, 1.0 % of the step");
    add_note(&m,
             "the machine is 2.1 % slower than at the baseline; that factor is taken out of all "
             "durations",
             "", false);
    m.c->drift = .0208;
    return end(&m, TG_OUTCOME_FAIL,
               "FAIL: 4 violations: " TG_NAMED("cudaStreamSynchronize") " +1 call, " TG_NAMED(
                   "aten::copy_") " +8 calls, " TG_NAMED("ampere_bf16_s16816gemm_bf16_128x128_ldg8_"
                                                         "f2f_stages_32x5_nn") " +14 % and 1 more");
}

static const struct tg_verdict *make_inconclusive(struct tg_arena *a)
{
    struct make m = begin(a, 8, true);
    struct tg_result *r =
        add_result(&m, TG_STATE_INCONCLUSIVE, "require", NULL, TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
    r->op = r->op_normalised = TG_SV("collapse");
    r->subject = TG_SUBJECT_REQUIRE;
    r->message =
        TG_SV("more than half of the kernels are gone, and the device's busy time with them");
    r->next = TG_SV("Did the benchmark run? If this is real, set `require: {collapse: off}`.");
    m.c->collapsed = true;
    m.v->error = r->message;
    m.v->error_hint = r->next;
    add_op(&m, TG_KIND_KERNEL, TG_SV(LONG_KERNEL), 96, 0, 5210.0, 0);
    return end(&m, TG_OUTCOME_INCONCLUSIVE,
               "INCONCLUSIVE: more than half of the kernels are gone, and the device's busy time "
               "with them");
}

static const struct tg_verdict *make_lost(struct tg_arena *a)
{
    struct make m = begin(a, 1, false);
    m.v->baseline.situation = TG_SITUATION_LOST;
    m.v->baseline.walked = 50;
    m.v->error = TG_SV("no baseline at 'perf/train' in 3f2a91c4b7e1 or the 50 commits before it");
    m.v->error_hint =
        TG_SV("Was the path moved? Restore the baseline, or change `baseline:` in the policy.");
    return end(
        &m, TG_OUTCOME_INCONCLUSIVE,
        "INCONCLUSIVE: no baseline at 'perf/train' in 3f2a91c4b7e1 or the 50 commits before it");
}

static const struct tg_verdict *make_first_run(struct tg_arena *a)
{
    struct make m = begin(a, 1, false);
    m.v->baseline.situation = TG_SITUATION_FIRST_RUN;
    m.v->first_run = true;
    m.v->coverage = TG_SV("nothing judged: first run");
    add_note(&m, "neither a policy nor a baseline of this suite existed at the baseline commit",
             "Commit a baseline, or record one on the main branch; the next run compares.", true);
    return end(&m, TG_OUTCOME_PASS, "FIRST RUN: no baseline existed yet; nothing was compared");
}

static const struct tg_verdict *make_error(struct tg_arena *a)
{
    struct make m = begin(a, 1, false);
    m.v->error = TG_SV("out/run00.json.gz: truncated gzip at byte 18231");
    m.v->error_hint =
        TG_SV("The file is incomplete: was the profiler stopped before the job ended?");
    m.v->coverage = TG_SV("");
    m.v->timestamp = TG_SV("");
    return end(&m, TG_OUTCOME_ERROR, "ERROR: out/run00.json.gz: truncated gzip at byte 18231");
}

static const struct tg_verdict *make_hostile(struct tg_arena *a)
{
    struct make m = begin(a, 128, true);
    for (size_t i = 0; i < n_hostile_names; i++) {
        tg_sv name = hostile_names[i];
        struct tg_op *op = add_op(&m, i % 2 ? TG_KIND_OP : TG_KIND_KERNEL, name, 1,
                                  1 + (double)(i % 3), 10, 30.5 + (double)i);
        struct tg_result *r = add_result(&m, i % 5 ? TG_STATE_FAIL : TG_STATE_WARN, "new-work", op,
                                         TG_RULE_METRIC_COUNT, TG_UNIT_COUNT);
        TG_BUF said = { 0 };
        tg_message_put_name(&said, name, 300);
        r->message = tg_arena_sv(a, tg_buf_sv(&said));
        r->evidence =
            TG_SV_PRINTF(a, "of " TG_NAME, TG_SV_ARG(hostile_names[(i + 3) % n_hostile_names]));
        r->next = hostile_names[(i + 5) % n_hostile_names];
        r->limit = r->limit_said = name;
        r->why = hostile_names[(i + 7) % n_hostile_names];
        r->owner = TG_SV("@team");
        r->names_itself = true;
        r->at.file = "a,b:c\n::error::%x.yml";
    }
    m.v->suite = TG_SV("su`ite|<b>\n--> x");
    m.v->policy = hostile_names[3];
    m.v->baseline.ref = m.v->baseline.how = TG_SV("`refs/heads/<img src=x>|@octocat\r\n::error::x");
    m.v->baseline.paths = hostile_names[9];
    m.v->test_paths = hostile_names[11];
    m.v->coverage = hostile_names[6];
    m.v->error = hostile_names[14];
    m.v->by_note = true;
    m.v->error_hint = hostile_names[5];
    m.v->notes[m.v->n_notes++] = (struct tg_note){
        .text = hostile_names[7], .next = hostile_names[10], .warning = true, .damage = true
    };
    (void)end(&m, TG_OUTCOME_FAIL, "");
    m.v->headline = TG_SV("FAIL: ``` <script>x</script> @octocat\n::error::pwned ##[error] "
                          "https://evil.example, " TG_NAMED("``@me``"));
    return m.v;
}

static const struct tg_verdict *make_large(struct tg_arena *a)
{
    enum { N = 2000 };
    struct make m = begin(a, N, true);
    for (unsigned i = 0; i < N; i++) {
        tg_sv name = hostile_name(i, a);
        struct tg_op *op = add_op(&m, i % 3 ? TG_KIND_OP : TG_KIND_KERNEL, name, 2,
                                  2 + (double)(i % 5), 50, 50 + (double)((i * 7919) % 1000));
        struct tg_result *r = add_result(
            &m, i < 1200 ? TG_STATE_FAIL : TG_STATE_PASS, i % 2 ? "new-work" : "slower", op,
            i % 2 ? TG_RULE_METRIC_COUNT : TG_RULE_METRIC_SELF, i % 2 ? TG_UNIT_COUNT : TG_UNIT_NS);
        r->message = TG_SV("called more often than before");
        limited(r, "abs: 0", "no more than before");
    }
    return end(&m, TG_OUTCOME_FAIL, "FAIL: 1200 violations");
}

const struct tg_verdict *fixture_make(enum fixture f, struct tg_arena *a)
{
    static const struct tg_verdict *(*const make[FIXTURES])(struct tg_arena *) = {
        make_pass,      make_warn,  make_fail,    make_inconclusive, make_lost,
        make_first_run, make_error, make_hostile, make_large
    };
    return make[f](a);
}
