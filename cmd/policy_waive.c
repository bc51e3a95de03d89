#include "cmd/policy_waive.h"

#include <math.h>
#include <stdlib.h>

#include "core/base/doc.h"
#include "core/base/strmap.h"
#include "policy/language/value.h"
#include "reporters/escape.h"

static tg_sv text_of(const struct tg_doc *d, const char *key)
{
    return tg_doc_str(tg_doc_get(d, key), TG_SV(""));
}

static tg_sv name_of(const struct tg_doc *r)
{
    tg_sv plain = text_of(r, "op_normalised");
    return plain.n ? plain : text_of(r, "op");
}

static bool by_calls(const struct tg_doc *r)
{
    return tg_sv_eq(text_of(r, "dimension"), TG_SV("count"));
}

/* Reports of before had only such. */
static bool follows(const struct tg_doc *r)
{
    const struct tg_doc *said = tg_doc_get(r, "follows");
    return !said || tg_doc_bool(said, false);
}

/* The largest change of each rule, first the name's own. */
struct rule {
    tg_sv rule, name;
    bool calls;
    double most;
};
struct waivers {
    struct rule *v;
    size_t n, cap;
    struct tg_strmap explained; /* the name, and what it explains */
};

/* Calls that the name makes are covered by its waiver, under the same rule; else one of its own. */
static struct rule *rule_for(struct waivers *w, const struct tg_doc *r)
{
    tg_sv rule = text_of(r, "rule"), name = name_of(r);
    for (size_t i = 0; i < w->n; i++)
        if (tg_sv_eq(w->v[i].rule, rule) &&
            (tg_sv_eq(w->v[i].name, name) ||
             (i == 0 && by_calls(r) && w->v[i].calls && follows(r))))
            return &w->v[i];
    w->v = tg_grow(w->v, &w->cap, w->n + 1, sizeof *w->v);
    w->v[w->n] = (struct rule){ rule, name, by_calls(r), 0 };
    return &w->v[w->n++];
}

static void add(struct waivers *w, const struct tg_doc *r)
{
    struct rule *rule = rule_for(w, r);
    double change = tg_doc_num(tg_doc_get(r, rule->calls ? "delta" : "delta_pct"), NAN);
    if (isnan(change))
        change = 100; /* from nothing: no percentage */
    if (fabs(change) > fabs(rule->most))
        rule->most = change;
    (void)tg_strmap_add(&w->explained, name_of(r));
}

static bool take(struct waivers *w, const struct tg_doc *violations,
                 const struct tg_policy_waive_ask *ask)
{
    for (const struct tg_doc *r = tg_doc_first(violations); r; r = tg_doc_next(r))
        if (tg_sv_eq(text_of(r, "rule"), ask->rule) &&
            (tg_sv_eq(name_of(r), ask->name) || tg_sv_eq(text_of(r, "op"), ask->name)))
            add(w, r);
    return w->n > 0;
}

/* Names are explained in chains: clone explains empty_like, which explains empty_strided. */
static void take_consequences(struct waivers *w, const struct tg_doc *violations)
{
    for (size_t before = 0; before < w->explained.n;) {
        before = w->explained.n;
        for (const struct tg_doc *r = tg_doc_first(violations); r; r = tg_doc_next(r))
            if (tg_strmap_find(&w->explained, text_of(r, "explained_by")) != TG_NO_ID)
                add(w, r);
    }
}

static void put_one(struct tg_buf *out, const struct rule *r, const struct tg_policy_waive_ask *ask)
{
    char last[16];
    tg_buf_puts(out, "  - rule: ");
    tg_esc_yaml(out, r->rule);
    tg_buf_puts(out, "\n    name: ");
    tg_esc_yaml(out, r->name);
    if (r->calls)
        tg_buf_printf(out, "\n    ceiling: {abs: %.0f}", ceil(fabs(r->most)));
    else
        tg_buf_printf(out, "\n    ceiling: {pct: %.0f%%}", ceil(fabs(r->most) * 1.25));
    tg_buf_puts(out, "\n    reason: ");
    tg_esc_yaml(out, ask->reason.n ? ask->reason : TG_SV("why this is accepted"));
    tg_buf_puts(out, "\n    owner: ");
    tg_esc_yaml(out, ask->owner.n ? ask->owner : TG_SV("who removes it"));
    if (ask->issue.n) {
        tg_buf_puts(out, "\n    issue: ");
        tg_esc_yaml(out, ask->issue);
    }
    tg_value_date_text(ask->today + TG_POLICY_WAIVE_DAYS, last);
    tg_buf_printf(out, "\n    expires: %s\n", last);
}

static bool none(const struct tg_policy_waive_ask *ask, const struct tg_doc *violations,
                 struct tg_err *err)
{
    const struct tg_doc *first = tg_doc_first(violations);
    tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(ask->file), "no failure of rule '%.*s' for '%.*s'",
               TG_SV_ARG(ask->rule), TG_SV_ARG(ask->name));
    if (!first)
        return tg_err_hint(err, "Nothing failed in this report.");
    return tg_err_hint(err, "Among those that failed is: %.*s '%.*s'.",
                       TG_SV_ARG(text_of(first, "rule")), TG_SV_ARG(name_of(first)));
}

bool tg_policy_waive(struct tg_buf *out, const struct tg_policy_waive_ask *ask, struct tg_err *err)
{
    struct waivers w = { 0 };
    struct tg_doc *root = tg_doc_parse(ask->report, ask->file, err);
    const struct tg_doc *violations = tg_doc_get(root, "violations");
    bool ok = false;
    if (!root)
        return false;
    tg_strmap_init(&w.explained);
    if (tg_doc_type(violations) != TG_DOC_ARRAY) {
        tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(ask->file), "it is not a report of check");
        tg_err_hint(err, "tracegate check --json REPORT.json writes one.");
    } else if (!take(&w, violations, ask)) {
        none(ask, violations, err);
    } else {
        take_consequences(&w, violations);
        tg_buf_puts(out, "waivers:\n");
        for (size_t i = 0; i < w.n; i++)
            put_one(out, &w.v[i], ask);
        ok = true;
    }
    tg_strmap_release(&w.explained);
    free(w.v);
    tg_doc_free(root);
    return ok;
}
