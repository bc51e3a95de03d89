#ifndef TG_TESTS_CAUSE_BOX_H
#define TG_TESTS_CAUSE_BOX_H
/*
 * Traces of one step in text, for the tests of core/cause: rows are {category, name, thread, begin,
 * length, number}, us; number 0: none. Functions are the program's own if their file is "m.py".
 * Operators "op…" and the whole step are followed.
 */
#include "tests/support.h"

#include "core/base/buf.h"
#include "core/cause/explain.h"

struct box_row {
    const char *cat, *name;
    int tid, ts, dur, number;
};
enum { BOX_STEP, BOX_OP, BOX_TARGETS };
struct box {
    struct tg_paths p;
    struct tg_paths_ask ask;
    struct tg_arena *a;
};

static inline uint32_t box_target(void *arg, enum tg_kind kind, tg_sv name)
{
    (void)arg;
    return (kind == TG_KIND_OP || kind == TG_KIND_KERNEL) && tg_sv_starts(name, TG_SV("op"))
               ? BOX_OP
               : TG_NO_ID;
}

/* "m.py(12): f" */
static inline bool box_function(void *arg, int side, tg_sv name, tg_sv *file, tg_sv *function,
                                uint32_t *line, bool *by_line)
{
    (void)arg;
    (void)side;
    if (!tg_sv_starts(name, TG_SV("m.py(")))
        return false;
    *file = TG_SV("m.py");
    *line = (uint32_t)strtoul(name.p + 5, NULL, 10);
    *function = name;
    (void)tg_sv_cut(function, ' ');
    *by_line = false;
    return true;
}

static inline struct tg_trace *box_load(const struct box_row *v, size_t n)
{
    struct tg_load_opts o = { .keep_python = true, .want_sequence = true };
    TG_BUF text = { 0 };
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    struct tg_trace *t;
    o.reader.want_args = true;
    tg_buf_puts(&text, "{\"traceEvents\":[");
    for (size_t i = 0; i < n; i++) {
        tg_buf_printf(&text,
                      "%s{\"ph\":\"X\",\"cat\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%d,"
                      "\"ts\":%d,\"dur\":%d,\"args\":{",
                      i ? "," : "", v[i].cat, v[i].name, v[i].tid, v[i].ts, v[i].dur);
        if (v[i].number)
            tg_buf_printf(&text, "\"Sequence number\":%d", v[i].number);
        tg_buf_puts(&text, "}}");
    }
    tg_buf_puts(&text, "]}");
    s = tg_source_memory(tg_buf_sv(&text), "made.json", NULL, &err);
    assert_non_null(s);
    t = tg_trace_load(s, &o, NULL, &err);
    assert_non_null(t);
    return t;
}

enum box_python { BOX_AMONG, BOX_APART };

static inline void box_add_as(struct box *b, int side, const struct box_row *v, size_t n,
                              enum box_python python)
{
    struct tg_window_spec window = { .by = TG_WINDOW_AUTO };
    struct tg_trace *t = box_load(v, n);
    TG_AUTO(tg_steps_release) struct tg_steps steps = { 0 };
    struct tg_err err = TG_ERR_INIT;
    if (python == BOX_APART)
        tg_trace_set_python_apart(t);
    assert_true(tg_steps_build(&steps, t, &window, &err));
    tg_paths_add(&b->p, side, t, &steps, 0);
    tg_trace_free(t);
}
#define BOX_ADD(b, side, rows)                                                                     \
    box_add_as((b), (side), (rows), sizeof(rows) / sizeof *(rows), BOX_AMONG)

/* Both sides, and the end of them. */
#define BOX_COMPARE(b, base, test)                                                                 \
    (BOX_ADD(b, TG_PATHS_BASE, base), BOX_ADD(b, TG_PATHS_TEST, test), tg_paths_finish(&(b)->p))

static inline void box_setup(struct box *b)
{
    b->ask = (struct tg_paths_ask){ NULL, box_target, box_function };
    tg_paths_init(&b->p, &b->ask, BOX_STEP);
    b->a = tg_arena_new();
}

static inline void box_teardown(struct box *b)
{
    tg_paths_release(&b->p);
    tg_arena_free(b->a);
}
#define IN_BOX(name) TEST_IN(struct box, b, box_setup, box_teardown, name)

/* "Block > f > op" */
static inline const char *box_path(struct box *b, const struct tg_cause_path *path)
{
    const char *out = "";
    for (size_t i = 0; i < path->n; i++)
        out =
            tg_arena_printf(b->a, "%s%s%.*s", out, i ? " > " : "", TG_SV_ARG(path->frames[i].text));
    return out;
}
#endif
