#include "policy/language/internal.h"

#include <stdio.h>

#include "policy/language/value.h"

struct check {
    struct tg_diags *diags;
    struct tg_buf fix; /* scratch for texts of fixes */
};

static void check(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                  const char *key);

/* ---- did you mean ---- */

/* What people write when they mean a key; used only where that key is allowed. */
static const char *const synonyms[][2] = {
    { "threshold", "fail" },  { "limit", "fail" },      { "limits", "fail" },
    { "error", "fail" },      { "severity", "fail" },   { "tolerance", "fail" },
    { "warning", "warn" },    { "name", "id" },         { "description", "why" },
    { "message", "why" },     { "reason", "why" },      { "percent", "pct" },
    { "relative", "pct" },    { "absolute", "abs" },    { "delta", "abs" },
    { "maximum", "max" },     { "budget", "max" },      { "minimum", "min" },
    { "exclude", "not" },     { "except", "not" },      { "include", "match" },
    { "select", "match" },    { "filter", "match" },    { "op", "name" },
    { "pattern", "name" },    { "path", "files" },      { "glob", "files" },
    { "traces", "trace" },    { "skip", "skip_first" }, { "warmup", "skip_first" },
    { "branch", "target" },   { "commit", "ref" },      { "include", "extends" },
    { "imports", "extends" }, { "suite", "suites" },    { "rule", "rules" },
    { "until", "expires" },   { "limit", "ceiling" },   { "max", "ceiling" },
};

static const char *guess_key(const struct tg_key *keys, tg_sv typed)
{
    const char *names[64];
    size_t n = 0;
    for (; keys[n].name && n + 1 < sizeof names / sizeof *names; n++)
        names[n] = keys[n].name;
    names[n] = NULL;
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (tg_sv_eq(typed, tg_sv_of(synonyms[i][0])) &&
            tg_key_find(keys, tg_sv_of(synonyms[i][1])))
            return synonyms[i][1];
    return tg_sv_nearest(typed, names);
}

/* ---- scalars ---- */

/* A scalar has its text, any other node has none. */
static void complain(struct check *c, enum tg_diag_code code, const struct tg_yaml *n,
                     const char *fix, const char *key, const char *problem)
{
    bool said = n->text.n > 0;
    tg_yaml_mistake(c->diags, code, n, fix, "'%s' %s%s%s%s", key, problem, said ? ", not '" : "",
                    said ? n->text.p : "", said ? "'" : "");
}

static void check_word(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                       const char *key)
{
    const char *metrics[TG_RULE_METRICS + 1] = { NULL };
    bool is_metric = s->kind == TG_KEY_METRIC;
    const char *const *words = is_metric ? metrics : s->words;
    for (int i = 0; i < TG_RULE_METRICS; i++)
        metrics[i] = tg_rule_metric_info((enum tg_rule_metric)i)->name;
    if (tg_sv_index(words, n->text) >= 0)
        return;
    const char *guess = tg_diags_guess(c->diags, n->text, words);
    tg_buf_clear(&c->fix);
    tg_buf_printf(&c->fix, "%s%sallowed: ", guess ? guess : "", guess ? " " : "");
    for (size_t i = 0; words[i]; i++)
        tg_buf_printf(&c->fix, "%s%s", i ? ", " : "", words[i]);
    if (is_metric)
        tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, c->fix.p, "there is no metric '%s'", n->text.p);
    else
        tg_yaml_mistake(c->diags, TG_DIAG_WORD, n, c->fix.p, "'%s' cannot be '%s'", key, n->text.p);
}

static void check_int(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                      const char *key)
{
    int64_t v;
    char range[96];
    (void)snprintf(range, sizeof range, "a whole number from %lld to %lld", (long long)s->min,
                   (long long)s->max);
    if (!n->plain || !tg_sv_i64(n->text, &v))
        complain(c, TG_DIAG_NUMBER, n, range, key, "must be a whole number");
    else if (v < s->min || v > s->max)
        complain(c, TG_DIAG_NUMBER, n, range, key, "is out of range");
}

static bool is_name(tg_sv s, bool capitals)
{
    for (size_t i = 0; i < s.n; i++) {
        char ch = s.p[i];
        bool ok = (ch >= 'a' && ch <= 'z') || tg_is_digit(ch) || ch == '-' ||
                  (capitals && tg_is_word(ch));
        if (!ok)
            return false;
    }
    return s.n > 0;
}

static void check_length(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                         const char *key)
{
    char why[96];
    if (n->text.n >= (size_t)s->min && n->text.n <= (size_t)s->max)
        return;
    (void)snprintf(why, sizeof why, "'%.40s' is longer than %lld bytes", key, (long long)s->max);
    tg_yaml_mistake(c->diags, TG_DIAG_TEXT, n, NULL, "%s", n->text.n ? why : "the text is empty");
}

static void check_percent(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                          const char *key)
{
    bool above_zero = s->min > 0;
    double v;
    tg_sv unit;
    if (!tg_value_quantity(n->text, &v, &unit))
        complain(c, TG_DIAG_BOUND_NUMBER, n, "write it like 10%", key, "must be a percentage");
    else if (!tg_sv_eq(unit, TG_SV("%")))
        complain(c, TG_DIAG_BOUND_UNIT, n, "write it like 10%", key, "must end with %");
    else if (v < 0 || v > 10000 || (above_zero && v == 0))
        complain(c, TG_DIAG_BOUND_RANGE, n, above_zero ? "above 0%, to 10000%" : "0% to 10000%",
                 key, "is out of range");
}

static void check_scalar(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                         const char *key)
{
    int64_t days, ms;
    bool capitals = s->kind == TG_KEY_NAME;
    switch (s->kind) {
    case TG_KEY_TEXT:
    case TG_KEY_GLOB:
    case TG_KEY_PATTERN:
    case TG_KEY_REGEX:
        check_length(c, s, n, key);
        break;
    case TG_KEY_ID:
    case TG_KEY_NAME:
        if (n->text.n <= (size_t)s->max && !is_name(n->text, capitals))
            complain(c, TG_DIAG_TEXT, n,
                     capitals ? "use letters, digits, - and _" : "use a-z, 0-9 and -", key,
                     "may hold only a few characters");
        else
            check_length(c, s, n, key);
        break;
    case TG_KEY_WORD:
    case TG_KEY_METRIC:
        check_word(c, s, n, key);
        break;
    case TG_KEY_INT:
        check_int(c, s, n, key);
        break;
    case TG_KEY_VERSION:
        if (!tg_sv_eq(n->text, TG_SV("1")))
            tg_yaml_mistake(c->diags, TG_DIAG_VERSION, n, "write  version: 1",
                            "this program knows version 1 of the policy language, not '%s'",
                            n->text.p);
        break;
    case TG_KEY_WORD_OR_INT:
        if (n->text.n && tg_is_digit(n->text.p[0]))
            check_int(c, s, n, key);
        else
            check_word(c, s, n, key);
        break;
    case TG_KEY_BOOL:
        if (!n->plain || (!tg_sv_eq(n->text, TG_SV("true")) && !tg_sv_eq(n->text, TG_SV("false"))))
            complain(c, TG_DIAG_WORD, n, "write true or false", key, "must be true or false");
        break;
    case TG_KEY_PERCENT:
        check_percent(c, s, n, key);
        break;
    case TG_KEY_TIME:
        if (!tg_value_time(n->text, &ms))
            complain(c, TG_DIAG_BOUND_NUMBER, n, "write it like 90s, 5min or 1h", key,
                     "must be a time");
        break;
    case TG_KEY_DATE:
        if (!tg_value_date(n->text, &days))
            complain(c, TG_DIAG_WAIVER_EXPIRES, n, "write it like 2027-02-28", key,
                     "must be a day of the calendar");
        break;
    case TG_KEY_BOUND: /* the rest with its metric */
        if (n->text.n == 0)
            complain(c, TG_DIAG_BOUND_NUMBER, n, s->example, key, "must not be empty");
        break;
    default:
        break;
    }
}

/* ---- collections ---- */

/* Two items of a list with the same identity: the later one is the mistake. */
static void check_twice(struct check *c, const struct tg_yaml *list, const char *key,
                        enum tg_diag_code code, const char *what)
{
    for (size_t i = 1; i < list->n; i++) {
        const struct tg_yaml *id = tg_yaml_get(list->items[i], key);
        for (size_t j = 0; id && id->type == TG_YAML_SCALAR && j < i; j++) {
            const struct tg_yaml *other = tg_yaml_get(list->items[j], key);
            if (!other || other->type != TG_YAML_SCALAR || !tg_sv_eq(other->text, id->text))
                continue;
            tg_yaml_mistake(c->diags, code, id, "rename or merge one of them",
                            "%s '%s' already defined at %u:%u in this file", what, id->text.p,
                            (unsigned)other->at.line, (unsigned)other->at.col);
            break;
        }
    }
}

/* `list`: how a list is written in its place; NULL: it cannot be one. */
static void check_map(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                      const char *list)
{
    for (size_t i = 0; i < n->n; i++) {
        const struct tg_key *k = tg_key_find(s->keys, n->pairs[i].key->text);
        if (k) {
            check(c, k->shape, n->pairs[i].value, k->name);
        } else {
            const struct tg_yaml *key = n->pairs[i].key;
            const char *guess = guess_key(s->keys, key->text);
            tg_buf_clear(&c->fix);
            if (guess) {
                const struct tg_key_shape *shape = tg_key_find(s->keys, tg_sv_of(guess))->shape;
                tg_buf_printf(&c->fix, "did you mean '%s'?", guess);
                if (shape->example)
                    tg_buf_printf(&c->fix, " it is written  %s: %s", guess, shape->example);
            } else {
                tg_buf_puts(&c->fix, "known here: ");
                for (const struct tg_key *j = s->keys; j->name; j++)
                    tg_buf_printf(&c->fix, "%s%s", j == s->keys ? "" : ", ", j->name);
                if (list)
                    tg_buf_printf(&c->fix, "; a list is written  %s", list);
            }
            tg_yaml_mistake(c->diags, TG_DIAG_UNKNOWN_KEY, key, c->fix.p, "unknown key '%s' in %s",
                            key->text.p, s->what);
        }
    }
    for (const struct tg_key *k = s->keys; k->name; k++) {
        if (!(k->flags & TG_KEY_REQUIRED) || tg_yaml_pair(n, k->name))
            continue;
        tg_buf_clear(&c->fix);
        tg_buf_printf(&c->fix, "add '%s': %s", k->name, k->meaning);
        (void)tg_diags_add(c->diags, TG_DIAG_MISSING, n->at, 1, c->fix.p, "%s needs '%s'", s->what,
                           k->name);
    }
    if (n->n == 0 && s->kind == TG_KEY_MAP && s->example)
        tg_yaml_mistake(c->diags, TG_DIAG_EMPTY_LIST, n, NULL, "%s must not be empty", s->what);
}

/* `key` NULL: the whole file. */
static void check(struct check *c, const struct tg_key_shape *s, const struct tg_yaml *n,
                  const char *key)
{
    /* The type of the value decides which alternative is meant; scalars are everything else. */
    const struct tg_key_shape *one = n->type == TG_YAML_MAP   ? s->map
                                     : n->type == TG_YAML_SEQ ? s->list
                                                              : s->scalar;
    bool nothing = n->type == TG_YAML_SCALAR && n->plain && n->text.n == 0;
    enum tg_yaml_type want = s->kind == TG_KEY_MAP || s->kind == TG_KEY_MAP_OF ? TG_YAML_MAP
                             : s->kind == TG_KEY_LIST                          ? TG_YAML_SEQ
                                                                               : TG_YAML_SCALAR;
    if (s->kind != TG_KEY_CHOICE)
        one = n->type == want ? s : NULL;
    if (!one || nothing) {
        const char *what = s->what                 ? s->what
                           : want == TG_YAML_MAP   ? "a mapping"
                           : want == TG_YAML_SEQ   ? "a list"
                           : s->kind == TG_KEY_INT ? "a whole number"
                                                   : "one value";
        tg_buf_clear(&c->fix);
        if (s->example)
            tg_buf_printf(&c->fix, key ? "write  %s: %s" : "write  %s%s", key ? key : "",
                          s->example);
        tg_yaml_mistake(c->diags, TG_DIAG_TYPE, n, c->fix.n ? c->fix.p : NULL,
                        key ? "'%s' must be %s, not %s" : "%sthe file must be %s, not %s",
                        key ? key : "", what, tg_yaml_type_name(n));
    } else if (one->kind == TG_KEY_MAP)
        check_map(c, one, n, s->kind == TG_KEY_CHOICE && s->list ? s->example : NULL);
    else if (one->kind == TG_KEY_MAP_OF) {
        if (n->n < (size_t)one->min || n->n > (size_t)one->max)
            (void)tg_diags_add(c->diags, TG_DIAG_EMPTY_LIST, n->at, 1, NULL,
                               "'%s' has %zu entries, not %lld to %lld", key, n->n,
                               (long long)one->min, (long long)one->max);
        for (size_t i = 0; i < n->n; i++) {
            if (!is_name(n->pairs[i].key->text, false))
                complain(c, TG_DIAG_TEXT, n->pairs[i].key, "use a-z, 0-9 and -", key,
                         "may hold only simple names");
            check(c, one->item, n->pairs[i].value, key);
        }
    } else if (one->kind == TG_KEY_LIST) {
        if (n->n < (size_t)one->min)
            tg_yaml_mistake(c->diags, TG_DIAG_EMPTY_LIST, n, NULL, "'%s' must not be empty", key);
        if (n->n > (size_t)one->max) {
            (void)tg_diags_add(c->diags, TG_DIAG_EMPTY_LIST, n->at, 1, NULL,
                               "'%s' has %zu entries, at most %lld are allowed", key, n->n,
                               (long long)one->max);
        } else {
            for (size_t i = 0; i < n->n; i++)
                check(c, one->item, n->items[i], key);
            if (one->item == &tg_key_shape_rule)
                check_twice(c, n, "id", TG_DIAG_RULE_TWICE, "rule id");
            if (one->item == &tg_key_shape_suite)
                check_twice(c, n, "name", TG_DIAG_SUITE_TWICE, "suite");
            if (one->item == &tg_key_shape_baselines)
                check_twice(c, n, "name", TG_DIAG_BASELINE_TWICE, "baseline");
        }
    } else {
        check_scalar(c, one, n, key);
    }
}

void tg_validate_file(const struct tg_yaml *root, struct tg_diags *d)
{
    struct check c = { .diags = d };
    check(&c, &tg_key_shape_policy, root, NULL);
    tg_buf_release(&c.fix);
}
