#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/steps/internal.h"

enum tg_call tg_call_of(enum tg_kind kind, tg_sv name)
{
    if (kind == TG_KIND_GRAPH)
        return TG_CALL_GRAPH;
    if (kind != TG_KIND_RUNTIME)
        return TG_CALL_OTHER;
    if ((tg_sv_has(name, TG_SV("Launch")) && tg_sv_has(name, TG_SV("Kernel"))) ||
        tg_sv_starts(name, TG_SV("runFunction")))
        return TG_CALL_KERNEL;
    if (tg_sv_has(name, TG_SV("Attribute")))
        return TG_CALL_OTHER;
    return tg_sv_has(name, TG_SV("Memcpy")) || tg_sv_has(name, TG_SV("Memset")) ||
                   tg_sv_has(name, TG_SV("memcpy")) || tg_sv_has(name, TG_SV("memset"))
               ? TG_CALL_COPY
               : TG_CALL_OTHER;
}

/* correlation -> its best runtime row */
struct entry {
    uint32_t span;
    unsigned devices : 30, call : 2; /* devices: up to one more than matters; enum tg_call */
};
struct table {
    struct tg_keymap ids;
    uint32_t *near; /* by correlation - low: the id + 1. NULL: they lie too far apart */
    uint64_t low, range;
    struct entry *v; /* by id */
    size_t n;
};

/* The correlation of a call; below 0: none. */
static int64_t call_number(const struct tg_trace *t, size_t i)
{
    return tg_kind_is_call(tg_span_kind(t, tg_span_at(t, i))) ? tg_correlation(t, i) : -1;
}

/* How much there is room for. Numbers from one counter need no hashing. */
static void make_room(struct table *h, const struct tg_trace *t, struct tg_steps *out)
{
    uint64_t high = 0;
    size_t calls = 0, devices = 0;
    h->low = UINT64_MAX;
    for (size_t i = 0; i < t->n_spans; i++) {
        int64_t number = call_number(t, i);
        devices += tg_kind_is_on_device(tg_span_kind(t, tg_span_at(t, i)));
        if (number < 0)
            continue;
        calls++;
        h->low = (uint64_t)number < h->low ? (uint64_t)number : h->low;
        high = (uint64_t)number > high ? (uint64_t)number : high;
    }
    h->range = high >= h->low ? high - h->low + 1 : 0;
    if (h->range && h->range <= 2 * t->n_spans)
        h->near = tg_xcalloc(h->range, sizeof *h->near);
    h->v = tg_xrealloc(NULL, calls + 1, sizeof *h->v);
    out->device = tg_xrealloc(NULL, devices + 1, sizeof *out->device);
}

/* TG_NO_ID: absent. */
static uint32_t find_id(const struct table *h, uint64_t key)
{
    if (!h->near)
        return tg_keymap_find(&h->ids, &key);
    return key - h->low < h->range ? h->near[key - h->low] - 1 : TG_NO_ID;
}

/* In total order, so that the outermost of equally good rows stays, whatever the file's order;
 * and the rows of devices. */
static void collect_launches(struct table *h, const struct tg_trace *t, struct tg_steps *out,
                             const unsigned char *call)
{
    const uint32_t *order = out->order;
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, order[k]);
        const uint64_t key = (uint64_t)call_number(t, order[k]);
        if (tg_kind_is_on_device(tg_span_kind(t, s)))
            out->device[out->n_device++] = order[k];
        if ((int64_t)key < 0)
            continue;
        uint32_t id = find_id(h, key);
        bool is_new = id == TG_NO_ID;
        if (is_new) {
            id = (uint32_t)h->n++;
            if (h->near)
                h->near[key - h->low] = id + 1;
            else
                (void)tg_keymap_add(&h->ids, &key);
        }
        if (is_new || call[s->name] > h->v[id].call)
            h->v[id] = (struct entry){ order[k], 0, call[s->name] & 3u };
    }
}

/* What a call does to the graph capture on its thread. */
enum capture { CAPTURE_NONE, CAPTURE_BEGIN, CAPTURE_END };

static enum capture capture_of(const struct tg_name *n)
{
    if (n->kind != TG_KIND_RUNTIME)
        return CAPTURE_NONE;
    if (tg_sv_has(n->name, TG_SV("StreamBeginCapture")))
        return CAPTURE_BEGIN;
    return tg_sv_has(n->name, TG_SV("StreamEndCapture")) ? CAPTURE_END : CAPTURE_NONE;
}

/* A recording ends before the work does: launches after the last one with a kernel are not lost. */
static void count_lost(struct tg_steps *out, const struct tg_trace *t, const struct table *h,
                       const unsigned char *call)
{
    TG_FREE unsigned char *capture = tg_xmalloc(t->names->n + 1);
    TG_FREE bool *capturing = tg_xcalloc(t->n_threads + 1, 1);
    uint64_t since = 0; /* launches without a kernel since the last one that has it */
    for (size_t i = 0; i < t->names->n; i++)
        capture[i] = (unsigned char)capture_of(&t->names->v[i]);
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, out->order[k]);
        int64_t correlation = tg_correlation(t, out->order[k]);
        bool *here = &capturing[t->tracks[s->track].thread];
        if (capture[s->name] == CAPTURE_END && !*here)
            since = 0; /* the recording began inside a capture */
        if (capture[s->name] != CAPTURE_NONE)
            *here = capture[s->name] == CAPTURE_BEGIN;
        if (call[s->name] != TG_CALL_KERNEL || correlation < 0 || *here)
            continue;
        if (h->v[find_id(h, (uint64_t)correlation)].devices) {
            out->lost_kernels += since;
            since = 0;
        } else {
            since++;
        }
    }
}

void tg_steps_link(struct tg_steps *out, const struct tg_trace *t)
{
    struct table h = { .ids.words = 1 };
    TG_FREE unsigned char *call = tg_xmalloc(t->names->n);
    out->launch = tg_steps_column(t, sizeof *out->launch);
    for (size_t i = 0; i < t->names->n; i++)
        call[i] = (unsigned char)tg_call_of(t->names->v[i].kind, t->names->v[i].name);
    make_room(&h, t, out);
    collect_launches(&h, t, out, call);
    memset(out->launch, 0xff, t->n_spans * sizeof *out->launch); /* TG_NO_SPAN */
    /* out->launch: the entries, until each knows how many spans it has. */
    for (size_t k = 0; k < out->n_device; k++) {
        uint32_t i = out->device[k], id = TG_NO_ID;
        int64_t number = tg_correlation(t, i);
        enum tg_kind kind = tg_span_kind(t, tg_span_at(t, i));
        if (number >= 0 && (tg_kind_is_device(kind) || kind == TG_KIND_DEVICE_SYNC))
            id = find_id(&h, (uint64_t)number);
        if (id != TG_NO_ID && tg_kind_is_device(kind) &&
            h.v[id].devices <= TG_MAX_KERNELS_PER_LAUNCH)
            h.v[id].devices++;
        out->launch[i] = id;
    }
    for (size_t k = 0; k < out->n_device; k++) {
        uint32_t i = out->device[k];
        const struct entry *e = out->launch[i] == TG_NO_ID ? NULL : &h.v[out->launch[i]];
        out->launch[i] = TG_NO_SPAN;
        if (e && !(e->call == TG_CALL_KERNEL && e->devices > TG_MAX_KERNELS_PER_LAUNCH))
            out->launch[i] = e->span;
        if (tg_kind_is_device(tg_span_kind(t, tg_span_at(t, i)))) {
            out->device_spans++;
            out->unlinked += out->launch[i] == TG_NO_SPAN;
            out->unnumbered += tg_correlation(t, i) < 0;
        }
    }
    count_lost(out, t, &h, call);
    tg_keymap_release(&h.ids);
    free(h.near);
    free(h.v);
}

void tg_steps_link_parents(struct tg_steps *out, const struct tg_trace *t)
{
    for (size_t k = 0; k < out->n_device; k++) {
        uint32_t i = out->device[k], up = out->launch[i];
        if (up == TG_NO_SPAN)
            continue;
        /* The innermost operator, annotation or step around the launch; runtime calls are
         * skipped. */
        do
            up = out->parent[up];
        while (up != TG_NO_SPAN && tg_kind_is_call(tg_span_kind(t, tg_span_at(t, up))));
        out->parent[i] = up;
    }
}
