#include "reporters/findings.h"

#include <math.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/diff/confirm.h"
#include "core/diff/numbers.h"
#include "reporters/escape.h"
#include "reporters/number.h"
#include "reporters/rows.h"

const char *tg_section_title(enum tg_section s)
{
    static const char *const title[] = { "Could not be judged",
                                         "Kernels or operators replaced",
                                         "Counts changed",
                                         "Durations changed",
                                         "Budgets",
                                         "Benchmarks' numbers changed",
                                         "The step as a whole",
                                         "Waived" };
    return title[s];
}

static enum tg_section section_of(const struct tg_verdict *v, const struct tg_result *r)
{
    if (r->state == TG_STATE_WAIVED)
        return TG_SECTION_WAIVED;
    if (r->state == TG_STATE_INCONCLUSIVE || tg_result_is_guard(r))
        return TG_SECTION_BLOCKED;
    if (tg_result_region(v->comparison, r))
        return TG_SECTION_REPLACED;
    if (r->over_budget)
        return TG_SECTION_BUDGETS;
    if (r->subject == TG_SUBJECT_NUMBER)
        return TG_SECTION_NUMBERS;
    if (r->subject == TG_SUBJECT_TRACE || r->subject == TG_SUBJECT_STEP)
        return TG_SECTION_GAPS;
    return r->unit_id == TG_UNIT_COUNT || r->unit_id == TG_UNIT_ATTR || r->unit_id == TG_UNIT_BYTES
               ? TG_SECTION_COUNTS
               : TG_SECTION_DURATIONS;
}

bool tg_result_listed(const struct tg_result *r)
{
    return tg_result_shown(r) || r->state == TG_STATE_WAIVED;
}

uint32_t *tg_findings_roots(const struct tg_verdict *v)
{
    uint32_t *root = tg_xmalloc((v->n_results + 1) * sizeof *root);
    /* The last shown result up the chain; a circular chain ends where it began. */
    for (uint32_t i = 0; i < v->n_results; i++) {
        uint32_t at = v->results[i].folded_under;
        root[i] = i;
        for (size_t hops = 0; at < v->n_results; at = v->results[at].folded_under) {
            if (at == i || ++hops >= v->n_results) {
                root[i] = i;
                break;
            }
            if (tg_result_shown(&v->results[at]) || v->results[i].state == TG_STATE_WAIVED)
                root[i] = at;
        }
    }
    return root;
}

/* Of what was not judged the reason that most of it has. */
static void find_why(struct tg_tally *t, const struct tg_verdict *v)
{
    const char *most = NULL;
    size_t lead = 0;
    for (int pass = 0; pass < 2; pass++)
        TG_EACH(const struct tg_result, r, v->results, v->n_results) {
            if (r->state != TG_STATE_NOT_JUDGED || !r->why_not || r->folded_under < v->n_results)
                continue;
            bool same = most && strcmp(most, r->why_not) == 0;
            if (pass) { /* after the vote */
                t->n_why += same;
                continue;
            }
            most = lead ? most : r->why_not;
            lead += !lead || same ? 1 : (size_t)-1;
        }
    t->why = 2 * t->n_why > t->n ? most : NULL;
}

size_t tg_tally(const struct tg_verdict *v, struct tg_tally out[TG_STATE_FAIL + 1])
{
    static const enum tg_state order[] = { TG_STATE_FAIL,      TG_STATE_INCONCLUSIVE,
                                           TG_STATE_WARN,      TG_STATE_SUSPICIOUS,
                                           TG_STATE_WAIVED,    TG_STATE_PASS,
                                           TG_STATE_NOT_JUDGED };
    TG_FREE uint32_t *root = tg_findings_roots(v);
    size_t n = 0, notes = 0; /* of warnings that are notes the headline counts none beside others */
    for (size_t i = 0; i < v->n_results; i++)
        notes += v->results[i].state == TG_STATE_WARN && !tg_result_shown(&v->results[i]);
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        struct tg_tally t = { order[i], v->n_state[order[i]] - v->n_folded[order[i]], 0, NULL, 0 };
        /* Nothing was compared: no row says so. */
        t.n += t.state == TG_STATE_INCONCLUSIVE && v->outcome == TG_OUTCOME_INCONCLUSIVE && !t.n;
        t.n -= t.n > notes && t.state == TG_STATE_WARN ? notes : 0;
        for (size_t k = 0; k < v->n_results; k++)
            t.follow += root[k] != k && v->results[root[k]].state == t.state &&
                        (tg_result_shown(&v->results[k]) || t.state == TG_STATE_WAIVED);
        if (t.n && t.state == TG_STATE_NOT_JUDGED)
            find_why(&t, v);
        if (t.n)
            out[n++] = t;
    }
    return n;
}

void tg_tally_put(struct tg_buf *out, const struct tg_tally *t)
{
    static const char *const word[] = {
        [TG_STATE_FAIL] = "failed",   [TG_STATE_INCONCLUSIVE] = "inconclusive",
        [TG_STATE_WARN] = "warned",   [TG_STATE_SUSPICIOUS] = "suspicious",
        [TG_STATE_WAIVED] = "waived", [TG_STATE_PASS] = "passed",
        [TG_STATE_SKIP] = "skipped",  [TG_STATE_NOT_JUDGED] = "not judged",
    };
    tg_buf_printf(out, "%zu %s", t->n, word[t->state]);
    if (t->follow)
        tg_buf_printf(out, " (%zu more follow%s from %s)", t->follow, t->follow == 1 ? "s" : "",
                      t->n == 1 ? "it" : "them");
    if (t->why && t->n_why == t->n)
        tg_buf_printf(out, " (%s)", t->why);
    else if (t->why)
        tg_buf_printf(out, " (%zu: %s)", t->n_why, t->why);
}

enum tg_note_place tg_note_place(const struct tg_verdict *v, const struct tg_note *n)
{
    bool first = v->outcome != TG_OUTCOME_FAIL || n->damage || n->reason;
    return n->warning && first ? TG_PLACE_FIRST : TG_PLACE_LAST;
}

static bool is_step(const struct tg_result *r)
{
    return r->subject == TG_SUBJECT_TRACE && r->metric == TG_RULE_METRIC_STEP_TIME;
}

/* What the finding's own waiver does not cover has an item of its own there: it is named first.
 * Operators are the program's own words; what runs on the device follows them. */
static int order_of(const struct tg_result *r, const struct tg_result *head)
{
    bool accepted = tg_sv_eq(r->rule, head->rule) || head->one_rank || r->state != TG_STATE_FAIL;
    return is_step(r)                                                  ? 0
           : r->subject == TG_SUBJECT_TRACE                            ? 1
           : !accepted                                                 ? 2
           : r->subject == TG_SUBJECT_NAME && r->op_kind == TG_KIND_OP ? 3
                                                                       : 4;
}

bool tg_findings_put_folded(struct tg_buf *out, const struct tg_verdict *v, const uint32_t *roots,
                            size_t i, size_t most)
{
    struct tg_message_list list = { .most = most };
    for (int order = 0; order < 5; order++)
        for (size_t k = 0; k < v->n_results; k++) {
            const struct tg_result *r = &v->results[k], *head = &v->results[i];
            if (roots[k] != i || k == i || !tg_result_listed(r) || order_of(r, head) != order)
                continue;
            /* Of one rank alone and its one name the finding itself has said it. */
            const struct tg_op *alone = head->one_rank ? tg_result_op(v->comparison, r) : NULL;
            if ((alone && alone->on_rank_alone && v->comparison->rank_alone->n_names == 1) ||
                !tg_message_list_next(&list, out))
                continue;
            if (is_step(r))
                tg_buf_puts(out, "the step");
            else
                tg_result_put_name(out, r, SIZE_MAX);
            /*
             * What a folded result adds after its name: " +4", " +18.2% (slower)"; the rule if
             * it is another one. Of what one rank alone does, and of a whole replacement, the
             * change that its row has.
             */
            const struct tg_op *op =
                r->unit_id == TG_UNIT_NS ? tg_result_op(v->comparison, r) : NULL;
            double pct = r->delta_pct;
            if (op && (op->on_rank_alone || (r->ev && r->ev->pooled))) {
                struct tg_row_numbers n = tg_row_shown(v, op);
                pct = 100 * n.d_ns / n.ns[TG_BASE];
            }
            if (r->has_values) {
                tg_buf_puts(out, r->of_fastest ? " in the fastest steps " : " ");
                if (r->unit_id == TG_UNIT_NS && tg_dec_pct_tells(pct))
                    tg_put_pct_delta(out, pct);
                else
                    tg_put_value_delta(out, r->delta, r->unit_id);
            }
            if (tg_result_is_of_extent(r))
                tg_buf_puts(out, " (" TG_DEVICE_EXTENT_MEANS ")");
            else if (r->rule.n && !tg_sv_eq(r->rule, head->rule) && !is_step(r) &&
                     !tg_result_words(r).n)
                tg_buf_printf(out, " (%.*s)", TG_SV_ARG(r->rule));
        }
    if (tg_message_list_end(&list, out))
        tg_buf_puts(out, most > TG_FOLDED_SHOWN ? " (the table has them)" : " (--html names them)");
    return list.n > 0;
}

/* ---- messages ---- */

tg_sv tg_result_called(const struct tg_result *r)
{
    return tg_result_words(r).n && !r->one_rank ? tg_result_words(r)
           : r->op_normalised.n                 ? r->op_normalised
                                                : r->op;
}

void tg_result_put(struct tg_buf *out, const struct tg_result *r)
{
    enum { LONGEST = 300 };
    tg_sv rest = r->message, name = tg_result_called(r);
    if (tg_result_is_guard(r) || r->one_rank || r->names_itself || !name.n) {
        tg_buf_add(out, rest); /* these have messages of their own */
        return;
    }
    tg_result_put_name(out, r, LONGEST);
    tg_buf_puts(out, rest.n ? ": " : "");
    tg_buf_add(out, rest);
}

void tg_result_put_at(struct tg_buf *out, const struct tg_result *r)
{
    if (!r->at.file)
        return;
    tg_buf_puts(out, r->at.file);
    if (r->at.line)
        tg_buf_printf(out, ":%u", (unsigned)r->at.line);
}

bool tg_result_in_file(const struct tg_result *r)
{
    return r->at.file && !tg_sv_starts(tg_sv_of(r->at.file), TG_SV("tracegate:"));
}

/* "limit abs: 0", "exact; limit abs: 0": a count needs no other evidence. */
tg_sv tg_result_evidence(const struct tg_result *r)
{
    tg_sv rest = r->evidence;
    (void)tg_sv_skip(&rest, TG_SV("exact; "));
    (void)tg_sv_skip(&rest, TG_SV("limit "));
    return tg_sv_eq(rest, r->limit_said) ? TG_SV("") : r->evidence;
}

const char *tg_result_evidence_label(const struct tg_result *r)
{
    return r->grounds == TG_GROUNDS_COUNT || r->grounds == TG_GROUNDS_ATTR ? "why" : "evidence";
}

void tg_result_put_nights(struct tg_buf *out, const struct tg_result *r)
{
    static const char bar[][4] = { "\xe2\x96\x81", "\xe2\x96\x82", "\xe2\x96\x83", "\xe2\x96\x84",
                                   "\xe2\x96\x85", "\xe2\x96\x86", "\xe2\x96\x87", "\xe2\x96\x88" };
    double least = INFINITY, most = 0, range;
    for (size_t i = 0; i < r->n_nights; i++) {
        least = fmin(least, r->nights[i]);
        most = fmax(most, r->nights[i]);
    }
    if (!r->n_nights)
        return;
    range = fmax(most - least, least / 5); /* a bar is 2.5 % at least: noise is flat */
    for (size_t i = 0; i < r->n_nights; i++)
        tg_buf_puts(out, bar[(int)(7.999 * (r->nights[i] - least) / range)]);
    tg_buf_printf(out, " %s to %s %s in %zu nights%s", TG_AS_TIME(least, most),
                  TG_AS_TIME(most, most), most >= 1e6 ? "ms" : "us", r->n_nights,
                  r->subject == TG_SUBJECT_NAME ? ", by the fastest calls" : "");
}

tg_sv tg_result_issue(const struct tg_result *r)
{
    bool said = tg_link_is_web(r->issue) && tg_sv_ends(tg_result_evidence(r), r->issue);
    return said ? r->issue : TG_SV("");
}

void tg_result_put_rule(struct tg_buf *out, const struct tg_result *r, enum tg_rule_place place)
{
    tg_buf_add(out, r->rule);
    if (place == TG_RULE_WITH_LINE && r->rule.n && r->at.file) {
        tg_buf_puts(out, " (");
        tg_result_put_at(out, r);
        tg_buf_putc(out, ')');
    }
    if (r->limit_said.n && !r->over_budget && /* its sentence has the limit */
        !tg_sv_has(tg_result_evidence(r), r->limit_said))
        tg_buf_printf(out, "%slimit %.*s", r->rule.n ? ", " : "", TG_SV_ARG(r->limit_said));
    if (r->why.n)
        tg_buf_printf(out, ": %.*s", TG_SV_ARG(r->why));
}

bool tg_result_same_rule(const struct tg_result *a, const struct tg_result *b)
{
    bool same_file = a->at.file == b->at.file ||
                     (a->at.file && b->at.file && strcmp(a->at.file, b->at.file) == 0);
    return tg_sv_eq(a->rule, b->rule) && tg_sv_eq(a->limit, b->limit) && tg_sv_eq(a->why, b->why) &&
           same_file && a->at.line == b->at.line;
}

/* The largest names of one side, or all; false: none. */
static bool put_names_of(struct tg_buf *out, const struct tg_comparison *c, size_t region, int side,
                         size_t most)
{
    struct tg_message_list list = { .most = most };
    size_t room = most < c->n_ops ? most + 1 : c->n_ops;
    TG_FREE const struct tg_op **op = tg_xmalloc((room + 1) * sizeof *op);
    size_t n = tg_region_names(c, (uint32_t)region, side, op, room);
    for (size_t i = 0; i < n && tg_message_list_next(&list, out); i++)
        tg_buf_printf(out, TG_NAME, TG_SV_ARG(op[i]->name));
    list.n = n;
    (void)tg_message_list_end(&list, out);
    return n > 0;
}

void tg_findings_put_all_names(struct tg_buf *out, const struct tg_verdict *v,
                               const struct tg_result *r)
{
    const struct tg_region *g = tg_result_region(v->comparison, r);
    size_t region = g ? (size_t)(g - v->comparison->regions) : 0;
    if (!g || !tg_sv_has(r->message, TG_SV(" more")))
        return;
    TG_BUF went = { 0 };
    (void)put_names_of(out, v->comparison, region, TG_TEST, SIZE_MAX);
    if (put_names_of(&went, v->comparison, region, TG_BASE, SIZE_MAX))
        tg_buf_printf(out, " instead of %s", went.p);
}

bool tg_put_replaced(struct tg_buf *out, const struct tg_verdict *v, size_t region)
{
    enum { SHOWN = 3 };
    const struct tg_comparison *c = v->comparison;
    const struct tg_region *g = &c->regions[region];
    TG_BUF came = { 0 };
    /* A finding, or a waived one, which is not folded, is about it. */
    for (size_t i = 0; i < v->n_results; i++)
        if (tg_result_listed(&v->results[i]) && v->results[i].folded_under >= v->n_results &&
            tg_result_region(c, &v->results[i]) == g)
            return false;
    bool went = put_names_of(out, c, region, TG_BASE, SHOWN);
    if (put_names_of(&came, c, region, TG_TEST, SHOWN))
        tg_buf_printf(out, "%s%s", went ? " -> " : "new: ", came.p);
    else if (went)
        tg_buf_puts(out, " gone");
    else
        return false;
    tg_buf_printf(out, ": calls -%s +%s in ", TG_AS(tg_put_count, g->calls[TG_BASE]),
                  TG_AS(tg_put_count, g->calls[TG_TEST]));
    if (g->encloser.n)
        tg_buf_printf(out, TG_NAME " (%s -> %s us per step)", TG_SV_ARG(g->encloser),
                      TG_AS(tg_put_us, g->time[TG_BASE]), TG_AS(tg_put_us, g->time[TG_TEST]));
    else
        tg_buf_puts(out, "the step");
    tg_buf_puts(out, g->worse_count ? "; more work" : "");
    return true;
}

uint32_t *tg_findings_of(const struct tg_verdict *v, const uint32_t *roots, enum tg_section s,
                         size_t *n)
{
    uint32_t *list = tg_xmalloc((v->n_results + 1) * sizeof *list);
    TG_FREE bool *taken = tg_xmalloc(v->n_results + 1);
    *n = 0;
    for (size_t i = 0; i < v->n_results; i++)
        taken[i] = !tg_result_listed(&v->results[i]) || roots[i] != i ||
                   section_of(v, &v->results[i]) != s;
    for (size_t i = 0; i < v->n_results; i++) {
        size_t end = s == TG_SECTION_WAIVED ? i + 1 : v->n_results;
        if (taken[i])
            continue;
        for (size_t k = i; k < end; k++) {
            if (taken[k] || v->results[k].state != v->results[i].state ||
                !tg_result_same_rule(&v->results[i], &v->results[k]))
                continue;
            list[(*n)++] = (uint32_t)k;
            taken[k] = true;
        }
    }
    return list;
}

const struct tg_result *tg_findings_first(const struct tg_verdict *v)
{
    static const enum tg_state states[] = { TG_STATE_FAIL, TG_STATE_WARN, TG_STATE_SUSPICIOUS };
    size_t from = v->outcome == TG_OUTCOME_FAIL ? 0 : v->outcome == TG_OUTCOME_WARN ? 1 : 3;
    for (size_t s = from; s < 3; s++)
        for (size_t i = 0; i < v->n_results; i++)
            if (v->results[i].state == states[s] && v->results[i].folded_under >= v->n_results &&
                tg_result_shown(&v->results[i]))
                return &v->results[i];
    return NULL;
}

tg_sv tg_result_next(const struct tg_verdict *v, const struct tg_result *r)
{
    bool said = r == tg_findings_first(v) || tg_sv_eq(r->next, v->error_hint);
    for (size_t i = 0; i < v->n_notes; i++) /* those are above */
        said |= tg_sv_eq(r->next, v->notes[i].next);
    return said ? TG_SV("") : r->next;
}

tg_sv tg_note_next(const struct tg_verdict *v, const struct tg_note *n)
{
    const struct tg_result *first = tg_findings_first(v);
    bool said = tg_sv_eq(n->next, v->error_hint) || (first && tg_sv_eq(n->next, first->next));
    for (const struct tg_note *before = v->notes; before < n; before++)
        said |= tg_sv_eq(n->next, before->next);
    return said ? TG_SV("") : n->next;
}

/* ---- the two sides ---- */

tg_sv tg_version_of(const struct tg_verdict *v)
{
    tg_sv rest = v->version;
    return tg_sv_cut(&rest, ' ');
}

const char *tg_situation_said(enum tg_situation s)
{
    return s == TG_SITUATION_LOST ? "not found" : tg_situation_name(s);
}

/* After what is in the line from `begin` on. */
static void put_part(struct tg_buf *out, size_t begin, tg_sv part)
{
    if (part.n)
        tg_buf_printf(out, "%s%.*s", out->n > begin ? ", " : "", TG_SV_ARG(part));
}

void tg_put_baseline(struct tg_buf *out, const struct tg_verdict *v)
{
    const struct tg_baseline_info *b = &v->baseline;
    size_t begin = out->n;
    put_part(out, begin, (tg_sv){ b->commit.p, b->commit.n < 12 ? b->commit.n : 12 });
    put_part(out, begin, b->how);
    if (!b->how.n || !tg_sv_has(b->how, b->paths))
        put_part(out, begin, b->paths);
    if (tg_situation_is_special(b->situation))
        put_part(out, begin, tg_sv_of(tg_situation_said(b->situation)));
}

void tg_put_side(struct tg_buf *out, const struct tg_comparison *c, int side)
{
    if (!c)
        return;
    size_t compared = c->n_ranks[side] + c->n_unnamed;
    size_t n_ranks = compared > c->n_brought[side] ? compared : c->n_brought[side];
    tg_buf_printf(out, "%zu run%s", c->n_runs[side], c->n_runs[side] == 1 ? "" : "s");
    if (n_ranks > 1)
        tg_buf_printf(out, " x %zu ranks", n_ranks);
    if (compared < n_ranks && n_ranks > 1)
        tg_buf_printf(out, ", %zu compared", compared);
    if (c->marked[side])
        tg_buf_printf(out, ", %zu step%s%s", c->n_steps[side], c->n_steps[side] == 1 ? "" : "s",
                      c->n_runs[side] > 1 || n_ranks > 1 ? " each" : "");
    else
        tg_buf_puts(out, ", no step markers");
}

/* ---- what a change costs ---- */

/* Does a rule ask for the time of a step? Where nothing is judged at all, that is said
 * elsewhere. */
static bool is_ruled(const struct tg_verdict *v)
{
    TG_EACH(const struct tg_result, r, v->results, v->n_results) {
        if (!r->switched_off && (is_step(r) || r->subject == TG_SUBJECT_STEP))
            return true;
    }
    return !v->n_results;
}

static const char *unit_of(double largest)
{
    return largest >= 1e6 ? "ms" : "us";
}

/* "345.9 -> 492.1 us (+42.3 %": from (almost) nothing the difference. */
static void put_change(struct tg_buf *out, const double ns[2])
{
    double most = fmax(ns[TG_BASE], ns[TG_TEST]), pct = 100 * (ns[TG_TEST] / ns[TG_BASE] - 1);
    bool alike = most >= 1e6 && most < 1e8 && fabs(pct) >= 0.05 &&
                 round(ns[TG_BASE] / 1e4) == round(ns[TG_TEST] / 1e4);
    for (int s = 0; s < 2; s++) {
        struct tg_as one = alike ? tg_as_fixed(ns[s] / 1e6, 3) : tg_as_time(ns[s], most);
        tg_buf_printf(out, "%s%s", s ? " -> " : "", one.s);
    }
    tg_buf_printf(out, " %s (", unit_of(most));
    if (tg_dec_pct_tells(pct))
        tg_put_pct_delta(out, pct);
    else
        tg_put_value_delta(out, ns[TG_TEST] - ns[TG_BASE], TG_UNIT_NS);
}

#define MEMORY_TELLS 1 /* per cent of the peak */
#define TELLS 0.5      /* percentage points between what was measured and what was judged */

/* ", fresh runs 2.04 to 4.51 ms": a median of such runs says little by itself. */
static bool put_spread(struct tg_buf *out, const struct tg_comparison *c)
{
    const struct tg_metric_change *wall = &c->metrics[TG_METRIC_STEP_TIME];
    double least = wall->least[TG_TEST], most = wall->most[TG_TEST];
    if (c->rank_alone || !(least > 0) || most < (1 + TG_QUARTER) * least)
        return false;
    tg_buf_printf(out, ", fresh runs %s to %s %s", TG_AS_TIME(least, most), TG_AS_TIME(most, most),
                  unit_of(most));
    return true;
}

/* "; the host is 28.5 % slower", "; in the fastest steps +0.2 %": why what was judged is not the
 * measured change, that of the machine or of disturbed steps. Nothing where it is all. */
static void put_judged(struct tg_buf *out, const struct tg_verdict *v, const struct tg_evidence *ev,
                       double measured)
{
    static const char *const whose[] = {
        [TG_DRIFT_OF_ALL] = "machine", [TG_DRIFT_OF_HOST] = "host", [TG_DRIFT_OF_DEVICE] = "device"
    };
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    double machine = 100 * expm1(c->drift), change = 100 * expm1(ev->e);
    bool of_machine = machine >= TELLS; /* a faster one is never taken off */
    if (!is_ruled(v) || ev->why_not != TG_JUDGED || fabs(measured - change) < TELLS ||
        c->rank_alone || c->gradients || !tg_dec_pct_tells(change))
        return;
    if (of_machine)
        tg_buf_printf(out, "; the %s is %s %% slower", whose[c->drift_of], TG_AS_FIXED(machine, 1));
    if (of_machine && ev->estimate == TG_ESTIMATE_LEAST)
        return; /* the rest is in disturbed steps: a second number would look like another answer */
    tg_buf_printf(out, "%s%s%s", of_machine ? ", " : "; ",
                  ev->estimate == TG_ESTIMATE_LEAST ? "in the fastest steps " : "judged as ",
                  TG_AS(tg_put_pct_delta, change));
}

bool tg_effect_step(const struct tg_verdict *v, double ns[2])
{
    if (!v->comparison)
        return false;
    const struct tg_metric_change *m =
        &tg_confirm_last(v->comparison)->metrics[TG_METRIC_STEP_TIME];
    ns[TG_BASE] = m->value[TG_BASE];
    ns[TG_TEST] = m->value[TG_TEST];
    return m->known[TG_BASE] && m->known[TG_TEST] && ns[TG_BASE] > 0 && isfinite(ns[TG_TEST]);
}

/* ns per step that waived findings add; of rows without one on the device, where it works. */
static double waived_ns(const struct tg_verdict *v)
{
    const struct tg_comparison *c = v->comparison;
    double ns[2] = { 0 }, whole = 0;
    bool device = false;
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].state == TG_STATE_WAIVED && v->results[i].whole_known)
            whole += v->results[i].whole_ns[TG_TEST] - v->results[i].whole_ns[TG_BASE];
    TG_EACH(const struct tg_op, op, c->ops, c->n_ops) {
        bool on_device = tg_kind_is_device(op->kind), counts = tg_row_is_waived(v, op) && !op->wait;
        device |= on_device;
        /* Its time may be that of a waived finding with all that follows from it. */
        for (size_t k = 0; k < v->n_results && counts; k++) {
            const struct tg_result *r = &v->results[k];
            const struct tg_result *head =
                r->folded_under < v->n_results ? &v->results[r->folded_under] : r;
            counts =
                r->state != TG_STATE_WAIVED || !head->whole_known || !tg_result_is_about(r, op);
        }
        if (counts)
            ns[on_device] += tg_row_shown(v, op).d_ns;
    }
    return whole + ns[device];
}

void tg_effect_put(struct tg_buf *out, const struct tg_verdict *v)
{
    double ns[2];
    if (!tg_effect_step(v, ns))
        return;
    const struct tg_comparison *c = tg_confirm_last(v->comparison);
    /* What the verdict says about the step's time, where it says something; else the default rule.
     * And does a row tell of it all the same, by the range of the runs? */
    const struct tg_evidence *ev = &c->metrics[TG_METRIC_STEP_TIME].ev;
    bool gives_range = false;
    for (size_t i = v->n_results; i-- > 0;) {
        const struct tg_result *r = &v->results[i];
        if (!is_step(r))
            continue;
        gives_range |= tg_result_shown(r) && r->has_values && !r->over_budget;
        if (tg_sv_eq(r->op_normalised, r->plain) && r->ev && r->state > TG_STATE_SUSPICIOUS &&
            (c == v->comparison || r->ev->asked))
            ev = r->ev; /* of the first of them */
    }
    tg_buf_puts(out, "Step time ");
    if (c->rank_alone) {
        /* The step of the one rank that takes longer, before the mean of all. */
        tg_buf_printf(out, "of %s: ", c->rank_alone->called);
        put_change(out, c->rank_alone->metric[TG_METRIC_STEP_TIME]);
        tg_buf_printf(out, "), mean of %zu ranks ", c->n_ranks[TG_TEST]);
    }
    put_change(out, ns);
    if (c->iteration_ratio > 0 && c->iteration_ratio != 1) /* whole traces, as measured */
        tg_buf_printf(out, ", with %.4g times the iterations", c->iteration_ratio);
    /* The noise is that of the shortest steps: beside a wide range it reads as a contradiction. */
    bool spread = put_spread(out, c);
    if (!is_ruled(v))
        tg_buf_puts(out, ", no rule limits it");
    else if (ev->why_not != TG_JUDGED)
        tg_buf_puts(out, gives_range ? "" : ", not judged");
    else if (!spread) /* as a percentage of the value: the evidence has it on a log scale */
        tg_buf_printf(out, ", noise %s%s %%", ev->noise < 0.0005 ? "below " : "",
                      TG_AS_FIXED(100 * fmax(ev->noise, 0.001), 1));
    put_judged(out, v, ev, 100 * (ns[TG_TEST] / ns[TG_BASE] - 1));
    /* "of it +240 us waived"; of a change that is not longer than that: only that it holds such
     * changes. */
    double waived = v->n_state[TG_STATE_WAIVED] ? waived_ns(v) : 0;
    if (v->n_state[TG_STATE_WAIVED] && (!(waived > 0) || waived > ns[TG_TEST] - ns[TG_BASE]))
        tg_buf_puts(out, ", waived changes included");
    else if (v->n_state[TG_STATE_WAIVED])
        tg_buf_printf(out, ", of it +%s %s waived", TG_AS_TIME(waived, waived), unit_of(waived));
    tg_buf_putc(out, ')');
    /* ", peak memory 3.10 -> 3.42 GiB (+10 %)": where it is known, and another one. */
    const struct tg_metric_change *m = &c->metrics[TG_METRIC_MEM_PEAK];
    double pct = 100 * (m->value[TG_TEST] / m->value[TG_BASE] - 1);
    if (!m->known[TG_BASE] || !m->known[TG_TEST] || !(m->value[TG_BASE] > 0) ||
        fabs(pct) < MEMORY_TELLS)
        return;
    tg_buf_puts(out, ", peak memory ");
    tg_put_bytes_change(out, m->value[TG_BASE], m->value[TG_TEST]);
    tg_buf_printf(out, " (%s)", TG_AS(tg_put_pct_delta, pct));
}
