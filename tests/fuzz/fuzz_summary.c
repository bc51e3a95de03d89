#include "core/summary/summary.h"
#include "tests/fuzz/target.h"

/* Whatever is read is written again as it was read, and what is refused says why. */
FUZZ_TARGET(0)
{
    TG_AUTO(tg_summary_release) struct tg_summary s, again;
    TG_BUF first = { 0 }, second = { 0 };
    struct tg_err err = TG_ERR_INIT;
    tg_summary_init(&s);
    tg_summary_init(&again);
    if (!tg_summary_parse(&s, bytes, "fuzz", &err)) {
        must_say(false, &err);
    } else if (!tg_summary_write(&s, NULL, &first, &err) ||
               !tg_summary_parse(&again, tg_buf_sv(&first), "fuzz", &err) ||
               !tg_summary_write(&again, NULL, &second, &err) || first.n != second.n ||
               memcmp(first.p, second.p, first.n) != 0) {
        abort();
    }
}
