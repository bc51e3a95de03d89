/*
 * JUnit XML as its readers agree on it: one flat suite, stable and unique (classname, name), at
 * most one of failure, error, skipped a case. Measured numbers are in messages, never in names, so
 * that a test has one history. Cases carry the file and line of their rule, where readers put their
 * annotations.
 *
 * Strict mode is for readers that check a schema: no file and line, nothing inside a case but its
 * state, and the suite's own properties, system-out and system-err.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/cause.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"

enum { MAX_CASES = 500 };

struct tally {
    size_t tests, failures, errors, skipped;
    double seconds;
};

struct suite {
    const struct tg_verdict *v;
    bool strict;
    struct tg_buf cases, log;  /* log: the suite's system-out, strict only */
    struct tg_strmap names;    /* classname NUL name: each once */
    struct tg_strmap unjudged; /* rules whose case for what they did not judge is there */
    struct tally n;
};

/* ---- names ---- */

/* A part of a class name: dots separate parts, so a part has no dot. */
static void put_class_part(struct tg_buf *out, tg_sv text)
{
    size_t before = out->n;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_';
        tg_buf_putc(out, plain ? c : c == '@' ? '.' : '_');
    }
    if (out->n == before)
        tg_buf_puts(out, "default");
}

static void put_classname(struct tg_buf *out, const struct tg_verdict *v, tg_sv rule)
{
    tg_buf_puts(out, "tracegate.");
    put_class_part(out, v->suite);
    tg_buf_putc(out, '.');
    put_class_part(out, rule);
}

/* Blanks collapse, because readers that treat names as tokens collapse them too. */
static void put_case_name(struct tg_buf *out, tg_sv name)
{
    struct tg_buf line = { 0 };
    size_t before = out->n;
    tg_sv rest;
    tg_utf8_visible(&line, name);
    rest = tg_buf_sv(&line);
    while (rest.n) {
        tg_sv word = tg_sv_cut(&rest, ' ');
        if (word.n && out->n > before)
            tg_buf_putc(out, ' ');
        tg_buf_add(out, word);
    }
    if (out->n == before)
        tg_buf_puts(out, "(blank)");
    tg_buf_release(&line);
}

static bool taken(struct suite *s, const struct tg_buf *classname, const struct tg_buf *name)
{
    struct tg_buf key = { 0 };
    size_t before = s->names.n;
    tg_buf_add(&key, tg_buf_sv(classname));
    tg_buf_putc(&key, '\0');
    tg_buf_add(&key, tg_buf_sv(name));
    (void)tg_strmap_add(&s->names, tg_buf_sv(&key));
    tg_buf_release(&key);
    return s->names.n == before;
}

/* The operator's name; a kernel with the name of an operator gets its kind, then a number. */
static void put_unique(struct suite *s, struct tg_buf *name, const struct tg_buf *classname,
                       tg_sv kind)
{
    size_t plain = name->n;
    if (!taken(s, classname, name))
        return;
    tg_buf_printf(name, " [%.*s]", TG_SV_ARG(kind));
    for (unsigned k = 2; taken(s, classname, name); k++) {
        name->n = plain;
        tg_buf_printf(name, " [%.*s %u]", TG_SV_ARG(kind), k);
    }
}

/* ---- cases ---- */

static void put_attribute(struct tg_buf *out, const char *key, tg_sv value)
{
    tg_buf_printf(out, " %s=\"", key);
    tg_esc_xml(out, value);
    tg_buf_putc(out, '"');
}

static void put_seconds(struct tg_buf *out, double seconds, int decimals)
{
    tg_dec_put_fixed(out, isfinite(seconds) && seconds > 0 ? seconds : 0, decimals);
}

static void open_case(struct suite *s, tg_sv rule, tg_sv name, tg_sv kind, double seconds,
                      const char *file, uint32_t line)
{
    struct tg_buf classname = { 0 }, unique = { 0 }, *out = &s->cases;
    put_classname(&classname, s->v, rule);
    put_case_name(&unique, name);
    put_unique(s, &unique, &classname, kind);
    tg_buf_puts(out, "    <testcase");
    put_attribute(out, "classname", tg_buf_sv(&classname));
    put_attribute(out, "name", tg_buf_sv(&unique));
    tg_buf_puts(out, " time=\"");
    put_seconds(out, seconds, 6);
    tg_buf_putc(out, '"');
    if (file && !s->strict) {
        put_attribute(out, "file", tg_sv_of(file));
        tg_buf_printf(out, " line=\"%u\"", (unsigned)(line ? line : 1));
    }
    s->n.tests++;
    s->n.seconds += isfinite(seconds) && seconds > 0 ? seconds : 0;
    tg_buf_release(&classname);
    tg_buf_release(&unique);
}

static void put_line(struct tg_buf *out, const char *label, tg_sv text)
{
    if (text.n) {
        struct tg_buf line = { 0 };
        tg_utf8_visible(&line, text);
        tg_buf_printf(out, "%s%.*s\n", label, TG_SV_ARG(tg_buf_sv(&line)));
        tg_buf_release(&line);
    }
}

static void put_message(struct tg_buf *out, const struct tg_result *r)
{
    struct tg_parts parts = tg_result_parts(r);
    tg_buf_add(out, parts.name);
    tg_buf_puts(out, parts.what);
    tg_buf_puts(out, parts.joint);
    tg_buf_add(out, parts.rest);
}

static void put_source(struct tg_buf *out, const struct tg_result *r)
{
    struct tg_buf text = { 0 };
    tg_origin_put(&text, r, &(struct tg_origin_style){ .put_name = NULL });
    put_line(out, "cause: ", tg_buf_sv(&text));
    if (r->cause) {
        tg_buf_clear(&text);
        tg_origin_put_path(&text, r->cause, &(struct tg_origin_style){ .put_name = NULL });
        put_line(out, "path: ", tg_buf_sv(&text));
    }
    tg_buf_release(&text);
}

/*
 * The message again (GitLab shows the body, others the attribute), then everything that explains
 * it.
 */
static void put_body(struct tg_buf *out, const struct tg_result *r)
{
    struct tg_buf text = { 0 };
    put_message(&text, r);
    put_line(out, "", tg_buf_sv(&text));
    put_line(out, "evidence: ", tg_result_evidence(r));
    tg_buf_clear(&text);
    tg_result_put_rule(&text, r, TG_RULE_WITH_LINE);
    put_line(out, "rule: ", tg_buf_sv(&text));
    put_line(out, "owner: ", r->owner);
    put_source(out, r);
    put_line(out, "next: ", r->next);
    tg_buf_release(&text);
}

static void put_state(struct suite *s, const char *element, tg_sv type, tg_sv message, tg_sv body)
{
    struct tg_buf *out = &s->cases;
    tg_buf_printf(out, ">\n      <%s", element);
    put_attribute(out, "message", message);
    if (type.n)
        put_attribute(out, "type", type);
    if (body.n) {
        tg_buf_putc(out, '>');
        tg_esc_xml_lines(out, body);
        tg_buf_printf(out, "</%s>\n    </testcase>\n", element);
    } else {
        tg_buf_puts(out, "/>\n    </testcase>\n");
    }
}

static void put_output(struct suite *s, const struct tg_result *r, tg_sv body)
{
    if (s->strict) {
        tg_buf_printf(&s->log, "%s: %.*s", tg_state_name(r->state), TG_SV_ARG(body));
        tg_buf_puts(&s->cases, "/>\n");
        return;
    }
    tg_buf_puts(&s->cases, ">\n      <system-out>");
    tg_buf_printf(&s->cases, "%s: ", tg_state_name(r->state));
    tg_esc_xml_lines(&s->cases, body);
    tg_buf_puts(&s->cases, "</system-out>\n    </testcase>\n");
}

static void put_skipped(struct suite *s, const struct tg_result *r)
{
    struct tg_buf text = { 0 };
    tg_buf_printf(&text, "%s: ", tg_state_name(r->state));
    put_message(&text, r);
    if (r->state == TG_STATE_WAIVED && r->evidence.n)
        tg_buf_printf(&text, " (%.*s)", TG_SV_ARG(r->evidence));
    if (r->state == TG_STATE_WAIVED) {
        tg_buf_puts(&text, "; rule ");
        tg_result_put_rule(&text, r, TG_RULE_WITH_LINE);
    }
    s->n.skipped++;
    put_state(s, "skipped", TG_SV(""), tg_buf_sv(&text), TG_SV(""));
    tg_buf_release(&text);
}

/* ---- what a rule did not judge: one case, whatever the number of names ---- */

static bool is_unjudged(const struct tg_result *r)
{
    return r->state == TG_STATE_NOT_JUDGED || r->state == TG_STATE_SKIP;
}

static tg_sv reason_of(const struct tg_result *r)
{
    return r->why_not ? tg_sv_of(r->why_not) : r->message;
}

/* "12 names: too few runs a side (aten::mm, aten::add, gemm and 9 more)" */
static void put_reason(struct tg_buf *out, const struct tg_verdict *v, tg_sv rule, tg_sv reason)
{
    enum { SHOWN = 3 };
    struct tg_buf names = { 0 };
    size_t n = 0;
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        if (!is_unjudged(r) || !tg_sv_eq(r->rule, rule) || !tg_sv_eq(reason_of(r), reason) ||
            n++ >= SHOWN)
            continue;
        tg_buf_puts(&names, n > 1 ? ", " : "");
        tg_label_put_one(&names, r->op_normalised.n ? r->op_normalised : r->op, 80);
    }
    tg_buf_printf(out, "%zu %s: %.*s", n, n == 1 ? "name" : "names", TG_SV_ARG(reason));
    if (names.n)
        tg_buf_printf(out, " (%s", names.p);
    if (n > SHOWN)
        tg_buf_printf(out, " and %zu more", n - SHOWN);
    tg_buf_puts(out, names.n ? ")" : "");
    tg_buf_release(&names);
}

static void put_unjudged(struct suite *s, const struct tg_result *first)
{
    struct tg_buf text = { 0 }, name = { 0 };
    struct tg_strmap reasons;
    tg_strmap_init(&reasons);
    tg_buf_puts(&text, "not judged: ");
    for (size_t i = 0; i < s->v->n_results; i++) {
        const struct tg_result *r = &s->v->results[i];
        size_t before = reasons.n;
        if (!is_unjudged(r) || !tg_sv_eq(r->rule, first->rule))
            continue;
        (void)tg_strmap_add(&reasons, reason_of(r));
        if (reasons.n == before)
            continue;
        tg_buf_puts(&text, before ? "; " : "");
        put_reason(&text, s->v, r->rule, reason_of(r));
    }
    tg_buf_printf(&name, "%.*s: not judged", TG_SV_ARG(first->rule));
    open_case(s, first->rule, tg_buf_sv(&name), tg_result_kind(first), 0,
              tg_result_in_file(first) ? first->file : NULL, first->line);
    s->n.skipped++;
    put_state(s, "skipped", TG_SV(""), tg_buf_sv(&text), TG_SV(""));
    tg_strmap_release(&reasons);
    tg_buf_release(&text);
    tg_buf_release(&name);
}

/* ---- cases of results ---- */

/* "slower: aten::mm": readers that show nothing but the name tell which rule it was. */
static void open_result(struct suite *s, const struct tg_result *r)
{
    bool timed = r->has_values && tg_sv_eq(r->unit, TG_SV("ns"));
    tg_sv op = r->op_normalised.n ? r->op_normalised : r->op;
    struct tg_buf name = { 0 };
    tg_buf_printf(&name, "%.*s%s", TG_SV_ARG(r->rule), r->rule.n ? ": " : "");
    put_case_name(&name, op);
    open_case(s, r->rule, tg_buf_sv(&name), tg_result_kind(r), timed ? r->test / 1e9 : 0,
              tg_result_in_file(r) ? r->file : NULL, r->line);
    tg_buf_release(&name);
}

static void put_result(struct suite *s, const struct tg_result *r)
{
    struct tg_buf message = { 0 }, body = { 0 };
    open_result(s, r);
    put_message(&message, r);
    put_body(&body, r);
    switch (r->state) {
    case TG_STATE_FAIL:
        s->n.failures++;
        put_state(s, "failure", r->rule.n ? r->rule : TG_SV("rule"), tg_buf_sv(&message),
                  tg_buf_sv(&body));
        break;
    case TG_STATE_WARN:
    case TG_STATE_SUSPICIOUS:
        put_output(s, r, tg_buf_sv(&body));
        break;
    case TG_STATE_PASS:
        tg_buf_puts(&s->cases, "/>\n");
        break;
    case TG_STATE_NOT_JUDGED:
    case TG_STATE_SKIP:
    case TG_STATE_WAIVED:
    case TG_STATE_INCONCLUSIVE:
        put_skipped(s, r);
        break;
    }
    tg_buf_release(&message);
    tg_buf_release(&body);
}

/* ---- the suite's own case ---- */

static bool is_guard(const struct tg_result *r)
{
    return r->state == TG_STATE_INCONCLUSIVE && r->subject == TG_SUBJECT_REQUIRE;
}

/* Lost baseline, guards, unusable input: one error for the suite. */
static void put_error(struct suite *s)
{
    const struct tg_verdict *v = s->v;
    const struct tg_result *guard = NULL;
    struct tg_buf body = { 0 };
    tg_sv why;
    for (size_t i = 0; i < v->n_results && !guard; i++)
        guard = is_guard(&v->results[i]) ? &v->results[i] : NULL;
    if (!guard && v->outcome != TG_OUTCOME_ERROR && v->outcome != TG_OUTCOME_INCONCLUSIVE)
        return;
    why = v->error.n ? v->error : guard ? guard->message : v->headline;
    put_line(&body, "", why);
    put_line(&body, "next: ", v->error_hint);
    for (size_t i = 0; i < v->n_results; i++)
        if (is_guard(&v->results[i]) && !tg_sv_eq(v->results[i].message, why))
            put_body(&body, &v->results[i]);
    open_case(s, TG_SV("verdict"), TG_SV("could be judged"), TG_SV("guard"), 0,
              guard && tg_result_in_file(guard) ? guard->file : NULL, guard ? guard->line : 0);
    s->n.errors++;
    put_state(s, "error", tg_sv_of(tg_outcome_name(v->outcome)), why, tg_buf_sv(&body));
    tg_buf_release(&body);
}

/* A report is never empty: a first run is skipped, with the reason. */
static void put_only_case(struct suite *s)
{
    open_case(s, TG_SV("verdict"), TG_SV("could be judged"), TG_SV("guard"), 0, NULL, 0);
    s->n.skipped++;
    put_state(s, "skipped", TG_SV(""),
              s->v->headline.n ? s->v->headline : TG_SV("nothing to compare with"), TG_SV(""));
}

static size_t put_results(struct suite *s, size_t max)
{
    size_t omitted = 0;
    for (size_t i = 0; i < s->v->n_results; i++) {
        if (is_guard(&s->v->results[i]))
            continue;
        if (is_unjudged(&s->v->results[i])) {
            size_t before = s->unjudged.n;
            (void)tg_strmap_add(&s->unjudged, s->v->results[i].rule);
            if (s->unjudged.n > before)
                put_unjudged(s, &s->v->results[i]);
            continue;
        }
        if (s->n.tests < max)
            put_result(s, &s->v->results[i]);
        else
            omitted++;
    }
    return omitted;
}

/* ---- the file ---- */

static void put_property(struct tg_buf *out, const char *name, tg_sv value)
{
    if (!value.n)
        return;
    tg_buf_printf(out, "      <property name=\"%s\"", name);
    put_attribute(out, "value", value);
    tg_buf_puts(out, "/>\n");
}

static void put_properties(struct tg_buf *out, const struct tg_verdict *v, size_t omitted)
{
    struct tg_buf text = { 0 };
    tg_buf_puts(out, "    <properties>\n");
    put_property(out, "verdict", tg_sv_of(tg_outcome_name(v->outcome)));
    tg_buf_printf(&text, "%d", v->exit_code);
    put_property(out, "exit_code", tg_buf_sv(&text));
    put_property(out, "coverage", v->coverage);
    put_property(out, "policy", v->policy);
    put_property(out, "baseline.commit", v->baseline.commit);
    put_property(out, "baseline.how", v->baseline.how);
    put_property(out, "baseline.path", v->baseline.paths);
    put_property(out, "test.commit", v->test_commit);
    put_property(out, "tracegate", v->version);
    for (size_t i = 0; i < v->n_notes; i++)
        put_property(out, "note", v->notes[i].text);
    if (omitted) {
        tg_buf_clear(&text);
        tg_buf_printf(&text, "%zu", omitted);
        put_property(out, "results_left_out", tg_buf_sv(&text));
    }
    tg_buf_puts(out, "    </properties>\n");
    tg_buf_release(&text);
}

static void put_counts(struct tg_buf *out, const struct tally *n, bool skipped)
{
    tg_buf_printf(out, " tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"", n->tests, n->failures,
                  n->errors);
    if (skipped)
        tg_buf_printf(out, " skipped=\"%zu\"", n->skipped);
    tg_buf_puts(out, " time=\"");
    put_seconds(out, n->seconds, 3);
    tg_buf_putc(out, '"');
}

static void put_suite(struct tg_buf *out, const struct suite *s, size_t omitted)
{
    const struct tg_verdict *v = s->v;
    struct tg_buf name = { 0 };
    put_case_name(&name, v->suite.n ? v->suite : TG_SV("default"));
    tg_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    if (!s->strict) {
        put_attribute(out, "name", TG_SV("tracegate"));
        put_counts(out, &s->n, false);
    }
    tg_buf_puts(out, ">\n  <testsuite");
    put_attribute(out, "name", tg_buf_sv(&name));
    put_counts(out, &s->n, true);
    if (v->timestamp.n)
        put_attribute(out, "timestamp", v->timestamp);
    else if (s->strict) /* the schema wants one, and there is no clock */
        put_attribute(out, "timestamp", TG_SV("1970-01-01T00:00:00"));
    if (s->strict)
        tg_buf_puts(out, " hostname=\"localhost\" package=\"tracegate\" id=\"0\"");
    tg_buf_puts(out, ">\n");
    put_properties(out, v, omitted);
    tg_buf_add(out, tg_buf_sv(&s->cases));
    if (s->strict) {
        tg_buf_puts(out, "    <system-out>");
        tg_esc_xml_lines(out, tg_buf_sv(&s->log));
        tg_buf_puts(out, "</system-out>\n    <system-err></system-err>\n");
    }
    tg_buf_puts(out, "  </testsuite>\n</testsuites>\n");
    tg_buf_release(&name);
}

bool tg_reporter_junit(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r,
                       struct tg_err *err)
{
    struct suite s = { .v = v, .strict = r->strict };
    size_t omitted;
    (void)err;
    tg_strmap_init(&s.names);
    tg_strmap_init(&s.unjudged);
    put_error(&s);
    omitted = put_results(&s, r->junit_max ? r->junit_max : MAX_CASES);
    if (!s.n.tests)
        put_only_case(&s);
    put_suite(out, &s, omitted);
    tg_strmap_release(&s.names);
    tg_strmap_release(&s.unjudged);
    tg_buf_release(&s.cases);
    tg_buf_release(&s.log);
    return true;
}
