#ifndef TG_CMD_CMD_H
#define TG_CMD_CMD_H
/* Commands: one file each, one row in tg_commands. Options come from tables, from which parsing,
 * --help, the manual page and shell completion are made. */
#include <stddef.h> /* offsetof, in the tables */

#include "core/base/err.h"

enum tg_opt_type {
    TG_OPT_FLAG,
    TG_OPT_STR,
    TG_OPT_LIST, /* repeatable */
    TG_OPT_INT,
    TG_OPT_CHOICE, /* an unsigned or an enum: 1 + the place of the word in the row; 0: not given */
    TG_OPT_FORMAT  /* an enum tg_format, of the words that the row accepts */
};
enum tg_format {
    TG_FORMAT_TEXT, /* if none is given */
    TG_FORMAT_CSV,
    TG_FORMAT_JSON,
    TG_FORMAT_YAML,
    TG_FORMAT_MARKDOWN
};

enum tg_color { TG_COLOR_DEFAULT, TG_COLOR_AUTO, TG_COLOR_ALWAYS, TG_COLOR_NEVER };

#define TG_OPT_UNSET INT64_MIN /* an integer option that was not given */

struct tg_arena;
struct tg_strs {
    const char **v;
    size_t n, cap;
};
bool tg_strs_has(const struct tg_strs *l, const char *word); /* cmd/gate/given.c */
void tg_strs_add(struct tg_strs *l, const char *word, struct tg_arena *a);

struct tg_opt {
    const char *name; /* without "--" */
    enum tg_opt_type type;
    /* into the command's option struct: bool, const char *, struct tg_strs, int64_t, an enum */
    size_t offset;
    const char *value; /* "FILE", "SIDE", or the words it accepts: "text|csv"; NULL for flags */
    const char *help;
};

/*
 * A spelling of the release before: "operator" for "op", a value's, "sort=control" for
 * "sort=baseline", one that is a value now, "by=short-name", or begins one, "rank=baseline=". It
 * works, and says so. A list of them ends with { 0 }.
 */
struct tg_opt_was {
    const char *was, *now;
};

/* An option that has no effect without another: one of these options or actions, "svg-counts out",
 * has to be given too. A list of them ends with { 0 }. */
struct tg_opt_needs {
    const char *option, *of;
};

/* An action, the first argument of a command. A list of them ends with { 0 }. */
struct tg_verb {
    const char *name, *synopsis; /* "record", "[TRACE…]" */
    const char *about;           /* a paragraph */
    const char *options;         /* the names of those that it takes, "suite commit" */
};

struct tg_io {        /* all that a command may touch of the process */
    int in, out, err; /* file descriptors */
    bool color, progress;
    bool in_turn; /* `ab` made both sides, run by run in turn: nothing advises to do that */
    int columns;
    const char *const *environ_;
};
const char *tg_io_env(const struct tg_io *io, const char *name); /* NULL: unset or empty */

/* One call of a command; the repository and the arena last until it returns. */
struct tg_repo;
struct tg_cmd_call {
    const void *opts;           /* the command's struct */
    const struct tg_strs *args; /* the positional arguments */
    const struct tg_io *io;
    struct tg_repo *repo; /* cmd/gate/inputs.h: opened when first needed */
    struct tg_arena *arena;
    /* tg_cmd_run, for a command that calls another one */
    int (*run)(const char *const *argv, size_t n, struct tg_io *io, struct tg_err *err);
};

struct tg_cmd {
    const char *name, *summary;
    const char *synopsis; /* "CONTROL TEST [options]" */
    const char *about;    /* paragraphs for --help and the manual */
    const struct tg_opt *options;
    size_t opts_size;
    const struct tg_opt_was *was; /* NULL: none */
    const struct tg_opt_needs *needs;
    const struct tg_verb *verbs; /* NULL: it has no actions */
    const char *for_scripts;     /* names of options that programs give, listed last */
    /* Options of that command are taken too, as they were given, into the list at this offset; or
     * NULL. */
    const struct tg_cmd *others;
    size_t others_offset;
    /* The flag with which it answers `git bisect run`, to which 1 to 127 is a word about the
     * commit; or NULL. */
    const char *answers_bisect;
    /* Returns the exit code; on an error the caller prints err. */
    int (*run)(const struct tg_cmd_call *c, struct tg_err *err);
};
extern const struct tg_cmd *const tg_commands[];                        /* NULL-terminated */
const struct tg_cmd *tg_cmd_find(const char *name, struct tg_err *err); /* NULL with err set */
/* A whole command line without the program's name: finds the command, parses its options, runs it.
 * Returns the exit code; an error is for the caller to print. */
int tg_cmd_run(const char *const *argv, size_t n, struct tg_io *io, struct tg_err *err);
extern const struct tg_cmd tg_cmd_check, tg_cmd_diff, tg_cmd_analyze, tg_cmd_summarize,
    tg_cmd_merge, tg_cmd_baseline, tg_cmd_policy, tg_cmd_names, tg_cmd_selftest, tg_cmd_calibrate,
    tg_cmd_history, tg_cmd_init, tg_cmd_bisect, tg_cmd_ab;
#endif
