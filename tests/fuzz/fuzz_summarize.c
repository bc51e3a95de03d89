#include "core/summary/summary.h"
#include "tests/fuzz/target.h"

/* Any bytes as a trace: whatever can be summarised has a stored form that reads back the same. */
FUZZ_TARGET(0)
{
    static const struct tg_window_spec windows[] = {
        { .by = TG_WINDOW_AUTO }, { .by = TG_WINDOW_ANNOTATION, .name = { "*a*", 3 } }
    };
    struct tg_summarize_opts o = { .rank = -1,
                                   .window = windows[bytes.n % 2],
                                   .frame_sorts = (unsigned)(bytes.n / 2 % 4) };
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    TG_AUTO(tg_summary_release) struct tg_summary s, again;
    TG_BUF first = { 0 }, second = { 0 };
    TG_SOURCE *source;
    struct tg_err err = TG_ERR_INIT;
    limits.max_inflated = 1 << 20;
    limits.max_attrs = 3;
    o.load.reader.limits = &limits;
    tg_summary_init(&s);
    tg_summary_init(&again);
    source = tg_source_memory(bytes, "fuzz", &limits, &err);
    if (!source || !tg_summary_add(&s, source, &o, NULL, &err)) {
        must_say(false, &err);
    } else if (!tg_summary_write(&s, NULL, &first, &err) ||
               !tg_summary_parse(&again, tg_buf_sv(&first), "fuzz", &err) ||
               !tg_summary_write(&again, NULL, &second, &err) || first.n != second.n ||
               memcmp(first.p, second.p, first.n) != 0) {
        abort();
    }
}
