#ifndef TG_TRACE_READER_H
#define TG_TRACE_READER_H
/*
 * Events of a Kineto / Chrome trace, one pass, no document tree, bounded memory: a window (grown
 * only when one event does not fit), rolled back to the event's start when a read cuts it. Objects
 * with `traceEvents` anywhere, and bare arrays. Every byte is checked as JSON. The order of the
 * file is neither time nor cause: nothing is concluded here.
 *
 * Leniencies, counted in tg_trace_info and refused with `strict_json`: invalid escapes (unescaped
 * Windows paths), raw control bytes, bytes that are not UTF-8, NaN/Infinity, integers beyond 2^63.
 */
#include "core/base/err.h"
#include "core/base/limits.h"
#include "core/base/strmap.h"
#include "core/trace/kind.h"
#include "core/trace/source.h"

#define TG_NO_STREAM INT64_MIN /* the event's args carry no stream */
#define TG_NO_CORRELATION (-1)

/* One distinct (category, name). Ids are dense, in order of first appearance in the file. */
struct tg_name {
    tg_sv cat, name; /* unescaped; "" when the event has none */
    enum tg_kind kind;
};
struct tg_names {
    struct tg_name *v;
    size_t n;
};

/* pid and tid as the file spells them: numbers as text, strings unquoted; "" when absent. */
struct tg_thread {
    tg_sv pid, tid;
};

/* Views point into the reader's window or tables; valid until the next call. */
struct tg_event {
    char ph;                                 /* first byte of "ph"; 0: absent or empty */
    bool has_name, has_cat, has_ts, has_dur; /* present and not null */
    bool ts_float, dur_float;    /* the text had a fraction or an exponent (HTA rounds then) */
    uint32_t name;               /* id in tg_reader_names; TG_NO_ID without name and category */
    uint32_t thread;             /* id in tg_reader_threads */
    uint64_t index;              /* 0-based position in traceEvents, dropped events counted */
    tg_ns ts, dur;               /* 0 when absent or not finite */
    tg_sv ts_text, dur_text;     /* the numbers' text */
    int64_t stream, correlation; /* from args, numeric or numeric text */
    int64_t external_id;         /* "External id" / "external id"; -1 absent */
    int64_t device;              /* args.device; -1 absent */
    tg_sv args;                  /* raw text of the args object, braces included; n = 0: none */
};

/* The metadata around the events, and what was counted on the way. Complete after TG_NEXT_END. */
struct tg_kv {
    tg_sv key, value; /* value: unquoted text, or raw JSON for numbers, arrays, objects */
};
struct tg_trace_info {
    int64_t rank, world_size; /* distributedInfo; -1 absent */
    /* Top-level keys other than traceEvents, in file order; of a repeated key, the last. Values
     * above 256 KiB are kept as ""; after 1024 keys or 4 MiB the rest is dropped. */
    struct tg_kv *meta;
    size_t n_meta;
    uint64_t events, bytes; /* events met (all phases), bytes of decompressed text */
    uint64_t invalid_escapes, control_bytes, bad_utf8, non_finite, huge_integers, rounded_numbers;
    bool any_ts_float, any_ts_missing; /* over all events; decides HTA's rounding rule
                                          (docs/metrics.md) */
    bool truncated;                    /* only with allow_truncated */
};

struct tg_reader_opts {
    bool strict_json, allow_truncated;
    bool want_args; /* false: args are checked but not reported (aggregates): no args text, stream,
                       correlation, external id, device */
    /* "generic": the slow path that defines the meaning; "c", "sse2", "avx2", "neon": this fast
       path where the machine has it (the command line passes TRACEGATE_ISA on). NULL: the best. */
    const char *isa;
    /* 2 or more: compressed input is inflated beside its reader, and tg_trace_load and
       tg_totals_read read parts of large plain input side by side. Changes no result. */
    unsigned threads;
    size_t part;                        /* bytes of such a part; 0: default 4 MiB; tests use less */
    size_t window;                      /* 0: default 256 KiB; tests use 1 */
    const struct tg_limits *limits;     /* NULL: defaults */
    const struct tg_progress *progress; /* NULL: no progress */
};

enum tg_next { TG_NEXT, TG_NEXT_END, TG_NEXT_FAILED };

struct tg_reader;
/* Does not take ownership of `s`. Never fails: errors come from the first tg_reader_next. */
TG_MUST struct tg_reader *tg_reader_new(struct tg_source *s, const struct tg_reader_opts *o);
void tg_reader_free(struct tg_reader *r);
/* After the last event: frees what only reading needs. Names, threads and info remain. */
void tg_reader_done(struct tg_reader *r);
/* A file without any traceEvents (and not a bare array) fails with TG_ERR_TRACE "not a trace". */
TG_MUST enum tg_next tg_reader_next(struct tg_reader *r, struct tg_event *ev, struct tg_err *err);
const struct tg_names *tg_reader_names(const struct tg_reader *r);
const struct tg_thread *tg_reader_threads(const struct tg_reader *r, size_t *n);
const struct tg_trace_info *tg_reader_info(const struct tg_reader *r);
#endif
