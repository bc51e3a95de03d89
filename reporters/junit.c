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
#include "reporters/findings.h"
#include "reporters/junit_xml.h"
#include "reporters/label.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"

enum { MAX_CASES = 500 };

struct suite {
    struct tg_junit xml;
    const struct tg_verdict *v;
    const uint32_t *roots;     /* of its results */
    struct tg_strmap unjudged; /* rules whose case for what they did not judge is there */
};

static void open_case(struct suite *s, const struct tg_result *r, tg_sv name, double seconds)
{
    struct tg_junit_case c = { name, tg_result_kind(r), seconds, NULL, r->line };
    TG_BUF changed = { 0 };
    c.file = tg_result_in_file(r) ? r->file : NULL;
    if (r->cause && tg_cause_blames(r->cause)) { /* what a reader has to open */
        tg_buf_printf(&changed, "%.*s", TG_SV_ARG(r->source));
        c.file = changed.p;
        c.line = r->source_line;
    }
    tg_junit_open(&s->xml, &c);
}

/* The case of the verdict itself; `guard`: the result that made it an error, or NULL. */
static void open_own_case(struct suite *s, const struct tg_result *guard)
{
    struct tg_junit_case c = { .name = TG_SV("could be judged"), .kind = TG_SV("guard") };
    if (guard && tg_result_in_file(guard)) {
        c.file = guard->file;
        c.line = guard->line;
    }
    tg_junit_open(&s->xml, &c);
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
    TG_BUF source = { 0 };
    tg_origin_put(&source, r, TG_ORIGIN_WHOLE);
    put_line(out, "cause: ", tg_buf_sv(&source));
    tg_buf_clear(&source);
    (void)tg_origin_put_quote(&source, r->cause);
    put_line(out, TG_ORIGIN_QUOTE ": ", tg_buf_sv(&source));
    if (r->cause) {
        tg_buf_clear(&source);
        tg_origin_put_path(&source, r->cause);
        put_line(out, "path: ", tg_buf_sv(&source));
    }
    put_line(out, "next: ", r->next);
}

static void put_skipped(struct suite *s, const struct tg_result *r)
{
    TG_BUF text = { 0 };
    tg_buf_printf(&text, "%s: ", tg_state_name(r->state));
    tg_result_put(&text, r);
    if (r->state == TG_STATE_WAIVED && r->evidence.n)
        tg_buf_printf(&text, " (%.*s)", TG_SV_ARG(r->evidence));
    if (r->state == TG_STATE_WAIVED) {
        tg_buf_puts(&text, "; rule ");
        tg_result_put_rule(&text, r, TG_RULE_WITH_LINE);
    }
    tg_junit_close(&s->xml, TG_JUNIT_SKIPPED, TG_SV(""), tg_buf_sv(&text), TG_SV(""));
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
    for (size_t i = 0; i < s->v->n_results; i++) {
        const struct tg_result *r = &s->v->results[i];
        size_t before = reasons.n;
        if (!is_unjudged(r) || !tg_sv_eq(r->rule, first->rule))
            continue;
        (void)tg_strmap_add(&reasons, reason_of(r));
        if (reasons.n == before)
            continue;
        tg_buf_puts(&text, before ? "; " : "");
        /* "12 names: too few runs a side (aten::mm, aten::add, gemm and 9 more)" */
        tg_sv reason = reason_of(r);
        struct tg_message_list list = { .most = 3 };
        TG_BUF names = { 0 };
        for (size_t k = 0; k < s->v->n_results; k++) {
            const struct tg_result *one = &s->v->results[k];
            if (!is_unjudged(one) || !tg_sv_eq(one->rule, r->rule) ||
                !tg_sv_eq(reason_of(one), reason) || !tg_message_list_next(&list, &names))
                continue;
            tg_label_put_one(&names, one->op_normalised.n ? one->op_normalised : one->op, 80);
        }
        tg_buf_printf(&text, "%zu %s: %.*s", list.n, list.n == 1 ? "name" : "names",
                      TG_SV_ARG(reason));
        (void)tg_message_list_end(&list, &names);
        if (names.n)
            tg_buf_printf(&text, " (%s)", names.p);
    }
    tg_buf_printf(&name, "%.*s: not judged", TG_SV_ARG(first->rule));
    open_case(s, first, tg_buf_sv(&name), 0);
    tg_junit_close(&s->xml, TG_JUNIT_SKIPPED, TG_SV(""), tg_buf_sv(&text), TG_SV(""));
}

/* ---- cases of results ---- */

/* The failure that this one is a part of, which fails by itself; NULL: it is a finding. */
static const struct tg_result *followed(const struct suite *s, const struct tg_result *r)
{
    const struct tg_result *root = &s->v->results[s->roots[r - s->v->results]];
    return r->state == TG_STATE_FAIL && root != r && root->state == TG_STATE_FAIL ? root : NULL;
}

static void put_result(struct suite *s, const struct tg_result *r)
{
    TG_BUF message = { 0 }, body = { 0 };
    /* "slower: aten::mm": readers that show nothing but the name tell which rule it was. */
    bool timed = r->has_values && r->dimension == TG_DIM_DURATION;
    tg_sv op = r->op_normalised.n ? r->op_normalised : r->op;
    TG_BUF name = { 0 };
    tg_buf_printf(&name, "%.*s%s", TG_SV_ARG(r->rule), r->rule.n ? ": " : "");
    tg_junit_put_name(&name, op);
    open_case(s, r, tg_buf_sv(&name), timed ? r->test / 1e9 : 0);
    if (followed(s, r)) {
        tg_buf_puts(&message, "follows from ");
        tg_label_put_one(&message, tg_result_called(followed(s, r)), 80);
        tg_buf_puts(&message, ": ");
    }
    tg_result_put(&message, r);
    if (followed(s, r)) {
        tg_junit_close(&s->xml, TG_JUNIT_SKIPPED, TG_SV(""), tg_buf_sv(&message), TG_SV(""));
        return;
    }
    put_body(&body, r);
    switch (r->state) {
    case TG_STATE_FAIL:
        tg_junit_close(&s->xml, TG_JUNIT_FAILURE, r->rule.n ? r->rule : TG_SV("rule"),
                       tg_buf_sv(&message), tg_buf_sv(&body));
        break;
    case TG_STATE_WARN:
    case TG_STATE_SUSPICIOUS:
        tg_junit_pass_saying(&s->xml, tg_state_name(r->state), tg_buf_sv(&body));
        break;
    case TG_STATE_PASS:
        tg_junit_pass(&s->xml);
        break;
    case TG_STATE_NOT_JUDGED:
    case TG_STATE_SKIP:
    case TG_STATE_WAIVED:
    case TG_STATE_INCONCLUSIVE:
        put_skipped(s, r);
        break;
    }
}

/* ---- the suite's own case ---- */

static bool is_guard(const struct tg_result *r)
{
    return r->state == TG_STATE_INCONCLUSIVE && r->subject == TG_SUBJECT_REQUIRE;
}

void tg_reporter_junit(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    struct suite s = { .v = v, .roots = roots };
    tg_junit_init(&s.xml, v, r->strict);
    /* Lost baseline, guards, unusable input: one error for the suite. */
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
        open_own_case(&s, guard);
        tg_junit_close(&s.xml, TG_JUNIT_ERROR, tg_sv_of(tg_outcome_name(v->outcome)), why,
                       tg_buf_sv(&body));
    }
    size_t omitted = 0;
    for (size_t i = 0; i < s.v->n_results; i++) {
        if (is_guard(&s.v->results[i]))
            continue;
        if (is_unjudged(&s.v->results[i])) {
            size_t before = s.unjudged.n;
            (void)tg_strmap_add(&s.unjudged, s.v->results[i].rule);
            if (s.unjudged.n > before)
                put_unjudged(&s, &s.v->results[i]);
            continue;
        }
        if (s.xml.tests < (r->junit_max ? r->junit_max : MAX_CASES))
            put_result(&s, &s.v->results[i]);
        else
            omitted++;
    }
    if (!s.xml.tests) {
        /* A report is never empty: a first run is skipped, with the reason. */
        open_own_case(&s, NULL);
        tg_junit_close(&s.xml, TG_JUNIT_SKIPPED, TG_SV(""),
                       s.v->headline.n ? s.v->headline : TG_SV("nothing to compare with"),
                       TG_SV(""));
    }
    tg_junit_put(out, &s.xml, omitted);
    tg_strmap_release(&s.unjudged);
    tg_junit_release(&s.xml);
}
