#include <stdlib.h>

#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/markdown.h"
#include "reporters/rows.h"

/* ---- what has a name ---- */

size_t tg_markdown_find_row(const struct tg_markdown *m, uint32_t row)
{
    size_t i = 0;
    while (i < m->names.n && m->names.row[i] != row)
        i++;
    return i;
}

static void add_names(struct tg_markdown *m)
{
    const struct tg_verdict *v = m->v;
    const struct tg_comparison *c = v->comparison;
    for (size_t i = 0; i < v->n_results; i++)
        if (tg_result_listed(&v->results[i]))
            (void)tg_strmap_add(&m->names.ids, tg_result_called(&v->results[i]));
    for (size_t i = 0; c && i < c->n_ops; i++)
        if (c->ops[i].region < c->n_regions)
            (void)tg_strmap_add(&m->names.ids, c->ops[i].name);
}

void tg_markdown_names_init(struct tg_markdown *m)
{
    struct tg_markdown_names *s = &m->names;
    const struct tg_comparison *c = m->v->comparison;
    if (c && m->v->outcome != TG_OUTCOME_PASS) {
        enum { OTHERS = 3 };
        TG_FREE uint32_t *rows = tg_rows_of_verdict(m->v, m->top, OTHERS, &s->n_rows);
        s->row = tg_xmalloc((2 * s->n_rows + 1) * sizeof *s->row);
        memcpy(s->row, rows, s->n_rows * sizeof *rows);
        s->n = s->n_rows;
        for (size_t k = 0; k < s->n_rows; k++) {
            const struct tg_op *former = tg_row_was(m->v, &c->ops[rows[k]]).name;
            if (former && tg_markdown_find_row(m, (uint32_t)(former - c->ops)) == s->n)
                s->row[s->n++] = (uint32_t)(former - c->ops);
        }
    }
    for (size_t i = 0; i < s->n; i++)
        (void)tg_strmap_add(&s->ids, tg_row_called(&c->ops[s->row[i]]));
    add_names(m);
    s->label = tg_xmalloc((s->ids.n + 1) * sizeof *s->label);
    /* Labels of the rows, of which several can have one name, then of the names that no row has. */
    size_t n = s->n, n_ids = s->ids.n;
    TG_FREE tg_sv *names = tg_xmalloc((n + n_ids + 1) * sizeof *names);
    TG_FREE const char **kinds = tg_xmalloc((n + n_ids + 1) * sizeof *kinds);
    for (size_t id = 0; id < n_ids; id++)
        s->label[id] = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        names[i] = tg_row_called(&c->ops[s->row[i]]);
        kinds[i] = tg_kind_name(c->ops[s->row[i]].kind);
        uint32_t id = tg_strmap_find(&s->ids, names[i]);
        if (id != TG_NO_ID && s->label[id] == UINT32_MAX)
            s->label[id] = (uint32_t)i;
    }
    for (size_t id = 0; id < n_ids; id++)
        if (s->label[id] == UINT32_MAX) {
            s->label[id] = (uint32_t)n;
            names[n] = s->ids.text[id];
            kinds[n++] = "";
        }
    tg_labels_make_among(&s->labels, names, kinds, n, TG_MARKDOWN_SHORT, c);
}

void tg_markdown_names_release(struct tg_markdown *m)
{
    tg_labels_release(&m->names.labels);
    tg_strmap_release(&m->names.ids);
    free(m->names.row);
    free(m->names.label);
}

/* ---- short ---- */

void tg_markdown_put_label(struct tg_buf *out, const struct tg_label *label,
                           enum tg_esc_place place)
{
    TG_BUF text = { 0 };
    tg_label_put(&text, label);
    tg_esc_md_code(out, tg_buf_sv(&text), place);
}

void tg_markdown_put_short(const struct tg_markdown *m, struct tg_buf *out, tg_sv name)
{
    const struct tg_markdown_names *s = &m->names;
    uint32_t id = tg_strmap_find(&s->ids, name);
    TG_BUF text = { 0 };
    if (id != TG_NO_ID) {
        tg_markdown_put_label(out, &s->labels.v[s->label[id]], TG_ESC_PROSE);
        return;
    }
    tg_label_put_one(&text, name, TG_MARKDOWN_SHORT);
    tg_esc_md_code(out, tg_buf_sv(&text), TG_ESC_PROSE);
}
