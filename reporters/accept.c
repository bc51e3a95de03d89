#include "reporters/accept.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/decimal.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/findings.h"
#include "reporters/label.h"
#include "reporters/origin.h"

/* It failed, by a value under a rule; what one rank alone does is its machine's, and nobody accepts
 * that. */
static bool is_waivable(const struct tg_verdict *v, const struct tg_result *r)
{
    bool under = r->folded_under < v->n_results && v->results[r->folded_under].one_rank;
    return !r->one_rank && !under && r->state == TG_STATE_FAIL && r->has_values && r->rule.n &&
           r->op.n && isfinite(r->delta);
}

void tg_accept_widen(struct tg_accept_change *c, double delta, double pct)
{
    c->delta = fmax(c->delta, fabs(delta)); /* of a number and NaN the number */
    c->pct = isnan(pct) || isnan(c->pct) ? NAN : fmax(c->pct, fabs(pct));
}

void tg_accept_budget(struct tg_accept_change *c, enum tg_bound_kind bound, double value)
{
    if (bound == TG_BOUND_PCT || isnan(value))
        return;
    bool more = bound == TG_BOUND_MAX ? value > c->value : value < c->value;
    if (c->bound != bound || more)
        c->value = value;
    c->bound = bound;
}

/* A measured value is another one in the next run. */
static double margin_of(const struct tg_rule_metric_info *info)
{
    return info->exact ? 1 : 1.25;
}

/* From (almost) nothing a value has no percentage: then so many us, bytes or GB/s more. */
void tg_accept_put_ceiling(struct tg_buf *out, const struct tg_accept_change *c)
{
    const struct tg_rule_metric_info *info = tg_rule_metric_info(c->metric);
    enum tg_unit unit = info->unit;
    double by = margin_of(info), more = c->delta * by, per = unit == TG_UNIT_NS ? 1000 : 1;
    if (c->bound != TG_BOUND_PCT) {
        /* "{max: 9017us}" */
        bool max = c->bound == TG_BOUND_MAX, number = unit == TG_UNIT_NUMBER;
        double v = max ? c->value / per * by : c->value / per / by;
        tg_buf_printf(out, number ? "{%s: %.9g}" : "{%s: %.0f%s}", max ? "max" : "min",
                      number ? v
                      : max  ? ceil(v)
                             : floor(v),
                      unit == TG_UNIT_NS        ? "us"
                      : unit == TG_UNIT_PERCENT ? "%"
                      : unit == TG_UNIT_BYTES   ? "B"
                      : unit == TG_UNIT_RATE    ? "GB/s"
                                                : "");
    } else if (unit == TG_UNIT_COUNT) {
        tg_buf_printf(out, "{abs: %.0f}", ceil(c->delta));
    } else if (unit == TG_UNIT_PERCENT) {
        tg_buf_printf(out, "{pp: %.0fpp}", ceil(more));
    } else if (info->bounds & TG_BOUND_BIT(TG_BOUND_PCT) && tg_dec_pct_tells(c->pct * by)) {
        tg_buf_printf(out, "{pct: %.0f%%}", ceil(c->pct * by));
    } else if (unit == TG_UNIT_NUMBER) {
        tg_buf_printf(out, "{abs: %.9g}", more);
    } else {
        tg_buf_printf(out, "{abs: %.0f%s}", ceil(more / per),
                      unit == TG_UNIT_NS     ? "us"
                      : unit == TG_UNIT_RATE ? "GB/s"
                                             : "B");
    }
}

struct tg_accept_waiver *tg_accept_for(struct tg_accept_list *l, tg_sv rule, tg_sv name,
                                       enum tg_rule_metric metric, size_t finding)
{
    TG_BUF key = { 0 };
    tg_buf_printf(&key, "%.*s ", TG_SV_ARG(rule));
    tg_buf_add(&key, name);
    uint32_t i = tg_strmap_add(&l->at, tg_buf_sv(&key));
    if (i == l->n) {
        l->v = tg_grow(l->v, &l->cap, l->n + 1, sizeof *l->v);
        l->v[l->n++] = (struct tg_accept_waiver){ rule, name, finding, i, i, { .metric = metric } };
        for (uint32_t k = 0; k < i && l->v[i].first == i; k++)
            if (l->v[k].finding == finding && tg_sv_eq(l->v[k].rule, rule))
                l->v[i].first = l->v[k].first;
    }
    return &l->v[i];
}

void tg_accept_release(struct tg_accept_list *l)
{
    tg_strmap_release(&l->at);
    free(l->v);
}

/* False: a name that cannot be copied (as it looks, or because it is long), or that no waiver can
 * have. */
static bool put_name(struct tg_buf *out, const struct tg_accept_waiver *w,
                     const struct tg_accept_words *words)
{
    TG_BUF visible = { 0 }, name = { 0 };
    bool many;
    tg_utf8_visible(&visible, w->name);
    if (words->visible && (!tg_sv_eq(tg_buf_sv(&visible), w->name) ||
                           memchr(w->name.p, '`', w->name.n) || w->name.n > TG_ACCEPT_NAME))
        return false;
    if (!tg_waiver_write(&name, w->name, &many))
        return false;
    TG_PUT(out, tg_esc_yaml,
           many ? "name: {}, many: true, ceiling: " : "name: {}, ceiling: ", tg_buf_sv(&name));
    tg_accept_put_ceiling(out, &w->change);
    return true;
}

static int by_finding(const void *pa, const void *pb)
{
    const struct tg_accept_waiver *a = pa, *b = pb;
    int c = TG_CMP(a->finding, b->finding);
    c = c ? c : TG_CMP(a->first, b->first); /* what the finding is about, then what follows */
    return c ? c : TG_CMP(a->order, b->order);
}

size_t tg_accept_put_list(struct tg_buf *out, struct tg_accept_list *l,
                          const struct tg_accept_words *words)
{
    size_t n, i = 0, without = 0; /* names that no item has */
    bool measured = false;
    for (size_t k = 0; k < l->n; k++)
        measured |= margin_of(tg_rule_metric_info(l->v[k].change.metric)) > 1;
    TG_SORT(l->v, l->n, by_finding);
    for (size_t items = 0; i < l->n; i += n, items++) {
        size_t most = words->visible ? TG_ACCEPT_NAMES : TG_ACCEPT_MOST;
        for (n = 1; n < most && i + n < l->n && l->v[i].finding == l->v[i + n].finding &&
                    tg_sv_eq(l->v[i].rule, l->v[i + n].rule);)
            n++;
        if (words->visible && items && (items == TG_ACCEPT_ITEMS || i + n > TG_ACCEPT_NAMES))
            break;
        /* What one finding has under one rule: one item, further names in its `with`. */
        size_t names = 0;
        for (size_t j = 0; j < n; j++) {
            TG_BUF one = { 0 };
            if (!put_name(&one, &l->v[i + j], words))
                continue;
            if (measured)
                tg_buf_puts(out, "  # ceilings of measured values are a quarter above them: runs "
                                 "differ\n");
            measured = false;
            tg_buf_puts(out, names == 0   ? "  - {rule: "
                             : names == 1 ? ", with: [\n      {"
                                          : ",\n      {");
            if (!names) {
                tg_sv rule = l->v[i].rule;
                bool plain = rule.n > 0;
                for (size_t k = 0; k < rule.n; k++)
                    plain &= tg_is_word(rule.p[k]) || rule.p[k] == '-';
                if (plain)
                    tg_buf_add(out, rule);
                else
                    tg_esc_yaml(out, rule);
                tg_buf_puts(out, ", ");
            }
            tg_buf_add(out, tg_buf_sv(&one));
            tg_buf_puts(out, names ? "}" : ", ");
            tg_buf_add(out, names ? TG_SV("") : words->rest);
            names++;
        }
        tg_buf_puts(out, names == 0 ? "" : names == 1 ? "}\n" : "]}\n");
        without += n - names;
        if (names < n && !words->visible)
            tg_buf_printf(out, "  # no waiver can have %zu of the names: empty or too long\n",
                          n - names);
    }
    return l->n - i + without;
}

size_t tg_accept_put_all(struct tg_buf *out, const struct tg_verdict *v,
                         const struct tg_result **first)
{
    const struct tg_accept_words words = {
        TG_SV("reason: '" TG_WAIVER_UNSAID "', owner: you, expires: YYYY-MM-DD"), true
    };
    TG_BUF list = { 0 };
    TG_AUTO(tg_accept_release) struct tg_accept_list w = { 0 };
    TG_FREE uint32_t *roots = tg_findings_roots(v);
    /* Findings first, then their consequences under other rules or names. */
    for (int pass = 0; pass < 3; pass++)
        for (size_t i = 0; i < v->n_results; i++) {
            const struct tg_result *r = &v->results[i], *c = r;
            bool folded = r->folded_under < v->n_results;
            if (!is_waivable(v, r) || (r->follows ? 2 : folded ? 1 : 0) != pass)
                continue;
            /* The one whose waiver covers it: itself, unless its calls are made by another's. */
            for (size_t hops = 0;
                 c->follows && c->folded_under < v->n_results && hops < v->n_results; hops++)
                c = &v->results[c->folded_under];
            tg_sv name = c->plain.n ? c->plain : c->op_normalised.n ? c->op_normalised : c->op;
            struct tg_accept_change *change =
                &tg_accept_for(&w, c->rule, name, c->metric, roots[i])->change;
            tg_accept_widen(change, r->delta, r->delta_pct);
            tg_accept_budget(change, r->ceiling, r->test);
        }
    *first = NULL;
    for (size_t i = 0; i < v->n_results && !*first; i++)
        if (is_waivable(v, &v->results[i]) && v->results[i].folded_under >= v->n_results)
            *first = &v->results[i];
    size_t left = tg_accept_put_list(&list, &w, &words);
    if (list.n) {
        if (v->preset.n)
            tg_buf_printf(out, "version: 1\nextends: ['%.*s']\n", TG_SV_ARG(v->preset));
        tg_buf_puts(out, v->waivers_there == TG_WAIVERS_LISTED ? "" : "waivers:\n");
        tg_buf_add(out, tg_buf_sv(&list));
    }
    return left;
}

bool tg_accept_covers_more(const struct tg_verdict *v)
{
    for (size_t i = 0; i < v->n_results; i++)
        if (v->results[i].follows && v->results[i].state == TG_STATE_FAIL)
            return true;
    return false;
}

void tg_accept_put_where(struct tg_buf *out, const struct tg_verdict *v,
                         void (*put_code)(struct tg_buf *out, tg_sv text))
{
    if (v->preset.n) {
        TG_PUT(out, put_code, "create {}", TG_SV(".tracegate.yml"));
        return;
    }
    if (v->waivers_there == TG_WAIVERS_ABSENT)
        tg_buf_puts(out, "add to ");
    else if (v->waivers_there == TG_WAIVERS_LISTED)
        TG_PUT(out, put_code, "add under {} in ", TG_SV("waivers:"));
    else
        TG_PUT(out, put_code, "put in place of {} in ", TG_SV("waivers: []"));
    if (v->policy_file.n || v->policy.n)
        put_code(out, v->policy_file.n ? v->policy_file : v->policy);
    else
        tg_buf_puts(out, "the policy");
}

/* The action's default is that of scripts/action-verdict. */
void tg_accept_put_hint(struct tg_buf *out, const struct tg_verdict *v)
{
    bool lost = v->baseline.situation == TG_SITUATION_LOST;
    tg_buf_add(out, v->error_hint);
    if (v->outcome == TG_OUTCOME_INCONCLUSIVE)
        tg_buf_printf(out,
                      "%sThis blocks the job (exit code %d); the GitHub action %s, unless "
                      "`on-inconclusive: %s`.",
                      out->n ? " " : "", v->exit_code, lost ? "blocks, too" : "only warns",
                      lost ? "warn" : "fail");
}

tg_sv tg_accept_next(const struct tg_verdict *v)
{
    const struct tg_result *r = tg_findings_first(v);
    return r && !tg_sv_eq(r->next, v->error_hint) ? r->next : TG_SV("");
}

void tg_accept_put_next(struct tg_buf *out, const struct tg_verdict *v, const char *accept,
                        void (*put_code)(struct tg_buf *out, tg_sv text))
{
    const struct tg_result *r = tg_findings_first(v);
    const struct tg_cause_frame *f = r && r->cause ? r->cause->function : NULL;
    TG_BUF text = { 0 }, at = { 0 };
    put_code = put_code ? put_code : tg_buf_add;
    if ((v->outcome != TG_OUTCOME_FAIL && v->outcome != TG_OUTCOME_WARN) || !r ||
        r->subject == TG_SUBJECT_REQUIRE || r->subject == TG_SUBJECT_NOTE)
        return; /* a requirement's row says itself what to do */
    if (v->outcome == TG_OUTCOME_WARN)
        tg_buf_puts(out, "A warning does not block. ");
    if (f && !r->one_rank && !r->cause->waits) {
        struct tg_origin_place look = tg_origin_look(r->cause);
        bool touched = !r->cause->change_known || r->cause->link > TG_CAUSE_LINK_FILE;
        tg_origin_put_place(&text, &look);
        if (touched) {
            TG_PUT(out, put_code, "Look at {} in {}", tg_buf_sv(&text), look.function);
        } else {
            enum { WIDTH = 40 };
            TG_BUF name = { 0 };
            tg_label_put_one(&name, tg_result_called(r), WIDTH);
            TG_PUT(out, put_code,
                   r->subject == TG_SUBJECT_TRACE
                       ? "{} grows in {} ({}), which the change does not touch"
                       : "{} runs in {} ({}), which the change does not touch",
                   tg_buf_sv(&name), look.function, tg_buf_sv(&text));
        }
        if (touched ||
            tg_origin_put_others(out, r->cause, "; look at what it does touch: ", put_code))
            tg_buf_puts(out, ". ");
        else
            tg_buf_puts(out, ": compare data, configuration and dependencies of the two sides. ");
    } else if (!r->next.n && r->subject != TG_SUBJECT_NUMBER && (!r->cause || !r->cause->stacks)) {
        TG_PUT(out, put_code,
               "Where in the program it is: record both sides with Python stacks ({}). ",
               TG_SV("with_stack=True"));
    }
    if (is_waivable(v, r)) {
        /* its own next step may say that the change is not the reason */
        tg_buf_printf(out, "%s%s", r->next.n ? "Or " : "If it is meant, ", accept);
    } else if (r->rule.n && !r->next.n) {
        tg_buf_clear(&text);
        tg_buf_printf(&text, "tracegate policy explain %.*s", TG_SV_ARG(r->rule));
        tg_result_put_at(&at, r);
        if (at.n)
            TG_PUT(out, put_code, "The limit that it exceeds is in {} ({}).", tg_buf_sv(&at),
                   tg_buf_sv(&text));
        else
            TG_PUT(out, put_code, "The limit that it exceeds is in {}.", tg_buf_sv(&text));
    }
    while (out->n && out->p[out->n - 1] == ' ')
        out->p[--out->n] = '\0';
}
