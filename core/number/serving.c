/*
 * Results of servers' benchmarks: vLLM's `bench serve`, `bench latency` and `bench throughput`,
 * SGLang's bench_serving and bench_one_batch. An object whose members are the results, and what
 * was asked for beside them. Each object of a file is a run of the benchmark. Members of objects
 * inside are named "outer.inner"; lists (each request's times) are not read.
 *
 * Objects of one file that were asked for different things are not repeats: what differs is part
 * of the names, "median_ttft_ms/request_rate=4".
 */
#include <math.h>

#include "core/base/buf.h"
#include "core/base/decimal.h"
#include "core/number/internal.h"

enum { MAX_DEPTH = 4 };

/* What a benchmark may be asked for, that it writes beside its results. */
static const char *const asked[] = {
    "backend",     "model_id",         "dataset_name",       "batch_size",   "input_len",
    "output_len",  "random_input_len", "random_output_len",  "request_rate", "max_concurrency",
    "num_prompts", "num_requests",     "random_range_ratio", "burstiness",   "tensor_parallel_size",
    NULL
};
enum { ASKED = sizeof asked / sizeof *asked - 1 };

/* What such files begin with, before their results. */
static bool begins(tg_sv head)
{
    static const char *const keys[] = {
        "model_id",     "tokenizer_id", "endpoint_type",      "num_prompts",
        "dataset_name", "request_rate", "request_throughput", "requests_per_second",
        "avg_latency",  "elapsed_time", "output_throughput",  "prefill_latency",
        "run_name",     "num_requests", "median_ttft_ms",     "mean_ttft_ms",
    };
    if (tg_number_has_key(head, "traceEvents") || tg_number_has_key(head, "ph"))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tg_number_has_key(head, keys[i]))
            return tg_number_is_json(head);
    return false;
}

static bool fits(const struct tg_doc *d)
{
    return tg_doc_type(d) == TG_DOC_OBJECT;
}

/* By the end or a word of the name: these files give no units. */
static tg_sv unit_of(tg_sv name)
{
    static const struct {
        const char *part, *unit;
        bool at_end;
    } table[] = {
        { "_per_s", "tok/s", true },
        { "_ms", "ms", true },
        { "_us", "us", true },
        { "_s", "s", true },
        { "request_throughput", "req/s", false },
        { "requests_per_second", "req/s", false },
        { "goodput", "req/s", false },
        { "tokens_per_second", "tok/s", false },
        { "throughput", "tok/s", false },
        { "latency", "s", false },
        { "percentiles.", "s", false },
        { "elapsed_time", "s", true },
        { "duration", "s", true },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        tg_sv part = tg_sv_of(table[i].part);
        if (table[i].at_end ? tg_sv_ends(name, part) : tg_sv_has(name, part))
            return tg_sv_of(table[i].unit);
    }
    return TG_SV("");
}

/* What was asked for, as text: "4", "inf"; "" nothing, or something that has no short text. */
static tg_sv answer(const struct tg_doc *d, struct tg_buf *b)
{
    tg_buf_clear(b);
    if (tg_doc_type(d) == TG_DOC_NUMBER)
        tg_dec_put_double(b, tg_doc_num(d, 0));
    else
        tg_buf_add(b, tg_doc_str(d, TG_SV("")));
    return tg_buf_sv(b);
}

static bool differs(const struct tg_number_object *v, size_t n, const char *key)
{
    TG_BUF first = { 0 }, other = { 0 };
    tg_sv is = answer(tg_doc_get(v[0].doc, key), &first);
    for (size_t i = 1; i < n; i++)
        if (!tg_sv_eq(is, answer(tg_doc_get(v[i].doc, key), &other)))
            return true;
    return false;
}

struct run {
    struct tg_number_file *s;
    size_t run;
    tg_sv suffix; /* "/batch_size=16" */
};

static bool put_members(const struct run *r, const struct tg_doc *object, tg_sv outer, int depth)
{
    for (const struct tg_doc *d = tg_doc_first(object); d; d = tg_doc_next(d)) {
        tg_sv key = tg_doc_key(d);
        tg_sv name =
            outer.n ? TG_SV_PRINTF(r->s->a, "%.*s.%.*s", TG_SV_ARG(outer), TG_SV_ARG(key)) : key;
        if (tg_sv_index(asked, key) >= 0 || tg_sv_eq(key, TG_SV("server_info")))
            continue;
        if (tg_doc_type(d) == TG_DOC_OBJECT && depth < MAX_DEPTH) {
            if (!put_members(r, d, name, depth + 1))
                return false;
        } else if (tg_doc_type(d) == TG_DOC_NUMBER && isfinite(tg_doc_num(d, NAN))) {
            tg_sv whole = r->suffix.n ? TG_SV_PRINTF(r->s->a, "%.*s%.*s", TG_SV_ARG(name),
                                                     TG_SV_ARG(r->suffix))
                                      : name;
            if (!tg_number_file_put(r->s, r->run, whole, unit_of(name), tg_doc_num(d, 0)))
                return false;
        }
    }
    return true;
}

static tg_sv suffix_of(struct tg_number_file *s, const struct tg_doc *d, const bool *apart)
{
    TG_BUF b = { 0 }, value = { 0 };
    for (size_t i = 0; i < ASKED; i++)
        if (apart[i]) {
            tg_sv is = answer(tg_doc_get(d, asked[i]), &value);
            tg_buf_printf(&b, "/%s=%.*s", asked[i], TG_SV_ARG(is));
        }
    return tg_arena_sv(s->a, tg_buf_sv(&b));
}

static bool read_serving(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    bool apart[ASKED];
    for (size_t i = 0; i < ASKED; i++)
        apart[i] = differs(v, n, asked[i]);
    for (size_t i = 0; i < n; i++) {
        struct run r = { s, i, TG_SV("") };
        if (!fits(v[i].doc))
            return tg_number_file_refuse(s, v[i].line, "not an object of numbers by name");
        r.suffix = suffix_of(s, v[i].doc, apart);
        if (!put_members(&r, v[i].doc, TG_SV(""), 0))
            return false;
    }
    return true;
}

const struct tg_number_json tg_number_serving = { "a server benchmark's JSON (vLLM, SGLang)",
                                                  begins, fits, read_serving };
