/* What the formats of files of numbers share: how they begin, and what they fill. */
#include <math.h>

#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/utf8.h"
#include "core/number/internal.h"

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
    if (!tg_number_is_json(head))
        return false;
    while (head.n && head.p[0] != '"')
        head = tg_sv_from(head, 1);
    return tg_sv_skip(&head, TG_SV("\"")) && tg_sv_skip(&head, tg_sv_of(key)) &&
           tg_sv_starts(head, TG_SV("\""));
}

bool tg_number_file_refuse(struct tg_number_file *s, size_t line, const char *what)
{
    struct tg_loc at = TG_AT_FILE(s->file);
    at.line = (uint32_t)line;
    tg_err_set(s->err, TG_ERR_TRACE, at, "%s", what);
    return tg_err_hint(s->err, "docs/numbers.md has the formats of files of numbers.");
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
    *TG_PUSH(s->v, s->n, s->cap) =
        (struct tg_number_cell){ { tg_arena_sv(s->a, name), tg_arena_sv(s->a, unit), value }, run };
    return true;
}
