/* tracegate calibrate: runs of one commit -> noise, false alarms to expect, what can be seen with
 * how many runs, and limits that fit, as YAML with their evidence. */
#include <inttypes.h>
#include <math.h>

#include "cmd/gate/gate.h"
#include "cmd/gate/outliers.h"
#include "cmd/gate/resample.h"
#include "core/base/decimal.h"
#include "core/diff/stats.h"

#define MIN_RUNS 6     /* three against three */
#define SIDE 5         /* runs per side by default */
#define SPLITS 200     /* by default; one verdict each */
#define MIN_SHARE 0.01 /* of the step: smaller operators are not listed */
#define MAX_ROWS 30

struct calibrate_opts {
    struct tg_gate_opts gate;
    enum tg_format format;
    int64_t side, splits;
};
#define AT(kind, member) TG_OPT_##kind, offsetof(struct calibrate_opts, member)
static const struct tg_opt calibrate_options[] = {
    TG_GATE_OPTIONS(struct calibrate_opts, gate),
    { "side", AT(INT, side), "K", "runs a side of your checks; default: 5, or half of the runs" },
    { "splits", AT(INT, splits), "N", "at most N comparisons of the same code; default: 200" },
    { "format", AT(FORMAT, format), "text|json|yaml",
      "yaml: only the suggested limits; text is the default" },
    { 0 },
};

struct job {
    const struct calibrate_opts *o;
    const struct tg_io *io;
    struct tg_gate_same same;
    struct tg_noise_input in;
    struct tg_calibration c;
    const struct tg_outlier *outliers;
    size_t n_outliers;
};

static const char *number(const struct job *j, double v, int decimals)
{
    TG_BUF b = { 0 };
    tg_dec_put_fixed(&b, v, decimals);
    return isfinite(v) ? tg_arena_sv(j->same.arena, tg_buf_sv(&b)).p : "-";
}

/* ---- what was found ---- */

static const struct tg_alarm *alarm_of(const struct tg_calibration *c, const struct tg_rule *rule,
                                       tg_sv kind, tg_sv op)
{
    for (size_t i = 0; i < c->n_alarms; i++)
        if (c->alarms[i].rule == rule && tg_sv_eq(c->alarms[i].kind, kind) &&
            tg_sv_eq(c->alarms[i].op, op))
            return &c->alarms[i];
    return NULL;
}

/* The largest change of an operator's time between two sides of equal code; NaN: no rule looks. */
static double worst_of(const struct tg_calibration *c, const struct tg_op_noise *o)
{
    double worst = NAN;
    for (size_t i = 0; i < c->n_alarms; i++)
        if (c->alarms[i].timed && tg_sv_eq(c->alarms[i].op, o->name) &&
            tg_sv_eq(c->alarms[i].kind, o->kind))
            worst = fmax(worst, c->alarms[i].worst);
    return worst;
}

static void put_outlier(struct tg_buf *out, const struct job *j, const struct tg_outlier *o)
{
    tg_buf_printf(out, "  %.*s", TG_SV_ARG(o->shard->source));
    if (j->in.all.n_ranks > 1)
        tg_buf_printf(out, ", rank %" PRId64, o->shard->rank);
    tg_buf_puts(out, ": ");
    switch (o->why) {
    case TG_OUTLIER_BUSY:
    case TG_OUTLIER_ALONE:
        tg_buf_printf(out, "%s times the usual step; %zu of %zu large operators are slower",
                      number(j, o->times, 2), o->slower, o->large);
        if (o->why == TG_OUTLIER_BUSY)
            tg_buf_puts(out, ": the machine was busy");
        else if (o->op.n)
            tg_buf_printf(out, ", most of all %.*s", TG_SV_ARG(o->op));
        break;
    case TG_OUTLIER_STEP:
        tg_buf_printf(out, "one slow step, %" PRId64 ": %s times the run's usual one", o->step,
                      number(j, o->times, 1));
        break;
    case TG_OUTLIER_COLD:
        tg_buf_printf(out,
                      "a cold start: the first step took %s times the run's usual one; window: "
                      "{skip_first: 1} leaves it out",
                      number(j, o->times, 1));
        break;
    }
    tg_buf_putc(out, '\n');
}

static void put_ops(const struct job *j, struct tg_buf *out)
{
    const struct tg_calibration *c = &j->c;
    size_t shown = 0;
    bool again = false;
    tg_buf_puts(out, "\noperators from 1 % of the step: noise between runs, the largest change "
                     "between sides of\nequal code, and the smallest slowdown found 9 times in 10 "
                     "by number of runs a side (%)\n\n share  noise  equal");
    for (size_t k = 0; k < TG_NOISE_SIZES; k++) {
        tg_buf_printf(out, " %4zu%s", tg_noise_sizes[k], c->again[k] ? "~" : " ");
        again |= c->again[k];
    }
    tg_buf_puts(out, "  operator\n");
    for (size_t i = 0; i < c->n_ops && shown < MAX_ROWS; i++) {
        const struct tg_op_noise *o = &c->ops[i];
        if (o->share < MIN_SHARE)
            continue;
        shown++;
        tg_buf_printf(out, "%6s%7s%7s", number(j, 100 * o->share, 1), number(j, 100 * o->sigma, 1),
                      number(j, worst_of(c, o), 1));
        for (size_t k = 0; k < TG_NOISE_SIZES; k++) {
            if (o->mde[k] > 9.99)
                tg_buf_puts(out, " >999 ");
            else
                tg_buf_printf(out, "%5s ", number(j, 100 * o->mde[k], 0));
        }
        tg_buf_printf(out, "  %.*s\n", TG_SV_ARG(o->name));
    }
    if (!shown)
        tg_buf_puts(out, "  none whose duration is judged\n");
    if (again)
        tg_buf_puts(out, "  ~ more runs than there are: drawn with replacement, an estimate\n");
}

/* What the steps of a run take, s: the median of the runs. */
static double steps_s(const struct job *j)
{
    const struct tg_side *all = &j->in.all;
    double *v = TG_NEW_N(j->same.arena, double, all->n_runs + 1);
    for (size_t r = 0; r < all->n_runs; r++) {
        const struct tg_shard *s = all->at[r][0];
        v[r] = s->n_steps ? (double)(s->steps[s->n_steps - 1].end - s->steps[0].start) / 1e9 : 0;
    }
    return tg_median(v, all->n_runs);
}

/* ---- limits ---- */

/* The first limit of a rule that asks for a percentage; NULL: none. */
static const struct tg_bound *pct_of(const struct tg_limit_list *list, const struct tg_limit **in)
{
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; k < list->v[i].n; k++)
            if (list->v[i].bound[k].kind == TG_BOUND_PCT) {
                *in = &list->v[i];
                return &list->v[i].bound[k];
            }
    return NULL;
}

static void put_limit(struct tg_buf *out, const struct tg_limit *l, double pct)
{
    bool floor = false;
    tg_buf_printf(out, "{pct: %.0f%%", pct);
    for (size_t k = 0; k < l->n; k++)
        if (l->bound[k].kind != TG_BOUND_PCT) {
            tg_buf_printf(out, ", %s: %.*s", tg_bound_name(l->bound[k].kind),
                          TG_SV_ARG(l->bound[k].text));
            floor |= l->bound[k].kind == TG_BOUND_ABS;
        }
    tg_buf_puts(out, floor ? "}\n" : ", abs: 0.1%step}\n");
}

/* Whole percent above what equal code showed, and never under what the evidence asks for anyway. */
static double fitting(const struct job *j, double worst)
{
    return fmax(floor(worst) + 1, ceil(100 * j->c.tau - 1e-9));
}

/* The rule's own limit where it does not fit: the whole trace, or most operators. */
static double rule_fit(const struct job *j, const struct tg_rule *rule,
                       const struct tg_alarm **worst)
{
    double fit = 0, *v = TG_NEW_N(j->same.arena, double, j->c.n_alarms + 1);
    size_t n = 0;
    *worst = NULL;
    for (size_t i = 0; i < j->c.n_alarms; i++) {
        const struct tg_alarm *m = &j->c.alarms[i];
        if (m->rule != rule)
            continue;
        if (!*worst || m->worst > (*worst)->worst)
            *worst = m;
        v[n++] = m->worst;
    }
    if (tg_rule_metric_info(rule->metric)->scope != TG_SCOPE_NAME)
        return n ? fitting(j, (*worst)->worst) : 0;
    for (size_t i = 0; i < j->c.n_ops; i++) { /* the calmest three quarters of the large ones */
        const struct tg_op_noise *o = &j->c.ops[i];
        const struct tg_alarm *m = alarm_of(&j->c, rule, o->kind, o->name);
        size_t calmer = 0, large = 0;
        for (size_t k = 0; m && o->share >= MIN_SHARE && k < j->c.n_ops; k++) {
            const struct tg_op_noise *other = &j->c.ops[k];
            const struct tg_alarm *m2 = alarm_of(&j->c, rule, other->kind, other->name);
            if (!m2 || other->share < MIN_SHARE)
                continue;
            large++;
            calmer += m2->worst <= m->worst;
        }
        if (large && 4 * calmer <= 3 * large + 3)
            fit = fmax(fit, fitting(j, m->worst));
    }
    return fit;
}

static void put_overrides(const struct job *j, struct tg_buf *out, const struct tg_rule *rule,
                          const struct tg_limit *limit, const char *key, double pct)
{
    bool any = false;
    for (size_t i = 0; i < j->c.n_ops; i++) {
        const struct tg_op_noise *o = &j->c.ops[i];
        const struct tg_alarm *m = alarm_of(&j->c, rule, o->kind, o->name);
        if (!m || fitting(j, m->worst) <= pct ||
            (!m->fails && (o->share < MIN_SHARE || m->worst <= pct)))
            continue;
        tg_buf_puts(out, any ? "      " : "    overrides:\n      ");
        any = true;
        size_t at = 0;
        while (at + 1 < TG_NOISE_SIZES && tg_noise_sizes[at + 1] <= j->c.side)
            at++;
        tg_buf_printf(out, "# noise %s %%, equal code up to +%s %% in %zu comparisons",
                      number(j, 100 * o->sigma, 1), number(j, m->worst, 1), j->c.splits);
        if (m->fails)
            tg_buf_printf(out, " (failed in %zu)", m->fails);
        if (isfinite(o->mde[at]))
            tg_buf_printf(out, "; +%s %% is found 9 times in 10 at %zu runs",
                          number(j, 100 * o->mde[at], 0), tg_noise_sizes[at]);
        /* A name as a glob between double quotes; what a glob or YAML would read otherwise
         * becomes '?'. */
        tg_buf_printf(out, "\n      - match: {kind: %.*s, name: \"", TG_SV_ARG(o->kind));
        for (size_t k = 0; k < o->name.n; k++) {
            unsigned char ch = (unsigned char)o->name.p[k];
            bool plain = ch >= 0x20 && ch < 0x7f && !strchr("\"\\*?", ch) && !(ch == '/' && k == 0);
            tg_buf_putc(out, plain ? (char)ch : '?');
        }
        tg_buf_printf(out, "\"}\n        %s: ", key);
        put_limit(out, limit, fitting(j, m->worst));
    }
}

/* One rule's part of the layer; nothing where its limit fits. */
static void put_rule(const struct job *j, struct tg_buf *out, const struct tg_rule *rule)
{
    const struct tg_limit *limit = NULL;
    const char *key = "fail";
    const struct tg_bound *pct = pct_of(&rule->fail, &limit);
    const struct tg_alarm *worst;
    TG_BUF part = { 0 };
    if (!pct) {
        key = "warn";
        pct = pct_of(&rule->warn, &limit);
    }
    double fit = rule_fit(j, rule, &worst);
    size_t alarms = 0;
    for (size_t i = 0; i < j->c.n_alarms; i++)
        if (j->c.alarms[i].rule == rule)
            alarms += j->c.alarms[i].fails + j->c.alarms[i].warns;
    if (!pct || !worst || !worst->timed)
        return;
    double now = pct->is_auto ? 100 * j->c.tau : pct->value;
    tg_buf_printf(&part, "  - id: %.*s\n", TG_SV_ARG(rule->id));
    size_t start = part.n;
    /* Alarms make a limit too tight; three times what equal code shows makes it too loose. */
    bool tight = alarms > 0 && fit > now;
    bool loose = !pct->is_auto && worst->worst > 0 && fit * 3 < now;
    if (fit > 0 && (tight || loose)) {
        tg_buf_printf(&part, "    # was %.*s; equal code stays within %.0f %%, %s\n    %s: ",
                      TG_SV_ARG(pct->text), fit,
                      fit > now ? "so less is noise" : "so less can be asked for", key);
        put_limit(&part, limit, fit);
        now = fit;
    }
    if (rule->n_overrides)
        tg_buf_puts(
            &part,
            "    # it has overrides of its own, which a layer would replace: none suggested\n");
    else if (tg_rule_metric_info(rule->metric)->scope == TG_SCOPE_NAME)
        put_overrides(j, &part, rule, limit, key, now);
    if (part.n > start && !(rule->n_overrides && !strchr(part.p + start, '{')))
        tg_buf_add(out, tg_buf_sv(&part));
}

static void put_yaml(const struct job *j, struct tg_buf *out)
{
    TG_BUF rules = { 0 };
    const char *file = j->same.policy->built_in ? "tracegate:recommended" : j->same.policy->file.p;
    const char *slash = strrchr(file, '/');
    for (size_t i = 0; i < j->same.policy->n_rules; i++)
        put_rule(j, &rules, &j->same.policy->rules[i]);
    tg_buf_printf(out,
                  "# Limits from %zu runs of one commit, judged %zu against %zu; false alarms "
                  "before: %zu of %zu.\nversion: 1\nextends: [\"%s\"]%s\n",
                  j->c.n_runs, j->c.side, j->c.side, j->c.fails, j->c.splits,
                  slash && !j->same.policy->built_in ? slash + 1 : file,
                  j->same.policy->built_in ? "" : "   # this file belongs beside it");
    /* The same in a sentence, for `ab: {measured: …}`, which verdicts quote. */
    const struct tg_contract *k = &j->c.contract;
    if (isfinite(k->runs)) {
        tg_buf_printf(out, "ab:\n  measured: \"%zu runs%s: same code failed in %s of 100; found:",
                      j->c.n_runs, k->again ? " (an estimate)" : "", number(j, 100 * k->red, 0));
        for (size_t i = 0; i < TG_CONTRACT_SIZES; i++)
            tg_buf_printf(out, "%s +%s %% in %s", i ? "," : "",
                          number(j, 100 * tg_contract_sizes[i], 0),
                          number(j, 100 * k->found[i], 0));
        tg_buf_puts(out, "\"\n");
    }
    if (rules.n) {
        tg_buf_puts(out, "rules:\n");
        tg_buf_add(out, tg_buf_sv(&rules));
    } else {
        tg_buf_puts(out, "# Every limit fits: no change is needed.\n");
    }
}

/* ---- output ---- */

static void add_noise(struct tg_doc *list, const struct tg_calibration *c, size_t i)
{
    struct tg_doc *d = tg_doc_add_object(list, NULL), *sizes;
    tg_doc_add_str(d, "op", c->ops[i].name);
    tg_doc_add_str(d, "kind", c->ops[i].kind);
    tg_doc_add_num(d, "share", c->ops[i].share);
    tg_doc_add_num(d, "noise_pct", 100 * c->ops[i].sigma);
    tg_doc_add_num(d, "equal_code_pct", worst_of(c, &c->ops[i]));
    sizes = tg_doc_add_array(d, "detectable");
    for (size_t k = 0; k < TG_NOISE_SIZES; k++) {
        struct tg_doc *s = tg_doc_add_object(sizes, NULL);
        tg_doc_add_i64(s, "runs", (int64_t)tg_noise_sizes[k]);
        tg_doc_add_num(s, "pct", 100 * c->ops[i].mde[k]);
        tg_doc_add_bool(s, "estimate", c->again[k]);
    }
}

/* Of a share; a sum of shares is 1 but for the last digits. */
static double per_100(double share)
{
    return round(share * 1e8) / 1e6;
}

static void put_json(const struct job *j, struct tg_buf *out)
{
    const struct tg_calibration *c = &j->c;
    struct tg_doc *root = tg_doc_new_object(), *list;
    tg_doc_add_str(root, "schema", TG_SV("tracegate-calibrate-v1"));
    tg_doc_add_i64(root, "runs", (int64_t)c->n_runs);
    tg_doc_add_i64(root, "side", (int64_t)c->side);
    tg_doc_add_i64(root, "comparisons", (int64_t)c->splits);
    tg_doc_add_i64(root, "disjoint_pairs", (int64_t)c->disjoint);
    tg_doc_add_i64(root, "failed", (int64_t)c->fails);
    tg_doc_add_i64(root, "warned", (int64_t)c->warns);
    tg_doc_add_num(root, "false_alarms_per_100", per_100(c->rate));
    tg_doc_add_num(root, "false_alarms_error", per_100(c->error));
    if (isfinite(c->contract.runs)) {
        const struct tg_contract *k = &c->contract;
        struct tg_doc *contract = tg_doc_add_object(root, "ab"), *sizes;
        tg_doc_add_num(contract, "runs", k->runs);
        tg_doc_add_num(contract, "false_alarms_per_100", per_100(k->red));
        sizes = tg_doc_add_array(contract, "found");
        for (size_t m = 0; m < TG_CONTRACT_SIZES; m++) {
            struct tg_doc *s = tg_doc_add_object(sizes, NULL);
            tg_doc_add_num(s, "pct", per_100(tg_contract_sizes[m]));
            tg_doc_add_num(s, "per_100", per_100(k->found[m]));
            tg_doc_add_num(s, "runs", k->took[m]);
        }
    }
    list = tg_doc_add_array(root, "alarms");
    for (size_t i = 0; i < c->n_alarms; i++)
        if (c->alarms[i].fails) {
            struct tg_doc *d = tg_doc_add_object(list, NULL);
            tg_doc_add_str(d, "rule", c->alarms[i].rule->id);
            tg_doc_add_str(d, "kind", c->alarms[i].kind);
            tg_doc_add_str(d, "op", c->alarms[i].op);
            tg_doc_add_i64(d, "failed", (int64_t)c->alarms[i].fails);
            tg_doc_add_num(d, "worst_pct", c->alarms[i].worst);
        }
    list = tg_doc_add_array(root, "outliers");
    for (size_t i = 0; i < j->n_outliers; i++) {
        const struct tg_outlier *o = &j->outliers[i];
        struct tg_doc *outlier = tg_doc_add_object(list, NULL);
        bool level = o->why == TG_OUTLIER_BUSY || o->why == TG_OUTLIER_ALONE;
        tg_doc_add_str(outlier, "source", o->shard->source);
        tg_doc_add_i64(outlier, "rank", o->shard->rank);
        tg_doc_add_str(outlier, "why", tg_sv_of(tg_outlier_name(o->why)));
        tg_doc_add_num(outlier, "times", o->times);
        if (!level) {
            tg_doc_add_i64(outlier, "step", o->step);
            continue;
        }
        tg_doc_add_i64(outlier, "slower_ops", (int64_t)o->slower);
        tg_doc_add_i64(outlier, "large_ops", (int64_t)o->large);
        if (o->op.n)
            tg_doc_add_str(outlier, "op", o->op);
    }
    list = tg_doc_add_array(root, "ops");
    for (size_t i = 0; i < c->n_ops; i++)
        add_noise(list, c, i);
    tg_doc_write(root, TG_DOC_INDENTED, out);
    tg_doc_free(root);
}

static bool put_all(const struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (j->o->format == TG_FORMAT_JSON) {
        put_json(j, &out);
    } else if (j->o->format == TG_FORMAT_YAML) {
        put_yaml(j, &out);
    } else {
        const struct tg_calibration *c = &j->c;
        tg_buf_printf(&out,
                      "expected false alarms: %s in 100 changes (+/- %s); %zu of %zu same-code "
                      "comparisons, %zu against %zu runs, failed, %zu warned\n"
                      "  These share runs: %zu runs hold %zu disjoint pair%s.\n",
                      number(j, 100 * c->rate, 1),
                      isnan(c->error) ? "unknown" : number(j, 100 * c->error, 1), c->fails,
                      c->splits, c->side, c->side, c->warns, c->n_runs, c->disjoint,
                      c->disjoint == 1 ? "" : "s");
        for (size_t i = 0; i < c->n_alarms; i++)
            if (c->alarms[i].fails)
                tg_buf_printf(&out, "  rule %.*s: %.*s failed %zu time%s, up to +%s %%\n",
                              TG_SV_ARG(c->alarms[i].rule->id), TG_SV_ARG(c->alarms[i].op),
                              c->alarms[i].fails, c->alarms[i].fails == 1 ? "" : "s",
                              number(j, c->alarms[i].worst, 1));
        tg_buf_printf(&out, "\noutliers: %s\n",
                      j->n_outliers ? "runs that are not like the others" : "none");
        for (size_t i = 0; i < j->n_outliers && i < MAX_ROWS; i++)
            put_outlier(&out, j, &j->outliers[i]);
        if (j->n_outliers > MAX_ROWS)
            tg_buf_printf(&out, "  and %zu more\n", j->n_outliers - MAX_ROWS);
        put_ops(j, &out);
        const struct tg_contract *k = &j->c.contract;
        if (isfinite(k->runs)) {
            tg_buf_printf(&out,
                          "\ntracegate ab, played on %d draws of these runs%s:\n"
                          "  the same code fails in %s of 100; it takes %s runs a side on average, "
                          "%d at most\n",
                          TG_CONTRACT_DRAWS, k->again ? " (with replacement, an estimate)" : "",
                          number(j, 100 * k->red, 1), number(j, k->runs, 1), TG_CONTRACT_RUNS);
            for (size_t i = 0; i < TG_CONTRACT_SIZES; i++)
                tg_buf_printf(&out,
                              "  one operator slower by %s %% is found in %s of 100, after %s runs "
                              "a side on average\n",
                              number(j, 100 * tg_contract_sizes[i], 0),
                              number(j, 100 * k->found[i], 0), number(j, k->took[i], 1));
            tg_buf_printf(&out,
                          "  budget: the steps of %d runs take %s s; `ab --budget` also pays for "
                          "that many starts of the program\n",
                          2 * TG_CONTRACT_RUNS, number(j, 2 * TG_CONTRACT_RUNS * steps_s(j), 1));
        }
        tg_buf_puts(&out, "\nlimits that fit (--format yaml prints them alone)\n\n");
        put_yaml(j, &out);
    }
    return tg_io_put(j->io, tg_buf_sv(&out), err);
}

static bool run_job(struct job *j, struct tg_err *err)
{
    j->in = (struct tg_noise_input){ .policy = j->same.policy,
                                     .suite = j->same.suite,
                                     .io = j->io,
                                     .compare = &j->same.compare,
                                     .all = j->same.all };
    j->outliers = tg_outliers_find(&j->in.all, &j->n_outliers, j->same.arena);
    size_t half = j->in.all.n_runs / 2;
    int64_t side = j->o->side, splits = j->o->splits;
    if (side == TG_OPT_UNSET)
        side = half < SIDE ? (int64_t)half : SIDE;
    if (splits == TG_OPT_UNSET)
        splits = SPLITS;
    if (side < 1 || (size_t)side > half)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                          "--side %lld: %zu runs have two sides of 1 to %zu", (long long)side,
                          j->in.all.n_runs, half);
    if (splits < 1 || splits > 10000)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--splits %lld is not 1 to 10000",
                          (long long)splits);
    j->in.side = (size_t)side;
    j->in.splits = (size_t)splits;
    return tg_noise_metric(&j->c, &j->in, j->same.arena, err) && put_all(j, err);
}

static int calibrate_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct job j = { .o = c->opts, .io = c->io };
    bool ok =
        tg_gate_same_open(&j.same, &j.o->gate, c, "calibrate", MIN_RUNS, err) && run_job(&j, err);
    tg_gate_same_release(&j.same);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_calibrate = {
    .name = "calibrate",
    .summary = "noise, false alarms and limits from runs of one commit",
    .synopsis = "TRACE... [--policy FILE]",
    .about =
        "From six or more runs of one commit: how often the policy would fail although nothing "
        "changed (the runs are split into two sides many times, always in the same way), the noise "
        "of each operator, the smallest slowdown that is found 9 times in 10 with 3, 5, 8 and 10 "
        "runs a side, which runs are not like the others and why, and suitable limits, as a policy "
        "with the evidence beside each.\n\n"
        "Default for TRACE: the stored runs of the suite at HEAD or before it, or its baseline in "
        "HEAD. Record the runs as your checks do: on the same machine, at different times.\n\n"
        "  tracegate calibrate out/run*.json.gz --format yaml >limits.yml",
    .options = calibrate_options,
    .opts_size = sizeof(struct calibrate_opts),
    .run = calibrate_run,
};
