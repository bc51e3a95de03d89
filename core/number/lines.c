/* `name value [unit]` a line. */
#include "core/base/decimal.h"
#include "core/base/strmap.h"
#include "core/number/formats.h"

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* The next word of a line; "" at its end, or where a comment begins. */
static tg_sv next_word(tg_sv *line)
{
    size_t from = 0, to;
    while (from < line->n && is_blank(line->p[from]))
        from++;
    for (to = from; to < line->n && !is_blank(line->p[to]); to++)
        ;
    if (from < line->n && line->p[from] == '#')
        from = to = line->n;
    tg_sv word = { line->p + from, to - from };
    *line = tg_sv_from(*line, to);
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
static bool begins(tg_sv head)
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

static bool read_line(struct tg_number_sheet *s, const struct fields *f, size_t line,
                      struct tg_strmap *names, size_t **times, size_t *cap)
{
    double value;
    uint32_t id;
    size_t known = names->n;
    if (!f->value.n)
        return tg_sheet_refuse(s, line, "a name without a value");
    if (!tg_dec_double(f->value, &value))
        return tg_sheet_refuse(s, line, "the second word is not a number");
    if (f->rest.n)
        return tg_sheet_refuse(s, line, "more than a name, a value and a unit");
    id = tg_strmap_add(names, f->name);
    *times = tg_grow(*times, cap, names->n, sizeof **times);
    if (id == known)
        (*times)[id] = 0;
    return tg_sheet_put(s, (*times)[id]++, f->name, f->unit, value);
}

static bool read_lines(struct tg_number_sheet *s, tg_sv text)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap names;
    TG_FREE size_t *times = NULL;
    size_t cap = 0, line = 0;
    bool ok = true;
    tg_strmap_init(&names);
    while (ok && text.n) {
        struct fields f = split(tg_sv_cut(&text, '\n'));
        line++;
        ok = !f.name.n || read_line(s, &f, line, &names, &times, &cap);
    }
    return ok;
}

const struct tg_number_format tg_number_lines = { "lines `name value unit`", begins, read_lines };
