/*
 * The manual and the program say the same: its examples load, its table of metrics is ours and that
 * of the measures, every key and every code stands in it.
 */
#include "policy_support.h"

#include "core/base/file.h"
#include "core/metric/measure.h"
#include "policy/keys.h"

static void read_source(struct tg_buf *out, const char *name)
{
    char path[512];
    struct tg_err err;
    tg_err_init(&err);
    (void)snprintf(path, sizeof path, "%s/%s", TG_SOURCE_DIR, name);
    assert_true(tg_file_read(out, path, 1 << 20, &err));
}

/* Blocks that are no whole policy are its sections: `version: 1` is put before them. */
static void examples_load(void **state)
{
    (void)state;
    struct tg_buf text = { 0 };
    size_t n = 0, clean = 0;
    read_source(&text, "docs/policy.md");
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
    print_message("%zu examples, %zu without a warning\n", n, clean);
    assert_true(n >= 14);
    tg_buf_release(&text);
}

static void the_example_policies_load(void **state)
{
    (void)state;
    struct tg_buf text = { 0 };
    struct tg_diags d;
    read_source(&text, "examples/policy.yml");
    tg_diags_init(&d);
    struct tg_policy *p = must_load(text.p, &d);
    tg_policy_free(p);
    tg_diags_release(&d);
    tg_buf_release(&text);
}

/* Each row is rebuilt from the table, so a stale line in the manual is a missing line here. */
static void metrics_are_listed(void **state)
{
    (void)state;
    struct tg_buf text = { 0 };
    read_source(&text, "docs/policy.md");
    for (int m = 0; m < TG_METRICS; m++) {
        const struct tg_metric_info *i = tg_metric_info((enum tg_metric)m);
        struct tg_buf row = { 0 };
        const char *sep = "";
        tg_buf_printf(&row, "| `%s` | %s | %s | %s | ", i->name, tg_scope_name(i->scope),
                      tg_unit_name(i->unit), tg_polarity_name(i->polarity));
        static const enum tg_bound_kind order[] = { TG_BOUND_PCT, TG_BOUND_ABS, TG_BOUND_PP,
                                                    TG_BOUND_MAX, TG_BOUND_MIN };
        for (size_t k = 0; k < TG_BOUNDS; k++) {
            if (i->bounds & TG_BOUND_BIT(order[k])) {
                tg_buf_printf(&row, "%s%s", sep, tg_bound_name(order[k]));
                sep = " ";
            }
        }
        tg_buf_printf(&row, " | %s |\n", i->meaning);
        if (!strstr(text.p, row.p))
            fail_msg("the manual lacks: %s", row.p);
        tg_buf_release(&row);
    }
    tg_buf_release(&text);
}

/* The measures of the trace are the metrics of the policy, with the same unit and bad direction. */
static void measures_are_metrics(void **state)
{
    (void)state;
    static const char *const units[] = { "count", "ns", "%", "bytes", "" };
    for (int i = 0; i < TG_MEASURES; i++) {
        const struct tg_measure_info *measure = tg_measure_info((enum tg_measure)i);
        enum tg_metric m;
        if (!tg_metric_from_name(tg_sv_of(measure->name), &m))
            fail_msg("no metric '%s'", measure->name);
        const struct tg_metric_info *metric = tg_metric_info(m);
        assert_string_equal(units[metric->unit], measure->unit);
        assert_int_equal(metric->polarity, measure->worse > 0 ? TG_MORE_IS_BAD : TG_LESS_IS_BAD);
        assert_int_equal(metric->scope, TG_SCOPE_TRACE);
    }
}

static size_t missing_keys(const char *text, const struct tg_shape *s)
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

static void keys_are_described(void **state)
{
    (void)state;
    struct tg_buf text = { 0 };
    read_source(&text, "docs/policy.md");
    assert_int_equal(missing_keys(text.p, &tg_shape_policy), 0);
    tg_buf_release(&text);
}

static void codes_are_listed(void **state)
{
    (void)state;
    struct tg_buf text = { 0 }, header = { 0 };
    size_t n = 0;
    read_source(&text, "docs/policy.md");
    read_source(&header, "policy/diag.h");
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(examples_load),      cmocka_unit_test(the_example_policies_load),
        cmocka_unit_test(metrics_are_listed), cmocka_unit_test(measures_are_metrics),
        cmocka_unit_test(keys_are_described), cmocka_unit_test(codes_are_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
