#include "core/base/doc.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/message.h"
#include "core/base/utf8.h"

#ifdef TG_LAZY
#include <unistd.h>

#include "core/base/cJSON_lazy.h" /* made; from here on cJSON is called through a table */
#include "core/base/lazy.h"
#include "core/base/temporary.h"

/* Written once, by load_once, before anything of cJSON is called. */
union tg_lazy_cJSON tg_lazy_cJSON;

/* Without it nothing can be read or written: the process ends, as when memory runs out. */
static void load_once(void)
{
    static const char *const names[] = { TG_LAZY_NAMES };
    char why[TG_LAZY_WHY];
    if (tg_lazy_load(TG_LAZY_SONAME, names, tg_lazy_cJSON.at, sizeof names / sizeof *names, why))
        return;
    (void)dprintf(STDERR_FILENO, "tracegate: error: cJSON cannot be loaded: %s\n", why);
    tg_temporary_remove_all();
    _exit(5);
}
#endif

/* Before the first node is made. */
static void load(void)
{
#ifdef TG_LAZY
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_once);
#endif
}

static bool is(int type, const cJSON *c)
{
    return c && (c->type & 0xff) == type;
}

static cJSON *node(struct tg_doc *d)
{
    return (cJSON *)(void *)d;
}

static const cJSON *cnode(const struct tg_doc *d)
{
    return (const cJSON *)(const void *)d;
}

static struct tg_doc *wrap(cJSON *c)
{
    return (struct tg_doc *)(void *)c;
}

/* Rejects text that cJSON accepts although it is not JSON (bad UTF-8, raw control bytes); returns
 * its offset, or the length of the text. */
static size_t first_foreign(tg_sv text)
{
    for (size_t at = 0, n; at < text.n; at += n) {
        unsigned char c = (unsigned char)text.p[at];
        n = 1;
        if (c >= 0x20 && c < 0x80)
            continue;
        n = tg_utf8_len(tg_sv_from(text, at));
        if (!n || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            return at;
    }
    return text.n;
}

struct tg_doc *tg_doc_parse(tg_sv text, const char *file, struct tg_err *err)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* cJSON stores error positions in a
                                                                global */
    const char *end = NULL;
    size_t at = first_foreign(text);
    if (at < text.n) {
        tg_err_set(err, TG_ERR_SUMMARY, (struct tg_loc){ file, 0, 0, at },
                   "not valid JSON: bad UTF-8 or a control byte, at byte %zu", at);
        return NULL;
    }
    load();
    (void)pthread_mutex_lock(&lock);
    cJSON *root = cJSON_ParseWithLengthOpts(text.p, text.n, &end, false);
    (void)pthread_mutex_unlock(&lock);
    at = end && end >= text.p ? (size_t)(end - text.p) : 0;
    while (root && at < text.n && strchr(" \t\r\n", text.p[at]) && text.p[at])
        at++;
    if (root && at == text.n)
        return wrap(root);
    cJSON_Delete(root);
    tg_err_set(err, TG_ERR_SUMMARY, (struct tg_loc){ file, 0, 0, at }, "not valid JSON");
    return NULL;
}

void tg_doc_free(struct tg_doc *root)
{
    if (root)
        cJSON_Delete(node(root));
}

enum tg_doc_type tg_doc_type(const struct tg_doc *d)
{
    const cJSON *c = cnode(d);
    if (is(cJSON_Object, c))
        return TG_DOC_OBJECT;
    if (is(cJSON_Array, c))
        return TG_DOC_ARRAY;
    if (is(cJSON_String, c))
        return TG_DOC_STRING;
    if (is(cJSON_Number, c))
        return TG_DOC_NUMBER;
    return is(cJSON_True, c) || is(cJSON_False, c) ? TG_DOC_BOOL : TG_DOC_NULL;
}

const struct tg_doc *tg_doc_get(const struct tg_doc *d, const char *key)
{
    return d ? wrap(cJSON_GetObjectItemCaseSensitive(cnode(d), key)) : NULL;
}

const struct tg_doc *tg_doc_first(const struct tg_doc *d)
{
    return d ? wrap(cnode(d)->child) : NULL;
}

const struct tg_doc *tg_doc_next(const struct tg_doc *d)
{
    return wrap(cnode(d)->next);
}

tg_sv tg_doc_key(const struct tg_doc *d)
{
    return tg_sv_of(cnode(d)->string);
}

size_t tg_doc_count(const struct tg_doc *d)
{
    return d ? (size_t)cJSON_GetArraySize(cnode(d)) : 0;
}

tg_sv tg_doc_str(const struct tg_doc *d, tg_sv fallback)
{
    return is(cJSON_String, cnode(d)) ? tg_sv_of(cnode(d)->valuestring) : fallback;
}

bool tg_doc_bool(const struct tg_doc *d, bool fallback)
{
    return is(cJSON_True, cnode(d)) || (!is(cJSON_False, cnode(d)) && fallback);
}

double tg_doc_num(const struct tg_doc *d, double fallback)
{
    const cJSON *c = cnode(d);
    return is(cJSON_Number, c) ? c->valuedouble : fallback;
}

bool tg_doc_i64(const struct tg_doc *d, int64_t *out)
{
    const cJSON *c = cnode(d);
    if (is(cJSON_String, c))
        return tg_sv_i64(tg_sv_of(c->valuestring), out);
    if (!is(cJSON_Number, c))
        return false;
    double v = c->valuedouble;
    if (v != floor(v) || fabs(v) > 9007199254740992.0)
        return false;
    *out = (int64_t)v;
    return true;
}

/* cJSON allocates with malloc and returns NULL; running out of memory ends the process here. */
static cJSON *must(cJSON *c)
{
    if (!c)
        tg_out_of_memory();
    return c;
}

static struct tg_doc *attach(struct tg_doc *parent, const char *key, cJSON *child)
{
    if (!(key ? cJSON_AddItemToObject(node(parent), key, must(child))
              : cJSON_AddItemToArray(node(parent), must(child))))
        (void)must(NULL);
    return wrap(child);
}

struct tg_doc *tg_doc_new_object(void)
{
    load();
    return wrap(must(cJSON_CreateObject()));
}

struct tg_doc *tg_doc_new_array(void)
{
    load();
    return wrap(must(cJSON_CreateArray()));
}

struct tg_doc *tg_doc_add_object(struct tg_doc *parent, const char *key)
{
    return attach(parent, key, cJSON_CreateObject());
}

struct tg_doc *tg_doc_add_array(struct tg_doc *parent, const char *key)
{
    return attach(parent, key, cJSON_CreateArray());
}

void tg_doc_add_str(struct tg_doc *parent, const char *key, tg_sv value)
{
    TG_BUF plain = { 0 }, clean = { 0 };
    tg_message_put_plain(&plain, value);
    tg_utf8_clean(&clean, tg_buf_sv(&plain));
    attach(parent, key, cJSON_CreateString(clean.p ? clean.p : ""));
}

/* Numbers are added as their own text, so that cJSON does not format them. */
void tg_doc_add_num(struct tg_doc *parent, const char *key, double value)
{
    TG_BUF text = { 0 };
    if (!isfinite(value)) {
        tg_doc_add_null(parent, key);
        return;
    }
    tg_dec_put_double(&text, value == 0 ? 0 : value);
    attach(parent, key, cJSON_CreateRaw(text.p));
}

void tg_doc_add_i64(struct tg_doc *parent, const char *key, int64_t value)
{
    TG_BUF text = { 0 };
    bool big = value > 9007199254740992 || value < -9007199254740992;
    tg_buf_printf(&text, big ? "\"%" PRId64 "\"" : "%" PRId64, value);
    attach(parent, key, cJSON_CreateRaw(text.p));
}

void tg_doc_add_bool(struct tg_doc *parent, const char *key, bool value)
{
    attach(parent, key, cJSON_CreateBool(value));
}

void tg_doc_add_null(struct tg_doc *parent, const char *key)
{
    attach(parent, key, cJSON_CreateNull());
}

/* Does a string represent this byte as it is? False for the terminator. */
static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && c != '"' && c != '\\' && c != 0x7f;
}

static void put_string(struct tg_buf *out, const char *s)
{
    static const char hex[] = "0123456789abcdef";
    tg_buf_putc(out, '"');
    for (const char *p = s ? s : ""; *p; p++) {
        const char *from = p;
        while (is_plain(*p))
            p++;
        tg_buf_add(out, (tg_sv){ from, (size_t)(p - from) });
        unsigned char c = (unsigned char)*p;
        if (!c)
            break;
        if (c == '"' || c == '\\') {
            tg_buf_putc(out, '\\');
            tg_buf_putc(out, *p);
        } else if (c == '\n') {
            tg_buf_puts(out, "\\n");
        } else {
            tg_buf_puts(out, "\\u00");
            tg_buf_putc(out, hex[c >> 4]);
            tg_buf_putc(out, hex[c & 15]);
        }
    }
    tg_buf_putc(out, '"');
}

static void put_break(struct tg_buf *out, bool pretty, int depth)
{
    if (!pretty)
        return;
    tg_buf_putc(out, '\n');
    for (int i = 0; i < depth; i++)
        tg_buf_puts(out, "  ");
}

static void put_node(struct tg_buf *out, const cJSON *c, bool pretty, int depth)
{
    bool object = is(cJSON_Object, c);
    if (is(cJSON_String, c)) {
        put_string(out, c->valuestring);
    } else if (is(cJSON_Raw, c)) {
        tg_buf_puts(out, c->valuestring);
    } else if (is(cJSON_Number, c)) {
        tg_dec_put_double(out, c->valuedouble);
    } else if (object || is(cJSON_Array, c)) {
        tg_buf_putc(out, object ? '{' : '[');
        for (const cJSON *k = c->child; k; k = k->next) {
            put_break(out, pretty, depth + 1);
            if (object) {
                put_string(out, k->string);
                tg_buf_puts(out, pretty ? ": " : ":");
            }
            put_node(out, k, pretty, depth + 1);
            if (k->next)
                tg_buf_putc(out, ',');
        }
        if (c->child)
            put_break(out, pretty, depth);
        tg_buf_putc(out, object ? '}' : ']');
    } else {
        tg_buf_puts(out, is(cJSON_True, c) ? "true" : is(cJSON_False, c) ? "false" : "null");
    }
}

void tg_doc_seal(struct tg_doc *d)
{
    TG_BUF text = { 0 };
    put_node(&text, cnode(d), false, 0);
    cJSON *raw = must(cJSON_CreateRaw(text.p));
    cJSON_Delete(node(d)->child);
    node(d)->child = NULL;
    node(d)->type = cJSON_Raw;
    node(d)->valuestring = raw->valuestring;
    raw->valuestring = NULL;
    cJSON_Delete(raw);
}

void tg_doc_write(const struct tg_doc *root, enum tg_doc_form form, struct tg_buf *out)
{
    TG_BUF written = { 0 };
    put_node(&written, cnode(root), form == TG_DOC_INDENTED, 0);
    /* What is invisible as "\u202e", and "##[", which a runner executes anywhere in a line, as
     * "##\u005b": the same text to whoever parses it. Both can be in strings only. */
    for (tg_sv text = tg_buf_sv(&written); text.n;) {
        size_t plain = 0, len;
        while (plain < text.n && (unsigned char)text.p[plain] < 0x7f && text.p[plain] != '#')
            plain++;
        tg_buf_add(out, (tg_sv){ text.p, plain });
        text = tg_sv_from(text, plain);
        if (!text.n)
            break;
        len = tg_utf8_len(text);
        uint32_t c = len ? tg_utf8_code(text, len) : 0;
        if (tg_sv_starts(text, TG_SV("##["))) {
            tg_buf_puts(out, "##\\u005b");
            len = 3;
        } else if (len && tg_utf8_is_invisible(c)) {
            tg_utf8_spell(out, c);
        } else {
            len = len ? len : 1;
            tg_buf_add(out, (tg_sv){ text.p, len });
        }
        text = tg_sv_from(text, len);
    }
    tg_buf_putc(out, '\n');
}
