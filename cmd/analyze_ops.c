/* Count and total duration by (category, name): HTA's get_ops_summary, and the exact one. */
#include <pthread.h>
#include <stdlib.h>

#include "cmd/analyze.h"
#include "cmd/gate/reading.h"
#include "cmd/hta_side.h"
#include "core/base/sort.h"
#include "core/diff/names.h"

/* HTA's columns; a step has self time and its share of the step as well, its first COLUMNS are
 * HTA's. */
enum { COL_CAT, COL_NAME, COL_SHORT, COL_COUNTS, COL_TOTAL, COLUMNS };
enum { COL_SELF = COLUMNS, COL_SHARE, STEP_COLUMNS };

/* Undivided sums are integers; per step they are quotients. */
static const struct tg_table_column whole_columns[COLUMNS] = { { "cat", TG_TABLE_TEXT },
                                                               { "name", TG_TABLE_TEXT },
                                                               { "short_name",
                                                                 TG_TABLE_MACHINE_TEXT },
                                                               { "counts", TG_TABLE_INT },
                                                               { "total_duration", TG_TABLE_US } };
static const struct tg_table_column step_columns[STEP_COLUMNS] = {
    { "cat", TG_TABLE_TEXT },
    { "name", TG_TABLE_TEXT },
    { "short_name", TG_TABLE_MACHINE_TEXT },
    { "counts", TG_TABLE_REAL },
    { "total_duration", TG_TABLE_REAL_US },
    { "self_duration", TG_TABLE_REAL_US },
    { "share(%)", TG_TABLE_REAL }
};

static struct tg_table_cell *name_row(struct tg_table *t, struct tg_arena *a, tg_sv cat, tg_sv name)
{
    struct tg_table_cell *row = tg_table_row(t);
    TG_BUF text = { 0 };
    tg_name_short(name, &text);
    row[COL_CAT] = tg_table_text(cat);
    row[COL_NAME] = tg_table_text(name);
    row[COL_SHORT] = tg_table_text(tg_arena_sv(a, tg_buf_sv(&text)));
    return row;
}

/* Largest total first, then category and name: the same order whatever the files' order. */
static int by_total(const void *pa, const void *pb, void *whole)
{
    const struct tg_table_cell *a = pa, *b = pb;
    int c = *(const bool *)whole ? TG_CMP(b[COL_TOTAL].is.i, a[COL_TOTAL].is.i)
                                 : TG_CMP(b[COL_TOTAL].is.v, a[COL_TOTAL].is.v);
    c = c ? c : tg_sv_cmp(a[COL_CAT].is.text, b[COL_CAT].is.text);
    return c ? c : tg_sv_cmp(a[COL_NAME].is.text, b[COL_NAME].is.text);
}

/* ---- HTA ---- */

static bool ops_hta(struct tg_table *t, const struct tg_analyze_request *q, struct tg_err *err)
{
    struct tg_hta_select select = { q->ranks.v, q->steps.v, q->ranks.n, q->steps.n, q->o->whole };
    TG_AUTO(tg_hta_release) struct tg_hta_side side;
    struct tg_hta_op *ops = NULL;
    size_t n = 0;
    tg_table_init(t, "ops", step_columns, COLUMNS);
    tg_hta_init(&side, q->o->no_rounding);
    bool ok = tg_hta_side_load(&side, q->inputs, q->repo, q->io, q->progress, err) &&
              tg_hta_ops(&ops, &n, &side, &select, "the trace", q->arena, err);
    for (size_t i = 0; i < n; i++) {
        struct tg_table_cell *row = name_row(t, q->arena, ops[i].cat, ops[i].name);
        row[COL_COUNTS] = tg_table_real((double)ops[i].count);
        row[COL_TOTAL] = tg_table_real(ops[i].total);
    }
    return ok;
}

/* ---- everything, exact, no span kept ---- */

static uint32_t sums_add(struct tg_name_sums *s, const struct tg_name *of, tg_sv name,
                         struct tg_total t)
{
    struct tg_name_key p = { tg_strmap_add(&s->cats, of->cat), tg_strmap_add(&s->names, name),
                             s->by_kind ? of->kind : 0 };
    size_t before = s->keys.n;
    uint32_t id = tg_strmap_add(&s->keys, (tg_sv){ (const char *)&p, sizeof p });
    if (s->keys.n > before) {
        s->v = tg_grow(s->v, &s->cap, s->keys.n, sizeof *s->v);
        s->v[id] = (struct tg_name_sum){ .key = p };
    }
    s->v[id].count += t.count;
    s->v[id].total += t.total;
    return id;
}

void tg_name_sums_release(struct tg_name_sums *s)
{
    free(s->v);
    tg_strmap_release(&s->cats);
    tg_strmap_release(&s->names);
    tg_strmap_release(&s->keys);
}

static struct tg_table_cell *sums_row(struct tg_table *t, struct tg_arena *a,
                                      const struct tg_name_sums *s, size_t i)
{
    return name_row(t, a, tg_arena_sv(a, s->cats.text[s->v[i].key.cat]),
                    tg_arena_sv(a, s->names.text[s->v[i].key.name]));
}

static void add_shard(struct tg_name_sums *s, const struct tg_shard *shard,
                      const struct tg_numbers *steps, bool outside)
{
    for (size_t i = 0; i < shard->n_rows; i++) {
        const struct tg_row *r = &shard->rows[i];
        /* One row over the steps wanted; with `outside`, over everything. */
        struct tg_total t = { 0 };
        for (size_t j = 0; j < shard->n_steps + outside; j++)
            if (j == shard->n_steps || tg_listed(steps->v, steps->n, shard->steps[j].number)) {
                t.count += r->count[j];
                t.total += r->total[j];
            }
        bool step = !outside && tg_step_number(r->key->name) >= 0;
        if (t.count) {
            const struct tg_name of = { .cat = r->key->cat, .kind = r->key->kind };
            uint32_t id = sums_add(s, &of, step ? TG_SV("ProfilerStep") : r->key->name, t);
            tg_ns sum = 0;
            for (size_t j = 0; j < shard->n_steps; j++)
                if (tg_listed(steps->v, steps->n, shard->steps[j].number))
                    sum += r->self[j];
            s->v[id].self += sum;
        }
    }
}

/* Files side by side into one table: sums of integers, sorted later, so their order is free. */
struct whole {
    struct tg_name_sums *sums;
    pthread_mutex_t lock; /* of `sums` */
    const struct tg_analyze_request *q;
};

/* A stored summary where a trace is expected: everything it holds. */
static bool add_summary(struct whole *w, struct tg_source *source, struct tg_err *err)
{
    struct tg_summarize_opts so = { .rank = -1 };
    TG_AUTO(tg_summary_release) struct tg_summary summary;
    tg_summary_init(&summary);
    bool ok = tg_summary_add(&summary, source, &so, w->q->progress, err);
    (void)pthread_mutex_lock(&w->lock);
    for (size_t i = 0; ok && i < summary.n; i++)
        if (tg_listed(w->q->ranks.v, w->q->ranks.n, summary.shards[i]->rank))
            add_shard(w->sums, summary.shards[i], &w->q->steps, true);
    (void)pthread_mutex_unlock(&w->lock);
    return ok;
}

static bool add_file(void *arg, size_t i, struct tg_err *err)
{
    struct whole *w = arg;
    TG_BUF bytes = { 0 };
    const struct tg_input_list *inputs = w->q->inputs;
    struct tg_reader_opts opts = { .progress = w->q->progress };
    struct tg_totals t;
    TG_SOURCE *source = tg_inputs_open(&inputs->v[i], w->q->repo, NULL, &bytes, err);
    tg_sv head;
    if (!source || !tg_source_peek(source, &head, err))
        return false;
    if (tg_summary_looks_like(head))
        return add_summary(w, source, err);
    tg_reading_opts(&opts, tg_reading_share(i, inputs->n));
    if (!tg_totals_read(&t, source, &opts, err))
        return false;
    /* Without categories the names alone do not say what they are: traces of XLA, which its lines
     * tell. */
    bool tells_kinds = t.names->n == 0;
    for (size_t k = 0; k < t.names->n; k++)
        tells_kinds |= t.names->v[k].cat.n > 0;
    if (w->sums->by_kind && !tells_kinds) {
        TG_BUF same = { 0 };
        TG_SOURCE *again = tg_inputs_open(&inputs->v[i], w->q->repo, NULL, &same, err);
        tg_totals_release(&t);
        return again && add_summary(w, again, err);
    }
    (void)pthread_mutex_lock(&w->lock);
    if (tg_listed(w->q->ranks.v, w->q->ranks.n, tg_reader_info(t.reader)->rank))
        for (size_t k = 0; k < t.names->n; k++)
            if (t.v[k].count)
                (void)sums_add(w->sums, &t.names->v[k], t.names->v[k].name, t.v[k]);
    (void)pthread_mutex_unlock(&w->lock);
    tg_totals_release(&t);
    return true;
}

bool tg_name_sums_read(struct tg_name_sums *s, const struct tg_analyze_request *q,
                       struct tg_err *err)
{
    struct whole w = { .sums = s, .lock = PTHREAD_MUTEX_INITIALIZER, .q = q };
    return tg_reading_each(q->inputs->n, add_file, &w, q->progress, err);
}

static bool ops_whole(struct tg_table *t, const struct tg_analyze_request *q, struct tg_err *err)
{
    TG_AUTO(tg_name_sums_release) struct tg_name_sums s = { 0 };
    tg_table_init(t, "ops", whole_columns, COLUMNS);
    bool ok = tg_name_sums_read(&s, q, err);
    for (size_t i = 0; ok && i < s.keys.n; i++) {
        struct tg_table_cell *row = sums_row(t, q->arena, &s, i);
        row[COL_COUNTS] = tg_table_int((int64_t)s.v[i].count);
        row[COL_TOTAL] = tg_table_int(s.v[i].total);
    }
    return ok;
}

/* ---- per step and rank ---- */

static bool ops_per_step(struct tg_table *t, const struct tg_analyze_request *q, struct tg_err *err)
{
    struct tg_summarize_opts so = { .rank = -1, .window = q->window };
    TG_AUTO(tg_summary_release) struct tg_summary summary;
    struct tg_side side;
    TG_AUTO(tg_name_sums_release) struct tg_name_sums s = { 0 };
    uint64_t units = 0;
    tg_ns length = 0;
    tg_summary_init(&summary);
    tg_table_init(t, "ops", step_columns, STEP_COLUMNS);
    bool ok = tg_inputs_load(&summary, q->inputs, &so, q->repo, q->progress, err) &&
              tg_side_arrange(&side, &summary, q->arrange, q->arena, err);
    if (ok && side.n_runs > 1 && q->arrange != TG_ARRANGE_RUNS)
        ok = tg_err_usage(err, "several traces of one rank",
                          "Analyse one run at a time, or say --runs for their average.");
    /* Steps wanted of all shards wanted: what sums are divided by; `length` is theirs together. */
    for (size_t i = 0; ok && i < side.n_runs * side.n_ranks; i++) {
        const struct tg_shard *shard = side.at[i / side.n_ranks][i % side.n_ranks];
        if (!tg_listed(q->ranks.v, q->ranks.n, shard->rank))
            continue;
        for (size_t k = 0; k < shard->n_steps; k++) {
            const struct tg_step *step = &shard->steps[k];
            if (!tg_listed(q->steps.v, q->steps.n, step->number))
                continue;
            units++;
            length += step->end - step->start;
        }
        add_shard(&s, shard, &q->steps, false);
    }
    if (ok && !units)
        ok = tg_err_usage(err, "no trace has the wanted ranks and steps",
                          "Run without --rank and --step to see all of them.");
    for (size_t i = 0; ok && i < s.keys.n; i++) {
        struct tg_table_cell *row = sums_row(t, q->arena, &s, i);
        row[COL_COUNTS] = tg_table_real((double)s.v[i].count / (double)units);
        row[COL_TOTAL] = tg_table_real((double)s.v[i].total / ((double)units * 1000));
        row[COL_SELF] = tg_table_real((double)s.v[i].self / ((double)units * 1000));
        row[COL_SHARE] = tg_table_real(length > 0 ? 100 * (double)s.v[i].self / (double)length : 0);
    }
    return ok;
}

bool tg_analyze_ops(struct tg_table *t, const struct tg_analyze_request *q, struct tg_err *err)
{
    bool whole = q->o->whole && !q->o->hta;
    if (!(q->o->hta ? ops_hta(t, q, err) : whole ? ops_whole(t, q, err) : ops_per_step(t, q, err)))
        return false;
    if (t->n_rows)
        qsort_r(t->cells, t->n_rows, t->n_columns * sizeof *t->cells, by_total, &whole);
    if (q->o->top > 0 && (uint64_t)q->o->top < t->n_rows)
        t->n_rows = (size_t)q->o->top;
    return true;
}
