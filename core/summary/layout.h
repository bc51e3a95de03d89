#ifndef TG_SUMMARY_LAYOUT_H
#define TG_SUMMARY_LAYOUT_H
/*
 * The stored form of shards: one JSON document that is written and read as a stream, one line a
 * shard.
 *
 *     {"tracegate_summary":…,"index":"packed","texts":[…],"rows":[…],"frames":[…],"attributes":[…],
 *      "steps_only":[…],"numbers":[…],"shards":[
 *     {"run":…,"hash":…,…,"rows":0,"pattern":1,"values":"packed","tree":0,"node_times":"packed"},
 *     …
 *     ]}
 *
 * The first line says which shards follow (`index`: run, rank and hash of each, ascending), and has
 * what they share: texts, keys and launch attributes (book.h), and the shards with step times only
 * (steps_only.c), and the numbers beside the traces (core/number/number.h). `frames`, `steps_only`
 * and `numbers` are there only if they are not empty. A shard has its content (content.c) and three
 * columns: `rows`, its rows and attributes as positions in the book; `pattern` and `values`
 * (columns.h). A `rows` or a `pattern` that an earlier shard has is the number of that column, else
 * packed text; the texts among these are numbered from 0. The calling context tree (tree_column.c)
 * is two more: `tree`, which is numbered in the same way by itself, and `node_times`. Both are
 * optional, and the hash does not cover them: what wrote a summary before there were trees reads
 * those that have one, and the other way round.
 *
 * So a shard of a program that is there already takes little more than its times, and a document of
 * thousands is merged with one of them in memory. Equal shards give equal bytes, whatever was
 * merged with what. The only limit is TG_MAX_SHARDS, known from the indexes before any work.
 *
 * Reading is strict: what is not as it is written here is damage, and it names the rank.
 */
#include "core/summary/columns.h"
#include "core/trace/reader.h"

#define TG_MAX_SHARDS ((size_t)1 << 16)

struct tg_layout_key {
    tg_sv run, hash;
    int64_t rank;
};

/* How the index names a run: RUN_TEXT and more: a text of so many bytes more than that. */
enum { TG_LAYOUT_SAME_RUN, TG_LAYOUT_RUN_IS_HASH, TG_LAYOUT_RUN_TEXT };

/* ---- writing ---- */

struct tg_summary_form {
    size_t max_slots; /* bytes of text that slots may add to each shard */
    enum tg_zlib_level level;
    bool whole; /* an error rather than fewer slots */
};
#define TG_SUMMARY_FORM ((struct tg_summary_form){ SIZE_MAX, TG_ZLIB_USUAL, false })

struct tg_layout_writer {
    struct tg_book book;
    struct tg_strmap columns;             /* raw bytes of `rows` and `pattern` -> number */
    struct tg_strmap trees;               /* of `tree` */
    const struct tg_number_runs *numbers; /* of files of numbers; NULL: none */
    struct tg_buf *out;
    size_t max_summary, max_doc; /* of struct tg_limits */
    struct tg_summary_form form;
    bool any;
};
void tg_layout_writer_init(struct tg_layout_writer *w, struct tg_buf *out,
                           const struct tg_limits *limits, struct tg_summary_form form);
void tg_layout_writer_release(struct tg_layout_writer *w);
/* After everything is in w->book. `keys` ascending by (run, rank); `steps_only` in the same order.
 * TG_ERR_LIMIT: too many shards, or names. */
TG_MUST bool tg_layout_put_head(struct tg_layout_writer *w, const struct tg_layout_key *keys,
                                size_t n, struct tg_shard *const *steps_only, size_t n_steps_only,
                                struct tg_err *err);
/* In the order of the keys. `l`: its ids in w->book. */
TG_MUST bool tg_layout_put_shard(struct tg_layout_writer *w, const struct tg_shard *s,
                                 const struct tg_listing *l, struct tg_err *err);
void tg_layout_put_tail(struct tg_layout_writer *w);
/* tg_summary_write in another form. */
TG_MUST bool tg_summary_write_form(const struct tg_summary *s, const struct tg_limits *limits,
                                   struct tg_summary_form form, struct tg_buf *out,
                                   struct tg_err *err);

/* ---- reading ---- */

struct tg_layout_shape; /* rows of one listing and one pattern */
struct tg_layout_book;  /* the book of a document, and of others that have the same */
enum { TG_LAYOUT_SHAPES = 8, TG_LAYOUT_BOOKS = 8 };

/* The last books that were read: ranks of one program have the same, and it is read once. */
struct tg_layout_books {
    struct tg_layout_book *v[TG_LAYOUT_BOOKS];
    size_t next;
};
void tg_layout_books_release(struct tg_layout_books *b);

struct tg_layout_reader {
    struct tg_source *source; /* the caller's */
    struct tg_arena *a;       /* index, columns */
    struct tg_layout_books *books;
    const char *file;
    tg_sv name; /* of the file, without its folder */
    size_t max_line;
    struct tg_buf text; /* what was read and not used yet: from `at` */
    size_t at;
    bool ended;
    bool without_trees; /* nobody asks for those of the shards that follow */
    struct tg_layout_book *book;
    struct tg_layout_key *index;
    size_t n, next;
    struct tg_shard **steps_only;
    size_t n_steps_only;
    struct tg_number_runs numbers;
    struct tg_layout_columns {
        tg_sv *v;
        size_t n, cap;
    } columns, trees;                                /* of `rows` and `pattern`; of `tree` */
    struct tg_layout_shape *shape[TG_LAYOUT_SHAPES]; /* the last ones */
    size_t next_shape;
};
/*
 * Reads the first line. After an error, too, the reader is to be closed. `books` NULL: what is read
 * lives in `a`, and shards share parts of it. Else each shard is used up before the next is read,
 * which takes less memory.
 */
TG_MUST bool tg_layout_open(struct tg_layout_reader *r, struct tg_source *source,
                            const struct tg_limits *limits, struct tg_layout_books *books,
                            struct tg_arena *a, struct tg_err *err);
/* The ids of the reader's book in `b`, which has all of it then. For readers with `books`. */
const struct tg_listing *tg_layout_joined(struct tg_layout_reader *r, struct tg_book *b);
/*
 * The next shard, in `a`, and its ids in the book; the ids are valid until the next call. After
 * TG_FAILED (err names the rank) the next call goes on with the shard after it, if the file does.
 */
TG_MUST enum tg_next tg_layout_next(struct tg_layout_reader *r, struct tg_arena *a,
                                    struct tg_shard **out, const struct tg_listing **ids,
                                    struct tg_err *err);
/* Passes over a shard. */
TG_MUST bool tg_layout_skip(struct tg_layout_reader *r, struct tg_err *err);
void tg_layout_close(struct tg_layout_reader *r);
#endif
