#ifndef TG_TESTS_CMD_GATE_JUDGED_H
#define TG_TESTS_CMD_GATE_JUDGED_H
/* Sides made by hand (tests/core/diff/by_hand.h) under a policy that is a text. */
#include "tests/core/diff/by_hand.h"

#include "cmd/gate/gate.h"
#include "policy/language/load.h"

static inline bool read_text(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    (void)path;
    (void)err;
    tg_buf_puts(out, arg);
    return true;
}

/* "version: 1" is in front of it. */
static inline void load_policy(struct fixture *f, const char *text)
{
    char *whole = TG_NEW_N(f->a, char, strlen(text) + 16);
    struct tg_policy_opts o = { .path = "p.yml", .read = read_text, .read_arg = whole };
    TG_AUTO(tg_diags_release) struct tg_diags diags;
    TG_BUF said = { 0 };
    (void)strcat(strcpy(whole, "version: 1\n"), text);
    tg_diags_init(&diags);
    tg_policy_free(f->policy);
    f->policy = tg_policy_load(&o, &diags, &f->err);
    tg_diags_text(&diags, &said);
    if (!f->policy)
        fail_msg("%.*s", TG_SV_ARG(tg_buf_sv(&said)));
}

static const struct tg_suite no_suite;
static const char *const no_environment[] = { NULL };
static const struct tg_io no_io = { .in = -1, .out = -1, .err = -1, .environ_ = no_environment };

/* The two sides under the policy; the gate must outlive the verdict. */
static inline struct tg_gate gate_of(struct fixture *f)
{
    struct tg_gate g = { .policy = f->policy, .suite = &no_suite, .io = &no_io, .arena = f->a };
    g.side[TG_BASE] = f->side[TG_BASE];
    g.side[TG_TEST] = f->side[TG_TEST];
    tg_gate_compare_opts(&g.compare, f->policy, &no_suite, f->a);
    return g;
}

static inline void judged_tear_down(struct fixture *f)
{
    tg_policy_free(f->policy);
    by_hand_tear_down(f);
}
#define JUDGED(name) TEST_IN(struct fixture, f, by_hand_set_up, judged_tear_down, name)
#endif
