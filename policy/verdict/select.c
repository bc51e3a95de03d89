#include "core/base/buckets.h"
#include "policy/verdict/internal.h"

void tg_select_children(struct tg_buckets *children, const struct tg_comparison *c)
{
    tg_buckets_init(children, c->n_ops);
    for (uint32_t i = 0; i < c->n_ops; i++)
        tg_buckets_add(children, c->ops[i].parent, i);
}

/* What a rule judges if it names no kind. */
#define DEFAULT_KINDS                                                                              \
    (1u << TG_KIND_KERNEL | 1u << TG_KIND_MEMCPY | 1u << TG_KIND_MEMSET | 1u << TG_KIND_GRAPH |    \
     1u << TG_KIND_OP | 1u << TG_KIND_SYNC)

/* Its bit, 1 << enum tg_match_family; 0: of none. */
static uint32_t family_of(tg_sv name)
{
    static const struct {
        const char *part;
        enum tg_match_family family;
    } table[] = {
        { "triton", TG_MATCH_FAMILY_TRITON },       { "flash", TG_MATCH_FAMILY_ATTENTION },
        { "attention", TG_MATCH_FAMILY_ATTENTION }, { "fmha", TG_MATCH_FAMILY_ATTENTION },
        { "attn", TG_MATCH_FAMILY_ATTENTION },      { "conv", TG_MATCH_FAMILY_CONV },
        { "gemm", TG_MATCH_FAMILY_GEMM },           { "gemv", TG_MATCH_FAMILY_GEMM },
        { "Cijk_", TG_MATCH_FAMILY_GEMM },          { "nvjet", TG_MATCH_FAMILY_GEMM },
        { "aten::mm", TG_MATCH_FAMILY_GEMM },       { "aten::addmm", TG_MATCH_FAMILY_GEMM },
        { "aten::bmm", TG_MATCH_FAMILY_GEMM },      { "aten::linear", TG_MATCH_FAMILY_GEMM },
        { "norm", TG_MATCH_FAMILY_NORM },           { "elementwise", TG_MATCH_FAMILY_ELEMENTWISE },
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (tg_sv_has(name, tg_sv_of(table[i].part)))
            return 1u << table[i].family;
    return 0;
}

static enum tg_hit raw_hit(const struct tg_patterns *list, const struct tg_op *op)
{
    enum tg_hit worst = TG_HIT_NO;
    for (int side = 0; side < 2; side++)
        if (op->present[side]) {
            enum tg_hit h = tg_patterns_test(list, op->raw[side]);
            if (h == TG_HIT_YES)
                return h;
            worst = h > worst ? h : worst;
        }
    return worst;
}

/* All given keys must hold; a regex that gave up makes the whole answer GAVE_UP. */
static enum tg_hit match_keys(const struct tg_match *m, const struct tg_op *op)
{
    enum tg_hit h = TG_HIT_YES;
    if (m->kinds && !(m->kinds & 1u << op->kind))
        return TG_HIT_NO;
    if (m->classes && !(m->classes & 1u << (unsigned)op->class_))
        return TG_HIT_NO;
    if (m->families && !(m->families & family_of(op->name)))
        return TG_HIT_NO;
    if (m->name.n && (h = tg_patterns_test(&m->name, op->name)) != TG_HIT_YES)
        return h;
    if (m->raw_name.n && (h = raw_hit(&m->raw_name, op)) != TG_HIT_YES)
        return h;
    return m->parent.n ? tg_patterns_test(&m->parent, op->parent) : TG_HIT_YES;
}

/* As match_keys, without what all keys of `not` hold for. */
static enum tg_hit match_all(const struct tg_match *m, const struct tg_op *op)
{
    enum tg_hit h = match_keys(m, op);
    if (h != TG_HIT_YES || !m->not_)
        return h;
    h = match_keys(m->not_, op);
    return h == TG_HIT_YES ? TG_HIT_NO : h == TG_HIT_NO ? TG_HIT_YES : h;
}

enum tg_hit tg_select_op(const struct tg_match *m, const struct tg_op *op)
{
    if (!m->kinds && !(DEFAULT_KINDS & 1u << op->kind))
        return TG_HIT_NO;
    return match_all(m, op);
}

bool tg_select_override(const struct tg_override *o, const struct tg_op *op)
{
    return match_all(&o->match, op) == TG_HIT_YES;
}

struct tg_rule_limits tg_select_limits(const struct tg_rule *rule, const struct tg_op *op)
{
    struct tg_rule_limits l = { rule->warn, rule->fail, &rule->noise };
    for (size_t i = 0; op && i < rule->n_overrides; i++) {
        const struct tg_override *o = &rule->overrides[i];
        if (!tg_select_override(o, op))
            continue;
        if (o->warn.state != TG_LIMIT_UNSET)
            l.warn = o->warn;
        if (o->fail.state != TG_LIMIT_UNSET)
            l.fail = o->fail;
        if (o->has_noise)
            l.noise = &o->noise;
    }
    return l;
}

static bool any_of(const struct tg_patterns *list, const char *text)
{
    return !list->n || (text && tg_patterns_test(list, tg_sv_of(text)) == TG_HIT_YES);
}

bool tg_select_rule(const struct tg_eval_state *e, const struct tg_when *when)
{
    const struct tg_shard *first = tg_side_shard(&e->in->comparison->side[TG_TEST], 0);
    tg_sv device = first ? tg_shard_env(first, "device") : TG_SV("");
    return any_of(&when->event, e->in->event) && any_of(&when->branch, e->in->branch) &&
           (!when->device.n || tg_patterns_test(&when->device, device) == TG_HIT_YES);
}
