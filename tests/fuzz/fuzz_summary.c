#include <stdint.h>
#include <stdlib.h>

#include "core/summary/summary.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whatever is read is written again as it was read, and what is refused says why. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    TG_AUTO(tg_summary_release) struct tg_summary s, again;
    TG_BUF first = { 0 }, second = { 0 };
    struct tg_err err = TG_ERR_INIT;
    tg_summary_init(&s);
    tg_summary_init(&again);
    if (!tg_summary_parse(&s, (tg_sv){ (const char *)data, size }, "fuzz", &err)) {
        if (err.kind == TG_ERR_NONE || !err.message[0])
            abort();
    } else if (!tg_summary_write(&s, NULL, &first, &err) ||
               !tg_summary_parse(&again, tg_buf_sv(&first), "fuzz", &err) ||
               !tg_summary_write(&again, NULL, &second, &err) || first.n != second.n ||
               memcmp(first.p, second.p, first.n) != 0) {
        abort();
    }
    return 0;
}
