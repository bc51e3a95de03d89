#ifndef TG_NUMBER_FORMATS_H
#define TG_NUMBER_FORMATS_H
/* The formats, a file each. Private to core/number. */
#include "core/number/number_file.h"

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

/* documents.c */
const char *tg_documents_format(size_t i); /* NULL: there are no more */
bool tg_documents_begin(tg_sv head);
TG_MUST bool tg_documents_read(struct tg_number_file *s, tg_sv text);

/* lines.c */
bool tg_lines_begin(tg_sv head);
TG_MUST bool tg_lines_read(struct tg_number_file *s, tg_sv text);
#endif
