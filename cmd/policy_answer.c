/* What every verb of `policy` begins and ends with: the policy in force, and where the answer
 * goes. */
#include "cmd/policy.h"
#include "core/base/file.h"

bool tg_policy_cmd_load(struct tg_policy_cmd *j, struct tg_err *err)
{
    const struct tg_gate_policy_opts o = { .path = j->o->policy,
                                           .profile = j->o->profile,
                                           .lint_refused = strcmp(j->args->v[0], "lint") == 0 };
    j->policy = tg_gate_policy(&o, &j->diags, j->io, j->repo, j->arena, err);
    return j->policy != NULL;
}

bool tg_policy_cmd_put_diags(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (j->o->format == TG_FORMAT_JSON) {
        struct tg_doc *root = tg_doc_new_object();
        tg_diags_json(&j->diags, root, "diagnostics");
        tg_doc_write(root, TG_DOC_INDENTED, &out);
        tg_doc_free(root);
    } else if (j->diags.n) {
        tg_diags_text(&j->diags, &out);
    } else {
        tg_buf_printf(&out, "%s: no mistakes found\n",
                      j->policy && j->policy->file.n ? j->policy->file.p : "built-in policy");
    }
    return tg_io_put(j->io, tg_buf_sv(&out), err);
}

int tg_policy_cmd_refused(struct tg_policy_cmd *j, struct tg_err *err)
{
    if (j->diags.n && !tg_policy_cmd_put_diags(j, err))
        return 5;
    return tg_err_exit_code(err->kind);
}

/* Never over what was read: a trace, a report, a policy. */
static bool spares_inputs(const struct tg_policy_cmd *j, const struct tg_outputs *file,
                          struct tg_err *err)
{
    for (size_t i = 1; i < j->args->n; i++)
        if (!tg_inputs_spare_file(j->args->v[i], file, err))
            return false;
    return tg_inputs_spare(&j->inputs, file, err) &&
           (!j->policy || tg_inputs_spare_policy(j->policy, file, err));
}

/* Into the file that -o names. */
static bool put_file(const struct tg_policy_cmd *j, tg_sv bytes, struct tg_err *err)
{
    TG_AUTO(tg_outputs_release) struct tg_outputs file = { .standard = j->io->out };
    size_t handle;
    return tg_outputs_open(&file, j->o->output, &handle, err) && spares_inputs(j, &file, err) &&
           tg_outputs_put(&file, handle, bytes, err) && tg_outputs_commit(&file, err);
}

int tg_policy_cmd_put(struct tg_policy_cmd *j, struct tg_buf *out, struct tg_err *err)
{
    bool ok =
        j->o->output ? put_file(j, tg_buf_sv(out), err) : tg_io_put(j->io, tg_buf_sv(out), err);
    tg_buf_release(out);
    return ok ? 0 : tg_err_exit_code(err->kind);
}
