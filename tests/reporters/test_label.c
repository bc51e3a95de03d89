/* Short forms of names; the expected texts are written by hand from the rules of label.h. */
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "fixture.h"
#include "reporters/label.h"
#include "tests/support.h"

static void one(const char *name, size_t width, const char *want)
{
    TG_BUF out = { 0 };
    tg_label_put_one(&out, tg_sv_of(name), width);
    assert_string_equal(out.p ? out.p : "", want);
}

TEST(noise_is_dropped)
{
    one("aten::mm", 44, "aten::mm");
    one("void at::native::(anonymous namespace)::sum<float>(float*, int)", 44, "sum<float>");
    one("void (anonymous namespace)::softmax<float, 8>(float*)", 44, "softmax<float, 8>");
    one("Memcpy HtoD (Pageable -> Device)", 44, "Memcpy HtoD (Pageable -> Device)");
    one("Torch-Compiled Region: 0 (x)", 44, "Torch-Compiled Region: 0 (x)");
    one("void at::native::f<4, g, std::array<char*, 3ul> >(int)", 44, "f<4, g >");
    one("void at::native::f<g, at::detail::Array<char*, long name> >(int)", 64,
        "f<g, at::detail::Array<char*, long name> >");
    one("f(int)", 44, "f(int)"); /* no C++ signature for sure */
    one("a::(anonymous namespace)", 44, "a::(anonymous namespace)");
    one("void ", 44, "void ");
    one("()", 44, "()");
    one("", 44, "");
}

#define ATEN "at::native::"
#define LAMBDA "(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(c10::Half)#1}"

/* What runs any functor says nothing of the work; what is no frame, or has no functor, is whole. */
TEST(the_functor_stays)
{
    one("void " ATEN "unrolled_elementwise_kernel<" ATEN "direct_copy_kernel_cuda("
        "at::TensorIteratorBase&), at::detail::Array<char*, 2> >(int)",
        34, "direct_copy_kernel_cuda");
    one("void " ATEN "elementwise_kernel<128, 2, " ATEN "gpu_kernel_impl_nocast<" ATEN
        "(anonymous namespace)::direct_copy_kernel_cuda" LAMBDA
        ">(int, float)::{lambda(int)#1}>(int)",
        34, "direct_copy_kernel_cuda(Half)");
    one("void " ATEN "vectorized_elementwise_kernel<4, " ATEN "BinaryFunctor<c10::Half, c10::Half, "
        "c10::Half, " ATEN "binary_internal::MulFunctor<float> >, std::array<char*, 3ul> >(int)",
        34, "MulFunctor<float>");
    one("void " ATEN "reduce_kernel<512, 1, " ATEN "ReduceOp<float, " ATEN
        "func_wrapper_t<float, " ATEN
        "sum_functor<float, float, float>::operator()(at::TensorIterator&)::{lambda(float)#1}>, "
        "unsigned int, float, 4> >(int)",
        34, "sum_functor<float, float, float>");
    one("void " ATEN "(anonymous namespace)::multi_tensor_apply_kernel<" ATEN
        "TensorListMetadata<2>, " ATEN "UnaryOpFunctor<float, 2>, std::negate<float> >(int)",
        64, "UnaryOpFunctor<float, 2>, std::negate<float>");
    one("void cutlass::Kernel<cutlass_80_gemm>(cutlass_80_gemm::Params)", 20, "cutlass_80_gemm");
    one("void other::kernel<4, f::Functor<float> >(int)", 64,
        "other::kernel<4, f::Functor<float> >");
    one("void " ATEN "elementwise_kernel<4, float, int64_t>(int)", 64,
        "elementwise_kernel<4, float, int64_t>");
    one("elementwise_kernel<", 34, "elementwise_kernel<");
    one("elementwise_kernel<f<", 16, "f<");
    one("void reduce_kernel<(>", 34, "reduce_kernel<(>");
}

/* The function's own name, where the whole is too long; what is no mangled name is whole, whatever
 * it begins with. */
TEST(a_mangled_name_is_called_by_its_function)
{
    static const char reduce[] = "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfffEEEvT1_";
    one(reduce, 34, "reduce_kernel");
    one(reduce, 90, reduce);
    one("_Z18long_kernel_name_1fPfS_S_iiiiiiii", 24, "long_kernel_name_1");
    one("_Z", 12, "_Z");
    assert_true(tg_label_stands_for(TG_SV("reduce_kernel"), tg_sv_of(reduce)));
    assert_false(tg_label_stands_for(TG_SV("native"), tg_sv_of(reduce)));
    assert_false(tg_label_stands_for(TG_SV("at"), TG_SV("_Z99999999999999999999999at")));
}

/* Whatever the width: a name without its rank is another one. */
TEST(the_rank_stays)
{
    one("void kern5(float*) [rank 5]", 44, "kern5 [rank 5]");
    one("aten::a_very_long_name_of_an_operator [ranks 0-3, 7]", 12,
        "aten::a_\xe2\x80\xa6"
        "tor [ranks 0-3, 7]");
    one("aten::mm [8 ranks]", 44, "aten::mm [8 ranks]");
    one("f [4]", 44, "f [4]");
}

/* Three kernels with one functor: by the operator that launches each, with or without a row. */
TEST(one_form_for_one_name_of_the_trace)
{
#define MUL(n)                                                                                     \
    "void " ATEN "vectorized_elementwise_kernel<" n ", " ATEN "BinaryFunctor<float, " ATEN         \
    "MulFunctor<float> > >(int)"
    struct tg_op ops[] = {
        { .name = TG_SV(MUL("4")), .parent = TG_SV("aten::mul"), .kind = TG_KIND_KERNEL },
        { .name = TG_SV(MUL("8")), .parent = TG_SV("aten::div"), .kind = TG_KIND_KERNEL },
        { .name = TG_SV(MUL("2")), .parent = TG_SV("aten::div"), .kind = TG_KIND_KERNEL },
        { .name = TG_SV("kern"), .parent = TG_SV("aten::div"), .kind = TG_KIND_KERNEL },
    };
    static const char *const want[] = { "MulFunctor<float> of aten::mul",
                                        "MulFunctor<float> of aten::div",
                                        "MulFunctor<float> of aten::div (2)", "kern" };
    struct tg_comparison c = { .ops = ops, .n_ops = 4 };
    struct tg_verdict v = { .comparison = &c };
    struct tg_shorts shorts = { 0 };
    tg_shorts_init(&shorts, &v, 40);
    for (size_t i = 0; i < 4; i++) {
        TG_AUTO(tg_labels_release) struct tg_labels row = { 0 };
        TG_BUF out = { 0 }, cell = { 0 };
        tg_shorts_put(&out, ops[i].name, &shorts);
        assert_string_equal(out.p, want[i]);
        assert_true(tg_label_stands_for(tg_buf_sv(&out), ops[i].name));
        tg_labels_of_rows(&row, &c, (uint32_t[]){ (uint32_t)i }, 1, 40);
        tg_label_put(&cell, &row.v[0]);
        assert_true(i == 2 || tg_sv_eq(tg_buf_sv(&cell), tg_sv_of(want[i])));
    }
    tg_shorts_release(&shorts);
}

/* 20 columns: 13 before the ellipsis, 6 after it; in code points, not in bytes. */
TEST(the_middle_gives_way)
{
    one("abcdefghijklmnopqrstuvwxyz", 20, "abcdefghijklm\xe2\x80\xa6uvwxyz");
    one("\xc3\xa9\xc3\xa9"
        "cdefghijklmnopqrstuvwxyz",
        20,
        "\xc3\xa9\xc3\xa9"
        "cdefghijklm\xe2\x80\xa6uvwxyz");
    one("abcdefghijklmnopqrst", 20, "abcdefghijklmnopqrst");
}

/* The word that tells one from another: a function's own name, a node's, the gemm. */
TEST(the_telling_word_stays)
{
    one("void cudnn::ops::scale_any_packed_kernel<float, float>(int)", 26,
        "scale_any_packed_kernel<\xe2\x80\xa6>");
    one("void cudnn::ops::scale_any_packed_kernel<float, float>(int)", 24,
        "scale_any_packed_kernel\xe2\x80\xa6");
    one("void cudnn::ops::scale_kernel<float, float, double>(int)", 26,
        "scale_kernel<floa\xe2\x80\xa6 double>");
    one("autograd::engine::evaluate_function: NativeBackward0", 26,
        "autograd\xe2\x80\xa6: NativeBackward0");
    one("autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", 30,
        "autograd::eng\xe2\x80\xa6::AccumulateGrad");
    one("cutlass_80_tensorop_s1688gemm_64x64_16x6_nt_align4", 28,
        "cutlass\xe2\x80\xa6s1688gemm_64x64_16x\xe2\x80\xa6");
    one("ampere_s1688gemm_64x64_16x6_nt_align4", 28, "ampere_s1688gemm_6\xe2\x80\xa6nt_align4");
}

/* A row: the name, and what it is called. */
static void check(const char *const (*rows)[2], const char *const *kinds, size_t n, size_t width)
{
    TG_AUTO(tg_labels_release) struct tg_labels l;
    tg_sv views[8];
    for (size_t i = 0; i < n; i++)
        views[i] = tg_sv_of(rows[i][0]);
    tg_labels_make_among(&l, views, kinds, n, width, NULL);
    for (size_t i = 0; i < n; i++) {
        TG_BUF out = { 0 };
        tg_label_put(&out, &l.v[i]);
        assert_string_equal(out.p, rows[i][1]);
    }
}

#define DOTS "\xe2\x80\xa6"

/* Equal heads and tails: from three code points before the difference on. */
TEST(lookalikes_differ)
{
    static const char *const args[][2] = { { "void sum<float>(float*)", "sum<float>(float*)" },
                                           { "void sum<float>(double*)", "sum<float>(double*)" } };
    static const char *const middle[][2] = {
        { "kernel_of_many_words<AAAAAAAAAAAAAAAA, one, BBBBBBBBBBBBBBBBBBBBBBBB>",
          "kernel_of_" DOTS "A, one, BBBBBBBB" DOTS },
        { "kernel_of_many_words<AAAAAAAAAAAAAAAA, two, BBBBBBBBBBBBBBBBBBBBBBBB>",
          "kernel_of_" DOTS "A, two, BBBBBBBB" DOTS },
    };
    static const char *const same[][2] = { { "gemm", "gemm" },
                                           { "gemm", "gemm [kernel]" },
                                           { "gemm", "gemm [kernel] (2)" } };
    static const char *const kinds[] = { "op", "kernel", "kernel" };
    static const char *const frames[][2] = {
        { "void elementwise_kernel<2, f<int> >(int)", "f<int>" },
        { "void elementwise_kernel<2, g<int> >(int)", "g<int>" },
        { "void elementwise_kernel<4, g<int> >(int)", "g<int> (2)" },
        { "f<int> (2)", "f<int> (2)" },
        { "void elementwise_kernel<4, f<int> >(int)", "f<int> (3)" },
        { "void elementwise_kernel<8, f<int> >(int)", "f<int> (4)" },
    };
    static const char *const gemms[][2] = {
        { "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn",
          DOTS "s16816gemm_fp16" DOTS "64x4_tn" },
        { "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_nn",
          DOTS "s16816gemm_fp16" DOTS "64x4_nn" },
        { "ampere_fp16_s16816gemm_fp16_256x64_ldg8_f2f_stages_64x4_nn",
          DOTS "s16816gemm_fp16_256x64" DOTS },
    };
    static const char *const spaces[][2] = { { "void at::native::f(int)", "at::native::f(int)" },
                                             { "void f(int)", "f(int)" } };
    check(args, NULL, 2, 44);
    check(frames, NULL, 6, 20);
    check(gemms, NULL, 2, 24);
    check(gemms, NULL, 3, 24);
    check(spaces, NULL, 2, 44);
    check(middle, NULL, 2, 28);
    check(same, kinds, 3, 44);
}

/* Of 4,000 hostile names, and of as many that differ in one place, no two labels are equal. */
TEST(no_two_look_the_same)
{
    enum { N = 2000 };
    TG_ARENA *a = tg_arena_new();
    struct tg_strmap distinct, seen;
    struct tg_labels l;
    size_t stray = 0;
    tg_strmap_init(&distinct);
    tg_strmap_init(&seen);
    for (unsigned k = 0; k < N; k++) {
        char text[256];
        (void)tg_strmap_add(&distinct, hostile_name(k, a));
        (void)snprintf(text, sizeof text, "void at::native::%0*u<%0*u, float, float>(float*, int)",
                       (int)(k % 60), k, (int)(k * 7 % 80), k);
        (void)tg_strmap_add(&distinct, tg_sv_of(text));
    }
    tg_labels_make(&l, distinct.text, distinct.n, 30);
    for (size_t i = 0; i < l.n; i++) {
        TG_BUF out = { 0 };
        tg_label_put(&out, &l.v[i]);
        (void)tg_strmap_add(&seen, tg_buf_sv(&out));
        assert_true(tg_utf8_valid(tg_buf_sv(&out)));
        assert_true(tg_utf8_count(tg_buf_sv(&out)) <= 30 + l.v[i].after.n);
        if (!tg_label_stands_for(tg_buf_sv(&out), distinct.text[i]))
            fail_msg("'%s' of '%.*s'", out.p, TG_SV_ARG(distinct.text[i]));
        stray += tg_label_stands_for(tg_buf_sv(&out), distinct.text[(i + 1) % l.n]);
    }
    assert_int_equal(seen.n, l.n);
    assert_true(stray < l.n / 100);
    tg_labels_release(&l);
    tg_strmap_release(&distinct);
    tg_strmap_release(&seen);
}

/* As reports call it, at any width, and as it is; nothing else. */
TEST(a_short_form_stands_for_its_name)
{
    static const char add[] = "void at::native::vectorized_elementwise_kernel<4, at::native::"
                              "CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, int)";
    static const struct {
        const char *text;
        bool fits;
    } rows[] = { { "CUDAFunctor_add<float>", true },
                 { "CUDAFunctor_add<float> (2)", true },
                 { "CUDAFunctor_add<float> [kernel]", true },
                 { "vectorized_elementwise_kernel<4, CUDAFunctor_add<float> >", true },
                 { "CUDAFun\xe2\x80\xa6"
                   "loat>",
                   true },
                 { "void at\xe2\x80\xa6"
                   "int)",
                   true },
                 { "CUDAFunctor_add<double>", false },
                 { "CUDAFunctor_add<float", false },
                 { "UDAFunctor_add<float>", false },
                 { "CUDAFun\xe2\x80\xa6"
                   "double>",
                   false },
                 { "(2)", false },
                 { "", false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (tg_label_stands_for(tg_sv_of(rows[i].text), tg_sv_of(add)) != rows[i].fits)
            fail_msg("%s", rows[i].text);
    assert_true(tg_label_stands_for(tg_sv_of(add), tg_sv_of(add)));
    for (size_t width = 12; width < 140; width++) {
        TG_BUF out = { 0 };
        tg_label_put_one(&out, tg_sv_of(add), width);
        if (!tg_label_stands_for(tg_buf_sv(&out), tg_sv_of(add)))
            fail_msg("%zu: %s", width, out.p);
    }
}
