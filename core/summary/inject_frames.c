/* Violations in the totals by Python frame. They are independent of the rest: rules of kind module
 * and source see them, and no other rule. */
#include <math.h>

#include "core/summary/internal.h"

static tg_ns scaled(tg_ns v, double factor)
{
    return (tg_ns)llround((double)v * factor);
}

/* Calls as long as the existing ones. */
static void recount(const struct tg_shard *s, struct tg_row *r, int64_t more)
{
    for (size_t k = 0; k < s->n_steps; k++) {
        int64_t was = r->count[k], now = was + more > 0 ? was + more : 0;
        if (!was)
            continue;
        r->total[k] = scaled(r->total[k], (double)now / (double)was);
        r->self[k] = scaled(r->self[k], (double)now / (double)was);
        r->count[k] = (uint32_t)now;
    }
}

/* One call a step; in its place among the others. */
static size_t add_new(struct tg_shard *s, const struct tg_inject *p, enum tg_kind kind,
                      struct tg_arena *a)
{
    struct tg_row *grown = TG_NEW_N(a, struct tg_row, s->n_frames + 1);
    struct tg_row fresh = tg_frame_row(kind, tg_arena_sv(a, p->text), -1, s->n_steps, a);
    size_t at = 0;
    for (size_t k = 0; k < s->n_steps; k++) {
        fresh.count[k] = 1;
        fresh.total[k] = fresh.self[k] = p->ns > 0 ? p->ns : 1;
    }
    for (size_t i = 0; i < s->n_frames; i++) {
        at += tg_row_cmp(&s->frames[i], &fresh) < 0;
        grown[i + (tg_row_cmp(&s->frames[i], &fresh) >= 0)] = s->frames[i];
    }
    grown[at] = fresh;
    s->frames = grown;
    s->n_frames++;
    return 1;
}

size_t tg_inject_frames(struct tg_shard *s, const struct tg_inject *p, struct tg_arena *a)
{
    size_t injected = 0;
    enum tg_kind kind = p->kind;
    if (p->what == TG_INJECT_DROP && p->is) {
        size_t kept = 0;
        for (size_t i = 0; i < s->n_frames; i++)
            if (!p->is(p->arg, &s->frames[i]))
                s->frames[kept++] = s->frames[i];
        injected = s->n_frames - kept;
        s->n_frames = kept;
        return injected;
    }
    for (size_t i = 0; p->is && i < s->n_frames; i++) {
        struct tg_row *r = &s->frames[i];
        if (!p->is(p->arg, r))
            continue;
        kind = r->key->kind;
        injected++;
        if (p->what == TG_INJECT_SLOWER) {
            for (size_t k = 0; k < s->n_steps; k++) {
                r->total[k] = scaled(r->total[k], p->factor);
                r->self[k] = scaled(r->self[k], p->factor);
            }
        } else if (p->what == TG_INJECT_CALLS)
            recount(s, r, p->calls);
        else
            injected = p->what == TG_INJECT_NEW ? injected : 0;
    }
    if (p->what == TG_INJECT_NEW && (p->is ? injected > 0 : tg_kind_is_frame(kind)))
        return add_new(s, p, kind, a);
    return injected;
}
