#ifndef TG_TESTS_POLICY_TREE_H
#define TG_TESTS_POLICY_TREE_H
/* A piece of YAML as a tree, and the mistakes that something finds in it. */
#include "policy_support.h"

#include "policy/language/yaml.h"

struct tree {
    struct tg_arena *a;
    struct tg_diags d;
    struct tg_yaml *root;
};

static inline void tree_open(struct tree *t, const char *text)
{
    t->a = tg_arena_new();
    tg_diags_init(&t->d);
    t->root = tg_yaml_parse(tg_sv_of(text), "p.yml", t->a, &t->d);
}

static inline void tree_close(struct tree *t)
{
    tg_diags_release(&t->d);
    tg_arena_free(t->a);
}

/* Exactly one mistake, this one; 0: none. */
static inline void tree_has(const struct tree *t, const char *text, unsigned code)
{
    if (t->d.n != (code > 0) || (code && t->d.v[0].code != code)) {
        print_diags(&t->d);
        fail_msg("%s: wanted TG%u", text, code);
    }
}
#endif
