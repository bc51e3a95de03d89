#include "policy/language/changes.h"

#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "policy/language/internal.h"
#include "policy/language/value.h"

struct walk {
    struct tg_policy_changes *out;
    struct tg_arena *a;
    size_t cap;
    bool opposite; /* TG_OPPOSITE_KEYS */
};

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

/* ---- the walk ---- */

static void add(struct walk *w, enum tg_direction d, const char *path, const struct tg_yaml *before,
                const struct tg_yaml *now)
{
    struct tg_policy_changes *out = w->out;
    if (w->opposite)
        d = opposite(d);
    *TG_ARENA_PUSH(w->a, out->v, out->n, w->cap) =
        (struct tg_policy_change){ d,
                                   tg_arena_sv(w->a, tg_sv_of(path)),
                                   flow(w, before),
                                   flow(w, now),
                                   now ? now->at : before->at,
                                   false,
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

static void compare(struct walk *w, const struct tg_key *k, const char *path,
                    const struct tg_yaml *before, const struct tg_yaml *now);

static void compare_maps(struct walk *w, const struct tg_key *keys, const char *path,
                         const struct tg_yaml *before, const struct tg_yaml *now)
{
    for (int pass = 0; pass < 2; pass++) {
        const struct tg_yaml *from = pass ? now : before;
        for (size_t i = 0; i < from->n; i++) {
            const struct tg_key *k = tg_key_find(keys, from->pairs[i].key->text);
            const struct tg_yaml *a = tg_yaml_get(before, k->name), *b = tg_yaml_get(now, k->name);
            if (pass && a)
                continue; /* compared already */
            compare(w, k, tg_arena_printf(w->a, "%s%s%s", path, *path ? "." : "", k->name), a, b);
        }
    }
}

/* `false`, and `off` in place of a limit, are what absent means. */
static bool is_set(const struct tg_key_shape *s, const struct tg_yaml *n)
{
    if (!n)
        return false;
    if (s->kind == TG_KEY_BOOL)
        return tg_sv_eq(n->text, TG_SV("true"));
    return !(s == &tg_key_shape_limits && n->type == TG_YAML_SCALAR);
}

static enum tg_direction direction_of(struct walk *w, const struct tg_key *k,
                                      const struct tg_yaml *before, const struct tg_yaml *now)
{
    bool was = is_set(k->shape, before), is = is_set(k->shape, now);
    struct tg_value_unit ua = { 0 }, ub = { 0 };
    double a = 0, b = 0;
    int order;
    if (!was || !is)
        return is ? k->on_add : was ? opposite(k->on_add) : TG_OTHERWISE;
    if (k->on_increase == TG_MAYBE_LOOSER || k->on_increase == TG_OTHERWISE)
        return k->on_increase;
    switch (k->shape->kind) {
    case TG_KEY_DATE:
        order = tg_sv_cmp(now->text, before->text);
        break;
    case TG_KEY_WORD:
        if (k->shape->words == tg_words_direction)
            return tg_sv_eq(now->text, TG_SV("both"))      ? TG_TIGHTER
                   : tg_sv_eq(before->text, TG_SV("both")) ? TG_LOOSER
                                                           : TG_MAYBE_LOOSER;
        order =
            tg_sv_index(k->shape->words, now->text) - tg_sv_index(k->shape->words, before->text);
        break;
    case TG_KEY_LIST:
    case TG_KEY_CHOICE: /* another order of the same items decides nothing */
        order = holds_all(w, now, before) - holds_all(w, before, now);
        if (!order && !holds_all(w, now, before))
            return TG_MAYBE_LOOSER;
        break;
    default:
        if (!quantity(before, &a, &ua) || !quantity(now, &b, &ub))
            return TG_MAYBE_LOOSER;
        if (ua.unit != ub.unit && a != 0 && b != 0) /* 0 is the same in each unit */
            return TG_MAYBE_LOOSER;
        order = TG_CMP(b, a); /* 0: another spelling */
    }
    return order > 0 ? k->on_increase : order < 0 ? opposite(k->on_increase) : TG_OTHERWISE;
}

static void compare(struct walk *w, const struct tg_key *k, const char *path,
                    const struct tg_yaml *before, const struct tg_yaml *now)
{
    if (tg_sv_eq(flow(w, before),
                 flow(w, now))) /* of a key that is absent: "", which no value is */
        return;
    if (k->parts == TG_BY_ITEM) {
        const struct tg_key_shape *list =
            k->shape->kind == TG_KEY_CHOICE ? k->shape->list : k->shape;
        for (int pass = 0; pass < 2; pass++) {
            const struct tg_yaml *from = pass ? now : before;
            for (size_t i = 0; from && i < from->n; i++) {
                tg_sv name = name_of(w, from->items[i]);
                size_t nth = 0;
                for (size_t j = 0; j < i; j++)
                    nth += tg_sv_eq(name_of(w, from->items[j]), name);
                const struct tg_yaml *a = item_named(w, before, name, nth);
                const struct tg_yaml *b = item_named(w, now, name, nth);
                const char *at = tg_arena_printf(w->a, "%s.%.*s", path, TG_SV_ARG(name));
                if (pass && a)
                    continue;
                if (a && b) {
                    compare_maps(w, list->item->keys, at, a, b);
                } else {
                    add(w, b ? k->on_add : opposite(k->on_add), at, a, b);
                    w->out->v[w->out->n - 1].item = true;
                }
            }
        }
    } else if (k->parts != TG_WHOLE && before && now && before->type == TG_YAML_MAP &&
               now->type == TG_YAML_MAP) {
        const struct tg_key_shape *map = k->shape->kind == TG_KEY_CHOICE ? k->shape->map : k->shape;
        bool outside = w->opposite;
        w->opposite = outside != (k->parts == TG_OPPOSITE_KEYS);
        compare_maps(w, map->keys, path, before, now);
        w->opposite = outside;
    } else {
        add(w, direction_of(w, k, before, now), path, before, now);
    }
}

static int by_direction(const void *pa, const void *pb)
{
    const struct tg_policy_change *a = pa, *b = pb;
    int c = TG_CMP(a->direction, b->direction);
    c = c ? c : TG_CMP(a->elsewhere, b->elsewhere);
    return c ? c : tg_sv_cmp(a->path, b->path);
}

void tg_policy_changes(struct tg_policy_changes *out, const struct tg_policy *before,
                       const struct tg_policy *now, struct tg_arena *a)
{
    struct walk w = { .out = out, .a = a };
    *out = (struct tg_policy_changes){ 0 };
    compare_maps(&w, tg_key_shape_policy.keys, "", before->private_->tree, now->private_->tree);
    TG_SORT(out->v, out->n, by_direction);
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
        bool known = false;
        for (const struct tg_policy_change *y = out->v; y < out->v + out->n; y++)
            known = known || (tg_sv_eq(y->path, x.path) && tg_sv_eq(y->before, x.before) &&
                              tg_sv_eq(y->to, x.to));
        if (known)
            continue;
        if (profile)
            x.path = TG_SV_PRINTF(a, "profiles.%s.%.*s", profile, TG_SV_ARG(x.path));
        x.elsewhere = true;
        x.at.file = x.at.file ? tg_arena_sv(a, tg_sv_of(x.at.file)).p : NULL;
        all.v[all.n++] = x;
        all.n_looser += x.direction == TG_LOOSER || x.direction == TG_MAYBE_LOOSER;
    }
    TG_SORT(all.v, all.n, by_direction);
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
