/* The two charts of a verdict and of `diff`: HTA's visualize_counts_diff and _duration_diff. */

#include "core/base/arena.h"
#include "core/base/utf8.h"
#include "reporters/chart.h"
#include "reporters/reporter.h"

static tg_sv side_of(tg_sv commit, tg_sv path)
{
    return commit.n ? tg_utf8_prefix(commit, 12) : path;
}

static void write_chart(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r,
                        bool durations)
{
    TG_BUF sub = { 0 };
    size_t n_notes;
    /* What was not judged, and the condition of the traces; the caller frees it. */
    size_t *n = &n_notes;
    tg_sv *notes = tg_xrealloc(NULL, v->n_notes + 2, sizeof *notes);
    bool judged = durations ? v->durations_judged : v->counts_judged;
    *n = 0;
    if (v->comparison && !judged && v->coverage.n)
        notes[(*n)++] = v->coverage;
    for (size_t i = 0; i < v->n_notes; i++)
        if (v->notes[i].damage)
            notes[(*n)++] = v->notes[i].text;
    struct tg_chart chart = { .comparison = v->comparison,
                              .v = v,
                              .notes = notes,
                              .n_notes = n_notes,
                              .basis = TG_BASIS_JUDGED,
                              .durations = durations,
                              .render = r,
                              .title = durations ? TG_SV("Time per step: what changed most")
                                                 : TG_SV("Calls per step: what changed most") };
    if (v->suite.n)
        tg_buf_printf(&sub, "%.*s \xc2\xb7 ", TG_SV_ARG(v->suite));
    tg_buf_puts(&sub, "baseline ");
    tg_buf_add(&sub, side_of(v->baseline.commit, v->baseline.paths));
    tg_buf_puts(&sub, " \xe2\x86\x92 fresh ");
    tg_buf_add(&sub, side_of(v->test_commit, v->test_paths));
    chart.sub = tg_buf_sv(&sub);
    tg_chart_svg(out, &chart);
}

void tg_reporter_svg_counts(struct tg_buf *out, const struct tg_verdict *v,
                            const struct tg_render *r)
{
    write_chart(out, v, r, false);
}

void tg_reporter_svg_durations(struct tg_buf *out, const struct tg_verdict *v,
                               const struct tg_render *r)
{
    write_chart(out, v, r, true);
}

void tg_difftable_svg(struct tg_buf *out, const struct tg_difftable *t, bool durations,
                      const struct tg_render *r)
{
    TG_BUF sub = { 0 };
    struct tg_chart chart = {
        .comparison = t->comparison,
        .rows = t->rows,
        .n_rows = t->n_rows,
        .basis = t->whole ? TG_BASIS_WHOLE : TG_BASIS_ESTIMATED,
        .durations = durations,
        .render = r,
    };
    if (durations)
        chart.title = t->whole ? TG_SV("Total durations: what changed most")
                               : TG_SV("Total duration per step: what changed most");
    else
        chart.title = t->whole ? TG_SV("Calls: what changed most")
                               : TG_SV("Calls per step: what changed most");
    tg_buf_printf(&sub, "%.*s \xe2\x86\x92 %.*s", TG_SV_ARG(t->label[TG_BASE]),
                  TG_SV_ARG(t->label[TG_TEST]));
    chart.sub = tg_buf_sv(&sub);
    tg_chart_svg(out, &chart);
}
