#include <stdlib.h>

#include "core/base/sort.h"
#include "core/summary/internal.h"
#include "core/summary/pack.h"

/* The nodes of each row: those of row r are node[first[r]] to node[first[r + 1] - 1], ascending. */
struct by_row {
    size_t *first;
    uint32_t *node;
};

static void by_row_init(struct by_row *b, const struct tg_tree *t, size_t n_rows)
{
    size_t sum = 0;
    b->first = tg_xcalloc(n_rows + 2, sizeof *b->first);
    b->node = tg_xrealloc(NULL, t->n + 1, sizeof *b->node);
    for (size_t i = TG_ROOTS; i < t->n; i++)
        b->first[t->node[i].row + 1]++;
    for (size_t r = 0; r <= n_rows; r++)
        sum = b->first[r] += sum;
    for (size_t i = t->n; i-- > TG_ROOTS;)
        b->node[--b->first[t->node[i].row + 1]] = (uint32_t)i;
    memmove(b->first, b->first + 1, (n_rows + 1) * sizeof *b->first);
    b->first[n_rows] = t->n - TG_ROOTS;
}

static void by_row_release(struct by_row *b)
{
    free(b->first);
    free(b->node);
}

/* The number of nodes of one row, and the first of them. */
static uint32_t nodes_of(const struct by_row *b, size_t row, const uint32_t **node)
{
    *node = b->node + b->first[row];
    return (uint32_t)(b->first[row + 1] - b->first[row]);
}

/* ---- writing the shape ---- */

static void put_nodes(struct tg_buf *b, const struct tg_tree *t)
{
    TG_FREE uint32_t *last =
        tg_xcalloc(t->n + 1, sizeof *last); /* by node: its last child's row + 1 */
    uint32_t root = 0;
    tg_pack_u64(b, t->n - TG_ROOTS);
    for (uint32_t i = TG_ROOTS; i < t->n; i++) {
        const struct tg_tree_node *node = &t->node[i];
        uint32_t up = 0, at = i == TG_ROOTS ? root : i - 1;
        for (; at != node->parent && at >= TG_ROOTS; up++)
            at = t->node[at].parent;
        tg_pack_u64(b, up);
        if (at < TG_ROOTS)
            tg_pack_u64(b, node->parent - root);
        root = at < TG_ROOTS ? node->parent : root;
        tg_pack_u64(b, node->row - last[node->parent]);
        last[node->parent] = node->row + 1;
    }
}

static void put_slots(struct tg_buf *b, const struct tg_row *r, size_t n_steps,
                      const uint32_t *node, uint32_t n)
{
    const uint32_t *at = r->slot_node;
    for (size_t k = 0; k < n_steps; at += r->count[k++]) {
        size_t before = 0;
        bool same = k && r->count[k] && r->count[k] == r->count[k - 1] &&
                    !memcmp(at, at - r->count[k], r->count[k] * sizeof *at);
        if (k)
            tg_pack_u64(b, same);
        for (size_t i = 0; !same && i < r->count[k]; i++) {
            size_t place; /* of the node among those of its row */
            TG_SEARCH(place, n, node[place] < at[i]);
            tg_pack_u64(b, place >= before ? place - before : place + n - before);
            before = place;
        }
    }
}

bool tg_tree_shape_put(struct tg_buf *b, const struct tg_shard *s)
{
    TG_AUTO(by_row_release) struct by_row rows;
    uint64_t calls = 0;
    by_row_init(&rows, &s->tree, s->n_rows);
    tg_pack_u64(b, s->tree.cut);
    put_nodes(b, &s->tree);
    for (size_t r = 0; r < s->n_rows && calls <= TG_PACK_MAX; r++) {
        const uint32_t *node;
        uint32_t n = nodes_of(&rows, r, &node);
        if (n < 2)
            continue;
        calls += tg_row_calls(s, &s->rows[r]);
        if (calls <= TG_PACK_MAX)
            put_slots(b, &s->rows[r], s->n_steps, node, n);
        for (uint32_t i = 0; i + 1 < n; i++)
            tg_pack_u64(b, tg_tree_count(s, &s->tree.node[node[i]])[s->n_steps]);
    }
    return calls <= TG_PACK_MAX && b->n <= TG_PACK_MAX;
}

/* ---- reading the shape ---- */

static bool read_nodes(struct tg_unpack *u, struct tg_tree *t, size_t n_rows, struct tg_arena *a)
{
    size_t n = tg_unpack_count(u);
    struct tg_tree_node *v = TG_NEW_N(a, struct tg_tree_node, n + TG_ROOTS);
    TG_FREE uint32_t *last = tg_xcalloc(n + TG_ROOTS, sizeof *last);
    uint64_t root = 0;
    for (uint32_t i = 0; i < TG_ROOTS; i++)
        v[i] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
    for (uint32_t i = TG_ROOTS; i < n + TG_ROOTS; i++) {
        uint32_t at = i == TG_ROOTS ? 0 : i - 1;
        uint64_t up = tg_unpack_u64(u), row;
        for (; up && at >= TG_ROOTS; up--)
            at = v[at].parent;
        if (at < TG_ROOTS) {
            uint64_t more = tg_unpack_u64(u);
            u->bad |= more >= TG_ROOTS || root + more >= TG_ROOTS;
            root += u->bad ? 0 : more;
            at = (uint32_t)root;
        }
        row = tg_unpack_u64(u);
        if (u->bad || up || row >= n_rows || (row += last[at]) >= n_rows)
            return false;
        last[at] = (uint32_t)row + 1;
        v[i] = (struct tg_tree_node){ at, (uint32_t)row, TG_NO_ID };
    }
    *t = (struct tg_tree){ .node = v, .n = n + TG_ROOTS, .cut = t->cut };
    t->n_split = tg_tree_split(v, t->n, n_rows);
    return !u->bad;
}

static bool read_slots(struct tg_unpack *u, struct tg_row *r, size_t n_steps, const uint32_t *node,
                       uint32_t n)
{
    uint32_t *at = r->slot_node;
    for (size_t k = 0; k < n_steps && !u->bad; at += r->count[k++]) {
        uint64_t place = 0, same = k ? tg_unpack_u64(u) : 0;
        if (same > 1 || (same && (!r->count[k] || r->count[k] != r->count[k - 1])))
            return false;
        if (same)
            memcpy(at, at - r->count[k], r->count[k] * sizeof *at);
        for (size_t i = 0; !same && i < r->count[k]; i++) {
            uint64_t more = tg_unpack_u64(u);
            if (more >= n || u->bad)
                return false;
            place = (place + more) % n;
            at[i] = node[place];
        }
    }
    return !u->bad;
}

/* Calls of the nodes of one row: slot by slot, and outside the steps. */
static bool read_counts(struct tg_unpack *u, struct tg_tree *t, const struct tg_row *r,
                        size_t n_steps, const uint32_t *node, uint32_t n)
{
    const uint32_t *at = r->slot_node;
    uint32_t rest = r->count[n_steps];
    for (size_t k = 0; k < n_steps; k++)
        for (size_t i = 0; i < r->count[k]; i++, at++)
            t->count[t->node[*at].split * (n_steps + 1) + k]++;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t calls = i + 1 < n ? tg_unpack_u64(u) : rest;
        if (calls > rest)
            return false;
        t->count[t->node[node[i]].split * (n_steps + 1) + n_steps] = (uint32_t)calls;
        rest -= (uint32_t)calls;
    }
    return !u->bad;
}

bool tg_tree_shape_read(struct tg_tree *out, tg_sv raw, struct tg_row *rows, size_t n_rows,
                        size_t n_steps, struct tg_arena *a)
{
    struct tg_unpack u = { raw.p, raw.p + raw.n, false };
    TG_AUTO(by_row_release) struct by_row b = { 0 };
    uint64_t all = 0;
    *out = (struct tg_tree){ .cut = tg_unpack_u64(&u) };
    if (!read_nodes(&u, out, n_rows, a) || !tg_tree_fits(out, n_rows, n_steps))
        return false;
    out->count = TG_NEW_N(a, uint32_t, out->n_split * (n_steps + 1));
    by_row_init(&b, out, n_rows);
    for (size_t r = 0; r < n_rows; r++) { /* those with several nodes */
        const uint32_t *node;
        uint32_t n = nodes_of(&b, r, &node);
        uint64_t calls = 0;
        for (size_t k = 0; k < n_steps; k++)
            calls += rows[r].count[k];
        if (n == 1)
            continue;
        if (!n || calls > TG_PACK_MAX || (all += calls) > TG_PACK_MAX)
            return false;
        rows[r].slot_node = TG_NEW_N(a, uint32_t, (size_t)calls);
        if (!read_slots(&u, &rows[r], n_steps, node, n) ||
            !read_counts(&u, out, &rows[r], n_steps, node, n))
            return false;
    }
    return !u.bad && u.p == u.end;
}

/* ---- times ---- */

void tg_tree_times_put(struct tg_buf *out, const struct tg_shard *s, const bool *kept)
{
    TG_AUTO(by_row_release) struct by_row rows;
    by_row_init(&rows, &s->tree, s->n_rows);
    for (size_t r = 0; r < s->n_rows; r++) {
        const uint32_t *node;
        uint32_t n = nodes_of(&rows, r, &node);
        for (uint32_t i = 0; i + 1 < n; i++) {
            const tg_ns *self = tg_tree_self(s, &s->tree.node[node[i]]);
            for (size_t k = kept[r] ? s->n_steps : 0; k <= s->n_steps; k++)
                tg_pack_u64(out, (uint64_t)self[k]);
        }
    }
}

/* The numbers of one row's nodes from bucket `from` on: the last node has what is left. */
static bool read_times(struct tg_unpack *u, struct tg_shard *s, const struct tg_row *r, size_t from,
                       const uint32_t *node, uint32_t n)
{
    for (size_t k = from; k <= s->n_steps; k++)
        s->tree.self[s->tree.node[node[n - 1]].split * (s->n_steps + 1) + k] = r->self[k];
    for (uint32_t i = 0; i + 1 < n; i++) {
        tg_ns *self = s->tree.self + s->tree.node[node[i]].split * (s->n_steps + 1);
        tg_ns *rest = s->tree.self + s->tree.node[node[n - 1]].split * (s->n_steps + 1);
        for (size_t k = from; k <= s->n_steps; k++) {
            uint64_t v = tg_unpack_u64(u);
            if (v > (uint64_t)rest[k])
                return false;
            self[k] = (tg_ns)v;
            rest[k] -= (tg_ns)v;
        }
    }
    return !u->bad;
}

bool tg_tree_times_read(struct tg_shard *s, tg_sv raw, struct tg_arena *a)
{
    struct tg_unpack u = { raw.p, raw.p + raw.n, false };
    TG_AUTO(by_row_release) struct by_row rows;
    bool ok = true;
    s->tree.self = TG_NEW_N(a, tg_ns, s->tree.n_split * (s->n_steps + 1));
    by_row_init(&rows, &s->tree, s->n_rows);
    for (size_t r = 0; ok && r < s->n_rows; r++) {
        const struct tg_row *row = &s->rows[r];
        const uint32_t *node;
        uint32_t n = nodes_of(&rows, r, &node);
        if (n < 2)
            continue;
        for (size_t k = 0, slot = 0; row->slots && k < s->n_steps; k++)
            for (size_t i = 0; i < row->count[k]; i++, slot++) {
                size_t split = s->tree.node[row->slot_node[slot]].split;
                tg_ns *self = s->tree.self + split * (s->n_steps + 1) + k;
                *self = tg_ns_add(*self, row->slots[slot]);
            }
        ok = read_times(&u, s, row, row->slots ? s->n_steps : 0, node, n);
    }
    tg_tree_settle(s);
    return ok && !u.bad && u.p == u.end;
}
