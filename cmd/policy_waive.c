/* `policy waive`. */
#include "cmd/policy.h"

#include <math.h>

#include "core/base/doc.h"
#include "core/base/strmap.h"
#include "policy/language/value.h"
#include "reporters/accept.h"
#include "reporters/escape.h"
#include "reporters/label.h"

static tg_sv text_of(const struct tg_doc *d, const char *key)
{
    return tg_doc_str(tg_doc_get(d, key), TG_SV(""));
}

static tg_sv name_of(const struct tg_doc *r)
{
    tg_sv plain = text_of(r, "op_normalised");
    return plain.n ? plain : text_of(r, "op");
}

static enum tg_rule_metric metric_of(const struct tg_doc *r)
{
    enum tg_rule_metric m = TG_RULE_METRIC_SELF;
    (void)tg_rule_metric_from_name(text_of(r, "metric"), &m);
    return m;
}

/* As a waiver says it: of "aten::mm [rank 3]" the name, unless that is the operator's own. */
static tg_sv waived_name(const struct tg_doc *r)
{
    const tg_sv mark = TG_SV(" [rank ");
    tg_sv name = name_of(r), own = text_of(r, "op"), rank;
    size_t at = name.n;
    if (!tg_sv_ends(name, TG_SV("]")))
        return name;
    while (at && !tg_sv_starts(tg_sv_from(name, at), mark))
        at--;
    rank = tg_sv_from(name, at);
    return at && !tg_sv_ends(own, rank) ? (tg_sv){ name.p, at } : name;
}

/* Of the name that is being accepted, and of what it explains. */
struct waivers {
    struct tg_accept_list list;
    const struct tg_doc *root;
    size_t finding;
    struct tg_strmap explained; /* that name, and what it explains */
};

static void add(struct waivers *w, const struct tg_doc *r)
{
    /* Calls that the name makes are covered by its waiver, under the same rule; else one of its
     * own. Reports of before had only such as follow. */
    const struct tg_doc *follows = tg_doc_get(r, "follows");
    bool covered = tg_rule_metric_info(metric_of(r))->unit == TG_UNIT_COUNT &&
                   tg_rule_metric_info(metric_of(w->root))->unit == TG_UNIT_COUNT &&
                   tg_doc_bool(follows, !follows) &&
                   tg_sv_eq(text_of(r, "rule"), text_of(w->root, "rule"));
    const struct tg_doc *c = covered ? w->root : r;
    struct tg_accept_waiver *one =
        tg_accept_for(&w->list, text_of(c, "rule"), waived_name(c), metric_of(c), w->finding);
    tg_accept_widen(&one->change, tg_doc_num(tg_doc_get(r, "delta"), NAN),
                    tg_doc_num(tg_doc_get(r, "delta_pct"), NAN));
    tg_sv ceiling = text_of(r, "ceiling"); /* "max", "min"; "" of the change */
    tg_accept_budget(&one->change,
                     tg_sv_eq(ceiling, TG_SV("max"))   ? TG_BOUND_MAX
                     : tg_sv_eq(ceiling, TG_SV("min")) ? TG_BOUND_MIN
                                                       : TG_BOUND_PCT,
                     tg_doc_num(tg_doc_get(r, "test"), NAN));
    (void)tg_strmap_add(&w->explained, name_of(r));
}

/* An exact fact that changed (a launch, a type) has no amount that a ceiling could allow. */
static bool can_be_waived(const struct tg_doc *r)
{
    return !isnan(tg_doc_num(tg_doc_get(r, "delta"), NAN));
}

/* Each that was asked for, with what it explains; if nothing is asked for, each that nothing
 * explains. */
static bool take(struct waivers *w, const struct tg_doc *violations,
                 const struct tg_policy_waive_ask *ask)
{
    for (const struct tg_doc *r = tg_doc_first(violations); r; r = tg_doc_next(r)) {
        bool asked =
            (!ask->rule.n || tg_sv_eq(text_of(r, "rule"), ask->rule)) &&
            (ask->name.n ? tg_sv_eq(name_of(r), ask->name) || tg_sv_eq(text_of(r, "op"), ask->name)
                         : !text_of(r, "explained_by").n);
        if (!asked || !can_be_waived(r))
            continue;
        tg_strmap_release(&w->explained);
        w->root = r;
        w->finding++;
        add(w, r);
        /* Names are explained in chains: clone explains empty_like, which explains
         * empty_strided. */
        for (size_t before = 0; before < w->explained.n;) {
            before = w->explained.n;
            for (const struct tg_doc *k = tg_doc_first(violations); k; k = tg_doc_next(k))
                if (can_be_waived(k) &&
                    tg_strmap_find(&w->explained, text_of(k, "explained_by")) != TG_NO_ID)
                    add(w, k);
        }
    }
    return w->list.n > 0;
}

/* The only name of a failure that the one asked for is a short form of, as a report shows it. */
static bool find_short(struct tg_policy_waive_ask *ask, const struct tg_doc *root,
                       struct tg_err *err)
{
    const struct tg_doc *violations = tg_doc_get(root, "violations");
    const struct tg_doc *table = tg_doc_get(root, "table");
    TG_AUTO(tg_strmap_release) struct tg_strmap names = { 0 };
    for (const struct tg_doc *r = tg_doc_first(violations); r; r = tg_doc_next(r)) {
        if (!ask->name.n || !tg_label_stands_for(ask->name, name_of(r)))
            continue;
        /* The operator that mostly calls it, by the report's table; "" not known. */
        const struct tg_doc *row = tg_doc_first(table);
        while (row && !tg_sv_eq(text_of(row, "op_normalised"), name_of(r)))
            row = tg_doc_next(row);
        if (tg_label_is_of(ask->name, text_of(row, "parent")))
            (void)tg_strmap_add(&names, name_of(r));
    }
    for (const struct tg_doc *r = tg_doc_first(violations); r && names.n == 1; r = tg_doc_next(r))
        if (tg_sv_eq(name_of(r), names.text[0]))
            ask->name = name_of(r);
    if (names.n > 1) {
        tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(ask->file), "'%.*s' is short for %zu names",
                   TG_SV_ARG(ask->name), names.n);
        return tg_err_hint(err, "Give one of them whole: '%.*s', '%.*s'%s.",
                           TG_SV_ARG(names.text[0]), TG_SV_ARG(names.text[1]),
                           names.n > 2 ? ", …" : "");
    }
    return true;
}

static bool none(const struct tg_policy_waive_ask *ask, const struct tg_doc *violations,
                 struct tg_err *err)
{
    const struct tg_doc *first = tg_doc_first(violations);
    if (ask->name.n)
        tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(ask->file), "no failure of rule '%.*s' for '%.*s'",
                   TG_SV_ARG(ask->rule), TG_SV_ARG(ask->name));
    else
        tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(ask->file),
                   "no failure that a waiver could accept");
    if (!first)
        return tg_err_hint(err, "Nothing failed in this report.");
    return tg_err_hint(err, "Among those that failed is: %.*s '%.*s'.",
                       TG_SV_ARG(text_of(first, "rule")), TG_SV_ARG(name_of(first)));
}

bool tg_policy_waive(struct tg_buf *out, const struct tg_policy_waive_ask *ask, struct tg_err *err)
{
    struct tg_policy_waive_ask whole = *ask; /* its name as the report has it */
    struct waivers w = { 0 };
    TG_AUTO(tg_doc_drop) struct tg_doc *root = tg_doc_parse(ask->report, ask->file, err);
    const struct tg_doc *violations = tg_doc_get(root, "violations");
    bool ok = false;
    if (!root)
        return false;
    if (tg_doc_type(violations) != TG_DOC_ARRAY)
        ok = tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(ask->file), "it is not a report of check",
                        "tracegate check --json REPORT.json writes one.");
    else
        ok = take(&w, violations, ask) ||
             (find_short(&whole, root, err) &&
              (take(&w, violations, &whole) || none(ask, violations, err)));
    if (ok) {
        TG_BUF rest = { 0 }, list = { 0 };
        char last[16];
        TG_PUT(&rest, tg_esc_yaml, "reason: {}, owner: {}",
               ask->reason.n ? ask->reason : TG_SV(TG_WAIVER_REASON),
               ask->owner.n ? ask->owner : TG_SV(TG_WAIVER_OWNER));
        if (ask->issue.n)
            TG_PUT(&rest, tg_esc_yaml, ", issue: {}", ask->issue);
        tg_value_date_text(ask->today + TG_POLICY_WAIVE_DAYS, last);
        tg_buf_printf(&rest, ", expires: %s", last);
        ok = tg_accept_put_list(&list, &w.list,
                                &(struct tg_accept_words){ tg_buf_sv(&rest), false }) < w.list.n;
        if (!ok)
            tg_err_say(err, TG_ERR_USAGE, TG_AT_FILE(ask->file),
                       "no waiver can have the name of what failed",
                       "It is empty or longer than 64 KiB. Give the kernel or the annotation "
                       "another one, or change the limit of its rule.");
        if (ok && text_of(root, "preset").n)
            tg_buf_printf(out, "version: 1\nextends: ['%.*s']\n",
                          TG_SV_ARG(text_of(root, "preset")));
        if (ok)
            TG_PUT(out, tg_buf_add, "waivers:\n{}", tg_buf_sv(&list));
    }
    tg_strmap_release(&w.explained);
    tg_accept_release(&w.list);
    return ok;
}
