#ifndef TG_CMD_GATE_RESAMPLE_H
#define TG_CMD_GATE_RESAMPLE_H
/*
 * What runs of one commit say about a gate: how often it would fail although nothing changed, and
 * the smallest slowdown of each operator that it would find. Runs are split into two sides again
 * and again, by a fixed sequence of numbers: equal input, equal answer.
 *
 * Splits share runs, so their number is not a sample size: n runs hold only n / 2k disjoint pairs
 * of k against k. The error of the rate is estimated by the jackknife.
 */
#include "cmd/gate/gate.h"
#include "core/diff/numbers.h"

#define TG_NOISE_SIZES 4
extern const size_t tg_noise_sizes[TG_NOISE_SIZES]; /* runs per side: 3, 5, 8, 10 */
#define TG_CONTRACT_SIZES 3
#define TG_CONTRACT_DRAWS 100 /* of same code, and of each size */
#define TG_CONTRACT_RUNS (TG_ASK_FIRST + TG_ASK_LOOKS * TG_ASK_NEW) /* a side, at most */
extern const double tg_contract_sizes[TG_CONTRACT_SIZES];           /* 0.1, 0.2, 0.5 */

/* One name under one rule, over all splits. */
struct tg_alarm {
    const struct tg_rule *rule;
    tg_sv kind, op; /* op: normalised; of metrics of the whole trace its name */
    bool timed;
    size_t fails, warns;
    double worst; /* the largest change in the bad direction, percent; 0 none */
};

struct tg_op_noise {
    tg_sv name, kind;
    double share; /* of the step, 0..1 */
    double sigma; /* standard deviation of ln of the runs' values */
    /* ratio - 1 that 9 of 10 draws find; NaN: not judged */
    double mde[TG_NOISE_SIZES];
};

/*
 * What `tracegate ab` makes of these runs: its stages (core/diff/confirm.h) played on the values of
 * draws, without the machine's factor and without companions, so it finds a little more than this.
 */
struct tg_contract {
    double runs;                     /* a side, of the same code, on average; NaN: none is judged */
    double red;                      /* part of draws of the same code that are red */
    double found[TG_CONTRACT_SIZES]; /* of draws in which one operator is slower by such a part */
    double took[TG_CONTRACT_SIZES];  /* runs per side until it ends, on average */
    bool again;                      /* drawn with replacement */
};

struct tg_calibration {
    struct tg_contract contract;
    size_t n_runs, side, splits, disjoint;
    size_t fails, warns;
    double rate, error; /* of failing splits, 0..1; its standard error by the jackknife, or NaN */
    double tau;         /* what `pct: auto` asks for at this number of runs */
    struct tg_alarm *alarms;
    size_t n_alarms;
    struct tg_op_noise *ops; /* of judged operators, the largest share first */
    size_t n_ops;
    bool again[TG_NOISE_SIZES]; /* more runs than there are: drawn with replacement */
};

struct tg_noise_input {
    const struct tg_policy *policy;
    const struct tg_suite *suite;
    const struct tg_io *io;
    const struct tg_compare_opts *compare;
    struct tg_side all;
    size_t side;   /* runs per side; 2 * side <= runs */
    size_t splits; /* at most */
};
TG_MUST bool tg_noise_metric(struct tg_calibration *out, const struct tg_noise_input *in,
                             struct tg_arena *a, struct tg_err *err);
#endif
