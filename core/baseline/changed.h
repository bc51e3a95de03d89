#ifndef TG_BASELINE_CHANGED_H
#define TG_BASELINE_CHANGED_H
/*
 * What changed between two commits: the paths of all changed files, and of the Python files the
 * lines at the newer commit. Asked of the program git, whose diff people see. Everything lives in
 * `a`. Hunks of blank lines and comments alone are ignored: nothing that runs differs. A file
 * that was moved counts with the lines that differ, not as new.
 */
#include "core/baseline/baseline.h"

struct tg_changed_lines {
    uint32_t first,
        last; /* 1-based, at the newer commit; a pure removal names the line before it */
};
struct tg_changed_file {
    tg_sv path, was; /* at the newer and at the older commit; was "": new, or the same path */
    struct tg_changed_lines *lines;
    size_t n;
};
struct tg_changed {
    tg_sv *paths; /* all files: added, removed and modified */
    size_t n_paths;
    struct tg_changed_file *python; /* *.py that are there at the newer commit */
    size_t n_python;
};
#define TG_CHANGED_MOST 1000 /* files; with more, nobody finds a cause among them */
/* With more than TG_CHANGED_MOST paths `python` stays empty: their lines are not asked for. */
TG_MUST bool tg_git_changed(struct tg_git *g, const char *from, const char *to, struct tg_arena *a,
                            struct tg_changed *out, struct tg_err *err);
/* The hunks of `git diff --unified=0` as files; other lines are skipped. */
void tg_changed_parse(tg_sv diff, struct tg_arena *a, struct tg_changed *out);
#endif
