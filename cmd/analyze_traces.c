/* The analyses of core/analysis over traces that are loaded once: from files to printed tables. */
#include <inttypes.h>
#include <stdlib.h>

#include "cmd/analyze.h"
#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "cmd/overlay.h"
#include "core/analysis/analysis.h"
#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/hta/hta.h"
#include "reporters/table.h"

/* One file's trace; NULL: not of a wanted rank. */
struct file {
    struct tg_trace *trace;
    struct tg_steps steps;
    int64_t rank;
};
struct loaded {
    const struct tg_analyze_request *q;
    struct file *files;      /* in the order of the command line */
    struct tg_rank_trace *v; /* of those that are analysed, ascending ranks */
    size_t n;
};

/* ---- loading ---- */

static struct tg_trace *load_trace(const struct tg_analyze_request *q, size_t i, struct tg_err *err)
{
    struct tg_load_opts opts = { .keep_hta = q->o->hta,
                                 .keep_python = q->keep_python,
                                 .want_attrs = true,
                                 .want_memory = !q->o->hta };
    TG_BUF bytes = { 0 };
    TG_SOURCE *s = tg_inputs_open(&q->inputs->v[i], q->repo, NULL, &bytes, err);
    tg_reading_opts(&opts.reader, tg_reading_share(i, q->inputs->n));
    struct tg_trace *t = s ? tg_trace_load(s, &opts, q->progress, err) : NULL;
    if (t && q->keep_python && !q->o->hta)
        tg_trace_set_python_apart(t);
    return t;
}

/* Side by side with other files: shares nothing with them. */
static bool read_one(void *arg, size_t i, struct tg_err *err)
{
    const struct loaded *l = arg;
    const struct tg_analyze_request *q = l->q;
    struct file *k = &l->files[i];
    int64_t hta = -1;
    if ((q->o->hta && !tg_rank_by_hta(&hta, &q->inputs->v[i], q->repo, err)) ||
        !(k->trace = load_trace(q, i, err)))
        return false;
    int64_t rank = hta >= 0 ? hta : k->trace->info->rank;
    if (rank < 0 && !q->o->hta)
        rank = tg_file_rank(tg_sv_of(q->inputs->v[i].label));
    k->rank = rank < 0 && (q->o->hta || q->inputs->n == 1) ? 0 : rank;
    if (tg_listed(q->ranks.v, q->ranks.n, k->rank))
        return q->o->hta || tg_steps_build(&k->steps, k->trace, &q->window, err);
    tg_trace_free(k->trace);
    k->trace = NULL;
    return true;
}

static bool refuse_rank(const struct loaded *l, size_t i, size_t k, struct tg_err *err)
{
    const char *one = l->q->inputs->v[i].label, *other = l->q->inputs->v[k].label;
    if (l->files[i].rank < 0)
        return tg_err_usage(err, "neither '%s' nor '%s' names a rank",
                            "Analyse repeats one by one; of ranks, say so with --ranks.", one,
                            other);
    return tg_err_usage(err, "'%s' and '%s' are both rank %" PRId64,
                        "analyze takes the ranks of one run: name each rank once.", one, other,
                        l->files[i].rank);
}

static void drop(struct file *f)
{
    tg_steps_release(&f->steps);
    tg_trace_free(f->trace);
    *f = (struct file){ 0 };
}

/* One file of each rank: of two HTA takes the second. */
static bool tell_ranks_apart(struct loaded *l, struct tg_err *err)
{
    for (size_t i = 0; i < l->q->inputs->n; i++) {
        struct file *f = &l->files[i];
        if (!f->trace)
            continue;
        if (f->rank < 0 && l->q->arrange == TG_ARRANGE_RANKS)
            f->rank = (int64_t)l->n; /* numbered in the order of paths */
        for (size_t k = 0; k < i; k++) {
            if (!l->files[k].trace || l->files[k].rank != f->rank)
                continue;
            if (!l->q->o->hta)
                return refuse_rank(l, k, i, err);
            tg_io_note(l->q->io,
                       "'%s' is rank %" PRId64 " again: as HTA does, it replaces the earlier file",
                       l->q->inputs->v[i].label, f->rank);
            drop(&l->files[k]);
            l->n--;
        }
        l->n++;
    }
    return true;
}

static int by_rank(const void *pa, const void *pb)
{
    const struct tg_rank_trace *a = pa, *b = pb;
    return TG_CMP(a->rank, b->rank);
}

static bool load(struct loaded *l, struct tg_err *err)
{
    size_t n_files = l->q->inputs->n, n = 0;
    l->files = tg_xcalloc(n_files + 1, sizeof *l->files);
    if (!tg_reading_each(n_files, read_one, l, l->q->progress, err) || !tell_ranks_apart(l, err))
        return false;
    if (!l->n)
        return tg_err_usage(err, "none of the traces is of the wanted rank",
                            "Run without --rank to see all of them.");
    l->v = tg_xmalloc(l->n * sizeof *l->v);
    for (size_t i = 0; i < n_files; i++) {
        struct file *f = &l->files[i];
        if (f->trace)
            l->v[n++] =
                (struct tg_rank_trace){ f->rank, f->trace, l->q->o->hta ? NULL : &f->steps };
    }
    TG_SORT(l->v, l->n, by_rank);
    return true;
}

/* ---- options ---- */

/* Rows of the command line come before those of files: it has the last word. */
static bool class_rows(struct tg_classes *out, const struct tg_analyze_opts *m, struct tg_arena *a,
                       struct tg_err *err)
{
    struct tg_class_row *rows = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < m->classes.n; i++) {
        const char *row = m->classes.v[i], *eq = strrchr(row, '=');
        if (!eq)
            continue;
        *TG_ARENA_PUSH(a, rows, n, cap) =
            (struct tg_class_row){ .glob = { row, (size_t)(eq - row) } };
        if (!tg_class_from_name(tg_sv_of(eq + 1), &rows[n - 1].class_))
            return tg_err_usage(err, "--class '%s' is not GLOB=CLASS",
                                "For example --class '*my_allreduce*=comm'; the classes are "
                                "compute, comm, memory, other.",
                                row);
    }
    for (size_t i = 0; i < m->classes.n; i++) {
        TG_BUF text = { 0 };
        struct tg_classes file = { 0 };
        const char *path = m->classes.v[i];
        if (strchr(path, '='))
            continue;
        if (!tg_file_read(&text, path, TG_LIMITS_DEFAULT.max_policy, err) ||
            !tg_classes_parse(&file, tg_buf_sv(&text), path, a, err))
            return false;
        for (size_t k = 0; k < file.n; k++)
            *TG_ARENA_PUSH(a, rows, n, cap) = file.v[k];
    }
    *out = (struct tg_classes){ rows, n };
    return true;
}

static bool make_opts(struct tg_analysis_opts *o, const struct tg_analyze_request *q,
                      struct tg_err *err)
{
    const struct tg_analyze_opts *m = q->o;
    *o = (struct tg_analysis_opts){ .hta = q->o->hta,
                                    .no_rounding = q->o->no_rounding,
                                    .include_last_step = m->include_last_step,
                                    .series = m->series || m->svg_dir,
                                    .steps = q->steps.v,
                                    .n_steps = q->steps.n,
                                    .operator_name = tg_sv_of(m->operator_name),
                                    .min_length = 3,
                                    .top_default = m->top == TG_OPT_UNSET };
    if (m->min_length != TG_OPT_UNSET && m->min_length < 0)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--min-length is negative");
    if (m->min_length != TG_OPT_UNSET)
        o->min_length = (size_t)m->min_length;
    if (!o->top_default)
        o->top = (size_t)m->top;
    return class_rows(&o->classes, m, q->arena, err);
}

/* ---- printing ---- */

#define TEXT_ROWS 60 /* of one table for people; files have them all */

static bool put_charts(const struct tg_tables *f, const char *dir, const struct tg_io *io,
                       struct tg_arena *a, struct tg_err *err)
{
    TG_BUF svg = { 0 };
    bool ok = true;
    for (const struct tg_tablechart *g = tg_tablecharts; ok && g->frame; g++) {
        const struct tg_table *frame = tg_tables_find(f, g->frame);
        if (!frame)
            continue;
        tg_buf_clear(&svg);
        if (tg_tablechart_svg(&svg, frame))
            ok = tg_file_write(tg_arena_printf(a, "%s/%s.svg", dir, g->file), tg_buf_sv(&svg), err);
        else
            tg_io_note(io, "nothing to draw for %s", g->file);
    }
    return ok;
}

bool tg_analyze_traces(struct tg_buf *out, const struct tg_analyze_request *q, struct tg_err *err)
{
    const struct tg_analyze_opts *m = q->o;
    struct tg_analysis_opts opts;
    struct tg_analysis_in in = { 0 };
    struct tg_tables tables;
    struct loaded l = { .q = q };
    bool ok = make_opts(&opts, q, err) && load(&l, err);
    tg_tables_init(&tables);
    if (ok) {
        if (opts.hta) {
            in = (struct tg_analysis_in){ .ranks = l.v, .n = l.n, .opts = &opts };
            struct tg_hta *hta = tg_hta_prepare(l.v, l.n, &opts);
            for (size_t i = 0; i < m->analyses.n; i++)
                tg_hta_find(tg_sv_of(m->analyses.v[i]))->run(hta, &tables);
            tg_hta_free(hta);
        } else {
            tg_analysis_init(&in, l.v, l.n, &opts);
            for (size_t i = 0; i < m->analyses.n; i++)
                tg_analyzer_find(tg_sv_of(m->analyses.v[i]))->run(&in, &tables);
        }
        ok = !m->svg_dir || put_charts(&tables, m->svg_dir, q->io, q->arena, err);
        if (ok && m->overlay && q->inputs->n != 1)
            ok = tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--overlay takes one trace");
        ok = ok && (!m->overlay || tg_overlay_write(m->overlay, &q->inputs->v[0], &in, q, err));
        if (!m->series) {
            /* The series that only the charts wanted are not printed. */
            size_t kept = 0;
            for (size_t k = 0; k < tables.n; k++) {
                if (tg_sv_ends(tg_sv_of(tables.v[k].name), TG_SV("-series")))
                    tg_table_release(&tables.v[k]);
                else
                    tables.v[kept++] = tables.v[k];
            }
            tables.n = kept;
        }
        /* Several tables in one stream are told apart by a line "# NAME" and an empty line
         * between. */
        if (q->o->format == TG_FORMAT_JSON) {
            tg_tables_as_json(out, &tables, "tracegate-analyze-v1");
        } else {
            for (size_t j = 0; j < tables.n; j++) {
                if (tables.n > 1)
                    tg_buf_printf(out, "%s# %s\n", j ? "\n" : "", tables.v[j].name);
                if (q->o->format == TG_FORMAT_CSV)
                    tg_table_as_csv(out, &tables.v[j]);
                else
                    tg_table_as_text(out, &tables.v[j], q->io->columns, TEXT_ROWS);
            }
        }
        tg_analysis_release(&in);
    }
    tg_tables_release(&tables);
    for (size_t i = 0; l.files && i < q->inputs->n; i++)
        drop(&l.files[i]);
    free(l.v);
    free(l.files);
    return ok;
}
