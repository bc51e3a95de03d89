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
#include "core/base/sv.h"

/*
 * Creates an empty file beside `target`, with the permissions that a new file has; its name is
 * malloc'ed. NULL with errno set. *fd is closed on exec.
 */
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
 * Without memory for the one thread this takes, the signals stay as they were.
 */
void tg_signals_watch(void);
/*
 * What is called between these two is finished before such a signal ends the process: a library
 * that has temporary and lock files of its own. Short, and nothing of the above in between.
 */
void tg_signals_hold(void);
void tg_signals_release(void);
#endif
