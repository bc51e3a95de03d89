#include <inttypes.h>

#include "tests/core/trace/reader_support.h"
#include "tests/fuzz/target.h"

static void put_text(struct tg_buf *out, const char *what, tg_sv text)
{
    tg_buf_printf(out, " %s=%zu:", what, text.n);
    tg_buf_add(out, text);
}

static void put_span(struct tg_buf *out, const struct tg_trace *t, size_t i)
{
    const struct tg_span *s = tg_span_at(t, i);
    const struct tg_track *k = &t->tracks[s->track];
    tg_buf_printf(out,
                  "%u: %" PRId64 "+%" PRId64 " name %u track %u (%u %" PRId64 " %" PRId64
                  ") correlation %" PRId64 " fact %u\n",
                  s->index, s->start, s->dur, s->name, s->track, k->thread, k->stream, k->device,
                  tg_correlation(t, i), s->attr);
}

static void put_trace(struct tg_buf *out, const struct tg_trace *t)
{
    const struct tg_integrity *g = &t->integrity;
    for (size_t i = 0; i < t->n_spans; i++)
        put_span(out, t, i);
    for (size_t i = 0; i < t->names->n; i++) {
        put_text(out, "cat", t->names->v[i].cat);
        put_text(out, "name", t->names->v[i].name);
    }
    for (size_t i = 0; i < t->n_threads; i++) {
        put_text(out, "pid", t->threads[i].pid);
        put_text(out, "tid", t->threads[i].tid);
    }
    for (size_t i = 0; i < t->attrs.n; i++)
        put_text(out, "fact", t->attrs.text[i]);
    tg_buf_printf(out, "\n%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                  g->negative_durations, g->zero_kernels, g->unmatched_begin, g->unmatched_end,
                  g->overlapping);
    put_info(out, t->info);
}

static void load(struct tg_buf *out, tg_sv text, const struct tg_load_opts *o)
{
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    struct tg_trace *t;
    s = tg_source_memory(text, "test", o->reader.limits, &err);
    t = s ? tg_trace_load(s, o, NULL, &err) : NULL;
    if (t)
        put_trace(out, t);
    else
        put_error(out, &err);
    tg_trace_free(t);
}

static void sum(struct tg_buf *out, tg_sv text, const struct tg_reader_opts *o)
{
    struct tg_totals t = { 0 };
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    s = tg_source_memory(text, "test", o->limits, &err);
    if (!s || !tg_totals_read(&t, s, o, &err)) {
        put_error(out, &err);
        tg_source_close(s);
        return;
    }
    for (size_t i = 0; i < t.names->n; i++) {
        put_text(out, "cat", t.names->v[i].cat);
        put_text(out, "name", t.names->v[i].name);
        tg_buf_printf(out, " %" PRIu64 " %" PRId64 "\n", t.v[i].count, t.v[i].total);
    }
    tg_totals_release(&t);
    tg_source_close(s);
}

/* A trace's text behind two bytes of options, read by one thread and by several that guess where
 * their parts begin: nothing may differ, neither order nor ids nor the error and its place. */
FUZZ_TARGET(2)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_load_opts o = { 0 };
    TG_BUF want = { 0 }, got = { 0 };
    limits.max_event = 4096;
    limits.max_depth = 20;
    o.keep_python = choice[0] >> 2 & 1;
    o.keep_hta = choice[0] >> 3 & 1;
    o.want_attrs = choice[0] >> 4 & 1;
    o.want_memory = choice[0] >> 5 & 1;
    o.reader.strict_json = choice[0] & 1;
    o.reader.allow_truncated = choice[0] >> 1 & 1;
    o.reader.limits = &limits;
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct tg_buf *out = threads == 1 ? &want : &got;
        o.reader.threads = threads;
        o.reader.part = 16 + (size_t)choice[1] * 4;
        load(out, bytes, &o);
        sum(out, bytes, &o.reader);
    }
    abort_if(!tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(&want)));
}
