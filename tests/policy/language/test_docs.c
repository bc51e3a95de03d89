/* The manual and the program say the same: the examples load, the table of metrics is the program's
 * and has its metrics. Keys and codes: tests/e2e/reference.py. */
#include "policy_support.h"

#include "core/base/file.h"
#include "core/metric/metric.h"

static void read_source(struct tg_buf *out, const char *name)
{
    char path[512];
    struct tg_err err = TG_ERR_INIT;
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
    assert_int_equal(load_examples("docs/metrics.md"), 1);
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
    read_source(&text, "docs/metrics.md");
    tg_rule_metric_markdown(&table);
    char *from = strstr(text.p, begin), *to = from ? strstr(from, "<!-- end -->") : NULL;
    assert_non_null(to);
    from += strlen(begin);
    *to = '\0';
    assert_string_equal(from, table.p);
}
