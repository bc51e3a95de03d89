#include "core/trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/trace/attrs.h"
#include "core/trace/kineto.h"
#include "core/trace/pairs.h"
#include "core/trace/reader_internal.h"
#include "core/trace/scan.h"
#include "core/trace/split.h"
#include "core/trace/xla.h"

enum { TRACK_WORDS = 3 }; /* of a key of track_ids */

/* How much the columns of a trace have room for. */
struct caps {
    size_t segments, memory, hta_ts, hta_dur, ts_float, sequence, labels;
};

struct loader {
    struct tg_trace *t;
    struct caps cap;
    const struct tg_load_opts *opts;
    struct tg_limits limits;
    struct tg_marks *marks;
    struct tg_attr_cache attrs;
    struct tg_keymap track_ids; /* thread, stream, device -> track */
    uint32_t last_track;        /* most events follow one of their own track */
    size_t tracks_cap, n_aside;
    struct tg_err *err;
    bool failed;
};

/* ---- tracks ---- */

static uint32_t track_id(struct loader *l, struct tg_track k)
{
    const uint64_t key[TRACK_WORDS] = { k.thread, (uint64_t)k.stream, (uint64_t)k.device };
    struct tg_trace *t = l->t;
    const struct tg_track *last = t->tracks ? &t->tracks[l->last_track] : NULL;
    if (last && last->thread == k.thread && last->stream == k.stream && last->device == k.device)
        return l->last_track;
    uint32_t id = l->last_track = tg_keymap_add(&l->track_ids, key);
    if (id == t->n_tracks)
        *TG_PUSH(t->tracks, t->n_tracks, l->tracks_cap) = k;
    return id;
}

/* Kineto shows waits for a stream on a line of their own: its thread is the stream + 1,000,000. */
#define SYNC_THREADS 1000000

static struct tg_track track_of(const struct loader *l, enum tg_kind kind, uint32_t thread,
                                int64_t stream, int64_t device)
{
    struct tg_track k = { thread, stream, -1 };
    size_t n;
    int64_t tid;
    if (!tg_kind_is_on_device(kind))
        return k;
    const struct tg_thread *of = &tg_reader_threads(l->t->reader, &n)[thread];
    if (device >= 0 || tg_sv_i64(of->pid, &device))
        k.device = device;
    if (kind == TG_KIND_DEVICE_SYNC && stream == TG_NO_STREAM && tg_sv_i64(of->tid, &tid) &&
        tid >= SYNC_THREADS && tid < 2 * SYNC_THREADS)
        k.stream = tid - SYNC_THREADS;
    return k;
}

/* ---- spans ---- */

static bool limit(struct loader *l, const char *what, size_t max)
{
    l->failed = true;
    return tg_err_set(l->err, TG_ERR_LIMIT, TG_AT_FILE(l->t->path), "more than %zu %s", max, what);
}

static bool add_span(struct loader *l, const struct tg_span *s, int64_t correlation)
{
    struct tg_trace *t = l->t;
    if (t->n_spans >= l->limits.max_spans)
        return limit(l, "events to keep", l->limits.max_spans);
    if (t->n_spans == t->n_segments * TG_SPAN_SEGMENT)
        *TG_PUSH(t->segment, t->n_segments, l->cap.segments) =
            (struct tg_segment){ tg_xrealloc(NULL, TG_SPAN_SEGMENT, sizeof(struct tg_span)),
                                 tg_xcalloc(TG_SPAN_SEGMENT, sizeof(int32_t)), NULL };
    tg_correlation_set(t, t->n_spans, correlation);
    *tg_span_at(t, t->n_spans++) = *s;
    return true;
}

static uint32_t attr_of(struct loader *l, enum tg_kind kind)
{
    if (!l->opts->want_attrs)
        return TG_NO_ID;
    return tg_attr_cache_id(&l->attrs, &l->t->attrs, kind, tg_reader_attrs(l->t->reader));
}

static double python_double(bool has, tg_sv text)
{
    double v;
    return has && tg_dec_double(text, &v) ? v : NAN;
}

static void add_hta(struct loader *l, double ts, double dur, bool ts_float)
{
    struct tg_trace *t = l->t;
    size_t i = t->n_spans - 1;
    t->hta_ts = tg_grow(t->hta_ts, &l->cap.hta_ts, i + 1, sizeof *t->hta_ts);
    t->hta_dur = tg_grow(t->hta_dur, &l->cap.hta_dur, i + 1, sizeof *t->hta_dur);
    t->ts_float = tg_grow(t->ts_float, &l->cap.ts_float, i + 1, sizeof *t->ts_float);
    t->hta_ts[i] = ts;
    t->hta_dur[i] = dur;
    t->ts_float[i] = ts_float;
}

/* args' "Sequence number": written by autograd, on operators only. Few arguments have an S. */
static int64_t sequence_of(const struct tg_event *ev)
{
    static const char key[] = "\"Sequence number\":";
    const char *at = ev->args.p, *end = ev->args.p + ev->args.n;
    int64_t n;
    do
        at = memchr(at + 1, 'S', at + 1 < end ? (size_t)(end - at - 1) : 0);
    while (at && ((size_t)(end - at) < sizeof key - 2 || memcmp(at - 1, key, sizeof key - 1) != 0));
    if (!at)
        return -1;
    for (at += sizeof key - 2; at < end && *at == ' '; at++)
        ;
    size_t digits = tg_sv_digits((tg_sv){ at, (size_t)(end - at) }, 0);
    return digits && tg_sv_i64((tg_sv){ at, digits }, &n) ? n : -1;
}

static void add_sequence(struct loader *l, int64_t n)
{
    struct tg_trace *t = l->t;
    t->sequence = tg_grow(t->sequence, &l->cap.sequence, t->n_spans, sizeof *t->sequence);
    t->sequence[t->n_spans - 1] = n;
}

static bool drops_python(struct loader *l)
{
    const struct tg_load_opts *o = l->opts;
    if (o->keep_python || (o->python_aside && l->n_aside < o->python_aside)) {
        l->n_aside++;
        return false;
    }
    return true;
}

static bool take_span(struct loader *l, const struct tg_event *ev, uint32_t name)
{
    enum tg_kind kind = l->t->names->v[name].kind;
    struct tg_span s = { .start = ev->ts,
                         .dur = ev->dur,
                         .name = name,
                         .attr = attr_of(l, kind),
                         .index = (uint32_t)ev->index };
    s.track = track_id(l, track_of(l, kind, ev->thread, ev->stream, ev->device));
    if (!add_span(l, &s, ev->correlation))
        return false;
    int64_t sequence = kind == TG_KIND_OP ? sequence_of(ev) : -1;
    l->t->n_graded += sequence >= 0;
    if (l->opts->want_sequence)
        add_sequence(l, sequence);
    if (l->opts->keep_hta)
        add_hta(l, python_double(ev->has_ts, ev->ts_text), python_double(ev->has_dur, ev->dur_text),
                ev->ts_float);
    return true;
}

static void take_pair(void *arg, const struct tg_mark *b, const struct tg_mark *e)
{
    struct loader *l = arg;
    uint32_t name = b->name != TG_NO_ID ? b->name : e->name;
    struct tg_span s = { .start = b->ts,
                         .dur = e->ts - b->ts,
                         .name = name,
                         .attr = b->attr != TG_NO_ID ? b->attr : e->attr,
                         .index = b->index };
    enum tg_kind kind;
    if (l->failed || (name == TG_NO_ID &&
                      !tg_reader_intern(l->t->reader, TG_SV(""), TG_SV(""), &s.name, l->err))) {
        l->failed = true;
        return;
    }
    kind = l->t->names->v[s.name].kind;
    if (kind == TG_KIND_PYTHON && !l->opts->keep_python)
        return;
    s.track =
        track_id(l, track_of(l, kind, b->thread, b->stream != TG_NO_STREAM ? b->stream : e->stream,
                             b->device >= 0 ? b->device : e->device));
    if (add_span(l, &s, b->correlation != TG_NO_CORRELATION ? b->correlation : e->correlation) &&
        l->opts->want_sequence)
        add_sequence(l, -1);
}

/* The numbers of a `[memory]` instant; absent numbers are -1, absent bytes 0. */
static void take_memory(struct loader *l, const struct tg_event *ev)
{
    static const struct {
        tg_sv key;
        size_t field;
        int64_t absent;
    } numbers[] = {
        { { "Device Type", 11 }, offsetof(struct tg_memory_event, device_type), -1 },
        { { "Device Id", 9 }, offsetof(struct tg_memory_event, device), -1 },
        { { "Bytes", 5 }, offsetof(struct tg_memory_event, bytes), 0 },
        { { "Total Allocated", 15 }, offsetof(struct tg_memory_event, total_allocated), -1 },
        { { "Total Reserved", 14 }, offsetof(struct tg_memory_event, total_reserved), -1 },
    };
    struct tg_memory_event *out = TG_PUSH(l->t->memory, l->t->n_memory, l->cap.memory);
    struct tg_scan s = tg_scan_object(ev->args);
    struct tg_value key, value;
    bool first = true;
    *out = (struct tg_memory_event){ ev->ts, -1, -1, 0, -1, -1 };
    while (ev->args.n && tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value))
        for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
            if (tg_kineto_key(&key, numbers[i].key))
                *(int64_t *)(void *)((char *)out + numbers[i].field) =
                    tg_kineto_int(&value, numbers[i].absent);
}

static bool take(void *arg, const struct tg_event *ev)
{
    struct loader *l = arg;
    uint32_t name = ev->name;
    enum tg_kind kind = name == TG_NO_ID ? TG_KIND_OTHER : l->t->names->v[name].kind;
    if (ev->index >= UINT32_MAX)
        return limit(l, "events", UINT32_MAX);
    tg_sv text = name == TG_NO_ID ? TG_SV("") : l->t->names->v[name].name;
    if (l->opts->want_memory && ev->has_ts && (ev->ph == 'i' || ev->ph == 'I') &&
        tg_sv_eq(text, TG_SV("[memory]")))
        take_memory(l, ev);
    if (ev->ph == 'M' &&
        (tg_sv_eq(text, TG_SV("process_name")) || tg_sv_eq(text, TG_SV("thread_name"))))
        tg_xla_label(TG_PUSH(l->t->labels, l->t->n_labels, l->cap.labels), ev,
                     tg_sv_eq(text, TG_SV("process_name")));
    if (l->opts->keep_hta)
        return !(ev->has_dur && ev->has_cat &&
                 !tg_sv_eq(l->t->names->v[ev->name].cat, TG_SV("Trace"))) ||
               take_span(l, ev, name);
    if (kind == TG_KIND_PYTHON && (tg_event_is_mark(ev) ? !l->opts->keep_python : drops_python(l)))
        return true;
    if (tg_event_is_mark(ev)) {
        tg_marks_add(l->marks, ev, attr_of(l, kind));
        return l->marks->n <= l->limits.max_spans ||
               limit(l, "events to keep", l->limits.max_spans);
    }
    if (ev->ph != 'X' && ev->ph != '\0')
        return true;
    if (!ev->has_ts || !ev->has_dur) {
        l->t->integrity.undated += ev->ph == 'X';
        return true;
    }
    if (name == TG_NO_ID && !tg_reader_intern(l->t->reader, TG_SV(""), TG_SV(""), &name, l->err))
        return false;
    return take_span(l, ev, name);
}

/* ---- from a reader ---- */

static bool read_events(void *whole, struct tg_err *err)
{
    struct loader *l = whole;
    l->err = err;
    return tg_reader_each(l->t->reader, take, l, err);
}

/* ---- in parts ---- */

/* What a worker has kept of one part, by its own ids, and what its tables knew by then. */
struct part {
    struct tg_trace columns; /* its tables are the worker's */
    struct caps cap;
    struct tg_marks marks;
    struct tg_track *tracks; /* new ones */
    tg_sv *attrs;            /* new ones */
    size_t n_tracks, tracks_cap, n_attrs, attrs_cap;
};

/* A loader whose columns are those of the current part. */
struct worker {
    struct loader l;
    struct tg_trace t;
    size_t told_tracks, told_attrs;
    /* For the whole: its ids for the worker's tracks and attributes. */
    uint32_t *track, *attr;
    size_t n_track, n_attr, track_cap, attr_cap;
};

static void part_release(void *part)
{
    struct part *p = part;
    tg_trace_drop(&p->columns, TG_TRACE_ALL);
    tg_marks_release(&p->marks);
    free(p->tracks);
    free(p->attrs);
}

static void worker_init(void *worker, const void *whole, struct tg_reader *r)
{
    const struct loader *all = whole;
    struct worker *w = worker;
    w->t = (struct tg_trace){ .path = all->t->path, .reader = r, .names = tg_reader_names(r) };
    w->l = (struct loader){
        .t = &w->t, .opts = all->opts, .limits = all->limits, .track_ids.words = TRACK_WORDS
    };
    tg_attr_cache_init(&w->l.attrs);
}

static void worker_release(void *worker)
{
    struct worker *w = worker;
    tg_strmap_release(&w->t.attrs);
    tg_attr_cache_release(&w->l.attrs);
    free(w->t.tracks);
    tg_keymap_release(&w->l.track_ids);
    free(w->track);
    free(w->attr);
}

static bool read_part(void *worker, void *part, struct tg_err *err)
{
    struct worker *w = worker;
    struct part *p = part;
    /* The loader gets the part's columns, emptied: memory is reused. */
    const struct tg_trace tables = w->t;
    w->t = p->columns;
    w->t.path = tables.path;
    w->t.reader = tables.reader;
    w->t.names = tables.names;
    w->t.tracks = tables.tracks;
    w->t.n_tracks = tables.n_tracks;
    w->t.attrs = tables.attrs;
    w->t.n_spans = w->t.n_memory = w->t.n_labels = 0;
    w->t.integrity.undated = w->t.n_graded = 0;
    w->l.cap = p->cap;
    w->l.marks = &p->marks;
    p->marks.n = 0;
    bool ok = read_events(&w->l, err);
    p->columns = w->t;
    p->cap = w->l.cap;
    /* What its tables have learnt from the part. */
    p->n_tracks = p->n_attrs = 0;
    while (w->told_tracks < w->t.n_tracks)
        *TG_PUSH(p->tracks, p->n_tracks, p->tracks_cap) = w->t.tracks[w->told_tracks++];
    while (w->told_attrs < w->t.attrs.n)
        *TG_PUSH(p->attrs, p->n_attrs, p->attrs_cap) = w->t.attrs.text[w->told_attrs++];
    return ok;
}

static bool fits(const void *whole, const void *part, const struct tg_trace_info *info)
{
    const struct loader *l = whole;
    const struct part *p = part;
    size_t spans = l->t->n_spans + p->columns.n_spans, marks = l->marks->n + p->marks.n;
    return spans <= l->limits.max_spans && marks <= l->limits.max_spans &&
           tg_reader_info(l->t->reader)->events + info->events < UINT32_MAX;
}

static void join(void *whole, void *worker, void *part, const struct tg_split_ids *ids)
{
    struct loader *l = whole;
    struct worker *w = worker;
    const struct part *p = part;
    const struct tg_trace *from = &p->columns;
    struct tg_trace *t = l->t;
    t->integrity.undated += from->integrity.undated;
    t->n_graded += from->n_graded;
    /* In file order, like names. */
    for (size_t i = 0; i < p->n_tracks; i++) {
        struct tg_track k = p->tracks[i];
        k.thread = ids->thread[k.thread];
        *TG_PUSH(w->track, w->n_track, w->track_cap) = track_id(l, k);
    }
    for (size_t i = 0; i < p->n_attrs; i++)
        *TG_PUSH(w->attr, w->n_attr, w->attr_cap) = tg_strmap_add(&t->attrs, p->attrs[i]);
    for (size_t i = 0; i < from->n_spans; i++) {
        struct tg_span s = *tg_span_at(from, i);
        s.name = ids->name[s.name];
        if (t->names->v[s.name].kind == TG_KIND_PYTHON && !l->opts->keep_hta && drops_python(l))
            continue;
        s.track = w->track[s.track];
        if (s.attr != TG_NO_ID)
            s.attr = w->attr[s.attr];
        s.index += (uint32_t)ids->first_index;
        /* `fits` has checked that there is room */
        (void)add_span(l, &s, tg_correlation(from, i));
        if (l->opts->want_sequence)
            add_sequence(l, from->sequence[i]);
        if (l->opts->keep_hta)
            add_hta(l, from->hta_ts[i], from->hta_dur[i], from->ts_float[i]);
    }
    tg_marks_join(l->marks, &p->marks, ids->name, ids->thread, w->attr, ids->first_index);
    for (size_t i = 0; i < from->n_labels; i++) {
        struct tg_trace_label *label = TG_PUSH(t->labels, t->n_labels, l->cap.labels);
        *label = from->labels[i];
        label->thread = ids->thread[label->thread];
    }
    for (size_t i = 0; i < from->n_memory; i++)
        *TG_PUSH(t->memory, t->n_memory, l->cap.memory) = from->memory[i];
}

static const struct tg_split_ops split_ops = { .here = read_events,
                                               .fits = fits,
                                               .join = join,
                                               .part_size = sizeof(struct part),
                                               .part_release = part_release,
                                               .worker_size = sizeof(struct worker),
                                               .worker_init = worker_init,
                                               .worker_release = worker_release,
                                               .read = read_part };

/* ---- what looks damaged ---- */

/* The start itself if a damaged duration would leave the range. */
static tg_ns end_of(const struct tg_span *s)
{
    tg_ns end;
    return __builtin_add_overflow(s->start, s->dur, &end) ? s->start : end;
}

static int by_time(const void *pa, const void *pb, void *arg)
{
    const struct tg_trace *t = arg;
    const struct tg_span *a = tg_span_at(t, *(const uint32_t *)pa);
    const struct tg_span *b = tg_span_at(t, *(const uint32_t *)pb);
    int c = TG_CMP(a->start, b->start);
    return c ? c : TG_CMP(end_of(a), end_of(b));
}

/* Fills tg_trace.integrity, all but the counts of marks. `python_aside`: Python functions are not
 * checked. */
static void check(struct tg_trace *t, bool python_aside)
{
    struct tg_integrity *out = &t->integrity;
    TG_FREE uint32_t *work = NULL; /* on devices */
    size_t n = 0, cap = 0, steps = 0;
    tg_ns first = INT64_MAX, last = INT64_MIN, longest;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, s);
        bool step = kind == TG_KIND_STEP;
        out->negative_durations += s->dur < 0 && !(python_aside && kind == TG_KIND_PYTHON);
        if (!step && !tg_kind_is_device(kind))
            continue;
        tg_ns end = step ? end_of(s) : s->start;
        first = s->start < first ? s->start : first;
        last = end > last ? end : last;
        steps += step;
        if (!step)
            *TG_PUSH(work, n, cap) = (uint32_t)i;
    }
    /*
     * The longest that a kernel may take: from the first start of a step or of the device to the
     * last end of a step or start of the device. A host that runs ahead has short steps, however
     * long the device takes. In one step the last kernel may take any time.
     */
    if (steps < 2 || __builtin_sub_overflow(last, first, &longest))
        longest = INT64_MAX;
    for (size_t i = 0; i < n; i++) {
        const struct tg_span *s = tg_span_at(t, work[i]);
        bool kernel = tg_span_kind(t, s) == TG_KIND_KERNEL;
        out->zero_kernels += kernel && s->start == 0 && s->dur == 0;
        out->longer_than_step += kernel && s->dur > longest;
    }
    /*
     * Work on one stream runs one after the other: a span that runs past the next start is
     * suspicious.
     */
    struct tg_lanes lanes;
    tg_lanes_init(&lanes, t);
    TG_FREE size_t *end = tg_xcalloc(lanes.n_streams + 1, sizeof *end);
    TG_FREE uint32_t *v = tg_trace_group(t, work, n, lanes.stream, lanes.n_streams, end);
    for (size_t k = 0, i = 0; k < lanes.n_streams; i = end[k++]) {
        tg_sort_runs(v + i, end[k] - i, sizeof *v, by_time, t);
        for (; i + 1 < end[k]; i++) {
            const struct tg_span *a = tg_span_at(t, v[i]), *b = tg_span_at(t, v[i + 1]);
            tg_ns over, sum;
            /* Times at the two ends of the range are far apart, whatever their difference would
             * be. */
            if (t->tracks[a->track].stream == TG_NO_STREAM ||
                __builtin_sub_overflow(end_of(a), b->start, &over) || over <= 0)
                continue;
            out->overlapping++;
            if (!__builtin_add_overflow(out->overlapping_ns, over, &sum))
                out->overlapping_ns = sum;
        }
    }
    tg_lanes_release(&lanes);
}

/* ---- the whole ---- */

/* PyTorch's profiler without Kineto writes no categories: nothing says what its events are. */
static bool has_categories(const struct tg_trace *t)
{
    for (size_t i = 0; i < t->names->n; i++)
        if (t->names->v[i].cat.n)
            return true;
    return t->n_spans == 0;
}

static bool load(struct loader *l, struct tg_source *s)
{
    struct tg_pair_sink sink = { .pair = take_pair, .arg = l };
    const struct tg_reader_opts *o = &l->opts->reader;
    struct tg_err *err = l->err;
    struct tg_trace *t = l->t;
    if (!(tg_split_can(s, o) ? tg_split_read(t->reader, s, o, &split_ops, l, err)
                             : read_events(l, err)))
        return false;
    tg_marks_match(l->marks, t->names, &sink);
    if (l->failed || !tg_reader_saw_events(t->reader, err))
        return false;
    t->integrity.unmatched_begin = sink.unmatched_begin;
    t->integrity.unmatched_end = sink.unmatched_end;
    tg_reader_done(t->reader);
    t->threads = tg_reader_threads(t->reader, &t->n_threads);
    t->info = tg_reader_info(t->reader);
    bool xla = !l->opts->keep_hta && tg_xla_is(t);
    /* PyTorch writes X events only. */
    if (!l->opts->keep_hta && !l->marks->n && !has_categories(t) && !xla) {
        tg_err_set(err, TG_ERR_TRACE, TG_AT_FILE(t->path),
                   "no event has a category, so operators and kernels cannot be told apart");
        return tg_err_hint(err, "PyTorch without Kineto writes such traces "
                                "(`torch.profiler.kineto_available()` is False there), and so "
                                "does the old format of torch.autograd.profiler: record with "
                                "torch.profiler in a build that has Kineto, or write the trace "
                                "by tracegate's examples/kineto_layout.py.");
    }
    if (xla && !tg_xla_apply(t, l->opts->keep_python || l->opts->python_aside, err))
        return false;
    if (!l->opts->skip_check)
        check(t, l->opts->python_aside > 0);
    return true;
}

struct tg_trace *tg_trace_load(struct tg_source *s, const struct tg_load_opts *o,
                               const struct tg_progress *progress, struct tg_err *err)
{
    static const struct tg_load_opts none = { 0 };
    struct tg_trace *t = tg_xmalloc(sizeof *t);
    struct tg_load_opts opts = o ? *o : none;
    struct tg_marks marks = { 0 };
    struct loader l = {
        .t = t, .marks = &marks, .opts = &opts, .err = err, .track_ids.words = TRACK_WORDS
    };
    size_t n = strlen(tg_source_name(s)) + 1;
    opts.reader.want_args = true;
    opts.reader.progress = progress;
    *t = (struct tg_trace){ .path = tg_xmalloc(n) };
    memcpy(t->path, tg_source_name(s), n);
    tg_attr_cache_init(&l.attrs);
    l.limits = opts.reader.limits ? *opts.reader.limits : TG_LIMITS_DEFAULT;
    t->reader = tg_reader_new(s, &opts.reader);
    t->names = tg_reader_names(t->reader);
    bool ok = load(&l, s);
    tg_marks_release(&marks);
    tg_attr_cache_release(&l.attrs);
    tg_keymap_release(&l.track_ids);
    if (ok)
        return t;
    tg_trace_free(t);
    return NULL;
}
