#ifndef TG_REPORTERS_PROSE_H
#define TG_REPORTERS_PROSE_H
/*
 * A sentence of a verdict with the names in it as names: each in one piece, however long or
 * hostile, with words between them. Known are the names of the comparison and of the results; of
 * those that are inside each other the longest counts.
 *
 *   FAIL: 1 violation: autograd::engine::evaluate_function: MmBackward0 +2 calls
 *   |----- words ----||------------------- name ----------------------||-words-|
 *
 * Words are set as they are printed, "12 us -> 34 us" with a micro sign and an arrow; what is in
 * backticks there is code that the styles know. Plain English words that some operator happens to be called ("step") are words, unless they are
 * the name of a shown result. Cost: for each sentence one search for each name.
 */
#include "core/base/arena.h"
#include "policy/verdict/verdict.h"

struct tg_prose {
    tg_sv *names; /* longest first */
    size_t n;
    struct tg_arena *arena; /* owned */
};
void tg_prose_init(struct tg_prose *p, const struct tg_verdict *v);
void tg_prose_release(struct tg_prose *p);

struct tg_prose_style {
    void (*words)(struct tg_buf *out, tg_sv text); /* without blanks at its ends; escapes */
    void (*name)(struct tg_buf *out, tg_sv name, const void *with); /* escapes */
    const void *with;
    bool as_written; /* words for a terminal: no micro sign, no arrow */
};
/* A headline holds the first 60 bytes of a longer name and an ellipsis; false: all of the name. */
bool tg_prose_begin(struct tg_buf *out, tg_sv name);
/* Numbers with their units, and arrows, as they are printed. */
void tg_prose_typeset(struct tg_buf *out, tg_sv words);
void tg_prose_put(struct tg_buf *out, const struct tg_prose *p, tg_sv sentence,
                  const struct tg_prose_style *style);
#endif
