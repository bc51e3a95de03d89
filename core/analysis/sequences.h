#ifndef TG_ANALYSIS_SEQUENCES_H
#define TG_ANALYSIS_SEQUENCES_H
/* Sequences of device work below operators, grouped by equality; shared by the two definitions and
 * by the overlay. Internal to core/analysis, except for tg_sequences_find. */
#include "core/analysis/analysis.h"

struct tg_sequence {
    tg_sv pattern; /* "OPERATOR|WORK|WORK", raw names */
    size_t length; /* pieces of device work */
    uint64_t count;
    tg_ns gpu, cpu;        /* summed over the instances */
    double gpu_us, cpu_us; /* the same, for HTA's doubles */
};

struct tg_sequence_at { /* one instance */
    size_t rank;        /* index into the analysed ranks */
    uint32_t span;      /* the operator */
    uint32_t sequence;  /* index into v */
    tg_ns start, end;   /* of its device work */
};

struct tg_sequences {
    struct tg_sequence *v; /* most frequent first, then by pattern */
    size_t n;
    struct tg_sequence_at *at; /* in the order they were met */
    size_t n_at;
};

/* The instances of the default definition. `a` holds the texts. */
void tg_sequences_find(struct tg_sequences *out, const struct tg_analysis_in *in,
                       struct tg_arena *a);
void tg_sequences_release(struct tg_sequences *s);

/* ---- building ---- */

struct tg_sequence_table { /* begins as zero */
    struct tg_strmap keys; /* text of a sequence of name ids -> id */
    struct tg_strmap names;
    struct tg_sequences out;
    size_t cap, at_cap, ids_cap;
    uint32_t *ids;
};
/* `names` are those of the operator and of its `n` - 1 pieces of work. Returns the sequence. */
struct tg_sequence *tg_sequence_table_add(struct tg_sequence_table *t, const tg_sv *names, size_t n,
                                          const struct tg_sequence_at *at);
/* Moves the result, sorted, into `out`; the table is released. */
void tg_sequence_table_finish(struct tg_sequence_table *t, struct tg_sequences *out,
                              struct tg_arena *a);

#define TG_SEQUENCES_TOP 5 /* HTA's default of top_k */
/* One row each. HTA's columns are doubles in microseconds. */
enum tg_sequence_form { TG_SEQUENCE_EXACT, TG_SEQUENCE_HTA };
void tg_sequences_put(struct tg_table *f, const struct tg_sequences *s, size_t top,
                      enum tg_sequence_form form);
extern const struct tg_table_column tg_sequence_columns[], tg_sequence_hta_columns[];
#define TG_SEQUENCE_COLUMNS 6
#define TG_SEQUENCE_HTA_COLUMNS 4
#endif
