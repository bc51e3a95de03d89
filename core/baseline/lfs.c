#include <inttypes.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/sha256.h"
#include "core/baseline/git.h"
#include "core/baseline/spawn.h"

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
        if (tg_sv_skip(&line, TG_SV("oid sha256:")) && tg_is_hex(line, 64)) {
            memcpy(out->oid, line.p, 64);
            out->oid[64] = '\0';
            oid = true;
        } else if (tg_sv_skip(&line, TG_SV("size ")) && tg_sv_i64(line, &n) && n >= 0) {
            out->size = (uint64_t)n;
            size = true;
        }
    }
    return oid && size;
}

static bool wrong(const struct tg_git_file *f, const char *path, const char *why,
                  struct tg_err *err)
{
    tg_err_set(err, TG_ERR_GIT, TG_AT_FILE(f->path.p), "the Git LFS object of '%s' is damaged: %s",
               f->path.p, why);
    return tg_err_hint(err, "Delete %s and run `git lfs fetch` again.", path);
}

bool tg_lfs_read(struct tg_git *g, const struct tg_git_file *f, const struct tg_lfs *p,
                 struct tg_buf *out, struct tg_err *err)
{
    size_t most = tg_git_limits(g)->max_blob, start = out->n;
    TG_ARENA *a = tg_arena_new();
    const char *path =
        tg_arena_printf(a, "%s/%.2s/%.2s/%s", tg_git_lfs_dir(g, a), p->oid, p->oid + 2, p->oid);
    char hex[65];
    if (p->size > most)
        return tg_err_say(err, TG_ERR_LIMIT, TG_AT_FILE(f->path.p),
                          "'%s' has %" PRIu64 " bytes in Git LFS, the limit is %zu",
                          "Store it compressed (.json.gz), or as a summary: `tracegate summarize "
                          "TRACE -o FILE.tgs`.",
                          f->path.p, p->size, most);
    if (access(path, F_OK) != 0) {
        char word[256];
        tg_err_set(err, TG_ERR_GIT, TG_AT_FILE(f->path.p),
                   "'%s' is a Git LFS pointer and its object is not here", f->path.p);
        return tg_err_hint(
            err,
            "Checkout with lfs: true; that brings the objects of HEAD alone, so also "
            "run `git lfs fetch origin %s --include=%s`.",
            f->commit[0] ? f->commit : "COMMIT", tg_shell_word(word, sizeof word, f->path.p));
    }
    if (!tg_file_read(out, path, most, err))
        return false;
    if (out->n - start != p->size)
        return wrong(f, path, "its size differs from the pointer's", err);
    tg_sha256_hex(tg_sv_from(tg_buf_sv(out), start), hex);
    return strcmp(hex, p->oid) == 0 || wrong(f, path, "its SHA-256 differs", err);
}
