#ifndef TG_TRACE_TRACE_H
#define TG_TRACE_TRACE_H
/*
 * A whole trace in memory: the events with a duration, as columns. 32 bytes per span and 4 for its
 * correlation, in segments, so that growing copies nothing; what was read for the last time can go
 * before the rest (tg_trace_drop). X events and matched B/E pairs; everything else only counts.
 */
#include "core/trace/reader.h"

#define TG_NO_SPAN UINT32_MAX

struct tg_span {
    tg_ns start, dur;
    uint32_t name;  /* tg_trace.names */
    uint32_t track; /* tg_trace.tracks */
    uint32_t attr;  /* tg_trace.attrs; TG_NO_ID: no attributes, or not asked for */
    uint32_t index; /* position in traceEvents (HTA's row identity) */
};

/* Where a span ran: host thread, or device stream. */
struct tg_track {
    uint32_t thread; /* tg_trace.threads */
    int64_t stream;  /* TG_NO_STREAM: not in the args; 4294967295 stays as written */
    int64_t device;  /* args.device, else numeric pid, of device rows; -1 */
};

/*
 * Launch attributes of one event, as canonical text, one "key=value" a line, in this order of keys;
 * the values are the raw JSON of the file without blanks. Kernels: grid, block, registers, shared,
 * occupancy, and for collectives: collective, dtype, nelems_in, nelems_out, group_size, group.
 * Copies and sets: bytes, bandwidth. Operators: shapes, types. Runtime calls have no attributes.
 */

/* `[memory]` instants (profile_memory=True). */
struct tg_memory_event {
    tg_ns ts;
    int64_t device_type, device, bytes, total_allocated, total_reserved;
};

/* Damage of the trace itself, found after reading (tg_trace_load). Counted, never repaired. */
struct tg_integrity {
    uint64_t negative_durations, zero_kernels /* ts 0 dur 0 */, unmatched_begin, unmatched_end;
    uint64_t undated;     /* complete events (X) without a start or a duration: left out */
    uint64_t overlapping; /* device events that run past the start of the next on their stream */
    tg_ns overlapping_ns; /* by how much, summed */
    uint64_t longer_than_step; /* kernels longer than all steps and all of the device's work */
    /* Found by tg_steps_link, 0 until then: device events whose launch is missing (those without a
     * correlation have none to miss), launches without a kernel. */
    uint64_t unlinked, lost_kernels;
    /* Found by tg_steps_build, 0 until then: windows inside another one, and that begin in one. */
    uint64_t nested_windows, crossing_windows;
    uint64_t repeated; /* the same: events equal to another in name, place, start and duration */
};

/* What a metadata event calls a thread or its process; a long name is cut. */
struct tg_trace_label {
    uint32_t thread; /* tg_trace.threads */
    bool is_process;
    uint8_t n;
    char name[58];
};

#define TG_SPAN_SEGMENT ((size_t)1 << 16)
struct tg_segment {
    struct tg_span *spans; /* TG_SPAN_SEGMENT each */
    /* Of the spans, in one of the two: the second if a number needs it. Both NULL: dropped. */
    int32_t *correlations;
    int64_t *wide;
};

struct tg_trace {
    char *path;
    struct tg_reader *reader; /* owns names, threads, info */
    const struct tg_names *names;
    const struct tg_thread *threads;
    size_t n_threads;
    const struct tg_trace_info *info;
    struct tg_segment *segment;
    size_t n_spans, n_segments;
    size_t n_python; /* spans after the first n_spans: see tg_trace_set_python_apart */
    struct tg_track *tracks;
    size_t n_tracks;
    struct tg_strmap attrs;
    struct tg_memory_event *memory;
    size_t n_memory;
    struct tg_integrity integrity;
    double *hta_ts, *hta_dur; /* per span, us as Python reads the text; only with keep_hta */
    bool *ts_float;           /* NULL unless keep_hta */
    struct tg_trace_label *labels;
    size_t n_labels;
    bool has_no_launches; /* device work belongs to the step that holds its start (xla.h) */
    bool is_capped;       /* as many events as the exporter writes at most */
    int64_t *sequence;    /* per span: args' "Sequence number"; -1 absent. NULL unless wanted */
    uint64_t n_graded;    /* operators that have one: gradients were enabled when they ran */
};

static inline struct tg_span *tg_span_at(const struct tg_trace *t, size_t i)
{
    return &t->segment[i / TG_SPAN_SEGMENT].spans[i % TG_SPAN_SEGMENT];
}

/* TG_NO_CORRELATION: absent. */
static inline int64_t tg_correlation(const struct tg_trace *t, size_t i)
{
    const struct tg_segment *s = &t->segment[i / TG_SPAN_SEGMENT];
    return s->wide ? s->wide[i % TG_SPAN_SEGMENT] : s->correlations[i % TG_SPAN_SEGMENT];
}
void tg_correlation_set(struct tg_trace *t, size_t i, int64_t correlation);

static inline const struct tg_name *tg_span_name(const struct tg_trace *t, const struct tg_span *s)
{
    return &t->names->v[s->name];
}

/* Its launch attributes, one "key=value" a line; "" none. */
static inline tg_sv tg_span_attrs(const struct tg_trace *t, const struct tg_span *s)
{
    return s->attr == TG_NO_ID ? TG_SV("") : t->attrs.text[s->attr];
}

static inline enum tg_kind tg_span_kind(const struct tg_trace *t, const struct tg_span *s)
{
    return t->names->v[s->name].kind;
}

/* The stream HTA sees: args.stream when it is an integer, else -1. */
static inline int64_t tg_track_hta_stream(const struct tg_track *k)
{
    return k->stream == TG_NO_STREAM ? -1 : k->stream;
}

struct tg_load_opts {
    struct tg_reader_opts reader;
    bool keep_python; /* python_function spans (most rows of many traces) */
    bool keep_hta;    /* every row HTA keeps, in file order, with doubles; implies keep_python */
    bool want_attrs, want_memory;
    bool want_sequence; /* tg_trace.sequence: links of backward work to its forward operator */
    bool skip_check;    /* nobody asks for tg_trace.integrity */
    /* Above 0: Python functions are kept beside the rest, up to this many (a trace with exactly
     * this number may have had more). Damage in them is not counted, and B/E pairs are ignored. */
    size_t python_aside;
};

/* Reads everything. NULL with err set. `progress` may be NULL. */
TG_MUST struct tg_trace *tg_trace_load(struct tg_source *s, const struct tg_load_opts *o,
                                       const struct tg_progress *progress, struct tg_err *err);
void tg_trace_free(struct tg_trace *t);

/* Frees columns that nobody asks for any more: a bit each. Sequence numbers, correlations (after
 * that, the total order is without them), the n_python spans after the others; ALL: every column,
 * which only a caller that is done with them may ask for. */
enum tg_trace_column {
    TG_TRACE_SEQUENCE = 1,
    TG_TRACE_CORRELATIONS = 2,
    TG_TRACE_PYTHON = 4,
    TG_TRACE_ALL = 7
};
void tg_trace_drop(struct tg_trace *t, unsigned columns);

/* Gives the place of span `to` what span `from` has, sequence number and correlation too,
 * and the other way round. */
void tg_trace_swap(struct tg_trace *t, size_t from, size_t to);

/* HTA keeps a row iff dur and cat are present and cat is not "Trace"; ph does not matter. Ours: ph
 * X (or absent) with ts and dur, and matched B/E pairs, per thread in the total order. */

/* The total order of spans: start, longer first, category, name, pid, tid, correlation (byte order
 * of texts), then index. Writes 0..n-1 permuted into `order` (n_spans entries). */
void tg_trace_sort(const struct tg_trace *t, uint32_t *order);
/* The same for `n` of them, whose indices are in `list`. */
void tg_trace_sort_list(const struct tg_trace *t, uint32_t *list, size_t n);

/* Moves Python functions (loaded with keep_python or python_aside) after all other spans and out of
 * n_spans. Everything that does not ask for them sees the trace as if they had not been kept. */
void tg_trace_set_python_apart(struct tg_trace *t);

/* Dense ids of devices and of (device, stream), ascending: each once,
 * even if several tracks name it. */
struct tg_lanes {
    uint32_t *device, *stream; /* per track */
    size_t n_devices, n_streams;
};
void tg_lanes_init(struct tg_lanes *l, const struct tg_trace *t);
void tg_lanes_release(struct tg_lanes *l);
/* The `n` spans of `list` by the group of their track, each group in the order of the list; `end`
 * of each of the `n_groups` is set. To be freed. */
uint32_t *tg_trace_group(const struct tg_trace *t, const uint32_t *list, size_t n,
                         const uint32_t *group, size_t n_groups, size_t *end);

/* Totals per (category, name) without keeping spans: the reader's unit of work. */
struct tg_total {
    uint64_t count;
    tg_ns total;
};
struct tg_totals {
    struct tg_reader *reader; /* owns names and info */
    const struct tg_names *names;
    struct tg_total *v; /* per name id */
};
TG_MUST bool tg_totals_read(struct tg_totals *out, struct tg_source *s,
                            const struct tg_reader_opts *o, struct tg_err *err);
void tg_totals_release(struct tg_totals *t);
#endif
