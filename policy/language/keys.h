#ifndef TG_POLICY_LANGUAGE_KEYS_H
#define TG_POLICY_LANGUAGE_KEYS_H
/*
 * The grammar of a policy file as tables: which keys exist where, the form of their values, and
 * what they mean. The loader checks against it, the schema and the manual's lists are printed from
 * it, so the three cannot differ. What a change of a value means for the verdict is read from it
 * (changes.h). What needs more than one value (a bound must fit the metric) is checked in decode.c.
 */
#include "policy/language/policy.h"

struct tg_key;

enum tg_key_shape_kind {
    TG_KEY_MAP,     /* the keys of `keys` */
    TG_KEY_MAP_OF,  /* any keys, [a-z0-9-]; values of `item` */
    TG_KEY_LIST,    /* of `item`, at least `min`, at most `max` of them */
    TG_KEY_CHOICE,  /* one of scalar, list, map, by the type of the value */
    TG_KEY_TEXT,    /* min to max bytes */
    TG_KEY_ID,      /* [a-z0-9-], min to max bytes */
    TG_KEY_NAME,    /* [A-Za-z0-9_-], min to max bytes */
    TG_KEY_GLOB,    /* a pattern that must not be a regex */
    TG_KEY_PATTERN, /* glob or regex between slashes */
    TG_KEY_REGEX,   /* bare regex with one group */
    TG_KEY_WORD,    /* one of `words` */
    TG_KEY_METRIC,  /* a name of metric.h's table */
    TG_KEY_INT,     /* min to max */
    TG_KEY_VERSION,
    TG_KEY_WORD_OR_INT,
    TG_KEY_BOOL,    /* true or false, nothing else */
    TG_KEY_PERCENT, /* "10%" */
    TG_KEY_DATE,    /* "2027-02-28" */
    TG_KEY_TIME,    /* "90s", "5min", "1h" */
    TG_KEY_BOUND    /* number with unit; `bound` says which */
};

struct tg_key_shape {
    enum tg_key_shape_kind kind;
    const char *what; /* for messages: "a rule"; NULL: "a mapping", "a list" */
    const struct tg_key *keys;
    const struct tg_key_shape *item, *scalar, *list, *map;
    const char *const *words;
    int64_t min, max;
    enum tg_bound_kind bound;
    const char *example; /* how to write it; the fix of type errors */
};

/* How a later layer's value meets an earlier one's. Default: it replaces the earlier one. */
enum tg_key_flags {
    TG_KEY_REQUIRED = 1,
    TG_KEY_MERGE = 2,    /* mappings: key by key */
    TG_KEY_APPEND = 4,   /* lists: appended to the earlier ones */
    TG_KEY_BY_ID = 8,    /* lists of mappings with `id`: the same id is merged key by key */
    TG_KEY_BY_NAME = 16, /* the same with `name` */
    TG_KEY_MAIN = 32     /* only at the top of a file: not in profiles, not shown as effective */
};

/* What a change of the policy means. The opposite change goes the opposite way. */
enum tg_direction {
    TG_LOOSER,       /* lets more pass */
    TG_MAYBE_LOOSER, /* "looser?": may let more pass; a person has to look at it */
    TG_TIGHTER,      /* lets less pass */
    TG_OTHERWISE     /* "changed": judges the same (a text, a spelling, the size of a report) */
};

/* How the values of a key before and after are compared. */
enum tg_key_parts {
    TG_WHOLE,
    TG_BY_KEY,        /* mappings: key by key */
    TG_OPPOSITE_KEYS, /* the same; here each key goes the opposite way */
    TG_BY_ITEM        /* lists of mappings with names: each item by its own keys */
};

struct tg_key {
    const char *name; /* NULL ends the table */
    const struct tg_key_shape *shape;
    unsigned flags;
    const char *meaning;
    /*
     * `on_add`: the key, or an item BY_ITEM, is there. `on_increase`: the number is greater, the
     * day later, the list longer, the word further on in its table; TG_MAYBE_LOOSER and
     * TG_OTHERWISE: any change of the value.
     */
    enum tg_direction on_add, on_increase;
    enum tg_key_parts parts;
};

extern const struct tg_key_shape tg_key_shape_policy; /* a file */
extern const struct tg_key_shape tg_key_shape_limits; /* of warn and fail */
extern const struct tg_key_shape tg_key_shape_rule;
extern const struct tg_key_shape tg_key_shape_suite;
extern const struct tg_key_shape tg_key_shape_baselines; /* one of them */

const struct tg_key *tg_key_find(const struct tg_key *keys, tg_sv name); /* NULL: unknown */

extern const char *const tg_words_kind[]; /* names of tg_kind_from_name */
extern const char *const tg_words_class[];
extern const char *const tg_words_family[];
extern const char *const tg_words_same[];
extern const char *const tg_words_direction[];
extern const char *const tg_words_unjudged[];
extern const char *const tg_words_on_missing[];
extern const char *const tg_words_window_by[];
extern const char *const tg_words_rank[];
extern const char *const tg_words_noise_test[];
extern const char *const tg_words_exception[];
extern const char *const tg_words_fail_on[];
extern const char *const tg_words_on_off[];
#endif
