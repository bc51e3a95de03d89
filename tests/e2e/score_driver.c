/*
 * The default decision without policy, git or reports: what tests/e2e/score scores, and what shows
 * how an operator was judged.
 *
 *   score_driver [--dump] --base FILE... --test FILE...
 *
 * Prints {"verdict": "...", "violations": [{"op", "metric", "delta_pct"}]}; with --dump one line
 * for each judged operator instead.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/diff/compare.h"

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

static void put_json_text(tg_sv s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char ch = (unsigned char)s.p[i];
        if (ch == '"' || ch == '\\' || ch < 0x20)
            printf("\\u%04x", ch);
        else
            putchar(ch);
    }
}

static void put_violation(bool *first, tg_sv op, const char *metric, double pct)
{
    printf("%s{\"op\":\"", *first ? "" : ",");
    put_json_text(op);
    printf("\",\"metric\":\"%s\",\"delta_pct\":%.3f}", metric, isfinite(pct) ? pct : 0);
    *first = false;
}

static void put_verdict(const struct tg_comparison *c)
{
    bool first = true, warn = c->drifted;

    printf("{\"violations\":[");
    for (size_t i = 0; i < c->n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        enum tg_finding f = tg_op_count_finding(c, op);
        if (f == TG_FINDING_MORE)
            put_violation(&first, op->raw[TG_TEST], "count",
                          100 * (op->count[TG_TEST] / op->count[TG_BASE] - 1));
        if (op->ev.slower)
            put_violation(&first, op->kind == TG_KIND_STEP ? op->name : op->raw[TG_TEST],
                          "duration", 100 * expm1(op->ev.e));
        warn |= (f != TG_FINDING_NONE && f != TG_FINDING_MORE) || op->ev.suspicious;
    }
    if (c->step.ev.slower)
        put_violation(&first, c->step.name, "duration", 100 * expm1(c->step.ev.e));
    for (size_t i = 0; i < c->n_regions; i++)
        if (c->regions[i].encloser.n && c->regions[i].worse_time && !c->regions[i].worse_count)
            put_violation(&first, c->regions[i].encloser, "duration",
                          100 * expm1(c->regions[i].ev.e));
    printf("],\"verdict\":\"%s\"}\n", !first                          ? "fail"
                                      : warn || c->step.ev.suspicious ? "warn"
                                                                      : "pass");
}

static void dump_op(const struct tg_op *op)
{
    const char *why = tg_judged_text(op->ev.judged);

    if (op->kind == TG_KIND_PYTHON)
        return;
    printf("%s\t", tg_kind_name(op->kind));
    put_json_text(op->name);
    printf("\t%g\t%g\t%d\t%d\t%.9g\t%.9g\t%.9g\t%.9g\t%.9g\t%d\t%d\t%s\n", op->count[TG_BASE],
           op->count[TG_TEST], (int)op->change, (int)op->relation, op->ev.value[TG_BASE], op->ev.e,
           op->ev.delta_ns, op->ev.se, op->ev.p, op->ev.slot_form, op->ev.slower, why ? why : "");
}

static void dump(const struct tg_comparison *c)
{
    printf("D %.9g drift %.9g\n", c->step_ns[TG_BASE], c->drift);
    for (size_t i = 0; i < c->n_ops; i++)
        dump_op(&c->ops[i]);
    dump_op(&c->step);
    for (size_t i = 0; i < c->n_regions; i++)
        printf("region\t%.*s\t%g\t%g\t%d\t%d\t%.9g\n", TG_SV_ARG(c->regions[i].encloser),
               c->regions[i].calls[TG_BASE], c->regions[i].calls[TG_TEST],
               c->regions[i].worse_count, c->regions[i].worse_time, c->regions[i].ev.e);
}

static bool run(struct tg_arena *a, bool want_dump, char *const *path, const size_t n[2],
                struct tg_err *err)
{
    struct tg_summary s[2];
    struct tg_side side[2];
    struct tg_comparison c;
    bool ok = load_side(&side[0], path, n[0], &s[0], a, err);

    tg_summary_init(&s[1]);
    ok = ok && load_side(&side[1], path + n[0], n[1], &s[1], a, err) &&
         tg_compare(&c, &side[0], &side[1], NULL, a, err);
    if (ok && want_dump)
        dump(&c);
    else if (ok)
        put_verdict(&c);
    tg_summary_release(&s[0]);
    tg_summary_release(&s[1]);
    return ok;
}

int main(int argc, char **argv)
{
    char **path = calloc((size_t)argc, sizeof *path);
    size_t n[2] = { 0, 0 };
    int side = -1;
    bool want_dump = false, ok = false;
    struct tg_err err;

    tg_err_init(&err);
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
    if (n[0] && n[1]) {
        struct tg_arena *a = tg_arena_new();
        ok = run(a, want_dump, path, n, &err);
        tg_arena_free(a);
    }
    if (!ok)
        fprintf(stderr, "%s\n",
                err.message[0] ? err.message : "need --base FILE... --test FILE...");
    free(path);
    return ok ? 0 : 3;
}
