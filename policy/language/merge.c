#include "policy/language/internal.h"

enum { MAX_RULES = 2000 }; /* of all layers together */

struct merge {
    struct tg_arena *arena;
    struct tg_diags *diags;
    struct tg_removed *removed;
};

static bool same_text(const struct tg_yaml *a, const struct tg_yaml *b)
{
    return a && b && a->type == TG_YAML_SCALAR && b->type == TG_YAML_SCALAR &&
           tg_sv_eq(a->text, b->text);
}

static struct tg_yaml *merge_maps(struct merge *m, const struct tg_key *keys,
                                  const struct tg_yaml *base, const struct tg_yaml *over);

/* `identity`: the key by which items are the same, and merged; NULL: all are appended. */
static struct tg_yaml *merge_lists(struct merge *m, const char *identity,
                                   const struct tg_key *item_keys, const struct tg_yaml *base,
                                   const struct tg_yaml *over)
{
    struct tg_yaml *all = tg_yaml_copy(m->arena, over);
    all->items = TG_NEW_N(m->arena, struct tg_yaml *, base->n + over->n + 1);
    all->n = 0;
    for (size_t i = 0; i < base->n; i++)
        all->items[all->n++] = base->items[i];
    for (size_t i = 0; i < over->n; i++) {
        const struct tg_yaml *id = identity ? tg_yaml_get(over->items[i], identity) : NULL;
        size_t j = id ? 0 : base->n;
        while (j < base->n && !same_text(tg_yaml_get(all->items[j], identity), id))
            j++;
        if (j < base->n)
            all->items[j] = merge_maps(m, item_keys, all->items[j], over->items[i]);
        else
            all->items[all->n++] = over->items[i];
    }
    return all;
}

/* ---- rules: a list, or {remove, add} ---- */

static void remove_rule(struct merge *m, struct tg_yaml *rules, const struct tg_yaml *id)
{
    size_t i = 0;
    while (i < rules->n && !same_text(tg_yaml_get(rules->items[i], "id"), id))
        i++;
    if (i == rules->n) {
        const char **names = TG_NEW_N(m->arena, const char *, rules->n + 1);
        size_t n = 0;
        for (size_t k = 0; k < rules->n; k++) {
            const struct tg_yaml *known = tg_yaml_get(rules->items[k], "id");
            if (known && known->type == TG_YAML_SCALAR)
                names[n++] = known->text.p;
        }
        tg_yaml_mistake(m->diags, TG_DIAG_RULE_UNKNOWN, id,
                        tg_diags_guess(m->diags, id->text, names),
                        "no earlier layer has a rule '%s'", id->text.p);
        return;
    }
    for (; i + 1 < rules->n; i++)
        rules->items[i] = rules->items[i + 1];
    rules->n--;
    struct tg_removed *r = m->removed;
    *TG_PUSH(r->id, r->n, r->cap) = id->text;
}

/* ---- maps ---- */

/* The flags of keys.h; a value of the wrong type was reported and stays as it is. */
static struct tg_yaml *merge_value(struct merge *m, const struct tg_key *k, struct tg_yaml *base,
                                   struct tg_yaml *over)
{
    bool maps = base && base->type == TG_YAML_MAP && over->type == TG_YAML_MAP;
    bool lists = base && base->type == TG_YAML_SEQ && over->type == TG_YAML_SEQ;
    if (k->flags & TG_KEY_BY_ID) {
        const struct tg_yaml *add = over->type == TG_YAML_MAP ? tg_yaml_get(over, "add") : over;
        const struct tg_yaml *remove = tg_yaml_get(over, "remove");
        struct tg_yaml none = { .type = TG_YAML_SEQ, .at = over->at };
        struct tg_yaml *rules = merge_lists(m, NULL, NULL, base ? base : &none, &none);
        rules->at = over->at;
        for (size_t i = 0; remove && remove->type == TG_YAML_SEQ && i < remove->n; i++)
            if (remove->items[i]->type == TG_YAML_SCALAR)
                remove_rule(m, rules, remove->items[i]);
        if (add && add->type == TG_YAML_SEQ)
            rules = merge_lists(m, "id", tg_key_shape_rule.keys, rules, add);
        if (rules->n > MAX_RULES) {
            (void)tg_diags_add(m->diags, TG_DIAG_EMPTY_LIST, over->at, 1, NULL,
                               "all layers together have more than %d rules", MAX_RULES);
            rules->n = MAX_RULES;
        }
        return rules;
    }
    if ((k->flags & TG_KEY_MERGE) && maps)
        return merge_maps(m, k->shape->keys, base, over);
    if ((k->flags & (TG_KEY_APPEND | TG_KEY_BY_NAME)) && lists)
        return merge_lists(m, k->flags & TG_KEY_BY_NAME ? "name" : NULL, k->shape->item->keys, base,
                           over);
    return over;
}

/* Unknown keys were reported; they are dropped. */
static struct tg_yaml *merge_maps(struct merge *m, const struct tg_key *keys,
                                  const struct tg_yaml *base, const struct tg_yaml *over)
{
    struct tg_yaml *map = tg_yaml_copy(m->arena, over);
    if (over->type != TG_YAML_MAP || (base && base->type != TG_YAML_MAP))
        return map;
    map->pairs = TG_NEW_N(m->arena, struct tg_yaml_pair, (base ? base->n : 0) + over->n + 1);
    map->n = 0;
    for (size_t i = 0; base && i < base->n; i++)
        map->pairs[map->n++] = base->pairs[i];
    for (size_t i = 0; i < over->n; i++) {
        struct tg_yaml_pair p = over->pairs[i];
        const struct tg_key *k = tg_key_find(keys, p.key->text);
        size_t at = 0;
        if (!k || k->flags & TG_KEY_MAIN)
            continue;
        while (at < map->n && !tg_sv_eq(map->pairs[at].key->text, p.key->text))
            at++;
        p.value = merge_value(m, k, tg_yaml_get(base, k->name), p.value);
        map->pairs[at] = p;
        map->n += at == map->n;
    }
    return map;
}

struct tg_yaml *tg_merge(const struct tg_yaml *base, const struct tg_yaml *layer,
                         struct tg_arena *a, struct tg_removed *removed, struct tg_diags *d)
{
    struct merge m = { a, d, removed };
    return merge_maps(&m, tg_key_shape_policy.keys, base, layer);
}
