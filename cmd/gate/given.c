#include "cmd/gate/given.h"

bool tg_strs_has(const struct tg_strs *l, const char *word)
{
    for (size_t i = 0; i < l->n; i++)
        if (strcmp(l->v[i], word) == 0)
            return true;
    return false;
}

void tg_strs_add(struct tg_strs *l, const char *word, struct tg_arena *a)
{
    *TG_ARENA_PUSH(a, l->v, l->n, l->cap) = word;
}

bool tg_given_check(const struct tg_given *g, struct tg_err *err)
{
    if (!g->runs || !g->ranks)
        return true;
    return tg_err_usage(err, "--runs and --ranks exclude each other",
                        "Give one of them: files without a rank are either repeats or ranks.");
}

enum tg_arrange tg_given_arrange(const struct tg_given *g, enum tg_arrange otherwise)
{
    return g->runs ? TG_ARRANGE_RUNS : g->ranks ? TG_ARRANGE_RANKS : otherwise;
}

bool tg_given_apply(struct tg_summarize_opts *so, const struct tg_given *g, struct tg_arena *a,
                    struct tg_err *err)
{
    struct tg_kv *meta = TG_NEW_N(a, struct tg_kv, g->meta.n + 1);
    so->load.reader.strict_json = g->strict_json;
    so->load.reader.allow_truncated = g->allow_truncated;
    so->meta = meta;
    so->n_meta = g->meta.n;
    so->host = tg_host_look("/proc", a);
    for (size_t i = 0; i < g->meta.n; i++) {
        tg_sv value = tg_sv_of(g->meta.v[i]), key = tg_sv_cut(&value, '=');
        if (key.n == strlen(g->meta.v[i]) || !key.n)
            return tg_err_usage(err, "--meta '%s' is not KEY=VALUE",
                                "For example --meta cpu=\"Xeon 8480\".", g->meta.v[i]);
        meta[i] = (struct tg_kv){ key, value };
    }
    return true;
}

bool tg_given_window(struct tg_window_spec *out, const struct tg_given *g, struct tg_err *err)
{
    tg_sv rest = tg_sv_of(g->window), head = tg_sv_cut(&rest, ':');
    *out = (struct tg_window_spec){ .by = TG_WINDOW_AUTO };
    if (!g->window || strcmp(g->window, "auto") == 0)
        return true;
    if (strcmp(g->window, "whole") == 0) {
        out->by = TG_WINDOW_WHOLE;
        return true;
    }
    if (tg_sv_eq(head, TG_SV("annotation")) && rest.n) {
        out->by = TG_WINDOW_ANNOTATION;
        out->name = rest;
        out->required = true;
        return true;
    }
    return tg_err_usage(err, "--window does not know '%s'",
                        "Use auto, whole, or annotation:GLOB, as in annotation:execute_*.",
                        g->window);
}

struct tg_strs tg_given_side(const struct tg_strs *words, size_t side, struct tg_arena *a)
{
    static const char *const begin[] = { "baseline=", "fresh=" };
    struct tg_strs own = { 0 };
    for (size_t i = 0; i < words->n; i++) {
        const char *word = words->v[i];
        if (strncmp(word, begin[!side], strlen(begin[!side])) == 0)
            continue;
        if (strncmp(word, begin[side], strlen(begin[side])) == 0)
            word += strlen(begin[side]);
        tg_strs_add(&own, word, a);
    }
    return own;
}

bool tg_given_sides(struct tg_input_list files[2], const struct tg_strs *words, const char *option,
                    struct tg_repo *repo, struct tg_arena *a, struct tg_err *err)
{
    for (size_t side = 0; words->n && side < 2; side++) {
        struct tg_strs own = tg_given_side(words, side, a);
        if (words->n != 2 || own.n != 1)
            return tg_err_usage(err, "--%s needs a path of each side",
                                "Give it twice: baseline=PATH and fresh=PATH.", option);
        if (!tg_inputs_add(&files[side], own.v[0], repo, a, err))
            return false;
    }
    return true;
}

/* ---- numbers ---- */

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
