/*
 * The body of the fast path, compiled once per instruction set. Before including it, define RUN
 * (the function's name) and
 *
 *     static bool equals(const char *p, const char *literal, size_t n);
 *         n >= 1; may read 31 bytes past the end
 *     static const char *special(const char *p);
 *         first '"', '\\', byte < 0x20 or >= 0x80
 */
#include "core/base/decimal.h"
#include "core/trace/shape.h"

/* Kept out of the hot loop, so that its variables stay in registers. */
#define RARE __attribute__((noinline))
#define HOT inline __attribute__((always_inline))

struct fast {
    struct tg_shapes *f;
    struct tg_scan *s;
    const struct tg_intern *names;
    struct tg_raw_event *out;
    struct tg_event *ev;
    struct tg_shape *sh;
    unsigned base_depth;
    const char *pid, *tid; /* where the values are */
    const char *args;      /* where args begin */
    bool new_pid, new_tid; /* not those of the shape's last event */
};

/* The id of a known name; otherwise TG_NO_ID. */
static HOT uint32_t find_name(const struct tg_intern *t, const struct tg_shape *sh, tg_sv name)
{
    uint64_t h = tg_intern_hash(sh->seed, name);
    size_t mask = t->slots - 1, i = (size_t)h & mask;
    if (!sh->cat_known)
        return TG_NO_ID;
    for (; t->slot[i].id1; i = (i + 1) & mask) {
        const struct tg_intern_pair *e;
        if (t->slot[i].tag != (uint32_t)(h >> 32))
            continue;
        e = tg_intern_at(t, t->slot[i].id1 - 1);
        if (e->a.p == sh->cat_known && e->b.n == name.n &&
            (name.n == 0 || equals(name.p, e->b.p, name.n)))
            return t->slot[i].id1 - 1;
    }
    return TG_NO_ID;
}

/* A value of any form, by the generic path. */
static RARE const char *any_value(struct fast *x, const struct tg_shape_step *st, const char *p,
                                  struct tg_value *v)
{
    x->f->slow_slot = true;
    x->s->p = p;
    x->s->depth = x->base_depth + st->depth;
    return tg_scan_value(x->s, v) ? x->s->p : NULL;
}

/* An integer without a leading zero; NULL: something else. The literal checks what follows. */
static HOT const char *skip_integer(const char *p)
{
    uint64_t t = TG_DIGITS(tg_load8(p));
    unsigned n = tg_digit_run(t);
    if (n == 0 || ((t & 0xff) == 0 && n > 1))
        return NULL;
    if (n == 8) {
        n = 8 + tg_digit_run(TG_DIGITS(tg_load8(p + 8)));
        if (n == 16)
            return NULL; /* rare, and it may be huge */
    }
    return p + n;
}

/* Up to three decimals after a point; NULL: something else. */
static HOT const char *fast_fraction(const char *q, uint64_t *fraction)
{
    uint32_t d = tg_load4(q) ^ 0x30303030u;
    uint32_t other = ((d + 0x76767676u) | d) & 0x80808080u;
    unsigned n = other ? (unsigned)__builtin_ctz(other) >> 3 : 4;
    if (n == 3) {
        *fraction = (d & 0xff) * 100 + (d >> 8 & 0xff) * 10 + (d >> 16 & 0xff);
        return q + 3;
    }
    if (n == 0 || n == 4)
        return NULL;
    *fraction = n == 2 ? (d & 0xff) * 100 + (d >> 8 & 0xff) * 10 : (d & 0xff) * 100;
    return q + n;
}

/* Microseconds of up to 16 digits and 3 decimals; NULL: something else. The first eight digits of
 * `ts` stay the same for a minute or more: they are remembered. */
static HOT const char *fast_time(struct tg_shapes *f, const char *p, tg_ns *ns, bool *is_float)
{
    static const uint32_t power[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
    uint64_t first = tg_load8(p), t, us, fraction = 0;
    const char *q;
    unsigned n;
    if (first == f->digits8) {
        us = f->value8;
        n = 8;
    } else {
        t = TG_DIGITS(first);
        n = tg_digit_run(t);
        if (n == 0 || ((t & 0xff) == 0 && n > 1))
            return NULL;
        us = tg_digits_value(t, n);
        if (n == 8) {
            f->digits8 = first;
            f->value8 = us;
        }
    }
    q = p + n;
    if (n == 8) {
        t = TG_DIGITS(tg_load8(q));
        n = tg_digit_run(t);
        q += n;
        if (n == 8) {
            us = us * 100000000 + tg_digits_value(t, 8);
            if (us > (uint64_t)INT64_MAX / 1000 - 1 || tg_digit_run(TG_DIGITS(tg_load8(q))))
                return NULL;
        } else if (n) {
            us = us * power[n] + tg_digits_value(t, n);
        }
    }
    *is_float = *q == '.';
    if (*is_float) {
        q = fast_fraction(q + 1, &fraction);
        if (!q)
            return NULL;
    }
    *ns = (tg_ns)(us * 1000 + fraction);
    return *q == 'e' || *q == 'E' ? NULL : q;
}

/* A time of unusual form: a sign, an exponent, more decimals, NaN. */
static RARE const char *odd_time(struct fast *x, const struct tg_shape_step *st, const char *p,
                                 tg_ns *ns, bool *is_float)
{
    struct tg_value v;
    bool has;
    const char *q = any_value(x, st, p, &v);
    *ns = 0;
    if (!q || v.type != TG_TOKEN_NUMBER ||
        !tg_kineto_time(x->s, &v, &x->out->rounded, &has, is_float, ns))
        return NULL;
    return q;
}

static HOT const char *time_slot(struct fast *x, const struct tg_shape_step *st, const char *p,
                                 tg_ns *ns, bool *is_float, tg_sv *text)
{
    const char *q = fast_time(x->f, p, ns, is_float);
    if (!q)
        q = odd_time(x, st, p, ns, is_float);
    *text = (tg_sv){ p, q ? (size_t)(q - p) : 0 };
    return q;
}

static HOT const char *text_end(const char *p)
{
    const char *q;
    if (*p != '"')
        return NULL;
    q = special(p + 1);
    return *q == '"' ? q + 1 : NULL;
}

static HOT const char *name_slot(struct fast *x, const struct tg_shape_step *st, const char *p)
{
    const char *q = text_end(p);
    struct tg_value *v = &x->out->name;
    if (q) {
        v->raw = (tg_sv){ p + 1, (size_t)(q - p) - 2 };
        v->type = TG_TOKEN_STRING;
        v->escaped = false;
        return q;
    }
    q = any_value(x, st, p, v);
    return q && v->type == TG_TOKEN_STRING && !v->escaped ? q : NULL;
}

static RARE const char *nested_slot(struct fast *x, struct tg_shape_step *st, const char *p)
{
    uint64_t h = tg_memo_hash(p, st->memo, x->f->memo_wide);
    struct tg_value v;
    struct tg_leniencies before;
    const char *q;
    unsigned tries = 0;
    uint8_t key = st->memo;
    if (st->memo != TG_MEMO_OFF) {
        const struct tg_memo *memo = x->f->memo;
        for (uint32_t m = x->f->memo_slot[h & (TG_MEMO_SLOTS - 1)]; m;
             m = memo[m - 1].next, tries++)
            if (memo[m - 1].hash == h && equals(p, memo[m - 1].text, memo[m - 1].n)) {
                st->memo_hits++;
                return p + memo[m - 1].n;
            }
        st->memo_misses++;
        if (st->memo_misses > 128 && st->memo_misses > st->memo_hits) {
            st->memo++;
            st->memo_hits = st->memo_misses = 0;
        }
    }
    before = x->s->seen;
    q = any_value(x, st, p, &v);
    if (q && key == st->memo && key != TG_MEMO_OFF && v.type == TG_TOKEN_NESTED &&
        memcmp(&before, &x->s->seen, sizeof before) == 0)
        tg_memo_add(x->f, h, v.raw, tries);
    return q;
}

static RARE const char *integer_slot(struct fast *x, const struct tg_shape_step *st, const char *p)
{
    struct tg_event *ev = x->ev;
    const char *q = skip_integer(p);
    struct tg_value v;
    int64_t n = 0;
    bool known = q && *q != '.' && *q != 'e' && *q != 'E';
    if (known) {
        unsigned digits = (unsigned)(q - p), low = digits < 8 ? digits : 8;
        n = (int64_t)tg_digits_value(TG_DIGITS(tg_load8(p)), low);
        for (unsigned i = low; i < digits; i++)
            n = n * 10 + (p[i] - '0');
    } else {
        q = any_value(x, st, p, &v);
        if (!q)
            return NULL;
    }
    int64_t *to = st->slot == TG_SLOT_CORRELATION ? &ev->correlation
                  : st->slot == TG_SLOT_EXTERNAL  ? &ev->external_id
                  : st->slot == TG_SLOT_STREAM    ? &ev->stream
                                                  : &ev->device;
    *to = known ? n : tg_kineto_int(&v, st->slot == TG_SLOT_STREAM ? TG_NO_STREAM : -1);
    return q;
}

static RARE const char *thread_slot(struct fast *x, const struct tg_shape_step *st, const char *p)
{
    bool is_pid = st->slot == TG_SLOT_PID;
    const char *memo = is_pid ? x->sh->pid : x->sh->tid;
    uint32_t n = is_pid ? x->sh->pid_n : x->sh->tid_n;
    struct tg_value *v = is_pid ? &x->out->pid : &x->out->tid;
    const char *q;
    if (is_pid)
        x->pid = p;
    else
        x->tid = p;
    if (n && equals(p, memo, n))
        return p + n - 1;
    *(is_pid ? &x->new_pid : &x->new_tid) = true;
    q = any_value(x, st, p, v);
    return q && (v->type == TG_TOKEN_STRING || v->type == TG_TOKEN_NUMBER) && !v->escaped ? q
                                                                                          : NULL;
}

/*
 * A value that does not have the form its slot saw first: null in one event, a number in the next.
 */
static RARE const char *other_value(struct fast *x, struct tg_shape_step *st, const char *p)
{
    struct tg_value v;
    const char *q;
    if (*p == '[' || *p == '{')
        return nested_slot(x, st, p);
    q = skip_integer(p);
    if (!q)
        q = text_end(p);
    return q ? q : any_value(x, st, p, &v);
}

/* A fraction where an integer was expected, which ended at `p`: mostly up to 15 decimals. */
static RARE const char *fraction(struct fast *x, const struct tg_shape_step *st, const char *from,
                                 const char *p)
{
    struct tg_value v;
    unsigned n = *p == '.' && skip_integer(from) == p ? 1 : 0;
    if (n)
        n += tg_digit_run(TG_DIGITS(tg_load8(p + 1)));
    if (n == 9)
        n += tg_digit_run(TG_DIGITS(tg_load8(p + 9)));
    return n > 1 && n < 17 && (p[n] | 0x20) != 'e' ? p + n : any_value(x, st, from, &v);
}

static HOT const char *slot(struct fast *x, struct tg_shape_step *st, const char *p)
{
    const char *q;
    switch (st->slot) {
    case TG_SLOT_NUMBER:
        q = skip_integer(p);
        return q ? q : other_value(x, st, p);
    case TG_SLOT_TEXT:
        q = text_end(p);
        return q ? q : other_value(x, st, p);
    case TG_SLOT_NESTED:
        return nested_slot(x, st, p);
    case TG_SLOT_NAME:
        return name_slot(x, st, p);
    case TG_SLOT_TS:
        return time_slot(x, st, p, &x->ev->ts, &x->ev->ts_float, &x->ev->ts_text);
    case TG_SLOT_DUR:
        return time_slot(x, st, p, &x->ev->dur, &x->ev->dur_float, &x->ev->dur_text);
    case TG_SLOT_PID:
    case TG_SLOT_TID:
        return thread_slot(x, st, p);
    case TG_SLOT_OTHER:
        return other_value(x, st, p);
    default:
        return integer_slot(x, st, p);
    }
}

/* Another shape that is the same up to step `i` and continues with the literal at `p`. */
static RARE struct tg_shape *other_shape(const struct fast *x, unsigned i, const char *p)
{
    struct tg_shapes *f = x->f;
    uint64_t prefix = x->sh ? x->sh->step[i].prefix : 0;
    for (unsigned k = 0; k < f->n; k++) {
        struct tg_shape *sh = f->shape[k];
        if (sh == x->sh || i >= sh->n || sh->step[i].prefix != prefix ||
            !equals(p, sh->step[i].literal, sh->step[i].n))
            continue;
        if (k > 8) { /* a few at the front are found faster than by a list that is always in
                        order */
            memmove(f->shape + 1, f->shape, k * sizeof *f->shape);
            f->shape[0] = sh;
        }
        return sh;
    }
    return NULL;
}

/* A remembered text that the event has, as its value. */
static struct tg_value remembered(const char *p, uint32_t n)
{
    bool quoted = *p == '"';
    return (struct tg_value){ .raw = { p + quoted, n - 1 - 2 * (size_t)quoted },
                              .type = quoted ? TG_TOKEN_STRING : TG_TOKEN_NUMBER };
}

/* The thread is not that of the shape's last event: both texts are read in full. */
static RARE void spell_thread(struct fast *x)
{
    if (x->pid && !x->new_pid)
        x->out->pid = remembered(x->pid, x->sh->pid_n);
    if (x->tid && !x->new_tid)
        x->out->tid = remembered(x->tid, x->sh->tid_n);
}

/* The same so far, but what the literals decide may differ, and so may the remembered thread. */
static RARE void change_shape(struct fast *x, struct tg_shape *sh)
{
    struct tg_event *ev = x->ev;
    ev->ph = sh->proto.ph;
    ev->has_name = sh->proto.has_name;
    ev->has_cat = sh->proto.has_cat;
    ev->has_ts = sh->proto.has_ts;
    ev->has_dur = sh->proto.has_dur;
    spell_thread(x);
    x->new_pid = x->pid && !(sh->pid_n && equals(x->pid, sh->pid, sh->pid_n));
    x->new_tid = x->tid && !(sh->tid_n && equals(x->tid, sh->tid, sh->tid_n));
    x->sh = sh;
}

static HOT void take_texts(struct fast *x)
{
    struct tg_raw_event *out = x->out;
    const struct tg_shape *sh = x->sh;
    struct tg_event *ev = x->ev;
    if (x->new_pid || x->new_tid || sh->thread == TG_NO_ID) {
        spell_thread(x);
        if (!x->pid)
            out->pid = (struct tg_value){ .type = TG_TOKEN_NULL };
        if (!x->tid)
            out->tid = (struct tg_value){ .type = TG_TOKEN_NULL };
        ev->thread = TG_NO_ID;
    } else {
        ev->thread = sh->thread;
    }
    if (!ev->has_name)
        out->name = (struct tg_value){ .raw = { "", 0 }, .type = TG_TOKEN_NULL };
    if (ev->has_name || ev->has_cat)
        ev->name = find_name(x->names, sh, out->name.raw);
    if (ev->name == TG_NO_ID)
        out->cat = (struct tg_value){ .raw = sh->cat,
                                      .type = ev->has_cat ? TG_TOKEN_STRING : TG_TOKEN_NULL };
}

/* Where args are, and the values of attributes: `p` and `end` are those of the slot. */
static inline void note(struct fast *x, const struct tg_shape_step *st, const char *p,
                        const char *end)
{
    const char *literal = p - st->n;
    if (st->mark & TG_MARK_ARGS_BEGIN)
        x->args = literal + x->sh->args_from;
    if (st->mark & TG_MARK_ARGS_END)
        x->ev->args = (tg_sv){ x->args, (size_t)(literal + x->sh->args_to - x->args) };
    if (st->mark & TG_MARK_ATTR) {
        x->out->attrs.have |= (uint32_t)1 << st->attr;
        x->out->attrs.v[st->attr] = (tg_sv){ p, (size_t)(end - p) };
    }
}

bool RUN(struct tg_shapes *f, struct tg_scan *s, const struct tg_intern *names,
         struct tg_raw_event *out, struct tg_event *ev)
{
    const char *p = s->p, *at;
    struct tg_shape *sh = f->last ? f->last->next : NULL;
    struct fast x = { f, s, names, out, ev, NULL, f->depth + 1, NULL, NULL, NULL, false, false };
    struct tg_shape_step *st;
    out->rounded = 0;
    out->attrs.have = 0;
    f->slow_slot = f->passed = false;
    if (!sh || !equals(p, sh->step[0].literal, sh->step[0].n))
        sh = other_shape(&x, 0, p);
    if (!sh)
        return false;
    x.sh = sh;
    *ev = sh->proto;
    for (st = sh->step;;) {
        at = p += st->n;
        if (st->slot == TG_SLOT_END)
            break;
        if (st->slot == TG_SLOT_PID && sh->thread_n && equals(p, sh->thread_text, sh->thread_n)) {
            x.pid = p;
            x.tid = p + sh->tid_at;
            p += sh->thread_n - 1;
            st++;
        } else {
            p = slot(&x, st, p);
            if (!p)
                return false;
        }
        if (st->mark)
            note(&x, st, at, p);
        st++;
        if (equals(p, st->literal, st->n))
            continue;
        if ((*p == '.' || *p == 'e' || *p == 'E') && TG_SLOT_NUMBER <= st[-1].slot &&
            st[-1].slot <= TG_SLOT_OTHER) {
            p = fraction(&x, st - 1, at, p);
            if (!p)
                return false;
            if (st[-1].mark)
                note(&x, st - 1, at, p);
            if (equals(p, st->literal, st->n))
                continue;
        }
        sh = other_shape(&x, (unsigned)(st - x.sh->step), p);
        if (!sh)
            return false;
        st = &sh->step[st - x.sh->step];
        change_shape(&x, sh);
    }
    if (st->mark)
        note(&x, st, p, p);
    take_texts(&x);
    if (f->between_n && equals(p, f->between, f->between_n)) {
        f->passed = true;
        p += f->between_n - 1;
    }
    s->p = p;
    if (f->last)
        f->last->next = sh;
    f->last = sh;
    return true;
}
