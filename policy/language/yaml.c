#include "policy/language/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <yaml.h>

#include "core/base/limits.h"
#include "core/base/utf8.h"

enum { MAX_ANCHORS = 1000 };

struct anchor {
    tg_sv name;
    struct tg_yaml *node; /* NULL until it is complete */
};

struct parse {
    yaml_parser_t lib;
    yaml_event_t event; /* the current one */
    bool have_event;
    const char *file;
    struct tg_arena *arena;
    struct tg_diags *diags;
    struct anchor *anchors;
    size_t n_anchors, cap_anchors;
    size_t nodes;
    bool stop; /* a mistake after which nothing useful can follow */
};

/* Collects items until the collection ends; pairs take two entries. */
struct list {
    struct tg_yaml **v;
    size_t n, cap;
};

static struct tg_loc loc_of(const struct parse *p, yaml_mark_t m)
{
    return (struct tg_loc){ p->file, (uint32_t)m.line + 1, (uint32_t)m.column + 1, m.index };
}

static bool fatal(struct parse *p)
{
    p->stop = true;
    return false;
}

/* ---- the text before the YAML parser sees it ---- */

static struct tg_loc loc_at(const char *file, tg_sv text, size_t offset)
{
    struct tg_loc at = { file, 1, 1, offset };
    for (size_t i = 0; i < offset; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c == '\n' || (c == '\r' && (i + 1 >= text.n || text.p[i + 1] != '\n'))) {
            at.line++;
            at.col = 1;
        } else if ((c & 0xC0) != 0x80 && c != '\r') {
            at.col++;
        }
    }
    return at;
}

/* Bytes that YAML forbids or that libyaml and an editor would count as lines differently (NEL, LS,
 * PS), so that a position always means the same place. Each sort is reported once. */
static bool check_bytes(tg_sv text, const char *file, struct tg_diags *d)
{
    bool ok = true, tab = false;
    for (size_t i = 0, len; i < text.n; i += len) {
        tg_sv rest = { text.p + i, text.n - i };
        len = tg_utf8_len(rest);
        if (len == 0)
            return tg_diags_add(d, TG_DIAG_UTF8, loc_at(file, text, i), 1, "save the file as UTF-8",
                                "not valid UTF-8: byte 0x%02x", (unsigned)(unsigned char)text.p[i]);
        uint32_t c = tg_utf8_code(rest, len);
        bool forbidden = (c < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
                         (c >= 0x7F && c <= 0x9F) || c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
                         c == 0xFFFE || c == 0xFFFF;
        if (c == '\t' && !tab) {
            tab = true;
            ok = tg_diags_add(d, TG_DIAG_TAB, loc_at(file, text, i), 1,
                              "indent with blanks; in quoted text write \\t", "tab character");
        } else if (forbidden) {
            return tg_diags_add(d, TG_DIAG_SYNTAX, loc_at(file, text, i), 1,
                                "remove it; in \"quoted\" text write \\u and its number",
                                "control character U+%04X", (unsigned)c);
        }
    }
    return ok;
}

/* ---- events ---- */

static bool next_event(struct parse *p)
{
    if (p->have_event)
        yaml_event_delete(&p->event);
    p->have_event = yaml_parser_parse(&p->lib, &p->event) == 1;
    if (p->have_event)
        return true;
    if (p->lib.error == YAML_MEMORY_ERROR) /* no mistake of the policy: exit 3 */
        tg_out_of_memory();
    const yaml_parser_t *lib = &p->lib;
    const char *problem = lib->problem ? lib->problem : "cannot be read";
    if (lib->context)
        (void)tg_diags_add(p->diags, TG_DIAG_SYNTAX, loc_of(p, lib->problem_mark), 1, NULL,
                           "YAML: %s %s (begun at line %zu)", problem, lib->context,
                           lib->context_mark.line + 1);
    else
        (void)tg_diags_add(p->diags, TG_DIAG_SYNTAX, loc_of(p, lib->problem_mark), 1, NULL,
                           "YAML: %s", problem);
    return fatal(p);
}

static tg_sv sv_of(const yaml_char_t *s)
{
    return tg_sv_of((const char *)s);
}

/* Index of the new anchor, or SIZE_MAX without one. A repeated name refers to the later node. */
static size_t add_anchor(struct parse *p, const yaml_char_t *name)
{
    if (!name)
        return SIZE_MAX;
    if (p->n_anchors == MAX_ANCHORS) {
        (void)tg_diags_add(p->diags, TG_DIAG_ALIAS, loc_of(p, p->event.start_mark), 1, NULL,
                           "more than %d anchors", MAX_ANCHORS);
        (void)fatal(p);
        return SIZE_MAX;
    }
    *TG_PUSH(p->anchors, p->n_anchors, p->cap_anchors) =
        (struct anchor){ tg_arena_sv(p->arena, sv_of(name)), NULL };
    return p->n_anchors - 1;
}

/* ---- nodes ---- */

static struct tg_yaml *build(struct parse *p, unsigned depth);

static struct tg_yaml *new_node(struct parse *p, enum tg_yaml_type type)
{
    if (++p->nodes > TG_YAML_NODES) {
        (void)tg_diags_add(p->diags, TG_DIAG_NODES, loc_of(p, p->event.start_mark), 1, NULL,
                           "more than %u values in one file", TG_YAML_NODES);
        (void)fatal(p);
        return NULL;
    }
    struct tg_yaml *n = TG_NEW(p->arena, struct tg_yaml);
    n->type = type;
    n->at = loc_of(p, p->event.start_mark);
    n->end_line = (uint32_t)p->event.end_mark.line + 1;
    n->end_col = (uint32_t)p->event.end_mark.column + 1;
    n->expanded = 1;
    return n;
}

static struct tg_yaml *build_alias(struct parse *p)
{
    tg_sv name = sv_of(p->event.data.alias.anchor);
    struct tg_loc at = loc_of(p, p->event.start_mark);
    const struct anchor *a = NULL;
    for (size_t i = p->n_anchors; !a && i-- > 0;)
        a = tg_sv_eq(p->anchors[i].name, name) ? &p->anchors[i] : NULL;
    if (!a)
        (void)tg_diags_add(p->diags, TG_DIAG_ALIAS, at, name.n + 1, "define it above with &name",
                           "alias '*%s' has no anchor", name.p);
    else if (!a->node)
        (void)tg_diags_add(p->diags, TG_DIAG_ALIAS, at, name.n + 1, NULL,
                           "alias '*%s' is inside its own anchor", name.p);
    return a ? a->node : NULL;
}

/* Is this a valid key: plain text, not "<<", not used yet? */
static bool check_key(struct parse *p, const struct list *so_far, const struct tg_yaml *key)
{
    if (key->type != TG_YAML_SCALAR || key->text.n == 0)
        return tg_yaml_mistake(p->diags, TG_DIAG_KEY, key, NULL, "a key must be text, not %s",
                               key->type == TG_YAML_SCALAR ? "empty" : tg_yaml_type_name(key));
    if (key->plain && tg_sv_eq(key->text, TG_SV("<<")))
        return tg_diags_add(p->diags, TG_DIAG_MERGE, key->at, 2,
                            "write the keys out, or use extends:", "merge key '<<'");
    for (size_t i = 0; i < so_far->n; i += 2) {
        const struct tg_yaml *k = so_far->v[i];
        if (tg_sv_eq(k->text, key->text))
            return tg_yaml_mistake(p->diags, TG_DIAG_DUPLICATE_KEY, key, "keep one of them",
                                   "key '%s' is already used at %u:%u", key->text.p,
                                   (unsigned)k->at.line, (unsigned)k->at.col);
    }
    if (so_far->n >= 2 * (size_t)TG_YAML_KEYS) {
        (void)tg_diags_add(p->diags, TG_DIAG_NODES, key->at, 1, NULL,
                           "more than %d keys in one mapping", TG_YAML_KEYS);
        return fatal(p);
    }
    return true;
}

/* A sequence, or a mapping, whose items are keys and values in turn. */
static struct tg_yaml *build_collection(struct parse *p, unsigned depth, enum tg_yaml_type type)
{
    yaml_event_type_t end = type == TG_YAML_MAP ? YAML_MAPPING_END_EVENT : YAML_SEQUENCE_END_EVENT;
    struct list l = { 0 };
    if (depth >= TG_YAML_DEPTH) {
        (void)tg_diags_add(p->diags, TG_DIAG_DEPTH, loc_of(p, p->event.start_mark), 1, NULL,
                           "nested deeper than %d levels", TG_YAML_DEPTH);
        (void)fatal(p);
        return NULL;
    }
    struct tg_yaml *n = new_node(p, type);
    while (n && next_event(p) && p->event.type != end) {
        struct tg_yaml *key = type == TG_YAML_MAP ? build(p, depth + 1) : NULL;
        bool good = type == TG_YAML_SEQ || (key && !p->stop && check_key(p, &l, key));
        if (p->stop || (type == TG_YAML_MAP && !next_event(p)))
            break;
        struct tg_yaml *value = build(p, depth + 1);
        if (p->stop)
            break;
        n->expanded += value ? value->expanded : 0;
        if (n->expanded > TG_YAML_EXPANDED) { /* an alias bomb, before anything walks the tree */
            (void)tg_diags_add(p->diags, TG_DIAG_ALIAS, loc_of(p, p->event.start_mark), 1, NULL,
                               "aliases expand to more than %u values", TG_YAML_EXPANDED);
            (void)fatal(p);
            break;
        }
        if (good && value && key)
            *TG_PUSH(l.v, l.n, l.cap) = key;
        if (good && value)
            *TG_PUSH(l.v, l.n, l.cap) = value;
    }
    if (n && !p->stop) {
        n->n = type == TG_YAML_MAP ? l.n / 2 : l.n;
        if (type == TG_YAML_MAP)
            n->pairs = tg_arena_copy(p->arena, l.v, n->n, sizeof *n->pairs);
        else
            n->items = tg_arena_copy(p->arena, l.v, n->n, sizeof *n->items);
        n->end_line = (uint32_t)p->event.end_mark.line + 1;
        n->end_col = (uint32_t)p->event.end_mark.column + 1;
    }
    free(l.v);
    return p->stop ? NULL : n;
}

/* The node that begins with the current event; NULL: dropped (reported), or p->stop. */
static struct tg_yaml *build(struct parse *p, unsigned depth)
{
    const yaml_event_t *e = &p->event;
    const yaml_char_t *name, *tag;
    enum tg_yaml_type type = TG_YAML_SCALAR;
    switch (e->type) {
    case YAML_ALIAS_EVENT:
        return build_alias(p);
    case YAML_SCALAR_EVENT:
        name = e->data.scalar.anchor;
        tag = e->data.scalar.tag;
        break;
    case YAML_SEQUENCE_START_EVENT:
        type = TG_YAML_SEQ;
        name = e->data.sequence_start.anchor;
        tag = e->data.sequence_start.tag;
        break;
    case YAML_MAPPING_START_EVENT:
        type = TG_YAML_MAP;
        name = e->data.mapping_start.anchor;
        tag = e->data.mapping_start.tag;
        break;
    default:
        (void)fatal(p);
        return NULL;
    }
    size_t anchor = add_anchor(p, name);
    if (tag)
        (void)tg_diags_add(
            p->diags, TG_DIAG_TAG, loc_of(p, e->start_mark), strlen((const char *)tag),
            "remove the tag; tracegate types values itself", "tag '%s'", (const char *)tag);
    if (p->stop)
        return NULL;
    struct tg_yaml *n =
        type == TG_YAML_SCALAR ? new_node(p, type) : build_collection(p, depth, type);
    if (n && type == TG_YAML_SCALAR) {
        n->plain = e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        n->text = tg_arena_sv(p->arena,
                              (tg_sv){ (const char *)e->data.scalar.value, e->data.scalar.length });
    }
    if (n && anchor != SIZE_MAX)
        p->anchors[anchor].node = n;
    return n;
}

/* Stream start, one document, stream end. */
static struct tg_yaml *build_stream(struct parse *p)
{
    struct tg_yaml *root = NULL;
    size_t documents = 0;
    while (!p->stop && next_event(p) && p->event.type != YAML_STREAM_END_EVENT) {
        if (p->event.type != YAML_DOCUMENT_START_EVENT)
            continue; /* stream start, document end */
        if (documents++ > 0) {
            (void)tg_diags_add(p->diags, TG_DIAG_DOCUMENTS, loc_of(p, p->event.start_mark), 3,
                               "keep one policy per file", "a second document begins here");
            (void)fatal(p);
            break;
        }
        if (p->event.data.document_start.tag_directives.start !=
            p->event.data.document_start.tag_directives.end)
            (void)tg_diags_add(p->diags, TG_DIAG_TAG, loc_of(p, p->event.start_mark), 1,
                               "remove the line", "%%TAG directive");
        if (next_event(p))
            root = build(p, 0);
    }
    if (documents == 0 && !p->stop)
        (void)tg_diags_add(p->diags, TG_DIAG_EMPTY, (struct tg_loc){ p->file, 1, 1, 0 }, 1,
                           "a policy begins with  version: 1", "the file is empty");
    return p->stop ? NULL : root;
}

struct tg_yaml *tg_yaml_parse(tg_sv text, const char *file, struct tg_arena *a, struct tg_diags *d)
{
    (void)tg_sv_skip(&text, TG_SV("\xEF\xBB\xBF")); /* the byte order mark */
    tg_diags_source(d, file, text);
    if (text.n > TG_LIMITS_DEFAULT.max_policy) {
        (void)tg_diags_add(d, TG_DIAG_READ, (struct tg_loc){ file, 1, 1, 0 }, 1, NULL,
                           "the file is larger than %zu bytes", TG_LIMITS_DEFAULT.max_policy);
        return NULL;
    }
    if (!check_bytes(text, file, d))
        return NULL;

    struct parse p = { .file = file, .arena = a, .diags = d };
    if (!yaml_parser_initialize(&p.lib)) /* out of memory: the only reason that libyaml has */
        tg_out_of_memory();
    yaml_parser_set_encoding(&p.lib, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&p.lib, (const unsigned char *)text.p, text.n);
    struct tg_yaml *root = build_stream(&p);
    if (p.have_event)
        yaml_event_delete(&p.event);
    yaml_parser_delete(&p.lib);
    free(p.anchors);
    return root;
}

/* ---- reading the tree ---- */

const struct tg_yaml_pair *tg_yaml_pair(const struct tg_yaml *map, const char *key)
{
    if (!map || map->type != TG_YAML_MAP)
        return NULL;
    for (size_t i = 0; i < map->n; i++)
        if (tg_sv_eq(map->pairs[i].key->text, tg_sv_of(key)))
            return &map->pairs[i];
    return NULL;
}

struct tg_yaml *tg_yaml_get(const struct tg_yaml *map, const char *key)
{
    const struct tg_yaml_pair *p = tg_yaml_pair(map, key);
    return p ? p->value : NULL;
}

struct tg_yaml *tg_yaml_copy(struct tg_arena *a, const struct tg_yaml *n)
{
    struct tg_yaml *copy = TG_NEW(a, struct tg_yaml);
    *copy = *n;
    return copy;
}

size_t tg_yaml_width(const struct tg_yaml *n)
{
    return n->at.line == n->end_line && n->end_col > n->at.col ? n->end_col - n->at.col : 1;
}

bool tg_yaml_mistake(struct tg_diags *d, enum tg_diag_code code, const struct tg_yaml *n,
                     const char *fix, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return tg_diags_add(d, code, n->at, tg_yaml_width(n), fix, "%s", text);
}

const char *tg_yaml_type_name(const struct tg_yaml *n)
{
    if (n->type == TG_YAML_MAP)
        return "a mapping";
    if (n->type == TG_YAML_SEQ)
        return "a list";
    return n->plain && n->text.n == 0 ? "nothing" : "text";
}

/* ---- values by key ---- */

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
