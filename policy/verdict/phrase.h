#ifndef TG_POLICY_VERDICT_PHRASE_H
#define TG_POLICY_VERDICT_PHRASE_H
/* The pieces of sentences: values with their units, and a buffer's text in an arena. */
#include "core/base/arena.h"
#include "core/base/message.h"
#include "core/diff/compare.h"
#include "core/trace/kind.h"
#include "policy/language/policy.h"

/* A value in a format: a text until the end of its statement. */
struct tg_phrase {
    char text[320]; /* the largest double has 309 digits before its point */
};
/* `plus`: before what is not negative. */
struct tg_phrase tg_phrase_of(double v, enum tg_unit unit, const char *plus);
#define TG_VALUE(v, unit) (tg_phrase_of((v), (unit), "").text)       /* "12.3 us", "14", "3.2 %" */
#define TG_SIGNED(v, unit) (tg_phrase_of((v), (unit), "+").text)     /* "+14" */
#define TG_PCT(pct) (tg_phrase_of((pct), TG_UNIT_PERCENT, "+").text) /* "+3.2 %", "-41 %" */
/* A time beside another one, in one unit, and with digits that tell them apart: "0.980 ms"
 * beside "1.030 ms", "1.031 ms" beside "1.034 ms". Of times that are far apart each has its own. */
struct tg_phrase tg_phrase_beside_of(double v, double other, enum tg_unit unit);
#define TG_BESIDE(v, other, unit) (tg_phrase_beside_of((v), (other), (unit)).text)
/* "kernels", "copies", … as people call the names of a kind; its own name for what needs no
 * other. */
const char *tg_phrase_kind(enum tg_kind kind);
/* "aten::mul, aten::erf and 2 more": the names that came or went in a replacement, without `but`
 * (NULL: all); how many. */
size_t tg_phrase_region(struct tg_buf *out, const struct tg_comparison *c, uint32_t region,
                        int side, const struct tg_op *but);
/* "12 of 27 calls of ": a replacement takes the place of a part of its names' calls; of all:
 * nothing. */
void tg_phrase_part(struct tg_buf *out, double part, double all);
/* "fp16", "fp32", …: what a kernel computes with, as far as its name says; NULL. */
const char *tg_phrase_type(tg_sv kernel);
/* "5 kernels +500 % (+571 us)": what takes longer on one rank alone*/
void tg_phrase_rank_alone(struct tg_buf *out, const struct tg_comparison *c);
/* "over the limit of 52 us" of "max: 52us", "under the limit of 3" of "min: 3" */
void tg_phrase_budget(struct tg_buf *out, const struct tg_bound *bound);
/* "up to 3 calls in 1 of 4 steps of every run" */
void tg_phrase_some_steps(struct tg_buf *out, const struct tg_count_evidence *ev, size_t n_runs);
tg_sv tg_phrase_take(struct tg_buf *b, struct tg_arena *a); /* releases `b` */
#endif
