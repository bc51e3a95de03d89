/*
 * tracegate-mpi: the summaries of all traces of a job, in parallel. Each process summarises its
 * share of the files; then pairs of processes merge, until the first one has all. Files that a
 * process could not read are named, and the exit code is 4, inconclusive. After --check the first
 * process judges the result, with the options of `tracegate check` that follow.
 *
 *     mpirun -n 8 tracegate-mpi -o all.tgs [--run ID] [--wait SECONDS] TRACE|FOLDER...
 *         [--check ...]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/gate/io.h"
#include "cmd/mpi/mpi.h"
#include "core/base/file.h"
#include "core/base/temporary.h"
#include "core/summary/unite.h"

#define USAGE                                                                                      \
    "usage: mpirun -n N tracegate-mpi -o FILE [--run ID] [--wait SECONDS] TRACE|FOLDER... "        \
    "[--check OPTIONS OF tracegate check...]\n"

struct job {
    struct tg_mpi mpi;
    const char *output, *run;
    double wait; /* seconds for one message */
    const char **path;
    size_t n, cap;
    const char **check; /* "check", the output, and what follows --check; NULL: only merge */
    size_t n_check;
    struct tg_arena *a;
    struct tg_damage lost; /* a line a trace */
};

/* ---- what the signal of a launcher that gives up finds ---- */

static char last_words[1024];
static volatile sig_atomic_t n_last_words;

static void on_term(int signal)
{
    ssize_t put = write(2, last_words, (size_t)n_last_words);
    (void)put;
    (void)signal;
    _exit(4);
}

/* Which processes have not sent theirs yet: if the launcher ends the job now, one of them died. */
static void expect(const struct job *j, int from)
{
    int n = snprintf(last_words, sizeof last_words,
                     "INCONCLUSIVE: the launcher ended the job while process %d was waited for: "
                     "its traces are '%s' and every %d. after it\n",
                     from, (size_t)from < j->n ? j->path[from] : "(none)", j->mpi.size);
    n_last_words = n < (int)sizeof last_words ? n : (int)sizeof last_words - 1;
}

/* ---- one share ---- */

static void lose(struct job *j, const char *path, const char *why)
{
    int64_t rank = tg_file_rank(tg_sv_of(path));
    if (rank >= 0)
        tg_buf_printf(&j->lost.text, "rank %lld: ", (long long)rank);
    tg_buf_printf(&j->lost.text, "%s: %s\n", path, why);
    j->lost.n++;
}

/* Damaged files, and files that cannot be opened, are named in j->lost. */
static bool add_trace(struct job *j, struct tg_summary *s, const char *path, struct tg_err *err)
{
    struct tg_summarize_opts o = { .rank = -1, .run = tg_sv_of(j->run), .damage = &j->lost };
    struct tg_source *source = tg_source_open(path, NULL, err);
    bool ok = source && tg_summary_add(s, source, &o, NULL, err);
    tg_source_close(source);
    if (!ok && err->kind == TG_ERR_IO) {
        lose(j, path, err->message);
        tg_err_init(err);
        return true;
    }
    return ok;
}

/* The stored form of this process's files: every size-th. */
static bool summarize_share(struct job *j, struct tg_buf *out, struct tg_err *err)
{
    TG_AUTO(tg_summary_release) struct tg_summary all;
    bool ok = true;
    tg_summary_init(&all);
    for (size_t i = (size_t)j->mpi.rank; ok && i < j->n; i += (size_t)j->mpi.size) {
        TG_AUTO(tg_summary_release) struct tg_summary one;
        tg_summary_init(&one);
        ok = add_trace(j, &one, j->path[i], err);
        if (ok && one.n == 1)
            tg_summary_compact(&one, &all);
        ok = ok && tg_summary_take(&all, &one, err);
    }
    return ok && tg_summary_write(&all, NULL, out, err);
}

/* ---- merging two ---- */

struct pair {
    const struct tg_buf *in[2];
    struct tg_buf out;
};

static struct tg_source *open_one(void *arg, size_t i, struct tg_err *err)
{
    const struct pair *p = arg;
    return tg_source_memory(tg_buf_sv(p->in[i]), i ? "received" : "own", NULL, err);
}

static bool put(void *arg, tg_sv bytes, struct tg_err *err)
{
    struct pair *p = arg;
    (void)err;
    tg_buf_add(&p->out, bytes);
    return true;
}

static bool merge(struct tg_buf *own, const struct tg_buf *other, struct tg_err *err)
{
    struct pair p = { { own, other }, { 0 } };
    struct tg_unite u = { .n = 2, .open = open_one, .put = put, .arg = &p };
    bool ok = tg_unite_run(&u, err);
    tg_buf_release(own);
    *own = p.out;
    return ok;
}

/* ---- the tree ---- */

/* Two messages: what was lost, and the summaries. If a process is lost, so are those that it had
 * merged. */
static bool take(struct job *j, int from, int step, struct tg_buf *own, struct tg_err *err)
{
    TG_BUF lost = { 0 }, other = { 0 };
    bool there, ok = true;
    expect(j, from);
    there = tg_mpi_receive(&j->mpi, from, j->wait, &lost) &&
            tg_mpi_receive(&j->mpi, from, j->wait, &other);
    if (there) {
        tg_sv lines = tg_buf_sv(&lost);
        while (lines.n)
            tg_damage_say(&j->lost, tg_sv_cut(&lines, '\n'));
        ok = merge(own, &other, err);
    }
    for (int p = from; !there && p < from + step && p < j->mpi.size; p++) {
        const char *why = tg_arena_printf(j->a, "process %d was lost", p);
        for (size_t i = (size_t)p; i < j->n; i += (size_t)j->mpi.size)
            lose(j, j->path[i], why);
    }
    return ok;
}

static bool reduce(struct job *j, struct tg_buf *own, struct tg_err *err)
{
    for (int step = 1; step < j->mpi.size; step *= 2) {
        int rank = j->mpi.rank;
        if (rank % (2 * step)) {
            tg_mpi_send(&j->mpi, rank - step, tg_buf_sv(&j->lost.text));
            tg_mpi_send(&j->mpi, rank - step, tg_buf_sv(own));
            return true;
        }
        if (rank + step < j->mpi.size && !take(j, rank + step, step, own, err))
            return false;
    }
    return true;
}

/* ---- the program ---- */

static int fail(const struct tg_err *err)
{
    TG_BUF text = { 0 };
    tg_err_format(err, &text);
    (void)fprintf(stderr, "tracegate-mpi: %s", text.p);
    return tg_err_exit_code(err->kind);
}

/* A file, or the files of a folder: more than fit on a command line. */
static bool add_path(struct job *j, const char *path)
{
    const char **in = &path;
    size_t n = 1;
    struct tg_err err = TG_ERR_INIT;
    if (tg_file_is_dir(path) && !tg_files_in_dir(path, j->a, &in, &n, &err))
        return false;
    j->path = tg_grow(j->path, &j->cap, j->n + n, sizeof *j->path);
    memcpy(j->path + j->n, in, n * sizeof *in);
    j->n += n;
    return true;
}

static bool parse(struct job *j, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;
        if (strcmp(argv[i], "-o") == 0 && more) {
            j->output = argv[++i];
        } else if (strcmp(argv[i], "--run") == 0 && more) {
            j->run = argv[++i];
        } else if (strcmp(argv[i], "--wait") == 0 && more) {
            j->wait = strtod(argv[++i], NULL);
        } else if (strcmp(argv[i], "--check") == 0) {
            /* The command line of `check`: the merged summary, and what the user adds. */
            size_t n = (size_t)(argc - i - 1);
            j->check = TG_NEW_N(j->a, const char *, n + 2);
            j->n_check = n + 2;
            j->check[0] = "check";
            for (size_t k = 0; k < n; k++)
                j->check[k + 2] = (argv + i + 1)[k];
            break;
        } else if (argv[i][0] == '-' || !add_path(j, argv[i])) {
            return false;
        }
    }
    if (j->check)
        j->check[1] = j->output;
    return j->output && j->n && j->wait > 0;
}

/* The command line of `check`, with what was lost: the verdict is inconclusive at best. */
static const char **check_line(const struct job *j, size_t *n)
{
    const char **v = TG_NEW_N(j->a, const char *, j->n_check + 2 * j->lost.n);
    tg_sv rest = tg_buf_sv(&j->lost.text);
    memcpy(v, j->check, j->n_check * sizeof *v);
    *n = j->n_check;
    for (size_t i = 0; i < j->lost.n; i++) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        v[(*n)++] = "--damaged";
        v[(*n)++] = tg_arena_printf(j->a, "%.*s", TG_SV_ARG(line));
    }
    return v;
}

/* The first process judges. */
static int judge(const struct job *j, const char *const *environment)
{
    struct tg_io io = { .in = 0, .out = 1, .err = 2, .environ_ = environment };
    struct tg_err err = TG_ERR_INIT;
    size_t n;
    const char **line = check_line(j, &n);
    (void)signal(SIGTERM, SIG_DFL);
    tg_signals_watch();
    tg_io_setup(&io, TG_COLOR_DEFAULT);
    int code = tg_cmd_run(line, n, &io, &err);
    if (err.kind != TG_ERR_NONE)
        tg_io_error(&io, &err);
    return code;
}

static int run(struct job *j, const char *const *environment)
{
    TG_BUF own = { 0 };
    struct tg_err err = TG_ERR_INIT;
    int code = 0;
    bool first = j->mpi.rank == 0;
    if (!summarize_share(j, &own, &err) || !reduce(j, &own, &err) ||
        (first && !tg_file_retry_write(j->output, tg_buf_sv(&own), 0, &err)))
        code = fail(&err);
    if (!code && first && j->check)
        code = judge(j, environment);
    if (first && j->lost.n) {
        (void)fprintf(stderr, "INCONCLUSIVE: not in %s:\n%s", j->output, j->lost.text.p);
        code = code ? code : 4;
    }
    return code;
}

int main(int argc, char **argv, char **environment)
{
    struct job j = { .run = "", .wait = 600 };
    int code;
    tg_mpi_start(&j.mpi, &argc, &argv);
    j.a = tg_arena_new();
    if (parse(&j, argc, argv)) {
        if (j.mpi.rank == 0) {
            expect(&j, 0);
            (void)signal(SIGTERM, on_term);
        }
        code = run(&j, (const char *const *)environment);
    } else {
        code = 2;
        if (j.mpi.rank == 0)
            (void)fprintf(stderr, "%s", USAGE);
    }
    tg_damage_release(&j.lost);
    free(j.path);
    tg_arena_free(j.a);
    tg_mpi_end(&j.mpi, code);
    return code;
}
