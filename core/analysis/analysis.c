#include "core/analysis/analysis.h"

#include <stdlib.h>

#include "core/analysis/device.h"

#define ROW(id, name, python) { name, tg_##id, python },
const struct tg_analyzer tg_analyzers[] = { TG_ANALYSES(ROW){ NULL, NULL, false } };

const struct tg_analyzer *tg_analyzer_find(tg_sv name)
{
    for (const struct tg_analyzer *a = tg_analyzers; a->name; a++)
        if (tg_sv_eq(name, tg_sv_of(a->name)))
            return a;
    return NULL;
}

void tg_analysis_init(struct tg_analysis_in *in, const struct tg_rank_trace *ranks, size_t n,
                      const struct tg_analysis_opts *opts)
{
    *in = (struct tg_analysis_in){ .ranks = ranks, .n = n, .opts = opts };
    in->work = tg_xrealloc(NULL, n + 1, sizeof *in->work);
    for (size_t r = 0; r < n; r++)
        tg_work_init(&in->work[r], &ranks[r], opts);
}

void tg_analysis_release(struct tg_analysis_in *in)
{
    for (size_t r = 0; in->work && r < in->n; r++)
        tg_work_release(&in->work[r]);
    free(in->work);
    *in = (struct tg_analysis_in){ 0 };
}
