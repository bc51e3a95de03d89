#ifndef TG_REPORTERS_ACCEPT_H
#define TG_REPORTERS_ACCEPT_H
/* What to do about a failure: the next step in one sentence, and waivers to paste. */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

/*
 * The first step after a failure or a warning: where to look, or how to find out, and what tells the limit.
 * Nothing for other outcomes. `put_code` sets off places and commands, and escapes; NULL: plain text.
 */
void tg_accept_put_next(struct tg_buf *out, const struct tg_verdict *v,
                        void (*put_code)(struct tg_buf *out, tg_sv text));

/* A waiver for a result, for `waivers:` in the policy; reason, owner and date are open. */
bool tg_accept_can(const struct tg_result *r); /* it failed, by a value under a rule */
/*
 * The waivers that all failures take, at most `most`: findings first, then what is told with them and
 * that their waivers do not cover. How many are left; `*first`: the first finding, or NULL.
 */
size_t tg_accept_put_all(struct tg_buf *out, const struct tg_verdict *v, size_t most,
                         const struct tg_result **first);
/* Nothing for a name that cannot be copied as it looks. */
void tg_accept_put(struct tg_buf *out, const struct tg_result *r);
#endif
