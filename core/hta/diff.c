#include "core/hta/diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/diff/names.h"

void tg_hta_init(struct tg_hta_side *s, bool no_rounding)
{
    *s = (struct tg_hta_side){ .no_rounding = no_rounding };
    tg_strmap_init(&s->texts);
}

static void rank_release(struct tg_hta_rank *r)
{
    free(r->cells);
    free(r->slot);
}

void tg_hta_release(struct tg_hta_side *s)
{
    for (size_t i = 0; i < s->n_ranks; i++)
        rank_release(&s->ranks[i]);
    free(s->ranks);
    free(s->steps);
    tg_strmap_release(&s->texts);
    *s = (struct tg_hta_side){ 0 };
}

/* ---- cells ---- */

static uint64_t cell_hash(const struct tg_hta_cell *c)
{
    uint64_t h =
        tg_hash_fold(((uint64_t)c->cat << 32 | c->name) ^ 0x9e3779b97f4a7c15u, 0xbf58476d1ce4e5b9u);
    return tg_hash_fold(h ^ (uint64_t)c->step ^ (c->gpu ? 0x94d049bb133111ebu : 0),
                        0xd6e8feb86659fd93u);
}

static size_t probe(const struct tg_hta_rank *r, const struct tg_hta_cell *c)
{
    size_t i = (size_t)cell_hash(c) & (r->slots - 1);
    while (r->slot[i]) {
        const struct tg_hta_cell *old = &r->cells[r->slot[i] - 1];
        if (old->cat == c->cat && old->name == c->name && old->step == c->step &&
            old->gpu == c->gpu)
            break;
        i = (i + 1) & (r->slots - 1);
    }
    return i;
}

static void rehash(struct tg_hta_rank *r)
{
    r->slots = r->slots ? r->slots * 2 : 1024;
    free(r->slot);
    r->slot = tg_xmalloc(r->slots * sizeof *r->slot);
    memset(r->slot, 0, r->slots * sizeof *r->slot);
    for (size_t i = 0; i < r->n; i++)
        r->slot[probe(r, &r->cells[i])] = (uint32_t)i + 1;
}

/* Kahan's sum: what one addition loses is carried over to the next. */
static void add_compensated(double *total, double *lost, double v)
{
    double y = v - *lost, t = *total + y;
    *lost = (t - *total) - y;
    *total = t;
}

static void add_cell(struct tg_hta_rank *r, const struct tg_hta_cell *key, double dur)
{
    size_t i;
    struct tg_hta_cell *c;
    if (r->n * 2 >= r->slots)
        rehash(r);
    i = probe(r, key);
    if (!r->slot[i]) {
        r->cells = tg_grow(r->cells, &r->cap, r->n + 1, sizeof *r->cells);
        r->cells[r->n] = *key;
        r->slot[i] = (uint32_t)++r->n;
    }
    c = &r->cells[r->slot[i] - 1];
    c->count++;
    if (!isnan(dur)) /* pandas skips NaN in sums */
        add_compensated(&c->total, &c->lost, dur);
}

/* ---- time ---- */

struct rows { /* of one trace, file order */
    const struct tg_trace *t;
    size_t n;
    bool rounded;
};

/* HTA's rule, in double arithmetic: end = ts + dur, ceil(ts), floor(end) - ceil(ts). */
static void row_time(const struct rows *r, size_t i, double *ts, double *dur)
{
    *ts = r->t->hta_ts[i];
    *dur = r->t->hta_dur[i];
    if (r->rounded) {
        double end = *ts + *dur;
        *ts = ceil(*ts);
        *dur = floor(end) - *ts;
    }
}

/* ---- iterations ---- */

struct window {
    double start, end;
    int64_t number;
    size_t order; /* position in the file */
};

/* "ProfilerStep", '#', digits; the parser allows blanks around '#'. */
static bool window_number(tg_sv name, int64_t *number)
{
    size_t i = sizeof "ProfilerStep" - 1;
    int64_t n = 0;
    bool any = false, hash = false;
    if (!tg_sv_starts(name, TG_SV("ProfilerStep")))
        return false;
    for (; i < name.n && (name.p[i] == ' ' || (name.p[i] == '#' && !hash)); i++)
        hash |= name.p[i] == '#';
    for (; i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && n < INT64_MAX / 16; i++) {
        n = n * 10 + (name.p[i] - '0');
        any = true;
    }
    *number = n;
    return hash && any;
}

/*
 * Which window contains a time: of those that cover it, the last in file order. `at` are the times
 * at which the answer changes, ascending; from at[i] on it is number[i] (-1: no window).
 */
struct timeline {
    double *at;
    int64_t *number;
    size_t n;
};

static int by_start(const void *pa, const void *pb)
{
    const struct window *a = pa, *b = pb;
    return (a->start > b->start) - (a->start < b->start);
}

static int by_value(const void *pa, const void *pb)
{
    double a = *(const double *)pa, b = *(const double *)pb;
    return (a > b) - (a < b);
}

/* A heap of windows, the last of the file on top. */
static void heap_push(const struct window **h, size_t *n, const struct window *w)
{
    size_t i = (*n)++;
    for (; i && h[(i - 1) / 2]->order < w->order; i = (i - 1) / 2)
        h[i] = h[(i - 1) / 2];
    h[i] = w;
}

static void heap_pop(const struct window **h, size_t *n)
{
    const struct window *w = h[--*n];
    size_t i = 0, child;
    for (; (child = 2 * i + 1) < *n; i = child) {
        if (child + 1 < *n && h[child + 1]->order > h[child]->order)
            child++;
        if (h[child]->order <= w->order)
            break;
        h[i] = h[child];
    }
    h[i] = w;
}

static void timeline_build(struct timeline *l, struct window *w, size_t n)
{
    const struct window **heap = tg_xmalloc((n + 1) * sizeof *heap);
    size_t heaped = 0, next = 0;
    l->at = tg_xmalloc((2 * n + 1) * sizeof *l->at);
    l->number = tg_xmalloc((2 * n + 1) * sizeof *l->number);
    l->n = 2 * n;
    if (n)
        qsort(w, n, sizeof *w, by_start);
    for (size_t i = 0; i < n; i++) {
        l->at[2 * i] = w[i].start;
        l->at[2 * i + 1] = w[i].end;
    }
    qsort(l->at, l->n, sizeof *l->at, by_value);
    for (size_t i = 0; i < l->n; i++) {
        while (next < n && w[next].start <= l->at[i])
            heap_push(heap, &heaped, &w[next++]);
        while (heaped && heap[0]->end <= l->at[i])
            heap_pop(heap, &heaped);
        l->number[i] = heaped ? heap[0]->number : -1;
    }
    free(heap);
}

static int64_t timeline_find(const struct timeline *l, double ts)
{
    size_t lo = 0, hi = l->n; /* first change after ts */
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->at[mid] <= ts)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo ? l->number[lo - 1] : -1;
}

static void timeline_of(struct timeline *l, const struct rows *r)
{
    struct window *w = NULL;
    size_t n = 0, cap = 0;
    for (size_t i = 0; i < r->n; i++) {
        int64_t number;
        double ts, dur;
        if (!window_number(tg_span_name(r->t, tg_span_at(r->t, i))->name, &number))
            continue;
        row_time(r, i, &ts, &dur);
        if (!(dur > 0)) /* covers nothing; the same for NaN */
            continue;
        w = tg_grow(w, &cap, n + 1, sizeof *w);
        w[n] = (struct window){ ts, ts + dur, number, n };
        n++;
    }
    timeline_build(l, w, n);
    free(w);
}

/* ---- links ---- */

/* Which rows HTA takes for device rows when it links launches; its tables use another split. */
static bool links_as_device(const struct tg_trace *t, const struct tg_span *s, int64_t stream)
{
    tg_sv name = tg_span_name(t, s)->name;
    return (stream >= 0 && s->correlation >= 0) || tg_sv_eq(name, TG_SV("Event Sync")) ||
           tg_sv_eq(name, TG_SV("Context Sync"));
}

struct host_row {
    int64_t correlation;
    uint32_t row;
};

static int by_correlation(const void *pa, const void *pb)
{
    const struct host_row *a = pa, *b = pb;
    if (a->correlation != b->correlation)
        return a->correlation < b->correlation ? -1 : 1;
    return (a->row > b->row) - (a->row < b->row);
}

struct links {
    struct host_row *v;
    size_t n, cap;
};

static int64_t stream_of(const struct tg_trace *t, const struct tg_span *s)
{
    return tg_track_hta_stream(&t->tracks[s->track]);
}

static void links_build(struct links *l, const struct rows *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_span *s = tg_span_at(r->t, i);
        if (s->correlation == -1 || links_as_device(r->t, s, stream_of(r->t, s)))
            continue;
        l->v = tg_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
        l->v[l->n++] = (struct host_row){ s->correlation, (uint32_t)i };
    }
    if (l->n)
        qsort(l->v, l->n, sizeof *l->v, by_correlation);
}

/* The last host row of the file with this correlation; TG_NO_SPAN: there is none. */
static uint32_t links_find(const struct links *l, int64_t correlation)
{
    size_t lo = 0, hi = l->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (l->v[mid].correlation <= correlation)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo && l->v[lo - 1].correlation == correlation ? l->v[lo - 1].row : TG_NO_SPAN;
}

/* ---- one trace ---- */

static bool is_cpu_op(const struct tg_trace *t, const struct tg_span *s)
{
    return tg_sv_eq(tg_span_name(t, s)->cat, TG_SV("cpu_op"));
}

/*
 * A host row belongs to the window that contains its start, a device row to the step of its launch.
 * A partner at position 0 of the file means "unknown" to HTA.
 */
static int64_t step_of(const struct rows *r, size_t i, const struct timeline *l,
                       const struct links *links)
{
    const struct tg_span *s = tg_span_at(r->t, i);
    int64_t stream = stream_of(r->t, s);
    uint32_t partner;
    double ts, dur;
    if (stream < 0 || (stream == 0 && is_cpu_op(r->t, s))) {
        row_time(r, i, &ts, &dur);
        return timeline_find(l, ts);
    }
    if (stream == 0)
        return TG_HTA_NO_STEP;
    if (s->correlation == -1 || !links_as_device(r->t, s, stream))
        return -1;
    partner = links_find(links, s->correlation);
    if (partner == TG_NO_SPAN || tg_span_at(r->t, partner)->index == 0)
        return -1;
    return step_of(r, partner, l, links); /* a host row: no further recursion */
}

static int by_number(const void *pa, const void *pb)
{
    int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;
    return (a > b) - (a < b);
}

static void note_step(struct tg_hta_side *s, int64_t number)
{
    s->steps = tg_grow(s->steps, &s->steps_cap, s->n_steps + 1, sizeof *s->steps);
    s->steps[s->n_steps++] = number;
}

static void sort_steps(struct tg_hta_side *s)
{
    size_t kept = 0;
    if (s->n_steps)
        qsort(s->steps, s->n_steps, sizeof *s->steps, by_number);
    for (size_t i = 0; i < s->n_steps; i++)
        if (!kept || s->steps[kept - 1] != s->steps[i])
            s->steps[kept++] = s->steps[i];
    s->n_steps = kept;
}

struct text_ids { /* trace name id -> ids in the side's texts */
    uint32_t cat, name;
    bool known;
};

static void name_ids(struct tg_hta_side *s, const struct tg_trace *t, uint32_t id,
                     struct text_ids *ids)
{
    int64_t number;
    tg_sv name = t->names->v[id].name;
    ids->cat = tg_strmap_add(&s->texts, t->names->v[id].cat);
    ids->name = tg_strmap_add(&s->texts, name);
    ids->known = true;
    if (tg_sv_starts(name, TG_SV("ProfilerStep#")) && window_number(name, &number))
        note_step(s, number);
}

static void fill_rank(struct tg_hta_side *s, struct tg_hta_rank *to, const struct rows *r)
{
    const struct tg_trace *t = r->t;
    struct text_ids *ids = tg_xmalloc((t->names->n + 1) * sizeof *ids);
    struct timeline line = { 0 };
    struct links links = { 0 };
    memset(ids, 0, (t->names->n + 1) * sizeof *ids);
    timeline_of(&line, r);
    links_build(&links, r);
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_span *span = tg_span_at(t, i);
        struct tg_hta_cell key = { 0 };
        double ts, dur;
        if (!ids[span->name].known)
            name_ids(s, t, span->name, &ids[span->name]);
        key.cat = ids[span->name].cat;
        key.name = ids[span->name].name;
        key.kind = tg_span_kind(t, span);
        key.gpu = stream_of(t, span) != -1;
        key.step = step_of(r, i, &line, &links);
        row_time(r, i, &ts, &dur);
        add_cell(to, &key, dur);
    }
    free(ids);
    free(line.at);
    free(line.number);
    free(links.v);
}

static struct tg_hta_rank *rank_slot(struct tg_hta_side *s, int64_t rank, bool *replaced)
{
    size_t i = 0;
    while (i < s->n_ranks && s->ranks[i].rank < rank)
        i++;
    *replaced = i < s->n_ranks && s->ranks[i].rank == rank;
    if (*replaced) {
        rank_release(&s->ranks[i]);
    } else {
        s->ranks = tg_grow(s->ranks, &s->cap, s->n_ranks + 1, sizeof *s->ranks);
        memmove(s->ranks + i + 1, s->ranks + i, (s->n_ranks - i) * sizeof *s->ranks);
        s->n_ranks++;
    }
    s->ranks[i] = (struct tg_hta_rank){ .rank = rank };
    return &s->ranks[i];
}

void tg_hta_add(struct tg_hta_side *s, const struct tg_trace *t, int64_t rank, bool *replaced)
{
    struct rows r = { .t = t, .n = t->n_spans };
    r.rounded = !s->no_rounding && (t->info->any_ts_float || t->info->any_ts_missing);
    fill_rank(s, rank_slot(s, rank, replaced), &r);
    sort_steps(s);
}

/* ---- the rank in the text ---- */

struct rank_scan {
    size_t matched; /* bytes of `"rank":`, or all of them */
    bool blank, digit, found;
    int64_t rank;
};

static void rank_byte(struct rank_scan *z, char c)
{
    static const char key[] = "\"rank\":";
    const size_t n = sizeof key - 1;
    if (z->matched == n) {
        if (c >= '0' && c <= '9' && z->blank) {
            if (z->rank < INT64_MAX / 16)
                z->rank = z->rank * 10 + (c - '0');
            z->digit = true;
            return;
        }
        if (z->digit) {
            z->found = true;
            return;
        }
        if (c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f') {
            z->blank = true;
            return;
        }
        z->matched = 0;
        z->blank = false;
    }
    z->matched = c == key[z->matched] ? z->matched + 1 : c == key[0];
}

bool tg_hta_find_rank(struct tg_source *s, int64_t *rank, struct tg_err *err)
{
    struct rank_scan z = { 0 };
    char *bytes = tg_xmalloc(65536);
    int64_t got = 0;
    while (!z.found && (got = tg_source_fill(s, bytes, 65536, err)) > 0)
        for (int64_t i = 0; i < got && !z.found; i++)
            rank_byte(&z, bytes[i]);
    free(bytes);
    *rank = z.found || z.digit ? z.rank : 0;
    return got >= 0;
}

/* ---- selection ---- */

static bool listed(const int64_t *v, size_t n, int64_t x)
{
    for (size_t i = 0; i < n; i++)
        if (v[i] == x)
            return true;
    return false;
}

static void put_numbers(char *to, size_t size, const int64_t *v, size_t n)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < n && used + 24 < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i ? ", " : "", v[i]);
}

static bool check_steps(const struct tg_hta_side *s, const struct tg_hta_select *q,
                        const char *label, struct tg_err *err)
{
    char have[160];
    if (q->whole)
        return true;
    if (s->n_steps == 0) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no ProfilerStep, and HTA compares steps",
                   label);
        return tg_err_hint(err, "add --whole to compare everything in the traces.");
    }
    for (size_t i = 0; i < q->n_steps; i++)
        if (!listed(s->steps, s->n_steps, q->steps[i])) {
            put_numbers(have, sizeof have, s->steps, s->n_steps);
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no ProfilerStep#%" PRId64, label,
                       q->steps[i]);
            return tg_err_hint(err, "Its steps are %s.", have);
        }
    return true;
}

static bool check_ranks(const struct tg_hta_side *s, const struct tg_hta_select *q,
                        const char *label, struct tg_err *err)
{
    char have[160];
    int64_t ranks[8];
    size_t n = s->n_ranks < 8 ? s->n_ranks : 8;
    for (size_t i = 0; i < q->n_ranks; i++) {
        size_t k = 0;
        while (k < s->n_ranks && s->ranks[k].rank != q->ranks[i])
            k++;
        if (k < s->n_ranks)
            continue;
        for (k = 0; k < n; k++)
            ranks[k] = s->ranks[k].rank;
        put_numbers(have, sizeof have, ranks, n);
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no rank %" PRId64, label, q->ranks[i]);
        return tg_err_hint(err, "Its ranks are %s%s.", have, n < s->n_ranks ? ", …" : "");
    }
    return true;
}

static bool takes_rank(const struct tg_hta_side *s, const struct tg_hta_select *q, size_t i)
{
    return q->ranks ? listed(q->ranks, q->n_ranks, s->ranks[i].rank) : i == 0;
}

static bool takes_step(const struct tg_hta_side *s, const struct tg_hta_select *q, int64_t step)
{
    if (q->whole)
        return true;
    return q->steps ? listed(q->steps, q->n_steps, step) : step == s->steps[0];
}

/* ---- tables ---- */

struct sum {
    uint64_t count[2];
    double total[2], lost[2];
    enum tg_kind kind;
};
struct table {
    struct tg_strmap names;
    struct sum *v;
    size_t cap;
};

static void add_side(struct table *t, int side, const struct tg_hta_side *s,
                     const struct tg_hta_select *q, enum tg_hta_device device, bool short_names)
{
    struct tg_buf text = { 0 };
    for (size_t r = 0; r < s->n_ranks; r++) {
        if (!takes_rank(s, q, r))
            continue;
        for (size_t i = 0; i < s->ranks[r].n; i++) {
            const struct tg_hta_cell *c = &s->ranks[r].cells[i];
            tg_sv name = s->texts.text[c->name];
            uint32_t id;
            if ((device != TG_HTA_ALL && c->gpu != (device == TG_HTA_GPU)) ||
                !takes_step(s, q, c->step))
                continue;
            if (short_names) {
                tg_buf_clear(&text);
                tg_name_short(name, &text);
                name = tg_buf_sv(&text);
            }
            id = tg_strmap_add(&t->names, name);
            if (id >= t->cap) {
                size_t from = t->cap;
                t->v = tg_grow(t->v, &t->cap, (size_t)id + 1, sizeof *t->v);
                memset(t->v + from, 0, (t->cap - from) * sizeof *t->v);
            }
            if (!t->v[id].count[0] && !t->v[id].count[1])
                t->v[id].kind = c->kind;
            t->v[id].count[side] += c->count;
            add_compensated(&t->v[id].total[side], &t->v[id].lost[side], c->total);
        }
    }
    tg_buf_release(&text);
}

static tg_ns us_to_ns(double us)
{
    double ns = round(us * 1000);
    return ns > 9.2e18 ? INT64_MAX : ns < -9.2e18 ? -INT64_MAX : isnan(ns) ? 0 : (tg_ns)ns;
}

static void fill_comparison(struct tg_comparison *out, const struct table *t, struct tg_arena *a)
{
    *out = (struct tg_comparison){ .arena = a };
    out->n_ops = t->names.n;
    out->ops = TG_NEW_N(a, struct tg_op, t->names.n + 1);
    for (size_t i = 0; i < t->names.n; i++) {
        struct tg_op *op = &out->ops[i];
        op->name = tg_arena_sv(a, t->names.text[i]);
        op->kind = t->v[i].kind;
        op->partner = op->region = op->leader = TG_NO_ID;
        for (int s = 0; s < 2; s++) {
            op->present[s] = t->v[i].count[s] > 0;
            op->raw[s] = op->present[s] ? op->name : TG_SV("");
            op->whole_count[s] = t->v[i].count[s];
            op->whole_total[s] = us_to_ns(t->v[i].total[s]);
        }
    }
    for (int s = 0; s < 2; s++)
        out->n_runs[s] = out->n_ranks[s] = out->n_steps[s] = 1;
}

bool tg_hta_compare(struct tg_comparison *out, const struct tg_hta_side *side[2],
                    const struct tg_hta_select select[2], enum tg_hta_device device,
                    bool short_names, const char *const label[2], struct tg_arena *a,
                    struct tg_err *err)
{
    struct table t = { 0 };
    for (int s = 0; s < 2; s++)
        if (!check_ranks(side[s], &select[s], label[s], err) ||
            !check_steps(side[s], &select[s], label[s], err))
            return false;
    tg_strmap_init(&t.names);
    for (int s = 0; s < 2; s++)
        add_side(&t, s, side[s], &select[s], device, short_names);
    fill_comparison(out, &t, a);
    free(t.v);
    tg_strmap_release(&t.names);
    return true;
}

bool tg_hta_ops(struct tg_hta_op **out, size_t *n, const struct tg_hta_side *side,
                const struct tg_hta_select *select, const char *label, struct tg_arena *a,
                struct tg_err *err)
{
    struct tg_hta_rank sums = { 0 };
    if (!check_ranks(side, select, label, err) || !check_steps(side, select, label, err))
        return false;
    for (size_t r = 0; r < side->n_ranks; r++)
        for (size_t i = 0; takes_rank(side, select, r) && i < side->ranks[r].n; i++) {
            struct tg_hta_cell key = side->ranks[r].cells[i];
            uint64_t count = key.count;
            double total = key.total;
            if (!takes_step(side, select, key.step))
                continue;
            key.step = 0;
            key.gpu = false;
            key.count = 0;
            key.total = key.lost = 0;
            add_cell(&sums, &key, total);
            sums.cells[sums.slot[probe(&sums, &key)] - 1].count += count - 1;
        }
    *n = sums.n;
    *out = TG_NEW_N(a, struct tg_hta_op, sums.n + 1);
    for (size_t i = 0; i < sums.n; i++)
        (*out)[i] = (struct tg_hta_op){ tg_arena_sv(a, side->texts.text[sums.cells[i].cat]),
                                        tg_arena_sv(a, side->texts.text[sums.cells[i].name]),
                                        sums.cells[i].count, sums.cells[i].total };
    rank_release(&sums);
    return true;
}
