#include <stdlib.h>

#include "core/base/arena.h"
#include "core/trace/pairs.h"
#include "core/trace/reader_internal.h"
#include "core/trace/trace.h"

struct collector {
    struct tg_totals *out;
    size_t cap;
    struct tg_marks marks;
    const struct tg_limits *limits;
    struct tg_err *err;
    bool failed;
};

/* Sums wrap no earlier than after 292 years of kernels; unsigned, so that damage is not undefined.
 */
static bool count(struct collector *c, uint32_t name, tg_ns dur)
{
    struct tg_totals *t = c->out;
    size_t n;
    if (name == TG_NO_ID &&
        !tg_reader_intern(t->reader, (tg_sv){ "", 0 }, (tg_sv){ "", 0 }, &name, c->err))
        return false;
    n = c->cap;
    if (name >= n) {
        t->v = tg_grow(t->v, &c->cap, (size_t)name + 1, sizeof *t->v);
        memset(t->v + n, 0, (c->cap - n) * sizeof *t->v);
    }
    t->v[name].count++;
    t->v[name].total = (tg_ns)((uint64_t)t->v[name].total + (uint64_t)dur);
    return true;
}

static void count_pair(void *arg, const struct tg_mark *b, const struct tg_mark *e)
{
    struct collector *c = arg;
    if (!c->failed && !count(c, b->name != TG_NO_ID ? b->name : e->name, e->ts - b->ts))
        c->failed = true;
}

static bool take(struct collector *c, const struct tg_event *ev)
{
    if ((ev->ph == 'X' || ev->ph == '\0') && ev->has_ts && ev->has_dur)
        return count(c, ev->name, ev->dur);
    if (!tg_event_is_mark(ev))
        return true;
    tg_marks_add(&c->marks, ev, TG_NO_ID);
    if (c->marks.n <= c->limits->max_spans)
        return true;
    return tg_err_set(c->err, TG_ERR_LIMIT, TG_NOWHERE, "more than %zu B and E events",
                      c->limits->max_spans);
}

static bool collect(struct collector *c)
{
    struct tg_pair_sink sink = { .pair = count_pair, .arg = c };
    struct tg_event ev;
    enum tg_next next;
    while ((next = tg_reader_next(c->out->reader, &ev, c->err)) == TG_NEXT)
        if (!take(c, &ev))
            return false;
    if (next != TG_NEXT_END)
        return false;
    tg_marks_match(&c->marks, c->out->names, &sink);
    return !c->failed;
}

/* Names that only other phases use get their zero, so that every id has an entry. */
static void pad(struct collector *c)
{
    size_t n = c->cap;
    c->out->v = tg_grow(c->out->v, &c->cap, c->out->names->n, sizeof *c->out->v);
    if (c->cap > n)
        memset(c->out->v + n, 0, (c->cap - n) * sizeof *c->out->v);
}

bool tg_totals_read(struct tg_totals *out, struct tg_source *s, const struct tg_reader_opts *o,
                    struct tg_err *err)
{
    struct tg_limits defaults = TG_LIMITS_DEFAULT;
    struct tg_reader_opts opts = o ? *o : (struct tg_reader_opts){ 0 };
    struct collector c = { .out = out,
                           .limits = opts.limits ? opts.limits : &defaults,
                           .err = err };
    bool ok;
    opts.want_args = false;
    *out = (struct tg_totals){ .reader = tg_reader_new(s, &opts) };
    out->names = tg_reader_names(out->reader);
    ok = collect(&c);
    if (ok)
        pad(&c);
    tg_marks_release(&c.marks);
    if (!ok)
        tg_totals_release(out);
    return ok;
}

void tg_totals_release(struct tg_totals *t)
{
    tg_reader_free(t->reader);
    free(t->v);
    *t = (struct tg_totals){ 0 };
}
