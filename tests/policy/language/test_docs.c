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
    struct tg_buf text = { 0 };
    size_t n = 0, clean = 0;
    read_source(&text, page);
    for (const char *p = strstr(text.p, "```yaml\n"); p; p = strstr(p, "```yaml\n")) {
        const char *end;
        struct tg_buf one = { 0 };
        struct tg_diags d;
        p += strlen("```yaml\n");
        end = strstr(p, "```");
        assert_non_null(end);
        if (strncmp(p, "version:", 8) != 0)
            tg_buf_puts(&one, "version: 1\n");
        tg_buf_add(&one, (tg_sv){ p, (size_t)(end - p) });
        tg_diags_init(&d);
        struct tg_policy *policy = must_load(one.p, &d);
        tg_policy_lint(policy, NULL, 0, &d);
        clean += d.n == 0;
        n++;
        tg_policy_free(policy);
        tg_diags_release(&d);
        tg_buf_release(&one);
    }
    print_message("%s: %zu examples, %zu without a warning\n", page, n, clean);
    tg_buf_release(&text);
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
        struct tg_buf text = { 0 };
        struct tg_diags d;
        read_source(&text, names[i]);
        tg_diags_init(&d);
        struct tg_policy *p = must_load(text.p, &d);
        tg_policy_free(p);
        tg_diags_release(&d);
        tg_buf_release(&text);
    }
}

/* The manual holds the table that the program prints, between its two marks, byte for byte. */
TEST(metrics_are_listed)
{
    static const char begin[] = "<!-- tracegate policy metrics --format markdown -->\n";
    struct tg_buf text = { 0 }, table = { 0 };
    read_source(&text, "docs/policy-metrics.md");
    tg_rule_metric_markdown(&table);
    char *from = strstr(text.p, begin), *to = from ? strstr(from, "<!-- end -->") : NULL;
    assert_non_null(to);
    from += strlen(begin);
    *to = '\0';
    assert_string_equal(from, table.p);
    tg_buf_release(&text);
    tg_buf_release(&table);
}

/* Every metric has a row with its unit in docs/metrics.md, which says how it is computed. */
TEST(metrics_are_explained)
{
    struct tg_buf text = { 0 };
    read_source(&text, "docs/metrics.md");
    for (int i = 0; i < TG_METRICS; i++) {
        const struct tg_metric_info *m = tg_metric_info((enum tg_metric)i);
        struct tg_buf row = { 0 };
        tg_buf_printf(&row, "\n| `%s` | %s | %s | ", m->name, m->unit,
                      m->worse > 0 ? "more" : "less");
        if (!strstr(text.p, row.p))
            fail_msg("docs/metrics.md lacks: %s", row.p);
        tg_buf_release(&row);
    }
    tg_buf_release(&text);
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
    struct tg_buf text = { 0 };
    read_source(&text, "docs/policy.md");
    assert_int_equal(missing_keys(text.p, &tg_key_shape_policy), 0);
    tg_buf_release(&text);
}

TEST(codes_are_listed)
{
    struct tg_buf text = { 0 }, header = { 0 };
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
    tg_buf_release(&text);
    tg_buf_release(&header);
}
