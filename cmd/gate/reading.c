#include "cmd/gate/reading.h"

#include <inttypes.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "core/base/arena.h"
#include "core/base/threads.h"

static struct {
    unsigned threads;
    bool asked; /* for so many threads: by a command that may run another one */
    const char *isa;
    size_t part;
} reading = { .threads = 1 };

bool tg_reading_setup(int64_t threads, const char *isa, const char *part, struct tg_err *err)
{
    int64_t bytes;
    reading.isa = isa;
    if (part && tg_sv_i64(tg_sv_of(part), &bytes) && bytes > 0)
        reading.part = (size_t)bytes;
    if (threads == TG_OPT_UNSET) {
        reading.threads = reading.asked ? reading.threads : tg_threads_default();
        return true;
    }
    if (threads >= 1 && threads <= TG_THREADS_MAX) {
        reading.threads = (unsigned)threads;
        reading.asked = true;
        return true;
    }
    return tg_err_usage(err, "--threads needs a number from 1 to %u, not %" PRId64,
                        "Leave it out to use the cores that this process may use.", TG_THREADS_MAX,
                        threads);
}

struct each {
    tg_reading_task *task;
    void *arg;
    const struct tg_progress *progress;
    struct tg_err *err; /* one per file */
};

static void tell_files(const struct each *e, int64_t change)
{
    if (e->progress && e->progress->files)
        e->progress->files(e->progress->arg, change);
}

static bool run_task(void *arg, size_t i)
{
    const struct each *e = arg;
    bool ok = e->task(e->arg, i, &e->err[i]);
    tell_files(e, -1);
    return ok;
}

bool tg_reading_each(size_t n, tg_reading_task *task, void *arg, const struct tg_progress *progress,
                     struct tg_err *err)
{
    struct each e = { task, arg, progress, tg_xrealloc(NULL, n, sizeof *err) };
    size_t i;
    tell_files(&e, (int64_t)n);
    for (i = 0; i < n; i++)
        tg_err_init(&e.err[i]);
    tg_each(reading.threads, n, run_task, &e);
    for (i = 0; i < n && e.err[i].kind == TG_ERR_NONE;)
        i++;
    if (i < n)
        *err = e.err[i];
    free(e.err);
    return i == n;
}

/* All but the last files have one each; those that would leave threads idle at the end share. */
unsigned tg_reading_share(size_t i, size_t n)
{
    size_t last = n % reading.threads;
    return i < n - last ? 1 : reading.threads / (unsigned)last;
}

void tg_reading_opts(struct tg_reader_opts *o, unsigned threads)
{
    o->threads = threads;
    o->isa = reading.isa;
    o->part = reading.part;
}
