/* Summaries -> bytes. */
#include <inttypes.h>

#include "core/base/sort.h"
#include "core/summary/beside.h"
#include "core/summary/internal.h"
#include "core/summary/layout.h"
#include "core/summary/pack.h"

void tg_layout_writer_init(struct tg_layout_writer *w, struct tg_buf *out,
                           const struct tg_limits *limits, struct tg_summary_form form)
{
    struct tg_limits all = limits ? *limits : TG_LIMITS_DEFAULT;
    *w = (struct tg_layout_writer){
        .out = out, .max_summary = all.max_summary, .max_doc = all.max_doc, .form = form
    };
    tg_book_init(&w->book);
    w->book.level = form.level;
}

void tg_layout_writer_release(struct tg_layout_writer *w)
{
    tg_book_release(&w->book);
    tg_strmap_release(&w->columns);
    tg_strmap_release(&w->trees);
}

/* ---- the first line ---- */

/* One object for all that are alike; where the first of them is. */
static void add_steps_only(struct tg_doc *d, struct tg_shard *const *v, size_t n)
{
    struct tg_doc *array = tg_doc_add_array(d, "steps_only");
    TG_FREE struct tg_shard **alike = tg_xrealloc(NULL, n + 1, sizeof *alike);
    TG_FREE bool *done = tg_xcalloc(n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        for (size_t at = i; !done[i] && at < n && tg_sv_eq(v[at]->run, v[i]->run); at++)
            if (at == i || (!done[at] && tg_shard_steps_only_alike(v[i], v[at])))
                alike[k++] = v[at];
        for (size_t at = i, j = 0; j < k; at++)
            if (v[at] == alike[j]) {
                done[at] = true;
                j++;
            }
        if (k)
            tg_shard_steps_only_write(array, alike, k);
    }
}

bool tg_layout_put_head(struct tg_layout_writer *w, const struct tg_layout_key *keys, size_t n,
                        struct tg_shard *const *steps_only, size_t n_steps_only, struct tg_err *err)
{
    static const char array[] = ",\"shards\":[\n";
    size_t before = w->out->n;
    if (n > TG_MAX_SHARDS)
        return tg_err_say(
            err, TG_ERR_LIMIT, TG_NOWHERE, "%zu runs and ranks: a summary has room for %zu",
            "Store the runs in several files: a side may have more than one.", n, TG_MAX_SHARDS);
    struct tg_doc *d = tg_doc_new_object();
    tg_doc_add_i64(d, "tracegate_summary", TG_SUMMARY_FORMAT);
    TG_BUF raw = { 0 }, packed = { 0 };
    tg_pack_u64(&raw, n);
    for (size_t i = 0; i < n; i++) {
        const struct tg_layout_key *k = &keys[i], *last = i ? k - 1 : NULL;
        if (last && tg_sv_eq(k->run, last->run)) {
            tg_pack_u64(&raw, TG_LAYOUT_SAME_RUN);
        } else if (tg_sv_eq(k->run, k->hash)) {
            tg_pack_u64(&raw, TG_LAYOUT_RUN_IS_HASH);
        } else {
            tg_pack_u64(&raw, TG_LAYOUT_RUN_TEXT + k->run.n);
            tg_buf_add(&raw, k->run);
        }
        tg_pack_i64(&raw, k->rank - (last ? last->rank : 0));
        tg_content_hash_put(&raw, k->hash);
    }
    tg_pack_text(tg_buf_sv(&raw), w->form.level, &packed);
    tg_doc_add_str(d, "index", tg_buf_sv(&packed));
    tg_book_write(&w->book, d);
    if (n_steps_only)
        add_steps_only(d, steps_only, n_steps_only);
    if (w->numbers && w->numbers->n)
        tg_number_put(tg_doc_add_array(d, "numbers"), w->numbers);
    tg_doc_write(d, TG_DOC_COMPACT, w->out);
    tg_doc_free(d);
    w->out->n -= 2; /* the brace and the end of the line */
    tg_buf_puts(w->out, array);
    if (w->out->n - before <= w->max_doc)
        return true;
    w->out->n = before;
    tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
               "the names of %zu runs and ranks do not fit into one summary", n);
    return tg_err_hint(err, "Store the runs in several files: a side may have more than one.");
}

/* ---- which slots fit ---- */

struct sized {
    tg_ns self;
    size_t row;
};

static int by_size(const void *a, const void *b)
{
    const struct sized *x = a, *y = b;
    int c = TG_CMP(y->self, x->self);
    return c ? c : TG_CMP(x->row, y->row);
}

/* The columns of a shard that are its own. */
struct own {
    bool has_tree;
    struct tg_buf values, node_times; /* packed */
};

/* The columns with the slots of the `n` largest rows; false: more than `most` bytes of text. */
static bool try_slots(const struct tg_shard *s, const struct sized *v, size_t n, size_t most,
                      enum tg_zlib_level level, struct own *to)
{
    TG_FREE bool *kept = tg_xcalloc(s->n_rows + 1, 1);
    TG_BUF values = { 0 }, times = { 0 };
    for (size_t i = 0; i < n; i++)
        kept[v[i].row] = true;
    tg_buf_clear(&to->values);
    tg_buf_clear(&to->node_times);
    tg_shard_values_put(&values, s, kept);
    if (to->has_tree)
        tg_tree_times_put(&times, s, kept);
    bool fits = values.n <= TG_PACK_MAX && times.n <= TG_PACK_MAX;
    if (fits) {
        tg_pack_text(tg_buf_sv(&values), level, &to->values);
        if (to->has_tree)
            tg_pack_text(tg_buf_sv(&times), level, &to->node_times);
    }
    return fits && to->values.n + to->node_times.n <= most;
}

/* As many of the largest rows as fit; nearly always all of them. False: not even the sums fit. */
static bool fit_slots(const struct tg_shard *s, size_t most, struct tg_summary_form form,
                      struct own *to)
{
    size_t n = 0, lo = 0, hi;
    TG_FREE struct sized *v = tg_xrealloc(NULL, s->n_rows + 1, sizeof *v);
    bool ok = true;
    for (size_t i = 0; i < s->n_rows; i++) {
        tg_ns self = 0;
        for (size_t k = 0; k < s->n_steps; k++)
            self = tg_ns_add(self, s->rows[i].self[k]);
        if (s->rows[i].slots)
            v[n++] = (struct sized){ self, i };
    }
    TG_SORT(v, n, by_size);
    if (form.max_slots != SIZE_MAX || !try_slots(s, v, n, most, form.level, to)) {
        size_t more;
        ok = !form.whole && try_slots(s, v, 0, SIZE_MAX, form.level, to);
        if (!__builtin_add_overflow(to->values.n + to->node_times.n, form.max_slots, &more) &&
            more < most)
            most = more;
        for (hi = n + 1; ok && form.max_slots && lo + 1 < hi;) {
            size_t mid = hi > n ? n : lo + (hi - lo) / 2;
            if (try_slots(s, v, mid, most, form.level, to))
                lo = mid;
            else
                hi = mid;
        }
        ok = ok && try_slots(s, v, lo, SIZE_MAX, form.level, to);
    }
    return ok;
}

/* ---- a shard ---- */

/* The number of a column that is there already, else its text. */
static void put_column(struct tg_layout_writer *w, struct tg_strmap *columns, const char *key,
                       const struct tg_buf *raw)
{
    size_t known = columns->n;
    uint32_t id = tg_strmap_add(columns, tg_buf_sv(raw));
    tg_buf_printf(w->out, id < known ? ",\"%s\":%" PRIu32 : ",\"%s\":\"", key, id);
    if (id < known)
        return;
    tg_pack_text(tg_buf_sv(raw), w->form.level, w->out);
    tg_buf_putc(w->out, '"');
}

static void put_text(struct tg_buf *out, const char *key, const struct tg_buf *packed)
{
    tg_buf_printf(out, ",\"%s\":\"", key);
    tg_buf_add(out, tg_buf_sv(packed));
    tg_buf_putc(out, '"');
}

bool tg_layout_put_shard(struct tg_layout_writer *w, const struct tg_shard *s,
                         const struct tg_listing *l, struct tg_err *err)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_doc_new_object();
    TG_BUF content = { 0 }, rows = { 0 }, pattern = { 0 }, tree = { 0 }, beside = { 0 },
           packed = { 0 };
    struct own own = { 0 };
    struct tg_summary_form form = w->form;
    size_t used, room;
    tg_doc_add_str(d, "run", s->run);
    tg_doc_add_str(d, "hash", s->hash);
    tg_content_add(d, s);
    tg_doc_write(d, TG_DOC_COMPACT, &content);
    content.n -= 2; /* the brace and the end of the line */
    tg_shared_rows_put(&pattern, s);
    tg_listing_put(&rows, l, &w->book);
    own.has_tree = s->tree.n && tg_tree_shape_put(&tree, s);
    if (s->beside_known)
        tg_beside_put(&beside, s);
    /* whatever document it is in */
    used = content.n + pattern.n + (own.has_tree ? tree.n : 0) + beside.n;
    room = used < w->max_summary ? w->max_summary - used : 0;
    form.max_slots = room ? form.max_slots : 0;
    bool ok = pattern.n <= TG_PACK_MAX && rows.n <= TG_PACK_MAX && fit_slots(s, room, form, &own);
    if (ok) {
        tg_buf_puts(w->out, w->any ? ",\n" : "");
        w->any = true;
        tg_buf_add(w->out, tg_buf_sv(&content));
        put_column(w, &w->columns, "rows", &rows);
        put_column(w, &w->columns, "pattern", &pattern);
        put_text(w->out, "values", &own.values);
        if (own.has_tree) {
            put_column(w, &w->trees, "tree", &tree);
            put_text(w->out, "node_times", &own.node_times);
        }
        if (s->beside_known && s->device_spans && beside.n <= TG_PACK_MAX) {
            tg_pack_text(tg_buf_sv(&beside), w->form.level, &packed);
            put_text(w->out, "beside", &packed);
        }
        tg_buf_putc(w->out, '}');
    } else {
        (void)tg_err_say(err, TG_ERR_LIMIT, TG_NOWHERE,
                         "'%.*s': %zu names times %zu steps do not fit into a summary",
                         "Record fewer steps.", TG_SV_ARG(s->source), s->n_rows, s->n_steps);
    }
    tg_buf_release(&own.values);
    tg_buf_release(&own.node_times);
    return ok;
}

void tg_layout_put_tail(struct tg_layout_writer *w)
{
    tg_buf_puts(w->out, w->any ? "\n]}\n" : "]}\n");
}

/* ---- a summary in memory ---- */

bool tg_summary_write(const struct tg_summary *s, const struct tg_limits *limits,
                      struct tg_buf *out, struct tg_err *err)
{
    return tg_summary_write_form(s, limits, TG_SUMMARY_FORM, out, err);
}

bool tg_summary_write_quick(const struct tg_summary *s, struct tg_buf *out, struct tg_err *err)
{
    enum { MANY = 1 << 18 }; /* numbers: a few megabytes */
    uint64_t numbers = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t r = 0; r < s->shards[i]->n_rows; r++)
            numbers += s->shards[i]->n_steps + tg_row_calls(s->shards[i], &s->shards[i]->rows[r]);
    return tg_summary_write_form(
        s, NULL,
        (struct tg_summary_form){ SIZE_MAX, numbers < MANY ? TG_ZLIB_NONE : TG_ZLIB_QUICK, true },
        out, err);
}

bool tg_summary_write_form(const struct tg_summary *s, const struct tg_limits *limits,
                           struct tg_summary_form form, struct tg_buf *out, struct tg_err *err)
{
    TG_AUTO(tg_layout_writer_release) struct tg_layout_writer w;
    TG_FREE struct tg_layout_key *keys = tg_xrealloc(NULL, s->n + 1, sizeof *keys);
    TG_FREE struct tg_listing *l = tg_xrealloc(NULL, s->n + 1, sizeof *l);
    TG_FREE struct tg_shard **whole = tg_xrealloc(NULL, s->n + 1, sizeof *whole);
    TG_FREE struct tg_shard **less = tg_xrealloc(NULL, s->n + 1, sizeof *less);
    size_t n = 0, n_less = 0, before = out->n;
    tg_layout_writer_init(&w, out, limits, form);
    w.numbers = &s->numbers;
    for (size_t i = 0; i < s->n; i++) {
        struct tg_shard *one = s->shards[i];
        if (one->steps_only) {
            less[n_less++] = one;
            continue;
        }
        tg_book_list(&w.book, one, &l[n]);
        keys[n] = (struct tg_layout_key){ one->run, one->hash, one->rank };
        whole[n++] = one;
    }
    bool ok = tg_layout_put_head(&w, keys, n, less, n_less, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = tg_layout_put_shard(&w, whole[i], &l[i], err);
    if (ok)
        tg_layout_put_tail(&w);
    else
        out->n = before;
    for (size_t i = 0; i < n; i++)
        tg_listing_release(&l[i]);
    return ok;
}
