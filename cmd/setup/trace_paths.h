#ifndef TG_SETUP_TRACE_PATHS_H
#define TG_SETUP_TRACE_PATHS_H
/*
 * What the names of traces say: which of them belong together, and the glob and the regexes by
 * which a policy finds them again. Numbers are what varies between runs and ranks:
 *
 *   out/run0-rank3.json.gz    out/run1-rank3.json.gz    ->   out/run*-rank*.json.gz
 *                                                            run 'run(\d+)', rank 'rank(\d+)'
 *
 * Texts live in `a`.
 */
#include "core/base/arena.h"

/* The folder that a trace's suite has its name from, with numbers as '*': traces of one suite have
 * the same one. "out/run3/trace.json" and "out/run4/trace.json" are runs of one suite. */
tg_sv tg_path_group(tg_sv path, struct tg_arena *a);

/*
 * Where a group's program is: "train" of "train/out", "" of "out" and "out/train". And the
 * group's name as a policy may have it ([A-Za-z0-9_-]): "train" of "train/out" and of
 * "out/train", "main" of "out".
 */
tg_sv tg_path_program(tg_sv group, struct tg_arena *a);
tg_sv tg_path_suite(tg_sv group, struct tg_arena *a);
/* Is this a folder of kept traces, as a baseline is ("perf", "baseline")? */
bool tg_path_is_baseline(tg_sv group);
/* Is this a folder for what programs write ("out", "traces", "logs" ...)? */
bool tg_path_is_output(tg_sv folder);

struct tg_path_form {
    tg_sv files;     /* glob that matches all of them */
    tg_sv run, rank; /* regexes of one group; "": none is needed or none can be said */
};
/* The form of `n` >= 1 paths of one group. */
struct tg_path_form tg_path_form(const tg_sv *paths, size_t n, struct tg_arena *a);
#endif
