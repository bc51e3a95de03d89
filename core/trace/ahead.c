#include "core/trace/ahead.h"

#include <pthread.h>
#include <stdlib.h>

#include "core/base/arena.h"

#define BUFFERS 4
#define BUFFER_SIZE ((size_t)256 << 10)

struct tg_ahead {
    tg_ahead_produce *produce;
    void *arg;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Guarded by `lock`: buffers filled and emptied so far; filled - emptied of them hold bytes. */
    uint64_t filled, emptied;
    bool ended, stop;
    int64_t result; /* 0 or -1, once `ended` */
    /* A buffer belongs to the producer until it is counted as filled, then to the consumer. */
    size_t n[BUFFERS], at; /* at: bytes consumed of the first buffer */
    char *buffer[BUFFERS];
    struct tg_err err;
};

static void *run(void *arg)
{
    struct tg_ahead *a = arg;
    for (int64_t got = 1; got > 0;) {
        (void)pthread_mutex_lock(&a->lock);
        while (!a->stop && a->filled - a->emptied == BUFFERS)
            (void)pthread_cond_wait(&a->changed, &a->lock);
        bool stop = a->stop; /* the consumer has gone */
        (void)pthread_mutex_unlock(&a->lock);
        if (stop)
            break;
        size_t n = 0, at = a->filled % BUFFERS; /* this thread alone counts them */
        while (n < BUFFER_SIZE &&
               (got = a->produce(a->arg, a->buffer[at] + n, BUFFER_SIZE - n, &a->err)) > 0)
            n += (size_t)got;
        (void)pthread_mutex_lock(&a->lock);
        a->n[at] = n;
        a->filled += n > 0;
        a->ended = got <= 0;
        a->result = got < 0 ? -1 : 0;
        (void)pthread_cond_signal(&a->changed);
        (void)pthread_mutex_unlock(&a->lock);
    }
    return NULL;
}

static void release(struct tg_ahead *a)
{
    for (size_t i = 0; i < BUFFERS; i++)
        free(a->buffer[i]);
    (void)pthread_mutex_destroy(&a->lock);
    (void)pthread_cond_destroy(&a->changed);
    free(a);
}

struct tg_ahead *tg_ahead_start(tg_ahead_produce *produce, void *arg)
{
    struct tg_ahead *a = tg_xmalloc(sizeof *a);
    *a = (struct tg_ahead){ .produce = produce, .arg = arg };
    tg_err_init(&a->err);
    (void)pthread_mutex_init(&a->lock, NULL);
    (void)pthread_cond_init(&a->changed, NULL);
    for (size_t i = 0; i < BUFFERS; i++)
        a->buffer[i] = tg_xmalloc(BUFFER_SIZE);
    if (pthread_create(&a->thread, NULL, run, a) == 0)
        return a;
    release(a);
    return NULL;
}

int64_t tg_ahead_take(struct tg_ahead *a, char *to, size_t n, struct tg_err *err)
{
    (void)pthread_mutex_lock(&a->lock);
    while (a->filled == a->emptied && !a->ended)
        (void)pthread_cond_wait(&a->changed, &a->lock);
    if (a->filled == a->emptied) {
        int64_t result = a->result;
        if (result < 0)
            *err = a->err;
        (void)pthread_mutex_unlock(&a->lock);
        return result;
    }
    (void)pthread_mutex_unlock(&a->lock);
    size_t front = a->emptied % BUFFERS;
    size_t have = a->n[front] - a->at;
    have = have < n ? have : n;
    memcpy(to, a->buffer[front] + a->at, have);
    a->at += have;
    if (a->at == a->n[front]) {
        a->at = 0;
        (void)pthread_mutex_lock(&a->lock);
        a->emptied++;
        (void)pthread_cond_signal(&a->changed);
        (void)pthread_mutex_unlock(&a->lock);
    }
    return (int64_t)have;
}

void tg_ahead_stop(struct tg_ahead *a)
{
    if (!a)
        return;
    (void)pthread_mutex_lock(&a->lock);
    a->stop = true;
    (void)pthread_cond_signal(&a->changed);
    (void)pthread_mutex_unlock(&a->lock);
    (void)pthread_join(a->thread, NULL);
    release(a);
}
