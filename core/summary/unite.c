#include "core/summary/unite.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "core/summary/layout.h"

/* What is put at a time: enough to write in large pieces. */
#define PIECE ((size_t)1 << 20)

/* One shard of one input. */
struct entry {
    struct tg_layout_key key;
    uint32_t input, place; /* which one of the input's */
};

struct input {
    struct tg_source *source; /* NULL: not open */
    struct tg_arena *arena;
    struct tg_layout_reader reader;
    uint64_t used; /* when: the least is closed first */
    bool pinned;   /* a shard in use shares parts of its columns */
};

struct merging {
    const struct tg_unite *m;
    struct tg_err *err;
    struct tg_arena *a;
    struct input *input;
    size_t n_open;
    uint64_t clock;
    struct tg_layout_books books;
    struct tg_damage again; /* what was named in the first pass */
    struct entry *entry;
    size_t n, cap;
    struct tg_summary less; /* shards of which only the step times are kept */
    struct tg_layout_writer writer;
    struct tg_buf out;
};

static void close_input(struct merging *g, struct input *in)
{
    if (!in->source)
        return;
    tg_layout_close(&in->reader);
    tg_source_close(in->source);
    tg_arena_free(in->arena);
    *in = (struct input){ 0 };
    g->n_open--;
}

static bool open_input(struct merging *g, size_t i)
{
    struct input *in = &g->input[i], *least = NULL; /* the least recently used: closed */
    for (size_t k = 0; g->n_open >= TG_UNITE_OPEN && k < g->m->n; k++)
        if (g->input[k].source && !g->input[k].pinned && (!least || g->input[k].used < least->used))
            least = &g->input[k];
    if (least)
        close_input(g, least);
    in->source = g->m->open(g->m->arg, i, g->err);
    if (!in->source)
        return false;
    g->n_open++;
    in->arena = tg_arena_new();
    return tg_layout_open(&in->reader, in->source, NULL, &g->books, in->arena, g->err);
}

/* ---- what there is ---- */

static bool too_many(const struct merging *g)
{
    tg_err_set(g->err, TG_ERR_LIMIT, TG_NOWHERE,
               "more than %zu runs and ranks: a summary has no room for them", TG_MAX_SHARDS);
    return tg_err_hint(g->err, "Store the runs in several files: a side may have more than one.");
}

/* Duplicates count until they are found: twice the limit is enough for them. */
static bool list_shard(struct merging *g, size_t i, size_t k)
{
    const struct tg_layout_key *key = &g->input[i].reader.index[k];
    const struct tg_layout_key *last = g->n ? &g->entry[g->n - 1].key : NULL;
    bool same = last && tg_sv_eq(last->run, key->run);
    if (g->n >= 8 * TG_MAX_SHARDS)
        return too_many(g);
    struct tg_layout_key kept = { same ? last->run : tg_arena_sv(g->a, key->run),
                                  tg_arena_sv(g->a, key->hash), key->rank };
    *TG_PUSH(g->entry, g->n, g->cap) = (struct entry){ kept, (uint32_t)i, (uint32_t)k };
    return true;
}

/* The shards of an input that can be read; its reader is at the end then. */
static bool list_whole(struct merging *g, size_t i)
{
    struct tg_layout_reader *r = &g->input[i].reader;
    for (;;) {
        struct tg_arena *a = tg_arena_new();
        struct tg_shard *s;
        const struct tg_listing *ids;
        enum tg_next next = tg_layout_next(r, a, &s, &ids, g->err);
        tg_arena_free(a);
        if (next == TG_NEXT_END)
            return true;
        if (next == TG_NEXT ? !list_shard(g, i, r->next - 1) : !tg_damage_add(g->m->damage, g->err))
            return false;
    }
}

static int cmp_key(const struct tg_layout_key *a, const struct tg_layout_key *b)
{
    return tg_shard_key_cmp(a->run, a->rank, b->run, b->rank);
}

static int by_key(const void *pa, const void *pb)
{
    const struct entry *a = pa, *b = pb;
    int c = cmp_key(&a->key, &b->key);
    return c ? c : TG_CMP(a->input, b->input);
}

/* The distinct keys. */
static bool distinct(struct merging *g, struct tg_layout_key *keys, size_t *n)
{
    *n = 0;
    for (size_t i = 0; i < g->n; i++) {
        const struct tg_layout_key *k = &g->entry[i].key;
        if (*n && cmp_key(&keys[*n - 1], k) == 0) {
            if (!tg_sv_eq(keys[*n - 1].hash, k->hash))
                return tg_shard_contradicts(k->run, k->rank, g->err);
            continue;
        }
        keys[(*n)++] = *k;
    }
    return *n <= TG_MAX_SHARDS || too_many(g);
}

/* Truncated shards that are not there whole. */
static bool only_less(struct merging *g, const struct tg_layout_key *keys, size_t n,
                      struct tg_shard **out, size_t *n_out)
{
    *n_out = 0;
    for (size_t i = 0, k = 0; i < g->less.n; i++) {
        struct tg_shard *s = g->less.shards[i];
        const struct tg_layout_key key = { s->run, s->hash, s->rank };
        while (k < n && cmp_key(&keys[k], &key) < 0)
            k++;
        if (k == n || cmp_key(&keys[k], &key) != 0)
            out[(*n_out)++] = s;
        else if (!tg_sv_eq(keys[k].hash, s->hash))
            return tg_shard_contradicts(s->run, s->rank, g->err);
    }
    return true;
}

/* ---- shard after shard ---- */

static bool flush(struct merging *g, size_t at_least)
{
    if (g->out.n < at_least)
        return true;
    if (!g->m->put(g->m->arg, tg_buf_sv(&g->out), g->err))
        return false;
    tg_buf_clear(&g->out);
    return true;
}

/* The shard of an entry; its input is where it was left, or begins anew. */
static bool read_entry(struct merging *g, const struct entry *e, struct tg_arena *a,
                       struct tg_shard **s, const struct tg_listing **ids)
{
    struct input *in = &g->input[e->input];
    bool ok = in->source || open_input(g, e->input);
    in->used = ++g->clock;
    while (ok && in->reader.next < e->place)
        ok = tg_layout_skip(&in->reader, g->err) || tg_damage_add(&g->again, g->err);
    if (ok && in->reader.next != e->place) {
        close_input(g, in);
        return read_entry(g, e, a, s, ids);
    }
    return ok && tg_layout_next(&in->reader, a, s, ids, g->err) == TG_NEXT;
}

/* After its last shard, the end of a document is checked. */
static bool end_input(struct merging *g, const struct entry *e)
{
    struct input *in = &g->input[e->input];
    struct tg_shard *none;
    const struct tg_listing *ids;
    bool ok = true;
    if (in->source && in->reader.next == in->reader.n) {
        ok = tg_layout_next(&in->reader, in->arena, &none, &ids, g->err) == TG_NEXT_END ||
             tg_damage_add(&g->again, g->err);
        close_input(g, in);
    }
    return ok;
}

static uint32_t *mapped(const uint32_t *id, size_t n, const uint32_t *to, struct tg_arena *a)
{
    uint32_t *out = TG_NEW_N(a, uint32_t, n + 1);
    for (size_t i = 0; i < n; i++)
        out[i] = to[id[i]];
    return out;
}

/* Ids of an input's book as those of the result's. */
static struct tg_listing translate(const struct tg_listing *ids, const struct tg_listing *to,
                                   struct tg_arena *a)
{
    struct tg_listing l = *ids;
    for (int set = 0; set < TG_BOOK_SETS; set++)
        l.row[set] = mapped(ids->row[set], ids->n[set], to->row[set], a);
    l.attr = mapped(ids->attr, ids->n_attrs, to->attr, a);
    return l;
}

/* One shard of `n` inputs: equal content, but some of them may lack slots. */
static bool put_entries(struct merging *g, const struct entry *e, size_t n)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_summary all = { .arena = a };
    struct tg_listing l = { 0 };
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++) {
        const struct tg_listing *ids;
        struct tg_shard *s;
        ok = read_entry(g, &e[i], a, &s, &ids);
        if (ok && i == 0) {
            l = translate(ids, tg_layout_joined(&g->input[e->input].reader, &g->writer.book), a);
            g->input[e->input].pinned = true;
        }
        ok = ok && tg_summary_insert(&all, s, g->err);
    }
    ok = ok && tg_layout_put_shard(&g->writer, all.shards[0], &l, g->err) && flush(g, PIECE);
    g->input[e->input].pinned = false;
    for (size_t i = 0; ok && i < n; i++)
        ok = end_input(g, &e[i]);
    free(all.shards);
    return ok;
}

/* What an input holds; without shards, nothing else will come to its end. */
static bool survey(struct merging *g, size_t i)
{
    struct tg_layout_reader *r = &g->input[i].reader;
    struct tg_shard *none;
    const struct tg_listing *ids;
    if (g->m->damage && !list_whole(g, i))
        return false;
    for (size_t k = 0; !g->m->damage && k < r->n; k++)
        if (!list_shard(g, i, k))
            return false;
    for (size_t k = 0; k < r->n_steps_only; k++)
        if (!tg_summary_insert(&g->less, tg_shard_copy(r->steps_only[k], g->less.arena), g->err))
            return false;
    tg_number_unite(&g->less.numbers, &r->numbers, g->less.arena);
    (void)tg_layout_joined(r, &g->writer.book);
    return r->n > 0 || tg_layout_next(r, g->a, &none, &ids, g->err) == TG_NEXT_END ||
           tg_damage_add(g->m->damage, g->err);
}

static bool merge(struct merging *g)
{
    for (size_t i = 0; i < g->m->n; i++) {
        bool open = open_input(g, i);
        if (open ? !survey(g, i) : !tg_damage_add(g->m->damage, g->err))
            return false;
        close_input(g, &g->input[i]);
    }
    if (g->m->damage && g->m->damage->n && g->n + g->less.n == 0) {
        tg_sv rest = tg_buf_sv(&g->m->damage->text);
        tg_sv first = tg_sv_cut(&rest, '\n');
        tg_err_set(g->err, TG_ERR_SUMMARY, TG_NOWHERE, "no part can be read: %.*s",
                   TG_SV_ARG(first));
        return tg_err_hint(g->err, "Record it again.");
    }
    if (g->n)
        TG_SORT(g->entry, g->n, by_key);
    TG_FREE struct tg_layout_key *keys = tg_xrealloc(NULL, g->n + 1, sizeof *keys);
    TG_FREE struct tg_shard **less = tg_xrealloc(NULL, g->less.n + 1, sizeof *less);
    size_t n, n_less;
    g->writer.numbers = &g->less.numbers;
    if (!distinct(g, keys, &n) || !only_less(g, keys, n, less, &n_less) ||
        !tg_layout_put_head(&g->writer, keys, n, less, n_less, g->err))
        return false;
    for (size_t i = 0, j; i < g->n; i = j) {
        for (j = i + 1; j < g->n && cmp_key(&g->entry[i].key, &g->entry[j].key) == 0; j++)
            ;
        if (!put_entries(g, &g->entry[i], j - i))
            return false;
    }
    tg_layout_put_tail(&g->writer);
    return flush(g, 0);
}

bool tg_unite_run(const struct tg_unite *m, struct tg_err *err)
{
    struct merging g = { .m = m, .err = err, .a = tg_arena_new() };
    g.input = tg_xcalloc(m->n + 1, sizeof *g.input);
    tg_summary_init(&g.less);
    tg_layout_writer_init(&g.writer, &g.out, NULL, TG_SUMMARY_FORM);
    bool ok = merge(&g);
    for (size_t i = 0; i < m->n; i++)
        close_input(&g, &g.input[i]);
    tg_damage_release(&g.again);
    tg_layout_books_release(&g.books);
    tg_layout_writer_release(&g.writer);
    tg_summary_release(&g.less);
    tg_buf_release(&g.out);
    tg_arena_free(g.a);
    free(g.entry);
    free(g.input);
    return ok;
}
