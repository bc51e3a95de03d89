#include "core/trace/shape.h"

#include <stdlib.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

struct learner {
    struct tg_shape *sh;
    const char *from; /* where the open literal begins */
    uint64_t prefix;
    size_t literals; /* bytes so far */
    unsigned seen;   /* known keys met: a repeated one would need "the last wins" */
    bool failed;
};

void tg_shapes_release(struct tg_shapes *f)
{
    for (unsigned i = 0; i < f->n; i++) {
        free(f->shape[i]->text);
        free(f->shape[i]);
    }
    if (f->memo_arena)
        tg_arena_free(f->memo_arena);
    free(f->memo);
    free(f->memo_slot);
    *f = (struct tg_shapes){ 0 };
}

/* ---- learning ---- */

static void close_literal(struct learner *l, const char *end, enum tg_slot slot, uint8_t depth)
{
    struct tg_shape *sh = l->sh;
    struct tg_shape_step *st = &sh->step[sh->n];
    size_t n = (size_t)(end - l->from);
    if (sh->n == TG_SHAPE_STEPS || l->literals + n > 8192) {
        l->failed = true;
        return;
    }
    *st = (struct tg_shape_step){ .mark = st->mark,
                                  .prefix = l->prefix,
                                  .literal = l->from, /* moved into sh->text at the end */
                                  .n = (uint32_t)n,
                                  .slot = (uint8_t)slot,
                                  .depth = depth };
    if (TG_SLOT_NUMBER <= slot && slot <= TG_SLOT_OTHER)
        slot = TG_SLOT_NUMBER; /* both accept the same values */
    l->prefix = tg_text_hash(l->from, n, l->prefix + (uint64_t)slot * 64 + depth + 1);
    l->literals += n;
    sh->n++;
}

static enum tg_slot slot_for(const char *p)
{
    switch (*p) {
    case '"':
        return TG_SLOT_TEXT;
    case '{':
    case '[':
        return TG_SLOT_NESTED;
    case 't':
    case 'f':
        return TG_SLOT_OTHER;
    default: /* null as well: in the next event the value is mostly a number */
        return TG_SLOT_NUMBER;
    }
}

/* Adds a slot for the value at s->p, and moves past the value. */
static void cut(struct learner *l, struct tg_scan *s, enum tg_slot slot, uint8_t depth)
{
    struct tg_value ignored;
    close_literal(l, s->p, slot, depth);
    l->failed |= !tg_scan_value(s, &ignored);
    l->from = s->p;
}

static void once(struct learner *l, unsigned key)
{
    l->failed |= (l->seen >> key & 1) != 0;
    l->seen |= 1u << key;
}

static enum tg_slot args_slot(struct learner *l, const struct tg_value *key, const char *p)
{
    static const struct {
        const char *key;
        enum tg_slot slot;
        unsigned bit;
    } wanted[] = { { "stream", TG_SLOT_STREAM, 8 },
                   { "correlation", TG_SLOT_CORRELATION, 9 },
                   { "External id", TG_SLOT_EXTERNAL, 10 },
                   { "external id", TG_SLOT_EXTERNAL, 10 },
                   { "device", TG_SLOT_DEVICE, 11 } };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (tg_sv_eq(key->raw, tg_sv_of(wanted[i].key))) {
            once(l, wanted[i].bit);
            return wanted[i].slot;
        }
    return slot_for(p);
}

static void learn_args(struct learner *l, struct tg_scan *s, bool want_args)
{
    struct tg_value key;
    bool first = true;
    int more = -1;
    if (*s->p != '{' ||
        l->sh->n == TG_SHAPE_STEPS) { /* the value decides whether there are args at all */
        l->failed = true;
        return;
    }
    if (want_args) {
        l->sh->step[l->sh->n].mark |= TG_MARK_ARGS_BEGIN;
        l->sh->args_from = (uint32_t)(s->p - l->from);
    }
    s->p++;
    while (!l->failed && (more = tg_scan_member(s, &first, &key)) > 0) {
        enum tg_attr_key attr = tg_attr_of_key(key.raw);
        unsigned step = l->sh->n;
        l->failed |= key.escaped;
        cut(l, s, want_args ? args_slot(l, &key, s->p) : slot_for(s->p), 1);
        if (l->failed || !want_args || attr == TG_ATTRS)
            continue;
        once(l, 12 + (unsigned)attr);
        l->sh->step[step].attr = (uint8_t)attr;
        l->sh->step[step].mark |= TG_MARK_ATTR;
    }
    l->failed |= more != 0;
    if (want_args) {
        l->sh->step[l->sh->n].mark |= TG_MARK_ARGS_END;
        l->sh->args_to = (uint32_t)(s->p - l->from);
    }
}

/* Texts that are part of the literal: they decide the kind of the event. */
static tg_sv keep_literal(struct learner *l, struct tg_scan *s)
{
    struct tg_value v;
    if (!tg_scan_value(s, &v) || v.type != TG_TOKEN_STRING || v.escaped)
        l->failed = true;
    return l->failed ? (tg_sv){ "", 0 } : v.raw;
}

static void learn_member(struct learner *l, struct tg_scan *s, const struct tg_value *key,
                         bool want_args)
{
    enum { PH, CAT, ARGS, KEYS = 8 };
    static const struct {
        const char *key;
        enum tg_slot slot; /* END: none */
    } keys[KEYS] = { { "ph", TG_SLOT_END },    { "cat", TG_SLOT_END }, { "args", TG_SLOT_END },
                     { "name", TG_SLOT_NAME }, { "pid", TG_SLOT_PID }, { "tid", TG_SLOT_TID },
                     { "ts", TG_SLOT_TS },     { "dur", TG_SLOT_DUR } };
    struct tg_event *proto = &l->sh->proto;
    unsigned k = 0;
    l->failed |= key->escaped;
    while (k < KEYS && !tg_sv_eq(key->raw, tg_sv_of(keys[k].key)))
        k++;
    if (k < KEYS)
        once(l, k);
    if (k == PH) {
        tg_sv text = keep_literal(l, s);
        proto->ph = text.n ? text.p[0] : '\0';
    } else if (k == CAT) {
        l->sh->cat = keep_literal(l, s);
        proto->has_cat = true;
    } else if (k == ARGS) {
        learn_args(l, s, want_args);
    } else if (k < KEYS) {
        proto->has_name |= keys[k].slot == TG_SLOT_NAME;
        proto->has_ts |= keys[k].slot == TG_SLOT_TS;
        proto->has_dur |= keys[k].slot == TG_SLOT_DUR;
        cut(l, s, keys[k].slot, 0);
    } else if (key->raw.n <= 2 && *s->p == '"') {
        (void)keep_literal(l, s); /* "s", "bp": one of a few words */
    } else {
        cut(l, s, slot_for(s->p), 0);
    }
}

/* Literals and category move into the shape's own memory, each with room for over-reading. */
static void own_texts(struct tg_shape *sh, size_t literals)
{
    size_t at = 0;
    sh->text = tg_xmalloc(literals + sh->cat.n + (sh->n + 1) * TG_SHAPE_PAD);
    for (unsigned i = 0; i <= sh->n; i++) {
        tg_sv from = i < sh->n ? (tg_sv){ sh->step[i].literal, sh->step[i].n } : sh->cat;
        if (from.n)
            memcpy(sh->text + at, from.p, from.n);
        memset(sh->text + at + from.n, 0, TG_SHAPE_PAD);
        if (i < sh->n)
            sh->step[i].literal = sh->text + at;
        else
            sh->cat.p = sh->text + at;
        at += from.n + TG_SHAPE_PAD;
    }
    sh->seed = tg_intern_seed(sh->cat);
}

static bool learn(struct tg_shape *sh, tg_sv event, bool want_args)
{
    struct learner l = { .sh = sh, .from = event.p };
    struct tg_scan s = tg_scan_object(event);
    struct tg_value key;
    bool first = true;
    int more = -1;
    while (!l.failed && (more = tg_scan_member(&s, &first, &key)) > 0)
        learn_member(&l, &s, &key, want_args);
    if (more == 0 && !l.failed)
        close_literal(&l, s.p, TG_SLOT_END, 0);
    if (more != 0 || l.failed)
        return false;
    own_texts(sh, l.literals);
    return true;
}

static bool is_known(const struct tg_shapes *f, const struct tg_shape *sh)
{
    const struct tg_shape_step *end = &sh->step[sh->n - 1];
    for (unsigned i = 0; i < f->n; i++) {
        const struct tg_shape *old = f->shape[i];
        const struct tg_shape_step *other = &old->step[old->n - 1];
        if (old->n == sh->n && other->prefix == end->prefix && other->n == end->n &&
            memcmp(other->literal, end->literal, end->n) == 0)
            return true;
    }
    return false;
}

void tg_shapes_learn(struct tg_shapes *f, tg_sv event, bool want_args)
{
    /* A file whose events never look alike must not pay for it twice. */
    if (!f->run || (f->made > 512 && f->misses > f->hits / 8))
        return;
    struct tg_shape *sh = tg_xmalloc(sizeof *sh);
    *sh = (struct tg_shape){ .thread = TG_NO_ID };
    sh->proto = (struct tg_event){ .name = TG_NO_ID,
                                   .thread = TG_NO_ID,
                                   .stream = TG_NO_STREAM,
                                   .correlation = TG_NO_CORRELATION,
                                   .external_id = -1,
                                   .device = -1,
                                   .ts_text = { "", 0 },
                                   .dur_text = { "", 0 },
                                   .args = { "", 0 } };
    if (!learn(sh, event, want_args) || is_known(f, sh)) {
        free(sh->text);
        free(sh);
        return;
    }
    f->made++;
    if (f->n == TG_SHAPES) { /* into the memory of the oldest: others may point at it */
        struct tg_shape *old = f->shape[TG_SHAPES - 1];
        free(old->text);
        *old = *sh;
        free(sh);
    } else {
        f->shape[f->n++] = sh;
    }
}

static void note_thread(struct tg_shape *sh, const struct tg_raw_event *raw, uint32_t id)
{
    const struct tg_value *from[] = { &raw->pid, &raw->tid };
    char *to[] = { sh->pid, sh->tid };
    uint32_t *n[] = { &sh->pid_n, &sh->tid_n };
    sh->thread = id;
    for (int k = 0; k < 2; k++) {
        size_t quotes = from[k]->type == TG_TOKEN_STRING ? 2 : 0;
        size_t size = from[k]->raw.n + quotes;
        if (from[k]->type == TG_TOKEN_NULL)
            continue;
        *n[k] = 0;
        if (size + 1 > TG_THREAD_TEXT) {
            sh->thread = TG_NO_ID;
            continue;
        }
        memcpy(to[k], from[k]->raw.p - quotes / 2, size + 1);
        *n[k] = (uint32_t)size + 1;
    }
}

/* pid, literal, tid and the byte after it as one text. */
static void note_both(struct tg_shape *sh)
{
    unsigned i = 0;
    size_t n;
    sh->thread_n = 0;
    while (i < sh->n && sh->step[i].slot != TG_SLOT_PID)
        i++;
    if (i + 1 >= sh->n || sh->step[i + 1].slot != TG_SLOT_TID || sh->step[i].mark ||
        sh->step[i + 1].mark || !sh->pid_n || !sh->tid_n || sh->thread == TG_NO_ID)
        return;
    n = sh->step[i + 1].n;
    sh->tid_at = sh->pid_n - 1 + (uint32_t)n;
    if (sh->tid_at + sh->tid_n > 2 * TG_THREAD_TEXT)
        return;
    memcpy(sh->thread_text, sh->pid, sh->pid_n - 1);
    memcpy(sh->thread_text + sh->pid_n - 1, sh->step[i + 1].literal, n);
    memcpy(sh->thread_text + sh->tid_at, sh->tid, sh->tid_n);
    sh->thread_n = sh->tid_at + sh->tid_n;
}

void tg_shapes_note(struct tg_shapes *f, const struct tg_raw_event *raw, const struct tg_event *ev,
                    const struct tg_intern *names, bool clean)
{
    if (clean) {
        note_thread(f->last, raw, ev->thread);
        note_both(f->last);
    }
    if (ev->name != TG_NO_ID)
        f->last->cat_known = tg_intern_at(names, ev->name)->a.p;
}

/* ---- which instruction set ---- */

#if defined(__x86_64__)
/*
 * AVX2 and BMI2, with registers that the system saves. __builtin_cpu_supports would ask the
 * processor about all it knows before main, in every process: 0.06 ms in a virtual machine.
 */
static bool has_avx2(void)
{
    const unsigned enabled = bit_OSXSAVE | bit_AVX, wide = bit_AVX2 | bit_BMI2, saved = 6;
    unsigned a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & enabled) != enabled)
        return false;
    __asm__("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    return (a & saved) == saved && __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & wide) == wide;
}
#endif

static tg_shape_run *best(const char *isa)
{
    bool any = !isa || !*isa;
#if defined(__x86_64__)
    if ((any || strcmp(isa, "avx2") == 0) && has_avx2())
        return tg_shape_run_avx2;
    if (any || strcmp(isa, "sse2") == 0)
        return tg_shape_run_sse2;
#elif defined(__aarch64__)
    if (any || strcmp(isa, "neon") == 0)
        return tg_shape_run_neon;
#endif
    return any || strcmp(isa, "c") == 0 ? tg_shape_run_c : NULL;
}

void tg_shapes_init(struct tg_shapes *f, const char *isa)
{
    *f =
        (struct tg_shapes){ .run = best(isa), .digits8 = tg_load8("10000000"), .value8 = 10000000 };
    if (!f->run)
        return;
    f->memo_arena = tg_arena_new();
    f->memo_slot = tg_xcalloc(TG_MEMO_SLOTS, sizeof *f->memo_slot);
}
