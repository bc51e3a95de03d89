#ifndef TG_DIFF_NUMBERS_H
#define TG_DIFF_NUMBERS_H
/*
 * All numbers that can move a verdict, each once: what it is a part or a multiple of, and who uses
 * it. Those marked (noise) were set on the recorded pairs of that name
 * (docs/experiments/first-round.md); the others are choices that no recorded pair speaks against. A
 * page or a message that quotes one quotes it from here.
 * tests/lint/pages.py finds a number that stands elsewhere.
 */

/* ---- parts of the step, D ---- */
/* A smaller change of time never fails; a smaller new name only warns (noise). */
#define TG_FLOOR 0.001
#define TG_RENAME_FLOOR 0.002 /* below it equal times are chance: no rename */
/* An operator that speaks for the machine, smaller ones are added up (noise); views. */
#define TG_BIG 0.003
/* With too few runs: suspicious; with a schedule: the step's; what came into it. */
#define TG_NOTABLE 0.01
#define TG_LATE_PART 0.02  /* waiting for stragglers */
#define TG_RARE_FLOOR 0.03 /* a slow step or a slow call, of device work: warns (noise) */
/* Excess of a busy machine; what each operator, or place, has moved by (noise); views. */
#define TG_RESTLESS 0.05
/* Slow host steps and runs; times that nothing compares; calls no rule is about. */
#define TG_MUCH 0.1

/* ---- ratios ---- */
/* Bytes of a call; a slow step against any of the baseline: up to it, the same. */
#define TG_AS_LARGE 1.1
#define TG_SLACK 0.1 /* of a ratio of iterations; of calls under another parent, or outside steps */
#define TG_SUSPECT 1.3   /* times of a rename, of a view; with too few runs: suspicious */
#define TG_RARE_STEP 1.5 /* a slow step against the usual one (noise) */
/* Other data, to a count; a slow host step; a doubled name; standard errors; a number. */
#define TG_TWICE 2
#define TG_APART 5 /* with too few runs: times what the others changed by (294 pairs of one run) */

/* ---- parts of runs, steps, names ---- */
/* Of the ranks: so many are stragglers; p of new runs: beyond it they do not look slower. Reports
 * say when a pass could miss as much, and when runs are as far apart. */
#define TG_QUARTER 0.25
/* Of the variance between runs: at most so much stays without their speeds (noise). */
#define TG_LEVELLED 0.33
/* Of a change that half of the steps, the enclosers, the machine have to show; of the calls of an
 * operator, each with work of others inside (noise). */
#define TG_HALF 0.5
/* Of the steps with one number of calls; of the names with one ratio; of a kernel. */
#define TG_SETTLED 0.6
#define TG_WINS 0.75 /* of the pairs of steps; of the big operators that moved together (noise) */
#define TG_NEARLY_ALL 0.9 /* of the change under one parent; of the other big operators (noise) */

/* ---- numbers of things ---- */
#define TG_FEWEST_RUNS 3 /* a side: for durations, and for a name of all runs of one side alone */
#define TG_FEW_VARY 3 /* operators: fewer that vary tell nothing about the data; steps: more do */
#define TG_MIN_BIG 5  /* operators: fewer tell nothing about the machine */
#define TG_FINE_TICKS 10  /* of the clock a call, from which on it shows a factor */
#define TG_MORE_A_TRACE 1 /* calls outside the steps, on average of the traces */

/* ---- chances ---- */
#define TG_PART_P 0.01       /* of k fresh steps above all others; of a schedule: a hint */
#define TG_SCHEDULE_P 0.0001 /* of a schedule: a proof */
#define TG_RANK_P 0.001      /* of ranks of steps, where counts vary; of runs (noise) */

/* ---- thresholds by runs: z standard errors, a size tau, the largest p (noise) ---- */
#define TG_Z_3 4 /* 3v3, 4v3 */
#define TG_TAU_3 0.15
#define TG_Z_4 3.5 /* 4v4, 5v3 */
#define TG_TAU_4 0.12
#define TG_Z_5 3 /* more */
#define TG_TAU_5 0.08
#define TG_TAU_7 0.06 /* 10v5, 7v7 */
#define TG_TAU_8 0.05 /* both sides 8 or more */
/* Of device work, proven: warns (172 kernels of a V100: none false). Of the names that a slower
 * machine strikes. */
#define TG_TAU_DEVICE 0.02
#define TG_P_5 (2.0001 / 252) /* one inversion of 5v5; a hair more than exact, for rounding */
#define TG_P_7 (2.0001 / 462) /* one inversion of 6v5 */
#define TG_P_HALF 0.1001      /* of each half of the steps; of a first look that asks again */

/* ---- asking again (confirm.h, experiments/ask-again.md) ---- */
/* Runs per side of the first look at times; as many new ones confirm nothing. */
#define TG_ASK_FIRST 5
#define TG_ASK_NEW 4           /* new ones per side of each of the looks after it, */
#define TG_ASK_LOOKS 3         /* so many, unless --max-runs says */
#define TG_ASK_PART 0.0025     /* of the step: smaller names are not suspected */
#define TG_ASK_SIZE 0.04       /* a smaller change is neither suspected nor confirmed */
#define TG_ASK_WIDTH 0.06      /* ln: how far apart runs of one speed are (noise) */
#define TG_ASK_EXCLUDED_P 0.05 /* that a slowdown is as large as that */
#define TG_ASK_RED_P 0.0015    /* of the new runs of the last look; before it half */
/* Of the new runs, of what one look proves: 1 of 70, all above all of 4v4. */
#define TG_ASK_PROVEN_P 0.015

/* ---- the account (compare.h) ---- */
#define TG_GROWN 0.08    /* wall of the same code, 455 quiet pairs of 3v3 and more: 2 beyond it */
#define TG_GROWN_FEW 0.3 /* the same of single runs: docs/statistics.md */
#define TG_GROWN_ARRANGED 20. /* arrangements of the runs from which on the smaller limit holds */
#define TG_SPREAD 2           /* names that grew most are left out where all may have grown alike */

/* ---- what a damaged trace is: parts of its spans and device time ---- */
#define TG_MAX_BAD_SPANS 0.001 /* negative durations, kernels longer than any step */
#define TG_MAX_LEFT_OUT 0.01   /* events without a start, a duration or a partner; empty kernels */
#define TG_MAX_LOST 0.05       /* launches whose kernel is missing; device time that overlaps */
#define TG_MAX_REPEATED                                                                            \
    0.25                    /* of spans: equal to another one; whole microseconds give a few such */
#define TG_MAX_UNLINKED 0.5 /* device work whose launch is missing */
#define TG_MIN_DAMAGE 100   /* so many: a trace of less was cut by hand */
#endif
