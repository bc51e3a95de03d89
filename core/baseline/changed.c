#include "core/baseline/changed.h"

#include <stdlib.h>
#include <string.h>

#include "core/baseline/git.h"
#include "core/baseline/spawn.h"

enum { MAX_DIFF = 32 << 20 };

struct hunks {
    struct tg_changed_file *files;
    size_t n, cap;
    struct tg_changed_lines *lines;
    size_t n_lines, lines_cap;
    bool trivial; /* the last hunk so far: blank lines and comments alone */
    tg_sv was;    /* of the file that begins: "" not moved */
};

static void close_hunk(struct hunks *h)
{
    if (h->n_lines && h->trivial)
        h->n_lines--;
    h->trivial = false;
}

/* "+   # as before": changes nothing that runs */
static bool is_trivial(tg_sv row)
{
    size_t i = 1;
    while (i < row.n && strchr(" \t\r", row.p[i]))
        i++;
    return i >= row.n || row.p[i] == '#';
}

static void close_file(struct hunks *h, struct tg_arena *a)
{
    struct tg_changed_file *f = h->n ? &h->files[h->n - 1] : NULL;
    close_hunk(h);
    if (f && !f->lines) {
        f->lines = tg_arena_copy(a, h->lines, h->n_lines, sizeof *h->lines);
        f->n = h->n_lines;
    }
    h->n_lines = 0;
}

/* "@@ -a,b +c,d @@ …" */
static void add_hunk(struct hunks *h, tg_sv row)
{
    int64_t first, n = 1;
    close_hunk(h);
    (void)tg_sv_cut(&row, '+');
    tg_sv rest = tg_sv_cut(&row, ' '), one = tg_sv_cut(&rest, ','); /* "12" or "12,0" */
    if (!h->n || !tg_sv_i64(one, &first) || (rest.n && !tg_sv_i64(rest, &n)) || first < 0 ||
        n < 0 || first > INT32_MAX || n > INT32_MAX - first)
        return;
    first = first ? first : 1;
    n = n ? n : 1;
    *TG_PUSH(h->lines, h->n_lines, h->lines_cap) =
        (struct tg_changed_lines){ (uint32_t)first, (uint32_t)(first + n - 1) };
    h->trivial = true;
}

/* One row of a file's header. True: it named the file at the newer commit. */
static bool read_header(struct hunks *h, tg_sv row, bool named, struct tg_arena *a)
{
    if (tg_sv_skip(&row, TG_SV("rename from "))) {
        h->was = row;
        return false;
    }
    if (!tg_sv_skip(&row, TG_SV("rename to ")) && (named || !tg_sv_skip(&row, TG_SV("+++ b/"))))
        return named;
    close_file(h, a);
    if (row.n && row.p[row.n - 1] == '\t')
        row.n--;
    *TG_PUSH(h->files, h->n, h->cap) =
        (struct tg_changed_file){ .path = tg_arena_sv(a, row), .was = tg_arena_sv(a, h->was) };
    h->was = TG_SV("");
    return true;
}

void tg_changed_parse(tg_sv diff, struct tg_arena *a, struct tg_changed *out)
{
    struct hunks h = { 0 };
    bool header = false, named = false;
    while (diff.n) {
        tg_sv row = tg_sv_cut(&diff, '\n');
        if (tg_sv_starts(row, TG_SV("diff --git "))) {
            close_file(&h, a);
            h.was = TG_SV("");
            header = true;
            named = false;
        } else if (tg_sv_starts(row, TG_SV("@@ -"))) {
            header = false;
            if (named)
                add_hunk(&h, row);
        } else if (header) {
            named = read_header(&h, row, named, a);
        } else if (row.n && (row.p[0] == '+' || row.p[0] == '-')) {
            h.trivial = h.trivial && is_trivial(row);
        }
    }
    close_file(&h, a);
    out->python = tg_arena_copy(a, h.files, h.n, sizeof *h.files);
    out->n_python = h.n;
    free(h.files);
    free(h.lines);
}

static bool ask(struct tg_git *g, const char *const *args, struct tg_buf *out, struct tg_err *err)
{
    struct tg_spawned r;
    tg_buf_clear(out);
    tg_git_spawn(g, args, MAX_DIFF, out, &r);
    return (r.end == TG_SPAWN_EXIT && r.code == 0) ||
           tg_git_spawn_failed(g, "asking what changed", &r, err);
}

bool tg_git_changed(struct tg_git *g, const char *from, const char *to, struct tg_arena *a,
                    struct tg_changed *out, struct tg_err *err)
{
    const char *const names[] = {
        "diff", "--name-only", "-z", "--no-renames", from, to, "--", NULL
    };
    const char *const lines[] = { "-c",
                                  "core.quotePath=false",
                                  "diff",
                                  "--unified=0",
                                  "--no-color",
                                  "--no-ext-diff",
                                  "--find-renames=40%",
                                  "--no-textconv",
                                  "--src-prefix=a/",
                                  "--dst-prefix=b/",
                                  from,
                                  to,
                                  "--",
                                  "*.py",
                                  NULL };
    TG_BUF text = { 0 };
    bool ok = ask(g, names, &text, err);
    *out = (struct tg_changed){ 0 };
    if (ok) {
        tg_sv path = tg_buf_sv(&text);
        size_t n = 0;
        for (size_t i = 0; i < path.n; i++)
            n += path.p[i] == '\0';
        out->paths = TG_NEW_N(a, tg_sv, n + 1);
        out->n_paths = 0;
        while (path.n)
            out->paths[out->n_paths++] = tg_arena_sv(a, tg_sv_cut(&path, '\0'));
    }
    if (!ok || out->n_paths > TG_CHANGED_MOST)
        return ok;
    ok = ask(g, lines, &text, err);
    if (ok)
        tg_changed_parse(tg_buf_sv(&text), a, out);
    return ok;
}
