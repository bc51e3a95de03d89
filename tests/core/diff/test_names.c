/* Names. Short names: HTA's own output on every row of the corpus is the oracle. Normalised names:
 * a table written from real names, idempotency and linear time on hostile ones. */
#include <ftw.h>
#include <time.h>

#include "core/base/file.h"
#include "core/diff/names.h"
#include "tests/support.h"

static void normalised(enum tg_kind kind, tg_sv raw, struct tg_buf *out)
{
    tg_buf_clear(out);
    tg_name_normalise(kind, raw, out);
}

TEST(short_names_follow_the_rule)
{
    /* Examples of HTA_SEMANTICS 9, and the rule worked by hand for the rest. */
    static const char *const cases[][2] = {
        { "", "" },
        { "aten::add", "aten::add" },
        { "name with blanks", "name with blanks" },
        { "void at::native::vectorized_elementwise_kernel<4, F>(int, F)",
          "at::native::vectorized_elementwise_kernel" },
        { "contextlib.py(778): __exit__", "__exit__" },
        { "<built-in method unbind of Tensor object at 0x7f00>", "" },
        { "## Request wait() ##", "##" },
        { "enumerate(DataLoader)#_X.__next__", "enumerate#_X.__next__" },
        { "Memcpy HtoD (Pageable -> Device)", "Memcpy HtoD (Pageable -> Device)" },
        { "hipMemset<x>", "hipMemset<x>" },
        { "dma(x)", "dma(x)" },
        { "operator>(int)", "" }, /* '>' empties, then "(int)" goes */
        { "f(a) tail ", "" },     /* nothing behind the last blank */
        { "a<b->c>d", "ad" },     /* "->" goes first */
        { "x(--->y", "x(--y" },   /* one pass over "->": two dashes stay */
        { "int f<(int)1>::g(A<B>)", "f::g" },
    };
    TG_BUF out = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tg_buf_clear(&out);
        tg_buf_puts(&out, "kept ");
        tg_name_short(tg_sv_of(cases[i][0]), &out);
        assert_memory_equal(out.p, "kept ", 5);
        assert_string_equal(out.p + 5, cases[i][1]);
    }
}

/* ---- the corpus ---- */

static struct path_list {
    char **v;
    size_t n, cap;
} corpus_files; /* nftw has no argument for its callback */

static int note_file(const char *path, const struct stat *st, int type, struct FTW *f)
{
    (void)st;
    if (type == FTW_F && strncmp(path + f->base, "ops_rank", 8) == 0) {
        corpus_files.v =
            tg_grow(corpus_files.v, &corpus_files.cap, corpus_files.n + 1, sizeof(char *));
        corpus_files.v[corpus_files.n++] = strdup(path);
    }
    return 0;
}

/* One field of RFC 4180; steps over the comma or the end of the line. */
static void csv_field(tg_sv *s, struct tg_buf *out)
{
    bool quoted = s->n && *s->p == '"';
    size_t i = quoted;
    tg_buf_clear(out);
    for (; i < s->n; i++) {
        if (quoted && s->p[i] == '"') {
            if (i + 1 < s->n && s->p[i + 1] == '"')
                i++;
            else {
                quoted = false;
                continue;
            }
        } else if (!quoted && (s->p[i] == ',' || s->p[i] == '\n'))
            break;
        if (s->p[i] != '\r' || quoted)
            tg_buf_putc(out, s->p[i]);
    }
    if (i < s->n)
        i++;
    *s = (tg_sv){ s->p + i, s->n - i };
}

struct corpus_count {
    size_t rows, idempotent;
};

static void one_row(tg_sv *text, struct tg_buf f[5], struct corpus_count *c)
{
    TG_BUF once = { 0 }, twice = { 0 }, s = { 0 };
    enum tg_kind kind;
    for (int i = 0; i < 5; i++)
        csv_field(text, &f[i]);
    tg_name_short(tg_buf_sv(&f[1]), &s);
    assert_string_equal(s.p ? s.p : "", f[2].p ? f[2].p : "");
    kind = strstr(f[0].p, "annotation")             ? TG_KIND_ANNOTATION
           : strcmp(f[0].p, "python_function") == 0 ? TG_KIND_PYTHON
                                                    : TG_KIND_KERNEL;
    normalised(kind, tg_buf_sv(&f[1]), &once);
    normalised(kind, tg_buf_sv(&once), &twice);
    assert_string_equal(once.p, twice.p);
    assert_true(once.n > 0);
    c->rows++;
}

TEST(short_names_match_the_corpus)
{
    struct tg_buf text = { 0 }, f[5] = { { 0 } };
    struct corpus_count count = { 0 };
    struct tg_err err;
    (void)nftw(TG_SHARED_DIR "/corpus/golden/analysis", note_file, 16, FTW_PHYS);
    if (corpus_files.n == 0) {
        print_message("no corpus beside the repository: short names not compared\n");
        skip();
    }
    for (size_t i = 0; i < corpus_files.n; i++) {
        tg_sv rest;
        tg_err_init(&err);
        tg_buf_clear(&text);
        assert_true(tg_file_read(&text, corpus_files.v[i], (size_t)64 << 20, &err));
        rest = tg_buf_sv(&text);
        (void)tg_sv_cut(&rest, '\n');
        while (rest.n)
            one_row(&rest, f, &count);
        free(corpus_files.v[i]);
    }
    print_message("%zu short names compared in %zu files\n", count.rows, corpus_files.n);
    assert_true(count.rows > 37000);
    free(corpus_files.v);
    for (int i = 0; i < 5; i++)
        tg_buf_release(&f[i]);
    tg_buf_release(&text);
}

/* ---- identity ---- */

TEST(names_of_one_program_are_equal)
{
    static const struct {
        enum tg_kind kind;
        const char *raw, *normalised;
    } cases[] = {
        { TG_KIND_STEP, "ProfilerStep#12", "ProfilerStep" },
        { TG_KIND_OP, "ProfilerStep# 7", "ProfilerStep" },
        { TG_KIND_OP, "ProfilerStep#", "ProfilerStep#" },
        { TG_KIND_OP, "ProfilerStep#1a", "ProfilerStep#1a" },
        { TG_KIND_OP, "aten::conv2d", "aten::conv2d" },
        { TG_KIND_ANNOTATION, "Optimizer.step#SGD.step", "Optimizer.step#SGD.step" },
        { TG_KIND_ANNOTATION,
          "## Call CompiledFxGraph fud64jsrxcxliekg7lptyw24yz5k3oa65b73wjfbhz6j2fg6ouu7 ##",
          "## Call CompiledFxGraph * ##" },
        { TG_KIND_ANNOTATION, "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk3278)",
          "execute_*_context_*_generation_*" },
        { TG_KIND_DEVICE_ANNOTATION, "execute_context_1(888_788544)_generation_0(0)",
          "execute_context_*_generation_*" },
        { TG_KIND_KERNEL, "execute_kernel_5x_cublas", "execute_kernel_5x_cublas" },
        { TG_KIND_ANNOTATION, "step[DECODE bs=32]", "step[DECODE bs=*]" },
        { TG_KIND_OP, "step[DECODE bs=32]", "step[DECODE bs=*]" }, /* as the name around others */
        { TG_KIND_ANNOTATION, "step[decode bs=8 flops=1.23e+09 bytes=3E7 ai=36.1]",
          "step[decode bs=* flops=* bytes=* ai=*]" },
        { TG_KIND_ANNOTATION, "step[decode bs=8 flops=12G bytes=1.5e bw=3Gx 2.]",
          "step[decode bs=* flops=* bytes=*e bw=*Gx *.]" },
        { TG_KIND_OP, "Torch-Compiled Region: 2/1", "Torch-Compiled Region: */*" },
        { TG_KIND_OP, "Torch-Compiled Regions: 2/1", "Torch-Compiled Regions: 2/1" },
        { TG_KIND_ANNOTATION, "[param|torch.add|0|0|0]", "[param|torch.add|0|0|0]" },
        { TG_KIND_PYTHON, "<built-in method eq of Tensor object at 0x726911e240f0>",
          "<built-in method eq of Tensor object at 0x*>" },
        { TG_KIND_PYTHON, "torch/nn/modules/module.py(2658): <lambda>",
          "torch/nn/modules/module.py: <lambda>" },
        { TG_KIND_PYTHON, "<frozen os>(680): __getitem__", "<frozen os>: __getitem__" },
        { TG_KIND_PYTHON, "f.py(1)(2): g", "f.py: g" },
        { TG_KIND_PYTHON,
          "/tmp/torchinductor_yuhui-zhang/5o/c5o3ip55tm2jrbath5nwsunjooqnobvgoi6i27olbnmf454xstrm."
          "py(121): call",
          "/tmp/torchinductor_*/*.py: call" },
        { TG_KIND_KERNEL, "f.py(12)kernel", "f.py(12)kernel" },
        { TG_KIND_KERNEL, "triton_poi_fused_mul_silu_0", "triton_poi_fused_mul_silu" },
        { TG_KIND_KERNEL, "triton_poi_fused_0", "triton_poi_fused" },
        { TG_KIND_KERNEL, "triton_poi_fused__to_copy_1.kd", "triton_poi_fused__to_copy.kd" },
        { TG_KIND_KERNEL, "triton_red_fused_add_mean_3_0d1d2de3",
          "triton_red_fused_add_mean_0d1d2de3" },
        { TG_KIND_KERNEL, "triton_tem_fused_mm_c5o3ip55tm2jrbath5nwsunj_12",
          "triton_tem_fused_mm" },
        { TG_KIND_KERNEL, "triton_per_fused_convolution_conv2d_7",
          "triton_per_fused_convolution_conv2d" },
        { TG_KIND_KERNEL, "triton__0d1d2d3d", "triton__0d1d2d3d" },
        { TG_KIND_KERNEL, "triton_mm_7", "triton_mm_7" },
        { TG_KIND_OP, "graph_0_cpp_fused_add_relu_1", "cpp_fused_add_relu" },
        { TG_KIND_OP, "graph_0", "graph_0" },
        { TG_KIND_KERNEL, "fusion.3", "fusion" },
        { TG_KIND_KERNEL, "all-reduce-start.12.clone.1", "all-reduce-start" },
        { TG_KIND_KERNEL, "fusion.7.remat.2", "fusion.remat" },
        { TG_KIND_KERNEL, "loop_add_fusion_12", "loop_add_fusion" },
        { TG_KIND_KERNEL, "input_reduce_fusion_1_2", "input_reduce_fusion" },
        { TG_KIND_KERNEL, "triton_gemm_dot_4", "triton_gemm_dot" },
        { TG_KIND_KERNEL, "wrapped_transpose_1", "wrapped_transpose" },
        { TG_KIND_KERNEL, "loop_add_fusion", "loop_add_fusion" },
        { TG_KIND_OP, "fusion.3", "fusion.3" },
        { TG_KIND_KERNEL, "gemm_16x16_2", "gemm_16x16_2" },
        { TG_KIND_KERNEL, "k.kd", "k.kd" },
        { TG_KIND_KERNEL, "Fusion.3", "Fusion.3" },
        { TG_KIND_KERNEL, ".3", ".3" },
        { TG_KIND_KERNEL,
          "void k<f(A&)::{lambda()#2}::operator()() const::{lambda(float, int)#1}>(int)",
          "void k<f(A&)::{lambda()}::operator()() const::{lambda(float, int)}>(int)" },
        { TG_KIND_KERNEL, "void k<f()::{unnamed type#1}>", "void k<f()::{unnamed type}>" },
        { TG_KIND_KERNEL, "void k<f()::'lambda3'(float)>", "void k<f()::'lambda'(float)>" },
        { TG_KIND_KERNEL, "k<f()::$_12>", "k<f()::$_>" },
        { TG_KIND_KERNEL, "void _GLOBAL__N__1f2e_7_Foo_cu_99::k<4>(int)",
          "void (anonymous namespace)::k<4>(int)" },
        { TG_KIND_KERNEL, "void (anonymous namespace)::k<4u, 128>(int*, (E)0)",
          "void (anonymous namespace)::k<4u, 128>(int*, (E)0)" },
        { TG_KIND_KERNEL, "sm90_xmma_gemm_bf16bf16_tilesize128x128x64_execute_kernel__5x_cublas",
          "sm90_xmma_gemm_bf16bf16_tilesize128x128x64_execute_kernel__5x_cublas" },
        { TG_KIND_KERNEL, "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_groupedE",
          "_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_groupedE" },
        { TG_KIND_KERNEL, "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_SN_K1",
          "Cijk_Ailk_Bljk_BBS_BH_MT256x128x64_SN_K1" },
    };
    TG_BUF out = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        normalised(cases[i].kind, tg_sv_of(cases[i].raw), &out);
        assert_string_equal(out.p, cases[i].normalised);
    }
}

static uint64_t next_random(uint64_t *s)
{
    *s = *s * 6364136223846793005u + 1442695040888963407u;
    return *s >> 33;
}

/* Pieces that the rules look at, in any order: the second pass must find nothing to do. */
TEST(normalising_twice_changes_nothing)
{
    static const char *const pieces[] = {
        "ProfilerStep#",
        "execute_",
        "12",
        "(",
        ")",
        ".py",
        "(7)",
        "torchinductor_",
        "/",
        " ",
        ": ",
        "0x",
        "ff0",
        "'",
        "lambda",
        "$",
        "_",
        "{",
        "}",
        "#3",
        "unnamed type",
        "triton_poi_fused_",
        "cpp_fused",
        "graph_1_",
        "_0d1d",
        "_GLOBAL__N__",
        "abcdefghij0123456789",
        "step[",
        "]",
        "0d1",
        "x",
        "c5o3ip55tm2jrbath5nwsunjooqnobvgoi",
    };
    TG_BUF raw = { 0 }, once = { 0 }, twice = { 0 };
    uint64_t seed = 20240917;
    for (int round = 0; round < 200000; round++) {
        enum tg_kind kind = round % 3 == 0   ? TG_KIND_ANNOTATION
                            : round % 3 == 1 ? TG_KIND_PYTHON
                                             : TG_KIND_KERNEL;
        tg_buf_clear(&raw);
        for (uint64_t n = 1 + next_random(&seed) % 9; n; n--)
            tg_buf_puts(&raw, pieces[next_random(&seed) % (sizeof pieces / sizeof *pieces)]);
        normalised(kind, tg_buf_sv(&raw), &once);
        normalised(kind, tg_buf_sv(&once), &twice);
        if (once.n != twice.n || (once.n && memcmp(once.p, twice.p, once.n) != 0))
            fail_msg("'%s' -> '%s' -> '%s'", raw.p, once.p, twice.p);
    }
}

static double cpu_seconds(const char *piece, size_t bytes)
{
    TG_BUF raw = { 0 }, out = { 0 };
    clock_t start;
    double took;
    while (raw.n < bytes)
        tg_buf_puts(&raw, piece);
    start = clock();
    normalised(TG_KIND_PYTHON, tg_buf_sv(&raw), &out);
    tg_buf_clear(&out);
    normalised(TG_KIND_ANNOTATION, tg_buf_sv(&raw), &out);
    tg_buf_clear(&out);
    tg_name_short(tg_buf_sv(&raw), &out);
    took = (double)(clock() - start) / CLOCKS_PER_SEC;
    return took;
}

/* 4 MB each: quadratic work would take hours, linear takes milliseconds. */
TEST(backward_nodes_are_named_after_their_operators)
{
    static const struct {
        const char *node, *op;
        bool same;
    } cases[] = {
        { "MulBackward0", "aten::mul", true },
        { "MulBackward1", "aten::mul_", true },
        { "ToCopyBackward0", "aten::_to_copy", true },
        { "NativeLayerNormBackward0", "aten::native_layer_norm", true },
        { "autograd::engine::evaluate_function: AddmmBackward0", "aten::addmm", true },
        { "AddBackward0", "aten::addmm", false },
        { "AddmmBackward0", "aten::add", false },
        { "MulBackward0", "mul", false }, /* of another library */
        { "Mul", "aten::mul", false },
        { "Backward0", "aten::", false },
        { "", "", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tg_name_is_backward_of(tg_sv_of(cases[i].node), tg_sv_of(cases[i].op)) != cases[i].same)
            fail_msg("%s, %s", cases[i].node, cases[i].op);
}

TEST(nodes_are_told_by_their_name)
{
    assert_true(tg_name_is_node(TG_SV("MulBackward0")));
    assert_true(tg_name_is_node(TG_SV("autograd::engine::evaluate_function: AddmmBackward0")));
    assert_true(tg_name_is_node(TG_SV("ToCopyBackward")));
    assert_false(tg_name_is_node(TG_SV("Backward0"))); /* of nothing */
    assert_false(tg_name_is_node(TG_SV("MulBackward0x")));
    assert_false(tg_name_is_node(TG_SV("aten::mul")));
    assert_false(tg_name_is_node(TG_SV("")));
}

TEST(hostile_names_take_linear_time)
{
    static const char *const pieces[] = {
        "(",  ")",       "<",   "((7)", ".py(1)", "torchinductor_",      "#1", "_1",
        "{1", "'lambda", "0x1", "a1",   "->",     "triton_poi_fused_1_1"
    };
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++)
        assert_true(cpu_seconds(pieces[i], (size_t)4 << 20) < 5.0);
}

/* ---- which operators make a view or ask for metadata, by their names ---- */

TEST(which_names_are_views)
{
    static const char *const yes[] = {
        "aten::_conj",     "aten::detach",
        "aten::sym_numel", "aten::t",
        "aten::t_",        "vsplit",
        "detach",          "aten::_reshape_alias",
        "aten::numpy_T",   "aten::to",
        "aten::detach_",   "PermuteBackward0",
        "ViewBackward0",   "autograd::engine::evaluate_function: UnsqueezeBackward0",
    };
    static const char *const no[] = {
        "aten::clone", "aten::copy_",  "aten::_to_copy", "aten::add", "aten::item",
        "aten::index", "my::detach_x", "MulBackward0",   "",          "aten::",
        "aten::_con",  "aten::t__",    "aten::zeros",
    };
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
        if (!tg_name_is_view(tg_sv_of(yes[i])))
            fail_msg("%s", yes[i]);
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        if (tg_name_is_view(tg_sv_of(no[i])))
            fail_msg("%s", no[i]);
}
