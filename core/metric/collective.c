#include "core/metric/collective.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/hash.h"
#include "core/base/sort.h"

/* ---- ids ---- */

struct tg_collective_id tg_collective_id_of(tg_sv attrs)
{
    struct tg_collective_id id = { 0, 0 };
    uint64_t group = 0, op = 0;
    for (tg_sv rest = attrs; rest.n;) {
        tg_sv line = tg_sv_cut(&rest, '\n'), value = line, key = tg_sv_cut(&value, '=');
        if (tg_sv_starts(key, TG_SV("group"))) /* its name, size and ranks */
            group = tg_hash(line, group);
        else if ((tg_sv_eq(key, TG_SV("comms_id")) || tg_sv_eq(key, TG_SV("seq"))) && value.n &&
                 value.p[0] != '-') /* -1: nobody numbered it */
            op = tg_hash(line, 0);  /* the last one decides: comms_id, which tells more */
    }
    if (!op)
        return id;
    id.group = (uint32_t)group;
    id.op = (uint32_t)(op >> 32) | 1;
    return id;
}

void tg_collective_id_put(struct tg_buf *out, struct tg_collective_id id)
{
    tg_buf_printf(out, "%08" PRIx32 "%08" PRIx32, id.group, id.op);
}

static uint32_t hex8(const char *p)
{
    uint32_t v = 0;
    for (int i = 0; i < 8; i++)
        v = v << 4 | (uint32_t)(p[i] <= '9' ? p[i] - '0' : p[i] - 'a' + 10);
    return v;
}

struct tg_collective_id tg_collective_id_read(const char text[TG_COLLECTIVE_ID_TEXT])
{
    return (struct tg_collective_id){ hex8(text), hex8(text + 8) };
}

void tg_collective_numbers_see(struct tg_collective_numbers *s, uint32_t id, uint32_t rank,
                               bool numbered)
{
    s->v = tg_grow(s->v, &s->cap, (size_t)id + 1, sizeof *s->v);
    while (s->n <= id)
        s->v[s->n++] = (struct tg_collective_number){ .rank = rank, .number = false };
    struct tg_collective_number *x = &s->v[id];
    if (x->rank != rank)
        *x = (struct tg_collective_number){ rank, false, x->bare || !x->number };
    x->number |= numbered;
}

bool tg_collective_numbers_all(const struct tg_collective_numbers *s, uint32_t id)
{
    return id < s->n && s->v[id].number && !s->v[id].bare;
}

void tg_collective_numbers_release(struct tg_collective_numbers *s)
{
    free(s->v);
}

/* ---- matching ---- */

/* What the same collective is the same in, besides its key and position. */
static int64_t where_of(const struct tg_collective *p)
{
    return p->op ? 0 : p->step;
}

static int by_what(const struct tg_collective *a, const struct tg_collective *b)
{
    int c = TG_CMP(a->key, b->key);
    c = c ? c : TG_CMP(a->op, b->op);
    c = c ? c : TG_CMP(where_of(a), where_of(b));
    return c ? c : TG_CMP(a->nth, b->nth);
}

static int by_match(const void *pa, const void *pb)
{
    const struct tg_collective *a = pa, *b = pb;
    int c = by_what(a, b);
    return c ? c : TG_CMP(a->rank, b->rank);
}

void tg_collectives_match(struct tg_collective *v, size_t n, size_t n_keys,
                          void (*f)(void *arg, const struct tg_collective *p, size_t n, bool whole),
                          void *arg)
{
    /* Per key: how many ranks have it at all, and the last of them. */
    TG_FREE uint32_t *ranks = tg_xcalloc(n_keys + 1, sizeof *ranks);
    TG_FREE uint32_t *last = tg_xcalloc(n_keys + 1, sizeof *last);
    for (size_t i = 0; i < n; i++)
        if (!ranks[v[i].key] || last[v[i].key] != v[i].rank) {
            last[v[i].key] = v[i].rank;
            ranks[v[i].key]++;
        }
    TG_SORT(v, n, by_match);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i + 1; k < n && by_what(&v[k], &v[i]) == 0;)
            k++;
        f(arg, v + i, k - i, k - i >= 2 && k - i >= ranks[v[i].key]);
    }
}

void tg_collective_counter_init(struct tg_collective_counter *c)
{
    *c = (struct tg_collective_counter){ .count = NULL };
}

void tg_collective_counter_release(struct tg_collective_counter *c)
{
    tg_strmap_release(&c->seen);
    free(c->count);
}

void tg_collective_count(struct tg_collective_counter *c, struct tg_collective *p)
{
    const struct {
        int64_t where;
        uint32_t key, op;
    } at = { where_of(p), p->key, p->op };
    size_t known = c->seen.n;
    uint32_t id = tg_strmap_add(&c->seen, (tg_sv){ (const char *)&at, sizeof at });
    c->count = tg_grow(c->count, &c->cap, c->seen.n, sizeof *c->count);
    if (c->seen.n > known)
        c->count[id] = 0;
    p->nth = c->count[id]++;
}
