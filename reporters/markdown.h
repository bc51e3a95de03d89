#ifndef TG_REPORTERS_MARKDOWN_H
#define TG_REPORTERS_MARKDOWN_H
/* The parts of the pull request comment: markdown.c is its order, markdown_pieces.c what the others
 * share. */
#include "core/base/strmap.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/reporter.h"

/*
 * Code points of a name: a path or command; an operator, of which there is one short form in
 * sentences, table and chart. Wider cells make the rows of the table scroll, on a phone all of
 * them.
 */
enum { TG_MARKDOWN_NAME = 80, TG_MARKDOWN_SHORT = 40 };

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

/* A sentence: names as code spans, each in one piece; other risky words, too. */
void tg_markdown_put_text(const struct tg_markdown *m, struct tg_buf *out, tg_sv text);
/* The same between words of ours: `ours` has one "{}", the place of the sentence. Nothing without
 * a sentence. */
void tg_markdown_put_sentence(const struct tg_markdown *m, struct tg_buf *out, const char *ours,
                              tg_sv text);
void tg_markdown_put_name(struct tg_buf *out, tg_sv name); /* a code span, shortened */
void tg_markdown_put_link(struct tg_buf *out, const char *text, tg_sv url); /* text of ours */
/* `text` as a code span, linked to the line in the repository where that is known. */
void tg_markdown_put_place(const struct tg_markdown *m, struct tg_buf *out, tg_sv text, tg_sv file,
                           uint32_t first, uint32_t last);
const char *tg_markdown_icon(enum tg_state s);
const char *tg_markdown_outcome_icon(enum tg_outcome o);

void tg_markdown_put_findings(struct tg_markdown *m); /* markdown_findings.c */
void tg_markdown_put_what_now(struct tg_markdown *m);
void tg_markdown_put_table(struct tg_markdown *m); /* markdown_table.c */
void tg_markdown_put_full_names(struct tg_markdown *m);
void tg_markdown_put_chart(struct tg_markdown *m);
void tg_markdown_names_init(struct tg_markdown *m);
void tg_markdown_names_release(struct tg_markdown *m);
#endif
