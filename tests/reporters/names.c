/* Names that come from rooms the reporters need only for texts; weak, so that the real ones win. */
#include "core/diff/compare.h"

__attribute__((weak)) const char *tg_judged_text(enum tg_judged j)
{
    return j == TG_JUDGED ? NULL : "not judged here";
}

__attribute__((weak)) const struct tg_measure_info *tg_measure_info(enum tg_measure m)
{
    static const struct tg_measure_info info = { "measure", "ns", "", 1 };
    (void)m;
    return &info;
}

__attribute__((weak)) const char *tg_class_name(enum tg_class c)
{
    (void)c;
    return "compute";
}
