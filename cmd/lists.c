#include "cmd/lists.h"

static bool bad(const char *option, tg_sv part, struct tg_err *err)
{
    return tg_err_usage(err, "--%s does not understand '%.*s'", "Give numbers: 4 or 4,5 or 0-3.",
                        option, TG_SV_ARG(part));
}

/* "4" or "0-3". */
static bool parse_part(tg_sv part, int64_t *from, int64_t *to)
{
    tg_sv rest = part, first = tg_sv_cut(&rest, '-');
    if (!tg_sv_i64(first, from) || *from < 0)
        return false;
    if (first.n == part.n) {
        *to = *from;
        return true;
    }
    return tg_sv_i64(rest, to) && *to >= *from;
}

bool tg_numbers_parse(struct tg_numbers *out, const struct tg_strs *texts, const char *option,
                      struct tg_arena *a, struct tg_err *err)
{
    size_t cap = 0;
    *out = (struct tg_numbers){ 0 };
    for (size_t i = 0; i < texts->n; i++) {
        tg_sv rest = tg_sv_of(texts->v[i]);
        if (!rest.n)
            return bad(option, rest, err);
        while (rest.n) {
            tg_sv part = tg_sv_cut(&rest, ',');
            int64_t from, to;
            if (!parse_part(part, &from, &to) || to - from >= (int64_t)TG_MAX_NUMBERS ||
                out->n + (size_t)(to - from) >= TG_MAX_NUMBERS)
                return bad(option, part, err);
            for (int64_t k = 0; k <= to - from; k++)
                *TG_ARENA_PUSH(a, out->v, out->n, cap) = from + k;
        }
    }
    return true;
}
