#include "core/trace/source.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/arena.h"
#include "core/trace/ahead.h"
#include "core/trace/database.h"
#include "core/trace/inflate.h"

#define TAR_HEADER 512 /* bytes: no foreign format is known by later ones */
#define IN_SIZE ((size_t)64 << 10)
/* A ratio means nothing before this many bytes: a short run of blanks packs 1000:1. */
#define RATIO_FROM ((uint64_t)64 << 20)

struct tg_source {
    char *name;
    int fd; /* -1: memory */
    bool close_fd, at_eof, done, truncated, between;
    tg_sv memory;
    struct tg_limits limits;
    unsigned char *in; /* bytes read from fd and not used yet; memory: the bytes themselves */
    size_t in_at, in_n;
    uint64_t taken, total, out; /* bytes read from fd; file size; bytes handed out */
    bool placed;                /* read at `taken`, whatever the position of the descriptor */
    uint64_t expected_end;
    const struct tg_inflate_ops *ops;
    void *state;
    struct tg_database *database;   /* NULL: it is another format */
    struct tg_ahead *ahead;         /* NULL: no thread; it owns all fields above while it runs */
    atomic_uint_least64_t progress; /* compressed bytes used, for progress */
    size_t head_at, head_n;         /* bytes that tg_source_peek has read and no fill has
                                       returned yet */
    char head[TG_PEEK];
};

static uint64_t offset_of(const struct tg_source *s)
{
    return s->taken - (s->in_n - s->in_at);
}

static struct tg_loc at(const struct tg_source *s)
{
    return (struct tg_loc){ s->name, 0, 0, offset_of(s) };
}

/* Reads on until `want` bytes are buffered or the input ends. */
static bool need_input(struct tg_source *s, size_t want, struct tg_err *err)
{
    if (s->fd < 0)
        return true;
    if (s->in_at > TG_INFLATE_BACK) { /* to the front, with the bytes before it that may be given
                                         back */
        size_t from = s->in_at - TG_INFLATE_BACK;
        memmove(s->in, s->in + from, s->in_n - from);
        s->in_n -= from;
        s->in_at -= from;
    }
    while (s->in_n - s->in_at < want && !s->at_eof) {
        ssize_t got = read(s->fd, s->in + s->in_n, IN_SIZE - s->in_n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(s->name), "cannot read '%s': %s", s->name,
                              strerror(errno));
        s->at_eof = got == 0;
        s->in_n += (size_t)got;
        s->taken += (uint64_t)got;
    }
    return true;
}

static tg_sv buffered(const struct tg_source *s)
{
    return (tg_sv){ (const char *)s->in + s->in_at, s->in_n - s->in_at };
}

static bool has_at(tg_sv s, size_t at, const char *magic, size_t n)
{
    return s.n >= at + n && memcmp(s.p + at, magic, n) == 0;
}

/* The compressed format that the buffered bytes begin; NULL: none. `ops` NULL: this build lacks its
 * library. */
static const char *format_of(const struct tg_source *s, const struct tg_inflate_ops **ops)
{
    tg_sv head = buffered(s);
    if (has_at(head, 0, "\x1f\x8b", 2)) {
        *ops = tg_inflate_isal() ? tg_inflate_isal() : tg_inflate_zlib();
        return "gzip";
    }
    if (has_at(head, 0, "\x28\xb5\x2f\xfd", 4) ||
        (has_at(head, 1, "\x2a\x4d\x18", 3) && (head.p[0] & 0xf0) == 0x50)) {
        *ops = tg_inflate_zstd();
        return "zstd";
    }
    return NULL;
}

/* Formats met in practice that are not supported, packed or not: named, with the way out. */
static bool refuse_foreign(const struct tg_source *s, tg_sv head, struct tg_err *err)
{
    static const struct {
        const char *magic;
        size_t n;
        const char *what, *hint;
        size_t at; /* byte */
    } foreign[] = {
        { "\x80", 1, "a pickle, as torch.save and memory snapshots write",
          "tracegate reads what torch.profiler writes: record with export_chrome_trace.", 0 },
        { "PK\x03\x04", 4, "a zip archive", "Unpack it first.", 0 },
        { "BZh", 3, "compressed with bzip2", "Repack it with gzip or zstd.", 0 },
        { "\xfd"
          "7zXZ",
          5, "compressed with xz", "Repack it with gzip or zstd.", 0 },
        { "version https://git-lfs", 23, "a Git LFS pointer, not the trace itself",
          "Run 'git lfs pull', or check out with 'lfs: true'.", 0 },
        { TG_SQLITE_MAGIC, sizeof TG_SQLITE_MAGIC, "an SQLite database, compressed",
          "A database is read where it is: unpack it first.", 0 },
        { "NVTXRPTF", 8, "a report of Nsight Systems",
          "Export it with `nsys export --type sqlite`, and give the result.", 0 },
        { "<", 1, "a web page or XML, not JSON",
          "Perhaps a login page was saved in place of the file.", 0 },
        { "\xef\xbb\xbf", 3, "text with a byte order mark, which JSON forbids",
          "Remove its first three bytes.", 0 },
        { "ustar", 5, "a tar archive", "Unpack it first.", 257 },
        { "brain.Event:", 12, "an event file of TensorBoard",
          "The trace is the *.pt.trace.json that tensorboard_trace_handler writes.", 23 },
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (has_at(head, foreign[i].at, foreign[i].magic, foreign[i].n))
            return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(s->name), "'%s' is %s", foreign[i].hint,
                              s->name, foreign[i].what);
    /*
     * XPlane, what JAX's and TensorFlow's profilers write beside their JSON: a message whose first
     * field (0A) is a message of some length that begins with its id (08) or its name (12). JSON
     * may begin with 0A, a line feed, but has no such bytes near it.
     */
    size_t n = 1;
    while (n < head.n && n < 6 && (unsigned char)head.p[n] >= 0x80)
        n++;
    if (head.n <= n + 1 || head.p[0] != '\n' || (head.p[n + 1] != 8 && head.p[n + 1] != 18))
        return true;
    return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(s->name), "'%s' is an XPlane (*.xplane.pb)",
                      "Give the *.trace.json.gz that jax.profiler.trace writes beside it.",
                      s->name);
}

static bool recognise(struct tg_source *s, struct tg_err *err)
{
    if (!need_input(s, TAR_HEADER, err))
        return false;
    if (has_at(buffered(s), 0, TG_SQLITE_MAGIC, sizeof TG_SQLITE_MAGIC)) {
        /* SQLite reads the file itself, here and there, so it needs a path or all bytes. */
        if (s->fd >= 0 && (!s->close_fd || !s->total))
            return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(s->name),
                              "%s is an SQLite database, which cannot be read from a pipe",
                              "Give the path of the file.", s->name);
        s->database = tg_database_open(s->name, s->fd < 0 ? &s->memory : NULL, err);
        return s->database != NULL;
    }
    if (!refuse_foreign(s, buffered(s), err))
        return false;
    const char *format = format_of(s, &s->ops);
    if (!format)
        return true;
    if (!s->ops) {
        tg_err_set(err, TG_ERR_TRACE, TG_AT_FILE(s->name), "'%s' is compressed with %s", s->name,
                   format);
        return tg_err_hint(err, "This build reads plain and gzip traces; unpack it with '%s -d'.",
                           format);
    }
    s->state = s->ops->open();
    return true;
}

static struct tg_source *new_source(const char *name, const struct tg_limits *limits)
{
    struct tg_source *s = tg_xmalloc(sizeof *s);
    size_t n = strlen(name) + 1;
    *s = (struct tg_source){ .fd = -1,
                             .limits = limits ? *limits : TG_LIMITS_DEFAULT,
                             .expected_end = UINT64_MAX };
    s->name = tg_xmalloc(n);
    memcpy(s->name, name, n);
    return s;
}

static struct tg_source *recognised(struct tg_source *s, struct tg_err *err)
{
    if (recognise(s, err))
        return s;
    tg_source_close(s);
    return NULL;
}

struct tg_source *tg_source_open(const char *path, const struct tg_limits *limits,
                                 struct tg_err *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct tg_source *s = new_source(standard ? "standard input" : path, limits);
    struct stat st;
    s->fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    s->close_fd = !standard;
    bool opened = s->fd >= 0 && fstat(s->fd, &st) == 0;
    if (!opened || S_ISDIR(st.st_mode)) {
        if (opened)
            tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "'%s' is a directory", path);
        else
            tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "cannot open '%s': %s", path,
                       strerror(errno));
        s->close_fd = s->fd >= 0;
        tg_source_close(s);
        return NULL;
    }
    s->total = S_ISREG(st.st_mode) && st.st_size > 0 ? (uint64_t)st.st_size : 0;
    s->in = tg_xmalloc(IN_SIZE);
    return recognised(s, err);
}

struct tg_source *tg_source_memory(tg_sv bytes, const char *name, const struct tg_limits *limits,
                                   struct tg_err *err)
{
    struct tg_source *s = new_source(name, limits);
    s->memory = bytes;
    s->in = (unsigned char *)(uintptr_t)bytes.p; /* read only: bytes move only with an fd */
    s->in_n = bytes.n;
    s->taken = s->total = bytes.n;
    s->at_eof = true;
    return recognised(s, err);
}

void tg_source_close(struct tg_source *s)
{
    if (!s)
        return;
    tg_ahead_stop(s->ahead);
    if (s->state)
        s->ops->close(s->state);
    tg_database_close(s->database);
    if (s->close_fd)
        (void)close(s->fd);
    if (s->fd >= 0)
        free(s->in);
    free(s->name);
    free(s);
}

bool tg_source_rewind(struct tg_source *s)
{
    tg_ahead_stop(s->ahead);
    s->ahead = NULL;
    if (s->fd >= 0 && (!s->close_fd || lseek(s->fd, 0, SEEK_SET) != 0))
        return false;
    s->done = s->truncated = s->between = s->placed = false;
    s->expected_end = UINT64_MAX;
    s->out = 0;
    s->head_at = s->head_n = s->in_at = 0;
    if (s->fd >= 0) {
        s->in_n = 0;
        s->taken = 0;
        s->at_eof = false;
    }
    if (s->state) {
        s->ops->close(s->state);
        s->state = s->ops->open();
    }
    if (s->database)
        tg_database_rewind(s->database);
    return true;
}

/* After the expected end little is needed: mostly the rest of one event. */
#define BEYOND_END ((uint64_t)4 << 10)

uint64_t tg_source_plain_size(const struct tg_source *s)
{
    return s->ops || s->database || (s->fd >= 0 && !s->close_fd) ? 0 : s->total;
}

struct tg_source *tg_source_share(const struct tg_source *s)
{
    struct tg_source *other = new_source(s->name, &s->limits);
    assert(tg_source_plain_size(s));
    other->fd = s->fd;
    other->memory = s->memory;
    other->total = s->total;
    if (s->fd < 0)
        other->in = s->in;
    tg_source_seek(other, 0);
    return other;
}

void tg_source_seek(struct tg_source *s, uint64_t offset)
{
    s->head_at = s->head_n = 0;
    s->expected_end = UINT64_MAX;
    s->placed = true;
    if (s->fd < 0) {
        s->in_n = (size_t)s->total;
        s->in_at = (size_t)(offset < s->total ? offset : s->total);
        s->taken = s->total;
    } else {
        s->in_at = s->in_n = 0;
        s->taken = offset;
    }
    s->at_eof = s->fd < 0;
    atomic_store_explicit(&s->progress, offset, memory_order_relaxed);
}

void tg_source_expect_end(struct tg_source *s, uint64_t offset)
{
    s->expected_end = offset;
}

static int64_t fill_plain(struct tg_source *s, char *to, size_t n, struct tg_err *err)
{
    size_t have = s->in_n - s->in_at;
    ssize_t got;
    uint64_t at = offset_of(s), most = BEYOND_END;
    if (at < s->expected_end && s->expected_end - at < UINT64_MAX - BEYOND_END)
        most = s->expected_end - at + BEYOND_END;
    n = s->expected_end == UINT64_MAX || n < most ? n : (size_t)most;
    if (have) {
        have = have < n ? have : n;
        memcpy(to, s->in + s->in_at, have);
        s->in_at += have;
        return (int64_t)have;
    }
    if (s->at_eof)
        return 0;
    do
        got = s->placed ? pread(s->fd, to, n, (off_t)s->taken) : read(s->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        tg_err_set(err, TG_ERR_IO, TG_AT_FILE(s->name), "cannot read '%s': %s", s->name,
                   strerror(errno));
        return -1;
    }
    s->at_eof = got == 0;
    s->taken += (uint64_t)got;
    return got;
}

/* After a member: another one, zero padding, or the end. Anything else was never checked. */
static bool after_member(struct tg_source *s, struct tg_err *err)
{
    if (!need_input(s, 32, err)) /* more than the header of a zstd frame */
        return false;
    if (s->in_n == s->in_at) {
        s->done = true;
        return true;
    }
    const struct tg_inflate_ops *next = NULL;
    if (format_of(s, &next) && next == s->ops) {
        s->ops->next_member(s->state);
        s->between = false;
        return true;
    }
    while (s->ops->zeros_may_follow && s->in[s->in_at] == 0) {
        s->in_at++;
        if (s->in_at == s->in_n && !need_input(s, 1, err))
            return false;
        if (s->in_at == s->in_n) {
            s->done = true;
            return true;
        }
    }
    return tg_err_set(err, TG_ERR_TRACE, at(s),
                      "garbage after the %s stream, at compressed byte %" PRIu64, s->ops->format,
                      offset_of(s));
}

static bool within_limits(const struct tg_source *s, struct tg_err *err)
{
    uint64_t in = offset_of(s);
    if (s->out > s->limits.max_inflated)
        return tg_err_set(err, TG_ERR_LIMIT, at(s), "'%s' unpacks to more than %" PRIu64 " bytes",
                          s->name, s->limits.max_inflated);
    if (s->out > RATIO_FROM && s->out / s->limits.max_ratio > in)
        return tg_err_say(err, TG_ERR_LIMIT, at(s), "'%s' unpacks to more than %zu times its size",
                          "Real traces pack 10 to 30 times; this looks like a decompression bomb. "
                          "If it is not, unpack it by hand.",
                          s->name, s->limits.max_ratio);
    return true;
}

static int64_t fill_inflated(struct tg_source *s, char *to, size_t n, struct tg_err *err)
{
    while (!s->done) {
        if (s->between) {
            if (!after_member(s, err))
                return -1;
            continue;
        }
        struct tg_inflate_io io = { .in = s->in + s->in_at,
                                    .n_in = s->in_n - s->in_at,
                                    .out = (unsigned char *)to,
                                    .n_out = n };
        enum tg_inflated result = s->ops->run(s->state, &io);
        s->in_at = s->in_n - io.n_in;
        size_t got = n - io.n_out;
        s->out += got;
        if (result == TG_INFLATE_BAD) {
            struct tg_loc loc = at(s);
            loc.offset -= io.behind;
            tg_err_set(err, TG_ERR_TRACE, loc,
                       "the %s stream is corrupt: %s, at compressed byte %" PRIu64, s->ops->format,
                       io.why, loc.offset);
            return -1;
        }
        if (!within_limits(s, err) ||
            (got && s->out == got && !refuse_foreign(s, (tg_sv){ to, got }, err)))
            return -1;
        s->between = result == TG_INFLATE_MEMBER_END;
        if (got)
            return (int64_t)got;
        if (s->between || s->in_at < s->in_n)
            continue;
        if (!need_input(s, 1, err))
            return -1;
        if (s->in_at == s->in_n) {
            s->truncated = true;
            tg_err_set(err, TG_ERR_TRACE, at(s),
                       "the %s stream ends early, at compressed byte %" PRIu64, s->ops->format,
                       offset_of(s));
            (void)tg_err_hint(err, "The file is truncated: the writer was killed, the disk was "
                                   "full, or the transfer stopped.");
            return -1;
        }
    }
    return 0;
}

static int64_t fill_database(struct tg_source *s, char *to, size_t n, struct tg_err *err)
{
    int64_t got = tg_database_fill(s->database, to, n, err);
    if (got == 0)
        s->in_at = s->in_n;
    if (got < 0)
        return -1;
    s->out += (uint64_t)got;
    if (s->out <= s->limits.max_inflated)
        return got;
    (void)tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(s->name),
                     "'%s' holds more than %" PRIu64 " bytes of events", s->name,
                     s->limits.max_inflated);
    return -1;
}

static int64_t produce(void *arg, char *to, size_t n, struct tg_err *err)
{
    struct tg_source *s = arg;
    int64_t got = s->database ? fill_database(s, to, n, err)
                  : s->ops    ? fill_inflated(s, to, n, err)
                              : fill_plain(s, to, n, err);
    atomic_store_explicit(&s->progress, offset_of(s), memory_order_relaxed);
    return got;
}

static int64_t fill(struct tg_source *s, char *to, size_t n, struct tg_err *err)
{
    int64_t got = s->ahead ? tg_ahead_take(s->ahead, to, n, err) : produce(s, to, n, err);
    if (got == 0 && s->ahead) { /* its buffers are not needed any more */
        tg_ahead_stop(s->ahead);
        s->ahead = NULL;
    }
    return got;
}

void tg_source_read_ahead(struct tg_source *s)
{
    if ((s->ops || s->database) && !s->ahead && !s->done)
        s->ahead = tg_ahead_start(produce, s);
}

bool tg_source_peek(struct tg_source *s, tg_sv *out, struct tg_err *err)
{
    while (s->head_n < TG_PEEK) {
        int64_t got = fill(s, s->head + s->head_n, TG_PEEK - s->head_n, err);
        if (got < 0)
            return false;
        if (got == 0)
            break;
        s->head_n += (size_t)got;
    }
    *out = (tg_sv){ s->head, s->head_n };
    return true;
}

int64_t tg_source_fill(struct tg_source *s, char *to, size_t n, struct tg_err *err)
{
    size_t have = s->head_n - s->head_at;
    if (!have)
        return fill(s, to, n, err);
    have = have < n ? have : n;
    memcpy(to, s->head + s->head_at, have);
    s->head_at += have;
    return (int64_t)have;
}

bool tg_source_is_packed(const struct tg_source *s)
{
    return s->ops != NULL;
}

bool tg_source_truncated(const struct tg_source *s)
{
    return s->truncated;
}

const char *tg_source_name(const struct tg_source *s)
{
    return s->name;
}

void tg_source_progress(const struct tg_source *s, uint64_t *done, uint64_t *total)
{
    *done = atomic_load_explicit(&s->progress, memory_order_relaxed);
    *total = s->total;
}
