#include "core/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/look.h"
#include "core/base/temporary.h"

bool tg_file_read(struct tg_buf *out, const char *path, size_t max, struct tg_err *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t start = out->n;
    ssize_t got = 0;
    if (fd < 0)
        return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "cannot open '%s': %s", path,
                          strerror(errno));
    for (;;) {
        char *to = tg_buf_room(out, 65536);
        got = read(fd, to, 65536);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        out->n += (size_t)got;
        out->p[out->n] = '\0';
        if (out->n - start > max) {
            (void)close(fd);
            return tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(path), "'%s' is larger than %zu bytes",
                              path, max);
        }
    }
    if (got < 0)
        (void)tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "cannot read '%s': %s", path,
                         strerror(errno));
    (void)close(fd);
    return got == 0;
}

static bool output_failed(const char *path, int code, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_OUTPUT, TG_AT_FILE(path), "cannot write '%s': %s", path, strerror(code));
    return tg_err_hint(err, "Nothing was written there; check that the folder is writable and has "
                            "room.");
}

static void outfile_release(struct tg_outfile *f)
{
    if (f->fd >= 0 && !f->standard)
        (void)close(f->fd);
    tg_temporary_remove(f->temporary);
    tg_buf_release(&f->pending);
    free(f->path);
}

/* 0: it does not exist. */
static mode_t mode_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? st.st_mode : 0;
}

/* Renaming over a device or a pipe would replace it with a file. */
static bool is_written_in_place(const char *path)
{
    return tg_file_exists(path) && !tg_file_is_regular(path);
}

/* Two spellings of one path of a file that need not exist: "d/x", "./d/x", "link-to-d/x". */
static bool is_one_path(const char *a, const char *b)
{
    const char *x = strrchr(a, '/'), *y = strrchr(b, '/');
    TG_BUF p = { 0 };
    TG_BUF q = { 0 };
    x = x ? x + 1 : a;
    y = y ? y + 1 : b;
    tg_buf_printf(&p, "%.*s.", (int)(x - a), a);
    tg_buf_printf(&q, "%.*s.", (int)(y - b), b);
    return strcmp(x, y) == 0 && tg_file_same(p.p, q.p);
}

static bool is_taken(const struct tg_outputs *o, const struct tg_outfile *f)
{
    bool sink = !f->standard && is_written_in_place(f->path);
    for (size_t i = 0; i < o->n; i++)
        if (!sink && o->files[i].standard == f->standard &&
            (f->standard || is_one_path(o->files[i].path, f->path)))
            return true;
    return false;
}

/*
 * The folders that lead to `path`; one that cannot be created is reported when the file is opened.
 */
static void make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0777);
        *slash = '/';
    }
}

void tg_file_make_dir(const char *path)
{
    TG_BUF with_slash = { 0 };
    tg_buf_printf(&with_slash, "%s/", path);
    make_folders(with_slash.p);
}

bool tg_outputs_open(struct tg_outputs *o, const char *path, size_t *handle, struct tg_err *err)
{
    struct tg_outfile f = { .fd = -1, .standard = strcmp(path, "-") == 0 };
    /* Where the path leads; links that do not lead anywhere yet stay as they are. */
    if (!f.standard && !is_written_in_place(path))
        f.path = realpath(path, NULL);
    if (!f.path)
        f.path = memcpy(tg_xmalloc(strlen(path) + 1), path, strlen(path) + 1);
    if (is_taken(o, &f)) {
        outfile_release(&f);
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "two outputs go to '%s'", path);
        return tg_err_hint(err, "Give each report a file of its own.");
    }
    if (f.standard)
        f.fd = o->standard ? o->standard : STDOUT_FILENO;
    else if (is_written_in_place(f.path))
        f.fd = open(f.path, O_WRONLY | O_CLOEXEC);
    else if (!(f.temporary = tg_temporary_open(f.path, &f.fd)) && errno == ENOENT) {
        make_folders(f.path);
        f.temporary = tg_temporary_open(f.path, &f.fd);
    }
    if (f.fd < 0) {
        int code = errno;
        outfile_release(&f);
        return output_failed(path, code, err);
    }
    *handle = o->n;
    *TG_PUSH(o->files, o->n, o->cap) = f;
    return true;
}

int tg_file_put(int fd, tg_sv bytes)
{
    while (bytes.n) {
        ssize_t put = write(fd, bytes.p, bytes.n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        bytes.p += put;
        bytes.n -= (size_t)put;
    }
    return 0;
}

bool tg_outputs_put(struct tg_outputs *o, size_t handle, tg_sv bytes, struct tg_err *err)
{
    struct tg_outfile *f = &o->files[handle];
    int code = 0;
    f->filled = true;
    if (!f->temporary) /* keep the bytes until everything else is safe */
        tg_buf_add(&f->pending, bytes);
    else
        code = tg_file_put(f->fd, bytes);
    return code == 0 || output_failed(f->path, code, err);
}

static bool outfile_commit(struct tg_outfile *f, struct tg_err *err)
{
    if (!f->temporary) {
        int code = tg_file_put(f->fd, tg_buf_sv(&f->pending));
        if (code == 0 || (f->standard && code == EPIPE))
            return true; /* `| head` has seen enough: not an error, as for every filter */
        return output_failed(f->standard ? "standard output" : f->path, code, err);
    }
    if (!tg_temporary_keep(f->temporary, f->path))
        return output_failed(f->path, errno, err);
    f->temporary = NULL;
    (void)close(f->fd);
    f->fd = -1;
    return true;
}

bool tg_outputs_commit(struct tg_outputs *o, struct tg_err *err)
{
    for (size_t i = 0; i < o->n; i++) {
        const struct tg_outfile *f = &o->files[i];
        if (f->temporary && f->filled && fsync(f->fd) != 0 && errno != EINVAL && errno != EROFS)
            return output_failed(f->path, errno, err);
    }
    for (size_t i = 0; i < o->n; i++) {
        if (o->files[i].filled && !outfile_commit(&o->files[i], err))
            return false;
        o->files[i].filled = false;
    }
    return true;
}

void tg_outputs_release(struct tg_outputs *o)
{
    for (size_t i = 0; i < o->n; i++)
        outfile_release(&o->files[i]);
    free(o->files);
    *o = (struct tg_outputs){ 0 };
}

bool tg_file_write(const char *path, tg_sv bytes, struct tg_err *err)
{
    TG_AUTO(tg_outputs_release) struct tg_outputs o = { 0 };
    size_t handle;
    return tg_outputs_open(&o, path, &handle, err) && tg_outputs_put(&o, handle, bytes, err) &&
           tg_outputs_commit(&o, err);
}

#define SUFFIX(text) { "" text, sizeof(text) - 1 },
tg_sv tg_file_suffix(tg_sv name)
{
    static const tg_sv suffixes[] = { TG_FILE_SUFFIXES(SUFFIX) };
    tg_sv longest = TG_SV("");
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (tg_sv_ends(name, suffixes[i]) && suffixes[i].n > longest.n)
            longest = suffixes[i];
    return longest;
}

bool tg_file_is_input_name(tg_sv name)
{
    return name.n && name.p[0] != '.' && tg_file_suffix(name).n;
}

bool tg_files_in_dir(const char *dir, struct tg_arena *a, const char ***paths, size_t *n,
                     struct tg_err *err)
{
    const char **names;
    size_t n_names, end = strlen(dir);
    enum tg_seen seen = tg_look_in(dir, a, &names, &n_names, err);
    *n = 0;
    if (seen == TG_SEEN_FAILED)
        return false;
    if (seen == TG_ABSENT)
        return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(dir), "cannot open folder '%s': %s", dir,
                          strerror(ENOENT));
    while (end > 1 && dir[end - 1] == '/')
        end--;
    *paths = TG_NEW_N(a, const char *, n_names + 1);
    for (size_t i = 0; i < n_names; i++) {
        if (!tg_file_is_input_name(tg_sv_of(names[i])))
            continue;
        (*paths)[*n] = tg_arena_printf(a, "%.*s/%s", (int)end, dir, names[i]);
        *n += !tg_file_is_dir((*paths)[*n]);
    }
    if (*n)
        return true;
    tg_err_set(err, TG_ERR_IO, TG_AT_FILE(dir), "folder '%s' holds no trace", dir);
    return tg_err_hint(err, "Files whose names end in " TG_FILE_SUFFIX_WORDS "are taken.");
}

bool tg_files_glob(const char *pattern, struct tg_arena *a, const char ***paths, size_t *n,
                   struct tg_err *err)
{
    size_t found;
    *n = 0;
    if (!tg_look_glob(pattern, a, paths, &found, err))
        return false;
    for (size_t i = 0; i < found; i++)
        if (!tg_file_is_dir((*paths)[i]))
            (*paths)[(*n)++] = (*paths)[i];
    if (*n)
        return true;
    return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(pattern), "no file matches '%s'", pattern);
}

bool tg_file_is_dir(const char *path)
{
    return S_ISDIR(mode_of(path));
}

static bool status_of(const char *path, struct stat *out)
{
    return (strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, out) : stat(path, out)) == 0;
}

bool tg_file_same(const char *a, const char *b)
{
    struct stat x, y;
    return status_of(a, &x) && status_of(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool tg_file_is_regular(const char *path)
{
    return S_ISREG(mode_of(path));
}

bool tg_file_exists(const char *path)
{
    return mode_of(path) != 0;
}

/* ---- a file system that many machines share ---- */

static bool passes(int code)
{
    static const int codes[] = { ESTALE, EIO, ETIMEDOUT, EAGAIN, EBUSY, ENOLINK, EREMOTEIO, EINTR };
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

/* 0, or why not. */
static int try_once(const char *path, tg_sv bytes)
{
    int fd;
    char *name = tg_temporary_open(path, &fd);
    if (!name)
        return errno;
    int code = tg_file_put(fd, bytes);
    if (!code && fsync(fd) != 0 && errno != EINVAL && errno != EROFS)
        code = errno;
    if (close(fd) != 0 && !code) /* NFS tells of a full disk here */
        code = errno;
    if (!code && !tg_temporary_keep(name, path))
        code = errno;
    else if (!code)
        name = NULL;
    tg_temporary_remove(name);
    return code;
}

bool tg_file_retry_write(const char *path, tg_sv bytes, uint64_t seed, struct tg_err *err)
{
    int code = 0;
    for (unsigned try = 0; try < TG_FILE_RETRY_TIMES; try++) {
        if (try) {
            /* 0.1 s, then twice as long each time, half of it by chance. */
            uint64_t most = (uint64_t)100000000 << (try - 1);
            uint64_t ns = most / 2 + tg_hash_fold(seed + try, 0x9e3779b97f4a7c15u) % (most / 2);
            struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
            while (nanosleep(&t, &t) != 0 && errno == EINTR)
                ;
        }
        code = try_once(path, bytes);
        if (!code)
            return true;
        if (!passes(code))
            break;
    }
    tg_err_set(err, TG_ERR_OUTPUT, TG_AT_FILE(path), "cannot write '%s': %s", path, strerror(code));
    return tg_err_hint(err, passes(code)
                                ? "The shared file system failed every time for some six "
                                  "seconds; the trace is unharmed."
                                : "Nothing was written there; check that the folder exists, is "
                                  "writable and has room.");
}

/* ---- names ---- */

/* `word`, one of - _ or nothing, digits; not as the end of a longer word ("frank3"). */
static int64_t number_after(tg_sv name, const char *word)
{
    size_t n = strlen(word);
    for (size_t i = 0; i + n < name.n; i++) {
        size_t k = 0, from;
        int64_t v = 0;
        while (k < n && tg_lower(name.p[i + k]) == word[k])
            k++;
        if (k < n || (i && tg_is_letter(name.p[i - 1])))
            continue;
        k += i;
        k += name.p[k] == '-' || name.p[k] == '_';
        for (from = k; k < name.n && tg_is_digit(name.p[k]) && k < from + 9; k++)
            v = v * 10 + (name.p[k] - '0');
        if (k > from && tg_sv_digits(name, k) == k)
            return v;
    }
    return -1;
}

tg_sv tg_file_name(tg_sv path)
{
    for (size_t i = path.n; i > 0; i--)
        if (path.p[i - 1] == '/')
            return tg_sv_from(path, i);
    return path;
}

int64_t tg_file_rank(tg_sv path)
{
    tg_sv name = tg_file_name(path);
    int64_t rank = number_after(name, "rank");
    return rank >= 0 ? rank : number_after(name, "worker");
}
