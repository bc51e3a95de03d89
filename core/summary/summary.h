#ifndef TG_SUMMARY_SUMMARY_H
#define TG_SUMMARY_SUMMARY_H
/*
 * The small form of traces: what a comparison needs, and nothing of the gigabytes. One shard per
 * (run, rank). Merging is set union on (run, rank): exact, associative, commutative, and the stored
 * bytes do not depend on the order. A stored baseline decides exactly as its traces would, because
 * `check` and `diff` always go trace -> summary -> comparison.
 *
 * Everything is per step, plus one bucket for the time outside every step. Nothing is normalised,
 * aliased or skipped here: that happens at comparison, so that old baselines follow new rules.
 */
#include "core/base/arena.h"
#include "core/base/doc.h"
#include "core/base/host.h"
#include "core/base/strmap.h"
#include "core/metric/metric.h"
#include "core/metric/stacks.h"
#include "core/number/number.h"
#include "core/steps/steps.h"
#include "core/summary/tree.h"

/* Version of the stored form. A file of another format is refused as a whole. */
#define TG_SUMMARY_FORMAT 1

/*
 * One launch attribute. Kinds and values (raw JSON of the file, without blanks):
 *   launch       lines "grid=[…]", "block=[…]", "registers=…", "shared=…", "occupancy=…"
 *   collective   lines "collective=…", "dtype=…", "nelems_in=…", … "group=…"
 *   bytes, shapes, types   the bare value
 *   which        one per row: which collectives its slots are (core/metric/collective.h), 16 hex
 *                digits each; not there if the trace does not number them
 * Lines are separated by LF; a key that the trace lacks has no line.
 */
/* In the order of their names, because rows sort by name; the numbers are stored. */
enum tg_attr_kind {
    TG_ATTR_KIND_BYTES,
    TG_ATTR_KIND_COLLECTIVE,
    TG_ATTR_KIND_LAUNCH,
    TG_ATTR_KIND_SHAPES,
    TG_ATTR_KIND_TYPES,
    TG_ATTR_KIND_WHICH,
    TG_ATTR_KINDS
};
tg_sv tg_attr_kind_name(enum tg_attr_kind k); /* "bytes", "collective", … */

struct tg_attr {
    enum tg_attr_kind kind;
    tg_sv value;
    uint64_t count; /* events in steps that have it */
};

/* What a row is. Ranks of one program have the same ones: they share them. */
struct tg_row_key {
    tg_sv name, cat; /* raw, as in the trace */
    tg_sv parent;    /* host: name of the enclosing operator or annotation (ProfilerStep#N is
                        "ProfilerStep"); device: of the operator around the launch; "" none */
    enum tg_kind kind;
    int64_t device, stream; /* -1 on the host; streams are kept, never added up here */
};

/* Everything that ran under one key. */
struct tg_row {
    const struct tg_row_key *key; /* never NULL */
    uint32_t *count;              /* [n_steps + 1]; the last is the bucket outside every step */
    tg_ns *total, *self;          /* [n_steps + 1], inclusive and self time */
    tg_ns *slots; /* values in start order, step after step (steps only, sum of count[0..n_steps)):
                     host: self time, device: duration; NULL: dropped, use step totals */
    uint32_t
        *slot_node; /* per slot, dropped or not: which node of the tree; NULL: the row has one node,
                            or there is no tree */
    uint8_t *beside;       /* device, per slot, dropped or not: how much of it work of other streams
                        overlaps (beside.h); NULL: none of any slot, or not known */
    struct tg_attr *attrs; /* by (kind, value) */
    uint32_t order;        /* kernel rows: rank of this row by first start among the shard's kernel
                              rows; else 0 */
    uint32_t n_attrs;
    bool attrs_capped; /* a kind has more than limits.max_attrs: the rest is not here */
};

/* Deviations from the JSON standard in the trace, by kind: how many places. */
struct tg_lenient {
    uint64_t invalid_escapes, control_bytes, bad_utf8, non_finite, huge_integers;
};

struct tg_shard {
    tg_sv run;      /* id of the run: --run ID, else 16 hex digits of the content's hash */
    int64_t rank;   /* -1: not known */
    tg_sv source;   /* file name (no directory), for messages only: not part of the stored bytes */
    tg_sv hash;     /* 16 hex digits over the canonical content; without run, source and slots */
    size_t arrival; /* position of arrival in this summary (path order of a side); not stored */
    /* Sorted by key: device, devices, device_type, world_size, cuda, rocm, torch, cpu, backend,
     * with_stack, record_shapes, profile_memory … and --meta; absent = unknown. */
    struct tg_kv *env;
    size_t n_env;
    struct tg_step *steps; /* start and end relative to the first step's start */
    size_t n_steps;
    bool marked;         /* false: no step markers, the whole trace is one step */
    tg_sv window;        /* how steps were cut: "auto", "whole", "annotation:GLOB" */
    tg_sv classes;       /* 16 hex digits of the class table used */
    uint32_t *gap_count; /* [n_steps]: host gaps of the step's window: before its first direct
                            child on the thread, between consecutive ones, after the last;
                            0 for unmarked traces */
    tg_ns *gaps;         /* their lengths in time order, step after step; their sum is the window's
                            self time */
    struct tg_row *rows; /* by kind, name, cat, parent, device, stream; then those by frame */
    size_t n_rows;
    /* Whose child each row is. Not part of the hash: a summary of 0.2.0 has none, and a recording
     * is the same one with it and without it. */
    struct tg_tree tree;
    bool beside_known; /* not part of the hash, either */
    /*
     * Totals by Python frame (core/metric/stacks.h), for rules of kind module and source; taken
     * when somebody asked for them: `frame_sorts` has a bit per enum tg_stack_sort. Each name
     * has two rows, without slots: device -1: calls, inclusive and self time on the host; device 0:
     * pieces, time and self time of the device work launched inside. They are in `rows`, after
     * n_rows others, in the same order among themselves.
     */
    size_t n_frames;
    unsigned frame_sorts;
    struct tg_metric_value *metrics; /* [TG_METRICS][n_steps], see core/metric/metric.h */
    struct tg_integrity integrity;
    uint64_t events, spans, unassigned, unlinked, device_spans, leniencies;
    struct tg_lenient lenient; /* their kinds */
    tg_ns device_busy;         /* tg_metrics_busy; 0: none, or stored by 0.2.0 */
    uint64_t graded;           /* 1 + tg_trace.n_graded; 0: stored by 0.2.0 */
    tg_ns classified_by_fallback,
        device_time; /* class table: how much fell to "compute" by default */
    bool truncated;
    struct tg_window_hint *hints; /* for unmarked traces */
    size_t n_hints;
    /* There was no room (fit.h) for more than step times: rows, gaps, counters, environment and
     * other metrics are missing. */
    bool steps_only;
    bool unnamed; /* of its rows only collectives were loaded (tg_summarize_opts.named_ranks) */
    bool ran;     /* and there were others of work: it is not empty */
};

/* Does it have nothing that ran, beside the marks around it? */
bool tg_shard_is_empty(const struct tg_shard *s);

/* How many calls of a row are in steps: as many as it has slots. */
uint64_t tg_row_calls(const struct tg_shard *s, const struct tg_row *r);
/* The value of a key of the environment; "" unknown. */
tg_sv tg_shard_env(const struct tg_shard *s, const char *key);

struct tg_summary {
    size_t arrivals;
    struct tg_shard **shards; /* by (run, rank) */
    size_t n;
    struct tg_number_runs
        numbers; /* of files of numbers: their runs need not be those of the traces */
    /* Owners of the memory: its own arena, those of the summaries that were taken over, and the
     * texts that compact shards share (NULL: nothing yet). */
    struct tg_arena *arena;
    struct tg_arena **taken;
    size_t n_taken, cap_taken;
    struct tg_strmap *pool;
};

void tg_summary_init(struct tg_summary *s);
void tg_summary_release(struct tg_summary *s);

/*
 * Damaged parts of an input, for callers that go on without them: a trace or a stored summary that
 * cannot be read, or one rank of a summary. Whole parts are used, and each damaged part is named.
 Zero state: none.
 */
struct tg_damage {
    struct tg_buf text; /* a line each: "FILE: what is wrong"; with "rank 3: " before it where the
                           file's name says the rank */
    size_t n;           /* lines */
};
/* Adds an error of the input's bytes and resets it. False, and nothing happens, if `d` is NULL or
 * the error is of another kind: out of memory, a file that is not there, a limit. */
TG_MUST bool tg_damage_add(struct tg_damage *d, struct tg_err *err);
/* A line in other words. */
void tg_damage_say(struct tg_damage *d, tg_sv line);
void tg_damage_append(struct tg_damage *d, const struct tg_damage *more);
void tg_damage_release(struct tg_damage *d);

/* A trace that was read, for callers that need its spans after the summary is made. */
struct tg_kept_trace {
    struct tg_trace *trace; /* Python functions set apart, with sequence numbers; NULL: none */
    struct tg_steps steps;
    bool any; /* wanted without Python functions as well */
};
#define TG_KEPT_SPANS ((size_t)1 << 22) /* a larger trace is not kept: 64 bytes per span and more */
void tg_kept_release(struct tg_kept_trace *k);

struct tg_summarize_opts {
    struct tg_load_opts load;
    struct tg_window_spec window;
    const struct tg_classes *classes; /* rows before the built-in class table; NULL: none */
    unsigned frame_sorts;             /* totals by Python frame: a bit per enum tg_stack_sort */
    /* Of a trace only calls and inclusive times by name: all that a table of one run looks at. No
     * parents, self times, attributes, metrics, gaps or tree. */
    bool totals_only;
    int64_t rank;             /* -1: from the trace, else the file name, else none */
    tg_sv run;                /* "": content hash */
    const struct tg_kv *meta; /* --meta k=v */
    size_t n_meta;
    int64_t named_ranks;      /* ranks from this number on are loaded with metrics, step times and
                            collectives alone: a fraction of their memory. 0: all are whole */
    struct tg_damage *damage; /* NULL: damage is an error; else what is whole is added, and the rest
                                 is named here */
    struct tg_kept_trace *keep; /* where the trace goes, if it has Python functions; NULL: nowhere.
                                   Of several files, tg_inputs_load keeps the first */
    /* A file of numbers is meant, even where its content does not tell it from a trace. */
    bool numbers;
    struct tg_host host; /* this machine: supplies `cpu` for traces that were recorded here since it
                            booted and do not name one; zero: off */
};
/*
 * Reads one trace (or, when the bytes are a stored summary or a file of numbers, that) and adds its
 * shards or numbers to `out`. A trace that is there already is TG_ERR_USAGE (the same file twice);
 * equal shards of a summary collapse.
 */
TG_MUST bool tg_summary_add(struct tg_summary *out, struct tg_source *s,
                            const struct tg_summarize_opts *o, const struct tg_progress *progress,
                            struct tg_err *err);
/* One shard of a trace in memory. */
TG_MUST bool tg_summary_of_trace(struct tg_summary *out, const struct tg_trace *t,
                                 const struct tg_steps *steps, const struct tg_summarize_opts *o,
                                 struct tg_err *err);
/* Adds to the environment of a summary's one shard, unless it says something itself. Before
 * tg_summary_set_rank, which hashes it. */
void tg_summary_note(struct tg_summary *one, const char *key, tg_sv value);
/* The rank of a summary's one shard; its hash, and its run if that has no name, follow. */
void tg_summary_set_rank(struct tg_summary *one, int64_t rank);
/* Set union; equal keys with equal content collapse, with other content: TG_ERR_SUMMARY. `one` is
 * copied, so it can be released. */
TG_MUST bool tg_summary_merge(struct tg_summary *out, const struct tg_summary *one,
                              struct tg_err *err);

/* The same, but `one` is empty afterwards: nothing is copied. Also after an error. */
TG_MUST bool tg_summary_take(struct tg_summary *out, struct tg_summary *one, struct tg_err *err);
/* Makes the shards of `one` small: texts, counts and attributes are those of `owner`, which has
 * each once and must outlive them. A second rank of a program takes a fifth of the memory then. */
void tg_summary_compact(struct tg_summary *one, struct tg_summary *owner);

/* The same for ranks from o->named_ranks on, of what was loaded whole. */
void tg_summary_drop_names(struct tg_summary *one, const struct tg_summarize_opts *o);

/* The hash that the shard would have without totals by Python frame, in `a`: one recording may be
 * stored without them and with them. */
tg_sv tg_shard_recording(const struct tg_shard *s, struct tg_arena *a);
/* Do they hold one recording, whatever rank, file and environment they are said to have? Two
 * recordings of a program never have the same times. A shard without names is never known to be. */
bool tg_shard_same_recording(const struct tg_shard *p, const struct tg_shard *q);

/* Can these two be compared or be on one side? Not with different windows or class tables
 * (TG_ERR_SUMMARY says what differs and what to do). */
TG_MUST bool tg_shard_comparable(const struct tg_shard *a, const struct tg_shard *b,
                                 struct tg_err *err);

/*
 * The stored form (core/summary/layout.h): one JSON document, canonical (equal content, equal
 * bytes), gzip'd by the caller or not. Every shard stays below limits.max_summary by itself, so
 * that grouping cannot matter: above it the slots of its smallest rows (by time in steps) are
 * dropped (row.slots NULL after parsing). `limits` NULL: defaults. Parsing adds to `out`; after an
 * error it may hold a part. Shards of one document share texts, counts and attributes: they are
 * read, never written to.
 */
TG_MUST bool tg_summary_write(const struct tg_summary *s, const struct tg_limits *limits,
                              struct tg_buf *out, struct tg_err *err);
/* The same packed quickly, with all slots or not at all: for a cache. */
TG_MUST bool tg_summary_write_quick(const struct tg_summary *s, struct tg_buf *out,
                                    struct tg_err *err);
TG_MUST bool tg_summary_parse(struct tg_summary *out, tg_sv text, const char *file,
                              struct tg_err *err);
bool tg_summary_looks_like(tg_sv first_bytes); /* of decompressed text */

/* A summary in its stored form, a tenth of the memory, while traces are read: a few percent of the
 * time that reading it took. Nothing if it has fewer than `least` slots, numbers or shards without
 * names, or does not fit. Afterwards its shards are elsewhere. */
struct tg_aside {
    struct tg_arena *a; /* NULL: nothing was set aside */
    struct tg_buf text;
    struct tg_shard *was; /* what is not stored: source and arrival */
};
void tg_summary_set_aside(struct tg_summary *s, size_t least, struct tg_aside *to);
TG_MUST bool tg_summary_bring_back(struct tg_summary *s, struct tg_aside *from, struct tg_err *err);

/*
 * A side ready to compare: shards as a matrix [run][rank]. Ranks in ascending order; per rank the
 * shards are ordered by run id and the k-th belongs to run k, so that no path order can matter. The
 * same content twice: TG_ERR_USAGE. A rank that some runs lack does not get a column:
 * tg_side_arrange refuses it (TG_ERR_USAGE), tg_side_arrange_some puts it into `partial`. A rank is
 * complete if it has all run ids of the side; if no rank has, if it has as many runs as any other.
 * Shards without a rank whose run ids were given (--run) are runs. Other shards without a rank and
 * neither RUNS nor RANKS: refused ("8 traces, no rank: ranks or repeats?"). RUNS is about shards
 * without a rank: where all have one, they are arranged by it.
 */
enum tg_arrange { TG_ARRANGE_AUTO, TG_ARRANGE_RUNS, TG_ARRANGE_RANKS };
struct tg_side {
    const struct tg_shard ***at; /* [n_runs][n_ranks] */
    size_t n_runs, n_ranks;
    int64_t *ranks;
    int64_t *partial; /* ascending: ranks that some runs have and others lack; not in `ranks` */
    size_t n_partial;
    const struct tg_summary *summary;
};
TG_MUST bool tg_side_arrange(struct tg_side *out, const struct tg_summary *s, enum tg_arrange how,
                             struct tg_arena *a, struct tg_err *err);
TG_MUST bool tg_side_arrange_some(struct tg_side *out, const struct tg_summary *s,
                                  enum tg_arrange how, struct tg_arena *a, struct tg_err *err);
/* Only the ranks with keep[index of rank]; new matrices in `a`. */
void tg_side_keep(struct tg_side *side, const bool *keep, struct tg_arena *a);
#endif
