#include "cmd/gate/given.h"

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

static bool parse_meta(const struct tg_strs *texts, struct tg_kv *out, struct tg_err *err)
{
    for (size_t i = 0; i < texts->n; i++) {
        tg_sv value = tg_sv_of(texts->v[i]), key = tg_sv_cut(&value, '=');
        if (key.n == strlen(texts->v[i]) || !key.n)
            return tg_err_usage(err, "--meta '%s' is not KEY=VALUE",
                                "For example --meta cpu=\"Xeon 8480\".", texts->v[i]);
        out[i] = (struct tg_kv){ key, value };
    }
    return true;
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
    return parse_meta(&g->meta, meta, err);
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
        return true;
    }
    return tg_err_usage(err, "--window does not know '%s'",
                        "Use auto, whole, or annotation:GLOB, as in annotation:execute_*.",
                        g->window);
}
