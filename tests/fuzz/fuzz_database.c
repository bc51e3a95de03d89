/* Any bytes as a profiler's database: where a read ends must not matter, a second reading gives the
 * same, and a failure says why. */
#include <stdint.h>
#include <string.h>

#include "tests/fuzz/reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_database(const uint8_t *data, size_t size)
{
    return size > 16 && memcmp(data, "SQLite format 3", 16) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_sv bytes = { (const char *)data, size };
    struct reading whole, pieces;
    if (!is_database(data, size))
        return 0;
    read_memory(&whole, bytes, 512, false);
    read_memory(&pieces, bytes, 1 + size % 97, true);
    if (whole.ok != pieces.ok || whole.err.kind != pieces.err.kind)
        abort();
    if (whole.ok && !tg_sv_eq(tg_buf_sv(&whole.text), tg_buf_sv(&pieces.text)))
        abort();
    if (whole.ok && (whole.text.n < 2 || whole.text.p[0] != '{'))
        abort();
    reading_release(&whole);
    reading_release(&pieces);
    return 0;
}
