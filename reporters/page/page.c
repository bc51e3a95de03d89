#include "reporters/page/page.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/sha256.h"
#include "core/summary/pack.h"
#include "reporters/escape.h"
#include "reporters/number.h"

/* ---- head ---- */

static int hex_digit(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* " 'sha256-…'": base64 of the 32 bytes, as a content security policy names a text it allows. */
static void put_hash(struct tg_buf *out, tg_sv text)
{
    char hex[65], bytes[32];
    if (!text.n)
        return;
    tg_sha256_hex(text, hex);
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(hex_digit(hex[2 * i]) << 4 | hex_digit(hex[2 * i + 1]));
    tg_buf_puts(out, " 'sha256-");
    tg_base64_put((tg_sv){ bytes, sizeof bytes }, out);
    tg_buf_putc(out, '\'');
}

static void put_asset(struct tg_buf *out, const char *tag, tg_sv text)
{
    if (!text.n)
        return;
    tg_buf_printf(out, "<%s>", tag);
    tg_buf_add(out, text);
    tg_buf_printf(out, "</%s>\n", tag);
}

void tg_page_begin(struct tg_page *p, struct tg_buf *out, const struct tg_page_head *head)
{
    tg_sv style = { tg_page_css, tg_page_css_size };
    *p = (struct tg_page){ .out = out, .script = head->script };
    tg_buf_puts(out, "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    /* The one image is the empty icon, without which a browser asks the server for favicon.ico. */
    tg_buf_puts(out, "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                     "style-src");
    put_hash(out, style);
    put_hash(out, head->style);
    tg_buf_puts(out, "; script-src");
    put_hash(out, (tg_sv){ tg_page_js, tg_page_js_size });
    put_hash(out, head->script);
    tg_buf_puts(out, "; img-src data:; base-uri 'none'; form-action 'none'\">\n");
    TG_PUT(out, tg_esc_xml,
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<meta name=\"referrer\" content=\"no-referrer\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>{}</title>\n",
           head->title);
    put_asset(out, "style", style);
    put_asset(out, "style", head->style);
    tg_buf_puts(out, "</head>\n<body>\n<main>\n");
}

/* The scripts come last, where they find the whole page. */
void tg_page_end(struct tg_page *p)
{
    tg_buf_puts(p->out, "</main>\n");
    put_asset(p->out, "script", (tg_sv){ tg_page_js, tg_page_js_size });
    put_asset(p->out, "script", p->script);
    tg_buf_puts(p->out, "</body>\n</html>\n");
}

/* ---- sections ---- */

void tg_page_section(struct tg_page *p, const char *id, const char *title)
{
    tg_buf_printf(p->out, "<section id=\"%s\">\n", id);
    if (title)
        tg_buf_printf(p->out, "<h2>%s</h2>\n", title);
}

void tg_page_section_end(struct tg_page *p)
{
    tg_buf_puts(p->out, "</section>\n");
}

/* ---- text ---- */

/* Hidden bytes are in <span> if an ellipsis replaces them, else in <i>. */
void tg_page_label(struct tg_page *p, const struct tg_label *l)
{
    static const char *const tag[] = {
        [TG_LABEL_SHOWN] = "", [TG_LABEL_DROPPED] = "i", [TG_LABEL_CUT] = "span"
    };
    size_t end;
    tg_buf_puts(p->out, tg_label_is_whole(l) ? "<code>" : "<code class=\"long\" tabindex=\"0\">");
    for (size_t at = 0; at < l->name.n; at = end) {
        unsigned char how = l->hide[at];
        for (end = at + 1; end < l->name.n && l->hide[end] == how;)
            end++;
        if (how != TG_LABEL_SHOWN)
            tg_buf_printf(p->out, "<%s>", tag[how]);
        tg_esc_xml(p->out, (tg_sv){ l->name.p + at, end - at });
        if (how != TG_LABEL_SHOWN)
            tg_buf_printf(p->out, "</%s>", tag[how]);
    }
    tg_buf_puts(p->out, "</code>");
    tg_esc_xml(p->out, tg_buf_sv(&l->after));
}

void tg_page_name(struct tg_page *p, tg_sv name, size_t width)
{
    TG_AUTO(tg_labels_release) struct tg_labels l;
    tg_labels_make(&l, &name, 1, width);
    tg_page_label(p, &l.v[0]);
}

void tg_page_link(struct tg_page *p, tg_sv url, tg_sv text)
{
    if (tg_link_is_web(url))
        TG_PUT(p->out, tg_esc_xml, "<a rel=\"noopener noreferrer\" href=\"{}\">{}</a>", url, text);
    else
        tg_esc_xml(p->out, text);
}

/* ---- tables ---- */

/* A wide table scrolls in a box of its own, which the keyboard reaches. */
void tg_page_table(struct tg_page *p, const struct tg_page_table *t)
{
    tg_buf_printf(p->out,
                  "<div class=\"wide\" role=\"region\" aria-label=\"%s\" tabindex=\"0\">\n<table",
                  t->caption);
    tg_buf_puts(p->out, t->plain ? "" : " class=\"rows\"");
    if (t->first)
        tg_buf_printf(p->out, " data-first=\"%zu\"", t->first);
    tg_buf_printf(p->out, ">\n<caption>%s</caption>\n<thead><tr>", t->caption);
    for (size_t i = 0; i < t->n_columns; i++)
        tg_buf_printf(p->out, "<th scope=\"col\"%s>%s</th>",
                      t->columns[i].number ? " class=\"num\"" : "", t->columns[i].title);
    tg_buf_puts(p->out, "</tr></thead>\n<tbody>\n");
}

static void end_cell(struct tg_page *p)
{
    tg_buf_puts(p->out, p->in_cell ? "</td>" : "");
    p->in_cell = false;
}

static void end_row(struct tg_page *p)
{
    end_cell(p);
    tg_buf_puts(p->out, p->in_row ? "</tr>\n" : "");
    p->in_row = false;
}

void tg_page_row(struct tg_page *p, const char *state)
{
    end_row(p);
    if (state)
        tg_buf_printf(p->out, "<tr class=\"%s\">", state);
    else
        tg_buf_puts(p->out, "<tr>");
    p->in_row = true;
}

struct tg_buf *tg_page_cell(struct tg_page *p)
{
    end_cell(p);
    tg_buf_puts(p->out, "<td>");
    p->in_cell = true;
    return p->out;
}

struct tg_buf *tg_page_number(struct tg_page *p, double value)
{
    end_cell(p);
    tg_buf_puts(p->out, "<td class=\"num\"");
    if (isfinite(value))
        tg_buf_printf(p->out, " data-v=\"%s\"", TG_AS(tg_dec_put_double, value));
    tg_buf_putc(p->out, '>');
    p->in_cell = true;
    return p->out;
}

void tg_page_table_end(struct tg_page *p)
{
    end_row(p);
    tg_buf_puts(p->out, "</tbody>\n</table>\n</div>\n");
}
