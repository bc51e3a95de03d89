/* Names that come from rooms the reporters need only for texts; weak, so that the real ones win. */
#include "core/diff/compare.h"

__attribute__((weak)) const char *tg_judged_text(enum tg_judged j)
{
    return j == TG_JUDGED ? NULL : "not judged here";
}
