/* Warnings, each with a neighbour that has none; the effective policy; discovery. */
#include "policy_support.h"

#include "core/base/file.h"

#define V "version: 1\n"
#define R V "rules:\n  - id: a\n    "
#define OP "match: {kind: op}\n    metric: total\n    "

struct sample {
    int code;
    uint32_t line, col;
    const char *bad, *good, *says;
};

static const struct sample samples[] = {
    { 204, 6, 17, R OP "fail: {pct: 5%}\n", R OP "fail: {pct: 5%, abs: 0.1%step}\n",
      "tiny kernels" },
    { 204, 5, 17, R "metric: step_time\n    warn: {pct: 5%}\n",
      R "metric: step_time\n    warn: {pct: 5%, abs: 1us}\n", "no 'abs' floor" },
    { 204, 7, 51,
      R OP "fail: {pct: 5%, abs: 1us}\n    overrides: [{match: {name: \"x*\"}, fail: {pct: 9%}}]\n",
      R OP
      "fail: {pct: 5%, abs: 1us}\n    overrides: [{match: {name: \"x*\"}, fail: {abs: 9us}}]\n",
      NULL },
    { 206, 3, 9, R "metric: idle\n    fail: off\n", R "metric: idle\n    fail: {pp: 1pp}\n",
      "can never warn or fail" },
    { 210, 5, 11, R "metric: launch_count\n    warn: {pct: 10%}\n    fail: {pct: 8%}\n",
      R "metric: launch_count\n    warn: {pct: 8%}\n    fail: {pct: 10%}\n",
      "warn (10%) is not below fail (8%)" },
    { 210, 5, 11, R "metric: idle\n    warn: {pp: 3pp, max: 40%}\n    fail: {pp: 3pp}\n",
      R "metric: idle\n    warn: {pp: 2pp, max: 40%}\n    fail: {pp: 3pp}\n", NULL },
    { 210, 5, 11, R "metric: comm_overlap\n    warn: {min: 70%}\n    fail: {min: 80%}\n",
      R "metric: comm_overlap\n    warn: {min: 80%}\n    fail: {min: 70%}\n", NULL },
    { 211, 7, 17,
      R OP "fail: {abs: 1us}\n    overrides: [{match: {name: x}, fail: off}, {match: {name: x}, "
           "fail: {abs: 2us}}]\n",
      R OP "fail: {abs: 1us}\n    overrides: [{match: {name: x}, fail: off}, {match: {name: y}, "
           "fail: {abs: 2us}}]\n",
      NULL },
    { 230, 7, 12, R OP "fail: {abs: 1us}\n    noise: {test: none}\n",
      R OP "fail: {abs: 1us}\n    noise: {test: runs}\n", "99 of 100" },
    { 230, 7, 12, R OP "fail: {abs: 1us}\n    noise: {min_runs: 1}\n",
      R OP "fail: {abs: 1us}\n    noise: {min_runs: 3}\n", "34 of 100" },
    /* TEST_TODAY is 2026-07-01 */
    { 231, 4, 3,
      V "rules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n"
        "waivers:\n- rule: a\n  ceiling: {pp: 9pp}\n  reason: r\n  expires: 2026-06-28\n",
      V "rules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n"
        "waivers:\n- rule: a\n  ceiling: {pp: 9pp}\n  reason: r\n  expires: 2026-07-16\n",
      "expired 3 day" },
    { 231, 4, 3,
      V "rules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n"
        "waivers:\n- rule: a\n  ceiling: {pp: 9pp}\n  reason: r\n  expires: 2026-07-15\n",
      V "rules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n", "expires in 14 day" },
    { 241, 2, 13, V "baselines: [{name: r}]\nrules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n",
      V "baselines: [{name: r}]\n"
        "rules: [{id: a, metric: idle, fail: {pp: 1pp}, against: r}]\n",
      "nothing is compared with it" },
    { 240, 1, 1, V "report: {top: 1}\n", V "extends: [tracegate:advisory]\n", "nothing is judged" },
};

/* The diagnostic of a code, if it is the only one. */
static const struct tg_diag *the_only(const struct tg_diags *d, int code)
{
    const struct tg_diag *found = NULL;
    for (size_t i = 0; i < d->n; i++) {
        if ((int)d->v[i].code == code && !found)
            found = &d->v[i];
        else
            return NULL;
    }
    return found;
}

static struct tg_diags linted(const char *text)
{
    struct tg_diags d = no_diags();
    AUTO_POLICY *p = must_load(text, &d);
    tg_policy_lint(p, NULL, 0, &d);
    return d;
}

TEST(each_warning_at_its_place)
{
    size_t wrong = 0;
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const struct sample *s = &samples[i];
        AUTO_DIAGS bad = linted(s->bad);
        AUTO_DIAGS good = linted(s->good);
        const struct tg_diag *g = the_only(&bad, s->code);
        bool found = g && g->at.line == s->line && g->at.col == s->col &&
                     g->severity == TG_SEV_WARNING &&
                     (!s->says || tg_sv_has(g->message, tg_sv_of(s->says)));
        if (found && !good.n)
            continue;
        print_message("sample %zu: TG%d at %u:%u, and nothing of its neighbour\n", i, s->code,
                      (unsigned)s->line, (unsigned)s->col);
        print_diags(&bad);
        print_diags(&good);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

/* Day by day, with TEST_TODAY 2026-07-01: ended, last day, within and beyond 14 days, 180 days
 * ahead (2026-12-28) and one more, which does not load. */
TEST(waivers_by_their_last_day)
{
    static const struct {
        const char *day;
        int code; /* 0: nothing to say */
        const char *says, *fix;
    } days[] = {
        { "2026-06-30", 231, "expired 1 day(s) ago", "remove it, or renew it with a reason" },
        { "2026-07-01", 231, "expires in 0 day(s)", "fix what it accepts" },
        { "2026-07-15", 231, "expires in 14 day(s)", "fix what it accepts" },
        { "2026-07-16", 0, NULL, NULL },
        { "2026-12-28", 0, NULL, NULL },
        { "2026-12-29", 141, "at most 180 days ahead", "the last day allowed is 2026-12-28" },
    };
    for (size_t i = 0; i < sizeof days / sizeof *days; i++) {
        AUTO_DIAGS d = no_diags();
        char text[200];
        (void)snprintf(text, sizeof text,
                       V "rules: [{id: a, metric: idle, fail: {pp: 1pp}}]\n"
                         "waivers:\n- rule: a\n  ceiling: {pp: 9pp}\n  reason: r\n  expires: %s\n",
                       days[i].day);
        AUTO_POLICY *p = load_text(text, &d);
        if (p)
            tg_policy_lint(p, NULL, 0, &d);
        assert_int_equal(d.n, days[i].code != 0);
        if (d.n) {
            assert_int_equal(d.v[0].code, days[i].code);
            assert_int_equal(d.v[0].at.line, days[i].code == 141 ? 7 : 4);
            assert_true(tg_sv_has(d.v[0].message, tg_sv_of(days[i].says)));
            assert_true(tg_sv_has(d.v[0].fix, tg_sv_of(days[i].fix)));
        }
    }
}

/* One policy, refused for one rule and one waiver: the warnings are about the others. */
TEST(warnings_beside_errors)
{
    static const char text[] =
        V "rules:\n"
          "  - {id: a, metric: idle, fail: off}\n"                    /* 3: silent */
          "  - {id: b, metric: step_time, fail: {pct: 5%, abs: 1}}\n" /* 4: no unit */
          "waivers:\n"
          "  - {rule: a, ceiling: {pp: 9pp}, reason: r, expires: 2026-06-01}\n" /* 6: expired */
          "  - {rule: a, ceiling: {pp: 9pp}, reason: r, expires: never}\n";     /* 7: not a day */
    struct memory_file f = { ".tracegate.yml", text, 0 };
    struct memory m = { &f, 1 };
    struct tg_policy_opts o = { .path = f.path,
                                .today = TEST_TODAY,
                                .lint_refused = true,
                                .read = memory_read,
                                .read_arg = &m };
    AUTO_DIAGS d = no_diags();
    AUTO_DIAGS errors = no_diags();
    struct tg_err err = TG_ERR_INIT;
    static const struct {
        int code;
        uint32_t line;
    } want[] = { { 206, 3 }, { 112, 4 }, { 231, 6 }, { 141, 7 } };
    assert_null(tg_policy_load(&o, &d, &err));
    assert_int_equal(d.n, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(d.v[i].code, want[i].code);
        assert_int_equal(d.v[i].at.line, want[i].line);
    }
    assert_non_null(strstr(err.message, "has 2 errors"));
    o.lint_refused = false; /* a gate wants the errors alone */
    tg_err_init(&err);
    assert_null(tg_policy_load(&o, &errors, &err));
    assert_int_equal(errors.n, 2);
}

TEST(patterns_against_names)
{
    const tg_sv names[] = { TG_SV("aten::layer_norm"), TG_SV("aten::mm"), TG_SV("aten::linear"),
                            TG_SV("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!") };
    AUTO_DIAGS d = no_diags();
    AUTO_POLICY *p = must_load(
        V "extends: [tracegate:recommended]\n" /* its patterns are optional: nothing to say */
          "require: {ops: [\"*flash*\", \"*norm\"]}\n"
          "rules:\n"
          "  - {id: a, match: {name: \"aten::layernrom*\"}, metric: count, fail: {abs: 0}}\n"
          "  - {id: b, match: {name: [\"aten::mm\", \"aten::linaer\"]}, metric: count, fail: {abs: "
          "0}}\n"
          "  - {id: c, match: {name: '/^(a+)+$/'}, metric: count, fail: {abs: 0}}\n",
        &d);
    tg_policy_lint(p, NULL, 0, &d);
    assert_int_equal(d.n, 0); /* without names nothing can be said */
    tg_policy_lint(p, names, 4, &d);
    assert_int_equal(d.n, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(d.v[i].code, TG_DIAG_NO_MATCH);
    assert_sv_is(d.v[0].message, "pattern '*flash*' matched 0 of 4 names");
    assert_sv_is(d.v[1].fix, "nearest: aten::layer_norm");
    assert_int_equal(d.v[1].at.line, 5);
    assert_int_equal(d.v[1].at.col, 27); /* 2 + "- {id: a, match: {name: " + 1 */
    assert_sv_is(d.v[2].fix, "nearest: aten::linear");
    assert_sv_is(d.v[3].message, "pattern '/^(a+)+$/' runs out of its budget");
}

/* ---- show ---- */

/* Without the origins: what is left must read back as the same policy. */
static void strip_comments(struct tg_buf *out, const char *text)
{
    while (*text) {
        const char *end = strchr(text, '\n'), *hash = strstr(text, "  # ");
        size_t n = (size_t)(end - text);
        if (hash && hash < end)
            n = (size_t)(hash - text);
        while (n && text[n - 1] == ' ')
            n--;
        if (text[0] != '#') {
            tg_buf_add(out, (tg_sv){ text, n });
            tg_buf_putc(out, '\n');
        }
        text = end + 1;
    }
}

TEST(shown_policies_load_again)
{
    static const char *const texts[] = {
        V "extends: [tracegate:recommended]\n",
        V
        "suites:\n  - {name: a, trace: {files: \"a b#c.json\", rank: 'r(\\d+)'}, baseline: "
        "stored}\n"
        "rules:\n  - {id: a, why: \"it's \\\"quoted\\\"\\n # no comment: \\u202e\", metric: idle,\n"
        "     fail: [{pp: 1pp}, {max: 9%}], noise: {min_runs: 7}}\n"
        "  - {id: b, match: {kind: op, name: [\"x*\", \"/a|b/\"]}, metric: count, fail: {abs: 0},\n"
        "     overrides: [{match: {name: y}, fail: off}], optional: true}\n"
        "waivers: [{rule: a, ceiling: {pp: 9pp}, reason: 'true', expires: 2026-08-01}]\n"
        "aliases: [{from: '- x', to: 'null'}]\nfail_on: [fail, warn]\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        AUTO_DIAGS d = no_diags();
        TG_BUF first = { 0 };
        TG_BUF second = { 0 };
        TG_BUF plain = { 0 };
        TG_BUF again = { 0 };
        AUTO_POLICY *p = must_load(texts[i], &d);
        tg_policy_show(p, &first);
        AUTO_POLICY *q = must_load(first.p, &d);
        tg_policy_show(q, &second);
        strip_comments(&plain, first.p);
        strip_comments(&again, second.p);
        assert_string_equal(plain.p, again.p);
        assert_int_equal(p->n_rules, q->n_rules);
        for (size_t k = 0; k < p->n_rules; k++) {
            assert_true(tg_sv_eq(p->rules[k].why, q->rules[k].why));
            assert_int_equal(p->rules[k].optional, q->rules[k].optional);
            assert_int_equal(p->rules[k].noise.min_runs, q->rules[k].noise.min_runs);
        }
    }
}

TEST(shown_values_have_their_origin)
{
    AUTO_DIAGS d = no_diags();
    TG_BUF out = { 0 };
    AUTO_POLICY *p = must_load(V "extends: [tracegate:recommended]\nreport: {top: 3}\n"
                                 "rules: {remove: [step], add: [{id: slower, warn: {pct: 3%}}]}\n",
                               &d);
    tg_policy_show(p, &out);
    assert_non_null(strstr(out.p, "# removed rule: step\n"));
    assert_non_null(strstr(
        out.p,
        "  top: 3                                                      # .tracegate.yml:3\n"));
    assert_non_null(strstr(
        out.p,
        "    warn: {pct: 3%}                                           # .tracegate.yml:4\n"));
    assert_non_null(strstr(
        out.p,
        "    fail: {pct: auto, abs: 0.1%step}                          # tracegate:recommended:"));
}

/* ---- discovery ---- */

static void put(const char *dir, const char *name)
{
    char path[512];
    struct tg_err err = TG_ERR_INIT;
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_true(tg_file_write(path, TG_SV("version: 1\n"), &err));
}

static void refused(const struct tg_policy_opts *o, enum tg_diag_code code)
{
    AUTO_DIAGS d = no_diags();
    struct tg_err err = TG_ERR_INIT;
    assert_null(tg_policy_load(o, &d, &err));
    assert_int_equal(d.v[0].code, code);
    assert_int_equal(tg_err_exit_code(err.kind), 2);
}

TEST(policies_are_found_upwards)
{
    char root[] = "/tmp/tg-policy-XXXXXX", sub[64], deep[64], path[128], command[160];
    TG_ARENA *a = tg_arena_new();
    struct tg_err err = TG_ERR_INIT;
    const char *found;
    assert_non_null(mkdtemp(root));
    (void)snprintf(sub, sizeof sub, "%s/sub", root);
    (void)snprintf(deep, sizeof deep, "%s/sub/deep", root);
    assert_int_equal(mkdir(sub, 0700), 0);
    assert_int_equal(mkdir(deep, 0700), 0);

    assert_true(tg_policy_find(deep, root, a, &found, &err));
    assert_null(found);
    put(root, ".tracegate.yaml");
    assert_true(tg_policy_find(deep, root, a, &found, &err));
    (void)snprintf(path, sizeof path, "%s/.tracegate.yaml", root);
    assert_string_equal(found, path);
    assert_true(tg_policy_find(deep, sub, a, &found, &err)); /* the root ends the search */
    assert_null(found);
    put(sub, ".tracegate.yml");
    assert_true(tg_policy_find(deep, root, a, &found, &err)); /* the nearest wins */
    (void)snprintf(path, sizeof path, "%s/sub/.tracegate.yml", root);
    assert_string_equal(found, path);
    put(sub, ".tracegate.yaml");
    assert_false(tg_policy_find(deep, root, a, &found, &err));
    assert_int_equal(err.kind, TG_ERR_POLICY);
    assert_non_null(strstr(err.message, "two policies"));

    /* On a real file system: extends below the root, and a link that leaves it. */
    AUTO_DIAGS d = no_diags();
    (void)snprintf(path, sizeof path, "%s/p.yml", deep);
    assert_true(tg_file_write(path, TG_SV("version: 1\nextends: [../.tracegate.yml]\n"), &err));
    struct tg_policy_opts o = { .path = path, .root = root };
    tg_err_init(&err);
    AUTO_POLICY *p = tg_policy_load(&o, &d, &err);
    assert_non_null(p);
    o.root = "/usr"; /* the policy lies outside it: then its own directory is the limit */
    refused(&o, TG_DIAG_EXTENDS_OUTSIDE);
    o.root = deep;
    refused(&o, TG_DIAG_EXTENDS_OUTSIDE);
    (void)snprintf(command, sizeof command, "ln -s ../.tracegate.yml %s/link.yml", deep);
    assert_int_equal(system(command), 0);
    assert_true(tg_file_write(path, TG_SV("version: 1\nextends: [link.yml]\n"), &err));
    refused(&o, TG_DIAG_EXTENDS_OUTSIDE);
    o.path = "/nowhere/at/all.yml";
    refused(&o, TG_DIAG_READ);

    (void)snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}
