#include "tests/core/summary/traced.h"
#include "tests/core/summary/tree_check.h"

#include "core/base/file.h"
#include "core/summary/inject.h"
#include "core/summary/internal.h"
#include "core/summary/layout.h"

static struct tg_shard *shard(struct traced *f, uint64_t seed, const struct tg_limits *limits)
{
    struct tg_summarize_opts o = { .rank = -1, .load.reader.limits = limits };
    tg_summary_release(&f->s);
    tg_summary_init(&f->s);
    assert_true(traced_add(&f->s, &f->b, seed, &o, &f->err));
    return f->s.shards[0];
}

static void op(struct traced *f, const char *name, tg_ns at, tg_ns dur)
{
    bt_host(&f->b, "cpu_op", name, "1", at, dur, -1);
}

/* An operator that launches a kernel: 100 ns, the launch takes 10 of them. */
static void launching(struct traced *f, const char *name, const char *kernel, tg_ns at, int64_t id)
{
    op(f, name, at, 100);
    bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", "1", at + 20, 10, id);
    bt_device(&f->b, "kernel", kernel, 7, at + 50, 30, id);
}

/*
 * Two steps of 1000. mm runs once inside linear and once inside norm, in the second step twice
 * inside norm; another thread copies; between the steps something is logged; one kernel has no
 * launch.
 */
static void program(struct traced *f)
{
    static const char *const names[] = { "ProfilerStep#3", "ProfilerStep#4" };
    for (int k = 0; k < 2; k++) {
        tg_ns at = 1000 + 2000 * k;
        bt_host(&f->b, "user_annotation", names[k], "1", at, 1000, -1);
        op(f, "linear", at + 100, 150);
        launching(f, "mm", "gemm", at + 110, 10 * k + 1);
        op(f, "norm", at + 300, 250);
        launching(f, "mm", "gemm", at + 310, 10 * k + 2);
        if (k)
            launching(f, "mm", "gemm", at + 420, 10 * k + 3);
    }
    bt_host(&f->b, "cpu_op", "copy", "2", 1500, 40, -1);
    op(f, "log", 2100, 60);
    bt_device(&f->b, "kernel", "gemm", 7, 9000, 5, 99);
}

/*
 * By hand. linear: 150 less the 100 of mm; norm: 250 less 100, then less 200. mm: 100 less 10. The
 * markers: 1000 less 150 and 250. Rows are by kind (operators, calls, kernels, markers), then name.
 */
TRACED(a_tree_by_hand)
{
    program(f);
    check_tree(shard(f, 0, NULL));
    assert_tree(f->s.shards[0], "step > linear 1 50 | 1 50 | 0 0\n"
                                "step > linear > mm 1 90 | 1 90 | 0 0\n"
                                "step > linear > mm > cudaLaunchKernel 1 10 | 1 10 | 0 0\n"
                                "step > linear > mm > gemm 1 30 | 1 30 | 0 0\n"
                                "step > norm 1 150 | 1 50 | 0 0\n"
                                "step > norm > mm 1 90 | 2 180 | 0 0\n"
                                "step > norm > mm > cudaLaunchKernel 1 10 | 2 20 | 0 0\n"
                                "step > norm > mm > gemm 1 30 | 2 60 | 0 0\n"
                                "step > ProfilerStep#3 1 600 | 0 0 | 0 0\n"
                                "step > ProfilerStep#4 0 0 | 1 600 | 0 0\n"
                                "threads > copy 1 40 | 0 0 | 0 0\n"
                                "between > log 0 0 | 0 0 | 1 60\n"
                                "device > gemm 0 0 | 0 0 | 1 5\n");
    assert_int_equal(f->s.shards[0]->tree.cut, 0);
}

static struct tg_buf stored(const struct tg_summary *s, size_t max_slots)
{
    struct tg_buf out = { 0 };
    struct tg_err err;
    assert_true(tg_summary_write_form(
        s, NULL, (struct tg_summary_form){ max_slots, TG_ZLIB_USUAL, false }, &out, &err));
    return out;
}

TRACED(the_order_of_the_file_does_not_matter)
{
    TG_BUF one = { 0 };
    program(f);
    (void)shard(f, 0, NULL);
    one = stored(&f->s, SIZE_MAX);
    for (uint64_t seed = 1; seed < 8; seed++) {
        TG_BUF other = { 0 };
        check_tree(shard(f, seed, NULL));
        other = stored(&f->s, SIZE_MAX);
        assert_string_equal(one.p, other.p);
    }
}

/* Stored with all slots and with none: the same tree, and the same bytes again. */
static void round_trip(const struct tg_summary *s, size_t max_slots)
{
    TG_BUF was = { 0 }, is = { 0 };
    TG_BUF text = stored(s, max_slots), again;
    SUMMARY back = no_shards();
    struct tg_err err = TG_ERR_INIT;
    if (!tg_summary_parse(&back, tg_buf_sv(&text), "s.json", &err))
        fail_msg("%s", err.message);
    check_tree(back.shards[0]);
    tree_text(s->shards[0], &was);
    tree_text(back.shards[0], &is);
    assert_string_equal(was.p, is.p);
    assert_int_equal(back.shards[0]->tree.cut, s->shards[0]->tree.cut);
    again = stored(&back, max_slots);
    assert_string_equal(text.p, again.p);
}

TRACED(it_is_stored_with_and_without_slots)
{
    program(f);
    (void)shard(f, 0, NULL);
    round_trip(&f->s, SIZE_MAX);
    round_trip(&f->s, 0);
}

/* The bytes without a tree, as 0.2.0 wrote them. */
static struct tg_buf stored_flat(const struct tg_summary *s)
{
    struct tg_summary flat = { .arena = s->arena };
    struct tg_shard *copy = tg_shard_copy(s->shards[0], s->arena);
    struct tg_buf text;
    copy->tree = (struct tg_tree){ 0 };
    flat.shards = &copy;
    flat.n = 1;
    text = stored(&flat, SIZE_MAX);
    return text;
}

/* A summary of 0.2.0 is the same recording; united with a new one, in any order, the tree
 * remains. */
TRACED(a_summary_without_a_tree_is_the_same_recording)
{
    TG_BUF with, flat = { 0 };
    program(f);
    (void)shard(f, 0, NULL);
    with = stored(&f->s, SIZE_MAX);
    flat = stored_flat(&f->s);
    assert_null(strstr(flat.p, "\"tree\""));
    assert_non_null(strstr(with.p, "\"tree\""));
    for (int way = 0; way < 2; way++) {
        SUMMARY both = no_shards();
        TG_BUF again = { 0 };
        assert_true(tg_summary_parse(&both, tg_buf_sv(way ? &with : &flat), "a.json", &f->err));
        assert_true(tg_sv_eq(both.shards[0]->hash, f->s.shards[0]->hash));
        assert_true(tg_shard_same_recording(both.shards[0], f->s.shards[0]));
        assert_true(tg_summary_parse(&both, tg_buf_sv(way ? &flat : &with), "b.json", &f->err));
        assert_int_equal(both.n, 1);
        check_tree(both.shards[0]);
        again = stored(&both, SIZE_MAX);
        assert_string_equal(again.p, with.p);
    }
}

TRACED(copies_and_compact_shards_have_it)
{
    SUMMARY owner, copy;
    TG_BUF was, is = { 0 };
    program(f);
    (void)shard(f, 0, NULL);
    was = stored(&f->s, SIZE_MAX);
    tg_summary_init(&owner);
    tg_summary_init(&copy);
    assert_true(tg_summary_merge(&copy, &f->s, &f->err));
    tg_summary_compact(&copy, &owner);
    check_tree(copy.shards[0]);
    is = stored(&copy, SIZE_MAX);
    assert_string_equal(was.p, is.p);
}

static size_t nodes_named(const struct tg_shard *s, const char *name)
{
    size_t n = 0;
    for (size_t i = TG_ROOTS; i < s->tree.n; i++)
        n += tg_sv_eq(s->rows[s->tree.node[i].row].key->name, tg_sv_of(name));
    return n;
}

/* Nine levels of f: one below the step (another row), then four below f, which have the rest. */
TRACED(recursion_folds)
{
    bt_host(&f->b, "user_annotation", "ProfilerStep#1", "1", 0, 1000, -1);
    for (int k = 0; k < 9; k++)
        op(f, "f", 100 + k, 100 - 2 * k);
    check_tree(shard(f, 0, NULL));
    assert_int_equal(nodes_named(f->s.shards[0], "f"), 1 + TG_TREE_RECURSION);
    /* 2 ns each, the innermost 84; the last node has the fifth to the ninth level: 4 * 2 + 84. */
    assert_tree(f->s.shards[0], "step > f 1 2 | 0 0\n"
                                "step > f > f 1 2 | 0 0\n"
                                "step > f > f > f 1 2 | 0 0\n"
                                "step > f > f > f > f 1 2 | 0 0\n"
                                "step > f > f > f > f > f 5 92 | 0 0\n"
                                "step > ProfilerStep#1 1 900 | 0 0\n");
    assert_int_equal(f->s.shards[0]->tree.cut, 0);
}

/* The first 64 of a series have what is below them; the later ones add to the first. */
TRACED(numbered_annotations_share_what_is_below)
{
    enum { N = TG_TREE_NUMBERED + 6 };
    for (int k = 0; k < N; k++) {
        bt_host(&f->b, "user_annotation", tg_arena_printf(f->b.arena, "execute_%d", k), "1",
                1000 * k, 500, -1);
        op(f, "mm", 1000 * k + 100, 50);
    }
    check_tree(shard(f, 0, NULL));
    assert_int_equal(f->s.shards[0]->tree.n, TG_ROOTS + N + TG_TREE_NUMBERED + 6);
    /* The rows of mm differ by the name around them: 6 of these hang below execute_0 as well. */
    assert_int_equal(nodes_named(f->s.shards[0], "mm"), N);
}

TRACED(what_is_too_much_is_cut_and_counted)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    limits.max_nodes = TG_ROOTS + 2;
    program(f);
    check_tree(shard(f, 0, &limits));
    round_trip(&f->s, SIZE_MAX);
    round_trip(&f->s, 0);
    /* Room for the first marker and linear; of the 23 spans, the second linear is not cut
     * either. */
    assert_int_equal(f->s.shards[0]->tree.cut, f->b.n - 3);
    for (size_t i = TG_ROOTS + 2; i < f->s.shards[0]->tree.n; i++)
        assert_int_equal(f->s.shards[0]->tree.node[i].parent, TG_ROOT_OTHER);
}

TRACED(depth_is_bounded)
{
    enum { N = TG_TREE_DEPTH + 10 };
    for (int k = 0; k < N; k++)
        op(f, tg_arena_printf(f->b.arena, "f%d", k), k, 10000 - 2 * k);
    check_tree(shard(f, 0, NULL));
    assert_int_equal(f->s.shards[0]->tree.cut, N - TG_TREE_DEPTH);
}

/* Programs of random shape: nesting, threads, steps, launches in either order. */
TRACED(what_holds_of_every_tree)
{
    static const char *const names[] = { "a", "b", "c", "d", "e" };
    for (uint32_t seed = 1; seed <= 20; seed++) {
        uint64_t x = seed * 2654435761u;
        bt_release(&f->b);
        bt_init(&f->b);
        for (int k = 0; k < 4; k++)
            bt_host(&f->b, "user_annotation", tg_arena_printf(f->b.arena, "ProfilerStep#%d", k),
                    "1", 1000 + 1200 * k, 1000, -1);
        for (int k = 0; k < 300; k++) {
            tg_ns at, dur;
            x = x * 6364136223846793005u + 1442695040888963407u;
            at = (tg_ns)(x >> 33) % 6000;
            dur = (tg_ns)(x >> 23) % 300;
            if (k % 3 == 0) {
                bt_host(&f->b, "cuda_runtime", "cudaLaunchKernel", k % 2 ? "1" : "2", at, 3, k);
                bt_device(&f->b, "kernel", names[x >> 60 & 3], 7, at + (tg_ns)(x >> 50 & 31) - 9,
                          dur, x >> 58 & 1 ? k : -1);
            }
            bt_host(&f->b, k % 7 ? "cpu_op" : "user_annotation", names[(x >> 55) % 5],
                    x >> 40 & 3 ? "1" : "2", at, dur, -1);
        }
        check_tree(shard(f, seed, NULL));
        round_trip(&f->s, SIZE_MAX);
        round_trip(&f->s, 0);
    }
}

/* A column that is no tree, of another shape than its rows, or that lacks its times. */
TRACED(a_damaged_tree_is_refused)
{
    static const struct {
        const char *member, *instead, *named;
    } cases[] = { { "\"tree\":", "7", "tree" },
                  { "\"tree\":", "\"1:eJxjAAAAAQAB\"", "tree" },
                  { "\"node_times\":", "\"\"", "node_times" } };
    TG_BUF text = { 0 };
    program(f);
    (void)shard(f, 0, NULL);
    text = stored(&f->s, SIZE_MAX);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SUMMARY back = no_shards();
        TG_BUF bad = { 0 };
        const char *at = strstr(text.p, cases[i].member), *end;
        assert_non_null(at);
        at += strlen(cases[i].member);
        end = strchr(at + 1, '"') + 1;
        tg_buf_add(&bad, (tg_sv){ text.p, (size_t)(at - text.p) });
        tg_buf_puts(&bad, cases[i].instead);
        tg_buf_puts(&bad, end);
        tg_err_init(&f->err);
        assert_false(tg_summary_parse(&back, tg_buf_sv(&bad), "s.json", &f->err));
        assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
        assert_non_null(strstr(f->err.message, cases[i].named));
    }
}

static void spoil(struct tg_buf *b, uint64_t *x)
{
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    if (b->n && *x >> 62 == 0)
        b->n -= (size_t)(*x >> 33) % b->n % 3;
    else if (b->n)
        b->p[(*x >> 33) % b->n] = (char)(*x >> 20);
}

/* Bytes that were not written so are refused, or are a tree of the rows: never more calls, never
 * less. */
TRACED(spoilt_columns_are_refused_or_whole)
{
    size_t whole = 0;
    uint64_t x = 1;
    struct tg_shard *s;
    program(f);
    s = shard(f, 0, NULL);
    for (int i = 0; i < 4000; i++) {
        TG_ARENA *a = tg_arena_new();
        TG_BUF shape = { 0 }, times = { 0 };
        struct tg_shard *copy = tg_shard_copy(s, a);
        bool kept[16];
        assert_true(s->n_rows <= 16);
        for (size_t r = 0; r < s->n_rows; r++) {
            kept[r] = i % 2 == 0;
            copy->rows[r].slot_node = NULL;
            copy->rows[r].slots = kept[r] ? copy->rows[r].slots : NULL;
        }
        assert_true(tg_tree_shape_put(&shape, s));
        tg_tree_times_put(&times, s, kept);
        for (int k = i % 4; k; k--)
            spoil(k % 2 ? &shape : &times, &x);
        if (tg_tree_shape_read(&copy->tree, tg_buf_sv(&shape), copy->rows, s->n_rows, s->n_steps,
                               a) &&
            tg_tree_times_read(copy, tg_buf_sv(&times), a)) {
            check_tree(copy);
            whole++;
        }
    }
    assert_in_range(whole, 1000, 3999); /* a quarter is as it was */
}

static bool is_mm(const void *arg, const struct tg_row *r)
{
    return tg_sv_eq(r->key->name, tg_sv_of((const char *)arg));
}

/* One more call per step is where the first one is; both take as long as it. */
TRACED(an_injected_regression_is_in_the_tree)
{
    const struct tg_inject all[] = {
        { .what = TG_INJECT_SLOWER, .is = is_mm, .arg = "mm", .factor = 1.37 },
        { .what = TG_INJECT_SLOWER, .is = is_mm, .arg = "gemm", .factor = 0.5 },
        { .what = TG_INJECT_CALLS, .is = is_mm, .arg = "mm", .calls = 3 },
        { .what = TG_INJECT_CALLS, .is = is_mm, .arg = "gemm", .calls = -1 },
        { .what = TG_INJECT_DROP, .is = is_mm, .arg = "mm" },
        { .what = TG_INJECT_DROP, .is = is_mm, .arg = "linear" },
        { .what = TG_INJECT_UNFUSE, .is = is_mm, .arg = "mm", .text = TG_SV("part") },
        { .what = TG_INJECT_NEW, .is = is_mm, .arg = "mm", .text = TG_SV("new"), .ns = 10 },
        { .what = TG_INJECT_NEW, .kind = TG_KIND_KERNEL, .text = TG_SV("new"), .ns = 10 },
        { .what = TG_INJECT_WAIT, .factor = 1.2 },
    };
    struct tg_shard *s, *to;
    program(f);
    s = shard(f, 0, NULL);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        to = tg_inject(s, &all[i], f->s.arena);
        assert_non_null(to);
        check_tree(to);
        check_tree(s);
    }
    to = tg_inject(s, &all[4], f->s.arena);
    assert_int_equal(nodes_named(to, "mm"), 0);
    assert_int_equal(nodes_named(to, "gemm"), 3); /* below linear, below norm, without a launch */
}

#define TRACES TG_SHARED_DIR "/corpus/traces"

/* Real traces, where ../shared is. */
TRACED(what_holds_of_real_traces)
{
    static const char *const paths[] = {
        "/hta/trace_diff/control/control.json.gz",
        "/hta/mtia_inference/mtia_inference_rank_0.json.gz",
        "/hta/sampled_2rank/sampled_rank-0.json.gz",
        "/nanovllm/decode/decode_gpu_0.json.gz",
        "/tracelens/mi300_resnet_ckpt/resnet_act_checkpoint.json.gz",
        "/tracelens/sglang_decode_exec/sglang_decode.json.gz",
    };
    for (size_t i = 0; tg_file_is_dir(TRACES) && i < sizeof paths / sizeof *paths; i++) {
        const struct tg_summarize_opts o = { .rank = -1 };
        SUMMARY s;
        struct tg_source *source =
            tg_source_open(tg_arena_printf(f->b.arena, "%s%s", TRACES, paths[i]), NULL, &f->err);
        assert_non_null(source);
        tg_summary_init(&s);
        assert_true(tg_summary_add(&s, source, &o, NULL, &f->err));
        check_tree(s.shards[0]);
        assert_int_equal(s.shards[0]->tree.cut, 0);
        round_trip(&s, SIZE_MAX);
        round_trip(&s, 0);
        tg_source_close(source);
    }
}
