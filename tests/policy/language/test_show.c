/* A tree on one line, as YAML that loads again to the same tree. */
#include "tree.h"

#include "policy/language/internal.h"

static void shown(const char *text, const char *want)
{
    TG_BUF once = { 0 }, twice = { 0 };
    struct tree t, again;
    tree_open(&t, text);
    tree_has(&t, text, 0);
    tg_show_flow(&once, t.root);
    if (!tg_sv_eq(tg_buf_sv(&once), tg_sv_of(want)))
        fail_msg("%s: got %.*s", text, TG_SV_ARG(tg_buf_sv(&once)));
    tg_buf_putc(&once, '\0');
    tree_open(&again, once.p);
    tree_has(&again, once.p, 0);
    tg_show_flow(&twice, again.root);
    if (!tg_sv_eq(tg_buf_sv(&twice), tg_sv_of(want)))
        fail_msg("%s: again %.*s", text, TG_SV_ARG(tg_buf_sv(&twice)));
    tree_close(&again);
    tree_close(&t);
}

TEST(on_one_line)
{
    shown("a: 1\nb:\n  - x\n  - y: 2\n", "{a: 1, b: [x, {y: 2}]}");
    shown("a: aten::mm\n", "{a: \"aten::mm\"}");
    shown("a: ''\n", "{a: \"\"}");
    shown("a: 'x, y'\n", "{a: \"x, y\"}");
    shown("a: \"*mm\"\n", "{a: \"*mm\"}"); /* bare it would be an alias */
    shown("a: 'say \"no\"'\n", "{a: \"say \\\"no\\\"\"}");
    shown("a: ['{', '#', ': ']\n", "{a: [\"{\", \"#\", \": \"]}");
}
