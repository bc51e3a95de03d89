#ifndef TG_CAUSE_CHOOSE_H
#define TG_CAUSE_CHOOSE_H
/*
 * Joins what explains a difference (explain.h) with what a change touched, and chooses the function
 * to name. Score of a function with half of the difference or more:
 *
 *   3  it was changed itself      2  a function that it calls on the path was changed
 *   1  something else in its file was changed
 *
 * The highest score wins, among equals the deepest. Without stacks, changed functions are matched
 * by the names of modules and annotations on the path.
 */
#include "core/cause/explain.h"
#include "core/cause/python.h"

#define TG_CAUSE_ENOUGH 0.5 /* part of the difference below which nothing is blamed */

struct tg_cause_lines {
    uint32_t first, last; /* at HEAD, 1-based */
};
struct tg_cause_file { /* a changed Python file */
    tg_sv path;
    const struct tg_cause_lines *lines;
    size_t n_lines;
    const struct tg_py_function *functions; /* of HEAD */
    size_t n_functions;
};
enum tg_cause_others {                            /* what else the change touched, a bit each */
                       TG_CAUSE_DEPENDENCIES = 1, /* lock files, requirements */
                       TG_CAUSE_BUILD = 2,        /* compiled sources, build files, containers */
                       TG_CAUSE_CONFIG = 4,
                       TG_CAUSE_DATA = 8
};
struct tg_cause_change {
    bool known; /* false: the two commits are not known */
    const struct tg_cause_file *files;
    size_t n_files, n_paths; /* n_paths: all changed files */
    unsigned others;
};
/* The bit of a path; 0: none of these. */
unsigned tg_cause_other_of(tg_sv path);

enum tg_cause_confidence { TG_CAUSE_LOW, TG_CAUSE_MEDIUM, TG_CAUSE_HIGH };
const char *tg_cause_confidence_name(enum tg_cause_confidence c);

struct tg_cause {
    struct tg_cause_path path;
    const struct tg_cause_frame *function; /* the one to name; NULL: no function is known */
    tg_sv module;                          /* innermost nn.Module around it, or "" */
    double share;                          /* of the difference that it holds */
    int score;                             /* 0: nothing that was changed */
    const struct tg_cause_lines *changed;  /* in that function (score 3), or in its file */
    size_t n_changed;
    enum tg_cause_confidence confidence;
    /* What was asked, for the words of a report. */
    bool stacks, change_known;
    bool whole;      /* the baseline has no paths: shares are of all of the fresh side, not of a
                        difference */
    unsigned others; /* of tg_cause_change */
    size_t n_paths;
};
void tg_cause_choose(struct tg_cause *out, const struct tg_cause_path *path,
                     const struct tg_cause_change *change, struct tg_arena *a);
#endif
