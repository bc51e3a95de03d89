/* `name value [unit]` a line. */
#include "core/base/decimal.h"
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

static bool read_line(struct tg_number_file *s, const struct fields *f, size_t line,
                      struct tg_number_times *times)
{
    double value;
    if (!f->value.n)
        return tg_number_file_refuse(s, line, "a name without a value");
    if (!tg_dec_double(f->value, &value))
        return tg_number_file_refuse(s, line, "the second word is not a number");
    if (f->rest.n)
        return tg_number_file_refuse(s, line, "more than a name, a value and a unit");
    return tg_number_file_put(s, tg_number_times_next(times, f->name), f->name, f->unit, value);
}

bool tg_lines_read(struct tg_number_file *s, tg_sv text)
{
    TG_AUTO(tg_number_times_release) struct tg_number_times times;
    size_t line = 0;
    bool ok = true;
    tg_number_times_init(&times);
    while (ok && text.n) {
        struct fields f = split(tg_sv_cut(&text, '\n'));
        line++;
        ok = !f.name.n || read_line(s, &f, line, &times);
    }
    return ok;
}
