#include "tests/support.h"

#include "core/base/buf.h"
#include "core/cause/python.h"

/* Lines are numbered in the comments; expectations are read off them. */
static const char source[] = "import torch\n"                         /*  1 */
                             "\n"                                     /*  2 */
                             "class Block(nn.Module):\n"              /*  3 */
                             "    \"\"\"A block.\n"                   /*  4 */
                             "def not_code():\n"                      /*  5 */
                             "    \"\"\"\n"                           /*  6 */
                             "    def forward(\n"                     /*  7 */
                             "        self,\n"                        /*  8 */
                             "    ):\n"                               /*  9 */
                             "        def inner(x):\n"                /* 10 */
                             "            return x  # def no(): 'x\n" /* 11 */
                             "\n"                                     /* 12 */
                             "        return inner(1)\n"              /* 13 */
                             "\n"                                     /* 14 */
                             "    @property\n"                        /* 15 */
                             "    @cached\n"                          /* 16 */
                             "    def size(self): return 1\n"         /* 17 */
                             "\n"                                     /* 18 */
                             "    @size.setter\n"                     /* 19 */
                             "    def size(self, v): self.v = v\n"    /* 20 */
                             "\n"                                     /* 21 */
                             "LIMIT = 3\n"                            /* 22 */
                             "async def main():\n"                    /* 23 */
                             "\tawait x\n"                            /* 24 */
                             "\n";

struct file {
    struct tg_arena *a;
    struct tg_py_function *v;
    size_t n;
};

static void setup(struct file *f)
{
    f->a = tg_arena_new();
    f->n = tg_py_functions(tg_sv_of(source), f->a, &f->v);
}

static void teardown(struct file *f)
{
    tg_arena_free(f->a);
}

#define CASE(name) TEST_IN(struct file, f, setup, teardown, name)

CASE(functions_and_their_lines)
{
    static const struct {
        const char *qualified;
        uint32_t first, def, last;
    } want[] = { { "Block.forward", 7, 7, 13 },
                 { "Block.forward.inner", 10, 10, 11 },
                 { "Block.size", 15, 17, 17 },
                 { "Block.size (2)", 19, 20, 20 },
                 { "main", 23, 23, 24 } };
    assert_int_equal(f->n, 5);
    for (size_t i = 0; i < f->n; i++) {
        assert_sv_equal(f->v[i].qualified, tg_sv_of(want[i].qualified));
        assert_int_equal(f->v[i].first, want[i].first);
        assert_int_equal(f->v[i].def, want[i].def);
        assert_int_equal(f->v[i].last, want[i].last);
    }
}

CASE(a_line_belongs_to_the_innermost_function)
{
    static const struct {
        uint32_t line;
        int function; /* -1: none */
    } want[] = { { 1, -1 }, { 5, -1 },  { 7, 0 },  { 9, 0 },  { 10, 1 },  { 11, 1 }, { 12, 0 },
                 { 13, 0 }, { 14, -1 }, { 16, 2 }, { 20, 3 }, { 22, -1 }, { 24, 4 }, { 99, -1 } };
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        const struct tg_py_function *at = tg_py_function_at(f->v, f->n, want[i].line);
        assert_int_equal(at ? at - f->v : -1, want[i].function);
    }
}

CASE(a_name_must_begin_at_its_line)
{
    assert_ptr_equal(tg_py_function_named(f->v, f->n, TG_SV("size"), 15), &f->v[2]);
    assert_ptr_equal(tg_py_function_named(f->v, f->n, TG_SV("size"), 20), &f->v[3]);
    assert_null(tg_py_function_named(f->v, f->n, TG_SV("size"), 18));
    assert_null(tg_py_function_named(f->v, f->n, TG_SV("forward"), 8));
    assert_ptr_equal(tg_py_function_nearest(f->v, f->n, TG_SV("size"), 22), &f->v[3]);
    assert_null(tg_py_function_nearest(f->v, f->n, TG_SV("sizes"), 22));
}

CASE(nothing_and_what_is_no_python)
{
    struct tg_py_function *v;
    assert_int_equal(tg_py_functions(TG_SV(""), f->a, &v), 0);
    assert_int_equal(tg_py_functions(TG_SV("\"\"\" never closed\ndef f():\n"), f->a, &v), 0);
    assert_int_equal(tg_py_functions(TG_SV("def"), f->a, &v), 1);
    assert_int_equal(tg_py_functions(TG_SV(")\n]\n\\"), f->a, &v), 0);
}

/* A docstring is the first statement, alone; a string further down is code. */
TEST(docstrings)
{
    static const char text[] = "def one():\n"          /* 1 */
                               "    \"\"\"Says.\n"     /* 2 */
                               "    more\"\"\"\n"      /* 3 */
                               "    return 1\n"        /* 4 */
                               "def two(a,\n"          /* 5 */
                               "        b='x'):\n"     /* 6 */
                               "    'Says.'\n"         /* 7 */
                               "    return 2\n"        /* 8 */
                               "def three():\n"        /* 9 */
                               "    x = \"\"\"a\n"     /* 10 */
                               "    b\"\"\"\n"         /* 11 */
                               "    'no docstring'\n"; /* 12 */
    static const uint32_t want[][2] = { { 2, 3 }, { 7, 7 }, { 0, 0 } };
    TG_ARENA *a = tg_arena_new();
    struct tg_py_function *v;
    assert_int_equal(tg_py_functions(tg_sv_of(text), a, &v), 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(v[i].doc, want[i][0]);
        assert_int_equal(v[i].doc_last, want[i][1]);
    }
}

/* A file beyond the limits is told apart from one without functions, and costs little. */
TEST(a_file_beyond_the_limits_is_not_searched)
{
    static const struct {
        int functions, nested, name;
        bool over;
    } cases[] = {
        { TG_PY_MOST_FUNCTIONS, 0, 1, false },
        { TG_PY_MOST_FUNCTIONS + 1, 0, 1, true },
        { 200000, 0, 1, true },
        { 1, TG_PY_MOST_DEPTH - 1, 1, false },
        { 1, TG_PY_MOST_DEPTH, 1, true },
        { 1, 2000, 1, true },
        { 1, 0, TG_PY_MOST_NAME, false },
        { 1, 0, TG_PY_MOST_NAME + 1, true },
        { 1, 1, TG_PY_MOST_NAME, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_ARENA *a = tg_arena_new();
        TG_BUF text = { 0 };
        struct tg_py_function *v;
        size_t n;
        for (int k = 0; k < cases[i].nested; k++)
            tg_buf_printf(&text, "%*sclass c:\n", k, "");
        for (int k = 0; k < cases[i].functions; k++) {
            tg_buf_printf(&text, "%*sdef ", cases[i].nested, "");
            for (int c = 0; c < cases[i].name; c++)
                tg_buf_putc(&text, 'f');
            tg_buf_printf(&text, "():\n%*spass\n", cases[i].nested + 1, "");
        }
        n = tg_py_functions(tg_buf_sv(&text), a, &v);
        if (n != (cases[i].over ? TG_PY_OVER : (size_t)cases[i].functions))
            fail_msg("case %zu: %zu", i, n);
    }
}
