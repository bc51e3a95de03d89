/* Short forms of names; the expected texts are written by hand from the rules of label.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "fixture.h"
#include "reporters/label.h"
#include "tests/support.h"

static void one(const char *name, size_t width, const char *want)
{
    struct tg_buf out = { 0 };
    tg_label_put_one(&out, tg_sv_of(name), width);
    assert_string_equal(out.p ? out.p : "", want);
    tg_buf_release(&out);
}

TEST(noise_is_dropped)
{
    one("aten::mm", 44, "aten::mm");
    one("void at::native::(anonymous namespace)::sum<float>(float*, int)", 44, "sum<float>");
    one("void (anonymous namespace)::softmax<float, 8>(float*)", 44, "softmax<float, 8>");
    one("Memcpy HtoD (Pageable -> Device)", 44, "Memcpy HtoD (Pageable -> Device)");
    one("Torch-Compiled Region: 0 (x)", 44, "Torch-Compiled Region: 0 (x)");
    one("void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
        "at::TensorIteratorBase&), at::detail::Array<char*, 2> >(int)",
        64, "unrolled_elementwise_kernel<direct_copy_kernel_cuda >");
    one("void at::native::f<4, g, std::array<char*, 3ul> >(int)", 44, "f<4, g >");
    one("void at::native::f<g, at::detail::Array<char*, long name> >(int)", 64,
        "f<g, at::detail::Array<char*, long name> >");
    one("f(int)", 44, "f(int)"); /* no C++ signature for sure */
    one("a::(anonymous namespace)", 44, "a::(anonymous namespace)");
    one("void ", 44, "void ");
    one("()", 44, "()");
    one("", 44, "");
}

/* 20 columns: 11 before the ellipsis, 8 after it; in code points, not in bytes. */
TEST(the_middle_gives_way)
{
    one("abcdefghijklmnopqrstuvwxyz", 20, "abcdefghijk\xe2\x80\xa6stuvwxyz");
    one("\xc3\xa9\xc3\xa9"
        "cdefghijklmnopqrstuvwxyz",
        20,
        "\xc3\xa9\xc3\xa9"
        "cdefghijk\xe2\x80\xa6stuvwxyz");
    one("abcdefghijklmnopqrst", 20, "abcdefghijklmnopqrst");
}

static void check(const char *const *names, const char *const *kinds, size_t n, size_t width,
                  const char *const *want)
{
    struct tg_labels l;
    tg_sv views[8];
    for (size_t i = 0; i < n; i++)
        views[i] = tg_sv_of(names[i]);
    tg_labels_make(&l, views, kinds, n, width);
    for (size_t i = 0; i < n; i++) {
        struct tg_buf out = { 0 };
        tg_label_put(&out, &l.v[i]);
        assert_string_equal(out.p, want[i]);
        tg_buf_release(&out);
    }
    tg_labels_release(&l);
}

/* Equal heads and tails: from three code points before the difference on. */
TEST(lookalikes_differ)
{
    static const char *const args[] = { "void sum<float>(float*)", "void sum<float>(double*)" };
    static const char *const args_want[] = { "sum<float>(float*)", "sum<float>(double*)" };
    static const char *const middle[] = {
        "kernel_of_many_words<AAAAAAAAAAAAAAAA, one, BBBBBBBBBBBBBBBBBBBBBBBB>",
        "kernel_of_many_words<AAAAAAAAAAAAAAAA, two, BBBBBBBBBBBBBBBBBBBBBBBB>"
    };
    static const char *const middle_want[] = { "kernel_of_\xe2\x80\xa6"
                                               "A, one, BBBBBBBB\xe2\x80\xa6",
                                               "kernel_of_\xe2\x80\xa6"
                                               "A, two, BBBBBBBB\xe2\x80\xa6" };
    static const char *const same[] = { "gemm", "gemm", "gemm" };
    static const char *const kinds[] = { "op", "kernel", "kernel" };
    static const char *const same_want[] = { "gemm", "gemm [kernel]", "gemm [kernel] (2)" };
    check(args, NULL, 2, 44, args_want);
    check(middle, NULL, 2, 28, middle_want);
    check(same, kinds, 3, 44, same_want);
}

/* Of 4,000 hostile names, and of as many that differ in one place, no two labels are equal. */
TEST(no_two_look_the_same)
{
    enum { N = 2000 };
    struct tg_arena *a = tg_arena_new();
    struct tg_strmap distinct, seen;
    struct tg_labels l;
    tg_strmap_init(&distinct);
    tg_strmap_init(&seen);
    for (unsigned k = 0; k < N; k++) {
        char text[256];
        (void)tg_strmap_add(&distinct, hostile_name(k, a));
        (void)snprintf(text, sizeof text, "void at::native::%0*u<%0*u, float, float>(float*, int)",
                       (int)(k % 60), k, (int)(k * 7 % 80), k);
        (void)tg_strmap_add(&distinct, tg_sv_of(text));
    }
    tg_labels_make(&l, distinct.text, NULL, distinct.n, 30);
    for (size_t i = 0; i < l.n; i++) {
        struct tg_buf out = { 0 };
        tg_label_put(&out, &l.v[i]);
        (void)tg_strmap_add(&seen, tg_buf_sv(&out));
        assert_true(tg_utf8_valid(tg_buf_sv(&out)));
        assert_true(tg_utf8_count(tg_buf_sv(&out)) <= 30 + l.v[i].after.n);
        tg_buf_release(&out);
    }
    assert_int_equal(seen.n, l.n);
    tg_labels_release(&l);
    tg_strmap_release(&distinct);
    tg_strmap_release(&seen);
    tg_arena_free(a);
}
