#ifndef TG_REPORTERS_ACCEPT_H
#define TG_REPORTERS_ACCEPT_H
/* What to do about a failure: the next step in one sentence, and waivers to paste. */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/*
 * The first step after a failure or a warning: where to look or how to find out, and what explains the
 * limit. Nothing for other outcomes. `put_code` marks places and commands, and escapes; NULL: plain.
 */
void tg_accept_put_next(struct tg_buf *out, const struct tg_verdict *v,
                        void (*put_code)(struct tg_buf *out, tg_sv text));

/*
 * Waivers for all failures, at most `most`, as entries of the policy's `waivers:` without reason, owner
 * and date: findings first, then their consequences that those waivers do not cover. Returns how many
 * did not fit; `*first`: the first finding, or NULL.
 */
size_t tg_accept_put_all(struct tg_buf *out, const struct tg_verdict *v, size_t most,
                         const struct tg_result **first);
#endif
