/* Totals of a file by category and name in one pass, without keeping its events: what
 * `analyze --measure ops --whole` prints. */
#include <stdlib.h>

#include "core/base/arena.h"
#include "core/trace/pairs.h"
#include "core/trace/reader_internal.h"
#include "core/trace/split.h"
#include "core/trace/trace.h"

struct collector {
    struct tg_totals *out;
    size_t cap;
    struct tg_marks *marks;
    const struct tg_limits *limits;
    struct tg_err *err;
    bool failed;
};

/* At least `n` totals, the new ones zero. */
static void make_room(struct collector *c, size_t n)
{
    size_t had = c->cap;
    c->out->v = tg_grow(c->out->v, &c->cap, n, sizeof *c->out->v);
    memset(c->out->v + had, 0, (c->cap - had) * sizeof *c->out->v);
}

/* Sums wrap after 292 years of kernels at the earliest; unsigned, so that damage is not undefined
 * behaviour. */
static inline void add(struct collector *c, uint32_t name, struct tg_total more)
{
    struct tg_totals *t = c->out;
    if (name >= c->cap)
        make_room(c, (size_t)name + 1);
    t->v[name].count += more.count;
    t->v[name].total = (tg_ns)((uint64_t)t->v[name].total + (uint64_t)more.total);
}

static inline __attribute__((always_inline)) bool count(struct collector *c, uint32_t name,
                                                        tg_ns dur)
{
    if (name == TG_NO_ID && !tg_reader_intern(c->out->reader, TG_SV(""), TG_SV(""), &name, c->err))
        return false;
    add(c, name, (struct tg_total){ 1, dur });
    return true;
}

static void count_pair(void *arg, const struct tg_mark *b, const struct tg_mark *e)
{
    struct collector *c = arg;
    if (!c->failed && !count(c, b->name != TG_NO_ID ? b->name : e->name, e->ts - b->ts))
        c->failed = true;
}

static inline bool has_total(const struct tg_event *ev)
{
    return (ev->ph == 'X' || ev->ph == '\0') && ev->has_ts && ev->has_dur;
}

static inline __attribute__((always_inline)) bool take(void *arg, const struct tg_event *ev)
{
    struct collector *c = arg;
    if (has_total(ev))
        return count(c, ev->name, ev->dur);
    if (!tg_event_is_mark(ev))
        return true;
    tg_marks_add(c->marks, ev, TG_NO_ID);
    if (c->marks->n <= c->limits->max_spans)
        return true;
    return tg_err_set(c->err, TG_ERR_LIMIT, TG_NOWHERE, "more than %zu B and E events",
                      c->limits->max_spans);
}

static bool read_events(void *whole, struct tg_err *err)
{
    struct collector *c = whole;
    c->err = err;
    return tg_reader_each(c->out->reader, take, c, err);
}

/* ---- in parts ---- */

/* A part's totals, for the names that it has. */
struct part {
    struct named {
        uint32_t name;
        struct tg_total t;
    } * v;
    size_t n, cap;
    struct tg_marks marks;
};

/* Totals of the current part, by the worker's ids; all zero between parts. */
struct worker {
    struct collector c;
    struct tg_totals totals;
    struct part *part;
};

static void part_release(void *part)
{
    struct part *p = part;
    tg_marks_release(&p->marks);
    free(p->v);
}

static void worker_init(void *worker, const void *whole, struct tg_reader *r)
{
    const struct collector *c = whole;
    struct worker *w = worker;
    w->totals = (struct tg_totals){ .reader = r, .names = tg_reader_names(r) };
    w->c = (struct collector){ .out = &w->totals, .limits = c->limits };
}

static void worker_release(void *worker)
{
    free(((struct worker *)worker)->totals.v);
}

/* Like `take`, and notes the names of the part: tables may know a million. */
static bool take_in_part(void *arg, const struct tg_event *ev)
{
    struct worker *w = arg;
    struct collector *c = &w->c;
    struct part *p = w->part;
    uint32_t name = ev->name;
    if (!has_total(ev))
        return take(c, ev);
    if (name == TG_NO_ID && !tg_reader_intern(c->out->reader, TG_SV(""), TG_SV(""), &name, c->err))
        return false;
    if (name >= c->cap || c->out->v[name].count == 0)
        TG_PUSH(p->v, p->n, p->cap)->name = name;
    add(c, name, (struct tg_total){ 1, ev->dur });
    return true;
}

static bool read_part(void *worker, void *part, struct tg_err *err)
{
    struct worker *w = worker;
    struct part *p = part;
    p->n = p->marks.n = 0;
    w->part = p;
    w->c.marks = &p->marks;
    w->c.err = err;
    bool ok = tg_reader_each(w->totals.reader, take_in_part, w, err);
    for (size_t i = 0; i < p->n; i++) {
        struct tg_total *t = &w->totals.v[p->v[i].name];
        p->v[i].t = *t;
        *t = (struct tg_total){ 0 };
    }
    return ok;
}

static bool fits(const void *whole, const void *part, const struct tg_trace_info *info)
{
    const struct collector *c = whole;
    const struct part *p = part;
    (void)info;
    return c->marks->n <= c->limits->max_spans && p->marks.n <= c->limits->max_spans - c->marks->n;
}

static void join(void *whole, void *worker, void *part, const struct tg_split_ids *ids)
{
    struct collector *c = whole;
    struct part *p = part;
    (void)worker;
    for (size_t i = 0; i < p->n; i++)
        add(c, ids->name[p->v[i].name], p->v[i].t);
    tg_marks_join(c->marks, &p->marks, ids->name, ids->thread, NULL, ids->first_index);
}

static const struct tg_split_ops split_ops = { .here = read_events,
                                               .fits = fits,
                                               .join = join,
                                               .part_size = sizeof(struct part),
                                               .part_release = part_release,
                                               .worker_size = sizeof(struct worker),
                                               .worker_init = worker_init,
                                               .worker_release = worker_release,
                                               .read = read_part };

/* ---- the whole ---- */

bool tg_totals_read(struct tg_totals *out, struct tg_source *s, const struct tg_reader_opts *o,
                    struct tg_err *err)
{
    struct tg_limits defaults = TG_LIMITS_DEFAULT;
    TG_AUTO(tg_marks_release) struct tg_marks marks = { 0 };
    struct tg_reader_opts opts = o ? *o : (struct tg_reader_opts){ 0 };
    struct collector c = {
        .out = out, .marks = &marks, .limits = opts.limits ? opts.limits : &defaults, .err = err
    };
    opts.want_args = false;
    *out = (struct tg_totals){ .reader = tg_reader_new(s, &opts) };
    out->names = tg_reader_names(out->reader);
    struct tg_pair_sink sink = { .pair = count_pair, .arg = &c };
    bool ok = tg_split_can(s, &opts) ? tg_split_read(out->reader, s, &opts, &split_ops, &c, err)
                                     : read_events(&c, err);
    if (ok)
        tg_marks_match(&marks, out->names, &sink);
    if (!ok || c.failed || !tg_reader_saw_events(out->reader, err)) {
        tg_totals_release(out);
        return false;
    }
    if (c.cap < out->names->n) /* names that only other phases use have a zero */
        make_room(&c, out->names->n);
    return true;
}

void tg_totals_release(struct tg_totals *t)
{
    tg_reader_free(t->reader);
    free(t->v);
    *t = (struct tg_totals){ 0 };
}
