/* Summaries -> bytes, and the hash of a shard's content. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/summary/internal.h"
#include "core/summary/pack.h"
#include "core/summary/store.h"

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

static void put_slots(struct tg_buf *b, const struct tg_shard *s, const bool *kept)
{
    for (size_t i = 0; i < s->n_rows; i++)
        tg_pack_u64(b, kept[i]);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct tg_row *r = &s->rows[i];
        const tg_ns *at = r->slots;
        for (size_t step = 0; kept[i] && step < s->n_steps; step++)
            for (size_t c = 0; c < r->count[step]; c++, at++)
                put_delta(b, *at, tg_slot_expected(r, step, c, at));
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

const struct tg_stored_counter tg_stored_counters[TG_STORED_COUNTERS] = {
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
_Static_assert(sizeof(tg_ns) == sizeof(uint64_t), "counters are read as one type");

static void add_counters(struct tg_doc *d, const struct tg_shard *s)
{
    struct tg_doc *o = tg_doc_add_object(d, "counters");
    for (size_t i = 0; i < TG_STORED_COUNTERS; i++) {
        int64_t v;
        memcpy(&v, (const char *)s + tg_stored_counters[i].offset, sizeof v);
        tg_doc_add_i64(o, tg_stored_counters[i].name, v);
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
