#ifndef TG_CMD_TALLY_H
#define TG_CMD_TALLY_H
/*
 * Sums of traces by (kind, name, launch attribute), for `diff --by shape|grid`: a name's calls
 * split by their input shapes, or by their launch's grid and block. Straight from spans, since a
 * summary keeps no durations by attribute. And the joining of a comparison's rows under shorter
 * names.
 */
#include "core/base/strmap.h"
#include "core/diff/compare.h"

enum tg_tally_by { TG_TALLY_SHAPE, TG_TALLY_GRID };

struct tg_tally_sums { /* both sides; zero state but for `by`: empty */
    enum tg_tally_by by;
    struct tg_strmap keys, names; /* key: kind byte, then the text that is shown */
    struct tg_op *v;
    size_t cap;
    uint64_t units[2];
    struct tg_buf text;
};
void tg_tally_release(struct tg_tally_sums *t);

/* Adds a trace (loaded with want_attrs) to TG_BASE or TG_TEST. `numbers` are the steps wanted;
 * NULL: all. Returns how many steps were taken. */
size_t tg_tally_add(struct tg_tally_sums *t, int side, const struct tg_trace *trace,
                    const struct tg_steps *steps, const int64_t *numbers, size_t n_numbers);

/* Ops with step_* and whole_* sums and n_units; names are "aten::mm [[8,16],[16,4]]". */
void tg_tally_comparison(struct tg_comparison *out, const struct tg_tally_sums *t,
                         struct tg_arena *a);

/*
 * Joins ops of one kind and one name, summing step_* and whole_*; in place. ProfilerStep#1,
 * ProfilerStep#2, ... become ProfilerStep (a step's number does not change what it does); with
 * `short_names` every name becomes its short one.
 */
void tg_join_names(struct tg_comparison *c, bool short_names, struct tg_arena *a);
#endif
