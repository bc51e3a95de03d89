#include "core/trace/pairs.h"

#include <stdlib.h>

#include "core/base/arena.h"

void tg_marks_add(struct tg_marks *m, const struct tg_event *ev, uint32_t attr)
{
    *TG_PUSH(m->v, m->n, m->cap) = (struct tg_mark){ .ts = ev->ts,
                                                     .stream = ev->stream,
                                                     .correlation = ev->correlation,
                                                     .device = ev->device,
                                                     .name = ev->name,
                                                     .thread = ev->thread,
                                                     .attr = attr,
                                                     .index = (uint32_t)ev->index,
                                                     .is_end = ev->ph == 'E',
                                                     .has_name = ev->has_name,
                                                     .has_cat = ev->has_cat };
}

void tg_marks_join(struct tg_marks *m, const struct tg_marks *part, const uint32_t *name,
                   const uint32_t *thread, const uint32_t *attr, uint64_t first_index)
{
    if (!part->n)
        return;
    m->v = tg_grow(m->v, &m->cap, m->n + part->n, sizeof *m->v);
    for (size_t i = 0; i < part->n; i++) {
        struct tg_mark k = part->v[i];
        if (k.name != TG_NO_ID)
            k.name = name[k.name];
        if (k.attr != TG_NO_ID)
            k.attr = attr[k.attr];
        k.thread = thread[k.thread];
        k.index += (uint32_t)first_index;
        m->v[m->n++] = k;
    }
}

void tg_marks_release(struct tg_marks *m)
{
    free(m->v);
    *m = (struct tg_marks){ 0 };
}

/* Thread, then time; then whatever distinguishes marks of one instant without their order in the
 * file. */
static int compare_marks(const void *pa, const void *pb, void *arg)
{
    const struct tg_mark *a = pa, *b = pb;
    const struct tg_names *names = arg;
    int c = TG_CMP(a->thread, b->thread);
    c = c ? c : TG_CMP(a->ts, b->ts);
    c = c ? c : TG_CMP(b->is_end, a->is_end);
    if (!c && a->name != b->name && a->name != TG_NO_ID && b->name != TG_NO_ID) {
        c = tg_sv_cmp(names->v[a->name].cat, names->v[b->name].cat);
        if (!c)
            c = tg_sv_cmp(names->v[a->name].name, names->v[b->name].name);
    } else if (!c) {
        c = TG_CMP(a->name == TG_NO_ID, b->name == TG_NO_ID);
    }
    c = c ? c : TG_CMP(a->correlation, b->correlation);
    return c ? c : TG_CMP(a->index, b->index);
}

struct matcher {
    const struct tg_names *names;
    const struct tg_mark **open; /* innermost last */
    size_t n_open, cap;
    struct tg_pair_sink *sink;
};

/* Closes the innermost open mark from `floor` up that `end` can mean. */
static bool close_one(struct matcher *m, const struct tg_mark *end, size_t floor)
{
    for (size_t i = m->n_open; i > floor; i--) {
        const struct tg_mark *begin = m->open[i - 1];
        if (end->has_name && begin->name != end->name &&
            (end->has_cat || begin->name == TG_NO_ID ||
             !tg_sv_eq(m->names->v[begin->name].name, m->names->v[end->name].name)))
            continue;
        m->sink->pair(m->sink->arg, begin, end);
        memmove(m->open + i - 1, m->open + i, (m->n_open - i) * sizeof *m->open);
        m->n_open--;
        return true;
    }
    return false;
}

/* One instant of one thread: its E events close what was open before, named ones first; then its B
 * events open; E events that are left close those (length zero). */
static void match_instant(struct matcher *m, struct tg_mark *v, size_t n)
{
    size_t ends = 0;
    while (ends < n && v[ends].is_end)
        ends++;
    for (int named = 1; named >= 0; named--)
        for (size_t i = 0; i < ends; i++)
            if (v[i].has_name == (bool)named && close_one(m, &v[i], 0))
                v[i].is_end = false; /* used */
    size_t floor = m->n_open;
    for (size_t i = ends; i < n; i++)
        *TG_PUSH(m->open, m->n_open, m->cap) = &v[i];
    for (size_t i = 0; i < ends; i++)
        m->sink->unmatched_end += v[i].is_end && !close_one(m, &v[i], floor);
}

void tg_marks_match(struct tg_marks *marks, const struct tg_names *names, struct tg_pair_sink *sink)
{
    struct matcher m = { .names = names, .sink = sink };
    if (marks->n > 1)
        qsort_r(marks->v, marks->n, sizeof *marks->v, compare_marks, (void *)(uintptr_t)names);
    for (size_t i = 0, j; i < marks->n; i = j) {
        for (j = i + 1; j < marks->n && marks->v[j].thread == marks->v[i].thread &&
                        marks->v[j].ts == marks->v[i].ts;)
            j++;
        match_instant(&m, marks->v + i, j - i);
        if (j == marks->n || marks->v[j].thread != marks->v[i].thread) {
            sink->unmatched_begin += m.n_open;
            m.n_open = 0;
        }
    }
    free(m.open);
}
