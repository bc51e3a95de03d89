/* One commit of a bisection: what `ab` says of it, beside the good one. */
#include "cmd/bisect.h"

#include "core/base/doc.h"
#include "core/base/file.h"
#include "core/base/temporary.h"

#define MAX_REPORT ((size_t)64 << 20)

static void add(struct tg_bisect *b, const char *word)
{
    struct tg_strs *to = &b->ab_opts.check;
    *TG_ARENA_PUSH(b->ab.arena, to->v, to->n, to->cap) = word;
}

static void add_option(struct tg_bisect *b, const char *name, const char *value)
{
    if (!value)
        return;
    add(b, name);
    add(b, value);
}

bool tg_bisect_begin(struct tg_bisect *b, const struct tg_commit *good, struct tg_err *err)
{
    const struct tg_bisect_opts *o = b->o;
    b->ab_opts = (struct tg_ab_opts){
        .setup = o->setup, .runs = o->runs, .max_runs = o->max_runs, .bisect = true
    };
    b->ab.o = &b->ab_opts;
    b->ab.side[TG_AB_BASE].commit = *good;
    add_option(b, "--policy", o->policy);
    return tg_ab_plan(&b->ab, &b->ab_opts, err) && tg_ab_begin(&b->ab, err);
}

void tg_bisect_end(struct tg_bisect *b)
{
    tg_ab_end(&b->ab);
}

static tg_sv headline(const struct tg_bisect *b, const char *path)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    TG_AUTO(tg_doc_drop) struct tg_doc *d = NULL;
    tg_sv line = TG_SV("");
    if (tg_file_read(&text, path, MAX_REPORT, &ignored))
        d = tg_doc_parse(tg_buf_sv(&text), path, &ignored);
    if (d)
        line = tg_arena_sv(b->ab.arena, tg_doc_str(tg_doc_get(d, "headline"), TG_SV("")));
    return line;
}

enum tg_bisect_answer tg_bisect_test(struct tg_bisect *b, const struct tg_commit *c, tg_sv *why,
                                     struct tg_err *err)
{
    /* Options of check for this commit; returns where its JSON report goes. */
    const struct tg_bisect_opts *o = b->o;
    const char *report =
        tg_arena_printf(b->ab.arena, "%s/%.12s.json", o->out ? o->out : b->ab.tmp, c->sha);
    b->ab_opts.check.n = 0;
    add_option(b, "--policy", o->policy);
    add_option(b, "--suite", o->suite);
    add_option(b, "--json", report);
    add(b, "--quiet");
    if (o->trust_repository)
        add(b, "--trust-repository");
    int code;
    b->ab.side[TG_AB_HEAD].commit = *c;
    b->ab.side[TG_AB_HEAD].made = NULL;
    b->ab.code = 0;
    b->compared = tg_ab_prepare(&b->ab, err);
    code = b->compared ? tg_ab_compare(&b->ab, err) : tg_err_exit_code(err->kind);
    if (err->kind != TG_ERR_NONE && code != 1) {
        /* What an error of ours says of the commit: it cannot be tested, or nothing can. */
        bool skip = b->ab.code == TG_AB_SKIP || (!b->ab.code && code == 3 && b->compared);
        if (!skip)
            return TG_BISECT_ERROR;
        *why = TG_SV_PRINTF(b->ab.arena, "%s", err->message);
        tg_err_init(err);
        return TG_BISECT_SKIP;
    }
    *why = headline(b, report);
    if (code > 1)
        *why = TG_SV_PRINTF(b->ab.arena, "undecided after %d runs per side: %.*s", (int)b->ab.k,
                            TG_SV_ARG(*why));
    if (code == 0 && b->ab_opts.calls)
        *why = TG_SV("the first run of each side does not fail, as it does at the bad commit");
    return code == 0 ? TG_BISECT_GOOD : code == 1 ? TG_BISECT_BAD : TG_BISECT_SKIP;
}
