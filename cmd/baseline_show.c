/* tracegate baseline list and show. */
#include <inttypes.h>
#include <math.h>
#include <time.h>

#include "cmd/baseline.h"
#include "cmd/gate/nights.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "core/baseline/git.h"
#include "core/summary/fit.h"
#include "reporters/escape.h"
#include "reporters/number.h"

/* ---- list ---- */

bool tg_store_cmd_listed(struct tg_store_cmd *s, struct tg_stored **v, size_t *n, size_t *foreign,
                         struct tg_err *err)
{
    *foreign = 0;
    if (s->o->remote)
        return tg_remote_list(s->git, &s->remote, tg_store_cmd_suite(s), s->arena, v, n, err);
    return tg_store_list(&s->store, tg_store_cmd_suite(s), NULL, s->arena, v, n, foreign, err);
}

/* The runs of one commit. */
struct listed_commit {
    struct tg_stored_night runs;
    struct tg_commit at; /* date 0: not in this clone */
    int64_t order;       /* its date, or, on the line of first parents, that of an older commit */
    double step_ns;      /* NAN: unknown */
    const char *why;     /* a run cannot be read; NULL: all can */
    struct tg_arena *a;
};

/* By suite, the oldest first; commits that are not here first, because nobody knows their date. */
static int by_history(const void *x, const void *y)
{
    const struct listed_commit *a = x, *b = y;
    int c = tg_sv_cmp(a->runs.v->suite, b->runs.v->suite);
    c = c ? c : TG_CMP(a->order, b->order);
    return c ? c : strcmp(a->runs.v->commit, b->runs.v->commit);
}

/* Dates may be wrong (rebases, clocks): on the line of first parents of HEAD each commit comes
 * after its parent. `oldest` is the date of the oldest stored commit: the walk ends with it. */
static bool order_line(struct tg_store_cmd *s, struct listed_commit *v, size_t n, int64_t oldest,
                       struct tg_err *err)
{
    enum { SLACK = 1000 }; /* commits beyond the oldest date: dates may be wrong there too */
    TG_AUTO(tg_strmap_release) struct tg_strmap line = { 0 }; /* of commits, HEAD first */
    TG_FREE int64_t *order = NULL;                            /* of each */
    struct tg_commit at, next;
    size_t cap = 0, k = 0, beyond = 0;
    bool cut;
    enum tg_seen back = n ? tg_git_ref(s->git, "HEAD", at.sha, err) : TG_ABSENT;
    if (back == TG_SEEN)
        back = tg_git_commit(s->git, at.sha, s->arena, &at, err);
    while (back == TG_SEEN && beyond < SLACK) {
        (void)tg_strmap_add(&line, tg_sv_of(at.sha));
        *TG_PUSH(order, k, cap) = at.date;
        beyond += at.date < oldest;
        back = tg_git_step_back(s->git, at.sha, s->arena, &next, &cut, err);
        at = next;
    }
    for (size_t i = k; i-- > 1;)
        if (order[i - 1] <= order[i])
            order[i - 1] = order[i] + 1;
    for (size_t i = 0; i < n; i++) {
        uint32_t place = tg_strmap_find(&line, tg_sv_of(v[i].at.sha));
        if (place != TG_NO_ID)
            v[i].order = order[place];
    }
    return back != TG_SEEN_FAILED;
}

static void take_step(void *arg, size_t i, const struct tg_side *side, bool damaged,
                      const struct tg_err *why)
{
    struct listed_commit *v = arg;
    if (damaged)
        v[i].why = tg_arena_printf(v[i].a, "%s", why->message);
    if (side)
        v[i].step_ns = tg_night_step_ns(side);
}

/* The commits of v[0..n), sorted by place, and the date of the oldest. */
static bool commits_of(struct tg_store_cmd *s, const struct tg_stored *v, size_t n,
                       struct listed_commit *out, size_t *n_out, int64_t *oldest,
                       struct tg_err *err)
{
    size_t end, k = 0;
    *oldest = INT64_MAX;
    for (size_t i = 0; i < n; i = end) {
        for (end = i; end < n && tg_sv_eq(v[end].suite, v[i].suite) &&
                      strcmp(v[end].commit, v[i].commit) == 0;)
            end++;
        out[k] =
            (struct listed_commit){ .runs = { &v[i], end - i }, .step_ns = NAN, .a = s->arena };
        enum tg_seen seen = tg_git_commit(s->git, v[i].commit, s->arena, &out[k].at, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_ABSENT)
            out[k].at = (struct tg_commit){ 0 };
        else if (out[k].at.date < *oldest)
            *oldest = out[k].at.date;
        out[k].order = out[k].at.date;
        k++;
    }
    *n_out = k;
    return true;
}

/* One line per commit, in the order of history: date, commit, runs, step time, suite, subject. */
bool tg_baseline_list(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_stored *v;
    size_t n, foreign, k, unread = 0;
    int64_t oldest;
    if (!tg_store_cmd_listed(s, &v, &n, &foreign, err))
        return false;
    struct listed_commit *commits = TG_NEW_N(s->arena, struct listed_commit, n + 1);
    if (!commits_of(s, v, n, commits, &k, &oldest, err))
        return false;
    if (!s->o->remote) { /* reads every run that is stored here: a millisecond each */
        struct tg_stored_night *nights = TG_NEW_N(s->arena, struct tg_stored_night, k + 1);
        struct tg_progress_line progress;
        for (size_t i = 0; i < k; i++)
            nights[i] = commits[i].runs;
        tg_progress_start(&progress, s->io);
        bool ok = tg_nights_each(&s->store, nights, k, take_step, commits, &progress.line, err);
        tg_progress_end(&progress);
        if (!ok)
            return false;
    }
    if (!order_line(s, commits, k, oldest, err))
        return false;
    TG_SORT(commits, k, by_history);
    for (size_t i = 0; i < k; i++) {
        const struct listed_commit *c = &commits[i];
        char text[32];
        time_t t = (time_t)c->at.date;
        struct tm tm;
        if (c->at.date && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%Y-%m-%d", &tm))
            tg_buf_printf(&s->out, "%s", text);
        else
            tg_buf_puts(&s->out, "not-here  ");
        tg_buf_printf(&s->out, "  %s  %zu run%s  ", c->runs.v->commit, c->runs.n,
                      tg_plural(c->runs.n));
        if (!s->o->remote)
            tg_buf_printf(&s->out, "step %s  ",
                          isnan(c->step_ns) ? "unknown" : TG_AS(tg_dec_put_human_ns, c->step_ns));
        tg_buf_printf(&s->out, "%.*s%s", TG_SV_ARG(c->runs.v->suite), c->at.summary.n ? "  " : "");
        TG_PUT(&s->out, tg_esc_terminal, "{}\n", tg_utf8_prefix(c->at.summary, 72));
    }
    for (size_t i = 0; i < k; i++)
        if (commits[i].why) {
            tg_io_note(s->io, "a run of %.12s cannot be read: %s", commits[i].runs.v->commit,
                       commits[i].why);
            unread++;
        }
    if (foreign)
        tg_io_note(s->io, "%zu ref%s below " TG_STORE_PREFIX " are not of the store's form",
                   foreign, tg_plural(foreign));
    if (!n)
        tg_io_note(s->io, "nothing is stored %s", s->o->remote ? "there" : "in this clone");
    return !unread ||
           tg_err_say(err, TG_ERR_SUMMARY, TG_NOWHERE, "%zu commit%s a run that cannot be read",
                      "Record the commit again, or delete the run with `git update-ref "
                      "-d`; a newer tracegate may have written it.",
                      unread, unread == 1 ? " has" : "s have");
}

/* ---- show ---- */

/* The sum of the runs of one commit: the step, and the rows that take most of it. */
struct shown_night {
    struct tg_store_cmd *s;
    struct tg_series_table series;
};

static int by_plain(const void *x, const void *y)
{
    const struct tg_history_value *a = x, *b = y;
    int c = TG_CMP(b->plain, a->plain);
    return c ? c : TG_CMP(a->series, b->series);
}

static void take_shown(void *arg, size_t i, const struct tg_side *side, bool damaged,
                       const struct tg_err *why)
{
    enum { ROWS = 10 };
    struct shown_night *w = arg;
    struct tg_store_cmd *s = w->s;
    struct tg_night night = { 0 };
    size_t rows = 0;
    (void)i;
    if (!side) {
        tg_io_note(s->io, "%s: %s",
                   damaged ? "a run cannot be read" : "the runs do not fit together", why->message);
        return;
    }
    tg_night_metric(&night, side, &w->series, s->arena);
    double step = tg_night_step_ns(side);
    tg_buf_printf(&s->out, "  step %s; self time, part of it and calls a step of the largest:\n",
                  isnan(step) ? "unknown" : TG_AS(tg_dec_put_human_ns, step));
    TG_SORT(night.v, night.n, by_plain);
    for (size_t k = 0; k < night.n && rows < ROWS; k++) {
        const struct tg_history_value *v = &night.v[k];
        const struct tg_series *x = &w->series.v[v->series];
        if (!tg_series_is_name(x) || !(v->plain > 0))
            continue;
        tg_buf_printf(&s->out, "  %10s  %4.1f %%  ", TG_AS(tg_dec_put_human_ns, v->plain),
                      night.step_ns > 0 ? 100 * v->plain / night.step_ns : 0);
        if (isnan(v->calls))
            tg_buf_printf(&s->out, "  varies  %-10s", tg_kind_name(x->kind));
        else
            tg_buf_printf(&s->out, "%6.6gx   %-10s", v->calls, tg_kind_name(x->kind));
        TG_PUT(&s->out, tg_esc_terminal, "  {}\n", tg_utf8_prefix(x->name, 80));
        rows++;
    }
}

/* The runs v[0..n) of one commit and suite. */
static bool show_runs(struct tg_store_cmd *s, const struct tg_stored *v, size_t n,
                      struct tg_summary *all, size_t *shown, struct tg_err *err)
{
    struct tg_git_files files;
    if (!tg_store_files_of(&s->store, v, n, s->arena, &files, err))
        return false;
    tg_buf_printf(&s->out, "%s  %.*s\n", v->commit, TG_SV_ARG(v->suite));
    for (size_t i = 0; i < files.n; i++) {
        const struct tg_git_file *f = &files.v[i];
        TG_BUF bytes = { 0 };
        TG_AUTO(tg_summary_release) struct tg_summary one;
        tg_summary_init(&one);
        bool ok_run = tg_store_read(&s->store, f, &bytes, err) &&
                      tg_summary_parse(&one, tg_buf_sv(&bytes), f->path.p, err);
        if (ok_run)
            tg_buf_printf(&s->out, "  %.*s  %zu bytes\n", TG_SV_ARG(f->path),
                          tg_packed_size(tg_buf_sv(&bytes)));
        for (size_t k = 0; ok_run && k < one.n; k++) {
            const struct tg_shard *shard = one.shards[k];
            if (shard->steps_only) {
                tg_buf_printf(&s->out, "    rank %" PRId64 "  %zu step%s  step times only\n",
                              shard->rank, shard->n_steps, tg_plural(shard->n_steps));
                continue;
            }
            tg_sv device = tg_shard_env(shard, "device"), torch = tg_shard_env(shard, "torch");
            device = device.n ? device : TG_SV("unknown");
            torch = torch.n ? torch : TG_SV("unknown");
            if (shard->rank < 0)
                tg_buf_puts(&s->out, "    rank none");
            else
                tg_buf_printf(&s->out, "    rank %" PRId64, shard->rank);
            tg_buf_printf(&s->out, "  %zu step%s  %" PRIu64 " spans  device %.*s  torch %.*s\n",
                          shard->n_steps, tg_plural(shard->n_steps), shard->spans,
                          TG_SV_ARG(device), TG_SV_ARG(torch));
        }
        if (!ok_run || !tg_summary_merge(all, &one, err))
            return false;
    }
    *shown += files.n;
    struct shown_night w = { .s = s };
    struct tg_stored_night night = { v, n };
    tg_series_init(&w.series);
    bool ok = tg_nights_each(&s->store, &night, 1, take_shown, &w, NULL, err);
    tg_series_release(&w.series);
    return ok;
}

bool tg_baseline_show(struct tg_store_cmd *s, struct tg_err *err)
{
    struct tg_commit at;
    TG_AUTO(tg_summary_release) struct tg_summary all;
    TG_BUF bytes = { 0 };
    size_t shown = 0, n = 0, suites = 0, end;
    struct tg_stored *v;
    bool ok = tg_store_cmd_commit(s, &at, err) &&
              tg_store_list(&s->store, tg_store_cmd_suite(s), at.sha, s->arena, &v, &n, NULL, err);
    tg_summary_init(&all);
    for (size_t i = 0; ok && i < n; i = end) {
        for (end = i; end < n && tg_sv_eq(v[end].suite, v[i].suite);)
            end++;
        suites++;
        ok = show_runs(s, v + i, end - i, &all, &shown, err);
    }
    if (ok && !shown) {
        ok = tg_err_say(err, TG_ERR_LOST, TG_NOWHERE, "nothing is stored at commit %.12s",
                        "`tracegate baseline list` shows what is; `tracegate baseline fetch` gets "
                        "what the remote has.",
                        at.sha);
    }
    if (ok && s->o->output && suites > 1)
        ok = tg_err_usage(err, "-o writes one suite's runs, not %zu", "Add --suite NAME.", suites);
    return ok && (!s->o->output || (tg_summary_write(&all, NULL, &bytes, err) &&
                                    tg_file_write(s->o->output, tg_buf_sv(&bytes), err)));
}
