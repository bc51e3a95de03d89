/*
 * What core/cause makes of one trace, for tests/e2e/cause_corpus.py:
 *
 *   cause_driver links TRACE    "backward forward" for each numbered backward operator: positions
 *                               in traceEvents; forward -1 where none is found
 *   cause_driver device TRACE   device time in ns, of the whole trace: all of it, backward work,
 *                               that linked to a forward operator, that of AccumulateGrad
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cause/internal.h"
#include "core/cause/paths.h"

static struct tg_trace *load(const char *path)
{
    struct tg_load_opts o = { .want_sequence = true };
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    struct tg_trace *t = NULL;
    o.reader.want_args = true;
    s = tg_source_open(path, NULL, &err);
    if (s)
        t = tg_trace_load(s, &o, NULL, &err);
    tg_source_close(s);
    if (!t)
        fprintf(stderr, "%s: %s\n", path, err.message);
    return t;
}

static void put_links(const struct tg_trace *t)
{
    struct tg_forwards f;
    bool *backward = calloc(t->names->n + 1, sizeof *backward);
    for (size_t i = 0; i < t->names->n; i++)
        backward[i] = t->names->v[i].kind == TG_KIND_OP && tg_backward_named(t->names->v[i].name);
    tg_forwards_init(&f, t, backward);
    for (uint32_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        uint32_t forward;
        if (!backward[s->name] || t->sequence[i] < 0)
            continue;
        forward = tg_forward_of(&f, t, i);
        printf("%u %" PRId64 "\n", s->index,
               forward == TG_NO_SPAN ? -1 : (int64_t)tg_span_at(t, forward)->index);
    }
    tg_forwards_release(&f);
    free(backward);
}

static uint32_t target(void *arg, enum tg_kind kind, tg_sv name)
{
    (void)arg;
    (void)name;
    return tg_kind_is_device(kind) ? 0 : TG_NO_ID;
}

static bool function(void *arg, int side, tg_sv name, tg_sv *file, tg_sv *text, uint32_t *line,
                     bool *by_line)
{
    (void)arg;
    (void)side;
    (void)name;
    *file = *text = TG_SV("");
    *line = 0;
    *by_line = false;
    return false;
}

enum { ALL, BACKWARD, LINKED, EXCHANGE, SORTS };

static void sort_out(const struct tg_paths *p, int64_t *ns)
{
    const struct tg_path_tree *t = &p->tree[TG_PATHS_BY_CLASS];
    for (size_t i = 0; i < p->n[TG_PATHS_BASE]; i++) {
        const struct tg_path_entry *e = &p->entry[TG_PATHS_BASE][i];
        bool linked = false, exchange = false, backward = false;
        for (uint32_t at = e->node[TG_PATHS_BY_CLASS]; at; at = t->v[at].parent) {
            linked |= t->v[at].kind == TG_PATH_BACKWARD;
            exchange |= t->v[at].kind == TG_PATH_EXCHANGE;
            backward |=
                t->v[at].kind == TG_PATH_OP && tg_backward_named(p->texts.text[t->v[at].text]);
        }
        ns[ALL] += e->ns;
        ns[BACKWARD] += backward ? e->ns : 0;
        ns[LINKED] += linked ? e->ns : 0;
        ns[EXCHANGE] += exchange ? e->ns : 0;
    }
}

static bool put_device(const struct tg_trace *t)
{
    struct tg_paths_ask ask = { NULL, target, function };
    struct tg_window_spec whole = { .by = TG_WINDOW_WHOLE };
    TG_AUTO(tg_steps_release) struct tg_steps steps = { 0 };
    struct tg_paths p;
    struct tg_err err = TG_ERR_INIT;
    int64_t ns[SORTS] = { 0 };
    bool ok;
    tg_paths_init(&p, &ask, TG_NO_ID);
    ok = tg_steps_build(&steps, t, &whole, &err);
    if (ok) {
        tg_paths_add(&p, TG_PATHS_BASE, t, &steps, 0);
        sort_out(&p, ns);
        for (int k = 0; k < SORTS; k++)
            printf("%" PRId64 "%c", ns[k], k + 1 < SORTS ? ' ' : '\n');
    }
    tg_paths_release(&p);
    return ok;
}

int main(int argc, char **argv)
{
    struct tg_trace *t = argc == 3 ? load(argv[2]) : NULL;
    bool ok = t != NULL;
    if (ok && strcmp(argv[1], "links") == 0)
        put_links(t);
    else if (ok)
        ok = put_device(t);
    tg_trace_free(t);
    return !ok;
}
