/* One file in two roles: fresh and baseline, input and report. */
#include "cmd/gate/internal.h"

#include <sys/stat.h>

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static bool is_same(const struct tg_input_item *fresh, const struct tg_input_item *base)
{
    if (fresh->from_git)
        return base->from_git && strcmp(fresh->blob.oid, base->blob.oid) == 0;
    return base->from_git ? tg_git_same_bytes(&base->blob, fresh->label)
                          : same_file(fresh->label, base->label);
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

static const char *overwritten(const struct tg_check *c, const struct tg_check_job *j,
                               const char *output)
{
    const struct tg_input_list *const side[] = { &j->fresh, &j->base };
    if (c->suites.policy->file.n && same_file(c->suites.policy->file.p, output))
        return c->suites.policy->file.p;
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < side[k]->n; i++)
            if (!side[k]->v[i].from_git && same_file(side[k]->v[i].label, output))
                return side[k]->v[i].label;
    return NULL;
}

bool tg_check_outputs(struct tg_check *c, const struct tg_check_job *j, struct tg_err *err)
{
    for (size_t i = 0; i < j->outputs.n; i++) {
        const struct tg_outfile *f = &j->outputs.files[i];
        const char *input = f->temporary ? overwritten(c, j, f->path) : NULL;
        if (!input)
            continue;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "a report would overwrite the input '%s'", input);
        return tg_err_hint(err, "Give the report a name of its own.");
    }
    return true;
}
