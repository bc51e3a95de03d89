#ifndef TG_BASE_SV_H
#define TG_BASE_SV_H
/* A string view: a pointer and a length. It never owns and is not NUL-terminated; the header that
 * hands one out says when it dies. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef int64_t tg_ns; /* a time or a duration in nanoseconds; never a double, never us */

typedef struct {
    const char *p;
    size_t n;
} tg_sv;

#define TG_SV(lit) ((tg_sv){ "" lit, sizeof(lit) - 1 })
#define TG_SV_ARG(s) (int)(s).n, (s).p /* for "%.*s" */

#define TG_MUST __attribute__((warn_unused_result))
/* A local variable whose address `release` gets where its block ends, however that is left. */
#define TG_AUTO(release) __attribute__((cleanup(release)))

/* -1, 0 or 1, as comparisons for qsort return it; for numbers, which are evaluated twice. */
#define TG_CMP(a, b) (((a) > (b)) - ((a) < (b)))

static inline tg_sv tg_sv_of(const char *s)
{
    return (tg_sv){ s, s ? strlen(s) : 0 };
}

static inline bool tg_sv_eq(tg_sv a, tg_sv b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool tg_sv_starts(tg_sv s, tg_sv prefix)
{
    return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool tg_sv_ends(tg_sv s, tg_sv suffix)
{
    return s.n >= suffix.n &&
           (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* What follows the first `n` bytes; `s` has as many. */
static inline tg_sv tg_sv_from(tg_sv s, size_t n)
{
    return (tg_sv){ s.p + n, s.n - n };
}

/* Goes past `prefix`; false: `s` does not begin with it and stays as it is. */
static inline bool tg_sv_skip(tg_sv *s, tg_sv prefix)
{
    if (!tg_sv_starts(*s, prefix))
        return false;
    *s = tg_sv_from(*s, prefix.n);
    return true;
}

/* Byte order; a prefix sorts before the longer text. */
static inline int tg_sv_cmp(tg_sv a, tg_sv b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.p, b.p, n) : 0;
    return c ? c : TG_CMP(a.n, b.n);
}

/* Where `c` first is; s.n: nowhere. */
size_t tg_sv_find(tg_sv s, char c);

/* True when `needle` occurs anywhere in `s`; an empty needle always does. */
bool tg_sv_has(tg_sv s, tg_sv needle);

static inline bool tg_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Blank in JSON. */
static inline bool tg_is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* Of ASCII letters. */
static inline char tg_lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static inline bool tg_is_letter(char c)
{
    return tg_lower(c) >= 'a' && tg_lower(c) <= 'z';
}

/* A letter, a digit or '_'. */
static inline bool tg_is_word(char c)
{
    return tg_is_letter(c) || tg_is_digit(c) || c == '_';
}

/* Where the digits end that begin at `from`; `from`: there are none. */
size_t tg_sv_digits(tg_sv s, size_t from);

/* Without what it begins with of the bytes of `which`, and without what it ends with as well. */
tg_sv tg_sv_past(tg_sv s, const char *which);
tg_sv tg_sv_strip(tg_sv s, const char *which);
/* Without blanks, TAB and CR around it. */
tg_sv tg_sv_trim(tg_sv s);

/* Cuts `s` after its first `sep`; returns what was before it. Without `sep`: all of `s`. */
tg_sv tg_sv_cut(tg_sv *s, char sep);

/* Is `item` one of those that `sep` separates? */
bool tg_sv_lists(tg_sv list, char sep, tg_sv item);

/* Without the double quotes around it, if there are any. */
tg_sv tg_sv_unquoted(tg_sv s);

/* Of lines "key=value": the value of a key, as written; "" if no line has the key. */
tg_sv tg_sv_value(tg_sv lines, tg_sv key);

/* A decimal integer with nothing before or after it. False on anything else and on overflow. */
bool tg_sv_i64(tg_sv s, int64_t *out);

/* Glob with '*' (any run, '/' included) and '?' (one byte); every other byte matches itself. Linear
 * in |s| times the number of '*' at worst; no recursion. */
bool tg_sv_glob(tg_sv pattern, tg_sv s);
bool tg_sv_glob_any_case(tg_sv pattern, tg_sv s); /* of ASCII letters */

/* The place of a text in a list of texts that ends with NULL; -1: it is not there. */
int tg_sv_index(const char *const *words, tg_sv s);

/* Levenshtein distance, at most `limit` + 1 (the search stops there); for "did you mean". */
unsigned tg_sv_distance(tg_sv a, tg_sv b, unsigned limit);

/* The word (the list ends with NULL) that `typed` was meant to be: a few edits away, or `typed`
 * begins it. */
const char *tg_sv_nearest(tg_sv typed, const char *const *words);
#endif
