#include "core/trace/nvtx.h"

#include <string.h>

void tg_nvtx_range(tg_sv *category, tg_sv *name)
{
    static const tg_sv ends[] = { { ", seq = ", 8 }, { ", op_id = ", 10 } };
    size_t n = name->n;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *at = memmem(name->p, n, ends[i].p, ends[i].n);
        if (at)
            n = (size_t)(at - name->p);
    }
    *category = n < name->n ? TG_SV("cpu_op") : TG_SV("user_annotation");
    name->n = n;
}
