#ifndef TG_NUMBER_NUMBER_H
#define TG_NUMBER_NUMBER_H
/*
 * Numbers beside the traces: what a benchmark says of itself (requests per second, time to first
 * token). A run has one value per name. A file holds one run or several, and is known by its
 * content:
 *
 *   lines       `name value [unit]`; a repeated name begins the next run; # begins a comment
 *   serving     vLLM's and SGLang's benchmarks: a run is an object of numbers by name; a file has
 *               one, one per line, or a list of them
 *   list        [{name, unit, value} …], as github-action-benchmark takes it
 *   pytest      pytest-benchmark's JSON: the median of each benchmark's rounds, in seconds
 *   google      Google Benchmark's JSON: real_time, the median of the repetitions
 *
 * Rounds and repetitions share a process, as steps do: they sharpen a value and are not runs.
 * A value stays in the unit of its file. Private formats: internal.h.
 */
#include "core/base/arena.h"
#include "core/base/doc.h"
#include "core/base/err.h"

struct tg_number {
    tg_sv name, unit; /* unit "": none is known */
    double value;     /* finite */
};
struct tg_number_run {
    tg_sv id;                  /* 16 hex digits over the values and the file's name */
    const struct tg_number *v; /* by name; each name once */
    size_t n;
    tg_sv file; /* for messages; "": it comes from a summary */
};
struct tg_number_runs {
    struct tg_number_run *v; /* by id; each id once */
    size_t n;
};

enum { TG_MAX_NUMBERS = 10000 /* names of a run */, TG_MAX_NUMBER_RUNS = 1000 };

/* What a file begins with, decompressed: is it one of these formats rather than a trace? */
bool tg_number_looks_like(tg_sv head);
/*
 * Adds the runs of a file's text to `out`, in `a`; `file` is for messages, and its name without the
 * folder is part of the ids: equal runs in two files are two runs. TG_ERR_TRACE: what is wrong, and
 * where; TG_ERR_LIMIT.
 */
TG_MUST bool tg_number_read(struct tg_number_runs *out, tg_sv text, const char *file,
                            struct tg_arena *a, struct tg_err *err);
/* Set union by id; what is new is copied into `a`. */
void tg_number_unite(struct tg_number_runs *out, const struct tg_number_runs *more,
                     struct tg_arena *a);

/* The stored form: an array of runs. False: damaged. */
void tg_number_put(struct tg_doc *array, const struct tg_number_runs *runs);
TG_MUST bool tg_number_take(struct tg_number_runs *out, const struct tg_doc *array,
                            struct tg_arena *a);

/* By the words of benchmarks in whatever case: throughput, per second, accepted, hit rate … */
bool tg_number_more_is_better(tg_sv name, tg_sv unit);
#endif
