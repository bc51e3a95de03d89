#ifndef TG_BASE_TEMPORARY_H
#define TG_BASE_TEMPORARY_H
/*
 * Files that must not outlive the process unless they are finished: created beside their target,
 * renamed onto it when they are whole. Those that still have their temporary name are removed when
 * the process is told to end (tg_signals_watch) or runs out of memory, or crashes. SIGKILL leaves
 * them: hidden, named ".NAME.tg-XXXXXX".
 *
 * All functions may be called from any thread.
 */
#include <sys/types.h>

#include "core/base/sv.h"

/* Creates an empty file beside `target`, with the permissions that a new file has; its name is
 * malloc'ed. NULL with errno set. *fd is closed on exec. */
TG_MUST char *tg_temporary_open(const char *target, int *fd);
/* Renames it onto `target` and frees `name`. False with errno set: nothing has changed. */
TG_MUST bool tg_temporary_keep(char *name, const char *target);
/* Removes it and frees `name`; accepts NULL. */
void tg_temporary_remove(char *name);
/* Removes all of them, for a process that ends at once. No temporary file is opened or renamed
 * afterwards: whoever tries waits for ever. */
void tg_temporary_remove_all(void);

/*
 * From here on HUP, INT, QUIT, TERM, ALRM, USR1, USR2 and XCPU remove the temporary files and then
 * end the process as they would have done; those that the process was started with as ignored
 * (nohup) stay ignored. Once, at the start of main: threads inherit the mask. A file that exceeds
 * RLIMIT_FSIZE is a failed write (EFBIG), and so is a closed pipe (EPIPE). A crash (SEGV, BUS, ILL,
 * FPE, ABRT) removes the files as well, says so on standard error and exits with 5.
 *
 * This takes a thread, which is started with the first file, program or other thread: before that,
 * nothing is to be undone. Without memory for it, the signals stay as they were.
 */
void tg_signals_watch(void);
/* The caller will start a thread, which inherits the mask. */
void tg_signals_before_threads(void);
/*
 * A program that this process started, the leader of its process group: when a signal ends this
 * process, it is passed on to the group, which gets 5 s, then SIGKILL. The caller's memory, until
 * it is removed; whoever started the program waits for it. Add it between tg_signals_hold and
 * tg_signals_release, with the start itself, so that no signal comes between.
 */
struct tg_signals_child {
    struct tg_signals_child *next;
    pid_t group;
};
void tg_signals_add_child(struct tg_signals_child *c);
void tg_signals_remove_child(struct tg_signals_child *c);
/*
 * `f` undoes the rest when a signal ends the process, after its files and programs are gone. There
 * is one such function; NULL: none. It runs in its own thread, while the others are stopped
 * wherever they next hold, open or start something.
 */
void tg_signals_at_end(void (*f)(void *), void *arg);
/* A call between these two is finished before such a signal ends the process, for libraries with
 * their own temporary and lock files. Keep it short, and call nothing of the above in between. */
void tg_signals_hold(void);
void tg_signals_release(void);
#endif
