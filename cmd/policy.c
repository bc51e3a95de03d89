/* `tracegate policy`: a first policy, what is wrong with one, what is in force, the editor's
 * schema. */
#include "cmd/policy.h"

#include "cmd/gate/gate.h"
#include "cmd/options.h"
#include "cmd/setup/files.h"
#include "core/base/file.h"
#include "core/diff/names.h"
#include "policy/language/changes.h"
#include "policy/verdict/eval.h"
#include "reporters/label.h"

struct policy_opts {
    enum tg_format format;
    const char *policy, *profile, *output, *reason, *owner, *issue;
    bool strict;
};

struct job {
    const struct policy_opts *o;
    const struct tg_strs *args; /* the verb is args->v[0] */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_diags diags;
    struct tg_policy *policy;
    struct tg_repo *repo;
    struct tg_input_list inputs; /* of lint and init */
    struct tg_summary summary;
    int code; /* not 0: the exit code, whatever err says */
};

#define AT(kind, member) TG_OPT_##kind, offsetof(struct policy_opts, member)
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

/* The policy in force into j->policy; false: the mistakes are in j->diags. */
TG_MUST static bool load(struct job *j, struct tg_err *err)
{
    const struct tg_gate_policy_opts o = { .path = j->o->policy,
                                           .profile = j->o->profile,
                                           .lint_refused = strcmp(j->args->v[0], "lint") == 0 };
    j->policy = tg_gate_policy(&o, &j->diags, j->io, j->repo, j->arena, err);
    return j->policy != NULL;
}

/* The mistakes, in the form that --format asks for. */
TG_MUST static bool put_diags(struct job *j, struct tg_err *err)
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

/* A policy that is not loaded, its mistakes told: false. */
static bool refused(struct job *j, struct tg_err *err)
{
    if (j->diags.n && !put_diags(j, err))
        j->code = 5;
    return false;
}

/* The answer, into -o or standard output. */
TG_MUST static bool put(struct job *j, const struct tg_buf *out, struct tg_err *err)
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

static bool show(struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (!load(j, err))
        return refused(j, err);
    tg_policy_show(j->policy, &out);
    return put(j, &out, err);
}

static bool metrics(struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    if (j->o->format == TG_FORMAT_JSON)
        tg_rule_metric_json(&out);
    else if (j->o->format == TG_FORMAT_MARKDOWN)
        tg_rule_metric_markdown(&out);
    else
        tg_rule_metric_text(&out);
    return put(j, &out, err);
}

static bool schema(struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    tg_policy_schema(&out);
    return put(j, &out, err);
}

/* ---- diff ---- */

static struct tg_policy *load_side(struct job *j, const char *text, const char *profile,
                                   struct tg_err *err)
{
    const struct tg_gate_policy_opts o = {
        .path = text, .profile = profile, .profile_may_lack = true, .undated = true
    };
    return tg_gate_policy(&o, &j->diags, j->io, j->repo, j->arena, err);
}

static bool diff(struct job *j, struct tg_err *err)
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
        return refused(j, err);
    }
    tg_policy_changes(&changes, before, j->policy, j->arena);
    bool ok = j->o->profile ||
              tg_gate_policy_profiles(&changes, j->args->v + 1,
                                      (const struct tg_policy *const[]){ before, j->policy },
                                      &j->diags, j->io, j->repo, j->arena, err);
    if (ok) {
        tg_policy_changes_text(&changes, &out);
        ok = put(j, &out, err);
    }
    tg_policy_free(before);
    j->code = ok && j->o->strict && changes.n_looser ? 1 : 0;
    return ok;
}

/* ---- lint ---- */

enum { MAX_WORKFLOW = 1 << 20 };

/* The workflows of the policy's repository, whose root it is at: where the placeholder is that
 * `init` writes if it does not know the action's place; comments do not count. */
static void lint_workflows(struct job *j)
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

static bool lint(struct job *j, struct tg_err *err)
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
    bool loaded = load(j, err);
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
                const struct tg_row *row = &s->rows[r];
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
    if (!put_diags(j, err)) {
        j->code = 5;
        return false;
    }
    if (loaded && j->diags.warnings && j->o->strict)
        tg_err_set(err, TG_ERR_POLICY, TG_NOWHERE, "%zu warnings, and --strict", j->diags.warnings);
    return err->kind == TG_ERR_NONE;
}

/* ---- explain ---- */

/* The traces as runs of one code, against themselves: what a check sees of them. Without traces the
 * baseline of the policy's suite, if there is one. */
static bool compare_self(struct job *j, struct tg_comparison *c, struct tg_err *err)
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
static size_t explain_seen(struct job *j, tg_sv name, bool short_form,
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
static size_t explain_kinds(struct job *j, tg_sv name, struct tg_buf *out)
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
static bool unknown_name(struct job *j, tg_sv name, const struct tg_comparison *seen,
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

static bool explain(struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 };
    struct tg_comparison c, *seen = NULL;
    if (j->args->n < 2)
        return tg_err_usage(err, "policy explain needs a name or a rule's id",
                            "For example: tracegate policy explain aten::mm out/run0.json.gz");
    tg_sv name = tg_sv_of(j->args->v[1]);
    if (j->args->n > 2)
        seen = &c;
    if (!load(j, err) || (seen && !compare_self(j, seen, err)))
        return refused(j, err);
    if (tg_policy_explain_rule(j->policy, name, seen, &out))
        return put(j, &out, err);
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
    return put(j, &told, err);
}

/* ---- init ---- */

static bool init(struct job *j, struct tg_err *err)
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
    return tg_inputs_add_all(&j->inputs, &traces, j->repo, j->arena, err) && put(j, &out, err);
}

/* ---- waive ---- */

enum { MAX_REPORT = 256 << 20 };

static bool waive(struct job *j, struct tg_err *err)
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
    return tg_policy_waive(&out, &ask, err) && put(j, &out, err);
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
static bool (*const runs[])(struct job *j, struct tg_err *err) = {
    lint, show, explain, diff, waive, schema, metrics, /* as in policy_verbs */
    init                                               /* until the next release */
};

static int policy_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct job j = {
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
    .opts_size = sizeof(struct policy_opts),
    .verbs = policy_verbs,
    .run = policy_run,
};
