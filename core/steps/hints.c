#include <stdlib.h>

#include "core/base/arena.h"
#include "core/base/sort.h"
#include "core/steps/steps.h"

#define MIN_COUNT 3
#define MIN_COVERED 0.5
#define MAX_SHARE 0.5 /* of one alone in their time: above it, a start-up cost */

struct tally {
    size_t count;
    tg_ns total, longest, until;
    bool apart; /* no two of them overlap */
};

static int better(const void *a, const void *b)
{
    const struct tg_window_hint *x = a, *y = b;
    int c = TG_CMP(y->covered, x->covered);
    c = c ? c : TG_CMP(x->count, y->count);
    return c ? c : tg_sv_cmp(x->name, y->name);
}

static void add(struct tally *n, const struct tg_span *s)
{
    tg_ns end = tg_span_end(s);
    n->apart = n->apart && s->start >= n->until;
    n->until = end > n->until ? end : n->until;
    n->total = tg_ns_add(n->total, s->dur > 0 ? s->dur : 0);
    n->longest = s->dur > n->longest ? s->dur : n->longest;
    n->count++;
}

/* Servers number their annotations ("execute_32_context_1(…)"), so no name recurs. Names with the
 * same prefix form a group if a glob of the prefix matches nothing else. */
struct groups {
    struct tg_strmap prefixes;
    uint32_t *of; /* per name id; TG_NO_ID: not in a group */
    struct tally *v;
    size_t *names; /* distinct ones per group; 0: the glob would match other names too */
};

static bool may_be_window(enum tg_kind k)
{
    return k == TG_KIND_OP || k == TG_KIND_ANNOTATION;
}

#define MAX_PREFIXES 64 /* above this, numbers in names mean something else */

static void groups_init(struct groups *g, const struct tg_trace *t)
{
    g->of = tg_xrealloc(NULL, t->names->n + 1, sizeof *g->of);
    for (size_t i = 0; i < t->names->n; i++) {
        /* The part before the first digit, if it is a word: "execute_" of "execute_32_ctx_1". */
        tg_sv prefix = t->names->v[i].name;
        size_t n = 0;
        while (n < prefix.n && !tg_is_digit(prefix.p[n]))
            n++;
        bool word = n < prefix.n && n >= 3;
        prefix.n = n;
        g->of[i] = TG_NO_ID;
        if (word && t->names->v[i].kind == TG_KIND_ANNOTATION && g->prefixes.n < MAX_PREFIXES)
            g->of[i] = tg_strmap_add(&g->prefixes, prefix);
    }
    g->v = tg_xrealloc(NULL, g->prefixes.n + 1, sizeof *g->v);
    g->names = tg_xcalloc(g->prefixes.n + 1, sizeof *g->names);
    for (size_t i = 0; i < t->names->n; i++)
        if (g->of[i] != TG_NO_ID)
            g->names[g->of[i]]++;
    for (uint32_t k = 0; k < g->prefixes.n; k++) {
        g->v[k] = (struct tally){ .until = INT64_MIN, .apart = true };
        for (size_t i = 0; i < t->names->n; i++)
            if (may_be_window(t->names->v[i].kind) && g->of[i] != k &&
                tg_sv_starts(t->names->v[i].name, g->prefixes.text[k]))
                g->names[k] = 0;
    }
}

static struct tally *count_names(const struct tg_trace *t, const uint32_t *order, struct groups *g,
                                 tg_ns *length)
{
    struct tally *v = tg_xrealloc(NULL, t->names->n + 1, sizeof *v);
    tg_ns until = INT64_MIN;
    for (size_t i = 0; i < t->names->n; i++)
        v[i] = (struct tally){ .until = INT64_MIN, .apart = true };
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, order[k]);
        add(&v[s->name], s);
        if (g->of[s->name] != TG_NO_ID)
            add(&g->v[g->of[s->name]], s);
        until = tg_span_end(s) > until ? tg_span_end(s) : until;
    }
    *length = t->n_spans ? tg_ns_sub(until, tg_span_at(t, order[0])->start) : 0;
    return v;
}

static bool is_hint(const struct tally *v, tg_ns length)
{
    return v->apart && v->count >= MIN_COUNT && length > 0 &&
           (double)v->total >= MIN_COVERED * (double)length &&
           (double)v->longest <= MAX_SHARE * (double)v->total;
}

static struct tg_window_hint hint_of(tg_sv name, const struct tally *v, tg_ns length)
{
    return (struct tg_window_hint){ name, v->count, (double)v->total / (double)length };
}

/* ---- annotations that recur too little to be steps for sure ---- */

#define MAX_AROUND 16 /* such annotations that are looked at */

/* What PyTorch itself writes does not mark a step of a program. */
static bool is_of_profiler(tg_sv name)
{
    static const char *const starts[] = { "## Call ", "nccl:", "Torch-Compiled Region" };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (tg_sv_starts(name, tg_sv_of(starts[i])))
            return true;
    return tg_sv_has(name, TG_SV("dynamo_timed"));
}

/* An annotation, or a group of them, and how many calls of the runtime are in it. */
struct around {
    const struct tally *tally;
    tg_sv name;
    uint32_t id; /* of a group; else of a name */
    bool group;
    uint64_t calls;
    tg_ns until; /* of the latest one */
};

static int by_time(const void *a, const void *b)
{
    const struct around *x = a, *y = b;
    int c = TG_CMP(y->tally->total, x->tally->total);
    return c ? c : tg_sv_cmp(x->name, y->name);
}

/* Annotations, however few, that hold half of the calls of the runtime, on any thread, or of the
 * time. */
static size_t hints_around(const struct tg_trace *t, const uint32_t *order, const struct groups *g,
                           const struct tally *v, tg_ns length, struct tg_window_hint *out,
                           struct tg_arena *a)
{
    TG_FREE struct around *all = tg_xrealloc(NULL, t->names->n + MAX_PREFIXES + 1, sizeof *all);
    size_t n = 0, kept = 0;
    uint64_t calls = 0;
    for (uint32_t i = 0; i < t->names->n; i++) {
        const struct tg_name *name = &t->names->v[i];
        bool grouped = g->of[i] != TG_NO_ID && g->names[g->of[i]];
        if (name->kind == TG_KIND_ANNOTATION && !grouped && v[i].count && v[i].apart &&
            !is_of_profiler(name->name))
            all[n++] = (struct around){ &v[i], name->name, i, false, 0, INT64_MIN };
    }
    for (uint32_t k = 0; k < g->prefixes.n; k++)
        if (g->names[k] && g->v[k].count && g->v[k].apart && !is_of_profiler(g->prefixes.text[k]))
            all[n++] = (struct around){ &g->v[k], g->prefixes.text[k], k, true, 0, INT64_MIN };
    TG_SORT(all, n, by_time);
    n = n < MAX_AROUND ? n : MAX_AROUND;
    for (size_t k = 0; k < t->n_spans; k++) {
        const struct tg_span *s = tg_span_at(t, order[k]);
        enum tg_kind kind = tg_span_kind(t, s);
        bool call = tg_kind_is_call(kind);
        calls += call;
        for (size_t i = 0; i < n; i++) {
            if (kind == TG_KIND_ANNOTATION &&
                (all[i].group ? g->of[s->name] : s->name) == all[i].id)
                all[i].until = tg_span_end(s);
            all[i].calls += call && s->start < all[i].until;
        }
    }
    for (size_t i = 0; i < n && length > 0; i++) {
        bool holds = calls ? (double)all[i].calls >= MIN_COVERED * (double)calls
                           : (double)all[i].tally->total >= MIN_COVERED * (double)length;
        tg_sv name = all[i].name;
        if (holds && all[i].group)
            name = TG_SV_PRINTF(a, "%.*s*", TG_SV_ARG(name));
        if (holds)
            out[kept++] = hint_of(name, all[i].tally, length);
    }
    return kept;
}

size_t tg_steps_hints(const struct tg_trace *t, struct tg_window_hint *out, size_t max,
                      struct tg_arena *a)
{
    TG_FREE uint32_t *order = tg_xrealloc(NULL, t->n_spans + 1, sizeof *order);
    TG_FREE struct tg_window_hint *all =
        tg_xrealloc(NULL, t->names->n + MAX_PREFIXES + 1, sizeof *all);
    struct groups g = { 0 };
    TG_FREE struct tally *v = NULL;
    tg_ns length;
    size_t n = 0;
    tg_trace_sort(t, order);
    groups_init(&g, t);
    v = count_names(t, order, &g, &length);
    for (size_t i = 0; i < t->names->n; i++)
        if (may_be_window(t->names->v[i].kind) && is_hint(&v[i], length))
            all[n++] = hint_of(t->names->v[i].name, &v[i], length);
    for (size_t k = 0; k < g.prefixes.n; k++)
        if (g.names[k] > 1 && is_hint(&g.v[k], length))
            all[n++] =
                hint_of(TG_SV_PRINTF(a, "%.*s*", TG_SV_ARG(g.prefixes.text[k])), &g.v[k], length);
    if (n == 0)
        n = hints_around(t, order, &g, v, length, all, a);
    TG_SORT(all, n, better);
    n = n < max ? n : max;
    for (size_t i = 0; i < n; i++)
        out[i] = all[i];
    tg_strmap_release(&g.prefixes);
    free(g.of);
    free(g.v);
    free(g.names);
    return n;
}
