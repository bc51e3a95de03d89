#ifndef TG_FUZZ_READING_H
#define TG_FUZZ_READING_H
/* A compressed input read in several ways: they must agree on everything. */
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/trace/source.h"
#include "tests/fuzz/target.h"

#define READING_MOST ((size_t)1 << 20) /* bytes that may come out */
#define PIECES_MOST ((size_t)150)      /* what a socket's buffer surely holds */

struct reading {
    bool ok, truncated;
    struct tg_buf text;
    struct tg_err err;
};

static inline void drain(struct reading *r, struct tg_source *s, size_t step)
{
    char to[512];
    int64_t got = -1;
    while (s && (got = tg_source_fill(s, to, step, &r->err)) > 0)
        tg_buf_add(&r->text, (tg_sv){ to, (size_t)got });
    r->ok = got == 0;
    r->truncated = s && tg_source_truncated(s);
    must_say(r->ok, &r->err);
    tg_source_close(s);
}

static inline void read_memory(struct reading *r, tg_sv bytes, size_t step, bool ahead)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_source *s;
    limits.max_inflated = READING_MOST;
    *r = (struct reading){ 0 };
    tg_err_init(&r->err);
    s = tg_source_memory(bytes, "standard input", &limits, &r->err);
    if (s && ahead)
        tg_source_read_ahead(s);
    drain(r, s, step);
}

/* Through a file descriptor whose reads end early: each packet of a socket is one read. */
static inline void read_pieces(struct reading *r, tg_sv bytes, size_t step, size_t piece)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    int pair[2], old = dup(0);
    limits.max_inflated = READING_MOST;
    *r = (struct reading){ 0 };
    tg_err_init(&r->err);
    if (bytes.n / PIECES_MOST >= piece)
        piece = bytes.n / PIECES_MOST + 1;
    abort_if(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) != 0);
    for (size_t at = 0, n; at < bytes.n; at += n) {
        n = bytes.n - at < piece ? bytes.n - at : piece;
        abort_if(send(pair[1], bytes.p + at, n, MSG_DONTWAIT) != (ssize_t)n);
    }
    (void)close(pair[1]);
    (void)dup2(pair[0], 0);
    (void)close(pair[0]);
    drain(r, tg_source_open("-", &limits, &r->err), step);
    (void)close(0);
    if (old > 0) {
        (void)dup2(old, 0);
        (void)close(old);
    }
}

static inline void reading_release(struct reading *r)
{
    tg_buf_release(&r->text);
}

/* What was packed begins like another format, which its first piece tells if it is long enough: no
 * question of unpacking. */
static inline bool is_foreign(const struct reading *r)
{
    return !r->ok && strncmp(r->err.message, "'standard input' is ", 20) == 0;
}

/* The same decision, and the same text where it is worth something. */
static inline bool alike(const struct reading *a, const struct reading *b)
{
    if (is_foreign(a) || is_foreign(b))
        return true;
    return a->ok == b->ok && a->truncated == b->truncated &&
           ((!a->ok && !a->truncated) || tg_sv_eq(tg_buf_sv(&a->text), tg_buf_sv(&b->text)));
}

/* Near the end of a stream that is cut, ISA-L keeps back what the last few bytes hold, more or less
 * of it as they come: refused is refused then, and one text begins with the other. */
static inline bool nearly_alike(const struct reading *a, const struct reading *b)
{
    tg_sv one = tg_buf_sv(&a->text), two = tg_buf_sv(&b->text);
    if ((!a->truncated && !b->truncated) || is_foreign(a) || is_foreign(b))
        return alike(a, b);
    return !a->ok && !b->ok && (tg_sv_starts(one, two) || tg_sv_starts(two, one));
}

static inline _Noreturn void differ(const struct reading *r, const char *other,
                                    const struct tg_buf *text)
{
    fprintf(stderr, "we: %s, %zu bytes%s; the other: %s, %zu bytes\n",
            r->ok ? "whole" : r->err.message, r->text.n, r->truncated ? ", truncated" : "", other,
            text ? text->n : 0);
    abort();
}

/* `bytes` by memory, in small steps, in pieces and with a thread of its own; the first is kept. */
static inline void read_all_ways(struct reading *r, tg_sv bytes, unsigned choice)
{
    struct reading other;
    read_memory(r, bytes, 512, false);
    read_memory(&other, bytes, 7, false);
    if (!alike(r, &other))
        differ(r, other.err.message, &other.text);
    reading_release(&other);
    read_pieces(&other, bytes, 512, 1 + choice % 61);
    if (!nearly_alike(r, &other))
        differ(r, other.err.message, &other.text);
    reading_release(&other);
    if (choice % 16 == 0) { /* a thread costs more than all the rest */
        read_memory(&other, bytes, 512, true);
        /* Damage close behind the limit is seen or not, depending on how far a read goes. */
        bool limit = r->err.kind == TG_ERR_LIMIT || other.err.kind == TG_ERR_LIMIT;
        limit = limit || is_foreign(r) || is_foreign(&other);
        if (!alike(r, &other) || (!limit && strcmp(r->err.message, other.err.message) != 0))
            differ(r, other.err.message, &other.text);
        reading_release(&other);
    }
}

/* One format of compression: how it is packed in any form, recognised, and judged. */
struct packing {
    size_t magic; /* less than these bytes is plain text */
    bool (*is_packed)(tg_sv bytes);
    void (*pack)(struct tg_buf *out, tg_sv text, unsigned form);
    /* `text`: what was packed, where damage must not pass as something else; or NULL. */
    void (*judge)(tg_sv packed, unsigned form, const tg_sv *text);
    bool (*has_checksums)(unsigned form);
};

/* The first byte chooses: the rest is a stream as it stands, or a text that is packed, and then
 * left alone, cut or damaged by a bit; two bytes are the form, two the place. */
static inline void fuzz_packing(const struct packing *p, const uint8_t *choice, tg_sv text)
{
    TG_BUF packed = { 0 };
    struct reading r;
    unsigned form = choice[1] | (unsigned)choice[2] << 8,
             where = choice[3] | (unsigned)choice[4] << 8;
    if (choice[0] % 4 == 0) {
        if (p->is_packed(text))
            p->judge(text, form, NULL);
        return;
    }
    p->pack(&packed, text, form);
    where %= (unsigned)packed.n;
    if (choice[0] % 4 == 1) {
        read_all_ways(&r, tg_buf_sv(&packed), form);
        abort_if(!is_foreign(&r) && (!r.ok || !tg_sv_eq(tg_buf_sv(&r.text), text)));
        reading_release(&r);
    } else if (choice[0] % 4 == 2) {
        if (where >= p->magic)
            p->judge((tg_sv){ packed.p, where }, form, NULL);
    } else {
        packed.p[where] = (char)(packed.p[where] ^ (1 << choice[0] / 4 % 8));
        if (where >= p->magic)
            p->judge(tg_buf_sv(&packed), form, p->has_checksums(form) ? &text : NULL);
    }
}
#endif
