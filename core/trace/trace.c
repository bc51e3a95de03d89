#include "core/trace/trace.h"

#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"

void tg_correlation_set(struct tg_trace *t, size_t i, int64_t correlation)
{
    struct tg_segment *s = &t->segment[i / TG_SPAN_SEGMENT];
    if (!s->wide && correlation != (int32_t)correlation) {
        s->wide = tg_xrealloc(NULL, TG_SPAN_SEGMENT, sizeof *s->wide);
        for (size_t k = 0; k < TG_SPAN_SEGMENT; k++)
            s->wide[k] = s->correlations[k];
        free(s->correlations);
        s->correlations = NULL;
    }
    if (s->wide)
        s->wide[i % TG_SPAN_SEGMENT] = correlation;
    else
        s->correlations[i % TG_SPAN_SEGMENT] = (int32_t)correlation;
}

void tg_trace_swap(struct tg_trace *t, size_t from, size_t to)
{
    struct tg_span span = *tg_span_at(t, from);
    int64_t correlation = tg_correlation(t, from);
    *tg_span_at(t, from) = *tg_span_at(t, to);
    *tg_span_at(t, to) = span;
    tg_correlation_set(t, from, tg_correlation(t, to));
    tg_correlation_set(t, to, correlation);
    if (t->sequence) {
        int64_t number = t->sequence[from];
        t->sequence[from] = t->sequence[to];
        t->sequence[to] = number;
    }
}

void tg_trace_set_python_apart(struct tg_trace *t)
{
    size_t kept = 0;
    for (size_t i = 0; i < t->n_spans; i++)
        if (tg_span_kind(t, tg_span_at(t, i)) != TG_KIND_PYTHON)
            tg_trace_swap(t, i, kept++);
    t->n_python = t->n_spans - kept;
    t->n_spans = kept;
}

void tg_trace_drop(struct tg_trace *t, unsigned columns)
{
    for (size_t i = 0; columns & TG_TRACE_CORRELATIONS && i < t->n_segments; i++) {
        free(t->segment[i].correlations);
        free(t->segment[i].wide);
        t->segment[i].correlations = NULL;
        t->segment[i].wide = NULL;
    }
    if (columns & TG_TRACE_PYTHON) {
        size_t kept = (t->n_spans + TG_SPAN_SEGMENT - 1) / TG_SPAN_SEGMENT;
        for (; t->n_segments > kept && t->n_segments > 1; t->n_segments--) {
            free(t->segment[t->n_segments - 1].spans);
            free(t->segment[t->n_segments - 1].correlations);
            free(t->segment[t->n_segments - 1].wide);
        }
        t->n_python = 0;
    }
    if (columns & TG_TRACE_SEQUENCE) {
        free(t->sequence);
        t->sequence = NULL;
    }
    if (columns == TG_TRACE_ALL) {
        for (size_t i = 0; i < t->n_segments; i++)
            free(t->segment[i].spans);
        free(t->segment);
        free(t->memory);
        free(t->hta_ts);
        free(t->hta_dur);
        free(t->ts_float);
        free(t->labels);
    }
}

void tg_trace_free(struct tg_trace *t)
{
    if (!t)
        return;
    tg_trace_drop(t, TG_TRACE_ALL);
    free(t->tracks);
    tg_strmap_release(&t->attrs);
    tg_reader_free(t->reader);
    free(t->path);
    free(t);
}

struct track_key {
    int64_t device, stream;
    uint32_t track;
};

static int by_lane(const void *a, const void *b)
{
    const struct track_key *x = a, *y = b;
    int c = TG_CMP(x->device, y->device);
    return c ? c : TG_CMP(x->stream, y->stream);
}

void tg_lanes_init(struct tg_lanes *l, const struct tg_trace *t)
{
    TG_FREE struct track_key *k = tg_xrealloc(NULL, t->n_tracks, sizeof *k);
    *l = (struct tg_lanes){ tg_xrealloc(NULL, t->n_tracks, sizeof *l->device),
                            tg_xrealloc(NULL, t->n_tracks, sizeof *l->stream), 0, 0 };
    for (size_t i = 0; i < t->n_tracks; i++)
        k[i] = (struct track_key){ t->tracks[i].device, t->tracks[i].stream, (uint32_t)i };
    TG_SORT(k, t->n_tracks, by_lane);
    for (size_t i = 0; i < t->n_tracks; i++) {
        l->n_devices += i == 0 || k[i].device != k[i - 1].device;
        l->n_streams += i == 0 || by_lane(&k[i], &k[i - 1]) != 0;
        l->device[k[i].track] = (uint32_t)l->n_devices - 1;
        l->stream[k[i].track] = (uint32_t)l->n_streams - 1;
    }
}

void tg_lanes_release(struct tg_lanes *l)
{
    free(l->device);
    free(l->stream);
}

uint32_t *tg_trace_group(const struct tg_trace *t, const uint32_t *list, size_t n,
                         const uint32_t *group, size_t n_groups, size_t *end)
{
    uint32_t *out = tg_xrealloc(NULL, n + 1, sizeof *out);
    size_t sum = 0;
    memset(end, 0, n_groups * sizeof *end);
    for (size_t i = 0; i < n; i++)
        end[group[tg_span_at(t, list[i])->track]]++;
    for (size_t k = 0; k < n_groups; k++) {
        size_t of = end[k];
        end[k] = sum; /* its beginning, until it is filled */
        sum += of;
    }
    for (size_t i = 0; i < n; i++)
        out[end[group[tg_span_at(t, list[i])->track]]++] = list[i];
    return out;
}
