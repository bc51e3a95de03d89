/* What people said of an event, as any bytes behind a ref of the history: it is damaged, or of that
 * event. */
#include "core/baseline/event.h"
#include "tests/fuzz/target.h"

#define EVENT "abcdef012345"

FUZZ_TARGET(0)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_event_record record;

    if (tg_event_parse(bytes, TG_SV(EVENT), a, &record))
        abort_if(!tg_sv_eq(record.id, TG_SV(EVENT)) ||
                 tg_event_latest(&record, 1, record.id) != &record);
}
