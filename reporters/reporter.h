#ifndef TG_REPORTERS_REPORTER_H
#define TG_REPORTERS_REPORTER_H
/*
 * A reporter is a pure function from verdict to bytes: no file access, no clock, no locale. Kernel
 * names, paths and refs are hostile text: see reporters/escape.h. One row a reporter in
 * tg_reporters.
 */
#include "policy/verdict/verdict.h"

struct tg_render {
    int columns;      /* width for text; 0: 100 */
    bool color;       /* ANSI colours (terminal only) */
    bool strict;      /* JUnit without file and line, for the strict schemas */
    size_t top;       /* rows shown; 0: 10 */
    size_t junit_max; /* test cases; 0: 500 */
    size_t budget;    /* Markdown bytes; 0: 65,000 */
    bool exit_zero;   /* say "verdict FAIL (exit 0 by --exit-zero)" */
    bool keep_steps;  /* SVG: leave ProfilerStep in */
    tg_sv report_url; /* where the full report is; "" none */
    tg_sv key;        /* marker of the sticky comment; "" the suite's name */
};
struct tg_reporter {
    const char *name, *option, *extension, *summary;
    bool (*write)(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r,
                  struct tg_err *err);
};
extern const struct tg_reporter *const tg_reporters[]; /* NULL-terminated */
extern const struct tg_reporter tg_reporter_text, tg_reporter_json, tg_reporter_junit,
    tg_reporter_markdown, tg_reporter_svg_counts, tg_reporter_svg_durations, tg_reporter_csv,
    tg_reporter_annotations;

/* The comparison without a policy, for `diff`: table rows chosen and ordered by the command. */
struct tg_difftable {
    const struct tg_comparison *comparison;
    const uint32_t *rows; /* indices into comparison->ops */
    size_t n_rows;
    bool whole; /* undivided sums instead of per step */
    bool short_names;
    tg_sv label[2];
};
void tg_difftable_text(struct tg_buf *out, const struct tg_difftable *t, const struct tg_render *r);
void tg_difftable_csv(struct tg_buf *out, const struct tg_difftable *t);
void tg_difftable_json(struct tg_buf *out, const struct tg_difftable *t);
void tg_difftable_svg(struct tg_buf *out, const struct tg_difftable *t, bool durations,
                      const struct tg_render *r);
#endif
