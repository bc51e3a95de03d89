#ifndef TG_REPORTERS_MARKDOWN_H
#define TG_REPORTERS_MARKDOWN_H
/* The pull request comment: markdown.c, and what its table, full names and chart share with it. */
#include "core/base/strmap.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/reporter.h"

/* Code points of an operator's name, of which sentences, table and chart have one short form. Wider
 * cells make the rows of the table scroll, on a phone all of them. */
enum { TG_MARKDOWN_SHORT = 40 };

/* The names of a comment, each with one short form, and no two with the same: of the table's rows,
 * of what their cells call former names, of findings and of what was replaced. */
struct tg_markdown_names {
    uint32_t *row; /* of the comparison: n_rows of the table, then former names */
    size_t n_rows, n;
    struct tg_labels labels; /* of these n, then of the others */
    struct tg_strmap ids;
    uint32_t *label; /* by id */
};

struct tg_markdown {
    struct tg_buf *out;
    const struct tg_verdict *v;
    const struct tg_render *r;
    struct tg_markdown_names names;
    size_t budget, top;
    size_t dropped_rows, dropped_parts;
};
/* Adds a whole part and empties it; false: it does not fit the budget. */
bool tg_markdown_add(struct tg_markdown *m, struct tg_buf *part);
void tg_markdown_add_or_drop(struct tg_markdown *m, struct tg_buf *part);

void tg_markdown_put_table(struct tg_markdown *m); /* markdown_table.c */
void tg_markdown_put_full_names(struct tg_markdown *m);
void tg_markdown_put_chart(struct tg_markdown *m);
void tg_markdown_names_init(struct tg_markdown *m);
void tg_markdown_names_release(struct tg_markdown *m);
#endif
