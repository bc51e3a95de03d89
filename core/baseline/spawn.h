#ifndef TG_BASELINE_SPAWN_H
#define TG_BASELINE_SPAWN_H
/*
 * Runs a program and collects what it prints. No shell; standard input is `input`; a session of its
 * own (unless `foreground`), so that nothing in it can ask at the terminal; killed as a group at
 * the timeout, and ended with this process by the signals of core/base/temporary.h.
 */
#include "core/base/buf.h"
#include "core/base/err.h"

struct tg_spawn {
    const char *const *argv; /* argv[0] is looked up in PATH; NULL at the end */
    char *const *env;        /* NULL: this process's own */
    const char *const *set;  /* "NAME=VALUE" that replace or join env; NULL at the end; or NULL */
    const char *const *drop; /* names that must not be passed on; NULL at the end; or NULL */
    unsigned timeout_ms;     /* 0: none */
    size_t max_out;          /* bytes of standard output; 0: none wanted, it is thrown away */
    bool foreground;         /* in our session: a command that the user gave */
    tg_sv input;             /* all of it is there before the program starts */
    const char *dir;         /* where it runs; NULL: here */
    /* What it says on either output, as it comes; NULL: nobody listens. */
    void (*heard)(void *arg, tg_sv bytes);
    void *arg;
};

enum tg_spawn_end {
    TG_SPAWN_EXIT,      /* ended by itself; see `code` */
    TG_SPAWN_SIGNAL,    /* `code` is the signal */
    TG_SPAWN_TIMEOUT,   /* killed by us */
    TG_SPAWN_TOO_MUCH,  /* more than max_out; killed by us */
    TG_SPAWN_NOT_FOUND, /* no such program; `code` is the errno */
    TG_SPAWN_FAILED     /* the system refused; `code` is the errno */
};
struct tg_spawned {
    enum tg_spawn_end end;
    int code;
    char last_words[256]; /* the last non-empty line of standard error */
    char said[1025];      /* the end of standard error */
};

/* `s` as one word of a shell command that a hint shows for pasting: as it is, in single quotes, or
 * "…" when it cannot be quoted plainly (a quote or a control byte). Returns `buf` or `s`. */
const char *tg_shell_word(char *buf, size_t size, const char *s);

/* Appends standard output to `out` (may be NULL when max_out is 0). */
void tg_spawn_run(const struct tg_spawn *s, struct tg_buf *out, struct tg_spawned *result);
#endif
