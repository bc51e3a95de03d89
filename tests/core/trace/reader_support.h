#ifndef TG_TESTS_READER_SUPPORT_H
#define TG_TESTS_READER_SUPPORT_H
/* Everything the reader says about a text, as one text: two ways of reading must agree on it. */
#include <inttypes.h>

#include "core/base/buf.h"
#include "core/trace/reader_internal.h"
#include "core/trace/trace.h"

static inline void put_event(struct tg_buf *out, const struct tg_event *e, struct tg_reader *r)
{
    size_t n;
    const struct tg_thread *t = tg_reader_threads(r, &n);
    tg_buf_printf(out, "%" PRIu64 " ph=%c", e->index, e->ph ? e->ph : '-');
    if (e->name != TG_NO_ID) {
        const struct tg_name *name = &tg_reader_names(r)->v[e->name];
        tg_buf_printf(out, " name=%u[%.*s|%.*s]%s", e->name, TG_SV_ARG(name->cat),
                      TG_SV_ARG(name->name), tg_kind_name(name->kind));
    }
    if (!e->has_name || !e->has_cat)
        tg_buf_printf(out, " lacks%s%s", e->has_name ? "" : "-name", e->has_cat ? "" : "-cat");
    tg_buf_printf(out, " thread=%u[%.*s|%.*s]", e->thread, TG_SV_ARG(t[e->thread].pid),
                  TG_SV_ARG(t[e->thread].tid));
    if (e->has_ts)
        tg_buf_printf(out, " ts=%" PRId64 "%s(%.*s)", e->ts, e->ts_float ? "f" : "",
                      TG_SV_ARG(e->ts_text));
    if (e->has_dur)
        tg_buf_printf(out, " dur=%" PRId64 "%s(%.*s)", e->dur, e->dur_float ? "f" : "",
                      TG_SV_ARG(e->dur_text));
    if (e->stream != TG_NO_STREAM)
        tg_buf_printf(out, " stream=%" PRId64, e->stream);
    if (e->correlation != TG_NO_CORRELATION)
        tg_buf_printf(out, " correlation=%" PRId64, e->correlation);
    if (e->external_id != -1)
        tg_buf_printf(out, " external=%" PRId64, e->external_id);
    if (e->device != -1)
        tg_buf_printf(out, " device=%" PRId64, e->device);
    if (e->args.n)
        tg_buf_printf(out, " args=%.*s", TG_SV_ARG(e->args));
    for (int i = 0; i < TG_ATTRS; i++)
        if (tg_reader_attrs(r)->have >> i & 1)
            tg_buf_printf(out, " fact%d=%.*s", i, TG_SV_ARG(tg_reader_attrs(r)->v[i]));
    tg_buf_putc(out, '\n');
}

static inline void put_info(struct tg_buf *out, const struct tg_trace_info *i)
{
    tg_buf_printf(out,
                  "events=%" PRIu64 " bytes=%" PRIu64 " rank=%" PRId64 "/%" PRId64
                  " escapes=%" PRIu64 " controls=%" PRIu64 " utf8=%" PRIu64 " nan=%" PRIu64
                  " huge=%" PRIu64 " rounded=%" PRIu64 "%s%s%s\n",
                  i->events, i->bytes, i->rank, i->world_size, i->invalid_escapes, i->control_bytes,
                  i->bad_utf8, i->non_finite, i->huge_integers, i->rounded_numbers,
                  i->any_ts_float ? " ts-float" : "", i->any_ts_missing ? " ts-missing" : "",
                  i->truncated ? " truncated" : "");
    for (size_t k = 0; k < i->n_meta; k++)
        tg_buf_printf(out, "%.*s: %.*s\n", TG_SV_ARG(i->meta[k].key), TG_SV_ARG(i->meta[k].value));
}

static inline void put_error(struct tg_buf *out, const struct tg_err *err)
{
    tg_buf_printf(out, "error %d at %u:%u byte %" PRId64 ": %s\n", (int)err->kind, err->line,
                  err->col, (int64_t)err->offset, err->message);
    tg_err_format(err, out);
}

/* In these tests JSON has ' for ". */
static inline void use_double_quotes(struct tg_buf *b, size_t from)
{
    for (size_t i = from; i < b->n; i++)
        if (b->p[i] == '\'')
            b->p[i] = '"';
}

#define put_json(out, ...)                                                                         \
    do {                                                                                           \
        size_t from_ = (out)->n;                                                                   \
        tg_buf_printf(out, __VA_ARGS__);                                                           \
        use_double_quotes(out, from_);                                                             \
    } while (0)

/* The text in `b`, which holds nothing else. */
static inline tg_sv json(struct tg_buf *b, const char *text)
{
    tg_buf_clear(b);
    put_json(b, "%s", text);
    return tg_buf_sv(b);
}

/* Events only, or with the summing up behind them. */
static inline void dump(struct tg_buf *out, tg_sv text, const struct tg_reader_opts *o, bool info)
{
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    struct tg_reader *r;
    struct tg_event ev;
    enum tg_next next;
    s = tg_source_memory(text, "test", o->limits, &err);
    if (!s) {
        put_error(out, &err);
        return;
    }
    r = tg_reader_new(s, o);
    while ((next = tg_reader_next(r, &ev, &err)) == TG_NEXT)
        put_event(out, &ev, r);
    if (next == TG_NEXT_FAILED)
        put_error(out, &err);
    else if (info)
        put_info(out, tg_reader_info(r));
    tg_reader_free(r);
}

/* xorshift64*: the same numbers on every machine. */
static inline uint64_t roll(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}
#endif
