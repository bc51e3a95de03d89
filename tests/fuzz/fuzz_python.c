/*
 * A Python file of any bytes, behind a line that is a frame's name, and the same bytes as a diff:
 * functions lie in order inside the file, each line is in the innermost one, and hunks are lines of
 * their file.
 */
#include "cmd/gate/codefile.h"
#include "core/baseline/changed.h"
#include "tests/fuzz/target.h"

static uint32_t lines_of(tg_sv text)
{
    uint32_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

static void look_at(const struct tg_py_function *v, size_t n, uint32_t lines)
{
    for (size_t i = 0; i < n; i++) {
        const struct tg_py_function *f = &v[i], *at = tg_py_function_at(v, n, f->def);
        abort_if(!f->first || f->first > f->def || f->def > f->last || f->last > lines || !at ||
                 f->qualified.n > TG_PY_MOST_NAME + 16 || (i && f->first < v[i - 1].first));
        abort_if(f->doc && (f->doc < f->def || f->doc > f->doc_last || f->doc_last > f->last));
        (void)tg_py_function_nearest(v, n, f->name, lines);
        (void)tg_py_function_named(v, n, f->name, f->first);
    }
}

FUZZ_TARGET(0)
{
    TG_ARENA *a = tg_arena_new();
    tg_sv text = bytes, frame = tg_sv_cut(&text, '\n');
    struct tg_codefile_name name;
    struct tg_py_function *v;
    struct tg_changed changed = { 0 };
    size_t n = tg_py_functions(text, a, &v);

    if (n != TG_PY_OVER)
        look_at(v, n, lines_of(text));
    abort_if(tg_codefile_parse(&name, frame) && (!name.file.n || name.file.n >= frame.n));
    (void)tg_codefile_is_foreign(frame);
    tg_changed_parse(text, a, &changed);
    for (size_t i = 0; i < changed.n_python; i++)
        for (size_t k = 0; k < changed.python[i].n; k++)
            abort_if(changed.python[i].lines[k].first > changed.python[i].lines[k].last);
}
