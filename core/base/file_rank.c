#include "core/base/file.h"

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* `word`, one of - _ or nothing, digits; not as the end of a longer word ("frank3"). */
static int64_t number_after(tg_sv name, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n < name.n; i++) {
        size_t k = 0, from;
        int64_t v = 0;
        while (k < n && lower(name.p[i + k]) == word[k])
            k++;
        if (k < n || (i && is_letter(name.p[i - 1])))
            continue;
        k += i;
        k += name.p[k] == '-' || name.p[k] == '_';
        for (from = k; k < name.n && name.p[k] >= '0' && name.p[k] <= '9' && k < from + 9; k++)
            v = v * 10 + (name.p[k] - '0');
        if (k > from && !(k < name.n && name.p[k] >= '0' && name.p[k] <= '9'))
            return v;
    }
    return -1;
}

int64_t tg_file_rank(tg_sv path)
{
    int64_t rank;
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/') {
            path = (tg_sv){ path.p + i, path.n - i };
            break;
        }
    rank = number_after(path, "rank");
    return rank >= 0 ? rank : number_after(path, "worker");
}
