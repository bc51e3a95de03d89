#include "core/cause/path_tree.h"

uint32_t tg_path_node_of(struct tg_paths *p, int tree, uint32_t parent, enum tg_path_kind kind,
                         uint32_t text)
{
    struct tg_path_tree *t = &p->tree[tree];
    uint32_t key[3] = { parent, kind, text };
    size_t before = t->keys.n;
    uint32_t id = tg_strmap_add(&t->keys, (tg_sv){ (const char *)key, sizeof key });
    if (t->keys.n > before) {
        t->v = tg_grow(t->v, &t->cap, t->keys.n, sizeof *t->v);
        t->v[id] = (struct tg_path_node){
            .parent = parent, .text = text, .kind = kind, .depth = id ? t->v[parent].depth + 1 : 0
        };
    }
    return id;
}
