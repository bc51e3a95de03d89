#ifndef TG_REPORTERS_ORIGIN_H
#define TG_REPORTERS_ORIGIN_H
/*
 * The cause of a result in words, the same in every report: what accounts for the difference, where
 * that is in the program, and whether the change touched it.
 *
 *   model.py:88 Block.forward (module Block_3), changed in this pull request (lines 91-97),
 *   accounts for 92 % of it
 */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/* AFTER_PLACE: "model.py:88" is there already, begin with the function. */
enum tg_origin_part { TG_ORIGIN_WHOLE, TG_ORIGIN_AFTER_PLACE };
/* A message, one sentence without a full stop; empty if the result has no cause. */
void tg_origin_put(struct tg_buf *out, const struct tg_result *r, enum tg_origin_part part);
struct tg_origin_place {
    tg_sv file, function;
    uint32_t first, last; /* equal, where it is one line */
};
/* Of a cause with a function: its changed lines as one range, else its first line. */
struct tg_origin_place tg_origin_place(const struct tg_cause *c);
/* Where to look: the lines that changed, in the function and the file that has them; else as
 * above. */
struct tg_origin_place tg_origin_look(const struct tg_cause *c);
/* "train.py:20-22" */
void tg_origin_put_place(struct tg_buf *out, const struct tg_origin_place *p);
/* What else the change touches, after the words `before`: "build or compiled files
 * (csrc/k.cu), data (x.npz)", the first of each. */
bool tg_origin_put_others(struct tg_buf *out, const struct tg_cause *c, const char *before,
                          void (*put_code)(struct tg_buf *out, tg_sv text));
/* The changed line as the change has it, "91 | x = x.clone()", at most 120 characters of it; raw
 * text. False: not known. */
bool tg_origin_put_quote(struct tg_buf *out, const struct tg_cause *c);
/* After it: " (1 of 3 changed lines)", where it is not the only one. */
void tg_origin_put_unquoted(struct tg_buf *out, const struct tg_cause *c);
#define TG_ORIGIN_QUOTE "changed" /* the word before it */
/* The path, a message: "train.py: step > Block_3 > model.py: forward > aten::linear". */
void tg_origin_put_path(struct tg_buf *out, const struct tg_cause *c);
#endif
