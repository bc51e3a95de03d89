/* A summary as a set of shards by (run, rank): find, insert, copy, unite. */
#include <inttypes.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/summary/internal.h"

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

static const struct tg_row_key *copy_key(const struct tg_row_key *k, struct tg_arena *a)
{
    struct tg_row_key *to = TG_NEW(a, struct tg_row_key);
    *to = *k;
    to->name = tg_arena_sv(a, k->name);
    to->cat = tg_arena_sv(a, k->cat);
    to->parent = tg_arena_sv(a, k->parent);
    return to;
}

static void copy_row(struct tg_row *to, const struct tg_row *from, const struct tg_shard *s,
                     struct tg_arena *a)
{
    *to = *from;
    to->key = copy_key(from->key, a);
    to->count = tg_arena_copy(a, from->count, s->n_steps + 1, sizeof *to->count);
    to->total = tg_arena_copy(a, from->total, s->n_steps + 1, sizeof *to->total);
    to->self = tg_arena_copy(a, from->self, s->n_steps + 1, sizeof *to->self);
    if (from->slots)
        to->slots = tg_arena_copy(a, from->slots, (size_t)tg_row_calls(s, from), sizeof *to->slots);
    if (from->slot_node)
        to->slot_node =
            tg_arena_copy(a, from->slot_node, (size_t)tg_row_calls(s, from), sizeof *to->slot_node);
    if (from->beside)
        to->beside = tg_arena_copy(a, from->beside, (size_t)tg_row_calls(s, from), 1);
    to->attrs = tg_arena_copy(a, from->attrs, from->n_attrs, sizeof *to->attrs);
    for (size_t i = 0; i < to->n_attrs; i++)
        to->attrs[i].value = tg_arena_sv(a, from->attrs[i].value);
}

static void copy_tree(struct tg_tree *to, const struct tg_shard *s, struct tg_arena *a)
{
    size_t cells = s->tree.n_split * (s->n_steps + 1);
    *to = s->tree;
    to->node = tg_arena_copy(a, s->tree.node, s->tree.n, sizeof *to->node);
    to->count = tg_arena_copy(a, s->tree.count, cells, sizeof *to->count);
    to->self = tg_arena_copy(a, s->tree.self, cells, sizeof *to->self);
}

struct tg_shard *tg_shard_copy(const struct tg_shard *s, struct tg_arena *a)
{
    struct tg_shard *to = tg_arena_copy(a, s, 1, sizeof *to);
    size_t gaps = 0;
    for (size_t k = 0; k < s->n_steps; k++)
        gaps += s->gap_count[k];
    to->run = tg_arena_sv(a, s->run);
    to->source = tg_arena_sv(a, s->source);
    to->hash = tg_arena_sv(a, s->hash);
    to->window = tg_arena_sv(a, s->window);
    to->classes = tg_arena_sv(a, s->classes);
    to->env = tg_arena_copy(a, s->env, s->n_env, sizeof *to->env);
    for (size_t i = 0; i < s->n_env; i++)
        to->env[i] =
            (struct tg_kv){ tg_arena_sv(a, s->env[i].key), tg_arena_sv(a, s->env[i].value) };
    to->steps = tg_arena_copy(a, s->steps, s->n_steps, sizeof *to->steps);
    to->gap_count = tg_arena_copy(a, s->gap_count, s->n_steps, sizeof *to->gap_count);
    to->gaps = tg_arena_copy(a, s->gaps, gaps, sizeof *to->gaps);
    to->metrics = tg_arena_copy(a, s->metrics, TG_METRICS * s->n_steps, sizeof *to->metrics);
    to->hints = tg_arena_copy(a, s->hints, s->n_hints, sizeof *to->hints);
    for (size_t i = 0; i < s->n_hints; i++)
        to->hints[i].name = tg_arena_sv(a, s->hints[i].name);
    to->rows = TG_NEW_N(a, struct tg_row, s->n_rows);
    for (size_t i = 0; i < s->n_rows; i++)
        copy_row(&to->rows[i], &s->rows[i], s, a);
    to->frames = TG_NEW_N(a, struct tg_row, s->n_frames);
    for (size_t i = 0; i < s->n_frames; i++)
        copy_row(&to->frames[i], &s->frames[i], s, a);
    copy_tree(&to->tree, s, a);
    return to;
}

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

/* ---- compact shards ---- */

static void *shared(struct tg_strmap *pool, const void *p, size_t n)
{
    uint32_t id = tg_strmap_add(pool, (tg_sv){ p, n });
    return (void *)(uintptr_t)pool->text[id].p; /* read only, as all that shards share */
}

static tg_sv shared_text(struct tg_strmap *pool, tg_sv s)
{
    return (tg_sv){ shared(pool, s.p, s.n), s.n };
}

/* Equal keys are equal bytes once their texts are shared; the bytes between members are 0. */
static const struct tg_row_key *shared_key(struct tg_strmap *pool, const struct tg_row_key *k)
{
    struct tg_row_key key;
    memset(&key, 0, sizeof key);
    key.name = shared_text(pool, k->name);
    key.cat = shared_text(pool, k->cat);
    key.parent = shared_text(pool, k->parent);
    key.kind = k->kind;
    key.device = k->device;
    key.stream = k->stream;
    return shared(pool, &key, sizeof key);
}

static struct tg_attr *shared_attrs(const struct tg_row *r, struct tg_strmap *pool)
{
    TG_FREE struct tg_attr *attrs = tg_xrealloc(NULL, r->n_attrs + 1, sizeof *attrs);
    memset(attrs, 0, r->n_attrs * sizeof *attrs); /* equal ones are equal bytes, padding too */
    for (size_t i = 0; i < r->n_attrs; i++) {
        attrs[i].kind = r->attrs[i].kind;
        attrs[i].value = shared_text(pool, r->attrs[i].value);
        attrs[i].count = r->attrs[i].count;
    }
    return shared(pool, attrs, r->n_attrs * sizeof *attrs);
}

/* Inclusive and self times that are equal are one array. */
static struct tg_row *compact_rows(const struct tg_shard *s, const struct tg_row *rows,
                                   size_t n_rows, struct tg_strmap *pool, struct tg_arena *a)
{
    size_t n = s->n_steps + 1;
    struct tg_row *to = tg_arena_copy(a, rows, n_rows, sizeof *to);
    for (size_t i = 0; i < n_rows; i++) {
        struct tg_row *r = &to[i];
        bool leaf = memcmp(r->total, r->self, n * sizeof *r->self) == 0;
        r->key = shared_key(pool, r->key);
        r->attrs = r->n_attrs ? shared_attrs(r, pool) : NULL;
        r->count = shared(pool, r->count, n * sizeof *r->count);
        r->self = tg_arena_copy(a, r->self, n, sizeof *r->self);
        r->total = leaf ? r->self : tg_arena_copy(a, r->total, n, sizeof *r->total);
        if (r->slots)
            r->slots = tg_arena_copy(a, r->slots, (size_t)tg_row_calls(s, r), sizeof *r->slots);
        if (r->slot_node)
            r->slot_node =
                shared(pool, r->slot_node, (size_t)tg_row_calls(s, r) * sizeof *r->slot_node);
        if (r->beside)
            r->beside = shared(pool, r->beside, (size_t)tg_row_calls(s, r));
    }
    return to;
}

static void compact_tree(struct tg_tree *to, const struct tg_shard *s, struct tg_strmap *pool,
                         struct tg_arena *a)
{
    size_t cells = s->tree.n_split * (s->n_steps + 1);
    *to = s->tree;
    if (!s->tree.n)
        return;
    to->node = shared(pool, s->tree.node, s->tree.n * sizeof *to->node);
    to->count = shared(pool, s->tree.count, cells * sizeof *to->count);
    to->self = tg_arena_copy(a, s->tree.self, cells, sizeof *to->self);
}

static struct tg_shard *compact(const struct tg_shard *s, struct tg_strmap *pool,
                                struct tg_arena *a)
{
    struct tg_shard bare = *s, *to;
    bare.n_rows = bare.n_frames = 0;
    bare.tree = (struct tg_tree){ 0 };
    to = tg_shard_copy(&bare, a);
    to->n_rows = s->n_rows;
    to->n_frames = s->n_frames;
    to->rows = compact_rows(s, s->rows, s->n_rows, pool, a);
    to->frames = compact_rows(s, s->frames, s->n_frames, pool, a);
    compact_tree(&to->tree, s, pool, a);
    return to;
}

/* Into another arena, which will be the summary's. */
void tg_summary_move_numbers(struct tg_summary *one, struct tg_arena *a)
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
        one->shards[i] = compact(one->shards[i], owner->pool, a);
    tg_summary_move_numbers(one, a);
    tg_arena_free(one->arena);
    one->arena = a;
}
