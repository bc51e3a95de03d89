/* Values of a mapping by key, with a fallback. */
#include "tree.h"

#include "policy/language/yaml.h"

TEST(by_key_or_the_fallback)
{
    static const char *const words[] = { "low", "high", NULL };
    const struct tg_yaml *m;
    struct tree t;
    tree_open(&t, "n: 12\nbad: twelve\nyes: true\nno: yes\nw: high\nlist: [low, high]\n");
    m = t.root;
    assert_int_equal(tg_node_int(m, "n", 7), 12);
    assert_int_equal(tg_node_int(m, "bad", 7), 7);
    assert_int_equal(tg_node_int(m, "list", 7), 7);
    assert_int_equal(tg_node_int(NULL, "n", 7), 7);
    assert_true(tg_node_true(m, "yes"));
    assert_false(tg_node_true(m, "no") || tg_node_true(m, "absent"));
    assert_int_equal(tg_node_word(m, "w", words, 5), 1);
    assert_int_equal(tg_node_word(m, "n", words, 5), 5);
    assert_sv_is(tg_node_text(m, "w"), "high");
    assert_sv_is(tg_node_text(m, "list"), "");
    assert_int_equal(tg_node_at(m, "w").line, 5);
    assert_int_equal(tg_node_at(m, "absent").line, 0);
    tree_close(&t);
}

/* One value is a list of one; a mapping and nothing are lists of none. */
TEST(lists)
{
    static const char *const words[] = { "low", "high", NULL };
    struct tree t;
    tree_open(&t, "one: high\ntwo: [low, high]\nwrong: [{low: 1}, other]\nmap: {low: 1}\n");
    assert_int_equal(tg_node_count(tg_yaml_get(t.root, "one")), 1);
    assert_int_equal(tg_node_count(tg_yaml_get(t.root, "two")), 2);
    assert_int_equal(tg_node_count(tg_yaml_get(t.root, "map")), 0);
    assert_int_equal(tg_node_count(NULL), 0);
    assert_sv_is(tg_node_item(tg_yaml_get(t.root, "one"), 0)->text, "high");
    assert_sv_is(tg_node_item(tg_yaml_get(t.root, "two"), 1)->text, "high");
    assert_int_equal(tg_node_mask(tg_yaml_get(t.root, "one"), words), 2);
    assert_int_equal(tg_node_mask(tg_yaml_get(t.root, "two"), words), 3);
    assert_int_equal(tg_node_mask(tg_yaml_get(t.root, "wrong"), words), 0);
    tree_close(&t);
}
