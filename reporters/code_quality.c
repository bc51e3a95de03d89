/*
 * GitLab's Code Quality report (the part of Code Climate's that GitLab reads): one entry a finding,
 * at the changed line of the program that it comes from, else at the rule that is violated. GitLab
 * compares entries of two branches by their fingerprints, so these hold no measured value.
 */
#include <inttypes.h>

#include "core/base/doc.h"
#include "core/base/hash.h"
#include "reporters/findings.h"
#include "reporters/origin.h"
#include "reporters/reporter.h"

/* Where nothing is known of a place: GitLab wants one. */
static const tg_sv usual_policy = { ".tracegate.yml", 14 };

static void put_fingerprint(struct tg_doc *entry, const struct tg_verdict *v,
                            const struct tg_result *r)
{
    const tg_sv parts[] = { v->suite, r ? r->rule : TG_SV(""),
                            r ? r->op_normalised : TG_SV("error"),
                            r ? tg_result_kind(r) : TG_SV(""),
                            r ? tg_result_metric(r) : TG_SV("") };
    TG_BUF key = { 0 }, hex = { 0 };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        tg_buf_add(&key, parts[i]);
        tg_buf_putc(&key, '\0');
    }
    tg_buf_printf(&hex, "%016" PRIx64 "%016" PRIx64, tg_hash(tg_buf_sv(&key), 1),
                  tg_hash(tg_buf_sv(&key), 2));
    tg_doc_add_str(entry, "fingerprint", tg_buf_sv(&hex));
}

static void put_place(struct tg_doc *entry, tg_sv path, uint32_t line)
{
    struct tg_doc *location = tg_doc_add_object(entry, "location");
    (void)tg_sv_skip(&path, TG_SV("./")); /* GitLab finds no file by it */
    tg_doc_add_str(location, "path", path);
    tg_doc_add_i64(tg_doc_add_object(location, "lines"), "begin", line ? line : 1);
}

void tg_reporter_code_quality(struct tg_buf *out, const struct tg_verdict *v,
                              const struct tg_render *r)
{
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    TG_AUTO(tg_doc_drop) struct tg_doc *list = tg_doc_new_array();
    size_t n = 0;
    (void)r;
    for (size_t i = 0; i < v->n_results; i++)
        if (tg_result_shown(&v->results[i]) && roots[i] == i) {
            const struct tg_result *result = &v->results[i];
            struct tg_doc *result_entry = tg_doc_add_object(list, NULL);
            bool red = result->state == TG_STATE_FAIL || result->state == TG_STATE_INCONCLUSIVE;
            bool in_file = tg_result_in_file(result);
            TG_BUF text = { 0 };
            tg_result_put(&text, result);
            if (result->source.n) {
                tg_buf_puts(&text, "; ");
                tg_origin_put(&text, result, TG_ORIGIN_WHOLE);
            }
            tg_doc_add_str(result_entry, "description", tg_buf_sv(&text));
            tg_doc_add_str(result_entry, "check_name",
                           result->rule.n ? result->rule : TG_SV("tracegate"));
            put_fingerprint(result_entry, v, result);
            tg_doc_add_str(result_entry, "severity", red ? TG_SV("major") : TG_SV("minor"));
            if (result->source.n)
                put_place(result_entry, result->source, result->source_line);
            else
                put_place(result_entry,
                          in_file            ? tg_sv_of(result->file)
                          : v->policy_file.n ? v->policy_file
                                             : usual_policy,
                          in_file ? result->line : 0);
            n++;
        }
    if (!n && v->error.n) {
        struct tg_doc *entry = tg_doc_add_object(list, NULL);
        tg_doc_add_str(entry, "description", v->error);
        tg_doc_add_str(entry, "check_name", TG_SV("tracegate"));
        put_fingerprint(entry, v, NULL);
        tg_doc_add_str(entry, "severity", TG_SV("major"));
        put_place(entry, v->policy_file.n ? v->policy_file : usual_policy, 0);
    }
    tg_doc_write(list, TG_DOC_INDENTED, out);
}
