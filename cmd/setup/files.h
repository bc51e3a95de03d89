#ifndef TG_SETUP_FILES_H
#define TG_SETUP_FILES_H
/*
 * What `init` writes, from what the survey found: the policy, a bench, the workflow of the CI
 * service. Texts only; nothing touches the file system. The workflows and benches are those of
 * examples/, with names, places and branches filled in, so that what the tests run there is what
 * users get.
 */
#include "cmd/setup/survey.h"

struct tg_setup_opts {
    bool store;         /* baselines stored on fixed machines, instead of A/B */
    bool nightly;       /* a nightly suite and its workflow besides */
    const char *action; /* "OWNER/tracegate@COMMIT": where workflows take tracegate from; NULL: the
                           placeholder stays */
};

struct tg_setup_file {
    tg_sv path; /* below the root */
    struct tg_buf text;
};
struct tg_setup_files {
    struct tg_setup_file *v;
    size_t n, cap;
};
void tg_setup_files(struct tg_setup_files *out, const struct tg_survey *s,
                    const struct tg_setup_opts *o);
void tg_setup_files_release(struct tg_setup_files *f);

/* The policy alone. */
void tg_setup_policy(struct tg_buf *out, const struct tg_survey *s, const struct tg_setup_opts *o);
#endif
