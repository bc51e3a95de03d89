/* `policy explain NAME|RULE [TRACE…]`: which rules judge a name, with which limits. */

#include "cmd/policy.h"
#include "core/diff/names.h"
#include "policy/verdict/explain.h"
#include "reporters/label.h"

/* The traces as runs of one code, against themselves: what a check sees of them. Without traces the
 * baseline of the policy's suite, if there is one. */
static bool compare_self(struct tg_policy_cmd *j, struct tg_comparison *c, struct tg_err *err)
{
    struct tg_strs traces = { .v = j->args->v + 2, .n = j->args->n - 2 };
    struct tg_gate_runs runs = { .policy = j->policy,
                                 .args = &traces,
                                 .command = "policy explain" };
    struct tg_suites suites = { .io = j->io, .repo = j->repo, .arena = j->arena };
    struct tg_compare_opts o;
    struct tg_side side;
    suites.policy = j->policy;
    if (!tg_suites_choose(&suites, NULL, TG_SUITES_ALL, err))
        return false;
    runs.suite = suites.v[0];
    tg_gate_compare_opts(&o, j->policy, runs.suite, j->arena);
    return tg_gate_load_runs(&side, &j->summary, &runs, j->io, j->repo, j->arena, err) &&
           tg_compare(c, &side, &side, &o, j->arena, err);
}

/* Each kind that the name has in the traces, or each name that it is a short form of. */
static size_t explain_seen(struct tg_policy_cmd *j, tg_sv name, bool short_form,
                           const struct tg_comparison *c, struct tg_buf *out)
{
    size_t printed = 0;
    for (size_t i = 0; i < c->n_ops + c->n_frames; i++) {
        const struct tg_op *op = i < c->n_ops ? &c->ops[i] : &c->frames[i - c->n_ops];
        TG_BUF norm = { 0 };
        tg_name_normalise(op->kind, name, &norm);
        /* By its name, or as reports shorten it. */
        if (short_form ? !tg_label_stands_for(name, op->name) || !tg_label_is_of(name, op->parent)
                       : !tg_sv_eq(op->name, name) && !tg_sv_eq(op->name, tg_buf_sv(&norm)))
            continue;
        printed++;
        tg_buf_printf(out, "%.*s, %s%s", TG_SV_ARG(op->name), tg_kind_name(op->kind),
                      op->launched ? ", the device work launched inside" : "");
        if (op->parent.n)
            tg_buf_printf(out, ", mostly under %.*s", TG_SV_ARG(op->parent));
        tg_buf_putc(out, '\n');
        if (!tg_policy_explain_op(j->policy, op, c, out))
            tg_buf_puts(out, "  no rule judges it\n");
    }
    return printed;
}

/* Without a trace nobody knows what kind of thing a name is: explain each that a rule judges. */
static size_t explain_kinds(struct tg_policy_cmd *j, tg_sv name, struct tg_buf *out)
{
    struct tg_buf text[TG_KINDS] = { 0 };
    size_t n = 0;
    for (int k = 0; k < TG_KINDS; k++) {
        TG_BUF norm = { 0 };
        struct tg_op op = { .raw = { name, name },
                            .present = { true, true },
                            .kind = (enum tg_kind)k,
                            .class_ = tg_class_of(NULL, (enum tg_kind)k, name, NULL) };
        tg_name_normalise(op.kind, name, &norm);
        op.name = tg_buf_sv(&norm);
        (void)tg_policy_explain_op(j->policy, &op, NULL, &text[k]);
    }
    for (int k = 0; k < TG_KINDS; k++) {
        bool printed = text[k].n == 0;
        for (int i = 0; i < k; i++)
            printed |= tg_sv_eq(tg_buf_sv(&text[i]), tg_buf_sv(&text[k]));
        if (printed)
            continue;
        tg_buf_printf(out, "%.*s, if it is of kind %s", TG_SV_ARG(name),
                      tg_kind_name((enum tg_kind)k));
        for (int i = k + 1; i < TG_KINDS; i++)
            if (tg_sv_eq(tg_buf_sv(&text[i]), tg_buf_sv(&text[k])))
                tg_buf_printf(out, " or %s", tg_kind_name((enum tg_kind)i));
        tg_buf_putc(out, '\n');
        tg_buf_add(out, tg_buf_sv(&text[k]));
        n++;
    }
    for (int k = 0; k < TG_KINDS; k++)
        tg_buf_release(&text[k]);
    return n;
}

/* `seen` NULL: no names are known. */
static bool unknown_name(struct tg_policy_cmd *j, tg_sv name, const struct tg_comparison *seen,
                         struct tg_err *err)
{
    const struct tg_policy *p = j->policy;
    size_t n_ops = seen ? seen->n_ops : 0;
    const char **ids = TG_NEW_N(j->arena, const char *, p->n_rules + 1);
    const char **ops = TG_NEW_N(j->arena, const char *, n_ops + 1);
    for (size_t i = 0; i < p->n_rules; i++)
        ids[i] = tg_arena_sv(j->arena, p->rules[i].id).p;
    for (size_t i = 0; i < n_ops; i++)
        ops[i] = tg_arena_sv(j->arena, seen->ops[i].name).p;
    const char *rule = tg_sv_nearest(name, ids), *op = tg_sv_nearest(name, ops);
    const char *meant = rule ? tg_arena_printf(j->arena, "Did you mean the rule '%s'? ", rule)
                        : op ? tg_arena_printf(j->arena, "Did you mean the operator '%s'? ", op)
                             : "";
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no rule is called '%.*s'%s", TG_SV_ARG(name),
               seen ? ", and no operator or kernel of these traces" : "");
    if (seen)
        return tg_err_hint(err, "%stracegate names TRACE lists the normalised names of a trace.",
                           meant);
    return tg_err_hint(err,
                       "%sIf it is an operator, name a trace that has it: tracegate policy "
                       "explain %.*s TRACE.",
                       meant, TG_SV_ARG(name));
}

bool tg_policy_cmd_explain(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    struct tg_comparison c, *seen = NULL;
    if (j->args->n < 2)
        return tg_err_usage(err, "policy explain needs a name or a rule's id",
                            "For example: tracegate policy explain aten::mm out/run0.json.gz");
    tg_sv name = tg_sv_of(j->args->v[1]);
    if (j->args->n > 2)
        seen = &c;
    if (!tg_policy_cmd_load(j, err) || (seen && !compare_self(j, seen, err)))
        return tg_policy_cmd_refused(j, err);
    if (tg_policy_explain_rule(j->policy, name, seen, &out))
        return tg_policy_cmd_put(j, &out, err);
    /* No rule has this name. */
    TG_BUF told = { 0 };
    struct tg_comparison compared;
    struct tg_err ignored = TG_ERR_INIT;
    if (!seen && compare_self(j, &compared, &ignored))
        seen = &compared;
    /* As ids of rules are written; without a trace such a word is not taken for an operator. */
    bool is_word = true;
    for (size_t i = 0; i < name.n; i++)
        is_word &= tg_is_letter(name.p[i]) || tg_is_digit(name.p[i]) || name.p[i] == '-';
    if (seen ? !explain_seen(j, name, false, seen, &told) &&
                   !explain_seen(j, name, true, seen, &told)
             : is_word)
        return unknown_name(j, name, seen, err);
    if (!seen && !explain_kinds(j, name, &told))
        tg_buf_puts(&told, "no rule judges that name, whatever its kind\n");
    return tg_policy_cmd_put(j, &told, err);
}
