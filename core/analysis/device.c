#include "core/analysis/device.h"

#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/sort.h"

const char *tg_class_hta_name(enum tg_class c)
{
    static const char *const names[] = { "COMPUTATION", "COMMUNICATION", "MEMORY", "OTHER" };
    return names[c];
}

tg_sv tg_work_class_names(int classes, struct tg_arena *a)
{
    const char *text = "";
    for (int c = 0; c < TG_CLASSES; c++)
        if (classes >> c & 1)
            text = tg_arena_printf(a, "%s%s%s", text, *text ? " overlapping " : "",
                                   tg_class_hta_name((enum tg_class)c));
    return tg_sv_of(text);
}

bool tg_trace_attr_real(const struct tg_trace *t, const struct tg_span *s, tg_sv key, double *out)
{
    return tg_dec_double(tg_sv_unquoted(tg_sv_value(tg_span_attrs(t, s), key)), out);
}

bool tg_step_wanted(const struct tg_steps *s, int32_t step, const struct tg_analysis_opts *o)
{
    return o->n_steps == 0 || (step >= 0 && tg_is_among(o->steps, o->n_steps, s->v[step].number));
}

void tg_work_init(struct tg_rank_work *w, const struct tg_rank_trace *rank,
                  const struct tg_analysis_opts *opts)
{
    const struct tg_trace *t = rank->trace;
    const struct tg_steps *steps = rank->steps;
    TG_FREE struct tg_name_class *classes = tg_classes_of(&opts->classes, t->names);
    size_t cap = 0;
    *w = (struct tg_rank_work){ .rank = rank, .n_devices = steps->lanes.n_devices };
    w->device = tg_xmalloc((w->n_devices + 1) * sizeof *w->device);
    for (size_t i = 0; i < w->n_devices; i++)
        w->device[i] = -1;
    for (size_t i = 0; i < t->n_tracks; i++)
        if (steps->lanes.device[i] < w->n_devices && t->tracks[i].device >= 0)
            w->device[steps->lanes.device[i]] = t->tracks[i].device;
    for (size_t k = 0; k < steps->n_device; k++) {
        uint32_t i = steps->device[k];
        const struct tg_span *s = tg_span_at(t, i);
        if (!tg_kind_is_device(tg_span_kind(t, s)) || (s->start == 0 && s->dur == 0) ||
            !tg_step_wanted(steps, steps->step_of[i], opts))
            continue;
        *TG_PUSH(w->v, w->n, cap) =
            (struct tg_work_row){ .start = s->start,
                                  .end = tg_span_end(s),
                                  .span = i,
                                  .device = steps->lanes.device[s->track],
                                  .class_ = (enum tg_class)classes[s->name].class_,
                                  .fallback = classes[s->name].fallback };
    }
}

void tg_work_release(struct tg_rank_work *w)
{
    free(w->v);
    free(w->device);
    *w = (struct tg_rank_work){ 0 };
}

void tg_work_each(const struct tg_analysis_in *in,
                  void (*f)(void *arg, const struct tg_device_work *d), void *arg,
                  struct tg_table *t)
{
    for (size_t r = 0; r < in->n; r++) {
        const struct tg_rank_work *w = &in->work[r];
        TG_FREE const struct tg_work_row **rows = tg_xrealloc(NULL, w->n + 1, sizeof *rows);
        struct tg_device_work d = { w, in->opts, in->ranks[r].rank, -1, rows, 0 };
        if (!w->n)
            tg_table_put_reason(t, d.rank, tg_work_reason(w, in->opts));
        for (uint32_t k = 0; k < w->n_devices; k++) {
            d.device = w->device[k];
            d.n = 0;
            for (size_t i = 0; i < w->n; i++)
                if (w->v[i].device == k)
                    rows[d.n++] = &w->v[i];
            if (d.n)
                f(arg, &d);
        }
    }
}

/* Dense stream ids of steps->lanes ascend by (device, stream), which is the order needed here. */
void *tg_streams_init(struct tg_streams *s, const struct tg_device_work *d, size_t size)
{
    const struct tg_rank_trace *r = d->work->rank;
    size_t n = r->steps->lanes.n_streams;
    s->lane = tg_xrealloc(NULL, n + 1, sizeof *s->lane);
    s->number = tg_xrealloc(NULL, n + 1, sizeof *s->number);
    s->n = 0;
    for (size_t i = 0; i < n; i++)
        s->lane[i] = TG_NO_ID;
    for (size_t i = 0; i < d->n; i++) {
        uint32_t track = tg_span_at(r->trace, d->rows[i]->span)->track;
        int64_t stream = r->trace->tracks[track].stream;
        s->lane[r->steps->lanes.stream[track]] = 0;
        s->number[r->steps->lanes.stream[track]] = stream == TG_NO_STREAM ? -1 : stream;
    }
    for (size_t i = 0; i < n; i++)
        if (s->lane[i] != TG_NO_ID) {
            s->number[s->n] = s->number[i];
            s->lane[i] = (uint32_t)s->n++;
        }
    return tg_xcalloc(s->n * size, 1);
}

void tg_streams_release(struct tg_streams *s)
{
    free(s->number);
    free(s->lane);
}

size_t tg_streams_of(const struct tg_streams *s, const struct tg_device_work *d,
                     const struct tg_work_row *r)
{
    const struct tg_rank_trace *rank = d->work->rank;
    return s->lane[rank->steps->lanes.stream[tg_span_at(rank->trace, r->span)->track]];
}

struct tg_table_cell tg_work_device(const struct tg_device_work *d)
{
    return tg_table_if(d->device >= 0, tg_table_int(d->device));
}

tg_sv tg_work_reason(const struct tg_rank_work *w, const struct tg_analysis_opts *opts)
{
    return opts->n_steps == 0 || !w->rank->steps->device_spans
               ? TG_SV("no device activity")
               : TG_SV("no device activity in these steps");
}

/* ---- intervals ---- */

void tg_union_release(struct tg_union *u)
{
    free(u->v);
    *u = (struct tg_union){ 0 };
}

void tg_union_add(struct tg_union *u, tg_ns start, tg_ns end)
{
    if (end <= start)
        return;
    if (u->n && start <= u->v[u->n - 1].end) {
        if (end > u->v[u->n - 1].end)
            u->v[u->n - 1].end = end;
        return;
    }
    *TG_PUSH(u->v, u->n, u->cap) = (struct tg_interval){ start, end };
}

tg_ns tg_union_length(const struct tg_union *u)
{
    tg_ns sum = 0;
    for (size_t i = 0; i < u->n; i++)
        sum = tg_ns_add(sum, tg_ns_sub(u->v[i].end, u->v[i].start));
    return sum;
}

static tg_ns common(struct tg_interval a, struct tg_interval b)
{
    tg_ns from = a.start > b.start ? a.start : b.start, to = a.end < b.end ? a.end : b.end;
    return to > from ? tg_ns_sub(to, from) : 0;
}

tg_ns tg_union_common(const struct tg_union *a, const struct tg_union *b)
{
    tg_ns sum = 0;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        sum = tg_ns_add(sum, common(a->v[i], b->v[j]));
        if (a->v[i].end < b->v[j].end)
            i++;
        else
            j++;
    }
    return sum;
}

tg_ns tg_union_inside(const struct tg_union *u, tg_ns start, tg_ns end)
{
    struct tg_interval window = { start, end };
    size_t i;
    tg_ns sum = 0;
    TG_SEARCH(i, u->n, u->v[i].end <= start);
    for (; i < u->n && u->v[i].start < end; i++)
        sum = tg_ns_add(sum, common(u->v[i], window));
    return sum;
}
