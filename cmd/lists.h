#ifndef TG_CMD_LISTS_H
#define TG_CMD_LISTS_H
/* Values of options that are lists: "4,5", "0-3", and the option given several times. */
#include "cmd/cmd.h"
#include "core/base/arena.h"

struct tg_numbers {
    int64_t *v; /* in the order given, in the arena; NULL: the option was not given */
    size_t n;
};
#define TG_MAX_NUMBERS 65536u /* a range that is longer is a typing error */

/* `option` names it in messages, without dashes. */
TG_MUST bool tg_numbers_parse(struct tg_numbers *out, const struct tg_strs *texts,
                              const char *option, struct tg_arena *a, struct tg_err *err);
#endif
