#ifndef TG_CAUSE_CHOOSE_H
#define TG_CAUSE_CHOOSE_H
/*
 * Joins what explains a difference (explain.h) with what a change touched, and chooses the function
 * to name: of those with half of the difference or more the one with the closest link to the change
 * (enum tg_cause_link), among equals the deepest. Without stacks, changed functions are matched by
 * the names of modules and annotations on the path.
 *
 * The confidence is high where the function was changed itself and the difference begins in it. It
 * is medium where a deeper function, unchanged and called as often as before, holds the difference:
 * then other arguments may be the cause, or something outside the repository.
 */
#include "core/cause/explain.h"
#include "core/cause/python.h"

#define TG_CAUSE_ENOUGH 0.5 /* part of the difference below which nothing is blamed */

struct tg_cause_lines {
    uint32_t first, last; /* at HEAD, 1-based */
};
struct tg_cause_file { /* a changed Python file */
    tg_sv path, was;   /* was: its path in the baseline, if it was moved; else "" */
    const struct tg_cause_lines *lines;
    size_t n_lines;
    const struct tg_py_function *functions; /* of HEAD */
    size_t n_functions;
    tg_sv text; /* at HEAD; "" not known */
};
enum tg_cause_other {                        /* what else a change may touch */
                      TG_CAUSE_DEPENDENCIES, /* lock files, requirements */
                      TG_CAUSE_BUILD,        /* compiled sources, build files, containers */
                      TG_CAUSE_CONFIG,
                      TG_CAUSE_DATA,
                      TG_CAUSE_OTHERS
};
struct tg_cause_change {
    bool known; /* false: the two commits are not known */
    const struct tg_cause_file *files;
    size_t n_files, n_paths;      /* n_paths: all changed files */
    tg_sv other[TG_CAUSE_OTHERS]; /* the first file of each; "" none */
    const struct tg_paths *paths; /* what ran; NULL: not known */
};
/* TG_CAUSE_OTHERS: none of these. */
enum tg_cause_other tg_cause_other_of(tg_sv path);

enum tg_cause_confidence { TG_CAUSE_LOW, TG_CAUSE_MEDIUM, TG_CAUSE_HIGH };
const char *tg_cause_confidence_name(enum tg_cause_confidence c);

enum tg_cause_link { /* of the function to the change, the closest last */
                     TG_CAUSE_LINK_NONE,
                     TG_CAUSE_LINK_FILE,       /* another function of its file was changed */
                     TG_CAUSE_LINK_OUTSIDE,    /* its file, outside every function */
                     TG_CAUSE_LINK_SETUP_FILE, /* a function of its file that runs in no step */
                     TG_CAUSE_LINK_CALLEE,     /* a function that it was seen to call */
                     TG_CAUSE_LINK_FEEDS, /* changed itself; another one's backward work came */
                     TG_CAUSE_LINK_SETUP, /* a method of its class that runs in no step */
                     TG_CAUSE_LINK_SELF   /* changed itself */
};

/*
 * Written by tg_cause_choose; what was asked is the caller's. Without a `function` the link is
 * NONE and nothing is `changed`. `changed_in` is empty if the function itself was changed (SELF,
 * FEEDS) or the lines are in none (OUTSIDE, FILE).
 */
struct tg_cause {
    struct tg_cause_path path;
    const struct tg_cause_frame *function; /* the one to name; NULL: no function is known */
    tg_sv module;                          /* innermost nn.Module around it, or "" */
    double share;                          /* of the difference that it holds */
    enum tg_cause_link link;
    const struct tg_cause_lines *changed; /* the lines that the link is about */
    size_t n_changed;
    tg_sv changed_in;   /* the function of those lines, where it is not `function`; else "" */
    tg_sv changed_file; /* theirs, where it is not that of `function`; else "" */
    tg_sv quoted; /* the one of those lines that tells most, as the change has it; "" not known */
    uint32_t quoted_line;
    tg_sv holder; /* FEEDS: the function whose backward pass holds the difference; else "" */
    enum tg_cause_confidence confidence;
    /* What was asked, for the words of a report. */
    bool stacks, change_known;
    bool waits; /* the change does not touch it: there the host waits for what takes longer */
    bool whole; /* the baseline has no paths: shares are of all of the fresh side, not of a
                   difference */
    tg_sv other[TG_CAUSE_OTHERS]; /* of tg_cause_change */
    size_t n_paths;
};
/* The change touches code that runs on the path, and its lines are known. */
bool tg_cause_blames(const struct tg_cause *c);
void tg_cause_choose(struct tg_cause *out, const struct tg_cause_path *path,
                     const struct tg_cause_change *change, struct tg_arena *a);
#endif
