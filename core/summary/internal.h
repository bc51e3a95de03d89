#ifndef TG_SUMMARY_INTERNAL_H
#define TG_SUMMARY_INTERNAL_H
/* What the files of core/summary need of each other. */
#include "core/steps/steps.h"
#include "core/summary/summary.h"

/* env.c: sorted by key. `texts` are made valid UTF-8. */
void tg_env_build(struct tg_shard *out, const struct tg_trace *t, const struct tg_summarize_opts *o,
                  struct tg_arena *a);

/* set.c */
tg_sv tg_clean_text(struct tg_arena *a, tg_sv s); /* valid UTF-8 without NUL, in `a` */
bool tg_text_is_clean(tg_sv s);
/* A row of zeroes for `n_steps` steps, with a copy of the key, whose texts stay where they are. */
struct tg_row tg_row_new(const struct tg_row_key *key, size_t n_steps, struct tg_arena *a);
size_t tg_shard_gaps(const struct tg_shard *s); /* of all steps */
int tg_row_key_cmp(const struct tg_row_key *a, const struct tg_row_key *b);
int tg_row_cmp(const void *a, const void *b); /* two rows, for qsort */
/* Of two pointers to shards, for qsort. */
int tg_shard_by_arrival(const void *a, const void *b);
/* Keys of shards, by run, then rank. */
int tg_shard_key_cmp(tg_sv run_a, int64_t rank_a, tg_sv run_b, int64_t rank_b);
/* Two shards of one key have other content. Always false. */
bool tg_shard_contradicts(tg_sv run, int64_t rank, struct tg_err *err);
/* Puts a shard (which is in out->arena) in its place, or into the equal shard that is there. */
TG_MUST bool tg_summary_insert(struct tg_summary *out, struct tg_shard *s, struct tg_err *err);
/* A deep copy in `a`. */
struct tg_shard *tg_shard_copy(const struct tg_shard *s, struct tg_arena *a);
struct tg_shard *tg_summary_find(const struct tg_summary *s, tg_sv run, int64_t rank);

/* frames.c: out->frames of a trace with its Python functions apart. */
void tg_frames_of_trace(struct tg_shard *out, const struct tg_trace *t,
                        const struct tg_steps *steps, unsigned sorts, struct tg_arena *a);
/* A row of zeroes of one name. `device`: struct tg_shard. */
struct tg_row tg_frame_row(enum tg_kind kind, tg_sv name, int64_t device, size_t n_steps,
                           struct tg_arena *a);
/* "module", "source", by their bits. */
const char *tg_frame_sort_name(enum tg_stack_sort sort);
bool tg_frame_sort_find(tg_sv name, enum tg_stack_sort *out);

/* A trace and its steps of which nothing but the shard is wanted: what the shard was made of is
 * freed column by column, or has other numbers in its place. */
struct tg_spent {
    struct tg_trace *trace;
    struct tg_steps *steps;
};
/* build.c: a complete shard in `a`; rank, run and hash are not set yet. `own` NULL:
 * both are needed after it. NULL with err: a limit. */
TG_MUST struct tg_shard *tg_shard_build(const struct tg_trace *t, const struct tg_steps *steps,
                                        const struct tg_summarize_opts *o,
                                        const struct tg_spent *own, struct tg_arena *a,
                                        struct tg_err *err);

/* content.c: the content hash, 16 hex digits in `a`. */
tg_sv tg_shard_hash(const struct tg_shard *s, struct tg_arena *a);
/* layout_read.c: adds the shards of a stored summary; after an error `out` may hold a part. With
 * o->damage damaged shards are skipped. */
TG_MUST bool tg_summary_read(struct tg_summary *out, struct tg_source *source,
                             const struct tg_summarize_opts *o, struct tg_err *err);

/* set.c: which rows a shard without names keeps; those of the shard before are remembered. */
struct tg_kept_rows {
    const struct tg_row_key **key;
    bool *kept;
    size_t n;
    bool lasting; /* run, hash, keys, calls and attributes outlive the shard: they are not copied */
    const struct tg_shard *before; /* the last one: equal texts are those of it */
};
void tg_kept_rows_release(struct tg_kept_rows *k);
/* A copy in `a` with metrics, step times and collectives alone. */
struct tg_shard *tg_shard_unnamed(const struct tg_shard *s, const struct tg_classes *classes,
                                  struct tg_kept_rows *k, struct tg_arena *a);

/* steps_only.c: a content hash as 8 bytes. */
struct tg_unpack;
void tg_content_hash_put(struct tg_buf *b, tg_sv hash);
tg_sv tg_content_hash_read(struct tg_unpack *u, struct tg_arena *a); /* sets u->bad */

/* steps_only.c: shards of which only the step times are kept, as one object of the stored form. */
#define TG_MAX_STEPS_ONLY ((size_t)1 << 17) /* shards times steps; what they take in memory */
void tg_shard_steps_only_write(struct tg_doc *shards, struct tg_shard *const *v, size_t n);
/* Can they share one object? */
bool tg_shard_steps_only_alike(const struct tg_shard *a, const struct tg_shard *b);
/* False: damaged. */
TG_MUST bool tg_shard_steps_only_read(const struct tg_doc *d, struct tg_arena *a,
                                      struct tg_shard ***v, size_t *n);

/* ---- content.c ---- */

/*
 * What a shard says beside its columns, as members of a JSON object: rank, window, classes, marked,
 * truncated, env, steps, measures, counters, hints, frames (the sorts of totals by Python frame).
 *
 * The hash covers that and every row with its texts, calls, times and attributes; not run, source
 * and slots. It does not depend on the document that a shard is in.
 */

void tg_content_add(struct tg_doc *d, const struct tg_shard *s);
/* All but the rank. NULL, or which member is damaged. Texts are copied into `a`. */
TG_MUST const char *tg_content_read(struct tg_shard *s, const struct tg_doc *d, struct tg_arena *a);

/* Of keys, calls and attributes: the same for shards of one tg_shared_rows. */
uint64_t tg_content_shape_hash(const struct tg_shard *s);
/* Does a shard that was read from `line`, its object in the stored form,
 * have the hash that it names? */
bool tg_content_has_hash(const struct tg_shard *s, uint64_t shape, tg_sv line);

/* ---- tree_build.c ---- */

/* Makes trees. tg_tree_place finds the node of every span of a trace; tg_tree_order gives a tree
 * its canonical order and room for its numbers, whoever made its nodes. */

/* Nodes in any order, a parent before its children; the first TG_ROOTS are the roots. */
struct tg_placed {
    struct tg_tree_node *node; /* `row`: as the caller numbers rows */
    size_t n;
    uint32_t *at; /* after tg_tree_order: where each is in the tree */
    uint64_t cut;
};
/* A number per span: in a column, or in place of the index (tg_span) in a trace that is `spent`. */
struct tg_span_rows {
    uint32_t *column;
    struct tg_trace *spent; /* NULL: there is a column */
};
static inline uint32_t *tg_span_row(const struct tg_span_rows *r, size_t i)
{
    return r->spent ? &tg_span_at(r->spent, i)->index : &r->column[i];
}
/* `row_of`: the index of a span's row in `rows`; afterwards the index of its node. Linear in
 * the spans; creating a node costs its depth. */
void tg_tree_place(struct tg_placed *out, const struct tg_trace *t, const struct tg_steps *s,
                   const struct tg_row *rows, size_t n_rows, size_t max_nodes,
                   const struct tg_span_rows *row_of);
void tg_placed_release(struct tg_placed *p);

/* How many nodes a shard of `n_steps` may have: their numbers have a place for every step. */
size_t tg_tree_room(const struct tg_limits *limits, size_t n_steps);
/* May a stored tree be as large? What was cut has a node for each row beside those. */
bool tg_tree_fits(const struct tg_tree *t, size_t n_rows, size_t n_steps);
/* Gives each node of a row that has several a place for numbers of its own; returns how many. */
size_t tg_tree_split(struct tg_tree_node *v, size_t n, size_t n_rows);

/* out->tree of the nodes, in `a`: order, splits, and counts and self times of zero. `position`:
 * where each row will be in out->rows. */
void tg_tree_order(struct tg_shard *out, struct tg_placed *p, const uint32_t *position,
                   struct tg_arena *a);
/* Where the self time of a row saturated, it is that of its first node.
 * After everything is added up. */
void tg_tree_settle(struct tg_shard *s);

/* ---- tree_column.c ---- */

/*
 * The tree of a shard as two columns of varints (pack.h), beside those of columns.h. Both are
 * optional: a summary without them has no tree.
 *
 * The shape is what ranks of one program share: the spans that were cut; per node, in preorder, how
 * many levels up from the node before it, the next root if that is one, and the row relative to the
 * sibling before it; per row with several nodes, which of them each slot is (a step like the one
 * before it is one byte), and their calls outside the steps.
 *
 * The times are what slots do not say: the self time of these nodes outside the steps, and in the
 * steps if the row's slots were dropped. The last node of a row has what is left of the row's.
 */

/* The shape; false: too large to be stored. */
TG_MUST bool tg_tree_shape_put(struct tg_buf *out, const struct tg_shard *s);
/* Fills `out` but for the self times, and slot_node of `rows`, which have their counts;
 * in `a`. False: damaged. */
TG_MUST bool tg_tree_shape_read(struct tg_tree *out, tg_sv raw, struct tg_row *rows, size_t n_rows,
                                size_t n_steps, struct tg_arena *a);

/* `kept`: by row, whether its slots are stored. */
void tg_tree_times_put(struct tg_buf *out, const struct tg_shard *s, const bool *kept);
/* s->tree.self, in `a`, of a shard that has all else. False: damaged. */
TG_MUST bool tg_tree_times_read(struct tg_shard *s, tg_sv raw, struct tg_arena *a);
#endif
