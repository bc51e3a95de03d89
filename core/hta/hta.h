#ifndef TG_HTA_HTA_H
#define TG_HTA_HTA_H
/*
 * HTA's own view of traces, for `--hta`: its rows, its rounding, its links, its filter, its
 * classes, quirks included (each is marked). Never used for a verdict. Times are doubles in us,
 * relative to the first row of all ranks. Nothing of ours depends on this room:
 * `analyze` looks an analysis up in tg_hta_analyses when --hta is given.
 */
#include "core/analysis/analysis.h"
#include "core/base/keymap.h"
#include "core/base/sort.h"

struct tg_hta_row {
    double ts, dur;
    int64_t stream, correlation;
    int64_t link;   /* index of the partner; -1: no correlation; 0: unknown (or event 0) */
    uint32_t index; /* position in traceEvents */
    uint32_t name;
    uint32_t span;
    enum tg_class class_; /* by HTA's own rules */
};

/* The i-th row of the trace, unlinked and without its class; `rounded`: to whole us. */
struct tg_hta_row tg_hta_row_at(const struct tg_trace *t, size_t i, bool rounded);
bool tg_hta_rounds(const struct tg_trace *t, bool no_rounding);

/* correlation -> the last row of the file on either side. Begins as { .ids.words = 1 }; feed every
 * row, in file order. */
struct tg_hta_partner {
    int64_t host, device; /* spans; -1: none */
    size_t host_rows;     /* that pass the filter */
};
struct tg_hta_partners {
    struct tg_keymap ids;
    struct tg_hta_partner *v; /* by id */
    size_t cap;
};
void tg_hta_partners_release(struct tg_hta_partners *p);
void tg_hta_partners_add(struct tg_hta_partners *p, const struct tg_trace *t,
                         const struct tg_hta_row *row);
/* The span of the row's partner on the other side; -1: none. */
int64_t tg_hta_partner_of(const struct tg_hta_partners *p, const struct tg_trace *t,
                          const struct tg_hta_row *row);

struct tg_hta_rows {
    int64_t rank;
    const struct tg_trace *trace;
    struct tg_hta_row *v; /* after the filter: device rows, then host rows, each in file order */
    size_t n;
    uint32_t *row_of; /* per index of traceEvents: its place in `v`, or TG_NO_ID */
    size_t n_row_of;
};

struct tg_hta {
    struct tg_hta_rows *ranks;
    size_t n;
    const struct tg_analysis_opts *opts; /* the caller's */
};

struct tg_hta *tg_hta_prepare(const struct tg_rank_trace *ranks, size_t n,
                              const struct tg_analysis_opts *opts);
void tg_hta_free(struct tg_hta *h); /* accepts NULL */

/* The analyses that HTA has, by the names of tg_analyzers: X(ID, name), tg_hta_ID makes its
 * tables. */
#define TG_HTA_ANALYSES(X)                                                                         \
    X(temporal, "temporal")                                                                        \
    X(idle, "idle")                                                                                \
    X(kernel_types, "kernel-types")                                                                \
    X(kernels, "kernels")                                                                          \
    X(overlap, "overlap")                                                                          \
    X(bandwidth, "bandwidth")                                                                      \
    X(queue, "queue")                                                                              \
    X(launches, "launches")                                                                        \
    X(sequences, "sequences")
typedef void tg_hta_run(const struct tg_hta *in, struct tg_tables *out);
#define TG_HTA_DECLARATION(id, name) tg_hta_run tg_hta_##id;
TG_HTA_ANALYSES(TG_HTA_DECLARATION)
struct tg_hta_analysis {
    const char *name;
    tg_hta_run *run;
};
const struct tg_hta_analysis *tg_hta_find(tg_sv name); /* NULL: HTA does not have it */

/* Has `name` a relation to any of these texts, which end with NULL: tg_sv_eq, _starts or _has? */
bool tg_hta_is_one_of(tg_sv name, bool (*is)(tg_sv name, tg_sv text), const char *const *texts);

/* "Device" in the split that linking and filtering use; the analyses check for stream != -1. */
bool tg_hta_as_device(const struct tg_trace *t, const struct tg_hta_row *row);

/* The linked row; NULL: not linked. Link 0 finds event 0, whatever that is (an accident of HTA). */
static inline const struct tg_hta_row *tg_hta_linked(const struct tg_hta_rows *r,
                                                     const struct tg_hta_row *row)
{
    if (row->link < 0 || (uint64_t)row->link >= r->n_row_of || r->row_of[row->link] == TG_NO_ID)
        return NULL;
    return &r->v[r->row_of[row->link]];
}

/* Rows on a stream, by start; rows with equal starts keep their order. The caller frees. */
const struct tg_hta_row **tg_hta_device_rows(const struct tg_hta_rows *r, size_t *n);
#endif
