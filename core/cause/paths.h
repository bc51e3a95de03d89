#ifndef TG_CAUSE_PATHS_H
#define TG_CAUSE_PATHS_H
/*
 * Where in the program time and calls come from: the call path of every operator that is followed,
 * from traces with stacks (python_function spans) and without (annotations and operators only).
 *
 *   annotation > nn.Module > Python function of the repository > operator > kernel
 *
 * A path is taken from what encloses a span on its own thread; that of device work is the path of
 * its launch. Backward work has no frames of its own: it gets the path of its forward operator,
 * which is the last one of the same "Sequence number" that started before it (this agrees with the
 * trace's own fwdbwd flows where it has them), then a frame "backward". AccumulateGrad has no
 * number; it is the frame "gradient exchange".
 *
 * Two trees are kept side by side: modules by class ("Block"), so that twelve instances of a slow
 * function add up, and by instance ("Block_3").
 *
 * A name that only the baseline has and one that only the fresh side has are one frame, renamed, if
 * they hang at the same place, are called as often, and call mostly the same.
 *
 * Feed one trace or more per side, tg_paths_finish, ask tg_cause_explain, release. O(spans log
 * spans); memory is one entry a followed call.
 */
#include "core/base/strmap.h"
#include "core/steps/steps.h"

enum { TG_PATHS_BASE, TG_PATHS_TEST };
enum { TG_PATHS_BY_CLASS, TG_PATHS_BY_INSTANCE, TG_PATHS_TREES };

enum tg_path_kind {
    TG_PATH_ROOT,
    TG_PATH_ANNOTATION,
    TG_PATH_MODULE,
    TG_PATH_FUNCTION, /* text is "file: function", and "\n12" after it if told apart by line */
    TG_PATH_OP,
    TG_PATH_BACKWARD,
    TG_PATH_EXCHANGE
};
const char *tg_path_kind_name(enum tg_path_kind k); /* "annotation", "module", … */

/* What the caller knows of names; each is asked once per name and trace. */
struct tg_paths_ask {
    void *arg;
    /* The target that operators or kernels of this name belong to; TG_NO_ID: not followed. */
    uint32_t (*target)(void *arg, enum tg_kind kind, tg_sv name);
    /* A Python frame "file(12): function": is it the program's own? Then its file and function as
     * the repository has them, which joins the two sides. `*by_line`: the function is not known
     * beyond its name, so that another line is another function. */
    bool (*function)(void *arg, int side, tg_sv name, tg_sv *file, tg_sv *function, uint32_t *line,
                     bool *by_line);
};

struct tg_path_node {
    uint32_t parent, text; /* node of the same tree; id in tg_paths.texts */
    enum tg_path_kind kind;
    uint32_t line[2]; /* of functions: as the side's trace has it; 0 unknown */
    uint32_t depth;
    uint32_t calls[2]; /* of the frame itself, in all steps that count */
};
static inline bool tg_path_is_function(const struct tg_path_node *n, uint32_t text)
{
    return n->kind == TG_PATH_FUNCTION && n->text == text;
}
struct tg_path_tree {
    struct tg_strmap keys; /* (parent, kind, text) -> node */
    struct tg_path_node *v;
    size_t cap; /* n is keys.n; node 0 is the root */
};
struct tg_path_entry {
    uint32_t target, node[TG_PATHS_TREES];
    uint32_t step; /* of its side: steps of several traces follow each other */
    uint32_t calls;
    tg_ns ns; /* host: self time; device: duration */
};
struct tg_paths {
    const struct tg_paths_ask *ask; /* the caller's */
    struct tg_strmap texts;
    struct tg_path_tree tree[TG_PATHS_TREES];
    struct tg_path_entry *entry[2];
    size_t n[2], cap[2], n_steps[2];
    size_t *first[2], n_targets; /* entries by target: those of k begin at first[side][k] */
    bool stacks[2];              /* some function of the program was seen */
    uint32_t step_target;        /* follows the whole host step; TG_NO_ID: not wanted */
};

/* The node below `parent`; made if it is not there yet, which may move the nodes in memory. */
uint32_t tg_path_node_of(struct tg_paths *p, int tree, uint32_t parent, enum tg_path_kind kind,
                         uint32_t text);

void tg_paths_init(struct tg_paths *p, const struct tg_paths_ask *ask, uint32_t step_target);
void tg_paths_release(struct tg_paths *p);
/*
 * `t`: loaded with Python functions and want_sequence; `steps` built from it. Whether Python was
 * set apart before makes no difference but that the steps cost less. `skip_first`: steps ignored,
 * as the suite's window says.
 */
void tg_paths_add(struct tg_paths *p, int side, const struct tg_trace *t,
                  const struct tg_steps *steps, unsigned skip_first);

/* After the last trace: joins what was renamed, and sorts the entries by target. */
void tg_paths_finish(struct tg_paths *p);

/* Did a function ever run, in a step or between two? `file` and `function` as the ask gave them;
 * `line` as the fresh trace has it, 0 unknown. */
bool tg_paths_ran(const struct tg_paths *p, tg_sv file, tg_sv function, uint32_t *line);
/* Did `function` ever call the other one, itself or through others? */
bool tg_paths_calls(const struct tg_paths *p, tg_sv file, tg_sv function, tg_sv other_file,
                    tg_sv other_function);
/* How deep the innermost frame is that two functions have in common, where one may call the other;
 * 0: none. */
uint32_t tg_paths_meet(const struct tg_paths *p, tg_sv file, tg_sv function, tg_sv other_file,
                       tg_sv other_function);

/* "nn.Module: Block_3" -> "Block" and "Block_3"; false: not a module. */
bool tg_path_module(tg_sv name, tg_sv *class_name, tg_sv *instance);
#endif
