/* A list of numbers as github-action-benchmark takes them: `[{"name": …, "unit": …, "value": …},
 * …]`. A name that comes again begins the next run, as in lines. */
#include <math.h>

#include "core/base/strmap.h"
#include "core/number/formats.h"

static bool begins(tg_sv head)
{
    return tg_sv_starts(tg_sv_past(head, " \t\r\n"), TG_SV("[")) &&
           tg_number_has_key(head, "name") && tg_number_has_key(head, "value") &&
           !tg_number_has_key(head, "ph");
}

static bool fits(const struct tg_doc *d)
{
    return tg_doc_type(d) == TG_DOC_ARRAY &&
           tg_doc_str(tg_doc_get(tg_doc_first(d), "name"), TG_SV("")).n &&
           tg_doc_get(tg_doc_first(d), "value") != NULL;
}

static bool read_list(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    TG_AUTO(tg_number_times_release) struct tg_number_times times;
    bool ok = true;
    tg_number_times_init(&times);
    for (size_t i = 0; ok && i < n; i++)
        for (const struct tg_doc *d = tg_doc_first(v[i].doc); ok && d; d = tg_doc_next(d)) {
            tg_sv name = tg_doc_str(tg_doc_get(d, "name"), TG_SV(""));
            double value = tg_doc_num(tg_doc_get(d, "value"), NAN);
            ok = name.n && isfinite(value)
                     ? tg_number_file_put(s, tg_number_times_next(&times, name), name,
                                          tg_doc_str(tg_doc_get(d, "unit"), TG_SV("")), value)
                     : tg_number_file_refuse(s, v[i].line, "an element without a name or a value");
        }
    return ok;
}

const struct tg_number_json tg_number_list = { "a list of {name, value, unit}", begins, fits,
                                               read_list };
