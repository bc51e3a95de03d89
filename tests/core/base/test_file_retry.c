/* A file written whole, in the face of a file system that fails for a while. */
#include "tests/support.h"

#include "core/base/file.h"

struct folder {
    char path[64], file[96];
    struct tg_err err;
};

static void open_folder(struct folder *f)
{
    *f = (struct folder){ .path = "/tmp/tracegate-retry-XXXXXX" };
    assert_non_null(mkdtemp(f->path));
    (void)snprintf(f->file, sizeof f->file, "%s/r.tgs", f->path);
    tg_err_init(&f->err);
}

static void holds(struct folder *f, const char *want)
{
    TG_BUF b = { 0 };
    assert_true(tg_file_read(&b, f->file, 1 << 20, &f->err));
    assert_sv_equal(tg_buf_sv(&b), tg_sv_of(want));
}

TEST(written_and_replaced_whole)
{
    struct folder f;
    open_folder(&f);
    assert_true(tg_file_retry_write(f.file, TG_SV("a longer one"), 1, &f.err));
    holds(&f, "a longer one");
    assert_true(tg_file_retry_write(f.file, TG_SV("short"), 2, &f.err));
    holds(&f, "short");
    assert_true(tg_file_retry_write(f.file, TG_SV(""), 3, &f.err));
    holds(&f, "");
    assert_int_equal(unlink(f.file), 0);
    assert_int_equal(rmdir(f.path), 0); /* nothing else is left */
}

/* What waiting does not mend is told at once: no folder, a folder of that name. */
TEST(what_will_not_pass_is_not_tried_again)
{
    struct folder f;
    char missing[128];
    open_folder(&f);
    (void)snprintf(missing, sizeof missing, "%s/no/r.tgs", f.path);
    assert_false(tg_file_retry_write(missing, TG_SV("x"), 1, &f.err));
    assert_int_equal(f.err.kind, TG_ERR_OUTPUT);
    assert_non_null(strstr(f.err.message, "No such file or directory"));
    assert_non_null(strstr(f.err.hint, "check that the folder exists"));
    tg_err_init(&f.err);
    assert_int_equal(mkdir(f.file, 0700), 0);
    assert_false(tg_file_retry_write(f.file, TG_SV("x"), 1, &f.err));
    assert_non_null(strstr(f.err.hint, "Nothing was written there"));
    assert_int_equal(rmdir(f.file), 0);
    assert_int_equal(rmdir(f.path), 0);
}
