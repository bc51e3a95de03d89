#include "tests/support.h"

#include "core/cause/choose.h"
#include "core/cause/paths.h"

/* train.py: step > model.py: Block.forward > model.py: norm; lines as in `layout`. */
#define TEXT(s)                                                                                    \
    {                                                                                              \
        "" s, sizeof(s) - 1                                                                        \
    }
static const struct tg_py_function model[] = {
    { TEXT("forward"), TEXT("Block.forward"), 10, 20, 10, 0, 0 },
    { TEXT("norm"), TEXT("norm"), 30, 40, 30, 0, 0 },
    { TEXT("other"), TEXT("other"), 50, 60, 50, 0, 0 },
};
static struct tg_cause_frame functions[] = {
    { TG_PATH_FUNCTION, TEXT("norm"), TEXT("model.py"), 30, 0.3, { 0, 0 } },
    { TG_PATH_FUNCTION, TEXT("Block.forward"), TEXT("model.py"), 10, 0.9, { 0, 0 } },
    { TG_PATH_FUNCTION, TEXT("step"), TEXT("train.py"), 5, 1, { 0, 0 } },
};

struct fixture {
    struct tg_arena *a;
    struct tg_cause_path path;
    struct tg_cause_lines lines;
    tg_sv text; /* of the file */
    struct tg_cause_file file;
    struct tg_cause_change change;
    struct tg_cause out;
};

static void setup(struct fixture *f)
{
    f->a = tg_arena_new();
    functions[0].share = 0.3;
    functions[1].share = 0.9;
    f->path = (struct tg_cause_path){ .functions = functions, .n_functions = 3, .share = 0.3 };
}

static void teardown(struct fixture *f)
{
    tg_arena_free(f->a);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

static void again(struct fixture *f)
{
    tg_cause_choose(&f->out, &f->path, &f->change, f->a);
}

/* These lines of a file that has these functions were changed; first 0: none. */
static void choose_in(struct fixture *f, const char *path, const struct tg_py_function *v, size_t n,
                      uint32_t first, uint32_t last, const struct tg_paths *ran)
{
    f->lines = (struct tg_cause_lines){ first, last };
    f->file = (struct tg_cause_file){ tg_sv_of(path), TG_SV(""), &f->lines, 1, v, n, f->text };
    f->change.known = true;
    f->change.files = &f->file;
    f->change.n_files = first ? 1 : 0;
    f->change.n_paths = 1;
    f->change.paths = ran;
    again(f);
}

static void choose(struct fixture *f, uint32_t first, uint32_t last)
{
    choose_in(f, "model.py", model, 3, first, last, NULL);
    assert_non_null(f->out.function);
}

static void assert_chosen(const struct fixture *f, const char *function, enum tg_cause_link link)
{
    assert_sv_equal(f->out.function->text, tg_sv_of(function));
    assert_int_equal(f->out.link, link);
}

/* A tree in which step > Block.forward > norm ran, and nothing else of the file. */
static void ran(struct tg_paths *p)
{
    uint32_t at = 0;
    static const char *const text[] = { "train.py: step", "model.py: Block.forward",
                                        "model.py: norm" };
    tg_paths_init(p, NULL, TG_NO_ID);
    for (size_t i = 0; i < 3; i++) {
        at = tg_path_node_of(p, TG_PATHS_BY_CLASS, at, TG_PATH_FUNCTION,
                             tg_strmap_add(&p->texts, tg_sv_of(text[i])));
        p->tree[TG_PATHS_BY_CLASS].v[at].line[TG_PATHS_TEST] = (uint32_t)(i + 1);
    }
}

CASE(the_changed_function_wins)
{
    choose(f, 12, 14);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_SELF);
    assert_int_equal(f->out.n_changed, 1);
    assert_int_equal(f->out.changed[0].first, 12);
    assert_int_equal(f->out.confidence, TG_CAUSE_HIGH);
}

CASE(lines_are_cut_at_the_function)
{
    choose(f, 4, 12);
    assert_int_equal(f->out.changed[0].first, 10);
    assert_int_equal(f->out.changed[0].last, 12);
}

CASE(a_changed_callee_with_too_little_names_its_caller)
{
    struct tg_paths p;
    ran(&p);
    choose_in(f, "model.py", model, 3, 31, 31, &p);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_CALLEE);
    assert_sv_equal(f->out.changed_in, TG_SV("norm"));
    assert_int_equal(f->out.changed[0].first, 31);
    tg_paths_release(&p);
    functions[0].share = 0.6; /* the control: now it holds enough itself */
    choose(f, 31, 31);
    assert_chosen(f, "norm", TG_CAUSE_LINK_SELF);
}

/* norm and other run in step, beside Block.forward: nothing says that it calls them. */
CASE(a_changed_function_beside_the_named_one_is_no_callee)
{
    struct tg_paths p;
    uint32_t step;
    ran(&p);
    step = tg_path_node_of(&p, TG_PATHS_BY_CLASS, 0, TG_PATH_FUNCTION,
                           tg_strmap_add(&p.texts, TG_SV("train.py: step")));
    (void)tg_path_node_of(&p, TG_PATHS_BY_CLASS, step, TG_PATH_FUNCTION,
                          tg_strmap_add(&p.texts, TG_SV("model.py: other")));
    functions[0].text = TG_SV("other");
    choose_in(f, "model.py", model, 3, 55, 55, &p);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_FILE);
    assert_false(tg_cause_blames(&f->out));
    functions[1].share =
        0.4; /* the control: step, which does call it, is the deepest with enough */
    again(f);
    assert_chosen(f, "step", TG_CAUSE_LINK_CALLEE);
    assert_sv_equal(f->out.changed_in, TG_SV("other"));
    functions[0].text = TG_SV("norm");
    tg_paths_release(&p);
}

CASE(another_function_of_the_file_is_not_blamed)
{
    choose(f, 55, 55);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_FILE);
    assert_int_equal(f->out.n_changed, 0);
    assert_int_equal(f->out.confidence, TG_CAUSE_LOW);
    choose(f, 2, 2); /* a constant above all functions may be the cause */
    assert_int_equal(f->out.n_changed, 1);
    assert_int_equal(f->out.confidence, TG_CAUSE_MEDIUM);
}

/* The line that a reader looks for: not the comment above it, not what no function of the path
 * has. */
CASE(the_changed_line_is_quoted)
{
    f->text = TG_SV("1\n2\n3\n4\n5\n6\n7\n8\n9\n\n    # why\n    x = x.clone()\t\r\n    y = 1\n");
    choose(f, 10, 13);
    assert_sv_equal(f->out.quoted, TG_SV("x = x.clone()"));
    assert_int_equal(f->out.quoted_line, 12);
    f->text =
        TG_SV("1\n2\n3\n4\n5\n6\n7\n8\n9\n\n    if late:\n        x = x.clone()\n    else:\n");
    choose(f, 10, 13); /* what opens a block says less than what is in it */
    assert_sv_equal(f->out.quoted, TG_SV("x = x.clone()"));
    choose(f, 11, 11); /* unless there is nothing else */
    assert_sv_equal(f->out.quoted, TG_SV("if late:"));
    f->text = TG_SV("1\n2\n3\n4\n5\n6\n7\n8\n9\n\n    # why\n    x = x.clone()\t\r\n    y = 1\n");
    choose(f, 10, 11); /* nothing but a comment */
    assert_sv_equal(f->out.quoted, TG_SV(""));
    choose(f, 55, 55); /* of a function that is not blamed */
    assert_sv_equal(f->out.quoted, TG_SV(""));
    f->text = TG_SV("1\n");
    choose(f, 12, 12); /* the file ends before it */
    assert_sv_equal(f->out.quoted, TG_SV(""));
    f->text = TG_SV("");
    choose(f, 12, 12);
    assert_sv_equal(f->out.quoted, TG_SV(""));
}

/* Of three changed lines the one that calls the operator of the path, whole words alone: neither
 * `items` nor `item_2` is aten::item. */
CASE(the_line_that_calls_the_operator_is_quoted)
{
    struct tg_cause_frame frames[] = {
        { .kind = TG_PATH_OP, .text = TG_SV("aten::item"), .share = 1 }
    };
    f->text = TG_SV("1\n2\n3\n4\n5\n6\n7\n8\n9\n    loss = items(item_2)\n    log(loss.item())\n   "
                    " y.item()\n");
    choose(f, 10, 12);
    assert_int_equal(f->out.quoted_line, 10);
    f->path.frames = frames;
    f->path.n = 1;
    again(f);
    assert_sv_equal(f->out.quoted, TG_SV("log(loss.item())"));
    assert_int_equal(f->out.quoted_line, 11);
    frames[0].text = TG_SV("aten::"); /* of a name that says nothing the first line */
    again(f);
    assert_int_equal(f->out.quoted_line, 10);
    f->text = TG_SV("");
}

CASE(nothing_changed_names_the_deepest)
{
    choose(f, 0, 0);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_NONE);
    functions[1].share = 0.4;
    choose(f, 0, 0);
    assert_sv_equal(f->out.function->text, TG_SV("step"));
}

CASE(without_stacks_names_decide)
{
    struct tg_cause_frame frames[] = {
        { TG_PATH_ANNOTATION, TG_SV("forward pass"), TG_SV(""), 0, 1, { 0, 0 } },
        { TG_PATH_MODULE, TG_SV("Block_3"), TG_SV(""), 0, 0.8, { 0, 0 } },
    };
    f->path = (struct tg_cause_path){ .frames = frames, .n = 2, .share = 0.8 };
    choose(f, 12, 12);
    assert_sv_equal(f->out.function->text, TG_SV("Block.forward"));
    assert_int_equal(f->out.confidence, TG_CAUSE_MEDIUM);
    assert_sv_equal(f->out.module, TG_SV("Block_3"));
    frames[1].text = TG_SV("Blocks_3"); /* the control: another class */
    again(f);
    assert_null(f->out.function);
}

CASE(a_constructor_is_named_with_its_class)
{
    static const struct tg_py_function with_init[] = {
        { TEXT("__init__"), TEXT("Block.__init__"), 2, 8, 2, 0, 0 },
        { TEXT("forward"), TEXT("Block.forward"), 10, 20, 10, 0, 0 },
    };
    struct tg_paths p;
    ran(&p);
    choose_in(f, "model.py", with_init, 2, 3, 3, &p);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_SETUP);
    assert_sv_equal(f->out.changed_in, TG_SV("Block.__init__"));
    assert_int_equal(f->out.changed[0].first, 3);
    assert_int_equal(f->out.confidence, TG_CAUSE_MEDIUM);
    assert_true(tg_cause_blames(&f->out));
    /* the control: it runs in the steps, so it is a function like any other */
    (void)tg_strmap_add(&p.texts, TG_SV("model.py: Block.__init__"));
    again(f);
    assert_int_equal(f->out.link, TG_CAUSE_LINK_FILE);
    assert_false(tg_cause_blames(&f->out));
    tg_paths_release(&p);
}

CASE(new_backward_work_is_that_of_who_gives_the_tensor)
{
    struct tg_paths p;
    ran(&p);
    f->path.functions = &functions[1]; /* norm holds nothing of it */
    f->path.n_functions = 2;
    f->path.backward = f->path.is_new = true;
    choose_in(f, "model.py", model, 3, 31, 31, &p);
    assert_sv_equal(f->out.function->text, TG_SV("norm"));
    assert_int_equal(f->out.function->line, 3);
    assert_int_equal(f->out.link, TG_CAUSE_LINK_FEEDS);
    assert_sv_equal(f->out.holder, TG_SV("Block.forward"));
    f->path.is_new = false; /* the control: that work was there before */
    again(f);
    assert_chosen(f, "Block.forward", TG_CAUSE_LINK_FILE);
    tg_paths_release(&p);
}

/* An unchanged callee, called as often as before, holds it: the changed caller may not be the
 * cause. */
CASE(a_caller_alone_is_not_certain)
{
    functions[0].share = 0.9;
    functions[0].calls[0] = functions[0].calls[1] = 4;
    choose(f, 12, 14);
    assert_sv_equal(f->out.function->text, TG_SV("Block.forward"));
    assert_int_equal(f->out.confidence, TG_CAUSE_MEDIUM);
    functions[0].calls[1] = 5; /* the control: it calls it more often */
    choose(f, 12, 14);
    assert_int_equal(f->out.confidence, TG_CAUSE_HIGH);
    functions[0].calls[0] = functions[0].calls[1] = 0;
}

/* step was edited and the lock file changed; norm and Block.forward, unchanged, hold it. */
CASE(a_dependency_explains_better_than_a_far_caller)
{
    static const struct tg_py_function train[] = { { TEXT("step"), TEXT("step"), 5, 9, 5, 0, 0 } };
    for (int i = 0; i < 2; i++) {
        functions[i].share = 0.95;
        functions[i].calls[0] = functions[i].calls[1] = 4;
    }
    f->change.other[TG_CAUSE_DEPENDENCIES] = TG_SV("uv.lock");
    choose_in(f, "train.py", train, 1, 6, 6, NULL);
    assert_chosen(f, "norm", TG_CAUSE_LINK_NONE);
    f->change.other[TG_CAUSE_DEPENDENCIES] = TG_SV(""); /* the control: nothing else was changed */
    again(f);
    assert_sv_equal(f->out.function->text, TG_SV("step"));
    assert_int_equal(f->out.confidence, TG_CAUSE_MEDIUM);
    f->change.other[TG_CAUSE_DEPENDENCIES] =
        TG_SV("uv.lock"); /* the control: it is called more often */
    functions[0].calls[1] = functions[1].calls[1] = 5;
    again(f);
    assert_sv_equal(f->out.function->text, TG_SV("step"));
    assert_int_equal(f->out.confidence, TG_CAUSE_HIGH);
    for (int i = 0; i < 2; i++)
        functions[i].calls[0] = functions[i].calls[1] = 0;
}

CASE(a_docstring_is_no_change)
{
    static const struct tg_py_function documented[] = {
        { TEXT("forward"), TEXT("Block.forward"), 10, 20, 10, 11, 13 },
    };
    choose_in(f, "model.py", documented, 1, 12, 13, NULL);
    assert_false(tg_cause_blames(&f->out));
    f->lines.last = 14;
    again(f);
    assert_true(tg_cause_blames(&f->out));
}

TEST(other_files_by_what_they_are)
{
    static const struct {
        const char *path;
        enum tg_cause_other is;
    } rows[] = { { "a/uv.lock", TG_CAUSE_DEPENDENCIES },
                 { "requirements-gpu.txt", TG_CAUSE_DEPENDENCIES },
                 { "pyproject.toml", TG_CAUSE_DEPENDENCIES },
                 { "environment.yml", TG_CAUSE_DEPENDENCIES }, /* though ".yml" is a setting */
                 { "csrc/k.cu", TG_CAUSE_BUILD },
                 { "conf/x.yaml", TG_CAUSE_CONFIG },
                 { "d.parquet", TG_CAUSE_DATA },
                 { "model.py", TG_CAUSE_OTHERS },
                 { "", TG_CAUSE_OTHERS } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tg_cause_other_of(tg_sv_of(rows[i].path)), rows[i].is);
}
