#include "tests/core/trace/reader_support.h"
#include "tests/fuzz/target.h"

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
FUZZ_TARGET(1)
{
    static const char *const isas[] = { NULL, "c", "sse2", "generic" };
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_reader_opts o = { .strict_json = choice[0] & 1,
                                .allow_truncated = choice[0] >> 1 & 1,
                                .want_args = choice[0] >> 2 & 1,
                                .isa = "generic",
                                .limits = &limits };
    TG_BUF want = { 0 }, got = { 0 };
    limits.max_event = 4096;
    limits.max_depth = 20;
    dump(&want, bytes, &o, true);
    for (size_t i = 0; i < sizeof isas / sizeof *isas; i++) {
        o.isa = isas[i];
        o.window = i ? 1 + (size_t)(choice[0] >> 3) * 7 : 0;
        tg_buf_clear(&got);
        dump(&got, bytes, &o, true);
        abort_if(!is_foreign(&got) && !is_foreign(&want) &&
                 !tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(&want)));
    }
}
