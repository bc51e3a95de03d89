#include "cmd/gate/cause.h"

#include <math.h>
#include <string.h>

#include "cmd/gate/codefile.h"
#include "core/baseline/changed.h"
#include "core/diff/names.h"
#include "core/diff/numbers.h"
#include "policy/verdict/pace.h"
#include "reporters/findings.h"

enum { MAX_RESULTS = 100 };

struct finder {
    const struct tg_cause_ask *ask;
    struct tg_git *git;
    struct tg_commit head;
    struct tg_codefiles
        sources[2];           /* of the two commits; of HEAD, where the baseline's is unknown */
    struct tg_strmap targets; /* "KIND NAME", normalised */
    struct tg_buf key;
    struct tg_paths paths;
    struct tg_cause_change change;
    bool read[2];
    bool too_many; /* files of the change */
};

/* ---- targets ---- */

static uint32_t ask_target(void *arg, enum tg_kind kind, tg_sv name)
{
    struct finder *f = arg;
    TG_BUF plain = { 0 };
    if (!f->targets.n || kind == TG_KIND_STEP)
        return TG_NO_ID;
    tg_name_normalise(kind, name, &plain);
    tg_buf_clear(&f->key);
    tg_buf_printf(&f->key, "%s %.*s", tg_kind_name(kind), TG_SV_ARG(tg_buf_sv(&plain)));
    return tg_strmap_find(&f->targets, tg_buf_sv(&f->key));
}

/* The host's step, or its gaps. */
static bool is_step(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_STEP ||
           (r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME);
}

static bool can_have_cause(const struct tg_verdict *v, const struct tg_result *r)
{
    if (!tg_result_shown(r) || !r->has_values || r->state == TG_STATE_INCONCLUSIVE)
        return false;
    if (tg_result_is_of_machine(r))
        return false;
    if (r->was_over && fabs(r->delta) < TG_NOTABLE * fabs(r->base))
        return false; /* the change did nothing that could have one */
    if (is_step(r) || tg_result_behind(r, v->comparison))
        return true;
    return r->op.n && r->subject != TG_SUBJECT_TRACE &&
           (r->unit_id == TG_UNIT_COUNT || r->unit_id == TG_UNIT_NS);
}

/* The key of what is followed: of a number of calls the operator that adds most of them. */
static tg_sv key_of(struct finder *f, const struct tg_verdict *v, const struct tg_result *r)
{
    const struct tg_op *behind = tg_result_behind(r, v->comparison);
    tg_buf_clear(&f->key);
    if (is_step(r))
        tg_buf_puts(&f->key, "step");
    else if (behind)
        tg_buf_printf(&f->key, "%s %.*s", tg_kind_name(behind->kind), TG_SV_ARG(behind->name));
    else
        tg_buf_printf(&f->key, "%.*s %.*s", TG_SV_ARG(tg_result_kind(r)),
                      TG_SV_ARG(r->op_normalised));
    return tg_buf_sv(&f->key);
}

static uint32_t target_of_result(struct finder *f, const struct tg_verdict *v,
                                 const struct tg_result *r)
{
    return tg_strmap_find(&f->targets, key_of(f, v, r));
}

/* How much of a result its target is: of a number of calls the part that one operator adds. */
static double part_of(const struct tg_verdict *v, const struct tg_result *r)
{
    const struct tg_op *op = tg_result_behind(r, v->comparison);
    return op ? fmin((op->count[TG_TEST] - op->count[TG_BASE]) / r->delta, 1) : 1;
}

/* ---- functions of the program ---- */

/* Lines of the baseline's trace are those of its commit, or, where that is unknown, about those of
 * HEAD. */
static const struct tg_py_function *function_at(const struct tg_codefile *file,
                                                const struct tg_codefile_name *n)
{
    if (n->function.p[0] == '<') /* "<genexpr>", "<lambda>": part of the function around it */
        return tg_py_function_at(file->functions, file->n_functions, n->line);
    const struct tg_py_function *at =
        tg_py_function_named(file->functions, file->n_functions, n->function, n->line);
    return at ? at
              : tg_py_function_nearest(file->functions, file->n_functions, n->function, n->line);
}

static bool ask_function(void *arg, int side, tg_sv name, tg_sv *file, tg_sv *function,
                         uint32_t *line, bool *by_line)
{
    struct finder *f = arg;
    struct tg_codefile_name n;
    const struct tg_py_function *at;
    if (!tg_codefile_parse(&n, name))
        return false;
    *function = n.function;
    *line = n.line;
    *file = n.file;
    *by_line = !f->git;
    if (!f->git)
        return !tg_codefile_is_foreign(n.file);
    /* Of a baseline whose commit is HEAD, or not known, HEAD's. */
    bool one = strcmp(f->sources[0].commit, f->sources[1].commit) == 0;
    const struct tg_codefile *found =
        tg_codefiles_file(&f->sources[one ? TG_PATHS_TEST : side], n.file);
    if (side == TG_PATHS_TEST && !tg_codefile_holds(found, n.function, n.line))
        return false; /* HEAD is not what ran */
    *file = found->in_repo;
    /* A file that was moved is one file, under its new path. */
    for (size_t i = f->change.n_files; side == TG_PATHS_BASE && i-- > 0;)
        if (tg_sv_eq(f->change.files[i].was, found->in_repo))
            *file = f->change.files[i].path;
    if ((at = function_at(found, &n)) != NULL)
        *function = at->qualified;
    return found->in_repo.n != 0;
}

/* ---- reading ---- */

static void add_side(void *arg, int side, const struct tg_kept_trace *k)
{
    struct finder *f = arg;
    tg_paths_add(&f->paths, side, k->trace, &k->steps, f->ask->from.skip_first);
}

/* ---- the change ---- */

static void read_change(struct finder *f)
{
    struct tg_changed c;
    struct tg_err ignored = TG_ERR_INIT;
    struct tg_arena *a = f->ask->arena;
    if (!f->git || !f->ask->base_commit || !f->ask->base_commit[0] ||
        !tg_git_changed(f->git, f->ask->base_commit, f->head.sha, a, &c, &ignored))
        return;
    f->too_many = c.n_paths > TG_CHANGED_MOST;
    if (f->too_many)
        return;
    struct tg_cause_file *files = TG_NEW_N(a, struct tg_cause_file, c.n_python + 1);
    for (size_t i = 0; i < c.n_python; i++) {
        const struct tg_codefile *file =
            tg_codefiles_file(&f->sources[TG_PATHS_TEST], c.python[i].path);
        struct tg_cause_lines *lines = TG_NEW_N(a, struct tg_cause_lines, c.python[i].n + 1);
        for (size_t k = 0; k < c.python[i].n; k++)
            lines[k] =
                (struct tg_cause_lines){ c.python[i].lines[k].first, c.python[i].lines[k].last };
        files[i] =
            (struct tg_cause_file){ c.python[i].path, c.python[i].was,   lines,     c.python[i].n,
                                    file->functions,  file->n_functions, file->text };
    }
    for (size_t i = c.n_paths; i-- > 0;) {
        enum tg_cause_other other = tg_cause_other_of(c.paths[i]);
        if (other != TG_CAUSE_OTHERS)
            f->change.other[other] = tg_arena_sv(a, c.paths[i]);
    }
    f->change.files = files;
    f->change.n_files = c.n_python;
    f->change.n_paths = c.n_paths;
    f->change.known = true;
}

/* ---- results ---- */

/* Without stacks, what the summary knows: the annotation, or operator of the program's own, around
 * it. */
static const struct tg_op *op_inside(const struct tg_verdict *v, const struct tg_result *r)
{
    const struct tg_op *op = tg_result_op(v->comparison, r);
    return op && op->parent.n && !tg_sv_starts(op->parent, TG_SV("aten::")) ? op : NULL;
}

static bool path_of_summary(const struct tg_verdict *v, const struct tg_result *r,
                            struct tg_cause_path *out, struct tg_arena *a)
{
    const struct tg_op *op = op_inside(v, r);
    *out = (struct tg_cause_path){ .share = 1, .difference = r->delta };
    if (!op)
        return false;
    out->frames = TG_NEW_N(a, struct tg_cause_frame, 2);
    out->frames[0] = (struct tg_cause_frame){ .kind = TG_PATH_ANNOTATION, .share = 1 };
    out->frames[0].text = op->parent;
    out->frames[0].file = TG_SV("");
    out->n = 1;
    return true;
}

/* What is beyond the budget; "": all was searched. */
static tg_sv not_searched(const struct finder *f)
{
    for (int side = 0; side < 2; side++)
        if (f->sources[side].not_searched)
            return tg_sv_of(f->sources[side].not_searched);
    return f->too_many ? TG_SV("not searched: the change has more than 1,000 files") : TG_SV("");
}

static tg_sv why_not(const struct finder *f)
{
    if (not_searched(f).n)
        return not_searched(f);
    if (!f->ask->stacks)
        return TG_SV("the fresh traces have no Python stacks");
    if (!f->read[TG_PATHS_TEST])
        return TG_SV("the fresh side is a summary, which holds no call paths");
    if (!f->paths.stacks[TG_PATHS_TEST])
        return TG_SV("the fresh trace has no Python stacks of functions of this program");
    return TG_SV("the first traces of the two sides do not show this difference");
}

/* Of a step that takes longer: is the difference a wait for the device in code that the change does
 * not touch? */
static bool only_waits(const struct tg_verdict *v, const struct tg_result *r,
                       const struct tg_cause *c)
{
    if (r->subject != TG_SUBJECT_TRACE || !c->change_known || c->link > TG_CAUSE_LINK_FILE)
        return false;
    struct tg_pace_wait longer = tg_pace_waits_of(v->comparison).longer;
    if (!(longer.ns >= TG_HALF * r->delta))
        return false;
    for (size_t i = 0; i < c->path.n; i++)
        if (tg_sv_eq(c->path.frames[i].text, longer.in))
            return true;
    /* Of no operator: in the function that the path ends in. */
    return !longer.in.n && c->path.n && c->path.frames[c->path.n - 1].kind == TG_PATH_FUNCTION;
}

static void attach(struct finder *f, const struct tg_verdict *v, struct tg_result *r)
{
    struct tg_arena *a = f->ask->arena;
    struct tg_cause_path path;
    uint32_t target = target_of_result(f, v, r);
    enum tg_cause_by by = r->unit_id == TG_UNIT_COUNT ? TG_CAUSE_BY_CALLS : TG_CAUSE_BY_TIME;
    bool found = false;
    if (not_searched(f).n) { /* what is left would be blamed for what was not looked at */
        r->no_cause = why_not(f);
        return;
    }
    if (f->read[TG_PATHS_TEST] && target != TG_NO_ID && part_of(v, r) >= TG_CAUSE_ENOUGH)
        found = tg_cause_explain(&path, &f->paths, target, by, r->delta < 0 ? -1 : 1, a);
    if (!found && !f->ask->stacks)
        found = path_of_summary(v, r, &path, a) && f->change.known;
    if (!found) {
        r->no_cause = why_not(f);
        return;
    }
    struct tg_cause *c = TG_NEW(a, struct tg_cause);
    tg_cause_choose(c, &path, &f->change, a);
    /* An operator is not the cause of time between operators. */
    bool blind = r->subject == TG_SUBJECT_STEP && !f->paths.stacks[TG_PATHS_TEST];
    if (!c->function && (blind || !f->ask->stacks)) {
        r->no_cause = why_not(f);
        return;
    }
    c->share *= part_of(v, r);
    c->change_known = f->change.known;
    c->whole = f->ask->stacks && !f->read[TG_PATHS_BASE] && r->base != 0;
    if (c->whole)
        c->confidence = c->link == TG_CAUSE_LINK_SELF ? TG_CAUSE_MEDIUM : TG_CAUSE_LOW;
    memcpy(c->other, f->change.other, sizeof c->other);
    c->n_paths = f->change.n_paths;
    c->stacks = f->ask->stacks;
    c->waits = only_waits(v, r, c);
    r->cause = c;
    if (c->function && f->git) {
        r->source = c->changed_file.n ? c->changed_file : c->function->file;
        r->source_line = c->quoted.n          ? c->quoted_line
                         : tg_cause_blames(c) ? c->changed[0].first
                                              : c->function->line;
    }
}

/* Texts of the paths live as long as the finder: what a verdict keeps is copied. */
static void keep_frame(struct tg_cause_frame *f, struct tg_arena *a)
{
    f->text = tg_arena_sv(a, f->text);
    f->file = tg_arena_sv(a, f->file);
}

static void keep(struct tg_result *r, struct tg_arena *a)
{
    struct tg_cause *c = (struct tg_cause *)(uintptr_t)r->cause;
    struct tg_cause_frame *function;
    for (size_t i = 0; i < c->path.n; i++)
        keep_frame(&c->path.frames[i], a);
    for (size_t i = 0; i < c->path.n_functions; i++)
        keep_frame(&c->path.functions[i], a);
    keep_frame(&c->path.next, a);
    tg_sv *const texts[] = { &c->module, &c->changed_in, &c->changed_file,
                             &c->quoted, &c->holder,     &r->source };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *texts[i] = tg_arena_sv(a, *texts[i]);
    if (!c->function)
        return;
    function = TG_NEW(a, struct tg_cause_frame);
    *function = *c->function;
    keep_frame(function, a);
    c->function = function;
}

void tg_cause_find(struct tg_verdict *v, const struct tg_cause_ask *ask)
{
    struct finder f = { .ask = ask };
    struct tg_err ignored = TG_ERR_INIT;
    size_t n = 0;
    bool any = ask->stacks;
    for (size_t i = 0; i < v->n_results && n < MAX_RESULTS; i++)
        if (can_have_cause(v, &v->results[i])) {
            (void)tg_strmap_add(&f.targets, key_of(&f, v, &v->results[i]));
            any = any || op_inside(v, &v->results[i]);
            n++;
        }
    if (n) {
        f.git = any ? tg_repo_get(ask->from.repo, &ignored) : NULL;
        if (f.git && !tg_git_resolve(f.git, "HEAD", ask->arena, &f.head, &ignored))
            f.git = NULL;
        for (int side = 0; side < 2; side++)
            tg_codefiles_init(&f.sources[side], f.git,
                              side == TG_PATHS_BASE && ask->base_commit ? ask->base_commit
                                                                        : f.head.sha,
                              ask->workspace, ask->arena);
        read_change(&f);
        struct tg_paths_ask names = { &f, ask_target, ask_function };
        tg_paths_init(&f.paths, &names, tg_strmap_find(&f.targets, TG_SV("step")));
        for (int side = 0; ask->stacks && side < 2; side++)
            f.read[side] = tg_inputs_use_first(&ask->from, side, add_side, &f);
        tg_paths_finish(&f.paths);
        f.paths.ask = NULL; /* `names` ends here */
        f.change.paths = &f.paths;
        for (size_t i = 0; i < v->n_results; i++)
            if (!can_have_cause(v, &v->results[i]))
                continue;
            else if (target_of_result(&f, v, &v->results[i]) != TG_NO_ID)
                attach(&f, v, &v->results[i]);
            else
                v->results[i].no_cause = TG_SV("only the worst results are followed");
        for (size_t i = 0; i < v->n_results; i++)
            if (v->results[i].cause)
                keep(&v->results[i], ask->arena);
        tg_paths_release(&f.paths);
        tg_codefiles_release(&f.sources[TG_PATHS_BASE]);
        tg_codefiles_release(&f.sources[TG_PATHS_TEST]);
    }
    tg_strmap_release(&f.targets);
    tg_buf_release(&f.key);
}
