/* Names that replace others: as many calls of one come as of another go, on the same night. */
#include "core/history/internal.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"

struct half {
    uint32_t series;
    enum tg_kind kind;
    double calls, level; /* level: what is known of its time; the largest first */
};

static int by_kind_calls_and_level(const void *x, const void *y)
{
    const struct half *a = x, *b = y;
    int c = TG_CMP(a->kind, b->kind);
    c = c ? c : TG_CMP(a->calls, b->calls);
    c = c ? c : TG_CMP(b->level, a->level);
    return c ? c : TG_CMP(a->series, b->series);
}

/* Names that no night before the newest had. */
static size_t find_new(const struct tg_history_replay *r, const struct tg_history_stream *s,
                       struct half *out)
{
    const struct tg_night *night = &r->h->night[s->night[s->n - 1]];
    size_t n = 0;
    for (size_t i = 0; i < night->n; i++) {
        const struct tg_history_value *v = &night->v[i];
        const struct tg_series *x = &r->h->series->v[v->series];
        if (x->counted && tg_series_is_name(x) && !s->track[v->series].seen && v->calls > 0 &&
            !isnan(v->v))
            out[n++] = (struct half){ v->series, x->kind, v->calls, v->v };
    }
    return n;
}

static size_t find_gone(const struct tg_history_replay *r, const struct tg_history_stream *s,
                        struct half *out)
{
    size_t n = 0;
    for (uint32_t i = 0; i < r->h->series->n; i++) {
        const struct tg_history_track *t = &s->track[i];
        if (tg_history_track_is_gone(r, s, i) && t->w.n && !tg_history_track_is_random(t, s->n - 1))
            out[n++] = (struct half){ i, r->h->series->v[i].kind, t->calls,
                                      tg_history_window_end(&t->w, s->n - 1) };
    }
    return n;
}

void tg_history_find_replaced(struct tg_history_replay *r, struct tg_history_stream *s)
{
    size_t most = r->h->series->n, n_new, n_gone = 0, i = 0, k = 0;
    struct half *come = tg_xmalloc(2 * (most + 1) * sizeof *come), *gone = come + most + 1;
    memset(s->pair, 0, most * sizeof *s->pair);
    n_new = s->n > 1 ? find_new(r, s, come) : 0;
    n_gone = n_new ? find_gone(r, s, gone) : 0;
    if (n_gone) {
        TG_SORT(come, n_new, by_kind_calls_and_level);
        TG_SORT(gone, n_gone, by_kind_calls_and_level);
    }
    while (i < n_new && k < n_gone) {
        int c = TG_CMP(come[i].kind, gone[k].kind);
        c = c ? c : TG_CMP(come[i].calls, gone[k].calls);
        if (c == 0) {
            s->pair[come[i].series] = gone[k].series + 1;
            s->pair[gone[k].series] = come[i].series + 1;
        }
        i += c <= 0;
        k += c >= 0;
    }
    free(come);
}
