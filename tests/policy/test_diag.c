/*
 * Every diagnostic: a policy that triggers it, and a neighbour that differs as little as possible
 * and loads. The place it must be reported at is marked in the text with "§", which is taken out
 * before loading; so expected line and column are counted here, not by the code under test.
 */
#include "policy_support.h"

#include <stdlib.h>

struct sample {
    int code;
    const char *bad, *good;
    const char *says; /* part of the message or fix; may be NULL */
};

#define V "version: 1\n"
#define R V "rules:\n  - id: a\n    "
#define KERNEL "match: {kind: kernel}\n    "
#define IDLE V "rules:\n  - {id: a, metric: idle, fail: {pp: 5pp}}\n"
#define W(rest) IDLE "waivers:\n  - {rule: a, ceiling: {pp: 9pp}, reason: r, " rest "}\n"
#define NAMED                                                                                      \
    V "rules:\n  - {id: a, match: {kind: op}, metric: total, fail: {pct: 5%, abs: 1us}}\n"         \
      "waivers:\n  - {rule: a, ceiling: {pct: 9%}, reason: r, expires: 2026-08-01, "

static const struct sample samples[] = {
    /* shape */
    { 101, R "metric: idle\n    §threshold: 10%\n    fail: {pp: 5pp}\n",
      R "metric: idle\n    why: t\n    fail: {pp: 5pp}\n", "did you mean 'fail'?" },
    { 101, V "§rulse: []\n", V "rules: []\n", "did you mean 'rules'?" },
    { 101, V "suites: [{name: a, §zzzz: 1}]\n", V "suites: [{name: a}]\n", "known here: name" },
    { 101, R "metric: idle\n    fail: {pp: 5pp, §percent: 1}\n",
      R "metric: idle\n    fail: {pp: 5pp, max: 9%}\n", "did you mean 'pct'?" },
    { 102, V "suites: §train\n", V "suites: [{name: train}]\n", "must be a list of suites" },
    { 102, V "baseline: §[merge-base]\n", V "baseline: {ref: merge-base}\n", "not a list" },
    { 102, R "metric: idle\n    fail: {pp: §[5pp]}\n", R "metric: idle\n    fail: {pp: 5pp}\n",
      NULL },
    { 102, V "rules:\n  - §text\n", V "rules: []\n", "a rule" },
    { 103, V "rules:\n  - §metric: idle\n    fail: {pp: 5pp}\n",
      R "metric: idle\n    fail: {pp: 5pp}\n", "needs 'id'" },
    { 103, V "rules:\n  - id: §a\n    fail: {pp: 5pp}\n", R "metric: idle\n    fail: {pp: 5pp}\n",
      "needs 'metric'" },
    { 103, "§rules: []\n", V "rules: []\n", "a policy needs 'version'" },
    { 103, V "suites: [{name: s, window: §{by: annotation}}]\n",
      V "suites: [{name: s, window: {by: annotation, name: \"x*\"}}]\n", "needs 'name'" },
    { 103, V "suites: [{name: s, window: {by: trace, name: §x}}]\n",
      V "suites: [{name: s, window: {by: trace}}]\n", "by: annotation" },
    { 104, R "metric: §idel\n    fail: {pp: 5pp}\n", R "metric: idle\n    fail: {pp: 5pp}\n",
      "did you mean 'idle'?" },
    { 104, R "match: {kind: §kernels}\n    metric: count\n    fail: {abs: 0}\n",
      R KERNEL "metric: count\n    fail: {abs: 0}\n", "did you mean 'kernel'?" },
    { 104, R "metric: idle\n    fail: §on\n", R "metric: idle\n    fail: off\n", "allowed: off" },
    { 104, R "metric: idle\n    optional: §yes\n    fail: {pp: 5pp}\n",
      R "metric: idle\n    optional: true\n    fail: {pp: 5pp}\n", "true or false" },
    { 104, V "normalize: §none\n", V "normalize: standard\n", NULL },
    { 104, V "baseline: {ref: §window(0)}\n", V "baseline: {ref: window(1)}\n", "window(20)" },
    { 105, V "require: {steps: §three}\n", V "require: {steps: 3}\n", "whole number" },
    { 105, V "require: {steps: §0x10}\n", V "require: {steps: 16}\n", NULL },
    { 105, V "require: {steps: §1_000}\n", V "require: {steps: 1000}\n", NULL },
    { 105, V "require: {steps: §1:30}\n", V "require: {steps: 90}\n", NULL },
    { 105, V "require: {steps: §\"3\"}\n", V "require: {steps: 3}\n", NULL },
    { 105, V "noise: {min_runs: §0}\n", V "noise: {min_runs: 1}\n", "from 1" },
    { 105, V "noise: {min_runs: §-1}\n", V "noise: {min_runs: 2}\n", NULL },
    { 106, "version: §2\n", "version: 1\n", "write  version: 1" },
    { 107, V "rules:\n  - {id: §Kernel_Time, metric: idle, fail: {pp: 1pp}}\n",
      V "rules:\n  - {id: kernel-time, metric: idle, fail: {pp: 1pp}}\n", "use a-z" },
    { 107, V "suites: [{name: §\"a.b\"}]\n", V "suites: [{name: a_B-1}]\n", NULL },
    { 107, R "metric: idle\n    why: §\"\"\n    fail: {pp: 5pp}\n",
      R "metric: idle\n    why: \".\"\n    fail: {pp: 5pp}\n", "empty" },
    { 107, V "suites: [{name: a, baseline: §../x.json}]\n",
      V "suites: [{name: a, baseline: x..json}]\n", "leaves the repository" },
    { 107, V "baseline: {ref: §\"a b\"}\n", V "baseline: {ref: a/b}\n", NULL },
    { 107, V "baseline: {ref: §--upload-pack=x}\n", V "baseline: {ref: x}\n", NULL },
    { 108, V "§policy_change: base\n", V, "not supported yet" },
    { 108, V "§trailers: off\n", V, "not supported yet" },
    { 108, R "metric: idle\n    §profile: nightly\n    fail: {pp: 5pp}\n",
      R "metric: idle\n    fail: {pp: 5pp}\n", "not supported yet" },
    { 109, V "suites: §[]\n", V "suites: [{name: a}]\n", "must not be empty" },
    { 109, R "metric: idle\n    fail: §{}\n", R "metric: idle\n    fail: {pp: 1pp}\n", NULL },

    /* limits */
    { 111, R "metric: step_time\n    fail: {abs: §fast}\n",
      R "metric: step_time\n    fail: {abs: 1ms}\n", "not a number" },
    { 111, R "metric: step_time\n    fail: {abs: §1_000us}\n",
      R "metric: step_time\n    fail: {abs: 1000us}\n", NULL },
    { 111, R "metric: step_time\n    fail: {abs: §0x10}\n",
      R "metric: step_time\n    fail: {abs: 16ns}\n", NULL },
    { 111, R "metric: step_time\n    fail: {abs: §.5ms}\n",
      R "metric: step_time\n    fail: {abs: 0.5ms}\n", NULL },
    { 111, R "metric: step_time\n    fail: {abs: §1 ms}\n",
      R "metric: step_time\n    fail: {abs: 1ms}\n", NULL },
    { 111, R "metric: step_time\n    fail: {abs: §1.2.3ms}\n",
      R "metric: step_time\n    fail: {abs: 1.23ms}\n", NULL },
    { 111, V "noise: {drift: §much}\n", V "noise: {drift: 5%}\n", NULL },
    { 112, R KERNEL "metric: total\n    fail: {abs: §200}\n",
      R KERNEL "metric: total\n    fail: {abs: 200us}\n", "write 200us, 0.2ms or 0.2%step" },
    { 112, R "metric: step_time\n    fail: {pct: §10}\n",
      R "metric: step_time\n    fail: {pct: 10%}\n", "percentage without unit" },
    { 112, R "metric: idle\n    fail: {pp: §3}\n", R "metric: idle\n    fail: {pp: 3pp}\n", "3pp" },
    { 112, R "metric: mem_peak\n    fail: {abs: §256}\n",
      R "metric: mem_peak\n    fail: {abs: 256MiB}\n", "256MiB" },
    { 112, V "noise: {drift: §10}\n", V "noise: {drift: 10%}\n", NULL },
    { 113, R "metric: step_time\n    fail: {abs: §200KiB}\n",
      R "metric: step_time\n    fail: {abs: 200us}\n", "duration" },
    { 113, R "metric: step_time\n    fail: {abs: §200usec}\n",
      R "metric: step_time\n    fail: {abs: 200us}\n", "unknown unit" },
    { 113, R "metric: step_time\n    fail: {abs: §2%}\n",
      R "metric: step_time\n    fail: {abs: 2%step}\n", "%step" },
    { 113, R "metric: step_time\n    fail: {max: §2%step}\n",
      R "metric: step_time\n    fail: {max: 2ms}\n", NULL },
    { 113, R "metric: launch_count\n    fail: {abs: §2us}\n",
      R "metric: launch_count\n    fail: {abs: 2}\n", "plain number" },
    { 113, R "metric: launch_count\n    fail: {pct: §auto}\n",
      R "metric: launch_count\n    fail: {pct: 1%}\n", "durations only" },
    { 113, R "metric: idle\n    fail: {pp: §3%}\n", R "metric: idle\n    fail: {pp: 3pp}\n", NULL },
    { 113, R "metric: idle\n    fail: {max: §35pp}\n", R "metric: idle\n    fail: {max: 35%}\n",
      NULL },
    { 114, R "metric: step_time\n    fail: {§pp: 3pp}\n",
      R "metric: step_time\n    fail: {pct: 3%}\n", "it has: pct, abs, max, min" },
    { 114, R KERNEL "metric: launch_config\n    fail: {§max: 3}\n",
      R KERNEL "metric: launch_config\n    fail: {abs: 0}\n", "it has: abs" },
    { 114, R "metric: idle\n    fail: {§abs: 3%}\n", R "metric: idle\n    fail: {max: 3%}\n",
      "it has: pp, max, min" },
    { 115, R "metric: idle\n    fail: {§pct: 5%}\n", R "metric: idle\n    fail: {pp: 5pp}\n",
      "5% of 20% is 21%; if you mean 25%, write  pp: 5pp" },
    { 116, R "metric: launch_count\n    fail: {abs: §-2}\n",
      R "metric: launch_count\n    fail: {abs: +2}\n", "no sign" },
    { 116, R "metric: launch_count\n    fail: {abs: §9999999999999999}\n",
      R "metric: launch_count\n    fail: {abs: 999999999999999}\n", NULL },
    { 116, V "noise: {drift: §-5%}\n", V "noise: {drift: 5%}\n", NULL },
    { 117, R KERNEL "metric: launch_config\n    fail: {abs: §1}\n",
      R KERNEL "metric: launch_config\n    fail: {abs: 0}\n", "abs: 0" },
    { 118, R "metric: step_time\n    fail: §{max: 9ms, min: 1ms}\n",
      R "metric: step_time\n    fail: [{max: 9ms}, {min: 1ms}]\n", "write a list" },
    { 119, R KERNEL "metric: added\n    direction: §both\n    fail: {abs: 0}\n",
      R KERNEL "metric: count\n    direction: both\n    fail: {abs: 0}\n", NULL },
    { 119, R KERNEL "metric: launch_config\n    direction: §up\n    fail: {abs: 0}\n",
      R KERNEL "metric: launch_config\n    fail: {abs: 0}\n", NULL },

    /* rules */
    { 120, R "match: {§name: \"x*\"}\n    metric: idle\n    fail: {pp: 1pp}\n",
      R "match: {device: 0}\n    metric: idle\n    fail: {pp: 1pp}\n", "whole trace" },
    { 120, R "match: {§rank: each}\n    metric: skew\n    fail: {max: 8%}\n",
      R "match: {rank: each}\n    metric: idle\n    fail: {max: 8%}\n", "all ranks" },
    { 120, R "metric: idle\n    fail: {pp: 1pp}\n    overrides: §[{match: {name: x}, fail: off}]\n",
      R KERNEL
      "metric: count\n    fail: {abs: 1}\n    overrides: [{match: {name: x}, fail: off}]\n",
      "second rule" },
    { 121, R KERNEL "metric: removed\n    fail: §{}\n",
      R KERNEL "metric: removed\n    fail: {max: 9us}\n", "its baseline is 0" },
    { 122, R "metric: §total\n    fail: {abs: 1us}\n",
      R KERNEL "metric: total\n    fail: {abs: 1us}\n", "match: {kind: kernel}" },
    { 123, V "rules:\n  - id: §a\n    metric: idle\n", R "metric: idle\n    warn: off\n",
      "neither" },
    { 123, R KERNEL "metric: count\n    fail: {abs: 0}\n    overrides: [§{match: {name: x}}]\n",
      R KERNEL
      "metric: count\n    fail: {abs: 0}\n    overrides: [{match: {name: x}, warn: off}]\n",
      "changes nothing" },
    { 125, R "match: {name: /a(b§/}\n    metric: count\n    fail: {abs: 0}\n",
      R "match: {name: /a(b)/}\n    metric: count\n    fail: {abs: 0}\n", "does not compile" },
    { 125, R "match: {name: §/abc}\n    metric: count\n    fail: {abs: 0}\n",
      R "match: {name: /abc/}\n    metric: count\n    fail: {abs: 0}\n", "begins and ends" },
    { 125, V "suites: [{name: a, trace: {files: x, rank: §'r\\d+'}}]\n",
      V "suites: [{name: a, trace: {files: x, rank: 'r(\\d+)'}}]\n", "one group" },
    { 125, V "suites: [{name: a, window: {by: annotation, name: §/x/}}]\n",
      V "suites: [{name: a, window: {by: annotation, name: x}}]\n", "glob" },
    { 130,
      V "rules:\n  - {id: a, metric: idle, fail: off}\n  - {id: §a, metric: skew, fail: off}\n",
      V "rules:\n  - {id: a, metric: idle, fail: off}\n  - {id: b, metric: skew, fail: off}\n",
      "already defined at 3:10" },
    { 131, V "extends: [tracegate:recommended]\nrules: {remove: [§new-wrok]}\n",
      V "extends: [tracegate:recommended]\nrules: {remove: [new-work]}\n",
      "did you mean 'new-work'?" },
    { 131, IDLE "waivers: [{rule: §b, ceiling: {pp: 9pp}, reason: r, expires: 2026-08-01}]\n",
      IDLE "waivers: [{rule: a, ceiling: {pp: 9pp}, reason: r, expires: 2026-08-01}]\n",
      "no rule 'b'" },
    { 132, V "suites: [{name: a}, {name: §a}]\n", V "suites: [{name: a}, {name: b}]\n", NULL },

    /* waivers; TEST_TODAY is 2026-07-01, so 180 days ahead is 2026-12-28 */
    { 140, NAMED "name: §\"x*\"}\n", NAMED "name: \"x*\", many: true}\n", "many: true" },
    { 140, NAMED "name: §/x/}\n", NAMED "name: /x/, many: true}\n", "many: true" },
    { 140, W("expires: 2026-08-01, name: §x"), W("expires: 2026-08-01"), "no names" },
    { 140,
      V "rules:\n  - {id: a, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
        "waivers: [§{rule: a, ceiling: {abs: 1}, reason: r, expires: 2026-08-01}]\n",
      V "rules:\n  - {id: a, match: {kind: op}, metric: count, fail: {abs: 0}}\n"
        "waivers: [{rule: a, name: x, ceiling: {abs: 1}, reason: r, expires: 2026-08-01}]\n",
      "must say which" },
    { 141, W("expires: §2026-12-29"), W("expires: 2026-12-28"),
      "the last day allowed is 2026-12-28" },
    { 141, W("expires: §2026-02-29"), W("expires: 2024-02-29"), "calendar" },
    { 141, W("expires: §tomorrow"), W("expires: 2026-07-02"), "2027-02-28" },
    { 113,
      V "rules:\n  - {id: a, metric: step_time, fail: {pct: 5%}}\n"
        "waivers: [{rule: a, ceiling: §{pct: auto}, reason: r, expires: 2026-08-01}]\n",
      V "rules:\n  - {id: a, metric: step_time, fail: {pct: 5%}}\n"
        "waivers: [{rule: a, ceiling: {pct: 9%}, reason: r, expires: 2026-08-01}]\n",
      "auto" },

    /* layers */
    { 145, V "extends: [§missing.yml]\n", V "extends: [other.yml]\n", "cannot open" },
    { 146, V "extends: [§.tracegate.yml]\n", V "extends: [other.yml]\n", NULL },
    { 148, V "extends: [§https://example.org/p.yml]\n", V "extends: [other.yml]\n", "URL" },
    { 148, V "extends: [§/etc/p.yml]\n", V "extends: [other.yml]\n", "outside" },
    { 148, V "extends: [§../p.yml]\n", V "extends: [a/../other.yml]\n", "outside" },
    { 149, V "extends: [§tracegate:strict]\n", V "extends: [tracegate:advisory]\n", "counts-only" },

    /* YAML */
    { 151, V "why: §\xff\n", V, "0xff" },
    { 151, V "why: \"a§\xc0\xaf\"\n", V, "save the file as UTF-8" },
    { 152, V "rules: [\n§", V "rules: [\n]\n", NULL },
    { 152, V "rules: []\n§\x01", V "rules: []\n", "U+0001" },
    { 152, V "suites: [{name: a§\xe2\x80\xa8}]\n", V "suites: [{name: a}]\n", "U+2028" },
    { 153, V "rules:\n§\t- id: a\n", V "rules: []\n", "blanks" },
    { 153, V "rules: []§\t\n", V "rules: []\n", NULL },
    { 154, V "rules: []\n§---\nversion: 1\n", "---\n" V "rules: []\n...\n", "second document" },
    { 155, "version: §!!int 1\n", "version: 1\n", "tag" },
    { 155, V "rules: §!mine []\n", V "rules: []\n", "tag '!mine'" },
    { 155, "§%TAG ! tag:example.org,2000:\n---\nversion: 1\n", "%YAML 1.1\n---\nversion: 1\n",
      NULL },
    { 156, V "report: &r {top: 5}\nrequire: {§<<: *r}\n",
      V "report: {top: 5}\nrequire: {steps: 1}\n", "extends" },
    { 157, V "require: §*none\n", V "require: &x {steps: 1}\n", "no anchor" },
    { 157, V "require: {ops: &x [a, §*x]}\n", V "require: {ops: [&x a, *x]}\n", "own anchor" },
    { 159, V "require: {steps: 1, §steps: 2}\n", V "require: {steps: 1, kernels: 2}\n",
      "already stands at 2:11" },
    { 159, V "§version: 1\n", V, NULL },
    { 160, V "§[a, b]: 1\n", V, "not a list" },
    { 160, V "require: {§\"\": 1}\n", V "require: {steps: 1}\n", "empty" },
    { 161, "§", V, "version: 1" },
    { 161, "§# only a comment\n", V, NULL },
};

static struct tg_policy *load_sample(const char *text, struct tg_diags *d)
{
    const struct memory_file files[] = {
        { ".tracegate.yml", text, strlen(text) },
        { "other.yml", V "require: {steps: 1}\n", 0 },
    };
    return load_files(files, 2, NULL, d);
}

/* Takes the mark out of `text`; *line and *col are where it stood, in code points. */
static char *unmark(const char *text, uint32_t *line, uint32_t *col)
{
    const char *mark = strstr(text, "§");
    assert_non_null(mark);
    char *out = test_malloc(strlen(text));
    size_t before = (size_t)(mark - text);
    memcpy(out, text, before);
    strcpy(out + before, mark + strlen("§"));
    *line = 1;
    *col = 1;
    for (const char *p = text; p < mark; p++) {
        if (*p == '\n') {
            ++*line;
            *col = 1;
        } else if (((unsigned char)*p & 0xC0) != 0x80) {
            ++*col;
        }
    }
    return out;
}

static void each_code_at_its_place(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        uint32_t line, col;
        char *text = unmark(s->bad, &line, &col);
        struct tg_diags d;
        bool found = false;
        tg_diags_init(&d);
        struct tg_policy *p = load_sample(text, &d);
        for (size_t k = 0; k < d.n; k++) {
            const struct tg_diag *g = &d.v[k];
            found = found || ((int)g->code == s->code && g->at.line == line && g->at.col == col &&
                              strcmp(g->at.file, ".tracegate.yml") == 0 &&
                              (!s->says || tg_sv_has(g->message, tg_sv_of(s->says)) ||
                               tg_sv_has(g->fix, tg_sv_of(s->says))));
        }
        if (p || !found) {
            print_message("sample %zu: TG%d expected at %u:%u in\n%s", i, s->code, (unsigned)line,
                          (unsigned)col, text);
            print_diags(&d);
            wrong++;
        }
        tg_policy_free(p);
        tg_diags_release(&d);
        test_free(text);
    }
    assert_int_equal(wrong, 0);
}

static void each_neighbour_loads(void **state)
{
    (void)state;
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct tg_diags d;
        tg_diags_init(&d);
        struct tg_policy *p = load_sample(samples[i].good, &d);
        if (!p || d.n) {
            print_message("neighbour %zu (TG%d):\n%s", i, samples[i].code, samples[i].good);
            print_diags(&d);
            wrong++;
        }
        tg_policy_free(p);
        tg_diags_release(&d);
    }
    assert_int_equal(wrong, 0);
}

/* ---- all at once, in order, within caps -------------------------------------------------------
 */

static void ten_mistakes_in_one_run(void **state)
{
    (void)state;
    /* Written by hand, each with its code: eleven, so that none hides behind the tenth. */
    static const char text[] = "version: 3\n"               /* 106 */
                               "sweets: []\n"               /* 101 */
                               "require: {steps: many}\n"   /* 105 */
                               "baseline: {max_walk: -1}\n" /* 105 */
                               "rules:\n"
                               "  - id: A\n"        /* 107 */
                               "    metric: totl\n" /* 104 */
                               "    fail: {pct: 10%}\n"
                               "  - id: b\n"
                               "    metric: idle\n"
                               "    fail: {pct: 5%}\n"                              /* 115 */
                               "  - {id: c, metric: step_time, fail: {abs: 200}}\n" /* 112 */
                               "  - {id: c, metric: step_time, fail: {abs: 1ms}}\n" /* 130 */
                               "  - {id: d, metric: count, fail: {abs: 0}}\n"       /* 122 */
                               "  - {id: e, match: {name: '/(/'}, metric: count, fail: {abs: 0}}\n";
    static const struct {
        int code;
        uint32_t line;
    } expected[] = { { 106, 1 },  { 101, 2 },  { 105, 3 },  { 105, 4 },  { 107, 6 }, { 104, 7 },
                     { 115, 11 }, { 112, 12 }, { 130, 13 }, { 122, 14 }, { 125, 15 } };
    struct tg_diags d;
    tg_diags_init(&d);
    assert_null(load_text(text, &d));
    if (d.n != sizeof expected / sizeof *expected)
        print_diags(&d);
    assert_int_equal(d.n, sizeof expected / sizeof *expected);
    assert_int_equal(d.errors, d.n);
    for (size_t i = 0; i < d.n; i++) {
        assert_int_equal(d.v[i].code, expected[i].code);
        assert_int_equal(d.v[i].at.line, expected[i].line);
    }
    tg_diags_release(&d);
}

static void text_has_line_caret_and_fix(void **state)
{
    (void)state;
    static const char expected[] =
        ".tracegate.yml:5:5: error[TG101]: unknown key 'threshold' in a rule\n"
        "    5 |     threshold: 10%\n"
        "      |     ^~~~~~~~~ did you mean 'fail'? it is written  fail: {pct: 10%, abs: 200us}\n"
        ".tracegate.yml:6:17: error[TG112]: duration without unit: 200\n"
        "    6 |     fail: {abs: 200}\n"
        "      |                 ^~~ 'step_time': it is a duration: write 200us, 0.2ms or "
        "0.2%step\n"
        "2 errors. The gate did not run (exit 2).\n";
    struct tg_diags d;
    struct tg_buf out = { 0 };
    tg_diags_init(&d);
    assert_null(load_text("version: 1\nrules:\n  - id: a\n    metric: step_time\n"
                          "    threshold: 10%\n    fail: {abs: 200}\n",
                          &d));
    tg_diags_text(&d, &out);
    assert_string_equal(out.p, expected);
    tg_buf_release(&out);
    tg_diags_release(&d);
}

static void json_has_the_same_data(void **state)
{
    (void)state;
    struct tg_diags d;
    struct tg_buf out = { 0 };
    struct tg_doc *root = tg_doc_new_object();
    tg_diags_init(&d);
    assert_null(load_text("version: 1\nrules: {}\n", &d));
    tg_diags_json(&d, root, "diagnostics");
    tg_doc_write(root, false, &out);
    assert_string_equal(out.p, "{\"diagnostics\":[{\"code\":\"TG109\",\"severity\":\"error\","
                               "\"file\":\".tracegate.yml\",\"line\":2,\"column\":8,\"length\":2,"
                               "\"message\":\"a change of the rules must not be empty\"}]}\n");
    tg_doc_free(root);
    tg_buf_release(&out);
    tg_diags_release(&d);
}

/* 60 unknown keys: 50 are shown, all are counted, in order of the file. */
static void fifty_are_shown(void **state)
{
    (void)state;
    struct tg_buf text = { 0 }, out = { 0 };
    struct tg_diags d;
    tg_buf_puts(&text, "version: 1\n");
    for (int i = 0; i < 60; i++)
        tg_buf_printf(&text, "k%d: 1\n", i);
    tg_diags_init(&d);
    assert_null(load_text(text.p, &d));
    assert_int_equal(d.errors, 60);
    tg_diags_text(&d, &out);
    assert_non_null(strstr(out.p, "unknown key 'k49'"));
    assert_null(strstr(out.p, "unknown key 'k50'"));
    assert_non_null(strstr(out.p, "(10 more are not shown)\n60 errors."));
    tg_buf_release(&text);
    tg_buf_release(&out);
    tg_diags_release(&d);
}

/* Controls and direction marks of the source never reach the terminal; long lines are cut. */
static void hostile_source_lines_are_made_visible(void **state)
{
    (void)state;
    struct tg_buf text = { 0 }, out = { 0 };
    struct tg_diags d;
    tg_buf_puts(&text, "version: 1\nx\xE2\x80\xAE"
                       "y: \"");
    for (int i = 0; i < 300; i++)
        tg_buf_puts(&text, "long ");
    tg_buf_puts(&text, "\"\n");
    tg_diags_init(&d);
    assert_null(load_text(text.p, &d));
    tg_diags_text(&d, &out);
    assert_null(strstr(out.p, "\xE2\x80\xAE"));
    assert_true(out.n < 800);
    tg_buf_release(&text);
    tg_buf_release(&out);
    tg_diags_release(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_code_at_its_place),
        cmocka_unit_test(each_neighbour_loads),
        cmocka_unit_test(ten_mistakes_in_one_run),
        cmocka_unit_test(text_has_line_caret_and_fix),
        cmocka_unit_test(json_has_the_same_data),
        cmocka_unit_test(fifty_are_shown),
        cmocka_unit_test(hostile_source_lines_are_made_visible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
