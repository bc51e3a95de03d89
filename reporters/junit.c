/*
 * JUnit XML as its readers agree on it: one flat suite, stable and unique (classname, name), at
 * most one of failure, error, skipped a case. Measured numbers are in messages, never in names, so
 * that a test has one history. Cases carry the file and line of their rule, where readers put their
 * annotations.
 *
 * Strict mode is for readers that check a schema: no file and line, nothing inside a case but its
 * state, and the suite's own properties, system-out and system-err.
 */
#include "core/base/utf8.h"

#include <math.h>

#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "policy/verdict/verdict.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"

/* ---- the file around the cases: one suite, unique names, counts, properties ---- */

enum { MAX_CASES = 500 };
enum state { FAILURE, ERROR, SKIPPED, STATES };

struct suite {
    const struct tg_verdict *v;
    const uint32_t *roots;     /* of its results */
    bool strict;               /* no file and line, nothing inside a case but its state */
    struct tg_buf cases, log;  /* log: the suite's system-out, strict only */
    struct tg_strmap names;    /* each once */
    struct tg_strmap unjudged; /* rules whose case for what they did not judge is there */
    size_t tests, n_state[STATES];
    double seconds;
};

/* Blanks collapse, because readers that treat names as tokens collapse them too. */
static void put_name(struct tg_buf *out, tg_sv name)
{
    TG_BUF line = { 0 };
    size_t before = out->n;
    tg_utf8_visible(&line, name);
    tg_sv rest = tg_buf_sv(&line);
    while (rest.n) {
        tg_sv word = tg_sv_cut(&rest, ' ');
        if (word.n && out->n > before)
            tg_buf_putc(out, ' ');
        tg_buf_add(out, word);
    }
    if (out->n == before)
        tg_buf_puts(out, "(blank)");
}

static bool taken(struct suite *s, const struct tg_buf *name)
{
    size_t before = s->names.n;
    (void)tg_strmap_add(&s->names, tg_buf_sv(name));
    return s->names.n == before;
}

/* ---- cases ---- */

static void put_attribute(struct tg_buf *out, const char *key, tg_sv value)
{
    tg_buf_printf(out, " %s=\"", key);
    TG_PUT(out, tg_esc_xml, "{}\"", value);
}

/* `kind`: told apart by it, if two cases have one name. `file`: of the rule; NULL: none. */
static void open_case_at(struct suite *s, tg_sv name, tg_sv kind, double seconds, const char *file,
                         uint32_t line)
{
    struct tg_buf *out = &s->cases;
    TG_BUF classname = { 0 }, unique = { 0 };
    seconds = isfinite(seconds) && seconds > 0 ? seconds : 0;
    tg_buf_puts(&classname, "tracegate.");
    /* A part of a class name: dots separate parts, so a part has no dot. */
    for (size_t i = 0; i < s->v->suite.n; i++) {
        char part = s->v->suite.p[i];
        bool plain = tg_is_word(part) || part == '-';
        tg_buf_putc(&classname, plain ? part : part == '@' ? '.' : '_');
    }
    if (!s->v->suite.n)
        tg_buf_puts(&classname, "default");
    put_name(&unique, name);
    /* The operator's name; a kernel with the name of an operator gets its kind, then a number. */
    size_t stem = unique.n;
    if (taken(s, &unique)) {
        tg_buf_printf(&unique, " [%.*s]", TG_SV_ARG(kind));
        for (unsigned k = 2; taken(s, &unique); k++) {
            unique.n = stem;
            tg_buf_printf(&unique, " [%.*s %u]", TG_SV_ARG(kind), k);
        }
    }
    tg_buf_puts(out, "    <testcase");
    put_attribute(out, "classname", tg_buf_sv(&classname));
    put_attribute(out, "name", tg_buf_sv(&unique));
    tg_buf_printf(out, " time=\"%.6f\"", seconds);
    if (file && !s->strict) {
        put_attribute(out, "file", tg_sv_of(file));
        tg_buf_printf(out, " line=\"%u\"", (unsigned)(line ? line : 1));
    }
    s->tests++;
    s->seconds += seconds;
}

static void close_case(struct suite *s, enum state state, tg_sv type, tg_sv message, tg_sv body)
{
    static const char *const names[] = { "failure", "error", "skipped" };
    const char *element = names[state];
    struct tg_buf *out = &s->cases;
    s->n_state[state]++;
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

/* ---- the file ---- */

static void put_property(struct tg_buf *out, const char *name, tg_sv value)
{
    if (!value.n)
        return;
    tg_buf_printf(out, "      <property name=\"%s\"", name);
    put_attribute(out, "value", value);
    tg_buf_puts(out, "/>\n");
}

/* The outer element has no attribute for skipped cases. */
static void put_counts(struct tg_buf *out, const struct suite *s, size_t states)
{
    static const char *const names[] = { "failures", "errors", "skipped" };
    tg_buf_printf(out, " tests=\"%zu\"", s->tests);
    for (size_t i = 0; i < states; i++)
        tg_buf_printf(out, " %s=\"%zu\"", names[i], s->n_state[i]);
    tg_buf_printf(out, " time=\"%.3f\"", s->seconds);
}

/* The whole file; `omitted`: results without a case of their own. */
static void put_file(struct tg_buf *out, const struct suite *s, size_t omitted)
{
    const struct tg_verdict *v = s->v;
    TG_BUF name = { 0 };
    put_name(&name, v->suite.n ? v->suite : TG_SV("default"));
    tg_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    if (!s->strict) {
        put_attribute(out, "name", TG_SV("tracegate"));
        put_counts(out, s, SKIPPED);
    }
    tg_buf_puts(out, ">\n  <testsuite");
    put_attribute(out, "name", tg_buf_sv(&name));
    put_counts(out, s, STATES);
    if (v->timestamp.n)
        put_attribute(out, "timestamp", v->timestamp);
    else if (s->strict) /* the schema wants one, and there is no clock */
        put_attribute(out, "timestamp", TG_SV("1970-01-01T00:00:00"));
    if (s->strict)
        tg_buf_puts(out, " hostname=\"localhost\" package=\"tracegate\" id=\"0\"");
    TG_BUF text = { 0 };
    tg_buf_puts(out, ">\n    <properties>\n");
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
    tg_buf_add(out, tg_buf_sv(&s->cases));
    if (s->strict)
        TG_PUT(out, tg_esc_xml_lines,
               "    <system-out>{}</system-out>\n    <system-err></system-err>\n",
               tg_buf_sv(&s->log));
    tg_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}

/* At what a reader has to open: the line that is to blame, else the rule. */
static void open_case(struct suite *s, const struct tg_result *r, tg_sv name, double seconds)
{
    TG_BUF changed = { 0 };
    bool blamed = r->cause && tg_cause_blames(r->cause);
    const char *file = tg_result_in_file(r) ? r->at.file : NULL;
    if (blamed)
        tg_buf_printf(&changed, "%.*s", TG_SV_ARG(r->source));
    open_case_at(s, name, tg_result_kind(r), seconds, blamed ? changed.p : file,
                 blamed ? r->source_line : r->at.line);
}

static void put_line(struct tg_buf *out, const char *label, tg_sv text)
{
    if (text.n) {
        TG_BUF line = { 0 };
        tg_utf8_visible(&line, text);
        tg_buf_printf(out, "%s%.*s\n", label, TG_SV_ARG(tg_buf_sv(&line)));
    }
}

/* The message again (GitLab shows the body, others the attribute), then what explains it. */
static void put_body(struct tg_buf *out, const struct tg_result *r)
{
    TG_BUF text = { 0 };
    tg_result_put(&text, r);
    put_line(out, "", tg_buf_sv(&text));
    tg_buf_clear(&text);
    tg_buf_printf(&text, "%s: ", tg_result_evidence_label(r));
    put_line(out, text.p, tg_result_evidence(r));
    tg_buf_clear(&text);
    tg_result_put_rule(&text, r, TG_RULE_WITH_LINE);
    put_line(out, "rule: ", tg_buf_sv(&text));
    put_line(out, "owner: ", r->owner);
    tg_buf_clear(&text);
    tg_origin_put(&text, r, TG_ORIGIN_WHOLE);
    put_line(out, "cause: ", tg_buf_sv(&text));
    tg_buf_clear(&text);
    (void)tg_origin_put_quote(&text, r->cause);
    put_line(out, TG_ORIGIN_QUOTE ": ", tg_buf_sv(&text));
    if (r->cause) {
        tg_buf_clear(&text);
        tg_origin_put_path(&text, r->cause);
        put_line(out, "path: ", tg_buf_sv(&text));
    }
    put_line(out, "next: ", r->next);
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

static void put_unjudged(struct suite *s, const struct tg_result *first)
{
    TG_BUF text = { 0 }, name = { 0 };
    TG_AUTO(tg_strmap_release) struct tg_strmap reasons = { 0 };
    tg_buf_puts(&text, "not judged: ");
    TG_EACH(const struct tg_result, r, s->v->results, s->v->n_results) {
        size_t before = reasons.n;
        if (!is_unjudged(r) || !tg_sv_eq(r->rule, first->rule))
            continue;
        (void)tg_strmap_add(&reasons, reason_of(r));
        if (reasons.n == before)
            continue;
        tg_buf_puts(&text, before ? "; " : "");
        /* "12 names: too few runs a side (aten::mm, aten::add, gemm and 9 more)" */
        struct tg_message_list list = { .most = 3 };
        TG_BUF names = { 0 };
        TG_EACH(const struct tg_result, one, s->v->results, s->v->n_results) {
            if (!is_unjudged(one) || !tg_sv_eq(one->rule, r->rule) ||
                !tg_sv_eq(reason_of(one), reason_of(r)) || !tg_message_list_next(&list, &names))
                continue;
            tg_label_put_one(&names, one->op_normalised.n ? one->op_normalised : one->op, 80);
        }
        tg_buf_printf(&text, "%zu %s: %.*s", list.n, list.n == 1 ? "name" : "names",
                      TG_SV_ARG(reason_of(r)));
        (void)tg_message_list_end(&list, &names);
        if (names.n)
            tg_buf_printf(&text, " (%s)", names.p);
    }
    tg_buf_printf(&name, "%.*s: not judged", TG_SV_ARG(first->rule));
    open_case(s, first, tg_buf_sv(&name), 0);
    close_case(s, SKIPPED, TG_SV(""), tg_buf_sv(&text), TG_SV(""));
}

/* ---- cases of results ---- */

static void put_result(struct suite *s, const struct tg_result *r)
{
    TG_BUF message = { 0 }, body = { 0 }, name = { 0 };
    /* "slower: aten::mm": readers that show nothing but the name tell which rule it was. */
    bool timed = r->has_values && r->unit_id == TG_UNIT_NS;
    tg_buf_printf(&name, "%.*s%s", TG_SV_ARG(r->rule), r->rule.n ? ": " : "");
    put_name(&name, r->op_normalised.n ? r->op_normalised : r->op);
    open_case(s, r, tg_buf_sv(&name), timed ? r->test / 1e9 : 0);
    /* A failure that is part of another one follows from that, which fails by itself. */
    const struct tg_result *root = &s->v->results[s->roots[r - s->v->results]];
    if (r->state == TG_STATE_FAIL && root != r && root->state == TG_STATE_FAIL) {
        tg_buf_puts(&message, "follows from ");
        tg_label_put_one(&message, tg_result_called(root), 80);
        tg_buf_puts(&message, ": ");
        tg_result_put(&message, r);
        close_case(s, SKIPPED, TG_SV(""), tg_buf_sv(&message), TG_SV(""));
        return;
    }
    tg_result_put(&message, r);
    put_body(&body, r);
    switch (r->state) {
    case TG_STATE_FAIL:
        close_case(s, FAILURE, r->rule.n ? r->rule : TG_SV("rule"), tg_buf_sv(&message),
                   tg_buf_sv(&body));
        break;
    case TG_STATE_WARN:
    case TG_STATE_SUSPICIOUS:
        /* Passed, with output. */
        if (s->strict) {
            tg_buf_printf(&s->log, "%s: %.*s", tg_state_name(r->state),
                          TG_SV_ARG(tg_buf_sv(&body)));
            tg_buf_puts(&s->cases, "/>\n");
        } else {
            tg_buf_printf(&s->cases, ">\n      <system-out>%s: ", tg_state_name(r->state));
            TG_PUT(&s->cases, tg_esc_xml_lines, "{}</system-out>\n    </testcase>\n",
                   tg_buf_sv(&body));
        }
        break;
    case TG_STATE_PASS:
        tg_buf_puts(&s->cases, "/>\n");
        break;
    case TG_STATE_NOT_JUDGED:
    case TG_STATE_SKIP:
    case TG_STATE_WAIVED:
    case TG_STATE_INCONCLUSIVE: {
        TG_BUF text = { 0 };
        tg_buf_printf(&text, "%s: ", tg_state_name(r->state));
        tg_buf_add(&text, tg_buf_sv(&message));
        if (r->state == TG_STATE_WAIVED && r->evidence.n)
            tg_buf_printf(&text, " (%.*s)", TG_SV_ARG(r->evidence));
        if (r->state == TG_STATE_WAIVED) {
            tg_buf_puts(&text, "; rule ");
            tg_result_put_rule(&text, r, TG_RULE_WITH_LINE);
        }
        close_case(s, SKIPPED, TG_SV(""), tg_buf_sv(&text), TG_SV(""));
        break;
    }
    }
}

static bool is_guard(const struct tg_result *r)
{
    return r->state == TG_STATE_INCONCLUSIVE && r->subject == TG_SUBJECT_REQUIRE;
}

void tg_reporter_junit(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    struct suite s = { .v = v, .roots = roots, .strict = r->strict };
    /* The suite's own case. Lost baseline, guards, unusable input: one error for it. */
    const tg_sv own_name = TG_SV("could be judged"), own_kind = TG_SV("guard");
    const struct tg_result *guard = NULL;
    TG_BUF body = { 0 };
    for (size_t i = 0; i < v->n_results && !guard; i++)
        guard = is_guard(&v->results[i]) ? &v->results[i] : NULL;
    if (guard || v->outcome == TG_OUTCOME_ERROR || v->outcome == TG_OUTCOME_INCONCLUSIVE) {
        tg_sv why = v->error.n ? v->error : guard ? guard->message : v->headline;
        put_line(&body, "", why);
        put_line(&body, "next: ", v->error_hint);
        for (size_t i = 0; i < v->n_results; i++)
            if (is_guard(&v->results[i]) && !tg_sv_eq(v->results[i].message, why))
                put_body(&body, &v->results[i]);
        bool in_file = guard && tg_result_in_file(guard);
        open_case_at(&s, own_name, own_kind, 0, in_file ? guard->at.file : NULL,
                     in_file ? guard->at.line : 0);
        close_case(&s, ERROR, tg_sv_of(tg_outcome_name(v->outcome)), why, tg_buf_sv(&body));
    }
    size_t omitted = 0;
    for (size_t i = 0; i < v->n_results; i++) {
        if (is_guard(&v->results[i]))
            continue;
        if (is_unjudged(&v->results[i])) {
            size_t before = s.unjudged.n;
            (void)tg_strmap_add(&s.unjudged, v->results[i].rule);
            if (s.unjudged.n > before)
                put_unjudged(&s, &v->results[i]);
            continue;
        }
        if (s.tests < (r->junit_max ? r->junit_max : MAX_CASES))
            put_result(&s, &v->results[i]);
        else
            omitted++;
    }
    if (!s.tests) {
        /* A report is never empty: a first run is skipped, with the reason. */
        open_case_at(&s, own_name, own_kind, 0, NULL, 0);
        close_case(&s, SKIPPED, TG_SV(""),
                   v->headline.n ? v->headline : TG_SV("nothing to compare with"), TG_SV(""));
    }
    put_file(out, &s, omitted);
    tg_strmap_release(&s.unjudged);
    tg_strmap_release(&s.names);
    tg_buf_release(&s.cases);
    tg_buf_release(&s.log);
}
