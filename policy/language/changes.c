#include "policy/language/changes.h"

#include <stdlib.h>

#include "core/base/utf8.h"
#include "policy/language/decode.h"
#include "policy/language/node.h"
#include "policy/language/show.h"
#include "policy/language/value.h"

struct walk {
    struct tg_policy_changes *out;
    struct tg_arena *a;
    size_t cap;
};

/* ---- what each key means ---- */

/*
 * Every key of the language (keys.c) is in a row here; tests/policy/language/test_changes.c walks
 * the keys and refuses one without. What is not in the table, or not comparable by it, may be
 * looser: a change of the policy has to be looked at by a person then.
 */
enum how {
    ASIDE,   /* names, texts, sizes of reports: nothing is judged by it */
    OPEN,    /* whichever way it changes, more may pass */
    SECTION, /* a mapping: its keys say it, those of `section` */
    ITEMS,   /* a list of mappings with names: each item by its own keys */
    NUMBER,  /* `more`: what a greater one means */
    LIST,    /* one text or several; `more`: what a longer list means */
    WORDS,   /* `words`, from the loosest to the strictest; absent: the first */
    LIMITS,  /* off, a limit, or several of which one is enough; absent: off */
    SIDES,   /* up, down, both */
    DAY      /* `more`: what a later one means */
};

static const char *const yes_no[] = { "true", "false", NULL };
static const char *const off_on[] = { "off", "on", NULL };
static const char *const tests[] = { "runs", "none", NULL };
static const char *const missing[] = { "pass", "inconclusive", "fail", NULL };

/* `keys`: words with a blank between them. */
static const struct row {
    const char *in, *keys;
    enum how how;
    enum tg_direction comes, more; /* comes: what it means that the key or an item is there */
    const char *section;
    const char *const *words;
} rows[] = {
    /* What judges now has the number that `decisions` says; layers count by their effect. */
    { "policy", "version decisions extends profiles report", .how = ASIDE },
    { "policy", "suites", ITEMS, TG_TIGHTER, .section = "suites" },
    { "policy", "baseline", SECTION, TG_MAYBE_LOOSER, .section = "baseline" },
    { "policy", "baselines", ITEMS, TG_TIGHTER, .section = "baseline" },
    { "policy", "require", SECTION, TG_TIGHTER, .section = "require" },
    { "policy", "noise", SECTION, TG_MAYBE_LOOSER, .section = "noise" },
    { "policy", "aliases", LIST, TG_LOOSER, .more = TG_LOOSER },
    { "policy", "rules", ITEMS, TG_TIGHTER, .section = "rules" },
    { "policy", "waivers", ITEMS, TG_LOOSER, .section = "waivers" },
    { "policy", "fail_on", LIST, TG_MAYBE_LOOSER, .more = TG_TIGHTER },
    { "policy", "classes", OPEN, .comes = TG_MAYBE_LOOSER },

    { "suites", "name", .how = ASIDE },
    { "suites", "trace baseline", OPEN, .comes = TG_MAYBE_LOOSER },
    { "suites", "ranks", SECTION, TG_TIGHTER, .section = "ranks" },
    { "suites", "window", SECTION, TG_MAYBE_LOOSER, .section = "window" },
    { "ranks", "expect", OPEN, .comes = TG_TIGHTER },
    { "window", "by name", OPEN, .comes = TG_MAYBE_LOOSER },
    { "window", "skip_first skip_last", NUMBER, TG_LOOSER, .more = TG_LOOSER },

    { "baseline", "name", .how = ASIDE }, /* of one of `baselines` */
    { "baseline", "ref target max_walk", OPEN, .comes = TG_MAYBE_LOOSER },
    { "baseline", "on_first_run on_lost", WORDS, TG_MAYBE_LOOSER, .words = missing },
    /* What is not the same is shown, not judged. */
    { "baseline", "require_same", LIST, TG_LOOSER, .more = TG_LOOSER },

    { "require", "steps kernels", NUMBER, TG_TIGHTER, .more = TG_TIGHTER },
    { "require", "ops", LIST, TG_TIGHTER, .more = TG_TIGHTER },
    { "require", "collapse", WORDS, TG_TIGHTER, .words = off_on },
    { "require", "detectable", NUMBER, TG_TIGHTER, .more = TG_LOOSER },

    { "noise", "test", WORDS, TG_MAYBE_LOOSER, .words = tests },
    { "noise", "min_runs drift", NUMBER, TG_MAYBE_LOOSER, .more = TG_LOOSER },
    { "noise", "min_steps", NUMBER, TG_LOOSER, .more = TG_LOOSER },
    { "noise", "ignore", LIST, TG_LOOSER, .more = TG_LOOSER },

    { "rules", "id why owner", .how = ASIDE },
    { "rules", "match", SECTION, TG_MAYBE_LOOSER, .section = "match" },
    { "rules", "metric overrides", OPEN, .comes = TG_MAYBE_LOOSER },
    { "rules", "direction", SIDES, .comes = TG_MAYBE_LOOSER },
    { "rules", "warn fail", LIMITS, TG_TIGHTER, .section = "limit" },
    { "rules", "noise", SECTION, TG_MAYBE_LOOSER, .section = "noise" },
    { "rules", "exceptions", LIST, TG_LOOSER, .more = TG_LOOSER },
    { "rules", "optional", WORDS, TG_LOOSER, .words = yes_no },
    /* Absent: against `baseline` alone. */
    { "rules", "against", LIST, TG_MAYBE_LOOSER, .more = TG_TIGHTER },
    { "rules", "when", SECTION, TG_LOOSER, .section = "when" },

    /* A key more matches less. */
    { "match", "kind name raw_name class family parent device stream", LIST, TG_LOOSER,
      .more = TG_TIGHTER },
    { "match", "rank", OPEN, .comes = TG_MAYBE_LOOSER },
    { "match", "not", SECTION, TG_LOOSER, .section = "not" },
    { "not", "kind name raw_name class family parent", LIST, TG_TIGHTER, .more = TG_LOOSER },
    { "when", "event branch device", LIST, TG_LOOSER, .more = TG_TIGHTER },

    /* Every bound must be exceeded. */
    { "limit", "pct abs pp max", NUMBER, TG_LOOSER, .more = TG_LOOSER },
    { "limit", "min", NUMBER, TG_LOOSER, .more = TG_TIGHTER },

    { "waivers", "rule reason issue owner", .how = ASIDE }, /* rule and name say which it is */
    { "waivers", "name", OPEN, .comes = TG_TIGHTER },
    { "waivers", "many", WORDS, TG_LOOSER, .words = yes_no },
    { "waivers", "ceiling", SECTION, TG_MAYBE_LOOSER, .section = "limit" },
    { "waivers", "expires", DAY, TG_MAYBE_LOOSER, .more = TG_LOOSER },
    { "waivers", "when", SECTION, TG_TIGHTER, .section = "waived when" },
    { "waived when", "event branch device", LIST, TG_TIGHTER, .more = TG_LOOSER },
};

static bool has_word(const char *words, tg_sv word)
{
    tg_sv rest = tg_sv_of(words);
    while (rest.n)
        if (tg_sv_eq(tg_sv_cut(&rest, ' '), word))
            return true;
    return false;
}

static const struct row *row_of(const char *in, const char *key)
{
    static const struct row unknown = { "", "", OPEN, TG_MAYBE_LOOSER, .more = TG_MAYBE_LOOSER };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].in, in) == 0 && has_word(rows[i].keys, tg_sv_of(key)))
            return &rows[i];
    return &unknown;
}

bool tg_policy_change_is_known(const char *in, const char *key, const char **section)
{
    const struct row *r = row_of(in, key);
    *section = r->section;
    return r->in[0] != '\0';
}

/* ---- which way ---- */

static enum tg_direction opposite(enum tg_direction d)
{
    return d == TG_LOOSER ? TG_TIGHTER : d == TG_TIGHTER ? TG_LOOSER : d;
}

/* The number in the unit's base; false: not a number, or an unknown unit. */
static bool quantity(const struct tg_yaml *n, double *v, struct tg_value_unit *unit)
{
    tg_sv text;
    if (!tg_value_quantity(n->text, v, &text) || !tg_value_unit(text, unit))
        return false;
    *v *= unit->factor;
    return true;
}

static enum tg_direction of_number(const struct row *r, const struct tg_yaml *before,
                                   const struct tg_yaml *now)
{
    struct tg_value_unit ua = { 0 }, ub = { 0 };
    double a = 0, b = 0;
    if (!quantity(before, &a, &ua) || !quantity(now, &b, &ub))
        return TG_MAYBE_LOOSER;
    if (ua.unit != ub.unit && a != 0 && b != 0) /* 0 is the same in each unit */
        return TG_MAYBE_LOOSER;
    if (a == b)
        return TG_OTHERWISE; /* another spelling */
    return b > a ? r->more : opposite(r->more);
}

/* Index of the word; after the last one: another value. */
static int strictness(const struct row *r, const struct tg_yaml *n)
{
    int i = 0;
    while (n && r->words[i] &&
           !(n->type == TG_YAML_SCALAR && tg_sv_eq(n->text, tg_sv_of(r->words[i]))))
        i++;
    return i;
}

static enum tg_direction of_words(const struct row *r, const struct tg_yaml *before,
                                  const struct tg_yaml *now)
{
    int a = strictness(r, before), b = strictness(r, now);
    return a == b ? TG_MAYBE_LOOSER : b > a ? TG_TIGHTER : TG_LOOSER;
}

static enum tg_direction of_day(const struct row *r, const struct tg_yaml *before,
                                const struct tg_yaml *now)
{
    int order = tg_sv_cmp(now->text, before->text);
    return order == 0 ? TG_OTHERWISE : order > 0 ? r->more : opposite(r->more);
}

static enum tg_direction of_sides(const struct tg_yaml *before, const struct tg_yaml *now)
{
    return tg_sv_eq(now->text, TG_SV("both"))      ? TG_TIGHTER
           : tg_sv_eq(before->text, TG_SV("both")) ? TG_LOOSER
                                                   : TG_MAYBE_LOOSER;
}

/* ---- texts and lists of them ---- */

static tg_sv flow(struct walk *w, const struct tg_yaml *n)
{
    TG_BUF b = { 0 };
    tg_sv text = TG_SV("");
    if (n) {
        tg_show_flow(&b, n);
        text = tg_arena_sv(w->a, tg_buf_sv(&b));
    }
    return text;
}

/* One value is a list of one. */
static size_t length(const struct tg_yaml *n)
{
    return n->type == TG_YAML_SEQ ? n->n : 1;
}

static bool holds_all(struct walk *w, const struct tg_yaml *list, const struct tg_yaml *of)
{
    for (size_t i = 0; i < length(of); i++) {
        bool found = false;
        for (size_t k = 0; k < length(list) && !found; k++)
            found = tg_sv_eq(flow(w, tg_node_item(list, k)), flow(w, tg_node_item(of, i)));
        if (!found)
            return false;
    }
    return true;
}

static enum tg_direction of_list(struct walk *w, enum tg_direction more,
                                 const struct tg_yaml *before, const struct tg_yaml *now)
{
    bool kept = holds_all(w, now, before), known = holds_all(w, before, now);
    if (kept && known)
        return TG_OTHERWISE; /* another order */
    return kept ? more : known ? opposite(more) : TG_MAYBE_LOOSER;
}

static bool is_off(const struct tg_yaml *n)
{
    return !n || n->type == TG_YAML_SCALAR; /* a limit is a mapping, or several are a list */
}

static enum tg_direction of_limits(struct walk *w, const struct tg_yaml *before,
                                   const struct tg_yaml *now)
{
    if (is_off(before) || is_off(now))
        return is_off(before) && is_off(now) ? TG_OTHERWISE : is_off(now) ? TG_LOOSER : TG_TIGHTER;
    return of_list(w, TG_TIGHTER, before, now);
}

/* ---- the walk ---- */

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
    out->v[out->n++] = (struct tg_policy_change){ d,
                                                  tg_arena_sv(w->a, tg_sv_of(path)),
                                                  flow(w, before),
                                                  flow(w, now),
                                                  now ? now->at : before->at,
                                                  false };
    out->n_looser += d == TG_LOOSER || d == TG_MAYBE_LOOSER;
}

/* The name of an item in a list of mappings: its id or name; of a waiver, rule and name. */
static tg_sv name_of(struct walk *w, const struct tg_yaml *item)
{
    const struct tg_yaml *id = tg_yaml_get(item, "id"), *name = tg_yaml_get(item, "name");
    const struct tg_yaml *rule = tg_yaml_get(item, "rule");
    if (rule)
        return TG_SV_PRINTF(w->a, "%.*s%s%.*s", TG_SV_ARG(rule->text), name ? " " : "",
                            TG_SV_ARG(name ? name->text : TG_SV("")));
    return id ? id->text : name ? name->text : TG_SV("");
}

/* The k-th item of that name: two waivers may differ in `when` alone. */
static const struct tg_yaml *item_named(struct walk *w, const struct tg_yaml *list, tg_sv name,
                                        size_t k)
{
    for (size_t i = 0; list && i < list->n; i++)
        if (tg_sv_eq(name_of(w, list->items[i]), name) && k-- == 0)
            return list->items[i];
    return NULL;
}

static size_t names_before(struct walk *w, const struct tg_yaml *list, size_t end, tg_sv name)
{
    size_t n = 0;
    for (size_t i = 0; i < end; i++)
        n += tg_sv_eq(name_of(w, list->items[i]), name);
    return n;
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

static void compare_items(struct walk *w, const struct row *r, const char *path,
                          const struct tg_yaml *before, const struct tg_yaml *now)
{
    for (int pass = 0; pass < 2; pass++) {
        const struct tg_yaml *from = pass ? now : before;
        for (size_t i = 0; from && i < from->n; i++) {
            tg_sv name = name_of(w, from->items[i]);
            size_t k = names_before(w, from, i, name);
            const struct tg_yaml *a = item_named(w, before, name, k);
            const struct tg_yaml *b = item_named(w, now, name, k);
            const char *at = tg_arena_printf(w->a, "%s.%.*s", path, TG_SV_ARG(name));
            if (pass && a)
                continue;
            if (a && b)
                compare_maps(w, r->section, at, a, b);
            else
                add(w, b ? r->comes : opposite(r->comes), at, a, b);
        }
    }
}

static enum tg_direction direction_of(struct walk *w, const struct row *r,
                                      const struct tg_yaml *before, const struct tg_yaml *now)
{
    if (r->how == ASIDE)
        return TG_OTHERWISE;
    if (r->how == LIMITS)
        return of_limits(w, before, now);
    if ((!before || !now) && r->words == yes_no) /* false is what absent means */
        return strictness(r, before ? before : now) == 0 ? now ? TG_LOOSER : TG_TIGHTER
                                                         : TG_OTHERWISE;
    if (!before || !now)
        return now ? r->comes : opposite(r->comes);
    switch (r->how) {
    case NUMBER:
        return of_number(r, before, now);
    case LIST:
        return of_list(w, r->more, before, now);
    case WORDS:
        return of_words(r, before, now);
    case DAY:
        return of_day(r, before, now);
    case SIDES:
        return of_sides(before, now);
    default:
        return TG_MAYBE_LOOSER;
    }
}

static bool both_maps(const struct tg_yaml *a, const struct tg_yaml *b)
{
    return a && b && a->type == TG_YAML_MAP && b->type == TG_YAML_MAP;
}

/* `in`: the section that holds `key`. */
static void compare(struct walk *w, const char *in, const char *key, const char *path,
                    const struct tg_yaml *before, const struct tg_yaml *now)
{
    const struct row *r = row_of(in, key);
    if (tg_sv_eq(flow(w, before),
                 flow(w, now))) /* of a key that is absent: "", which no value is */
        return;
    if (r->how == ITEMS)
        compare_items(w, r, path, before, now);
    else if (r->section && both_maps(before, now))
        compare_maps(w, r->section, path, before, now);
    else
        add(w, direction_of(w, r, before, now), path, before, now);
}

static int by_direction(const void *pa, const void *pb)
{
    const struct tg_policy_change *a = pa, *b = pb;
    if (a->direction != b->direction)
        return a->direction < b->direction ? -1 : 1;
    if (a->elsewhere != b->elsewhere)
        return a->elsewhere ? 1 : -1;
    return tg_sv_cmp(a->path, b->path);
}

void tg_policy_changes(struct tg_policy_changes *out, const struct tg_policy *before,
                       const struct tg_policy *now, struct tg_arena *a)
{
    struct walk w = { .out = out, .a = a };
    *out = (struct tg_policy_changes){ 0 };
    compare_maps(&w, "policy", "", before->private_->tree, now->private_->tree);
    if (out->n)
        qsort(out->v, out->n, sizeof *out->v, by_direction);
}

static bool is_told(const struct tg_policy_changes *all, const struct tg_policy_change *x)
{
    for (size_t i = 0; i < all->n; i++)
        if (tg_sv_eq(all->v[i].path, x->path) && tg_sv_eq(all->v[i].before, x->before) &&
            tg_sv_eq(all->v[i].to, x->to))
            return true;
    return false;
}

void tg_policy_changes_add(struct tg_policy_changes *out, const struct tg_policy_changes *more,
                           const char *profile, struct tg_arena *a)
{
    struct tg_policy_changes all = *out;
    all.v = TG_NEW_N(a, struct tg_policy_change, out->n + more->n + 1);
    for (size_t i = 0; i < out->n; i++)
        all.v[i] = out->v[i];
    for (size_t i = 0; i < more->n; i++) {
        struct tg_policy_change x = more->v[i];
        if (is_told(out, &x))
            continue;
        if (profile)
            x.path = TG_SV_PRINTF(a, "profiles.%s.%.*s", profile, TG_SV_ARG(x.path));
        x.elsewhere = true;
        x.at.file = x.at.file ? tg_arena_sv(a, tg_sv_of(x.at.file)).p : NULL;
        all.v[all.n++] = x;
        all.n_looser += x.direction == TG_LOOSER || x.direction == TG_MAYBE_LOOSER;
    }
    qsort(all.v, all.n, sizeof *all.v, by_direction);
    *out = all;
}

void tg_policy_changes_text(const struct tg_policy_changes *c, struct tg_buf *out)
{
    static const char *const name[] = { "looser", "looser?", "tighter", "changed" };
    for (size_t i = 0; i < c->n; i++) {
        const struct tg_policy_change *x = &c->v[i];
        tg_buf_printf(out, "%-8s ", name[x->direction]);
        tg_utf8_visible(out, x->path);
        tg_buf_puts(out, ": ");
        tg_utf8_visible(out, x->before.n ? x->before : TG_SV("(absent)"));
        tg_buf_puts(out, " -> ");
        tg_utf8_visible(out, x->to.n ? x->to : TG_SV("(absent)"));
        tg_buf_puts(out, "  (");
        tg_utf8_visible(out, tg_sv_of(x->at.file));
        tg_buf_printf(out, ":%u)\n", x->at.line);
    }
    if (!c->n)
        tg_buf_puts(out, "no difference\n");
}
