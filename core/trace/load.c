#include "core/trace/trace.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/keymap.h"
#include "core/trace/attr_cache.h"
#include "core/trace/check.h"
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

static int64_t stream_of(const struct tg_track *k, tg_sv tid)
{
    int64_t n;
    return k->stream == TG_NO_STREAM && tg_sv_i64(tid, &n) && n >= SYNC_THREADS &&
                   n - SYNC_THREADS < SYNC_THREADS
               ? n - SYNC_THREADS
               : k->stream;
}

static struct tg_track track_of(const struct loader *l, enum tg_kind kind, uint32_t thread,
                                int64_t stream, int64_t device)
{
    struct tg_track k = { thread, stream, -1 };
    size_t n;
    if (!tg_kind_is_on_device(kind))
        return k;
    k.device = device;
    if (device < 0 && !tg_sv_i64(tg_reader_threads(l->t->reader, &n)[thread].pid, &k.device))
        k.device = -1;
    if (kind == TG_KIND_DEVICE_SYNC)
        k.stream = stream_of(&k, tg_reader_threads(l->t->reader, &n)[thread].tid);
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
static void read_memory(struct tg_memory_event *out, tg_sv args)
{
    struct tg_scan s = tg_scan_object(args);
    struct tg_value key, value;
    bool first = true;
    *out = (struct tg_memory_event){ out->ts, -1, -1, 0, -1, -1 };
    if (!args.n)
        return;
    while (tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value)) {
        if (tg_kineto_key(&key, TG_SV("Device Type")))
            out->device_type = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Device Id")))
            out->device = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Bytes")))
            out->bytes = tg_kineto_int(&value, 0);
        else if (tg_kineto_key(&key, TG_SV("Total Allocated")))
            out->total_allocated = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("Total Reserved")))
            out->total_reserved = tg_kineto_int(&value, -1);
    }
}

static void take_label(struct loader *l, const struct tg_event *ev, uint32_t name)
{
    struct tg_trace *t = l->t;
    tg_sv text = t->names->v[name].name;
    bool process = tg_sv_eq(text, TG_SV("process_name"));
    if (!process && !tg_sv_eq(text, TG_SV("thread_name")))
        return;
    tg_xla_label(TG_PUSH(t->labels, t->n_labels, l->cap.labels), ev, process);
}

static bool take(void *arg, const struct tg_event *ev)
{
    struct loader *l = arg;
    uint32_t name = ev->name;
    enum tg_kind kind = name == TG_NO_ID ? TG_KIND_OTHER : l->t->names->v[name].kind;
    if (ev->index >= UINT32_MAX)
        return limit(l, "events", UINT32_MAX);
    if (l->opts->want_memory && ev->has_ts && name != TG_NO_ID &&
        (ev->ph == 'i' || ev->ph == 'I') &&
        tg_sv_eq(l->t->names->v[name].name, TG_SV("[memory]"))) {
        struct tg_trace *t = l->t;
        struct tg_memory_event *e = TG_PUSH(t->memory, t->n_memory, l->cap.memory);
        e->ts = ev->ts;
        read_memory(e, ev->args);
    }
    if (ev->ph == 'M' && name != TG_NO_ID)
        take_label(l, ev, name);
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

static void *part_new(void)
{
    return tg_xcalloc(1, sizeof(struct part));
}

static void part_free(void *part)
{
    struct part *p = part;
    tg_trace_drop(&p->columns, TG_TRACE_ALL);
    tg_marks_release(&p->marks);
    free(p->tracks);
    free(p->attrs);
    free(p);
}

static void *worker_new(const void *whole, struct tg_reader *r)
{
    const struct loader *all = whole;
    struct worker *w = tg_xmalloc(sizeof *w);
    *w = (struct worker){ .t = { .path = all->t->path, .reader = r, .names = tg_reader_names(r) } };
    w->l = (struct loader){
        .t = &w->t, .opts = all->opts, .limits = all->limits, .track_ids.words = TRACK_WORDS
    };
    tg_attr_cache_init(&w->l.attrs);
    return w;
}

static void worker_free(void *worker)
{
    struct worker *w = worker;
    tg_strmap_release(&w->t.attrs);
    tg_attr_cache_release(&w->l.attrs);
    free(w->t.tracks);
    tg_keymap_release(&w->l.track_ids);
    free(w->track);
    free(w->attr);
    free(w);
}

/* Gives the worker's loader the part's columns, emptied: memory is reused. */
static void lend_columns(struct worker *w, struct part *p)
{
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
}

static void tell_new(struct worker *w, struct part *p)
{
    p->n_tracks = w->t.n_tracks - w->told_tracks;
    p->n_attrs = w->t.attrs.n - w->told_attrs;
    p->tracks = tg_grow(p->tracks, &p->tracks_cap, p->n_tracks, sizeof *p->tracks);
    p->attrs = tg_grow(p->attrs, &p->attrs_cap, p->n_attrs, sizeof *p->attrs);
    for (size_t i = 0; i < p->n_tracks; i++)
        p->tracks[i] = w->t.tracks[w->told_tracks++];
    for (size_t i = 0; i < p->n_attrs; i++)
        p->attrs[i] = w->t.attrs.text[w->told_attrs++];
}

static bool read_part(void *worker, void *part, struct tg_err *err)
{
    struct worker *w = worker;
    struct part *p = part;
    lend_columns(w, part);
    bool ok = read_events(&w->l, err);
    p->columns = w->t;
    p->cap = w->l.cap;
    tell_new(w, part);
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

/* In file order, like names. */
static void join_tables(struct loader *l, struct worker *w, const struct part *p,
                        const struct tg_split_ids *ids)
{
    w->track = tg_grow(w->track, &w->track_cap, w->n_track + p->n_tracks, sizeof *w->track);
    w->attr = tg_grow(w->attr, &w->attr_cap, w->n_attr + p->n_attrs, sizeof *w->attr);
    for (size_t i = 0; i < p->n_tracks; i++) {
        struct tg_track k = p->tracks[i];
        k.thread = ids->thread[k.thread];
        w->track[w->n_track++] = track_id(l, k);
    }
    for (size_t i = 0; i < p->n_attrs; i++)
        w->attr[w->n_attr++] = tg_strmap_add(&l->t->attrs, p->attrs[i]);
}

static void join_spans(struct loader *l, const struct worker *w, const struct tg_trace *from,
                       const struct tg_split_ids *ids)
{
    l->t->n_graded += from->n_graded;
    for (size_t i = 0; i < from->n_spans; i++) {
        struct tg_span s = *tg_span_at(from, i);
        s.name = ids->name[s.name];
        if (l->t->names->v[s.name].kind == TG_KIND_PYTHON && !l->opts->keep_hta && drops_python(l))
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
}

static void join_labels(struct loader *l, const struct tg_trace *from,
                        const struct tg_split_ids *ids)
{
    struct tg_trace *t = l->t;
    t->labels = tg_grow(t->labels, &l->cap.labels, t->n_labels + from->n_labels, sizeof *t->labels);
    for (size_t i = 0; i < from->n_labels; i++) {
        t->labels[t->n_labels] = from->labels[i];
        t->labels[t->n_labels].thread = ids->thread[from->labels[i].thread];
        t->n_labels++;
    }
}

static void join(void *whole, void *worker, void *part, const struct tg_split_ids *ids)
{
    struct loader *l = whole;
    struct worker *w = worker;
    const struct part *p = part;
    struct tg_trace *t = l->t;
    t->integrity.undated += p->columns.integrity.undated;
    join_tables(l, w, p, ids);
    join_spans(l, w, &p->columns, ids);
    tg_marks_join(l->marks, &p->marks, ids->name, ids->thread, w->attr, ids->first_index);
    if (p->columns.n_labels)
        join_labels(l, &p->columns, ids);
    if (!p->columns.n_memory)
        return;
    t->memory =
        tg_grow(t->memory, &l->cap.memory, t->n_memory + p->columns.n_memory, sizeof *t->memory);
    memcpy(t->memory + t->n_memory, p->columns.memory, p->columns.n_memory * sizeof *t->memory);
    t->n_memory += p->columns.n_memory;
}

static const struct tg_split_ops split_ops = { .here = read_events,
                                               .fits = fits,
                                               .join = join,
                                               .part_new = part_new,
                                               .part_free = part_free,
                                               .worker_new = worker_new,
                                               .worker_free = worker_free,
                                               .read = read_part };

/* ---- the whole ---- */

/* PyTorch's profiler without Kineto writes no categories: nothing says what its events are. */
static bool has_categories(const struct tg_trace *t)
{
    for (size_t i = 0; i < t->names->n; i++)
        if (t->names->v[i].cat.n)
            return true;
    return t->n_spans == 0;
}

static bool find_kinds(struct loader *l)
{
    struct tg_trace *t = l->t;
    if (l->opts->keep_hta)
        return true;
    if (!l->marks->n && !has_categories(t) && !tg_xla_is(t)) { /* PyTorch writes X events only */
        tg_err_set(l->err, TG_ERR_TRACE, TG_AT_FILE(t->path),
                   "no event has a category, so operators and kernels cannot be told apart");
        return tg_err_hint(l->err, "PyTorch without Kineto writes such traces "
                                   "(`torch.profiler.kineto_available()` is False there), and so "
                                   "does the old format of torch.autograd.profiler: record with "
                                   "torch.profiler in a build that has Kineto, or write the trace "
                                   "by tracegate's examples/kineto_layout.py.");
    }
    return !tg_xla_is(t) || tg_xla_apply(t, l->opts->keep_python || l->opts->python_aside, l->err);
}

static bool load(struct loader *l, struct tg_source *s)
{
    struct tg_pair_sink sink = { .pair = take_pair, .arg = l };
    const struct tg_reader_opts *o = &l->opts->reader;
    struct tg_err *err = l->err;
    if (!(tg_split_can(s, o) ? tg_split_read(l->t->reader, s, o, &split_ops, l, err)
                             : read_events(l, err)))
        return false;
    tg_marks_match(l->marks, l->t->names, &sink);
    if (l->failed || !tg_reader_saw_events(l->t->reader, err))
        return false;
    l->t->integrity.unmatched_begin = sink.unmatched_begin;
    l->t->integrity.unmatched_end = sink.unmatched_end;
    tg_reader_done(l->t->reader);
    l->t->threads = tg_reader_threads(l->t->reader, &l->t->n_threads);
    l->t->info = tg_reader_info(l->t->reader);
    if (!find_kinds(l))
        return false;
    if (!l->opts->skip_check)
        tg_trace_check(l->t, l->opts->python_aside > 0);
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
