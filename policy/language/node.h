#ifndef TG_POLICY_LANGUAGE_NODE_H
#define TG_POLICY_LANGUAGE_NODE_H
/* Values of a mapping by key, with a fallback for what is absent or has the wrong type: that was
 * reported by validate.h. `map` may be NULL or no mapping. */
#include "policy/language/yaml.h"

/* NULL: absent, or not a scalar. */
const struct tg_yaml *tg_node_scalar(const struct tg_yaml *map, const char *key);
tg_sv tg_node_text(const struct tg_yaml *map, const char *key); /* "" */
int64_t tg_node_int(const struct tg_yaml *map, const char *key, int64_t fallback);
bool tg_node_true(const struct tg_yaml *map, const char *key); /* "true" */
/* Index in `words`, which ends with NULL. */
int tg_node_word(const struct tg_yaml *map, const char *key, const char *const *words,
                 int fallback);
struct tg_loc tg_node_at(const struct tg_yaml *map, const char *key); /* TG_NOWHERE */

/* A list of none: absent, or not a sequence. */
const struct tg_yaml *tg_node_list(const struct tg_yaml *map, const char *key);
/* A single value means a list of one; NULL and a mapping are lists of none. */
size_t tg_node_count(const struct tg_yaml *n);
const struct tg_yaml *tg_node_item(const struct tg_yaml *n, size_t i);
/* Bit i: the list has words[i]. */
uint32_t tg_node_mask(const struct tg_yaml *n, const char *const *words);
#endif
