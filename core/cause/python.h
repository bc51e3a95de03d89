#ifndef TG_CAUSE_PYTHON_H
#define TG_CAUSE_PYTHON_H
/*
 * The functions of a Python file by its layout alone: a `def` at some indentation, down to the next
 * line that is indented no deeper. Lines inside triple-quoted strings and lines that only close a
 * bracket end nothing. Good enough to find the function of a line; not a parser.
 */
#include "core/base/arena.h"
#include "core/base/sv.h"

struct tg_py_function {
    tg_sv name;             /* "forward" */
    tg_sv qualified;        /* "Block.forward"; "Block.forward (2)" for the second of that name */
    uint32_t first, last;   /* 1-based, decorators included */
    uint32_t def;           /* the line of `def` */
    uint32_t doc, doc_last; /* its docstring; 0: none */
};
/* What a file may have that is searched: nobody wrote more by hand, and a cause has seconds. A
 * file with more is TG_PY_OVER, and none of its functions is given. */
#define TG_PY_MOST_FUNCTIONS 5000
#define TG_PY_MOST_DEPTH 50  /* classes and functions inside each other */
#define TG_PY_MOST_NAME 1000 /* bytes of a qualified name */
#define TG_PY_OVER SIZE_MAX
/* In order of their first line; everything in `a`. O(bytes + functions * depth). */
size_t tg_py_functions(tg_sv text, struct tg_arena *a, struct tg_py_function **out);
/* The innermost function that holds this line; NULL: outside every one. */
const struct tg_py_function *tg_py_function_at(const struct tg_py_function *v, size_t n,
                                               uint32_t line);
/* The one whose definition is nearest to `line` among those of this name; NULL: there is no such
 * function. */
const struct tg_py_function *tg_py_function_nearest(const struct tg_py_function *v, size_t n,
                                                    tg_sv name, uint32_t line);
/* The function of this name whose code begins at `line`: at its `def` or at one of its decorators.
 * NULL: none, the file is another one than the one that ran. */
const struct tg_py_function *tg_py_function_named(const struct tg_py_function *v, size_t n,
                                                  tg_sv name, uint32_t line);
#endif
