/* What a shard's document says as JSON, written and read, and the hash of its whole content. */
#include "core/summary/internal.h"

#include <inttypes.h>
#include <stdio.h>

#include "core/base/hash.h"
#include "core/summary/pack.h"

/* ---- writing ---- */

/* Under which name a metric is stored; NULL: it is derived. The device's extent was called
 * step_time once, and was the host's window if there is no device: the bytes stay. */
static const char *stored_name(enum tg_metric m)
{
    return m == TG_METRIC_STEP_TIME       ? NULL
           : m == TG_METRIC_DEVICE_EXTENT ? "step_time"
                                          : tg_metric_info(m)->name;
}

/* Counters and their places. Values beyond int64 cannot be met. */
static const struct {
    const char *name;
    size_t offset;
} counters[] = {
    { "events", offsetof(struct tg_shard, events) },
    { "spans", offsetof(struct tg_shard, spans) },
    { "device_spans", offsetof(struct tg_shard, device_spans) },
    { "unlinked", offsetof(struct tg_shard, unlinked) },
    { "unassigned", offsetof(struct tg_shard, unassigned) },
    { "leniencies", offsetof(struct tg_shard, leniencies) },
    { "device_time", offsetof(struct tg_shard, device_time) },
    { "classified_by_fallback", offsetof(struct tg_shard, classified_by_fallback) },
    { "negative_durations", offsetof(struct tg_shard, integrity.negative_durations) },
    { "zero_kernels", offsetof(struct tg_shard, integrity.zero_kernels) },
    { "unmatched_begin", offsetof(struct tg_shard, integrity.unmatched_begin) },
    { "unmatched_end", offsetof(struct tg_shard, integrity.unmatched_end) },
    { "overlapping", offsetof(struct tg_shard, integrity.overlapping) },
    { "overlapping_ns", offsetof(struct tg_shard, integrity.overlapping_ns) },
    { "longer_than_step", offsetof(struct tg_shard, integrity.longer_than_step) },
    { "unlinked_rows", offsetof(struct tg_shard, integrity.unlinked) },
    { "lost_kernels", offsetof(struct tg_shard, integrity.lost_kernels) },
    { "invalid_escapes", offsetof(struct tg_shard, lenient.invalid_escapes) },
    { "control_bytes", offsetof(struct tg_shard, lenient.control_bytes) },
    { "bad_utf8", offsetof(struct tg_shard, lenient.bad_utf8) },
    { "non_finite", offsetof(struct tg_shard, lenient.non_finite) },
    { "huge_integers", offsetof(struct tg_shard, lenient.huge_integers) },
    { "undated", offsetof(struct tg_shard, integrity.undated) },
    { "nested_windows", offsetof(struct tg_shard, integrity.nested_windows) },
    { "crossing_windows", offsetof(struct tg_shard, integrity.crossing_windows) },
    { "device_busy", offsetof(struct tg_shard, device_busy) },
    { "repeated", offsetof(struct tg_shard, integrity.repeated) },
    { "graded", offsetof(struct tg_shard, graded) },
};
#define N_COUNTERS (sizeof counters / sizeof *counters)
/* Later ones are written where they are not 0, so that what was stored before keeps its bytes. */
#define ALWAYS_WRITTEN (N_COUNTERS - 6)
_Static_assert(sizeof(tg_ns) == sizeof(uint64_t), "counters are read as one type");

void tg_content_add(struct tg_doc *d, const struct tg_shard *s)
{
    tg_doc_add_i64(d, "rank", s->rank);
    tg_doc_add_str(d, "window", s->window);
    tg_doc_add_str(d, "classes", s->classes);
    tg_doc_add_bool(d, "marked", s->marked);
    tg_doc_add_bool(d, "truncated", s->truncated);
    struct tg_doc *env = tg_doc_add_object(d, "env");
    for (size_t i = 0; i < s->n_env; i++)
        tg_doc_add_str(env, s->env[i].key.p, s->env[i].value);
    struct tg_doc *steps = tg_doc_add_array(d, "steps");
    for (size_t k = 0; k < s->n_steps; k++) {
        struct tg_doc *one = tg_doc_add_array(steps, NULL);
        tg_doc_add_i64(one, NULL, s->steps[k].number);
        tg_doc_add_i64(one, NULL, s->steps[k].start);
        tg_doc_add_i64(one, NULL, s->steps[k].end);
    }
    struct tg_doc *all = tg_doc_add_object(d, "measures");
    for (int m = 0; m < TG_METRICS; m++) {
        const char *name = stored_name((enum tg_metric)m);
        bool window = m == TG_METRIC_DEVICE_EXTENT && !s->device_spans;
        struct tg_doc *v = name ? tg_doc_add_array(all, name) : NULL;
        for (size_t k = 0; v && k < s->n_steps; k++) {
            size_t from = window ? TG_METRIC_HOST_TIME : (size_t)m;
            const struct tg_metric_value *x = &s->metrics[from * s->n_steps + k];
            struct tg_doc *pair = x->known ? tg_doc_add_array(v, NULL) : NULL;
            if (!pair) {
                tg_doc_add_null(v, NULL);
                continue;
            }
            tg_doc_add_i64(pair, NULL, x->num);
            tg_doc_add_i64(pair, NULL, x->den);
        }
    }
    struct tg_doc *o = tg_doc_add_object(d, "counters");
    for (size_t i = 0; i < N_COUNTERS; i++) {
        int64_t v;
        memcpy(&v, (const char *)s + counters[i].offset, sizeof v);
        if (i < ALWAYS_WRITTEN || v)
            tg_doc_add_i64(o, counters[i].name, v);
    }
    struct tg_doc *hints = tg_doc_add_array(d, "hints");
    for (size_t i = 0; i < s->n_hints; i++) {
        struct tg_doc *one = tg_doc_add_array(hints, NULL);
        tg_doc_add_str(one, NULL, s->hints[i].name);
        tg_doc_add_i64(one, NULL, (int64_t)s->hints[i].count);
        tg_doc_add_i64(one, NULL, (int64_t)(s->hints[i].covered * 10000 + 0.5));
    }
    struct tg_doc *list = s->frame_sorts ? tg_doc_add_array(d, "frames") : NULL;
    for (int sort = 0; list && sort < TG_STACK_SORTS; sort++)
        if (s->frame_sorts & 1u << sort)
            tg_doc_add_str(list, NULL, tg_sv_of(tg_frame_sort_name((enum tg_stack_sort)sort)));
}

/* ---- the hash ---- */

static void put_text(struct tg_buf *b, tg_sv s)
{
    tg_pack_u64(b, s.n);
    tg_buf_add(b, s);
}

static void put_shape(struct tg_buf *b, const struct tg_shard *s, size_t from, size_t to)
{
    tg_pack_u64(b, to - from);
    for (size_t i = from; i < to; i++) {
        const struct tg_row *r = &s->rows[i];
        put_text(b, r->key->name);
        put_text(b, r->key->cat);
        put_text(b, r->key->parent);
        tg_pack_i64(b, r->key->device);
        tg_pack_i64(b, r->key->stream);
        tg_pack_u64(b, r->order);
        tg_pack_u64(b, r->attrs_capped);
        tg_pack_u64(b, r->n_attrs);
        for (size_t f = 0; f < r->n_attrs; f++) {
            tg_pack_u64(b, (uint64_t)r->attrs[f].kind);
            put_text(b, r->attrs[f].value);
            tg_pack_u64(b, r->attrs[f].count);
        }
        for (size_t k = 0; k <= s->n_steps; k++)
            tg_pack_u64(b, r->count[k]);
    }
}

uint64_t tg_content_shape_hash(const struct tg_shard *s)
{
    TG_BUF b = { 0 };
    put_shape(&b, s, 0, s->n_rows);
    put_shape(&b, s, s->n_rows, s->n_rows + s->n_frames);
    for (size_t k = 0; k < s->n_steps; k++)
        tg_pack_u64(&b, s->gap_count[k]);
    return tg_hash(tg_buf_sv(&b), TG_SUMMARY_FORMAT);
}

/* `b`: the content as text. */
static uint64_t hash_of(struct tg_buf *b, const struct tg_shard *s, uint64_t shape)
{
    size_t n = s->n_steps + 1;
    const tg_ns *gap = s->gaps;
    tg_pack_u64(b, shape);
    for (size_t i = 0; i < s->n_rows + s->n_frames; i++) {
        char *from = tg_buf_room(b, 2 * n * TG_PACKED_MOST), *to = from;
        for (size_t k = 0; k < n; k++) {
            to = tg_pack_at(to, (uint64_t)s->rows[i].total[k]);
            to = tg_pack_at(to, (uint64_t)s->rows[i].self[k]);
        }
        b->n += (size_t)(to - from);
    }
    for (size_t k = 0; k < s->n_steps; k++)
        for (size_t i = 0; i < s->gap_count[k]; i++)
            tg_pack_u64(b, (uint64_t)*gap++);
    return tg_hash(tg_buf_sv(b), TG_SUMMARY_FORMAT);
}

static uint64_t content_hash(const struct tg_shard *s, uint64_t shape)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_doc_new_object();
    TG_BUF b = { 0 };
    tg_content_add(d, s);
    tg_doc_write(d, TG_DOC_COMPACT, &b);
    return hash_of(&b, s, shape);
}

tg_sv tg_shard_hash(const struct tg_shard *s, struct tg_arena *a)
{
    return TG_SV_PRINTF(a, "%016" PRIx64, content_hash(s, tg_content_shape_hash(s)));
}

/* The content as it is in the line: the text that content_hash makes of the shard, unless somebody
 * wrote the line in other words. */
static bool put_stored(struct tg_buf *b, tg_sv line)
{
    static const char before[] = "\"hash\":\"0123456789abcdef\",", after[] = ",\"rows\":";
    const char *from = memmem(line.p, line.n, before, 8), *end;
    if (!from || (size_t)(line.p + line.n - from) < sizeof before)
        return false;
    from += sizeof before - 1;
    end = memmem(from, (size_t)(line.p + line.n - from), after, sizeof after - 1);
    if (!end)
        return false;
    tg_buf_putc(b, '{');
    tg_buf_add(b, (tg_sv){ from, (size_t)(end - from) });
    tg_buf_puts(b, "}\n");
    return true;
}

static bool is_hash(uint64_t h, tg_sv text)
{
    char digits[17];
    (void)snprintf(digits, sizeof digits, "%016" PRIx64, h);
    return tg_sv_eq(text, tg_sv_of(digits));
}

bool tg_content_has_hash(const struct tg_shard *s, uint64_t shape, tg_sv line)
{
    TG_BUF b = { 0 };
    return (put_stored(&b, line) && is_hash(hash_of(&b, s, shape), s->hash)) ||
           is_hash(content_hash(s, shape), s->hash);
}

tg_sv tg_shard_recording(const struct tg_shard *s, struct tg_arena *a)
{
    struct tg_shard bare = *s;
    if (s->steps_only || !s->frame_sorts)
        return s->hash;
    bare.frame_sorts = 0;
    bare.n_frames = 0;
    return tg_shard_hash(&bare, a);
}

bool tg_shard_same_recording(const struct tg_shard *p, const struct tg_shard *q)
{
    const struct tg_shard *const shard[] = { p, q };
    TG_ARENA *a = NULL;
    tg_sv hash[2];
    /* What differs between most recordings, at little cost. */
    bool same = p->n_rows && !p->unnamed && !q->unnamed && p->n_steps == q->n_steps &&
                p->n_rows == q->n_rows && p->events == q->events &&
                p->device_time == q->device_time;
    for (size_t k = 0; same && k < p->n_steps; k++)
        same = p->steps[k].start == q->steps[k].start && p->steps[k].end == q->steps[k].end;
    for (size_t i = 0; same && i < p->n_rows; i++)
        same = !memcmp(p->rows[i].self, q->rows[i].self, (p->n_steps + 1) * sizeof(tg_ns));
    if (!same)
        return false;
    a = tg_arena_new();
    for (int i = 0; i < 2; i++) {
        struct tg_shard bare = *shard[i];
        bare.rank = -1;
        bare.device_busy = 0;                      /* 0.2.0 did not store it, */
        bare.integrity.repeated = bare.graded = 0; /* nor these */
        bare.n_env = bare.n_frames = bare.frame_sorts = 0;
        hash[i] = tg_shard_hash(&bare, a);
    }
    return tg_sv_eq(hash[0], hash[1]);
}

/* ---- reading ---- */

static bool get_text(struct tg_arena *a, const struct tg_doc *d, tg_sv *out)
{
    if (tg_doc_type(d) != TG_DOC_STRING)
        return false;
    *out = tg_arena_sv(a, tg_doc_str(d, TG_SV("")));
    return true;
}

static bool get_i64s(const struct tg_doc *array, int64_t *out, size_t n)
{
    const struct tg_doc *d = tg_doc_first(array);
    if (tg_doc_type(array) != TG_DOC_ARRAY)
        return false;
    for (size_t i = 0; i < n; i++, d = tg_doc_next(d))
        if (!d || !tg_doc_i64(d, &out[i]))
            return false;
    return d == NULL;
}

static bool read_env(struct tg_arena *a, const struct tg_doc *d, struct tg_shard *s)
{
    s->env = TG_NEW_N(a, struct tg_kv, tg_doc_count(d));
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        struct tg_kv *kv = &s->env[s->n_env++];
        kv->key = tg_arena_sv(a, tg_doc_key(m));
        if (!get_text(a, m, &kv->value) ||
            (s->n_env > 1 && tg_sv_cmp(s->env[s->n_env - 2].key, kv->key) >= 0))
            return false;
    }
    return tg_doc_type(d) == TG_DOC_OBJECT;
}

static bool read_steps(struct tg_arena *a, const struct tg_doc *d, struct tg_shard *s)
{
    size_t n = tg_doc_count(d);
    if (tg_doc_type(d) != TG_DOC_ARRAY || !n)
        return false;
    s->steps = TG_NEW_N(a, struct tg_step, n);
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        int64_t v[3];
        if (!get_i64s(m, v, 3) || v[1] > v[2] ||
            (s->n_steps && v[1] < s->steps[s->n_steps - 1].end))
            return false;
        s->steps[s->n_steps++] = (struct tg_step){ v[0], v[1], v[2], TG_NO_SPAN };
    }
    return true;
}

static bool read_metrics(struct tg_arena *a, const struct tg_doc *d, struct tg_shard *s)
{
    s->metrics = TG_NEW_N(a, struct tg_metric_value, TG_METRICS * s->n_steps);
    for (int m = 0; m < TG_METRICS; m++) {
        const char *name = stored_name((enum tg_metric)m);
        const struct tg_doc *v = name ? tg_doc_first(tg_doc_get(d, name)) : NULL;
        for (size_t k = 0; name && k < s->n_steps; k++, v = tg_doc_next(v)) {
            struct tg_metric_value *to = &s->metrics[(size_t)m * s->n_steps + k];
            int64_t pair[2] = { 0, 1 };
            if (!v)
                return false;
            to->known = tg_doc_type(v) != TG_DOC_NULL;
            if (to->known && (!get_i64s(v, pair, 2) || pair[1] <= 0))
                return false;
            to->num = pair[0];
            to->den = pair[1];
        }
    }
    return true;
}

static bool read_counters(const struct tg_doc *d, struct tg_shard *s)
{
    for (size_t i = 0; i < N_COUNTERS; i++) {
        int64_t v;
        const struct tg_doc *m = tg_doc_get(d, counters[i].name);
        if (!m && i >= ALWAYS_WRITTEN)
            continue;
        if (!m || !tg_doc_i64(m, &v) || v < 0)
            return false;
        memcpy((char *)s + counters[i].offset, &v, sizeof v);
    }
    return true;
}

static bool read_hints(struct tg_arena *a, const struct tg_doc *d, struct tg_shard *s)
{
    s->hints = TG_NEW_N(a, struct tg_window_hint, tg_doc_count(d));
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        const struct tg_doc *name = tg_doc_first(m), *count = name ? tg_doc_next(name) : NULL;
        const struct tg_doc *covered = count ? tg_doc_next(count) : NULL;
        struct tg_window_hint *h = &s->hints[s->n_hints++];
        int64_t n, units;
        if (!covered || !get_text(a, name, &h->name) || !tg_doc_i64(count, &n) || n < 0 ||
            !tg_doc_i64(covered, &units) || units < 0 || units > INT32_MAX)
            return false;
        h->count = (size_t)n;
        h->covered = (double)units / 10000;
    }
    return true;
}

const char *tg_content_read(struct tg_shard *s, const struct tg_doc *d, struct tg_arena *a)
{
    if (!get_text(a, tg_doc_get(d, "window"), &s->window) ||
        !get_text(a, tg_doc_get(d, "classes"), &s->classes))
        return "window or classes";
    s->marked = tg_doc_bool(tg_doc_get(d, "marked"), false);
    s->truncated = tg_doc_bool(tg_doc_get(d, "truncated"), false);
    if (!read_env(a, tg_doc_get(d, "env"), s))
        return "env";
    if (!read_steps(a, tg_doc_get(d, "steps"), s))
        return "steps";
    if (!read_metrics(a, tg_doc_get(d, "measures"), s))
        return "measures";
    if (!read_counters(tg_doc_get(d, "counters"), s))
        return "counters";
    /* After the counters. */
    tg_metrics_derive(s->steps, s->n_steps, s->metrics);
    for (size_t k = 0; !s->device_spans && k < s->n_steps; k++)
        s->metrics[TG_METRIC_DEVICE_EXTENT * s->n_steps + k] =
            (struct tg_metric_value){ false, 0, 1 };
    if (!read_hints(a, tg_doc_get(d, "hints"), s))
        return "hints";
    const struct tg_doc *frames = tg_doc_get(d, "frames");
    for (const struct tg_doc *m = tg_doc_first(frames); m; m = tg_doc_next(m)) {
        enum tg_stack_sort sort;
        if (!tg_frame_sort_find(tg_doc_str(m, TG_SV("")), &sort) || s->frame_sorts >> sort)
            return "frames"; /* unknown, or not in ascending order */
        s->frame_sorts |= 1u << sort;
    }
    return !frames || s->frame_sorts ? NULL : "frames";
}
