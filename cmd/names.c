/* `tracegate names`: what the names of a trace are for a person and for the gate. */
#include <stdlib.h>

#include "cmd/analyze.h"
#include "cmd/gate/reading.h"
#include "core/base/threads.h"
#include "core/diff/names.h"
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

static tg_sv kept(struct tg_arena *a, struct tg_buf *text)
{
    return tg_arena_sv(a, tg_buf_sv(text));
}

static void add_name(struct tg_table *t, struct tg_arena *arena, const struct tg_name *name,
                     uint64_t count, const struct names_opts *o)
{
    TG_BUF text = { 0 };
    struct tg_table_cell *row;
    if (!count || (name->kind == TG_KIND_PYTHON && !o->python))
        return;
    tg_name_normalise(name->kind, name->name, &text);
    if (!o->changed || !tg_sv_eq(tg_buf_sv(&text), name->name)) {
        row = tg_table_row(t);
        row[COL_KIND] = tg_table_text(tg_sv_of(tg_kind_name(name->kind)));
        row[COL_NORMALISED] = tg_table_text(kept(arena, &text));
        tg_buf_clear(&text);
        tg_name_short(name->name, &text);
        row[COL_SHORT] = tg_table_text(kept(arena, &text));
        row[COL_COUNTS] = tg_table_int((int64_t)count);
        row[COL_RAW] = tg_table_text(tg_arena_sv(arena, name->name));
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

struct reading {
    const struct names_opts *o;
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct tg_table *table; /* in turn */
    struct tg_arena *arena;
    struct tg_turns turns;
};

static void skip_turn(struct reading *r, size_t i)
{
    tg_turns_wait(&r->turns, i);
    tg_turns_pass(&r->turns);
}

static void add_shard(struct reading *r, const struct tg_shard *shard)
{
    for (size_t k = 0; k < shard->n_rows; k++) {
        const struct tg_row *row = &shard->rows[k];
        struct tg_name name = { .name = row->key->name,
                                .cat = row->key->cat,
                                .kind = row->key->kind };
        uint64_t count = 0;
        for (size_t j = 0; j <= shard->n_steps; j++)
            count += row->count[j];
        add_name(r->table, r->arena, &name, count, r->o);
    }
}

/* A summary has the raw names too. */
static bool read_summary(struct reading *r, size_t i, struct tg_source *s, struct tg_err *err)
{
    struct tg_summarize_opts so = { .rank = -1, .load = { .reader = { .want_args = true } } };
    TG_AUTO(tg_summary_release) struct tg_summary summary;
    tg_summary_init(&summary);
    bool ok = tg_summary_add(&summary, s, &so, NULL, err);
    tg_turns_wait(&r->turns, i);
    for (size_t k = 0; ok && k < summary.n; k++)
        add_shard(r, summary.shards[k]);
    tg_turns_pass(&r->turns);
    return ok;
}

/* Without categories the names alone do not say what they are: traces of XLA, which its lines
 * tell. */
static bool has_categories(const struct tg_totals *t)
{
    bool any = t->names->n == 0;
    for (size_t k = 0; k < t->names->n; k++)
        any |= t->names->v[k].cat.n > 0;
    return any;
}

static bool read_again(struct reading *r, size_t i, struct tg_err *err)
{
    TG_BUF bytes = { 0 };
    TG_SOURCE *s = tg_inputs_open(&r->inputs->v[i], r->repo, NULL, &bytes, err);
    bool ok = s && read_summary(r, i, s, err);
    if (!s)
        skip_turn(r, i);
    return ok;
}

static bool read_trace(struct reading *r, size_t i, struct tg_source *s, struct tg_err *err)
{
    struct tg_reader_opts opts = { 0 };
    struct tg_totals t;
    tg_reading_opts(&opts, tg_reading_share(i, r->inputs->n));
    bool ok = tg_totals_read(&t, s, &opts, err);
    if (ok && !has_categories(&t)) {
        tg_totals_release(&t);
        return read_again(r, i, err);
    }
    tg_turns_wait(&r->turns, i);
    for (size_t k = 0; ok && k < t.names->n; k++)
        add_name(r->table, r->arena, &t.names->v[k], t.v[k].count, r->o);
    tg_turns_pass(&r->turns);
    if (ok)
        tg_totals_release(&t);
    return ok;
}

static bool read_file(void *arg, size_t i, struct tg_err *err)
{
    struct reading *r = arg;
    TG_BUF bytes = { 0 };
    TG_SOURCE *s = tg_inputs_open(&r->inputs->v[i], r->repo, NULL, &bytes, err);
    tg_sv head;
    bool ok = s && tg_source_peek(s, &head, err);
    if (ok)
        ok = tg_summary_looks_like(head) ? read_summary(r, i, s, err) : read_trace(r, i, s, err);
    else
        skip_turn(r, i);
    return ok;
}

static bool read_files(struct tg_table *t, const struct tg_input_list *inputs,
                       const struct tg_cmd_call *c, struct tg_err *err)
{
    struct reading r = {
        .o = c->opts, .inputs = inputs, .repo = c->repo, .table = t, .arena = c->arena
    };
    tg_turns_init(&r.turns);
    bool ok = tg_reading_each(inputs->n, read_file, &r, NULL, err);
    tg_turns_release(&r.turns);
    return ok;
}

/* Rows of several files, sorted: equal names next to each other become one. */
static void join_rows(struct tg_table *t)
{
    size_t kept_rows = 0;
    if (t->n_rows)
        qsort(t->cells, t->n_rows, COLUMNS * sizeof *t->cells, by_name);
    for (size_t i = 0; i < t->n_rows; i++) {
        struct tg_table_cell *row = t->cells + i * COLUMNS;
        struct tg_table_cell *last = kept_rows ? t->cells + (kept_rows - 1) * COLUMNS : NULL;
        if (last && by_name(row, last) == 0)
            last[COL_COUNTS].is.i += row[COL_COUNTS].is.i;
        else
            memmove(t->cells + kept_rows++ * COLUMNS, row, COLUMNS * sizeof *row);
    }
    t->n_rows = kept_rows;
}

/* Names to copy into a policy: whole, and last in the line; as recorded where normalising changes
 * them. */
static void put_text(const struct tg_table *t, struct tg_arena *a, struct tg_buf *out)
{
    static const struct tg_table_column heads[] = { { "kind", TG_TABLE_TEXT },
                                                    { "counts", TG_TABLE_INT },
                                                    { "normalised <- recorded", TG_TABLE_TEXT } };
    TG_AUTO(tg_table_release) struct tg_table text;
    tg_table_init(&text, t->name, heads, 3);
    for (size_t r = 0; r < t->n_rows; r++) {
        const struct tg_table_cell *from = tg_table_at(t, r, 0);
        struct tg_table_cell *to = tg_table_row(&text);
        tg_sv name = from[COL_NORMALISED].is.text, raw = from[COL_RAW].is.text;
        to[0] = from[COL_KIND];
        to[1] = from[COL_COUNTS];
        to[2] = tg_table_text(
            tg_sv_eq(name, raw) ? name
                                : TG_SV_PRINTF(a, "%.*s <- %.*s", TG_SV_ARG(name), TG_SV_ARG(raw)));
    }
    tg_table_as_text(out, &text, TG_TABLE_WHOLE, 0);
}

static int names_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct names_opts *o = c->opts;
    struct tg_input_list inputs = { 0 };
    struct tg_table t;
    TG_BUF out = { 0 };
    if (c->args->n == 0) {
        (void)tg_err_usage(err, "names needs a trace",
                           "For example: tracegate names trace.json.gz.");
        return 2;
    }
    tg_table_init(&t, "names", columns, COLUMNS);
    bool ok = tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err) &&
              read_files(&t, &inputs, c, err);
    join_rows(&t);
    if (ok && o->format == TG_FORMAT_CSV)
        tg_table_as_csv(&out, &t);
    else if (ok && o->format == TG_FORMAT_JSON)
        tg_table_as_json(&out, &t, "tracegate-names-v1");
    else if (ok)
        put_text(&t, c->arena, &out);
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
