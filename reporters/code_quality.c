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

/* `r` NULL: nothing was judged. */
static void put_entry(struct tg_doc *list, const struct tg_verdict *v, const struct tg_result *r,
                      tg_sv description, tg_sv path, uint32_t line)
{
    struct tg_doc *entry = tg_doc_add_object(list, NULL);
    bool red = !r || r->state == TG_STATE_FAIL || r->state == TG_STATE_INCONCLUSIVE;
    tg_doc_add_str(entry, "description", description);
    tg_doc_add_str(entry, "check_name", r && r->rule.n ? r->rule : TG_SV("tracegate"));
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
    tg_doc_add_str(entry, "severity", red ? TG_SV("major") : TG_SV("minor"));
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
    tg_sv policy = v->policy_file.n ? v->policy_file : usual_policy;
    size_t n = 0;
    (void)r;
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *result = &v->results[i];
        bool in_file = tg_result_in_file(result);
        TG_BUF text = { 0 };
        if (!tg_result_shown(result) || roots[i] != i)
            continue;
        n++;
        tg_result_put(&text, result);
        if (result->source.n) {
            tg_buf_puts(&text, "; ");
            tg_origin_put(&text, result, TG_ORIGIN_WHOLE);
            put_entry(list, v, result, tg_buf_sv(&text), result->source, result->source_line);
        } else {
            put_entry(list, v, result, tg_buf_sv(&text),
                      in_file ? tg_sv_of(result->at.file) : policy, in_file ? result->at.line : 0);
        }
    }
    if (!n && v->error.n)
        put_entry(list, v, NULL, v->error, policy, 0);
    tg_doc_write(list, TG_DOC_INDENTED, out);
}
