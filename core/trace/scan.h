#ifndef TG_TRACE_SCAN_H
#define TG_TRACE_SCAN_H
/*
 * JSON, one token at a time, over bytes that end with TG_SCAN_PAD zeros; internal to core/trace.
 * NUL is illegal in JSON, so it stops every loop and no loop checks for the end.
 *
 * A function that returns false leaves `status`: MORE means that the bytes ended inside a token
 * while more may follow; the caller reads on and scans its unit again from the start, so nothing
 * outside `struct tg_scan` may have been changed by then.
 */
#include "core/base/buf.h"

#define TG_SCAN_PAD ((size_t)64)
#define TG_SCAN_DEPTH 1024 /* hard bound of nesting; tg_limits.max_depth is below it */

enum tg_scan_status {
    TG_SCAN_OK,
    TG_SCAN_MORE,      /* the window ended */
    TG_SCAN_TRUNCATED, /* the file ended */
    TG_SCAN_BAD,       /* not JSON, or refused by `strict` */
    TG_SCAN_LIMIT      /* nested too deeply */
};

/* Spellings that profilers write although JSON forbids them: counted, refused with `strict`. */
struct tg_leniencies {
    uint64_t invalid_escapes, control_bytes, bad_utf8, non_finite, huge_integers;
};

struct tg_scan {
    const char *p, *end;
    const char *start; /* of the unit that is scanned */
    bool last, strict; /* no bytes follow `end`; leniencies are errors */
    unsigned depth, max_depth;
    struct tg_leniencies seen;
    enum tg_scan_status status;
    const char *at; /* the offending byte */
    const char *message, *hint;
};

/* Past the bracket at the cursor; false: nested too deeply, said in `status`. */
static inline bool tg_scan_enter(struct tg_scan *s)
{
    if (s->depth >= s->max_depth) {
        s->status = TG_SCAN_LIMIT;
        s->at = s->p;
        return false;
    }
    s->depth++;
    s->p++;
    return true;
}

/* Over the members of `object`, with its braces,
 * which was checked before and ends with its padding. */
static inline struct tg_scan tg_scan_object(tg_sv object)
{
    return (struct tg_scan){ .p = object.p + 1,
                             .start = object.p,
                             .end = object.p + object.n,
                             .last = true,
                             .depth = 1,
                             .max_depth = TG_SCAN_DEPTH };
}

enum tg_token { TG_TOKEN_NULL, TG_TOKEN_BOOL, TG_TOKEN_NUMBER, TG_TOKEN_STRING, TG_TOKEN_NESTED };

/* One value. Strings: `raw` without the quotes; all others: the text as it is. */
struct tg_value {
    tg_sv raw;
    enum tg_token type;
    bool escaped;  /* string with a backslash */
    bool is_float; /* number with a fraction or an exponent; NaN, Infinity */
    bool finite;   /* number */
};

static inline void tg_scan_blanks(struct tg_scan *s)
{
    while (tg_is_blank(*s->p))
        s->p++;
}

/* The cursor is at the end of the known bytes: MORE or TRUNCATED. Always false. */
bool tg_scan_out(struct tg_scan *s);
/* `at` is wrong, or the end of the known bytes. Always false. */
bool tg_scan_bad(struct tg_scan *s, const char *at, const char *message, const char *hint);

/* Any value, checked to its end; the cursor moves from its first byte to after it. */
bool tg_scan_value(struct tg_scan *s, struct tg_value *v);

/* Members of an object, the cursor after its '{': 1 with the cursor at a value, 0 after '}', -1 on
 * failure. `first` starts as true. */
int tg_scan_member(struct tg_scan *s, bool *first, struct tg_value *key);

/*
 * The text of a string's raw bytes. Invalid escapes stay as written; lone surrogates become U+FFFD.
 */
void tg_unescape(struct tg_buf *out, tg_sv raw);
#endif
