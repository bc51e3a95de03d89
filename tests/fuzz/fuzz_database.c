/* Any bytes as a profiler's database: where a read ends must not matter, a second reading gives the
 * same, and a failure says why. */
#include <string.h>

#include "tests/fuzz/reading.h"
#include "tests/fuzz/target.h"

FUZZ_TARGET(0)
{
    struct reading whole, pieces;
    if (bytes.n <= 16 || memcmp(bytes.p, "SQLite format 3", 16) != 0)
        return;
    read_memory(&whole, bytes, 512, false);
    read_memory(&pieces, bytes, 1 + bytes.n % 97, true);
    abort_if(whole.ok != pieces.ok || whole.err.kind != pieces.err.kind);
    abort_if(whole.ok && !tg_sv_eq(tg_buf_sv(&whole.text), tg_buf_sv(&pieces.text)));
    abort_if(whole.ok && (whole.text.n < 2 || whole.text.p[0] != '{'));
    reading_release(&whole);
    reading_release(&pieces);
}
