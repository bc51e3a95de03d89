#ifndef TG_TESTS_POLICY_SUPPORT_H
#define TG_TESTS_POLICY_SUPPORT_H
/* Policies from texts: a few files in memory, the first is the main one. */
#include "policy/language/load.h"
#include "tests/support.h"

/* Released where their block ends: `AUTO_DIAGS d = no_diags();`, `AUTO_POLICY *p =
 * must_load(…);` */
#define AUTO_DIAGS struct tg_diags TG_AUTO(tg_diags_release)
#define AUTO_POLICY struct tg_policy TG_AUTO(drop_policy)

static inline struct tg_diags no_diags(void)
{
    struct tg_diags d;
    tg_diags_init(&d);
    return d;
}

static inline void drop_policy(struct tg_policy **p)
{
    tg_policy_free(*p);
}

struct memory_file {
    const char *path, *text;
    size_t n; /* 0: strlen(text) */
};
struct memory {
    const struct memory_file *v;
    size_t n;
};

static inline bool memory_read(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    const struct memory *m = arg;
    for (size_t i = 0; i < m->n; i++) {
        if (strcmp(m->v[i].path, path) == 0) {
            tg_buf_add(out, (tg_sv){ m->v[i].text, m->v[i].n ? m->v[i].n : strlen(m->v[i].text) });
            return true;
        }
    }
    return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "cannot open '%s'", path);
}

/* 2026-07-01 is day 20635: 56 years * 365 + 14 leap days (1972..2024) + 181 days to July 1. */
#define TEST_TODAY ((int64_t)(56 * 365 + 14 + 181))

static inline struct tg_policy *load_files(const struct memory_file *v, size_t n,
                                           const char *profile, struct tg_diags *d)
{
    struct memory m = { v, n };
    struct tg_policy_opts o = { .path = v[0].path,
                                .profile = profile,
                                .today = TEST_TODAY,
                                .decisions = 7,
                                .read = memory_read,
                                .read_arg = &m };
    struct tg_err err = TG_ERR_INIT;
    struct tg_policy *p = tg_policy_load(&o, d, &err);
    assert_int_equal(p == NULL, d->errors > 0);
    assert_int_equal(err.kind, p ? TG_ERR_NONE : TG_ERR_POLICY);
    return p;
}

static inline struct tg_policy *load_text(const char *text, struct tg_diags *d)
{
    struct memory_file f = { ".tracegate.yml", text, 0 };
    return load_files(&f, 1, NULL, d);
}

/* Shows what was wrong when a policy that should load does not. */
static inline void print_diags(const struct tg_diags *d)
{
    TG_BUF out = { 0 };
    tg_diags_text(d, &out);
    print_message("%.*s", TG_SV_ARG(tg_buf_sv(&out)));
}

static inline struct tg_policy *must_load(const char *text, struct tg_diags *d)
{
    struct tg_policy *p = load_text(text, d);
    if (!p)
        print_diags(d);
    assert_non_null(p);
    return p;
}

#define assert_sv_is(sv, lit) assert_true(tg_sv_eq((sv), TG_SV(lit)))
#endif
