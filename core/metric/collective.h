#ifndef TG_METRIC_COLLECTIVE_H
#define TG_METRIC_COLLECTIVE_H
/*
 * Matches the same collective on several ranks.
 *
 * Where the profiler numbers them (Kineto since 2026: `Comms Id`, a hash of process group and
 * number; or `Seq`, the number within the group), by that: collectives of one id are one,
 * whatever their step, operator and stream, and kernels of one id are counted through. The key is
 * the kernel's name and the group with its ranks.
 *
 * Else, and for a name and group that one rank never numbers, by order: the k-th of a key in a step
 * is the k-th of that key on the other ranks. A key identifies what runs: kernel name, process
 * group, the operator around the launch (one kernel serves several collectives, and ranks may run
 * them in different orders), and the ordinal of the stream. Uses durations only: the clocks of
 * ranks need not agree.
 */
#include "core/base/buf.h"
#include "core/base/strmap.h"
#include "core/steps/steps.h"

/* Hashes that are the same on every rank. Two operations of one hash are counted through like two
 * kernels of one operation, so that a collision changes nothing that ranks see alike. */
struct tg_collective_id {
    uint32_t group;
    uint32_t op; /* never 0; 0: the trace does not number it */
};
#define TG_COLLECTIVE_ID_TEXT 16 /* bytes, as in summaries */
/* From a kernel's attributes: lines "group=", "group_ranks=", "seq=", "comms_id=". */
struct tg_collective_id tg_collective_id_of(tg_sv attrs);
void tg_collective_id_put(struct tg_buf *out, struct tg_collective_id id);
struct tg_collective_id tg_collective_id_read(const char text[TG_COLLECTIVE_ID_TEXT]);

struct tg_collective { /* one collective on one rank */
    uint32_t key, rank;
    uint32_t op;  /* see above; 0: matched by order */
    int64_t step; /* number; -1: outside, or a trace without steps */
    size_t nth; /* position among those of its key and op, or of its key in its step, on its rank */
    tg_ns dur;
};

/* Sorts `v` (ranks one after the other) and calls `f` with the spans of each collective, by rank.
 * `whole`: at least two ranks, and every rank that has the key at all has this one. */
void tg_collectives_match(struct tg_collective *v, size_t n, size_t n_keys,
                          void (*f)(void *arg, const struct tg_collective *p, size_t n, bool whole),
                          void *arg);

/* Which names of a kernel and group every rank numbers, by the caller's id. Ranks one after the
 * other. */
struct tg_collective_numbers {
    struct tg_collective_number {
        uint32_t rank;     /* the last one that has it */
        bool number, bare; /* that rank numbers one; a rank before it numbers none */
    } * v;
    size_t n, cap;
};
void tg_collective_numbers_see(struct tg_collective_numbers *s, uint32_t id, uint32_t rank,
                               bool numbered);
bool tg_collective_numbers_all(const struct tg_collective_numbers *s, uint32_t id);
void tg_collective_numbers_release(struct tg_collective_numbers *s);

/* How many of a key and step, or op, one rank has had before. */
struct tg_collective_counter {
    struct tg_strmap seen;
    size_t *count, cap;
};
void tg_collective_counter_init(struct tg_collective_counter *c);
void tg_collective_counter_release(struct tg_collective_counter *c);
/* Sets p->nth. */
void tg_collective_count(struct tg_collective_counter *c, struct tg_collective *p);
#endif
