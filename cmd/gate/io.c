#include "cmd/gate/io.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/host.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"

const char *tg_io_env(const struct tg_io *io, const char *name)
{
    size_t n = strlen(name);
    for (const char *const *e = io->environ_; e && *e; e++)
        if (strncmp(*e, name, n) == 0 && (*e)[n] == '=')
            return (*e)[n + 1] ? *e + n + 1 : NULL;
    return NULL;
}

int64_t tg_io_today(const struct tg_io *io)
{
    int64_t seconds;
    const char *fixed = tg_io_env(io, "SOURCE_DATE_EPOCH");
    if (!fixed || !tg_sv_i64(tg_sv_of(fixed), &seconds))
        seconds = (int64_t)time(NULL);
    return seconds / 86400;
}

static bool is_forced(const struct tg_io *io, const char *name)
{
    const char *v = tg_io_env(io, name);
    return v && strcmp(v, "0") != 0;
}

void tg_io_setup(struct tg_io *io, enum tg_color color)
{
    const char *term = tg_io_env(io, "TERM"), *columns = tg_io_env(io, "COLUMNS");
    struct winsize w;
    int64_t n;
    bool shows = is_forced(io, "CLICOLOR_FORCE") || is_forced(io, "FORCE_COLOR") ||
                 (isatty(io->out) && term && strcmp(term, "dumb") != 0);
    io->color = color == TG_COLOR_ALWAYS ||
                (color != TG_COLOR_NEVER && !tg_io_env(io, "NO_COLOR") && shows);
    io->progress = isatty(io->err);
    io->columns = 0;
    if (tg_sv_i64(tg_sv_of(columns), &n) && n >= 40 && n <= 1000)
        io->columns = (int)n;
    else if (isatty(io->out) && ioctl(io->out, TIOCGWINSZ, &w) == 0 && w.ws_col >= 40)
        io->columns = w.ws_col;
}

static bool written(int code, struct tg_err *err)
{
    if (code == 0 || code == EPIPE)
        return true;
    return tg_err_say(err, TG_ERR_OUTPUT, TG_NOWHERE, "cannot write to standard output: %s",
                      "Check that the disk has room and that standard output is open.",
                      strerror(code));
}

bool tg_io_put_commands(const struct tg_io *io, tg_sv bytes, struct tg_err *err)
{
    return written(tg_file_put(io->out, bytes), err);
}

/* Length of a colour that we wrote, "ESC [ … m"; 0: none begins here, or there are no colours. */
static size_t colour(const struct tg_io *io, tg_sv s)
{
    size_t n = 2;
    if (!io->color || s.n < 3 || s.p[0] != '\033' || s.p[1] != '[')
        return 0;
    while (n < s.n && (tg_is_digit(s.p[n]) || s.p[n] == ';'))
        n++;
    return n < s.n && s.p[n] == 'm' ? n + 1 : 0;
}

/* A tab, or printable ASCII without '#': most of most lines. */
static bool is_harmless(char c)
{
    return (c >= 0x20 && c < 0x7f && c != '#') || c == '\t';
}

/* The first character, which is not one of these; returns its length. */
static size_t put_other(const struct tg_io *io, tg_sv line, struct tg_buf *out)
{
    size_t len = tg_utf8_len(line), sgr = colour(io, line);
    uint32_t c = len ? tg_utf8_code(line, len) : 0;
    if (tg_sv_starts(line, TG_SV("##["))) {
        tg_buf_puts(out, "##\\u200b");
        return 2;
    }
    if (len && tg_utf8_is_invisible(c) && !sgr) {
        tg_utf8_spell(out, c);
        return len;
    }
    len = sgr ? sgr : len ? len : 1;
    tg_buf_add(out, (tg_sv){ line.p, len });
    return len;
}

/* Nothing of a line moves the cursor, hides, ends the line or is a command, whatever format wrote
 * it. */
void tg_io_safe(const struct tg_io *io, tg_sv bytes, struct tg_buf *out)
{
    for (tg_sv rest = bytes, end; rest.n;) {
        tg_sv line = tg_utf8_line(&rest, &end);
        tg_buf_puts(out, tg_esc_is_command(line) ? "| " : "");
        for (size_t n = 0; line.n; line = tg_sv_from(line, n)) {
            for (n = 0; n < line.n && is_harmless(line.p[n]);)
                n++;
            if (n)
                tg_buf_add(out, (tg_sv){ line.p, n });
            else
                n = put_other(io, line, out);
        }
        tg_buf_add(out, tg_sv_eq(end, TG_SV("\r")) ? TG_SV("\n") : end);
    }
}

bool tg_io_put(const struct tg_io *io, tg_sv bytes, struct tg_err *err)
{
    TG_BUF safe = { 0 };
    tg_io_safe(io, bytes, &safe);
    return written(tg_file_put(io->out, tg_buf_sv(&safe)), err);
}

/* A runner executes lines that begin with "::" and lines that contain "##[": our prefix and
 * indent keep the first away, a blank the second. */
static void put_safely(const struct tg_io *io, tg_sv text, const char *prefix)
{
    TG_BUF out = { 0 };
    bool first = true;
    while (text.n) {
        TG_BUF line = { 0 };
        tg_utf8_visible(&line, tg_sv_cut(&text, '\n'));
        tg_sv rest = tg_buf_sv(&line), begin = tg_sv_past(rest, " ");
        /* A bar keeps a line from passing for a command, or for a line of ours that it is not. */
        bool barred = tg_sv_starts(begin, TG_SV("::")) || (*prefix && rest.n - begin.n < 2);
        tg_buf_puts(&out, first && *prefix ? prefix : barred ? "  | " : "");
        first = false;
        for (size_t i = 0; i < rest.n; i++) {
            tg_buf_putc(&out, rest.p[i]);
            if (i + 2 < rest.n && memcmp(rest.p + i, "##[", 3) == 0) {
                tg_buf_puts(&out, "# [");
                i += 2;
            }
        }
        tg_buf_putc(&out, '\n');
    }
    (void)tg_file_put(io->err, tg_buf_sv(&out));
}

void tg_io_error(const struct tg_io *io, const struct tg_err *err)
{
    TG_BUF text = { 0 };
    tg_err_format(err, &text);
    put_safely(io, tg_buf_sv(&text), "tracegate: ");
}

void tg_io_lines(const struct tg_io *io, tg_sv text)
{
    put_safely(io, text, "");
}

void tg_io_note(const struct tg_io *io, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    put_safely(io, tg_sv_of(text), "tracegate: ");
}

static void tick(void *arg, const char *name, uint64_t bytes, uint64_t total)
{
    struct tg_progress_line *p = arg;
    if (!p->io->progress)
        return;
    int64_t now = tg_host_ms();
    (void)pthread_mutex_lock(&p->lock);
    p->bytes += bytes;
    if (now >= p->next) {
        p->shown = true;
        p->next = now + 100;
        /* "trace.json.gz  812 of 4310 MB, 1204 MB/s, 3 files left" */
        TG_BUF line = { 0 }, shown = { 0 };
        tg_utf8_visible(&shown, tg_sv_of(name));
        tg_buf_puts(&line, "\r\033[K");
        tg_buf_add(&line, tg_utf8_prefix(tg_buf_sv(&shown), 32));
        tg_buf_printf(&line, "  %" PRIu64, p->bytes / 1000000);
        if (total && !p->several)
            tg_buf_printf(&line, " of %" PRIu64, total / 1000000);
        tg_buf_printf(&line, " MB, %" PRIu64 " MB/s", p->bytes / 1000 / (uint64_t)(now - p->start));
        if (p->files > 0 && p->several)
            tg_buf_printf(&line, ", %" PRId64 " file%s left", p->files, p->files == 1 ? "" : "s");
        (void)tg_file_put(p->io->err, tg_buf_sv(&line));
    }
    (void)pthread_mutex_unlock(&p->lock);
}

static void count_files(void *arg, int64_t change)
{
    struct tg_progress_line *p = arg;
    (void)pthread_mutex_lock(&p->lock);
    p->files += change;
    p->several |= p->files > 1;
    (void)pthread_mutex_unlock(&p->lock);
}

void tg_progress_start(struct tg_progress_line *p, const struct tg_io *io)
{
    memset(p, 0, sizeof *p);
    p->line = (struct tg_progress){ tick, count_files, p };
    p->io = io;
    p->start = tg_host_ms();
    p->next = p->start + 1000;
    (void)pthread_mutex_init(&p->lock, NULL);
}

void tg_progress_end(struct tg_progress_line *p)
{
    if (p->shown)
        (void)tg_file_put(p->io->err, TG_SV("\r\033[K"));
    p->shown = false;
    (void)pthread_mutex_destroy(&p->lock);
}
