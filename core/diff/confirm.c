#include "core/diff/confirm.h"

#include <math.h>

#include "core/diff/numbers.h"

struct tg_asking tg_asking_of(size_t first, size_t new, size_t most, double detect)
{
    struct tg_asking x = { .detect = detect, .first = first, .new = new };
    size_t wanted = new < TG_ASK_LOOKS *TG_ASK_NEW ? new + TG_ASK_NEW : 2 * new;
    size_t left = most > first ? most - first : 0;
    x.early = first < TG_ASK_FIRST && first < most && !new;
    if (x.early)
        x.next = most < TG_ASK_FIRST ? most : TG_ASK_FIRST;
    else if (left > TG_ASK_FIRST && left > new)
        x.next = first + (wanted < left ? wanted : left);
    return x;
}

/* Of what looks as it would if new runs confirmed it. */
static void take(struct tg_evidence *ev, struct tg_shift s)
{
    ev->e = s.e;
    ev->p = s.p;
    ev->delta_ns = ev->value[TG_BASE] * expm1(s.e);
}

static bool looks_slower(struct tg_shift s, double p)
{
    return s.e > log1p(TG_ASK_SIZE) && s.p <= p;
}

static struct tg_shift shift_of(const struct tg_evidence *ev, double least)
{
    return tg_shift_find(ev->x[TG_BASE], ev->n_x[TG_BASE], ev->x[TG_TEST], ev->n_x[TG_TEST], least);
}

bool tg_confirm_suspects(const struct tg_evidence *first, const double *step_ns, double detect,
                         struct tg_evidence *then)
{
    struct tg_shift s;
    *then = *first;
    then->why_not = TG_JUDGED;
    then->asked = TG_ASKED_RED;
    then->proven = true;
    then->tau = TG_ASK_SIZE;
    if (first->why_not != TG_JUDGED && first->why_not != TG_NOT_WARM)
        return first->withheld;
    if (first->proven)
        return true;
    if (!step_ns || first->value[TG_BASE] < TG_ASK_PART * step_ns[TG_BASE])
        return false;
    s = shift_of(first, log1p(TG_ASK_SIZE));
    take(then, s);
    return looks_slower(s, s.e >= log1p(detect) ? TG_QUARTER : TG_P_HALF);
}

/* The baseline against the fresh runs without the slowdown: are these too fast then? */
bool tg_confirm_excludes(const struct tg_evidence *ev, double detect)
{
    size_t n = ev->n_x[TG_TEST];
    TG_FREE double *without = tg_xmalloc((n + 1) * sizeof *without);
    for (size_t i = 0; i < n; i++)
        without[i] = ev->x[TG_TEST][i] - log1p(detect);
    return tg_shift_find(without, n, ev->x[TG_BASE], ev->n_x[TG_BASE], 0).p <= TG_ASK_EXCLUDED_P;
}

/* The largest p that confirms; of what the first look proves a larger one,
 * since both have to err. */
static double red_p(bool proven, bool last)
{
    return proven ? TG_ASK_PROVEN_P : last ? TG_ASK_RED_P : TG_ASK_RED_P / 2;
}

bool tg_confirm_tells(const struct tg_evidence *again)
{
    return again->why_not == TG_JUDGED || again->why_not == TG_NOT_BUSY;
}

enum tg_asked tg_confirm(const struct tg_evidence *first, const struct tg_evidence *again,
                         double detect, bool last, struct tg_shift *found)
{
    *found = (struct tg_shift){ 0, 1 };
    if (!tg_confirm_tells(again))
        return last ? TG_ASKED_UNTOLD : TG_ASKED_OPEN;
    *found = shift_of(again, 0);
    if (again->why_not == TG_JUDGED && looks_slower(*found, red_p(first->slower, last)))
        return TG_ASKED_RED;
    if (last)
        return tg_confirm_excludes(again, detect) ? TG_ASKED_CLEARED : TG_ASKED_UNTOLD;
    return found->p > TG_QUARTER ? TG_ASKED_CLEARED : TG_ASKED_OPEN;
}

/* The error falls with the root of the runs. */
size_t tg_confirm_runs(const struct tg_evidence *ev, size_t n, double detect)
{
    double times = TG_TWICE * ev->se / log1p(detect);
    return (size_t)ceil((double)n * fmax(1, times * times));
}

void tg_confirm_set(struct tg_evidence *ev, const struct tg_evidence *again,
                    const struct tg_asking *asking)
{
    bool last = !asking->next;
    if (again && tg_confirm_tells(again)) {
        struct tg_shift found;
        enum tg_asked asked = tg_confirm(ev, again, asking->detect, last, &found);
        if (asked == TG_ASKED_RED && asking->disturbed)
            asked = last ? TG_ASKED_UNTOLD : TG_ASKED_OPEN;
        double p_limit = red_p(ev->slower, last);
        size_t pooled = ev->pooled;
        *ev = *again;
        ev->why_not = TG_JUDGED;
        ev->pooled = pooled;
        ev->asked = asked;
        ev->p = found.p;
        ev->p_limit = p_limit;
        ev->tell_runs = tg_confirm_runs(again, asking->new, asking->detect);
        if (asked == TG_ASKED_RED)
            take(ev, found);
    } else
        ev->asked = last ? TG_ASKED_UNTOLD : TG_ASKED_OPEN;
    ev->mde = expm1(fmax(log1p(TG_ASK_SIZE), ev->z * ev->se));
    ev->proven = ev->slower = ev->asked == TG_ASKED_RED;
    ev->suspicious = ev->withheld = false;
    ev->tau = TG_ASK_SIZE;
}

const struct tg_op *tg_confirm_op(const struct tg_comparison *again, const struct tg_op *op)
{
    bool frame = tg_kind_is_frame(op->kind);
    const struct tg_op *v = frame ? again->frames : again->ops;
    for (size_t i = 0, n = frame ? again->n_frames : again->n_ops; i < n; i++)
        if (v[i].kind == op->kind && v[i].launched == op->launched && tg_sv_eq(v[i].name, op->name))
            return &v[i];
    return NULL;
}

const struct tg_comparison *tg_confirm_last(const struct tg_comparison *c)
{
    return c && c->asking && c->asking->again ? c->asking->again : c;
}

void tg_confirm_whole(struct tg_comparison *c)
{
    static const enum tg_account_id times[] = { TG_ACCOUNT_WALL, TG_ACCOUNT_BUSY };
    const struct tg_comparison *again = c->asking->again;
    if (!again)
        return;
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct tg_account_series *s = &c->account[times[i]];
        if (s->growth != TG_GROWTH_NONE)
            *s = again->account[times[i]];
    }
    c->busy = again->busy;
    c->excess = again->excess;
    c->warming = again->warming;
    c->other_data = again->other_data;
}

const char *tg_confirm_text(const struct tg_evidence *ev)
{
    return ev->asked == TG_ASKED_OPEN     ? "it looks slower, and new runs are asked"
           : ev->asked == TG_ASKED_UNTOLD ? "it looks slower, and so many runs do not tell"
                                          : NULL;
}
