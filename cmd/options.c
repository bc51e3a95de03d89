#include "cmd/options.h"

#include "core/base/buf.h"
#include "core/base/file.h"

const struct tg_opt tg_global_options[] = {
    { "color", TG_OPT_CHOICE, offsetof(struct tg_global_opts, color), "auto|always|never",
      "colour in texts; auto depends on NO_COLOR, CLICOLOR_FORCE and the terminal" },
    { "threads", TG_OPT_INT, offsetof(struct tg_global_opts, threads), "N",
      "read traces with at most N threads, 1 to 256; default: the cores that the process may use "
      "(affinity, cgroup). Output does not depend on the number" },
    { "help", TG_OPT_FLAG, offsetof(struct tg_global_opts, help), NULL, "show this help" },
    { 0 },
};

bool tg_opt_is_choice(const struct tg_opt *o)
{
    return o->value && strchr(o->value, '|') &&
           !o->value[strspn(o->value, "abcdefghijklmnopqrstuvwxyz-|")];
}

bool tg_options_has(const char *words, const char *name)
{
    return tg_sv_lists(tg_sv_of(words), ' ', tg_sv_of(name));
}

const struct tg_verb *tg_verb_find(const struct tg_cmd *cmd, const char *name)
{
    for (const struct tg_verb *v = cmd->verbs; v && v->name; v++)
        if (strcmp(v->name, name) == 0)
            return v;
    return NULL;
}

/* What a spelling of the release before is called now; NULL: there is no such spelling. */
static const char *now_called(const struct tg_cmd *cmd, tg_sv spelled)
{
    for (const struct tg_opt_was *w = cmd->was; w && w->was; w++)
        if (tg_sv_eq(tg_sv_of(w->was), spelled))
            return w->now;
    return NULL;
}

bool tg_options_means(const struct tg_cmd *cmd, const char *spelled, const char *name)
{
    const char *now = now_called(cmd, tg_sv_of(spelled));
    return strcmp(now ? now : spelled, name) == 0;
}

static bool store(void *to, const struct tg_opt *o, const char *value, const struct tg_cmd *cmd,
                  struct tg_arena *a, struct tg_err *err)
{
    static const char *const formats[] = {
        [TG_FORMAT_TEXT] = "text", [TG_FORMAT_CSV] = "csv",           [TG_FORMAT_JSON] = "json",
        [TG_FORMAT_YAML] = "yaml", [TG_FORMAT_MARKDOWN] = "markdown", NULL
    };
    unsigned place = 0;
    if (o->type == TG_OPT_INT && !(tg_sv_i64(tg_sv_of(value), to) && *(int64_t *)to >= 0)) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s needs a whole number, not '%s'", o->name,
                   value);
        return tg_err_hint(err, "See tracegate %s --help.", cmd->name);
    }
    if (tg_opt_is_choice(o)) {
        /* The place of the word in the row, from 1. */
        tg_sv rest = tg_sv_of(o->value);
        bool found = false;
        for (; rest.n && !found; place++)
            found = tg_sv_eq(tg_sv_cut(&rest, '|'), tg_sv_of(value));
        if (!found) {
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s does not know '%s'", o->name, value);
            return tg_err_hint(err, "Use one of %s; see tracegate %s --help.", o->value, cmd->name);
        }
    }
    if (o->type == TG_OPT_FLAG)
        *(bool *)to = true;
    else if (o->type == TG_OPT_LIST)
        tg_strs_add(to, value, a);
    else if (o->type == TG_OPT_CHOICE)
        *(unsigned *)to = place;
    else if (o->type == TG_OPT_FORMAT)
        *(enum tg_format *)to = (enum tg_format)tg_sv_index(formats, tg_sv_of(value));
    else if (o->type == TG_OPT_STR)
        *(const char **)to = value;
    return true;
}

static const struct tg_opt *find(const struct tg_opt *table, tg_sv name)
{
    for (; table && table->name; table++)
        if (tg_sv_eq(tg_sv_of(table->name), name))
            return table;
    return NULL;
}

static bool unknown(const struct tg_cmd *cmd, const char *arg, tg_sv name, struct tg_err *err)
{
    const char *names[129] = { 0 };
    size_t n = 0;
    for (const struct tg_opt *o = cmd->options; o && o->name && n < 120; o++)
        names[n++] = o->name;
    for (const struct tg_opt *o = tg_global_options; o->name && n < 128; o++)
        names[n++] = o->name;
    const char *meant = tg_sv_nearest(name, names);
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no option '%.*s'", cmd->name,
               (int)(name.p + name.n - arg), arg);
    /* "--json" where a command has `--format json`, "--format" where it has `--json FILE`. */
    const struct tg_opt *format = find(cmd->options, TG_SV("format"));
    if (format && tg_sv_lists(tg_sv_of(format->value), '|', name))
        return tg_err_hint(err, "Did you mean --format %.*s? It is printed.", TG_SV_ARG(name));
    if (tg_sv_eq(name, TG_SV("format")) && find(cmd->options, TG_SV("json")))
        return tg_err_hint(err,
                           "Each format has its own option: --json FILE, --markdown FILE; "
                           "tracegate %s --help lists them.",
                           cmd->name);
    if (meant)
        return tg_err_hint(err, "Did you mean --%s? tracegate %s --help lists the options.", meant,
                           cmd->name);
    return tg_err_hint(err, "tracegate %s --help lists the options.", cmd->name);
}

bool tg_options_verb(const struct tg_cmd *cmd, const struct tg_strs *args, size_t *place,
                     struct tg_err *err)
{
    const char *names[33] = { 0 };
    TG_BUF all = { 0 };
    const struct tg_verb *verb = args->n ? tg_verb_find(cmd, args->v[0]) : NULL;
    *place = verb ? (size_t)(verb - cmd->verbs) : 0;
    if (verb)
        return true;
    for (size_t k = 0; k < 32 && cmd->verbs[k].name; k++) {
        names[k] = cmd->verbs[k].name;
        tg_buf_printf(&all, "%s%s", k ? ", " : "", names[k]);
    }
    const char *meant = args->n ? tg_sv_nearest(tg_sv_of(args->v[0]), names) : NULL;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, args->n ? "%s has no verb '%s'" : "%s: do what?",
               cmd->name, args->n ? args->v[0] : "");
    if (meant)
        return tg_err_hint(err, "Did you mean %s? It is one of %s.", meant, all.p);
    return tg_err_hint(err, "One of %s.", all.p);
}

struct parser {
    const struct tg_cmd *cmd;
    const char *const *argv;
    size_t n, at;
    void *opts;
    struct tg_global_opts *common;
    struct tg_arena *arena;
    const struct tg_opt **given; /* options of the command, and of cmd->others */
    size_t n_given;
    const struct tg_verb *verb; /* once all is read; NULL: none */
};

/* "--runs 5": the number would be read as a trace. */
static bool refuse_number(const struct parser *p, const struct tg_opt *o, struct tg_err *err)
{
    const char *next = p->at < p->n ? p->argv[p->at] : "";
    size_t digits = strspn(next, "0123456789");
    if (!digits || next[digits] || digits > 3 || tg_file_exists(next))
        return true;
    tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s takes no value, and there is no file '%s'",
               o->name, next);
    if (strcmp(o->name, "runs") == 0)
        return tg_err_hint(err, "Each trace is one run here. How many to record is an option of "
                                "tracegate ab and of the action.");
    return tg_err_hint(err, "See tracegate %s --help.", p->cmd->name);
}

static void note_old(struct parser *p, const char *was, const char *now)
{
    const char *note = tg_arena_printf(
        p->arena, "--%s is now --%s: the old spelling goes with the next release", was, now);
    if (!tg_strs_has(&p->common->was, note))
        tg_strs_add(&p->common->was, note, p->arena);
}

/* An option of `cmd` as a release before spelled it, and what its value begins with today:
 * "rank=baseline=". NULL: none. */
static const struct tg_opt *find_old(struct parser *p, const struct tg_cmd *cmd, tg_sv name,
                                     tg_sv *begin)
{
    const char *now = now_called(cmd, name);
    if (!now)
        return NULL;
    note_old(p, tg_arena_sv(p->arena, name).p, now);
    *begin = tg_sv_of(now);
    return find(cmd->options, tg_sv_cut(begin, '='));
}

/* A value as a release before spelled it. */
static const char *value_now(struct parser *p, const struct tg_opt *o, const char *value)
{
    const char *spelled = tg_arena_printf(p->arena, "%s=%s", o->name, value);
    const char *now = now_called(p->cmd, tg_sv_of(spelled));
    if (!now)
        return value;
    note_old(p, spelled, now);
    return strchr(now, '=') + 1;
}

/* An option of cmd->others, word by word into its list, by the name that it has now. False: it has
 * none of that name. */
static bool of_others(struct parser *p, const char *arg, tg_sv name, const char *value)
{
    const struct tg_cmd *others = p->cmd->others;
    const struct tg_opt *o = others && name.n ? find(others->options, name) : NULL;
    tg_sv begin = { 0 };
    if (others && !o && (o = find_old(p, others, name, &begin))) {
        bool is_value = begin.n && begin.p[begin.n - 1] != '='; /* a flag of then */
        if (begin.n && !is_value && !value && p->at < p->n)
            value = p->argv[p->at++];
        arg = tg_arena_printf(p->arena, "--%s%s%.*s%s", o->name, begin.n || value ? "=" : "",
                              TG_SV_ARG(begin), value && !is_value ? value : "");
        value = begin.n ? arg : value;
    }
    if (!o || (o->type == TG_OPT_FLAG && value) ||
        (o->type != TG_OPT_FLAG && !value && p->at == p->n))
        return false;
    p->given[p->n_given++] = o;
    struct tg_strs *to = (struct tg_strs *)(void *)((char *)p->opts + p->cmd->others_offset);
    tg_strs_add(to, arg, p->arena);
    if (o->type != TG_OPT_FLAG && !value)
        tg_strs_add(to, p->argv[p->at++], p->arena);
    return true;
}

/* One option at argv[at]; steps over it and its value. */
static bool option(struct parser *p, struct tg_err *err)
{
    const char *arg = p->argv[p->at++], *value = NULL;
    bool is_long = arg[1] == '-', is_common = false;
    tg_sv name = tg_sv_of(arg + 2), begin = { 0 };
    const struct tg_opt *o;
    if (is_long) {
        const char *eq = strchr(arg, '=');
        if (eq) {
            name.n = (size_t)(eq - name.p);
            value = eq + 1;
        }
    } else {
        name = arg[1] == 'o' ? TG_SV("out") : (tg_sv){ arg + 1, 1 };
        value = arg[2] ? arg + 2 : NULL;
        if (arg[1] == 'h' && !arg[2]) {
            p->common->help = true;
            return true;
        }
    }
    o = find(p->cmd->options, name);
    if (!o && is_long)
        o = find_old(p, p->cmd, name, &begin);
    if (!o && is_long) {
        o = find(tg_global_options, name);
        is_common = o != NULL;
    }
    if (!o && of_others(p, arg, name, value))
        return true;
    if (!o)
        return unknown(p->cmd, arg, is_long ? name : tg_sv_of(arg + 1), err);
    if (o->type == TG_OPT_FLAG && value) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s takes no value", o->name);
        return tg_err_hint(err, "See tracegate %s --help.", p->cmd->name);
    }
    if (o->type == TG_OPT_FLAG && is_long && !refuse_number(p, o, err))
        return false;
    if (begin.n && begin.p[begin.n - 1] != '=') { /* a flag of then is a value of now */
        value = begin.p;
        begin.n = 0;
    }
    if (o->type != TG_OPT_FLAG && !value) {
        if (p->at == p->n) {
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s needs a value: %s", o->name, o->value);
            return tg_err_hint(err, "See tracegate %s --help.", p->cmd->name);
        }
        value = p->argv[p->at++];
    }
    if (begin.n)
        value = tg_arena_printf(p->arena, "%s%s", begin.p, value);
    char *to = is_common ? (char *)p->common : p->opts;
    if (!is_common)
        p->given[p->n_given++] = o;
    if (p->cmd->was && value)
        value = value_now(p, o, value);
    return store(to + o->offset, o, value, p->cmd, p->arena, err);
}

/* An option of another action would be ignored. */
static bool all_of_verb(const struct parser *p, struct tg_err *err)
{
    TG_BUF takers = { 0 };
    for (size_t i = 0; p->verb && i < p->n_given; i++) {
        const char *name = p->given[i]->name;
        if (tg_options_has(p->verb->options, name))
            continue;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s %s has no option '--%s'", p->cmd->name,
                   p->verb->name, name);
        for (const struct tg_verb *v = p->cmd->verbs; v->name; v++)
            if (tg_options_has(v->options, name))
                tg_buf_printf(&takers, "%s%s %s", takers.n ? ", " : "", p->cmd->name, v->name);
        return tg_err_hint(err, "It is an option of tracegate %s.",
                           takers.n ? takers.p : p->cmd->name);
    }
    return true;
}

static bool is_given(const struct parser *p, tg_sv word)
{
    for (size_t i = 0; i < p->n_given; i++)
        if (tg_sv_eq(tg_sv_of(p->given[i]->name), word))
            return true;
    return p->verb && tg_sv_eq(tg_sv_of(p->verb->name), word);
}

static bool none_alone(const struct parser *p, struct tg_err *err)
{
    for (const struct tg_opt_needs *need = p->cmd->needs; need && need->option; need++) {
        /* "--svg-narrow needs --svg-counts or --svg-durations", "--reason needs history accept or
         * history reopen". */
        bool there = !is_given(p, tg_sv_of(need->option));
        TG_BUF text = { 0 };
        tg_sv needs = tg_sv_of(need->of);
        while (needs.n) {
            tg_sv word = tg_sv_cut(&needs, ' ');
            const struct tg_opt *o = find(p->cmd->options, word);
            if (!o && p->cmd->others)
                o = find(p->cmd->others->options, word);
            there |= is_given(p, word);
            tg_buf_printf(&text, "%s%s%s%.*s",
                          !text.n   ? ""
                          : needs.n ? ", "
                                    : " or ",
                          o ? "--" : p->cmd->name, o ? "" : " ", TG_SV_ARG(word));
        }
        if (there)
            continue;
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "--%s needs %s", need->option, text.p);
        return tg_err_hint(err, "Alone it has no effect; see tracegate %s --help.", p->cmd->name);
    }
    return true;
}

static void unset_integers(const struct tg_opt *o, void *opts)
{
    for (; o && o->name; o++)
        if (o->type == TG_OPT_INT)
            *(int64_t *)(void *)((char *)opts + o->offset) = TG_OPT_UNSET;
}

bool tg_options_parse(const struct tg_cmd *cmd, const char *const *argv, size_t n, void *opts,
                      struct tg_global_opts *common, struct tg_strs *args, struct tg_arena *a,
                      struct tg_err *err)
{
    struct parser p = { cmd, argv, n, 0, opts, common, a, TG_NEW_N(a, const struct tg_opt *, n + 1),
                        0,   NULL };
    unset_integers(cmd->options, opts);
    unset_integers(tg_global_options, common);
    while (p.at < n) {
        const char *arg = argv[p.at];
        if (strcmp(arg, "--") == 0) {
            for (p.at++; p.at < n; p.at++)
                tg_strs_add(args, argv[p.at], a);
        } else if (arg[0] == '-' && arg[1]) {
            if (!option(&p, err))
                return false;
        } else {
            tg_strs_add(args, arg, a);
            p.at++;
        }
    }
    p.verb = args->n ? tg_verb_find(cmd, args->v[0]) : NULL;
    return common->help || (all_of_verb(&p, err) && none_alone(&p, err));
}
