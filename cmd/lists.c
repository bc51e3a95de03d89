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

static void append(struct tg_numbers *out, int64_t from, size_t n, struct tg_arena *a)
{
    int64_t *v = TG_NEW_N(a, int64_t, out->n + n);
    if (out->n)
        memcpy(v, out->v, out->n * sizeof *v);
    for (size_t i = 0; i < n; i++)
        v[out->n + i] = from + (int64_t)i;
    out->v = v;
    out->n += n;
}

bool tg_numbers_parse(struct tg_numbers *out, const struct tg_strs *texts, const char *option,
                      struct tg_arena *a, struct tg_err *err)
{
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
            append(out, from, (size_t)(to - from) + 1, a);
        }
    }
    return true;
}
