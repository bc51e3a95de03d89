#ifndef TG_BASELINE_LIBGIT2_INTERNAL_H
#define TG_BASELINE_LIBGIT2_INTERNAL_H
/*
 * The only folder that sees libgit2 (1.5 to 1.9), and the only header that includes it. Its files
 * answer what core/baseline/git.h asks and turn each of libgit2's refusals into a message with the
 * next step.
 */
#include "core/baseline/git.h"

#include <git2.h>
#include <git2/sys/odb_backend.h>
#if __has_include(<git2/sys/errors.h>)
#include <git2/sys/errors.h> /* git_error_set_str, from 1.8 on */
#endif
#ifdef TG_LAZY
#include "core/baseline/git_lazy.h" /* made; from here on libgit2 is called through a table */
#endif

#include "core/base/temporary.h"
#include "core/baseline/spawn.h"

struct tg_loose {
    const char *const *dirs; /* of objects: the repository's own, then its alternates */
    size_t n;
    unsigned char *fan; /* 256 for each: is there a folder for names that begin so? */
};

/* A backend for loose objects: it comes before libgit2's own and stops at a cut one. */
struct tg_git_guard {
    git_odb_backend backend; /* first: libgit2 hands it back */
    struct tg_loose loose;
};

struct tg_git {
    struct tg_git_guard guard;
    git_repository *repo;
    git_odb *odb;
    struct tg_arena *a;
    const char *root, *dir, *prefix, *program;
    char *const *env;
    struct tg_limits limits;
    unsigned timeout_ms;
    bool offline, shallow, promised;
    bool all_readable; /* every folder of objects, once somebody looked */
};

/* load.c: before anything of libgit2 is called; several threads may ask. */
TG_MUST bool tg_libgit2_load(struct tg_err *err);
/* What libgit2 said last; never NULL. */
const char *tg_libgit2_error(void);
/* "WHAT: what libgit2 said". Always returns false. */
bool tg_libgit2_failed(struct tg_err *err, const char *what);
/* The same as the answer to a question. */
static inline enum tg_seen tg_libgit2_unseen(struct tg_err *err, const char *what)
{
    (void)tg_libgit2_failed(err, what);
    return TG_SEEN_FAILED;
}

/* guard.c: before the repository's own objects. False: libgit2 says why. */
bool tg_libgit2_guard(struct tg_git *g);

/* ABSENT, where libgit2 found no object: all folders of objects and their packs can be read. Else
 * FAILED: the object may be in one of them. The look is taken once. */
TG_MUST enum tg_seen tg_libgit2_absent(struct tg_git *g, struct tg_err *err);

/* spawn.c: `git cat-file MODE OID`; what it prints goes to `out`. */
void tg_libgit2_cat_file(struct tg_git *g, const char *mode, const char *oid, size_t max_out,
                         struct tg_buf *out, struct tg_spawned *r);
/* Lets git bring an object that a partial clone left on the server. */
bool tg_libgit2_fetch(struct tg_git *g, const char *oid, struct tg_err *err);
/* "object OID is missing", or why nobody can know. Always returns false. */
bool tg_libgit2_missing(struct tg_git *g, const char *oid, struct tg_err *err);

/* refs.c: is there a ref of this full name, whatever it holds? */
TG_MUST enum tg_seen tg_libgit2_look(struct tg_git *g, const char *name, struct tg_err *err);

/* commits.c: "no commit yet". Always returns false. */
bool tg_libgit2_unborn(struct tg_err *err);
/* libgit2's code; the caller frees *out. */
int tg_libgit2_commit(struct tg_git *g, git_commit **out, const char *sha);
void tg_libgit2_describe(git_commit *c, struct tg_arena *a, struct tg_commit *out);

static inline bool tg_is_sha(const char *s)
{
    return strspn(s, "0123456789abcdef") >= TG_SHA_SIZE - 1;
}
#endif
