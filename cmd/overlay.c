/* `analyze --overlay`: a trace with marks of ours. */
#include "cmd/analyze.h"

#include <stdlib.h>

#include "core/analysis/sequences.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/utf8.h"
#include "core/trace/zlib_pack.h"

#define OUR_PID 900000001 /* far from real ones; some viewers take numbers only */
#define SEQUENCE_TID 1

/* ---- our events ---- */

static void put_text(struct tg_buf *out, tg_sv s)
{
    TG_BUF clean = { 0 };
    tg_utf8_visible(&clean, s);
    for (size_t i = 0; i < clean.n; i++) {
        if (clean.p[i] == '"' || clean.p[i] == '\\')
            tg_buf_putc(out, '\\');
        tg_buf_putc(out, clean.p[i]);
    }
}

static void open_event(struct tg_buf *out, char ph, tg_ns ts)
{
    tg_buf_printf(out, "%s{\"ph\":\"%c\",\"pid\":%d,\"tid\":%d,\"ts\":", out->n ? ",\n" : "\n", ph,
                  OUR_PID, SEQUENCE_TID);
    tg_dec_put_us(out, ts);
}

static size_t column(const struct tg_table *f, const char *name)
{
    size_t k = 0;
    while (strcmp(f->columns[k].name, name) != 0)
        k++;
    return k;
}

/* One counter track per stream or kind of copy (and device). */
static void put_series(struct tg_buf *out, const struct tg_table *f, const char *track,
                       const char *key, const char *value)
{
    size_t ts = column(f, "ts"), by = column(f, key), v = column(f, value);
    size_t device = column(f, "device");
    for (size_t r = 0; r < f->n_rows; r++) {
        const struct tg_table_cell *which = tg_table_at(f, r, by);
        const struct tg_table_cell *where = tg_table_at(f, r, device);
        open_event(out, 'C', tg_table_at(f, r, ts)->is.i);
        tg_buf_printf(out, ",\"name\":\"%s ", track);
        if (f->columns[by].type == TG_TABLE_TEXT)
            put_text(out, which->is.text);
        else
            tg_buf_printf(out, "stream %lld", (long long)which->is.i);
        if (where->known)
            tg_buf_printf(out, " device %lld", (long long)where->is.i);
        tg_buf_printf(out, "\",\"args\":{\"%s\":", value);
        if (f->columns[v].type == TG_TABLE_INT)
            tg_dec_put_i64(out, tg_table_at(f, r, v)->is.i);
        else
            tg_dec_put_double(out, tg_table_at(f, r, v)->is.v);
        tg_buf_puts(out, "}}");
    }
}

/* ---- where they go ---- */

/* Looks for the '[' of traceEvents, or of a bare array, and whether something follows in it. */
struct place {
    size_t depth, key; /* key: bytes of "traceEvents" that agree, or NO_KEY */
    bool in_text, escaped, colon, is_key, found, done;
};
#define NO_KEY ((size_t)-1)
static const char wanted_key[] = "traceEvents";

/* True right after the '['. */
static bool step(struct place *p, char c)
{
    if (p->in_text) {
        if (p->escaped) {
            p->escaped = false;
            p->key = NO_KEY;
        } else if (c == '\\') {
            p->escaped = true;
        } else if (c == '"') {
            p->in_text = false;
            p->is_key = p->key == sizeof wanted_key - 1;
        } else if (p->key != NO_KEY) {
            p->key =
                p->key < sizeof wanted_key - 1 && c == wanted_key[p->key] ? p->key + 1 : NO_KEY;
        }
        return false;
    }
    if (c == '"') {
        p->in_text = true;
        p->key = p->depth == 1 && !p->colon ? 0 : NO_KEY;
        p->is_key = false;
    } else if (c == ':') {
        p->colon = true;
    } else if (c == ',') {
        p->colon = p->is_key = false;
    } else if (c == '[' && (p->depth == 0 || (p->depth == 1 && p->colon && p->is_key))) {
        return true;
    } else if (c == '{' || c == '[') {
        p->depth++;
        p->colon = p->is_key = false;
    } else if (c == '}' || c == ']') {
        p->depth -= p->depth > 0;
        p->colon = p->is_key = false;
    }
    return false;
}

/* ---- copying ---- */

struct copy {
    struct tg_outputs out;
    size_t handle;
    struct tg_gzip *gzip; /* NULL: plain */
    struct tg_buf ready;
    struct place place;
};

static bool emit(struct copy *c, tg_sv bytes, bool last, struct tg_err *err)
{
    if (!c->gzip)
        return !bytes.n || tg_outputs_put(&c->out, c->handle, bytes, err);
    tg_buf_clear(&c->ready);
    tg_gzip_put(c->gzip, bytes, last, &c->ready);
    return !c->ready.n || tg_outputs_put(&c->out, c->handle, tg_buf_sv(&c->ready), err);
}

/* One window of the original, with the events where they belong. */
static bool copy_window(struct copy *c, tg_sv window, tg_sv events, struct tg_err *err)
{
    size_t from = 0;
    for (size_t i = 0; i < window.n && !c->place.done; i++) {
        if (!c->place.found) {
            c->place.found = step(&c->place, window.p[i]);
            if (!c->place.found)
                continue;
            if (!emit(c, (tg_sv){ window.p, i + 1 }, false, err) || !emit(c, events, false, err))
                return false;
            from = i + 1;
        } else if (!tg_is_blank(window.p[i])) {
            c->place.done = true;
            if (window.p[i] != ']' && !emit(c, TG_SV(",\n"), false, err))
                return false;
        }
    }
    return emit(c, tg_sv_from(window, from), false, err);
}

static bool copy_all(struct copy *c, struct tg_source *s, tg_sv events, struct tg_err *err)
{
    size_t size = (size_t)256 << 10;
    char *window = tg_xmalloc(size);
    int64_t n;
    bool ok = true;
    while (ok && (n = tg_source_fill(s, window, size, err)) != 0)
        ok = n > 0 && copy_window(c, (tg_sv){ window, (size_t)n }, events, err);
    free(window);
    if (ok && !c->place.found)
        return tg_err_set(err, TG_ERR_TRACE, TG_AT_FILE(tg_source_name(s)),
                          "no traceEvents to write into");
    return ok && emit(c, TG_SV(""), true, err) && tg_outputs_commit(&c->out, err);
}

bool tg_overlay_write(const char *path, const struct tg_input_item *item,
                      const struct tg_analysis_in *in, const struct tg_analyze_request *q,
                      struct tg_err *err)
{
    struct copy c = { .out.standard = q->io->out };
    TG_BUF events = { 0 }, bytes = { 0 };
    struct tg_source *s = NULL;
    bool ok = tg_outputs_open(&c.out, path, &c.handle, err) &&
              (item->from_git || tg_inputs_spare_file(item->label, &c.out, err));
    if (ok && tg_sv_ends(tg_sv_of(path), TG_SV(".gz")))
        c.gzip = tg_gzip_new();
    if (ok) {
        struct tg_analysis_opts opts = *in->opts;
        struct tg_analysis_in mine = *in;
        TG_AUTO(tg_tables_release) struct tg_tables frames;
        opts.series = true;
        mine.opts = &opts;
        tg_tables_init(&frames);
        tg_analyzer_find(TG_SV("queue"))->run(&mine, &frames);
        tg_analyzer_find(TG_SV("bandwidth"))->run(&mine, &frames);
        tg_buf_printf(&events,
                      "\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":%d,\"tid\":%d,"
                      "\"args\":{\"name\":\"tracegate\"}},\n{\"ph\":\"M\",\"name\":\"thread_name\","
                      "\"pid\":%d,\"tid\":%d,\"args\":{\"name\":\"frequent sequences\"}}",
                      OUR_PID, SEQUENCE_TID, OUR_PID, SEQUENCE_TID);
        put_series(&events, tg_tables_find(&frames, "queue-series"), "queue length", "stream",
                   "queue_length");
        put_series(&events, tg_tables_find(&frames, "bandwidth-series"), "bandwidth GB/s", "name",
                   "memory_bw_gbps");
        if (opts.operator_name.n) {
            TG_AUTO(tg_sequences_release) struct tg_sequences event;
            size_t top = in->opts->top_default ? TG_SEQUENCES_TOP : in->opts->top;
            tg_sequences_find(&event, in, q->arena);
            for (size_t i = 0; i < event.n_at; i++) {
                const struct tg_sequence_at *at = &event.at[i];
                const struct tg_sequence *found = &event.v[at->sequence];
                tg_sv pattern = found->pattern;
                if (top && at->sequence >= top)
                    continue;
                open_event(&events, 'X', at->start);
                tg_buf_puts(&events, ",\"dur\":");
                tg_dec_put_us(&events, at->end - at->start);
                tg_buf_printf(&events, ",\"cat\":\"tracegate\",\"name\":\"#%u ", at->sequence + 1);
                put_text(&events, tg_sv_cut(&pattern, '|'));
                tg_buf_printf(&events, "\",\"args\":{\"count\":%llu,\"length\":%zu}}",
                              (unsigned long long)found->count, found->length);
            }
        }
        s = tg_inputs_open(item, q->repo, NULL, &bytes, err);
        ok = s && copy_all(&c, s, tg_buf_sv(&events), err);
    }
    tg_source_close(s);
    tg_gzip_free(c.gzip);
    tg_outputs_release(&c.out);
    tg_buf_release(&c.ready);
    return ok;
}
