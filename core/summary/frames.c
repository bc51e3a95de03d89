/* Totals by Python frame as rows of a summary. */

#include "core/base/sort.h"
#include "core/summary/internal.h"

static const enum tg_kind kinds[TG_STACK_SORTS] = {
    [TG_STACK_MODULES] = TG_KIND_MODULE, [TG_STACK_SOURCES] = TG_KIND_SOURCE
};

const char *tg_frame_sort_name(enum tg_stack_sort sort)
{
    return tg_kind_name(kinds[sort]);
}

bool tg_frame_sort_find(tg_sv name, enum tg_stack_sort *out)
{
    for (int sort = 0; sort < TG_STACK_SORTS; sort++)
        if (tg_sv_eq(name, tg_sv_of(tg_kind_name(kinds[sort])))) {
            *out = (enum tg_stack_sort)sort;
            return true;
        }
    return false;
}

struct tg_row tg_frame_row(enum tg_kind kind, tg_sv name, int64_t device, size_t n_steps,
                           struct tg_arena *a)
{
    const struct tg_row_key key = {
        name, tg_sv_of(tg_kind_name(kind)), TG_SV(""), kind, device, -1
    };
    return tg_row_new(&key, n_steps, a);
}

enum side { HOST = -1, DEVICE = 0 }; /* tg_row_key.device */

static tg_ns between(tg_ns v, tg_ns most)
{
    return v < 0 ? 0 : v < most ? v : most;
}

static uint32_t narrow(uint64_t n)
{
    return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

static void add_row(struct tg_shard *out, size_t *cap, enum tg_kind kind, tg_sv name,
                    const struct tg_stack_sums *v, enum side side, struct tg_arena *a)
{
    bool any = false;
    for (size_t k = 0; k <= out->n_steps; k++)
        any = any || (side == HOST ? v[k].calls : v[k].work);
    if (!any)
        return;
    size_t n = out->n_rows + out->n_frames++;
    struct tg_row *row = TG_ARENA_PUSH(a, out->rows, n, *cap);
    *row = tg_frame_row(kind, name, side, out->n_steps, a);
    for (size_t k = 0; k <= out->n_steps; k++) {
        row->count[k] = narrow(side == HOST ? v[k].calls : v[k].work);
        /* Sums of hostile times saturate; stored sums stay consistent. */
        row->total[k] = between(side == HOST ? v[k].host : v[k].device, INT64_MAX);
        row->self[k] = between(side == HOST ? v[k].self : v[k].device_self, row->total[k]);
    }
}

void tg_frames_of_trace(struct tg_shard *out, const struct tg_trace *t,
                        const struct tg_steps *steps, unsigned sorts, struct tg_arena *a)
{
    size_t cap = out->n_rows;
    out->frame_sorts = sorts;
    TG_FREE size_t *bucket = tg_xrealloc(NULL, steps->n + 1, sizeof *bucket);
    for (size_t k = 0; k <= steps->n; k++)
        bucket[k] = k;
    for (int i = 0; i < TG_STACK_SORTS; i++) {
        enum tg_stack_sort sort = (enum tg_stack_sort)i;
        struct tg_stack_spec spec = { sort, sort == TG_STACK_SOURCES, bucket, steps->n + 1 };
        if (!(sorts & 1u << sort))
            continue;
        TG_AUTO(tg_stacks_release) struct tg_stacks s;
        tg_stacks_compute(&s, t, steps, &spec);
        for (size_t k = 0; k < s.n; k++) {
            tg_sv name = tg_clean_text(a, s.rows[k].name);
            add_row(out, &cap, kinds[sort], name, s.rows[k].v, HOST, a);
            add_row(out, &cap, kinds[sort], name, s.rows[k].v, DEVICE, a);
        }
        add_row(out, &cap, kinds[sort], tg_sv_of(tg_stack_outside(sort)), s.outside, DEVICE, a);
    }
    struct tg_row *frames = out->rows + out->n_rows;
    TG_SORT(frames, out->n_frames, tg_row_cmp);
    /* Names whose bytes are not text may be cleaned to the same text: they are one row then. */
    size_t kept = 0;
    for (size_t i = 0; i < out->n_frames; i++) {
        struct tg_row *to = kept ? &frames[kept - 1] : NULL, *row = &frames[i];
        if (!to || tg_row_cmp(to, row) != 0) {
            frames[kept++] = *row;
            continue;
        }
        for (size_t k = 0; k <= out->n_steps; k++) {
            to->count[k] = narrow((uint64_t)to->count[k] + row->count[k]);
            to->total[k] = tg_ns_add(to->total[k], row->total[k]);
            to->self[k] = tg_ns_add(to->self[k], row->self[k]);
        }
    }
    out->n_frames = kept;
}
