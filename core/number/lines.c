/* A number each: `name value [unit]` a line; and the list that github-action-benchmark takes,
 * `[{"name": …, "unit": …, "value": …}, …]`. A name that comes again begins the next run. */
#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/number/internal.h"

/* How often each name has come: the run that it belongs to next. */
struct times {
    struct tg_strmap names;
    size_t *n, cap;
};

static void times_release(struct times *t)
{
    tg_strmap_release(&t->names);
    free(t->n);
}

static bool put_next(struct tg_number_file *s, struct times *t, tg_sv name, tg_sv unit,
                     double value)
{
    size_t known = t->names.n;
    uint32_t id = tg_strmap_add(&t->names, name);
    t->n = tg_grow(t->n, &t->cap, t->names.n, sizeof *t->n);
    if (id == known)
        t->n[id] = 0;
    return tg_number_file_put(s, t->n[id]++, name, unit, value);
}

/* ---- lines ---- */

/* The next word of a line; "" at its end, or where a comment begins. */
static tg_sv next_word(tg_sv *line)
{
    size_t n = 0;
    *line = tg_sv_past(*line, " \t\r");
    if (line->n && line->p[0] == '#')
        *line = tg_sv_from(*line, line->n);
    while (n < line->n && !memchr(" \t\r", line->p[n], 3))
        n++;
    tg_sv word = { line->p, n };
    *line = tg_sv_from(*line, n);
    return word;
}

struct fields {
    tg_sv name, value, unit, rest;
};

static struct fields split(tg_sv line)
{
    struct fields f;
    f.name = next_word(&line);
    f.value = next_word(&line);
    f.unit = next_word(&line);
    f.rest = next_word(&line);
    return f;
}

/* The first line that says anything decides; `key: 1` is YAML. */
bool tg_lines_begin(tg_sv head)
{
    while (head.n) {
        struct fields f = split(tg_sv_cut(&head, '\n'));
        double value;
        if (!f.name.n)
            continue;
        return f.name.p[0] != '{' && f.name.p[0] != '[' && !tg_sv_ends(f.name, TG_SV(":")) &&
               tg_dec_double(f.value, &value);
    }
    return false;
}

bool tg_lines_read(struct tg_number_file *s, tg_sv text)
{
    TG_AUTO(times_release) struct times times = { 0 };
    for (size_t line = 1; text.n; line++) {
        struct fields f = split(tg_sv_cut(&text, '\n'));
        double value;
        if (!f.name.n)
            continue;
        if (!f.value.n)
            return tg_number_file_refuse(s, line, "a name without a value");
        if (!tg_dec_double(f.value, &value))
            return tg_number_file_refuse(s, line, "the second word is not a number");
        if (f.rest.n)
            return tg_number_file_refuse(s, line, "more than a name, a value and a unit");
        if (!put_next(s, &times, f.name, f.unit, value))
            return false;
    }
    return true;
}

/* ---- the list ---- */

static bool begins(tg_sv head)
{
    return tg_sv_starts(tg_sv_past(head, " \t\r\n"), TG_SV("[")) &&
           tg_number_has_key(head, "name") && tg_number_has_key(head, "value") &&
           !tg_number_has_key(head, "ph");
}

static bool fits(const struct tg_doc *d)
{
    return tg_doc_type(d) == TG_DOC_ARRAY &&
           tg_doc_str(tg_doc_get(tg_doc_first(d), "name"), TG_SV("")).n &&
           tg_doc_get(tg_doc_first(d), "value") != NULL;
}

static bool read_list(struct tg_number_file *s, const struct tg_number_object *v, size_t n)
{
    TG_AUTO(times_release) struct times times = { 0 };
    for (size_t i = 0; i < n; i++)
        for (const struct tg_doc *d = tg_doc_first(v[i].doc); d; d = tg_doc_next(d)) {
            tg_sv name = tg_doc_str(tg_doc_get(d, "name"), TG_SV(""));
            tg_sv unit = tg_doc_str(tg_doc_get(d, "unit"), TG_SV(""));
            double value = tg_doc_num(tg_doc_get(d, "value"), NAN);
            if (!name.n || !isfinite(value))
                return tg_number_file_refuse(s, v[i].line, "an element without a name or a value");
            if (!put_next(s, &times, name, unit, value))
                return false;
        }
    return true;
}

const struct tg_number_json tg_number_list = { "a list of {name, value, unit}", begins, fits,
                                               read_list };
