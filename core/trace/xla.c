#include "core/trace/xla.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/trace/kineto.h"
#include "core/trace/reader_internal.h"

/* What a thread's events are. */
enum lane {
    LANE_NONE,
    LANE_HOST,
    LANE_STEPS,
    LANE_STREAM,
    LANE_OPS, /* XLA's operators: kernels, if the device has no streams */
    LANE_ABOUT,
    LANES
};

void tg_xla_label(struct tg_trace_label *out, const struct tg_event *ev, bool is_process)
{
    struct tg_scan s = tg_scan_object(ev->args);
    struct tg_value key, value;
    bool first = true;
    *out = (struct tg_trace_label){ .thread = ev->thread, .is_process = is_process };
    if (!ev->args.n)
        return;
    while (tg_scan_member(&s, &first, &key) > 0 && tg_scan_value(&s, &value)) {
        if (!tg_kineto_key(&key, TG_SV("name")) || value.type != TG_TOKEN_STRING)
            continue;
        out->n = (uint8_t)(value.raw.n < sizeof out->name ? value.raw.n : sizeof out->name);
        memcpy(out->name, value.raw.p, out->n);
    }
}

static tg_sv text_of(const struct tg_trace_label *l)
{
    return (tg_sv){ l->name, l->n };
}

static bool is_device(tg_sv process)
{
    return tg_sv_starts(process, TG_SV("/device:GPU:")) ||
           tg_sv_starts(process, TG_SV("/device:TPU:"));
}

bool tg_xla_is(const struct tg_trace *t)
{
    for (size_t i = 0; i < t->n_labels; i++)
        if (t->labels[i].is_process && (is_device(text_of(&t->labels[i])) ||
                                        tg_sv_starts(text_of(&t->labels[i]), TG_SV("/host:"))))
            return true;
    return false;
}

/* The label of a thread; of a process, that of any event of its pid. */
static tg_sv label_of(const struct tg_trace *t, uint32_t thread, bool is_process)
{
    for (size_t i = 0; i < t->n_labels; i++) {
        const struct tg_trace_label *l = &t->labels[i];
        if (l->is_process == is_process &&
            (is_process ? tg_sv_eq(t->threads[l->thread].pid, t->threads[thread].pid)
                        : l->thread == thread))
            return text_of(l);
    }
    return TG_SV("");
}

static enum lane lane_of(tg_sv process, tg_sv line)
{
    if (tg_sv_starts(process, TG_SV("/host:")))
        return tg_sv_eq(process, TG_SV("/host:metadata")) ? LANE_NONE : LANE_HOST;
    if (!is_device(process))
        return LANE_NONE;
    if (tg_sv_eq(line, TG_SV("Steps")))
        return LANE_STEPS;
    if (tg_sv_starts(line, TG_SV("Stream #")))
        return LANE_STREAM;
    return tg_sv_eq(line, TG_SV("XLA Ops")) || tg_sv_eq(line, TG_SV("Async XLA Ops")) ? LANE_OPS
                                                                                      : LANE_ABOUT;
}

/* The number at the end of "/device:GPU:3", or after "Stream #". */
static int64_t number_in(tg_sv text, size_t from)
{
    size_t n = tg_sv_digits(text, from);
    int64_t out;
    return n > from && tg_sv_i64((tg_sv){ text.p + from, n - from }, &out) ? out : -1;
}

static enum lane set_track(const struct tg_trace *t, struct tg_track *k)
{
    tg_sv process = label_of(t, k->thread, true), line = label_of(t, k->thread, false);
    enum lane lane = lane_of(process, line);
    int64_t tid;
    if (lane == LANE_OPS) {
        lane = LANE_STREAM;
        for (size_t i = 0; i < t->n_labels; i++)
            if (!t->labels[i].is_process &&
                tg_sv_eq(t->threads[t->labels[i].thread].pid, t->threads[k->thread].pid) &&
                tg_sv_starts(text_of(&t->labels[i]), TG_SV("Stream #")))
                lane = LANE_ABOUT;
    }
    k->device = -1;
    k->stream = TG_NO_STREAM;
    if (lane == LANE_STREAM || lane == LANE_ABOUT) {
        k->device = number_in(process, sizeof "/device:GPU:" - 1);
        k->stream = number_in(line, sizeof "Stream #" - 1);
        if (k->stream < 0 || !tg_sv_starts(line, TG_SV("Stream #")))
            k->stream = tg_sv_i64(t->threads[k->thread].tid, &tid) ? tid : 0;
    }
    return lane;
}

static const char *category_of(enum lane lane, tg_sv name)
{
    switch (lane) {
    case LANE_HOST:
        return name.n && name.p[0] == '$' ? "python_function" : "cpu_op";
    case LANE_STEPS:
        return "user_annotation";
    case LANE_STREAM:
        if (tg_sv_starts(name, TG_SV("Memcpy")))
            return "gpu_memcpy";
        return tg_sv_starts(name, TG_SV("Memset")) ? "gpu_memset" : "kernel";
    case LANE_ABOUT:
        return "gpu_user_annotation";
    default:
        return "";
    }
}

/* "train 12" and "12" are step 12; what has no number keeps its name and is not a step. */
static tg_sv step_name(tg_sv name, char *buf, size_t size)
{
    size_t from = name.n;
    int64_t n;
    while (from && tg_is_digit(name.p[from - 1]))
        from--;
    if (!tg_sv_i64(tg_sv_from(name, from), &n))
        return name;
    (void)snprintf(buf, size, "ProfilerStep#%" PRId64, n);
    return tg_sv_of(buf);
}

bool tg_xla_apply(struct tg_trace *t, bool keep_python, struct tg_err *err)
{
    size_t n_names = t->names->n, kept = 0;
    /* The id of each name as an event of each lane; known ids stay known. */
    TG_FREE uint32_t *memo = tg_xrealloc(NULL, (n_names + 1) * LANES, sizeof *memo);
    TG_FREE enum lane *lanes = tg_xrealloc(NULL, t->n_tracks + 1, sizeof *lanes);
    memset(memo, 0xff, (n_names + 1) * LANES * sizeof *memo);
    t->is_capped = t->n_spans == TG_XLA_MAX_EVENTS;
    t->has_no_launches = true;
    for (size_t i = 0; i < t->n_tracks; i++)
        lanes[i] = set_track(t, &t->tracks[i]);
    for (size_t i = 0; i < t->n_spans; i++) {
        struct tg_span *s = tg_span_at(t, i);
        enum lane lane = lanes[s->track];
        uint32_t *known = &memo[(size_t)s->name * LANES + lane];
        if (*known == TG_NO_ID) {
            tg_sv text = t->names->v[s->name].name, cat = tg_sv_of(category_of(lane, text));
            char step[48];
            if (lane == LANE_STEPS)
                text = step_name(text, step, sizeof step);
            if (!tg_reader_intern(t->reader, cat, text, known, err))
                return false;
        }
        s->name = *known;
        if (keep_python || t->names->v[s->name].kind != TG_KIND_PYTHON)
            tg_trace_swap(t, i, kept++);
    }
    t->n_spans = kept;
    return true;
}
