/* Properties on real traces (skipped where ../shared is absent): what the order of the events, the
 * size of the reads, and the stored form may not change. */
#include "tests/core/summary/traced.h"

#include "core/base/file.h"

#define TRACES TG_SHARED_DIR "/corpus/traces"

static struct tg_buf read_trace(const char *path)
{
    struct tg_buf text = { 0 };
    struct tg_err err;
    TG_SOURCE *s = tg_source_open(path, NULL, &err);
    int64_t got;
    assert_non_null(s);
    while ((got = tg_source_fill(s, tg_buf_room(&text, 1 << 20), 1 << 20, &err)) > 0)
        text.n += (size_t)got;
    assert_int_equal(got, 0);
    return text;
}

static void summarize(struct tg_summary *out, tg_sv text, size_t window)
{
    struct tg_summarize_opts o = { .rank = -1 };
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    o.load.reader.window = window;
    s = tg_source_memory(text, "trace.json", NULL, &err);
    assert_non_null(s);
    if (!tg_summary_add(out, s, &o, NULL, &err))
        fail_msg("%s", err.message);
}

static struct tg_buf stored(tg_sv text, size_t window)
{
    SUMMARY s = no_shards();
    struct tg_buf out = { 0 };
    struct tg_err err;
    summarize(&s, text, window);
    assert_true(tg_summary_write(&s, NULL, &out, &err));
    return out;
}

static void assert_same(const char *path, const char *what, const struct tg_buf *a,
                        const struct tg_buf *b)
{
    size_t i = 0;
    while (i < a->n && i < b->n && a->p[i] == b->p[i])
        i++;
    if (i < a->n || i < b->n)
        fail_msg("%s: %s changes byte %zu: %.60s / %.60s", path, what, i, a->p + i, b->p + i);
}

/* The elements of the array that begins at `at` ('['), as views; `end` is behind its ']'. */
static tg_sv *elements(tg_sv text, size_t at, size_t *n, size_t *end)
{
    tg_sv *v = NULL;
    size_t cap = 0, from = at + 1;
    int depth = 0;
    bool quoted = false;
    *n = 0;
    for (size_t i = at + 1; i < text.n; i++) {
        char c = text.p[i];
        if (quoted) {
            i += c == '\\';
            quoted = c != '"';
            continue;
        }
        quoted = c == '"';
        if ((c == ',' || c == ']') && depth == 0) {
            v = tg_grow(v, &cap, *n + 1, sizeof *v);
            v[(*n)++] = (tg_sv){ text.p + from, i - from };
            from = i + 1;
            *end = i + 1;
            if (c == ']')
                return v;
        }
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
    }
    fail_msg("no end of traceEvents");
    return v;
}

/* The same file with its events in another order (Fisher-Yates, fixed seed). */
static struct tg_buf shuffled(const struct tg_buf *text)
{
    char *key = strstr(text->p, "\"traceEvents\"");
    size_t at = key ? (size_t)(strchr(key, '[') - text->p) : 0, n, end = 0;
    tg_sv *v = elements(tg_buf_sv(text), at, &n, &end);
    struct tg_buf out = { 0 };
    uint64_t r = 12345;
    for (size_t i = n; i > 1; i--) {
        size_t j;
        tg_sv x = v[i - 1];
        r = r * 6364136223846793005u + 1442695040888963407u;
        j = (size_t)(r >> 33) % i;
        v[i - 1] = v[j];
        v[j] = x;
    }
    tg_buf_add(&out, (tg_sv){ text->p, at + 1 });
    for (size_t i = 0; i < n; i++) {
        if (i)
            tg_buf_putc(&out, ',');
        tg_buf_add(&out, v[i]);
    }
    tg_buf_puts(&out, "]");
    tg_buf_add(&out, (tg_sv){ text->p + end, text->n - end });
    free(v);
    return out;
}

static void properties_of(const char *path)
{
    struct tg_buf text = read_trace(path), first = stored(tg_buf_sv(&text), 0), other,
                  again = { 0 };
    SUMMARY s = no_shards();
    struct tg_err err;
    other = stored(tg_buf_sv(&text), text.n > 4000000 ? 70000 : 1000);
    assert_same(path, "the size of the reads", &first, &other);
    tg_buf_release(&other);
    other = shuffled(&text);
    tg_buf_release(&text);
    text = other;
    other = stored(tg_buf_sv(&text), 0);
    assert_same(path, "the order of the events", &first, &other);
    tg_buf_release(&other);
    summarize(&s, tg_buf_sv(&first), 0); /* a summary stands wherever a trace may */
    assert_true(tg_summary_write(&s, NULL, &again, &err));
    assert_same(path, "reading the stored form", &first, &again);
    tg_buf_release(&again);
    tg_buf_release(&first);
    tg_buf_release(&text);
}

TEST(real_traces_keep_their_summaries)
{
    static const char *const paths[] = {
        "/hta/trace_compare/base/base.json.gz",
        "/hta/amd_mi250/mi250_minitoy.json.gz",
        "/hta/simple_add_old/benchmark_simple_add_trace.json.gz",
        "/hta/mtia_inference/mtia_inference_rank_0.json.gz",
        "/hta/nccl_a100_ns/nccl_data.json.gz",
        "/hta/backward_thread/backward_thread.json",
        "/hta/no_rank/rank_not_found.json.gz",
        "/hta/negative_queue_length/rank0.json.gz",
        "/kineto_v100/resnet50_w0_run1/worker0.json.gz",
        "/nanovllm/decode/decode_gpu_0.json.gz",
        "/param/dlrm_8rank/worker3_step_12.1694128201557.pt.trace.json.gz",
        "/tracelens/h100_qwen/qwen1.5-0.5b.json.gz",
        "/tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz",
        "/tracelens/vllm_prefilldecode_exec/graph_execution.json.gz",
        "/tracelens/b200_eager/eager_trace.json.gz",
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, "%s%s", TRACES, paths[i]);
        properties_of(path);
    }
}

/* Eight ranks of one run, merged in two orders through stored forms. */
TEST(ranks_merge_in_any_order)
{
    static const char *const stamps[] = { "545", "556", "554", "557", "547", "549", "553", "553" };
    SUMMARY up, down, side;
    TG_BUF a = { 0 }, b = { 0 };
    struct tg_side arranged;
    struct tg_err err = TG_ERR_INIT;
    tg_summary_init(&up);
    tg_summary_init(&down);
    tg_summary_init(&side);
    for (int k = 0; k < 8; k++)
        for (int way = 0; way < 2; way++) {
            int rank = way ? 7 - k : k;
            char path[4096];
            TG_BUF text, form = { 0 };
            (void)snprintf(path, sizeof path,
                           "%s/param/dlrm_8rank/worker%d_step_12.1694128201%s.pt.trace.json.gz",
                           TRACES, rank, stamps[rank]);
            text = read_trace(path);
            form = stored(tg_buf_sv(&text), 0);
            assert_true(tg_summary_parse(way ? &down : &up, tg_buf_sv(&form), "part.json", &err));
        }
    assert_true(tg_summary_write(&up, NULL, &a, &err));
    assert_true(tg_summary_write(&down, NULL, &b, &err));
    assert_same("dlrm_8rank", "the order of merging", &a, &b);
    assert_true(tg_side_arrange(&arranged, &up, TG_ARRANGE_AUTO, up.arena, &err));
    assert_int_equal(arranged.n_ranks, 8);
    assert_int_equal(arranged.n_runs, 1);
}

int main(void)
{
    if (!tg_file_is_dir(TRACES)) {
        printf("skipped: no traces in %s\n", TRACES);
        return 77;
    }
    return run_registered(NULL, NULL, NULL);
}
