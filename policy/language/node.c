#include "policy/language/node.h"

#include "policy/language/keys.h"

const struct tg_yaml *tg_node_scalar(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_yaml_get(map, key);
    return n && n->type == TG_YAML_SCALAR ? n : NULL;
}

tg_sv tg_node_text(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_node_scalar(map, key);
    return n ? n->text : TG_SV("");
}

int64_t tg_node_int(const struct tg_yaml *map, const char *key, int64_t fallback)
{
    int64_t v;
    const struct tg_yaml *n = tg_node_scalar(map, key);
    return n && tg_sv_i64(n->text, &v) ? v : fallback;
}

bool tg_node_true(const struct tg_yaml *map, const char *key)
{
    return tg_sv_eq(tg_node_text(map, key), TG_SV("true"));
}

int tg_node_word(const struct tg_yaml *map, const char *key, const char *const *words, int fallback)
{
    const struct tg_yaml *n = tg_node_scalar(map, key);
    int i = n ? tg_sv_index(words, n->text) : -1;
    return i < 0 ? fallback : i;
}

struct tg_loc tg_node_at(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml *n = tg_yaml_get(map, key);
    return n ? n->at : TG_NOWHERE;
}

const struct tg_yaml *tg_node_list(const struct tg_yaml *map, const char *key)
{
    static const struct tg_yaml none = { .type = TG_YAML_SEQ };
    const struct tg_yaml *n = tg_yaml_get(map, key);
    return n && n->type == TG_YAML_SEQ ? n : &none;
}

/* A single value means a list of one. */
size_t tg_node_count(const struct tg_yaml *n)
{
    return !n || n->type == TG_YAML_MAP ? 0 : n->type == TG_YAML_SEQ ? n->n : 1;
}

const struct tg_yaml *tg_node_item(const struct tg_yaml *n, size_t i)
{
    return n->type == TG_YAML_SEQ ? n->items[i] : n;
}

uint32_t tg_node_mask(const struct tg_yaml *n, const char *const *words)
{
    uint32_t mask = 0;
    for (size_t i = 0; i < tg_node_count(n); i++) {
        int w = tg_node_item(n, i)->type == TG_YAML_SCALAR
                    ? tg_sv_index(words, tg_node_item(n, i)->text)
                    : -1;
        mask |= w < 0 ? 0 : 1u << w;
    }
    return mask;
}
