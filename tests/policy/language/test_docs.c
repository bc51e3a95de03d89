/*
 * The manual and the program say the same: the examples load, the table of metrics is the program's
 * and has its metrics, every key and every code is listed.
 */
#include "policy_support.h"

#include "core/base/file.h"
#include "core/metric/metric.h"
#include "policy/language/keys.h"

static void read_source(struct tg_buf *out, const char *name)
{
    char path[512];
    struct tg_err err;
    tg_err_init(&err);
    (void)snprintf(path, sizeof path, "%s/%s", TG_SOURCE_DIR, name);
    assert_true(tg_file_read(out, path, 1 << 20, &err));
}

/* Blocks without a version are sections of a policy: `version: 1` is put before them. */
static size_t load_examples(const char *page)
{
    TG_BUF text = { 0 };
    size_t n = 0, clean = 0;
    read_source(&text, page);
    for (const char *p = strstr(text.p, "```yaml\n"); p; p = strstr(p, "```yaml\n")) {
        const char *end;
        TG_BUF one = { 0 };
        AUTO_DIAGS d = no_diags();
        p += strlen("```yaml\n");
        end = strstr(p, "```");
        assert_non_null(end);
        if (strncmp(p, "version:", 8) != 0)
            tg_buf_puts(&one, "version: 1\n");
        tg_buf_add(&one, (tg_sv){ p, (size_t)(end - p) });
        struct tg_policy *policy = must_load(one.p, &d);
        tg_policy_lint(policy, NULL, 0, &d);
        clean += d.n == 0;
        n++;
        tg_policy_free(policy);
    }
    print_message("%s: %zu examples, %zu without a warning\n", page, n, clean);
    return n;
}

TEST(examples_load)
{
    assert_true(load_examples("docs/policy.md") >= 13);
    assert_int_equal(load_examples("docs/policy-metrics.md"), 1);
    assert_int_equal(load_examples("docs/baselines.md"), 1);
}

TEST(the_example_policies_load)
{
    static const char *const names[] = { "examples/policy.yml", "examples/policy-device.yml" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        TG_BUF text = { 0 };
        AUTO_DIAGS d = no_diags();
        read_source(&text, names[i]);
        AUTO_POLICY *p = must_load(text.p, &d);
    }
}

/* The manual holds the table that the program prints, between its two marks, byte for byte. */
TEST(metrics_are_listed)
{
    static const char begin[] = "<!-- tracegate policy metrics --format markdown -->\n";
    TG_BUF text = { 0 }, table = { 0 };
    read_source(&text, "docs/policy-metrics.md");
    tg_rule_metric_markdown(&table);
    char *from = strstr(text.p, begin), *to = from ? strstr(from, "<!-- end -->") : NULL;
    assert_non_null(to);
    from += strlen(begin);
    *to = '\0';
    assert_string_equal(from, table.p);
}

/* Every metric has a row with its unit in docs/metrics.md, which says how it is computed. */
TEST(metrics_are_explained)
{
    TG_BUF text = { 0 };
    read_source(&text, "docs/metrics.md");
    for (int i = 0; i < TG_METRICS; i++) {
        const struct tg_metric_info *m = tg_metric_info((enum tg_metric)i);
        TG_BUF row = { 0 };
        tg_buf_printf(&row, "\n| `%s` | %s | %s | ", m->name, m->unit,
                      m->worse > 0 ? "more" : "less");
        if (!strstr(text.p, row.p))
            fail_msg("docs/metrics.md lacks: %s", row.p);
    }
}

static size_t missing_keys(const char *text, const struct tg_key_shape *s)
{
    size_t missing = 0;
    if (!s)
        return 0;
    for (const struct tg_key *k = s->keys; k && k->name; k++) {
        char quoted[64], colon[64];
        (void)snprintf(quoted, sizeof quoted, "`%s`", k->name);
        (void)snprintf(colon, sizeof colon, "%s: ", k->name);
        if (!strstr(text, quoted) && !strstr(text, colon)) {
            print_message("the manual lacks the key '%s' of %s\n", k->name, s->what);
            missing++;
        }
        missing += missing_keys(text, k->shape);
    }
    return missing + missing_keys(text, s->item) + missing_keys(text, s->map) +
           missing_keys(text, s->list);
}

TEST(keys_are_described)
{
    TG_BUF text = { 0 };
    read_source(&text, "docs/policy.md");
    assert_int_equal(missing_keys(text.p, &tg_key_shape_policy), 0);
}

TEST(codes_are_listed)
{
    TG_BUF text = { 0 }, header = { 0 };
    size_t n = 0;
    read_source(&text, "docs/policy-diagnostics.md");
    read_source(&header, "policy/language/diag.h");
    for (int code = 100; code < 300; code++) {
        char in_header[16], in_manual[16];
        (void)snprintf(in_header, sizeof in_header, " = %d,", code);
        (void)snprintf(in_manual, sizeof in_manual, "| TG%d |", code);
        bool exists = strstr(header.p, in_header) != NULL;
        if (exists != (strstr(text.p, in_manual) != NULL))
            fail_msg("TG%d", code);
        n += exists;
    }
    assert_true(n > 50);
}
