/*
 * Google Benchmark's JSON: `benchmarks`, each with a `name`, `real_time` and `time_unit`. Repetitions
 * share a process: their median is the value of the run. Its own aggregates (mean, median, stddev) and
 * benchmarks that were skipped are left out.
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

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return TG_CMP(*x, *y);
}

static double median_of(struct repeats *r)
{
    TG_SORT(r->v, r->n, by_value);
    return (r->v[(r->n - 1) / 2] + r->v[r->n / 2]) / 2;
}

static bool is_left_out(const struct tg_doc *b)
{
    return tg_sv_eq(tg_doc_str(tg_doc_get(b, "run_type"), TG_SV("")), TG_SV("aggregate")) ||
           tg_doc_bool(tg_doc_get(b, "error_occurred"), false) ||
           tg_doc_bool(tg_doc_get(b, "skipped"), false);
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

static bool put_benchmarks(struct tg_number_sheet *s, const struct tg_doc *list,
                           struct repeats **all, struct tg_strmap *names)
{
    size_t cap = 0;
    for (const struct tg_doc *b = tg_doc_first(list); b; b = tg_doc_next(b)) {
        tg_sv name = tg_doc_str(tg_doc_get(b, "name"), TG_SV(""));
        double time = tg_doc_num(tg_doc_get(b, "real_time"), NAN);
        struct repeats *r;
        if (is_left_out(b))
            continue;
        if (!name.n || !isfinite(time))
            return tg_sheet_refuse(s, 0, "a benchmark without a name or a real_time");
        r = list_of(all, &cap, names, name);
        r->unit = tg_doc_str(tg_doc_get(b, "time_unit"), TG_SV("ns"));
        *TG_PUSH(r->v, r->n, r->cap) = time;
    }
    for (size_t i = 0; i < names->n; i++)
        if (!tg_sheet_put(s, 0, names->text[i], (*all)[i].unit, median_of(&(*all)[i])))
            return false;
    return true;
}

static bool read_google(struct tg_number_sheet *s, tg_sv text)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_sheet_parse(s, text);
    const struct tg_doc *list = tg_doc_get(d, "benchmarks");
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    TG_FREE struct repeats *all = NULL;
    bool ok;
    tg_strmap_init(&names);
    if (!d)
        return false;
    if (tg_doc_type(list) != TG_DOC_ARRAY)
        return tg_sheet_refuse(s, 0, "no list 'benchmarks'");
    ok = put_benchmarks(s, list, &all, &names);
    for (size_t i = 0; i < names.n; i++)
        free(all[i].v);
    return ok;
}

const struct tg_number_format tg_number_google = { "Google Benchmark's JSON", begins, read_google };
