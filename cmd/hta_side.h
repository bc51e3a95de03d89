#ifndef TG_CMD_HTA_SIDE_H
#define TG_CMD_HTA_SIDE_H
/* Inputs -> HTA's view of a side: rank by HTA's text search, later files replace earlier ranks. */
#include "cmd/gate/inputs.h"
#include "core/hta/hta_diff.h"

/* The rank that the text says; standard input passes only once and is asked for distributedInfo:
 * -1. */
TG_MUST bool tg_rank_by_hta(int64_t *rank, const struct tg_input_item *item, struct tg_repo *repo,
                            struct tg_err *err);
TG_MUST bool tg_hta_side_load(struct tg_hta_side *side, const struct tg_input_list *inputs,
                              struct tg_repo *repo, const struct tg_io *io,
                              const struct tg_progress *progress, struct tg_err *err);
#endif
