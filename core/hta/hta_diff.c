/*
 * HTA's TraceDiff: the timeline of its iterations, the sums of a side by name and step, what is
 * selected of them, and its table.
 */
#include "core/hta/hta_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/names.h"
#include "core/hta/hta.h"

/* ---- the rank of a file ---- */

bool tg_hta_find_rank(struct tg_source *s, int64_t *rank, struct tg_err *err)
{
    static const char key[] = "\"rank\":";
    TG_FREE char *bytes = tg_xmalloc(65536);
    size_t matched = 0; /* bytes of the key, or all of them */
    bool blank = false, digit = false, ended = false;
    int64_t got = 0;
    *rank = 0;
    while (!ended && (got = tg_source_fill(s, bytes, 65536, err)) > 0)
        for (int64_t i = 0; i < got && !ended; i++) {
            char c = bytes[i];
            if (blank && tg_is_digit(c)) {
                if (*rank < INT64_MAX / 16)
                    *rank = *rank * 10 + (c - '0');
                digit = true;
            } else if (digit) {
                ended = true;
            } else if (matched == sizeof key - 1 && memchr(" \t\r\v\f", c, 5)) {
                blank = true;
            } else {
                matched = matched < sizeof key - 1 ? matched : 0;
                blank = false;
                matched = c == key[matched] ? matched + 1 : c == key[0];
            }
        }
    return got >= 0;
}

/* ---- iterations ---- */

/* The number in "ProfilerStep#7"; blanks are allowed around '#'. */
static bool step_number(tg_sv name, int64_t *number)
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
 * HTA's iterations: which ProfilerStep a moment is in. Of the windows that cover it, the last in
 * file order counts. `at` are the times at which the answer changes, ascending; from at[i] on it is
 * number[i] (-1: no window). O(log windows) a question.
 */
struct timeline {
    double *at;
    int64_t *number;
    size_t n;
};

struct window {
    double start, end;
    int64_t number;
    size_t order; /* position in the file */
};

static int by_start(const void *pa, const void *pb)
{
    const struct window *a = pa, *b = pb;
    return TG_CMP(a->start, b->start);
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

/* Of all rows of the trace; `rounded` as in tg_hta_row_at. */
static void timeline_init(struct timeline *l, const struct tg_trace *t, bool rounded)
{
    TG_FREE struct window *w = NULL;
    size_t n = 0, cap = 0, heaped = 0, next = 0;
    for (size_t i = 0; i < t->n_spans; i++) {
        int64_t number;
        if (!step_number(tg_span_name(t, tg_span_at(t, i))->name, &number))
            continue;
        struct tg_hta_row row = tg_hta_row_at(t, i, rounded);
        if (!(row.dur > 0)) /* covers nothing; the same for NaN */
            continue;
        struct window one = { row.ts, row.ts + row.dur, number, n };
        *TG_PUSH(w, n, cap) = one;
    }
    TG_FREE const struct window **heap = tg_xmalloc((n + 1) * sizeof *heap);
    l->at = tg_xmalloc((2 * n + 1) * sizeof *l->at);
    l->number = tg_xmalloc((2 * n + 1) * sizeof *l->number);
    l->n = 2 * n;
    TG_SORT(w, n, by_start);
    for (size_t i = 0; i < n; i++) {
        l->at[2 * i] = w[i].start;
        l->at[2 * i + 1] = w[i].end;
    }
    TG_SORT(l->at, l->n, tg_by_real);
    for (size_t i = 0; i < l->n; i++) {
        while (next < n && w[next].start <= l->at[i])
            heap_push(heap, &heaped, &w[next++]);
        while (heaped && heap[0]->end <= l->at[i])
            heap_pop(heap, &heaped);
        l->number[i] = heaped ? heap[0]->number : -1;
    }
}

static int64_t step_at(const struct timeline *l, double ts)
{
    size_t after; /* first change after ts */
    TG_SEARCH(after, l->n, l->at[after] <= ts);
    return after ? l->number[after - 1] : -1;
}

/* ---- sums ---- */

void tg_hta_init(struct tg_hta_side *s, bool no_rounding)
{
    *s = (struct tg_hta_side){ .no_rounding = no_rounding };
}

static void rank_release(struct tg_hta_rank *r)
{
    tg_keymap_release(&r->ids);
    free(r->cells);
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

/* Kahan's sum: what one addition loses is carried over to the next. NaN is skipped, as by
 * pandas. */
static void add_to(double *total, double *lost, double v)
{
    double y = v - *lost, t = *total + y;
    if (isnan(v))
        return;
    *lost = (t - *total) - y;
    *total = t;
}

/* The cell with this category, name, step and device; a new one is a copy of `key`. */
static struct tg_hta_cell *cell_of(struct tg_hta_rank *r, const struct tg_hta_cell *key)
{
    const uint64_t words[] = { (uint64_t)key->cat << 32 | key->name, (uint64_t)key->step,
                               key->gpu };
    r->ids.words = sizeof words / sizeof *words;
    uint32_t id = tg_keymap_add(&r->ids, words);
    if (id == r->n)
        *TG_PUSH(r->cells, r->n, r->cap) = *key;
    return &r->cells[id];
}

/* ---- one trace ---- */

struct rows { /* of one trace, file order */
    const struct tg_trace *t;
    bool rounded;
    struct timeline line;
    struct tg_hta_partners partners;
};

/* A host row belongs to the window that contains its start, a device row to the step of its launch.
 * A partner at position 0 of the file means "unknown" to HTA. */
static int64_t step_of(const struct rows *r, const struct tg_hta_row *row)
{
    if (row->stream < 0 ||
        (row->stream == 0 && tg_sv_eq(r->t->names->v[row->name].cat, TG_SV("cpu_op"))))
        return step_at(&r->line, row->ts);
    if (row->stream == 0)
        return TG_HTA_NO_STEP;
    if (!tg_hta_as_device(r->t, row))
        return -1;
    int64_t partner = tg_hta_partner_of(&r->partners, r->t, row);
    if (partner < 0)
        return -1;
    struct tg_hta_row launch = tg_hta_row_at(r->t, (size_t)partner, r->rounded);
    return launch.index == 0 ? -1 : step_of(r, &launch); /* a host row: no further recursion */
}

struct text_ids { /* trace name id -> ids in the side's texts */
    uint32_t cat, name;
    bool known;
};

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
    struct rows r = { .t = t,
                      .rounded = tg_hta_rounds(t, s->no_rounding),
                      .partners = { .ids.words = 1 } };
    struct tg_hta_rank *to = rank_slot(s, rank, replaced);
    TG_FREE struct text_ids *ids = tg_xcalloc(t->names->n + 1, sizeof *ids);
    timeline_init(&r.line, t, r.rounded);
    for (size_t i = 0; i < t->n_spans; i++) {
        struct tg_hta_row row = tg_hta_row_at(t, i, r.rounded);
        tg_hta_partners_add(&r.partners, t, &row);
    }
    for (size_t i = 0; i < t->n_spans; i++) {
        struct tg_hta_row row = tg_hta_row_at(t, i, r.rounded);
        struct text_ids *id = &ids[row.name];
        tg_sv name = t->names->v[row.name].name;
        int64_t number;
        if (!id->known) {
            *id = (struct text_ids){ tg_strmap_add(&s->texts, t->names->v[row.name].cat),
                                     tg_strmap_add(&s->texts, name), true };
            if (tg_sv_starts(name, TG_SV("ProfilerStep#")) && step_number(name, &number))
                *TG_PUSH(s->steps, s->n_steps, s->steps_cap) = number;
        }
        struct tg_hta_cell *c =
            cell_of(to, &(struct tg_hta_cell){ .cat = id->cat,
                                               .name = id->name,
                                               .step = step_of(&r, &row),
                                               .gpu = row.stream != -1,
                                               .kind = tg_span_kind(t, tg_span_at(t, i)) });
        c->count++;
        add_to(&c->total, &c->lost, row.dur);
    }
    free(r.line.at);
    free(r.line.number);
    tg_hta_partners_release(&r.partners);
    s->n_steps = tg_sort_distinct(s->steps, s->n_steps);
}

/* ---- selection ---- */

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
    if (s->n_steps == 0)
        return tg_err_usage(err, "%s has no ProfilerStep, and HTA compares steps",
                            "add --whole to compare everything in the traces.", label);
    for (size_t i = 0; i < q->n_steps; i++)
        if (!tg_is_among(s->steps, s->n_steps, q->steps[i])) {
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

static bool selects_rank(const struct tg_hta_side *s, const struct tg_hta_select *q, size_t i)
{
    return q->ranks ? tg_is_among(q->ranks, q->n_ranks, s->ranks[i].rank) : i == 0;
}

static bool selects_step(const struct tg_hta_side *s, const struct tg_hta_select *q, int64_t step)
{
    if (q->whole)
        return true;
    return q->steps ? tg_is_among(q->steps, q->n_steps, step) : step == s->steps[0];
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
    size_t n, cap;
};

static void add_side(struct table *t, int side, const struct tg_hta_side *s,
                     const struct tg_hta_select *q, enum tg_hta_device device, bool short_names)
{
    TG_BUF text = { 0 };
    for (size_t r = 0; r < s->n_ranks; r++) {
        if (!selects_rank(s, q, r))
            continue;
        for (size_t i = 0; i < s->ranks[r].n; i++) {
            const struct tg_hta_cell *c = &s->ranks[r].cells[i];
            tg_sv name = s->texts.text[c->name];
            size_t known = t->names.n;
            if ((device != TG_HTA_ALL && c->gpu != (device == TG_HTA_GPU)) ||
                !selects_step(s, q, c->step))
                continue;
            if (short_names) {
                tg_buf_clear(&text);
                tg_name_short(name, &text);
                name = tg_buf_sv(&text);
            }
            uint32_t id = tg_strmap_add(&t->names, name);
            if (id == known)
                *TG_PUSH(t->v, t->n, t->cap) = (struct sum){ .kind = c->kind };
            t->v[id].count[side] += c->count;
            add_to(&t->v[id].total[side], &t->v[id].lost[side], c->total);
        }
    }
}

static tg_ns us_to_ns(double us)
{
    double ns = round(us * 1000);
    return ns > 9.2e18 ? INT64_MAX : ns < -9.2e18 ? -INT64_MAX : isnan(ns) ? 0 : (tg_ns)ns;
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
    for (int s = 0; s < 2; s++)
        add_side(&t, s, side[s], &select[s], device, short_names);
    *out = (struct tg_comparison){ .arena = a };
    out->n_ops = t.names.n;
    out->ops = TG_NEW_N(a, struct tg_op, t.names.n + 1);
    for (size_t i = 0; i < t.names.n; i++) {
        struct tg_op *op = &out->ops[i];
        op->name = tg_arena_sv(a, t.names.text[i]);
        op->kind = t.v[i].kind;
        op->partner = op->region = op->leader = TG_NO_ID;
        for (int s = 0; s < 2; s++) {
            op->present[s] = t.v[i].count[s] > 0;
            op->raw[s] = op->present[s] ? op->name : TG_SV("");
            op->whole_count[s] = t.v[i].count[s];
            op->whole_total[s] = us_to_ns(t.v[i].total[s]);
        }
    }
    for (int s = 0; s < 2; s++)
        out->n_runs[s] = out->n_ranks[s] = out->n_steps[s] = 1;
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
        for (size_t i = 0; selects_rank(side, select, r) && i < side->ranks[r].n; i++) {
            const struct tg_hta_cell *from = &side->ranks[r].cells[i];
            struct tg_hta_cell key = { .cat = from->cat, .name = from->name }, *c;
            if (!selects_step(side, select, from->step))
                continue;
            c = cell_of(&sums, &key);
            c->count += from->count;
            add_to(&c->total, &c->lost, from->total);
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
