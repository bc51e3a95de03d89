#include "core/base/sv.h"

size_t tg_sv_find(tg_sv s, char c)
{
    const char *at = s.n ? memchr(s.p, c, s.n) : NULL;
    return at ? (size_t)(at - s.p) : s.n;
}

bool tg_sv_has(tg_sv s, tg_sv needle)
{
    if (needle.n == 0)
        return true;
    while (s.n >= needle.n) {
        const char *hit = memchr(s.p, needle.p[0], s.n - needle.n + 1);
        if (!hit)
            return false;
        if (memcmp(hit, needle.p, needle.n) == 0)
            return true;
        s.n -= (size_t)(hit + 1 - s.p);
        s.p = hit + 1;
    }
    return false;
}

size_t tg_sv_digits(tg_sv s, size_t from)
{
    while (from < s.n && tg_is_digit(s.p[from]))
        from++;
    return from;
}

tg_sv tg_sv_past(tg_sv s, const char *which)
{
    size_t n = strlen(which);
    while (s.n && memchr(which, *s.p, n))
        s = tg_sv_from(s, 1);
    return s;
}

tg_sv tg_sv_strip(tg_sv s, const char *which)
{
    size_t n = strlen(which);
    s = tg_sv_past(s, which);
    while (s.n && memchr(which, s.p[s.n - 1], n))
        s.n--;
    return s;
}

tg_sv tg_sv_trim(tg_sv s)
{
    return tg_sv_strip(s, " \t\r");
}

tg_sv tg_sv_cut(tg_sv *s, char sep)
{
    const char *hit = s->n ? memchr(s->p, sep, s->n) : NULL;
    tg_sv head = *s;
    if (!hit) {
        *s = (tg_sv){ s->n ? s->p + s->n : s->p, 0 }; /* NULL + 0 is undefined */
        return head;
    }
    head.n = (size_t)(hit - s->p);
    *s = (tg_sv){ hit + 1, s->n - head.n - 1 };
    return head;
}

bool tg_sv_lists(tg_sv list, char sep, tg_sv item)
{
    while (list.n)
        if (tg_sv_eq(tg_sv_cut(&list, sep), item))
            return true;
    return false;
}

tg_sv tg_sv_unquoted(tg_sv s)
{
    return s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"' ? (tg_sv){ s.p + 1, s.n - 2 } : s;
}

tg_sv tg_sv_value(tg_sv lines, tg_sv key)
{
    while (lines.n) {
        tg_sv value = tg_sv_cut(&lines, '\n'), word = tg_sv_cut(&value, '=');
        if (tg_sv_eq(word, key))
            return value;
    }
    return TG_SV("");
}

bool tg_sv_i64(tg_sv s, int64_t *out)
{
    bool negative = s.n && s.p[0] == '-';
    uint64_t v = 0;
    size_t i = negative;
    if (i == s.n)
        return false;
    for (; i < s.n; i++) {
        unsigned digit = (unsigned char)s.p[i] - (unsigned)'0';
        if (digit > 9 || v > (UINT64_MAX - digit) / 10)
            return false;
        v = v * 10 + digit;
    }
    if (v > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return true;
}

static inline bool is_same(char a, char b, bool any_case)
{
    return a == b || (any_case && tg_lower(a) == tg_lower(b));
}

static inline bool glob(tg_sv pattern, tg_sv s, bool any_case)
{
    size_t p = 0, i = 0, star = SIZE_MAX, mark = 0;
    while (i < s.n) {
        if (p < pattern.n && pattern.p[p] == '*') {
            star = p++;
            mark = i;
        } else if (p < pattern.n &&
                   (pattern.p[p] == '?' || is_same(pattern.p[p], s.p[i], any_case))) {
            p++;
            i++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (p < pattern.n && pattern.p[p] == '*')
        p++;
    return p == pattern.n;
}

bool tg_sv_glob(tg_sv pattern, tg_sv s)
{
    return glob(pattern, s, false);
}

bool tg_sv_glob_any_case(tg_sv pattern, tg_sv s)
{
    return glob(pattern, s, true);
}

int tg_sv_index(const char *const *words, tg_sv s)
{
    for (int i = 0; words[i]; i++)
        if (tg_sv_eq(s, tg_sv_of(words[i])))
            return i;
    return -1;
}

unsigned tg_sv_distance(tg_sv a, tg_sv b, unsigned limit)
{
    enum { MAX = 96 }; /* names longer than this are never typed by hand */
    unsigned row[MAX + 1];
    if (a.n > MAX || b.n > MAX)
        return limit + 1;
    for (size_t j = 0; j <= b.n; j++)
        row[j] = (unsigned)j;
    for (size_t i = 1; i <= a.n; i++) {
        unsigned diagonal = row[0], best = row[0] = (unsigned)i;
        for (size_t j = 1; j <= b.n; j++) {
            unsigned substitute = diagonal + (a.p[i - 1] != b.p[j - 1]);
            unsigned insert = row[j - 1] + 1, erase = row[j] + 1;
            diagonal = row[j];
            row[j] = substitute < insert ? substitute : insert;
            row[j] = row[j] < erase ? row[j] : erase;
            best = row[j] < best ? row[j] : best;
        }
        if (best > limit)
            return limit + 1;
    }
    return row[b.n] > limit ? limit + 1 : row[b.n];
}

const char *tg_sv_nearest(tg_sv typed, const char *const *words)
{
    const char *best = NULL;
    unsigned limit = typed.n <= 3 ? 1 : typed.n <= 6 ? 2 : 3;
    for (size_t i = 0; words[i] && (!best || limit); i++) {
        tg_sv word = tg_sv_of(words[i]);
        unsigned d = tg_sv_distance(typed, word, limit);
        if (typed.n >= 3 && tg_sv_starts(word, typed))
            d = d < 1 ? d : 1;
        if (d <= limit && d < typed.n) {
            best = words[i];
            limit = d ? d - 1 : 0;
        }
    }
    return best;
}
