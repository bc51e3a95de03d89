/* Operators that make a view or change metadata alone: docs/policy.md has the table. */
#include "core/diff/names.h"

/* Views of the same storage, the same in place, what has nothing to do or calls what does it, and questions about
 * metadata. One that copies after all calls clone, copy_ or _to_copy, which count. */
#define OP(lit)                                                                                    \
    {                                                                                              \
        "" lit, sizeof(lit) - 1                                                                    \
    } /* TG_SV is not a constant */
static const tg_sv views[] = { OP("aten::_conj"),
                               OP("aten::_neg_view"),
                               OP("aten::_reshape_alias"),
                               OP("aten::_unsafe_view"),
                               OP("aten::adjoint"),
                               OP("aten::alias"),
                               OP("aten::as_strided"),
                               OP("aten::atleast_1d"),
                               OP("aten::atleast_2d"),
                               OP("aten::atleast_3d"),
                               OP("aten::broadcast_tensors"),
                               OP("aten::broadcast_to"),
                               OP("aten::chunk"),
                               OP("aten::conj"),
                               OP("aten::detach"),
                               OP("aten::diagonal"),
                               OP("aten::dsplit"),
                               OP("aten::expand"),
                               OP("aten::expand_as"),
                               OP("aten::flatten"),
                               OP("aten::hsplit"),
                               OP("aten::imag"),
                               OP("aten::lift_fresh"),
                               OP("aten::mH"),
                               OP("aten::mT"),
                               OP("aten::matrix_H"),
                               OP("aten::moveaxis"),
                               OP("aten::movedim"),
                               OP("aten::narrow"),
                               OP("aten::numpy_T"),
                               OP("aten::permute"),
                               OP("aten::positive"),
                               OP("aten::ravel"),
                               OP("aten::real"),
                               OP("aten::reshape"),
                               OP("aten::reshape_as"),
                               OP("aten::resolve_conj"),
                               OP("aten::resolve_neg"),
                               OP("aten::select"),
                               OP("aten::slice"),
                               OP("aten::split"),
                               OP("aten::split_with_sizes"),
                               OP("aten::squeeze"),
                               OP("aten::swapaxes"),
                               OP("aten::swapdims"),
                               OP("aten::t"),
                               OP("aten::tensor_split"),
                               OP("aten::transpose"),
                               OP("aten::unbind"),
                               OP("aten::unfold"),
                               OP("aten::unflatten"),
                               OP("aten::unsafe_chunk"),
                               OP("aten::unsafe_split"),
                               OP("aten::unsafe_split_with_sizes"),
                               OP("aten::unsqueeze"),
                               OP("aten::view"),
                               OP("aten::view_as"),
                               OP("aten::view_as_complex"),
                               OP("aten::view_as_real"),
                               OP("aten::vsplit"),
                               OP("aten::as_strided_"),
                               OP("aten::detach_"),
                               OP("aten::squeeze_"),
                               OP("aten::swapaxes_"),
                               OP("aten::swapdims_"),
                               OP("aten::t_"),
                               OP("aten::transpose_"),
                               OP("aten::unsqueeze_"),
                               OP("aten::contiguous"),
                               OP("aten::to"),
                               OP("aten::type_as"),
                               OP("aten::can_cast"),
                               OP("aten::dim"),
                               OP("aten::is_complex"),
                               OP("aten::is_contiguous"),
                               OP("aten::is_floating_point"),
                               OP("aten::is_same_size"),
                               OP("aten::numel"),
                               OP("aten::promote_types"),
                               OP("aten::requires_grad_"),
                               OP("aten::result_type"),
                               OP("aten::retain_grad"),
                               OP("aten::size"),
                               OP("aten::stride"),
                               OP("aten::sym_numel"),
                               OP("aten::sym_size"),
                               OP("aten::sym_storage_offset"),
                               OP("aten::sym_stride") };

bool tg_name_is_view(tg_sv name)
{
    bool node = tg_name_is_node(name);
    tg_sv bare = name; /* the profiler's second row of what dispatches by hand has no namespace */

    (void)tg_sv_skip(&bare, TG_SV("aten::"));
    for (size_t i = 0; i < sizeof views / sizeof *views; i++)
        if (node ? tg_name_is_backward_of(name, views[i])
                 : tg_sv_eq(bare, tg_sv_from(views[i], sizeof "aten::" - 1)))
            return true;
    return false;
}
