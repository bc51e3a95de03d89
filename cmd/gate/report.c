#include "cmd/gate/internal.h"
#include "cmd/gate/site.h"

#include <time.h>

bool tg_check_open_reports(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    /* Several suites: FILE.xml becomes FILE-SUITE.xml; of `baselines`, FILE@NAME.xml. */
    for (int k = 0; k < TG_REPORTS; k++)
        if (c->o->report[k] &&
            !tg_outputs_open(&j->outputs,
                             tg_suites_path(c->o->report[k],
                                            c->suites.n == 1 ? TG_SV("") : j->suite->name,
                                            j->policy->baseline.name, c->arena),
                             &j->handle[k], err))
            return false;
    return true;
}

/* A report on standard output is alone there, so that a pipe can read it. */
static bool prints_text(const struct tg_check *c)
{
    for (int k = 0; k < TG_REPORTS; k++)
        if (c->o->report[k] && strcmp(c->o->report[k], "-") == 0)
            return false;
    return !c->o->quiet;
}

void tg_check_tell(const struct tg_check *c, const struct tg_err *why)
{
    struct tg_err said = *why;
    if (prints_text(c))
        said.hint[0] = '\0';
    tg_io_error(c->io, &said);
}

bool tg_check_report(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    TG_BUF out = { 0 }, safe = { 0 };
    struct tg_err second = TG_ERR_INIT;
    bool ok = err->kind == TG_ERR_NONE;
    for (int k = 0; ok && k < TG_REPORTS; k++) {
        if (!c->o->report[k])
            continue;
        tg_buf_clear(&out);
        tg_buf_clear(&safe);
        tg_reporters[k].write(&out, &j->verdict, &c->render);
        /* Standard output may be a terminal, or a log whose lines a runner executes. */
        bool printed = strcmp(c->o->report[k], "-") == 0;
        if (printed)
            tg_io_safe(c->io, tg_buf_sv(&out), &safe);
        ok = tg_outputs_put(&j->outputs, j->handle[k], tg_buf_sv(printed ? &safe : &out), err);
    }
    ok = ok && tg_outputs_commit(&j->outputs, err);
    tg_buf_clear(&out);
    if (prints_text(c)) { /* also where a file cannot be written: a judgement was made */
        tg_reporter_text(&out, &j->verdict, &c->render);
        ok = tg_io_put(c->io, tg_buf_sv(&out), ok ? err : &second) && ok;
    }
    tg_buf_clear(&out);
    if (ok && c->o->annotations) {
        tg_reporter_annotations(&out, &j->verdict, &c->render);
        ok = tg_io_put_commands(c->io, tg_buf_sv(&out), err);
    }
    return ok;
}

/* Of many files the first and the last; the folder once where they share it. */
static tg_sv paths_of(const struct tg_input_list *l, struct tg_arena *a)
{
    TG_BUF b = { 0 };
    if (l->n > 2) {
        const char *first = l->v[0].label, *last = l->v[l->n - 1].label,
                   *slash = strrchr(first, '/');
        size_t folder = slash ? (size_t)(slash + 1 - first) : 0;
        bool shared = folder && strncmp(first, last, folder) == 0;
        tg_buf_printf(&b, "%s … %s (%zu files)", first, last + (shared ? folder : 0), l->n);
    }
    for (size_t i = 0; l->n <= 2 && i < l->n; i++)
        tg_buf_printf(&b, "%s%s", i ? ", " : "", l->v[i].label);
    return tg_arena_sv(a, tg_buf_sv(&b));
}

/* The policy's path in the repository; "" built in, or outside of it. */
static tg_sv policy_file(struct tg_check *c)
{
    struct tg_err ignored = TG_ERR_INIT;
    tg_sv relative = TG_SV("");
    if (!c->repo.git || c->suites.policy->built_in || !c->suites.policy->file.n ||
        !tg_git_relative(c->repo.git, c->suites.policy->file.p, c->arena, &relative, &ignored))
        return TG_SV("");
    return relative;
}

static enum tg_waivers_there waivers_there(const struct tg_policy *p)
{
    for (size_t i = 0; i < p->n_waivers; i++)
        if (tg_sv_eq(tg_sv_of(p->waivers[i].at.file), p->file))
            return TG_WAIVERS_LISTED;
    return p->waivers_at.file && tg_sv_eq(tg_sv_of(p->waivers_at.file), p->file)
               ? TG_WAIVERS_EMPTY
               : TG_WAIVERS_ABSENT;
}

/* Committer date of the judged commit, or SOURCE_DATE_EPOCH; no clock, so that bytes repeat. */
void tg_check_describe(struct tg_check *c, struct tg_check_job *j)
{
    struct tg_verdict *v = &j->verdict;
    struct tg_commit head;
    struct tg_err why = TG_ERR_INIT;
    int64_t epoch = 0;
    bool dated = false;
    const char *fixed = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    struct tm tm;
    if (c->repo.git && tg_git_resolve(c->repo.git, "HEAD", c->arena, &head, &why)) {
        v->test_commit = TG_SV_PRINTF(c->arena, "%s", head.sha);
        epoch = head.date;
        dated = true;
    } else if (c->repo.git && why.kind != TG_ERR_REF) { /* a repository without a commit has none */
        tg_verdict_add_note(
            v, c->arena, TG_REASON_NONE,
            TG_SV_PRINTF(c->arena, "the judged commit is not known: %s", why.message),
            TG_SV("Links and the date of the reports are those of HEAD."));
    }
    if (fixed && tg_sv_i64(tg_sv_of(fixed), &epoch))
        dated = true;
    time_t t = (time_t)epoch;
    if (dated && gmtime_r(&t, &tm)) {
        char *text = TG_NEW_N(c->arena, char, 32);
        v->timestamp = (tg_sv){ text, strftime(text, 32, "%Y-%m-%dT%H:%M:%S", &tm) };
    }
    v->test_paths = paths_of(&j->fresh, c->arena);
    v->suite = j->suite->name;
    v->baseline = j->info;
    v->baseline.name = j->policy->baseline.name;
    if (v->baseline.name.n) { /* one check has a verdict for each baseline */
        v->suite =
            TG_SV_PRINTF(c->arena, "%.*s@%.*s", TG_SV_ARG(v->suite), TG_SV_ARG(v->baseline.name));
        tg_verdict_title(v, c->arena);
    }
    if (c->o->baseline.n > 2 && j->info.situation == TG_SITUATION_PATH)
        v->baseline.paths = paths_of(&j->base, c->arena);
    v->policy_file = policy_file(c);
    if (c->suites.policy->built_in)
        v->preset = TG_SV("tracegate:recommended");
    else if (tg_policy_is_preset(c->suites.policy->file.p))
        v->preset = c->suites.policy->file;
    v->waivers_there = waivers_there(c->suites.policy);
    if (c->o->report[TG_REPORT_markdown] || c->o->report[TG_REPORT_html]) /* links */
        c->render.repo_url = tg_site_repository(c->io, c->repo.git, c->arena);
    c->render.run_url = tg_site_run(c->io, c->arena);
    v->policy = c->suites.policy->built_in ? TG_SV("built-in policy (tracegate:recommended)")
                                           : c->suites.policy->file;
    if (c->suites.policy->profile.n)
        v->policy = TG_SV_PRINTF(c->arena, "%.*s, profile %.*s", TG_SV_ARG(v->policy),
                                 TG_SV_ARG(c->suites.policy->profile));
}

bool tg_check_print_plan(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err)
{
    TG_BUF b = { 0 };
    tg_buf_printf(&b, "suite %.*s\n  policy: %s\n", TG_SV_ARG(j->suite->name),
                  c->suites.policy->built_in ? "built-in (tracegate:recommended)"
                                             : c->suites.policy->file.p);
    if (j->policy->baseline.name.n)
        tg_buf_printf(&b, "  against: %.*s\n", TG_SV_ARG(j->policy->baseline.name));
    tg_buf_printf(&b, "  baseline: %s%s%.*s\n", tg_situation_name(j->info.situation),
                  j->info.how.n ? ", " : "", TG_SV_ARG(j->info.how));
    for (size_t i = 0; i < j->base.n; i++)
        tg_buf_printf(&b, "    %s\n", j->base.v[i].label);
    tg_buf_puts(&b, "  fresh:\n");
    for (size_t i = 0; i < j->fresh.n; i++)
        tg_buf_printf(&b, "    %s\n", j->fresh.v[i].label);
    return tg_io_put(c->io, tg_buf_sv(&b), err);
}

/* ---- the command ---- */

/* In quotes, unless no shell could read it otherwise. */
static void put_word(struct tg_buf *out, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:=@%+,";
    tg_buf_putc(out, ' ');
    if (*word && word[strspn(word, plain)] == '\0') {
        tg_buf_puts(out, word);
        return;
    }
    tg_buf_quote(out, word);
}

static void put_option(struct tg_buf *out, const char *name, const char *value)
{
    if (value) {
        tg_buf_printf(out, " --%s", name);
        put_word(out, value);
    }
}

tg_sv tg_check_command(struct tg_check *c, const struct tg_strs *args)
{
    const struct tg_check_opts *o = c->o;
    TG_BUF b = { 0 };
    tg_buf_puts(&b, "tracegate check");
    for (size_t i = 0; i < args->n; i++)
        put_word(&b, args->v[i]);
    tg_buf_printf(&b, "%s%s%s%s", o->given.runs ? " --runs" : "", o->given.ranks ? " --ranks" : "",
                  o->given.strict_json ? " --strict-json" : "",
                  o->given.allow_truncated ? " --allow-truncated" : "");
    for (size_t i = 0; i < o->baseline.n; i++)
        put_option(&b, "baseline", o->baseline.v[i]);
    for (size_t i = 0; i < o->given.meta.n; i++)
        put_option(&b, "meta", o->given.meta.v[i]);
    put_option(&b, "policy", o->policy);
    put_option(&b, "suite", o->suite);
    put_option(&b, "against", o->against);
    put_option(&b, "profile", o->profile);
    put_option(&b, "base-commit", o->base_commit);
    return tg_arena_sv(c->arena, tg_buf_sv(&b));
}
