/* One file in two roles: fresh and baseline, input and report. */
#include "cmd/gate/internal.h"

static bool is_same(const struct tg_input_item *fresh, const struct tg_input_item *base)
{
    if (fresh->from_git && base->from_git)
        return strcmp(fresh->blob.oid, base->blob.oid) == 0;
    if (fresh->from_git)
        return tg_git_same_bytes(&fresh->blob, base->label);
    return base->from_git ? tg_git_same_bytes(&base->blob, fresh->label)
                          : tg_file_same(fresh->label, base->label);
}

static bool is_in(const struct tg_input_item *fresh, const struct tg_input_list *base)
{
    for (size_t i = 0; i < base->n; i++)
        if (is_same(fresh, &base->v[i]))
            return true;
    return false;
}

bool tg_check_two_sides(struct tg_check *c, struct tg_check_job *j, struct tg_err *err)
{
    size_t same = 0;
    if (c->args->n && c->o->baseline.n) /* both were named: whoever does so knows */
        return true;
    for (size_t i = 0; i < j->fresh.n; i++)
        same += is_in(&j->fresh.v[i], &j->base);
    if (!same)
        return true;
    tg_err_set(err, TG_ERR_IO, TG_NOWHERE,
               "%zu of %zu fresh traces %s the baseline's own: '%s' is on both sides", same,
               j->fresh.n, same == 1 ? "is" : "are", j->fresh.v[0].label);
    return tg_err_hint(err, "A trace compared with itself shows nothing: `trace:` names what this "
                            "run recorded, `baseline:` what is committed.");
}

bool tg_check_outputs(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err)
{
    const struct tg_policy *p = c->suites.policy;
    return tg_inputs_spare(&j->fresh, &j->outputs, err) &&
           tg_inputs_spare(&j->base, &j->outputs, err) &&
           tg_inputs_spare_file(p->built_in ? "" : p->file.p, &j->outputs, err);
}
