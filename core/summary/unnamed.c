/* Shards without the rows that no rule about metrics asks: of thousands of ranks, what fits. */
#include <stdlib.h>

#include "core/summary/internal.h"

void tg_kept_rows_release(struct tg_kept_rows *k)
{
    free(k->key);
    free(k->kept);
    *k = (struct tg_kept_rows){ 0 };
}

/* Ranks of one program that are read from one document share the keys of their rows. */
static bool are_known(const struct tg_kept_rows *k, const struct tg_shard *s)
{
    for (size_t i = 0; k->n == s->n_rows && i < k->n; i++)
        if (k->key[i] != s->rows[i].key)
            return false;
    return k->n == s->n_rows;
}

/* Collectives tell who waits for whom: the rows that core/diff/collectives.c asks. */
static void find_kept(struct tg_kept_rows *k, const struct tg_shard *s,
                      const struct tg_classes *classes)
{
    k->n = s->n_rows;
    k->key = tg_xrealloc(k->key, k->n + 1, sizeof *k->key);
    k->kept = tg_xrealloc(k->kept, k->n + 1, sizeof *k->kept);
    for (size_t i = 0; i < k->n; i++) {
        const struct tg_row_key *key = k->key[i] = s->rows[i].key;
        k->kept[i] = tg_kind_is_device(key->kind) &&
                     tg_class_of(classes, key->kind, key->name, NULL) == TG_CLASS_COMM;
    }
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

static bool same_env(const struct tg_shard *p, const struct tg_shard *q)
{
    bool same = p->n_env == q->n_env;
    for (size_t i = 0; same && i < p->n_env; i++)
        same = tg_sv_eq(p->env[i].key, q->env[i].key) && tg_sv_eq(p->env[i].value, q->env[i].value);
    return same;
}

static void copy_texts(struct tg_shard *to, const struct tg_shard *before, struct tg_arena *a)
{
    bool same = before && same_env(before, to) && tg_sv_eq(before->window, to->window) &&
                tg_sv_eq(before->classes, to->classes);
    const struct tg_kv *env = to->env;
    if (same) {
        to->env = before->env;
        to->window = before->window;
        to->classes = before->classes;
        return;
    }
    to->window = tg_arena_sv(a, to->window);
    to->classes = tg_arena_sv(a, to->classes);
    to->env = TG_NEW_N(a, struct tg_kv, to->n_env);
    for (size_t i = 0; i < to->n_env; i++)
        to->env[i] = (struct tg_kv){ tg_arena_sv(a, env[i].key), tg_arena_sv(a, env[i].value) };
}

/* Slots and inclusive times may be the array of self times. */
static void copy_times(struct tg_row *r, const struct tg_shard *s, struct tg_arena *a)
{
    const tg_ns *self = r->self;
    r->self = tg_arena_copy(a, self, s->n_steps + 1, sizeof *self);
    r->total =
        r->total == self ? r->self : tg_arena_copy(a, r->total, s->n_steps + 1, sizeof *r->total);
    if (r->slots)
        r->slots = r->slots == self
                       ? r->self
                       : tg_arena_copy(a, r->slots, (size_t)tg_row_calls(s, r), sizeof *r->slots);
}

/* Of a shard without frames, gaps and tree. */
static struct tg_shard *copy_few(const struct tg_shard *s, const struct tg_shard *before,
                                 struct tg_arena *a)
{
    struct tg_shard *to = tg_arena_copy(a, s, 1, sizeof *to);
    copy_texts(to, before, a);
    to->steps = tg_arena_copy(a, s->steps, s->n_steps, sizeof *to->steps);
    to->gap_count = TG_NEW_N(a, uint32_t, s->n_steps);
    to->gaps = NULL;
    to->frames = NULL;
    to->metrics = tg_arena_copy(a, s->metrics, TG_METRICS * s->n_steps, sizeof *to->metrics);
    to->hints = tg_arena_copy(a, s->hints, s->n_hints, sizeof *to->hints);
    for (size_t i = 0; i < s->n_hints; i++)
        to->hints[i].name = tg_arena_sv(a, s->hints[i].name);
    to->rows = tg_arena_copy(a, s->rows, s->n_rows, sizeof *to->rows);
    for (size_t i = 0; i < s->n_rows; i++)
        copy_times(&to->rows[i], s, a);
    return to;
}

struct tg_shard *tg_shard_unnamed(const struct tg_shard *s, const struct tg_classes *classes,
                                  struct tg_kept_rows *k, struct tg_arena *a)
{
    struct tg_shard few = *s, *out;
    if (!are_known(k, s))
        find_kept(k, s, classes);
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
    out = k->lasting ? copy_few(&few, k->before, a) : tg_shard_copy(&few, a);
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
    tg_summary_move_numbers(one, a);
    tg_kept_rows_release(&kept);
    tg_arena_free(one->arena);
    one->arena = a;
}
