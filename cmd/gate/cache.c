#include "cmd/gate/cache.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/sort.h"

#define HEAD "tracegate cache 1 %016" PRIx64 "\n"
enum { HEAD_BYTES = 35 };

/* ---- keys ---- */

/* No version number says what a program was built from; the linker's note does, a hash of all that
 * it linked. It is among the first bytes of the file: after its length, its type (3) and "GNU". */
void tg_cache_open(struct tg_cache *c, struct tg_git *git, struct tg_arena *a)
{
    static const char type[] = "\3\0\0\0GNU";
    char bytes[4096];
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, bytes, sizeof bytes);
    const char *at = got > 0 ? memmem(bytes, (size_t)got, type, sizeof type) : NULL;
    uint32_t n = 0;
    *c = (struct tg_cache){ 0 };
    if (fd >= 0)
        (void)close(fd);
    if (!at || at - bytes < 4)
        return;
    memcpy(&n, at - sizeof n, sizeof n);
    at += sizeof type;
    if (n < 8 || n > (size_t)(bytes + got - at))
        return;
    c->program = tg_hash((tg_sv){ at, n }, 1);
    c->folder = tg_arena_printf(a, "%stracegate/cache", tg_git_common_dir(git));
}

bool tg_cache_takes(const struct tg_cache *c, const struct tg_input_item *item,
                    const struct tg_summarize_opts *o)
{
    return c->folder && item->from_git && !item->stored && !o->keep && !o->n_meta && !o->run.n &&
           !o->host.cpu.n && !o->load.reader.limits && !o->totals_only;
}

static const char *path_of(const struct tg_cache *c, const struct tg_input_item *item,
                           const struct tg_summarize_opts *o, struct tg_arena *a)
{
    TG_BUF key = { 0 };
    tg_buf_printf(&key,
                  "%016" PRIx64 " %.*s\n%" PRId64 " %" PRId64 " %u %d %.*s\n%016" PRIx64 " %d %d",
                  c->program, TG_SV_ARG(item->blob.path), o->rank, o->named_ranks, o->frame_sorts,
                  (int)o->window.by, TG_SV_ARG(o->window.name), tg_class_table_hash(o->classes),
                  o->load.reader.strict_json, o->load.reader.allow_truncated);
    return tg_arena_printf(a, "%s/%s-%016" PRIx64, c->folder, item->blob.oid,
                           tg_hash(tg_buf_sv(&key), 0));
}

/* ---- reading ---- */

bool tg_cache_get(const struct tg_cache *c, const struct tg_input_item *item,
                  const struct tg_summarize_opts *o, struct tg_summary *out)
{
    TG_ARENA *a = tg_arena_new();
    TG_BUF text = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    const char *path = path_of(c, item, o, a);
    if (!tg_file_is_regular(path) ||
        !tg_file_read(&text, path, HEAD_BYTES + TG_CACHE_FILE_BYTES, &ignored) ||
        text.n < HEAD_BYTES)
        return false;
    tg_sv rest = tg_sv_from(tg_buf_sv(&text), HEAD_BYTES);
    char head[HEAD_BYTES + 1];
    (void)snprintf(head, sizeof head, HEAD, tg_hash(rest, 0));
    if (memcmp(head, text.p, HEAD_BYTES) != 0)
        return false;
    if (!tg_summary_parse(out, rest, item->label, &ignored)) {
        tg_summary_release(out);
        tg_summary_init(out);
        return false;
    }
    (void)utimensat(AT_FDCWD, path, NULL, 0); /* it was used now */
    return true;
}

/* ---- writing ---- */

struct file {
    const char *path;
    size_t size;
    struct timespec used;
};

static int by_use(const void *pa, const void *pb)
{
    const struct file *a = pa, *b = pb;
    int order = TG_CMP(a->used.tv_sec, b->used.tv_sec);
    return order ? order : TG_CMP(a->used.tv_nsec, b->used.tv_nsec);
}

static void make_room(const struct tg_cache *c)
{
    TG_ARENA *a = tg_arena_new();
    struct file *v = NULL;
    size_t n = 0, cap = 0, sum = 0;
    DIR *d = opendir(c->folder);
    const struct dirent *e;
    struct stat st;
    while (d && (e = readdir(d))) {
        const char *path = tg_arena_printf(a, "%s/%s", c->folder, e->d_name);
        if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode))
            continue;
        *TG_ARENA_PUSH(a, v, n, cap) = (struct file){ path, (size_t)st.st_size, st.st_mtim };
        sum += (size_t)st.st_size;
    }
    if (d)
        (void)closedir(d);
    if (sum <= TG_CACHE_BYTES)
        return;
    TG_SORT(v, n, by_use);
    for (size_t i = 0; i < n && sum > TG_CACHE_BYTES / 4 * 3; i++) {
        (void)unlink(v[i].path);
        sum -= v[i].size;
    }
}

void tg_cache_put(const struct tg_cache *c, const struct tg_input_item *item,
                  const struct tg_summarize_opts *o, const struct tg_summary *s)
{
    TG_ARENA *a = tg_arena_new();
    TG_BUF text = { 0 }, all = { 0 };
    struct tg_err ignored = TG_ERR_INIT;
    const char *path = path_of(c, item, o, a);
    if (tg_file_exists(path) && !tg_file_is_regular(path))
        return; /* a pipe would wait for a reader */
    if (!tg_summary_write_quick(s, &text, &ignored) || text.n >= TG_CACHE_FILE_BYTES)
        return;
    tg_buf_printf(&all, HEAD, tg_hash(tg_buf_sv(&text), 0));
    tg_buf_add(&all, tg_buf_sv(&text));
    if (tg_file_write(path, tg_buf_sv(&all), &ignored))
        make_room(c);
}
