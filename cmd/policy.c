/* `tracegate policy`: a first policy, what is wrong with one, what is in force, the editor's
 * schema. */
#include <stddef.h>
#include <stdlib.h>

#include "cmd/gate/runs.h"
#include "cmd/policy_waive.h"
#include "cmd/setup/files.h"
#include "core/base/file.h"
#include "core/diff/names.h"
#include "policy/language/changes.h"
#include "policy/verdict/explain.h"

struct policy_opts {
    enum tg_format format;
    const char *policy, *profile, *output, *reason, *owner, *issue;
    bool strict;
};
static const struct tg_opt policy_options[] = {
    { "policy", TG_OPT_STR, offsetof(struct policy_opts, policy), "FILE",
      "the policy, or REV:PATH in git; default: .tracegate.yml here or above, else the built-in "
      "one" },
    { "profile", TG_OPT_STR, offsetof(struct policy_opts, profile), "NAME", "with this profile" },
    { "format", TG_OPT_FORMAT, offsetof(struct policy_opts, format), "text|json|markdown",
      "form of what lint finds and of metrics; text is the default" },
    { "strict", TG_OPT_FLAG, offsetof(struct policy_opts, strict), NULL,
      "lint: a warning is an error (exit 2); diff: exit 1 if anything is looser" },
    { "reason", TG_OPT_STR, offsetof(struct policy_opts, reason), "TEXT", "waive: why" },
    { "owner", TG_OPT_STR, offsetof(struct policy_opts, owner), "WHO", "waive: who removes it" },
    { "issue", TG_OPT_STR, offsetof(struct policy_opts, issue), "URL", "waive: where it is told" },
    { "o", TG_OPT_STR, offsetof(struct policy_opts, output), "FILE",
      "init: where the policy goes; default: standard output" },
    { 0 },
};

struct job {
    const struct policy_opts *o;
    const struct tg_strs *args; /* the verb is args->v[0] */
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_diags diags;
    struct tg_policy *policy;
    struct tg_repo repo;
    struct tg_input_list inputs; /* of lint and init */
    struct tg_summary summary;
};

static bool load(struct job *j, struct tg_err *err)
{
    const struct tg_gate_policy_opts o = { .path = j->o->policy,
                                           .profile = j->o->profile,
                                           .lint_refused = strcmp(j->args->v[0], "lint") == 0 };
    j->policy = tg_gate_policy(&o, &j->diags, j->io, &j->repo, j->arena, err);
    return j->policy != NULL;
}

static bool put_diags(struct job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    bool ok;
    if (j->o->format == TG_FORMAT_JSON) {
        struct tg_doc *root = tg_doc_new_object();
        tg_diags_json(&j->diags, root, "diagnostics");
        tg_doc_write(root, true, &out);
        tg_doc_free(root);
    } else if (j->diags.n) {
        tg_diags_text(&j->diags, &out);
    } else {
        tg_buf_printf(&out, "%s: no mistakes found\n",
                      j->policy && j->policy->file.n ? j->policy->file.p : "built-in policy");
    }
    ok = tg_io_put(j->io, tg_buf_sv(&out), err);
    tg_buf_release(&out);
    return ok;
}

/* Into the file that -o names, and never over a trace. */
static bool put_file(const struct job *j, tg_sv bytes, struct tg_err *err)
{
    struct tg_outputs file = { 0 };
    size_t handle;
    bool ok = tg_outputs_open(&file, j->o->output, &handle, err) &&
              tg_inputs_spare(&j->inputs, &file, err) &&
              tg_outputs_put(&file, handle, bytes, err) && tg_outputs_commit(&file, err);
    tg_outputs_release(&file);
    return ok;
}

static int put(struct job *j, struct tg_buf *out, struct tg_err *err)
{
    bool ok =
        j->o->output ? put_file(j, tg_buf_sv(out), err) : tg_io_put(j->io, tg_buf_sv(out), err);
    tg_buf_release(out);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

static int show(struct job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    if (!load(j, err)) {
        if (j->diags.n && !put_diags(j, err))
            return 5;
        return tg_err_exit_code(err->kind);
    }
    tg_policy_show(j->policy, &out);
    return put(j, &out, err);
}

static int metrics(struct job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    if (j->o->format == TG_FORMAT_JSON)
        tg_metric_json(&out);
    else if (j->o->format == TG_FORMAT_MARKDOWN)
        tg_metric_markdown(&out);
    else
        tg_metric_text(&out);
    return put(j, &out, err);
}

/* ---- traces, for their names ---- */

/* Which suite's traces these are is known if there is one: then its window is theirs. */
static const struct tg_suite *only_suite(const struct job *j)
{
    return j->policy && j->policy->n_suites == 1 ? &j->policy->suites[0] : NULL;
}

static bool read_traces(struct job *j, size_t from, struct tg_err *err)
{
    const struct tg_suite *suite = only_suite(j);
    struct tg_summarize_opts so = { .rank = -1, .load = { .reader = { .want_args = true } } };
    struct tg_progress_line progress;
    bool ok = true;
    if (suite)
        so = tg_suite_reading(j->policy, suite);
    so.frame_sorts = TG_STACK_ALL;
    for (size_t i = from; ok && i < j->args->n; i++)
        ok = tg_inputs_add(&j->inputs, j->args->v[i], NULL, &j->repo, j->arena, err);
    tg_progress_start(&progress, j->io);
    ok = ok && tg_inputs_load(&j->summary, &j->inputs, &so, &j->repo, &progress.line, err);
    tg_progress_end(&progress);
    return ok;
}

/* ---- explain and diff ---- */

/* The traces as runs of one code, against themselves: what a check sees of them. Without traces the
 * baseline of the policy's suite, if there is one. */
static bool compare_self(struct job *j, struct tg_comparison *c, struct tg_err *err)
{
    struct tg_strs traces = { .v = j->args->v + 2, .n = j->args->n - 2 };
    struct tg_gate_runs runs = { .policy = j->policy,
                                 .args = &traces,
                                 .command = "policy explain" };
    struct tg_suites suites = { .io = j->io, .repo = &j->repo, .arena = j->arena };
    struct tg_compare_opts o;
    struct tg_side side;
    suites.policy = j->policy;
    if (!tg_suites_choose(&suites, NULL, TG_SUITES_ALL, err))
        return false;
    runs.suite = suites.v[0];
    tg_gate_compare_opts(&o, j->policy, runs.suite, j->arena);
    return tg_gate_load_runs(&side, &j->summary, &runs, j->io, &j->repo, j->arena, err) &&
           tg_compare(c, &side, &side, &o, j->arena, err);
}

static bool is_called(const struct tg_op *op, tg_sv name)
{
    struct tg_buf norm = { 0 };
    bool yes;
    tg_name_normalise(op->kind, name, &norm);
    yes = tg_sv_eq(op->name, name) || tg_sv_eq(op->name, tg_buf_sv(&norm));
    tg_buf_release(&norm);
    return yes;
}

/* Each kind that the name has in the traces. */
static size_t explain_seen(struct job *j, tg_sv name, const struct tg_comparison *c,
                           struct tg_buf *out)
{
    size_t told = 0;
    for (size_t i = 0; i < c->n_ops + c->n_frames; i++) {
        const struct tg_op *op = i < c->n_ops ? &c->ops[i] : &c->frames[i - c->n_ops];
        if (!is_called(op, name))
            continue;
        told++;
        tg_buf_printf(out, "%.*s, %s%s", TG_SV_ARG(op->name), tg_kind_name(op->kind),
                      op->launched ? ", the device work launched inside" : "");
        if (op->parent.n)
            tg_buf_printf(out, ", mostly under %.*s", TG_SV_ARG(op->parent));
        tg_buf_putc(out, '\n');
        if (!tg_policy_explain_op(j->policy, op, c, out))
            tg_buf_puts(out, "  no rule judges it\n");
    }
    return told;
}

/* Without a trace nobody knows what kind of thing a name is: each that a rule judges is told. */
static size_t explain_kinds(struct job *j, tg_sv name, struct tg_buf *out)
{
    struct tg_buf text[TG_KINDS] = { 0 };
    size_t n = 0;
    for (int k = 0; k < TG_KINDS; k++) {
        struct tg_buf norm = { 0 };
        struct tg_op op = { .raw = { name, name },
                            .present = { true, true },
                            .kind = (enum tg_kind)k,
                            .class_ = tg_class_of(NULL, (enum tg_kind)k, name, NULL) };
        tg_name_normalise(op.kind, name, &norm);
        op.name = tg_buf_sv(&norm);
        (void)tg_policy_explain_op(j->policy, &op, NULL, &text[k]);
        tg_buf_release(&norm);
    }
    for (int k = 0; k < TG_KINDS; k++) {
        bool told = text[k].n == 0;
        for (int i = 0; i < k; i++)
            told |= tg_sv_eq(tg_buf_sv(&text[i]), tg_buf_sv(&text[k]));
        if (told)
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

static const char *nearest_rule(const struct job *j, tg_sv name)
{
    const struct tg_policy *p = j->policy;
    const char **ids = TG_NEW_N(j->arena, const char *, p->n_rules + 1);
    for (size_t i = 0; i < p->n_rules; i++)
        ids[i] = tg_arena_sv(j->arena, p->rules[i].id).p;
    return tg_sv_nearest(name, ids);
}

static const char *nearest_op(const struct job *j, tg_sv name, const struct tg_comparison *c)
{
    const char **names = TG_NEW_N(j->arena, const char *, c->n_ops + 1);
    for (size_t i = 0; i < c->n_ops; i++)
        names[i] = tg_arena_sv(j->arena, c->ops[i].name).p;
    return tg_sv_nearest(name, names);
}

/* `seen` NULL: no names are known. */
static int unknown_name(struct job *j, tg_sv name, const struct tg_comparison *seen,
                        struct tg_err *err)
{
    const char *rule = nearest_rule(j, name), *op = seen ? nearest_op(j, name, seen) : NULL;
    const char *meant = rule ? tg_arena_printf(j->arena, "Did you mean the rule '%s'? ", rule)
                        : op ? tg_arena_printf(j->arena, "Did you mean the operator '%s'? ", op)
                             : "";
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "no rule is called '%.*s'%s", TG_SV_ARG(name),
               seen ? ", and no operator or kernel of these traces" : "");
    if (seen)
        (void)tg_err_hint(err, "%stracegate names TRACE lists the normalised names of a trace.",
                          meant);
    else
        (void)tg_err_hint(err,
                          "%sIf it is an operator, name a trace that has it: tracegate policy "
                          "explain %.*s TRACE.",
                          meant, TG_SV_ARG(name));
    return 2;
}

/* As ids of rules are written; without a trace such a word is not taken for an operator. */
static bool is_word(tg_sv name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        if (!letter && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return true;
}

/* No rule has this name. */
static int explain_name(struct job *j, tg_sv name, struct tg_comparison *seen, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    struct tg_comparison c;
    struct tg_err ignored;
    tg_err_init(&ignored);
    if (!seen && compare_self(j, &c, &ignored))
        seen = &c;
    if (seen ? !explain_seen(j, name, seen, &out) : is_word(name)) {
        tg_buf_release(&out);
        return unknown_name(j, name, seen, err);
    }
    if (!seen && !explain_kinds(j, name, &out))
        tg_buf_puts(&out, "no rule judges that name, whatever its kind\n");
    return put(j, &out, err);
}

static int explain(struct job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    struct tg_comparison c, *seen = NULL;
    tg_sv name;
    if (j->args->n < 2) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "policy explain needs a name or a rule's id");
        (void)tg_err_hint(err, "For example: tracegate policy explain aten::mm out/run0.json.gz");
        return 2;
    }
    name = tg_sv_of(j->args->v[1]);
    if (j->args->n > 2)
        seen = &c;
    if (!load(j, err) || (seen && !compare_self(j, seen, err))) {
        if (j->diags.n && !put_diags(j, err))
            return 5;
        return tg_err_exit_code(err->kind);
    }
    if (tg_policy_explain_rule(j->policy, name, seen, &out))
        return put(j, &out, err);
    tg_buf_release(&out);
    return explain_name(j, name, seen, err);
}

static struct tg_policy *load_side(struct job *j, const char *text, struct tg_err *err)
{
    const struct tg_gate_policy_opts o = {
        .path = text, .profile = j->o->profile, .profile_may_lack = true, .undated = true
    };
    return tg_gate_policy(&o, &j->diags, j->io, &j->repo, j->arena, err);
}

static int diff(struct job *j, struct tg_err *err)
{
    struct tg_policy_changes changes;
    struct tg_policy *before;
    struct tg_buf out = { 0 };
    int code;
    if (j->args->n != 3) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "policy diff compares two policies, %zu given",
                   j->args->n - 1);
        (void)tg_err_hint(err, "For example: tracegate policy diff origin/main:.tracegate.yml "
                               ".tracegate.yml");
        return 2;
    }
    before = load_side(j, j->args->v[1], err);
    j->policy = before ? load_side(j, j->args->v[2], err) : NULL;
    if (!j->policy) {
        tg_policy_free(before);
        if (j->diags.n && !put_diags(j, err))
            return 5;
        return tg_err_exit_code(err->kind);
    }
    tg_policy_changes(&changes, before, j->policy, j->arena);
    tg_policy_changes_text(&changes, &out);
    code = put(j, &out, err);
    tg_policy_free(before);
    return code == 0 && j->o->strict && changes.n_looser ? 1 : code;
}

static int schema(struct job *j, struct tg_err *err)
{
    struct tg_buf out = { 0 };
    tg_policy_schema(&out);
    return put(j, &out, err);
}

static void add_name(struct tg_strmap *names, const struct tg_row *row)
{
    struct tg_buf text = { 0 };
    tg_name_normalise(row->kind, row->name, &text);
    (void)tg_strmap_add(names, tg_buf_sv(&text));
    tg_buf_release(&text);
}

/* Each normalised name of the traces, in order of first appearance. */
static void collect(struct tg_strmap *names, const struct tg_summary *s)
{
    tg_strmap_init(names);
    for (size_t i = 0; i < s->n; i++) {
        for (size_t r = 0; r < s->shards[i]->n_rows; r++)
            add_name(names, &s->shards[i]->rows[r]);
        for (size_t r = 0; r < s->shards[i]->n_frames; r++)
            add_name(names, &s->shards[i]->frames[r]);
    }
}

/* `policy lint FILE` is a likely slip: what follows the verb are traces. */
static bool are_traces(const struct job *j, struct tg_err *err)
{
    for (size_t i = 1; i < j->args->n; i++) {
        tg_sv file = tg_sv_of(j->args->v[i]);
        if (!tg_sv_ends(file, TG_SV(".yml")) && !tg_sv_ends(file, TG_SV(".yaml")))
            continue;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' is a policy, not a trace", file.p);
        return tg_err_hint(err, "tracegate policy lint --policy %s", file.p);
    }
    return true;
}

static void lint_windows(struct job *j)
{
    const struct tg_suite *suite = only_suite(j);
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < j->summary.n; i++)
        if (j->summary.shards[i]->marked && j->summary.shards[i]->n_steps < least)
            least = j->summary.shards[i]->n_steps;
    if (suite && least != SIZE_MAX)
        tg_policy_lint_window(suite, least, &j->diags);
}

static int lint(struct job *j, struct tg_err *err)
{
    bool loaded;
    if (!are_traces(j, err))
        return tg_err_exit_code(err->kind);
    loaded = load(j, err);
    if (!loaded && !j->diags.n)
        return tg_err_exit_code(err->kind);
    if (loaded) {
        struct tg_strmap n = { 0 };
        if (j->args->n > 1) {
            if (!read_traces(j, 1, err))
                return tg_err_exit_code(err->kind);
            collect(&n, &j->summary);
            lint_windows(j);
        }
        tg_policy_lint(j->policy, n.text, n.n, &j->diags);
        if (j->args->n > 1)
            tg_strmap_release(&n);
    }
    if (!put_diags(j, err))
        return 5;
    if (loaded && j->diags.warnings && j->o->strict)
        tg_err_set(err, TG_ERR_POLICY, TG_NOWHERE, "%zu warnings, and --strict", j->diags.warnings);
    return err->kind == TG_ERR_NONE ? 0 : tg_err_exit_code(err->kind);
}

/* ---- init ---- */

static int init(struct job *j, struct tg_err *err)
{
    struct tg_strs traces = { .v = j->args->v + 1, .n = j->args->n - 1 };
    struct tg_setup_opts o = { 0 };
    struct tg_survey survey;
    struct tg_buf out = { 0 };
    if (!traces.n) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "policy init needs a trace");
        (void)tg_err_hint(err, "For example: tracegate policy init out/run0.json.gz -o "
                               ".tracegate.yml. tracegate init looks for traces itself, and "
                               "writes the workflow too.");
        return 2;
    }
    if (!tg_survey_traces(&survey, &traces, j->io, &j->repo, j->arena, err))
        return tg_err_exit_code(err->kind);
    tg_setup_policy(&out, &survey, &o);
    for (size_t i = 0; i < traces.n; i++)
        if (!tg_inputs_add(&j->inputs, traces.v[i], NULL, &j->repo, j->arena, err))
            return tg_err_exit_code(err->kind);
    return put(j, &out, err);
}

/* ---- waive ---- */

enum { MAX_REPORT = 256 << 20 };

static tg_sv given(const char *text)
{
    return text ? tg_sv_of(text) : TG_SV("");
}

static int waive(struct job *j, struct tg_err *err)
{
    struct tg_buf text = { 0 }, out = { 0 };
    struct tg_policy_waive_ask ask = { .reason = given(j->o->reason),
                                       .owner = given(j->o->owner),
                                       .issue = given(j->o->issue),
                                       .today = tg_io_today(j->io) };
    int code = 2;
    if (j->args->n != 4) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                   "policy waive needs a report, a rule and a name, %zu given", j->args->n - 1);
        (void)tg_err_hint(err, "For example: tracegate policy waive report.json new-work "
                               "aten::clone");
        return code;
    }
    ask.file = j->args->v[1];
    ask.rule = tg_sv_of(j->args->v[2]);
    ask.name = tg_sv_of(j->args->v[3]);
    if (tg_file_read(&text, ask.file, MAX_REPORT, err)) {
        ask.report = tg_buf_sv(&text);
        if (tg_policy_waive(&out, &ask, err))
            code = put(j, &out, err);
    }
    if (err->kind != TG_ERR_NONE)
        code = tg_err_exit_code(err->kind);
    tg_buf_release(&text);
    tg_buf_release(&out);
    return code;
}

static const struct {
    const char *name;
    int (*run)(struct job *j, struct tg_err *err);
} verbs[] = { { "init", init },       { "lint", lint },  { "show", show },
              { "explain", explain }, { "diff", diff },  { "schema", schema },
              { "metrics", metrics }, { "waive", waive } };

static int policy_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                      struct tg_err *err)
{
    struct job j = { .o = opts, .args = args, .io = io };
    int code = -1;
    j.arena = tg_arena_new();
    tg_diags_init(&j.diags);
    tg_summary_init(&j.summary);
    for (size_t i = 0; args->n && i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(args->v[0], verbs[i].name) == 0)
            code = verbs[i].run(&j, err);
    if (code < 0) {
        code = 2;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE,
                   "policy needs one of: init, lint, show, explain, diff, waive, schema, metrics");
        (void)tg_err_hint(err, "For example: tracegate policy lint.");
    }
    tg_policy_free(j.policy);
    tg_diags_release(&j.diags);
    tg_summary_release(&j.summary);
    tg_repo_release(&j.repo);
    tg_arena_free(j.arena);
    return code;
}

const struct tg_cmd tg_cmd_policy = {
    .name = "policy",
    .summary = "write, check and show a policy",
    .synopsis = "init TRACE... | lint [TRACE...] | show | explain NAME|RULE [TRACE...] | "
                "diff OLD NEW | waive REPORT RULE NAME | schema | metrics",
    .about =
        "init prints the policy that `tracegate init` writes for these traces.\n"
        "lint says what is wrong with a policy, all at once, and what loads but cannot work as "
        "meant; with traces also which patterns match none of their names, and whether the window "
        "of "
        "the only suite leaves a step.\n"
        "show prints the effective policy with the origin of each value; without a policy file "
        "the built-in one.\n"
        "explain says which rules judge a name, with which limits and noise, and where each was "
        "written; with traces for the kinds and parents the name has there, and with their "
        "numbers: value, where each limit begins, noise, the smallest slowdown seen; without "
        "traces the suite's baseline is asked. A rule's id explains that rule, with traces also "
        "what it matches there. A name that neither has is an error.\n"
        "diff says what NEW lets pass that OLD does not (looser), the other way round (tighter), "
        "and what else changed; each is a file or REV:PATH.\n"
        "waive prints the waivers that accept a name which failed under a rule, and what the name "
        "explains, with ceilings from the JSON report of check; they end after 90 days.\n"
        "schema prints the JSON schema for editors.\n"
        "metrics lists what rules can measure: unit, bad direction, bounds.",
    .options = policy_options,
    .opts_size = sizeof(struct policy_opts),
    .run = policy_run,
};
