/* Bytes -> summaries, strictly. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/summary/beside.h"
#include "core/summary/internal.h"
#include "core/summary/layout.h"
#include "core/summary/pack.h"

bool tg_summary_looks_like(tg_sv s)
{
    static const char *const tokens[] = { "{", "\"tracegate_summary\"" };
    for (size_t i = 0; i < 2; i++) {
        s = tg_sv_past(s, " \t\n\r");
        if (!tg_sv_skip(&s, tg_sv_of(tokens[i])))
            return false;
    }
    return true;
}

/* The rows of one listing and one pattern: most ranks of a program share them. */
struct tg_layout_shape {
    struct tg_arena *own;         /* NULL: everything lives in the reader's arena */
    uint32_t rows, pattern, tree; /* numbers of columns; TG_NO_ID: no tree */
    struct tg_listing ids;
    struct tg_shared_rows shape;
    struct tg_tree shape_of_tree; /* all but the self times */
};

struct tg_layout_book {
    size_t users;         /* readers and caches */
    struct tg_arena *own; /* NULL: everything lives in the reader's arena */
    tg_sv packed;         /* as it was read */
    struct tg_book_read read;
    struct tg_listing joined;
    bool is_joined;
};

/* ---- messages ---- */

static bool damaged(const struct tg_layout_reader *r, const char *what, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_AT_FILE(r->file), "damaged summary: %s", what);
    return tg_err_hint(err, "Restore the file, or record it again with 'tracegate summarize'.");
}

/* "rank 3 of run 'a'" */
static void put_key(struct tg_buf *b, const struct tg_layout_key *k)
{
    if (k->rank >= 0)
        tg_buf_printf(b, "rank %" PRId64 " of ", k->rank);
    tg_buf_printf(b, "run '%.*s'", TG_SV_ARG(k->run));
}

static bool shard_damaged(const struct tg_layout_reader *r, const struct tg_layout_key *k,
                          const char *what, struct tg_err *err)
{
    TG_BUF b = { 0 };
    put_key(&b, k);
    tg_buf_printf(&b, ": %s", what);
    return damaged(r, b.p, err);
}

static bool ends_early(struct tg_layout_reader *r, struct tg_err *err)
{
    TG_BUF b = { 0 };
    tg_buf_puts(&b, "it ends ");
    if (r->next < r->n) {
        tg_buf_puts(&b, "before ");
        put_key(&b, &r->index[r->next]);
        tg_buf_printf(&b, ", with %zu of %zu parts", r->next, r->n);
    } else {
        tg_buf_puts(&b, "before its last line");
    }
    r->next = r->n + 1;
    return damaged(r, b.p, err);
}

/* ---- lines ---- */

/* One line without its end; END: there is none. */
static enum tg_next next_line(struct tg_layout_reader *r, tg_sv *line, struct tg_err *err)
{
    enum { PIECE = 65536 };
    size_t seen = r->at;
    for (;;) {
        const char *end =
            seen < r->text.n ? memchr(r->text.p + seen, '\n', r->text.n - seen) : NULL;
        if (end) {
            *line = (tg_sv){ r->text.p + r->at, (size_t)(end - r->text.p) - r->at };
            r->at += line->n + 1;
            return TG_NEXT;
        }
        if (r->text.n - r->at > r->max_line) {
            tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(r->file),
                       "a line of the summary is larger than %zu bytes", r->max_line);
            return TG_NEXT_FAILED;
        }
        if (r->ended)
            return TG_NEXT_END;
        if (r->at) { /* what was used makes room */
            memmove(r->text.p, r->text.p + r->at, r->text.n - r->at);
            r->text.n -= r->at;
            r->at = 0;
        }
        seen = r->text.n;
        int64_t got = tg_source_fill(r->source, tg_buf_room(&r->text, PIECE), PIECE, err);
        if (got < 0)
            return TG_NEXT_FAILED;
        r->text.n += (size_t)got;
        r->ended = got == 0;
    }
}

/* ---- the first line ---- */

static bool check_format(const struct tg_layout_reader *r, const struct tg_doc *root,
                         struct tg_err *err)
{
    int64_t format;
    if (!tg_doc_get(root, "tracegate_summary") ||
        !tg_doc_i64(tg_doc_get(root, "tracegate_summary"), &format))
        return damaged(r, "it does not name its format", err);
    if (format == TG_SUMMARY_FORMAT)
        return true;
    tg_err_set(err, TG_ERR_SUMMARY, TG_AT_FILE(r->file),
               "summary of format %" PRId64 ", this tracegate reads format %d", format,
               TG_SUMMARY_FORMAT);
    return tg_err_hint(err, "Use the version that wrote it, or record it again.");
}

static bool other_layout(const struct tg_layout_reader *r, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_AT_FILE(r->file),
               "the summary is not laid out as this tracegate writes it: it was edited, or another "
               "version wrote it");
    return tg_err_hint(err, "Record it again with 'tracegate summarize'.");
}

static bool read_key(struct tg_unpack *u, struct tg_layout_key *k, bool first, struct tg_arena *a)
{
    uint64_t how = tg_unpack_u64(u);
    const struct tg_layout_key *last = k - 1;
    tg_sv run = TG_SV("");
    if (how >= TG_LAYOUT_RUN_TEXT) {
        u->bad |= how - TG_LAYOUT_RUN_TEXT > tg_unpack_left(u);
        run = (tg_sv){ u->p, u->bad ? 0 : (size_t)(how - TG_LAYOUT_RUN_TEXT) };
        u->p += run.n;
        run = tg_arena_sv(a, run);
    }
    int64_t more = tg_unpack_i64(u);
    k->hash = tg_content_hash_read(u, a);
    k->run = how == TG_LAYOUT_RUN_IS_HASH          ? k->hash
             : how == TG_LAYOUT_SAME_RUN && !first ? last->run
                                                   : run;
    if (u->bad || !k->run.n || !tg_text_is_clean(k->run) ||
        __builtin_add_overflow(first ? 0 : last->rank, more, &k->rank) || k->rank < -1)
        return false;
    int c = first ? 1 : tg_sv_cmp(k->run, last->run);
    return c > 0 || (c == 0 && k->rank > last->rank);
}

static bool read_index(struct tg_layout_reader *r, const struct tg_doc *d)
{
    TG_BUF raw = { 0 };
    bool ok = tg_unpack_text(tg_doc_str(tg_doc_get(d, "index"), TG_SV("")), &raw);
    struct tg_unpack u = { raw.p, raw.p ? raw.p + raw.n : raw.p, false };
    r->n = tg_unpack_count(&u);
    ok = ok && !u.bad && r->n <= TG_MAX_SHARDS;
    r->index = TG_NEW_N(r->a, struct tg_layout_key, ok ? r->n + 1 : 1);
    for (size_t i = 0; ok && i < r->n; i++)
        ok = read_key(&u, &r->index[i], i == 0, r->a);
    return ok && u.p == u.end;
}

static bool read_steps_only(struct tg_layout_reader *r, const struct tg_doc *array)
{
    for (const struct tg_doc *m = tg_doc_first(array); m; m = tg_doc_next(m)) {
        struct tg_shard **v;
        size_t n;
        if (!tg_shard_steps_only_read(m, r->a, &v, &n))
            return false;
        r->steps_only = tg_xrealloc(r->steps_only, r->n_steps_only + n + 1, sizeof *r->steps_only);
        for (size_t i = 0; i < n; i++) {
            v[i]->source = r->name;
            r->steps_only[r->n_steps_only++] = v[i];
        }
    }
    return !array || tg_doc_type(array) == TG_DOC_ARRAY;
}

static void put_down(struct tg_layout_book *b)
{
    if (!b || !b->own || --b->users)
        return;
    tg_listing_release(&b->joined);
    tg_arena_free(b->own);
}

void tg_layout_books_release(struct tg_layout_books *b)
{
    for (size_t i = 0; i < TG_LAYOUT_BOOKS; i++)
        put_down(b->v[i]);
    *b = (struct tg_layout_books){ 0 };
}

const struct tg_listing *tg_layout_joined(struct tg_layout_reader *r, struct tg_book *b)
{
    if (!r->book->is_joined)
        tg_book_join(b, &r->book->read, &r->book->joined);
    r->book->is_joined = true;
    return &r->book->joined;
}

static bool read_book(struct tg_layout_reader *r, const struct tg_doc *d)
{
    static const char *const keys[] = { "texts", "rows", "frames", "attributes" };
    TG_BUF packed = { 0 };
    struct tg_arena *a = r->a;
    if (r->books) {
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            tg_buf_putc(&packed, '\n');
            for (const struct tg_doc *m = tg_doc_first(tg_doc_get(d, keys[i])); m;
                 m = tg_doc_next(m)) {
                tg_buf_add(&packed, tg_doc_str(m, TG_SV("")));
                tg_buf_putc(&packed, ' ');
            }
        }
        for (size_t i = 0; i < TG_LAYOUT_BOOKS && !r->book; i++)
            if (r->books->v[i] && tg_sv_eq(r->books->v[i]->packed, tg_buf_sv(&packed)))
                r->book = r->books->v[i];
        a = tg_arena_new();
    }
    if (r->book) {
        r->book->users++;
        tg_arena_free(a);
        return true;
    }
    r->book = TG_NEW(a, struct tg_layout_book);
    *r->book = (struct tg_layout_book){ .users = 1,
                                        .own = r->books ? a : NULL,
                                        .packed = tg_arena_sv(a, tg_buf_sv(&packed)) };
    tg_buf_release(&packed);
    if (!tg_book_read(&r->book->read, d, a))
        return false;
    if (r->books) {
        put_down(r->books->v[r->books->next]);
        r->books->v[r->books->next] = r->book;
        r->book->users++;
        r->books->next = (r->books->next + 1) % TG_LAYOUT_BOOKS;
    }
    return true;
}

static bool read_head(struct tg_layout_reader *r, const struct tg_doc *d, struct tg_err *err)
{
    if (!check_format(r, d, err))
        return false;
    if (!tg_doc_get(d, "index"))
        return other_layout(r, err);
    if (!read_index(r, d))
        return damaged(r, "index", err);
    if (!read_book(r, d))
        return damaged(r, "texts, rows, frames or attributes", err);
    if (!tg_number_take(&r->numbers, tg_doc_get(d, "numbers"), r->a))
        return damaged(r, "numbers", err);
    return read_steps_only(r, tg_doc_get(d, "steps_only")) || damaged(r, "steps_only", err);
}

/* The first line begins an array that the others fill: closed here, it is a document. */
static struct tg_doc *parse_head(struct tg_layout_reader *r, tg_sv line, struct tg_err *err)
{
    static const tg_sv open = { "\"shards\":[", 10 };
    TG_BUF text = { 0 };
    struct tg_err json = TG_ERR_INIT;
    tg_buf_add(&text, line);
    if (tg_sv_ends(line, open))
        tg_buf_puts(&text, "]}");
    struct tg_doc *d = tg_doc_parse(tg_buf_sv(&text), r->file, &json);
    if (!d)
        (void)damaged(r, "its first line is not JSON", err);
    if (!d || tg_sv_ends(line, open))
        return d;
    if (check_format(r, d, err))
        (void)other_layout(r, err);
    tg_doc_free(d);
    return NULL;
}

bool tg_layout_open(struct tg_layout_reader *r, struct tg_source *source,
                    const struct tg_limits *limits, struct tg_layout_books *books,
                    struct tg_arena *a, struct tg_err *err)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *d = NULL;
    tg_sv line;
    *r = (struct tg_layout_reader){ .source = source,
                                    .a = a,
                                    .books = books,
                                    .file = tg_source_name(source),
                                    .max_line = (limits ? *limits : TG_LIMITS_DEFAULT).max_doc };
    r->name = tg_clean_text(a, tg_file_name(tg_sv_of(r->file ? r->file : "")));
    switch (next_line(r, &line, err)) {
    case TG_NEXT_FAILED:
        return false;
    case TG_NEXT_END: /* without an end of line: as much as there is */
        line = (tg_sv){ r->text.p ? r->text.p : "", r->text.n };
        break;
    case TG_NEXT:
        break;
    }
    d = parse_head(r, line, err);
    return d && read_head(r, d, err);
}

/* ---- shards ---- */

static void free_shape(struct tg_layout_shape *s)
{
    if (s && s->own)
        tg_arena_free(s->own);
}

void tg_layout_close(struct tg_layout_reader *r)
{
    for (size_t i = 0; i < TG_LAYOUT_SHAPES; i++)
        free_shape(r->shape[i]);
    put_down(r->book);
    tg_buf_release(&r->text);
    free(r->columns.v);
    free(r->trees.v);
    free(r->steps_only);
    *r = (struct tg_layout_reader){ 0 };
}

/* A number, or the text of a new column: its number. */
static bool column_of(struct tg_layout_reader *r, struct tg_layout_columns *c,
                      const struct tg_doc *d, uint32_t *out)
{
    TG_BUF raw = { 0 };
    int64_t id;
    if (tg_doc_type(d) == TG_DOC_NUMBER) {
        if (!tg_doc_i64(d, &id) || id < 0 || (uint64_t)id >= c->n)
            return false;
        *out = (uint32_t)id;
        return true;
    }
    if (!tg_unpack_text(tg_doc_str(d, TG_SV("")), &raw))
        return false;
    *out = (uint32_t)c->n;
    *TG_PUSH(c->v, c->n, c->cap) = tg_arena_sv(r->a, tg_buf_sv(&raw));
    return true;
}

/* The columns that a shard shares with others. */
struct shared {
    uint32_t rows, pattern, tree; /* `tree`: TG_NO_ID if it has none */
};

/* All are looked at, because they count. NULL, or what is damaged. */
static const char *columns_of(struct tg_layout_reader *r, const struct tg_doc *d,
                              struct shared *out)
{
    const struct tg_doc *tree = tg_doc_get(d, "tree");
    bool rows = column_of(r, &r->columns, tg_doc_get(d, "rows"), &out->rows);
    bool pattern = column_of(r, &r->columns, tg_doc_get(d, "pattern"), &out->pattern);
    out->tree = TG_NO_ID;
    if (tree && !column_of(r, &r->trees, tree, &out->tree))
        return "tree";
    return rows && pattern ? NULL : "rows or pattern";
}

/* NULL, or what is damaged. */
static const char *read_shape(struct tg_layout_reader *r, struct tg_layout_shape *s, size_t n_steps,
                              struct tg_arena *a)
{
    struct tg_shared_rows *rows = &s->shape;
    if (!tg_listing_read(&s->ids, r->columns.v[s->rows], &r->book->read, a) ||
        !tg_shared_rows_read(rows, r->columns.v[s->pattern], &s->ids, &r->book->read, n_steps, a))
        return "rows or pattern";
    if (s->tree != TG_NO_ID && !tg_tree_shape_read(&s->shape_of_tree, r->trees.v[s->tree],
                                                   rows->rows, rows->n_rows, n_steps, a))
        return "tree";
    const struct tg_shard view = { .rows = rows->rows,
                                   .n_rows = rows->n_rows,
                                   .n_frames = rows->n_frames,
                                   .n_steps = rows->n_steps,
                                   .gap_count = rows->gap_count };
    rows->hash = tg_content_shape_hash(&view);
    return NULL;
}

/* NULL, or what is damaged. */
static const char *shape_of(struct tg_layout_reader *r, const struct shared *c, size_t n_steps,
                            const struct tg_layout_shape **out)
{
    struct tg_arena *a;
    const char *bad;
    for (size_t i = 0; i < TG_LAYOUT_SHAPES; i++) {
        *out = r->shape[i];
        if (*out && (*out)->rows == c->rows && (*out)->pattern == c->pattern &&
            (*out)->tree == c->tree && (*out)->shape.n_steps == n_steps)
            return NULL;
    }
    a = r->books ? tg_arena_new() : r->a;
    struct tg_layout_shape *s = TG_NEW(a, struct tg_layout_shape);
    *s = (struct tg_layout_shape){
        .own = r->books ? a : NULL, .rows = c->rows, .pattern = c->pattern, .tree = c->tree
    };
    if ((bad = read_shape(r, s, n_steps, a))) {
        free_shape(s);
        return bad;
    }
    free_shape(r->shape[r->next_shape]);
    *out = r->shape[r->next_shape] = s;
    r->next_shape = (r->next_shape + 1) % TG_LAYOUT_SHAPES;
    return NULL;
}

/* NULL, or what is damaged. */
static const char *read_times(struct tg_shard *s, const struct tg_doc *d,
                              const struct tg_layout_shape *shape, struct tg_arena *a)
{
    TG_BUF values = { 0 }, times = { 0 }, beside = { 0 };
    const struct tg_doc *of_beside = tg_doc_get(d, "beside");
    if (!tg_unpack_text(tg_doc_str(tg_doc_get(d, "values"), TG_SV("")), &values) ||
        !tg_shard_values_read(s, tg_buf_sv(&values), &shape->shape, a))
        return "values";
    if (s->tree.n && (!tg_unpack_text(tg_doc_str(tg_doc_get(d, "node_times"), TG_SV("")), &times) ||
                      !tg_tree_times_read(s, tg_buf_sv(&times), a)))
        return "node_times";
    if (of_beside && (!tg_unpack_text(tg_doc_str(of_beside, TG_SV("")), &beside) ||
                      !tg_beside_read(s, tg_buf_sv(&beside), a)))
        return "beside";
    return NULL;
}

/* NULL, or what is damaged. */
static const char *read_shard(struct tg_layout_reader *r, const struct tg_doc *d, tg_sv line,
                              struct tg_arena *a, struct tg_shard *s, const struct tg_listing **ids)
{
    const struct tg_layout_key *k = &r->index[r->next];
    const struct tg_layout_shape *shape = NULL;
    struct shared shared;
    const char *columns = columns_of(r, d, &shared), *bad;
    if (!tg_sv_eq(tg_doc_str(tg_doc_get(d, "run"), TG_SV("")), k->run) ||
        !tg_sv_eq(tg_doc_str(tg_doc_get(d, "hash"), TG_SV("")), k->hash) ||
        !tg_doc_i64(tg_doc_get(d, "rank"), &s->rank) || s->rank != k->rank)
        return "its run, hash or rank are not those of the index";
    s->run = k->run;
    s->hash = k->hash;
    s->source = r->name;
    if ((bad = tg_content_read(s, d, a)))
        return bad;
    if (columns || (bad = shape_of(r, &shared, s->n_steps, &shape)))
        return columns ? columns : bad;
    if (!r->without_trees)
        s->tree = shape->shape_of_tree;
    if ((bad = read_times(s, d, shape, a)))
        return bad;
    for (size_t i = 0; i < s->n_frames; i++) { /* they are of the sorts that it names */
        enum tg_stack_sort sort;
        if (!tg_frame_sort_find(s->rows[s->n_rows + i].key->cat, &sort) ||
            !(s->frame_sorts & 1u << sort))
            return "frames";
    }
    if (!tg_content_has_hash(s, shape->shape.hash, line))
        bad = "its content does not have the hash that it names";
    *ids = &shape->ids;
    return bad;
}

static bool take_tail(struct tg_layout_reader *r, struct tg_err *err)
{
    tg_sv line;
    enum tg_next got = next_line(r, &line, err);
    if (got == TG_NEXT_END)
        return ends_early(r, err);
    r->next = r->n + 1;
    if (got == TG_NEXT_FAILED)
        return false;
    if (!tg_sv_eq(line, TG_SV("]}")))
        return damaged(r, "it does not end as it should", err);
    got = next_line(r, &line, err);
    if (got == TG_NEXT_FAILED)
        return false;
    return (got == TG_NEXT_END && r->at == r->text.n) ||
           damaged(r, "something follows its end", err);
}

/* The line of the next shard, and as a document; NULL with err set. */
static struct tg_doc *shard_line(struct tg_layout_reader *r, tg_sv *line, struct tg_err *err)
{
    bool more = r->next + 1 < r->n;
    struct tg_err json = TG_ERR_INIT;
    struct tg_doc *d = NULL;
    switch (next_line(r, line, err)) {
    case TG_NEXT_FAILED:
        r->next = r->n + 1;
        return NULL;
    case TG_NEXT_END:
        (void)ends_early(r, err);
        return NULL;
    case TG_NEXT:
        break;
    }
    if (tg_sv_ends(*line, TG_SV(",")) == more) {
        line->n -= more;
        d = tg_doc_parse(*line, r->file, &json);
    }
    if (!d)
        (void)shard_damaged(r, &r->index[r->next++], "it is not JSON", err);
    return d;
}

enum tg_next tg_layout_next(struct tg_layout_reader *r, struct tg_arena *a, struct tg_shard **out,
                            const struct tg_listing **ids, struct tg_err *err)
{
    tg_sv line;
    if (r->next > r->n)
        return TG_NEXT_END;
    if (r->next == r->n)
        return take_tail(r, err) ? TG_NEXT_END : TG_NEXT_FAILED;
    struct tg_doc *d = shard_line(r, &line, err);
    if (!d)
        return TG_NEXT_FAILED;
    *out = TG_NEW(a, struct tg_shard);
    const char *bad = read_shard(r, d, line, a, *out, ids);
    tg_doc_free(d);
    if (bad)
        (void)shard_damaged(r, &r->index[r->next], bad, err);
    r->next++;
    return bad ? TG_NEXT_FAILED : TG_NEXT;
}

bool tg_layout_skip(struct tg_layout_reader *r, struct tg_err *err)
{
    tg_sv line;
    struct tg_doc *d = shard_line(r, &line, err);
    struct shared ignored;
    const char *bad = d ? columns_of(r, d, &ignored) : NULL;
    tg_doc_free(d);
    if (bad)
        (void)shard_damaged(r, &r->index[r->next], bad, err);
    r->next += d != NULL;
    return d && !bad;
}

/* ---- a summary in memory ---- */

bool tg_summary_read(struct tg_summary *out, struct tg_source *source,
                     const struct tg_summarize_opts *o, struct tg_err *err)
{
    struct tg_kept_rows kept = { .lasting = true }; /* without books, they are in out->arena */
    TG_AUTO(tg_layout_close) struct tg_layout_reader r;
    bool open = tg_layout_open(&r, source, o->load.reader.limits, NULL, out->arena, err);
    bool ok = open || tg_damage_add(o->damage, err);
    for (size_t i = 0; open && ok && i < r.n_steps_only; i++)
        ok = tg_summary_insert(out, r.steps_only[i], err);
    if (open)
        tg_number_unite(&out->numbers, &r.numbers, out->arena);
    for (bool more = open && ok; more;) {
        const struct tg_listing *ids;
        struct tg_shard *s;
        /* The rows of a shard without names are forgotten before the next one is read. */
        r.without_trees = o->named_ranks && r.next < r.n && r.index[r.next].rank >= o->named_ranks;
        TG_ARENA *own = r.without_trees ? tg_arena_new() : NULL;
        enum tg_next got = tg_layout_next(&r, own ? own : out->arena, &s, &ids, err);
        if (got == TG_NEXT)
            ok = tg_summary_insert(
                out, own ? tg_shard_unnamed(s, o->classes, &kept, out->arena) : s, err);
        else if (got == TG_NEXT_FAILED)
            ok = tg_damage_add(o->damage, err);
        more = ok && got != TG_NEXT_END;
    }
    tg_kept_rows_release(&kept);
    return ok;
}

bool tg_summary_parse(struct tg_summary *out, tg_sv text, const char *file, struct tg_err *err)
{
    static const struct tg_summarize_opts whole = { 0 };
    TG_SOURCE *s = tg_source_memory(text, file ? file : "", NULL, err);
    return s && tg_summary_read(out, s, &whole, err);
}
