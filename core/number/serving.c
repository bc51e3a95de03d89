/*
 * Results of servers' benchmarks: vLLM's `bench serve`, `bench latency` and `bench throughput`, SGLang's
 * bench_serving and bench_one_batch. An object whose members are the results, and what was asked for beside
 * them. A file has one object, or one per line: each is a run of the benchmark. Members of objects inside are named
 * "outer.inner"; lists (each request's times) are not read.
 */
#include <math.h>

#include "core/number/formats.h"

enum { MAX_DEPTH = 4 };

/* What such files begin with, before their results. */
static bool begins(tg_sv head)
{
    static const char *const keys[] = {
        "model_id",     "tokenizer_id", "endpoint_type",      "num_prompts",
        "dataset_name", "request_rate", "request_throughput", "requests_per_second",
        "avg_latency",  "elapsed_time", "output_throughput",  "prefill_latency",
        "run_name",     "num_requests", "median_ttft_ms",     "mean_ttft_ms",
    };
    if (!tg_number_is_object(head) || tg_number_has_key(head, "traceEvents"))
        return false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (tg_number_has_key(head, keys[i]))
            return true;
    return false;
}

/* By the end or a word of the name: these files give no units. */
static tg_sv unit_of(tg_sv name)
{
    static const struct {
        const char *part, *unit;
        bool at_end;
    } table[] = {
        { "_ms", "ms", true },
        { "_us", "us", true },
        { "_s", "s", true },
        { "request_throughput", "req/s", false },
        { "requests_per_second", "req/s", false },
        { "tokens_per_second", "tok/s", false },
        { "throughput", "tok/s", false },
        { "latency", "s", false },
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

static bool put_members(struct tg_number_sheet *s, size_t run, const struct tg_doc *object,
                        tg_sv outer, int depth)
{
    for (const struct tg_doc *d = tg_doc_first(object); d; d = tg_doc_next(d)) {
        tg_sv key = tg_doc_key(d);
        tg_sv name =
            outer.n ? TG_SV_PRINTF(s->a, "%.*s.%.*s", TG_SV_ARG(outer), TG_SV_ARG(key)) : key;
        if (tg_doc_type(d) == TG_DOC_OBJECT && depth < MAX_DEPTH) {
            if (!put_members(s, run, d, name, depth + 1))
                return false;
        } else if (tg_doc_type(d) == TG_DOC_NUMBER && isfinite(tg_doc_num(d, NAN))) {
            if (!tg_sheet_put(s, run, name, unit_of(name), tg_doc_num(d, 0)))
                return false;
        }
    }
    return true;
}

/* Is there an object on the first line, and more after it? */
static bool is_one_a_line(tg_sv text)
{
    tg_sv first = tg_sv_cut(&text, '\n');
    while (first.n && (first.p[first.n - 1] == '\r' || first.p[first.n - 1] == ' '))
        first.n--;
    while (text.n && (text.p[0] == '\n' || text.p[0] == '\r' || text.p[0] == ' '))
        text = tg_sv_from(text, 1);
    return text.n && tg_sv_ends(first, TG_SV("}")) && text.p[0] == '{';
}

static bool read_object(struct tg_number_sheet *s, size_t run, tg_sv text, size_t line)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_sheet_parse(s, text);
    if (!d) {
        s->err->line = line ? (uint32_t)line : s->err->line;
        return false;
    }
    if (tg_doc_type(d) != TG_DOC_OBJECT)
        return tg_sheet_refuse(s, line, "not an object of numbers by name");
    return put_members(s, run, d, TG_SV(""), 0);
}

static bool read_serving(struct tg_number_sheet *s, tg_sv text)
{
    size_t run = 0, line = 0;
    if (!is_one_a_line(text))
        return read_object(s, 0, text, 0);
    while (text.n) {
        tg_sv one = tg_sv_cut(&text, '\n');
        line++;
        while (one.n && (one.p[one.n - 1] == '\r' || one.p[one.n - 1] == ' '))
            one.n--;
        if (one.n && !read_object(s, run++, one, line))
            return false;
    }
    return true;
}

const struct tg_number_format tg_number_serving = { "a server benchmark's JSON (vLLM, SGLang)",
                                                    begins, read_serving };
