#ifndef TG_REPORTERS_HTML_H
#define TG_REPORTERS_HTML_H
/* The sections of the report page, for html.c alone. */
#include "reporters/page/page.h"
#include "reporters/reporter.h"

enum {
    TG_HTML_BYTES = 480000, /* of a page: rows that would exceed it are omitted */
    TG_HTML_NAME = 44       /* code points of a name: one short form on the whole page */
};

struct tg_html {
    struct tg_page page;
    const struct tg_verdict *v;
    const struct tg_render *r;
};
void tg_html_put_name(struct tg_buf *out, tg_sv name); /* a name as code, shortened */

void tg_html_put_tree(struct tg_html *h);  /* html_picture.c: call paths, */
void tg_html_put_steps(struct tg_html *h); /* one step of each side, */
void tg_html_put_bar(struct tg_html *h);   /* and the step in parts */
void tg_html_put_rows(struct tg_html *h);  /* html_rows.c: all names */
#endif
