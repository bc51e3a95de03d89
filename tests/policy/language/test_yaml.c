/* YAML text to a tree with positions; every mistake has a code. */
#include "tree.h"

TEST(values_are_text_with_a_place)
{
    struct tree t;
    const struct tg_yaml *n;
    tree_open(&t, "a: no\nlist:\n  - 0x10\n  - 'é' \nm: {x: 1_000}\n");
    tree_has(&t, "all fine", 0);
    assert_int_equal(t.root->type, TG_YAML_MAP);
    assert_int_equal(t.root->n, 3);
    assert_sv_is(tg_yaml_get(t.root, "a")->text, "no");
    n = tg_yaml_get(t.root, "list");
    assert_true(n->type == TG_YAML_SEQ && n->n == 2);
    assert_sv_is(n->items[0]->text, "0x10");
    assert_true(n->items[0]->plain && !n->items[1]->plain);
    assert_int_equal(n->items[1]->at.line, 4);
    assert_int_equal(n->items[1]->at.col, 5);
    assert_int_equal(tg_yaml_width(n->items[1]), 3); /* 'é': code points, with its quotes */
    assert_int_equal(tg_yaml_width(n), 1);           /* several lines */
    assert_sv_is(tg_yaml_get(tg_yaml_get(t.root, "m"), "x")->text, "1_000");
    assert_null(tg_yaml_get(t.root, "absent"));
    assert_null(tg_yaml_get(n, "a"));
    assert_null(tg_yaml_get(NULL, "a"));
    assert_string_equal(tg_yaml_type_name(n), "a list");
    tree_close(&t);
}

TEST(an_alias_is_its_anchor)
{
    struct tree t;
    tree_open(&t, "a: &x {k: 1}\nb: *x\n");
    tree_has(&t, "an alias", 0);
    assert_ptr_equal(tg_yaml_get(t.root, "a"), tg_yaml_get(t.root, "b"));
    tree_close(&t);
}

TEST(each_mistake_has_its_code)
{
    static const struct {
        const char *text;
        enum tg_diag_code code;
    } cases[] = {
        { "a: [1\n", TG_DIAG_SYNTAX },
        { "a: 1\n\tb: 2\n", TG_DIAG_TAB },
        { "a: 1\n---\nb: 2\n", TG_DIAG_DOCUMENTS },
        { "a: !!int 1\n", TG_DIAG_TAG },
        { "a: 1\na: 2\n", TG_DIAG_DUPLICATE_KEY },
        { "b: &x {c: 1}\na: {<<: *x}\n", TG_DIAG_MERGE },
        { "a: *nowhere\n", TG_DIAG_ALIAS },
        { "[1, 2]: x\n", TG_DIAG_KEY },
        { "a: \xff\n", TG_DIAG_UTF8 },
        { "", TG_DIAG_EMPTY },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tree t;
        tree_open(&t, cases[i].text);
        tree_has(&t, cases[i].text, cases[i].code);
        tree_close(&t);
    }
}

TEST(caps_are_reached)
{
    TG_BUF deep = { 0 };
    for (int n = TG_YAML_DEPTH; n <= TG_YAML_DEPTH + 1; n++) {
        struct tree t;
        tg_buf_clear(&deep);
        for (int i = 0; i < n; i++)
            tg_buf_putc(&deep, '[');
        tg_buf_putc(&deep, '1');
        for (int i = 0; i < n; i++)
            tg_buf_putc(&deep, ']');
        tg_buf_putc(&deep, '\0');
        tree_open(&t, deep.p);
        tree_has(&t, "depth", n > TG_YAML_DEPTH ? TG_DIAG_DEPTH : 0);
        tree_close(&t);
    }
}

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
