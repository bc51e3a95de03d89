#ifndef TG_CMD_GATE_CACHE_H
#define TG_CMD_GATE_CACHE_H
/*
 * Summaries of traces that are in git, so that a baseline is read once: in `tracegate/cache` of the
 * repository's common folder (`.git`), which all work trees share and nobody commits. A file is
 * named by the blob and by a key of everything else that its summary depends on: the program itself
 * (its build id, so that no upgrade meets what another one made), the path (which may say the
 * rank), and how the trace is read. It begins with a checksum; what is not whole counts as absent.
 * Files appear by renaming, and the ones that were not used for the longest time go when all
 * together exceed TG_CACHE_BYTES. Anybody may delete the folder. Nothing here is an error: if it
 * cannot be read or written, traces are read as without it.
 */
#include "cmd/gate/inputs.h"

#define TG_CACHE_BYTES ((size_t)256 << 20)
#define TG_CACHE_FILE_BYTES                                                                        \
    ((size_t)8 << 20) /* a larger summary is not kept; struct tg_limits, max_summary */

/* The folder, and the part of the key that all files have; zero: no cache. */
struct tg_cache {
    const char *folder;
    uint64_t program;
};
/* `git` opened; texts in `a`. */
void tg_cache_open(struct tg_cache *c, struct tg_git *git, struct tg_arena *a);

/* Can the summary be kept? Not of the store, whose files are summaries, and not what is changed on
 * the way. */
bool tg_cache_takes(const struct tg_cache *c, const struct tg_input_item *item,
                    const struct tg_summarize_opts *o);
/* True: `out`, which was empty, has the summary. False: it is empty still. Several threads may call
 * it. */
TG_MUST bool tg_cache_get(const struct tg_cache *c, const struct tg_input_item *item,
                          const struct tg_summarize_opts *o, struct tg_summary *out);
void tg_cache_put(const struct tg_cache *c, const struct tg_input_item *item,
                  const struct tg_summarize_opts *o, const struct tg_summary *s);
#endif
