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

/* correlation -> the last row of the file on either side. Feed every row, in file order. */
struct tg_hta_partner {
    int64_t host, device; /* spans; -1: none */
    size_t host_rows;     /* that pass the filter */
};
struct tg_hta_partners {
    struct tg_keymap ids;
    struct tg_hta_partner *v; /* by id */
    size_t cap;
};
void tg_hta_partners_init(struct tg_hta_partners *p);
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

/* The analyses that HTA has, by the names of tg_analyzers; ends with a NULL name. */
struct tg_hta_analysis {
    const char *name;
    void (*run)(const struct tg_hta *in, struct tg_tables *out);
};
extern const struct tg_hta_analysis tg_hta_analyses[];
const struct tg_hta_analysis *tg_hta_find(tg_sv name); /* NULL: HTA does not have it */

void tg_hta_temporal(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_overlap(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_idle(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_kernel_types(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_kernels(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_bandwidth(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_queue(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_launches(const struct tg_hta *in, struct tg_tables *out);
void tg_hta_sequences(const struct tg_hta *in, struct tg_tables *out);

/* Has `name` a relation to any of these texts, which end with NULL: tg_sv_eq, _starts or _has? */
bool tg_hta_is_one_of(tg_sv name, bool (*is)(tg_sv name, tg_sv text), const char *const *texts);

/* "Device" in the split that linking and filtering use; the analyses check for stream != -1. */
bool tg_hta_links_as_device(tg_sv name, int64_t stream, int64_t correlation);

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

/* Merged groups of rows in start order: a row begins a new group if it starts after all earlier
 * ends. With rounded, negative durations a group may end before it starts, as in HTA. */
struct tg_hta_groups {
    struct tg_hta_group {
        double start, end;
    } * v;
    size_t n, cap;
};
void tg_hta_merge(struct tg_hta_groups *g, const struct tg_hta_row *const *rows, size_t n,
                  int class_ /* or -1: all */);
void tg_hta_groups_release(struct tg_hta_groups *g);
double tg_hta_groups_length(const struct tg_hta_groups *g);

/* What is counted for each stream, or for each kind of copy, changes. */
struct tg_hta_change {
    tg_sv kind; /* empty: by stream */
    int64_t stream;
    double at, by;
    size_t order; /* set by tg_hta_put_series */
};
enum tg_hta_states { TG_HTA_ALL_STATES, TG_HTA_POSITIVE_STATES };
/*
 * Adds them up by key. Statistics are over the change points, not over time: a row (rank, key,
 * statistics) of tables[0] for each key; with `series` also each point, a row (rank, ts, key,
 * value) of tables[1]. At equal times changes keep their order; HTA's is that of an unstable sort.
 */
void tg_hta_put_series(struct tg_table *tables, bool series, int64_t rank, struct tg_hta_change *v,
                       size_t n, enum tg_hta_states states);
#endif
