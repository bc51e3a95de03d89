#ifndef TG_BASE_DOC_H
#define TG_BASE_DOC_H
/*
 * Small JSON documents (summaries, event payloads, reports): a thin wrapper around cJSON, which no
 * other file includes. Never used for a trace. Object keys keep their order. Integers beyond 2^53
 * are stored as decimal text, because a JSON number does not hold them everywhere.
 */
#include "core/base/buf.h"
#include "core/base/err.h"

struct tg_doc; /* a node; a root owns its whole tree */

/* Parses one document; nothing may follow it. `file` is for messages. NULL with err set. */
TG_MUST struct tg_doc *tg_doc_parse(tg_sv text, const char *file, struct tg_err *err);
void tg_doc_free(struct tg_doc *root);               /* accepts NULL */
static inline void tg_doc_drop(struct tg_doc **root) /* for TG_AUTO */
{
    tg_doc_free(*root);
}

enum tg_doc_type {
    TG_DOC_NULL,
    TG_DOC_BOOL,
    TG_DOC_NUMBER,
    TG_DOC_STRING,
    TG_DOC_ARRAY,
    TG_DOC_OBJECT
};
enum tg_doc_type tg_doc_type(const struct tg_doc *d); /* NULL pointer: TG_DOC_NULL */
const struct tg_doc *tg_doc_get(const struct tg_doc *d, const char *key); /* NULL: absent */
const struct tg_doc *tg_doc_first(const struct tg_doc *d); /* child of array or object */
const struct tg_doc *tg_doc_next(const struct tg_doc *d);  /* next sibling; O(1) */
tg_sv tg_doc_key(const struct tg_doc *d);                  /* key of an object's member */
size_t tg_doc_count(const struct tg_doc *d);               /* children; O(n) */
/* Typed reads; return the fallback if the value is absent or has another type. Strings live as long
 * as the tree. */
tg_sv tg_doc_str(const struct tg_doc *d, tg_sv fallback);
bool tg_doc_bool(const struct tg_doc *d, bool fallback);
double tg_doc_num(const struct tg_doc *d, double fallback);
TG_MUST bool tg_doc_i64(const struct tg_doc *d, int64_t *out); /* integral number or decimal text */

/*
 * Building. `parent` is an object (key given) or an array (key NULL). Never fails (see tg_xmalloc).
 */
struct tg_doc *tg_doc_new_object(void);
struct tg_doc *tg_doc_new_array(void);
struct tg_doc *tg_doc_add_object(struct tg_doc *parent, const char *key);
struct tg_doc *tg_doc_add_array(struct tg_doc *parent, const char *key);
/* The text is made valid UTF-8: bad bytes and NUL bytes become U+FFFD. */
void tg_doc_add_str(struct tg_doc *parent, const char *key, tg_sv value);
void tg_doc_add_num(struct tg_doc *parent, const char *key, double value); /* NaN, Inf: null */
void tg_doc_add_i64(struct tg_doc *parent, const char *key, int64_t value);
void tg_doc_add_bool(struct tg_doc *parent, const char *key, bool value);
void tg_doc_add_null(struct tg_doc *parent, const char *key);
/* The object or array becomes its text, in one line and a fraction of the memory: nothing is added
 * or asked of it afterwards. For rows of which there may be ten thousand. */
void tg_doc_seal(struct tg_doc *d);
/* Serialises; `pretty` uses two blanks. Numbers in the shortest form that reads back equal. */
enum tg_doc_form { TG_DOC_COMPACT, TG_DOC_INDENTED };
void tg_doc_write(const struct tg_doc *root, enum tg_doc_form form, struct tg_buf *out);
#endif
