#include <math.h>
#include <stdlib.h>

#include "core/hta/hta.h"

bool tg_hta_as_device(const struct tg_trace *t, const struct tg_hta_row *row)
{
    tg_sv name = t->names->v[row->name].name;
    return (row->stream >= 0 && row->correlation >= 0) || tg_sv_eq(name, TG_SV("Event Sync")) ||
           tg_sv_eq(name, TG_SV("Context Sync"));
}

bool tg_hta_is_one_of(tg_sv name, bool (*is)(tg_sv name, tg_sv text), const char *const *texts)
{
    for (; *texts; texts++)
        if (is(name, tg_sv_of(*texts)))
            return true;
    return false;
}

/* By name alone, the first matching row; some rows can never win, as in HTA. */
static enum tg_class class_of(tg_sv name)
{
    static const char *const comm[] = { "nccl", "hip", "hccl", NULL };
    static const char *const memory[] = { "Memcpy", "Memset", "dma", NULL };
    static const char *const other[] = { "runFunction",
                                         "job_exe",
                                         "packet",
                                         "pe_exe",
                                         "cpum_exe_subgraph",
                                         "collective_subgraph_execution",
                                         "Stream Wait Event",
                                         NULL };
    static const char *const inside[] = { "Memcpy", "Memset", "dma", "Sync", NULL };
    if (tg_hta_is_one_of(name, tg_sv_starts, comm) || tg_sv_has(name, TG_SV("ncclKernel")))
        return TG_CLASS_COMM;
    if (tg_hta_is_one_of(name, tg_sv_starts, memory))
        return TG_CLASS_MEMORY;
    if (tg_hta_is_one_of(name, tg_sv_starts, other) || tg_hta_is_one_of(name, tg_sv_has, inside) ||
        (tg_sv_starts(name, TG_SV("cuda")) && tg_sv_has(name, TG_SV("LaunchKernel"))))
        return TG_CLASS_OTHER;
    return TG_CLASS_COMPUTE;
}

/* ---- links ---- */

static struct tg_hta_partner *partner_make(struct tg_hta_partners *p, int64_t correlation)
{
    const uint64_t key = (uint64_t)correlation;
    size_t known = p->ids.n;
    uint32_t id = tg_keymap_add(&p->ids, &key);
    p->v = tg_grow(p->v, &p->cap, p->ids.n, sizeof *p->v);
    if (id == known)
        p->v[id] = (struct tg_hta_partner){ -1, -1, 0 };
    return &p->v[id];
}

static const struct tg_hta_partner *partner_find(const struct tg_hta_partners *p,
                                                 int64_t correlation)
{
    const uint64_t key = (uint64_t)correlation;
    uint32_t id = tg_keymap_find(&p->ids, &key);
    return id == TG_NO_ID ? NULL : &p->v[id];
}

void tg_hta_partners_release(struct tg_hta_partners *p)
{
    tg_keymap_release(&p->ids);
    free(p->v);
}

void tg_hta_partners_add(struct tg_hta_partners *p, const struct tg_trace *t,
                         const struct tg_hta_row *row)
{
    if (row->correlation == -1)
        return;
    struct tg_hta_partner *e = partner_make(p, row->correlation);
    if (tg_hta_as_device(t, row))
        e->device = row->span;
    else
        e->host = row->span;
}

int64_t tg_hta_partner_of(const struct tg_hta_partners *p, const struct tg_trace *t,
                          const struct tg_hta_row *row)
{
    const struct tg_hta_partner *e =
        row->correlation == -1 ? NULL : partner_find(p, row->correlation);
    return !e ? -1 : tg_hta_as_device(t, row) ? e->host : e->device;
}

/* ---- rows ---- */

bool tg_hta_rounds(const struct tg_trace *t, bool no_rounding)
{
    return !no_rounding && (t->info->any_ts_float || t->info->any_ts_missing);
}

struct tg_hta_row tg_hta_row_at(const struct tg_trace *t, size_t i, bool rounded)
{
    const struct tg_span *s = tg_span_at(t, i);
    int64_t correlation = tg_correlation(t, i);
    struct tg_hta_row row = { .ts = t->hta_ts[i],
                              .dur = t->hta_dur[i],
                              .stream = tg_track_hta_stream(&t->tracks[s->track]),
                              .correlation = correlation,
                              .link = correlation < 0 ? correlation : 0,
                              .index = s->index,
                              .name = s->name,
                              .span = (uint32_t)i };
    if (rounded) {
        double end = floor(row.ts + row.dur);
        row.ts = ceil(row.ts);
        row.dur = end - row.ts;
    }
    return row;
}

/* ---- the filter ---- */

static bool is_step_name(tg_sv name)
{
    tg_sv prefix = TG_SV("ProfilerStep#");
    return tg_sv_starts(name, prefix) && name.n > prefix.n && name.p[prefix.n] >= '0' &&
           name.p[prefix.n] <= '9';
}

/* Distinct step names over all ranks. */
static size_t count_step_names(const struct tg_hta *h)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap seen = { 0 };
    for (size_t k = 0; k < h->n; k++)
        for (size_t i = 0; i < h->ranks[k].n; i++) {
            tg_sv name = h->ranks[k].trace->names->v[h->ranks[k].v[i].name].name;
            if (is_step_name(name))
                (void)tg_strmap_add(&seen, name);
        }
    return seen.n;
}

/*
 * Host rows before the last step; then a device row once for every kept host row with its
 * correlation (so unlinked work is dropped, and a repeated correlation repeats it). With the last
 * step included, HTA compares with an end that was not aligned: no host row is dropped.
 */
static void filter(struct tg_hta_rows *r, struct tg_hta_partners *p, bool include_last)
{
    double cut = -INFINITY;
    struct tg_hta_row *kept = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; !include_last && i < r->n; i++)
        if (is_step_name(r->trace->names->v[r->v[i].name].name) &&
            !tg_hta_as_device(r->trace, &r->v[i]) && r->v[i].ts > cut)
            cut = r->v[i].ts;
    if (cut == -INFINITY)
        cut = INFINITY;
    for (size_t i = 0; i < r->n; i++)
        if (!tg_hta_as_device(r->trace, &r->v[i]) && r->v[i].ts < cut && r->v[i].correlation != -1)
            partner_make(p, r->v[i].correlation)->host_rows++;
    for (size_t i = 0; i < r->n; i++) {
        size_t copies = 0;
        if (tg_hta_as_device(r->trace, &r->v[i]) && r->v[i].correlation != -1)
            copies = partner_find(p, r->v[i].correlation)->host_rows;
        for (; copies; copies--)
            *TG_PUSH(kept, n, cap) = r->v[i];
    }
    for (size_t i = 0; i < r->n; i++)
        if (!tg_hta_as_device(r->trace, &r->v[i]) && r->v[i].ts < cut)
            *TG_PUSH(kept, n, cap) = r->v[i];
    free(r->v);
    r->v = kept;
    r->n = n;
}

struct tg_hta *tg_hta_prepare(const struct tg_rank_trace *ranks, size_t n,
                              const struct tg_analysis_opts *opts)
{
    struct tg_hta *h = tg_xmalloc(sizeof *h);
    TG_FREE struct tg_hta_partners *partners = tg_xrealloc(NULL, n + 1, sizeof *partners);
    double least = INFINITY;
    *h = (struct tg_hta){ .ranks = tg_xrealloc(NULL, n + 1, sizeof *h->ranks),
                          .n = n,
                          .opts = opts };
    for (size_t k = 0; k < n; k++) {
        const struct tg_trace *t = ranks[k].trace;
        struct tg_hta_rows *r = &h->ranks[k];
        bool rounded = tg_hta_rounds(t, opts->no_rounding);
        TG_FREE enum tg_class *classes = tg_xrealloc(NULL, t->names->n + 1, sizeof *classes);
        for (size_t i = 0; i < t->names->n; i++)
            classes[i] = class_of(t->names->v[i].name);
        *r = (struct tg_hta_rows){ .rank = ranks[k].rank, .trace = t, .n = t->n_spans };
        r->v = tg_xrealloc(NULL, r->n + 1, sizeof *r->v);
        partners[k] = (struct tg_hta_partners){ .ids.words = 1 };
        for (size_t i = 0; i < r->n; i++) {
            r->v[i] = tg_hta_row_at(t, i, rounded);
            r->v[i].class_ = classes[r->v[i].name];
            least = r->v[i].ts < least ? r->v[i].ts : least;
            tg_hta_partners_add(&partners[k], t, &r->v[i]);
        }
        /* Before the filter, when a row's place is its span. */
        for (size_t i = 0; i < r->n; i++) {
            int64_t partner = tg_hta_partner_of(&partners[k], t, &r->v[i]);
            if (partner >= 0)
                r->v[i].link = r->v[partner].index;
        }
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < h->ranks[k].n; i++)
            h->ranks[k].v[i].ts -= least;
    bool filtered = count_step_names(h) >= 2;
    for (size_t k = 0; k < n; k++) {
        struct tg_hta_rows *r = &h->ranks[k];
        if (filtered)
            filter(r, &partners[k], opts->include_last_step);
        tg_hta_partners_release(&partners[k]);
        for (size_t i = 0; i < r->n; i++)
            if (r->v[i].index >= r->n_row_of)
                r->n_row_of = (size_t)r->v[i].index + 1;
        r->row_of = tg_xrealloc(NULL, r->n_row_of + 1, sizeof *r->row_of);
        for (size_t i = 0; i < r->n_row_of; i++)
            r->row_of[i] = TG_NO_ID;
        for (size_t i = 0; i < r->n; i++)
            r->row_of[r->v[i].index] = (uint32_t)i;
    }
    return h;
}

void tg_hta_free(struct tg_hta *h)
{
    if (!h)
        return;
    for (size_t k = 0; k < h->n; k++) {
        free(h->ranks[k].v);
        free(h->ranks[k].row_of);
    }
    free(h->ranks);
    free(h);
}

static int by_start(const void *pa, const void *pb)
{
    const struct tg_hta_row *const *a = pa, *const *b = pb;
    int c = TG_CMP((*a)->ts, (*b)->ts);
    return c ? c : TG_CMP(*a, *b);
}

const struct tg_hta_row **tg_hta_device_rows(const struct tg_hta_rows *r, size_t *n)
{
    const struct tg_hta_row **rows = tg_xrealloc(NULL, r->n + 1, sizeof *rows);
    *n = 0;
    for (size_t i = 0; i < r->n; i++)
        if (r->v[i].stream != -1)
            rows[(*n)++] = &r->v[i];
    TG_SORT(rows, *n, by_start);
    return rows;
}
