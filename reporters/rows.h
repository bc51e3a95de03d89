#ifndef TG_REPORTERS_ROWS_H
#define TG_REPORTERS_ROWS_H
/* What a comparison's row is called and worth, in tables, charts and sentences; and the order of
 * rows. */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/*
 * How counts and durations of a row are taken:
 *   JUDGED     what the verdict saw: modal count per step, self time (a kernel's own duration): the
 *              value that was compared, where it was judged, else the mean of the steps
 *   PER_STEP   HTA's sums, divided exactly by steps x ranks x runs
 *   ESTIMATED  from three runs per side on inclusive durations as check takes them: what was
 *              compared, else the mean of the steps, the median of the runs; else the sums
 *   WHOLE      HTA's sums over everything, including what is outside steps
 */
enum tg_basis { TG_BASIS_JUDGED, TG_BASIS_PER_STEP, TG_BASIS_ESTIMATED, TG_BASIS_WHOLE };

/* A renamed operator is one row by JUDGED: that of the new name, with the numbers of the former one
 * before. Its former name, or NULL; and is this the former one, which has no row then? */
const struct tg_op *tg_row_former(const struct tg_comparison *c, const struct tg_op *op);
bool tg_row_is_former(const struct tg_op *op);

struct tg_row_numbers {
    double count[2], ns[2];
    double d_count, d_ns; /* test - base */
};
struct tg_row_numbers tg_row_numbers(const struct tg_comparison *c, const struct tg_op *op,
                                     enum tg_basis basis);

/* What ESTIMATED takes of one name; NULL: it was not compared by itself, as steps are not, and what
 * is compared with all that it replaced. */
const struct tg_evidence *tg_row_estimate(const struct tg_op *op);

char tg_row_category(const struct tg_row_numbers *n);     /* HTA: '+', '-', '=' by counts */
const char *tg_row_group(const struct tg_row_numbers *n); /* HTA: "added", "deleted", … */
tg_sv tg_row_called(const struct tg_op *op); /* its name; of a step's own time our words */
tg_sv tg_op_raw(const struct tg_op *op);     /* raw name, of the test side if there */

/* To sort by: the largest first, ties in order. */
struct tg_ranked {
    double size;
    uint32_t at;
};
int tg_rows_by_size(const void *a, const void *b);

/* Of which rows, by which numbers. */
struct tg_rows_choice {
    const uint32_t *rows; /* [n_rows]; NULL: all of the comparison that are work */
    size_t n_rows;
    enum tg_basis basis;
    bool by_counts;             /* |d_count|, else |d_ns| */
    bool steps;                 /* with the rows of steps */
    const struct tg_verdict *v; /* as it shows them: a replacement that it tells is one row; NULL */
};
/* The chosen rows that changed, largest change first, ties in the comparison's order. The caller
 * frees the result. */
uint32_t *tg_rows_worst(const struct tg_comparison *c, const struct tg_rows_choice *of,
                        size_t *n_out);
/* The rows of work on the fresh side that take longest (self time per step), without steps; at most
 * `n`, ties in the comparison's order. The caller frees the result. */
uint32_t *tg_rows_longest(const struct tg_comparison *c, size_t n, size_t *n_out);

/* ---- what a verdict says of a row ---- */

/* The change is smaller than the usual difference between runs. Never where calls came. */
bool tg_evidence_is_noise(const struct tg_evidence *ev); /* no change shown, of what was compared */
bool tg_row_is_noise(const struct tg_op *op);
/* And its change is neither noise nor, of as many calls, under 0.3 % of the step. */
bool tg_row_is_judged(const struct tg_comparison *c, const struct tg_op *op);
/* What is shown of each name of the verdict's comparison, by statistics or by a flat limit: a
 * result about it, or one that counts it with others; and one of them is folded under no other. The
 * caller frees it. */
enum { TG_ROW_ABOUT = 1, TG_ROW_COVERED = 2, TG_ROW_LEADS = 4 };
unsigned char *tg_rows_told(const struct tg_verdict *v);
#define TG_ROW_NOISE "\xe2\x89\x88 within the noise of these runs"

/*
 * The numbers of such a row: of a finding about calls, or a replacement that a result gives the
 * time of, the whole of it, in the row of that result's name; the others of it have no rows. The
 * share of the step that is of such numbers. And its first cell.
 */
bool tg_row_is_whole(const struct tg_verdict *v, const struct tg_op *op);
struct tg_row_numbers tg_row_shown(const struct tg_verdict *v, const struct tg_op *op);
double tg_row_share(const struct tg_comparison *c, const struct tg_op *op,
                    const struct tg_row_numbers *n);
bool tg_row_is_waived(const struct tg_verdict *v, const struct tg_op *op); /* and fails nothing */
/* The first cell of a row: "new", "gone", "renamed", "more", "fewer", "some" (steps or runs),
 * "slower", "faster", or that it is within the noise; "": its time was not judged. */
const char *tg_row_mark(const struct tg_verdict *v, const struct tg_op *op);
/* What a renamed row, or that of a replacement, was called; how many names such a replacement has
 * on either side (0: it is a rename). */
struct tg_row_was {
    const struct tg_op *name; /* the largest; NULL: nothing, the row has one name */
    size_t n_before, n_after;
};
struct tg_row_was tg_row_was(const struct tg_verdict *v, const struct tg_op *op);
void tg_row_put_more(struct tg_buf *out, size_t n); /* " and 2 more" of 3 names */

/* The rows of the table: those that a shown result is about, worst first, what follows from another
 * one after the others; then at most `others` of the rest that changed most: neither noise nor
 * waits for the device. Indices into comparison->ops; the caller frees them. */
uint32_t *tg_rows_of_verdict(const struct tg_verdict *v, size_t top, size_t others, size_t *n);
/* Of what one rank alone does, how many names are not among these rows. */
size_t tg_rows_left_of_rank(const struct tg_verdict *v, const uint32_t *rows, size_t n);
#endif
