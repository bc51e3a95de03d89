#ifndef TG_TRACE_SHAPE_H
#define TG_TRACE_SHAPE_H
/*
 * The fast path; internal to core/trace. A profiler writes its events with a few format strings, so
 * nearly all bytes of an event are those of an earlier one. A shape remembers them:
 *
 *   {"ph": "X", "cat": "kernel", "name": "    literal 0      slot NAME
 *   ", "pid":                                 literal 1      slot PID        ...
 *
 * An event is read by comparing literals and parsing only the slots. The literals
 * were checked as JSON when the shape was made, and equal bytes at an equal place are equal tokens,
 * so this is exact. Whatever does not fit (another spelling, an escape, a number of unusual form,
 * the window's end) makes the event fall back to the generic path with nothing changed: the generic
 * path alone defines the meaning, and tests run both on everything.
 *
 * Nested values (shapes of tensors, grids) repeat as well: a memo keeps the texts that were checked
 * once. A nested value ends with its own bracket, so equal bytes are an equal value.
 */
#include "core/trace/intern.h"
#include "core/trace/kineto.h"

#define TG_SHAPE_STEPS 56
#define TG_SHAPES 64
#define TG_SHAPE_PAD 32 /* literals are compared in blocks of up to 32 bytes */
#define TG_BETWEEN 64
#define TG_THREAD_TEXT 32
#define TG_MEMO_SLOTS 4096
#define TG_MEMO_BYTES ((size_t)1 << 20)

enum tg_slot {
    TG_SLOT_END, /* the last literal ends with the event's brace */
    TG_SLOT_NAME,
    TG_SLOT_TS,
    TG_SLOT_DUR,
    TG_SLOT_PID,
    TG_SLOT_TID,
    TG_SLOT_NUMBER, /* this and the next three: checked, not wanted; the type that the slot saw
                       first, but any value is accepted */
    TG_SLOT_TEXT,
    TG_SLOT_NESTED,
    TG_SLOT_OTHER,
    TG_SLOT_STREAM,
    TG_SLOT_CORRELATION,
    TG_SLOT_EXTERNAL,
    TG_SLOT_DEVICE
};

enum { TG_MARK_ARGS_BEGIN = 1, TG_MARK_ARGS_END = 2, TG_MARK_ATTR = 4 };

/* How a nested value is looked up. If short values are followed by numbers that never repeat, fewer
 * bytes are better; if no value repeats, the memo is given up. */
enum tg_memo_key { TG_MEMO_LONG, TG_MEMO_SHORT, TG_MEMO_OFF };

struct tg_shape_step {
    const char *literal;
    uint64_t prefix; /* hash of everything before: shapes with equal prefixes share a beginning */
    uint32_t n;
    uint8_t slot, depth; /* depth: nesting of the slot below the event */
    uint8_t mark;        /* the literal holds a brace of args, the slot an attribute */
    uint8_t attr;        /* enum tg_attr_key */
    uint8_t memo;        /* of a nested slot: enum tg_memo_key */
    uint32_t memo_hits, memo_misses;
};

struct tg_shape {
    struct tg_shape_step step[TG_SHAPE_STEPS];
    unsigned n;
    struct tg_event proto;       /* what the literals decide: ph, has_* */
    uint32_t args_from, args_to; /* positions of the braces of args in their literals */
    tg_sv cat;
    const char *cat_known; /* the name table's copy of it; NULL: not met yet */
    uint64_t seed;
    char *text; /* owns the literals and the category */
    struct tg_shape *next;
    /* The thread of this shape's last event: its texts, each with the byte after it. */
    char pid[TG_THREAD_TEXT + TG_SHAPE_PAD], tid[TG_THREAD_TEXT + TG_SHAPE_PAD];
    uint32_t pid_n, tid_n, thread; /* n 0: no text */
    /* Both at once, with the literal between them, if they follow each other. */
    char thread_text[2 * TG_THREAD_TEXT + TG_SHAPE_PAD];
    uint32_t thread_n, tid_at;
};

struct tg_memo {
    uint64_t hash;
    char *text;
    uint32_t n, next;
};

struct tg_shapes {
    struct tg_shape *shape[TG_SHAPES]; /* most recently useful first */
    unsigned n;
    struct tg_shape *last;
    uint64_t hits, misses, made;
    struct tg_memo *memo; /* chains by hash; index + 1, 0: end */
    uint32_t *memo_slot;
    size_t memo_n, memo_cap, memo_bytes;
    struct tg_arena *memo_arena;
    bool memo_wide;
    /* The text between the last two events, from after '}' up to and including '{'. */
    char between[TG_BETWEEN + TG_SHAPE_PAD];
    uint32_t between_n;       /* 0: unknown */
    unsigned depth;           /* nesting depth of events */
    uint64_t digits8, value8; /* eight digits as bytes, and their value */
    bool passed;              /* the last run consumed it, up to the next event */
    bool slow_slot;           /* the last run used the generic path for a slot: look at scan.seen */
    bool (*run)(struct tg_shapes *, struct tg_scan *, const struct tg_intern *,
                struct tg_raw_event *, struct tg_event *);
};

/*
 * Reads the event at s->p by a known shape. True: `ev` is complete but for its index; if ev->name
 * is TG_NO_ID while has_name or has_cat, or ev->thread is TG_NO_ID, the reader interns the texts in
 * `raw`. False: nothing has changed but *ev and *raw.
 */
typedef bool tg_shape_run(struct tg_shapes *, struct tg_scan *, const struct tg_intern *,
                          struct tg_raw_event *raw, struct tg_event *ev);
tg_shape_run tg_shape_run_c, tg_shape_run_sse2, tg_shape_run_avx2, tg_shape_run_neon;

/* `isa`: "avx2", "sse2", "neon", "c" or NULL for the best; "generic" (or an unknown name): no fast
 * path. */
void tg_shapes_init(struct tg_shapes *f, const char *isa);
void tg_shapes_release(struct tg_shapes *f);
/* Learns from an event that the generic path has accepted without a leniency. */
void tg_shapes_learn(struct tg_shapes *f, tg_sv event, bool want_args);
/* The reader has found the ids of the last event; the texts may be kept if nothing was odd. */
void tg_shapes_note(struct tg_shapes *f, const struct tg_raw_event *raw, const struct tg_event *ev,
                    const struct tg_intern *names, bool clean);
/* `tries`: how many other shapes were compared before it was known to be new. */
void tg_memo_add(struct tg_shapes *f, uint64_t hash, tg_sv text, unsigned tries);

/*
 * The key has 32 bytes from where a value begins, or 16; or 64 if each token has a line of its own.
 */
static inline uint64_t tg_memo_hash(const char *p, enum tg_memo_key key, bool wide)
{
    bool shorter = key == TG_MEMO_SHORT;
    static const uint64_t k0 = 0x9e3779b97f4a7c15u, k1 = 0xbf58476d1ce4e5b9u;
    uint64_t h = tg_hash_fold(tg_load8(p) ^ k0, tg_load8(p + 8) ^ k1);
    if (!shorter)
        h ^= tg_hash_fold(tg_load8(p + 16) ^ k1, tg_load8(p + 24) ^ k0);
    if (wide && !shorter)
        h ^= tg_hash_fold(tg_load8(p + 32) ^ k0 ^ h, tg_load8(p + 40) ^ k1) ^
             tg_hash_fold(tg_load8(p + 48) ^ k1 ^ h, tg_load8(p + 56) ^ k0);
    return h ^ h >> 32;
}
#endif
