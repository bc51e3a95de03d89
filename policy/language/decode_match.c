#include "policy/language/internal.h"

/* An error inside a pattern is shown at its byte if the file spells the text as it is. */
struct tg_pattern *tg_decode_pattern(struct tg_decode *c, const struct tg_yaml *n, tg_sv text)
{
    char why[200];
    size_t offset = 0;
    struct tg_pattern *p;
    if (text.n > 1 && text.p[0] == '/' && text.p[text.n - 1] != '/') {
        tg_yaml_mistake(c->diags, TG_DIAG_PATTERN, n,
                        "end it with / or, for a glob, begin it with *",
                        "a regex begins and ends with /");
        return NULL;
    }
    p = tg_pattern_new(text, c->arena, why, sizeof why, &offset);
    if (p) {
        struct tg_policy_private *v = c->policy->private_;
        *TG_PUSH(v->patterns, v->n_patterns, v->cap_patterns) = p;
        return p;
    }
    if (text.n == 0 || text.n > TG_PATTERN_MAX)
        return NULL; /* its length was reported */
    struct tg_loc at = n->at;
    at.col += (uint32_t)offset + !n->plain;
    (void)tg_diags_add(c->diags, TG_DIAG_PATTERN, n->at.line == n->end_line ? at : n->at, 1, NULL,
                       "pattern '%s' does not compile: %s", text.p, why);
    return NULL;
}

struct tg_patterns tg_decode_patterns(struct tg_decode *c, const struct tg_yaml *n)
{
    size_t count = tg_node_count(n);
    struct tg_loc *at = TG_NEW_N(c->arena, struct tg_loc, count + 1);
    struct tg_patterns list = { TG_NEW_N(c->arena, struct tg_pattern *, count + 1), at, 0 };
    for (size_t i = 0; i < count; i++) {
        const struct tg_yaml *one = tg_node_item(n, i);
        struct tg_pattern *p =
            one->type == TG_YAML_SCALAR ? tg_decode_pattern(c, one, one->text) : NULL;
        if (p) {
            at[list.n] = one->at;
            list.v[list.n++] = p;
        }
    }
    return list;
}

static struct tg_ints ints_of(struct tg_decode *c, const struct tg_yaml *n)
{
    int64_t *v = TG_NEW_N(c->arena, int64_t, tg_node_count(n) + 1);
    size_t count = 0;
    for (size_t i = 0; i < tg_node_count(n); i++)
        if (tg_node_item(n, i)->type == TG_YAML_SCALAR &&
            tg_sv_i64(tg_node_item(n, i)->text, &v[count]))
            count++;
    return (struct tg_ints){ v, count };
}

struct tg_match tg_decode_match(struct tg_decode *c, const struct tg_yaml *n)
{
    struct tg_match m = { .at = TG_NOWHERE };
    if (!n || n->type != TG_YAML_MAP)
        return m;
    const struct tg_yaml *excluded = tg_yaml_get(n, "not");
    m.present = true;
    m.at = n->at;
    const struct tg_yaml *rank = tg_yaml_get(n, "rank");
    uint32_t words = tg_node_mask(tg_yaml_get(n, "kind"), tg_words_kind), mask = 0;
    for (int i = 0; tg_words_kind[i]; i++)
        mask |= words & (1u << i) ? 1u << tg_kind_of_word[i] : 0;
    m.kinds = mask;
    m.classes = tg_node_mask(tg_yaml_get(n, "class"), tg_words_class);
    m.families = tg_node_mask(tg_yaml_get(n, "family"), tg_words_family);
    m.name = tg_decode_patterns(c, tg_yaml_get(n, "name"));
    m.raw_name = tg_decode_patterns(c, tg_yaml_get(n, "raw_name"));
    m.parent = tg_decode_patterns(c, tg_yaml_get(n, "parent"));
    m.devices = ints_of(c, tg_yaml_get(n, "device"));
    m.streams = ints_of(c, tg_yaml_get(n, "stream"));
    if (rank) {
        int word = rank->type == TG_YAML_SCALAR ? tg_sv_index(tg_words_rank, rank->text) : -1;
        m.ranks = ints_of(c, rank);
        m.rank = word == 0   ? TG_MATCH_RANK_EACH
                 : word == 1 ? TG_MATCH_RANK_SLOWEST
                             : TG_MATCH_RANK_LIST;
    }
    if (excluded && excluded->type == TG_YAML_MAP) {
        struct tg_match *inner = TG_NEW(c->arena, struct tg_match);
        *inner = tg_decode_match(c, excluded);
        m.not_ = inner;
    }
    return m;
}

struct tg_when tg_decode_when(struct tg_decode *c, const struct tg_yaml *n)
{
    struct tg_when w = { .at = TG_NOWHERE };
    if (!n || n->type != TG_YAML_MAP)
        return w;
    w.present = true;
    w.at = n->at;
    w.event = tg_decode_patterns(c, tg_yaml_get(n, "event"));
    w.branch = tg_decode_patterns(c, tg_yaml_get(n, "branch"));
    w.device = tg_decode_patterns(c, tg_yaml_get(n, "device"));
    return w;
}
