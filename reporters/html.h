#ifndef TG_REPORTERS_HTML_H
#define TG_REPORTERS_HTML_H
/* The sections of the report page, for html.c alone. */
#include "reporters/page/page.h"
#include "reporters/reporter.h"

enum {
    TG_HTML_BYTES = 480000, /* of a page: rows that would exceed it are omitted */
    TG_HTML_CARDS = 200000, /* of a page: no card begins after them */
    TG_HTML_LINE = 20000,   /* of a card: names that would exceed it are counted */
    TG_HTML_NAME = 44       /* code points of a name: one short form on the whole page */
};

struct tg_html {
    struct tg_page page;
    const struct tg_verdict *v;
    const struct tg_render *r;
};
void tg_html_put_text(struct tg_buf *out, tg_sv sentence); /* names and code in it as code */
void tg_html_put_name(struct tg_buf *out, tg_sv name);     /* a name as code, shortened */

void tg_html_put_findings(struct tg_html *h); /* html_findings.c */
void tg_html_put_bar(struct tg_html *h);      /* html_bar.c: the step before and after */
void tg_html_put_tree(struct tg_html *h);     /* html_tree.c: call paths */
void tg_html_put_steps(struct tg_html *h);    /* html_steps.c: one step of each side */
void tg_html_put_rows(struct tg_html *h);     /* html_rows.c: all names */
#endif
