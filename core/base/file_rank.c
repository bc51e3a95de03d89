#include "core/base/file.h"

/* `word`, one of - _ or nothing, digits; not as the end of a longer word ("frank3"). */
static int64_t number_after(tg_sv name, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n < name.n; i++) {
        size_t k = 0, from;
        int64_t v = 0;
        while (k < n && tg_lower(name.p[i + k]) == word[k])
            k++;
        if (k < n || (i && tg_is_letter(name.p[i - 1])))
            continue;
        k += i;
        k += name.p[k] == '-' || name.p[k] == '_';
        for (from = k; k < name.n && tg_is_digit(name.p[k]) && k < from + 9; k++)
            v = v * 10 + (name.p[k] - '0');
        if (k > from && tg_sv_digits(name, k) == k)
            return v;
    }
    return -1;
}

tg_sv tg_file_name(tg_sv path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return tg_sv_from(path, i);
    return path;
}

int64_t tg_file_rank(tg_sv path)
{
    tg_sv name = tg_file_name(path);
    int64_t rank = number_after(name, "rank");
    return rank >= 0 ? rank : number_after(name, "worker");
}
