/* tracegate bisect: which commit between a good and a bad one made it slower. Commits along first
 * parents are tried in worktrees; the user's own checkout is not touched. */
#include <stdlib.h>

#include "cmd/ab.h"
#include "core/base/doc.h"
#include "core/base/utf8.h"
#include "core/baseline/git.h"
#include "reporters/escape.h"

struct tg_bisect_opts {
    const char *good, *bad, *setup, *policy, *suite, *out;
    int64_t runs, max_runs;
    bool trust_repository, only_head;
};

enum tg_bisect_answer {
    TG_BISECT_UNTESTED,
    TG_BISECT_GOOD,
    TG_BISECT_BAD,
    TG_BISECT_SKIP, /* does not build, does not run, or stays inconclusive */
    TG_BISECT_ERROR /* err is set: the good side does not run, or a mistake of ours */
};

struct candidate {
    struct tg_commit commit;
    enum tg_bisect_answer answer;
};

/* What one commit's test is: `ab` with the good commit as its base (ab.h). Its stages end at once
 * where the program does more than before, and ask again where it looks slower. If the bad commit's
 * end in the first stage, so do those of the others, and no time is asked. */
struct search {
    const struct tg_bisect_opts *o;
    struct tg_ab ab; /* its base is the good commit, its head the one that is tested */
    struct tg_ab_opts ab_opts;
    struct tg_strs rules; /* --policy, --suite, for check */
    struct tg_commit good;
    struct candidate *v; /* after the good commit, oldest first; the last is the bad one */
    size_t n, tested;
    struct tg_buf out;
};

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_bisect_opts, member)
static const struct tg_opt bisect_options[] = {
    { "good", AT(STR, good), "REV",
      "a commit before the change, with which the others are compared" },
    { "bad", AT(STR, bad), "REV", "a commit after the change; default: HEAD" },
    { "once", AT(INT, runs), "N",
      "one look at N runs a side, and at twice as many while undecided, instead of stages" },
    { "max-runs", AT(INT, max_runs), "N",
      "runs a side after which an undecided commit is skipped; default: 17, with --once 20" },
    { "setup", AT(STR, setup), "CMD",
      "bash, once for each commit before its runs (build, link the data); a commit in which it "
      "fails is skipped" },
    { "policy", AT(STR, policy), "FILE",
      "the rules; default: .tracegate.yml here or above, else the built-in ones" },
    { "suite", AT(STR, suite), "NAME", "the suite of the policy that the traces belong to" },
    { "out", AT(STR, out), "DIR",
      "keep the JSON report of each commit tested, as DIR/COMMIT.json" },
    { "only-head", AT(FLAG, only_head), NULL,
      "only HEAD, for `git bisect run`: exit code 0 good, 1 bad, 125 skip, 128 and more stop" },
    { "trust-repository", AT(FLAG, trust_repository), NULL,
      "open the git repository although another user owns it" },
    { 0 },
};

/* ---- one commit ---- */

/* `why` in the arena: the verdict's headline, or what failed. */
static enum tg_bisect_answer test_commit(struct search *s, const struct tg_commit *c, tg_sv *why,
                                         struct tg_err *err)
{
    struct tg_ab *ab = &s->ab;
    const char *report =
        tg_arena_printf(ab->arena, "%s/%.12s.json", s->o->out ? s->o->out : ab->tmp, c->sha);
    struct tg_strs *check = &s->ab_opts.check;
    struct tg_err ignored = TG_ERR_INIT;
    *check = s->rules;
    tg_ab_add_option(ab, check, "--json", report);
    tg_strs_add(check, "--quiet", ab->arena);
    if (s->o->trust_repository)
        tg_strs_add(check, "--trust-repository", ab->arena);
    ab->side[TG_AB_HEAD].commit = *c;
    ab->side[TG_AB_HEAD].made = NULL;
    ab->code = 0;
    bool prepared = tg_ab_prepare(ab, err); /* both sides */
    int code = prepared ? tg_ab_compare(ab, err) : tg_err_exit_code(err->kind);
    if (err->kind != TG_ERR_NONE && code != 1) {
        /* What an error of ours says of the commit: it cannot be tested, or nothing can. */
        bool skip = ab->code == TG_AB_SKIP || (!ab->code && code == 3 && prepared);
        if (!skip)
            return TG_BISECT_ERROR;
        *why = TG_SV_PRINTF(ab->arena, "%s", err->message);
        tg_err_init(err);
        return TG_BISECT_SKIP;
    }
    s->ab_opts.base_ran = true;
    TG_AUTO(tg_doc_drop)
    struct tg_doc *d = tg_doc_parse(tg_ab_read(ab, report), report, &ignored);
    *why = tg_arena_sv(ab->arena, tg_doc_str(tg_doc_get(d, "headline"), TG_SV("")));
    if (code > 1)
        *why = TG_SV_PRINTF(ab->arena, "undecided after %d runs per side: %.*s", (int)ab->k,
                            TG_SV_ARG(*why));
    if (code == 0 && s->ab_opts.calls)
        *why = TG_SV("the first run of each side does not fail, as it does at the bad commit");
    return code == 0 ? TG_BISECT_GOOD : code == 1 ? TG_BISECT_BAD : TG_BISECT_SKIP;
}

/* ---- the line of commits ---- */

static bool find_line(struct search *s, const struct tg_commit *bad, struct tg_err *err)
{
    struct tg_commit at = *bad, next;
    size_t cap = 0;
    bool cut;
    while (strcmp(at.sha, s->good.sha) != 0) {
        *TG_PUSH(s->v, s->n, cap) = (struct candidate){ .commit = at };
        switch (tg_git_step_back(s->ab.git, at.sha, s->ab.arena, &next, &cut, err)) {
        case TG_SEEN_FAILED:
            return false;
        case TG_ABSENT:
            return tg_err_usage(err,
                                "commit %.12s (good) is not among the first parents of %.12s (bad)",
                                "Give the good commit of the line that `tracegate history` "
                                "follows; in a shallow clone fetch more of it (fetch-depth: 0).",
                                s->good.sha, bad->sha);
        case TG_SEEN:
            at = next;
        }
    }
    for (size_t i = 0, k = s->n; i + 1 < k; i++) {
        struct candidate c = s->v[i];
        s->v[i] = s->v[--k];
        s->v[k] = c;
    }
    if (s->n)
        return true;
    return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "the good and the bad commit are the same");
}

/* ---- output ---- */

static void put_commit(struct search *s, const struct tg_commit *c)
{
    tg_buf_printf(&s->out, "%.12s  ", c->sha);
    tg_esc_terminal(&s->out, tg_utf8_prefix(c->summary, 72));
}

/* What is known so far is printed at once: a bisection takes its time. */
static bool flush(struct search *s, struct tg_err *err)
{
    bool ok = tg_io_put(s->ab.io, tg_buf_sv(&s->out), err);
    tg_buf_clear(&s->out);
    return ok;
}

/* ---- the search ---- */

static bool test(struct search *s, struct candidate *c, struct tg_err *err)
{
    static const char *const word[] = { "untested", "good", "bad", "skip" };
    tg_sv why = TG_SV("");
    if (!s->o->only_head)
        tg_io_note(s->ab.io, "testing %.12s, %zu of %zu commits", c->commit.sha,
                   (size_t)(c - s->v) + 1, s->n);
    c->answer = test_commit(s, &c->commit, &why, err);
    s->tested++;
    if (c->answer == TG_BISECT_ERROR)
        return false;
    tg_buf_printf(&s->out, "%-5s ", word[c->answer]);
    put_commit(s, &c->commit);
    TG_PUT(&s->out, tg_esc_terminal, "\n      {}\n", tg_utf8_prefix(why, 200));
    return flush(s, err);
}

/* The untested commit of (good, bad) nearest to the middle; `bad`: none is left. */
static size_t next_of(const struct search *s, size_t good, size_t bad)
{
    size_t middle = good + (bad - good) / 2;
    for (size_t d = 0; d <= bad - good; d++) {
        if (middle + d < bad && s->v[middle + d].answer == TG_BISECT_UNTESTED)
            return middle + d;
        if (middle >= good + d && s->v[middle - d].answer == TG_BISECT_UNTESTED)
            return middle - d;
    }
    return bad;
}

/* v[from..to] are the commits that may be it. */
static int tell(struct search *s, size_t from, size_t to)
{
    const struct tg_commit *c = &s->v[to].commit;
    if (from == to) {
        tg_buf_puts(&s->out, "\nfirst bad commit: ");
        put_commit(s, c);
        TG_PUT(&s->out, tg_esc_terminal, "\n  author {}", c->author);
        tg_buf_printf(&s->out, "\n  commit %s\n  %zu of %zu commits tested\n", c->sha, s->tested,
                      s->n);
        return 0;
    }
    tg_buf_printf(&s->out, "\none of these %zu commits, of which all but the last were skipped:\n",
                  to - from + 1);
    for (size_t i = from; i <= to; i++) {
        tg_buf_puts(&s->out, "  ");
        put_commit(s, &s->v[i].commit);
        tg_buf_putc(&s->out, '\n');
    }
    return 4;
}

/* The exit code; -1 with err set. */
static int search(struct search *s, struct tg_err *err)
{
    size_t good = 0, bad = s->n - 1, i; /* untested: v[good..bad) */
    int code;
    if (!test(s, &s->v[bad], err))
        return -1;
    if (s->v[bad].answer != TG_BISECT_BAD) {
        tg_buf_printf(&s->out,
                      s->v[bad].answer == TG_BISECT_GOOD
                          ? "\n%.12s is not slower than %.12s here: nothing to search\n"
                          : "\n%.12s cannot be compared with %.12s here (above: why): whether it "
                            "is slower is not known, and nothing was searched. Give a --bad commit "
                            "that runs, or more runs.\n",
                      s->v[bad].commit.sha, s->good.sha);
        code = 4;
    } else {
        s->ab_opts.calls = s->ab.stage == 1; /* only calls are final in the first stage */
        while ((i = next_of(s, good, bad)) < bad) {
            if (!test(s, &s->v[i], err))
                return -1;
            if (s->v[i].answer == TG_BISECT_GOOD)
                good = i + 1;
            else if (s->v[i].answer == TG_BISECT_BAD)
                bad = i;
        }
        code = tell(s, good, bad);
    }
    return flush(s, err) ? code : -1;
}

/* ---- the command ---- */

static bool check_options(const struct tg_bisect_opts *o, const struct tg_strs *args,
                          struct tg_err *err)
{
    if (!o->good || !args->n)
        return tg_err_usage(err, "bisect needs %s",
                            "For example: tracegate bisect --good v1.2 --bad HEAD --setup 'make' "
                            "-- python3 bench.py {trace}",
                            o->good ? "a command that makes a trace" : "--good REV");
    if (tg_ab_is_count(o->runs) && tg_ab_is_count(o->max_runs) &&
        (o->runs == TG_OPT_UNSET || o->max_runs == TG_OPT_UNSET || o->max_runs >= o->runs))
        return true;
    return tg_err_usage(
        err, "--once and --max-runs are numbers from 1 to 999, the second not below the first",
        "Five runs a side detect smaller changes than three.");
}

static int bisect_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct tg_bisect_opts o = *(const struct tg_bisect_opts *)c->opts;
    struct search s = {
        .o = &o,
        .ab = { .command = c->args, .io = c->io, .arena = c->arena, .call = c },
        .ab_opts = { .setup = o.setup, .runs = o.runs, .max_runs = o.max_runs, .bisect = true }
    };
    static const int answers[] = {
        [TG_BISECT_GOOD] = 0, [TG_BISECT_BAD] = 1, [TG_BISECT_SKIP] = 125
    };
    struct candidate head = { .answer = TG_BISECT_UNTESTED }; /* the bad one, or HEAD */
    int code = -1;
    c->repo->opts.trust_owner = o.trust_repository;
    s.ab.o = &s.ab_opts;
    tg_ab_add_option(&s.ab, &s.rules, "--policy", o.policy);
    tg_ab_add_option(&s.ab, &s.rules, "--suite", o.suite);
    s.ab_opts.check = s.rules;
    if (check_options(&o, c->args, err) && (s.ab.git = tg_repo_get(c->repo, err)) &&
        tg_git_resolve(s.ab.git, o.good, c->arena, &s.good, err) &&
        tg_git_resolve(s.ab.git, o.bad && !o.only_head ? o.bad : "HEAD", c->arena, &head.commit,
                       err) &&
        (o.only_head || find_line(&s, &head.commit, err)) && tg_ab_plan(&s.ab, &s.ab_opts, err)) {
        s.ab.side[TG_AB_BASE].commit = s.good;
        if (tg_ab_begin(&s.ab, err)) /* a folder for it; tg_ab_end removes it and the worktrees */
            code = !o.only_head           ? search(&s, err)
                   : test(&s, &head, err) ? answers[head.answer]
                                          : -1;
    }
    tg_ab_end(&s.ab);
    tg_buf_release(&s.out);
    free(s.v);
    if (code >= 0)
        return code;
    /* `git bisect run` takes 1 to 127 for an answer about the commit. */
    return tg_err_exit_code(err->kind) + (o.only_head ? 128 : 0);
}

const struct tg_cmd tg_cmd_bisect = {
    .name = "bisect",
    .summary = "find the commit between a good and a bad one that made it slower",
    .synopsis = "--good REV [--bad REV] [options] -- COMMAND [ARG…]",
    .about = "Tries the commits along first parents between the good one and the bad one, the "
             "middle one first. Each is checked out into a folder of its own, beside the good one; "
             "COMMAND runs in both in turn, on this machine, and writes one trace to \"$TRACE\", a "
             "path that ends in .json.gz (also given as {trace} in an argument). The rules of "
             "check decide whether it is good or bad, in the stages of `tracegate ab`.\n\n"
             "A commit that does not build, does not run, or stays inconclusive is skipped, and "
             "its neighbour is tried. The exit code is 0 if one commit is found, 4 if several are "
             "left, or the bad one is not slower here or cannot be compared.\n\n"
             "  tracegate bisect --good 3a134ca --bad 3861a99 --setup 'make ext' -- python3 "
             "bench.py {trace}\n"
             "\n"
             "With --only-head it answers for HEAD alone: git bisect start BAD GOOD && git bisect "
             "run tracegate bisect --only-head --good GOOD -- python3 bench.py {trace}",
    .answers_bisect = "only-head",
    .options = bisect_options,
    /* tracegate-ab --bisect --base REV */
    .was = (const struct tg_opt_was[]){ { "base", "good" },
                                        { "bisect", "only-head" },
                                        { "step", "only-head" },
                                        { "runs", "once" },
                                        { 0 } },
    .opts_size = sizeof(struct tg_bisect_opts),
    .run = bisect_run,
};
