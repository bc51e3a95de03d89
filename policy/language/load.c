#include "policy/language/load.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/file.h"
#include "core/base/limits.h"
#include "core/base/look.h"
#include "policy/language/defaults.h"
#include "policy/language/internal.h"

enum { MAX_LAYERS = 2 * TG_POLICY_FILES }; /* files and presets */

struct load {
    const struct tg_policy_opts *opts;
    struct tg_arena *arena; /* the policy's: trees outlive the load */
    struct tg_diags *diags;
    const struct tg_yaml *built_in;
    const struct tg_yaml *layers[MAX_LAYERS]; /* earliest first */
    size_t n_layers;
    const char *stack[TG_POLICY_DEPTH + 1]; /* files being read, outermost first */
    const char **files;                     /* of the policy */
    size_t n_files;
};

/* ---- discovery ---- */

static const char *join(struct tg_arena *a, const char *dir, const char *name)
{
    if (strcmp(dir, ".") == 0)
        return tg_arena_printf(a, "%s", name);
    return tg_arena_printf(a, "%s%s%s", dir, dir[strlen(dir) - 1] == '/' ? "" : "/", name);
}

static bool find_in(const char *dir, struct tg_arena *a, const char **path, struct tg_err *err)
{
    const char *yml = join(a, dir, ".tracegate.yml"), *yaml = join(a, dir, ".tracegate.yaml");
    enum tg_seen has_yml = tg_look_at(yml, NULL, err), has_yaml = TG_SEEN_FAILED;
    if (has_yml != TG_SEEN_FAILED)
        has_yaml = tg_look_at(yaml, NULL, err);
    *path = has_yml == TG_SEEN ? yml : has_yaml == TG_SEEN ? yaml : NULL;
    if (has_yaml == TG_SEEN_FAILED) /* a policy that nobody can see is not the built-in one */
        return false;
    if (has_yml == TG_ABSENT || has_yaml == TG_ABSENT)
        return true;
    return tg_err_say(err, TG_ERR_POLICY, TG_AT_FILE(yml),
                      "two policies in one directory: '%s', '%s'",
                      "Keep one of them, or name one with --policy.", yml, yaml);
}

bool tg_policy_find(const char *dir, const char *root, struct tg_arena *a, const char **path,
                    struct tg_err *err)
{
    TG_FREE char *here = realpath(dir, NULL);
    TG_FREE char *top = root ? realpath(root, NULL) : NULL;
    size_t n = top ? strlen(top) : 0;
    /* Folders above this one may have a policy, and which they are is not known. */
    bool ok = here && (top || !root)
                  ? find_in(dir, a, path, err)
                  : tg_err_set(err, TG_ERR_IO, TG_AT_FILE(dir),
                               "cannot look for a policy: '%s': %s", dir, strerror(errno));
    /* Upwards only below the root. */
    const char *up = strcmp(dir, ".") == 0 ? ".." : NULL;
    while (ok && !*path && here && top && strlen(here) > n && strncmp(here, top, n) == 0 &&
           (here[n] == '/' || n == 1)) {
        char *slash = strrchr(here, '/');
        slash[slash == here] = '\0';
        ok = find_in(up ? up : here, a, path, err);
        up = up ? join(a, up, "..") : NULL;
    }
    return ok;
}

/* ---- presets ---- */

static const char *const presets[] = { TG_POLICY_BUILT_IN, "tracegate:counts-only",
                                       "tracegate:advisory", NULL };
enum preset { PRESET_RECOMMENDED, PRESET_COUNTS_ONLY, PRESET_ADVISORY };

/* The pairs of a tree that are its rules and profiles; or the others. */
static const struct tg_yaml *part_of(struct load *l, const struct tg_yaml *tree, bool rules)
{
    struct tg_yaml *map = tg_yaml_copy(l->arena, tree);
    map->pairs = TG_NEW_N(l->arena, struct tg_yaml_pair, tree->n + 1);
    map->n = 0;
    for (size_t i = 0; i < tree->n; i++) {
        tg_sv key = tree->pairs[i].key->text;
        if ((tg_sv_eq(key, TG_SV("rules")) || tg_sv_eq(key, TG_SV("profiles"))) == rules)
            map->pairs[map->n++] = tree->pairs[i];
    }
    return map;
}

static bool judges_counts(const struct tg_yaml *rule)
{
    enum tg_rule_metric m;
    const struct tg_yaml *metric = tg_yaml_get(rule, "metric");
    if (!metric || !tg_rule_metric_from_name(metric->text, &m))
        return false;
    enum tg_unit unit = tg_rule_metric_info(m)->unit;
    return unit == TG_UNIT_COUNT || unit == TG_UNIT_ATTR || unit == TG_UNIT_BYTES;
}

/* `fail` becomes `warn`; an existing `warn` would be the stricter one and is dropped. */
static struct tg_yaml *as_advice(struct load *l, const struct tg_yaml *rule)
{
    struct tg_yaml *r = tg_yaml_copy(l->arena, rule);
    bool fails = tg_yaml_pair(rule, "fail") != NULL;
    r->pairs = TG_NEW_N(l->arena, struct tg_yaml_pair, rule->n + 1);
    r->n = 0;
    for (size_t i = 0; i < rule->n; i++) {
        struct tg_yaml_pair p = rule->pairs[i];
        if (fails && tg_sv_eq(p.key->text, TG_SV("warn")))
            continue;
        if (tg_sv_eq(p.key->text, TG_SV("fail"))) {
            p.key = tg_yaml_copy(l->arena, p.key);
            p.key->text = TG_SV("warn");
        }
        r->pairs[r->n++] = p;
    }
    return r;
}

static struct tg_yaml *preset_rules(struct load *l, enum preset preset, const struct tg_yaml *all)
{
    struct tg_yaml *rules = tg_yaml_copy(l->arena, all);
    rules->items = TG_NEW_N(l->arena, struct tg_yaml *, all->n + 1);
    rules->n = 0;
    for (size_t i = 0; i < all->n; i++)
        if (preset != PRESET_COUNTS_ONLY || judges_counts(all->items[i]))
            rules->items[rules->n++] =
                preset == PRESET_ADVISORY ? as_advice(l, all->items[i]) : all->items[i];
    return rules;
}

/* `map` with each `rules` in it, at whatever depth, as the preset has them. */
static struct tg_yaml *preset_map(struct load *l, enum preset preset, const struct tg_yaml *map)
{
    struct tg_yaml *out = tg_yaml_copy(l->arena, map);
    out->pairs = TG_NEW_N(l->arena, struct tg_yaml_pair, map->n + 1);
    for (size_t i = 0; i < map->n; i++) {
        struct tg_yaml_pair p = map->pairs[i];
        if (tg_sv_eq(p.key->text, TG_SV("rules")))
            p.value = preset_rules(l, preset, p.value);
        else if (p.value->type == TG_YAML_MAP)
            p.value = preset_map(l, preset, p.value);
        out->pairs[i] = p;
    }
    return out;
}

static const struct tg_yaml *preset_tree(struct load *l, enum preset preset)
{
    return part_of(l, preset_map(l, preset, l->built_in), true);
}

/* ---- files ---- */

static void push_layer(struct load *l, const struct tg_yaml *root)
{
    if (l->n_layers < MAX_LAYERS)
        l->layers[l->n_layers++] = root;
    else
        (void)tg_diags_add(l->diags, TG_DIAG_EXTENDS_DEPTH, root->at, 1, NULL,
                           "more than %d layers", MAX_LAYERS);
}

static bool read_text(struct load *l, const char *path, struct tg_buf *out, struct tg_err *err)
{
    if (l->opts->read ? !l->opts->read(l->opts->read_arg, path, out, err)
                      : !tg_file_read(out, path, TG_LIMITS_DEFAULT.max_policy, err))
        return false;
    /* Compressed, or a trace as it is: somebody named it in a policy's place. */
    tg_sv text = tg_buf_sv(out);
    if (!tg_sv_starts(text, TG_SV("\x1f\x8b")) && !tg_sv_starts(text, TG_SV("\x28\xb5\x2f\xfd")) &&
        !(tg_sv_starts(text, TG_SV("{")) && tg_sv_has(text, TG_SV("\"traceEvents\""))))
        return true;
    return tg_err_say(err, TG_ERR_POLICY, TG_AT_FILE(path), "'%s' is a trace, not a policy",
                      "traces are named without an option: tracegate check TRACE... --policy FILE",
                      path);
}

/* "a/./b/../c" -> "a/c"; leading ".." stay. On the text, so it also works inside a commit. */
static const char *tidy(struct tg_arena *a, const char *path)
{
    TG_BUF out = { 0 };
    tg_sv rest = tg_sv_of(path);
    bool absolute = rest.n && rest.p[0] == '/';
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '/');
        size_t cut = out.n;
        while (cut > 0 && out.p[cut - 1] != '/')
            cut--;
        bool climbs = tg_sv_eq(part, TG_SV(".."));
        bool can_climb = out.n && strcmp(out.p + cut, "..") != 0;
        if (part.n == 0 || tg_sv_eq(part, TG_SV(".")))
            continue;
        if (climbs && can_climb) {
            out.n = cut ? cut - 1 : 0;
            out.p[out.n] = '\0';
            continue;
        }
        if (out.n)
            tg_buf_putc(&out, '/');
        tg_buf_add(&out, part);
    }
    return tg_arena_printf(a, "%s%s", absolute ? "/" : "", out.n ? out.p : "");
}

static const char *dir_of(struct tg_arena *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    if (slash == path)
        return "/";
    return tg_arena_sv(a, (tg_sv){ path, (size_t)(slash - path) }).p;
}

static bool is_below(const char *path, const char *top)
{
    size_t n = strlen(top);
    return n == 1 || (strncmp(path, top, n) == 0 && (path[n] == '/' || path[n] == '\0'));
}

/* After symbolic links are followed, a file must still be below the root, or below the main file's
 * own directory if that is outside the root. */
static bool leaves_root(struct load *l, const char *path)
{
    if (l->opts->read)
        return strncmp(path, "..", 2) == 0 && (path[2] == '/' || path[2] == '\0');
    TG_FREE char *real = realpath(path, NULL);
    TG_FREE char *root = l->opts->root ? realpath(l->opts->root, NULL) : NULL;
    TG_FREE char *home = realpath(dir_of(l->arena, l->opts->path), NULL);
    const char *top = root && home && is_below(home, root) ? root : home;
    /* A file that does not exist is reported when it is read. */
    return real && top && !is_below(real, top);
}

static void load_file(struct load *l, const char *path, const struct tg_yaml *from, size_t depth);

static void extend_file(struct load *l, const struct tg_yaml *name, const char *file, size_t depth)
{
    const char *path =
        tidy(l->arena, tg_arena_printf(l->arena, "%s/%s", dir_of(l->arena, file), name->text.p));
    if (tg_sv_has(name->text, TG_SV("://")) || memchr(name->text.p, '\0', name->text.n)) {
        tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_OUTSIDE, name,
                        "copy the file into the repository",
                        "a policy extends files of its repository, not a URL");
        return;
    }
    if (name->text.p[0] == '/' || leaves_root(l, path)) {
        tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_OUTSIDE, name,
                        "write a path from this file to one inside the repository",
                        "the file is outside the repository");
        return;
    }
    for (size_t i = 0; i <= depth; i++) {
        if (strcmp(l->stack[i], path) != 0)
            continue;
        tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_CYCLE, name, "remove one of the two",
                        "the file extends itself");
        return;
    }
    if (depth + 1 >= TG_POLICY_DEPTH) {
        tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_DEPTH, name, NULL,
                        "files extend each other more than %d deep", TG_POLICY_DEPTH);
        return;
    }
    load_file(l, path, name, depth + 1);
}

static void extend(struct load *l, const struct tg_yaml *root, const char *file, size_t depth)
{
    const struct tg_yaml *list = tg_yaml_get(root, "extends");
    for (size_t i = 0; list && list->type == TG_YAML_SEQ && i < list->n; i++) {
        const struct tg_yaml *name = list->items[i];
        if (name->type != TG_YAML_SCALAR || name->text.n == 0)
            continue;
        if (tg_sv_starts(name->text, TG_SV("tracegate:"))) {
            int k = tg_sv_index(presets, name->text);
            if (k >= 0) {
                push_layer(l, preset_tree(l, (enum preset)k));
            } else {
                tg_yaml_mistake(
                    l->diags, TG_DIAG_PRESET, name,
                    "there are tracegate:recommended, tracegate:counts-only and tracegate:advisory",
                    "there is no preset '%s'", name->text.p);
            }
        } else {
            extend_file(l, name, file, depth);
        }
    }
}

/* A file, its presets and files first. `from`: the text that named it; NULL for the main file. */
static void load_file(struct load *l, const char *path, const struct tg_yaml *from, size_t depth)
{
    TG_BUF text = { 0 };
    struct tg_err err = TG_ERR_INIT;
    if (l->n_files == TG_POLICY_FILES) {
        tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_DEPTH, from, NULL, "more than %d files",
                        TG_POLICY_FILES);
        return;
    }
    if (!l->opts->read)
        l->files[l->n_files] = tg_arena_printf(l->arena, "%s", path);
    l->n_files++;
    l->stack[depth] = tidy(l->arena, path);
    if (!read_text(l, path, &text, &err)) {
        if (from)
            tg_yaml_mistake(l->diags, TG_DIAG_EXTENDS_READ, from, err.hint[0] ? err.hint : NULL,
                            "%s", err.message);
        else
            (void)tg_diags_add(l->diags, TG_DIAG_READ, TG_AT_FILE(path), 1,
                               err.hint[0] ? err.hint : NULL, "%s", err.message);
    } else {
        const struct tg_yaml *root = tg_yaml_parse(tg_buf_sv(&text), path, l->arena, l->diags);
        if (root) {
            tg_validate_file(root, l->diags);
            extend(l, root, path, depth);
            push_layer(l, root);
        }
    }
}

/* ---- layers to policy ---- */

/* Every stage of the fold is decoded, not only the last: a mistake in an early layer is a mistake
 * even if a later layer hides it. Equal reports are kept once. */
static void try_decode(struct load *l, const struct tg_yaml *tree, const struct tg_removed *removed)
{
    struct tg_policy *scratch = tg_policy_new();
    scratch->removed = removed->id;
    scratch->n_removed = removed->n;
    tg_decode(scratch, tree, l->opts->today, l->diags);
    tg_policy_free(scratch);
}

static struct tg_yaml *select_profile(struct load *l, struct tg_yaml *tree,
                                      struct tg_removed *removed, struct tg_policy *p)
{
    const char *names[TG_POLICY_PROFILES + 1] = { NULL };
    const char *wanted = l->opts->profile;
    struct tg_yaml *selected = tree;
    /* Distinct names of all layers, in order; at most TG_POLICY_PROFILES. */
    size_t n = 0;
    for (size_t i = 0; i < l->n_layers; i++) {
        const struct tg_yaml *map = tg_yaml_get(l->layers[i], "profiles");
        for (size_t j = 0; map && map->type == TG_YAML_MAP && j < map->n; j++) {
            const tg_sv name_name = map->pairs[j].key->text;
            names[n] = NULL;
            if (n < TG_POLICY_PROFILES && tg_sv_index(names, name_name) < 0)
                names[n++] = name_name.p;
        }
    }
    names[n] = NULL;
    bool found = false;
    p->profiles = tg_arena_copy(l->arena, names, n, sizeof *names);
    p->n_profiles = n;
    for (size_t i = 0; i < n; i++) {
        struct tg_removed also = { 0 };
        for (size_t k = 0; k < removed->n; k++)
            *TG_PUSH(also.id, also.n, also.cap) = removed->id[k];
        tg_sv name = tg_sv_of(names[i]);
        struct tg_yaml *with = tg_merge(NULL, tree, l->arena, &also, l->diags);
        for (size_t j = 0; j < l->n_layers; j++) {
            const struct tg_yaml *profile =
                tg_yaml_get(tg_yaml_get(l->layers[j], "profiles"), name.p);
            if (profile && profile->type == TG_YAML_MAP)
                with = tg_merge(with, profile, l->arena, &also, l->diags);
        }
        try_decode(l, with, &also);
        if (wanted && strcmp(wanted, names[i]) == 0) {
            struct tg_removed swap = *removed;
            *removed = also;
            also = swap;
            selected = with;
            found = true;
            p->profile = tg_sv_of(names[i]);
        }
        free(also.id);
    }
    if (wanted && !found && !l->opts->profile_may_lack) {
        (void)tg_diags_add(l->diags, TG_DIAG_PROFILE,
                           l->opts->path ? (struct tg_loc){ l->opts->path, 1, 1, 0 } : TG_NOWHERE,
                           1, tg_diags_guess(l->diags, tg_sv_of(wanted), names),
                           "there is no profile '%s'", wanted);
    }
    return selected;
}

static void fold(struct load *l, struct tg_policy *p)
{
    struct tg_removed removed = { 0 };
    struct tg_yaml *tree = NULL;
    for (size_t i = 0; i < l->n_layers; i++) {
        if (l->layers[i]->type != TG_YAML_MAP)
            continue;
        tree = tg_merge(tree, l->layers[i], l->arena, &removed, l->diags);
        if (i > 0)
            try_decode(l, tree, &removed);
    }
    tree = select_profile(l, tree, &removed, p);
    p->private_->tree = tree;
    p->n_removed = removed.n;
    p->removed = tg_arena_copy(l->arena, removed.id, removed.n, sizeof *removed.id);
    tg_decode(p, tree, l->opts->today, l->diags);
    /* Of the effective policy: a later layer may say another number than an earlier one. */
    const struct tg_yaml *n = tg_node_scalar(tree, "decisions");
    int64_t want = tg_node_int(tree, "decisions", 0), have = l->opts->decisions;
    char fix[160];
    if (want && have && want != have) {
        (void)snprintf(
            fix, sizeof fix,
            "judge what you have by both programs (docs/release.md, Upgrades), then write  "
            "decisions: %" PRId64,
            have);
        tg_yaml_mistake(l->diags, TG_DIAG_DECISIONS, n, fix,
                        "the policy is judged by decisions %" PRId64
                        ", this program judges by decisions %" PRId64,
                        want, have);
    }
    free(removed.id);
}

struct tg_policy *tg_policy_load(const struct tg_policy_opts *o, struct tg_diags *diags,
                                 struct tg_err *err)
{
    struct tg_policy *p = tg_policy_new();
    struct load l = { .opts = o, .arena = p->arena, .diags = diags };
    size_t before = diags->refusals;
    p->built_in = o->path == NULL;
    l.built_in = tg_yaml_parse((tg_sv){ tg_policy_defaults, tg_policy_defaults_size },
                               TG_POLICY_BUILT_IN, p->arena, diags);
    if (l.built_in) {
        push_layer(&l, part_of(&l, l.built_in, false));
        if (o->path) {
            const char *path = tg_arena_printf(p->arena, "%s", o->path);
            p->file = tg_sv_of(path);
            l.files = p->files = TG_NEW_N(p->arena, const char *, TG_POLICY_FILES);
            load_file(&l, path, NULL, 0);
            p->n_files = o->read ? 0 : l.n_files;
        } else {
            push_layer(&l, preset_tree(&l, PRESET_RECOMMENDED));
        }
        fold(&l, p);
    }
    if (o->lint_refused && diags->refusals != before)
        tg_policy_lint(p, NULL, 0, diags);
    tg_diags_sort(diags);
    /*
     * Not the number kept: if `diags` has the same mistake from an earlier load, it is kept once.
     */
    if (l.built_in && diags->refusals == before)
        return p;
    (void)tg_err_set(err, TG_ERR_POLICY, TG_AT_FILE(o->path), "the policy%s%s%s has %zu error%s",
                     o->path ? " '" : "", o->path ? o->path : "", o->path ? "'" : "", diags->errors,
                     diags->errors == 1 ? "" : "s");
    tg_policy_free(p);
    return NULL;
}

bool tg_policy_is_preset(const char *name)
{
    return tg_sv_index(presets, tg_sv_of(name)) >= 0;
}

const char *tg_policy_profile_for(const char *event)
{
    if (event && strcmp(event, "schedule") == 0)
        return "nightly";
    if (event && (strcmp(event, "pull_request") == 0 || strcmp(event, "merge_group") == 0))
        return "pr";
    return NULL;
}
