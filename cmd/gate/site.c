#include "cmd/gate/site.h"

#include "core/baseline/spawn.h"

static tg_sv env(const struct tg_io *io, const char *name)
{
    const char *text = tg_io_env(io, name);
    return text ? tg_sv_of(text) : TG_SV("");
}

static tg_sv github(const struct tg_io *io, struct tg_arena *a)
{
    tg_sv server = env(io, "GITHUB_SERVER_URL"), name = env(io, "GITHUB_REPOSITORY");
    if (!server.n || !name.n)
        return TG_SV("");
    return TG_SV_PRINTF(a, "%.*s/%.*s", TG_SV_ARG(server), TG_SV_ARG(name));
}

tg_sv tg_site_config(struct tg_git *git, const char *key, struct tg_arena *a)
{
    const char *const args[] = { "config", "--get", key, NULL };
    TG_BUF b = { 0 };
    struct tg_spawned how;
    tg_git_spawn(git, args, 4096, &b, &how);
    if (how.end != TG_SPAWN_EXIT || how.code != 0)
        return TG_SV("");
    tg_sv text = tg_arena_sv(a, tg_buf_sv(&b));
    return tg_sv_cut(&text, '\n');
}

tg_sv tg_site_origin(struct tg_git *git, struct tg_arena *a)
{
    /* "git@github.com:o/r.git" and "https://github.com/o/r.git". An address with a password is
     * nobody's. */
    tg_sv url = tg_site_config(git, "remote.origin.url", a);
    if (tg_sv_ends(url, TG_SV(".git")))
        url.n -= 4;
    if (tg_sv_starts(url, TG_SV("https://")) && !memchr(url.p, '@', url.n))
        return url;
    if (!tg_sv_skip(&url, TG_SV("git@")))
        return TG_SV("");
    tg_sv host = tg_sv_cut(&url, ':');
    return TG_SV_PRINTF(a, "https://%.*s/%.*s", TG_SV_ARG(host), TG_SV_ARG(url));
}

tg_sv tg_site_repository(const struct tg_io *io, struct tg_git *git, struct tg_arena *a)
{
    tg_sv found = github(io, a);
    if (!found.n)
        found = env(io, "CI_PROJECT_URL");
    return found.n || !git ? found : tg_site_origin(git, a);
}

tg_sv tg_site_run(const struct tg_io *io, struct tg_arena *a)
{
    static const char *const pages[] = { "CI_JOB_URL", "BUILDKITE_BUILD_URL", "BUILD_URL" };
    tg_sv repo = github(io, a), id = env(io, "GITHUB_RUN_ID"), page = TG_SV("");
    if (repo.n && id.n)
        return TG_SV_PRINTF(a, "%.*s/actions/runs/%.*s", TG_SV_ARG(repo), TG_SV_ARG(id));
    for (size_t i = 0; i < sizeof pages / sizeof *pages && !page.n; i++)
        page = env(io, pages[i]);
    return page;
}
