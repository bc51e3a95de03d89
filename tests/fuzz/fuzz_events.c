#include <stdint.h>
#include <stdlib.h>

#include "tests/core/trace/reader_support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Another format, packed: how much of it the first piece shows tells whether it is named. */
static bool is_foreign(const struct tg_buf *b)
{
    return tg_sv_has(tg_buf_sv(b), TG_SV("'test' is "));
}

/*
 * A trace's text behind one byte of options. Neither where a read ends nor which path reads an
 * event may matter: the generic path over the whole text is compared with the fast ones over
 * windows.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const isas[] = { NULL, "c", "sse2", "generic" };
    uint8_t choice = size ? data[0] : 0;
    tg_sv text = { (const char *)data + (size > 0), size - (size > 0) };
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_reader_opts o = { .strict_json = choice & 1,
                                .allow_truncated = choice >> 1 & 1,
                                .want_args = choice >> 2 & 1,
                                .isa = "generic",
                                .limits = &limits };
    TG_BUF want = { 0 }, got = { 0 };
    limits.max_event = 4096;
    limits.max_depth = 20;
    dump(&want, text, &o, true);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        o.isa = isas[i];
        o.window = i ? 1 + (size_t)(choice >> 3) * 7 : 0;
        tg_buf_clear(&got);
        dump(&got, text, &o, true);
        if (!is_foreign(&got) && !is_foreign(&want) && !tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(&want)))
            abort();
    }
    return 0;
}
