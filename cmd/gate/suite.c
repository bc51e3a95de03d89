#include "cmd/gate/suite.h"

#include "core/base/doc.h"
#include "core/base/file.h"
#include "core/baseline/git.h"

bool tg_suites_load(struct tg_suites *s, const char *file, const char *profile, struct tg_err *err)
{
    const struct tg_gate_policy_opts o = { .path = file, .profile = profile };
    s->policy = tg_gate_policy(&o, NULL, s->io, s->repo, s->arena, err);
    return s->policy != NULL;
}

bool tg_suites_choose(struct tg_suites *s, const char *name, enum tg_suites_wanted wanted,
                      struct tg_err *err)
{
    const struct tg_policy *p = s->policy;
    s->v = TG_NEW_N(s->arena, const struct tg_suite *, p->n_suites + 1);
    for (size_t i = 0; i < p->n_suites; i++)
        if (!name || tg_sv_eq(p->suites[i].name, tg_sv_of(name)))
            s->v[s->n++] = &p->suites[i];
    if (name && !s->n && !p->built_in)
        return tg_err_usage(err, "the policy has no suite '%s'",
                            "tracegate policy show lists its suites.", name);
    if (wanted == TG_SUITES_ONE && s->n > 1)
        return tg_err_usage(err, "the policy has %zu suites: which one do these traces belong to?",
                            "Add --suite NAME.", s->n);
    if (!s->n) {
        struct tg_suite *one = TG_NEW(s->arena, struct tg_suite);
        one->name = name ? tg_sv_of(name) : TG_SV("default");
        s->v[s->n++] = one;
    }
    return true;
}

/* Paths of a policy are relative to its folder. */
static const char *beside_policy(const struct tg_suites *s, tg_sv path)
{
    const char *file = s->policy->file.n ? s->policy->file.p : "";
    const char *slash = strrchr(file, '/');
    if (!slash || path.p[0] == '/')
        return tg_arena_sv(s->arena, path).p;
    return tg_arena_printf(s->arena, "%.*s/%.*s", (int)(slash - file), file, TG_SV_ARG(path));
}

/* Which run and which rank a file is, by the policy's regexes on its path. */
static bool group_of(const struct tg_pattern *p, const char *what, const char *label, tg_sv *out,
                     struct tg_err *err)
{
    if (!p || tg_pattern_group(p, tg_sv_of(label), out))
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "'%s' does not match the suite's `%s: %.*s`", label,
               what, TG_SV_ARG(tg_pattern_text(p)));
    return tg_err_hint(err, "The regex needs one group that finds the %s in every path.", what);
}

bool tg_suite_groups(struct tg_input_list *list, const struct tg_suite *suite,
                     enum tg_groups wanted, struct tg_err *err)
{
    const struct tg_trace_spec *spec = &suite->trace;
    struct tg_err ignored = TG_ERR_INIT;
    for (size_t i = 0; i < list->n; i++) {
        struct tg_input_item *item = &list->v[i];
        struct tg_err *e = wanted == TG_GROUPS_REQUIRED ? err : &ignored;
        if (!item->stored &&
            !(group_of(spec->run_pattern, "run", item->label, &item->run, e) &&
              group_of(spec->rank_pattern, "rank", item->label, &item->rank, e)) &&
            wanted == TG_GROUPS_REQUIRED)
            return false;
    }
    return true;
}

bool tg_suite_traces(struct tg_input_list *out, const struct tg_suites *s,
                     const struct tg_suite *suite, const struct tg_strs *args, struct tg_err *err)
{
    const struct tg_trace_spec *spec = &suite->trace;
    if (!args->n && !spec->files.n)
        return tg_err_usage(err, "no trace given",
                            "Name the fresh traces, as in out/*.json.gz, or write their place "
                            "into the policy: trace: {files: \"out/run*.json.gz\"}.");
    if (!tg_inputs_add_all(out, args, s->repo, s->arena, err))
        return false;
    if (!args->n && !tg_inputs_add(out, beside_policy(s, spec->files), s->repo, s->arena, err))
        return tg_err_context(err, "looking for the fresh traces of suite '%.*s'",
                              TG_SV_ARG(suite->name));
    if (!tg_suite_groups(out, suite, args->n ? TG_GROUPS_OPTIONAL : TG_GROUPS_REQUIRED, err))
        return false;
    /* Who names the traces names their numbers, too. */
    size_t traces = out->n;
    if (!args->n && suite->numbers.n &&
        !tg_inputs_add(out, beside_policy(s, suite->numbers), s->repo, s->arena, err))
        return tg_err_context(err, "looking for the numbers of suite '%.*s'",
                              TG_SV_ARG(suite->name));
    for (size_t i = traces; i < out->n; i++)
        out->v[i].numbers = true;
    return true;
}

struct tg_summarize_opts tg_suite_reading(const struct tg_policy *p, const struct tg_suite *suite)
{
    const struct tg_window *w = &suite->window;
    struct tg_summarize_opts so = {
        .load = { .reader = { .want_args = true }, .want_attrs = true, .want_memory = true },
        .rank = -1,
        .classes = &p->classes,
    };
    for (size_t i = 0; i < p->n_rules; i++)
        so.frame_sorts |= tg_frame_sorts(p->rules[i].match.kinds);
    if (w->name) {
        so.window.by = TG_WINDOW_ANNOTATION;
        so.window.name = tg_pattern_text(w->name);
    } else if (w->by == TG_BY_TRACE) {
        so.window.by = TG_WINDOW_WHOLE;
    }
    return so;
}

const char *tg_suites_path(const char *path, tg_sv suite, tg_sv against, struct tg_arena *a)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = *name ? strchr(name + 1, '.') : NULL; /* ".report" is all name */
    int stem = dot ? (int)(dot - path) : (int)strlen(path);
    if (strcmp(path, "-") == 0)
        return path;
    return tg_arena_printf(a, "%.*s%s%.*s%s%.*s%s", stem, path, suite.n ? "-" : "",
                           TG_SV_ARG(suite), against.n ? "@" : "", TG_SV_ARG(against), path + stem);
}

/* The commit before the event, as its file has it; NULL: it names none. Other events have their
 * commits in refs and parents. */
static const char *base_of_event(const struct tg_suites *s, const char *event)
{
    const char *path = tg_io_env(s->io, "GITHUB_EVENT_PATH");
    bool push = event && strcmp(event, "push") == 0;
    TG_BUF text = { 0 };
    struct tg_err why = TG_ERR_INIT;
    if (!path || (!push && !(event && strcmp(event, "merge_group") == 0)))
        return NULL;
    TG_AUTO(tg_doc_drop) struct tg_doc *d = NULL;
    if (tg_file_read(&text, path, TG_LIMITS_DEFAULT.max_doc, &why))
        d = tg_doc_parse(tg_buf_sv(&text), path, &why);
    if (!d) {
        tg_io_note(s->io, "the event's file says no commit: %s", why.message);
        return NULL;
    }
    tg_sv sha = push ? tg_doc_str(tg_doc_get(d, "before"), TG_SV(""))
                     : tg_doc_str(tg_doc_get(tg_doc_get(d, "merge_group"), "base_sha"), TG_SV(""));
    return tg_is_hex(sha, TG_SHA_SIZE - 1) ? tg_arena_sv(s->arena, sha).p : NULL;
}

struct tg_ci_env tg_suites_ci(const struct tg_suites *s)
{
    const char *event = tg_io_env(s->io, "GITHUB_EVENT_NAME");
    const char *base = tg_io_env(s->io, "TRACEGATE_BASE_SHA"); /* from the action */
    return (struct tg_ci_env){
        event,
        tg_io_env(s->io, "GITHUB_REF"),
        tg_io_env(s->io, "GITHUB_SHA"),
        tg_io_env(s->io, "GITHUB_BASE_REF"),
        base ? base : base_of_event(s, event),
        tg_io_env(s->io, "TRACEGATE_BASE"),
    };
}

bool tg_suites_start(const struct tg_suites *s, const struct tg_baseline_settings *b,
                     const char *night, struct tg_git *git, struct tg_commit *out,
                     struct tg_err *err)
{
    static const enum tg_choice choice[] = { [TG_REF_MERGE_BASE] = TG_CHOICE_MERGE_BASE,
                                             [TG_REF_PARENT] = TG_CHOICE_PARENT,
                                             [TG_REF_NAMED] = TG_CHOICE_REV,
                                             [TG_REF_WINDOW] = TG_CHOICE_WINDOW,
                                             [TG_REF_RELEASE] = TG_CHOICE_RELEASE };
    struct tg_baseline_ref ref = { .choice = choice[b->ref],
                                   .rev = b->ref_name,
                                   .window = (unsigned)b->ref_window,
                                   .target = b->target.n ? b->target.p : NULL,
                                   .head = night };
    struct tg_ci_env ci = tg_suites_ci(s);
    return tg_baseline_commit(git, &ref, &ci, s->arena, out, err);
}
