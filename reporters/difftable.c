/* The comparison without a policy: `tracegate diff`. */

#include "core/base/arena.h"
#include "core/diff/names.h"
#include "reporters/csv.h"
#include "reporters/escape.h"
#include "reporters/json.h"
#include "reporters/label.h"
#include "reporters/number.h"
#include "reporters/reporter.h"
#include "reporters/texttable.h"

/* `per_step`: what stands for a duration where sums are not asked for. */
static enum tg_basis basis_of(const struct tg_difftable *t, enum tg_basis per_step)
{
    return t->whole ? TG_BASIS_WHOLE : per_step;
}

/* What check would read from the runs; NULL: sums. */
static const struct tg_evidence *estimate(const struct tg_difftable *t, const struct tg_op *op)
{
    return t->whole ? NULL : tg_row_estimate(op);
}

static void put_name(struct tg_buf *out, const struct tg_difftable *t, const struct tg_op *op)
{
    size_t before = out->n;
    if (t->short_names)
        tg_name_short(op->name, out);
    if (out->n == before) /* HTA's short name of "<built-in …>" is empty; the full one says more */
        tg_buf_add(out, op->name);
}

static const struct tg_texttable_column columns[] = {
    { .title = "" },
    { .title = "name", .least = TG_TEXTTABLE_NAME_LEAST, .most = TG_TEXTTABLE_NAME_MOST },
    { .title = "", .right = true, .drop = 2 },
    { .title = "", .right = true, .drop = 1 },
    { .title = "+/-", .right = true },
    { .title = "", .right = true, .drop = 5 },
    { .title = "", .right = true, .drop = 4 },
    { .title = "+/- us", .right = true },
    { .title = "%", .right = true, .drop = 3 },
};
enum { NAME = 1, N_COLUMNS = sizeof columns / sizeof *columns };

static enum tg_tint tint_of(double delta)
{
    return delta > 0 ? TG_TINT_RED : delta < 0 ? TG_TINT_GREEN : TG_TINT_NONE;
}

/* `cut`: the names as they fit; NULL: whole. */
static void put_rows(struct tg_texttable *g, const struct tg_difftable *t, size_t n,
                     const struct tg_labels *cut)
{
    struct tg_buf *cell = &g->text;
    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &t->comparison->ops[t->rows[i]];
        struct tg_row_numbers numbers =
            tg_row_numbers(t->comparison, op, basis_of(t, TG_BASIS_ESTIMATED));
        bool noise = estimate(t, op) && tg_evidence_is_noise(estimate(t, op));
        TG_BUF name = { 0 };
        tg_buf_putc(cell, noise && numbers.d_count == 0 ? '~' : tg_row_category(&numbers));
        tg_texttable_cell(g, tint_of(numbers.d_count));
        if (cut && t->short_names)
            put_name(&name, t, op);
        else if (cut)
            tg_label_put(&name, &cut->v[i]);
        tg_esc_terminal(cell, cut ? tg_buf_sv(&name) : op->name);
        tg_texttable_cell(g, TG_TINT_NONE);
        for (int s = 0; s < 2; s++) {
            tg_put_count(cell, numbers.count[s]);
            tg_texttable_cell(g, TG_TINT_NONE);
        }
        tg_put_count_delta(cell, numbers.d_count);
        tg_texttable_cell(g, tint_of(numbers.d_count));
        for (int s = 0; s < 2; s++) {
            tg_put_us(cell, numbers.ns[s]);
            tg_texttable_cell(g, TG_TINT_NONE);
        }
        tg_put_us_delta(cell, numbers.d_ns);
        tg_texttable_cell(g, noise ? TG_TINT_DIM : tint_of(numbers.d_ns));
        bool here = numbers.count[TG_TEST] > 0, before = numbers.count[TG_BASE] > 0;
        if (here && before && numbers.ns[TG_BASE] > 0)
            tg_put_pct_delta(cell, 100 * numbers.d_ns / numbers.ns[TG_BASE]);
        else if (here != before)
            tg_buf_puts(cell, before ? "gone" : "new");
        tg_texttable_cell(g, noise ? TG_TINT_DIM : TG_TINT_NONE);
    }
}

void tg_difftable_text(struct tg_buf *out, const struct tg_difftable *t, const struct tg_render *r)
{
    size_t width = r->columns > 0 ? (size_t)r->columns : 100;
    size_t n = r->top && r->top < t->n_rows ? r->top : t->n_rows;
    TG_ARENA *a = tg_arena_new();
    struct tg_texttable_column titled[N_COLUMNS];
    TG_AUTO(tg_labels_release) struct tg_labels cut = { 0 };
    TG_AUTO(tg_texttable_release)
    struct tg_texttable wide = { .columns = titled, .n_columns = N_COLUMNS, .color = r->color },
                        g = wide;
    size_t widths[N_COLUMNS];
    bool estimated = false;
    if (!t->n_rows) {
        tg_buf_puts(out, "no rows\n");
        return;
    }
    /* Titles carry the side's labels; they live in `a`. */
    static const size_t at[] = { 2, 3, 5, 6 };
    static const char *const fallback[] = { "baseline", "fresh" };
    memcpy(titled, columns, sizeof columns);
    for (size_t i = 0; i < 4; i++) {
        TG_BUF label = { 0 }, title = { 0 };
        size_t side = i % 2;
        tg_esc_terminal(&label, t->label[side].n ? t->label[side] : tg_sv_of(fallback[side]));
        tg_shorten(&title, tg_buf_sv(&label), 12);
        titled[at[i]].title = tg_arena_printf(a, "%s%s", title.p, i < 2 ? " #" : " us");
    }
    /* With whole names; then with names of the width that the numbers leave. The durations are
     * whole ones, so a step has the name of the trace. */
    put_rows(&wide, t, n, NULL);
    tg_texttable_widths(&wide, width, widths);
    TG_FREE tg_sv *names = tg_xmalloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        names[i] = t->comparison->ops[t->rows[i]].name;
        estimated |= estimate(t, &t->comparison->ops[t->rows[i]]) != NULL;
    }
    tg_labels_make(&cut, names, n, widths[NAME]);
    put_rows(&g, t, n, &cut);
    tg_texttable_write(&g, out, 0, width);
    if (n < t->n_rows)
        tg_buf_printf(out, "and %zu more rows\n", t->n_rows - n);
    tg_buf_puts(out, t->whole ? "whole sums: steps, ranks and runs added up\n"
                              : "per step; durations include what an operator calls\n");
    if (estimated)
        tg_buf_puts(out, "durations as check takes them from these runs; ~ within their noise\n");
}

void tg_difftable_csv(struct tg_buf *out, const struct tg_difftable *t)
{
    TG_BUF name = { 0 };
    tg_csv_header(out);
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct tg_op *op = &t->comparison->ops[t->rows[i]];
        struct tg_row_numbers n = tg_row_numbers(t->comparison, op, basis_of(t, TG_BASIS_PER_STEP));
        tg_buf_clear(&name);
        put_name(&name, t, op);
        tg_csv_row(out, tg_buf_sv(&name), &n);
    }
}

void tg_difftable_json(struct tg_buf *out, const struct tg_difftable *t)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *root = tg_doc_new_object();
    tg_doc_add_str(root, "schema", TG_SV(TG_DIFF_SCHEMA));
    tg_doc_add_bool(root, "whole", t->whole);
    struct tg_doc *list = tg_doc_add_array(root, "sides");
    tg_doc_add_str(list, NULL, t->label[TG_BASE]);
    tg_doc_add_str(list, NULL, t->label[TG_TEST]);
    list = tg_doc_add_array(root, "rows");
    for (size_t i = 0; i < t->n_rows; i++) {
        const struct tg_op *op = &t->comparison->ops[t->rows[i]];
        struct tg_row_numbers n = tg_row_numbers(t->comparison, op, basis_of(t, TG_BASIS_PER_STEP));
        struct tg_doc *row = tg_doc_add_object(list, NULL);
        const double us[2] = { n.ns[TG_BASE] / 1000, n.ns[TG_TEST] / 1000 };
        const char category[2] = { tg_row_category(&n), '\0' };
        TG_BUF name = { 0 };
        put_name(&name, t, op);
        tg_doc_add_str(row, "name", tg_buf_sv(&name));
        tg_doc_add_str(row, "kind", tg_sv_of(tg_kind_name(op->kind)));
        tg_json_pair(row, "counts", n.count);
        tg_json_pair(row, "total_duration_us", us);
        tg_doc_add_num(row, "diff_counts", n.d_count);
        tg_doc_add_num(row, "diff_duration_us", n.d_ns / 1000);
        tg_doc_add_str(row, "counts_change_category", tg_sv_of(category));
        tg_doc_add_str(row, "group", tg_sv_of(tg_row_group(&n)));
        if (estimate(t, op)) {
            /* As check takes the duration from the runs. */
            const struct tg_evidence *ev = estimate(t, op);
            struct tg_doc *estimated = tg_doc_add_object(row, "estimate");
            const double estimated_us[2] = { ev->value[TG_BASE] / 1000, ev->value[TG_TEST] / 1000 };
            tg_json_pair(estimated, "us", estimated_us);
            tg_doc_add_num(estimated, "diff_us", ev->delta_ns / 1000);
            tg_doc_add_num(estimated, "noise_pct", 100 * ev->noise);
            tg_doc_add_bool(estimated, "within_noise", tg_evidence_is_noise(ev));
        }
    }
    if (t->causes) {
        /* As check's JSON has them, for the rows that were followed. */
        struct tg_doc *causes = tg_doc_add_array(root, "causes");
        for (size_t i = 0; i < t->causes->n_results; i++) {
            const struct tg_result *r = &t->causes->results[i];
            struct tg_doc *o = tg_doc_add_object(causes, NULL);
            tg_doc_add_str(o, "name", r->op);
            tg_doc_add_str(o, "kind", tg_result_kind(r));
            tg_doc_add_str(o, "dimension", tg_sv_of(tg_unit_dimension(r->unit_id)));
            tg_doc_add_num(o, "delta", r->delta);
            tg_json_cause(o, r);
        }
    }
    tg_doc_write(root, TG_DOC_INDENTED, out);
}
