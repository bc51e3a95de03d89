#ifndef TG_REPORTERS_JUNIT_XML_H
#define TG_REPORTERS_JUNIT_XML_H
/* The file around the test cases of a JUnit report: one suite, unique names, counts, properties.
 * What a case says is junit.c's. Open a case, close it once, and put the file at the end. */
#include "core/base/strmap.h"
#include "policy/verdict/verdict.h"

enum tg_junit_state { TG_JUNIT_FAILURE, TG_JUNIT_ERROR, TG_JUNIT_SKIPPED };
#define TG_JUNIT_STATES 3

struct tg_junit {
    const struct tg_verdict *v;
    bool strict;              /* no file and line, nothing inside a case but its state */
    struct tg_buf cases, log; /* log: the suite's system-out, strict only */
    struct tg_strmap names;   /* each once */
    size_t tests, n_state[TG_JUNIT_STATES];
    double seconds;
};
void tg_junit_init(struct tg_junit *s, const struct tg_verdict *v, bool strict);
void tg_junit_release(struct tg_junit *s);

/* Blanks collapse, because readers that treat names as tokens collapse them too. */
void tg_junit_put_name(struct tg_buf *out, tg_sv name);

struct tg_junit_case {
    tg_sv name, kind; /* kind: told apart by it, if two cases have one name */
    double seconds;
    const char *file; /* of the rule; NULL: none */
    uint32_t line;
};
void tg_junit_open(struct tg_junit *s, const struct tg_junit_case *c);
/* One of these closes the case: as passed, as passed with output, or in a state. */
void tg_junit_pass(struct tg_junit *s);
void tg_junit_pass_saying(struct tg_junit *s, const char *head, tg_sv body);
void tg_junit_close(struct tg_junit *s, enum tg_junit_state state, tg_sv type, tg_sv message,
                    tg_sv body);

/* The whole file; `omitted`: results without a case of their own. */
void tg_junit_put(struct tg_buf *out, const struct tg_junit *s, size_t omitted);
#endif
