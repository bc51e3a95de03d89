#include <inttypes.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/baseline/git.h"
#include "core/baseline/spawn.h"

static bool is_hex64(tg_sv s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!memchr("0123456789abcdef", s.p[i], 16))
            return false;
    return s.n == 64;
}

static tg_sv behind(tg_sv s, size_t n)
{
    return (tg_sv){ s.p + n, s.n - n };
}

/* https://github.com/git-lfs/git-lfs/blob/main/docs/spec.md: version first, the rest sorted. */
bool tg_lfs_parse(tg_sv text, struct tg_lfs *out)
{
    bool oid = false, size = false;
    int64_t n;
    if (text.n > TG_LFS_MAX_POINTER ||
        !tg_sv_eq(tg_sv_cut(&text, '\n'), TG_SV("version https://git-lfs.github.com/spec/v1")))
        return false;
    while (text.n) {
        tg_sv line = tg_sv_cut(&text, '\n');
        if (tg_sv_starts(line, TG_SV("oid sha256:")) && is_hex64(behind(line, 11))) {
            memcpy(out->oid, line.p + 11, 64);
            out->oid[64] = '\0';
            oid = true;
        } else if (tg_sv_starts(line, TG_SV("size ")) && tg_sv_i64(behind(line, 5), &n) && n >= 0) {
            out->size = (uint64_t)n;
            size = true;
        }
    }
    return oid && size;
}

static bool missing(const struct tg_git_file *f, struct tg_err *err)
{
    char word[256];
    tg_err_set(err, TG_ERR_GIT, TG_AT_FILE(f->path.p),
               "'%s' is a Git LFS pointer and its object is not here", f->path.p);
    return tg_err_hint(err,
                       "Checkout with lfs: true; that brings the objects of HEAD alone, so also "
                       "run `git lfs fetch origin %s --include=%s`.",
                       f->commit[0] ? f->commit : "COMMIT",
                       tg_shell_word(word, sizeof word, f->path.p));
}

static bool wrong(const struct tg_git_file *f, const char *path, const char *why,
                  struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_AT_FILE(f->path.p), "the Git LFS object of '%s' is damaged: %s",
               f->path.p, why);
    return tg_err_hint(err, "Delete %s and run `git lfs fetch` again.", path);
}

bool tg_lfs_read(struct tg_git *g, const struct tg_git_file *f, size_t start, struct tg_buf *out,
                 struct tg_err *err)
{
    size_t most = tg_git_limits(g)->max_blob;
    TG_ARENA *a = tg_arena_new();
    struct tg_lfs p;
    char hex[65];
    const char *path;
    bool ok = tg_lfs_parse((tg_sv){ out->p + start, out->n - start }, &p);
    if (!ok) {
        tg_err_set(err, TG_ERR_INTERNAL, TG_NOWHERE, "not a Git LFS pointer");
        goto done;
    }
    out->n = start;
    path = tg_arena_printf(a, "%s/%.2s/%.2s/%s", tg_git_lfs_dir(g, a), p.oid, p.oid + 2, p.oid);
    if (p.size > most) {
        tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(f->path.p),
                   "'%s' has %" PRIu64 " bytes in Git LFS, the limit is %zu", f->path.p, p.size,
                   most);
        ok = tg_err_hint(err, "Store it compressed (.json.gz), or as a summary: `tracegate "
                              "summarize TRACE -o FILE.tgs`.");
    } else if (access(path, F_OK) != 0) {
        ok = missing(f, err);
    } else if (!tg_file_read(out, path, most, err)) {
        ok = false;
    } else if (out->n - start != p.size) {
        ok = wrong(f, path, "its size differs from the pointer's", err);
    } else {
        tg_sha256_hex((tg_sv){ out->p + start, out->n - start }, hex);
        ok = strcmp(hex, p.oid) == 0 || wrong(f, path, "its SHA-256 differs", err);
    }
done:
    return ok;
}
