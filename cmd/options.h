#ifndef TG_CMD_OPTIONS_H
#define TG_CMD_OPTIONS_H
/*
 * Arguments -> a command's option struct, from its table. Forms: `--x VALUE`, `--x=VALUE`, `-o
 * VALUE` and `-oVALUE` for --out, `--flag`; `--` ends the options; `-` is an ordinary
 * argument. Options and arguments may be mixed. A value that is a list of lower-case words joined
 * by '|' in the table ("text|csv|json") is checked here. An option given twice: the last one wins,
 * except TG_OPT_LIST, which collects. A spelling of the release before is read as today's.
 * Everything wrong is TG_ERR_USAGE (exit 2).
 */
#include "cmd/cmd.h"
#include "core/base/arena.h"

struct tg_global_opts { /* options that every command has */
    bool help;
    enum tg_color color;
    int64_t threads;
    struct tg_strs was; /* what was spelled as a release before had it: "--op is now --name" */
};
extern const struct tg_opt tg_global_options[];

/* `opts` is the command's zeroed struct (opts_size bytes); integers not given become TG_OPT_UNSET.
 * Texts point into `argv`; lists are allocated in `a`. */
TG_MUST bool tg_options_parse(const struct tg_cmd *cmd, const char *const *argv, size_t n,
                              void *opts, struct tg_global_opts *common, struct tg_strs *args,
                              struct tg_arena *a, struct tg_err *err);

/* The first argument's place among a command's verbs. For any other word an error that guesses
 * which was meant. */
TG_MUST bool tg_options_verb(const struct tg_cmd *cmd, const struct tg_strs *args, size_t *place,
                             struct tg_err *err);

/* The name, or a spelling of it in the release before. */
bool tg_options_means(const struct tg_cmd *cmd, const char *spelled, const char *name);
/* Is the name among the words of a list, "suite commit"? NULL is an empty one. */
bool tg_options_has(const char *words, const char *name);
/* The action of that name; NULL: none. */
const struct tg_verb *tg_verb_find(const struct tg_cmd *cmd, const char *name);

/* True when the table's `value` lists the accepted words. */
bool tg_opt_is_choice(const struct tg_opt *o);

#endif
