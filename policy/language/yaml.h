#ifndef TG_POLICY_LANGUAGE_YAML_H
#define TG_POLICY_LANGUAGE_YAML_H
/*
 * YAML text -> tree with positions. No other file knows libyaml. A small subset, typed by us:
 * mappings with plain text keys, sequences, scalars (all text; `no`, 0x10 and 1_000 stay text),
 * anchors and aliases within caps. Tags, merge keys, tabs, several documents, duplicate keys and
 * keys that are not text are mistakes with their own codes; so are bad UTF-8 and invisible line
 * breaks. All mistakes are reported, except that a syntax error ends the parse.
 */
#include "policy/language/diag.h"

#define TG_YAML_DEPTH 32         /* nesting of collections */
#define TG_YAML_NODES 50000u     /* written in the text */
#define TG_YAML_EXPANDED 100000u /* counted with every alias expanded */
#define TG_YAML_KEYS 1000        /* of one mapping */

enum tg_yaml_type { TG_YAML_SCALAR, TG_YAML_SEQ, TG_YAML_MAP };

struct tg_yaml;
struct tg_yaml_pair {
    struct tg_yaml *key, *value; /* key: a scalar */
};

/*
 * A node. `type` says which of text, items and pairs it has; the others are empty. An aliased
 * node is shared by the places that use it, and never contains itself. yaml.c writes nodes;
 * whoever changes a tree (load.c, merge.c) changes copies, because the layers keep theirs.
 */
struct tg_yaml {
    enum tg_yaml_type type;
    bool plain;                 /* scalar written without quotes */
    struct tg_loc at;           /* of its first character; column in code points */
    uint32_t end_line, end_col; /* after its last character */
    uint32_t expanded;          /* nodes of the subtree, aliases expanded */
    tg_sv text;                 /* scalar: its value */
    struct tg_yaml **items;     /* seq */
    struct tg_yaml_pair *pairs; /* map, in order of the text; keys are distinct */
    size_t n;                   /* of items or pairs */
};

/* Parses `text`, which is registered in `d` under `file`. NULL: not usable; otherwise a tree in
 * `a`, possibly without the parts that are mistakes: compare d->refusals before and after. */
struct tg_yaml *tg_yaml_parse(tg_sv text, const char *file, struct tg_arena *a, struct tg_diags *d);

/* Value of a key; NULL: absent, or `map` is not a mapping (NULL included). */
struct tg_yaml *tg_yaml_get(const struct tg_yaml *map, const char *key);
const struct tg_yaml_pair *tg_yaml_pair(const struct tg_yaml *map, const char *key);
/* Shares the items, pairs and text. */
struct tg_yaml *tg_yaml_copy(struct tg_arena *a, const struct tg_yaml *n);

/* Values of a mapping by key, with a fallback for what is absent or has the wrong type, which the
 * check against the keys reports. `map` may be NULL or no mapping. */

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

/* Columns to underline for a node: its text on one line; 1 if it spans several lines. */
size_t tg_yaml_width(const struct tg_yaml *n);
/* A mistake at the node, which is underlined; else as tg_diags_add. Always false. */
bool tg_yaml_mistake(struct tg_diags *d, enum tg_diag_code code, const struct tg_yaml *n,
                     const char *fix, const char *fmt, ...) __attribute__((format(printf, 5, 6)));
/* "a mapping", "a list", "text"; for messages. */
const char *tg_yaml_type_name(const struct tg_yaml *n);
#endif
