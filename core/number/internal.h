#ifndef TG_NUMBER_INTERNAL_H
#define TG_NUMBER_INTERNAL_H
/* What the formats fill, and the formats. Private to core/number. */
#include "core/base/strmap.h"
#include "core/number/number.h"

/* A file as it is read: values of its runs, in any order. */
struct tg_number_file {
    struct tg_arena *a;
    const char *file;
    struct tg_err *err;
    struct tg_number_cell {
        struct tg_number number;
        size_t run;
    } * v;
    size_t n, cap;
};

/* One value of a run; texts are copied. False: a limit. */
TG_MUST bool tg_number_file_put(struct tg_number_file *s, size_t run, tg_sv name, tg_sv unit,
                                double value);
/* "FILE:LINE: what": line 0: none. Always false. */
bool tg_number_file_refuse(struct tg_number_file *s, size_t line, const char *what);

/* Is the first member of the object that the text begins with called so? */
bool tg_number_begins_with(tg_sv head, const char *key);
/* Does the text have `"key"`? */
bool tg_number_has_key(tg_sv head, const char *key);
/* Does it begin with a brace or a bracket? */
bool tg_number_is_json(tg_sv text);

/* A JSON document of a file: the file, a line of it, or an element of its list. */
struct tg_number_object {
    const struct tg_doc *doc;
    size_t line; /* 0: the file has one document */
};

struct tg_number_json {
    const char *name;
    bool (*begins)(tg_sv head); /* of a file's first bytes, at most 256 */
    bool (*fits)(const struct tg_doc *d);
    /* All documents of a file, of which the first one fits. */
    bool (*read)(struct tg_number_file *s, const struct tg_number_object *v, size_t n);
};
extern const struct tg_number_json tg_number_serving, tg_number_pytest, tg_number_google,
    tg_number_list;

/* lines.c */
bool tg_lines_begin(tg_sv head);
TG_MUST bool tg_lines_read(struct tg_number_file *s, tg_sv text);
#endif
