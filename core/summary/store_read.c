/* Bytes -> summaries, strictly. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/summary/internal.h"
#include "core/summary/pack.h"
#include "core/summary/store.h"

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
    for (size_t i = 0; i < TG_STORED_COUNTERS; i++) {
        int64_t v;
        const struct tg_doc *m = tg_doc_get(d, tg_stored_counters[i].name);
        if (!m || !tg_doc_i64(m, &v))
            return damaged(r, "counters");
        memcpy((char *)s + tg_stored_counters[i].offset, &v, sizeof v);
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
            *at = (tg_ns)((uint64_t)tg_slot_expected(row, step, i, at) + delta);
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
