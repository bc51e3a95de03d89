#ifndef TG_NUMBER_NUMBER_FILE_H
#define TG_NUMBER_NUMBER_FILE_H
/* What the formats share. Private to core/number. */
#include "core/base/strmap.h"
#include "core/number/number.h"

/* A file as it is read: values of its runs, in any order. */
struct tg_number_file {
    struct tg_arena *a;
    const char *file;
    struct tg_err *err;
    struct tg_number_cell {
        struct tg_number number;
        size_t run, order;
    } * v;
    size_t n, cap, runs;
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

/* How often each name has come: the run that it belongs to next. */
struct tg_number_times {
    struct tg_strmap names;
    size_t *n, cap;
};
void tg_number_times_init(struct tg_number_times *t);
void tg_number_times_release(struct tg_number_times *t);
size_t tg_number_times_next(struct tg_number_times *t, tg_sv name);
#endif
