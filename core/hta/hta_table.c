#include "core/hta/hta.h"

#define ROW(id, name) { name, tg_hta_##id },
const struct tg_hta_analysis *tg_hta_find(tg_sv name)
{
    static const struct tg_hta_analysis all[] = { TG_HTA_ANALYSES(ROW) };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (tg_sv_eq(name, tg_sv_of(all[i].name)))
            return &all[i];
    return NULL;
}
