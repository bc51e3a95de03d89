#include "core/cause/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/sort.h"
#include "core/cause/internal.h"

const char *tg_path_kind_name(enum tg_path_kind k)
{
    static const char *const names[] = { "step",     "annotation", "module",           "function",
                                         "operator", "backward",   "gradient exchange" };
    return names[k];
}

bool tg_path_module(tg_sv name, tg_sv *class_name, tg_sv *instance)
{
    size_t n;
    if (!tg_sv_skip(&name, TG_SV("nn.Module: ")))
        return false;
    *instance = *class_name = name;
    for (n = class_name->n; n && tg_is_digit(class_name->p[n - 1]);)
        n--;
    if (n > 1 && n < class_name->n && class_name->p[n - 1] == '_')
        class_name->n = n - 1;
    return true;
}

uint32_t tg_path_node_of(struct tg_paths *p, int tree, uint32_t parent, enum tg_path_kind kind,
                         uint32_t text)
{
    struct tg_path_tree *t = &p->tree[tree];
    uint32_t key[3] = { parent, kind, text };
    size_t before = t->keys.n;
    uint32_t id = tg_strmap_add(&t->keys, (tg_sv){ (const char *)key, sizeof key });
    if (t->keys.n > before) {
        t->v = tg_grow(t->v, &t->cap, t->keys.n, sizeof *t->v);
        t->v[id] = (struct tg_path_node){
            .parent = parent, .text = text, .kind = kind, .depth = id ? t->v[parent].depth + 1 : 0
        };
    }
    return id;
}

void tg_paths_init(struct tg_paths *p, const struct tg_paths_ask *ask, uint32_t step_target)
{
    *p = (struct tg_paths){ .ask = ask, .step_target = step_target };
    for (int k = 0; k < TG_PATHS_TREES; k++)
        (void)tg_path_node_of(p, k, 0, TG_PATH_ROOT, tg_strmap_add(&p->texts, TG_SV("")));
}

void tg_paths_release(struct tg_paths *p)
{
    for (int k = 0; k < TG_PATHS_TREES; k++) {
        tg_strmap_release(&p->tree[k].keys);
        free(p->tree[k].v);
    }
    for (int side = 0; side < 2; side++) {
        free(p->entry[side]);
        free(p->first[side]);
    }
    tg_strmap_release(&p->texts);
    *p = (struct tg_paths){ 0 };
}

/* ---- forward operators ---- */

static int by_sequence(const void *pa, const void *pb)
{
    const struct tg_forward *a = pa, *b = pb;
    int c = TG_CMP(a->sequence, b->sequence);
    c = c ? c : TG_CMP(a->start, b->start);
    return c ? c : TG_CMP(a->span, b->span);
}

void tg_forwards_init(struct tg_forwards *f, const struct tg_trace *t, const bool *is_backward)
{
    size_t cap = 0;
    *f = (struct tg_forwards){ 0 };
    for (uint32_t i = 0; t->sequence && i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (t->sequence[i] < 0 || is_backward[s->name])
            continue;
        *TG_PUSH(f->v, f->n, cap) = (struct tg_forward){ t->sequence[i], s->start, i };
    }
    TG_SORT(f->v, f->n, by_sequence);
}

void tg_forwards_release(struct tg_forwards *f)
{
    free(f->v);
    *f = (struct tg_forwards){ 0 };
}

uint32_t tg_forward_of(const struct tg_forwards *f, const struct tg_trace *t, uint32_t span)
{
    int64_t number = t->sequence ? t->sequence[span] : -1;
    tg_ns start = tg_span_at(t, span)->start;
    size_t i;
    if (number < 0)
        return TG_NO_SPAN;
    TG_SEARCH(i, f->n,
              f->v[i].sequence < number || (f->v[i].sequence == number && f->v[i].start < start));
    return i && f->v[i - 1].sequence == number ? f->v[i - 1].span : TG_NO_SPAN;
}

/* ---- names: what a frame of each name adds to a path ---- */

struct frame_name {
    enum tg_path_kind kind; /* TG_PATH_ROOT: nothing */
    uint32_t text[TG_PATHS_TREES];
    uint32_t line;
    uint32_t target; /* TG_NO_ID: not followed */
    bool backward, exchange, runs_backward;
};

struct open_span {
    tg_ns end;
    uint32_t node[TG_PATHS_TREES];
    size_t entry; /* of the step's target: children take their time from it; SIZE_MAX: none */
    bool backward;
};
struct thread_stack {
    struct open_span *v;
    size_t n, cap;
};
struct walk {
    struct tg_paths *p;
    int side;
    const struct tg_trace *t;
    const struct tg_steps *steps;
    unsigned skip;
    struct frame_name *names;
    struct thread_stack *threads;
    size_t n_threads;
    uint32_t (*node)[TG_PATHS_TREES]; /* per span: its own node */
    bool *is_backward;                /* per name */
    struct tg_forwards forward;
    uint32_t main_thread;
    bool other_backward; /* a thread of autograd's own works while the main one waits */
};

static void look_up_name(struct walk *w, const struct tg_name *n, struct frame_name *f)
{
    *f = (struct frame_name){ .kind = TG_PATH_ROOT, .target = TG_NO_ID };
    if (n->kind == TG_KIND_PYTHON) {
        tg_sv class_name, instance, file, function;
        TG_BUF text = { 0 };
        bool by_line = false;
        f->runs_backward = tg_sv_has(n->name, TG_SV("run_backward"));
        if (tg_path_module(n->name, &class_name, &instance)) {
            f->kind = TG_PATH_MODULE;
            f->text[TG_PATHS_BY_CLASS] = tg_strmap_add(&w->p->texts, class_name);
            f->text[TG_PATHS_BY_INSTANCE] = tg_strmap_add(&w->p->texts, instance);
        } else if (w->p->ask->function(w->p->ask->arg, w->side, n->name, &file, &function, &f->line,
                                       &by_line)) {
            tg_buf_printf(&text, "%.*s: %.*s", TG_SV_ARG(file), TG_SV_ARG(function));
            if (by_line)
                tg_buf_printf(&text, "\n%u", (unsigned)f->line);
            f->kind = TG_PATH_FUNCTION;
            f->text[0] = f->text[1] = tg_strmap_add(&w->p->texts, tg_buf_sv(&text));
            w->p->stacks[w->side] = true;
        }
        return;
    }
    if (n->kind == TG_KIND_ANNOTATION)
        f->kind = TG_PATH_ANNOTATION;
    else if (n->kind == TG_KIND_OP)
        f->kind = TG_PATH_OP;
    f->target = w->p->ask->target(w->p->ask->arg, n->kind, n->name);
    if (f->target != TG_NO_ID && f->kind == TG_PATH_ROOT)
        f->kind = TG_PATH_OP; /* runtime calls and device work, where they are followed */
    f->text[0] = f->text[1] = tg_strmap_add(&w->p->texts, n->name);
    f->exchange = n->kind == TG_KIND_OP && tg_sv_has(n->name, TG_SV("AccumulateGrad"));
    f->backward = n->kind == TG_KIND_OP && tg_backward_named(n->name);
}

/* ---- the walk: spans in order of start, a stack a thread ---- */

static size_t all_spans(const struct tg_trace *t)
{
    return t->n_spans + t->n_python;
}

/* Python functions that were set apart are in no list of the steps. */
static int32_t step_at(const struct walk *w, uint32_t span)
{
    return span < w->t->n_spans ? w->steps->step_of[span]
                                : tg_steps_at(w->steps, tg_span_at(w->t, span)->start);
}

static size_t add_entry(struct walk *w, uint32_t target, const uint32_t *node, int32_t step,
                        tg_ns ns)
{
    struct tg_paths *p = w->p;
    int side = w->side;
    if (target == TG_NO_ID || step < 0 || (uint32_t)step < w->skip)
        return SIZE_MAX;
    if (target >= p->n_targets)
        p->n_targets = (size_t)target + 1;
    p->entry[side] = tg_grow(p->entry[side], &p->cap[side], p->n[side] + 1, sizeof **p->entry);
    p->entry[side][p->n[side]] = (struct tg_path_entry){
        target, { node[0], node[1] }, (uint32_t)(p->n_steps[side] + (size_t)step - w->skip), 1, ns
    };
    return p->n[side]++;
}

static void child_node(struct walk *w, const uint32_t *parent, enum tg_path_kind kind,
                       const uint32_t *text, uint32_t line, uint32_t *out)
{
    for (int k = 0; k < TG_PATHS_TREES; k++) {
        out[k] = tg_path_node_of(w->p, k, parent[k], kind, text[k]);
        if (line)
            w->p->tree[k].v[out[k]].line[w->side] = line;
    }
}

/* A function that adds nothing to a path: of a library, say. */
static bool is_idle(const struct walk *w, const struct tg_span *s)
{
    const struct frame_name *f = &w->names[s->name];
    return tg_span_kind(w->t, s) == TG_KIND_PYTHON && f->kind == TG_PATH_ROOT && !f->runs_backward;
}

static void host_span(struct walk *w, uint32_t i)
{
    const struct tg_span *s = tg_span_at(w->t, i);
    const struct frame_name *f = &w->names[s->name];
    uint32_t thread = w->t->tracks[s->track].thread;
    tg_ns end = tg_span_end(s);
    struct thread_stack *h = &w->threads[thread];
    while (h->n && !tg_span_holds(h->v[h->n - 1].end, s->start, end))
        h->n--;
    struct open_span *up = h->n ? &h->v[h->n - 1] : NULL;
    struct open_span at = up ? *up : (struct open_span){ .end = end };
    if (up && is_idle(w, s))
        return; /* its time is that of the frame around it */
    at.end = end < at.end ? end : at.end;
    if (f->backward && !at.backward) {
        /* Where the outermost span of backward work belongs. */
        uint32_t from = tg_forward_of(&w->forward, w->t, i);
        uint32_t text[TG_PATHS_TREES];
        at.backward = true;
        if (from != TG_NO_SPAN && w->node[from][0] != TG_NO_ID) {
            text[0] = text[1] = tg_strmap_add(&w->p->texts, TG_SV("backward"));
            child_node(w, w->node[from], TG_PATH_BACKWARD, text, 0, at.node);
        } else if (f->exchange) {
            uint32_t root[TG_PATHS_TREES] = { 0, 0 };
            text[0] = text[1] = tg_strmap_add(&w->p->texts, TG_SV("gradient exchange"));
            child_node(w, root, TG_PATH_EXCHANGE, text, 0, at.node);
        }
    }
    if (f->kind != TG_PATH_ROOT) {
        child_node(w, at.node, f->kind, f->text, f->line, at.node);
        int32_t step = step_at(w, i);
        for (int k = 0; step >= 0 && (uint32_t)step >= w->skip && k < TG_PATHS_TREES; k++)
            w->p->tree[k].v[at.node[k]].calls[w->side]++;
    }
    memcpy(w->node[i], at.node, sizeof at.node);
    at.entry = SIZE_MAX;
    if (w->p->step_target != TG_NO_ID) {
        /* The whole host step: the main thread, and autograd's while the main one waits for it. */
        bool in_step =
            thread == w->main_thread ? !(w->other_backward && f->runs_backward) : at.backward;
        if (up && up->entry != SIZE_MAX && at.end > s->start)
            w->p->entry[w->side][up->entry].ns -= at.end - s->start;
        if (in_step)
            at.entry = add_entry(w, w->p->step_target, at.node, step_at(w, i), at.end - s->start);
    }
    if (f->target != TG_NO_ID)
        (void)add_entry(w, f->target, at.node, w->steps->step_of[i], w->steps->self[i]);
    *TG_PUSH(h->v, h->n, h->cap) = at;
}

static void find_threads(struct walk *w)
{
    const struct tg_trace *t = w->t;
    w->main_thread = TG_NO_ID;
    if (w->steps->n && w->steps->v[0].span != TG_NO_SPAN)
        w->main_thread = t->tracks[tg_span_at(t, w->steps->v[0].span)->track].thread;
    for (size_t i = 0; i < t->n_tracks; i++)
        if (t->tracks[i].thread >= w->n_threads)
            w->n_threads = (size_t)t->tracks[i].thread + 1;
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        if (w->names[s->name].backward && t->tracks[s->track].thread != w->main_thread)
            w->other_backward = true;
    }
    w->threads = tg_xcalloc(w->n_threads + 1, sizeof *w->threads);
}

/* In the total order, without the functions that say nothing: most are of libraries. */
static uint32_t *order_host(const struct walk *w, size_t *n)
{
    const struct tg_trace *t = w->t;
    uint32_t *order = tg_xmalloc((all_spans(t) + 1) * sizeof *order);
    *n = 0;
    for (uint32_t i = 0; i < all_spans(t); i++) {
        uint32_t at = t->n_python ? i : w->steps->order[i];
        const struct tg_span *s = tg_span_at(t, at);
        enum tg_kind kind = tg_span_kind(t, s);
        if ((tg_kind_nests(kind) || kind == TG_KIND_PYTHON) &&
            !(is_idle(w, s) && w->p->step_target == TG_NO_ID))
            order[(*n)++] = at;
    }
    if (t->n_python)
        tg_trace_sort_list(t, order, *n);
    return order;
}

void tg_paths_add(struct tg_paths *p, int side, const struct tg_trace *t,
                  const struct tg_steps *steps, unsigned skip_first)
{
    struct walk w = { .p = p, .side = side, .t = t, .steps = steps, .skip = skip_first };
    TG_ARENA *a = tg_arena_new();
    w.names = TG_NEW_N(a, struct frame_name, t->names->n + 1);
    w.is_backward = TG_NEW_N(a, bool, t->names->n + 1);
    for (size_t i = 0; i < t->names->n; i++) {
        look_up_name(&w, &t->names->v[i], &w.names[i]);
        w.is_backward[i] = w.names[i].backward;
    }
    w.node = tg_xmalloc((all_spans(t) + 1) * sizeof *w.node);
    memset(w.node, 0xff, (all_spans(t) + 1) * sizeof *w.node);
    tg_forwards_init(&w.forward, t, w.is_backward);
    find_threads(&w);
    size_t n;
    TG_FREE uint32_t *order = order_host(&w, &n);
    for (size_t i = 0; i < n; i++)
        host_span(&w, order[i]);
    for (uint32_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        const struct frame_name *f = &w.names[s->name];
        uint32_t launch = steps->launch[i], node[TG_PATHS_TREES] = { 0, 0 };
        if (!tg_kind_is_device(tg_span_kind(t, s)) || f->target == TG_NO_ID)
            continue;
        if (launch != TG_NO_SPAN && w.node[launch][0] != TG_NO_ID)
            memcpy(node, w.node[launch], sizeof node);
        child_node(&w, node, TG_PATH_OP, f->text, 0, node);
        (void)add_entry(&w, f->target, node, steps->step_of[i], s->dur > 0 ? s->dur : 0);
    }
    p->n_steps[side] += steps->n > skip_first ? steps->n - skip_first : 0;
    for (size_t i = 0; i < w.n_threads; i++)
        free(w.threads[i].v);
    free(w.threads);
    tg_forwards_release(&w.forward);
    free(w.node);
}

static uint32_t text_of(const struct tg_paths *p, tg_sv file, tg_sv function)
{
    TG_BUF text = { 0 };
    tg_buf_printf(&text, "%.*s: %.*s", TG_SV_ARG(file), TG_SV_ARG(function));
    return tg_strmap_find(&p->texts, tg_buf_sv(&text));
}

bool tg_paths_ran(const struct tg_paths *p, tg_sv file, tg_sv function, uint32_t *line)
{
    uint32_t text = text_of(p, file, function);
    const struct tg_path_tree *t = &p->tree[TG_PATHS_BY_CLASS];
    *line = 0;
    for (size_t i = 1; text != TG_NO_ID && i < t->keys.n; i++)
        if (!*line && tg_path_is_function(&t->v[i], text))
            *line = t->v[i].line[TG_PATHS_TEST];
    return text != TG_NO_ID;
}

bool tg_paths_calls(const struct tg_paths *p, tg_sv file, tg_sv function, tg_sv other_file,
                    tg_sv other_function)
{
    const struct tg_path_tree *t = &p->tree[TG_PATHS_BY_CLASS];
    uint32_t one = text_of(p, file, function), other = text_of(p, other_file, other_function);
    for (uint32_t i = 1; one != TG_NO_ID && other != TG_NO_ID && i < t->keys.n; i++) {
        if (!tg_path_is_function(&t->v[i], other))
            continue;
        for (uint32_t at = t->v[i].parent; at; at = t->v[at].parent)
            if (tg_path_is_function(&t->v[at], one))
                return true;
    }
    return false;
}

uint32_t tg_paths_meet(const struct tg_paths *p, tg_sv file, tg_sv function, tg_sv other_file,
                       tg_sv other_function)
{
    const struct tg_path_tree *t = &p->tree[TG_PATHS_BY_CLASS];
    uint32_t one = text_of(p, file, function), other = text_of(p, other_file, other_function);
    TG_FREE bool *above = tg_xcalloc(t->keys.n, sizeof *above);
    uint32_t deepest = 0;
    for (uint32_t i = 1; one != TG_NO_ID && i < t->keys.n; i++)
        if (tg_path_is_function(&t->v[i], one))
            for (uint32_t at = i; at && !above[at]; at = t->v[at].parent)
                above[at] = true;
    for (uint32_t i = 1; other != TG_NO_ID && i < t->keys.n; i++) {
        uint32_t at = i;
        if (!tg_path_is_function(&t->v[i], other))
            continue;
        while (at && !above[at])
            at = t->v[at].parent;
        if (t->v[at].depth > deepest)
            deepest = t->v[at].depth;
    }
    return deepest;
}

/* ---- renamed ---- */

/*
 * Frames that were renamed are joined. Two are one where the name of the first is nowhere in the
 * fresh side, that of the second nowhere in the baseline, both hang at the same place, are called
 * equally often, and
 *
 *   call the same things: half or more of what either calls is called by both, or
 *   call nothing that tells, and are the only such pair at their place.
 *
 * The joined frame has the new name. From the outside in, so that a renamed class comes before its
 * methods. O(nodes) a round, at most RENAMED_ROUNDS of them.
 */
enum { RENAMED_ROUNDS = 8 };
enum { IN_BASE = 1 << TG_PATHS_BASE, IN_TEST = 1 << TG_PATHS_TEST };

struct joiner {
    struct tg_paths *p;
    int tree;
    size_t n;         /* nodes at the beginning of the round */
    unsigned *in;     /* per text: the sides that have it */
    uint32_t *child;  /* per node: its first child; 0 none */
    uint32_t *next;   /* per node: the next one of the same parent; 0 none */
    uint32_t *rename; /* per text: what it is called now */
};

static const struct tg_path_node *node_at(const struct joiner *j, uint32_t i)
{
    return &j->p->tree[j->tree].v[i];
}

static bool has_name(const struct tg_path_node *n)
{
    return n->kind == TG_PATH_ANNOTATION || n->kind == TG_PATH_MODULE ||
           n->kind == TG_PATH_FUNCTION;
}

static bool only(const struct joiner *j, uint32_t i, unsigned side)
{
    return has_name(node_at(j, i)) && j->in[node_at(j, i)->text] == side;
}

static bool calls_it(const struct joiner *j, uint32_t node, const struct tg_path_node *what)
{
    for (uint32_t c = j->child[node]; c; c = j->next[c])
        if (node_at(j, c)->kind == what->kind && node_at(j, c)->text == what->text)
            return true;
    return false;
}

/* Part of what either calls that both call; -1: names of one side alone, which tell nothing. */
static double likeness(const struct joiner *j, uint32_t old, uint32_t new)
{
    size_t both = 0, all = 0;
    for (uint32_t c = j->child[old]; c; c = j->next[c]) {
        if (only(j, c, IN_BASE))
            continue;
        all++;
        both += calls_it(j, new, node_at(j, c));
    }
    for (uint32_t c = j->child[new]; c; c = j->next[c])
        all += !only(j, c, IN_TEST) && !calls_it(j, old, node_at(j, c));
    return all ? (double)both / (double)all : -1;
}

static uint32_t most_like(const struct joiner *j, uint32_t old)
{
    uint32_t best = 0;
    double most = -2;
    size_t removed = 0, added = 0;
    for (uint32_t i = j->child[node_at(j, old)->parent]; i; i = j->next[i]) {
        removed += only(j, i, IN_BASE) && node_at(j, i)->kind == node_at(j, old)->kind;
        if (!only(j, i, IN_TEST) || node_at(j, i)->kind != node_at(j, old)->kind)
            continue;
        added++;
        double was = node_at(j, old)->calls[TG_PATHS_BASE] / (double)j->p->n_steps[TG_PATHS_BASE];
        double is = node_at(j, i)->calls[TG_PATHS_TEST] / (double)j->p->n_steps[TG_PATHS_TEST];
        double like = fabs(was - is) <= 0.01 * was ? likeness(j, old, i) : -2;
        if (like > most) {
            best = i;
            most = like;
        }
    }
    return most >= 0.5 || (most == -1 && removed == 1 && added == 1) ? best : 0;
}

/* A parent's id is smaller than its children's, so one pass in order moves whole branches. */
static void move_nodes(struct joiner *j)
{
    TG_FREE uint32_t *now = tg_xmalloc((j->n + 1) * sizeof *now);
    now[0] = 0;
    for (uint32_t i = 1; i < j->n; i++) {
        struct tg_path_node n = *node_at(j, i);
        uint32_t text = has_name(&n) ? j->rename[n.text] : n.text;
        now[i] = now[n.parent] == n.parent && text == n.text
                     ? i
                     : tg_path_node_of(j->p, j->tree, now[n.parent], n.kind, text);
        struct tg_path_node *v = j->p->tree[j->tree].v, *to = &v[now[i]];
        for (int side = 0; side < 2 && now[i] != i; side++) {
            to->calls[side] += v[i].calls[side];
            to->line[side] = v[i].line[side] ? v[i].line[side] : to->line[side];
            v[i].calls[side] = 0;
        }
    }
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < j->p->n[side]; i++)
            j->p->entry[side][i].node[j->tree] = now[j->p->entry[side][i].node[j->tree]];
}

static bool one_round(struct tg_paths *p, int tree)
{
    TG_ARENA *a = tg_arena_new();
    size_t n = p->tree[tree].keys.n;
    struct joiner j = { .p = p,
                        .tree = tree,
                        .n = n,
                        .in = TG_NEW_N(a, unsigned, p->texts.n + 1),
                        .child = TG_NEW_N(a, uint32_t, n + 1),
                        .next = TG_NEW_N(a, uint32_t, n + 1),
                        .rename = TG_NEW_N(a, uint32_t, p->texts.n + 1) };
    for (uint32_t i = (uint32_t)n; i-- > 1;) {
        const struct tg_path_node *node = node_at(&j, i);
        if (!node->calls[TG_PATHS_BASE] && !node->calls[TG_PATHS_TEST])
            continue;
        j.next[i] = j.child[node->parent];
        j.child[node->parent] = i;
        for (int side = 0; side < 2; side++)
            if (node->calls[side])
                j.in[node->text] |= 1u << side;
    }
    for (uint32_t i = 0; i < p->texts.n; i++)
        j.rename[i] = i;
    bool found = false;
    for (uint32_t i = 1; i < n; i++) {
        uint32_t text = node_at(&j, i)->text, now;
        if (!node_at(&j, i)->calls[TG_PATHS_BASE] || !only(&j, i, IN_BASE) ||
            j.rename[text] != text || !(now = most_like(&j, i)))
            continue;
        j.rename[text] = node_at(&j, now)->text;
        j.in[node_at(&j, now)->text] |= IN_BASE; /* taken */
        found = true;
    }
    if (found)
        move_nodes(&j);
    return found;
}

static void join_renamed(struct tg_paths *p)
{
    if (!p->n_steps[TG_PATHS_BASE] || !p->n_steps[TG_PATHS_TEST])
        return;
    for (int tree = 0; tree < TG_PATHS_TREES; tree++)
        for (int round = 0; round < RENAMED_ROUNDS && one_round(p, tree);)
            round++;
}

/* ---- the end ---- */

void tg_paths_finish(struct tg_paths *p)
{
    join_renamed(p);
    for (int side = 0; side < 2; side++) {
        /* Entries by target, by counting; the order within a target stays. */
        struct tg_path_entry *to = tg_xmalloc((p->n[side] + 1) * sizeof *to);
        size_t *first = tg_xcalloc(p->n_targets + 2, sizeof *first);
        for (size_t i = 0; i < p->n[side]; i++)
            first[p->entry[side][i].target + 2]++;
        for (size_t k = 2; k <= p->n_targets; k++)
            first[k] += first[k - 1];
        for (size_t i = 0; i < p->n[side]; i++)
            to[first[p->entry[side][i].target + 1]++] = p->entry[side][i];
        free(p->entry[side]);
        p->entry[side] = to;
        p->first[side] = first;
    }
}
