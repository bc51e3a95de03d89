#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause/internal.h"

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

void tg_paths_join_renamed(struct tg_paths *p)
{
    if (!p->n_steps[TG_PATHS_BASE] || !p->n_steps[TG_PATHS_TEST])
        return;
    for (int tree = 0; tree < TG_PATHS_TREES; tree++)
        for (int round = 0; round < TG_RENAMED_ROUNDS && one_round(p, tree);)
            round++;
}
