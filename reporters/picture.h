#ifndef TG_REPORTERS_PICTURE_H
#define TG_REPORTERS_PICTURE_H
/*
 * What the page draws beside the verdict: a tree of call paths of both sides, and one step of each.
 * Plain data, taken from one trace of each side, pruned to what can be seen: never the trace
 * itself. Views live as long as the verdict.
 */
#include "core/cause/paths.h"

enum { TG_PICTURE_BASE, TG_PICTURE_TEST };

/* Inclusive time of a call path, ns per step (mean). Parents come before their children. */
struct tg_picture_node {
    uint32_t parent, depth; /* node 0 is the step */
    enum tg_path_kind kind;
    tg_sv text;
    double value[2];
};

enum tg_picture_paint {
    TG_PAINT_COMPUTE,
    TG_PAINT_COMM,
    TG_PAINT_MEMORY,
    TG_PAINT_HOST,
    TG_PAINT_WAIT,
    TG_PAINTS
};
struct tg_picture_span {
    uint32_t lane;    /* row: nesting on the host first, then streams */
    tg_ns start, dur; /* from the beginning of the step */
    tg_sv name;       /* of the longest of them */
    enum tg_picture_paint paint;
    uint32_t n; /* so many neighbours drawn as one */
};
struct tg_picture_step {
    struct tg_picture_span *spans;
    size_t n;
    const tg_sv *lanes; /* their titles */
    size_t n_lanes;
    tg_sv trace;      /* which file */
    int64_t number;   /* ProfilerStep#N */
    tg_ns start, dur; /* on the trace's own clock */
};
struct tg_picture {
    struct tg_picture_node *nodes;
    size_t n_nodes; /* 0: no tree (a side is a summary, or has no spans) */
    bool device;    /* of device work, at the path of its launch; else of the host's step, all of
                    it: by the clock that the step waits for */
    bool stacks;    /* Python functions are among the frames */
    double least;   /* paths below this many ns on both sides are omitted */
    struct tg_picture_step step[2]; /* n 0: none */
};
#endif
