#include "reporters/link.h"

#include "core/base/decimal.h"

bool tg_link_is_web(tg_sv url)
{
    return tg_sv_starts(url, TG_SV("https://")) || tg_sv_starts(url, TG_SV("http://"));
}

static void put_encoded(struct tg_buf *out, tg_sv s, const char *also)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        if (tg_is_letter(c) || tg_is_digit(c) || (c && strchr(also, c)))
            tg_buf_putc(out, c);
        else
            tg_buf_printf(out, "%%%02X", (unsigned char)c);
    }
}

void tg_link_put_encoded(struct tg_buf *out, tg_sv url)
{
    put_encoded(out, url, "._~/-:?=&#%");
}

static bool is_gitlab(tg_sv repo)
{
    return tg_sv_has(repo, TG_SV("gitlab"));
}

static void put_page(struct tg_buf *out, tg_sv repo, const char *page, tg_sv sha)
{
    tg_link_put_encoded(out, repo);
    tg_buf_puts(out, is_gitlab(repo) ? "/-/" : "/");
    tg_buf_puts(out, page);
    put_encoded(out, sha, "");
}

void tg_link_put_commit(struct tg_buf *out, tg_sv repo, tg_sv sha)
{
    if (tg_link_is_web(repo) && sha.n)
        put_page(out, repo, "commit/", sha);
}

void tg_link_put_lines(struct tg_buf *out, tg_sv repo, tg_sv sha, tg_sv file, uint32_t first,
                       uint32_t last)
{
    if (!tg_link_is_web(repo) || !sha.n || !file.n || file.p[0] == '/')
        return;
    put_page(out, repo, "blob/", sha);
    tg_buf_putc(out, '/');
    put_encoded(out, file, "._~/-");
    if (first)
        tg_buf_printf(out, "#L%u", (unsigned)first);
    if (first && last > first)
        tg_buf_printf(out, is_gitlab(repo) ? "-%u" : "-L%u", (unsigned)last);
}

static void put_ns(struct tg_buf *out, const char *key, tg_ns ns)
{
    tg_buf_puts(out, key);
    tg_dec_put_i64(out, ns);
}

void tg_link_put_perfetto(struct tg_buf *out, tg_sv trace, tg_ns start, tg_ns dur)
{
    if (!tg_sv_starts(trace, TG_SV("https://")))
        return;
    tg_buf_puts(out, "https://ui.perfetto.dev/#!/?url=");
    put_encoded(out, trace, "._~-");
    put_ns(out, "&ts=", start);
    put_ns(out, "&dur=", dur);
    put_ns(out, "&visStart=", start - dur / 2);
    put_ns(out, "&visEnd=", start + dur + dur / 2);
}
