#ifndef TG_SUMMARY_UNITE_H
#define TG_SUMMARY_UNITE_H
/*
 * The union of stored summaries as a stream, with one shard in memory. Every input is opened twice:
 * first all first lines, which say what there is and what it shares; then shard after shard in the
 * order of the result. The bytes are those of tg_summary_write of the union, whatever was merged
 * with what before: the merge is associative, commutative and idempotent.
 *
 * Time and size are linear in the shards; memory is the texts of all of them once, some 100 bytes a
 * shard, and the readers of at most TG_UNITE_OPEN inputs. An input of which the shards come between
 * those of more others is read again from its start.
 */
#include "core/summary/summary.h"

#define TG_UNITE_OPEN ((size_t)64)

struct tg_unite {
    size_t n; /* inputs */
    /* Opens the i-th from its start, any number of times; NULL with err set. */
    struct tg_source *(*open)(void *arg, size_t i, struct tg_err *err);
    /* Takes the next bytes of the result. */
    bool (*put)(void *arg, tg_sv bytes, struct tg_err *err);
    void *arg;
    struct tg_damage *damage; /* NULL: damage is an error; else it is named here, and the union
                                 has the whole parts: every input is read once more */
};
/* The same run and rank with other content: TG_ERR_SUMMARY. Damage names the rank. Output written
 * before an error is not a summary. */
TG_MUST bool tg_unite_run(const struct tg_unite *m, struct tg_err *err);
#endif
