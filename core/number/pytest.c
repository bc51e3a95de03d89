/* pytest-benchmark's JSON: `benchmarks`, each with a `fullname` and `stats` in seconds. A file
 * is a run: its rounds share a process. */
#include <math.h>

#include "core/number/formats.h"

static bool begins(tg_sv head)
{
    return tg_number_begins_with(head, "machine_info") ||
           (tg_number_begins_with(head, "benchmarks") && !tg_number_has_key(head, "traceEvents"));
}

/* Google Benchmark's have no `stats`. */
static bool fits(const struct tg_doc *d)
{
    const struct tg_doc *list = tg_doc_get(d, "benchmarks");
    return tg_doc_get(d, "machine_info") != NULL || tg_doc_get(tg_doc_first(list), "stats") != NULL;
}

static bool put_benchmark(struct tg_number_file *s, size_t run, const struct tg_doc *b)
{
    tg_sv name =
        tg_doc_str(tg_doc_get(b, "fullname"), tg_doc_str(tg_doc_get(b, "name"), TG_SV("")));
    double median = tg_doc_num(tg_doc_get(tg_doc_get(b, "stats"), "median"), NAN);
    if (!name.n)
        return tg_number_file_refuse(s, 0, "a benchmark without a fullname");
    return !isfinite(median) ? tg_number_file_refuse(s, 0, "a benchmark without stats.median")
                             : tg_number_file_put(s, run, name, TG_SV("s"), median);
}

static bool read_pytest(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    for (size_t run = 0; run < n; run++) {
        const struct tg_doc *list = tg_doc_get(v[run].doc, "benchmarks");
        if (tg_doc_type(list) != TG_DOC_ARRAY)
            return tg_number_file_refuse(s, v[run].line, "no list 'benchmarks'");
        for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b))
            if (!put_benchmark(s, run, b))
                return false;
    }
    return true;
}

const struct tg_number_json tg_number_pytest = { "pytest-benchmark's JSON", begins, fits,
                                                 read_pytest };
