#ifndef TG_CMD_GATE_GIVEN_H
#define TG_CMD_GATE_GIVEN_H
/*
 * Options about traces, the same in every command that takes them: what files without a rank are,
 * how strictly they are read, what a step is, what they do not say of their machine. A command
 * embeds a `struct tg_given` and puts the rows into its table.
 */

#include "cmd/gate/inputs.h"

struct tg_given {
    bool runs, ranks, strict_json, allow_truncated, trust_repository;
    struct tg_strs meta;
    const char *window;
};

#define TG_GIVEN_ROW(type, member, name, kind, key, value, text)                                   \
    {                                                                                              \
        name, kind, offsetof(type, member.key), value, text                                        \
    }
/* `verb`: "record: " where only one verb of a command takes them, else "". */
#define TG_GIVEN_RUNS(type, member, verb)                                                          \
    TG_GIVEN_ROW(type, member, "runs", TG_OPT_FLAG, runs, NULL,                                    \
                 verb "files without a rank are repeats of one program"),                          \
        TG_GIVEN_ROW(type, member, "ranks", TG_OPT_FLAG, ranks, NULL,                              \
                     verb "files without a rank are ranks of one run, in the order of their "      \
                          "paths")
#define TG_GIVEN_JSON(type, member, verb)                                                          \
    TG_GIVEN_ROW(type, member, "strict-json", TG_OPT_FLAG, strict_json, NULL,                      \
                 verb "refuse deviations from the JSON standard instead of counting them"),        \
        TG_GIVEN_ROW(type, member, "allow-truncated", TG_OPT_FLAG, allow_truncated, NULL,          \
                     verb "use a trace whose end is missing, and say so")
#define TG_GIVEN_META(type, member, verb)                                                          \
    TG_GIVEN_ROW(type, member, "meta", TG_OPT_LIST, meta, "K=V",                                   \
                 verb "add what the traces lack (cpu=…, torch=…); repeatable")
#define TG_GIVEN_WINDOW(type, member)                                                              \
    TG_GIVEN_ROW(type, member, "window", TG_OPT_STR, window, "SPEC",                               \
                 "what a step is: auto (ProfilerStep#N), whole, or annotation:GLOB for traces of " \
                 "servers")
#define TG_GIVEN_TRUST(type, member)                                                               \
    TG_GIVEN_ROW(type, member, "trust-repository", TG_OPT_FLAG, trust_repository, NULL,            \
                 "open the git repository although another user owns it")

#define TG_SVG_STYLES                                                                              \
    "narrow|share", "narrow: charts for 390 px, a bar below its name; share: durations in "        \
                    "percent of the step; repeatable"

/* TG_ERR_USAGE: --runs and --ranks exclude each other. */
TG_MUST bool tg_given_check(const struct tg_given *g, struct tg_err *err);
/* What files without a rank are; `otherwise` if neither option says. */
enum tg_arrange tg_given_arrange(const struct tg_given *g, enum tg_arrange otherwise);
/* --strict-json, --allow-truncated and --meta into `so`; texts live in `a`. */
TG_MUST bool tg_given_apply(struct tg_summarize_opts *so, const struct tg_given *g,
                            struct tg_arena *a, struct tg_err *err);
/* --window: "auto", "whole", or "annotation:GLOB", which every trace must have; auto if it is not
 * given. */
TG_MUST bool tg_given_window(struct tg_window_spec *out, const struct tg_given *g,
                             struct tg_err *err);
/* Of "0", "baseline=1", "fresh=2" what is said of a side, TG_BASE or TG_TEST: its own words,
 * and those of no side. */
struct tg_strs tg_given_side(const struct tg_strs *words, size_t side, struct tg_arena *a);
/* The files of an option SIDE=PATH, which both sides have or none. */
TG_MUST bool tg_given_sides(struct tg_input_list files[2], const struct tg_strs *words,
                            const char *option, struct tg_repo *repo, struct tg_arena *a,
                            struct tg_err *err);

/* Values of options that are lists: "4,5", "0-3", and the option given several times. */
struct tg_numbers {
    int64_t *v; /* in the order given, in the arena; NULL: the option was not given */
    size_t n;
};
#define TG_MAX_NUMBERS 65536u /* a range that is longer is a typing error */
/* `option` names it in messages, without dashes. */
TG_MUST bool tg_numbers_parse(struct tg_numbers *out, const struct tg_strs *texts,
                              const char *option, struct tg_arena *a, struct tg_err *err);
#endif
