/* A summary as a set of shards by (run, rank): find, insert, copy, unite; damage; shards without
 * names. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/summary/internal.h"

/* ---- texts and rows ---- */

bool tg_text_is_clean(tg_sv s)
{
    return tg_utf8_valid(s) && !memchr(s.p ? s.p : "", '\0', s.n);
}

tg_sv tg_clean_text(struct tg_arena *a, tg_sv s)
{
    TG_BUF clean = { 0 };
    if (tg_text_is_clean(s))
        return tg_arena_sv(a, s);
    tg_utf8_clean(&clean, s);
    return tg_arena_sv(a, tg_buf_sv(&clean));
}

struct tg_row tg_row_new(const struct tg_row_key *key, size_t n_steps, struct tg_arena *a)
{
    struct tg_row_key *own = TG_NEW(a, struct tg_row_key);
    *own = *key;
    return (struct tg_row){ .key = own,
                            .count = TG_NEW_N(a, uint32_t, n_steps + 1),
                            .total = TG_NEW_N(a, tg_ns, n_steps + 1),
                            .self = TG_NEW_N(a, tg_ns, n_steps + 1) };
}

int tg_row_key_cmp(const struct tg_row_key *a, const struct tg_row_key *b)
{
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : tg_sv_cmp(a->name, b->name);
    c = c ? c : tg_sv_cmp(a->cat, b->cat);
    c = c ? c : tg_sv_cmp(a->parent, b->parent);
    c = c ? c : TG_CMP(a->device, b->device);
    return c ? c : TG_CMP(a->stream, b->stream);
}

int tg_row_cmp(const void *a, const void *b)
{
    const struct tg_row *x = a, *y = b;
    return tg_row_key_cmp(x->key, y->key);
}

uint64_t tg_row_calls(const struct tg_shard *s, const struct tg_row *r)
{
    uint64_t n = 0;
    for (size_t k = 0; k < s->n_steps; k++)
        n += r->count[k];
    return n;
}

size_t tg_shard_gaps(const struct tg_shard *s)
{
    size_t n = 0;
    for (size_t k = 0; k < s->n_steps; k++)
        n += s->gap_count[k];
    return n;
}

/* ---- the set ---- */

void tg_summary_init(struct tg_summary *s)
{
    *s = (struct tg_summary){ .arena = tg_arena_new() };
}

void tg_summary_release(struct tg_summary *s)
{
    tg_arena_free(s->arena);
    for (size_t i = 0; i < s->n_taken; i++)
        tg_arena_free(s->taken[i]);
    free(s->taken);
    if (s->pool)
        tg_strmap_release(s->pool);
    free(s->pool);
    free(s->shards);
    *s = (struct tg_summary){ 0 };
}

tg_sv tg_shard_env(const struct tg_shard *s, const char *key)
{
    for (size_t i = 0; i < s->n_env; i++)
        if (tg_sv_eq(s->env[i].key, tg_sv_of(key)))
            return s->env[i].value;
    return TG_SV("");
}

int tg_shard_key_cmp(tg_sv run_a, int64_t rank_a, tg_sv run_b, int64_t rank_b)
{
    int c = tg_sv_cmp(run_a, run_b);
    return c ? c : TG_CMP(rank_a, rank_b);
}

/* Where (run, rank) is or would be inserted. */
static size_t position(const struct tg_summary *s, tg_sv run, int64_t rank)
{
    size_t i;
    TG_SEARCH(i, s->n, tg_shard_key_cmp(s->shards[i]->run, s->shards[i]->rank, run, rank) < 0);
    return i;
}

struct tg_shard *tg_summary_find(const struct tg_summary *s, tg_sv run, int64_t rank)
{
    size_t at = position(s, run, rank);
    return at < s->n && tg_shard_key_cmp(s->shards[at]->run, s->shards[at]->rank, run, rank) == 0
               ? s->shards[at]
               : NULL;
}

/* Equal content, but one of the two may come from a stored form without slots, without a tree, or
 * with step times only. */
static void keep_more_slots(struct tg_shard *to, const struct tg_shard *from)
{
    for (size_t i = 0; i < to->n_rows; i++) {
        if (!to->rows[i].slots)
            to->rows[i].slots = from->rows[i].slots;
        if (!to->tree.n)
            to->rows[i].slot_node = from->rows[i].slot_node;
        if (!to->beside_known)
            to->rows[i].beside = from->rows[i].beside;
    }
    to->beside_known |= from->beside_known;
    if (!to->tree.n)
        to->tree = from->tree;
}

bool tg_shard_contradicts(tg_sv run, int64_t rank, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE,
               "run '%.*s', rank %" PRId64 " is there twice with different content", TG_SV_ARG(run),
               rank);
    return tg_err_hint(err, "Give each recording its own run id (--run), or leave the id out.");
}

bool tg_summary_insert(struct tg_summary *out, struct tg_shard *s, struct tg_err *err)
{
    size_t at = position(out, s->run, s->rank);
    struct tg_shard *there = tg_summary_find(out, s->run, s->rank);
    if (there && !tg_sv_eq(there->hash, s->hash))
        return tg_shard_contradicts(s->run, s->rank, err);
    if (there && there->steps_only && !s->steps_only) {
        s->arrival = there->arrival;
        out->shards[at] = s;
        return true;
    }
    if (there) {
        if (!s->steps_only)
            keep_more_slots(there, s);
        return true;
    }
    s->arrival = out->arrivals++;
    out->shards = tg_xrealloc(out->shards, out->n + 1, sizeof *out->shards);
    memmove(out->shards + at + 1, out->shards + at, (out->n - at) * sizeof *out->shards);
    out->shards[at] = s;
    out->n++;
    return true;
}

/* ---- copies ---- */

/* Where the parts of a copy are: in `a`, but for what shards share, which is read only. */
struct copier {
    struct tg_arena *a;
    struct tg_strmap *pool; /* has texts of rows, keys, calls, attributes and nodes; NULL: `a` */
    bool lasting;           /* these, run, source and hash outlive the copy: they stay */
    const struct tg_shard *before; /* equal texts of the shard are those of this one; NULL: none */
};

static void *keep(const struct copier *c, const void *v, size_t n, size_t size)
{
    if (c->lasting)
        return (void *)(uintptr_t)v;
    if (!c->pool)
        return tg_arena_copy(c->a, v, n, size);
    uint32_t id = tg_strmap_add(c->pool, (tg_sv){ v, n * size });
    return (void *)(uintptr_t)c->pool->text[id].p;
}

static tg_sv keep_text(const struct copier *c, tg_sv s)
{
    return (tg_sv){ keep(c, s.p, s.n, 1), s.n };
}

/* Equal keys and attributes are equal bytes once their texts are shared: padding is 0. */
static void keep_key_and_attrs(const struct copier *c, struct tg_row *r)
{
    if (c->lasting)
        return;
    TG_FREE struct tg_attr *attrs = tg_xcalloc(r->n_attrs + 1, sizeof *attrs);
    struct tg_row_key key;
    memset(&key, 0, sizeof key);
    key.name = keep_text(c, r->key->name);
    key.cat = keep_text(c, r->key->cat);
    key.parent = keep_text(c, r->key->parent);
    key.kind = r->key->kind;
    key.device = r->key->device;
    key.stream = r->key->stream;
    r->key = keep(c, &key, 1, sizeof key);
    for (size_t i = 0; i < r->n_attrs; i++) {
        attrs[i].kind = r->attrs[i].kind;
        attrs[i].value = keep_text(c, r->attrs[i].value);
        attrs[i].count = r->attrs[i].count;
    }
    r->attrs = keep(c, attrs, r->n_attrs, sizeof *attrs);
}

/* If the copy is only read, times that are equal are one array. */
static struct tg_row *copy_rows(const struct copier *c, const struct tg_shard *s)
{
    size_t n = s->n_steps + 1, n_rows = s->n_rows + s->n_frames;
    struct tg_row *to = tg_arena_copy(c->a, s->rows, n_rows, sizeof *to);
    for (size_t i = 0; i < n_rows; i++) {
        struct tg_row *r = &to[i];
        size_t calls = (size_t)tg_row_calls(s, r);
        bool shares = c->pool || c->lasting;
        bool leaf = shares && memcmp(r->total, r->self, n * sizeof *r->self) == 0;
        bool single = shares && r->slots == r->self;
        keep_key_and_attrs(c, r);
        r->count = keep(c, r->count, n, sizeof *r->count);
        r->self = tg_arena_copy(c->a, r->self, n, sizeof *r->self);
        r->total = leaf ? r->self : tg_arena_copy(c->a, r->total, n, sizeof *r->total);
        if (r->slots)
            r->slots = single ? r->self : tg_arena_copy(c->a, r->slots, calls, sizeof *r->slots);
        if (r->slot_node)
            r->slot_node = keep(c, r->slot_node, calls, sizeof *r->slot_node);
        if (r->beside)
            r->beside = keep(c, r->beside, calls, 1);
    }
    return to;
}

static bool same_texts(const struct tg_shard *p, const struct tg_shard *q)
{
    bool same =
        p->n_env == q->n_env && tg_sv_eq(p->window, q->window) && tg_sv_eq(p->classes, q->classes);
    for (size_t i = 0; same && i < p->n_env; i++)
        same = tg_sv_eq(p->env[i].key, q->env[i].key) && tg_sv_eq(p->env[i].value, q->env[i].value);
    return same;
}

static struct tg_shard *copy(const struct copier *c, const struct tg_shard *s)
{
    struct tg_arena *a = c->a;
    struct tg_shard *to = tg_arena_copy(a, s, 1, sizeof *to);
    size_t cells = s->tree.n_split * (s->n_steps + 1);
    if (!c->lasting) {
        to->run = tg_arena_sv(a, s->run);
        to->source = tg_arena_sv(a, s->source);
        to->hash = tg_arena_sv(a, s->hash);
    }
    if (c->before && same_texts(c->before, s)) {
        to->window = c->before->window;
        to->classes = c->before->classes;
        to->env = c->before->env;
    } else {
        to->window = tg_arena_sv(a, s->window);
        to->classes = tg_arena_sv(a, s->classes);
        to->env = tg_arena_copy(a, s->env, s->n_env, sizeof *to->env);
        for (size_t i = 0; i < s->n_env; i++)
            to->env[i] =
                (struct tg_kv){ tg_arena_sv(a, s->env[i].key), tg_arena_sv(a, s->env[i].value) };
    }
    to->steps = tg_arena_copy(a, s->steps, s->n_steps, sizeof *to->steps);
    to->gap_count = tg_arena_copy(a, s->gap_count, s->n_steps, sizeof *to->gap_count);
    to->gaps = tg_arena_copy(a, s->gaps, tg_shard_gaps(s), sizeof *to->gaps);
    to->metrics = tg_arena_copy(a, s->metrics, TG_METRICS * s->n_steps, sizeof *to->metrics);
    to->hints = tg_arena_copy(a, s->hints, s->n_hints, sizeof *to->hints);
    for (size_t i = 0; i < s->n_hints; i++)
        to->hints[i].name = tg_arena_sv(a, s->hints[i].name);
    to->rows = copy_rows(c, s);
    if (s->tree.n) {
        to->tree.node = keep(c, s->tree.node, s->tree.n, sizeof *s->tree.node);
        to->tree.count = keep(c, s->tree.count, cells, sizeof *s->tree.count);
        to->tree.self = tg_arena_copy(a, s->tree.self, cells, sizeof *s->tree.self);
    }
    return to;
}

struct tg_shard *tg_shard_copy(const struct tg_shard *s, struct tg_arena *a)
{
    return copy(&(struct copier){ .a = a }, s);
}

/* ---- union ---- */

int tg_shard_by_arrival(const void *a, const void *b)
{
    const struct tg_shard *const *x = a, *const *y = b;
    return TG_CMP((*x)->arrival, (*y)->arrival);
}

/* The shards in order of arrival, so that the first one of a side stays first. To be freed. */
static struct tg_shard **arrived(const struct tg_summary *s)
{
    struct tg_shard **v = tg_xrealloc(NULL, s->n + 1, sizeof *v);
    if (s->n) {
        memcpy(v, s->shards, s->n * sizeof *v);
        TG_SORT(v, s->n, tg_shard_by_arrival);
    }
    return v;
}

bool tg_summary_merge(struct tg_summary *out, const struct tg_summary *one, struct tg_err *err)
{
    TG_FREE struct tg_shard **v = arrived(one);
    bool ok = true;
    for (size_t i = 0; ok && i < one->n; i++)
        ok = tg_summary_insert(out, tg_shard_copy(v[i], out->arena), err);
    tg_number_unite(&out->numbers, &one->numbers, out->arena);
    return ok;
}

static void take_arena(struct tg_summary *out, struct tg_arena *a)
{
    *TG_PUSH(out->taken, out->n_taken, out->cap_taken) = a;
}

bool tg_summary_take(struct tg_summary *out, struct tg_summary *one, struct tg_err *err)
{
    TG_FREE struct tg_shard **v = arrived(one);
    bool ok = true;
    for (size_t i = 0; ok && i < one->n; i++)
        ok = tg_summary_insert(out, v[i], err);
    tg_number_unite(&out->numbers, &one->numbers, out->arena);
    take_arena(out, one->arena);
    for (size_t i = 0; i < one->n_taken; i++)
        take_arena(out, one->taken[i]);
    one->arena = NULL;
    one->n_taken = 0;
    tg_summary_release(one);
    return ok;
}

/* Into another arena, which will be the summary's. */
static void move_numbers(struct tg_summary *one, struct tg_arena *a)
{
    struct tg_number_runs moved = { 0 };
    tg_number_unite(&moved, &one->numbers, a);
    one->numbers = moved;
}

void tg_summary_compact(struct tg_summary *one, struct tg_summary *owner)
{
    struct tg_arena *a = tg_arena_new();
    if (!owner->pool)
        owner->pool = tg_xcalloc(1, sizeof *owner->pool);
    for (size_t i = 0; i < one->n; i++)
        one->shards[i] = copy(&(struct copier){ .a = a, .pool = owner->pool }, one->shards[i]);
    move_numbers(one, a);
    tg_arena_free(one->arena);
    one->arena = a;
}

/* ---- damage ---- */

bool tg_damage_add(struct tg_damage *d, struct tg_err *err)
{
    int64_t rank = tg_file_rank(tg_sv_of(err->file));
    if (!d || (err->kind != TG_ERR_TRACE && err->kind != TG_ERR_SUMMARY))
        return false;
    if (rank >= 0)
        tg_buf_printf(&d->text, "rank %" PRId64 ": ", rank);
    if (err->file[0])
        tg_buf_printf(&d->text, "%s: ", err->file);
    tg_buf_printf(&d->text, "%s\n", err->message);
    d->n++;
    tg_err_init(err);
    return true;
}

void tg_damage_say(struct tg_damage *d, tg_sv line)
{
    tg_buf_add(&d->text, line);
    tg_buf_putc(&d->text, '\n');
    d->n++;
}

void tg_damage_append(struct tg_damage *d, const struct tg_damage *more)
{
    tg_buf_add(&d->text, tg_buf_sv(&more->text));
    d->n += more->n;
}

void tg_damage_release(struct tg_damage *d)
{
    tg_buf_release(&d->text);
    d->n = 0;
}

/* ---- shards without names: of thousands of ranks, what fits ---- */

void tg_kept_rows_release(struct tg_kept_rows *k)
{
    free(k->key);
    free(k->kept);
    *k = (struct tg_kept_rows){ 0 };
}

bool tg_shard_is_empty(const struct tg_shard *s)
{
    for (size_t i = 0; i < s->n_rows; i++) {
        enum tg_kind k = s->rows[i].key->kind;
        if (k != TG_KIND_STEP && k != TG_KIND_DEVICE_ANNOTATION && k != TG_KIND_OVERHEAD)
            return false;
    }
    return !s->n_frames && !s->steps_only && !s->ran;
}

struct tg_shard *tg_shard_unnamed(const struct tg_shard *s, const struct tg_classes *classes,
                                  struct tg_kept_rows *k, struct tg_arena *a)
{
    struct tg_shard few = *s, *out;
    /* Ranks of one program that are read from one document share the keys of their rows. */
    bool known = k->n == s->n_rows;
    for (size_t i = 0; known && i < k->n; i++)
        known = k->key[i] == s->rows[i].key;
    if (!known) {
        k->n = s->n_rows;
        k->key = tg_xrealloc(k->key, k->n + 1, sizeof *k->key);
        k->kept = tg_xrealloc(k->kept, k->n + 1, sizeof *k->kept);
    }
    /* Collectives tell who waits for whom: the rows that core/diff/collectives.c asks. */
    for (size_t i = 0; !known && i < k->n; i++) {
        const struct tg_row_key *key = k->key[i] = s->rows[i].key;
        k->kept[i] = tg_kind_is_device(key->kind) &&
                     tg_class_of(classes, key->kind, key->name, NULL) == TG_CLASS_COMM;
    }
    few.rows = tg_xrealloc(NULL, s->n_rows + 1, sizeof *few.rows);
    few.gap_count = tg_xcalloc(s->n_steps + 1, sizeof *few.gap_count);
    few.n_rows = few.n_frames = 0;
    for (size_t i = 0; i < s->n_rows; i++)
        if (k->kept[i]) {
            few.rows[few.n_rows] = s->rows[i];
            few.rows[few.n_rows].beside = NULL;
            few.rows[few.n_rows++].slot_node = NULL;
        }
    few.beside_known = false;
    few.tree = (struct tg_tree){ 0 };
    few.unnamed = true;
    few.ran = !tg_shard_is_empty(s);
    out = copy(&(struct copier){ .a = a, .lasting = k->lasting, .before = k->before }, &few);
    k->before = out;
    free(few.rows);
    free(few.gap_count);
    return out;
}

void tg_summary_drop_names(struct tg_summary *one, const struct tg_summarize_opts *o)
{
    struct tg_kept_rows kept = { 0 };
    bool any = false;
    for (size_t i = 0; o->named_ranks && i < one->n; i++)
        any |= one->shards[i]->rank >= o->named_ranks && !one->shards[i]->unnamed &&
               !one->shards[i]->steps_only;
    if (!any)
        return;
    struct tg_arena *a = tg_arena_new();
    for (size_t i = 0; i < one->n; i++) {
        const struct tg_shard *s = one->shards[i];
        bool whole = s->rank < o->named_ranks || s->unnamed || s->steps_only;
        one->shards[i] = whole ? tg_shard_copy(s, a) : tg_shard_unnamed(s, o->classes, &kept, a);
    }
    move_numbers(one, a);
    tg_kept_rows_release(&kept);
    tg_arena_free(one->arena);
    one->arena = a;
}
