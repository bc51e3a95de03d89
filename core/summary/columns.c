#include "core/summary/columns.h"

#include "core/summary/pack.h"

/* The value that a slot is stored relative to. */
static tg_ns expected(const struct tg_row *r, size_t step, size_t i, const tg_ns *at)
{
    if (step > 0 && r->count[step] == r->count[step - 1])
        return *(at - r->count[step]);
    return i ? at[-1] : 0;
}

/* ---- the pattern ---- */

void tg_shared_rows_put(struct tg_buf *b, const struct tg_shard *s)
{
    for (size_t i = 0; i < s->n_rows + s->n_frames; i++)
        for (size_t k = 0; k <= s->n_steps; k++)
            tg_pack_u64(b, s->rows[i].count[k]);
    for (size_t i = 0; i < s->n_rows; i++) {
        tg_pack_u64(b, s->rows[i].attrs_capped);
        tg_pack_u64(b, s->rows[i].order);
        for (size_t f = 0; f < s->rows[i].n_attrs; f++)
            tg_pack_u64(b, s->rows[i].attrs[f].count);
    }
    for (size_t k = 0; k < s->n_steps; k++)
        tg_pack_u64(b, s->gap_count[k]);
}

static void read_u32(struct tg_unpack *u, uint32_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t v = tg_unpack_u64(u);
        u->bad |= v > UINT32_MAX;
        to[i] = (uint32_t)v;
    }
}

bool tg_shared_rows_read(struct tg_shared_rows *out, tg_sv raw, const struct tg_listing *l,
                         const struct tg_book_read *b, size_t n_steps, struct tg_arena *a)
{
    struct tg_unpack u = { raw.p, raw.p + raw.n, false };
    struct tg_attr *attrs = TG_NEW_N(a, struct tg_attr, l->n_attrs);
    size_t n_rows = l->n[TG_BOOK_ROWS], n_all = n_rows + l->n[TG_BOOK_FRAMES];
    size_t at = 0, numbers;
    *out = (struct tg_shared_rows){ .n_rows = n_rows, .n_frames = n_all - n_rows };
    out->n_steps = n_steps;
    if (__builtin_mul_overflow(n_all, n_steps + 1, &numbers) || numbers > tg_unpack_left(&u))
        return false;
    out->rows = TG_NEW_N(a, struct tg_row, n_all);
    uint32_t *count = TG_NEW_N(a, uint32_t, numbers);
    read_u32(&u, count, numbers);
    for (size_t i = 0; i < n_all; i++, count += n_steps + 1) {
        out->rows[i].key = i < n_rows ? &b->row[TG_BOOK_ROWS][l->row[TG_BOOK_ROWS][i]]
                                      : &b->row[TG_BOOK_FRAMES][l->row[TG_BOOK_FRAMES][i - n_rows]];
        out->rows[i].count = count;
    }
    for (size_t i = 0; i < n_rows; i++) {
        struct tg_row *row = &out->rows[i];
        uint64_t cut = tg_unpack_u64(&u), order = tg_unpack_u64(&u);
        row->attrs_capped = cut == 1;
        row->order = (uint32_t)order;
        row->attrs = attrs + at; /* those of the listing that name the row */
        for (; at < l->n_attrs && b->attr[l->attr[at]].row == l->row[TG_BOOK_ROWS][i]; at++) {
            attrs[at] = b->attr[l->attr[at]].attr;
            attrs[at].count = tg_unpack_u64(&u);
            row->n_attrs++;
        }
        if (u.bad || cut > 1 || order > UINT32_MAX)
            return false;
    }
    if (at != l->n_attrs || n_steps > tg_unpack_left(&u))
        return false;
    out->gap_count = TG_NEW_N(a, uint32_t, n_steps);
    read_u32(&u, out->gap_count, n_steps);
    return !u.bad && u.p == u.end;
}

/* ---- writing the values ---- */

/* One division if `a` is a multiple of `b`. */
static uint64_t gcd(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void put_delta(struct tg_buf *b, tg_ns value, tg_ns before, uint64_t unit)
{
    tg_pack_i64(b, (value - before) / (int64_t)unit);
}

void tg_shard_values_put(struct tg_buf *b, const struct tg_shard *s, const bool *kept)
{
    size_t n = s->n_steps + 1, n_all = s->n_rows + s->n_frames, gaps = tg_shard_gaps(s);
    uint64_t unit = 0; /* the divisor of all times; 1 ends the search */
    for (size_t i = 0; unit != 1 && i < n_all; i++)
        for (size_t k = 0; unit != 1 && k < n; k++)
            unit = gcd((uint64_t)s->rows[i].self[k], gcd((uint64_t)s->rows[i].total[k], unit));
    for (size_t i = 0; unit != 1 && i < gaps; i++)
        unit = gcd((uint64_t)s->gaps[i], unit);
    for (size_t i = 0; unit != 1 && i < s->n_rows; i++)
        for (uint64_t c = 0, calls = kept[i] ? tg_row_calls(s, &s->rows[i]) : 0;
             unit != 1 && c < calls; c++)
            unit = gcd((uint64_t)s->rows[i].slots[c], unit);
    unit = unit ? unit : 1;
    tg_pack_u64(b, unit);
    for (size_t i = 0; i < s->n_rows; i++)
        tg_pack_u64(b, kept[i]);
    for (size_t i = 0; i < n_all; i++)
        for (size_t k = 0; k < n; k++)
            tg_pack_u64(b, (uint64_t)(s->rows[i].total[k] - s->rows[i].self[k]) / unit);
    for (size_t i = 0; i < n_all; i++) {
        const tg_ns *self = s->rows[i].self;
        size_t from = i < s->n_rows && kept[i] ? s->n_steps : 0; /* before it, slots say it */
        for (size_t k = from; k < n; k++)
            put_delta(b, self[k], k > from ? self[k - 1] : 0, unit);
    }
    for (size_t i = 0; i < gaps; i++)
        tg_pack_u64(b, (uint64_t)s->gaps[i] / unit);
    for (size_t i = 0; i < s->n_rows; i++)
        if (kept[i]) {
            const tg_ns *at = s->rows[i].slots;
            for (size_t step = 0; step < s->n_steps; step++)
                for (size_t c = 0; c < s->rows[i].count[step]; c++, at++)
                    put_delta(b, *at, expected(&s->rows[i], step, c, at), unit);
        }
}

/* ---- reading the values ---- */

struct values {
    struct tg_unpack u;
    int64_t unit;
    struct tg_arena *a;
};

/* A time that is `before` and a difference; negative ones and those beyond an int64 are damage. */
static tg_ns read_after(struct values *v, tg_ns before)
{
    int64_t more, sum;
    if (__builtin_mul_overflow(tg_unpack_i64(&v->u), v->unit, &more) ||
        __builtin_add_overflow(before, more, &sum) || sum < 0) {
        v->u.bad = true;
        return 0;
    }
    return sum;
}

static tg_ns read_time(struct values *v)
{
    uint64_t n = tg_unpack_u64(&v->u);
    int64_t time;
    if (n > INT64_MAX || __builtin_mul_overflow((int64_t)n, v->unit, &time)) {
        v->u.bad = true;
        return 0;
    }
    return time;
}

/* One call in each step: its slots are the self times. */
static bool is_single(const struct tg_shard *s, const struct tg_row *r)
{
    for (size_t k = 0; k < s->n_steps; k++)
        if (r->count[k] != 1)
            return false;
    return true;
}

static bool read_all_slots(struct values *v, struct tg_shard *s, const bool *kept)
{
    uint64_t calls = 0, own = 0;
    for (size_t i = 0; i < s->n_rows; i++) {
        uint64_t n = kept[i] ? tg_row_calls(s, &s->rows[i]) : 0;
        calls = n > UINT64_MAX - calls ? UINT64_MAX : calls + n;
        own += is_single(s, &s->rows[i]) ? 0 : n;
    }
    if (calls > tg_unpack_left(&v->u))
        return false;
    tg_ns *room = TG_NEW_N(v->a, tg_ns, (size_t)own);
    for (size_t i = 0; i < s->n_rows; i++) {
        struct tg_row *r = &s->rows[i];
        if (!kept[i])
            continue;
        /* Slots, and the self time of each step that they add up to; in `room`, if needed. */
        bool single = is_single(s, r);
        tg_ns *at = r->slots = single ? r->self : room;
        for (size_t step = 0; step < s->n_steps; step++) {
            tg_ns sum = 0;
            for (size_t c = 0; c < r->count[step]; c++, at++) {
                *at = read_after(v, expected(r, step, c, at));
                sum = tg_ns_add(sum, *at);
            }
            r->self[step] = sum;
        }
        room = single ? room : at;
    }
    return !v->u.bad;
}

/* Inclusive times: `less` more than the self times; where that is nothing, they are one array. */
static bool add_less(struct values *v, struct tg_shard *s, const tg_ns *less)
{
    size_t n = s->n_steps + 1;
    for (size_t i = 0; i < s->n_rows + s->n_frames; i++, less += n) {
        struct tg_row *r = &s->rows[i];
        size_t zeroes = 0;
        while (zeroes < n && !less[zeroes])
            zeroes++;
        r->total = r->self;
        if (zeroes == n)
            continue;
        r->total = TG_NEW_N(v->a, tg_ns, n);
        for (size_t k = 0; k < n; k++)
            if (__builtin_add_overflow(r->self[k], less[k], &r->total[k]))
                return false;
    }
    return true;
}

bool tg_shard_values_read(struct tg_shard *s, tg_sv raw, const struct tg_shared_rows *shape,
                          struct tg_arena *a)
{
    struct values v = { { raw.p, raw.p + raw.n, false }, 0, a };
    uint64_t unit = tg_unpack_u64(&v.u);
    TG_FREE bool *kept = NULL;
    TG_FREE tg_ns *less = NULL; /* what inclusive times have more */
    size_t n = s->n_steps + 1, n_all = shape->n_rows + shape->n_frames, numbers;
    s->n_rows = shape->n_rows;
    s->n_frames = shape->n_frames;
    s->gap_count = shape->gap_count;
    if (v.u.bad || unit == 0 || unit > INT64_MAX || s->n_rows > tg_unpack_left(&v.u))
        return false;
    v.unit = (int64_t)unit;
    s->rows = tg_arena_copy(a, shape->rows, n_all, sizeof *s->rows);
    kept = tg_xcalloc(n_all + 1, 1); /* frames have no slots */
    for (size_t i = 0; i < s->n_rows; i++) {
        uint64_t flag = tg_unpack_u64(&v.u);
        kept[i] = flag == 1;
        v.u.bad |= flag > 1;
    }
    size_t gaps = tg_shard_gaps(s);
    if (v.u.bad || __builtin_mul_overflow(n_all, n, &numbers) || numbers > tg_unpack_left(&v.u))
        return false;
    less = tg_xrealloc(NULL, numbers + 1, sizeof *less);
    for (size_t i = 0; i < numbers; i++)
        less[i] = read_time(&v);
    tg_ns *self = TG_NEW_N(a, tg_ns, numbers);
    for (size_t i = 0; i < n_all; i++, self += n) {
        size_t from = kept[i] ? s->n_steps : 0; /* before it, slots say it */
        s->rows[i].self = self;
        for (size_t k = from; k < n; k++)
            self[k] = read_after(&v, k > from ? self[k - 1] : 0);
    }
    if (gaps > tg_unpack_left(&v.u))
        return false;
    s->gaps = TG_NEW_N(a, tg_ns, gaps);
    for (size_t i = 0; i < gaps; i++)
        s->gaps[i] = read_time(&v);
    return !v.u.bad && read_all_slots(&v, s, kept) && v.u.p == v.u.end && add_less(&v, s, less);
}
