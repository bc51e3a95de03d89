#ifndef TG_TESTS_CORE_SUMMARY_TREE_CHECK_H
#define TG_TESTS_CORE_SUMMARY_TREE_CHECK_H
/* What holds of every calling context tree, and a tree as text. */
#include "core/summary/internal.h"
#include "tests/support.h"

/* Canonical order; counts and self times of the nodes of a row are the row's; each slot has a
 * node. */
static inline void check_tree(const struct tg_shard *s)
{
    const struct tg_tree *t = &s->tree;
    size_t n = s->n_steps + 1;
    uint64_t *count = tg_xcalloc(s->n_rows * n + 1, sizeof *count);
    tg_ns *self = tg_xcalloc(s->n_rows * n + 1, sizeof *self);
    uint32_t *nodes = tg_xcalloc(s->n_rows + 1, sizeof *nodes);
    uint32_t *last = tg_xcalloc(t->n + 1, sizeof *last);
    assert_true(t->n >= TG_ROOTS);
    for (uint32_t i = TG_ROOTS; i < t->n; i++) {
        const struct tg_tree_node *node = &t->node[i];
        assert_true(node->parent < i && node->row < s->n_rows);
        assert_true(last[node->parent] <= node->row); /* siblings ascend, each row once */
        last[node->parent] = node->row + 1;
        nodes[node->row]++;
        for (size_t k = 0; k < n; k++) {
            assert_true(tg_tree_self(s, node)[k] >= 0);
            count[node->row * n + k] += tg_tree_count(s, node)[k];
            self[node->row * n + k] += tg_tree_self(s, node)[k];
        }
    }
    for (size_t r = 0; r < s->n_rows; r++) {
        const struct tg_row *row = &s->rows[r];
        assert_true(nodes[r] >= 1);
        for (size_t k = 0; k < n; k++)
            if (count[r * n + k] != row->count[k] || self[r * n + k] != row->self[k])
                fail_msg("%.*s, bucket %zu: nodes have %d calls and %lld ns, the row %d and %lld",
                         TG_SV_ARG(row->key->name), k, (int)count[r * n + k],
                         (long long)self[r * n + k], (int)row->count[k], (long long)row->self[k]);
        for (size_t i = 0; nodes[r] > 1 && i < tg_row_calls(s, row); i++)
            assert_int_equal(t->node[row->slot_node[i]].row, r);
    }
    free(count);
    free(self);
    free(nodes);
    free(last);
}

/* "step > aten::mm > gemm 2 200 | 1 100 | 0 0": calls and self time of each bucket, a line a
 * node. */
static inline void tree_text(const struct tg_shard *s, struct tg_buf *out)
{
    static const char *const roots[] = { "step", "threads", "between", "device", "other" };
    for (size_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        uint32_t path[TG_TREE_DEPTH + 2], depth = 0;
        for (uint32_t at = (uint32_t)i; at != TG_NO_ID; at = s->tree.node[at].parent)
            path[depth++] = at;
        tg_buf_puts(out, roots[path[--depth]]);
        while (depth-- > 0)
            tg_buf_printf(out, " > %.*s",
                          TG_SV_ARG(s->rows[s->tree.node[path[depth]].row].key->name));
        for (size_t k = 0; k <= s->n_steps; k++)
            tg_buf_printf(out, "%s%d %lld", k ? " | " : " ", (int)tg_tree_count(s, node)[k],
                          (long long)tg_tree_self(s, node)[k]);
        tg_buf_putc(out, '\n');
    }
}

static inline void assert_tree(const struct tg_shard *s, const char *expected)
{
    TG_BUF text = { 0 };
    tree_text(s, &text);
    assert_string_equal(text.p ? text.p : "", expected);
}
#endif
