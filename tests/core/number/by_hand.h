#ifndef TG_TESTS_NUMBER_BY_HAND_H
#define TG_TESTS_NUMBER_BY_HAND_H
/* A file of numbers as text, read; what was read by name. */
#include "core/number/number.h"
#include "tests/support.h"

struct fixture {
    struct tg_arena *a;
    struct tg_number_runs runs;
    struct tg_err err;
};
static inline void set_up(struct fixture *f)
{
    f->a = tg_arena_new();
    tg_err_init(&f->err);
}
static inline void tear_down(struct fixture *f)
{
    tg_arena_free(f->a);
}
#define WITH_FILE(name) TEST_IN(struct fixture, f, set_up, tear_down, name)

static inline bool file_is(struct fixture *f, const char *text)
{
    f->runs = (struct tg_number_runs){ 0 };
    tg_err_init(&f->err);
    return tg_number_read(&f->runs, tg_sv_of(text), "out/bench.numbers", f->a, &f->err);
}

static inline const struct tg_number *number(const struct fixture *f, size_t run, const char *name)
{
    for (size_t i = 0; i < f->runs.v[run].n; i++)
        if (tg_sv_eq(f->runs.v[run].v[i].name, tg_sv_of(name)))
            return &f->runs.v[run].v[i];
    return NULL;
}

/* In any of the runs. */
static inline bool some_run_has(const struct fixture *f, const char *name, double value)
{
    for (size_t run = 0; run < f->runs.n; run++) {
        const struct tg_number *x = number(f, run, name);
        if (x && x->value == value)
            return true;
    }
    return false;
}

static inline void assert_refused(struct fixture *f, const char *text, uint32_t line,
                                  const char *message)
{
    assert_false(file_is(f, text));
    assert_int_equal(f->err.kind, TG_ERR_TRACE);
    assert_int_equal(f->err.line, line);
    assert_non_null(strstr(f->err.message, message));
    assert_string_equal(f->err.file, "out/bench.numbers");
}
#endif
