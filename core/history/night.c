#include "core/history/night.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/names.h"
#include "core/diff/stats.h"

/* ---- series ---- */

void tg_series_init(struct tg_series_table *t)
{
    *t = (struct tg_series_table){ 0 };
}

void tg_series_release(struct tg_series_table *t)
{
    tg_strmap_release(&t->raw);
    tg_strmap_release(&t->names);
    free(t->v);
    free(t->of_raw);
    free(t->of_name);
    *t = (struct tg_series_table){ 0 };
}

static struct tg_series *add_series(struct tg_series_table *t)
{
    struct tg_series *s = TG_PUSH(t->v, t->n, t->cap);
    *s = (struct tg_series){ .unit = TG_SV("ns"), .worse = 1 };
    return s;
}

/* `kind` TG_KINDS: a number, whose unit follows its name. */
static tg_sv keyed(struct tg_buf *b, enum tg_kind kind, tg_sv name)
{
    tg_buf_clear(b);
    tg_buf_putc(b, (char)('A' + (int)kind));
    tg_buf_add(b, name);
    return tg_buf_sv(b);
}

/* `v` with room for the element `id`; what it grows by is zero. */
static void *with_element(void *v, size_t *cap, uint32_t id, size_t size)
{
    size_t before = *cap;
    if (id >= before) {
        v = tg_grow(v, cap, (size_t)id + 1, size);
        memset((char *)v + before * size, 0, (*cap - before) * size);
    }
    return v;
}

/* Where the id of the series of this key is kept, plus 1; 0: it is new. */
static uint32_t *place_of(struct tg_series_table *t, tg_sv key, uint32_t *id)
{
    *id = tg_strmap_add(&t->names, key);
    t->of_name = with_element(t->of_name, &t->cap_name, *id, sizeof *t->of_name);
    return &t->of_name[*id];
}

static uint32_t series_of(struct tg_series_table *t, enum tg_kind kind, tg_sv raw, struct tg_buf *b)
{
    uint32_t id = tg_strmap_add(&t->raw, keyed(b, kind, raw)), key, *known;
    t->of_raw = with_element(t->of_raw, &t->cap_raw, id, sizeof *t->of_raw);
    if (t->of_raw[id])
        return t->of_raw[id] - 1;
    (void)keyed(b, kind, TG_SV(""));
    tg_name_normalise(kind, raw, b);
    known = place_of(t, tg_buf_sv(b), &key);
    if ((t->of_raw[id] = *known))
        return *known - 1;
    struct tg_series *s = add_series(t);
    s->what = tg_kind_is_device(kind) ? TG_SERIES_KERNEL : TG_SERIES_OP;
    s->kind = kind;
    s->name = tg_sv_from(t->names.text[key], 1);
    s->counted = (kind == TG_KIND_OP || kind == TG_KIND_SYNC || kind == TG_KIND_GRAPH ||
                  tg_kind_is_device(kind)) &&
                 !tg_is_polling(raw);
    /* Else its time is somebody else's: copies, synchronisation, collectives. */
    s->judged = !tg_is_polling(raw) && !tg_name_waits(kind, s->name) &&
                (kind != TG_KIND_KERNEL || tg_class_of(NULL, kind, raw, NULL) != TG_CLASS_COMM);
    t->of_raw[id] = *known = (uint32_t)t->n;
    return (uint32_t)t->n - 1;
}

static uint32_t series_of_number(struct tg_series_table *t, const struct tg_number *x,
                                 struct tg_buf *b)
{
    uint32_t key, *known;
    (void)keyed(b, TG_KINDS, x->name);
    tg_buf_putc(b, '\0');
    tg_buf_add(b, x->unit);
    known = place_of(t, tg_buf_sv(b), &key);
    if (*known)
        return *known - 1;
    struct tg_series *s = add_series(t);
    s->what = TG_SERIES_NUMBER;
    s->scale = TG_SCALE_RATIO;
    s->name = (tg_sv){ t->names.text[key].p + 1, x->name.n };
    s->unit = tg_sv_from(t->names.text[key], x->name.n + 2);
    s->judged = true;
    s->worse = tg_number_more_is_better(x->name, x->unit) ? -1 : 1;
    *known = (uint32_t)t->n;
    return (uint32_t)t->n - 1;
}

static uint32_t series_of_metric(struct tg_series_table *t, enum tg_metric m)
{
    const struct tg_metric_info *info = tg_metric_info(m);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->v[i].what == TG_SERIES_METRIC && t->v[i].metric == m)
            return i;
    struct tg_series *s = add_series(t);
    s->what = TG_SERIES_METRIC;
    s->metric = m;
    s->scale = info->unit == TG_UNIT_NS        ? TG_SCALE_TIME
               : info->unit == TG_UNIT_PERCENT ? TG_SCALE_PART
                                               : TG_SCALE_RATIO;
    s->name = tg_sv_of(info->name);
    s->unit = tg_sv_of(tg_unit_text(info->unit));
    s->worse = info->worse < 0 ? -1 : 1;
    s->counted = info->exact;
    s->judged = !info->exact && info->worse != 0 && s->scale != TG_SCALE_RATIO;
    return (uint32_t)t->n - 1;
}

/* ---- the runs of a night ---- */

double tg_night_variance(const double *runs, size_t n)
{
    size_t out = n / 4;
    double mean = 0, sum = 0, kept = (double)(n - 2 * out);
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < n; i++) {
            double x = runs[i < out ? out : i + out < n ? i : n - 1 - out];
            if (!pass)
                mean += x / (double)n;
            else
                sum += (x - mean) * (x - mean);
        }
    return kept > 1 ? sum / (kept * (kept - 1)) : 0;
}

/* Of a mean `v` on the scale of its logarithm, where that is the scale. */
static double variance_on(enum tg_series_scale scale, double v, double variance)
{
    return scale == TG_SCALE_PART || !(v > 0) ? variance : variance / (v * v);
}

/* ---- one operator in one shard ---- */

struct member {
    uint32_t series;
    const struct tg_row *row;
};

static int by_series(const void *x, const void *y)
{
    const struct member *a = x, *b = y;
    int c = TG_CMP(a->series, b->series);
    return c ? c : TG_CMP(a->row, b->row);
}

struct tally { /* one series on one night */
    double *of_run;
    size_t ranks, agree, steps, present; /* agree: steps with the usual calls, of all */
    double calls, run_calls;
    bool several;
};

/* The calls of each step, and which steps have the usual ones. Returns how many. */
static size_t usual_steps(const struct member *m, size_t n, size_t n_steps, uint64_t *pattern,
                          uint64_t *sorted, uint64_t *calls)
{
    size_t usable = 0;
    for (size_t j = 0; j < n_steps; j++) {
        uint64_t h = 1469598103934665603u, sum = 0;
        for (size_t r = 0; r < n; r++) {
            h = (h ^ m[r].row->count[j]) * 1099511628211u;
            sum += m[r].row->count[j];
        }
        pattern[j] = sorted[j] = sum << 24 | (h & 0xffffff);
    }
    uint64_t usual = tg_mode(sorted, n_steps, NULL);
    for (size_t j = 0; j < n_steps; j++) {
        pattern[j] = pattern[j] == usual;
        usable += pattern[j];
    }
    *calls = usual >> 24;
    return usable;
}

static tg_ns slot_minima(const struct tg_row *row, size_t n_steps, const uint64_t *usable,
                         tg_ns *least)
{
    size_t at = 0, calls = 0;
    tg_ns sum = 0;
    bool first = true;
    for (size_t j = 0; j < n_steps; at += row->count[j++]) {
        if (!usable[j])
            continue;
        calls = row->count[j];
        for (size_t k = 0; k < calls; k++)
            if (first || row->slots[at + k] < least[k])
                least[k] = row->slots[at + k];
        first = false;
    }
    for (size_t k = 0; k < calls; k++)
        sum += least[k];
    return sum;
}

static tg_ns least_step(const struct member *m, size_t n, size_t n_steps, const uint64_t *usable)
{
    tg_ns least = INT64_MAX;
    for (size_t j = 0; j < n_steps; j++) {
        tg_ns sum = 0;
        if (!usable[j])
            continue;
        for (size_t r = 0; r < n; r++)
            sum += tg_kind_is_device(m[r].row->key->kind) ? m[r].row->total[j] : m[r].row->self[j];
        least = sum < least ? sum : least;
    }
    return least == INT64_MAX ? 0 : least;
}

struct room {
    uint64_t *pattern, *sorted;
    tg_ns *least;
    size_t cap_steps, cap_sorted, cap_least;
};

static void add_operator(struct tally *y, size_t run, const struct member *m, size_t n,
                         size_t n_steps, struct room *x)
{
    uint64_t calls;
    bool slots = true;
    y->ranks++;
    if (!n_steps)
        return;
    x->pattern = tg_grow(x->pattern, &x->cap_steps, n_steps, sizeof *x->pattern);
    x->sorted = tg_grow(x->sorted, &x->cap_sorted, n_steps, sizeof *x->sorted);
    y->steps += n_steps;
    y->agree += usual_steps(m, n, n_steps, x->pattern, x->sorted, &calls);
    y->run_calls += (double)calls;
    for (size_t r = 0; r < n; r++) {
        size_t most = 0;
        for (size_t j = 0; j < n_steps; j++)
            most = m[r].row->count[j] > most ? m[r].row->count[j] : most;
        slots = slots && (m[r].row->slots || !most);
        x->least = tg_grow(x->least, &x->cap_least, most + 1, sizeof *x->least);
    }
    for (size_t r = 0; slots && r < n; r++)
        if (m[r].row->slots)
            y->of_run[run] += (double)slot_minima(m[r].row, n_steps, x->pattern, x->least);
    if (!slots)
        y->of_run[run] += (double)least_step(m, n, n_steps, x->pattern);
}

/* ---- runs and ranks ---- */

struct numbered { /* a number of a benchmark in one of its runs */
    uint32_t series;
    double value;
};

struct work {
    struct tg_series_table *t;
    const struct tg_side *side;
    struct tally *tally; /* by series */
    size_t cap;
    struct numbered *numbers; /* by series */
    size_t n_numbers;
    struct room room;
    struct tg_buf text;
    struct tg_arena *scratch;
};

static void add_shard(struct work *w, size_t run, const struct tg_shard *s)
{
    struct member *m = TG_NEW_N(w->scratch, struct member, s->n_rows + 1);
    size_t n = 0, end;
    for (const struct tg_row *x = s->rows; x < s->rows + s->n_rows; x++) {
        enum tg_kind kind = x->key->kind;
        if (kind == TG_KIND_OP || kind == TG_KIND_RUNTIME || kind == TG_KIND_SYNC ||
            kind == TG_KIND_GRAPH || kind == TG_KIND_ANNOTATION || tg_kind_is_device(kind))
            m[n++] = (struct member){ series_of(w->t, kind, x->key->name, &w->text), x };
    }
    if (n)
        TG_SORT(m, n, by_series);
    for (size_t i = 0; i < n; i = end) {
        for (end = i; end < n && m[end].series == m[i].series;)
            end++;
        w->tally = with_element(w->tally, &w->cap, m[i].series, sizeof *w->tally);
        if (!w->tally[m[i].series].of_run)
            w->tally[m[i].series].of_run = TG_NEW_N(w->scratch, double, w->side->n_runs);
        add_operator(&w->tally[m[i].series], run, m + i, end - i, s->n_steps, &w->room);
    }
}

static void put_op(struct work *w, struct tg_night *out, uint32_t series)
{
    struct tally *y = &w->tally[series];
    /* ln ns of the runs that have any time; NAN: none has. */
    size_t kept = 0;
    for (size_t i = 0; i < w->side->n_runs; i++)
        if (y->of_run[i] > 0)
            y->of_run[kept++] = log(y->of_run[i]);
    double v = kept ? tg_mid_mean(y->of_run, kept) : (double)NAN;
    bool settled = !y->several && y->present == w->side->n_runs && y->calls > 0 &&
                   y->agree * 10 >= y->steps * 9;
    out->v[out->n++] = (struct tg_history_value){ .series = series,
                                                  .v = v,
                                                  .plain = isnan(v) ? 0 : exp(v),
                                                  .calls = settled ? y->calls : (double)NAN,
                                                  .variance = tg_night_variance(y->of_run, kept) };
}

/* ---- metrics of the whole step ---- */

/* `plain`: what is shown; `least`: of a time the least step, which the machine disturbed least. */
static bool metric_of_shard(const struct tg_shard *s, enum tg_metric m, double *v, double *plain,
                            double *least)
{
    const struct tg_metric_value *x = s->metrics + (size_t)m * s->n_steps;
    const struct tg_metric_info *info = tg_metric_info(m);
    double num = 0, den = 0;
    size_t n = 0;
    if (s->steps_only)
        return false;
    for (size_t j = 0; j < s->n_steps; j++) {
        if (!x[j].known || !x[j].den)
            continue;
        v[n++] = (double)x[j].num / (double)x[j].den;
        num += (double)x[j].num;
        den += (double)x[j].den;
    }
    if (!n)
        return false;
    *plain = *least = info->how == TG_METRIC_RATIO ? num / den : tg_median(v, n);
    if (info->how == TG_METRIC_MEAN && info->unit == TG_UNIT_NS)
        *least = v[0]; /* tg_median sorts */
    return true;
}

static double on_scale(double v, enum tg_series_scale scale)
{
    return scale == TG_SCALE_PART ? v : v > 0 ? log(v) : (double)NAN;
}

struct measured {
    double v; /* of a time the least step */
    double shown;
    double lo, hi;   /* of the runs */
    double variance; /* of v */
};

/* Median over the runs; false: no run has it. */
static bool metric_of_side(const struct tg_side *side, enum tg_metric m, struct tg_arena *scratch,
                           struct measured *out)
{
    double *runs = TG_NEW_N(scratch, double, side->n_runs);
    double *plain = TG_NEW_N(scratch, double, side->n_runs);
    size_t n = 0;
    *out = (struct measured){ .lo = INFINITY, .hi = -INFINITY };
    for (size_t r = 0; r < side->n_runs; r++) {
        double sum = 0, least = 0;
        size_t ranks = 0;
        for (size_t k = 0; k < side->n_ranks; k++) {
            const struct tg_shard *s = side->at[r][k];
            double one, one_least, *steps = TG_NEW_N(scratch, double, s->n_steps + 1);
            if (metric_of_shard(s, m, steps, &one, &one_least)) {
                sum += one;
                least += one_least;
                ranks++;
            }
        }
        if (!ranks)
            continue;
        runs[n] = least / (double)ranks;
        plain[n] = sum / (double)ranks;
        out->lo = runs[n] < out->lo ? runs[n] : out->lo;
        out->hi = runs[n] > out->hi ? runs[n] : out->hi;
        n++;
    }
    out->v = tg_mid_mean(runs, n);
    out->variance = tg_night_variance(runs, n);
    out->shown = tg_mid_mean(plain, n);
    return n > 0;
}

double tg_night_step_ns(const struct tg_side *side)
{
    TG_ARENA *scratch = tg_arena_new();
    struct measured x;
    bool known = metric_of_side(side, TG_METRIC_STEP_TIME, scratch, &x);
    return known ? x.shown : (double)NAN;
}

static void put_metric(struct work *w, struct tg_night *out, enum tg_metric m)
{
    struct measured x;
    if (!metric_of_side(w->side, m, w->scratch, &x))
        return;
    uint32_t id = series_of_metric(w->t, m);
    const struct tg_series *s = &w->t->v[id];
    if (m == TG_METRIC_STEP_TIME)
        out->step_ns = x.shown;
    out->v[out->n++] = (struct tg_history_value){
        .series = id,
        .v = on_scale(x.v, s->scale),
        .plain = s->scale == TG_SCALE_PART ? x.shown * 100 : x.shown,
        .calls = s->counted && x.lo == x.hi ? x.v : (double)NAN,
        .variance = variance_on(s->scale, x.v, x.variance),
    };
}

/* ---- numbers of benchmarks ---- */

static int by_series_and_value(const void *x, const void *y)
{
    const struct numbered *a = x, *b = y;
    int c = TG_CMP(a->series, b->series);
    return c ? c : TG_CMP(a->value, b->value);
}

/* ---- environment ---- */

/* What decides about times; what else --meta says is only shown. Sorted. */
static const char *const deciding[] = {
    "backend",     "clocks",     "cpu",          "cuda",           "cuda_driver",   "device",
    "device_type", "devices",    "nccl",         "profile_memory", "record_shapes", "rocm",
    "torch",       "with_flops", "with_modules", "with_stack",     "world_size",
};

static tg_sv environment(const struct tg_shard *s, struct tg_buf *b, struct tg_arena *a)
{
    tg_buf_clear(b);
    for (size_t i = 0; i < sizeof deciding / sizeof *deciding; i++) {
        tg_sv v = tg_shard_env(s, deciding[i]);
        if (v.n)
            tg_buf_printf(b, "%s%s=%.*s", b->n ? " " : "", deciding[i], TG_SV_ARG(v));
    }
    return tg_arena_sv(a, tg_buf_sv(b));
}

static int by_id(const void *x, const void *y)
{
    const struct tg_history_value *a = x, *b = y;
    return TG_CMP(a->series, b->series);
}

void tg_night_metric(struct tg_night *out, const struct tg_side *side, struct tg_series_table *t,
                     struct tg_arena *a)
{
    struct work w = { .t = t, .side = side, .scratch = tg_arena_new() };
    out->runs = side->n_runs;
    out->environment = environment(side->at[0][0], &w.text, a);
    for (size_t r = 0; r < side->n_runs; r++) {
        size_t whole = 0; /* ranks; those of which only the step times are stored do not count */
        for (size_t k = 0; k < side->n_ranks; k++) {
            add_shard(&w, r, side->at[r][k]);
            whole += !side->at[r][k]->steps_only;
        }
        double ranks = (double)(whole ? whole : 1);
        for (size_t j = 0; j < w.cap && j < w.t->n; j++) {
            struct tally *y = &w.tally[j];
            if (!y->of_run || !y->ranks)
                continue;
            y->of_run[r] /= ranks;
            y->run_calls /= ranks;
            y->several = y->several || (y->present && y->calls != y->run_calls);
            y->calls = y->run_calls;
            y->present++;
            y->run_calls = 0;
            y->ranks = 0;
        }
    }
    /* Their runs need not be those of the traces. */
    const struct tg_number_runs *runs = &w.side->summary->numbers;
    size_t cap = 0;
    for (size_t r = 0; r < runs->n; r++)
        for (size_t i = 0; i < runs->v[r].n; i++)
            *TG_ARENA_PUSH(w.scratch, w.numbers, w.n_numbers, cap) =
                (struct numbered){ series_of_number(w.t, &runs->v[r].v[i], &w.text),
                                   runs->v[r].v[i].value };
    if (w.n_numbers)
        TG_SORT(w.numbers, w.n_numbers, by_series_and_value);
    out->n = 0;
    out->v = TG_NEW_N(a, struct tg_history_value, t->n + TG_METRICS);
    for (uint32_t i = 0; i < w.cap && i < t->n; i++)
        if (w.tally[i].of_run)
            put_op(&w, out, i);
    for (int m = 0; m < TG_METRICS; m++)
        put_metric(&w, out, (enum tg_metric)m);
    const struct numbered *v = w.numbers;
    double *values = TG_NEW_N(w.scratch, double, w.side->summary->numbers.n + 1);
    for (size_t i = 0, end; i < w.n_numbers; i = end) {
        for (end = i; end < w.n_numbers && v[end].series == v[i].series; end++)
            values[end - i] = v[end].value;
        double plain = tg_mid_mean(values, end - i);
        out->v[out->n++] = (struct tg_history_value){
            .series = v[i].series,
            .v = on_scale(plain, TG_SCALE_RATIO),
            .plain = plain,
            .calls = (double)NAN,
            .variance = variance_on(TG_SCALE_RATIO, plain, tg_night_variance(values, end - i))
        };
    }
    TG_SORT(out->v, out->n, by_id);
    free(w.tally);
    free(w.room.pattern);
    free(w.room.sorted);
    free(w.room.least);
    tg_buf_release(&w.text);
    tg_arena_free(w.scratch);
}

const struct tg_history_value *tg_night_value(const struct tg_night *n, uint32_t series)
{
    const struct tg_history_value key = { .series = series };
    return n->n ? bsearch(&key, n->v, n->n, sizeof key, by_id) : NULL;
}
