#ifndef TG_REPORTERS_REPORTER_H
#define TG_REPORTERS_REPORTER_H
/* A reporter is a pure function from verdict to bytes: no file access, no clock, no locale. Kernel
 * names, paths and refs are hostile text: see reporters/escape.h. */
#include "policy/verdict/verdict.h"
#include "reporters/picture.h"

struct tg_render {
    int columns;      /* width for text; 0: 100 */
    bool color;       /* ANSI colours (terminal only) */
    bool strict;      /* JUnit without file and line, for the strict schemas */
    size_t top;       /* rows shown; 0: 10 */
    size_t junit_max; /* test cases; 0: 500 */
    size_t budget;    /* Markdown bytes; 0: 65,000 */
    bool exit_zero;   /* say "verdict FAIL (exit 0 by --exit-zero)" */
    bool keep_steps;  /* SVG: leave ProfilerStep in */
    bool narrow;      /* SVG: 390 px wide */
    bool share;       /* SVG of durations: in percent of the step */
    tg_sv report_url; /* where the full report is; "" none */
    tg_sv repo_url;   /* "https://HOST/OWNER/NAME", for links to commits and lines; "" unknown */
    tg_sv run_url;    /* the CI run; "" none */
    tg_sv command;    /* what repeats the check, in one line of shell; "" not known */
    tg_sv trace_url;  /* the fresh trace on the web, for links into Perfetto; "" none */
    const struct tg_picture *picture; /* what the page draws; NULL: nothing */
    tg_sv key;                        /* marker of the sticky comment; "" the suite's name */
};
/*
 * The list of reports, in the order of help. From a row follow the writer's declaration,
 * tg_reporters[] and its index, and for a FILE the option `check --NAME FILE` with its help, and
 * its place in `check --out DIR`; the GitHub action's outputs are checked against it
 * (tests/lint/reports.py). A new report is a row here and a file that defines tg_reporter_ID.
 *
 * X(ID, name, its file in `check --out DIR`, FILE or PRINT, summary)
 */
#define TG_REPORTERS(X)                                                                            \
    X(text, "text", "report.txt", PRINT, "verdict, findings and what moved most, for terminals")   \
    X(junit, "junit", "junit.xml", FILE, "write JUnit XML")                                        \
    X(markdown, "markdown", "comment.md", FILE, "write the pull request comment")                  \
    X(json, "json", "report.json", FILE, "write everything as JSON")                               \
    X(html, "html", "report.html", FILE,                                                           \
      "write a self-contained page: verdict, findings, charts, all rows")                          \
    X(svg_counts, "svg-counts", "counts.svg", FILE, "draw what changed in counts")                 \
    X(svg_durations, "svg-durations", "durations.svg", FILE, "draw what changed in durations")     \
    X(csv, "csv", "table.csv", FILE, "write the table of all names")                               \
    X(benchmark, "benchmark", "benchmark.json", FILE,                                              \
      "write JSON for github-action-benchmark (customSmallerIsBetter) and Bencher")                \
    X(openmetrics, "openmetrics", "metrics.prom", FILE, "write OpenMetrics text, for GitLab")      \
    X(code_quality, "code-quality", "code-quality.json", FILE, "write GitLab's Code Quality JSON") \
    X(collapsed, "collapsed", "stacks.folded", FILE,                                               \
      "write the fresh call paths as collapsed stacks, for speedscope")                            \
    X(annotations, "annotations", "annotations.txt", PRINT, "GitHub workflow commands, at most ten")

typedef void tg_report_writer(struct tg_buf *out, const struct tg_verdict *v,
                              const struct tg_render *r);
#define TG_REPORTER_DECLARATION(id, name, file, to, summary) tg_report_writer tg_reporter_##id;
TG_REPORTERS(TG_REPORTER_DECLARATION)
#define TG_REPORTER_INDEX(id, name, file, to, summary) TG_REPORT_##id,
enum tg_report { TG_REPORTERS(TG_REPORTER_INDEX) TG_REPORTS };

struct tg_reporter {
    const char *name, *file, *summary; /* of `file` see TG_REPORTERS */
    bool prints;                       /* on standard output alone */
    tg_report_writer *write;
};
extern const struct tg_reporter tg_reporters[TG_REPORTS];

/* The comparison without a policy, for `diff`: table rows chosen and ordered by the command. */
struct tg_difftable {
    const struct tg_comparison *comparison;
    const uint32_t *rows; /* indices into comparison->ops */
    size_t n_rows;
    bool whole; /* undivided sums instead of per step */
    bool short_names;
    tg_sv label[2];
    const struct tg_verdict *causes; /* in JSON: where rows come from; NULL: nobody asked */
};
void tg_difftable_text(struct tg_buf *out, const struct tg_difftable *t, const struct tg_render *r);
void tg_difftable_csv(struct tg_buf *out, const struct tg_difftable *t);
void tg_difftable_json(struct tg_buf *out, const struct tg_difftable *t);
/* The page of `check` without verdict, findings and rules; all rows. */
void tg_difftable_html(struct tg_buf *out, const struct tg_difftable *t, const struct tg_render *r);
void tg_difftable_svg(struct tg_buf *out, const struct tg_difftable *t, bool durations,
                      const struct tg_render *r);
#endif
