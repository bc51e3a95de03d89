/* `tracegate names`: what the names of a trace are for a person and for the gate. */
#include "core/diff/names.h"
#include "cmd/analyze.h"
#include "core/base/sort.h"
#include "reporters/table.h"

struct names_opts {
    enum tg_format format;
    bool changed, python;
};
#define AT(kind, member) TG_OPT_##kind, offsetof(struct names_opts, member)
static const struct tg_opt names_options[] = {
    { "format", AT(FORMAT, format), "text|csv|json", "form of the table; text is the default" },
    { "changed", AT(FLAG, changed), NULL, "only names that normalising changes" },
    { "python", AT(FLAG, python), NULL, "with Python functions" },
    { 0 },
};

enum { COL_KIND, COL_NORMALISED, COL_SHORT, COL_COUNTS, COL_RAW, COLUMNS };
static const struct tg_table_column columns[COLUMNS] = { { "kind", TG_TABLE_TEXT },
                                                         { "normalised", TG_TABLE_TEXT },
                                                         { "short_name", TG_TABLE_MACHINE_TEXT },
                                                         { "counts", TG_TABLE_INT },
                                                         { "name", TG_TABLE_TEXT } };

/* One row of each name that is wanted. */
static void add_names(struct tg_table *t, struct tg_arena *a, const struct tg_name_sums *s,
                      const struct names_opts *o)
{
    TG_BUF text = { 0 };
    for (size_t i = 0; i < s->keys.n; i++) {
        tg_sv name = s->names.text[s->v[i].key.name];
        enum tg_kind kind = (enum tg_kind)s->v[i].key.kind;
        if (kind == TG_KIND_PYTHON && !o->python)
            continue;
        tg_buf_clear(&text);
        tg_name_normalise(kind, name, &text);
        if (o->changed && tg_sv_eq(tg_buf_sv(&text), name))
            continue;
        struct tg_table_cell *row = tg_table_row(t);
        row[COL_KIND] = tg_table_text(tg_sv_of(tg_kind_name(kind)));
        row[COL_NORMALISED] = tg_table_text(tg_arena_sv(a, tg_buf_sv(&text)));
        tg_buf_clear(&text);
        tg_name_short(name, &text);
        row[COL_SHORT] = tg_table_text(tg_arena_sv(a, tg_buf_sv(&text)));
        row[COL_COUNTS] = tg_table_int((int64_t)s->v[i].count);
        row[COL_RAW] = tg_table_text(tg_arena_sv(a, name));
    }
}

static int by_name(const void *pa, const void *pb)
{
    static const int order[] = { COL_KIND, COL_NORMALISED, COL_RAW };
    const struct tg_table_cell *a = pa, *b = pb;
    for (size_t i = 0; i < 3; i++) {
        int c = tg_sv_cmp(a[order[i]].is.text, b[order[i]].is.text);
        if (c)
            return c;
    }
    return 0;
}

static int names_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct names_opts *o = c->opts;
    struct tg_input_list inputs = { 0 };
    const struct tg_analyze_request q = { .inputs = &inputs, .repo = c->repo, .arena = c->arena };
    TG_AUTO(tg_name_sums_release) struct tg_name_sums sums = { .by_kind = true };
    struct tg_table t;
    TG_BUF out = { 0 };
    if (c->args->n == 0) {
        (void)tg_err_usage(err, "names needs a trace",
                           "For example: tracegate names trace.json.gz.");
        return 2;
    }
    tg_table_init(&t, "names", columns, COLUMNS);
    bool ok = tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err) &&
              tg_name_sums_read(&sums, &q, err);
    if (ok)
        add_names(&t, c->arena, &sums, o);
    /* Sorted; names of several categories that are one kind become one row. */
    size_t kept_rows = 0;
    tg_sort(t.cells, t.n_rows, COLUMNS * sizeof *t.cells, by_name);
    for (size_t i = 0; i < t.n_rows; i++) {
        struct tg_table_cell *row = t.cells + i * COLUMNS;
        struct tg_table_cell *last = kept_rows ? t.cells + (kept_rows - 1) * COLUMNS : NULL;
        if (last && by_name(row, last) == 0)
            last[COL_COUNTS].is.i += row[COL_COUNTS].is.i;
        else
            memmove(t.cells + kept_rows++ * COLUMNS, row, COLUMNS * sizeof *row);
    }
    t.n_rows = kept_rows;
    if (ok && o->format == TG_FORMAT_CSV)
        tg_table_as_csv(&out, &t);
    else if (ok && o->format == TG_FORMAT_JSON)
        tg_table_as_json(&out, &t, "tracegate-names-v1");
    else if (ok) {
        /* Names to copy into a policy: whole, and last in the line; as recorded where
         * normalising changes them. */
        static const struct tg_table_column heads[] = { { "kind", TG_TABLE_TEXT },
                                                        { "counts", TG_TABLE_INT },
                                                        { "normalised <- recorded",
                                                          TG_TABLE_TEXT } };
        TG_AUTO(tg_table_release) struct tg_table text;
        tg_table_init(&text, t.name, heads, 3);
        for (size_t r = 0; r < t.n_rows; r++) {
            const struct tg_table_cell *from = tg_table_at(&t, r, 0);
            struct tg_table_cell *to = tg_table_row(&text);
            tg_sv name = from[COL_NORMALISED].is.text, raw = from[COL_RAW].is.text;
            to[0] = from[COL_KIND];
            to[1] = from[COL_COUNTS];
            to[2] =
                tg_table_text(tg_sv_eq(name, raw) ? name
                                                  : TG_SV_PRINTF(c->arena, "%.*s <- %.*s",
                                                                 TG_SV_ARG(name), TG_SV_ARG(raw)));
        }
        tg_table_as_text(&out, &text, TG_TABLE_WHOLE, 0);
    }
    ok = ok && tg_io_put(c->io, tg_buf_sv(&out), err);
    tg_table_release(&t);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_names = {
    .name = "names",
    .summary = "the names of a trace, raw and as the gate compares them",
    .synopsis = "TRACE... [options]",
    .about = "The gate compares normalised names: without graph hashes, addresses, line numbers, "
             "Inductor's numbers and numbers of lambdas. Policies match normalised names too. "
             "TRACE may be a summary, or REV (the baseline stored for that commit).",
    .options = names_options,
    .opts_size = sizeof(struct names_opts),
    .run = names_run,
};
