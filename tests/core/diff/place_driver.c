/*
 * Prints the places where two programs differ: place_driver BASELINE... -- FRESH...
 * Each file is a run: a trace or a summary. Not a test.
 */
#include <stdio.h>
#include <stdlib.h>

#include "place_text.h"

static bool load(struct tg_summary *s, struct tg_side *side, char **path, int n, struct tg_arena *a,
                 struct tg_err *err)
{
    for (int i = 0; i < n; i++) {
        const struct tg_summarize_opts o = { .rank = -1 };
        struct tg_source *source = tg_source_open(path[i], NULL, err);
        bool ok = source && tg_summary_add(s, source, &o, NULL, err);
        tg_source_close(source);
        if (!ok)
            return false;
    }
    return tg_side_arrange(side, s, TG_ARRANGE_RUNS, a, err);
}

static bool print(char **base, int n_base, char **test, int n_test, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    TG_BUF text = { 0 };
    struct tg_comparison c = { .arena = a };
    const struct tg_compare_opts o = { 0 };
    struct tg_diff_work w = { .c = &c, .o = &o, .a = a, .names = &names };
    struct tg_summary sides[2];
    struct tg_places p;
    bool ok;
    tg_strmap_init(&names);
    tg_summary_init(&sides[TG_BASE]);
    tg_summary_init(&sides[TG_TEST]);
    ok = load(&sides[TG_BASE], &c.side[TG_BASE], base, n_base, a, err) &&
         load(&sides[TG_TEST], &c.side[TG_TEST], test, n_test, a, err) && tg_diff_select(&w, err);
    if (ok) {
        tg_places_find(&p, &w);
        places_text(&c, &p, &text);
        (void)fwrite(text.p, 1, text.n, stdout);
    }
    free(w.interned);
    tg_summary_release(&sides[TG_BASE]);
    tg_summary_release(&sides[TG_TEST]);
    return ok;
}

int main(int argc, char **argv)
{
    struct tg_err err = TG_ERR_INIT;
    int at = 1;
    while (at < argc && strcmp(argv[at], "--") != 0)
        at++;
    if (at == 1 || at + 1 >= argc) {
        (void)fprintf(stderr, "place_driver BASELINE... -- FRESH...\n");
        return 2;
    }
    if (print(argv + 1, at - 1, argv + at + 1, argc - at - 1, &err))
        return 0;
    (void)fprintf(stderr, "%s\n", err.message);
    return 3;
}
