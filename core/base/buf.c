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
    enum { A_SENTENCE = 128 }; /* most are one: it grows once */
    size_t need = b->n + n + 1;
    if (need > b->cap)
        b->p = tg_grow(b->p, &b->cap, need < A_SENTENCE ? A_SENTENCE : need, 1);
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

/* Most of what is put together is texts: "%s" and "%.*s" are copied here. Returns where the rest
 * begins. */
static const char *put_texts(struct tg_buf *b, const char *fmt, va_list *ap)
{
    for (;;) {
        const char *at = strchrnul(fmt, '%'), *text;
        int most = -1;
        tg_buf_add(b, (tg_sv){ fmt, (size_t)(at - fmt) });
        if (strncmp(at, "%.*s", 4) == 0)
            most = va_arg(*ap, int);
        else if (strncmp(at, "%s", 2) != 0)
            return at;
        text = va_arg(*ap, const char *);
        text = text ? text : ""; /* an empty view's */
        tg_buf_add(b, (tg_sv){ text, most < 0 ? strlen(text) : strnlen(text, (size_t)most) });
        fmt = at + (at[1] == 's' ? 2 : 4);
    }
}

/* Most texts fit into what is free; formatting twice, to learn the length first, costs twice. */
void tg_buf_printf(struct tg_buf *b, const char *fmt, ...)
{
    va_list ap, again;
    int n = 0;
    va_start(ap, fmt);
    fmt = put_texts(b, fmt, &ap);
    va_copy(again, ap);
    if (*fmt)
        n = vsnprintf(b->p + b->n, b->cap - b->n, fmt, ap);
    n = n < 0 ? 0 : n;
    if ((size_t)n >= b->cap - b->n)
        (void)vsnprintf(tg_buf_room(b, (size_t)n), (size_t)n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    b->n += (size_t)n;
    b->p[b->n] = '\0';
}

void tg_buf_quote(struct tg_buf *b, const char *word)
{
    tg_buf_putc(b, '\'');
    for (; *word; word++)
        tg_buf_add(b, *word == '\'' ? TG_SV("'\\''") : (tg_sv){ word, 1 });
    tg_buf_putc(b, '\'');
}
