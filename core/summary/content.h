#ifndef TG_SUMMARY_CONTENT_H
#define TG_SUMMARY_CONTENT_H
/*
 * What a shard says beside its columns, as members of a JSON object: rank, window, classes, marked,
 * truncated, env, steps, measures, counters, hints, frames (the sorts of totals by Python frame).
 *
 * The hash covers that and every row with its texts, calls, times and attributes; not run, source
 * and slots. It does not depend on the document that a shard is in.
 */
#include "core/summary/internal.h"

void tg_content_add(struct tg_doc *d, const struct tg_shard *s);
/* All but the rank. NULL, or which member is damaged. Texts are copied into `a`. */
TG_MUST const char *tg_content_read(struct tg_shard *s, const struct tg_doc *d, struct tg_arena *a);

/* Of keys, calls and attributes: the same for shards of one tg_shared_rows. */
uint64_t tg_content_shape_hash(const struct tg_shard *s);
/* Does a shard that was read from `line`, its object in the stored form,
 * have the hash that it names? */
bool tg_content_has_hash(const struct tg_shard *s, uint64_t shape, tg_sv line);
#endif
