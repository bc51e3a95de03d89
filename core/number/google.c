/*
 * Google Benchmark's JSON: `benchmarks`, each with a `name`, `real_time` and `time_unit`.
 * Repetitions share a process: their median is the value of the run, or the one that the library
 * computed, where it reports aggregates only. Its other aggregates (mean, stddev) and benchmarks
 * that were skipped are left out.
 */
#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/number/formats.h"

struct repeats {
    tg_sv unit;
    double *v;
    size_t n, cap;
};

static bool begins(tg_sv head)
{
    return tg_number_begins_with(head, "context") &&
           (tg_number_has_key(head, "date") || tg_number_has_key(head, "host_name") ||
            tg_number_has_key(head, "executable") || tg_number_has_key(head, "num_cpus"));
}

static bool fits(const struct tg_doc *d)
{
    return tg_doc_type(tg_doc_get(d, "context")) == TG_DOC_OBJECT;
}

static double median_of(struct repeats *r)
{
    TG_SORT(r->v, r->n, tg_by_real);
    return (r->v[(r->n - 1) / 2] + r->v[r->n / 2]) / 2;
}

static tg_sv text_of(const struct tg_doc *b, const char *key)
{
    return tg_doc_str(tg_doc_get(b, key), TG_SV(""));
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

/* The list of the name, which may be new. */
static struct repeats *list_of(struct repeats **all, size_t *cap, struct tg_strmap *names,
                               tg_sv name)
{
    size_t known = names->n;
    uint32_t id = tg_strmap_add(names, name);
    *all = tg_grow(*all, cap, names->n, sizeof **all);
    if (id == known)
        (*all)[id] = (struct repeats){ 0 };
    return &(*all)[id];
}

static bool put_benchmarks(struct tg_number_file *s, size_t run, const struct tg_doc *list,
                           struct repeats **all, struct tg_strmap *names)
{
    size_t cap = 0;
    for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b)) {
        tg_sv name = text_of(b, is_aggregate(b) ? "run_name" : "name");
        double time = tg_doc_num(tg_doc_get(b, "real_time"), NAN);
        if (is_left_out(b, list))
            continue;
        if (!name.n || !isfinite(time))
            return tg_number_file_refuse(s, 0, "a benchmark without a name or a real_time");
        struct repeats *r = list_of(all, &cap, names, name);
        r->unit = tg_doc_str(tg_doc_get(b, "time_unit"), TG_SV("ns"));
        *TG_PUSH(r->v, r->n, r->cap) = time;
    }
    for (size_t i = 0; i < names->n; i++)
        if (!tg_number_file_put(s, run, names->text[i], (*all)[i].unit, median_of(&(*all)[i])))
            return false;
    return true;
}

static bool read_one(struct tg_number_file *s, size_t run, const struct tg_number_object *of)
{
    const struct tg_doc *list = tg_doc_get(of->doc, "benchmarks");
    TG_AUTO(tg_strmap_release) struct tg_strmap names = { 0 };
    TG_FREE struct repeats *all = NULL;
    if (tg_doc_type(list) != TG_DOC_ARRAY)
        return tg_number_file_refuse(s, of->line, "no list 'benchmarks'");
    bool ok = put_benchmarks(s, run, list, &all, &names);
    for (size_t i = 0; i < names.n; i++)
        free(all[i].v);
    return ok;
}

static bool read_google(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    for (size_t run = 0; run < n; run++)
        if (!read_one(s, run, &v[run]))
            return false;
    return true;
}

const struct tg_number_json tg_number_google = { "Google Benchmark's JSON", begins, fits,
                                                 read_google };
