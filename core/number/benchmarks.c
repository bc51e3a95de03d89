/*
 * `benchmarks` of one process, which is a run: what they repeat sharpens a value.
 *
 * pytest-benchmark's JSON: each has a `fullname` and `stats` in seconds.
 *
 * Google Benchmark's JSON: each has a `name`, `real_time` and `time_unit`. The median of the
 * repetitions is the value of the run, or the one that the library computed, where it reports
 * aggregates only. Its other aggregates (mean, stddev) and benchmarks that were skipped are left
 * out.
 */
#include <math.h>

#include "core/base/sort.h"
#include "core/number/internal.h"

static tg_sv text_of(const struct tg_doc *b, const char *key)
{
    return tg_doc_str(tg_doc_get(b, key), TG_SV(""));
}

/* ---- pytest-benchmark ---- */

static bool pytest_begins(tg_sv head)
{
    return tg_number_begins_with(head, "machine_info") ||
           (tg_number_begins_with(head, "benchmarks") && !tg_number_has_key(head, "traceEvents"));
}

/* Google Benchmark's have no `stats`. */
static bool pytest_fits(const struct tg_doc *d)
{
    const struct tg_doc *list = tg_doc_get(d, "benchmarks");
    return tg_doc_get(d, "machine_info") != NULL || tg_doc_get(tg_doc_first(list), "stats") != NULL;
}

static bool read_pytest(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    for (size_t run = 0; run < n; run++) {
        const struct tg_doc *list = tg_doc_get(v[run].doc, "benchmarks");
        if (tg_doc_type(list) != TG_DOC_ARRAY)
            return tg_number_file_refuse(s, v[run].line, "no list 'benchmarks'");
        for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b)) {
            tg_sv name = tg_doc_str(tg_doc_get(b, "fullname"), text_of(b, "name"));
            double median = tg_doc_num(tg_doc_get(tg_doc_get(b, "stats"), "median"), NAN);
            if (!name.n)
                return tg_number_file_refuse(s, 0, "a benchmark without a fullname");
            if (!isfinite(median))
                return tg_number_file_refuse(s, 0, "a benchmark without stats.median");
            if (!tg_number_file_put(s, run, name, TG_SV("s"), median))
                return false;
        }
    }
    return true;
}

const struct tg_number_json tg_number_pytest = { "pytest-benchmark's JSON", pytest_begins,
                                                 pytest_fits, read_pytest };

/* ---- Google Benchmark ---- */

static bool google_begins(tg_sv head)
{
    return tg_number_begins_with(head, "context") &&
           (tg_number_has_key(head, "date") || tg_number_has_key(head, "host_name") ||
            tg_number_has_key(head, "executable") || tg_number_has_key(head, "num_cpus"));
}

static bool google_fits(const struct tg_doc *d)
{
    return tg_doc_type(tg_doc_get(d, "context")) == TG_DOC_OBJECT;
}

static bool is_aggregate(const struct tg_doc *b)
{
    return tg_sv_eq(text_of(b, "run_type"), TG_SV("aggregate"));
}

static bool has_repetitions(const struct tg_doc *list, tg_sv run_name)
{
    for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b))
        if (!is_aggregate(b) && tg_sv_eq(text_of(b, "run_name"), run_name))
            return true;
    return false;
}

static bool is_left_out(const struct tg_doc *b, const struct tg_doc *list)
{
    const struct tg_doc *skipped = tg_doc_get(b, "skipped"); /* in later versions a text says how */
    if (tg_doc_bool(tg_doc_get(b, "error_occurred"), false) || tg_doc_bool(skipped, false) ||
        tg_doc_type(skipped) == TG_DOC_STRING)
        return true;
    return is_aggregate(b) &&
           (!tg_sv_eq(text_of(b, "aggregate_name"), TG_SV("median")) || !text_of(b, "run_name").n ||
            has_repetitions(list, text_of(b, "run_name")));
}

struct repeat {
    tg_sv name, unit;
    double time;
    size_t order; /* in the file */
};

static int by_name_and_time(const void *pa, const void *pb)
{
    const struct repeat *a = pa, *b = pb;
    int c = tg_sv_cmp(a->name, b->name);
    return c ? c : TG_CMP(a->time, b->time);
}

static bool read_google(struct tg_number_file *s, const struct tg_number_object *of, size_t n_of)
{
    TG_FREE struct repeat *v = NULL;
    size_t cap = 0;
    for (size_t run = 0; run < n_of; run++) {
        const struct tg_doc *list = tg_doc_get(of[run].doc, "benchmarks");
        size_t n = 0;
        if (tg_doc_type(list) != TG_DOC_ARRAY)
            return tg_number_file_refuse(s, of[run].line, "no list 'benchmarks'");
        for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b)) {
            tg_sv name = text_of(b, is_aggregate(b) ? "run_name" : "name");
            tg_sv unit = tg_doc_str(tg_doc_get(b, "time_unit"), TG_SV("ns"));
            double time = tg_doc_num(tg_doc_get(b, "real_time"), NAN);
            if (is_left_out(b, list))
                continue;
            if (!name.n || !isfinite(time))
                return tg_number_file_refuse(s, 0, "a benchmark without a name or a real_time");
            struct repeat *last = TG_PUSH(v, n, cap);
            *last = (struct repeat){ name, unit, time, n };
        }
        TG_SORT(v, n, by_name_and_time);
        for (size_t i = 0, k; i < n; i += k) {
            const struct repeat *last = &v[i]; /* its unit counts */
            for (k = 1; i + k < n && tg_sv_eq(v[i + k].name, v[i].name); k++)
                last = v[i + k].order > last->order ? &v[i + k] : last;
            double median = (v[i + (k - 1) / 2].time + v[i + k / 2].time) / 2;
            if (!tg_number_file_put(s, run, v[i].name, last->unit, median))
                return false;
        }
    }
    return true;
}

const struct tg_number_json tg_number_google = { "Google Benchmark's JSON", google_begins,
                                                 google_fits, read_google };
