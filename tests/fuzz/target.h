#ifndef TG_FUZZ_TARGET_H
#define TG_FUZZ_TARGET_H
/*
 * A fuzz target looks at any bytes and aborts where something does not hold:
 *
 *     FUZZ_TARGET(1) { abort_if(choice[0] & 1 && !is_read(bytes)); }
 *
 * The first bytes, so many as are asked for, choose among the ways to look; those that an input
 * lacks are 0. The rest are `bytes`.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/err.h"
#include "core/base/sv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What is behind the bytes that choose. */
static inline tg_sv take_choices(uint8_t *choice, size_t most, const uint8_t *data, size_t size)
{
    size_t n = 0;
    for (; n < most && n < size; n++)
        choice[n] = data[n];
    return (tg_sv){ (const char *)data + n, size - n };
}

#define FUZZ_TARGET(choices)                                                                       \
    static void fuzz_target(const uint8_t *choice, tg_sv bytes);                                   \
    int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)                                   \
    {                                                                                              \
        uint8_t choice[(choices) + 1] = { 0 };                                                     \
        tg_sv bytes = take_choices(choice, choices, data, size);                                   \
        fuzz_target(choice, bytes);                                                                \
        return 0;                                                                                  \
    }                                                                                              \
    static void fuzz_target(__attribute__((unused)) const uint8_t *choice, tg_sv bytes)

static inline void abort_if(bool wrong)
{
    if (wrong)
        abort();
}

/* What is refused says why, and nothing else does. */
static inline void must_say(bool ok, const struct tg_err *err)
{
    abort_if(ok != (err->kind == TG_ERR_NONE) || (!ok && !err->message[0]));
}
#endif
