/* What formats share: a file that is read, and what a text begins with. */
#include "core/number/number_file.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/utf8.h"

bool tg_number_is_json(tg_sv text)
{
    text = tg_sv_past(text, " \t\r\n");
    return text.n && (text.p[0] == '{' || text.p[0] == '[');
}

bool tg_number_has_key(tg_sv head, const char *key)
{
    TG_BUF quoted = { 0 };
    tg_buf_printf(&quoted, "\"%s\"", key);
    return tg_sv_has(head, tg_buf_sv(&quoted));
}

bool tg_number_begins_with(tg_sv head, const char *key)
{
    TG_BUF quoted = { 0 };
    if (!tg_number_is_json(head))
        return false;
    while (head.n && head.p[0] != '"')
        head = tg_sv_from(head, 1);
    tg_buf_printf(&quoted, "\"%s\"", key);
    return tg_sv_starts(head, tg_buf_sv(&quoted));
}

bool tg_number_file_refuse(struct tg_number_file *s, size_t line, const char *what)
{
    struct tg_loc at = TG_AT_FILE(s->file);
    at.line = (uint32_t)line;
    tg_err_set(s->err, TG_ERR_TRACE, at, "%s", what);
    return tg_err_hint(s->err, "docs/numbers.md has the formats of files of numbers.");
}

void tg_number_times_init(struct tg_number_times *t)
{
    *t = (struct tg_number_times){ 0 };
}

void tg_number_times_release(struct tg_number_times *t)
{
    tg_strmap_release(&t->names);
    free(t->n);
}

size_t tg_number_times_next(struct tg_number_times *t, tg_sv name)
{
    size_t known = t->names.n;
    uint32_t id = tg_strmap_add(&t->names, name);
    t->n = tg_grow(t->n, &t->cap, t->names.n, sizeof *t->n);
    if (id == known)
        t->n[id] = 0;
    return t->n[id]++;
}

/* UTF-8 without control characters. */
static bool is_text(tg_sv s)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < ' ' || s.p[i] == 0x7f)
            return false;
    return tg_utf8_valid(s);
}

bool tg_number_file_put(struct tg_number_file *s, size_t run, tg_sv name, tg_sv unit, double value)
{
    if (!isfinite(value))
        return tg_number_file_refuse(s, 0, "a value that is not finite");
    if (!name.n || !is_text(name) || !is_text(unit))
        return tg_number_file_refuse(s, 0, "a name or a unit that is not visible UTF-8 text");
    if (s->n == (size_t)TG_MAX_NUMBERS * 10 || run == TG_MAX_NUMBER_RUNS)
        return tg_err_say(s->err, TG_ERR_LIMIT, TG_AT_FILE(s->file),
                          "more than %d values, or more than %d runs",
                          "Write the numbers that a rule asks for, a file per run.",
                          TG_MAX_NUMBERS * 10, TG_MAX_NUMBER_RUNS);
    s->runs = run >= s->runs ? run + 1 : s->runs;
    *TG_PUSH(s->v, s->n, s->cap) = (struct tg_number_cell){
        { tg_arena_sv(s->a, name), tg_arena_sv(s->a, unit), value }, run, s->n
    };
    return true;
}
