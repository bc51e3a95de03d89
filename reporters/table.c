#include "reporters/table.h"

#include <math.h>
#include <stdio.h>

#include "core/base/decimal.h"
#include "core/base/doc.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/csv.h"
#include "reporters/label.h"
#include "reporters/texttable.h"

/* ---- CSV ---- */

void tg_table_as_csv(struct tg_buf *out, const struct tg_table *t)
{
    for (size_t k = 0; k < t->n_columns; k++)
        tg_buf_printf(out, "%s%s", k ? "," : "", t->columns[k].name);
    tg_buf_putc(out, '\n');
    for (size_t r = 0; r < t->n_rows; r++)
        for (size_t k = 0; k < t->n_columns; k++) {
            enum tg_table_type type = t->columns[k].type;
            const struct tg_table_cell *c = tg_table_at(t, r, k);
            if (c->known && tg_table_is_text(type))
                tg_csv_text(out, c->is.text);
            else if (c->known) {
                if (type == TG_TABLE_INT)
                    tg_dec_put_i64(out, c->is.i);
                else if (type == TG_TABLE_US)
                    tg_dec_put_us(out, c->is.i);
                else
                    tg_csv_number(out, c->is.v);
            }
            tg_buf_putc(out, k + 1 < t->n_columns ? ',' : '\n');
        }
}

/* ---- JSON ---- */

static void json_rows(struct tg_doc *rows, const struct tg_table *t)
{
    for (size_t r = 0; r < t->n_rows; r++) {
        struct tg_doc *row = tg_doc_add_object(rows, NULL);
        for (size_t k = 0; k < t->n_columns; k++) {
            const struct tg_table_column *column = &t->columns[k];
            const struct tg_table_cell *c = tg_table_at(t, r, k);
            if (!c->known)
                tg_doc_add_null(row, column->name);
            else if (tg_table_is_text(column->type))
                tg_doc_add_str(row, column->name, c->is.text);
            else if (column->type == TG_TABLE_INT)
                tg_doc_add_i64(row, column->name, c->is.i);
            else if (column->type == TG_TABLE_US)
                tg_doc_add_num(row, column->name, tg_ns_to_us_double(c->is.i));
            else
                tg_doc_add_num(row, column->name, c->is.v);
        }
    }
}

void tg_table_as_json(struct tg_buf *out, const struct tg_table *t, const char *schema)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *doc = tg_doc_new_object();
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    tg_doc_add_str(doc, "measure", tg_sv_of(t->name));
    json_rows(tg_doc_add_array(doc, "rows"), t);
    tg_doc_write(doc, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}

void tg_tables_as_json(struct tg_buf *out, const struct tg_tables *tables, const char *schema)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *doc = tg_doc_new_object();
    tg_doc_add_str(doc, "schema", tg_sv_of(schema));
    struct tg_doc *metrics = tg_doc_add_object(doc, "measures");
    for (size_t i = 0; i < tables->n; i++)
        json_rows(tg_doc_add_array(metrics, tables->v[i].name), &tables->v[i]);
    tg_doc_write(doc, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}

/* ---- text ---- */

enum { NAME_LEAST = 24, LABEL_LEAST = 12 };

/* Short forms, by text: of texts that are wider than their column gets. */
struct short_forms {
    struct tg_strmap texts;
    struct tg_labels labels;
};

/* A column of the text. Its numbers share a unit and a number of decimals, so that they can be
 * compared. */
struct column {
    size_t from; /* of the table */
    char title[64];
    double per; /* numbers are divided by it */
    int decimals;
    const struct short_forms *shorter; /* NULL: texts as they are */
};

struct view {
    const struct tg_table *t;
    bool whole;     /* no text is shortened */
    size_t rows, n; /* rows shown; columns */
    struct column *v;
};

static enum tg_table_type type_of(const struct tg_table *t, size_t column)
{
    return t->columns[column].type;
}

/* Of all rows, not of the shown ones alone. */
static bool is_alike(const struct tg_table *t, size_t column, bool zero)
{
    for (size_t r = 0; r < t->n_rows; r++)
        if (!tg_table_at(t, r, column)->known ||
            tg_table_number(t, r, column) != (zero ? 0 : tg_table_number(t, 0, column)))
            return false;
    return t->n_rows > 0;
}

/* Where all of it took place is said once. */
static bool is_place(const char *name)
{
    static const char *const places[] = { "rank", "device", "stream", "step", NULL };
    return tg_sv_index(places, tg_sv_of(name)) >= 0;
}

/* A column without a value tells people nothing, nor does one of zeros; programs get every
 * column. */
static bool is_shown(const struct tg_table *t, size_t column)
{
    if (type_of(t, column) == TG_TABLE_MACHINE_TEXT)
        return false;
    if (type_of(t, column) != TG_TABLE_TEXT &&
        (is_alike(t, column, true)
             ? t->n_rows > 1
             : is_place(t->columns[column].name) && is_alike(t, column, false)))
        return false;
    for (size_t r = 0; r < t->n_rows; r++)
        if (tg_table_at(t, r, column)->known)
            return true;
    return t->n_rows == 0;
}

/* "idle_time(us)" -> "idle time", "self_duration" -> "self", "share_pctg" -> "share (%)", "50%" of
 * rates -> "50% (GB/s)": units of times follow. */
static void put_title(struct tg_buf *out, const struct tg_table_column *c)
{
    static const char percent[] = "_pctg", us[] = "(us)", duration[] = "duration", rate[] = "_gbps";
    tg_sv name = tg_sv_of(c->name);
    bool pctg = tg_sv_ends(name, tg_sv_of(percent));
    if (pctg)
        name.n -= sizeof percent - 1;
    else if (tg_sv_ends(name, tg_sv_of(us)))
        name.n -= sizeof us - 1;
    else if (tg_sv_ends(name, tg_sv_of(rate)))
        name.n -= sizeof rate - 1;
    while (name.n && name.p[name.n - 1] == ' ')
        name.n--;
    if (tg_sv_ends(name, tg_sv_of(duration)) && name.n > sizeof duration)
        name.n -= sizeof duration;
    for (size_t i = 0; i < name.n; i++) {
        if (name.p[i] == '(' && i && name.p[i - 1] != ' ')
            tg_buf_putc(out, ' ');
        tg_buf_putc(out, name.p[i] == '_' ? ' ' : name.p[i]);
    }
    tg_buf_puts(out, pctg ? " (%)" : c->type == TG_TABLE_GBPS ? " (GB/s)" : "");
}

/* The unit and the decimals that suit the largest number of the shown rows. */
static void scale(const struct view *x, struct column *c)
{
    static const struct {
        double from, per; /* us */
        const char *unit;
    } units[] = { { 1e7, 1e6, " (s)" }, { 1e4, 1e3, " (ms)" }, { 0, 1, " (us)" } };
    enum tg_table_type type = type_of(x->t, c->from);
    double largest = 0;
    bool whole = true;
    size_t unit = 0, n = strlen(c->title);
    for (size_t r = 0; r < x->rows; r++)
        if (tg_table_at(x->t, r, c->from)->known)
            largest = fmax(largest, fabs(tg_table_number(x->t, r, c->from)));
    while (largest < units[unit].from)
        unit++;
    if (tg_table_is_time(type) && strcmp(c->title, "ts") != 0) { /* a point in time stays in us */
        c->per = units[unit].per;
        (void)snprintf(c->title + n, sizeof c->title - n, "%s", units[unit].unit);
    }
    for (size_t r = 0; r < x->rows; r++)
        if (tg_table_at(x->t, r, c->from)->known) {
            double v = tg_table_number(x->t, r, c->from) / c->per;
            whole &= v == floor(v);
        }
    largest /= c->per;
    c->decimals = whole ? 0 : largest >= 100 ? 1 : largest >= 10 ? 2 : 3;
}

static void lay_out(struct tg_texttable *g, struct tg_texttable_column *head, const struct view *x)
{
    for (size_t k = 0; k < x->n; k++) {
        bool text = type_of(x->t, x->v[k].from) == TG_TABLE_TEXT;
        /* Shares stay longest: they are what a name is judged by at a glance. */
        bool share = tg_sv_ends(tg_sv_of(x->v[k].title), TG_SV("(%)"));
        head[k] = (struct tg_texttable_column){
            .title = x->v[k].title,
            .right = !text,
            .least = text && !x->whole ? NAME_LEAST : 0,
            .most = text && !x->whole ? TG_TEXTTABLE_NAME_MOST : 0,
            .drop = text || k < 2 ? 0 : (unsigned)(k + (share ? 0 : x->n))
        };
    }
    *g = (struct tg_texttable){ .columns = head, .n_columns = x->n };
    for (size_t r = 0; r < x->rows; r++)
        for (size_t k = 0; k < x->n; k++) {
            const struct column *c = &x->v[k];
            enum tg_table_type type = type_of(x->t, c->from);
            const struct tg_table_cell *cell = tg_table_at(x->t, r, c->from);
            if (!cell->known)
                tg_buf_puts(&g->text, type == TG_TABLE_TEXT ? "" : "-");
            else if (type == TG_TABLE_INT)
                tg_dec_put_i64(&g->text, cell->is.i);
            else if (type != TG_TABLE_TEXT)
                tg_dec_put_fixed(&g->text, tg_table_number(x->t, r, c->from) / c->per, c->decimals);
            else if (c->shorter)
                tg_label_put(
                    &g->text,
                    &c->shorter->labels.v[tg_strmap_find(&c->shorter->texts, cell->is.text)]);
            else
                tg_utf8_visible(&g->text, cell->is.text);
            tg_texttable_cell(g, TG_TINT_NONE);
        }
}

static void put_rows(struct tg_buf *out, struct view *x, size_t width)
{
    TG_FREE struct tg_texttable_column *head = tg_xmalloc((x->n + 1) * sizeof *head);
    TG_FREE size_t *widths = tg_xcalloc(x->n + 1, sizeof *widths);
    TG_FREE struct short_forms *forms = tg_xcalloc(x->n + 1, sizeof *forms);
    TG_AUTO(tg_texttable_release) struct tg_texttable whole = { 0 }, g = { 0 };
    size_t dropped = 0;
    lay_out(&whole, head, x);
    tg_texttable_widths(&whole, width, widths);
    for (size_t k = 0; k < x->n; k++) {
        dropped += widths[k] == 0;
        if (type_of(x->t, x->v[k].from) == TG_TABLE_TEXT) {
            struct short_forms *f = &forms[k];
            bool fit = true;
            for (size_t r = 0; r < x->rows; r++) {
                tg_sv text = tg_table_at(x->t, r, x->v[k].from)->is.text;
                fit &= tg_utf8_count(text) <= widths[k];
                (void)tg_strmap_add(&f->texts, text);
            }
            if (!fit && widths[k] >= LABEL_LEAST) {
                tg_labels_make(&f->labels, f->texts.text, f->texts.n, widths[k]);
                x->v[k].shorter = f;
            }
        }
    }
    if (dropped && x->t->n_rows == 1) {
        /* A single row that is too wide: a line for each column. */
        static const struct tg_texttable_column upright_head[] = { { .title = "what" },
                                                                   { .title = "value" } };
        TG_AUTO(tg_texttable_release)
        struct tg_texttable upright = { .columns = upright_head, .n_columns = 2 };
        for (size_t j = 0; j < x->n; j++) {
            tg_buf_puts(&upright.text, x->v[j].title);
            tg_texttable_cell(&upright, TG_TINT_NONE);
            tg_buf_add(&upright.text, tg_texttable_text(&whole, j));
            tg_texttable_cell(&upright, TG_TINT_NONE);
        }
        tg_texttable_write(&upright, out, 0, SIZE_MAX / 2);
    } else {
        lay_out(&g, head, x);
        tg_texttable_write(&g, out, 0, width);
        size_t rows = x->t->n_rows - x->rows;
        if (rows || dropped) {
            tg_buf_puts(out, "...");
            if (rows)
                tg_buf_printf(out, " %zu more row%s", rows, rows > 1 ? "s" : "");
            if (dropped)
                tg_buf_printf(out, "%s %zu more column%s", rows ? "," : "", dropped,
                              dropped > 1 ? "s" : "");
            tg_buf_puts(out, " (--format csv has them all)\n");
        }
    }
    for (size_t k = 0; k < x->n; k++) {
        tg_labels_release(&forms[k].labels);
        tg_strmap_release(&forms[k].texts);
    }
}

void tg_table_as_text(struct tg_buf *out, const struct tg_table *t, int columns, size_t max_rows)
{
    TG_FREE struct column *v = tg_xcalloc(t->n_columns + 1, sizeof *v);
    struct view x = { .t = t,
                      .rows = max_rows && max_rows < t->n_rows ? max_rows : t->n_rows,
                      .whole = columns == TG_TABLE_WHOLE,
                      .v = v };
    size_t width = columns > 0 ? (size_t)columns : SIZE_MAX / 2;
    /* What all rows share: "rank 1, device 0; 0 everywhere: unknown". */
    size_t line = out->n, zeros = 0;
    TG_BUF text = { 0 };
    for (size_t zero = 0; zero < (t->n_rows > 1 ? 2 : 1); zero++)
        for (size_t k = 0; k < t->n_columns; k++) {
            bool place = is_place(t->columns[k].name);
            if (tg_table_is_text(type_of(t, k)) || place == (zero == 1) || !is_alike(t, k, zero))
                continue;
            tg_buf_clear(&text);
            put_title(&text, &t->columns[k]);
            if (place)
                tg_buf_printf(&text, " %lld", (long long)tg_table_at(t, 0, k)->is.i);
            /* One more of a list, in the next line if it does not fit in this one. */
            const char *before = zero && !zeros++ ? "; 0 everywhere: " : ", ";
            size_t at = out->n - line;
            if (at && at + strlen(before) + text.n > width) {
                while (*before && *before != ' ')
                    tg_buf_putc(out, *before++);
                tg_buf_puts(out, "\n ");
                line = out->n - 1;
            }
            tg_buf_puts(out, at ? before : before + strspn(before, ",; "));
            tg_buf_add(out, tg_buf_sv(&text));
        }
    if (out->n > line)
        tg_buf_putc(out, '\n');
    TG_BUF title = { 0 };
    for (size_t k = 0; k < x.t->n_columns; k++) {
        struct column *c = &x.v[x.n];
        if (!is_shown(x.t, k))
            continue;
        x.n++;
        *c = (struct column){ .from = k, .per = 1 };
        tg_buf_clear(&title);
        put_title(&title, &x.t->columns[k]);
        (void)snprintf(c->title, sizeof c->title - 8, "%s", title.p ? title.p : "");
        if (!tg_table_is_text(type_of(x.t, k)))
            scale(&x, c);
    }
    put_rows(out, &x, width);
}
