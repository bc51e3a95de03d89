#include "core/metric/callers.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/sv.h"

bool tg_caller_parse(struct tg_caller_name *out, tg_sv name)
{
    /* The last "(digits): ": a path may contain one as well. */
    for (size_t at = name.n; at-- > 1;) {
        size_t open = at;
        int64_t line;
        if (name.p[at] != ')' || at + 2 >= name.n || name.p[at + 1] != ':' || name.p[at + 2] != ' ')
            continue;
        while (open > 0 && name.p[open - 1] >= '0' && name.p[open - 1] <= '9')
            open--;
        if (open == at || open < 2 || name.p[open - 1] != '(' || at - open > 9 ||
            !tg_sv_i64((tg_sv){ name.p + open, at - open }, &line) || line < 1)
            continue;
        out->file = (tg_sv){ name.p, open - 1 };
        out->function = (tg_sv){ name.p + at + 3, name.n - at - 3 };
        out->line = (uint32_t)line;
        return out->file.p[0] != '<' && out->function.n > 0;
    }
    return false;
}

/* ---- counting ---- */

struct open_frame {
    tg_ns end;
    uint32_t nearest; /* the innermost wanted frame up to here; TG_NO_ID: there is none */
};
struct thread {
    struct open_frame *v;
    size_t n, cap;
};
struct launch {
    int64_t correlation;
    uint32_t frame;
};
struct count {
    const struct tg_trace *t;
    struct thread *threads;
    size_t n_threads;
    uint32_t *op;    /* per name id: id in `ops`; TG_NO_ID */
    uint32_t *frame; /* per name id: itself if wanted; TG_NO_ID */
    struct launch *launches;
    size_t n_launches, launches_cap;
    struct tg_callers *out;
    size_t cap;
};

static void add_call(struct count *c, uint32_t op, uint32_t frame)
{
    if (frame == TG_NO_ID)
        return;
    if (c->out->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 64;
        c->out->v = tg_xrealloc(c->out->v, c->cap, sizeof *c->out->v);
    }
    c->out->v[c->out->n++] = (struct tg_caller){ op, frame, 1 };
}

static void add_launch(struct count *c, int64_t correlation, uint32_t frame)
{
    if (correlation == TG_NO_CORRELATION || frame == TG_NO_ID)
        return;
    if (c->n_launches == c->launches_cap) {
        c->launches_cap = c->launches_cap ? 2 * c->launches_cap : 256;
        c->launches = tg_xrealloc(c->launches, c->launches_cap, sizeof *c->launches);
    }
    c->launches[c->n_launches++] = (struct launch){ correlation, frame };
}

/* The innermost wanted frame that is open around `start` on the thread of `s`. */
static struct thread *thread_at(struct count *c, const struct tg_span *s)
{
    struct thread *h = &c->threads[c->t->tracks[s->track].thread];
    while (h->n && h->v[h->n - 1].end <= s->start)
        h->n--;
    return h;
}

static void open_frame(struct thread *h, tg_ns end, uint32_t wanted)
{
    uint32_t outer = h->n ? h->v[h->n - 1].nearest : TG_NO_ID;
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : 64;
        h->v = tg_xrealloc(h->v, h->cap, sizeof *h->v);
    }
    h->v[h->n++] = (struct open_frame){ end, wanted != TG_NO_ID ? wanted : outer };
}

static void host_span(struct count *c, const struct tg_span *s)
{
    struct thread *h = thread_at(c, s);
    uint32_t frame = h->n ? h->v[h->n - 1].nearest : TG_NO_ID;
    if (tg_span_kind(c->t, s) == TG_KIND_PYTHON) {
        open_frame(h, s->start + s->dur, c->frame[s->name]);
        return;
    }
    if (c->op[s->name] != TG_NO_ID)
        add_call(c, c->op[s->name], frame);
    add_launch(c, s->correlation, frame);
}

static int by_correlation(const void *a, const void *b)
{
    const struct launch *x = a, *y = b;
    return x->correlation < y->correlation ? -1 : x->correlation > y->correlation;
}

static void device_span(struct count *c, const struct tg_span *s)
{
    struct launch key = { s->correlation, 0 };
    const struct launch *at;
    if (c->op[s->name] == TG_NO_ID || !c->n_launches)
        return;
    at = bsearch(&key, c->launches, c->n_launches, sizeof key, by_correlation);
    if (at)
        add_call(c, c->op[s->name], at->frame);
}

static int by_op_and_frame(const void *a, const void *b)
{
    const struct tg_caller *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    return x->frame < y->frame ? -1 : x->frame > y->frame;
}

static void add_up(struct tg_callers *f)
{
    size_t n = 0;
    if (f->n)
        qsort(f->v, f->n, sizeof *f->v, by_op_and_frame);
    for (size_t i = 0; i < f->n; i++) {
        if (n && f->v[n - 1].op == f->v[i].op && f->v[n - 1].frame == f->v[i].frame)
            f->v[n - 1].calls++;
        else
            f->v[n++] = f->v[i];
    }
    f->n = n;
}

static void look_up_names(struct count *c, const struct tg_strmap *ops, tg_caller_wanted wanted,
                          void *arg)
{
    const struct tg_names *names = c->t->names;
    for (size_t i = 0; i < names->n; i++) {
        const struct tg_name *n = &names->v[i];
        bool python = n->kind == TG_KIND_PYTHON;
        c->op[i] = python ? TG_NO_ID : tg_strmap_find(ops, n->name);
        c->frame[i] = python && wanted(arg, n->name) ? (uint32_t)i : TG_NO_ID;
    }
}

void tg_callers_count(struct tg_callers *out, const struct tg_trace *t, const struct tg_strmap *ops,
                      tg_caller_wanted wanted, void *arg)
{
    struct count c = { .t = t, .out = out };
    uint32_t *order = tg_xmalloc((t->n_spans + 1) * sizeof *order);
    *out = (struct tg_callers){ NULL, 0 };
    c.op = tg_xmalloc((t->names->n + 1) * sizeof *c.op);
    c.frame = tg_xmalloc((t->names->n + 1) * sizeof *c.frame);
    for (size_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].thread >= c.n_threads)
            c.n_threads = (size_t)t->tracks[i].thread + 1;
    c.threads = tg_xmalloc((c.n_threads + 1) * sizeof *c.threads);
    memset(c.threads, 0, (c.n_threads + 1) * sizeof *c.threads);
    look_up_names(&c, ops, wanted, arg);
    tg_trace_sort(t, order);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, order[i]);
        if (!tg_kind_is_device(tg_span_kind(t, s)))
            host_span(&c, s);
    }
    /* In some files a kernel starts before the clock of its launch does: launches come first. */
    if (c.n_launches)
        qsort(c.launches, c.n_launches, sizeof *c.launches, by_correlation);
    for (size_t i = 0; i < t->n_spans; i++)
        if (tg_kind_is_device(tg_span_kind(t, tg_span_at(t, i))))
            device_span(&c, tg_span_at(t, i));
    add_up(out);
    for (size_t i = 0; i < c.n_threads; i++)
        free(c.threads[i].v);
    free(c.threads);
    free(c.launches);
    free(c.op);
    free(c.frame);
    free(order);
}

void tg_callers_release(struct tg_callers *f)
{
    free(f->v);
    *f = (struct tg_callers){ NULL, 0 };
}
