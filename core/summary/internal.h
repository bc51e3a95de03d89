#ifndef TG_SUMMARY_INTERNAL_H
#define TG_SUMMARY_INTERNAL_H
/* What the files of core/summary need of each other. */
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
#endif
