#include "core/summary/book.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "core/summary/pack.h"

/* Raw bytes of one packed chunk: what a reader unpacks at a time. */
#define CHUNK ((size_t)4 << 20)

/* A row's key as ids of texts. Without padding: it is its own key in a table. */
struct key {
    int64_t device, stream;
    uint32_t name, cat, parent, kind;
};
_Static_assert(sizeof(struct key) == 32, "no padding");

struct attr {
    uint32_t row, kind, value;
};
_Static_assert(sizeof(struct attr) == 12, "no padding");

static struct key key_at(const struct tg_book *b, enum tg_book_set set, size_t id)
{
    struct key k;
    memcpy(&k, b->keys[set].text[id].p, sizeof k);
    return k;
}

static struct attr attr_at(const struct tg_book *b, size_t id)
{
    struct attr f;
    memcpy(&f, b->attrs.text[id].p, sizeof f);
    return f;
}

void tg_listing_release(struct tg_listing *l)
{
    for (int set = 0; set < TG_BOOK_SETS; set++)
        free(l->row[set]);
    free(l->attr);
    *l = (struct tg_listing){ 0 };
}

void tg_book_init(struct tg_book *b)
{
    *b = (struct tg_book){ .level = TG_ZLIB_USUAL };
}

void tg_book_release(struct tg_book *b)
{
    tg_strmap_release(&b->texts);
    tg_strmap_release(&b->attrs);
    for (int set = 0; set < TG_BOOK_SETS; set++) {
        tg_strmap_release(&b->keys[set]);
        free(b->key_at[set]);
    }
    free(b->text_at);
    free(b->attr_at);
}

/* ---- collecting ---- */

static uint32_t add_key(struct tg_book *b, enum tg_book_set set, const struct tg_row_key *r)
{
    struct key k = { r->device,
                     r->stream,
                     tg_strmap_add(&b->texts, r->name),
                     tg_strmap_add(&b->texts, r->cat),
                     tg_strmap_add(&b->texts, r->parent),
                     (uint32_t)r->kind };
    return tg_strmap_add(&b->keys[set], (tg_sv){ (const char *)&k, sizeof k });
}

static uint32_t add_attr(struct tg_book *b, uint32_t row, const struct tg_attr *f)
{
    struct attr v = { row, (uint32_t)f->kind, tg_strmap_add(&b->texts, f->value) };
    return tg_strmap_add(&b->attrs, (tg_sv){ (const char *)&v, sizeof v });
}

static uint32_t *ids(size_t n)
{
    return tg_xrealloc(NULL, n + 1, sizeof(uint32_t));
}

static struct tg_listing listing(size_t n_rows, size_t n_frames, size_t n_attrs)
{
    return (struct tg_listing){
        { ids(n_rows), ids(n_frames) }, ids(n_attrs), { n_rows, n_frames }, n_attrs
    };
}

void tg_book_list(struct tg_book *b, const struct tg_shard *s, struct tg_listing *out)
{
    size_t n_attrs = 0, at = 0;
    for (size_t i = 0; i < s->n_rows; i++)
        n_attrs += s->rows[i].n_attrs;
    *out = listing(s->n_rows, s->n_frames, n_attrs);
    for (size_t i = 0; i < s->n_rows; i++) {
        const struct tg_row *r = &s->rows[i];
        uint32_t row = out->row[TG_BOOK_ROWS][i] = add_key(b, TG_BOOK_ROWS, r->key);
        for (size_t f = 0; f < r->n_attrs; f++)
            out->attr[at++] = add_attr(b, row, &r->attrs[f]);
    }
    for (size_t i = 0; i < s->n_frames; i++)
        out->row[TG_BOOK_FRAMES][i] = add_key(b, TG_BOOK_FRAMES, s->rows[s->n_rows + i].key);
}

void tg_book_join(struct tg_book *b, const struct tg_book_read *from, struct tg_listing *to)
{
    *to = listing(from->n[TG_BOOK_ROWS], from->n[TG_BOOK_FRAMES], from->n_attrs);
    for (int set = 0; set < TG_BOOK_SETS; set++)
        for (size_t i = 0; i < from->n[set]; i++)
            to->row[set][i] = add_key(b, (enum tg_book_set)set, &from->row[set][i]);
    for (size_t i = 0; i < from->n_attrs; i++)
        to->attr[i] = add_attr(b, to->row[TG_BOOK_ROWS][from->attr[i].row], &from->attr[i].attr);
}

/* ---- sorting: ids become positions ---- */

struct sorted {
    const struct tg_book *b;
    enum tg_book_set set;
    uint32_t id;
};

static int by_text(const void *pa, const void *pb)
{
    const struct sorted *x = pa, *y = pb;
    return tg_sv_cmp(x->b->texts.text[x->id], y->b->texts.text[y->id]);
}

/* The order of tg_row_cmp: positions of texts are in the order of the texts. */
static int by_key(const void *pa, const void *pb)
{
    const struct sorted *x = pa, *y = pb;
    const uint32_t *at = x->b->text_at;
    struct key a = key_at(x->b, x->set, x->id), b = key_at(y->b, y->set, y->id);
    int c = TG_CMP(a.kind, b.kind);
    c = c ? c : TG_CMP(at[a.name], at[b.name]);
    c = c ? c : TG_CMP(at[a.cat], at[b.cat]);
    c = c ? c : TG_CMP(at[a.parent], at[b.parent]);
    c = c ? c : TG_CMP(a.device, b.device);
    return c ? c : TG_CMP(a.stream, b.stream);
}

static int by_attr(const void *pa, const void *pb)
{
    const struct sorted *x = pa, *y = pb;
    struct attr a = attr_at(x->b, x->id), b = attr_at(y->b, y->id);
    int c = TG_CMP(x->b->key_at[TG_BOOK_ROWS][a.row], x->b->key_at[TG_BOOK_ROWS][b.row]);
    c = c ? c : TG_CMP(a.kind, b.kind);
    return c ? c : TG_CMP(x->b->text_at[a.value], x->b->text_at[b.value]);
}

/* id -> position; `order` has the ids in this order. */
static uint32_t *positions(const struct tg_book *b, enum tg_book_set set, size_t n,
                           int (*cmp)(const void *, const void *), uint32_t **order)
{
    TG_FREE struct sorted *v = tg_xrealloc(NULL, n + 1, sizeof *v);
    uint32_t *at = ids(n);
    *order = ids(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (struct sorted){ b, set, (uint32_t)i };
    if (n)
        TG_SORT(v, n, cmp);
    for (size_t i = 0; i < n; i++) {
        at[v[i].id] = (uint32_t)i;
        (*order)[i] = v[i].id;
    }
    return at;
}

/* ---- writing ---- */

struct chunks {
    struct tg_doc *array;
    struct tg_buf raw, packed;
    enum tg_zlib_level level;
};

/* What was put, if it has `least` bytes. */
static void flush(struct chunks *c, size_t least)
{
    if (c->raw.n < least)
        return;
    tg_buf_clear(&c->packed);
    tg_pack_text(tg_buf_sv(&c->raw), c->level, &c->packed);
    tg_doc_add_str(c->array, NULL, tg_buf_sv(&c->packed));
    tg_buf_clear(&c->raw);
}

static void end_chunks(struct chunks *c)
{
    flush(c, 1);
    tg_buf_release(&c->raw);
    tg_buf_release(&c->packed);
}

static void write_texts(struct tg_book *b, struct tg_doc *d)
{
    struct chunks c = { .array = tg_doc_add_array(d, "texts"), .level = b->level };
    uint32_t *order;
    b->text_at = positions(b, 0, b->texts.n, by_text, &order);
    for (size_t i = 0; i < b->texts.n; i++) {
        tg_sv text = b->texts.text[order[i]];
        tg_pack_u64(&c.raw, text.n);
        tg_buf_add(&c.raw, text);
        flush(&c, CHUNK);
    }
    free(order);
    end_chunks(&c);
}

static void write_keys(struct tg_book *b, enum tg_book_set set, struct tg_doc *array)
{
    struct chunks c = { .array = array, .level = b->level };
    uint32_t *order;
    b->key_at[set] = positions(b, set, b->keys[set].n, by_key, &order);
    for (size_t i = 0; i < b->keys[set].n; i++) {
        struct key k = key_at(b, set, order[i]);
        tg_pack_u64(&c.raw, b->text_at[k.name]);
        tg_pack_u64(&c.raw, b->text_at[k.cat]);
        tg_pack_u64(&c.raw, b->text_at[k.parent]);
        tg_pack_i64(&c.raw, k.device);
        tg_pack_i64(&c.raw, k.stream);
        flush(&c, CHUNK);
    }
    free(order);
    end_chunks(&c);
}

static void write_attrs(struct tg_book *b, struct tg_doc *d)
{
    struct chunks c = { .array = tg_doc_add_array(d, "attributes"), .level = b->level };
    uint32_t *order, before = 0;
    b->attr_at = positions(b, 0, b->attrs.n, by_attr, &order);
    for (size_t i = 0; i < b->attrs.n; i++) {
        struct attr f = attr_at(b, order[i]);
        uint32_t row = b->key_at[TG_BOOK_ROWS][f.row];
        tg_pack_u64(&c.raw, row - before);
        tg_pack_u64(&c.raw, f.kind);
        tg_pack_u64(&c.raw, b->text_at[f.value]);
        before = row;
        flush(&c, CHUNK);
    }
    free(order);
    end_chunks(&c);
}

void tg_book_write(struct tg_book *b, struct tg_doc *d)
{
    write_texts(b, d);
    write_keys(b, TG_BOOK_ROWS, tg_doc_add_array(d, "rows"));
    if (b->keys[TG_BOOK_FRAMES].n)
        write_keys(b, TG_BOOK_FRAMES, tg_doc_add_array(d, "frames"));
    write_attrs(b, d);
}

static void put_ids(struct tg_buf *out, const uint32_t *id, size_t n, const uint32_t *at)
{
    uint32_t next = 0;
    tg_pack_u64(out, n);
    for (size_t i = 0; i < n; i++) {
        tg_pack_u64(out, at[id[i]] - next);
        next = at[id[i]] + 1;
    }
}

void tg_listing_put(struct tg_buf *out, const struct tg_listing *l, const struct tg_book *b)
{
    for (int set = 0; set < TG_BOOK_SETS; set++)
        put_ids(out, l->row[set], l->n[set], b->key_at[set]);
    put_ids(out, l->attr, l->n_attrs, b->attr_at);
}

/* ---- reading ---- */

/* All chunks of an array, one after the other, in `a`. Items never cross chunks; that does not
 * matter here. */
static bool unpack(const struct tg_doc *array, struct tg_arena *a, struct tg_unpack *out)
{
    TG_BUF raw = { 0 };
    bool ok = tg_doc_type(array) == TG_DOC_ARRAY;
    for (const struct tg_doc *m = tg_doc_first(array); ok && m; m = tg_doc_next(m))
        ok = tg_unpack_text(tg_doc_str(m, TG_SV("")), &raw) && raw.n <= TG_PACK_MAX;
    tg_sv kept = tg_arena_sv(a, tg_buf_sv(&raw));
    *out = (struct tg_unpack){ kept.p, kept.p + (ok ? kept.n : 0), false };
    return ok;
}

static bool read_texts(struct tg_book_read *b, const struct tg_doc *d, struct tg_arena *a)
{
    struct tg_unpack u, count;
    size_t n = 0;
    if (!unpack(tg_doc_get(d, "texts"), a, &u))
        return false;
    for (count = u; count.p < count.end && !count.bad; n++)
        count.p += tg_unpack_count(&count);
    b->text = TG_NEW_N(a, tg_sv, n + 1);
    while (u.p < u.end && !u.bad) {
        tg_sv *t = &b->text[b->n_texts];
        t->n = tg_unpack_count(&u);
        t->p = u.p;
        u.p += t->n;
        if (u.bad || (b->n_texts && tg_sv_cmp(t[-1], *t) >= 0) || !tg_text_is_clean(*t))
            return false;
        b->n_texts++;
    }
    return !u.bad;
}

static tg_sv text_at(const struct tg_book_read *b, struct tg_unpack *u)
{
    uint64_t i = tg_unpack_u64(u);
    u->bad |= i >= b->n_texts;
    return u->bad ? TG_SV("") : b->text[i];
}

/* Their category says what they are: no event has it. */
static bool is_frame(struct tg_row_key *row)
{
    enum tg_stack_sort sort;
    return tg_frame_sort_find(row->cat, &sort) && tg_kind_from_name(row->cat, &row->kind) &&
           !row->parent.n && row->stream == -1 && (row->device == -1 || row->device == 0);
}

static bool read_keys(struct tg_book_read *b, enum tg_book_set set, const struct tg_doc *array,
                      struct tg_arena *a)
{
    struct tg_unpack u;
    if (!unpack(array, a, &u))
        return false;
    b->row[set] = TG_NEW_N(a, struct tg_row_key, tg_unpack_left(&u) / 5 + 1);
    while (u.p < u.end) {
        struct tg_row_key *r = &b->row[set][b->n[set]];
        if (tg_unpack_left(&u) < 5)
            return false;
        r->name = text_at(b, &u);
        r->cat = text_at(b, &u);
        r->parent = text_at(b, &u);
        r->device = tg_unpack_i64(&u);
        r->stream = tg_unpack_i64(&u);
        r->kind = tg_kind_of(r->cat, r->name);
        if (u.bad || (set == TG_BOOK_FRAMES && !is_frame(r)) ||
            (b->n[set] && tg_row_key_cmp(r - 1, r) >= 0))
            return false;
        b->n[set]++;
    }
    return true;
}

static int cmp_attr(const struct tg_book_attr *a, const struct tg_book_attr *b)
{
    int c = TG_CMP(a->row, b->row);
    c = c ? c : TG_CMP(a->attr.kind, b->attr.kind);
    return c ? c : tg_sv_cmp(a->attr.value, b->attr.value);
}

static bool read_attrs(struct tg_book_read *b, const struct tg_doc *d, struct tg_arena *a)
{
    struct tg_unpack u;
    uint64_t row = 0;
    if (!unpack(tg_doc_get(d, "attributes"), a, &u))
        return false;
    b->attr = TG_NEW_N(a, struct tg_book_attr, tg_unpack_left(&u) / 3 + 1);
    while (u.p < u.end) {
        struct tg_book_attr *f = &b->attr[b->n_attrs];
        if (tg_unpack_left(&u) < 3)
            return false;
        uint64_t more = tg_unpack_u64(&u);
        uint64_t code = tg_unpack_u64(&u);
        f->attr.value = text_at(b, &u);
        if (u.bad || more >= b->n[TG_BOOK_ROWS] || (row += more) >= b->n[TG_BOOK_ROWS] ||
            code >= TG_ATTR_KINDS)
            return false;
        f->row = (uint32_t)row;
        f->attr.kind = (enum tg_attr_kind)code;
        if (b->n_attrs && cmp_attr(f - 1, f) >= 0)
            return false;
        b->n_attrs++;
    }
    return true;
}

bool tg_book_read(struct tg_book_read *out, const struct tg_doc *d, struct tg_arena *a)
{
    *out = (struct tg_book_read){ 0 };
    return read_texts(out, d, a) && read_keys(out, TG_BOOK_ROWS, tg_doc_get(d, "rows"), a) &&
           (!tg_doc_get(d, "frames") ||
            read_keys(out, TG_BOOK_FRAMES, tg_doc_get(d, "frames"), a)) &&
           read_attrs(out, d, a);
}

static bool read_ids(struct tg_unpack *u, struct tg_arena *a, size_t known, uint32_t **id,
                     size_t *n)
{
    uint64_t next = 0;
    *n = tg_unpack_count(u);
    *id = TG_NEW_N(a, uint32_t, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        uint64_t more = tg_unpack_u64(u);
        if (u->bad || more >= known || (next += more) >= known)
            return false;
        (*id)[i] = (uint32_t)next++;
    }
    return !u->bad;
}

bool tg_listing_read(struct tg_listing *out, tg_sv raw, const struct tg_book_read *b,
                     struct tg_arena *a)
{
    struct tg_unpack u = { raw.p, raw.p + raw.n, false };
    *out = (struct tg_listing){ 0 };
    for (int set = 0; set < TG_BOOK_SETS; set++)
        if (!read_ids(&u, a, b->n[set], &out->row[set], &out->n[set]))
            return false;
    return read_ids(&u, a, b->n_attrs, &out->attr, &out->n_attrs) && u.p == u.end;
}
