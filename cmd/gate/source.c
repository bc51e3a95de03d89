#include "cmd/gate/source.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/utf8.h"
#include "core/metric/callers.h"
#include "reporters/cause.h"

enum { MAX_RESULTS = 10, MAX_PATH = 512, MAX_SOURCE = 4 << 20 };

/* A frame's file -> the file in HEAD; asked for each path once. */
struct mapped {
    tg_sv in_repo; /* "" none */
    tg_sv text;    /* its bytes */
};
struct finder {
    const struct tg_source_ask *ask;
    struct tg_git *git;
    struct tg_commit head;
    struct tg_arena *arena;
    struct tg_strmap paths; /* as the trace has them */
    struct mapped *maps;
    size_t n_maps;
    bool lines_must_fit; /* the fresh side: HEAD is what ran */
};

/* ---- paths ---- */

/*
 * Relative, ".py", no way out, nothing that git's globs or a message would take for something else.
 */
static bool harmless(tg_sv path)
{
    tg_sv rest = path;
    if (path.n == 0 || path.n > MAX_PATH || path.p[0] == '/' || !tg_sv_ends(path, TG_SV(".py")))
        return false;
    for (size_t i = 0; i < path.n; i++)
        if ((unsigned char)path.p[i] < 0x20 || strchr("*?[]\\:\x7f", path.p[i]))
            return false;
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '/');
        if (part.n == 0 || tg_sv_eq(part, TG_SV(".")) || tg_sv_eq(part, TG_SV("..")))
            return false;
    }
    return true;
}

/* The file at `path` of HEAD, read; only one may fit. */
static bool in_head(struct finder *f, const char *path, struct mapped *out)
{
    struct tg_git_files files = { NULL, 0 };
    struct tg_buf text = { 0 };
    struct tg_err ignored;
    bool ok;
    tg_err_init(&ignored);
    ok = tg_git_list(f->git, f->head.sha, path, f->arena, &files, &ignored) && files.n == 1 &&
         files.v[0].size <= MAX_SOURCE && tg_git_read(f->git, &files.v[0], &text, &ignored);
    if (ok) {
        out->in_repo = files.v[0].path;
        out->text = tg_arena_sv(f->arena, tg_buf_sv(&text));
    }
    tg_buf_release(&text);
    return ok;
}

static bool try_path(struct finder *f, const char *before, tg_sv path, struct mapped *out)
{
    return harmless(path) &&
           in_head(f, tg_arena_printf(f->arena, "%s%.*s", before, TG_SV_ARG(path)), out);
}

static bool below(tg_sv path, const char *folder, tg_sv *rest)
{
    size_t n = folder ? strlen(folder) : 0;
    while (n && folder[n - 1] == '/')
        n--;
    if (!n || path.n <= n + 1 || memcmp(path.p, folder, n) != 0 || path.p[n] != '/')
        return false;
    *rest = (tg_sv){ path.p + n + 1, path.n - n - 1 };
    return true;
}

/* Of another machine's checkout the end is the same: two components at least, the longest first. */
static bool try_ends(struct finder *f, tg_sv path, struct mapped *out)
{
    static const char *const foreign[] = { "/site-packages/", "/dist-packages/", "/lib/python" };
    tg_sv rest = path;
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (memmem(path.p, path.n, foreign[i], strlen(foreign[i])))
            return false;
    while (rest.n) {
        (void)tg_sv_cut(&rest, '/');
        if (memchr(rest.p, '/', rest.n) && try_path(f, "", rest, out))
            return true;
    }
    return false;
}

/* Python drops the folder of the script that was started, and of each entry of its path. */
static bool map_path(struct finder *f, tg_sv path, struct mapped *out)
{
    tg_sv rest;
    if (path.n && path.p[0] == '/') {
        if (below(path, tg_git_root(f->git), &rest) || below(path, f->ask->workspace, &rest))
            return try_path(f, "", rest, out);
        return try_ends(f, path, out);
    }
    return try_path(f, "", path, out) || try_path(f, tg_git_prefix(f->git), path, out) ||
           try_path(f, "*/", path, out) || try_path(f, "*/*/", path, out);
}

static const struct mapped *mapped_of(struct finder *f, tg_sv path)
{
    uint32_t id = tg_strmap_add(&f->paths, path);
    if (id == f->n_maps) {
        f->maps = tg_xrealloc(f->maps, ++f->n_maps, sizeof *f->maps);
        f->maps[id] = (struct mapped){ TG_SV(""), TG_SV("") };
        (void)map_path(f, path, &f->maps[id]);
    }
    return &f->maps[id];
}

/*
 * "def step(" at the line, or a few lines on: a function begins at its first decorator. Of
 * "<module>",
 * "<lambda>" and their kin only the line itself can be asked for.
 */
static bool at_line(tg_sv text, uint32_t line, tg_sv function)
{
    enum { DECORATORS = 20 };
    uint32_t at = 1;
    while (text.n) {
        tg_sv row = tg_sv_cut(&text, '\n'), word = row;
        if (at >= line && function.p[0] == '<')
            return true;
        while (word.n && (word.p[0] == ' ' || word.p[0] == '\t'))
            word = (tg_sv){ word.p + 1, word.n - 1 };
        if (tg_sv_starts(word, TG_SV("async ")))
            word = (tg_sv){ word.p + 6, word.n - 6 };
        if (at >= line && tg_sv_starts(word, TG_SV("def "))) {
            word = (tg_sv){ word.p + 4, word.n - 4 };
            return tg_sv_starts(word, function) && word.n > function.n &&
                   strchr("( [", word.p[function.n]);
        }
        if (at++ >= line + DECORATORS)
            return false;
    }
    return false;
}

static bool is_ours(void *arg, tg_sv name)
{
    struct finder *f = arg;
    struct tg_caller_name n;
    const struct mapped *m;
    if (!tg_caller_parse(&n, name))
        return false;
    m = mapped_of(f, n.file);
    return m->in_repo.n && (!f->lines_must_fit || at_line(m->text, n.line, n.function));
}

/* ---- calls ---- */

struct side {
    struct tg_trace *trace;
    struct tg_callers frames;
};

/* False: no trace (a summary, standard input), or no stacks in it. */
static bool count_side(struct finder *f, const struct tg_input_list *list,
                       const struct tg_strmap *ops, struct side *out)
{
    struct tg_load_opts load = *f->ask->load;
    struct tg_buf bytes = { 0 };
    struct tg_source *s = NULL;
    struct tg_err ignored;
    tg_sv head;
    tg_err_init(&ignored);
    load.keep_python = true;
    load.keep_hta = load.want_facts = load.want_memory = false;
    if (list->n && strcmp(list->v[0].label, "-") != 0)
        s = tg_inputs_open(&list->v[0], f->ask->repo, load.reader.limits, &bytes, &ignored);
    if (s && tg_source_peek(s, &head, &ignored) && !tg_summary_looks_like(head))
        out->trace = tg_trace_load(s, &load, NULL, &ignored);
    if (out->trace)
        tg_callers_count(&out->frames, out->trace, ops, is_ours, f);
    if (s)
        tg_source_close(s);
    tg_buf_release(&bytes);
    return out->trace && out->frames.n;
}

static tg_sv frame_name(const struct side *s, size_t i)
{
    return s->trace->names->v[s->frames.v[i].frame].name;
}

/* The same function, wherever it stands in the file now. */
static uint64_t calls_before(const struct side *base, uint32_t op, const struct tg_caller_name *fn)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < base->frames.n; i++) {
        struct tg_caller_name n;
        if (base->frames.v[i].op == op && tg_caller_parse(&n, frame_name(base, i)) &&
            tg_sv_eq(n.file, fn->file) && tg_sv_eq(n.function, fn->function))
            calls += base->frames.v[i].calls;
    }
    return calls;
}

static void attach(struct finder *f, struct tg_result *r, uint32_t op, const struct side *test,
                   const struct side *base)
{
    struct tg_caller_name best = { 0 };
    int64_t most = 0, growth = INT64_MIN;
    uint64_t all = 0;
    for (size_t i = 0; i < test->frames.n; i++) {
        struct tg_caller_name n;
        int64_t calls = (int64_t)test->frames.v[i].calls, grew;
        if (test->frames.v[i].op != op || !tg_caller_parse(&n, frame_name(test, i)))
            continue;
        all += (uint64_t)calls;
        grew = base->trace ? calls - (int64_t)calls_before(base, op, &n) : calls;
        if (grew < growth || (grew == growth && calls <= most))
            continue;
        growth = grew;
        most = calls;
        best = n;
    }
    if (!all)
        return;
    r->source = mapped_of(f, best.file)->in_repo;
    r->source_line = best.line;
    r->source_calls = tg_sv_of(tg_arena_printf(
        f->ask->arena, "%lld of %llu calls in the first trace come from %.*s", (long long)most,
        (unsigned long long)all, TG_SV_ARG(tg_utf8_prefix(best.function, 100))));
    r->source = tg_arena_sv(f->ask->arena, r->source);
}

static bool has_source(const struct tg_result *r)
{
    return tg_result_shown(r) && r->op.n && !tg_sv_eq(r->kind, TG_SV("trace")) &&
           !tg_sv_eq(r->kind, TG_SV("guard"));
}

void tg_source_find(struct tg_verdict *v, const struct tg_source_ask *ask)
{
    struct finder f = { .ask = ask, .arena = tg_arena_new(), .lines_must_fit = true };
    struct side test = { 0 }, base = { 0 };
    struct tg_strmap ops;
    struct tg_err ignored;
    size_t n = 0;
    tg_err_init(&ignored);
    tg_strmap_init(&ops);
    tg_strmap_init(&f.paths);
    for (size_t i = 0; i < v->n_results && n < MAX_RESULTS; i++)
        if (has_source(&v->results[i])) {
            (void)tg_strmap_add(&ops, v->results[i].op);
            n++;
        }
    f.git = n ? tg_repo_get(ask->repo, &ignored) : NULL;
    if (f.git && tg_git_resolve(f.git, "HEAD", f.arena, &f.head, &ignored) &&
        count_side(&f, ask->fresh, &ops, &test)) {
        f.lines_must_fit = false;
        if (!count_side(&f, ask->base, &ops, &base)) {
            tg_trace_free(base.trace);
            base.trace = NULL;
        }
        for (size_t i = 0; i < v->n_results; i++) {
            uint32_t op = tg_strmap_find(&ops, v->results[i].op);
            if (op != TG_NO_ID && has_source(&v->results[i]))
                attach(&f, &v->results[i], op, &test, &base);
        }
    }
    tg_callers_release(&test.frames);
    tg_callers_release(&base.frames);
    tg_trace_free(test.trace);
    tg_trace_free(base.trace);
    tg_strmap_release(&ops);
    tg_strmap_release(&f.paths);
    free(f.maps);
    tg_arena_free(f.arena);
}
