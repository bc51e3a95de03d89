#ifndef TG_CMD_GATE_SITE_H
#define TG_CMD_GATE_SITE_H
/* Where a repository and a CI run are on the web, for the links of reports. */
#include "cmd/cmd.h"
#include "core/baseline/git.h"

/*
 * "https://HOST/OWNER/NAME": what CI says (GITHUB_SERVER_URL and GITHUB_REPOSITORY,
 * CI_PROJECT_URL), else the remote "origin" of `git`, which may be NULL. "": not known. Everything
 * in `a`.
 */
tg_sv tg_site_repository(const struct tg_io *io, struct tg_git *git, struct tg_arena *a);
/* The same of the remote alone. */
tg_sv tg_site_origin(struct tg_git *git, struct tg_arena *a);
/* The first line of what `git config --get KEY` prints; "" if it fails. */
tg_sv tg_site_config(struct tg_git *git, const char *key, struct tg_arena *a);
/* The page of this run (GITHUB_RUN_ID, CI_JOB_URL, BUILD_URL, BUILDKITE_BUILD_URL); "" none. */
tg_sv tg_site_run(const struct tg_io *io, struct tg_arena *a);
#endif
