#include "core/trace/reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/host.h"
#include "core/trace/reader_state.h"

#define DEFAULT_WINDOW ((size_t)256 << 10)
#define META_VALUE_MAX ((size_t)256 << 10) /* a larger value is kept as "" */
#define META_TOTAL_MAX ((size_t)4 << 20)   /* anything after that is dropped */
#define META_COUNT_MAX 1024
#define READ_AHEAD_FROM ((uint64_t)1 << 20)

struct tg_reader *tg_reader_new(struct tg_source *s, const struct tg_reader_opts *o)
{
    struct tg_reader *r = tg_xmalloc(sizeof *r);
    *r = (struct tg_reader){
        .source = s, .first_member = true, .stop = UINT64_MAX, .stop_at = SIZE_MAX
    };
    if (o)
        r->opts = *o;
    r->limits = r->opts.limits ? *r->opts.limits : TG_LIMITS_DEFAULT;
    if (r->limits.max_depth > TG_SCAN_DEPTH)
        r->limits.max_depth = TG_SCAN_DEPTH;
    r->cap = r->opts.window ? r->opts.window : DEFAULT_WINDOW;
    r->buf = tg_xmalloc(r->cap + TG_SCAN_PAD);
    memset(r->buf, 0, TG_SCAN_PAD);
    r->info.rank = r->info.world_size = -1;
    r->last_thread_id = TG_NO_ID;
    r->meta_arena = tg_arena_new();
    r->fast.strict = r->opts.strict_json;
    r->fast.max_depth = (unsigned)r->limits.max_depth;
    /* A large compressed trace is inflated beside its reader; the size of a pipe is not known. */
    uint64_t done, size;
    tg_source_progress(r->source, &done, &size);
    if (r->opts.threads > 1 && (size == 0 || size >= READ_AHEAD_FROM))
        tg_source_read_ahead(r->source);
    tg_shapes_init(&r->shapes, r->opts.isa);
    tg_intern_init(&r->names, sizeof(struct tg_name));
    tg_intern_init(&r->threads, sizeof(struct tg_thread));
    return r;
}

void tg_reader_done(struct tg_reader *r)
{
    tg_shapes_release(&r->shapes);
    tg_buf_release(&r->text[0]);
    tg_buf_release(&r->text[1]);
    free(r->buf);
    r->buf = NULL;
    r->cap = r->at = r->n = 0;
}

void tg_reader_free(struct tg_reader *r)
{
    if (!r)
        return;
    tg_reader_done(r);
    tg_intern_release(&r->names);
    tg_intern_release(&r->threads);
    tg_arena_free(r->meta_arena);
    free(r->info.meta);
    free(r);
}

/* ---- errors ---- */

/* Line and column of a byte: the text is read again, only now that they are needed. */
static struct tg_loc locate(struct tg_reader *r, uint64_t offset)
{
    struct tg_loc loc = { tg_source_name(r->source), 0, 0, offset };
    struct tg_err ignored = TG_ERR_INIT;
    char bytes[16384];
    uint64_t at = 0;
    int64_t got;
    uint32_t line = 1, col = 1;
    if (!tg_source_rewind(r->source))
        return loc;
    while (at < offset && (got = tg_source_fill(r->source, bytes, sizeof bytes, &ignored)) > 0)
        for (int64_t i = 0; i < got && at < offset; i++, at++) {
            line += bytes[i] == '\n';
            col = bytes[i] == '\n' ? 1 : col + 1;
        }
    if (at == offset) {
        loc.line = line;
        loc.col = col;
    }
    return loc;
}

/*
 * Text from a damaged stream is wrong before the damage shows. The rest is unpacked, and if the
 * stream is at fault, `err` says so instead of what the text looks like. Of plain text nothing is
 * read.
 */
static bool stream_is_damaged(struct tg_reader *r, struct tg_err *err)
{
    struct tg_err why = TG_ERR_INIT;
    char bytes[16384];
    int64_t got = 1;
    while (tg_source_is_packed(r->source) && got > 0)
        got = tg_source_fill(r->source, bytes, sizeof bytes, &why);
    if (got >= 0 || why.kind != TG_ERR_TRACE || tg_source_truncated(r->source))
        return false;
    *err = why;
    return true;
}

static bool report_limit(struct tg_reader *r, uint64_t offset, bool depth, struct tg_err *err)
{
    if (stream_is_damaged(r, err))
        return false;
    struct tg_loc loc = locate(r, offset);
    if (depth)
        return tg_err_set(err, TG_ERR_LIMIT, loc, "nested more than %zu deep, at byte %" PRIu64,
                          r->limits.max_depth, offset);
    return tg_err_set(err, TG_ERR_LIMIT, loc,
                      "one event or metadata value is larger than %zu bytes, at byte %" PRIu64,
                      r->limits.max_event, offset);
}

static bool report(struct tg_reader *r, const struct tg_scan *s, struct tg_err *err)
{
    const char *start = r->buf + r->at;
    uint64_t offset = r->base + (uint64_t)(s->at - r->buf);
    char near[32];
    if ((size_t)(s->at - start) > r->limits.max_event)
        return report_limit(r, r->base + r->at, false, err);
    if (s->status == TG_SCAN_LIMIT)
        return report_limit(r, offset, true, err);
    if (stream_is_damaged(r, err))
        return false;
    /* Up to the offending byte; never what a smaller window would not have. */
    const char *from = s->at - start > 30 ? s->at - 30 : start;
    size_t n = 0;
    for (; from <= s->at && from < r->buf + r->n; from++)
        near[n++] = *from >= 0x20 && *from < 0x7f ? *from : ' ';
    tg_sv text = { near, n };
    tg_err_set(err, TG_ERR_TRACE, locate(r, offset), "%s, at byte %" PRIu64 ", near '%.*s'",
               s->message, offset, TG_SV_ARG(text));
    if (s->hint[0])
        tg_err_hint(err, "%s", s->hint);
    if (r->state == AT_FIRST_EVENT || r->state == BEHIND_EVENT || r->state == AT_EVENT)
        tg_err_context(err, "reading event %" PRIu64, r->info.events);
    return false;
}

static bool report_here(struct tg_reader *r, const char *message, const char *hint,
                        struct tg_err *err)
{
    struct tg_scan s = { .at = r->buf + r->at, .message = message, .hint = hint };
    return report(r, &s, err);
}

static const char a_trace_is[] = "A trace is what torch.profiler's export_chrome_trace or "
                                 "tensorboard_trace_handler writes (*.pt.trace.json).";

static bool not_a_trace(struct tg_reader *r, struct tg_err *err)
{
    static const struct {
        const char *key, *hint;
    } others[] = {
        { "nodes", "It looks like an execution trace (ExecutionTraceObserver); the profiler's own "
                   "file is needed." },
        { "rocprofiler-sdk-tool", "It looks like the JSON of rocprofv3. Record with "
                                  "torch.profiler, which writes ROCm's kernels as well." },
        { "flamegraph", "It looks like a profile of speedscope or a flame graph, not a trace." },
        { "profiles", "It looks like a profile of speedscope, not a trace." },
    };
    const char *name = tg_source_name(r->source);
    const char *hint = a_trace_is;
    if (stream_is_damaged(r, err))
        return false;
    for (size_t i = 0; i < r->info.n_meta; i++)
        for (size_t k = 0; k < sizeof others / sizeof *others; k++)
            if (tg_sv_eq(r->info.meta[i].key, tg_sv_of(others[k].key)))
                hint = others[k].hint;
    return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(name),
                      "'%s' is not a trace: it has no traceEvents", hint, name);
}

/* ---- window ---- */

/* Called for every window, which is about a tenth of a millisecond of work. */
void tg_reader_tick(struct tg_reader *r)
{
    const struct tg_progress *progress = r->opts.progress;
    uint64_t done, total;
    int64_t now;
    if (!progress || !progress->tick || (now = tg_host_ms()) < r->next_tick)
        return;
    r->next_tick = now + 100;
    tg_source_progress(r->source, &done, &total);
    progress->tick(progress->arg, tg_source_name(r->source), done - r->ticked, total);
    r->ticked = done;
}

bool tg_reader_refill(struct tg_reader *r, struct tg_err *err)
{
    tg_reader_tick(r);
    if (r->at) {
        memmove(r->buf, r->buf + r->at, r->n - r->at);
        r->base += r->at;
        r->n -= r->at;
        r->at = 0;
        tg_reader_place_stop(r);
    }
    if (r->n > r->limits.max_event)
        return report_limit(r, r->base, false, err);
    if (r->n == r->cap) {
        r->cap *= 2;
        r->buf = tg_xrealloc(r->buf, r->cap + TG_SCAN_PAD, 1);
    }
    int64_t got = tg_source_fill(r->source, r->buf + r->n, r->cap - r->n, err);
    if (got < 0) {
        if (!r->opts.allow_truncated || !tg_source_truncated(r->source))
            return false;
        tg_err_init(err);
        r->info.truncated = true;
        got = 0;
    }
    r->last = got == 0;
    r->n += (size_t)got;
    memset(r->buf + r->n, 0, TG_SCAN_PAD);
    r->fast.end = r->buf + r->n;
    r->fast.last = r->last;
    return true;
}

/* The next byte that is not blank, not consumed; 0 at the end of the text. */
static bool peek(struct tg_reader *r, char *c, struct tg_err *err)
{
    for (;;) {
        while (r->at < r->n && tg_is_blank(r->buf[r->at]))
            r->at++;
        *c = r->buf[r->at];
        if (r->at < r->n || r->last)
            return true;
        if (!tg_reader_refill(r, err))
            return false;
    }
}

static void count_seen(struct tg_reader *r, const struct tg_leniencies *seen)
{
    r->info.invalid_escapes += seen->invalid_escapes;
    r->info.control_bytes += seen->control_bytes;
    r->info.bad_utf8 += seen->bad_utf8;
    r->info.non_finite += seen->non_finite;
    r->info.huge_integers += seen->huge_integers;
}

static bool is_clean(const struct tg_leniencies *seen)
{
    return (seen->invalid_escapes | seen->control_bytes | seen->bad_utf8 | seen->non_finite |
            seen->huge_integers) == 0;
}

enum unit { UNIT_OK, UNIT_TRUNCATED, UNIT_FAILED };

/* Scans one unit from r->at, again from its start whenever the window cuts it. */
static enum unit scan_unit(struct tg_reader *r, unsigned depth,
                           bool (*scan)(struct tg_reader *, struct tg_scan *), struct tg_err *err)
{
    for (;;) {
        struct tg_scan s = { .p = r->buf + r->at,
                             .start = r->buf + r->at,
                             .end = r->buf + r->n,
                             .last = r->last,
                             .strict = r->opts.strict_json,
                             .depth = depth,
                             .max_depth = (unsigned)r->limits.max_depth };
        if (scan(r, &s)) {
            r->unit_size = (size_t)(s.p - s.start);
            r->unit_seen = s.seen;
            if (r->unit_size > r->limits.max_event) {
                (void)report_limit(r, r->base + r->at, false, err);
                return UNIT_FAILED;
            }
            r->at += r->unit_size;
            count_seen(r, &s.seen);
            return UNIT_OK;
        }
        if (s.status == TG_SCAN_TRUNCATED && r->opts.allow_truncated)
            return UNIT_TRUNCATED;
        if (s.status != TG_SCAN_MORE) {
            (void)report(r, &s, err);
            return UNIT_FAILED;
        }
        if (!tg_reader_refill(r, err))
            return UNIT_FAILED;
    }
}

/* ---- metadata ---- */

static tg_sv keep_text(struct tg_reader *r, const struct tg_value *v)
{
    tg_sv text;
    char *copy;
    if (v->raw.n > META_VALUE_MAX)
        return (tg_sv){ "", 0 };
    tg_buf_clear(&r->text[0]);
    if (v->escaped)
        tg_unescape(&r->text[0], v->raw);
    text = v->escaped ? tg_buf_sv(&r->text[0]) : v->raw;
    copy = tg_arena_alloc(r->meta_arena, text.n + TG_SCAN_PAD, 1); /* it may be scanned again */
    if (text.n)
        memcpy(copy, text.p, text.n);
    return (tg_sv){ copy, text.n };
}

/* A repeated key: the last one wins, at the place of the first. */
static void keep_meta(struct tg_reader *r)
{
    size_t i = 0;
    if (r->meta_bytes > META_TOTAL_MAX)
        return;
    struct tg_kv kv = { keep_text(r, &r->key), keep_text(r, &r->value) };
    r->meta_bytes += kv.key.n + kv.value.n + sizeof kv;
    while (i < r->info.n_meta && !tg_sv_eq(r->info.meta[i].key, kv.key))
        i++;
    if (i == META_COUNT_MAX)
        return;
    if (i == r->info.n_meta) {
        r->info.meta = tg_grow(r->info.meta, &r->meta_cap, i + 1, sizeof *r->info.meta);
        r->info.n_meta++;
    }
    r->info.meta[i] = kv;
}

/* distributedInfo was checked as JSON when it was read; a truncated value is not a value. */
static void read_ranks(struct tg_reader *r)
{
    for (size_t i = 0; i < r->info.n_meta; i++) {
        struct tg_kv *kv = &r->info.meta[i];
        struct tg_scan s = tg_scan_object(kv->value);
        struct tg_value key, value;
        bool first = true;
        if (!tg_sv_eq(kv->key, TG_SV("distributedInfo")) || !kv->value.n || kv->value.p[0] != '{')
            continue;
        while (tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value)) {
            if (tg_kineto_key(&key, TG_SV("rank")))
                r->info.rank = tg_kineto_int(&value, -1);
            else if (tg_kineto_key(&key, TG_SV("world_size")))
                r->info.world_size = tg_kineto_int(&value, -1);
        }
    }
}

static bool scan_member(struct tg_reader *r, struct tg_scan *s)
{
    bool first = r->first_member;
    int more = tg_scan_member(s, &first, &r->key);
    r->member_end = more == 0;
    r->events_begin = false;
    if (more <= 0)
        return more == 0;
    if (*s->p == '[' && tg_kineto_key(&r->key, TG_SV("traceEvents"))) {
        if (r->has_events)
            return tg_scan_bad(s, s->p, "a second traceEvents", "");
        r->events_begin = true;
        s->p++;
        return true;
    }
    return tg_scan_value(s, &r->value);
}

/* ---- events ---- */

static bool scan_event(struct tg_reader *r, struct tg_scan *s)
{
    if (*s->p != '{')
        return tg_scan_bad(s, s->p, "an element of traceEvents that is not an object",
                           r->info.events ? "There is probably a comma too many." : a_trace_is);
    return tg_kineto_event(s, r->opts.want_args ? TG_ARGS_READ : TG_ARGS_SKIPPED, &r->raw);
}

static tg_sv text_of(struct tg_reader *r, const struct tg_value *v, size_t which)
{
    if (v->type == TG_TOKEN_NULL)
        return (tg_sv){ "", 0 };
    if (!v->escaped)
        return v->raw;
    tg_buf_clear(&r->text[which]);
    tg_unescape(&r->text[which], v->raw);
    return tg_buf_sv(&r->text[which]);
}

bool tg_reader_intern(struct tg_reader *r, tg_sv cat, tg_sv name, uint32_t *id, struct tg_err *err)
{
    bool is_new;
    *id = tg_intern_add(&r->names, cat, name, &is_new);
    if (!is_new)
        return true;
    r->name_view = (struct tg_names){ (struct tg_name *)(void *)r->names.entry, r->names.n };
    r->name_view.v[*id].kind = tg_kind_of(cat, name);
    if (r->names.n <= r->limits.max_names && r->names.bytes <= r->limits.max_name_bytes)
        return true;
    return tg_err_say(err, TG_ERR_LIMIT, TG_AT_FILE(tg_source_name(r->source)),
                      "more than %zu distinct names, or %zu bytes of them",
                      "Names that contain addresses or counters make every event unique.",
                      r->limits.max_names, r->limits.max_name_bytes);
}

bool tg_reader_intern_thread(struct tg_reader *r, tg_sv pid, tg_sv tid, uint32_t *id,
                             struct tg_err *err)
{
    bool is_new;
    if (r->last_thread_id != TG_NO_ID && tg_sv_eq(pid, r->last_thread.pid) &&
        tg_sv_eq(tid, r->last_thread.tid)) {
        *id = r->last_thread_id;
        return true;
    }
    *id = tg_intern_add(&r->threads, pid, tid, &is_new);
    r->last_thread_id = *id;
    r->last_thread = ((struct tg_thread *)(void *)r->threads.entry)[*id];
    if (r->threads.n <= r->limits.max_names)
        return true;
    return tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(tg_source_name(r->source)),
                      "more than %zu distinct threads", r->limits.max_names);
}

const struct tg_attr_values *tg_reader_attrs(const struct tg_reader *r)
{
    return &r->raw.attrs;
}

/* Ids for the names of the scan; the fast path may have them already. */
static inline bool take_event(struct tg_reader *r, struct tg_event *ev, struct tg_err *err)
{
    const struct tg_raw_event *raw = &r->raw;
    ev->index = r->info.events++;
    r->info.rounded_numbers += raw->rounded;
    r->info.any_ts_float |= ev->has_ts && ev->ts_float;
    r->info.any_ts_missing |= !ev->has_ts;
    r->any_phase |= ev->ph != 0 || (ev->has_ts && ev->has_dur);
    if (ev->name == TG_NO_ID && (ev->has_name || ev->has_cat) &&
        !tg_reader_intern(r, text_of(r, &raw->cat, 0), text_of(r, &raw->name, 1), &ev->name, err))
        return false;
    return ev->thread != TG_NO_ID ||
           tg_reader_intern_thread(r, text_of(r, &raw->pid, 0), text_of(r, &raw->tid, 1),
                                   &ev->thread, err);
}

static unsigned event_depth(const struct tg_reader *r)
{
    return r->bare ? 1 : 2;
}

/* Reads one event by the fast path. False: nothing has changed, the generic path takes over. */
static inline __attribute__((always_inline)) bool
fast_event(struct tg_reader *r, struct tg_event *ev, bool *ok, struct tg_err *err)
{
    struct tg_shapes *f = &r->shapes;
    struct tg_scan *s = &r->fast;
    const char *start = r->buf + r->at;
    bool new_thread, new_text, clean = true;
    s->p = s->start = start;
    if (!f->run || !f->run(f, s, &r->names, &r->raw, ev) ||
        (size_t)(s->p - start) > r->limits.max_event) {
        f->misses++;
        s->seen = (struct tg_leniencies){ 0 };
        return false;
    }
    f->hits++;
    r->at += (size_t)(s->p - start);
    if (f->slow_slot) {
        count_seen(r, &s->seen);
        clean = is_clean(&s->seen);
        s->seen = (struct tg_leniencies){ 0 };
    }
    new_thread = ev->thread == TG_NO_ID;
    new_text = new_thread || ev->name == TG_NO_ID;
    *ok = take_event(r, ev, err);
    if (new_text && *ok)
        tg_shapes_note(f, &r->raw, ev, &r->names, clean && new_thread);
    r->state = f->passed ? AT_EVENT : BEHIND_EVENT;
    return true;
}

/* ---- the text as a whole ---- */

void tg_reader_begin_events(struct tg_reader *r)
{
    r->has_events = true;
    r->state = AT_FIRST_EVENT;
    r->shapes.depth = event_depth(r);
    if (r->shapes.depth >= r->limits.max_depth)
        r->shapes.run = NULL; /* the generic path reports it */
}

static bool at_start(struct tg_reader *r, struct tg_err *err)
{
    char c;
    if (!peek(r, &c, err))
        return false;
    if (c == '{') {
        r->state = IN_OBJECT;
    } else if (c == '[') {
        r->bare = true;
        tg_reader_begin_events(r);
    } else if (r->at == r->n) {
        return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(tg_source_name(r->source)), "'%s' is empty",
                          "The program ended, or the disk was full, before export_chrome_trace "
                          "wrote it.",
                          tg_source_name(r->source));
    } else {
        return report_here(r, "not a trace: neither a JSON object nor an array", a_trace_is, err);
    }
    r->at++;
    return true;
}

/* Learns the text between two events: blanks, a comma, blanks, a brace, all in the window. */
static void learn_between(struct tg_reader *r)
{
    struct tg_shapes *f = &r->shapes;
    const char *p = r->buf + r->at;
    size_t n = 0;
    bool comma = false;
    for (; n + 1 < TG_BETWEEN && (tg_is_blank(p[n]) || (p[n] == ',' && !comma)); n++)
        comma |= p[n] == ',';
    f->between_n = 0;
    if (!comma || p[n] != '{')
        return;
    memcpy(f->between, p, n + 1);
    f->between_n = (uint32_t)n + 1;
}

/* Puts the cursor at the next event, or after the array. */
static enum unit next_event(struct tg_reader *r, bool *at_event, struct tg_err *err)
{
    char c;
    *at_event = r->state == AT_EVENT;
    if (*at_event)
        return UNIT_OK;
    if (r->state == BEHIND_EVENT)
        learn_between(r);
    if (!peek(r, &c, err))
        return UNIT_FAILED;
    if (r->at < r->n && c == ']') {
        r->at++;
        r->state = r->bare ? BEHIND_TEXT : IN_OBJECT;
        return UNIT_OK;
    }
    if (r->at < r->n && r->state == BEHIND_EVENT) {
        if (c != ',') {
            (void)report_here(r, "a comma or a closing bracket is missing",
                              "A quote inside a text before it is probably not escaped.", err);
            return UNIT_FAILED;
        }
        r->at++;
        if (!peek(r, &c, err))
            return UNIT_FAILED;
    }
    if (r->at == r->n && r->opts.allow_truncated)
        return UNIT_TRUNCATED;
    *at_event = true; /* at the end of the text the scan reports it */
    return UNIT_OK;
}

/* Reads one event by the generic path, from which the fast path learns. */
static enum unit slow_event(struct tg_reader *r, struct tg_event *ev, struct tg_err *err)
{
    enum unit u = scan_unit(r, event_depth(r), scan_event, err);
    if (u != UNIT_OK)
        return u;
    tg_sv text = { r->buf + r->at - r->unit_size, r->unit_size };
    *ev = r->raw.ev;
    ev->name = ev->thread = TG_NO_ID;
    if (r->bare && r->info.events == 0)
        r->is_hatchet = tg_sv_has(text, TG_SV("\"frame\"")) &&
                        tg_sv_has(text, TG_SV("\"metrics\"")) &&
                        tg_sv_has(text, TG_SV("\"children\""));
    if (is_clean(&r->unit_seen))
        tg_shapes_learn(&r->shapes, text, r->opts.want_args);
    r->state = BEHIND_EVENT;
    return take_event(r, ev, err) ? UNIT_OK : UNIT_FAILED;
}

static bool finish(struct tg_reader *r, struct tg_err *err)
{
    r->state = AT_END;
    r->info.bytes = r->base + r->at;
    if (!r->has_events)
        return not_a_trace(r, err);
    read_ranks(r);
    return true;
}

/* One step of the outer grammar; *event: an event was read. */
static enum unit step(struct tg_reader *r, struct tg_event *ev, bool *event, struct tg_err *err)
{
    enum unit u;
    bool ok = true;
    char c;
    switch (r->state) {
    case AT_START:
        ok = at_start(r, err);
        break;
    case IN_OBJECT:
        u = scan_unit(r, 1, scan_member, err);
        if (u != UNIT_OK)
            return u;
        r->first_member = false;
        if (r->member_end)
            r->state = BEHIND_TEXT;
        else if (r->events_begin)
            tg_reader_begin_events(r);
        else
            keep_meta(r);
        break;
    case AT_FIRST_EVENT:
    case BEHIND_EVENT:
    case AT_EVENT:
        u = next_event(r, event, err);
        if (u != UNIT_OK || !*event)
            return u;
        /* An event that another thread reads. Anything that is not an event is an error. */
        if (r->at >= r->stop_at && r->at < r->n && r->buf[r->at] == '{') {
            r->state = AT_EVENT;
            r->stopped = true;
            *event = false;
        } else if (!fast_event(r, ev, &ok, err)) {
            return slow_event(r, ev, err);
        }
        break;
    case BEHIND_TEXT:
        if (!peek(r, &c, err))
            return UNIT_FAILED;
        ok = r->at < r->n ? report_here(r, "text after the end of the trace",
                                        "Two traces were probably written into one file.", err)
                          : finish(r, err);
        break;
    case AT_END:
    case HAS_FAILED:
        break;
    }
    return ok ? UNIT_OK : UNIT_FAILED;
}

/* Separate from the fast path, which then saves no registers for rare cases. */
static __attribute__((noinline)) enum tg_next next_slowly(struct tg_reader *r, struct tg_event *ev,
                                                          struct tg_err *err)
{
    bool event = false;
    r->stopped = false;
    while (r->state != AT_END && r->state != HAS_FAILED) {
        enum unit u = step(r, ev, &event, err);
        if (u == UNIT_OK && event)
            return TG_NEXT;
        r->stopped |= r->is_part && (r->state == IN_OBJECT || r->state == BEHIND_TEXT);
        if (u == UNIT_OK && r->stopped)
            return TG_NEXT_END;
        if (u == UNIT_TRUNCATED) {
            r->info.truncated = true;
            u = finish(r, err) ? UNIT_OK : UNIT_FAILED;
        }
        if (u == UNIT_FAILED) {
            r->state = HAS_FAILED;
            return TG_NEXT_FAILED;
        }
    }
    if (r->state == AT_END)
        return TG_NEXT_END;
    tg_err_set(err, TG_ERR_TRACE, TG_AT_FILE(tg_source_name(r->source)), "reading '%s' has failed",
               tg_source_name(r->source));
    return TG_NEXT_FAILED;
}

bool tg_reader_saw_events(const struct tg_reader *r, struct tg_err *err)
{
    const char *name = tg_source_name(r->source);
    if (!r->bare || !r->info.events || (r->names.n && r->any_phase))
        return true;
    if (r->is_hatchet)
        return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(name),
                          "'%s' is a profile in hatchet's form, as Triton's Proton writes it",
                          "It has sums, not events: record with torch.profiler, which writes "
                          "Triton's kernels as well.",
                          name);
    return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(name),
                      "'%s' is not a trace: none of its %" PRIu64 " objects has %s", a_trace_is,
                      name, r->info.events, r->names.n ? "a phase (ph)" : "a name");
}

enum tg_next tg_reader_next(struct tg_reader *r, struct tg_event *ev, struct tg_err *err)
{
    bool ok;
    if (r->state != AT_EVENT || r->at >= r->stop_at || !fast_event(r, ev, &ok, err))
        return next_slowly(r, ev, err);
    if (ok)
        return TG_NEXT;
    r->state = HAS_FAILED;
    return TG_NEXT_FAILED;
}

const struct tg_names *tg_reader_names(const struct tg_reader *r)
{
    return &r->name_view;
}

const struct tg_thread *tg_reader_threads(const struct tg_reader *r, size_t *n)
{
    *n = r->threads.n;
    return (const struct tg_thread *)(const void *)r->threads.entry;
}

const struct tg_trace_info *tg_reader_info(const struct tg_reader *r)
{
    return &r->info;
}
