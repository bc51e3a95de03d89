#include <inttypes.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/summary/internal.h"
#include "core/summary/pack.h"

/*
 * {"tracegate_summary":1,"shards":[
 *     {run, hash, rank, window, classes, marked, truncated, env, steps, measures, counters, hints,
 *      texts, columns, slots}]}
 *
 * `texts` are the distinct texts of rows and facts, ascending; `columns` (numbers of rows and gaps)
 * and `slots` are packed (pack.h). Shards with totals by Python frame also have `frames` (which
 * sorts) and `frame_columns` (their rows, packed as `columns` are). Truncated shards (fit.h) of a
 * run share one object: left_out.c.
 *
 * The hash covers every field except run, hash and slots; the slots of a row must add up to its
 * self times. So damage is noticed, and what is read is what was written. Any change of what is
 * written needs another TG_SUMMARY_FORMAT.
 */

/* ---- writing ---- */

/* Distinct texts of a shard in ascending order. */
struct texts {
    struct tg_strmap map;
    uint32_t *rank; /* map id -> position in ascending order */
    tg_sv *sorted;
};

static int by_text(const void *a, const void *b)
{
    return tg_sv_cmp(*(const tg_sv *)a, *(const tg_sv *)b);
}

static void add_texts(struct texts *t, const struct tg_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_row *r = &rows[i];
        (void)tg_strmap_add(&t->map, r->name);
        (void)tg_strmap_add(&t->map, r->cat);
        (void)tg_strmap_add(&t->map, r->parent);
        for (size_t f = 0; f < r->n_facts; f++)
            (void)tg_strmap_add(&t->map, r->facts[f].value);
    }
}

static void texts_init(struct texts *t, const struct tg_shard *s)
{
    size_t n;
    tg_strmap_init(&t->map);
    add_texts(t, s->rows, s->n_rows);
    add_texts(t, s->frames, s->n_frames);
    n = t->map.n;
    t->sorted = tg_xrealloc(NULL, n + 1, sizeof *t->sorted);
    t->rank = tg_xrealloc(NULL, n + 1, sizeof *t->rank);
    if (n) {
        memcpy(t->sorted, t->map.text, n * sizeof *t->sorted);
        qsort(t->sorted, n, sizeof *t->sorted, by_text);
    }
    for (size_t i = 0; i < n; i++)
        t->rank[tg_strmap_find(&t->map, t->sorted[i])] = (uint32_t)i;
}

static void texts_release(struct texts *t)
{
    tg_strmap_release(&t->map);
    free(t->rank);
    free(t->sorted);
}

static void put_text(struct tg_buf *b, const struct texts *t, tg_sv s)
{
    tg_pack_u64(b, t->rank[tg_strmap_find(&t->map, s)]);
}

static unsigned fact_code(tg_sv kind)
{
    unsigned k = 0;
    while (k < TG_FACT_KINDS && !tg_sv_eq(kind, tg_fact_kind(k)))
        k++;
    return k;
}

static void put_row(struct tg_buf *b, const struct texts *t, const struct tg_row *r)
{
    put_text(b, t, r->name);
    put_text(b, t, r->cat);
    put_text(b, t, r->parent);
    tg_pack_i64(b, r->device);
    tg_pack_i64(b, r->stream);
    tg_pack_i64(b, r->first);
    tg_pack_u64(b, r->facts_cut);
    tg_pack_u64(b, r->n_facts);
    for (size_t i = 0; i < r->n_facts; i++) {
        tg_pack_u64(b, fact_code(r->facts[i].kind));
        put_text(b, t, r->facts[i].value);
        tg_pack_u64(b, r->facts[i].count);
    }
}

/* Differences wrap, so that any two values have one. */
static void put_delta(struct tg_buf *b, tg_ns value, tg_ns before)
{
    tg_pack_i64(b, (int64_t)((uint64_t)value - (uint64_t)before));
}

/* `n`: the steps, and the bucket outside them. */
static void put_rows(struct tg_buf *b, const struct texts *t, const struct tg_row *rows,
                     size_t n_rows, size_t n)
{
    tg_pack_u64(b, n_rows);
    for (size_t i = 0; i < n_rows; i++)
        put_row(b, t, &rows[i]);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < n; k++)
            tg_pack_u64(b, rows[i].count[k]);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < n; k++)
            put_delta(b, rows[i].total[k], k ? rows[i].total[k - 1] : 0);
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < n; k++)
            put_delta(b, rows[i].total[k], rows[i].self[k]);
}

static void put_columns(struct tg_buf *b, const struct texts *t, const struct tg_shard *s)
{
    tg_ns *gap = s->gaps;
    put_rows(b, t, s->rows, s->n_rows, s->n_steps + 1);
    for (size_t k = 0; k < s->n_steps; k++) {
        tg_pack_u64(b, s->gap_count[k]);
        for (size_t i = 0; i < s->gap_count[k]; i++)
            tg_pack_u64(b, (uint64_t)*gap++);
    }
}

/*
 * The value that a slot is stored relative to: the same call in the previous step if that has as
 * many calls (the program repeats), else the previous call.
 */
static tg_ns expected(const struct tg_row *r, size_t step, size_t i, const tg_ns *at)
{
    if (step > 0 && r->count[step] == r->count[step - 1])
        return *(at - r->count[step]);
    return i ? at[-1] : 0;
}

static void put_slots(struct tg_buf *b, const struct tg_shard *s, const bool *kept)
{
    for (size_t i = 0; i < s->n_rows; i++)
        tg_pack_u64(b, kept[i]);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct tg_row *r = &s->rows[i];
        const tg_ns *at = r->slots;
        for (size_t step = 0; kept[i] && step < s->n_steps; step++)
            for (size_t c = 0; c < r->count[step]; c++, at++)
                put_delta(b, *at, expected(r, step, c, at));
    }
}

static void add_pair(struct tg_doc *array, int64_t a, int64_t b)
{
    struct tg_doc *pair = tg_doc_add_array(array, NULL);
    tg_doc_add_i64(pair, NULL, a);
    tg_doc_add_i64(pair, NULL, b);
}

static void add_measures(struct tg_doc *d, const struct tg_shard *s)
{
    struct tg_doc *all = tg_doc_add_object(d, "measures");
    for (int m = 0; m < TG_MEASURES; m++) {
        struct tg_doc *v = tg_doc_add_array(all, tg_measure_info((enum tg_measure)m)->name);
        for (size_t k = 0; k < s->n_steps; k++) {
            const struct tg_measure_value *x = &s->measures[(size_t)m * s->n_steps + k];
            if (x->known)
                add_pair(v, x->num, x->den);
            else
                tg_doc_add_null(v, NULL);
        }
    }
}

/* Counters and their places, for both directions. Values beyond int64 cannot be met. */
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
};
#define N_COUNTERS (sizeof counters / sizeof *counters)
_Static_assert(sizeof(tg_ns) == sizeof(uint64_t), "counters are read as one type");

static void add_counters(struct tg_doc *d, const struct tg_shard *s)
{
    struct tg_doc *o = tg_doc_add_object(d, "counters");
    for (size_t i = 0; i < N_COUNTERS; i++) {
        int64_t v;
        memcpy(&v, (const char *)s + counters[i].offset, sizeof v);
        tg_doc_add_i64(o, counters[i].name, v);
    }
}

static void add_frame_sorts(struct tg_doc *d, const struct tg_shard *s)
{
    struct tg_doc *list = s->frame_sorts ? tg_doc_add_array(d, "frames") : NULL;
    for (int sort = 0; list && sort < TG_STACK_SORTS; sort++)
        if (s->frame_sorts & 1u << sort)
            tg_doc_add_str(list, NULL, tg_sv_of(tg_frame_sort_name((enum tg_stack_sort)sort)));
}

static int64_t covered_units(const struct tg_window_hint *h)
{
    return (int64_t)(h->covered * 10000 + 0.5);
}

/* Everything that the hash covers, besides the columns. */
static void add_content(struct tg_doc *d, const struct tg_shard *s, const struct texts *t)
{
    struct tg_doc *env, *steps, *hints, *texts;
    tg_doc_add_i64(d, "rank", s->rank);
    tg_doc_add_str(d, "window", s->window);
    tg_doc_add_str(d, "classes", s->classes);
    tg_doc_add_bool(d, "marked", s->marked);
    tg_doc_add_bool(d, "truncated", s->truncated);
    env = tg_doc_add_object(d, "env");
    for (size_t i = 0; i < s->n_env; i++)
        tg_doc_add_str(env, s->env[i].key.p, s->env[i].value);
    steps = tg_doc_add_array(d, "steps");
    for (size_t k = 0; k < s->n_steps; k++) {
        struct tg_doc *one = tg_doc_add_array(steps, NULL);
        tg_doc_add_i64(one, NULL, s->steps[k].number);
        tg_doc_add_i64(one, NULL, s->steps[k].start);
        tg_doc_add_i64(one, NULL, s->steps[k].end);
    }
    add_measures(d, s);
    add_counters(d, s);
    hints = tg_doc_add_array(d, "hints");
    for (size_t i = 0; i < s->n_hints; i++) {
        struct tg_doc *one = tg_doc_add_array(hints, NULL);
        tg_doc_add_str(one, NULL, s->hints[i].name);
        tg_doc_add_i64(one, NULL, (int64_t)s->hints[i].count);
        tg_doc_add_i64(one, NULL, covered_units(&s->hints[i]));
    }
    add_frame_sorts(d, s);
    texts = tg_doc_add_array(d, "texts");
    for (size_t i = 0; i < t->map.n; i++)
        tg_doc_add_str(texts, NULL, t->sorted[i]);
}

tg_sv tg_shard_hash(const struct tg_shard *s, struct tg_arena *a)
{
    struct tg_doc *d = tg_doc_new_object();
    struct tg_buf text = { 0 }, columns = { 0 };
    struct texts t;
    uint64_t h;
    texts_init(&t, s);
    add_content(d, s, &t);
    tg_doc_write(d, false, &text);
    put_columns(&columns, &t, s);
    if (s->frame_sorts)
        put_rows(&columns, &t, s->frames, s->n_frames, s->n_steps + 1);
    h = tg_hash(tg_buf_sv(&columns), tg_hash(tg_buf_sv(&text), TG_SUMMARY_FORMAT));
    texts_release(&t);
    tg_buf_release(&columns);
    tg_buf_release(&text);
    tg_doc_free(d);
    return tg_sv_of(tg_arena_printf(a, "%016" PRIx64, h));
}

tg_sv tg_shard_recording(const struct tg_shard *s, struct tg_arena *a)
{
    struct tg_shard bare = *s;
    if (s->left_out || !s->frame_sorts)
        return s->hash;
    bare.frame_sorts = 0;
    bare.n_frames = 0;
    return tg_shard_hash(&bare, a);
}

struct sized {
    tg_ns self;
    size_t row;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    if (x->self != y->self)
        return x->self > y->self ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

/* Rows that have slots, the largest first. */
static struct sized *rows_by_size(const struct tg_shard *s, size_t *n)
{
    struct sized *v = tg_xrealloc(NULL, s->n_rows + 1, sizeof *v);
    *n = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        tg_ns self = 0;
        for (size_t k = 0; k < s->n_steps; k++)
            self = tg_ns_add(self, s->rows[i].self[k]);
        if (s->rows[i].slots)
            v[(*n)++] = (struct sized){ self, i };
    }
    if (*n)
        qsort(v, *n, sizeof *v, by_size);
    return v;
}

/* Slots of the `n` largest rows; false if they take more than `budget` bytes of text. */
static bool try_slots(const struct tg_shard *s, const struct sized *v, size_t n, size_t budget,
                      struct tg_buf *text)
{
    bool *kept = tg_xmalloc(s->n_rows + 1);
    struct tg_buf raw = { 0 };
    memset(kept, 0, s->n_rows + 1);
    for (size_t i = 0; i < n; i++)
        kept[v[i].row] = true;
    tg_buf_clear(text);
    put_slots(&raw, s, kept);
    if (raw.n <= TG_PACK_MAX)
        tg_pack_text(tg_buf_sv(&raw), text);
    free(kept);
    n = raw.n;
    tg_buf_release(&raw);
    return n <= TG_PACK_MAX && text->n <= budget;
}

/* As many of the largest rows as fit; nearly always all of them. */
static void fit_slots(const struct tg_shard *s, size_t budget, struct tg_buf *text)
{
    size_t n, lo = 0, hi;
    struct sized *v = rows_by_size(s, &n);
    if (budget == 0) {
        (void)try_slots(s, v, 0, 0, text);
    } else if (!try_slots(s, v, n, budget, text)) {
        for (hi = n; lo + 1 < hi;) {
            size_t mid = lo + (hi - lo) / 2;
            if (try_slots(s, v, mid, budget, text))
                lo = mid;
            else
                hi = mid;
        }
        (void)try_slots(s, v, lo, budget, text);
    }
    free(v);
}

static bool add_shard(struct tg_doc *shards, const struct tg_shard *s, size_t limit,
                      size_t max_slots, struct tg_err *err)
{
    struct tg_doc *d = tg_doc_add_object(shards, NULL);
    struct tg_buf raw = { 0 }, frames = { 0 }, columns = { 0 }, slots = { 0 }, head = { 0 };
    struct texts t;
    bool ok;
    tg_doc_add_str(d, "run", s->run);
    tg_doc_add_str(d, "hash", s->hash);
    texts_init(&t, s);
    add_content(d, s, &t);
    put_columns(&raw, &t, s);
    put_rows(&frames, &t, s->frames, s->n_frames, s->n_steps + 1);
    texts_release(&t);
    ok = raw.n <= TG_PACK_MAX && frames.n <= TG_PACK_MAX;
    if (ok && s->frame_sorts) {
        tg_pack_text(tg_buf_sv(&frames), &columns);
        tg_doc_add_str(d, "frame_columns", tg_buf_sv(&columns));
        tg_buf_clear(&columns);
    }
    if (ok) {
        tg_pack_text(tg_buf_sv(&raw), &columns);
        tg_doc_add_str(d, "columns", tg_buf_sv(&columns));
        tg_doc_write(d, false, &head);
        limit = head.n < limit ? limit - head.n : 0;
        fit_slots(s, limit < max_slots ? limit : max_slots, &slots);
        tg_doc_add_str(d, "slots", tg_buf_sv(&slots));
    } else {
        tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                   "'%.*s': %zu names times %zu steps do not fit into a summary",
                   TG_SV_ARG(s->source), s->n_rows, s->n_steps);
        tg_err_hint(err, "Record fewer steps.");
    }
    tg_buf_release(&raw);
    tg_buf_release(&frames);
    tg_buf_release(&columns);
    tg_buf_release(&slots);
    tg_buf_release(&head);
    return ok;
}

/* The truncated shards of the run of v[i]; nothing if an earlier one has written them. */
static void add_left_out(struct tg_doc *shards, struct tg_shard *const *v, size_t n, size_t i)
{
    struct tg_shard **alike = tg_xrealloc(NULL, n, sizeof *alike);
    size_t k = 0, first = 0;
    while (!tg_left_out_alike(v[first], v[i]))
        first++;
    for (size_t at = i; first == i && at < n; at++)
        if (tg_left_out_alike(v[i], v[at]))
            alike[k++] = v[at];
    if (k)
        tg_left_out_write(shards, alike, k);
    free(alike);
}

bool tg_summary_write(const struct tg_summary *s, const struct tg_limits *limits,
                      struct tg_buf *out, struct tg_err *err)
{
    return tg_summary_write_slots(s, limits, SIZE_MAX, out, err);
}

bool tg_summary_write_slots(const struct tg_summary *s, const struct tg_limits *limits,
                            size_t max_slots, struct tg_buf *out, struct tg_err *err)
{
    struct tg_limits all = limits ? *limits : TG_LIMITS_DEFAULT;
    struct tg_doc *d = tg_doc_new_object(), *shards;
    size_t before = out->n;
    bool ok = true;
    tg_doc_add_i64(d, "tracegate_summary", TG_SUMMARY_FORMAT);
    shards = tg_doc_add_array(d, "shards");
    for (size_t i = 0; ok && i < s->n; i++)
        if (s->shards[i]->left_out)
            add_left_out(shards, s->shards, s->n, i);
        else
            ok = add_shard(shards, s->shards[i], all.max_summary, max_slots, err);
    if (ok)
        tg_doc_write(d, false, out);
    if (ok && out->n - before > all.max_doc) {
        ok = tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE, "the summary would have %zu bytes",
                        out->n - before);
        tg_err_hint(err, "Store runs or ranks in files of their own: a side takes several.");
        out->n = before;
    }
    tg_doc_free(d);
    return ok;
}

/* ---- reading ---- */

bool tg_summary_looks_like(tg_sv s)
{
    static const char *const tokens[] = { "{", "\"tracegate_summary\"" };
    for (size_t i = 0; i < 2; i++) {
        tg_sv token = tg_sv_of(tokens[i]);
        while (s.n && (*s.p == ' ' || *s.p == '\t' || *s.p == '\n' || *s.p == '\r'))
            s = (tg_sv){ s.p + 1, s.n - 1 };
        if (!tg_sv_starts(s, token))
            return false;
        s = (tg_sv){ s.p + token.n, s.n - token.n };
    }
    return true;
}

struct reading {
    struct tg_arena *a;
    const char *file;
    struct tg_err *err;
    tg_sv *texts;
    size_t n_texts;
};

static bool damaged(const struct reading *r, const char *what)
{
    tg_err_set(r->err, TG_ERR_SUMMARY, TG_AT_FILE(r->file), "damaged summary: %s", what);
    return tg_err_hint(r->err, "Restore the file, or record it again with 'tracegate summarize'.");
}

static bool get_text(const struct reading *r, const struct tg_doc *d, tg_sv *out)
{
    if (tg_doc_type(d) != TG_DOC_STRING)
        return false;
    *out = tg_arena_sv(r->a, tg_doc_str(d, TG_SV("")));
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

static bool read_env(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    s->env = TG_NEW_N(r->a, struct tg_kv, tg_doc_count(d));
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        struct tg_kv *kv = &s->env[s->n_env++];
        kv->key = tg_arena_sv(r->a, tg_doc_key(m));
        if (!get_text(r, m, &kv->value) ||
            (s->n_env > 1 && tg_sv_cmp(s->env[s->n_env - 2].key, kv->key) >= 0))
            return damaged(r, "env");
    }
    return tg_doc_type(d) == TG_DOC_OBJECT || damaged(r, "env");
}

static bool read_steps(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    size_t n = tg_doc_count(d);
    if (tg_doc_type(d) != TG_DOC_ARRAY || !n)
        return damaged(r, "steps");
    s->steps = TG_NEW_N(r->a, struct tg_step, n);
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        int64_t v[3];
        if (!get_i64s(m, v, 3) || v[1] > v[2] ||
            (s->n_steps && v[1] < s->steps[s->n_steps - 1].end))
            return damaged(r, "steps");
        s->steps[s->n_steps++] = (struct tg_step){ v[0], v[1], v[2], TG_NO_SPAN };
    }
    return true;
}

static bool read_measures(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    s->measures = TG_NEW_N(r->a, struct tg_measure_value, TG_MEASURES * s->n_steps);
    for (int m = 0; m < TG_MEASURES; m++) {
        const struct tg_doc *all = tg_doc_get(d, tg_measure_info((enum tg_measure)m)->name);
        const struct tg_doc *v = tg_doc_first(all);
        for (size_t k = 0; k < s->n_steps; k++, v = tg_doc_next(v)) {
            struct tg_measure_value *to = &s->measures[(size_t)m * s->n_steps + k];
            int64_t pair[2] = { 0, 1 };
            if (!v)
                return damaged(r, "measures");
            to->known = tg_doc_type(v) != TG_DOC_NULL;
            if (to->known && (!get_i64s(v, pair, 2) || pair[1] <= 0))
                return damaged(r, "measures");
            to->num = pair[0];
            to->den = pair[1];
        }
    }
    return true;
}

static bool read_counters(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    for (size_t i = 0; i < N_COUNTERS; i++) {
        int64_t v;
        const struct tg_doc *m = tg_doc_get(d, counters[i].name);
        if (!m || !tg_doc_i64(m, &v))
            return damaged(r, "counters");
        memcpy((char *)s + counters[i].offset, &v, sizeof v);
    }
    return true;
}

static bool read_hints(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    s->hints = TG_NEW_N(r->a, struct tg_window_hint, tg_doc_count(d));
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        const struct tg_doc *name = tg_doc_first(m), *count = name ? tg_doc_next(name) : NULL;
        const struct tg_doc *covered = count ? tg_doc_next(count) : NULL;
        struct tg_window_hint *h = &s->hints[s->n_hints++];
        int64_t n, units;
        if (!covered || !get_text(r, name, &h->name) || !tg_doc_i64(count, &n) || n < 0 ||
            !tg_doc_i64(covered, &units) || units < 0 || units > INT32_MAX)
            return damaged(r, "hints");
        h->count = (size_t)n;
        h->covered = (double)units / 10000;
    }
    return true;
}

static bool read_texts(struct reading *r, const struct tg_doc *d)
{
    r->n_texts = 0;
    r->texts = TG_NEW_N(r->a, tg_sv, tg_doc_count(d));
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m))
        if (!get_text(r, m, &r->texts[r->n_texts++]))
            return damaged(r, "texts");
    return true;
}

static tg_sv text_at(const struct reading *r, struct tg_unpack *u)
{
    uint64_t i = tg_unpack_u64(u);
    u->bad |= i >= r->n_texts;
    return u->bad ? TG_SV("") : r->texts[i];
}

static int compare_facts(const struct tg_fact *a, const struct tg_fact *b)
{
    int c = tg_sv_cmp(a->kind, b->kind);
    return c ? c : tg_sv_cmp(a->value, b->value);
}

static bool read_row(struct reading *r, struct tg_unpack *u, struct tg_row *row)
{
    uint64_t cut;
    row->name = text_at(r, u);
    row->cat = text_at(r, u);
    row->parent = text_at(r, u);
    row->kind = tg_kind_of(row->cat, row->name); /* of frames: see read_frames */
    row->device = tg_unpack_i64(u);
    row->stream = tg_unpack_i64(u);
    row->first = tg_unpack_i64(u);
    cut = tg_unpack_u64(u);
    row->facts_cut = cut == 1;
    row->n_facts = tg_unpack_count(u);
    if (u->bad || cut > 1)
        return false;
    row->facts = TG_NEW_N(r->a, struct tg_fact, row->n_facts);
    for (size_t i = 0; i < row->n_facts; i++) {
        uint64_t code = tg_unpack_u64(u);
        if (code >= TG_FACT_KINDS)
            return false;
        row->facts[i].kind = tg_fact_kind((unsigned)code);
        row->facts[i].value = text_at(r, u);
        row->facts[i].count = tg_unpack_u64(u);
        if (u->bad || (i && compare_facts(&row->facts[i - 1], &row->facts[i]) >= 0))
            return false;
    }
    return true;
}

static bool read_numbers(struct reading *r, struct tg_unpack *u, struct tg_row *rows, size_t n_rows,
                         size_t n)
{
    size_t bytes;
    /*
     * Three numbers a row and step, at least a byte each: memory stays in proportion to the file.
     */
    if (__builtin_mul_overflow(n_rows, n * 3, &bytes) || bytes > tg_unpack_left(u))
        return false;
    for (size_t i = 0; i < n_rows; i++) {
        rows[i].count = TG_NEW_N(r->a, uint32_t, n);
        rows[i].total = TG_NEW_N(r->a, tg_ns, n);
        rows[i].self = TG_NEW_N(r->a, tg_ns, n);
        for (size_t k = 0; k < n; k++) {
            uint64_t c = tg_unpack_u64(u);
            u->bad |= c > UINT32_MAX;
            rows[i].count[k] = (uint32_t)c;
        }
    }
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < n; k++) {
            uint64_t before = k ? (uint64_t)rows[i].total[k - 1] : 0;
            rows[i].total[k] = (tg_ns)(before + (uint64_t)tg_unpack_i64(u));
            u->bad |= rows[i].total[k] < 0;
        }
    for (size_t i = 0; i < n_rows; i++)
        for (size_t k = 0; k < n; k++) {
            int64_t less = tg_unpack_i64(u);
            u->bad |= less < 0 || less > rows[i].total[k];
            rows[i].self[k] = (tg_ns)((uint64_t)rows[i].total[k] - (uint64_t)less);
        }
    return !u->bad;
}

/* `n`: the steps, and the bucket outside them. */
static bool read_rows(struct reading *r, struct tg_unpack *u, struct tg_row **out, size_t *n_rows,
                      size_t n)
{
    struct tg_row *rows;
    *n_rows = tg_unpack_count(u);
    *out = rows = TG_NEW_N(r->a, struct tg_row, *n_rows);
    for (size_t i = 0; i < *n_rows; i++)
        if (!read_row(r, u, &rows[i]))
            return false;
    return !u->bad && read_numbers(r, u, rows, *n_rows, n);
}

static bool in_order(const struct tg_row *rows, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (tg_row_cmp(&rows[i - 1], &rows[i]) >= 0)
            return false;
    return true;
}

static bool read_gaps(struct reading *r, struct tg_unpack *u, struct tg_shard *s)
{
    size_t total = 0;
    s->gap_count = TG_NEW_N(r->a, uint32_t, s->n_steps);
    s->gaps = TG_NEW_N(r->a, tg_ns, tg_unpack_left(u));
    for (size_t k = 0; k < s->n_steps; k++) {
        size_t n = tg_unpack_count(u);
        s->gap_count[k] = (uint32_t)n;
        for (size_t i = 0; i < n; i++) {
            uint64_t v = tg_unpack_u64(u);
            u->bad |= v > INT64_MAX;
            s->gaps[total++] = (tg_ns)(v & INT64_MAX);
        }
    }
    return !u->bad && u->p == u->end;
}

static bool read_columns(struct reading *r, tg_sv text, struct tg_shard *s)
{
    struct tg_buf raw = { 0 };
    struct tg_unpack u;
    bool ok = tg_unpack_text(text, &raw);
    u = (struct tg_unpack){ raw.p, raw.p ? raw.p + raw.n : raw.p, false };
    ok = ok && read_rows(r, &u, &s->rows, &s->n_rows, s->n_steps + 1) &&
         in_order(s->rows, s->n_rows) && read_gaps(r, &u, s);
    tg_buf_release(&raw);
    return ok || damaged(r, "columns");
}

static bool read_frame_sorts(const struct tg_doc *d, struct tg_shard *s)
{
    for (const struct tg_doc *m = tg_doc_first(d); m; m = tg_doc_next(m)) {
        int sort = 0;
        while (sort < TG_STACK_SORTS &&
               !tg_sv_eq(tg_doc_str(m, TG_SV("")),
                         tg_sv_of(tg_frame_sort_name((enum tg_stack_sort)sort))))
            sort++;
        if (sort == TG_STACK_SORTS || s->frame_sorts >> sort)
            return false; /* unknown, or not in ascending order */
        s->frame_sorts |= 1u << sort;
    }
    return s->frame_sorts != 0;
}

/* Their category says what they are: no event has it. */
static bool is_frame(const struct tg_shard *s, struct tg_row *row)
{
    for (int sort = 0; sort < TG_STACK_SORTS; sort++) {
        tg_sv name = tg_sv_of(tg_frame_sort_name((enum tg_stack_sort)sort));
        if (s->frame_sorts & 1u << sort && tg_sv_eq(row->cat, name))
            return tg_kind_from_name(name, &row->kind) && !row->parent.n && !row->n_facts &&
                   row->stream == -1 && (row->device == -1 || row->device == 0);
    }
    return false;
}

static bool read_frames(struct reading *r, const struct tg_doc *sorts, tg_sv text,
                        struct tg_shard *s)
{
    struct tg_buf raw = { 0 };
    struct tg_unpack u;
    bool ok;
    if (!sorts)
        return true;
    ok = read_frame_sorts(sorts, s) && tg_unpack_text(text, &raw);
    u = (struct tg_unpack){ raw.p, raw.p ? raw.p + raw.n : raw.p, false };
    ok = ok && read_rows(r, &u, &s->frames, &s->n_frames, s->n_steps + 1);
    for (size_t i = 0; ok && i < s->n_frames; i++)
        ok = is_frame(s, &s->frames[i]);
    ok = ok && in_order(s->frames, s->n_frames) && u.p == u.end;
    tg_buf_release(&raw);
    return ok || damaged(r, "frames");
}

/*
 * The slots of one row; if they do not add up to its self time in each step, they are not its
 * slots.
 */
static bool read_row_slots(struct reading *r, struct tg_unpack *u, const struct tg_shard *s,
                           struct tg_row *row)
{
    uint64_t n = tg_row_calls(s, row);
    tg_ns *at;
    if (n > tg_unpack_left(u))
        return false;
    at = row->slots = TG_NEW_N(r->a, tg_ns, (size_t)n);
    for (size_t step = 0; step < s->n_steps; step++) {
        tg_ns sum = 0;
        for (size_t i = 0; i < row->count[step]; i++, at++) {
            uint64_t delta = (uint64_t)tg_unpack_i64(u);
            *at = (tg_ns)((uint64_t)expected(row, step, i, at) + delta);
            if (*at < 0)
                return false;
            sum = tg_ns_add(sum, *at);
        }
        if (sum != row->self[step])
            return false;
    }
    return !u->bad;
}

static bool read_slots(struct reading *r, tg_sv text, struct tg_shard *s)
{
    struct tg_buf raw = { 0 };
    struct tg_unpack u, flags;
    bool ok = tg_unpack_text(text, &raw) && raw.n >= s->n_rows;
    if (ok) {
        flags = (struct tg_unpack){ raw.p, raw.p + s->n_rows, false };
        u = (struct tg_unpack){ raw.p + s->n_rows, raw.p + raw.n, false };
    }
    for (size_t i = 0; ok && i < s->n_rows; i++) {
        uint64_t kept = tg_unpack_u64(&flags);
        ok = !flags.bad && kept <= 1 && (!kept || read_row_slots(r, &u, s, &s->rows[i]));
    }
    ok = ok && u.p == u.end;
    tg_buf_release(&raw);
    return ok || damaged(r, "slots");
}

static bool read_shard(struct reading *r, const struct tg_doc *d, struct tg_shard *s)
{
    tg_sv columns, slots;
    if (!get_text(r, tg_doc_get(d, "run"), &s->run) || !s->run.n ||
        !get_text(r, tg_doc_get(d, "hash"), &s->hash) ||
        !get_text(r, tg_doc_get(d, "window"), &s->window) ||
        !get_text(r, tg_doc_get(d, "classes"), &s->classes) || !tg_doc_get(d, "rank") ||
        !tg_doc_i64(tg_doc_get(d, "rank"), &s->rank) || s->rank < -1)
        return damaged(r, "run, hash, rank, window or classes");
    s->marked = tg_doc_bool(tg_doc_get(d, "marked"), false);
    s->truncated = tg_doc_bool(tg_doc_get(d, "truncated"), false);
    columns = tg_doc_str(tg_doc_get(d, "columns"), TG_SV(""));
    slots = tg_doc_str(tg_doc_get(d, "slots"), TG_SV(""));
    if (!read_env(r, tg_doc_get(d, "env"), s) || !read_steps(r, tg_doc_get(d, "steps"), s) ||
        !read_measures(r, tg_doc_get(d, "measures"), s) ||
        !read_counters(r, tg_doc_get(d, "counters"), s) ||
        !read_hints(r, tg_doc_get(d, "hints"), s) || !read_texts(r, tg_doc_get(d, "texts")) ||
        !read_columns(r, columns, s) ||
        !read_frames(r, tg_doc_get(d, "frames"),
                     tg_doc_str(tg_doc_get(d, "frame_columns"), TG_SV("")), s))
        return false;
    if (!tg_sv_eq(tg_shard_hash(s, r->a), s->hash))
        return damaged(r, "its content does not have the hash that it names");
    return read_slots(r, slots, s);
}

static bool read_left_out(struct reading *r, const struct tg_doc *d, tg_sv source,
                          struct tg_summary *out)
{
    struct tg_shard **v;
    size_t n;
    if (!tg_left_out_read(d, r->a, &v, &n))
        return damaged(r, "left_out");
    for (size_t i = 0; i < n; i++) {
        v[i]->source = tg_clean_text(r->a, source);
        if (!tg_summary_insert(out, v[i], r->err))
            return false;
    }
    return true;
}

static bool check_format(struct reading *r, const struct tg_doc *root)
{
    int64_t format;
    if (!tg_doc_get(root, "tracegate_summary") ||
        !tg_doc_i64(tg_doc_get(root, "tracegate_summary"), &format))
        return damaged(r, "it does not name its format");
    if (format == TG_SUMMARY_FORMAT)
        return true;
    tg_err_set(r->err, TG_ERR_SUMMARY, TG_AT_FILE(r->file),
               "summary of format %" PRId64 ", this tracegate reads format %d", format,
               TG_SUMMARY_FORMAT);
    return tg_err_hint(r->err, "Use the version that wrote it, or record it again.");
}

bool tg_summary_parse(struct tg_summary *out, tg_sv text, const char *file, struct tg_err *err)
{
    struct reading r = { .a = out->arena, .file = file, .err = err };
    struct tg_doc *root = tg_doc_parse(text, file, err);
    bool ok = root && check_format(&r, root);
    tg_sv source = tg_sv_of(file ? file : "");
    for (size_t i = source.n; i > 0; i--)
        if (source.p[i - 1] == '/') {
            source = (tg_sv){ source.p + i, source.n - i };
            break;
        }
    if (ok && tg_doc_type(tg_doc_get(root, "shards")) != TG_DOC_ARRAY)
        ok = damaged(&r, "it has no shards");
    for (const struct tg_doc *d = ok ? tg_doc_first(tg_doc_get(root, "shards")) : NULL; ok && d;
         d = tg_doc_next(d)) {
        struct tg_shard *s;
        if (tg_doc_get(d, "left_out")) {
            ok = read_left_out(&r, d, source, out);
            continue;
        }
        s = TG_NEW(r.a, struct tg_shard);
        s->source = tg_clean_text(r.a, source);
        ok = read_shard(&r, d, s) && tg_summary_insert(out, s, err);
    }
    tg_doc_free(root);
    return ok;
}
