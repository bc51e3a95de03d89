#ifndef TG_TESTS_CORE_DIFF_TREE_BY_HAND_H
#define TG_TESTS_CORE_DIFF_TREE_BY_HAND_H
/* Calling context trees made by hand. */
#include "by_hand.h"

/* The node of `s` at a path of names, "step/f/aten::mm"; fails if a name of it is missing. */
static inline uint32_t node_at(const struct tg_shard *s, tg_sv path)
{
    static const char *const roots[] = { "step", "threads", "between", "device" };
    tg_sv name = tg_sv_cut(&path, '/');
    uint32_t at = 0;
    while (at < 4 && !tg_sv_eq(name, tg_sv_of(roots[at])))
        at++;
    assert_true(at < 4);
    while (path.n) {
        uint32_t i = TG_ROOTS;
        name = tg_sv_cut(&path, '/');
        while (i < s->tree.n && !(s->tree.node[i].parent == at &&
                                  tg_sv_eq(s->rows[s->tree.node[i].row].key->name, name)))
            i++;
        if (i == s->tree.n)
            fail_msg("no '%.*s'", TG_SV_ARG(name));
        at = i;
    }
    return at;
}

/* `calls` per step of `ns` each at a path whose parent is there, in one run. A row of its own. */
static inline struct tg_row *put_run(struct fixture *f, int side, size_t run, enum tg_kind kind,
                                     const char *path, uint32_t calls, tg_ns ns)
{
    struct tg_shard *s = shard(f, side, run);
    const char *name = strrchr(path, '/') + 1;
    struct tg_tree_node *node = (struct tg_tree_node *)(uintptr_t)s->tree.node;
    struct tg_row *row;
    uint32_t parent;
    if (!node) {
        s->tree.node = node = TG_NEW_N(f->a, struct tg_tree_node, MAX_ROWS + TG_ROOTS);
        for (; s->tree.n < TG_ROOTS; s->tree.n++)
            node[s->tree.n] = (struct tg_tree_node){ TG_NO_ID, TG_NO_ID, TG_NO_ID };
    }
    parent = node_at(s, (tg_sv){ path, (size_t)(name - path) - 1 });
    row =
        add_row(f, side, run, kind, name,
                parent < TG_ROOTS
                    ? ""
                    : tg_arena_printf(f->a, "%.*s", TG_SV_ARG(s->rows[node[parent].row].key->name)),
                calls, ns);
    node[s->tree.n++] = (struct tg_tree_node){ parent, (uint32_t)(s->n_rows - 1), TG_NO_ID };
    return row;
}

/* In every run of a side. */
static inline void put(struct fixture *f, int side, enum tg_kind kind, const char *path,
                       uint32_t calls, tg_ns ns)
{
    for (size_t r = 0; r < f->side[side].n_runs; r++)
        (void)put_run(f, side, r, kind, path, calls, ns);
}

static inline void put_both(struct fixture *f, enum tg_kind kind, const char *path, uint32_t calls,
                            tg_ns ns)
{
    put(f, TG_BASE, kind, path, calls, ns);
    put(f, TG_TEST, kind, path, calls, ns);
}
#endif
