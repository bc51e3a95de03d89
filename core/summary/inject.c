#include "core/summary/inject.h"

#include <math.h>

#include "core/base/sort.h"
#include "core/summary/internal.h"

#define MAX_DEPTH 64 /* of enclosers; names that enclose each other would not end */

struct job {
    struct tg_shard *s;
    const struct tg_inject *p;
    struct tg_arena *a;
    tg_ns *delta; /* [n_steps]: what the step got longer */
    int64_t *calls;
    size_t injected;
};

static bool is_injected(const struct job *j, const struct tg_row *r)
{
    return j->p->is && j->p->is(j->p->arg, r);
}

static void add(struct job *j, enum tg_metric m, size_t step, int64_t num, int64_t den)
{
    struct tg_metric_value *v = &j->s->metrics[(size_t)m * j->s->n_steps + step];
    if (!j->s->metrics || !v->known)
        return;
    v->num = v->num + num > 0 ? v->num + num : 0;
    v->den = v->den + den > 1 ? v->den + den : 1;
}

/* ---- what follows from a change ---- */

/* Later steps start later. */
static void move_steps(struct job *j)
{
    tg_ns later = 0;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        j->s->steps[k].start += later;
        later += j->delta[k];
        j->s->steps[k].end += later;
    }
}

/* `self`: by time in no operator, which is the window's own. */
static void lengthen_step_rows(struct job *j, bool self)
{
    for (size_t i = 0; i < j->s->n_rows; i++) {
        struct tg_row *r = &j->s->rows[i];
        tg_sv window = j->s->window;
        bool is_step = r->key->kind == TG_KIND_STEP;
        if (self && tg_sv_skip(&window, TG_SV("annotation:")))
            is_step = tg_kind_nests(r->key->kind) && tg_sv_glob(window, r->key->name);
        for (size_t k = 0; is_step && k < j->s->n_steps; k++) {
            if (!r->count[k])
                continue;
            r->total[k] += j->delta[k];
            r->self[k] += self ? j->delta[k] : 0;
        }
    }
}

/* The row that carries most of a name's time; NULL: no row nests. */
static struct tg_row *main_row(const struct tg_shard *s, tg_sv name)
{
    struct tg_row *best = NULL;
    tg_ns most = -1;
    for (size_t i = 0; i < s->n_rows; i++) {
        tg_ns sum = 0;
        if (!tg_kind_nests(s->rows[i].key->kind) || s->rows[i].key->kind == TG_KIND_STEP ||
            !tg_sv_eq(s->rows[i].key->name, name))
            continue;
        for (size_t k = 0; k < s->n_steps; k++)
            sum += s->rows[i].total[k];
        if (sum > most) {
            most = sum;
            best = &s->rows[i];
        }
    }
    return best;
}

static void lengthen_enclosers(struct job *j, const struct tg_row *row)
{
    tg_sv name = row->key->parent;
    for (int depth = 0; depth < MAX_DEPTH && name.n; depth++) {
        struct tg_row *up = main_row(j->s, name);
        if (!up || up == row || is_injected(j, up))
            break;
        for (size_t k = 0; k < j->s->n_steps; k++)
            up->total[k] += j->delta[k];
        name = up->key->parent;
    }
    lengthen_step_rows(j, false);
}

/* `delta` and `calls` of one row -> enclosers, step, metrics; then both are zero again. */
static void settle(struct job *j, const struct tg_row *row)
{
    bool device = tg_kind_is_device(row->key->kind);
    bool launched = device || row->key->kind == TG_KIND_GRAPH;
    if (!device)
        lengthen_enclosers(j, row);
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns d = j->delta[k];
        add(j, TG_METRIC_HOST_TIME, k, device ? 0 : d, 0);
        if (device) {
            add(j, TG_METRIC_DEVICE_EXTENT, k, d, 0);
            add(j, TG_METRIC_GPU_BUSY, k, d, 0);
            add(j, TG_METRIC_IDLE, k, 0, d);
        }
        if (launched)
            add(j, TG_METRIC_LAUNCH_COUNT, k, j->calls[k], 0);
        if (row->key->kind == TG_KIND_GRAPH)
            add(j, TG_METRIC_GRAPH_LAUNCHES, k, j->calls[k], 0);
        if (row->key->kind == TG_KIND_SYNC)
            add(j, TG_METRIC_SYNC_COUNT, k, j->calls[k], 0);
    }
    move_steps(j);
    memset(j->delta, 0, j->s->n_steps * sizeof *j->delta);
    memset(j->calls, 0, j->s->n_steps * sizeof *j->calls);
    j->injected++;
}

/* ---- operators ---- */

static tg_ns scaled(tg_ns v, double factor)
{
    return (tg_ns)llround((double)v * factor);
}

static void slow_row(struct job *j, struct tg_row *r)
{
    size_t n = (size_t)tg_row_calls(j->s, r);
    for (size_t i = 0; r->slots && i < n; i++)
        r->slots[i] = scaled(r->slots[i], j->p->factor);
    for (size_t k = 0; k < j->s->n_steps; k++) {
        j->delta[k] = scaled(r->self[k], j->p->factor) - r->self[k];
        r->self[k] += j->delta[k];
        r->total[k] += j->delta[k];
    }
    settle(j, r);
}

/* One step of a row with another number of calls; new calls repeat existing ones. Returns the slots
 * after it. */
static tg_ns *change_step(struct job *j, struct tg_row *r, size_t k, uint32_t now,
                          const tg_ns *old_slots, tg_ns *slots)
{
    uint32_t was = r->count[k];
    tg_ns mean = was ? r->self[k] / was : j->p->ns, self = r->self[k];
    for (uint32_t i = 0; i < now; i++) {
        tg_ns v = old_slots && was ? old_slots[i % was] : mean;
        if (slots)
            *slots++ = v;
        self += i >= was ? v : 0;
    }
    for (uint32_t i = now; i < was; i++)
        self -= old_slots ? old_slots[i] : mean;
    self = self > 0 ? self : 0;
    j->delta[k] = self - r->self[k];
    j->calls[k] = (int64_t)now - was;
    r->count[k] = now;
    r->self[k] = self;
    r->total[k] += j->delta[k];
    return slots;
}

static void recount_row(struct job *j, struct tg_row *r, int64_t more, bool none)
{
    size_t n = 0, at = 0;
    tg_ns *slots = NULL, *end;
    const tg_ns *old = r->slots;
    for (size_t k = 0; k < j->s->n_steps; k++)
        n += r->count[k] + (more > 0 ? (size_t)more : 0);
    if (r->slots)
        slots = TG_NEW_N(j->a, tg_ns, n + 1);
    end = slots;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        int64_t was = r->count[k], now = none ? 0 : was + more > 0 ? was + more : 0;
        end = change_step(j, r, k, (uint32_t)now, old ? old + at : NULL, end);
        at += (size_t)was;
    }
    r->slots = slots;
    settle(j, r);
}

/* The changed row with most calls in steps. */
static struct tg_row *largest(const struct job *j)
{
    struct tg_row *best = NULL;
    for (size_t i = 0; i < j->s->n_rows; i++)
        if (is_injected(j, &j->s->rows[i]) &&
            (!best || tg_row_calls(j->s, &j->s->rows[i]) > tg_row_calls(j->s, best)))
            best = &j->s->rows[i];
    return best;
}

static void drop_rows(struct job *j)
{
    size_t kept = 0;
    for (size_t i = 0; i < j->s->n_rows; i++)
        if (is_injected(j, &j->s->rows[i]))
            recount_row(j, &j->s->rows[i], 0, true);
    for (size_t i = 0; i < j->s->n_rows; i++)
        if (!is_injected(j, &j->s->rows[i]))
            j->s->rows[kept++] = j->s->rows[i];
    j->s->n_rows = kept;
}

/* A row of `model`'s place with `calls[k]` calls and `ns[k]` in step k. */
static void new_row(struct job *j, const struct tg_row_key *model, tg_sv name,
                    const uint32_t *calls, const tg_ns *ns)
{
    size_t n_steps = j->s->n_steps, n = 0;
    struct tg_row_key key = *model;
    key.name = tg_arena_sv(j->a, name);
    struct tg_row r = tg_row_new(&key, n_steps, j->a);
    for (size_t k = 0; k < n_steps; k++)
        n += calls[k];
    r.slots = TG_NEW_N(j->a, tg_ns, n + 1);
    n = 0;
    for (size_t k = 0; k < n_steps; k++) {
        r.count[k] = calls[k];
        for (uint32_t i = 0; i < calls[k]; i++)
            r.slots[n++] = ns[k] / calls[k];
        r.self[k] = r.total[k] = calls[k] ? ns[k] / calls[k] * calls[k] : 0;
        j->delta[k] = r.self[k];
        j->calls[k] = calls[k];
        add(j, TG_METRIC_KERNEL_NAMES, k, key.kind == TG_KIND_KERNEL, 0);
    }
    j->s->rows = tg_arena_copy(j->a, j->s->rows, j->s->n_rows, sizeof r);
    j->s->rows[j->s->n_rows] = r;
    settle(j, &j->s->rows[j->s->n_rows++]);
}

static void unfuse(struct job *j)
{
    const struct tg_row *model = largest(j);
    struct tg_row_key key;
    uint32_t *calls = TG_NEW_N(j->a, uint32_t, j->s->n_steps + 1);
    tg_ns *half = TG_NEW_N(j->a, tg_ns, j->s->n_steps + 1);
    if (!model || !tg_row_calls(j->s, model))
        return;
    key = *model->key;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        calls[k] = model->count[k];
        half[k] = model->self[k] / 2;
    }
    drop_rows(j);
    for (int part = 0; part < 2; part++)
        new_row(j, &key,
                TG_SV_PRINTF(j->a, "%.*s%s", TG_SV_ARG(j->p->text), part ? "_second" : "_first"),
                calls, half);
}

static void inject_new(struct job *j)
{
    const struct tg_row *like = largest(j);
    struct tg_row_key model = { .kind = j->p->kind, .device = -1, .stream = -1 };
    uint32_t *calls = TG_NEW_N(j->a, uint32_t, j->s->n_steps + 1);
    tg_ns *ns = TG_NEW_N(j->a, tg_ns, j->s->n_steps + 1);
    if ((j->p->is && !like) || tg_kind_is_frame(model.kind))
        return;
    if (like) {
        model = *like->key;
    } else {
        bool device = tg_kind_is_device(model.kind);
        model.cat = device                     ? TG_SV("kernel")
                    : model.kind == TG_KIND_OP ? TG_SV("cpu_op")
                                               : TG_SV("cuda_runtime");
        model.parent = j->s->marked && !device ? TG_SV("ProfilerStep") : TG_SV("");
        model.device = model.stream = device ? 0 : -1;
    }
    for (size_t k = 0; k < j->s->n_steps; k++) {
        calls[k] = 1;
        ns[k] = j->p->ns > 0 ? j->p->ns : 1;
    }
    new_row(j, &model, j->p->text, calls, ns);
}

/* ---- attributes ---- */

/* Another value of the same form: the first number is one larger, or `factor` (over 1) times as
 * large; a text without a number is a type. */
static tg_sv other_attr(tg_sv v, double factor, struct tg_arena *a)
{
    size_t from = 0, to;
    int64_t number;
    while (from < v.n && !tg_is_digit(v.p[from]))
        from++;
    to = tg_sv_digits(v, from);
    if (from == to || !tg_sv_i64((tg_sv){ v.p + from, to - from }, &number))
        return TG_SV("[\"c10::complex<double>\"]"); /* has a number: no other value becomes this */
    number = factor > 1 && number < INT64_MAX / 1000 ? scaled(number, factor) : number;
    number = number < INT64_MAX ? number + 1 : number - 1;
    return TG_SV_PRINTF(a, "%.*s%lld%.*s", (int)from, v.p, (long long)number, (int)(v.n - to),
                        v.p + to);
}

static void change_attrs(struct job *j)
{
    for (size_t i = 0; i < j->s->n_rows; i++) {
        struct tg_row *r = &j->s->rows[i];
        for (size_t f = 0; is_injected(j, r) && f < r->n_attrs; f++)
            if (r->attrs[f].kind == j->p->attr) {
                r->attrs[f].value = other_attr(r->attrs[f].value, j->p->factor, j->a);
                j->injected++;
            }
    }
}

/* ---- the step and its metrics ---- */

static tg_ns measured(const struct job *j, enum tg_metric m, size_t step)
{
    const struct tg_metric_value *v = &j->s->metrics[(size_t)m * j->s->n_steps + step];
    return j->s->metrics && v->known && v->den ? v->num / v->den : 0;
}

/* Up to the next step; of the last one, whose next is not known, as the shortest of the others. */
static tg_ns step_time(const struct job *j, size_t step, tg_ns shortest)
{
    tg_ns window = j->s->steps[step].end - j->s->steps[step].start;
    tg_ns wall = measured(j, TG_METRIC_STEP_TIME, step);
    return wall > window || !shortest ? wall : shortest;
}

static void wait_longer(struct job *j)
{
    size_t gap = 0;
    tg_ns shortest = 0;
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns wall = step_time(j, k, 0), window = j->s->steps[k].end - j->s->steps[k].start;
        shortest = wall > window && (!shortest || wall < shortest) ? wall : shortest;
    }
    for (size_t k = 0; k < j->s->n_steps; k++) {
        tg_ns d = scaled(step_time(j, k, shortest), j->p->factor - 1);
        j->delta[k] = d;
        if (j->s->gap_count[k])
            j->s->gaps[gap] += d;
        gap += j->s->gap_count[k];
        add(j, TG_METRIC_DEVICE_EXTENT, k, d, 0);
        add(j, TG_METRIC_HOST_TIME, k, d, 0);
        add(j, TG_METRIC_IDLE, k, d, d);
    }
    lengthen_step_rows(j, true);
    move_steps(j);
    j->injected++;
}

static int64_t worsened(const struct job *j, const struct tg_metric_value *v, size_t step)
{
    const struct tg_metric_info *info = tg_metric_info(j->p->metric);
    bool up = (info->worse > 0) != j->p->better;
    double f = j->p->factor;
    if (info->unit == TG_UNIT_PERCENT) /* of the distance to the worst value, the part 1 - 1/f */
        return up ? v->num + scaled(v->den - v->num, 1 - 1 / f) : scaled(v->num, 1 / f);
    if (!up)
        return scaled(v->num, 1 / f) < v->num ? scaled(v->num, 1 / f) : v->num - (v->num > 0);
    if (v->num == 0 && info->unit == TG_UNIT_NS)
        return scaled(measured(j, TG_METRIC_STEP_TIME, step), f - 1);
    return scaled(v->num, f) > v->num ? scaled(v->num, f) : v->num + v->den;
}

static void change_metric(struct job *j)
{
    for (size_t k = 0; j->s->metrics && k < j->s->n_steps; k++) {
        struct tg_metric_value *v = &j->s->metrics[(size_t)j->p->metric * j->s->n_steps + k];
        if (!v->known)
            continue;
        v->num = worsened(j, v, k);
        j->injected++;
    }
}

struct tg_shard *tg_inject(const struct tg_shard *s, const struct tg_inject *p, struct tg_arena *a)
{
    struct job j = { .s = tg_shard_copy(s, a), .p = p, .a = a };
    const struct tg_row_key **key = TG_NEW_N(a, const struct tg_row_key *, s->n_rows + 1);
    struct tg_row *row;
    for (size_t i = 0; i < s->n_rows; i++)
        key[i] = j.s->rows[i].key;
    j.delta = TG_NEW_N(a, tg_ns, s->n_steps + 1);
    j.calls = TG_NEW_N(a, int64_t, s->n_steps + 1);
    switch (p->what) {
    case TG_INJECT_SLOWER:
        for (size_t i = 0; i < j.s->n_rows; i++)
            if (is_injected(&j, &j.s->rows[i]))
                slow_row(&j, &j.s->rows[i]);
        break;
    case TG_INJECT_CALLS:
        if ((row = largest(&j)) && tg_row_calls(s, row))
            recount_row(&j, row, p->calls, false);
        break;
    case TG_INJECT_DROP:
        drop_rows(&j);
        break;
    case TG_INJECT_UNFUSE:
        unfuse(&j);
        break;
    case TG_INJECT_NEW:
        inject_new(&j);
        break;
    case TG_INJECT_ATTR:
        change_attrs(&j);
        break;
    case TG_INJECT_WAIT:
        wait_longer(&j);
        break;
    case TG_INJECT_METRIC:
        change_metric(&j);
        break;
    }
    j.injected += tg_inject_frames(j.s, p, a);
    if (j.s->metrics)
        tg_metrics_derive(j.s->steps, j.s->n_steps, j.s->metrics);
    TG_SORT(j.s->rows, j.s->n_rows, tg_row_cmp);
    tg_inject_tree(s, j.s, key, a);
    for (size_t i = 0; i < j.s->n_rows; i++) /* of their slots now it is not known */
        j.s->rows[i].beside = NULL;
    j.s->beside_known = false;
    return j.injected ? j.s : NULL;
}
