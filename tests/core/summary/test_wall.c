/* Wall clock is made of rows, on recorded traces: what the thread of the step markers does in a
 * window is self time of exactly one node of the calling context tree, and so is each event. */
#include <glob.h>

#include "core/summary/summary.h"
#include "core/trace/source.h"
#include "tests/core/summary/tree_check.h"

/* Whose root is it below? */
static uint32_t root_of(const struct tg_tree *t, size_t i)
{
    while (t->node[i].parent != TG_NO_ID)
        i = t->node[i].parent;
    return (uint32_t)i;
}

static void wall_of(const struct tg_shard *s, const char *path)
{
    tg_ns *sum = tg_xcalloc(s->n_steps + 1, sizeof *sum);

    for (size_t i = TG_ROOTS; i < s->tree.n; i++) {
        const struct tg_tree_node *node = &s->tree.node[i];
        if (root_of(&s->tree, i) != TG_ROOT_STEP || !tg_kind_nests(s->rows[node->row].key->kind))
            continue;
        for (size_t k = 0; k < s->n_steps; k++)
            sum[k] += tg_tree_self(s, node)[k];
    }
    for (size_t k = 0; k < s->n_steps; k++)
        if (sum[k] != s->steps[k].end - s->steps[k].start)
            fail_msg("%s, step %zu: the window is %lld ns, its rows %lld", path, k,
                     (long long)(s->steps[k].end - s->steps[k].start), (long long)sum[k]);
    free(sum);
}

/* Each span is a call of one row. */
static void events_of(const struct tg_shard *s, const char *path)
{
    uint64_t calls = 0;

    for (size_t r = 0; r < s->n_rows; r++)
        for (size_t k = 0; k <= s->n_steps; k++)
            calls += s->rows[r].count[k];
    if (calls != s->spans)
        fail_msg("%s: %llu spans, %llu calls of rows", path, (unsigned long long)s->spans,
                 (unsigned long long)calls);
}

static size_t look(const char *pattern)
{
    glob_t g;
    size_t n = 0;
    if (glob(pattern, 0, NULL, &g))
        return 0;
    for (; n < g.gl_pathc; n++) {
        TG_AUTO(tg_summary_release) struct tg_summary s;
        struct tg_summarize_opts o = { .rank = -1 };
        struct tg_err err = TG_ERR_INIT;
        TG_SOURCE *in = tg_source_open(g.gl_pathv[n], NULL, &err);
        assert_non_null(in);
        tg_summary_init(&s);
        if (tg_summary_add(&s, in, &o, NULL, &err))
            for (size_t i = 0; i < s.n; i++) {
                if (s.shards[i]->marked)
                    wall_of(s.shards[i], g.gl_pathv[n]);
                check_tree(s.shards[i]);
                events_of(s.shards[i], g.gl_pathv[n]);
            }
    }
    globfree(&g);
    return n;
}

TEST(examples)
{
    assert_true(look(TG_SOURCE_DIR "/examples/traces/*/run1*.json.gz") > 3);
}

TEST(corpus)
{
    static const char *const depths[] = { "*", "*/*", "*/*/*" };
    size_t n = 0;
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++)
        for (int plain = 0; plain < 2; plain++) {
            char pattern[4096];
            (void)snprintf(pattern, sizeof pattern, TG_SHARED_DIR "/corpus/traces/%s.json%s",
                           depths[i], plain ? "" : ".gz");
            n += look(pattern);
        }
    printf("corpus: %zu traces%s\n", n, n ? "" : " (skipped: ../shared is absent)");
}

int main(void)
{
    return run_registered(NULL, NULL, NULL);
}
