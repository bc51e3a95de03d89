/*
 * GitHub workflow commands, the worst first, at the changed line of the program that a result comes
 * from; if none is known, at the rule that is violated, and as notices at the line of the program
 * whose calls the result counts. GitHub shows ten per step
 * and level and cuts a message at 4,096 characters, so at most ten results are given, and the last
 * line says how many more there are. One of the ten is about the traces themselves, if there is
 * something to report.
 */

#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"

enum { MAX_LINES = 10, MAX_MESSAGE = 1000 };

/* `file` "": no place; `line` 0: unknown. */
static void put_command(struct tg_buf *out, const char *level, tg_sv file, uint32_t line,
                        tg_sv title, tg_sv message)
{
    tg_buf_printf(out, "::%s ", level);
    if (file.n)
        TG_PUT(out, tg_esc_command_property, "file={},", file);
    if (file.n && line)
        tg_buf_printf(out, "line=%u,", (unsigned)line);
    TG_PUT(out, tg_esc_command_property, "title={}::", title);
    TG_PUT(out, tg_esc_command, "{}\n", tg_utf8_prefix(message, MAX_MESSAGE));
}

/* What the traces themselves are like, or the policy, in one line; "": nothing to tell. */
static void notes_of(struct tg_buf *text, const struct tg_verdict *v, bool policy)
{
    for (size_t i = 0; i < v->n_notes; i++)
        if (policy ? v->notes[i].policy : v->notes[i].damage) {
            tg_buf_puts(text, text->n ? "; " : "");
            tg_buf_add(text, v->notes[i].text);
        }
}

void tg_reporter_annotations(struct tg_buf *out, const struct tg_verdict *v,
                             const struct tg_render *r)
{
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    TG_BUF damage = { 0 }, policy = { 0 };
    size_t total = 0, done = 0, most = MAX_LINES;
    (void)r;
    notes_of(&damage, v, false);
    notes_of(&policy, v, true);
    most -= (size_t)(damage.n > 0) + (size_t)(policy.n > 0);
    for (size_t i = 0; i < v->n_results; i++)
        total += tg_result_shown(&v->results[i]) && roots[i] == i;
    for (size_t i = 0; i < v->n_results; i++) {
        if (!tg_result_shown(&v->results[i]) || roots[i] != i)
            continue;
        if (done == most - 1 && total > most)
            break;
        const struct tg_result *result = &v->results[i];
        TG_BUF title = { 0 }, message = { 0 };
        bool red = result->state == TG_STATE_FAIL || result->state == TG_STATE_INCONCLUSIVE;
        bool blamed = result->source.n && tg_cause_blames(result->cause);
        const char *level = red ? "error" : "warning";
        tg_buf_printf(&title, "tracegate: %.*s",
                      TG_SV_ARG(result->rule.n ? result->rule : TG_SV("result")));
        tg_result_put(&message, result);
        if (tg_result_evidence(result).n)
            tg_buf_printf(&message, "; %.*s", TG_SV_ARG(result->evidence));
        if (blamed) {
            /* What a result at a line of the program says beside itself: the cause, and where the
             * rule is. */
            tg_buf_puts(&message, "; ");
            tg_origin_put(&message, result, TG_ORIGIN_WHOLE);
            if (tg_result_in_file(result))
                tg_buf_printf(&message, "; rule at %s:%u", result->at.file,
                              (unsigned)result->at.line);
            put_command(out, level, result->source, result->source_line, tg_buf_sv(&title),
                        tg_buf_sv(&message));
        } else {
            put_command(out, level,
                        tg_result_in_file(result) ? tg_sv_of(result->at.file) : TG_SV(""),
                        result->at.line, tg_buf_sv(&title), tg_buf_sv(&message));
            if (result->source.n) {
                tg_buf_puts(&message, "; ");
                tg_origin_put(&message, result, TG_ORIGIN_WHOLE);
                put_command(out, "notice", result->source, result->source_line, tg_buf_sv(&title),
                            tg_buf_sv(&message));
            }
        }
        done++;
    }
    if (done < total) {
        TG_BUF more = { 0 };
        tg_buf_printf(&more, "%zu more results: see the report", total - done);
        put_command(out, "notice", TG_SV(""), 0, TG_SV("tracegate"), tg_buf_sv(&more));
    }
    if (!total && v->error.n)
        put_command(out, "error", TG_SV(""), 0, TG_SV("tracegate"), v->error);
    if (damage.n)
        put_command(out, "notice", TG_SV(""), 0, TG_SV("tracegate: traces"), tg_buf_sv(&damage));
    if (policy.n)
        put_command(out, "warning", TG_SV(""), 0, TG_SV("tracegate: policy"), tg_buf_sv(&policy));
}
