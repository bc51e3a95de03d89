#ifndef TG_TESTS_CMD_GATE_ROOM_H
#define TG_TESTS_CMD_GATE_ROOM_H
/* A command's surroundings without a process: an empty folder outside any repository, in which the
 * test is; standard output and error as files; an environment. */
#include <dirent.h>
#include <fcntl.h>

#include "tests/support.h"

#include "cmd/gate/io.h"
#include "core/base/file.h"

struct room {
    char folder[64];
    const char *environ_[8];
    struct tg_io io;
    struct tg_arena *arena;
    struct tg_err err;
};

static inline void room_open(struct room *r)
{
    *r = (struct room){ .folder = "/tmp/tracegate-gate-XXXXXX", .arena = tg_arena_new() };
    assert_non_null(mkdtemp(r->folder));
    assert_int_equal(chdir(r->folder), 0);
    r->environ_[0] = "SOURCE_DATE_EPOCH=1760000000";
    r->io = (struct tg_io){ .in = -1, .environ_ = r->environ_ };
    r->io.out = open("stdout", O_RDWR | O_CREAT | O_TRUNC, 0600);
    r->io.err = open("stderr", O_RDWR | O_CREAT | O_TRUNC, 0600);
    assert_true(r->io.out >= 0 && r->io.err >= 0);
    tg_err_init(&r->err);
}

static inline void room_file(const char *path, const char *text)
{
    struct tg_err err = TG_ERR_INIT;
    assert_true(tg_file_write(path, tg_sv_of(text), &err));
}

/* What a file holds, in the arena. */
static inline const char *room_text(struct room *r, const char *path)
{
    TG_BUF text = { 0 };
    const char *copy;
    FILE *f = fopen(path, "rb");
    char bytes[4096];
    assert_non_null(f);
    for (size_t n; (n = fread(bytes, 1, sizeof bytes, f)) > 0;)
        tg_buf_add(&text, (tg_sv){ bytes, n });
    (void)fclose(f);
    copy = tg_arena_sv(r->arena, tg_buf_sv(&text)).p;
    return copy;
}

/* The files of the folder; there are no others below it. */
static inline void room_close(struct room *r)
{
    DIR *d = opendir(r->folder);
    (void)close(r->io.out);
    (void)close(r->io.err);
    for (struct dirent *e; d && (e = readdir(d));)
        (void)unlinkat(dirfd(d), e->d_name, 0);
    (void)closedir(d);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(r->folder), 0);
    tg_arena_free(r->arena);
}

/* A test in a room of its own, `r`. */
#define IN_ROOM(name) TEST_IN(struct room, r, room_open, room_close, name)

#define assert_failed(room, kind_, part)                                                           \
    do {                                                                                           \
        assert_int_equal((room)->err.kind, kind_);                                                 \
        if (!strstr((room)->err.message, part))                                                    \
            fail_msg("'%s' lacks '%s'", (room)->err.message, part);                                \
        tg_err_init(&(room)->err);                                                                 \
    } while (0)
#endif
