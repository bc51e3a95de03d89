#include <stdlib.h>

#include "core/base/keymap.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/metric/collective.h"
#include "core/summary/beside.h"
#include "core/summary/internal.h"
#include "core/summary/pack.h"

enum { ROW_WORDS = 4, ATTR_WORDS = 2 }; /* of a key in the maps below */

/* The key of a row: ids of clean texts, so that names with the same clean text are one row. */
struct key {
    uint32_t name, cat, parent;
    int64_t device, stream;
};

struct row {
    struct key key;
    enum tg_kind kind;
    tg_ns first;
    uint16_t n_attrs[TG_ATTR_KINDS];
    bool attrs_capped;
    char *which; /* which collectives its slots are, in their order; NULL: none is numbered */
};

/* (row, kind of attribute, value) -> how often */
struct attr {
    uint32_t row, kind, value;
    uint64_t count;
};

/* A collective in a step. */
struct call {
    uint32_t span, attr;
};

struct build {
    const struct tg_trace *t;
    const struct tg_steps *s;
    struct tg_arena *a;
    struct tg_shard *out;
    size_t max_attrs;
    struct tg_strmap texts;        /* clean names, categories, parents */
    uint32_t *name, *cat, *parent; /* per name id: text ids; parent: as an encloser */
    uint32_t no_parent;
    struct tg_name_class *class_; /* per name id; NULL: totals alone */
    struct row *rows;
    size_t n_rows, rows_cap;
    struct tg_keymap row_ids;   /* key -> row */
    struct tg_span_rows row_of; /* once the tree is there, the nodes */
    struct tg_placed placed;
    struct tg_strmap values;
    uint32_t *value; /* per attribute id and kind: id in values; TG_NO_ID: none */
    struct tg_collective_id *collective; /* per attribute id */
    struct call *calls;                  /* in the total order */
    size_t n_calls;
    struct attr *attrs;
    size_t n_attrs, attrs_cap;
    struct tg_keymap attr_ids; /* row, value, kind -> attribute */
};

static uint32_t text_id(struct tg_strmap *m, tg_sv s)
{
    TG_BUF clean = { 0 };
    if (tg_text_is_clean(s))
        return tg_strmap_add(m, s);
    tg_utf8_clean(&clean, s);
    return tg_strmap_add(m, tg_buf_sv(&clean));
}

static void intern_names(struct build *b)
{
    const struct tg_names *names = b->t->names;
    b->name = tg_xrealloc(NULL, names->n + 1, sizeof *b->name);
    b->cat = tg_xrealloc(NULL, names->n + 1, sizeof *b->cat);
    b->parent = tg_xrealloc(NULL, names->n + 1, sizeof *b->parent);
    for (size_t i = 0; i < names->n; i++) {
        const struct tg_name *n = &names->v[i];
        b->name[i] = text_id(&b->texts, n->name);
        b->cat[i] = text_id(&b->texts, n->cat);
        b->parent[i] =
            n->kind == TG_KIND_STEP ? text_id(&b->texts, TG_SV("ProfilerStep")) : b->name[i];
    }
    b->no_parent = text_id(&b->texts, TG_SV(""));
}

static struct key key_of(const struct build *b, uint32_t i, const struct tg_span *s)
{
    const struct tg_track *k = &b->t->tracks[s->track];
    bool device = tg_kind_is_on_device(tg_span_kind(b->t, s));
    /* The enclosing operator, annotation or step; runtime calls around a call are skipped. */
    uint32_t up = b->s->parent ? b->s->parent[i] : TG_NO_SPAN;
    while (up != TG_NO_SPAN && tg_kind_is_call(tg_span_kind(b->t, tg_span_at(b->t, up))))
        up = b->s->parent[up];
    return (struct key){ b->name[s->name], b->cat[s->name],
                         up == TG_NO_SPAN ? b->no_parent : b->parent[tg_span_at(b->t, up)->name],
                         device ? k->device : -1,
                         device && k->stream != TG_NO_STREAM ? k->stream : -1 };
}

static bool same_key(const struct key *p, const struct key *q)
{
    return p->name == q->name && p->cat == q->cat && p->parent == q->parent &&
           p->device == q->device && p->stream == q->stream;
}

static uint32_t row_for(struct build *b, const struct key *k, tg_ns start)
{
    const uint64_t words[ROW_WORDS] = { (uint64_t)k->name << 32 | k->cat, k->parent,
                                        (uint64_t)k->device, (uint64_t)k->stream };
    uint32_t id = tg_keymap_add(&b->row_ids, words);
    if (id == b->n_rows)
        *TG_PUSH(b->rows, b->n_rows, b->rows_cap) =
            (struct row){ .key = *k,
                          .kind = tg_kind_of(b->texts.text[k->cat], b->texts.text[k->name]),
                          .first = start };
    return id;
}

/* ---- launch attributes ---- */

tg_sv tg_attr_kind_name(enum tg_attr_kind k)
{
    static const tg_sv names[TG_ATTR_KINDS] = {
        [TG_ATTR_KIND_BYTES] = { "bytes", 5 },   [TG_ATTR_KIND_COLLECTIVE] = { "collective", 10 },
        [TG_ATTR_KIND_LAUNCH] = { "launch", 6 }, [TG_ATTR_KIND_SHAPES] = { "shapes", 6 },
        [TG_ATTR_KIND_TYPES] = { "types", 5 },   [TG_ATTR_KIND_WHICH] = { "which", 5 },
    };
    return names[k];
}

static const struct {
    tg_sv key;
    int kind; /* -1: not exact (differs from run to run), or only for tg_collective_id_of */
    bool bare;
} keys[] = {
    { { "grid", 4 }, TG_ATTR_KIND_LAUNCH, false },
    { { "block", 5 }, TG_ATTR_KIND_LAUNCH, false },
    { { "registers", 9 }, TG_ATTR_KIND_LAUNCH, false },
    { { "shared", 6 }, TG_ATTR_KIND_LAUNCH, false },
    { { "occupancy", 9 }, TG_ATTR_KIND_LAUNCH, false },
    { { "collective", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "dtype", 5 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "nelems_in", 9 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "nelems_out", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group_size", 10 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group", 5 }, TG_ATTR_KIND_COLLECTIVE, false },
    { { "group_ranks", 11 }, -1, false },
    { { "seq", 3 }, -1, false },
    { { "comms_id", 8 }, -1, false },
    { { "bytes", 5 }, TG_ATTR_KIND_BYTES, true },
    { { "bandwidth", 9 }, -1, false },
    { { "shapes", 6 }, TG_ATTR_KIND_SHAPES, true },
    { { "types", 5 }, TG_ATTR_KIND_TYPES, true },
};

/* Splits an attribute text of core/trace into values per kind; "" if there is none. */
static void split_attr(tg_sv text, struct tg_buf value[TG_ATTR_KINDS])
{
    for (int k = 0; k < TG_ATTR_KINDS; k++)
        tg_buf_clear(&value[k]);
    while (text.n) {
        tg_sv line = tg_sv_cut(&text, '\n'), rest = line, key = tg_sv_cut(&rest, '=');
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            if (!tg_sv_eq(key, keys[i].key) || keys[i].kind < 0)
                continue;
            struct tg_buf *to = &value[keys[i].kind];
            if (to->n)
                tg_buf_putc(to, '\n');
            /* AMD writes bytes as text: "123" and 123 are one attribute. */
            tg_buf_add(to, !keys[i].bare                        ? line
                           : keys[i].kind == TG_ATTR_KIND_BYTES ? tg_sv_unquoted(rest)
                                                                : rest);
        }
    }
}

static void split_attrs(struct build *b)
{
    struct tg_buf value[TG_ATTR_KINDS] = { { 0 } };
    size_t n = b->t->attrs.n;
    b->value = tg_xrealloc(NULL, n * TG_ATTR_KINDS + 1, sizeof *b->value);
    b->collective = tg_xrealloc(NULL, n + 1, sizeof *b->collective);
    for (size_t i = 0; i < n; i++) {
        b->collective[i] = tg_collective_id_of(b->t->attrs.text[i]);
        split_attr(b->t->attrs.text[i], value);
        for (size_t k = 0; k < TG_ATTR_KINDS; k++) {
            tg_sv text = tg_buf_sv(&value[k]);
            b->value[i * TG_ATTR_KINDS + k] = text.n ? text_id(&b->values, text) : TG_NO_ID;
        }
    }
    for (size_t k = 0; k < TG_ATTR_KINDS; k++)
        tg_buf_release(&value[k]);
}

/* In the total order, so that the attributes kept within the limit are the same for every file.
 * TG_NO_ID: there was no room. */
static uint32_t attr_for(struct build *b, uint32_t row, uint32_t kind, uint32_t value)
{
    const uint64_t words[ATTR_WORDS] = { (uint64_t)row << 32 | value, kind };
    uint32_t id = tg_keymap_find(&b->attr_ids, words);
    if (id != TG_NO_ID)
        return id;
    if (b->rows[row].n_attrs[kind] >= b->max_attrs) {
        b->rows[row].attrs_capped = true;
        return TG_NO_ID;
    }
    b->rows[row].n_attrs[kind]++;
    (void)tg_keymap_add(&b->attr_ids, words);
    *TG_PUSH(b->attrs, b->n_attrs, b->attrs_cap) = (struct attr){ row, kind, value, 0 };
    return (uint32_t)b->n_attrs - 1;
}

/* Equal launch attributes mostly come with one row: then they are looked up once. */
struct seen {
    uint32_t row; /* TG_NO_ID: none yet */
    uint32_t attr[TG_ATTR_KINDS];
};

static void count_attrs(struct build *b, struct seen *seen, uint32_t row, uint32_t attr)
{
    const uint32_t *value = &b->value[(size_t)attr * TG_ATTR_KINDS];
    if (seen->row != row)
        for (uint32_t f = 0; f < TG_ATTR_KINDS; f++)
            seen->attr[f] = value[f] == TG_NO_ID ? TG_NO_ID : attr_for(b, row, f, value[f]);
    seen->row = row;
    for (uint32_t f = 0; f < TG_ATTR_KINDS; f++)
        if (seen->attr[f] != TG_NO_ID)
            b->attrs[seen->attr[f]].count++;
}

static void collect_rows(struct build *b)
{
    TG_FREE struct seen *seen = tg_xrealloc(NULL, b->t->attrs.n + 1, sizeof *seen);
    TG_FREE uint32_t *last =
        tg_xrealloc(NULL, b->t->names->n + 1, sizeof *last); /* row of each name */
    memset(seen, 0xff, (b->t->attrs.n + 1) * sizeof *seen);
    memset(last, 0xff, (b->t->names->n + 1) * sizeof *last);
    if (!b->row_of.spent)
        b->row_of.column = tg_xrealloc(NULL, b->t->n_spans + 1, sizeof *b->row_of.column);
    for (size_t k = 0; k < b->t->n_spans; k++) {
        uint32_t i = b->s->order[k];
        const struct tg_span *s = tg_span_at(b->t, i);
        struct key key = key_of(b, i, s);
        if (last[s->name] == TG_NO_ID || !same_key(&b->rows[last[s->name]].key, &key))
            last[s->name] = row_for(b, &key, s->start);
        *tg_span_row(&b->row_of, i) = last[s->name];
        if (b->s->step_of[i] >= 0 && s->attr != TG_NO_ID)
            count_attrs(b, &seen[s->attr], last[s->name], s->attr);
    }
}

static void init_rows(struct build *b)
{
    b->out->rows = TG_NEW_N(b->a, struct tg_row, b->n_rows);
    b->out->n_rows = b->n_rows;
    for (size_t r = 0; r < b->n_rows; r++) {
        const struct row *from = &b->rows[r];
        const struct tg_row_key key = { tg_arena_sv(b->a, b->texts.text[from->key.name]),
                                        tg_arena_sv(b->a, b->texts.text[from->key.cat]),
                                        tg_arena_sv(b->a, b->texts.text[from->key.parent]),
                                        from->kind,
                                        from->key.device,
                                        from->key.stream };
        b->out->rows[r] = tg_row_new(&key, b->s->n, b->a);
        b->out->rows[r].attrs_capped = from->attrs_capped;
    }
}

struct first {
    tg_ns at;
    struct tg_row *row;
};

/* Kernels that start at once are in the order of their rows. */
static int by_first(const void *pa, const void *pb)
{
    const struct first *a = pa, *b = pb;
    int c = TG_CMP(a->at, b->at);
    return c ? c : tg_row_cmp(a->row, b->row);
}

static void order_kernels(struct build *b)
{
    TG_FREE struct first *v = tg_xrealloc(NULL, b->n_rows + 1, sizeof *v);
    size_t n = 0;
    for (size_t r = 0; r < b->n_rows; r++)
        if (b->rows[r].kind == TG_KIND_KERNEL)
            v[n++] = (struct first){ b->rows[r].first, &b->out->rows[r] };
    TG_SORT(v, n, by_first);
    for (size_t i = 0; i < n; i++)
        v[i].row->order = (uint32_t)i;
}

static size_t bucket(const struct build *b, uint32_t span)
{
    int32_t step = b->s->step_of[span];
    return step < 0 ? b->s->n : (size_t)step;
}

static void add_totals(struct build *b)
{
    for (size_t k = 0; k < b->t->n_spans; k++) {
        uint32_t i = b->s->order[k];
        const struct tg_span *s = tg_span_at(b->t, i);
        struct tg_row *r = &b->out->rows[*tg_span_row(&b->row_of, i)];
        size_t at = bucket(b, i);
        r->count[at]++;
        r->total[at] = tg_ns_add(r->total[at], s->dur > 0 ? s->dur : 0);
    }
}

/* The slot `at` of a row is this collective. */
static void note_collective(struct build *b, uint32_t row, size_t at, uint32_t attr)
{
    struct row *r = &b->rows[row];
    size_t n = (size_t)tg_row_calls(b->out, &b->out->rows[row]) * TG_COLLECTIVE_ID_TEXT;
    TG_BUF text = { 0 };
    if (!r->which)
        r->which = memset(tg_arena_alloc(b->a, n, 1), '0', n);
    tg_collective_id_put(&text, b->collective[attr]);
    memcpy(r->which + at * TG_COLLECTIVE_ID_TEXT, text.p, TG_COLLECTIVE_ID_TEXT);
}

struct cursor {
    struct tg_row *row;
    size_t *next; /* per step: the slot */
};

static void drop_empty_beside(struct build *b)
{
    for (size_t r = 0; r < b->n_rows; r++) {
        struct tg_row *row = &b->out->rows[r];
        size_t n = row->beside ? (size_t)tg_row_calls(b->out, row) : 0;
        while (n && !row->beside[n - 1])
            n--;
        row->beside = n ? row->beside : NULL;
    }
    b->out->beside_known = true;
}

/* Self times, each where it belongs. Slots are in start order, step after step: one cursor per row
 * and step. */
static void fill_slots(struct build *b)
{
    const struct tg_tree *t = &b->out->tree;
    size_t next = 0;
    struct tg_beside beside = { 0 };
    TG_FREE struct cursor *cursor = tg_xrealloc(NULL, b->n_rows + 1, sizeof *cursor);
    for (size_t r = 0; r < b->n_rows; r++) {
        struct tg_row *row = &b->out->rows[r];
        size_t at = 0;
        cursor[r] = (struct cursor){ row, tg_xrealloc(NULL, b->s->n, sizeof *cursor->next) };
        for (size_t k = 0; k < b->s->n; at += row->count[k++])
            cursor[r].next[k] = at;
        row->slots = TG_NEW_N(b->a, tg_ns, at);
        if (tg_kind_is_device(row->key->kind))
            row->beside = TG_NEW_N(b->a, uint8_t, at);
    }
    /* Rows with several nodes say of each slot whose it is. */
    for (size_t i = TG_ROOTS; i < b->placed.n; i++) {
        struct tg_row *row = &b->out->rows[b->placed.node[i].row];
        if (!row->slot_node && b->out->tree.node[b->placed.at[i]].split != TG_NO_ID)
            row->slot_node = TG_NEW_N(b->a, uint32_t, (size_t)tg_row_calls(b->out, row));
    }
    for (size_t k = 0; k < b->t->n_spans; k++) {
        uint32_t i = b->s->order[k], placed = *tg_span_row(&b->row_of, i);
        uint32_t r = b->placed.node[placed].row, node = b->placed.at[placed];
        size_t at = bucket(b, i);
        const struct tg_span *s = tg_span_at(b->t, i);
        tg_ns self = b->s->self ? b->s->self[i] : s->dur;
        uint8_t *of = cursor[r].row->beside;
        if (of && s->dur > 0)
            tg_beside_add(
                &beside,
                &(struct tg_beside_span){
                    .track = s->track,
                    .device = cursor[r].row->key->device,
                    .start = s->start,
                    .end = tg_span_end(s),
                    .slot = b->s->step_of[i] < 0 ? NULL : &of[cursor[r].next[b->s->step_of[i]]] });
        cursor[r].row->self[at] = tg_ns_add(cursor[r].row->self[at], self);
        if (t->node[node].split != TG_NO_ID) {
            size_t cell = t->node[node].split * (b->s->n + 1) + at;
            t->count[cell]++;
            t->self[cell] = tg_ns_add(t->self[cell], self);
        }
        if (b->s->step_of[i] < 0)
            continue;
        size_t slot = cursor[r].next[b->s->step_of[i]]++;
        cursor[r].row->slots[slot] = self;
        if (cursor[r].row->slot_node)
            cursor[r].row->slot_node[slot] = node;
        if (next < b->n_calls && b->calls[next].span == i)
            note_collective(b, r, slot, b->calls[next++].attr);
    }
    tg_beside_end(&beside);
    drop_empty_beside(b);
    for (size_t r = 0; r < b->n_rows; r++)
        free(cursor[r].next);
}

static int by_value(const void *a, const void *b)
{
    const struct tg_attr *x = a, *y = b;
    int c = TG_CMP(x->kind, y->kind);
    return c ? c : tg_sv_cmp(x->value, y->value);
}

static void place_attrs(struct build *b)
{
    for (size_t r = 0; r < b->n_rows; r++) {
        size_t n = 0;
        for (size_t k = 0; k < TG_ATTR_KINDS; k++)
            n += b->rows[r].n_attrs[k];
        b->out->rows[r].attrs = TG_NEW_N(b->a, struct tg_attr, n + (b->rows[r].which != NULL));
    }
    for (size_t f = 0; f < b->n_attrs; f++) {
        const struct attr *from = &b->attrs[f];
        struct tg_row *to = &b->out->rows[from->row];
        to->attrs[to->n_attrs++] =
            (struct tg_attr){ (enum tg_attr_kind)from->kind,
                              tg_arena_sv(b->a, b->values.text[from->value]), from->count };
    }
    for (size_t r = 0; r < b->n_rows; r++) {
        struct tg_row *to = &b->out->rows[r];
        size_t n = (size_t)tg_row_calls(b->out, to);
        if (b->rows[r].which)
            to->attrs[to->n_attrs++] = (struct tg_attr){
                TG_ATTR_KIND_WHICH, { b->rows[r].which, n * TG_COLLECTIVE_ID_TEXT }, n
            };
    }
    for (size_t r = 0; r < b->n_rows; r++)
        TG_SORT(b->out->rows[r].attrs, b->out->rows[r].n_attrs, by_value);
}

/* The step whose window is around the span `i`; n: none. `windows` has a bit for each span: it
 * stays in the cache, which the parents of all spans do not. */
static size_t window_around(const struct build *b, const uint8_t *windows, uint32_t i)
{
    uint32_t up = b->s->parent[i];
    if (up == TG_NO_SPAN || !(windows[up / 8] >> up % 8 & 1) ||
        !tg_kind_nests(tg_span_kind(b->t, tg_span_at(b->t, i))))
        return b->s->n;
    int32_t step = tg_steps_at(b->s, tg_span_at(b->t, up)->start);
    return step >= 0 && b->s->v[step].span == up ? (size_t)step : b->s->n;
}

/* Two walks over the direct children of the windows: count, then measure. */
static void build_gaps(struct build *b)
{
    size_t n = b->s->n;
    TG_FREE tg_ns *cursor = tg_xrealloc(NULL, n, sizeof *cursor);
    TG_FREE tg_ns **at = tg_xrealloc(NULL, n, sizeof *at);
    TG_FREE uint8_t *windows = tg_xcalloc(b->t->n_spans / 8 + 1, 1);
    for (size_t k = 0; b->s->marked && k < n; k++) {
        windows[b->s->v[k].span / 8] |= (uint8_t)(1u << b->s->v[k].span % 8);
        b->out->gap_count[k] = 1;
    }
    for (size_t i = 0; i < b->t->n_spans; i++) {
        size_t w = window_around(b, windows, (uint32_t)i);
        if (w < n)
            b->out->gap_count[w]++;
    }
    b->out->gaps = TG_NEW_N(b->a, tg_ns, tg_shard_gaps(b->out));
    for (size_t k = 0, from = 0; k < n; from += b->out->gap_count[k++]) {
        at[k] = b->out->gaps + from;
        cursor[k] = b->s->v[k].start;
    }
    for (size_t k = 0; k < b->t->n_spans; k++) {
        uint32_t i = b->s->order[k];
        const struct tg_span *s = tg_span_at(b->t, i);
        size_t w = window_around(b, windows, i);
        if (w == n)
            continue;
        *at[w]++ = s->start > cursor[w] ? tg_ns_sub(s->start, cursor[w]) : 0;
        if (tg_span_end(s) > cursor[w])
            cursor[w] = tg_span_end(s);
    }
    for (size_t k = 0; b->s->marked && k < n; k++)
        *at[k] = b->s->v[k].end > cursor[k] ? tg_ns_sub(b->s->v[k].end, cursor[k]) : 0;
}

static void count_damage(struct build *b)
{
    const struct tg_trace_info *info = b->t->info;
    struct tg_shard *out = b->out;
    out->integrity = b->t->integrity;
    out->integrity.unlinked = b->s->unlinked - b->s->unnumbered;
    out->integrity.lost_kernels = b->s->lost_kernels;
    out->integrity.nested_windows = b->s->nested;
    out->integrity.crossing_windows = b->s->crossing;
    out->integrity.repeated = b->s->repeated;
    out->events = info->events;
    out->spans = b->t->n_spans;
    out->graded = 1 + b->t->n_graded;
    out->unassigned = b->s->unassigned;
    out->unlinked = b->s->unlinked;
    out->device_spans = b->s->device_spans;
    out->lenient = (struct tg_lenient){ info->invalid_escapes, info->control_bytes, info->bad_utf8,
                                        info->non_finite, info->huge_integers };
    out->leniencies = info->invalid_escapes + info->control_bytes + info->bad_utf8 +
                      info->non_finite + info->huge_integers;
    out->truncated = info->truncated || b->t->is_capped;
}

static void build_hints(struct build *b)
{
    enum { MOST = 5 };
    struct tg_window_hint found[MOST];
    size_t n = b->s->marked ? 0 : tg_steps_hints(b->t, found, MOST, b->a);
    b->out->hints = TG_NEW_N(b->a, struct tg_window_hint, n);
    b->out->n_hints = n;
    for (size_t i = 0; i < n; i++)
        /* In steps of 1/10000: the stored and hashed value is the one here. */
        b->out->hints[i] =
            (struct tg_window_hint){ tg_clean_text(b->a, found[i].name), found[i].count,
                                     (double)(int64_t)(found[i].covered * 10000 + 0.5) / 10000 };
}

static tg_sv window_text(const struct tg_window_spec *w, struct tg_arena *a)
{
    if (w->by == TG_WINDOW_AUTO)
        return TG_SV("auto");
    if (w->by == TG_WINDOW_WHOLE)
        return TG_SV("whole");
    return tg_clean_text(a, TG_SV_PRINTF(a, "annotation:%.*s", TG_SV_ARG(w->name)));
}

static void release(struct build *b)
{
    tg_strmap_release(&b->texts);
    tg_strmap_release(&b->values);
    free(b->name);
    free(b->cat);
    free(b->parent);
    free(b->class_);
    free(b->rows);
    tg_keymap_release(&b->row_ids);
    free(b->row_of.column);
    tg_placed_release(&b->placed);
    free(b->value);
    free(b->collective);
    free(b->calls);
    free(b->attrs);
    tg_keymap_release(&b->attr_ids);
}

/*
 * Every row has a place for every step; a larger shard would not fit into the stored form either.
 */
static bool within_limits(const struct build *b, size_t n_rows, struct tg_err *err)
{
    if (n_rows <= TG_PACK_MAX / 3 / (b->s->n + 1))
        return true;
    tg_err_set(err, TG_ERR_LIMIT, TG_AT_FILE(b->t->path),
               "%zu names times %zu steps do not fit into a summary", n_rows, b->s->n);
    return tg_err_hint(err, "Record fewer steps, or use a window that is not as short.");
}

static size_t frame_names(const struct tg_trace *t)
{
    size_t n = 0;
    for (size_t i = 0; i < t->names->n; i++)
        n += t->names->v[i].kind == TG_KIND_PYTHON && t->names->v[i].name.n &&
             t->names->v[i].name.p[0] != '<';
    return n;
}

/* Links are for metrics, totals by frame and parents. */
static void drop_launches(const struct tg_spent *own)
{
    free(own->steps->launch);
    own->steps->launch = NULL;
}

/* What a comparison of runs asks for, beside sums by name. */
static void build_details(struct build *b, const struct tg_summarize_opts *o,
                          const struct tg_spent *own)
{
    build_gaps(b);
    for (size_t k = 0; k < b->s->n_device; k++) {
        const struct tg_span *s = tg_span_at(b->t, b->s->device[k]);
        tg_ns dur = s->dur > 0 ? s->dur : 0;
        if (!tg_kind_is_device(tg_span_kind(b->t, s)))
            continue;
        b->out->device_time = tg_ns_add(b->out->device_time, dur);
        if (b->class_[s->name].fallback)
            b->out->classified_by_fallback = tg_ns_add(b->out->classified_by_fallback, dur);
    }
    b->out->device_busy = tg_metrics_busy(b->t, b->s, b->class_);
    if (o->frame_sorts)
        tg_frames_of_trace(b->out, b->t, b->s, o->frame_sorts, b->a);
    size_t cap = 0; /* of the calls of collectives inside steps, in total order */
    for (size_t k = 0; k < b->t->n_spans; k++) {
        uint32_t i = b->s->order[k], attr = tg_span_at(b->t, i)->attr;
        if (b->s->step_of[i] < 0 || attr == TG_NO_ID || !b->collective[attr].op)
            continue;
        *TG_PUSH(b->calls, b->n_calls, cap) = (struct call){ i, attr };
    }
    /* From here on, row_of has nodes. */
    TG_FREE uint32_t *position = tg_xrealloc(NULL, b->n_rows + 1, sizeof *position);
    struct tg_row *sorted = tg_xrealloc(NULL, b->n_rows + 1, sizeof *sorted);
    for (size_t r = 0; r < b->n_rows; r++)
        sorted[r] = (struct tg_row){ .key = b->out->rows[r].key, .order = (uint32_t)r };
    TG_SORT(sorted, b->n_rows, tg_row_cmp);
    for (size_t i = 0; i < b->n_rows; i++)
        position[sorted[i].order] = (uint32_t)i;
    free(sorted); /* before the tree, which is large, too */
    tg_tree_place(&b->placed, b->t, b->s, b->out->rows, b->n_rows,
                  tg_tree_room(o->load.reader.limits, b->s->n), &b->row_of);
    tg_tree_order(b->out, &b->placed, position, b->a);
    if (own) {
        drop_launches(own);
        free(own->steps->parent);
        free(own->steps->device);
        own->steps->parent = own->steps->device = NULL;
        if (!own->steps->self)
            tg_steps_put_self(own->steps, own->trace);
    }
    fill_slots(b);
    place_attrs(b);
}

struct tg_shard *tg_shard_build(const struct tg_trace *t, const struct tg_steps *steps,
                                const struct tg_summarize_opts *o, const struct tg_spent *own,
                                struct tg_arena *a, struct tg_err *err)
{
    const struct tg_limits *limits = o->load.reader.limits;
    struct build b = { .t = t,
                       .s = steps,
                       .a = a,
                       .out = TG_NEW(a, struct tg_shard),
                       .row_of.spent = own && !steps->self ? own->trace : NULL,
                       .row_ids.words = ROW_WORDS,
                       .attr_ids.words = ATTR_WORDS };
    struct tg_shard *out = b.out;
    b.max_attrs = (limits ? *limits : TG_LIMITS_DEFAULT).max_attrs;
    b.max_attrs = b.max_attrs < UINT16_MAX ? b.max_attrs : UINT16_MAX;
    intern_names(&b);
    split_attrs(&b);
    tg_ns zero = b.s->v[0].start;
    b.out->n_steps = b.s->n;
    b.out->steps = TG_NEW_N(b.a, struct tg_step, b.s->n);
    for (size_t k = 0; k < b.s->n; k++)
        b.out->steps[k] = (struct tg_step){ b.s->v[k].number, tg_ns_sub(b.s->v[k].start, zero),
                                            tg_ns_sub(b.s->v[k].end, zero), TG_NO_SPAN };
    out->metrics = TG_NEW_N(a, struct tg_metric_value, TG_METRICS * steps->n);
    out->gap_count = TG_NEW_N(a, uint32_t, steps->n);
    if (!o->totals_only) {
        b.class_ = tg_classes_of(o->classes, t->names);
        tg_metrics_compute(t, steps, b.class_, out->metrics);
    }
    if (own && !o->frame_sorts)
        drop_launches(own);
    collect_rows(&b);
    /* A frame has two rows, and its names are among those of the trace. */
    if (!within_limits(&b, b.n_rows, err) ||
        (o->frame_sorts && !within_limits(&b, 2 * frame_names(t), err))) {
        release(&b);
        return NULL;
    }
    init_rows(&b);
    order_kernels(&b);
    add_totals(&b);
    count_damage(&b);
    build_hints(&b);
    tg_env_build(out, t, o, a);
    if (!o->totals_only)
        build_details(&b, o, own);
    out->marked = steps->marked;
    out->window = window_text(&o->window, a);
    out->classes = TG_SV_PRINTF(a, "%016llx", (unsigned long long)tg_class_table_hash(o->classes));
    TG_SORT(out->rows, out->n_rows, tg_row_cmp);
    tg_tree_settle(out); /* by the rows in their order */
    release(&b);
    return out;
}
