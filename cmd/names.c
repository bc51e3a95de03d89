/* `tracegate names`: what the names of a trace are for a person and for the gate. */
#include <stddef.h>
#include <stdlib.h>

#include "cmd/analyze.h"
#include "cmd/gate/reading.h"
#include "core/base/threads.h"
#include "core/diff/names.h"

struct names_opts {
    const char *format;
    bool changed, python;
};
static const struct tg_opt names_options[] = {
    { "format", TG_OPT_STR, offsetof(struct names_opts, format), "text|csv|json",
      "form of the table; text is the default" },
    { "changed", TG_OPT_FLAG, offsetof(struct names_opts, changed), NULL,
      "only names that normalising changes" },
    { "python", TG_OPT_FLAG, offsetof(struct names_opts, python), NULL,
      "Python functions too; the gate never judges them" },
    { 0 },
};

enum { COL_KIND, COL_NORMALISED, COL_SHORT, COL_COUNTS, COL_RAW, COLUMNS };
static const struct tg_column columns[COLUMNS] = { { "kind", TG_CELL_TEXT, false },
                                                   { "normalised", TG_CELL_TEXT, false },
                                                   { "short_name", TG_CELL_TEXT, true },
                                                   { "counts", TG_CELL_INT, false },
                                                   { "name", TG_CELL_TEXT, false } };

static tg_sv kept(struct tg_arena *a, struct tg_buf *text)
{
    return tg_arena_sv(a, tg_buf_sv(text));
}

static void add_name(struct tg_sheet *g, const struct tg_name *name, uint64_t count,
                     const struct names_opts *o)
{
    struct tg_buf text = { 0 };
    struct tg_sheet_cell *row;
    if (!count || (name->kind == TG_KIND_PYTHON && !o->python))
        return;
    tg_name_normalise(name->kind, name->name, &text);
    if (!o->changed || !tg_sv_eq(tg_buf_sv(&text), name->name)) {
        row = tg_sheet_row(g);
        tg_cell_text(&row[COL_KIND], tg_sv_of(tg_kind_name(name->kind)));
        tg_cell_text(&row[COL_NORMALISED], kept(g->arena, &text));
        tg_buf_clear(&text);
        tg_name_short(name->name, &text);
        tg_cell_text(&row[COL_SHORT], kept(g->arena, &text));
        tg_cell_int(&row[COL_COUNTS], (int64_t)count);
        tg_cell_text(&row[COL_RAW], tg_arena_sv(g->arena, name->name));
    }
    tg_buf_release(&text);
}

static int by_name(const void *pa, const void *pb)
{
    static const int order[] = { COL_KIND, COL_NORMALISED, COL_RAW };
    const struct tg_sheet_cell *a = pa, *b = pb;
    for (size_t i = 0; i < 3; i++) {
        int c = tg_sv_cmp(a[order[i]].text, b[order[i]].text);
        if (c)
            return c;
    }
    return 0;
}

struct reading {
    const struct names_opts *o;
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct tg_sheet *sheet; /* in turn */
    struct tg_turns turns;
};

static bool read_file(void *arg, size_t i, struct tg_err *err)
{
    struct reading *r = arg;
    struct tg_buf bytes = { 0 };
    struct tg_reader_opts opts = { 0 };
    struct tg_totals t;
    struct tg_source *s = tg_inputs_open(&r->inputs->v[i], r->repo, NULL, &bytes, err);
    bool ok;
    tg_reading_opts(&opts, tg_reading_share(i, r->inputs->n));
    ok = s && tg_totals_read(&t, s, &opts, err);
    tg_turns_wait(&r->turns, i);
    for (size_t k = 0; ok && k < t.names->n; k++)
        add_name(r->sheet, &t.names->v[k], t.v[k].count, r->o);
    tg_turns_pass(&r->turns);
    if (ok)
        tg_totals_release(&t);
    tg_source_close(s);
    tg_buf_release(&bytes);
    return ok;
}

static bool read_files(struct tg_sheet *g, const struct tg_input_list *inputs, struct tg_repo *repo,
                       const struct names_opts *o, struct tg_err *err)
{
    struct reading r = { .o = o, .inputs = inputs, .repo = repo, .sheet = g };
    bool ok;
    tg_turns_init(&r.turns);
    ok = tg_reading_each(inputs->n, read_file, &r, NULL, err);
    tg_turns_release(&r.turns);
    return ok;
}

/* Rows of several files, sorted: equal names next to each other become one. */
static void join_rows(struct tg_sheet *g)
{
    size_t kept_rows = 0;
    if (g->n_rows)
        qsort(g->cells, g->n_rows, COLUMNS * sizeof *g->cells, by_name);
    for (size_t i = 0; i < g->n_rows; i++) {
        struct tg_sheet_cell *row = g->cells + i * COLUMNS;
        struct tg_sheet_cell *last = kept_rows ? g->cells + (kept_rows - 1) * COLUMNS : NULL;
        if (last && by_name(row, last) == 0)
            last[COL_COUNTS].i += row[COL_COUNTS].i;
        else
            memmove(g->cells + kept_rows++ * COLUMNS, row, COLUMNS * sizeof *row);
    }
    g->n_rows = kept_rows;
}

static bool names(const struct names_opts *o, const struct tg_strs *args, const struct tg_io *io,
                  struct tg_arena *a, struct tg_err *err)
{
    struct tg_input_list inputs = { 0 };
    struct tg_repo repo = { 0 };
    struct tg_sheet g;
    struct tg_buf out = { 0 };
    bool ok = true;
    tg_sheet_init(&g, columns, COLUMNS, a);
    for (size_t i = 0; ok && i < args->n; i++)
        ok = tg_inputs_add(&inputs, args->v[i], NULL, &repo, a, err);
    ok = ok && read_files(&g, &inputs, &repo, o, err);
    join_rows(&g);
    if (ok && o->format && o->format[0] == 'c')
        tg_sheet_csv(&g, &out);
    else if (ok && o->format && o->format[0] == 'j')
        tg_sheet_json(&g, "tracegate-names-v1", "names", &out);
    else if (ok)
        tg_sheet_text(&g, io->columns, &out);
    ok = ok && tg_io_put(io, tg_buf_sv(&out), err);
    tg_buf_release(&out);
    tg_sheet_release(&g);
    tg_repo_release(&repo);
    return ok;
}

static int names_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                     struct tg_err *err)
{
    struct tg_arena *a;
    bool ok;
    if (args->n == 0) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "names needs a trace");
        (void)tg_err_hint(err, "For example: tracegate names trace.json.gz.");
        return 2;
    }
    a = tg_arena_new();
    ok = names(opts, args, io, a, err);
    tg_arena_free(a);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_names = {
    .name = "names",
    .summary = "raw names of a trace and what the gate makes of them",
    .synopsis = "TRACE... [options]",
    .about = "The gate compares normalised names: without graph hashes, addresses, line numbers, "
             "Inductor's numbers and numbers of lambdas. Policies match them too.",
    .options = names_options,
    .opts_size = sizeof(struct names_opts),
    .run = names_run,
};
