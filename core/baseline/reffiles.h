#ifndef TG_BASELINE_REFFILES_H
#define TG_BASELINE_REFFILES_H
/*
 * The refs of a repository, read from its own files: loose ones below refs/, the others in
 * packed-refs (gitrepository-layout(5)). libgit2's listing leaves out a folder or a file that it
 * cannot read, as if nothing were there; here such a file is a ref with `why`, and such a folder an
 * error. Loose refs are read first: a ref that is packed meanwhile is then found in packed-refs.
 * Cost: one pass over both.
 */
#include "core/baseline/git.h"

/*
 * All refs whose name begins with `prefix` (which ends in '/'), sorted by name, in `a`; symbolic
 * ones are skipped. `common` is the repository's common folder and ends in '/'.
 * TG_ERR_GIT, TG_ERR_IO.
 */
TG_MUST bool tg_reffiles_list(const char *common, const char *prefix, struct tg_arena *a,
                              struct tg_git_ref_at **out, size_t *n, struct tg_err *err);
/* Is there a ref of this full name, whatever it holds? */
TG_MUST enum tg_seen tg_reffiles_look(const char *common, const char *name, struct tg_err *err);
#endif
