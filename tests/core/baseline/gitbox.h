#ifndef TG_TESTS_GITBOX_H
#define TG_TESTS_GITBOX_H
/*
 * Throw-away repositories, built with the real `git`, which is the oracle here: what tracegate
 * reads through libgit2 must be what git says. HOME is the box's own, so nobody's configuration
 * takes part. Identity and dates are fixed.
 */
#include "core/base/arena.h"
#include "core/baseline/baseline.h"
#include "tests/support.h"

struct box {
    char *dir; /* real path, no '/' at the end */
    struct tg_arena *a;
    struct tg_err err; /* for the test; nothing here sets it */
};

/* cmocka setup and teardown: *state is a struct box. */
int box_setup(void **state);
int box_teardown(void **state);
#define IN_BOX(name) TEST_WITH(struct box *b, box_setup, box_teardown, name)

/* One of its own for each row of a table, gone where its block ends: `BOX *b = box_new();`. */
#define BOX struct box TG_AUTO(box_drop)
struct box *box_new(void);
void box_drop(struct box **b);

/* `sh -e` in the box's directory; fails the test when it fails. */
void box_sh(const struct box *b, const char *script);
bool box_try(const struct box *b, const char *script); /* true: exit status 0 */
/* First line of what it prints, in the arena. */
const char *box_line(const struct box *b, const char *script);
const char *box_path(const struct box *b, const char *name);
/* The commit of a revision in the repository `dir`, as git says it. */
const char *box_sha(const struct box *b, const char *dir, const char *rev);
/* That repository, closed where its block ends: `BOX_GIT *g = box_open(b, "w");`. */
#define BOX_GIT struct tg_git TG_AUTO(box_close)
struct tg_git *box_open(const struct box *b, const char *dir);
void box_close(struct tg_git **g);

/*
 * "origin", non-bare, on main:
 *   c1 README                        c2 + .tracegate.yml, perf/base.json   (tag v1, annotated)
 *   c3 + perf/r0.json, r1.json, notes.txt, .hidden.json, sub/x.json, link (tag light)
 *   feature: c3 - f1 - f2            c4 README again (main)
 *   refs/pull/7/merge: the merge commit GitHub would make of feature into main
 */
void box_origin(const struct box *b);

/* The command between the first two backticks of a hint, in the arena. */
const char *hinted_command(const struct box *b, const struct tg_err *err);

#define assert_no_error(ok, err) assert_no_error_at((ok), (err), __FILE__, __LINE__)
void assert_no_error_at(bool ok, const struct tg_err *err, const char *file, int line);
/* Kind, and a part of message and hint; NULL: any. Then `err` takes the next one. */
void assert_error(struct tg_err *err, enum tg_err_kind kind, const char *message, const char *hint);
#endif
