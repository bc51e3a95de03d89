/*
 * tracegate-mpi: the summaries of all traces of a job, in parallel. Each process summarises its
 * share of the files; then pairs of processes merge, until the first one has all. Files that a
 * process could not read are named, and the exit code is 4, inconclusive. After --check the first
 * process judges the result, with the options of `tracegate check` that follow.
 *
 *     mpirun -n 8 tracegate-mpi -o all.tgs [--run ID] [--wait SECONDS] TRACE|FOLDER...
 *         [--check ...]
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/gate/io.h"
#include "core/base/file.h"
#include "core/base/host.h"
#include "core/base/temporary.h"
#include "core/summary/unite.h"

#define USAGE                                                                                      \
    "usage: mpirun -n N tracegate-mpi -o FILE [--run ID] [--wait SECONDS] TRACE|FOLDER... "        \
    "[--check OPTIONS OF tracegate check...]\n"

struct job {
    int rank, size; /* this process, and how many there are */
    bool silent;    /* a process said nothing in time: the job is ended, not finished */
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
                     from, (size_t)from < j->n ? j->path[from] : "(none)", j->size);
    n_last_words = n < (int)sizeof last_words ? n : (int)sizeof last_words - 1;
}

/* ---- messages ---- */

enum { TAG_SIZE = 1, TAG_BYTES = 2 };

/* MPI counts in int: longer messages are sent in pieces. */
#define PIECE ((uint64_t)1 << 30)

/* Bytes of any length. */
static void send_to(int to, tg_sv bytes)
{
    uint64_t n = bytes.n;
    (void)MPI_Send(&n, 1, MPI_UINT64_T, to, TAG_SIZE, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < n; at += PIECE)
        (void)MPI_Send(bytes.p + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE, to,
                       TAG_BYTES, MPI_COMM_WORLD);
}

/* Waits without spinning, two milliseconds between looks, and not for ever: false. */
static bool receive_part(void *to, int n, MPI_Datatype type, int from, int tag, double until)
{
    MPI_Request request;
    int done = 0;
    if (MPI_Irecv(to, n, type, from, tag, MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return false;
    while (!done) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            return false;
        if (done)
            break;
        if ((double)tg_host_ms() > until) {
            (void)MPI_Cancel(&request);
            (void)MPI_Request_free(&request);
            return false;
        }
        struct timespec t = { 0, 2 * 1000000 };
        (void)nanosleep(&t, NULL);
    }
    return true;
}

/* False after `j->wait` seconds without a whole message. */
static bool receive(struct job *j, int from, struct tg_buf *out)
{
    double until = (double)tg_host_ms() + 1000 * j->wait;
    uint64_t n;
    bool ok = receive_part(&n, 1, MPI_UINT64_T, from, TAG_SIZE, until);
    tg_buf_clear(out);
    for (uint64_t at = 0; ok && at < n; at += PIECE) {
        int piece = (int)(n - at < PIECE ? n - at : PIECE);
        ok = receive_part(tg_buf_room(out, (size_t)piece), piece, MPI_BYTE, from, TAG_BYTES, until);
        out->n += ok ? (size_t)piece : 0;
    }
    j->silent |= !ok;
    return ok;
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

/* The stored form of this process's files: every size-th. Damaged files, and files that cannot be
 * opened, are named in j->lost. */
static bool summarize_share(struct job *j, struct tg_buf *out, struct tg_err *err)
{
    TG_AUTO(tg_summary_release) struct tg_summary all;
    bool ok = true;
    tg_summary_init(&all);
    for (size_t i = (size_t)j->rank; ok && i < j->n; i += (size_t)j->size) {
        struct tg_summarize_opts o = { .rank = -1, .run = tg_sv_of(j->run), .damage = &j->lost };
        TG_AUTO(tg_summary_release) struct tg_summary one;
        tg_summary_init(&one);
        TG_SOURCE *source = tg_source_open(j->path[i], NULL, err);
        ok = source && tg_summary_add(&one, source, &o, NULL, err);
        if (!ok && err->kind == TG_ERR_IO) {
            lose(j, j->path[i], err->message);
            tg_err_init(err);
            ok = true;
        }
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
    there = receive(j, from, &lost) && receive(j, from, &other);
    if (there) {
        tg_sv lines = tg_buf_sv(&lost);
        while (lines.n)
            tg_damage_say(&j->lost, tg_sv_cut(&lines, '\n'));
        ok = merge(own, &other, err);
    }
    for (int p = from; !there && p < from + step && p < j->size; p++) {
        const char *why = tg_arena_printf(j->a, "process %d was lost", p);
        for (size_t i = (size_t)p; i < j->n; i += (size_t)j->size)
            lose(j, j->path[i], why);
    }
    return ok;
}

static bool reduce(struct job *j, struct tg_buf *own, struct tg_err *err)
{
    for (int step = 1; step < j->size; step *= 2) {
        int rank = j->rank;
        if (rank % (2 * step)) {
            send_to(rank - step, tg_buf_sv(&j->lost.text));
            send_to(rank - step, tg_buf_sv(own));
            return true;
        }
        if (rank + step < j->size && !take(j, rank + step, step, own, err))
            return false;
    }
    return true;
}

/* ---- the program ---- */

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
        } else {
            /* A file, or the files of a folder: more than fit on a command line. */
            const char *path = argv[i], **in = &path;
            size_t n = 1;
            struct tg_err ignored = TG_ERR_INIT;
            if (path[0] == '-' ||
                (tg_file_is_dir(path) && !tg_files_in_dir(path, j->a, &in, &n, &ignored)))
                return false;
            j->path = tg_grow(j->path, &j->cap, j->n + n, sizeof *j->path);
            memcpy(j->path + j->n, in, n * sizeof *in);
            j->n += n;
        }
    }
    if (j->check)
        j->check[1] = j->output;
    return j->output && j->n && j->wait > 0;
}

/* The first process judges, by the command line of `check` with what was lost: the verdict is
 * inconclusive at best. */
static int judge(const struct job *j, const char *const *environment)
{
    struct tg_io io = { .in = 0, .out = 1, .err = 2, .environ_ = environment };
    struct tg_err err = TG_ERR_INIT;
    const char **line = TG_NEW_N(j->a, const char *, j->n_check + 2 * j->lost.n);
    size_t n = j->n_check;
    tg_sv rest = tg_buf_sv(&j->lost.text);
    memcpy(line, j->check, n * sizeof *line);
    for (size_t i = 0; i < j->lost.n; i++) {
        line[n++] = "--damaged";
        line[n++] = tg_arena_sv(j->a, tg_sv_cut(&rest, '\n')).p;
    }
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
    TG_BUF own = { 0 }, text = { 0 };
    struct tg_err err = TG_ERR_INIT;
    int code = 0;
    bool first = j->rank == 0;
    if (!summarize_share(j, &own, &err) || !reduce(j, &own, &err) ||
        (first && !tg_file_retry_write(j->output, tg_buf_sv(&own), 0, &err))) {
        tg_err_format(&err, &text);
        (void)fprintf(stderr, "tracegate-mpi: %s", text.p);
        code = tg_err_exit_code(err.kind);
    }
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
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &j.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &j.size);
    j.a = tg_arena_new();
    if (parse(&j, argc, argv)) {
        if (j.rank == 0) {
            expect(&j, 0);
            (void)signal(SIGTERM, on_term);
        }
        code = run(&j, (const char *const *)environment);
    } else {
        code = 2;
        if (j.rank == 0)
            (void)fprintf(stderr, "%s", USAGE);
    }
    tg_damage_release(&j.lost);
    free(j.path);
    tg_arena_free(j.a);
    (void)fflush(NULL);
    if (j.silent) /* MPI's own end would wait for the lost process */
        (void)MPI_Abort(MPI_COMM_WORLD, code);
    (void)MPI_Finalize();
    return code;
}
