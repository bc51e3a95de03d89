#include "core/baseline/git.h"

bool tg_glob_has(tg_sv p)
{
    for (size_t i = 0; i < p.n; i++)
        if (p.p[i] == '*' || p.p[i] == '?' || p.p[i] == '[')
            return true;
    return false;
}

/*
 * A bracket expression at p[0] == '['. Returns its length and whether `c` is in it; 0 when it has
 * no end, and then '[' stands for itself, as in glob(3).
 */
static size_t bracket(tg_sv p, unsigned char c, bool *in)
{
    size_t i = 1, first;
    bool negate = i < p.n && (p.p[i] == '!' || p.p[i] == '^');
    *in = false;
    i += negate;
    for (first = i; i < p.n && (p.p[i] != ']' || i == first); i++) {
        unsigned char low = (unsigned char)p.p[i], high = low;
        if (i + 2 < p.n && p.p[i + 1] == '-' && p.p[i + 2] != ']') {
            high = (unsigned char)p.p[i + 2];
            i += 2;
        }
        *in = *in || (low <= c && c <= high);
    }
    *in = *in != negate;
    return i < p.n ? i + 1 : 0;
}

/* Does the element at p[0] (no '*') take the byte `c`? Its length, or 0. */
static size_t takes(tg_sv p, unsigned char c)
{
    bool in;
    size_t n;
    if (p.p[0] == '?')
        return 1;
    if (p.p[0] == '[' && (n = bracket(p, c, &in)) > 0)
        return in ? n : 0;
    if (p.p[0] == '\\' && p.n > 1)
        return (unsigned char)p.p[1] == c ? 2 : 0;
    return (unsigned char)p.p[0] == c ? 1 : 0;
}

/* Only the last '*' is ever taken up again, so the worst case is |p| times |s|. */
bool tg_glob_match(tg_sv p, tg_sv s)
{
    size_t i = 0, j = 0, star = SIZE_MAX, again = 0, n;
    if (s.n && s.p[0] == '.' && !(p.n && p.p[0] == '.'))
        return false; /* hidden names need their dot written, as in glob(3) */
    while (j < s.n) {
        if (i < p.n && p.p[i] == '*') {
            star = i++;
            again = j;
        } else if (i < p.n && (n = takes((tg_sv){ p.p + i, p.n - i }, (unsigned char)s.p[j])) > 0) {
            i += n;
            j++;
        } else if (star != SIZE_MAX) {
            i = star + 1;
            j = ++again;
        } else {
            return false;
        }
    }
    while (i < p.n && p.p[i] == '*')
        i++;
    return i == p.n;
}
