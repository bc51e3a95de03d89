/*
 * Traffic of a step by direction. A copy moves its bytes evenly over its duration; bandwidth is
 * bytes over the time in which any copy of the direction ran on the device, its peak the largest
 * sum of copies in flight (ends before starts: copies back to back do not add up).
 */
#include <math.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/metric/internal.h"
#include "core/metric/rates.h"

enum direction { HTOD, DTOH, DTOD, PTOP, SET, DIRECTIONS };
#define OF(direction)                                                                              \
    [direction] = { TG_METRIC_BYTES_##direction, TG_METRIC_BANDWIDTH_##direction,                  \
                    TG_METRIC_PEAK_##direction }
static const struct {
    enum tg_metric bytes, mean, peak;
} metrics[DIRECTIONS] = { OF(HTOD), OF(DTOH), OF(DTOD), OF(PTOP), OF(SET) };

struct copy {
    enum direction direction; /* DIRECTIONS: the name does not tell */
    uint32_t device;
    int32_t step;
    tg_ns start, end;
    int64_t bytes; /* -1: the trace does not tell */
};

/* "Memcpy HtoD (Pinned -> Device)"; ROCm 5 wrote "CopyHostToDevice". */
static enum direction direction_of(enum tg_kind kind, tg_sv name)
{
    static const struct {
        const char *part;
        enum direction is;
    } table[] = {
        { "HtoD", HTOD },           { "DtoH", DTOH },         { "DtoD", DTOD },
        { "PtoP", PTOP },           { "HostToDevice", HTOD }, { "DeviceToHost", DTOH },
        { "DeviceToDevice", DTOD }, { "PeerToPeer", PTOP },
    };
    if (kind == TG_KIND_MEMSET)
        return SET;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (tg_sv_has(name, tg_sv_of(table[i].part)))
            return table[i].is;
    return DIRECTIONS;
}

static struct copy *find_copies(const struct tg_trace *t, const struct tg_steps *s, size_t *n)
{
    struct copy *v = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t k = 0; k < s->n_device; k++) {
        uint32_t i = s->device[k];
        const struct tg_span *x = tg_span_at(t, i);
        enum tg_kind kind = tg_span_kind(t, x);
        int64_t bytes;
        if (s->step_of[i] < 0 || (kind != TG_KIND_MEMCPY && kind != TG_KIND_MEMSET))
            continue;
        /* bytes=123 or, of AMD, bytes="123" */
        tg_sv value = tg_sv_unquoted(tg_sv_value(tg_span_attrs(t, x), TG_SV("bytes")));
        *TG_PUSH(v, *n, cap) = (struct copy){ direction_of(kind, tg_span_name(t, x)->name),
                                              s->lanes.device[x->track],
                                              s->step_of[i],
                                              x->start,
                                              tg_span_end(x),
                                              tg_sv_i64(value, &bytes) && bytes >= 0 ? bytes : -1 };
    }
    return v;
}

static void add_bytes(struct tg_metric_value *v, int64_t bytes)
{
    v->known &= bytes >= 0;
    v->num = tg_ns_add(v->num, bytes > 0 ? bytes : 0);
}

/* Copies by (device, step, start): each run of one direction in a step of a device is a series. */
static int by_place(const void *pa, const void *pb)
{
    const struct copy *a = pa, *b = pb;
    int c = TG_CMP(a->direction, b->direction);
    c = c ? c : TG_CMP(a->step, b->step);
    c = c ? c : TG_CMP(a->device, b->device);
    c = c ? c : TG_CMP(a->start, b->start);
    return c ? c : TG_CMP(a->end, b->end);
}

/* One direction in one step on one device. `rates` is cleared first. */
static void put_series(const struct copy *c, size_t n, size_t n_steps, struct tg_rates *rates,
                       struct tg_metric_value *out)
{
    size_t at = (size_t)c->step;
    struct tg_metric_value *mean = &out[metrics[c->direction].mean * n_steps + at];
    struct tg_metric_value *most = &out[metrics[c->direction].peak * n_steps + at];
    struct tg_rate_sum sum = { 0 };
    double peak = 0; /* bytes per ns */
    tg_ns time = 0, until = INT64_MIN;
    int64_t bytes = 0;
    for (size_t i = 0; i < n; i++)
        if (c[i].bytes < 0)
            return; /* unknown, not less */
    rates->n = 0;
    for (size_t i = 0; i < n; i++) {
        tg_ns from = c[i].start > until ? c[i].start : until;
        if (c[i].end <= c[i].start)
            continue;
        bytes = tg_ns_add(bytes, c[i].bytes);
        tg_rates_add(rates, c[i].start, c[i].end,
                     (double)c[i].bytes / (double)tg_ns_sub(c[i].end, c[i].start));
        if (c[i].end <= from)
            continue;
        time = tg_ns_add(time, tg_ns_sub(c[i].end, from));
        until = c[i].end;
    }
    /* Bytes over the union of the copies' times. */
    if (time > 0)
        *mean = (struct tg_metric_value){ true, tg_ns_add(mean->known ? mean->num : 0, bytes),
                                          tg_ns_add(mean->known ? mean->den : 0, time) };
    tg_rates_sort(rates);
    for (size_t i = 0; i < rates->n; i++) {
        tg_rate_step(&sum, &rates->edges[i]);
        peak = sum.rate > peak ? sum.rate : peak;
    }
    double bytes_per_second = round(peak * 1e9);
    if (bytes_per_second > 0 && bytes_per_second < 9e18 &&
        (!most->known || (int64_t)bytes_per_second > most->num))
        *most = (struct tg_metric_value){ true, (int64_t)bytes_per_second, 1000000000 };
}

void tg_measure_copies(const struct tg_trace *t, const struct tg_steps *s,
                       struct tg_metric_value *out)
{
    size_t n, end;
    TG_FREE struct copy *v = find_copies(t, s, &n);
    TG_AUTO(tg_rates_release) struct tg_rates rates = { 0 };
    for (size_t k = 0; k < s->n; k++) {
        out[TG_METRIC_MEMCPY_BYTES * s->n + k].known = true;
        for (int d = 0; d < DIRECTIONS; d++)
            out[metrics[d].bytes * s->n + k].known = true;
    }
    for (size_t i = 0; i < n; i++) {
        if (v[i].direction != SET)
            add_bytes(&out[TG_METRIC_MEMCPY_BYTES * s->n + (size_t)v[i].step], v[i].bytes);
        if (v[i].direction != DIRECTIONS)
            add_bytes(&out[metrics[v[i].direction].bytes * s->n + (size_t)v[i].step], v[i].bytes);
    }
    TG_SORT(v, n, by_place);
    for (size_t i = 0; i < n && v[i].direction != DIRECTIONS; i = end) {
        for (end = i + 1; end < n && v[end].direction == v[i].direction &&
                          v[end].step == v[i].step && v[end].device == v[i].device;
             end++)
            ;
        put_series(v + i, end - i, s->n, &rates, out);
    }
}
