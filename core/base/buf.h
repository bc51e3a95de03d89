#ifndef TG_BASE_BUF_H
#define TG_BASE_BUF_H
/* A growing byte buffer; the zero state is empty and ready. Always NUL-terminated after .n. */
#include "core/base/sv.h"

struct tg_buf {
    char *p;
    size_t n, cap;
};

void tg_buf_release(struct tg_buf *b); /* twice is once */
/* A local one that is released where its block ends, after what is returned was computed. */
#define TG_BUF struct tg_buf TG_AUTO(tg_buf_release)
void tg_buf_clear(struct tg_buf *b); /* keeps the memory */
/* Room for `n` more bytes; returns where they go. The caller adds what it wrote to b->n. */
char *tg_buf_room(struct tg_buf *b, size_t n);
void tg_buf_add(struct tg_buf *b, tg_sv s);
void tg_buf_puts(struct tg_buf *b, const char *s);
void tg_buf_putc(struct tg_buf *b, char c);
/* Between single quotes, as a shell reads it back. */
void tg_buf_quote(struct tg_buf *b, const char *word);
void tg_buf_printf(struct tg_buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static inline tg_sv tg_buf_sv(const struct tg_buf *b)
{
    return (tg_sv){ b->p ? b->p : "", b->n };
}
#endif
