/* Where the repository and the run are on the web: what CI says, else the remote's address. */
#include "tests/cmd/gate/job.h"

#include "cmd/gate/site.h"

static void is_site(const char *want, tg_sv got)
{
    is_text(got, want);
}

IN_BOX(what_ci_says)
{
    static const struct {
        const char *environ_[4], *repository, *run;
    } cases[] = {
        { { "GITHUB_SERVER_URL=https://g.example", "GITHUB_REPOSITORY=o/r", "GITHUB_RUN_ID=7" },
          "https://g.example/o/r",
          "https://g.example/o/r/actions/runs/7" },
        { { "GITHUB_SERVER_URL=https://g.example", "GITHUB_RUN_ID=7" }, "", "" },
        { { "GITHUB_SERVER_URL=https://g.example", "GITHUB_REPOSITORY=o/r",
            "BUILD_URL=https://j.example/1" },
          "https://g.example/o/r",
          "https://j.example/1" },
        { { "CI_PROJECT_URL=https://l.example/o/r", "CI_JOB_URL=https://l.example/job/3" },
          "https://l.example/o/r",
          "https://l.example/job/3" },
        { { "BUILDKITE_BUILD_URL=https://b.example/2" }, "", "https://b.example/2" },
        { { NULL }, "", "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tg_io io = { .environ_ = cases[i].environ_ };
        is_site(cases[i].repository, tg_site_repository(&io, NULL, b->a));
        is_site(cases[i].run, tg_site_run(&io, b->a));
    }
}

/* An address with a user or a password in it is never shown. */
IN_BOX(the_remotes_address)
{
    static const char *const commit[] = { "echo x > x", NULL };
    static const struct {
        const char *url, *repository;
    } cases[] = {
        { "git@github.com:o/r.git", "https://github.com/o/r" },
        { "https://github.com/o/r.git", "https://github.com/o/r" },
        { "https://github.com/o/r", "https://github.com/o/r" },
        { "https://user:secret@github.com/o/r.git", "" },
        { "ssh://git@github.com/o/r.git", "" },
        { "/srv/git/r.git", "" },
    };
    job_repository(b, commit);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        box_sh(b, tg_arena_printf(b->a,
                                  "cd w; git remote remove origin 2>&1 | true; "
                                  "git remote add origin '%s'",
                                  cases[i].url));
        job_open(&k, b, NULL);
        is_site(cases[i].repository, tg_site_repository(&k.io, job_git(&k), b->a));
        k.environ_[0] = "CI_PROJECT_URL=https://l.example/o/r"; /* before the remote */
        is_site("https://l.example/o/r", tg_site_repository(&k.io, job_git(&k), b->a));
    }
}
