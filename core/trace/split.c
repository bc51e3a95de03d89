#include "core/trace/split.h"

#include <stdlib.h>

#include "core/base/threads.h"

#define DEFAULT_PART ((size_t)4 << 20)
#define FEWEST_PARTS 4 /* a smaller file is read before other threads have learnt to read it */

/* New names or threads of a part, as pairs of texts in the worker's memory, which stays. */
struct pairs {
    struct pair {
        tg_sv a, b;
    } * v;
    size_t n, cap, bytes;
};

struct worker {
    struct split *all;
    pthread_t thread;
    struct tg_source *source;
    struct tg_reader *reader;
    void *own;             /* of ops */
    size_t names, threads; /* reported so far */
    unsigned epoch;        /* of the tables */
    /* Guarded by the lock. */
    unsigned wanted_epoch; /* another generation: the tables know of events that were not events */
    /* The caller's ids for the worker's names and threads. */
    uint32_t *name_id, *thread_id;
    size_t n_name_id, n_thread_id, name_cap, thread_cap;
};

struct part {
    bool read;            /* guarded by the lock; the rest belongs to who takes it, then to the
                             caller */
    bool guessed, usable; /* events were read; up to a place, without an error */
    uint64_t begin;
    struct tg_place end;
    struct tg_trace_info info;
    struct worker *worker;
    unsigned epoch;
    struct pairs names, threads;
    void *own; /* of ops */
};

struct split {
    const struct tg_split_ops *ops;
    void *whole;
    struct tg_reader *reader;
    const struct tg_source *source;
    uint64_t part_size, n_parts;
    bool always_guess; /* the caller too, so that tests do not depend on who comes first */
    struct part *part; /* part k is part[k % window] */
    size_t window;
    struct worker *worker; /* the first is the caller's own */
    unsigned n_workers;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by the lock. */
    uint64_t next, joined; /* the first part that no thread has taken; the part that the caller
                              is at */
    bool stop;
};

static uint64_t begin_of(const struct split *s, uint64_t k)
{
    return k >= s->n_parts ? UINT64_MAX : k * s->part_size;
}

/* ---- a worker ---- */

static void close_tables(struct worker *w)
{
    if (w->own)
        w->all->ops->worker_release(w->own);
    free(w->own);
    tg_reader_free(w->reader);
    tg_source_close(w->source);
    w->own = NULL;
    w->reader = NULL;
    w->source = NULL;
}

static void add_pair(struct pairs *p, tg_sv a, tg_sv b)
{
    *TG_PUSH(p->v, p->n, p->cap) = (struct pair){ a, b };
    p->bytes += b.n;
}

static void read_part(struct worker *w, struct part *p, uint64_t k)
{
    struct split *s = w->all;
    struct tg_err ignored = TG_ERR_INIT; /* the caller's thread meets it again */
    p->usable = false;
    p->names.n = p->names.bytes = p->threads.n = 0;
    if (!w->reader) {
        w->source = tg_source_share(s->source);
        w->reader = tg_reader_of_parts(s->reader, w->source);
        w->own = tg_xcalloc(1, s->ops->worker_size);
        s->ops->worker_init(w->own, s->whole, w->reader);
        w->names = w->threads = 0;
    }
    p->guessed = tg_reader_guess(w->reader, begin_of(s, k), (k + 1) * s->part_size, &p->begin);
    if (!p->guessed)
        return;
    tg_reader_stop(w->reader, begin_of(s, k + 1));
    p->usable = s->ops->read(w->own, p->own, &ignored) && tg_reader_stopped(w->reader);
    p->end = tg_reader_place(w->reader);
    p->info = *tg_reader_info(w->reader);
    /* What the tables have learnt since the last part. */
    const struct tg_names *names = tg_reader_names(w->reader);
    size_t n;
    const struct tg_thread *threads = tg_reader_threads(w->reader, &n);
    for (; w->names < names->n; w->names++)
        add_pair(&p->names, names->v[w->names].cat, names->v[w->names].name);
    for (; w->threads < n; w->threads++)
        add_pair(&p->threads, threads[w->threads].pid, threads[w->threads].tid);
}

/* Takes the next part, which is free; the lock is held before and after. */
static void work_on_next(struct worker *w)
{
    struct split *s = w->all;
    uint64_t k = s->next++;
    struct part *p = &s->part[k % s->window];
    bool stale = w->epoch != w->wanted_epoch;
    p->worker = w;
    p->epoch = w->epoch = w->wanted_epoch;
    (void)pthread_mutex_unlock(&s->lock);
    if (stale)
        close_tables(w);
    read_part(w, p, k);
    (void)pthread_mutex_lock(&s->lock);
    p->read = true;
    (void)pthread_cond_broadcast(&s->changed);
}

/* The next part that any thread may take: not too far ahead, so that memory stays bounded. */
static bool can_take(const struct split *s)
{
    return s->next < s->n_parts && s->next < s->joined + s->window;
}

static void *run(void *arg)
{
    struct worker *w = arg;
    struct split *s = w->all;
    (void)pthread_mutex_lock(&s->lock);
    while (!s->stop && s->next < s->n_parts)
        if (can_take(s))
            work_on_next(w);
        else
            (void)pthread_cond_wait(&s->changed, &s->lock);
    (void)pthread_mutex_unlock(&s->lock);
    return NULL;
}

/* ---- the caller, in order ---- */

static bool is_right(const struct split *s, const struct part *p)
{
    return p->usable && p->epoch == p->worker->wanted_epoch && tg_reader_at_event(s->reader) &&
           tg_reader_place(s->reader).offset == p->begin &&
           tg_reader_has_room(s->reader, p->names.n, p->names.bytes, p->threads.n) &&
           s->ops->fits(s->whole, p->own, &p->info);
}

static void join(struct split *s, struct part *p)
{
    struct worker *w = p->worker;
    /* In file order; equal names of other workers are the same. */
    struct tg_err never = TG_ERR_INIT; /* tg_reader_has_room has checked this */
    for (size_t i = 0; i < p->names.n; i++)
        (void)!tg_reader_intern(s->reader, p->names.v[i].a, p->names.v[i].b,
                                TG_PUSH(w->name_id, w->n_name_id, w->name_cap), &never);
    for (size_t i = 0; i < p->threads.n; i++)
        (void)!tg_reader_intern_thread(s->reader, p->threads.v[i].a, p->threads.v[i].b,
                                       TG_PUSH(w->thread_id, w->n_thread_id, w->thread_cap),
                                       &never);
    struct tg_split_ids ids = { w->name_id, w->thread_id, tg_reader_info(s->reader)->events };
    s->ops->join(s->whole, w->own, p->own, &ids);
    tg_reader_count(s->reader, &p->info);
    tg_reader_resume(s->reader, &p->end);
}

static bool read_here(struct split *s, uint64_t k, struct tg_err *err)
{
    tg_reader_stop(s->reader, begin_of(s, k + 1));
    return s->ops->here(s->whole, err);
}

/* Part k: the result of the worker that has taken it, for which the caller's thread works on others
 * meanwhile; or read here. */
static bool next_part(struct split *s, uint64_t k, struct tg_err *err)
{
    struct part *p = &s->part[k % s->window];
    (void)pthread_mutex_lock(&s->lock);
    s->joined = k;
    (void)pthread_cond_broadcast(&s->changed);
    bool joins = s->next != k || s->always_guess;
    if (!joins)
        s->next++;
    while (joins && !p->read)
        if (can_take(s))
            work_on_next(&s->worker[0]);
        else
            (void)pthread_cond_wait(&s->changed, &s->lock);
    p->read = false;
    if (joins && !is_right(s, p)) {
        struct worker *w = p->worker;
        joins = false;
        /* What the worker has learnt may not be names at all: it starts anew. */
        if (p->guessed && p->epoch == w->wanted_epoch) {
            w->wanted_epoch++;
            w->n_name_id = w->n_thread_id = 0;
        }
    }
    (void)pthread_mutex_unlock(&s->lock);
    if (!joins)
        return read_here(s, k, err);
    join(s, p);
    return true;
}

/* ---- the whole ---- */

bool tg_split_can(const struct tg_source *s, const struct tg_reader_opts *o)
{
    size_t part = o->part ? o->part : DEFAULT_PART;
    return o->threads > 1 && tg_source_plain_size(s) / FEWEST_PARTS >= part;
}

/* If fewer threads than wanted can be started, fewer do the work. */
static bool read_with_workers(struct split *s, uint64_t first, struct tg_err *err)
{
    unsigned started = 1;
    (void)pthread_mutex_init(&s->lock, NULL);
    (void)pthread_cond_init(&s->changed, NULL);
    s->part = tg_xcalloc(s->window, sizeof *s->part);
    s->worker = tg_xcalloc(s->n_workers, sizeof *s->worker);
    for (size_t i = 0; i < s->window; i++)
        s->part[i].own = tg_xcalloc(1, s->ops->part_size);
    for (unsigned i = 0; i < s->n_workers; i++)
        s->worker[i].all = s;
    s->joined = first;
    s->next = first + 1; /* the beginning of the first part is known */
    while (started < s->n_workers &&
           tg_threads_start(&s->worker[started].thread, run, &s->worker[started]))
        started++;
    /* From the reader's place in part `first`, inside traceEvents, to the end of the text. */
    bool ok = read_here(s, first, err);
    for (uint64_t k = first + 1; ok && k < s->n_parts && tg_reader_at_event(s->reader); k++)
        ok = next_part(s, k, err);
    ok = ok && read_here(s, s->n_parts, err);
    (void)pthread_mutex_lock(&s->lock);
    s->stop = true;
    (void)pthread_cond_broadcast(&s->changed);
    (void)pthread_mutex_unlock(&s->lock);
    for (unsigned i = 1; i < started; i++)
        (void)pthread_join(s->worker[i].thread, NULL);
    for (size_t i = 0; i < s->window; i++) {
        s->ops->part_release(s->part[i].own);
        free(s->part[i].own);
        free(s->part[i].names.v);
        free(s->part[i].threads.v);
    }
    for (unsigned i = 0; i < s->n_workers; i++) {
        close_tables(&s->worker[i]);
        free(s->worker[i].name_id);
        free(s->worker[i].thread_id);
    }
    free(s->part);
    free(s->worker);
    (void)pthread_mutex_destroy(&s->lock);
    (void)pthread_cond_destroy(&s->changed);
    return ok;
}

bool tg_split_read(struct tg_reader *r, struct tg_source *source, const struct tg_reader_opts *o,
                   const struct tg_split_ops *ops, void *whole, struct tg_err *err)
{
    struct split s = { .ops = ops,
                       .whole = whole,
                       .reader = r,
                       .source = source,
                       .part_size = o->part ? o->part : DEFAULT_PART,
                       .always_guess = o->part != 0,
                       .n_workers = o->threads < TG_THREADS_MAX ? o->threads : TG_THREADS_MAX };
    s.n_parts = (tg_source_plain_size(source) + s.part_size - 1) / s.part_size;
    s.window = (size_t)2 * s.n_workers + 1;
    tg_reader_stop(r, 0); /* nobody else reads what comes before the events */
    if (!ops->here(whole, err))
        return false;
    if (!tg_reader_stopped(r))
        return true;
    return read_with_workers(&s, tg_reader_place(r).offset / s.part_size, err);
}
