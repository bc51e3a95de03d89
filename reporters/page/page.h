#ifndef TG_REPORTERS_PAGE_PAGE_H
#define TG_REPORTERS_PAGE_PAGE_H
/*
 * The frame of a self-contained HTML page: head, content security policy, style, script, sections,
 * names, tables. A page needs no network: its style and script are in it (page.css and
 * page.js, embedded at build time), and the policy allows those two by their SHA-256 and nothing
 * else. So there is no style="" and no onclick="" on a page: use a class of page.css, or the
 * presentation attributes of SVG (x, width, …), which the policy does not concern.
 *
 * A page is complete without JavaScript. The script adds what needs one: tables that sort and
 * filter, the first rows of a long table with a button for the rest. Equal calls give equal bytes.
 *
 *   struct tg_page p;
 *   tg_page_begin(&p, &out, &(struct tg_page_head){ .title = TG_SV("nights of resnet") });
 *   tg_page_section(&p, "events", "Events");
 *   tg_page_table(&p, &(struct tg_page_table){ .caption = "Events", … });
 *   tg_page_row(&p, "open");
 *   tg_page_cell(&p);
 *   tg_page_name(&p, event->name, 60);
 *   tg_page_number(&p, 12.3);
 *   tg_esc_xml(p.out, TG_SV("+12.3%"));
 *   tg_page_table_end(&p);
 *   tg_page_section_end(&p);
 *   tg_page_end(&p);
 *
 * Text, names and addresses are hostile and escaped here, or by tg_esc_xml; what goes into `out` as
 * it is must be markup of our own.
 * Cost: one pass over the text, no memory but the output.
 */
#include "core/base/buf.h"
#include "reporters/label.h"

struct tg_page_column {
    const char *title;
    bool number; /* to the right, of tg_page_number; sorts by its value, largest first */
};
struct tg_page_table {
    const char *caption; /* for screen readers and the filter's label */
    const struct tg_page_column *columns;
    size_t n_columns;
    size_t first; /* rows before the button "Show all"; 0: all. Printed and without script: all */
    bool plain;   /* no sort and no filter: facts, not rows */
};
#define TG_PAGE_TABLE(title, heads, ...)                                                           \
    &(const struct tg_page_table)                                                                  \
    {                                                                                              \
        .caption = (title), .columns = (heads), .n_columns = sizeof(heads) / sizeof *(heads),      \
        __VA_ARGS__                                                                                \
    }
struct tg_page {
    struct tg_buf *out;
    tg_sv script; /* of the head, for the end */
    bool in_row, in_cell;
};
struct tg_page_head {
    tg_sv title;
    tg_sv style, script; /* of this page besides page.css and page.js: static text of ours */
};

/* page.css and page.js of every page, report.* of check's, history.* of history's, compiled into
 * the program (cmake/embed.cmake). NUL-terminated. */
extern const char tg_page_css[];
extern const size_t tg_page_css_size;
extern const char tg_page_js[];
extern const size_t tg_page_js_size;
extern const char tg_history_css[];
extern const size_t tg_history_css_size;
extern const char tg_history_js[];
extern const size_t tg_history_js_size;
extern const char tg_report_css[];
extern const size_t tg_report_css_size;
extern const char tg_report_js[];
extern const size_t tg_report_js_size;

void tg_page_begin(struct tg_page *p, struct tg_buf *out, const struct tg_page_head *head);
void tg_page_end(struct tg_page *p);

/* <section> with a heading and an anchor #id; a title of NULL has no heading. */
void tg_page_section(struct tg_page *p, const char *id, const char *title);
void tg_page_section_end(struct tg_page *p);
/*
 * A name as code, in its short form (reporters/label.h): the rest is hidden until the name has the
 * focus or the pointer is over it. It is whole for search, copying, screen readers and print. For
 * the rows of a table make their labels together, so that no two look the same.
 */
void tg_page_name(struct tg_page *p, tg_sv name, size_t width);
void tg_page_label(struct tg_page *p, const struct tg_label *label);
/* A link, if `url` begins with http:// or https://; else the text alone. No referrer is sent. */
void tg_page_link(struct tg_page *p, tg_sv url, tg_sv text);

/* Rows and cells close by themselves. The state of a row is a word of ours: the class of the row,
 * and what the script's buttons filter by. */
void tg_page_table(struct tg_page *p, const struct tg_page_table *table);
void tg_page_row(struct tg_page *p, const char *state); /* NULL: none */
/* Content by the calls above or into what it returns, the page itself, until the next cell. */
struct tg_buf *tg_page_cell(struct tg_page *p);
struct tg_buf *tg_page_number(struct tg_page *p, double value); /* sorted by `value`; NAN: last */
void tg_page_table_end(struct tg_page *p);
#endif
