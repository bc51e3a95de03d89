#ifndef TG_REPORTERS_ACCEPT_H
#define TG_REPORTERS_ACCEPT_H
/* A waiver for a result, to paste below `waivers:` in the policy; reason, owner and date are open. */
#include "core/base/buf.h"
#include "policy/verdict/verdict.h"

bool tg_accept_can(const struct tg_result *r); /* it failed, by a value under a rule */
/* Nothing for a name that cannot be copied as it looks. */
void tg_accept_put(struct tg_buf *out, const struct tg_result *r);
#endif
