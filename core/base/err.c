#include "core/base/err.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/base/buf.h"

void tg_err_init(struct tg_err *err)
{
    memset(err, 0, sizeof *err);
    err->offset = TG_NO_OFFSET;
}

/* Messages quote untrusted text: control bytes must not reach a terminal or split a line. */
static void make_printable(char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < 0x20 || (unsigned char)*s == 0x7f)
            *s = ' ';
}

static void set(struct tg_err *err, enum tg_err_kind kind, struct tg_loc at, const char *fmt,
                va_list ap)
{
    if (err->kind != TG_ERR_NONE)
        return;
    tg_err_init(err);
    err->kind = kind;
    err->line = at.line;
    err->col = at.col;
    err->offset = at.offset;
    if (at.file)
        (void)snprintf(err->file, sizeof err->file, "%s", at.file);
    (void)vsnprintf(err->message, sizeof err->message, fmt, ap);
    make_printable(err->message);
}

bool tg_err_set(struct tg_err *err, enum tg_err_kind kind, struct tg_loc at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    set(err, kind, at, fmt, ap);
    va_end(ap);
    return false;
}

bool tg_err_say(struct tg_err *err, enum tg_err_kind kind, struct tg_loc at, const char *fmt,
                const char *hint, ...)
{
    va_list ap;
    va_start(ap, hint);
    set(err, kind, at, fmt, ap);
    va_end(ap);
    return tg_err_hint(err, "%s", hint);
}

bool tg_err_hint(struct tg_err *err, const char *fmt, ...)
{
    va_list ap;
    if (err->hint[0])
        return false;
    va_start(ap, fmt);
    (void)vsnprintf(err->hint, sizeof err->hint, fmt, ap);
    va_end(ap);
    make_printable(err->hint);
    return false;
}

bool tg_err_context(struct tg_err *err, const char *fmt, ...)
{
    va_list ap;
    size_t used = strlen(err->context);
    if (used && used + 2 < sizeof err->context) {
        memcpy(err->context + used, ", ", 3);
        used += 2;
    }
    va_start(ap, fmt);
    (void)vsnprintf(err->context + used, sizeof err->context - used, fmt, ap);
    va_end(ap);
    make_printable(err->context);
    return false;
}

bool tg_err_again(struct tg_err *err, const struct tg_err *kept)
{
    if (err->kind == TG_ERR_NONE)
        *err = *kept;
    return false;
}

int tg_err_exit_code(enum tg_err_kind kind)
{
    switch (kind) {
    case TG_ERR_NONE:
        return 0;
    case TG_ERR_USAGE:
    case TG_ERR_POLICY:
    case TG_ERR_REF:
        return 2;
    case TG_ERR_IO:
    case TG_ERR_TRACE:
    case TG_ERR_SUMMARY:
    case TG_ERR_GIT:
    case TG_ERR_LIMIT:
        return 3;
    case TG_ERR_LOST:
        return 4;
    case TG_ERR_OUTPUT:
    case TG_ERR_INTERNAL:
        break;
    }
    return 5;
}

void tg_err_format(const struct tg_err *err, struct tg_buf *out)
{
    if (err->file[0])
        tg_buf_printf(out, "%s:", err->file);
    if (err->line)
        tg_buf_printf(out, "%u:", err->line);
    if (err->line && err->col)
        tg_buf_printf(out, "%u:", err->col);
    if (err->file[0])
        tg_buf_puts(out, " ");
    if (err->offset != TG_NO_OFFSET && !err->line)
        tg_buf_printf(out, "at byte %" PRIu64 ": ", err->offset);
    tg_buf_printf(out, "error: %s\n", err->message);
    if (err->context[0])
        tg_buf_printf(out, "  while %s\n", err->context);
    if (err->hint[0])
        tg_buf_printf(out, "  %s\n", err->hint);
}
