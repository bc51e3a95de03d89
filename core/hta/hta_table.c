#include "core/hta/hta.h"

const struct tg_hta_analysis tg_hta_analyses[] = {
    { "temporal", tg_hta_temporal },
    { "idle", tg_hta_idle },
    { "kernel-types", tg_hta_kernel_types },
    { "kernels", tg_hta_kernels },
    { "overlap", tg_hta_overlap },
    { "bandwidth", tg_hta_bandwidth },
    { "queue", tg_hta_queue },
    { "launches", tg_hta_launches },
    { "sequences", tg_hta_sequences },
    { NULL, NULL },
};

const struct tg_hta_analysis *tg_hta_find(tg_sv name)
{
    for (const struct tg_hta_analysis *a = tg_hta_analyses; a->name; a++)
        if (tg_sv_eq(name, tg_sv_of(a->name)))
            return a;
    return NULL;
}
