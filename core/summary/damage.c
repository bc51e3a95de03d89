#include "core/summary/damage.h"

#include <inttypes.h>

#include "core/base/file.h"

bool tg_damage_add(struct tg_damage *d, struct tg_err *err)
{
    int64_t rank = tg_file_rank(tg_sv_of(err->file));
    if (!d || (err->kind != TG_ERR_TRACE && err->kind != TG_ERR_SUMMARY))
        return false;
    if (rank >= 0)
        tg_buf_printf(&d->text, "rank %" PRId64 ": ", rank);
    if (err->file[0])
        tg_buf_printf(&d->text, "%s: ", err->file);
    tg_buf_printf(&d->text, "%s\n", err->message);
    d->n++;
    tg_err_init(err);
    return true;
}

void tg_damage_say(struct tg_damage *d, tg_sv line)
{
    tg_buf_add(&d->text, line);
    tg_buf_putc(&d->text, '\n');
    d->n++;
}

void tg_damage_append(struct tg_damage *d, const struct tg_damage *more)
{
    tg_buf_add(&d->text, tg_buf_sv(&more->text));
    d->n += more->n;
}

void tg_damage_release(struct tg_damage *d)
{
    tg_buf_release(&d->text);
    d->n = 0;
}
