/* `tracegate policy`: a first policy, what is wrong with one, what is in force, the editor's
 * schema. */
#include "cmd/policy.h"

#include "cmd/options.h"
#include "cmd/setup/files.h"
#include "core/base/file.h"
#include "core/diff/names.h"
#include "policy/language/changes.h"

#define AT(kind, member) TG_OPT_##kind, offsetof(struct tg_policy_cmd_opts, member)
static const struct tg_opt policy_options[] = {
    { "policy", AT(STR, policy), "FILE",
      "the policy, or REV:PATH in git; default: .tracegate.yml here or above, else the built-in "
      "one" },
    { "profile", AT(STR, profile), "NAME", "use this profile of the policy" },
    { "format", AT(FORMAT, format), "text|json|markdown",
      "output format of lint and metrics; text is the default" },
    { "strict", AT(FLAG, strict), NULL,
      "lint: a warning is an error (exit 2); diff: exit 1 if anything is looser" },
    { "reason", AT(STR, reason), "TEXT", "waive: why" },
    { "owner", AT(STR, owner), "WHO", "waive: who removes it" },
    { "issue", AT(STR, issue), "URL", "waive: URL of the issue" },
    { "out", AT(STR, output), "FILE", "the file to write; default: standard output" },
    { 0 },
};

/* ---- what every verb begins and ends with ---- */

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

bool tg_policy_cmd_refused(struct tg_policy_cmd *j, struct tg_err *err)
{
    if (j->diags.n && !tg_policy_cmd_put_diags(j, err))
        j->code = 5;
    return false;
}

bool tg_policy_cmd_put(struct tg_policy_cmd *j, const struct tg_buf *out, struct tg_err *err)
{
    TG_AUTO(tg_outputs_release) struct tg_outputs file = { .standard = j->io->out };
    size_t handle;
    if (!j->o->output)
        return tg_io_put(j->io, tg_buf_sv(out), err);
    if (!tg_outputs_open(&file, j->o->output, &handle, err))
        return false;
    /* Never over what was read: a trace, a report, a policy. */
    for (size_t i = 1; i < j->args->n; i++)
        if (!tg_inputs_spare_file(j->args->v[i], &file, err))
            return false;
    return tg_inputs_spare(&j->inputs, &file, err) &&
           (!j->policy || tg_inputs_spare_policy(j->policy, &file, err)) &&
           tg_outputs_put(&file, handle, tg_buf_sv(out), err) && tg_outputs_commit(&file, err);
}

/* ---- show, metrics, schema ---- */

static bool show(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (!tg_policy_cmd_load(j, err))
        return tg_policy_cmd_refused(j, err);
    tg_policy_show(j->policy, &out);
    return tg_policy_cmd_put(j, &out, err);
}

static bool metrics(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (j->o->format == TG_FORMAT_JSON)
        tg_rule_metric_json(&out);
    else if (j->o->format == TG_FORMAT_MARKDOWN)
        tg_rule_metric_markdown(&out);
    else
        tg_rule_metric_text(&out);
    return tg_policy_cmd_put(j, &out, err);
}

static bool schema(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    tg_policy_schema(&out);
    return tg_policy_cmd_put(j, &out, err);
}

/* ---- diff ---- */

static struct tg_policy *load_side(struct tg_policy_cmd *j, const char *text, const char *profile,
                                   struct tg_err *err)
{
    const struct tg_gate_policy_opts o = {
        .path = text, .profile = profile, .profile_may_lack = true, .undated = true
    };
    return tg_gate_policy(&o, &j->diags, j->io, j->repo, j->arena, err);
}

static bool diff(struct tg_policy_cmd *j, struct tg_err *err)
{
    struct tg_policy_changes changes;
    TG_BUF out = { 0 };
    if (j->args->n != 3)
        return tg_err_usage(
            err, "policy diff compares two policies, %zu given",
            "For example: tracegate policy diff origin/main:.tracegate.yml .tracegate.yml",
            j->args->n - 1);
    struct tg_policy *before = load_side(j, j->args->v[1], j->o->profile, err);
    j->policy = before ? load_side(j, j->args->v[2], j->o->profile, err) : NULL;
    if (!j->policy) {
        tg_policy_free(before);
        return tg_policy_cmd_refused(j, err);
    }
    tg_policy_changes(&changes, before, j->policy, j->arena);
    bool ok = j->o->profile ||
              tg_gate_policy_profiles(&changes, j->args->v + 1,
                                      (const struct tg_policy *const[]){ before, j->policy },
                                      &j->diags, j->io, j->repo, j->arena, err);
    if (ok) {
        tg_policy_changes_text(&changes, &out);
        ok = tg_policy_cmd_put(j, &out, err);
    }
    tg_policy_free(before);
    j->code = ok && j->o->strict && changes.n_looser ? 1 : 0;
    return ok;
}

/* ---- lint ---- */

enum { MAX_WORKFLOW = 1 << 20 };

/* The workflows of the policy's repository, whose root it is at: where the placeholder is that
 * `init` writes if it does not know the action's place; comments do not count. */
static void lint_workflows(struct tg_policy_cmd *j)
{
    static const char used[] = "uses: " TG_SETUP_PLACEHOLDER;
    const char *file = j->policy->file.p, *slash = strrchr(file ? file : "", '/'), **paths;
    const char *pattern = tg_arena_printf(j->arena, "%.*s.github/workflows/*.yml",
                                          slash ? (int)(slash + 1 - file) : 0, file ? file : "");
    struct tg_err ignored = TG_ERR_INIT;
    size_t n;
    if (j->policy->built_in || !tg_files_glob(pattern, j->arena, &paths, &n, &ignored))
        return;
    for (size_t i = 0; i < n; i++) {
        TG_BUF text = { 0 };
        if (!tg_file_read(&text, paths[i], MAX_WORKFLOW, &ignored))
            continue;
        tg_diags_source(&j->diags, paths[i], tg_buf_sv(&text));
        struct tg_loc loc = { .file = paths[i] };
        for (tg_sv rest = tg_buf_sv(&text); rest.n;) {
            tg_sv line = tg_sv_cut(&rest, '\n');
            const char *at = memmem(line.p, line.n, used, sizeof used - 1);
            loc.line++;
            if (!at || memchr(line.p, '#', (size_t)(at - line.p)))
                continue;
            loc.col = (uint32_t)(at - line.p) + 7;
            (void)tg_diags_add(&j->diags, TG_DIAG_PLACEHOLDER, loc, sizeof TG_SETUP_PLACEHOLDER - 1,
                               "write the repository and the commit of the action",
                               "the action of this workflow is a placeholder: GitHub refuses it");
        }
    }
}

static bool lint(struct tg_policy_cmd *j, struct tg_err *err)
{
    const struct tg_strs traces = { .v = j->args->v + 1, .n = j->args->n - 1 };
    for (size_t i = 0; i < traces.n; i++) {
        tg_sv file = tg_sv_of(traces.v[i]);
        if (!tg_sv_ends(file, TG_SV(".yml")) && !tg_sv_ends(file, TG_SV(".yaml")))
            continue;
        /* `policy lint FILE` is a likely slip: what follows the verb are traces. */
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is a policy, not a trace", file.p);
        return tg_err_hint(err, "tracegate policy lint --policy %s", file.p);
    }
    bool loaded = tg_policy_cmd_load(j, err);
    if (!loaded && !j->diags.n)
        return false;
    if (loaded) {
        TG_AUTO(tg_strmap_release) struct tg_strmap names = { 0 };
        TG_BUF text = { 0 };
        struct tg_summarize_opts so = { .rank = -1, .load = { .reader = { .want_args = true } } };
        /* Which suite's traces these are is known if there is one: then its window is theirs. */
        const struct tg_suite *suite = j->policy->n_suites == 1 ? &j->policy->suites[0] : NULL;
        if (suite)
            so = tg_suite_reading(j->policy, suite);
        so.frame_sorts = TG_STACK_ALL;
        if (traces.n && (!tg_inputs_add_all(&j->inputs, &traces, j->repo, j->arena, err) ||
                         !tg_inputs_read(&j->summary, &j->inputs, &so, j->repo, j->io, err)))
            return false;
        /* Each normalised name of the traces, in order of first appearance; and whether the window
         * has steps. */
        size_t least = SIZE_MAX;
        for (size_t i = 0; i < j->summary.n; i++) {
            const struct tg_shard *s = j->summary.shards[i];
            for (size_t r = 0; r < s->n_rows + s->n_frames; r++) {
                const struct tg_row *row = r < s->n_rows ? &s->rows[r] : &s->frames[r - s->n_rows];
                tg_buf_clear(&text);
                tg_name_normalise(row->key->kind, row->key->name, &text);
                (void)tg_strmap_add(&names, tg_buf_sv(&text));
            }
            if (s->marked && s->n_steps < least)
                least = s->n_steps;
        }
        if (suite && least != SIZE_MAX)
            tg_policy_lint_window(suite, least, &j->diags);
        lint_workflows(j);
        tg_policy_lint(j->policy, names.text, names.n, &j->diags);
    }
    if (!tg_policy_cmd_put_diags(j, err)) {
        j->code = 5;
        return false;
    }
    if (loaded && j->diags.warnings && j->o->strict)
        tg_err_set(err, TG_ERR_POLICY, TG_NOWHERE, "%zu warnings, and --strict", j->diags.warnings);
    return err->kind == TG_ERR_NONE;
}

/* ---- init ---- */

static bool init(struct tg_policy_cmd *j, struct tg_err *err)
{
    struct tg_strs traces = { .v = j->args->v + 1, .n = j->args->n - 1 };
    struct tg_setup_opts o = { 0 };
    struct tg_survey survey;
    TG_BUF out = { 0 };
    tg_io_note(j->io, "policy init goes with the next release: `tracegate init` writes the policy");
    if (!traces.n)
        return tg_err_usage(
            err, "policy init needs a trace",
            "For example: tracegate policy init out/run0.json.gz -o .tracegate.yml. "
            "tracegate init looks for traces itself, and writes the workflow too.");
    if (!tg_survey_traces(&survey, &traces, j->io, j->repo, j->arena, err))
        return false;
    tg_setup_policy(&out, &survey, &o);
    return tg_inputs_add_all(&j->inputs, &traces, j->repo, j->arena, err) &&
           tg_policy_cmd_put(j, &out, err);
}

/* ---- waive ---- */

enum { MAX_REPORT = 256 << 20 };

static bool waive(struct tg_policy_cmd *j, struct tg_err *err)
{
    TG_BUF text = { 0 }, out = { 0 };
    const struct tg_strs *args = j->args;
    if (args->n < 2 || args->n > 4)
        return tg_err_usage(
            err, "policy waive needs a report, and may have a rule and a name, %zu given",
            "For example: tracegate policy waive report.json new-work aten::clone", args->n - 1);
    struct tg_policy_waive_ask ask = { .file = args->v[1],
                                       .rule = tg_sv_of(args->n > 2 ? args->v[2] : NULL),
                                       .name = tg_sv_of(args->n > 3 ? args->v[3] : NULL),
                                       .reason = tg_sv_of(j->o->reason),
                                       .owner = tg_sv_of(j->o->owner),
                                       .issue = tg_sv_of(j->o->issue),
                                       .today = tg_io_today(j->io) };
    if (!tg_file_read(&text, ask.file, MAX_REPORT, err))
        return false;
    ask.report = tg_buf_sv(&text);
    return tg_policy_waive(&out, &ask, err) && tg_policy_cmd_put(j, &out, err);
}

static const struct tg_verb policy_verbs[] = {
    { "lint", "[TRACE…]",
      "prints all mistakes of a policy at once, and warns about what loads but cannot work as "
      "intended. With traces it also names patterns that match nothing in them, and a window of "
      "the only suite that leaves no step. It warns of a workflow beside the policy whose action "
      "is still the placeholder of init.",
      "policy profile format strict" },
    { "show", "",
      "prints the effective policy with the origin of each value; without a policy file the "
      "built-in one.",
      "policy profile out" },
    { "explain", "NAME|RULE [TRACE…]",
      "prints the rules that judge a name, with their limits, noise and origin. With traces it "
      "uses the kinds and parents that the name has there, and adds the numbers: value, where "
      "each limit begins, noise, the smallest slowdown that is detected. Without traces it reads "
      "the suite's baseline. A rule's id explains that rule, with traces also what it matches. A "
      "name that neither the policy nor the traces have is an error; the short form of a report "
      "is a name.",
      "policy profile out" },
    { "diff", "OLD NEW",
      "prints what NEW allows and OLD does not (looser), the reverse (tighter), and what else "
      "changed; each is a file or REV:PATH.",
      "profile strict out" },
    { "waive", "REPORT [RULE [NAME]]",
      "prints waivers for a name that failed under a rule, and for what the name explains, with "
      "ceilings from the JSON report of check; without NAME for all that failed. NAME may be the "
      "short form of a report. They end after 90 days.",
      "reason owner issue out" },
    { "schema", "", "prints the JSON schema for editors.", "out" },
    { "metrics", "", "lists what rules can measure: unit, bad direction, bounds.", "format out" },
    { 0 },
};
static bool (*const runs[])(struct tg_policy_cmd *j, struct tg_err *err) = {
    lint, show, tg_policy_cmd_explain, diff, waive, schema, metrics, /* as in policy_verbs */
    init                                                             /* until the next release */
};

static int policy_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct tg_policy_cmd j = {
        .o = c->opts, .args = c->args, .io = c->io, .repo = c->repo, .arena = c->arena
    };
    size_t verb = sizeof policy_verbs / sizeof *policy_verbs - 1;
    tg_diags_init(&j.diags);
    tg_summary_init(&j.summary);
    bool ok = ((c->args->n && strcmp(c->args->v[0], "init") == 0) ||
               tg_options_verb(&tg_cmd_policy, c->args, &verb, err)) &&
              runs[verb](&j, err);
    tg_policy_free(j.policy);
    tg_diags_release(&j.diags);
    tg_summary_release(&j.summary);
    return ok || j.code ? j.code : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_policy = {
    .name = "policy",
    .summary = "write, check and show a policy",
    .synopsis = "ACTION [options]",
    .about =
        "What a policy says and means. `tracegate init` writes one; docs/policy.md has all keys.",
    .options = policy_options,
    .opts_size = sizeof(struct tg_policy_cmd_opts),
    .verbs = policy_verbs,
    .run = policy_run,
};
