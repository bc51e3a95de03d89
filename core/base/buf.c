#include "core/base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/arena.h"

void tg_buf_release(struct tg_buf *b)
{
    free(b->p);
    *b = (struct tg_buf){ 0 };
}

void tg_buf_clear(struct tg_buf *b)
{
    b->n = 0;
    if (b->p)
        b->p[0] = '\0';
}

char *tg_buf_room(struct tg_buf *b, size_t n)
{
    if (b->n + n + 1 > b->cap)
        b->p = tg_grow(b->p, &b->cap, b->n + n + 1, 1);
    b->p[b->n] = '\0';
    return b->p + b->n;
}

void tg_buf_add(struct tg_buf *b, tg_sv s)
{
    char *to = tg_buf_room(b, s.n);
    if (s.n)
        memcpy(to, s.p, s.n);
    b->n += s.n;
    b->p[b->n] = '\0';
}

void tg_buf_puts(struct tg_buf *b, const char *s)
{
    tg_buf_add(b, tg_sv_of(s));
}

void tg_buf_putc(struct tg_buf *b, char c)
{
    char *to = tg_buf_room(b, 1);
    to[0] = c;
    to[1] = '\0';
    b->n++;
}

/* Most texts fit into what is free; formatting twice, to learn the length first, costs twice. */
void tg_buf_printf(struct tg_buf *b, const char *fmt, ...)
{
    va_list ap;
    (void)tg_buf_room(b, 0);
    va_start(ap, fmt);
    int n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    va_end(ap);
    if (n < 0)
        n = 0;
    if ((size_t)n >= b->cap - b->n) {
        va_start(ap, fmt);
        (void)vsnprintf(tg_buf_room(b, (size_t)n), (size_t)n + 1, fmt, ap);
        va_end(ap);
    }
    b->n += (size_t)n;
    b->p[b->n] = '\0';
}
