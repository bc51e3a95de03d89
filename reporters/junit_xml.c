#include "reporters/junit_xml.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"

void tg_junit_init(struct tg_junit *s, const struct tg_verdict *v, bool strict)
{
    *s = (struct tg_junit){ .v = v, .strict = strict };
}

void tg_junit_release(struct tg_junit *s)
{
    tg_strmap_release(&s->names);
    tg_buf_release(&s->cases);
    tg_buf_release(&s->log);
}

/* ---- names ---- */

void tg_junit_put_name(struct tg_buf *out, tg_sv name)
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

static bool taken(struct tg_junit *s, const struct tg_buf *name)
{
    size_t before = s->names.n;
    (void)tg_strmap_add(&s->names, tg_buf_sv(name));
    return s->names.n == before;
}

/* ---- cases ---- */

static void put_attribute(struct tg_buf *out, const char *key, tg_sv value)
{
    tg_buf_printf(out, " %s=\"", key);
    tg_esc_xml(out, value);
    tg_buf_putc(out, '"');
}

void tg_junit_open(struct tg_junit *s, const struct tg_junit_case *c)
{
    struct tg_buf *out = &s->cases;
    TG_BUF classname = { 0 }, unique = { 0 };
    double seconds = isfinite(c->seconds) && c->seconds > 0 ? c->seconds : 0;
    tg_buf_puts(&classname, "tracegate.");
    /* A part of a class name: dots separate parts, so a part has no dot. */
    size_t before = classname.n;
    for (size_t i = 0; i < s->v->suite.n; i++) {
        char part = s->v->suite.p[i];
        bool plain = tg_is_word(part) || part == '-';
        tg_buf_putc(&classname, plain ? part : part == '@' ? '.' : '_');
    }
    if (classname.n == before)
        tg_buf_puts(&classname, "default");
    tg_junit_put_name(&unique, c->name);
    /* The operator's name; a kernel with the name of an operator gets its kind, then a number. */
    size_t stem = unique.n;
    if (taken(s, &unique)) {
        tg_buf_printf(&unique, " [%.*s]", TG_SV_ARG(c->kind));
        for (unsigned k = 2; taken(s, &unique); k++) {
            unique.n = stem;
            tg_buf_printf(&unique, " [%.*s %u]", TG_SV_ARG(c->kind), k);
        }
    }
    tg_buf_puts(out, "    <testcase");
    put_attribute(out, "classname", tg_buf_sv(&classname));
    put_attribute(out, "name", tg_buf_sv(&unique));
    tg_buf_puts(out, " time=\"");
    tg_dec_put_fixed(out, seconds, 6);
    tg_buf_putc(out, '"');
    if (c->file && !s->strict) {
        put_attribute(out, "file", tg_sv_of(c->file));
        tg_buf_printf(out, " line=\"%u\"", (unsigned)(c->line ? c->line : 1));
    }
    s->tests++;
    s->seconds += seconds;
}

void tg_junit_pass(struct tg_junit *s)
{
    tg_buf_puts(&s->cases, "/>\n");
}

void tg_junit_pass_saying(struct tg_junit *s, const char *head, tg_sv body)
{
    if (s->strict) {
        tg_buf_printf(&s->log, "%s: %.*s", head, TG_SV_ARG(body));
        tg_junit_pass(s);
        return;
    }
    tg_buf_printf(&s->cases, ">\n      <system-out>%s: ", head);
    tg_esc_xml_lines(&s->cases, body);
    tg_buf_puts(&s->cases, "</system-out>\n    </testcase>\n");
}

void tg_junit_close(struct tg_junit *s, enum tg_junit_state state, tg_sv type, tg_sv message,
                    tg_sv body)
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
static void put_counts(struct tg_buf *out, const struct tg_junit *s, size_t states)
{
    static const char *const names[] = { "failures", "errors", "skipped" };
    tg_buf_printf(out, " tests=\"%zu\"", s->tests);
    for (size_t i = 0; i < states; i++)
        tg_buf_printf(out, " %s=\"%zu\"", names[i], s->n_state[i]);
    tg_buf_puts(out, " time=\"");
    tg_dec_put_fixed(out, s->seconds, 3);
    tg_buf_putc(out, '"');
}

void tg_junit_put(struct tg_buf *out, const struct tg_junit *s, size_t omitted)
{
    const struct tg_verdict *v = s->v;
    TG_BUF name = { 0 };
    tg_junit_put_name(&name, v->suite.n ? v->suite : TG_SV("default"));
    tg_buf_puts(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    if (!s->strict) {
        put_attribute(out, "name", TG_SV("tracegate"));
        put_counts(out, s, TG_JUNIT_SKIPPED);
    }
    tg_buf_puts(out, ">\n  <testsuite");
    put_attribute(out, "name", tg_buf_sv(&name));
    put_counts(out, s, TG_JUNIT_STATES);
    if (v->timestamp.n)
        put_attribute(out, "timestamp", v->timestamp);
    else if (s->strict) /* the schema wants one, and there is no clock */
        put_attribute(out, "timestamp", TG_SV("1970-01-01T00:00:00"));
    if (s->strict)
        tg_buf_puts(out, " hostname=\"localhost\" package=\"tracegate\" id=\"0\"");
    tg_buf_puts(out, ">\n");
    TG_BUF text = { 0 };
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
    tg_buf_add(out, tg_buf_sv(&s->cases));
    if (s->strict) {
        tg_buf_puts(out, "    <system-out>");
        tg_esc_xml_lines(out, tg_buf_sv(&s->log));
        tg_buf_puts(out, "</system-out>\n    <system-err></system-err>\n");
    }
    tg_buf_puts(out, "  </testsuite>\n</testsuites>\n");
}
