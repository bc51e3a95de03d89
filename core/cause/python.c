#include "core/cause/python.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/strmap.h"

struct scope { /* a class or function that is open */
    uint32_t indent;
    bool is_function;
    size_t function;
    tg_sv qualified;
};
struct layout {
    struct tg_py_function *v;
    size_t n, cap;
    struct scope *open;
    size_t n_open, open_cap;
    uint32_t line, last_code;
    uint32_t decorator; /* first line of the decorators just read; 0: none */
    size_t bare;        /* 1 + the function whose body has not begun; 0: none */
    bool in_signature;  /* of that one */
    bool over;          /* more than TG_PY_MOST_… */
    char quote;         /* inside a triple-quoted string of this mark; 0: outside */
    struct tg_arena *a;
};

static uint32_t indent_of(tg_sv row)
{
    uint32_t n = 0;
    for (size_t i = 0; i < row.n; i++) {
        if (row.p[i] == '\t')
            n = (n / 8 + 1) * 8;
        else if (row.p[i] == ' ')
            n++;
        else
            return n;
    }
    return UINT32_MAX; /* blank */
}

/* The first byte; 0: there is none. */
static char head_of(tg_sv code)
{
    return code.n ? code.p[0] : '\0';
}

static bool is_closing(char c)
{
    return c == ')' || c == ']' || c == '}';
}

static tg_sv word_of(tg_sv s)
{
    size_t n = 0;
    while (n < s.n && s.p[n] && !strchr(" \t(:[\r", s.p[n]))
        n++;
    return (tg_sv){ s.p, n };
}

/* Opens or ends triple-quoted strings; a comment ends the row. */
static void pass_quotes(struct layout *l, tg_sv row)
{
    for (size_t i = 0; i < row.n; i++) {
        char c = row.p[i];
        bool triple =
            (c == '"' || c == '\'') && i + 2 < row.n && row.p[i + 1] == c && row.p[i + 2] == c;
        if (c == '\\') {
            i++;
        } else if (l->quote) {
            if (triple && c == l->quote) {
                l->quote = 0;
                i += 2;
            }
        } else if (triple) {
            l->quote = c;
            i += 2;
        } else if (c == '#') {
            return;
        } else if (c == '"' || c == '\'') { /* a short string: up to its end */
            while (++i < row.n && row.p[i] != c)
                i += row.p[i] == '\\';
        }
    }
}

static void close_scopes(struct layout *l, uint32_t indent)
{
    while (l->n_open && l->open[l->n_open - 1].indent >= indent) {
        struct scope *s = &l->open[--l->n_open];
        if (s->is_function)
            l->v[s->function].last = l->last_code;
    }
}

static void open_scope(struct layout *l, uint32_t indent, tg_sv name, bool is_function)
{
    const struct scope *up = l->n_open ? &l->open[l->n_open - 1] : NULL;
    struct scope s = { indent, is_function, l->n, name };
    l->over = l->n == TG_PY_MOST_FUNCTIONS || l->n_open == TG_PY_MOST_DEPTH ||
              (up ? up->qualified.n : 0) + name.n > TG_PY_MOST_NAME;
    if (l->over)
        return;
    if (up)
        s.qualified = TG_SV_PRINTF(l->a, "%.*s.%.*s", TG_SV_ARG(up->qualified), TG_SV_ARG(name));
    if (is_function) {
        *TG_PUSH(l->v, l->n, l->cap) =
            (struct tg_py_function){ .name = name,
                                     .qualified = s.qualified,
                                     .first = l->decorator ? l->decorator : l->line,
                                     .last = l->line,
                                     .def = l->line };
    }
    *TG_PUSH(l->open, l->n_open, l->open_cap) = s;
}

/* "def f(x):", "        y):": a signature ends here. A comment after it may hide that. */
static bool ends_signature(tg_sv code)
{
    return tg_sv_ends(tg_sv_strip(code, " \t\r"), TG_SV(":"));
}

static void read_row(struct layout *l, tg_sv row)
{
    uint32_t indent = indent_of(row);
    tg_sv code = tg_sv_past(row, " \t"), word = word_of(code);
    bool in_string = l->quote != 0;
    l->line++;
    pass_quotes(l, row);
    if (in_string || indent == UINT32_MAX || head_of(code) == '#' || head_of(code) == '\r') {
        if (in_string)
            l->last_code = l->line;
        if (in_string && l->bare && l->v[l->bare - 1].doc) {
            l->v[l->bare - 1].doc_last = l->line;
            l->bare = l->quote ? l->bare : 0;
        }
        return;
    }
    if (!is_closing(head_of(code)))
        close_scopes(l, indent);
    if (l->bare) {
        /* The first line of a body: a string there is the docstring, unless the function ended
         * before it. */
        const struct scope *in = l->n_open ? &l->open[l->n_open - 1] : NULL;
        struct tg_py_function *f = &l->v[l->bare - 1];
        if (!in || !in->is_function || in->function != l->bare - 1) {
            l->bare = 0;
        } else if (l->in_signature) {
            l->in_signature = !ends_signature(code);
        } else {
            if (head_of(code) == '"' || head_of(code) == '\'')
                f->doc = f->doc_last = l->line;
            if (!f->doc || !l->quote)
                l->bare = 0;
        }
    }
    if (tg_sv_eq(word, TG_SV("async"))) {
        code = tg_sv_past(tg_sv_from(code, 5), " \t");
        word = word_of(code);
    }
    if (head_of(code) == '@') {
        l->decorator = l->decorator ? l->decorator : l->line;
    } else if (tg_sv_eq(word, TG_SV("def")) || tg_sv_eq(word, TG_SV("class"))) {
        tg_sv rest = tg_sv_past(tg_sv_from(code, word.n), " \t");
        open_scope(l, indent, tg_arena_sv(l->a, word_of(rest)), word.n == 3);
        l->bare = word.n == 3 ? l->n : 0;
        l->in_signature = !ends_signature(code);
        l->decorator = 0;
    } else if (!is_closing(head_of(code))) {
        l->decorator = 0;
    }
    l->last_code = l->line;
}

size_t tg_py_functions(tg_sv text, struct tg_arena *a, struct tg_py_function **out)
{
    struct layout l = { .a = a };
    while (text.n && !l.over)
        read_row(&l, tg_sv_cut(&text, '\n'));
    close_scopes(&l, 0);
    if (!l.over) {
        /* Overloads, setters, branches of an `if`: the second of a name is "step (2)". */
        TG_AUTO(tg_strmap_release) struct tg_strmap seen = { 0 };
        TG_FREE unsigned *times = tg_xmalloc((l.n + 1) * sizeof *times);
        for (size_t i = 0; i < l.n; i++) {
            size_t before = seen.n;
            uint32_t id = tg_strmap_add(&seen, l.v[i].qualified);
            times[id] = seen.n > before ? 1 : times[id] + 1;
            if (times[id] > 1)
                l.v[i].qualified =
                    TG_SV_PRINTF(l.a, "%.*s (%u)", TG_SV_ARG(l.v[i].qualified), times[id]);
        }
    }
    *out = tg_arena_copy(a, l.v, l.over ? 0 : l.n, sizeof *l.v);
    free(l.v);
    free(l.open);
    return l.over ? TG_PY_OVER : l.n;
}

const struct tg_py_function *tg_py_function_at(const struct tg_py_function *v, size_t n,
                                               uint32_t line)
{
    const struct tg_py_function *best = NULL;
    for (size_t i = 0; i < n; i++)
        if (v[i].first <= line && line <= v[i].last)
            best = &v[i]; /* in order of the first line: the last one is the innermost */
    return best;
}

const struct tg_py_function *tg_py_function_named(const struct tg_py_function *v, size_t n,
                                                  tg_sv name, uint32_t line)
{
    for (size_t i = 0; i < n; i++)
        if (tg_sv_eq(v[i].name, name) && v[i].first <= line && line <= v[i].def)
            return &v[i];
    return NULL;
}

const struct tg_py_function *tg_py_function_nearest(const struct tg_py_function *v, size_t n,
                                                    tg_sv name, uint32_t line)
{
    const struct tg_py_function *best = NULL;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        uint32_t far = v[i].def > line ? v[i].def - line : line - v[i].def;
        if (tg_sv_eq(v[i].name, name) && far < least) {
            best = &v[i];
            least = far;
        }
    }
    return best;
}
