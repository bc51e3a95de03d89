#ifndef TG_REPORTERS_LABEL_H
#define TG_REPORTERS_LABEL_H
/*
 * Short forms of names, for a table or a chart of them: no two rows look the same.
 *
 *   void at::native::(anonymous namespace)::sum<float>(float*, int)     sum<float>
 *   void at::native::vectorized_elementwise_kernel<4, at::native::BinaryFunctor<float, float,
 *       float, at::native::binary_internal::MulFunctor<float> >, …>(…)  MulFunctor<float>
 *
 * A label omits `void`, the namespaces at::native and (anonymous namespace), the argument list of a
 * C++ signature, and at::detail::Array<char*, 2>, which all elementwise kernels have. If that is
 * longer than the width, a kernel that runs any functor (elementwise, reduce, multi_tensor_apply,
 * cutlass::Kernel) is called by the functor, and by what its lambda works on:
 * "direct_copy_kernel_cuda(float)", and a mangled name by the function's own. Of what is still
 * longer an ellipsis replaces the middle. If two different names would then look alike, they are
 * shortened around their first difference instead; a gemm then keeps its word,
 * "…s16816gemm_fp16…64x4_tn". Equal functors get what launches them, "MulFunctor<float> of
 * aten::div", where that is known and differs; else a number, "MulFunctor<float> (2)", equal names
 * of different kinds their kind, "gemm [kernel]". A rank that a name ends with, " [rank 5]", is
 * never cut. Our own words for a step's own time are never shortened.
 *
 * A label says which bytes of the name are hidden, so that a page can show them on demand.
 * Cost: linear in the names, and once more for those that look alike.
 */
#include "core/base/strmap.h"
#include "policy/verdict/verdict.h"

enum tg_label_hide {
    TG_LABEL_SHOWN,
    TG_LABEL_DROPPED, /* hidden, and nothing in its place */
    TG_LABEL_CUT      /* hidden, an ellipsis in its place */
};
struct tg_label {
    struct tg_buf name;  /* visible text (tg_utf8_visible), whole */
    unsigned char *hide; /* per byte of it: enum tg_label_hide */
    struct tg_buf after; /* " [kernel]", " (2)"; mostly "" */
    bool framed;         /* all but the functor of a frame is dropped */
};
struct tg_labels {
    struct tg_label *v;
    size_t n;
};

/* width >= 12, in code points. */
void tg_labels_make(struct tg_labels *l, const tg_sv *names, size_t n, size_t width);
/* The same, and told apart from all kernels of a comparison (NULL: none) that are not among them.
 * `kinds` tells equal names apart; NULL: there are none. */
void tg_labels_make_among(struct tg_labels *l, const tg_sv *names, const char *const *kinds,
                          size_t n, size_t width, const struct tg_comparison *c);
/* The same of these rows of a comparison. */
void tg_labels_of_rows(struct tg_labels *l, const struct tg_comparison *c, const uint32_t *rows,
                       size_t n, size_t width);
void tg_labels_release(struct tg_labels *l);

/* The names of a verdict and of its comparison, each with the one short form that a report has for
 * it. A name that is not among them is shortened by itself. */
struct tg_shorts {
    struct tg_labels labels;
    struct tg_strmap ids;
    size_t width;
};
void tg_shorts_init(struct tg_shorts *s, const struct tg_verdict *v, size_t width);
void tg_shorts_release(struct tg_shorts *s);
void tg_shorts_put(struct tg_buf *out, tg_sv name, const struct tg_shorts *s);

/* The short form, one visible line, not escaped for any format. */
void tg_label_put(struct tg_buf *out, const struct tg_label *l);
bool tg_label_is_whole(const struct tg_label *l); /* nothing is hidden */
/* Is `text` a short form of the name, as some report has it? An ellipsis is for anything, what
 * tells twins apart (" (2)", " [kernel]") for nothing: several names may have one form. */
bool tg_label_stands_for(tg_sv text, tg_sv name);
/* May what `text` says after the name, "MulFunctor<float> of aten::div", be of this operator? */
bool tg_label_is_of(tg_sv text, tg_sv parent);
/* The short form of a single name. */
void tg_label_put_one(struct tg_buf *out, tg_sv name, size_t width);
#endif
