#include "core/cause/explain.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/sort.h"

/* One target's nodes: inclusive values per step, both sides. */
struct sums {
    const struct tg_paths *p;
    const struct tg_path_tree *t;
    uint32_t *local; /* per node of the tree: its place here, or TG_NO_ID */
    uint32_t *node;  /* the other way */
    size_t n, cap;
    double *value[2]; /* place * n_steps + step */
    double *difference;
    bool means;
};

static uint32_t place_of(struct sums *s, uint32_t node)
{
    if (s->local[node] == TG_NO_ID) {
        s->node = tg_grow(s->node, &s->cap, s->n + 1, sizeof *s->node);
        s->node[s->n] = node;
        s->local[node] = (uint32_t)s->n++;
    }
    return s->local[node];
}

static size_t first_of(const struct tg_paths *p, int side, uint32_t target)
{
    return target > p->n_targets ? p->n[side] : p->first[side][target];
}

static double middle_of(const double *v, size_t n, bool mean)
{
    double sum = 0;
    if (!n)
        return 0;
    for (size_t i = 0; mean && i < n; i++)
        sum += v[i];
    if (mean)
        return sum / (double)n;
    TG_FREE double *sorted = memcpy(tg_xmalloc(n * sizeof *sorted), v, n * sizeof *sorted);
    TG_SORT(sorted, n, tg_by_real);
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

static double middle_at(const struct sums *s, int side, size_t place, bool mean)
{
    size_t n = s->p->n_steps[side];
    return middle_of(s->value[side] + place * n, n, mean);
}

static double difference_at(const struct sums *s, size_t place, bool means)
{
    return middle_at(s, TG_PATHS_TEST, place, means) - middle_at(s, TG_PATHS_BASE, place, means);
}

static void sums_make(struct sums *s, const struct tg_paths *p, int tree, uint32_t target,
                      enum tg_cause_by by, int sign)
{
    *s = (struct sums){ .p = p, .t = &p->tree[tree] };
    s->local = tg_xmalloc((s->t->keys.n + 1) * sizeof *s->local);
    memset(s->local, 0xff, (s->t->keys.n + 1) * sizeof *s->local);
    (void)place_of(s, 0);
    for (int side = 0; side < 2; side++)
        for (size_t i = first_of(p, side, target); i < first_of(p, side, target + 1); i++) {
            uint32_t at = p->entry[side][i].node[tree];
            for (; at && s->local[at] == TG_NO_ID; at = s->t->v[at].parent)
                (void)place_of(s, at);
        }
    for (int side = 0; side < 2; side++) {
        size_t steps = p->n_steps[side], n = s->n * (steps ? steps : 1);
        double *v = s->value[side] = tg_xcalloc(n + 1, sizeof *v);
        for (size_t i = first_of(p, side, target); i < first_of(p, side, target + 1); i++) {
            const struct tg_path_entry *e = &p->entry[side][i];
            double x = by == TG_CAUSE_BY_CALLS ? (double)e->calls : (double)e->ns;
            uint32_t up = e->node[tree];
            if (e->step >= steps)
                continue;
            for (;; up = s->t->v[up].parent) {
                v[s->local[up] * steps + e->step] += x;
                if (!up)
                    break;
            }
        }
    }
    /* Means only where the medians hide most of the difference. */
    double median = sign * difference_at(s, 0, false), mean = sign * difference_at(s, 0, true);
    s->means = median < mean / 2;
    s->difference = tg_xmalloc((s->n + 1) * sizeof *s->difference);
    for (size_t i = 0; i < s->n; i++)
        s->difference[i] = sign * difference_at(s, i, s->means);
}

static void sums_release(struct sums *s)
{
    free(s->local);
    free(s->node);
    free(s->value[0]);
    free(s->value[1]);
    free(s->difference);
}

/* 1 at most: what rises by more than the whole is made up for elsewhere. */
static double part_of(double part, double whole)
{
    return whole <= 0 || part <= 0 ? 0 : part > whole ? 1 : part / whole;
}

static struct tg_cause_frame frame_at(const struct sums *s, uint32_t node)
{
    const struct tg_path_node *n = &s->t->v[node];
    struct tg_cause_frame f = { .kind = n->kind, .text = s->p->texts.text[n->text] };
    double whole = s->difference[0];
    f.share = part_of(s->difference[s->local[node]], whole);
    f.line = n->line[TG_PATHS_TEST] ? n->line[TG_PATHS_TEST] : n->line[TG_PATHS_BASE];
    if (n->kind == TG_PATH_FUNCTION) {
        const char *at = memmem(f.text.p, f.text.n, ": ", 2);
        f.file = (tg_sv){ f.text.p, (size_t)(at - f.text.p) };
        f.text = (tg_sv){ at + 2, f.text.n - f.file.n - 2 };
        f.text = tg_sv_cut(&f.text, '\n');
    }
    return f;
}

/* The child with the largest difference; 0: none rises. */
static uint32_t largest_child(const struct sums *s, uint32_t node)
{
    uint32_t best = 0;
    for (size_t i = 1; i < s->n; i++)
        if (s->t->v[s->node[i]].parent == node && s->difference[i] > 0 &&
            (!best || s->difference[i] > s->difference[s->local[best]]))
            best = s->node[i];
    return best;
}

static void put_path(struct tg_cause_path *out, const struct sums *s, uint32_t node,
                     struct tg_arena *a)
{
    out->n = s->t->v[node].depth;
    out->frames = TG_NEW_N(a, struct tg_cause_frame, out->n + 1);
    out->share = frame_at(s, node).share;
    out->is_new = middle_at(s, TG_PATHS_BASE, s->local[node], true) == 0;
    for (size_t i = out->n; i-- > 0; node = s->t->v[node].parent) {
        out->frames[i] = frame_at(s, node);
        if (out->frames[i].kind != TG_PATH_BACKWARD)
            continue;
        out->backward = true;
        out->is_new = out->is_new && s->t->v[s->t->v[node].parent].calls[TG_PATHS_BASE] > 0;
    }
}

static uint32_t descend(const struct sums *s, struct tg_cause_frame *next)
{
    uint32_t at = 0, child;
    while ((child = largest_child(s, at)) != 0 &&
           s->difference[s->local[child]] >= TG_CAUSE_CHILD * s->difference[s->local[at]])
        at = child;
    *next = child ? frame_at(s, child) : (struct tg_cause_frame){ .share = 0 };
    return at;
}

struct ranked {
    struct tg_cause_frame frame;
    uint32_t depth;
};

static int deepest_first(const void *pa, const void *pb)
{
    const struct ranked *a = pa, *b = pb;
    int c = TG_CMP(b->depth, a->depth);
    c = c ? c : TG_CMP(b->frame.share, a->frame.share);
    return c ? c : tg_sv_cmp(a->frame.text, b->frame.text);
}

/* A call of the function with no call of the same function above it. */
static bool is_outermost(const struct tg_path_tree *t, uint32_t node, uint32_t text)
{
    if (!tg_path_is_function(&t->v[node], text))
        return false;
    for (uint32_t at = t->v[node].parent; at; at = t->v[at].parent)
        if (tg_path_is_function(&t->v[at], text))
            return false;
    return true;
}

/* The function of this node, from everywhere: its part of the difference, its calls, and the depth
 * where it grew. */
static struct ranked rank(const struct sums *s, uint32_t node, int sign)
{
    const struct tg_path_tree *t = s->t;
    uint32_t text = t->v[node].text;
    struct ranked r = { .frame = frame_at(s, node) };
    double side[2];
    for (int k = 0; k < 2; k++) {
        size_t steps = s->p->n_steps[k];
        TG_FREE double *sum = tg_xcalloc(steps + 1, sizeof *sum);
        for (size_t i = 1; i < s->n; i++)
            if (is_outermost(t, s->node[i], text))
                for (size_t j = 0; j < steps; j++)
                    sum[j] += s->value[k][i * steps + j];
        side[k] = middle_of(sum, steps, s->means);
        for (uint32_t i = 1; i < t->keys.n; i++)
            if (is_outermost(t, i, text))
                r.frame.calls[k] += t->v[i].calls[k];
        r.frame.calls[k] = steps ? r.frame.calls[k] / (double)steps : 0;
    }
    r.frame.share = part_of(sign * (side[TG_PATHS_TEST] - side[TG_PATHS_BASE]), s->difference[0]);
    for (size_t i = 1; i < s->n; i++) {
        const struct tg_path_node *n = &t->v[s->node[i]];
        if (tg_path_is_function(n, text) && s->difference[i] > TG_CAUSE_NAMED * s->difference[0] &&
            n->depth > r.depth)
            r.depth = n->depth;
    }
    return r;
}

/* The instance's path where it leads as far as the class's; else that of the class. */
bool tg_cause_explain(struct tg_cause_path *out, const struct tg_paths *p, uint32_t target,
                      enum tg_cause_by by, int sign, struct tg_arena *a)
{
    TG_AUTO(sums_release) struct sums class_ = { 0 }, one = { 0 };
    struct tg_cause_frame next, next_one;
    *out = (struct tg_cause_path){ 0 };
    sums_make(&class_, p, TG_PATHS_BY_CLASS, target, by, sign);
    if (class_.difference[0] <= 0)
        return false;
    sums_make(&one, p, TG_PATHS_BY_INSTANCE, target, by, sign);
    uint32_t at = descend(&class_, &next);
    uint32_t at_one = descend(&one, &next_one);
    out->difference = sign * class_.difference[0];
    if (one.t->v[at_one].depth >= class_.t->v[at].depth) {
        put_path(out, &one, at_one, a);
        out->next = next_one;
    } else {
        put_path(out, &class_, at, a);
        out->next = next;
    }
    TG_FREE struct ranked *v = tg_xmalloc((class_.n + 1) * sizeof *v);
    TG_FREE bool *seen = tg_xcalloc(class_.p->texts.n + 1, sizeof *seen);
    size_t n = 0;
    for (size_t i = 1; i < class_.n; i++) {
        const struct tg_path_node *d = &class_.t->v[class_.node[i]];
        if (d->kind != TG_PATH_FUNCTION || seen[d->text])
            continue;
        seen[d->text] = true;
        v[n] = rank(&class_, class_.node[i], sign);
        if (v[n].frame.share >= TG_CAUSE_NAMED)
            n++;
    }
    TG_SORT(v, n, deepest_first);
    out->functions = TG_NEW_N(a, struct tg_cause_frame, n + 1);
    for (size_t i = 0; i < n; i++)
        out->functions[i] = v[i].frame;
    out->n_functions = n;
    return true;
}
