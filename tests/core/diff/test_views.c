/* Which operators make a view or ask for metadata, by their names (names.c). */
#include "core/diff/names.h"
#include "tests/support.h"

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
