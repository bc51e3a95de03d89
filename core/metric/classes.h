#ifndef TG_METRIC_CLASSES_H
#define TG_METRIC_CLASSES_H
/*
 * The class of device work: what it is for. Decided in this order: rows of the user (the first
 * match), then the category (copies and sets are memory), then the built-in table of name parts,
 * then "compute" by fallback, which is counted and reported. Matching ignores case. Work that does
 * not run on the device is "other", whatever the rows say.
 */
#include "core/base/arena.h"
#include "core/base/err.h"
#include "core/trace/reader.h"

enum tg_class { TG_CLASS_COMPUTE, TG_CLASS_COMM, TG_CLASS_MEMORY, TG_CLASS_OTHER };
#define TG_CLASSES ((int)TG_CLASS_OTHER + 1) /* how many there are: `other` is the last */

struct tg_class_row {
    tg_sv glob; /* over the raw name: '*' any run, '?' one byte */
    enum tg_class class_;
};
/* Rows that come before the built-in table; the zero state has none. The caller owns the texts. */
struct tg_classes {
    const struct tg_class_row *v;
    size_t n;
};

/* `extra` NULL: the built-in table alone. `fallback` (may be NULL) becomes true if no row matched
 * and the class is compute by default. */
enum tg_class tg_class_of(const struct tg_classes *extra, enum tg_kind kind, tg_sv name,
                          bool *fallback);
/* The same of each name of a trace, by its id; to be freed. */
struct tg_name_class {
    unsigned char class_; /* enum tg_class */
    bool fallback;
};
struct tg_name_class *tg_classes_of(const struct tg_classes *extra, const struct tg_names *names);
const char *tg_class_name(enum tg_class c); /* "compute", "comm", "memory", "other" */
bool tg_class_from_name(tg_sv name, enum tg_class *out);

/*
 * The version of the table: changes with every row, built in or extra (order included). Stored in
 * summaries; two sides with different versions are not compared. Without extra rows it is the
 * version for NULL.
 */
uint64_t tg_class_table_hash(const struct tg_classes *extra);

/*
 * A table as text: a row is "CLASS GLOB" (the glob reaches to the end of the line, because names
 * contain blanks); '#' begins a comment line; empty lines are skipped. Anything else is
 * TG_ERR_USAGE with file, line and column. Copies into `a`.
 */
TG_MUST bool tg_classes_parse(struct tg_classes *out, tg_sv text, const char *file,
                              struct tg_arena *a, struct tg_err *err);
#endif
