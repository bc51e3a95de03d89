#include "policy/language/keys.h"

#include <stdio.h>

#include "core/base/doc.h"
#include "policy/language/load.h"

/*
 * The grammar of keys.h as JSON schema. Never stricter than the loader about the form of a value:
 * an editor that reads YAML 1.1 sees `off` as false and `12` as a number where the loader reads
 * text, so both forms are listed.
 */
enum { MAX_DEFS = 64 };

struct schema {
    const struct tg_key_shape *def[MAX_DEFS]; /* mappings, each described once under $defs */
    char name[MAX_DEFS][48];
    size_t n;
};

#define NUMBER "\\+?[0-9]+(\\.[0-9]+)?"
#define TIME "ns|us|\xC2\xB5s|ms|s"
#define MEMORY "B|kB|MB|GB|KiB|MiB|GiB"
#define RATE "kB/s|MB/s|GB/s|TB/s"

static void put_shape(struct schema *s, struct tg_doc *o, const struct tg_key_shape *shape);

/* "a rule" -> "rule", made unique. */
static size_t define(struct schema *s, const struct tg_key_shape *shape)
{
    const char *what = shape->what;
    size_t same = 0;
    for (size_t i = 0; i < s->n; i++)
        if (s->def[i] == shape)
            return i;
    if (strncmp(what, "a ", 2) == 0)
        what += 2;
    else if (strncmp(what, "an ", 3) == 0)
        what += 3;
    for (size_t i = 0; i < s->n; i++)
        same += strcmp(s->def[i]->what, shape->what) == 0;
    char *name = s->name[s->n];
    (void)snprintf(name, sizeof s->name[0], same ? "%s-%zu" : "%s", what, same + 1);
    for (; *name; name++)
        if (*name == ' ')
            *name = '-';
    s->def[s->n] = shape;
    return s->n++;
}

static void put_type(struct tg_doc *o, const char *type)
{
    tg_doc_add_str(o, "type", tg_sv_of(type));
}

static void put_pattern(struct tg_doc *o, const char *pattern)
{
    put_type(o, "string");
    tg_doc_add_str(o, "pattern", tg_sv_of(pattern));
}

/* Text as the loader reads it: a plain 12 or true is text too. */
static void put_text(struct tg_doc *o, const struct tg_key_shape *shape, const char *pattern)
{
    struct tg_doc *types = tg_doc_add_array(o, "type");
    tg_doc_add_str(types, NULL, TG_SV("string"));
    tg_doc_add_str(types, NULL, TG_SV("number"));
    tg_doc_add_str(types, NULL, TG_SV("boolean"));
    tg_doc_add_i64(o, "minLength", shape->min);
    tg_doc_add_i64(o, "maxLength", shape->max);
    if (pattern)
        tg_doc_add_str(o, "pattern", tg_sv_of(pattern));
}

static void put_words(struct tg_doc *o, const char *const *words)
{
    struct tg_doc *list = tg_doc_add_array(o, "enum");
    for (size_t i = 0; words[i]; i++) {
        tg_doc_add_str(list, NULL, tg_sv_of(words[i]));
        if (strcmp(words[i], "on") == 0 || strcmp(words[i], "off") == 0)
            tg_doc_add_bool(list, NULL, strcmp(words[i], "on") == 0);
    }
}

static void put_metrics(struct tg_doc *o)
{
    struct tg_doc *list = tg_doc_add_array(o, "oneOf");
    for (int i = 0; i < TG_RULE_METRICS; i++) {
        const struct tg_rule_metric_info *m = tg_rule_metric_info((enum tg_rule_metric)i);
        struct tg_doc *one = tg_doc_add_object(list, NULL);
        tg_doc_add_str(one, "const", tg_sv_of(m->name));
        tg_doc_add_str(one, "description", tg_sv_of(m->meaning));
    }
}

static void put_int(struct tg_doc *o, const struct tg_key_shape *shape)
{
    put_type(o, "integer");
    tg_doc_add_i64(o, "minimum", shape->min);
    tg_doc_add_i64(o, "maximum", shape->max);
}

static void put_bound(struct tg_doc *o, enum tg_bound_kind kind)
{
    if (kind == TG_BOUND_PCT) {
        put_pattern(o, "^(auto|" NUMBER "%)$");
        return;
    }
    if (kind == TG_BOUND_PP) {
        put_pattern(o, "^" NUMBER "pp$");
        return;
    }
    struct tg_doc *list = tg_doc_add_array(o, "anyOf"), *number = tg_doc_add_object(list, NULL);
    put_type(number, "number");
    tg_doc_add_i64(number, "minimum", 0);
    put_pattern(tg_doc_add_object(list, NULL),
                kind == TG_BOUND_ABS ? "^" NUMBER "(" TIME "|" MEMORY "|" RATE "|%step)?$"
                                     : "^" NUMBER "(" TIME "|" MEMORY "|" RATE "|%)?$");
}

static void put_choice(struct schema *s, struct tg_doc *o, const struct tg_key_shape *shape)
{
    const struct tg_key_shape *const parts[] = { shape->scalar, shape->list, shape->map };
    struct tg_doc *list = tg_doc_add_array(o, "anyOf");
    for (size_t i = 0; i < 3; i++)
        if (parts[i])
            put_shape(s, tg_doc_add_object(list, NULL), parts[i]);
}

static void put_map(struct schema *s, struct tg_doc *o, const struct tg_key_shape *shape)
{
    struct tg_doc *properties, *required = NULL;
    put_type(o, "object");
    tg_doc_add_bool(o, "additionalProperties", false);
    tg_doc_add_i64(o, "minProperties", 1);
    properties = tg_doc_add_object(o, "properties");
    for (const struct tg_key *k = shape->keys; k->name; k++) {
        struct tg_doc *one = tg_doc_add_object(properties, k->name);
        tg_doc_add_str(one, "description", tg_sv_of(k->meaning));
        put_shape(s, one, k->shape);
    }
    for (const struct tg_key *k = shape->keys; k->name; k++) {
        if (!(k->flags & TG_KEY_REQUIRED))
            continue;
        required = required ? required : tg_doc_add_array(o, "required");
        tg_doc_add_str(required, NULL, tg_sv_of(k->name));
    }
}

static const char *const patterns[] = {
    [TG_KEY_ID] = "^[a-z0-9-]+$",
    [TG_KEY_NAME] = "^[A-Za-z0-9_-]+$",
    [TG_KEY_PERCENT] = "^" NUMBER "%$",
    [TG_KEY_TIME] = "^[1-9][0-9]{0,5}(s|m|min|h)?$",
    [TG_KEY_DATE] = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
};

static void put_shape(struct schema *s, struct tg_doc *o, const struct tg_key_shape *shape)
{
    switch (shape->kind) {
    case TG_KEY_MAP: {
        char ref[80];
        (void)snprintf(ref, sizeof ref, "#/$defs/%s", s->name[define(s, shape)]);
        tg_doc_add_str(o, "$ref", tg_sv_of(ref));
        break;
    }
    case TG_KEY_MAP_OF:
        put_type(o, "object");
        tg_doc_add_str(tg_doc_add_object(o, "propertyNames"), "pattern", TG_SV("^[a-z0-9-]+$"));
        tg_doc_add_i64(o, "minProperties", shape->min);
        tg_doc_add_i64(o, "maxProperties", shape->max);
        put_shape(s, tg_doc_add_object(o, "additionalProperties"), shape->item);
        break;
    case TG_KEY_LIST:
        put_type(o, "array");
        tg_doc_add_i64(o, "minItems", shape->min);
        tg_doc_add_i64(o, "maxItems", shape->max);
        put_shape(s, tg_doc_add_object(o, "items"), shape->item);
        break;
    case TG_KEY_CHOICE:
        put_choice(s, o, shape);
        break;
    case TG_KEY_TEXT:
    case TG_KEY_GLOB:
    case TG_KEY_PATTERN:
    case TG_KEY_REGEX:
        put_text(o, shape, NULL);
        break;
    case TG_KEY_ID:
    case TG_KEY_NAME:
        put_text(o, shape, patterns[shape->kind]);
        break;
    case TG_KEY_WORD:
        put_words(o, shape->words);
        break;
    case TG_KEY_METRIC:
        put_metrics(o);
        break;
    case TG_KEY_INT:
        put_int(o, shape);
        break;
    case TG_KEY_VERSION:
        tg_doc_add_i64(o, "const", 1);
        break;
    case TG_KEY_WORD_OR_INT: {
        struct tg_doc *list = tg_doc_add_array(o, "anyOf");
        put_words(tg_doc_add_object(list, NULL), shape->words);
        put_int(tg_doc_add_object(list, NULL), shape);
        break;
    }
    case TG_KEY_BOOL:
        put_type(o, "boolean");
        break;
    case TG_KEY_PERCENT:
    case TG_KEY_TIME:
    case TG_KEY_DATE:
        put_pattern(o, patterns[shape->kind]);
        break;
    case TG_KEY_BOUND:
        put_bound(o, shape->bound);
        break;
    }
}

void tg_policy_schema(struct tg_buf *out)
{
    struct schema s = { .n = 0 };
    struct tg_doc *root = tg_doc_new_object(), *defs;
    tg_doc_add_str(root, "$schema", TG_SV("https://json-schema.org/draft/2020-12/schema"));
    tg_doc_add_str(root, "title", TG_SV("tracegate policy, version 1"));
    put_map(&s, root, &tg_key_shape_policy);
    defs = tg_doc_add_object(root, "$defs");
    for (size_t i = 0; i < s.n; i++) /* grows during the walk */
        put_map(&s, tg_doc_add_object(defs, s.name[i]), s.def[i]);
    tg_doc_write(root, TG_DOC_INDENTED, out);
    tg_doc_free(root);
}
