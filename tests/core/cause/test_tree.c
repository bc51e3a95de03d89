#include "tests/support.h"

#include "core/cause/paths.h"

TEST(a_node_is_made_once)
{
    struct tg_paths p;
    uint32_t f, g, again, a, b;
    tg_paths_init(&p, NULL, TG_NO_ID);
    f = tg_strmap_add(&p.texts, TG_SV("f"));
    g = tg_strmap_add(&p.texts, TG_SV("g"));
    a = tg_path_node_of(&p, TG_PATHS_BY_CLASS, 0, TG_PATH_FUNCTION, f);
    b = tg_path_node_of(&p, TG_PATHS_BY_CLASS, a, TG_PATH_FUNCTION, g);
    again = tg_path_node_of(&p, TG_PATHS_BY_CLASS, a, TG_PATH_FUNCTION, g);
    assert_int_equal(again, b);
    assert_int_equal(p.tree[TG_PATHS_BY_CLASS].v[b].depth, 2);
    assert_int_equal(p.tree[TG_PATHS_BY_CLASS].v[b].parent, a);
    /* another parent, another kind, another tree: another node */
    assert_int_not_equal(tg_path_node_of(&p, TG_PATHS_BY_CLASS, 0, TG_PATH_FUNCTION, g), b);
    assert_int_not_equal(tg_path_node_of(&p, TG_PATHS_BY_CLASS, a, TG_PATH_MODULE, g), b);
    assert_int_equal(p.tree[TG_PATHS_BY_INSTANCE].keys.n, 1);
    tg_paths_release(&p);
}
