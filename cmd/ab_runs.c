/* One run: its files, made, tried once more, or brought back after a kill. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/ab.h"
#include "core/base/host.h"
#include "core/base/sha256.h"

static const char suffix[] = ".json.gz";

/* ---- the files of a run ---- */

/* Those of `dir` that belong to the run whose name is `stem`'s: its trace, its ranks',
 * its benchmark's numbers. */
static struct tg_strs files_of(struct tg_ab *ab, const char *dir, const char *stem)
{
    struct tg_strs in = tg_ab_list(ab->arena, dir), of = { 0 };
    const char *here =
        tg_arena_printf(ab->arena, "%s/%.*s", dir, TG_SV_ARG(tg_file_name(tg_sv_of(stem))));
    for (size_t i = 0; i < in.n; i++) {
        tg_sv rest = tg_sv_of(in.v[i]);
        if (tg_sv_skip(&rest, tg_sv_of(here)) &&
            (tg_sv_eq(rest, tg_sv_of(suffix)) || tg_sv_eq(rest, TG_SV(".numbers")) ||
             tg_sv_eq(rest, TG_SV(".jsonl")) ||
             (tg_sv_starts(rest, TG_SV("-rank")) && tg_sv_ends(rest, tg_sv_of(suffix)))))
            tg_strs_add(&of, in.v[i], ab->arena);
    }
    return of;
}

static bool has_trace(const struct tg_strs *files)
{
    struct stat at;
    for (size_t i = 0; i < files->n; i++)
        if (tg_sv_ends(tg_sv_of(files->v[i]), tg_sv_of(suffix)) && stat(files->v[i], &at) == 0 &&
            at.st_size > 0)
            return true;
    return false;
}

static void remove_files(const struct tg_strs *files)
{
    for (size_t i = 0; i < files->n; i++)
        (void)unlink(files->v[i]);
}

/* "base 3 SUM SUM…": a run as the file ab.runs keeps it. */
static const char *line_of(struct tg_ab *ab, size_t side, int64_t k, const struct tg_strs *files)
{
    TG_BUF line = { 0 };
    char sum[65];
    tg_buf_printf(&line, "%s %d", ab->side[side].name, (int)k);
    for (size_t i = 0; i < files->n; i++)
        tg_buf_printf(&line, " %s", tg_sha256_file(files->v[i], sum) ? sum : "unreadable");
    return tg_arena_sv(ab->arena, tg_buf_sv(&line)).p;
}

/* ---- after a kill ---- */

static const char *in_out(struct tg_ab *ab, const char *name)
{
    return tg_arena_printf(ab->arena, "%s/%s", ab->out, name);
}

/* Where the traces of a folder are until it is their turn;
 * until then this comparison does not see them. */
static const char *aside(struct tg_ab *ab, const char *folder)
{
    return tg_arena_printf(ab->arena, "%s/before/%.*s", ab->out,
                           TG_SV_ARG(tg_file_name(tg_sv_of(folder))));
}

static void move_all(const struct tg_strs *files, struct tg_ab *ab, const char *to)
{
    tg_file_make_dir(to);
    for (size_t i = 0; i < files->n; i++) {
        tg_sv name = tg_file_name(tg_sv_of(files->v[i]));
        (void)rename(files->v[i], tg_arena_printf(ab->arena, "%s/%.*s", to, TG_SV_ARG(name)));
    }
}

static struct tg_strs runs_in(struct tg_ab *ab, const char *folder)
{
    struct tg_strs in = tg_ab_list(ab->arena, folder), runs = { 0 };
    for (size_t i = 0; i < in.n; i++)
        if (tg_sv_starts(tg_file_name(tg_sv_of(in.v[i])), TG_SV("run")))
            tg_strs_add(&runs, in.v[i], ab->arena);
    return runs;
}

bool tg_ab_runs_begin(struct tg_ab *ab, struct tg_err *err)
{
    /* What a comparison that is resumed has in common with the one before. */
    TG_BUF plan = { 0 };
    tg_buf_printf(&plan, "%s %s %s\nsetup %s\n", ab->side[TG_AB_BASE].commit.sha,
                  ab->side[TG_AB_HEAD].commit.sha, tg_git_prefix(ab->git),
                  ab->o->setup ? ab->o->setup : "");
    for (size_t i = 0; i < ab->command->n; i++)
        tg_buf_printf(&plan, "%zu %s\n", strlen(ab->command->v[i]), ab->command->v[i]);
    /* The commits are in the names, so that reports show them. */
    const char *out = ab->o->out ? ab->o->out : tg_arena_printf(ab->arena, "%s/traces", ab->tmp);
    TG_FREE char *whole = NULL;
    tg_file_make_dir(out);
    whole = realpath(out, NULL);
    if (!whole || access(whole, W_OK) != 0)
        return tg_err_say(err, TG_ERR_OUTPUT, TG_AT_FILE(out), "the folder of --out cannot be made",
                          "Give one that can be written to.");
    ab->out = tg_arena_sv(ab->arena, tg_sv_of(whole)).p;
    for (size_t s = 0; s < TG_AB_SIDES; s++) {
        struct tg_ab_side *side = &ab->side[s];
        side->first =
            tg_arena_printf(ab->arena, "%s/%s-%.12s", ab->out, side->name, side->commit.sha);
        side->again =
            tg_arena_printf(ab->arena, "%s/again-%s-%.12s", ab->out, side->name, side->commit.sha);
        side->folder = side->first;
    }
    /*
     * A killed `ab` ends before the run that it made, which would share the machine, and the
     * trace, with the next one. The command inherits the lock (tg_ab_run), so it is free once
     * that run has ended.
     */
    if (!ab->lock) {
        ab->lock = open(in_out(ab, "ab.lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (!(ab->lock < 0) && flock(ab->lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            tg_ab_say(ab, "a run of a comparison before is still going in %s: waiting for its end",
                      ab->out);
            (void)flock(ab->lock, LOCK_EX);
        }
    }
    const char *plan_at = in_out(ab, "ab.plan");
    if (ab->o->resume && !tg_sv_eq(tg_ab_read(ab, plan_at), tg_buf_sv(&plan)))
        return tg_err_usage(err,
                            "--resume: '%s' has no runs of this command line and these commits",
                            "Leave --resume out: the runs are then made anew.", ab->out);
    if (!ab->o->resume)
        (void)unlink(in_out(ab, "ab.runs"));
    for (size_t s = 0; s < TG_AB_SIDES; s++)
        for (int again = 0; again < 2; again++) {
            const char *folder = again ? ab->side[s].again : ab->side[s].first;
            struct tg_strs before = runs_in(ab, aside(ab, folder)), runs;
            tg_file_make_dir(folder);
            runs = runs_in(ab, folder);
            if (ab->o->resume) {
                move_all(&runs, ab, aside(ab, folder));
            } else {
                remove_files(&before);
                remove_files(&runs);
            }
        }
    return tg_file_write(plan_at, tg_buf_sv(&plan), err);
}

/* Brings back the traces of a run from before a kill, if they are as ab.runs has them. */
static bool is_kept(struct tg_ab *ab, size_t side, int64_t k, const char *stem)
{
    if (!ab->o->resume || ab->stacks)
        return false;
    struct tg_strs were = files_of(ab, aside(ab, ab->side[side].folder), stem);
    if (!has_trace(&were) || !tg_sv_lists(tg_ab_read(ab, in_out(ab, "ab.runs")), '\n',
                                          tg_sv_of(line_of(ab, side, k, &were))))
        return false;
    move_all(&were, ab, ab->side[side].folder);
    return true;
}

/* ---- a run ---- */

struct run {
    size_t side;
    int64_t k;
    const char *stem, *trace;
    const char *const *argv;
};

/* The command, once more if it fails. False: twice, or it changed what decides. */
static bool make(struct tg_ab *ab, const struct run *r, struct tg_err *err)
{
    const struct tg_ab_side *s = &ab->side[r->side];
    const size_t other = !r->side;
    const char *others = tg_arena_printf(ab->arena, "the worktree of %s", ab->side[other].name);
    const char *why = NULL;
    for (int tried = 0; tried < 2; tried++) {
        int64_t begin = tg_host_ms();
        const char *before = tg_ab_tree(ab, other);
        struct tg_strs files = files_of(ab, s->folder, r->stem);
        remove_files(&files);
        why = tg_ab_run(ab, r->side, r->argv, r->trace);
        bool go = tg_ab_same(ab, others, before, tg_ab_tree(ab, other), err);
        files = files_of(ab, s->folder, r->stem);
        if (why)
            why = tg_arena_printf(ab->arena, "the command failed: %s", why);
        else if (!has_trace(&files))
            why = "the command wrote no trace to $TRACE";
        if (!tried) {
            ab->made_ms += tg_host_ms() - begin;
            ab->n_made++;
        }
        if (!go)
            return false;
        if (!why && tried)
            tg_ab_say(ab, "%s, run %d: the second try went well, and is the one that counts",
                      s->name, (int)r->k);
        if (!why)
            return true;
        if (!tried)
            tg_ab_say(ab, "%s, run %d: %s; it is tried once more", s->name, (int)r->k, why);
    }
    TG_BUF line = { 0 };
    for (const char *const *word = r->argv; *word; word++) {
        tg_buf_putc(&line, ' ');
        tg_buf_quote(&line, *word);
    }
    tg_ab_say(ab, "it was, in %s/%s of commit %.12s:\n    TRACE=%s%s", s->tree,
              tg_git_prefix(ab->git), s->commit.sha, r->trace, line.p);
    (void)tg_err_say(err, TG_ERR_IO, TG_NOWHERE, "%s, run %d: %s (twice)",
                     "Run the command shown above by hand, in a worktree of that commit.", s->name,
                     (int)r->k, why);
    return tg_ab_side_fails(ab, r->side, err);
}

bool tg_ab_run_one(struct tg_ab *ab, size_t side, int64_t k, struct tg_err *err)
{
    /* "/out/base-1234/run03", without its suffix. */
    const char *stem = tg_arena_printf(ab->arena, "%s/run%02d", ab->side[side].folder, (int)k);
    const char *trace = tg_arena_printf(ab->arena, "%s%s", stem, suffix);
    const char **argv = TG_NEW_N(ab->arena, const char *, ab->command->n + 1);
    struct run r = { side, k, stem, trace, argv };
    char sum[65];
    for (size_t i = 0; i < ab->command->n; i++) {
        const char *word = ab->command->v[i];
        TG_BUF out = { 0 };
        for (const char *at; (at = strstr(word, "{trace}")); word = at + 7)
            tg_buf_printf(&out, "%.*s%s", (int)(at - word), word, trace);
        tg_buf_puts(&out, word);
        argv[i] = tg_arena_sv(ab->arena, tg_buf_sv(&out)).p;
    }
    if (!is_kept(ab, side, k, stem) && !make(ab, &r, err))
        return false;
    if (ab->stacks) /* of the causes alone: not judged, and not resumed */
        return true;
    struct tg_strs files = files_of(ab, ab->side[side].folder, stem);
    for (size_t i = 0; i < files.n; i++)
        tg_strs_add(&ab->taken,
                    tg_arena_printf(ab->arena, "%s  %s",
                                    tg_sha256_file(files.v[i], sum) ? sum : "unreadable",
                                    files.v[i]),
                    ab->arena);
    const char *at = in_out(ab, "ab.runs");
    return tg_file_write(at,
                         tg_sv_of(tg_arena_printf(ab->arena, "%s%s\n", tg_ab_read(ab, at).p,
                                                  line_of(ab, side, k, &files))),
                         err);
}

int64_t tg_ab_pair_ms(const struct tg_ab *ab)
{
    int64_t mean = ab->n_made ? 2 * ab->made_ms / ab->n_made : 0;
    return mean > ab->pair_ms ? mean : ab->pair_ms;
}

bool tg_ab_runs_to(struct tg_ab *ab, int64_t n, struct tg_err *err)
{
    for (; ab->k < n; ab->k++) {
        int64_t before = ab->made_ms;
        ab->spent = ab->until && ab->k && tg_host_ms() + tg_ab_pair_ms(ab) > ab->until;
        if (ab->spent)
            return true;
        for (size_t side = 0; side < TG_AB_SIDES; side++) {
            /* "stage 3: run 7 of 11 per side, head; 12.4 s to go; demo::op3 +20.1 % (+19.0 to
             * +21.2 %)" */
            double each = ab->n_made ? (double)ab->made_ms / (double)ab->n_made / 1000 : 0;
            double left = each * (double)(2 * (n - ab->k) - (side == TG_AB_HEAD));
            TG_BUF line = { 0 };
            if (ab->stage)
                tg_buf_printf(&line, "stage %d: ", ab->stage);
            tg_buf_printf(&line, "run %d of %d per side, %s", (int)ab->k + 1, (int)n,
                          ab->side[side].name);
            if (each > 0)
                tg_buf_printf(&line, "; %.1f s to go", left);
            if (ab->suspects)
                tg_buf_printf(&line, "; %s", ab->suspects);
            tg_ab_progress(ab, "%s", line.p);
            if (!tg_ab_run_one(ab, side, ab->k, err))
                return false;
        }
        ab->pair_ms = ab->made_ms - before;
    }
    return true;
}
