#include "policy/language/changes.h"

#include <stdlib.h>

#include "core/base/utf8.h"
#include "policy/language/decode.h"
#include "policy/language/show.h"
#include "policy/language/value.h"

struct walk {
    struct tg_policy_changes *out;
    struct tg_arena *a;
    size_t cap;
};

/* ---- which way ---- */

/* Numbers: what more of them means. `in` NULL: anywhere. */
static const struct {
    const char *in, *key;
    enum tg_direction more;
} numbers[] = {
    { "limit", "pct", TG_LOOSER },       { "limit", "abs", TG_LOOSER },
    { "limit", "pp", TG_LOOSER },        { "limit", "max", TG_LOOSER },
    { "limit", "min", TG_TIGHTER },      { "noise", "min_runs", TG_LOOSER },
    { "noise", "min_steps", TG_LOOSER }, { "noise", "drift", TG_LOOSER },
    { "require", "steps", TG_TIGHTER },  { "require", "kernels", TG_TIGHTER },
};

/* What it means if a key or an item is added; removing it means the opposite. */
static const struct {
    const char *in, *key;
    enum tg_direction comes;
} presence[] = {
    { "rules", NULL, TG_TIGHTER },  { "suites", NULL, TG_TIGHTER },
    { "waivers", NULL, TG_LOOSER }, { "require", NULL, TG_TIGHTER },
    { NULL, "fail", TG_TIGHTER },   { NULL, "warn", TG_TIGHTER },
    { "limit", NULL, TG_LOOSER }, /* every bound must be exceeded */
    { NULL, "when", TG_LOOSER },    { NULL, "optional", TG_LOOSER },
};

/* Words from the loosest to the strictest. */
static const struct {
    const char *key, *word[3];
} words[] = {
    { "fail", { "off" } },
    { "warn", { "off" } },
    { "optional", { "true", "false" } },
    { "collapse", { "false", "true" } },
    { "test", { "runs", "none" } },
    { "on_lost", { "pass", "inconclusive", "fail" } },
    { "on_first_run", { "pass", "inconclusive", "fail" } },
};

static enum tg_direction opposite(enum tg_direction d)
{
    return d == TG_LOOSER ? TG_TIGHTER : d == TG_TIGHTER ? TG_LOOSER : d;
}

static bool is(const char *want, const char *have)
{
    return !want || strcmp(want, have) == 0;
}

static enum tg_direction of_presence(const char *in, const char *key, bool came)
{
    for (size_t i = 0; i < sizeof presence / sizeof *presence; i++)
        if (is(presence[i].in, in) && is(presence[i].key, key))
            return came ? presence[i].comes : opposite(presence[i].comes);
    return TG_OTHERWISE;
}

/* The number in the unit's base; false: not a number, or an unknown unit. */
static bool quantity(const struct tg_yaml *n, double *v, struct tg_value_unit *unit)
{
    tg_sv text;
    if (n->type != TG_YAML_SCALAR || !tg_value_quantity(n->text, v, &text) ||
        !tg_value_unit(text, unit))
        return false;
    *v *= unit->factor;
    return true;
}

static enum tg_direction of_number(const char *in, const char *key, const struct tg_yaml *before,
                                   const struct tg_yaml *now)
{
    struct tg_value_unit ua, ub;
    double a, b;
    if (!quantity(before, &a, &ua) || !quantity(now, &b, &ub) || ua.unit != ub.unit ||
        ua.of_step != ub.of_step || a == b)
        return TG_OTHERWISE;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (is(numbers[i].in, in) && is(numbers[i].key, key))
            return b > a ? numbers[i].more : opposite(numbers[i].more);
    return TG_OTHERWISE;
}

/* Index of the word; 3: another value (stricter than `off`). */
static int strictness(size_t row, const struct tg_yaml *n)
{
    for (int i = 0; i < 3 && n->type == TG_YAML_SCALAR && words[row].word[i]; i++)
        if (tg_sv_eq(n->text, tg_sv_of(words[row].word[i])))
            return i;
    return 3;
}

static enum tg_direction of_words(const char *key, const struct tg_yaml *before,
                                  const struct tg_yaml *now)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        int a = strictness(i, before), b = strictness(i, now);
        if (strcmp(words[i].key, key) == 0 && a != b)
            return b > a ? TG_TIGHTER : TG_LOOSER;
    }
    return TG_OTHERWISE;
}

static bool has_text(const struct tg_yaml *list, tg_sv text)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->items[i]->type == TG_YAML_SCALAR && tg_sv_eq(list->items[i]->text, text))
            return true;
    return false;
}

static bool holds_all(const struct tg_yaml *list, const struct tg_yaml *of)
{
    for (size_t i = 0; i < of->n; i++)
        if (of->items[i]->type != TG_YAML_SCALAR || !has_text(list, of->items[i]->text))
            return false;
    return true;
}

/* Lists of texts in which more is known to be stricter (fail_on, require.ops) or laxer (ignore). */
static enum tg_direction of_list(const char *key, const struct tg_yaml *before,
                                 const struct tg_yaml *now)
{
    bool strict =
        strcmp(key, "fail_on") == 0 || strcmp(key, "ops") == 0 || strcmp(key, "require_same") == 0;
    if ((!strict && strcmp(key, "ignore") != 0) || before->type != TG_YAML_SEQ ||
        now->type != TG_YAML_SEQ || holds_all(before, now) == holds_all(now, before))
        return TG_OTHERWISE;
    /* Another environment is shown, not judged: a longer require_same judges less. */
    if (strcmp(key, "require_same") == 0)
        strict = false;
    return holds_all(now, before) == strict ? TG_TIGHTER : TG_LOOSER;
}

/* ---- the walk ---- */

static tg_sv flow(struct walk *w, const struct tg_yaml *n)
{
    struct tg_buf b = { 0 };
    tg_sv text = TG_SV("");
    if (n) {
        tg_show_flow(&b, n);
        text = tg_arena_sv(w->a, tg_buf_sv(&b));
    }
    tg_buf_release(&b);
    return text;
}

static void add(struct walk *w, enum tg_direction d, const char *path, const struct tg_yaml *before,
                const struct tg_yaml *now)
{
    struct tg_policy_changes *out = w->out;
    if (out->n == w->cap) {
        struct tg_policy_change *grown =
            TG_NEW_N(w->a, struct tg_policy_change, w->cap = 2 * w->cap + 16);
        if (out->n)
            memcpy(grown, out->v, out->n * sizeof *grown);
        out->v = grown;
    }
    out->v[out->n++] =
        (struct tg_policy_change){ d, tg_arena_sv(w->a, tg_sv_of(path)), flow(w, before),
                                   flow(w, now), now ? now->at : before->at };
    out->n_looser += d == TG_LOOSER;
}

/* The name of an item in a list of mappings: its id or name; of a waiver, rule and name. */
static tg_sv name_of(struct walk *w, const struct tg_yaml *item)
{
    const struct tg_yaml *id = tg_yaml_get(item, "id"), *name = tg_yaml_get(item, "name");
    const struct tg_yaml *rule = tg_yaml_get(item, "rule");
    if (rule)
        return tg_sv_of(tg_arena_printf(w->a, "%.*s%s%.*s", TG_SV_ARG(rule->text), name ? " " : "",
                                        TG_SV_ARG(name ? name->text : TG_SV(""))));
    return id ? id->text : name ? name->text : TG_SV("");
}

static const struct tg_yaml *item_named(struct walk *w, const struct tg_yaml *list, tg_sv name)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (tg_sv_eq(name_of(w, list->items[i]), name))
            return list->items[i];
    return NULL;
}

static bool is_named_list(struct walk *w, const struct tg_yaml *n)
{
    return n && n->type == TG_YAML_SEQ && n->n && n->items[0]->type == TG_YAML_MAP &&
           name_of(w, n->items[0]).n;
}

static void compare(struct walk *w, const char *in, const char *key, const char *path,
                    const struct tg_yaml *before, const struct tg_yaml *now);

static void compare_maps(struct walk *w, const char *in, const char *path,
                         const struct tg_yaml *before, const struct tg_yaml *now)
{
    for (int pass = 0; pass < 2; pass++) {
        const struct tg_yaml *from = pass ? now : before;
        for (size_t i = 0; i < from->n; i++) {
            const char *key = tg_arena_sv(w->a, from->pairs[i].key->text).p;
            const struct tg_yaml *a = tg_yaml_get(before, key), *b = tg_yaml_get(now, key);
            if (pass && a)
                continue; /* compared already */
            compare(w, in, key, tg_arena_printf(w->a, "%s%s%s", path, *path ? "." : "", key), a, b);
        }
    }
}

static void compare_items(struct walk *w, const char *key, const char *path,
                          const struct tg_yaml *before, const struct tg_yaml *now)
{
    for (int pass = 0; pass < 2; pass++) {
        const struct tg_yaml *from = pass ? now : before;
        for (size_t i = 0; from && i < from->n; i++) {
            tg_sv name = name_of(w, from->items[i]);
            const struct tg_yaml *a = item_named(w, before, name), *b = item_named(w, now, name);
            const char *at = tg_arena_printf(w->a, "%s.%.*s", path, TG_SV_ARG(name));
            if (pass && a)
                continue;
            if (a && b)
                compare_maps(w, "", at, a, b);
            else
                add(w, of_presence(key, "", b != NULL), at, a, b);
        }
    }
}

/* `in`: the section that holds `key`; "limit" inside fail, warn and ceiling. */
static void compare(struct walk *w, const char *in, const char *key, const char *path,
                    const struct tg_yaml *before, const struct tg_yaml *now)
{
    bool limit =
        strcmp(key, "fail") == 0 || strcmp(key, "warn") == 0 || strcmp(key, "ceiling") == 0;
    enum tg_direction d;
    if (before && now && tg_sv_eq(flow(w, before), flow(w, now)))
        return;
    if (is_named_list(w, before) || is_named_list(w, now)) {
        compare_items(w, key, path, before, now);
        return;
    }
    if (!before || !now) {
        add(w, of_presence(in, key, now != NULL), path, before, now);
        return;
    }
    if (before->type == TG_YAML_MAP && now->type == TG_YAML_MAP && strcmp(key, "match") != 0) {
        compare_maps(w, limit ? "limit" : key, path, before, now);
        return;
    }
    d = of_number(in, key, before, now);
    d = d == TG_OTHERWISE ? of_words(key, before, now) : d;
    d = d == TG_OTHERWISE ? of_list(key, before, now) : d;
    add(w, d, path, before, now);
}

static int by_direction(const void *pa, const void *pb)
{
    const struct tg_policy_change *a = pa, *b = pb;
    if (a->direction != b->direction)
        return a->direction < b->direction ? -1 : 1;
    return tg_sv_cmp(a->path, b->path);
}

void tg_policy_changes(struct tg_policy_changes *out, const struct tg_policy *before,
                       const struct tg_policy *now, struct tg_arena *a)
{
    struct walk w = { .out = out, .a = a };
    *out = (struct tg_policy_changes){ 0 };
    compare_maps(&w, "", "", before->private_->tree, now->private_->tree);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_direction);
}

void tg_policy_changes_text(const struct tg_policy_changes *c, struct tg_buf *out)
{
    static const char *const name[] = { "looser", "tighter", "changed" };
    for (size_t i = 0; i < c->n; i++) {
        const struct tg_policy_change *x = &c->v[i];
        tg_buf_printf(out, "%-8s ", name[x->direction]);
        tg_utf8_visible(out, x->path);
        tg_buf_puts(out, ": ");
        tg_utf8_visible(out, x->before.n ? x->before : TG_SV("(absent)"));
        tg_buf_puts(out, " -> ");
        tg_utf8_visible(out, x->to.n ? x->to : TG_SV("(absent)"));
        if (x->at.file) {
            tg_buf_puts(out, "  (");
            tg_utf8_visible(out, tg_sv_of(x->at.file));
            tg_buf_printf(out, ":%u)", x->at.line);
        }
        tg_buf_putc(out, '\n');
    }
    if (!c->n)
        tg_buf_puts(out, "no difference\n");
}
