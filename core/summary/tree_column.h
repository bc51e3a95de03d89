#ifndef TG_SUMMARY_TREE_COLUMN_H
#define TG_SUMMARY_TREE_COLUMN_H
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
#include "core/summary/summary.h"

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
