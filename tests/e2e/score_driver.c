/*
 * What `check` decides by the built-in policy, by the same functions but without git or reports:
 * what tests/e2e/score.py scores, and what shows how an operator was judged.
 *
 *   score_driver [--dump] --base FILE... --test FILE...
 *   score_driver --pairs ROOT OUTDIR [--single-runs|--stages] < LIST
 *   score_driver --write FILE@1.2@OPERATOR OUT
 *
 * Prints {"verdict": "...", "violations": [{"op", "metric", "delta_pct"}], "warnings": the same};
 * with --dump one line for each judged operator instead. LIST has lines "name TAB base|base TAB
 * test|test", relative to ROOT. Each answer goes to OUTDIR/name.json, and each file is read once.
 * "test|test@1.2@OPERATOR" plants a slowdown: each call of that operator (ProfilerStep: its gaps)
 * takes 1.2 times as long on the test side. --stages: in stages, as `check --ask` does. Lines have
 * "TAB base|base TAB test|test" more, the new runs of a side, if there are any; OUTDIR/name.json
 * says what is red, what cannot be told, the notes, and the runs a side that are asked for.
 * --single-runs judges durations of single runs, too: a rule known to be worse. --write: a run with
 * that slowdown as a summary, for whoever hands it out as a recording.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/gate/gate.h"
#include "policy/language/load.h"

static bool load_side(struct tg_side *out, char *const *path, size_t n, struct tg_summary *s,
                      struct tg_arena *a, struct tg_err *err)
{
    struct tg_summarize_opts o = { .rank = -1 };

    tg_summary_init(s);
    for (size_t i = 0; i < n; i++) {
        struct tg_source *src = tg_source_open(path[i], NULL, err);
        bool ok = src && tg_summary_add(s, src, &o, NULL, err);
        tg_source_close(src);
        if (!ok)
            return false;
    }
    return tg_side_arrange(out, s, TG_ARRANGE_RUNS, a, err);
}

static void put_json_text(FILE *f, tg_sv s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch == '"' || ch == '\\' || ch < 0x20)
            fprintf(f, "\\u%04x", ch);
        else if (ch < 0xf8) /* not the marks of names, core/base/message.h */
            putc(ch, f);
    }
}

static void put_violation(FILE *f, bool *first, tg_sv op, const char *metric, double pct)
{
    fprintf(f, "%s{\"op\":\"", *first ? "" : ",");
    put_json_text(f, op);
    fprintf(f, "\",\"metric\":\"%s\",\"delta_pct\":%.3f}", metric, isfinite(pct) ? pct : 0);
    *first = false;
}

/* Where the additional calls of failed operators lie, each place once. */
static void put_calling_op(FILE *f, bool *first, const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++) {
        tg_sv calling_op = v->results[i].calling_op;
        bool known = !calling_op.n || v->results[i].state != TG_STATE_FAIL;
        for (size_t k = 0; k < i && !known; k++)
            known = tg_sv_eq(v->results[k].calling_op, calling_op);
        if (!known)
            put_violation(f, first, calling_op, "calling_op", NAN);
    }
}

/* What warns or is inconclusive, by name and metric. */
static void put_warnings(FILE *f, const struct tg_verdict *v)
{
    bool first = true;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].state != TG_STATE_FAIL && v->results[i].state > TG_STATE_PASS &&
            v->results[i].state != TG_STATE_NOT_JUDGED)
            put_violation(f, &first, v->results[i].op, tg_unit_dimension(v->results[i].unit_id),
                          v->results[i].delta_pct);
}

/* The account's rows about busy time and calls name no operator, neither a right nor a wrong
 * one. */
static bool names_something(const struct tg_result *r)
{
    return !tg_sv_eq(r->rule, TG_SV("account")) || tg_sv_eq(r->op, TG_SV("step_time"));
}

/* The step's time by whatever clock is the step: the truth has one name for it. */
static tg_sv name_of(const struct tg_result *r)
{
    return tg_sv_eq(r->op, TG_SV("device_extent")) ? TG_SV("step_time") : r->op;
}

/* Worst first, so that the failed ones come before all others. */
static void put_verdict(FILE *f, const struct tg_verdict *v)
{
    bool first = true;

    fprintf(f, "{\"violations\":[");
    for (size_t i = 0; i < v->n_results && v->results[i].state == TG_STATE_FAIL; i++)
        if (names_something(&v->results[i]))
            put_violation(f, &first, name_of(&v->results[i]),
                          tg_unit_dimension(v->results[i].unit_id), v->results[i].delta_pct);
    put_calling_op(f, &first, v);
    fprintf(f, "],\"warnings\":[");
    put_warnings(f, v);
    fprintf(f, "],\"some_steps\":[");
    first = true;
    for (size_t i = 0; i < v->comparison->n_ops; i++) {
        const struct tg_op *op = &v->comparison->ops[i];
        if (op->ev.some_steps)
            put_violation(f, &first, op->kind == TG_KIND_STEP ? op->name : op->raw[TG_TEST],
                          "some steps", NAN);
    }
    fprintf(f, "],\"busy\":%s,\"verdict\":\"%s\"}\n", v->comparison->busy ? "true" : "false",
            tg_outcome_name(v->outcome));
}

/* The built-in policy, and what the flags change about it. */
struct rule_book {
    struct tg_policy *policy;
    const struct tg_suite *suite;
    struct tg_compare_opts compare;
    struct tg_arena *arena;
    bool stages;
};

static bool open_rules(struct rule_book *b, const char *flag, struct tg_err *err)
{
    struct tg_policy_opts o = { 0 };
    struct tg_diags diags;

    tg_diags_init(&diags);
    b->arena = tg_arena_new();
    b->policy = tg_policy_load(&o, &diags, err);
    tg_diags_release(&diags);
    if (!b->policy)
        return false;
    b->suite = TG_NEW(b->arena, struct tg_suite);
    tg_gate_compare_opts(&b->compare, b->policy, b->suite, b->arena);
    if (strcmp(flag, "--single-runs") == 0)
        b->compare.min_runs = 1;
    b->stages = strcmp(flag, "--stages") == 0;
    return true;
}

static void close_rules(struct rule_book *b)
{
    tg_policy_free(b->policy);
    tg_arena_free(b->arena);
}

static struct tg_gate gate_of(const struct rule_book *b, const struct tg_io *io,
                              const struct tg_side *side, struct tg_arena *a)
{
    return (struct tg_gate){ .policy = b->policy,
                             .suite = b->suite,
                             .io = io,
                             .side = { side[TG_BASE], side[TG_TEST] },
                             .compare = b->compare,
                             .arena = a };
}

static void dump_op(FILE *f, const struct tg_op *op)
{
    const char *why = tg_judged_text(op->ev.why_not);

    if (op->kind == TG_KIND_PYTHON)
        return;
    fprintf(f, "%s\t", tg_kind_name(op->kind));
    put_json_text(f, op->name);
    fprintf(f, "\t%g\t%g\t%d\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%d\t%s\n", op->count[TG_BASE],
            op->count[TG_TEST], (int)op->change, (int)op->relation, op->ev.value[TG_BASE], op->ev.e,
            op->ev.delta_ns, op->ev.se, op->ev.p, op->ev.slower, why ? why : "");
}

/* Names that are red, those that cannot be told, the notes, and the runs a side that are asked for
 * (0: final). */
static void put_stage(FILE *f, const struct tg_verdict *v)
{
    bool first = true;
    fprintf(f, "{\"next\":%zu,\"red\":[", v->next_runs);
    for (size_t i = 0; i < v->n_results && v->results[i].state == TG_STATE_FAIL; i++)
        put_violation(f, &first, name_of(&v->results[i]), tg_unit_dimension(v->results[i].unit_id),
                      v->results[i].delta_pct);
    fprintf(f, "],\"untold\":[");
    first = true;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].ev && v->results[i].ev->asked == TG_ASKED_UNTOLD)
            put_violation(f, &first, name_of(&v->results[i]), "duration", NAN);
    fprintf(f, "],\"open\":[");
    first = true;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].ev && v->results[i].ev->asked == TG_ASKED_OPEN)
            put_violation(f, &first, name_of(&v->results[i]), "duration", NAN);
    fprintf(f, "],\"notes\":\"");
    for (size_t i = 0; i < v->n_notes; i++)
        put_json_text(f, v->notes[i].text);
    fprintf(f, "\",\"verdict\":\"%s\"}\n", tg_outcome_name(v->outcome));
}

static void dump(FILE *f, const struct tg_comparison *c)
{
    fprintf(f, "D %.9g drift %.9g\n", c->step_ns[TG_BASE], c->drift);
    for (size_t i = 0; i < c->n_ops; i++)
        dump_op(f, &c->ops[i]);
    struct tg_op whole = c->step;
    whole.ev = whole.ev_total;
    dump_op(f, &whole);
    for (size_t i = 0; i < c->n_regions; i++)
        fprintf(f, "region\t%.*s\t%g\t%g\t%d\n", TG_SV_ARG(c->regions[i].encloser),
                c->regions[i].calls[TG_BASE], c->regions[i].calls[TG_TEST],
                c->regions[i].worse_count);
}

static bool run(const struct rule_book *b, bool want_dump, char *const *path, const size_t n[2],
                struct tg_err *err)
{
    struct tg_summary s[2];
    struct tg_side side[2];
    struct tg_io io = { 0 };
    struct tg_verdict v;
    struct tg_gate g;
    bool ok = load_side(&side[0], path, n[0], &s[0], b->arena, err);

    tg_summary_init(&s[1]);
    ok = ok && load_side(&side[1], path + n[0], n[1], &s[1], b->arena, err);
    g = gate_of(b, &io, side, b->arena);
    ok = ok && tg_gate_judge(&v, &g, err);
    if (ok && want_dump)
        dump(stdout, &g.comparison);
    else if (ok)
        put_verdict(stdout, &v);
    tg_summary_release(&s[0]);
    tg_summary_release(&s[1]);
    return ok;
}

/* ---- many pairs ---- */

struct cache {
    struct tg_strmap paths;
    struct tg_summary *v; /* by path id */
    size_t cap;
};

static bool add_cached(struct cache *k, struct tg_summary *out, tg_sv root, tg_sv path,
                       struct tg_err *err)
{
    size_t known = k->paths.n;
    uint32_t id = tg_strmap_add(&k->paths, path);

    if (id == known) {
        struct tg_summarize_opts o = { .rank = -1 };
        char full[4096];
        k->v = tg_grow(k->v, &k->cap, id + 1, sizeof *k->v);
        tg_summary_init(&k->v[id]);
        snprintf(full, sizeof full, "%.*s/%.*s", TG_SV_ARG(root), TG_SV_ARG(path));
        struct tg_source *src = tg_source_open(full, NULL, err);
        bool ok = src && tg_summary_add(&k->v[id], src, &o, NULL, err);
        tg_source_close(src);
        if (!ok)
            return false;
    }
    return tg_summary_merge(out, &k->v[id], err);
}

static void cache_release(struct cache *k)
{
    for (size_t i = 0; i < k->paths.n; i++)
        tg_summary_release(&k->v[i]);
    free(k->v);
    tg_strmap_release(&k->paths);
}

struct question {
    struct tg_summary summary[4];
    struct tg_side side[4];
    size_t n;
};

/* Which steps of a run are slowed: all, all but one, one; the one is another in each run. */
enum steps { ALL_STEPS, ALL_BUT_ONE, ONE_STEP };

static bool is_slowed(enum steps which, size_t run, size_t step, size_t n)
{
    bool the_one = step == run % n;
    return which == ALL_STEPS || (which == ONE_STEP) == the_one;
}

/* 1000 where every time is a whole microsecond: it stays one. */
static tg_ns tick_of(const struct tg_shard *h)
{
    for (size_t r = 0; r < h->n_rows; r++)
        for (size_t j = 0; j < h->n_steps; j++)
            if (h->rows[r].self[j] % 1000)
                return 1;
    return 1000;
}

static tg_ns slowed(tg_ns ns, double factor, tg_ns tick)
{
    return (tg_ns)((double)ns * factor / (double)tick + (tick > 1 ? 0.5 : 0)) * tick;
}

/* The step is as much longer, for the program waits for what its host does. */
static void lengthen_step(struct tg_shard *h, size_t step, tg_ns more)
{
    static const enum tg_metric lengths[] = { TG_METRIC_HOST_TIME, TG_METRIC_STEP_TIME };
    for (size_t i = 0; h->metrics && i < sizeof lengths / sizeof *lengths; i++) {
        struct tg_metric_value *v = &h->metrics[(size_t)lengths[i] * h->n_steps + step];
        v->num += v->known ? more : 0;
    }
}

/* The cache's own copies stay as they are: merging copies. */
static void slow_down(struct tg_summary *s, double factor, tg_sv name, enum steps which)
{
    for (size_t i = 0; i < s->n; i++) {
        tg_ns tick = tick_of(s->shards[i]);
        for (size_t r = 0; r < s->shards[i]->n_rows; r++) {
            struct tg_row *row = &s->shards[i]->rows[r];
            bool step = row->key->kind == TG_KIND_STEP && tg_sv_eq(name, TG_SV("ProfilerStep"));
            size_t n = 0;
            if (!step && !tg_sv_eq(row->key->name, name))
                continue;
            for (size_t j = 0; j < s->shards[i]->n_steps; n += row->count[j++]) {
                tg_ns more = slowed(row->self[j], factor, tick) - row->self[j], sum = 0;
                if (!is_slowed(which, i, j, s->shards[i]->n_steps))
                    continue;
                /* What a coarse clock does not show of one call it shows of some others. */
                for (size_t k = n; row->slots && k < n + row->count[j]; k++) {
                    tg_ns before = slowed(sum, factor, tick);
                    sum += row->slots[k];
                    row->slots[k] = slowed(sum, factor, tick) - before;
                }
                row->self[j] += more;
                row->total[j] += more;
                if (step)
                    lengthen_step(s->shards[i], j, more);
            }
        }
    }
}

static bool add_side(struct cache *k, struct question *q, tg_sv root, tg_sv files,
                     struct tg_arena *a, struct tg_err *err)
{
    size_t i = q->n++;
    tg_sv plant = files;

    files = tg_sv_cut(&plant, '@');
    bool ok = i < 4;

    tg_summary_init(&q->summary[i]);
    while (ok && files.n)
        ok = add_cached(k, &q->summary[i], root, tg_sv_cut(&files, '|'), err);
    if (ok && plant.n) {
        double factor = strtod(plant.p, NULL);
        tg_sv_cut(&plant, '@');
        tg_sv name = tg_sv_cut(&plant, '@');
        slow_down(&q->summary[i], factor, name,
                  tg_sv_eq(plant, TG_SV("all-but-one")) ? ALL_BUT_ONE
                  : tg_sv_eq(plant, TG_SV("one"))       ? ONE_STEP
                                                        : ALL_STEPS);
    }
    return ok && tg_side_arrange(&q->side[i], &q->summary[i], TG_ARRANGE_RUNS, a, err);
}

/* `text` is "FILE@1.2@OPERATOR". */
static bool write_planted(const char *text, const char *path, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct cache k = { 0 };
    struct question q = { .n = 0 };
    TG_BUF out = { 0 };
    tg_strmap_init(&k.paths);
    bool ok = add_side(&k, &q, TG_SV("/"), tg_sv_of(text), a, err);
    if (ok)
        tg_summary_set_rank(&q.summary[0], q.summary[0].shards[0]->rank);
    ok = ok && tg_summary_write(&q.summary[0], NULL, &out, err) &&
         tg_file_write(path, tg_buf_sv(&out), err);
    tg_summary_release(&q.summary[0]);
    cache_release(&k);
    return ok;
}

static bool answer(struct cache *k, tg_sv root, tg_sv rest, const struct rule_book *b, FILE *f,
                   struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct question q = { .n = 0 };
    struct tg_io io = { 0 };
    struct tg_verdict v;
    struct tg_gate g;
    static const struct tg_gate_ask ask = { .detect = 0.2, .most = 17 };
    bool ok = true;

    while (ok && rest.n && q.n < 4)
        ok = add_side(k, &q, root, tg_sv_cut(&rest, '\t'), a, err);
    g = gate_of(b, &io, q.side, a);
    if (b->stages)
        g.ask = &ask;
    g.has_again = q.n == 4;
    g.again[TG_BASE] = q.side[2];
    g.again[TG_TEST] = q.side[3];
    ok = ok && tg_gate_judge(&v, &g, err);
    if (ok && b->stages)
        put_stage(f, &v);
    else if (ok)
        put_verdict(f, &v);
    for (size_t i = 0; i < q.n; i++)
        tg_summary_release(&q.summary[i]);
    return ok;
}

static bool many(const char *root, const char *out_dir, const struct rule_book *b,
                 struct tg_err *err)
{
    struct cache k = { 0 };
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    bool ok = true;

    tg_strmap_init(&k.paths);
    while (ok && (n = getline(&line, &cap, stdin)) > 0) {
        char path[4096];
        tg_sv rest = { line, (size_t)n - (line[n - 1] == '\n') };
        tg_sv name = tg_sv_cut(&rest, '\t');
        snprintf(path, sizeof path, "%s/%.*s.json", out_dir, TG_SV_ARG(name));
        FILE *f = fopen(path, "w");
        ok = f && answer(&k, tg_sv_of(root), rest, b, f, err);
        if (f)
            fclose(f);
    }
    cache_release(&k);
    free(line);
    return ok;
}

int main(int argc, char **argv)
{
    char **path = calloc((size_t)argc, sizeof *path);
    size_t n[2] = { 0, 0 };
    int side = -1;
    bool want_dump = false, ok = false;
    struct tg_err err = TG_ERR_INIT;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--dump") == 0)
            want_dump = true;
        else if (strcmp(argv[i], "--base") == 0)
            side = 0;
        else if (strcmp(argv[i], "--test") == 0)
            side = 1;
        else if (side >= 0 && path) {
            path[n[0] + n[1]] = argv[i]; /* --base stands before --test */
            n[side]++;
        }
    }
    bool pairs = argc >= 4 && strcmp(argv[1], "--pairs") == 0;
    if (argc == 4 && strcmp(argv[1], "--write") == 0) {
        ok = write_planted(argv[2], argv[3], &err);
    } else if (pairs || (n[0] && n[1])) {
        struct rule_book b = { 0 };
        ok = open_rules(&b, pairs && argc > 4 ? argv[4] : "", &err);
        ok = ok && (pairs ? many(argv[2], argv[3], &b, &err) : run(&b, want_dump, path, n, &err));
        close_rules(&b);
    }
    if (!ok)
        fprintf(stderr, "%s\n",
                err.message[0] ? err.message : "need --base FILE... --test FILE...");
    free(path);
    return ok ? 0 : 3;
}
