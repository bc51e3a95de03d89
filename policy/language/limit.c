#include "policy/language/limit.h"

#include <math.h>
#include <stdio.h>

#include "policy/language/value.h"

static const double max_bound = 1e15; /* 11 days in ns, a petabyte; anything larger is a typing
                                         mistake */

/* With how a bound of this metric is written. */
static bool bound_problem(struct tg_diags *d, enum tg_diag_code code, const struct tg_yaml *n,
                          const struct tg_rule_metric_info *info, enum tg_bound_kind kind,
                          const char *problem)
{
    static const char *const of_unit[] = {
        [TG_UNIT_BYTES] = "it is an amount of memory: write 64KiB or 256MiB",
        [TG_UNIT_RATE] = "it is a bandwidth: write 12GB/s or 800MB/s",
        [TG_UNIT_PERCENT] = "it is a percentage: write 35%",
        [TG_UNIT_COUNT] = "it is a count: write a plain number",
        [TG_UNIT_NUMBER] = "it is in the unit of its file: write a plain number",
        [TG_UNIT_ATTR] = "launch attributes are equal or not: write  abs: 0",
        [TG_UNIT_NS] = "it is a duration: write 200us or 15ms",
    };
    const char *how = kind == TG_BOUND_PCT  ? "write it with %:  10%"
                      : kind == TG_BOUND_PP ? "write it in percentage points:  3pp"
                      : kind == TG_BOUND_ABS && info->unit == TG_UNIT_NS
                          ? "it is a duration: write 200us, 0.2ms or 0.2%step"
                          : of_unit[info->unit];
    char fix[160];
    (void)snprintf(fix, sizeof fix, "'%s': %s", info->name, how);
    return tg_yaml_mistake(d, code, n, fix, "%s: %s", problem, n->text.p);
}

/* A benchmark's number has the unit of its file: bounds of it are plain numbers. */
static bool is_plain(const struct tg_rule_metric_info *info, const struct tg_value_unit *u)
{
    return info->unit == TG_UNIT_NUMBER && u->unit == TG_UNIT_COUNT;
}

/* Does this unit fit this bound of this metric? */
static bool unit_fits(const struct tg_rule_metric_info *info, enum tg_bound_kind kind,
                      const struct tg_value_unit *u)
{
    switch (kind) {
    case TG_BOUND_PCT:
        return u->unit == TG_UNIT_PERCENT && !u->of_step && !u->is_points;
    case TG_BOUND_PP:
        return u->is_points;
    case TG_BOUND_ABS:
        if (u->of_step)
            return info->unit == TG_UNIT_NS;
        if (info->unit == TG_UNIT_ATTR)
            return u->unit == TG_UNIT_COUNT;
        return is_plain(info, u) || u->unit == info->unit;
    default:
        return is_plain(info, u) || (u->unit == info->unit && !u->of_step && !u->is_points);
    }
}

static bool bound_value(struct tg_diags *d, const struct tg_yaml *n,
                        const struct tg_rule_metric_info *info, struct tg_bound *b)
{
    struct tg_value_unit u;
    tg_sv unit;
    double number;
    b->is_auto = b->kind == TG_BOUND_PCT && tg_sv_eq(n->text, TG_SV("auto"));
    if (b->is_auto && info->unit != TG_UNIT_NS && info->unit != TG_UNIT_NUMBER)
        return bound_problem(d, TG_DIAG_BOUND_FIT, n, info, b->kind,
                             "the noise rule has a threshold for durations and numbers only");
    if (b->is_auto)
        return true;
    if (!tg_value_quantity(n->text, &number, &unit))
        return bound_problem(d, TG_DIAG_BOUND_NUMBER, n, info, b->kind, "not a number");
    if (number < 0)
        return bound_problem(d, TG_DIAG_BOUND_RANGE, n, info, b->kind,
                             "a bound has no sign, the direction is the metric's");
    bool zero_amount =
        number == 0 && unit.n == 0 && b->kind != TG_BOUND_PCT && b->kind != TG_BOUND_PP;
    if (!tg_value_unit(unit, &u))
        return bound_problem(d, TG_DIAG_BOUND_FIT, n, info, b->kind, "unknown unit");
    if (unit.n == 0 && !zero_amount && !unit_fits(info, b->kind, &u)) {
        char problem[64];
        (void)snprintf(problem, sizeof problem, "%s without unit",
                       b->kind == TG_BOUND_PCT || b->kind == TG_BOUND_PP
                           ? "percentage"
                           : tg_unit_name(info->unit));
        return bound_problem(d, TG_DIAG_BOUND_UNIT, n, info, b->kind, problem);
    }
    if (!zero_amount && !unit_fits(info, b->kind, &u))
        return bound_problem(d, TG_DIAG_BOUND_FIT, n, info, b->kind,
                             "the unit does not fit the metric");
    b->of_step = u.of_step;
    /* Whole ns, counts or bytes where they were meant: 0.1us is 100 ns, not 100.00000000000001. */
    double v = number * u.factor, whole = round(v);
    b->value = fabs(v - whole) < 1e-9 * fabs(v) ? whole : v;
    if (b->value > max_bound)
        return bound_problem(d, TG_DIAG_BOUND_RANGE, n, info, b->kind, "larger than makes sense");
    if (info->unit == TG_UNIT_ATTR && b->value != 0)
        return bound_problem(d, TG_DIAG_ATTR_LIMIT, n, info, b->kind,
                             "a launch attribute has no amount of change");
    return true;
}

static void illegal_bound(struct tg_diags *d, const struct tg_yaml *key,
                          const struct tg_yaml *value, const struct tg_rule_metric_info *info,
                          enum tg_bound_kind kind)
{
    char fix[200];
    size_t n = 0;
    double number;
    tg_sv unit;
    if (info->unit == TG_UNIT_PERCENT && kind == TG_BOUND_PCT) {
        if (!tg_value_quantity(value->text, &number, &unit)) /* a list has no text */
            number = 5;
        (void)snprintf(fix, sizeof fix, "%g%% of 20%% is %g%%; if you mean %g%%, write  pp: %gpp",
                       number, 20 * (1 + number / 100), 20 + number, number);
        tg_yaml_mistake(d, TG_DIAG_PCT_OF_PERCENT, key, fix,
                        "'pct' on '%s', which is itself a percentage", info->name);
        return;
    }
    for (int k = 0; k < TG_BOUNDS && n < sizeof fix; k++)
        if (info->bounds & TG_BOUND_BIT(k))
            n += (size_t)snprintf(fix + n, sizeof fix - n, "%s%s",
                                  n ? ", " : "it has: ", tg_bound_name((enum tg_bound_kind)k));
    tg_yaml_mistake(d, TG_DIAG_BOUND_LEGAL, key, fix, "'%s' means nothing for '%s'",
                    tg_bound_name(kind), info->name);
}

bool tg_limit_is_budget(const struct tg_limit *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->bound[i].kind != TG_BOUND_MAX && l->bound[i].kind != TG_BOUND_MIN)
            return false;
    return l->n > 0;
}

/* Limits that are on, how many of them are budgets, and in which direction they are violated. */
struct limits_on {
    size_t all, budgets;
    struct tg_directions ways;
};

static void add_limits(struct limits_on *x, const struct tg_limit_list *list, enum tg_polarity bad)
{
    for (size_t i = 0; list->state == TG_LIMIT_ON && i < list->n; i++) {
        const struct tg_limit *l = &list->v[i];
        bool budget = tg_limit_is_budget(l);
        x->all++;
        x->budgets += budget;
        x->ways.up |= (!budget && bad != TG_LESS_IS_BAD) || tg_limit_find(l, TG_BOUND_MAX);
        x->ways.down |= (!budget && bad != TG_MORE_IS_BAD) || tg_limit_find(l, TG_BOUND_MIN);
    }
}

static struct limits_on limits_of_rule(const struct tg_rule *r)
{
    struct limits_on x = { 0 };
    add_limits(&x, &r->warn, r->bad);
    add_limits(&x, &r->fail, r->bad);
    for (size_t i = 0; i < r->n_overrides; i++) {
        add_limits(&x, &r->overrides[i].warn, r->bad);
        add_limits(&x, &r->overrides[i].fail, r->bad);
    }
    return x;
}

bool tg_limit_lists_are_budgets(const struct tg_limit_list *warn, const struct tg_limit_list *fail)
{
    return tg_rule_is_budget(&(struct tg_rule){ .warn = *warn, .fail = *fail });
}

bool tg_rule_is_budget(const struct tg_rule *r)
{
    struct limits_on x = limits_of_rule(r);
    return x.all && x.budgets == x.all;
}

bool tg_rule_has_budget(const struct tg_rule *r)
{
    return limits_of_rule(r).budgets > 0;
}

struct tg_directions tg_rule_directions(const struct tg_rule *r)
{
    return limits_of_rule(r).ways;
}

const struct tg_bound *tg_limit_find(const struct tg_limit *l, enum tg_bound_kind kind)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->bound[i].kind == kind)
            return &l->bound[i];
    return NULL;
}

bool tg_limit_of(const struct tg_yaml *n, const struct tg_rule_metric_info *info,
                 struct tg_arena *a, struct tg_diags *d, struct tg_limit *out)
{
    if (n->type != TG_YAML_MAP)
        return false;
    struct tg_bound *bounds = TG_NEW_N(a, struct tg_bound, TG_BOUNDS);
    *out = (struct tg_limit){ bounds, 0, n->at };
    for (int k = 0; k < TG_BOUNDS; k++) {
        enum tg_bound_kind kind = (enum tg_bound_kind)k;
        const struct tg_yaml_pair *p = tg_yaml_pair(n, tg_bound_name(kind));
        struct tg_bound b = { .kind = kind };
        if (!p)
            continue;
        if (!(info->bounds & TG_BOUND_BIT(kind))) {
            illegal_bound(d, p->key, p->value, info, kind);
            continue;
        }
        if (p->value->text.n == 0) /* no scalar, or an empty one: its shape was refused */
            continue;
        b.text = p->value->text;
        b.at = p->value->at;
        if (bound_value(d, p->value, info, &b))
            bounds[out->n++] = b;
    }
    /* Checks the bounds of one limit together. */
    const struct tg_bound *max = tg_limit_find(out, TG_BOUND_MAX),
                          *min = tg_limit_find(out, TG_BOUND_MIN);
    if (max && min && max->value >= min->value)
        tg_yaml_mistake(d, TG_DIAG_NEVER, n, "write a list:  [{max: ...}, {min: ...}]",
                        "nothing is above 'max' and below 'min' at once");
    if (tg_rule_metric_from_zero(info) && !tg_yaml_get(n, "abs") && !tg_yaml_get(n, "max"))
        tg_yaml_mistake(d, TG_DIAG_NEEDS_ABS, n, "write  abs: 20us  or  abs: 0",
                        "'abs' is required for metric '%s' (its baseline is 0)", info->name);
    return out->n > 0;
}

struct tg_limit_list tg_limit_list_of(const struct tg_yaml *n,
                                      const struct tg_rule_metric_info *info, struct tg_arena *a,
                                      struct tg_diags *d)
{
    struct tg_limit_list list = { .at = TG_NOWHERE };
    if (!n)
        return list;
    list.at = n->at;
    if (n->type == TG_YAML_SCALAR) {
        list.state = TG_LIMIT_OFF;
        return list;
    }
    size_t count = n->type == TG_YAML_SEQ ? n->n : 1;
    struct tg_limit *v = TG_NEW_N(a, struct tg_limit, count + 1);
    for (size_t i = 0; info && i < count; i++)
        if (tg_limit_of(n->type == TG_YAML_SEQ ? n->items[i] : n, info, a, d, &v[list.n]))
            list.n++;
    list.v = v;
    list.state = TG_LIMIT_ON;
    return list;
}
