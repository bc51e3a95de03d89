#include <stdarg.h>
#include <stdio.h>

#include "cmd/ab.h"
#include "core/base/look.h"
#include "core/base/utf8.h"

/* ---- what it says while it runs ---- */

void tg_ab_progress(struct tg_ab *ab, const char *fmt, ...)
{
    TG_BUF line = { 0 };
    char text[512];
    va_list ap;
    if (!ab->io->progress)
        return;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    if (ab->line)
        tg_buf_puts(&line, "\r\033[K");
    if (text[0])
        tg_buf_printf(&line, "ab: %.*s",
                      TG_SV_ARG(tg_utf8_prefix(tg_sv_of(text), (size_t)ab->io->columns - 6)));
    ab->line = text[0] != '\0';
    (void)!tg_file_put(ab->io->err, tg_buf_sv(&line));
}

void tg_ab_say(struct tg_ab *ab, const char *fmt, ...)
{
    TG_BUF line = { 0 }, shown = { 0 };
    char text[4096];
    va_list ap;
    tg_ab_progress(ab, "%s", "");
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tg_buf_printf(&line, "ab: %s\n", text);
    tg_io_safe(ab->io, tg_buf_sv(&line), &shown);
    (void)!tg_file_put(ab->io->err, tg_buf_sv(&shown));
}

/* ---- git and folders ---- */

void tg_ab_add_option(struct tg_ab *ab, struct tg_strs *argv, const char *name, const char *value)
{
    if (!value)
        return;
    tg_strs_add(argv, name, ab->arena);
    tg_strs_add(argv, value, ab->arena);
}

bool tg_ab_git(struct tg_ab *ab, const char *const *args, struct tg_buf *out,
               struct tg_spawned *how)
{
    static const char *const drop[] = { "GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX",
                                        NULL };
    static const char *const set[] = { "LC_ALL=C", "GIT_TERMINAL_PROMPT=0", NULL };
    struct tg_strs argv = { 0 };
    tg_strs_add(&argv, "git", ab->arena);
    tg_ab_add_option(ab, &argv, "-C", tg_git_root(ab->git));
    for (; *args; args++)
        tg_strs_add(&argv, *args, ab->arena);
    tg_strs_add(&argv, NULL, ab->arena);
    const struct tg_spawn s = {
        .argv = argv.v, .set = set, .drop = drop, .max_out = out ? (size_t)64 << 20 : 0
    };
    tg_spawn_run(&s, out, how);
    return how->end == TG_SPAWN_EXIT && how->code == 0;
}

tg_sv tg_ab_read(struct tg_ab *ab, const char *path)
{
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    bool ok = tg_file_exists(path) && tg_file_read(&text, path, (size_t)64 << 20, &ignored);
    return tg_arena_sv(ab->arena, ok ? tg_buf_sv(&text) : TG_SV(""));
}

struct tg_strs tg_ab_list(struct tg_arena *a, const char *dir)
{
    struct tg_err ignored = TG_ERR_INIT;
    struct tg_strs all = { 0 };
    if (tg_look_in(dir, a, &all.v, &all.n, &ignored) != TG_SEEN)
        return (struct tg_strs){ 0 };
    for (size_t i = 0; i < all.n; i++)
        all.v[i] = tg_arena_printf(a, "%s/%s", dir, all.v[i]);
    return all;
}
