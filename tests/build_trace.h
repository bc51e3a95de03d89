#ifndef TG_TESTS_BUILD_TRACE_H
#define TG_TESTS_BUILD_TRACE_H
/*
 * Traces made in memory, for tests behind the reader. Add rows, then `bt_trace` builds the columns
 * in the order of the rows, or in a random one: names, threads, tracks and attributes get their ids
 * by first appearance, as the reader gives them. Times are ns. What `bt_trace` returns belongs to
 * the builder.
 */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/trace/trace.h"

struct bt_row {
    const char *cat, *name, *pid, *tid;
    tg_ns ts, dur;
    int64_t correlation, device, stream;
    const char *attrs; /* "" none */
};
struct bt {
    struct bt_row *v;
    size_t n, cap;
    struct tg_arena *arena;
    struct tg_trace trace;
    struct tg_names names;
    struct tg_trace_info info;
};

static inline void bt_init(struct bt *b)
{
    *b = (struct bt){ .arena = tg_arena_new() };
    b->info.rank = b->info.world_size = -1;
}

static inline void bt_drop_trace(struct bt *b)
{
    if (b->trace.attrs.arena)
        tg_strmap_release(&b->trace.attrs);
    memset(&b->trace, 0, sizeof b->trace);
    memset(&b->names, 0, sizeof b->names);
}

static inline void bt_release(struct bt *b)
{
    bt_drop_trace(b);
    free(b->v);
    tg_arena_free(b->arena);
}

static inline void bt_add(struct bt *b, struct bt_row row)
{
    b->v = (struct bt_row *)tg_grow(b->v, &b->cap, b->n + 1, sizeof *b->v);
    b->v[b->n++] = row;
}

/* A host row on thread `tid`. */
static inline void bt_host(struct bt *b, const char *cat, const char *name, const char *tid,
                           tg_ns ts, tg_ns dur, int64_t correlation)
{
    bt_add(b, (struct bt_row){ cat, name, "1", tid, ts, dur, correlation, -1, TG_NO_STREAM, "" });
}

/* A device row on stream `stream` of device 0. */
static inline void bt_device(struct bt *b, const char *cat, const char *name, int64_t stream,
                             tg_ns ts, tg_ns dur, int64_t correlation)
{
    bt_add(b, (struct bt_row){ cat, name, "0", tg_arena_printf(b->arena, "%d", (int)stream), ts,
                               dur, correlation, 0, stream, "" });
}

static inline uint32_t bt_name(struct bt *b, const struct bt_row *r)
{
    for (size_t i = 0; i < b->names.n; i++)
        if (tg_sv_eq(b->names.v[i].cat, tg_sv_of(r->cat)) &&
            tg_sv_eq(b->names.v[i].name, tg_sv_of(r->name)))
            return (uint32_t)i;
    b->names.v[b->names.n] = (struct tg_name){ tg_sv_of(r->cat), tg_sv_of(r->name),
                                               tg_kind_of(tg_sv_of(r->cat), tg_sv_of(r->name)) };
    return (uint32_t)b->names.n++;
}

static inline uint32_t bt_track(struct bt *b, struct tg_thread *threads, const struct bt_row *r)
{
    struct tg_trace *t = &b->trace;
    uint32_t k = 0;
    while (k < t->n_threads && !(tg_sv_eq(threads[k].pid, tg_sv_of(r->pid)) &&
                                 tg_sv_eq(threads[k].tid, tg_sv_of(r->tid))))
        k++;
    if (k == t->n_threads)
        threads[t->n_threads++] = (struct tg_thread){ tg_sv_of(r->pid), tg_sv_of(r->tid) };
    for (size_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].thread == k && t->tracks[i].stream == r->stream &&
            t->tracks[i].device == r->device)
            return (uint32_t)i;
    t->tracks[t->n_tracks] = (struct tg_track){ k, r->stream, r->device };
    return (uint32_t)t->n_tracks++;
}

/* `seed` 0: rows as added; else shuffled (Fisher-Yates on a linear congruential sequence). */
static inline const struct tg_trace *bt_trace(struct bt *b, uint64_t seed)
{
    struct tg_trace *t = &b->trace;
    struct tg_thread *threads = TG_NEW_N(b->arena, struct tg_thread, b->n + 1);
    size_t *at = TG_NEW_N(b->arena, size_t, b->n + 1);
    bt_drop_trace(b);
    for (size_t i = 0; i < b->n; i++) {
        size_t j = i;
        at[i] = i;
        if (seed) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            j = (size_t)(seed >> 33) % (i + 1);
        }
        at[i] = at[j];
        at[j] = i;
    }
    b->names.v = TG_NEW_N(b->arena, struct tg_name, b->n + 1);
    t->path = tg_arena_printf(b->arena, "made.json");
    t->names = &b->names;
    t->threads = threads;
    t->info = &b->info;
    t->tracks = TG_NEW_N(b->arena, struct tg_track, b->n + 1);
    t->n_segments = b->n / TG_SPAN_SEGMENT + 1;
    t->segment = TG_NEW_N(b->arena, struct tg_segment, t->n_segments);
    for (size_t i = 0; i < t->n_segments; i++)
        t->segment[i] = (struct tg_segment){ TG_NEW_N(b->arena, struct tg_span, TG_SPAN_SEGMENT),
                                             NULL, TG_NEW_N(b->arena, int64_t, TG_SPAN_SEGMENT) };
    tg_strmap_init(&t->attrs);
    b->info.events = b->n;
    for (size_t i = 0; i < b->n; i++) {
        const struct bt_row *r = &b->v[at[i]];
        *tg_span_at(t, i) = (struct tg_span){
            r->ts,
            r->dur,
            bt_name(b, r),
            bt_track(b, threads, r),
            *r->attrs ? tg_strmap_add(&t->attrs, tg_sv_of(r->attrs)) : TG_NO_ID,
            (uint32_t)i,
        };
        tg_correlation_set(t, i, r->correlation);
    }
    t->n_spans = b->n;
    return t;
}

/* The first row with this name and start, as it lies in the built trace; TG_NO_SPAN. */
static inline uint32_t bt_find(const struct tg_trace *t, const char *name, tg_ns ts)
{
    for (uint32_t i = 0; i < t->n_spans; i++)
        if (tg_span_at(t, i)->start == ts &&
            tg_sv_eq(tg_span_name(t, tg_span_at(t, i))->name, tg_sv_of(name)))
            return i;
    return TG_NO_SPAN;
}
#endif
