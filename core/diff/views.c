/* Operators that make a view or change metadata alone: docs/policy.md has the table. */
#include "core/diff/names.h"

/*
 * Views of the same storage, the same in place, what has nothing to do or calls what does it, and questions about
 * metadata. One that copies after all calls clone, copy_ or _to_copy, which count, or takes longer than views do
 * (place_small.c).
 */
static const char views[] =
    "aten::_conj aten::_neg_view aten::_reshape_alias aten::_unsafe_view aten::adjoint "
    "aten::alias aten::as_strided aten::atleast_1d aten::atleast_2d aten::atleast_3d "
    "aten::broadcast_tensors aten::broadcast_to aten::chunk aten::conj aten::detach "
    "aten::diagonal aten::dsplit aten::expand aten::expand_as aten::flatten aten::hsplit "
    "aten::imag aten::lift_fresh aten::mH aten::mT aten::matrix_H aten::moveaxis aten::movedim "
    "aten::narrow aten::numpy_T aten::permute aten::positive aten::ravel aten::real "
    "aten::reshape aten::reshape_as aten::resolve_conj aten::resolve_neg aten::select "
    "aten::slice aten::split aten::split_with_sizes aten::squeeze aten::swapaxes aten::swapdims "
    "aten::t aten::tensor_split aten::transpose aten::unbind aten::unfold aten::unflatten "
    "aten::unsafe_chunk aten::unsafe_split aten::unsafe_split_with_sizes aten::unsqueeze "
    "aten::view aten::view_as aten::view_as_complex aten::view_as_real aten::vsplit "
    "aten::as_strided_ aten::detach_ aten::squeeze_ aten::swapaxes_ aten::swapdims_ aten::t_ "
    "aten::transpose_ aten::unsqueeze_ aten::contiguous aten::to aten::type_as aten::can_cast "
    "aten::dim aten::is_complex aten::is_contiguous aten::is_floating_point aten::is_same_size "
    "aten::numel aten::promote_types aten::requires_grad_ aten::result_type aten::retain_grad "
    "aten::size aten::stride aten::sym_numel aten::sym_size aten::sym_storage_offset "
    "aten::sym_stride";

bool tg_name_is_view(tg_sv name)
{
    bool node = tg_name_is_node(name), found = false;
    tg_sv bare = name, rest = { views, sizeof views - 1 };

    /* The profiler's second row of what dispatches by hand has no namespace. */
    (void)tg_sv_skip(&bare, TG_SV("aten::"));
    while (rest.n && !found) {
        tg_sv view = tg_sv_cut(&rest, ' ');
        found = node ? tg_name_is_backward_of(name, view)
                     : tg_sv_eq(bare, tg_sv_from(view, sizeof "aten::" - 1));
    }
    return found;
}
