/* HTA finds the rank of a file by a search through its text. */
#include <stdlib.h>

#include "core/hta/hta_diff.h"

struct rank_scan {
    size_t matched; /* bytes of `"rank":`, or all of them */
    bool blank, digit, found;
    int64_t rank;
};

static void rank_byte(struct rank_scan *z, char c)
{
    static const char key[] = "\"rank\":";
    const size_t n = sizeof key - 1;
    if (z->matched == n) {
        if (c >= '0' && c <= '9' && z->blank) {
            if (z->rank < INT64_MAX / 16)
                z->rank = z->rank * 10 + (c - '0');
            z->digit = true;
            return;
        }
        if (z->digit) {
            z->found = true;
            return;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            z->blank = true;
            return;
        }
        z->matched = 0;
        z->blank = false;
    }
    z->matched = c == key[z->matched] ? z->matched + 1 : c == key[0];
}

bool tg_hta_find_rank(struct tg_source *s, int64_t *rank, struct tg_err *err)
{
    struct rank_scan z = { 0 };
    TG_FREE char *bytes = tg_xmalloc(65536);
    int64_t got = 0;
    while (!z.found && (got = tg_source_fill(s, bytes, 65536, err)) > 0)
        for (int64_t i = 0; i < got && !z.found; i++)
            rank_byte(&z, bytes[i]);
    *rank = z.found || z.digit ? z.rank : 0;
    return got >= 0;
}
