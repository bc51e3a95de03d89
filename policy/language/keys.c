#include "policy/language/keys.h"

#define SHAPE(...) (&(const struct tg_key_shape){ __VA_ARGS__ })
/* What the common shapes have; `min` and `max` of a list are numbers of items. */
#define MAP(what_, keys_, example_)                                                                \
    .kind = TG_KEY_MAP, .what = (what_), .keys = (keys_), .example = (example_)
#define LIST(what_, item_, min_, max_, example_)                                                   \
    .kind = TG_KEY_LIST, .what = (what_), .item = (item_), .min = (min_), .max = (max_),           \
    .example = (example_)
/* One of `item_`, or a list of them. */
#define SOME(what_, item_, max_, example_)                                                         \
    .kind = TG_KEY_CHOICE, .what = (what_), .example = (example_), .scalar = (item_),              \
    .list = SHAPE(LIST(what_, item_, 1, max_, NULL))
#define INT(min_, max_) .kind = TG_KEY_INT, .min = (min_), .max = (max_)
#define WORD(words_) .kind = TG_KEY_WORD, .words = (words_)
#define END                                                                                        \
    {                                                                                              \
        .name = NULL                                                                               \
    }
/*
 * What a change means (`on_add` and `on_increase` of struct tg_key): if the key is added, and if
 * its value grows. OPEN: any change may let more pass. PARTS: its keys or items say it
 * themselves.
 */
#define EFFECT(on_add_, on_increase_) .on_add = TG_##on_add_, .on_increase = TG_##on_increase_
#define ADDED(on_add_) EFFECT(on_add_, MAYBE_LOOSER)
#define OPEN ADDED(MAYBE_LOOSER)
#define ASIDE EFFECT(OTHERWISE, OTHERWISE) /* nothing is judged by it */
#define PARTS(parts_, on_add_) ADDED(on_add_), .parts = TG_##parts_

/* ---- words ---- */

const char *const tg_words_kind[] = { "kernel", "op",     "runtime", "sync",
                                      "memcpy", "memset", "graph",   "annotation",
                                      "module", "source", NULL };
const char *const tg_words_class[] = { "compute", "comm", "memory", "other", NULL };
const char *const tg_words_family[] = { "gemm",   "attention",   "conv", "norm",
                                        "triton", "elementwise", NULL };
const char *const tg_words_same[] = { "device",      "world_size", "cuda_major",
                                      "torch_minor", "cpu",        NULL };
const char *const tg_words_direction[] = { "up", "down", "both", NULL };
const char *const tg_words_unjudged[] = { "inconclusive", "note", NULL };
const char *const tg_words_on_missing[] = { "pass", "inconclusive", "fail", NULL };
const char *const tg_words_window_by[] = { "ProfilerStep", "annotation", "trace", NULL };
const char *const tg_words_rank[] = { "each", "slowest", NULL };
const char *const tg_words_noise_test[] = { "runs", "none", NULL };
const char *const tg_words_fail_on[] = {
    "fail", "warn", "inconclusive", "suspicious", "open", NULL
};
const char *const tg_words_on_off[] = { "on", "off", NULL };
static const char *const words_off[] = { "off", NULL };
const char *const tg_words_exception[] = { "renamed", "replaced", "small", "polling",
                                           "counted", "chance",   NULL };

/* ---- values that several keys have ---- */

static const struct tg_key_shape text = { .kind = TG_KEY_TEXT, .min = 1, .max = 1000 };
static const struct tg_key_shape path = { .kind = TG_KEY_TEXT, .min = 1, .max = 4096 };
static const struct tg_key_shape id = { .kind = TG_KEY_ID, .min = 1, .max = 80 };
static const struct tg_key_shape glob = { .kind = TG_KEY_GLOB, .min = 1, .max = TG_PATTERN_MAX };
static const struct tg_key_shape regex = { .kind = TG_KEY_REGEX,
                                           .min = 1,
                                           .max = TG_PATTERN_MAX - 2 }; /* the slashes */
static const struct tg_key_shape yes_no = { .kind = TG_KEY_BOOL, .example = "true" };
static const struct tg_key_shape on_off = { WORD(tg_words_on_off) };
static const struct tg_key_shape count = { INT(0, 1000000000) };
static const struct tg_key_shape percent = { .kind = TG_KEY_PERCENT, .example = "10%" };
/* 0 would read as the strictest requirement, and no runs can show a change of nothing. */
static const struct tg_key_shape percent_above_zero = { .kind = TG_KEY_PERCENT,
                                                        .min = 1,
                                                        .example = "10%" };

static const struct tg_key_shape pattern = { .kind = TG_KEY_PATTERN,
                                             .min = 1,
                                             .max = TG_PATTERN_MAX };
static const struct tg_key_shape waived_name = { .kind = TG_KEY_PATTERN,
                                                 .min = 1,
                                                 .max = TG_WAIVER_NAME_MAX };
static const struct tg_key_shape patterns = { SOME("a pattern or a list of them", &pattern, 100,
                                                   "\"aten::*\"") };

/* `ignore: []` and `ops: []` revoke what an earlier layer asked for. */
static const struct tg_key_shape pattern_list_or_none = { LIST("a list of patterns", &pattern, 0,
                                                               100, "[\"*EventQuery\"]") };

static const struct tg_key_shape kinds = { SOME("a kind or a list of them",
                                                SHAPE(WORD(tg_words_kind)), 20, "kernel") };
static const struct tg_key_shape classes = { SOME("a class or a list of them",
                                                  SHAPE(WORD(tg_words_class)), 20, "comm") };
static const struct tg_key_shape families = { SOME("a family or a list of them",
                                                   SHAPE(WORD(tg_words_family)), 20, "gemm") };
static const struct tg_key_shape devices = { SOME("a device number or a list of them",
                                                  SHAPE(INT(0, 65535)), 1000, "0") };
static const struct tg_key_shape streams = { SOME("a stream number or a list of them",
                                                  SHAPE(INT(0, 4294967295)), 1000, "7") };
static const struct tg_key_shape ranks = {
    .kind = TG_KEY_CHOICE,
    .what = "each, slowest, a rank or a list of ranks",
    .example = "slowest",
    .scalar = SHAPE(.kind = TG_KEY_WORD_OR_INT, .words = tg_words_rank, .max = 1000000),
    .list = SHAPE(LIST("a list of ranks", SHAPE(INT(0, 1000000)), 1, 1000, NULL)),
};

/* ---- limits ---- */

#define BOUND(kind_, example_) SHAPE(.kind = TG_KEY_BOUND, .bound = (kind_), .example = (example_))
/* Every bound must be exceeded. */
static const struct tg_key limit_keys[] = {
    { "pct", BOUND(TG_BOUND_PCT, "10%"), 0,
      "change relative to the baseline; `auto`: the threshold of the noise rule",
      EFFECT(LOOSER, LOOSER) },
    { "abs", BOUND(TG_BOUND_ABS, "200us"), 0,
      "change in the metric's unit, or in percent of the step (0.2%step); of launch attributes 0",
      EFFECT(LOOSER, LOOSER) },
    { "pp", BOUND(TG_BOUND_PP, "3pp"), 0, "change of a metric that is a percentage, in points",
      EFFECT(LOOSER, LOOSER) },
    { "max", BOUND(TG_BOUND_MAX, "15ms"), 0, "upper bound of the fresh side; needs no baseline",
      EFFECT(LOOSER, LOOSER) },
    { "min", BOUND(TG_BOUND_MIN, "80%"), 0, "lower bound of the fresh side; needs no baseline",
      EFFECT(LOOSER, TIGHTER) },
    END
};
static const struct tg_key_shape limit = { MAP("a limit", limit_keys, "{pct: 10%, abs: 200us}") };
const struct tg_key_shape tg_key_shape_limits = {
    .kind = TG_KEY_CHOICE,
    .what = "a limit, a list of limits or off",
    .example = "{pct: 10%, abs: 200us}",
    .scalar = SHAPE(WORD(words_off)),
    .map = &limit,
    .list = SHAPE(LIST("a list of limits", &limit, 1, 10, NULL)),
};

/* ---- match, when, noise ---- */

/* A key more matches less. */
#define MATCH_NAMES                                                                                \
    { "kind", &kinds, 0, "what the event is", EFFECT(LOOSER, TIGHTER) },                           \
        { "name", &patterns, 0, "normalised name: glob, or /regex/", EFFECT(LOOSER, TIGHTER) },    \
        { "raw_name", &patterns, 0, "name as the trace has it: glob, or /regex/",                  \
          EFFECT(LOOSER, TIGHTER) },                                                               \
        { "class", &classes, 0, "what a kernel does", EFFECT(LOOSER, TIGHTER) },                   \
        { "family", &families, 0, "the sort of kernel", EFFECT(LOOSER, TIGHTER) },                 \
    {                                                                                              \
        "parent", &patterns, 0, "normalised name of an enclosing operator or annotation",          \
            EFFECT(LOOSER, TIGHTER)                                                                \
    }

static const struct tg_key not_keys[] = { MATCH_NAMES, END };
static const struct tg_key_shape not_match = { MAP("what is excluded", not_keys, "{class: comm}") };
static const struct tg_key override_match_keys[] = {
    MATCH_NAMES,
    { "not", &not_match, 0, "excludes what all these keys hold for", PARTS(OPPOSITE_KEYS, LOOSER) },
    END
};
static const struct tg_key_shape override_match = { MAP("a match", override_match_keys,
                                                        "{name: \"triton_red_*\"}") };
static const struct tg_key match_keys[] = {
    MATCH_NAMES,
    { "device", &devices, 0, "device work on these device numbers only", EFFECT(LOOSER, TIGHTER) },
    { "stream", &streams, 0, "device work on these stream numbers only", EFFECT(LOOSER, TIGHTER) },
    { "rank", &ranks, 0, "each: every rank by itself; slowest; or numbers of ranks", OPEN },
    { "not", &not_match, 0, "excludes what all these keys hold for", PARTS(OPPOSITE_KEYS, LOOSER) },
    END
};
static const struct tg_key_shape match = { MAP("a match", match_keys,
                                               "{kind: kernel, name: \"*gemm*\"}") };

static const struct tg_key when_keys[] = {
    { "event", &patterns, 0, "name of the CI event", EFFECT(LOOSER, TIGHTER) },
    { "branch", &patterns, 0, "target branch", EFFECT(LOOSER, TIGHTER) },
    { "device", &patterns, 0, "name of the device", EFFECT(LOOSER, TIGHTER) },
    END
};
static const struct tg_key_shape when = { MAP("a condition", when_keys, "{event: pull_request}") };

/* What a rule may set for itself; the rest is about the comparison as a whole. */
#define RULE_NOISE_KEYS                                                                            \
    { "test", SHAPE(WORD(tg_words_noise_test)), 0,                                                 \
      "runs: durations need evidence; none: the limit alone decides",                              \
      EFFECT(MAYBE_LOOSER, TIGHTER) },                                                             \
        { "min_runs", SHAPE(INT(1, 1000)), 0, "runs per side below which durations never fail",    \
          EFFECT(MAYBE_LOOSER, LOOSER) },                                                          \
    {                                                                                              \
        "min_steps", &count, 0, "usable steps of a run below which its durations are not judged",  \
            EFFECT(LOOSER, LOOSER)                                                                 \
    }

static const struct tg_key rule_noise_keys[] = { RULE_NOISE_KEYS, END };
static const struct tg_key_shape rule_noise = { MAP("noise settings of a rule", rule_noise_keys,
                                                    "{min_runs: 5}") };
static const struct tg_key noise_keys[] = {
    RULE_NOISE_KEYS,
    { "drift", &percent, 0, "common change of all operators beyond which the report warns",
      EFFECT(MAYBE_LOOSER, LOOSER) },
    { "ignore", &pattern_list_or_none, 0,
      "raw names of runtime calls whose counts are random (polling)", EFFECT(LOOSER, LOOSER) },
    END
};
static const struct tg_key_shape noise = { MAP("noise settings", noise_keys, "{min_runs: 5}") };

/* ---- rules ---- */

static const struct tg_key override_keys[] = {
    { "match", &override_match, TG_KEY_REQUIRED, "which of the rule's names it changes", OPEN },
    { "warn", &tg_key_shape_limits, 0, "limit beyond which the result is a warning, or off",
      EFFECT(TIGHTER, TIGHTER) },
    { "fail", &tg_key_shape_limits, 0, "limit beyond which the result is a failure, or off",
      EFFECT(TIGHTER, TIGHTER) },
    { "noise", &rule_noise, 0, "other noise settings for these names", OPEN },
    END
};
static const struct tg_key_shape overrides = { LIST(
    "a list of overrides",
    SHAPE(MAP("an override", override_keys, "{match: {name: \"x*\"}, fail: off}")), 1, 200, NULL) };

static const struct tg_key rule_keys[] = {
    { "id", &id, TG_KEY_REQUIRED, "stable identity, [a-z0-9-]; the same id changes an earlier rule",
      ASIDE },
    { "why", &text, 0, "shown in the report", ASIDE },
    { "owner", &text, 0, "who to ask; printed, never mentioned", ASIDE },
    { "match", &match, 0, "the names that it judges; all keys must hold, a list means any",
      PARTS(BY_KEY, MAYBE_LOOSER) },
    { "metric", SHAPE(.kind = TG_KEY_METRIC), 0, "what is measured", OPEN },
    { "direction", SHAPE(WORD(tg_words_direction)), 0,
      "the direction that is bad, if not the metric's own", EFFECT(MAYBE_LOOSER, TIGHTER) },
    { "warn", &tg_key_shape_limits, 0, "limit beyond which the result is a warning, or off",
      EFFECT(TIGHTER, TIGHTER), .parts = TG_BY_KEY },
    { "fail", &tg_key_shape_limits, 0, "limit beyond which the result is a failure, or off",
      EFFECT(TIGHTER, TIGHTER), .parts = TG_BY_KEY },
    { "overrides", &overrides, 0, "other limits for some of the names; the last that matches wins",
      OPEN },
    { "noise", &rule_noise, TG_KEY_MERGE, "other noise settings for this rule",
      PARTS(BY_KEY, MAYBE_LOOSER) },
    { "exceptions",
      SHAPE(LIST("a list of exceptions", SHAPE(WORD(tg_words_exception)), 0, 6,
                 "[renamed, replaced, small]")),
      0, "counts that only warn where the rule would fail; polling calls are not judged",
      EFFECT(LOOSER, LOOSER) },
    { "optional", &yes_no, 0, "matching nothing is a note, not inconclusive", ADDED(LOOSER) },
    { "unjudged", SHAPE(WORD(tg_words_unjudged)), 0,
      "what a rule is that matches something and judges none of it, by default inconclusive",
      EFFECT(MAYBE_LOOSER, LOOSER) },
    { "against",
      SHAPE(SOME("a baseline's name or a list of them", &id, 1 + TG_POLICY_BASELINES, "release")),
      0, "the baselines it is judged against; by default `baseline` alone",
      EFFECT(MAYBE_LOOSER, TIGHTER) },
    { "when", &when, 0, "where the rule judges; elsewhere it is skipped", PARTS(BY_KEY, LOOSER) },
    END
};
const struct tg_key_shape tg_key_shape_rule = { MAP("a rule", rule_keys,
                                                    "{id: x, metric: idle, fail: {pp: 5pp}}") };
static const struct tg_key_shape rule_list = { LIST("a list of rules", &tg_key_shape_rule, 0, 1000,
                                                    NULL) };
static const struct tg_key rule_edit_keys[] = {
    { "remove", SHAPE(LIST("a list of rule ids", &id, 1, 1000, "[kernel-time]")), 0,
      "ids of earlier layers' rules that are dropped", OPEN },
    { "add", &rule_list, 0, "rules of this layer, as in a plain list", OPEN },
    END
};
static const struct tg_key_shape rules = {
    .kind = TG_KEY_CHOICE,
    .what = "a list of rules",
    .example = "- {id: x, metric: idle, fail: {pp: 5pp}}",
    .list = &rule_list,
    .map = SHAPE(MAP("a change of the rules", rule_edit_keys, "{remove: [x], add: [...]}")),
};

/* ---- suites ---- */

static const struct tg_key trace_keys[] = {
    { "files", &path, TG_KEY_REQUIRED, "path or glob of the fresh traces", OPEN },
    { "rank", &regex, 0, "regex with one group that finds the rank in a path", OPEN },
    { "run", &regex, 0, "regex with one group that finds the run in a path", OPEN },
    END
};
static const struct tg_key_shape trace = {
    .kind = TG_KEY_CHOICE,
    .what = "a path, a glob or {files, rank, run}",
    .example = "\"out/*.json.gz\"",
    .scalar = &path,
    .map = SHAPE(MAP("a trace", trace_keys, "{files: \"out/*.json.gz\"}")),
};
static const struct tg_key window_keys[] = {
    { "by", SHAPE(WORD(tg_words_window_by)), 0,
      "what marks a step: ProfilerStep, annotation, or trace (the whole trace is one step)", OPEN },
    { "name", &glob, 0, "the annotation that marks a step, as a glob", OPEN },
    { "skip_first", SHAPE(INT(0, 1000000)), 0, "steps to ignore at the beginning",
      EFFECT(LOOSER, LOOSER) },
    { "skip_last", SHAPE(INT(0, 1000000)), 0, "steps to ignore at the end",
      EFFECT(LOOSER, LOOSER) },
    END
};
static const struct tg_key ranks_keys[] = { { "expect", SHAPE(INT(1, 1000000)), TG_KEY_REQUIRED,
                                              "how many ranks every run of each side must have",
                                              ADDED(TIGHTER) },
                                            END };
static const struct tg_key suite_keys[] = {
    { "name", SHAPE(.kind = TG_KEY_NAME, .min = 1, .max = 80), TG_KEY_REQUIRED,
      "stable identity, letters, digits, - and _", ASIDE },
    { "trace", &trace, 0,
      "where the fresh traces are: a path, a glob, or `files` with `rank` and `run`", OPEN },
    { "numbers", &path, 0, "path or glob of the fresh results of benchmarks, for `metric: number`",
      OPEN },
    { "baseline", &path, 0, "path or glob in the baseline commit's tree, or stored, the default",
      OPEN },
    { "ranks", SHAPE(MAP("what is known about ranks", ranks_keys, "{expect: 8}")), 0,
      "what is known about ranks", PARTS(BY_KEY, TIGHTER) },
    { "window", SHAPE(MAP("a window", window_keys, "{by: ProfilerStep, skip_first: 1}")), 0,
      "what a step is", PARTS(BY_KEY, MAYBE_LOOSER) },
    END
};
const struct tg_key_shape tg_key_shape_suite = { MAP("a suite", suite_keys,
                                                     "{name: train, trace: out.json.gz}") };
static const struct tg_key_shape suites = { LIST("a list of suites", &tg_key_shape_suite, 1, 200,
                                                 "- {name: train, trace: out.json.gz}") };

/* ---- the other sections ---- */

static const struct tg_key_shape on_missing = { WORD(tg_words_on_missing) };
/* What `baseline` and each of `baselines` have in common. */
#define BASELINE_KEYS                                                                              \
    { "ref", &text, 0, "merge-base, parent, window(N), release(GLOB), or a ref or commit", OPEN }, \
        { "target", &text, 0, "target branch; auto: from the CI event, else origin/HEAD", OPEN },  \
        { "max_walk", SHAPE(INT(0, 100000)), 0,                                                    \
          "how many commits to walk back if that commit has no baseline", OPEN },                  \
        { "on_first_run", &on_missing, 0,                                                          \
          "the verdict if that commit had neither a policy nor a baseline of the suite",           \
          EFFECT(MAYBE_LOOSER, TIGHTER) },                                                         \
        { "on_lost", &on_missing, 0,                                                               \
          "the verdict if a baseline existed but is not found within max_walk",                    \
          EFFECT(MAYBE_LOOSER, TIGHTER) },                                                         \
    {                                                                                              \
        "require_same",                                                                            \
            SHAPE(LIST("a list", SHAPE(WORD(tg_words_same)), 0, 20, "[device, world_size]")), 0,   \
            "what both sides must share; else durations and kernel names are shown, not judged",   \
            EFFECT(LOOSER, LOOSER)                                                                 \
    }
static const struct tg_key baseline_keys[] = { BASELINE_KEYS, END };
static const struct tg_key baselines_keys[] = {
    { "name", &id, TG_KEY_REQUIRED, "what rules and reports call it, [a-z0-9-]", ASIDE },
    BASELINE_KEYS,
    END
};
const struct tg_key_shape tg_key_shape_baselines = { MAP("a named baseline", baselines_keys,
                                                         "{name: release, ref: release(v*)}") };
static const struct tg_key require_keys[] = {
    { "steps", &count, 0, "least number of steps of a trace", EFFECT(TIGHTER, TIGHTER) },
    { "kernels", &count, 0, "least number of kernel launches per step", EFFECT(TIGHTER, TIGHTER) },
    { "ops", SHAPE(LIST("a list of patterns", &pattern, 0, 100, "[\"*flash*\"]")), 0,
      "patterns of names that must occur", EFFECT(TIGHTER, TIGHTER) },
    { "collapse", &on_off, 0, "inconclusive if more than half of the kernels are gone",
      EFFECT(TIGHTER, LOOSER) },
    { "account", &on_off, 0, "the step as a whole may not take longer or do more unexplained",
      EFFECT(TIGHTER, LOOSER) },
    { "detectable", &percent_above_zero, 0,
      "change of step time that the runs must be able to show, above 0%", EFFECT(TIGHTER, LOOSER) },
    END
};
static const struct tg_key alias_keys[] = {
    { "from", &text, TG_KEY_REQUIRED, "normalised name in the baseline", OPEN },
    { "to", &text, TG_KEY_REQUIRED, "normalised name on the fresh side", OPEN },
    END
};
static const struct tg_key accepted_keys[] = {
    { "name", &waived_name, TG_KEY_REQUIRED, "as that of the waiver", ADDED(TIGHTER) },
    { "many", &yes_no, 0, "name is a pattern on purpose", ADDED(LOOSER) },
    { "ceiling", &limit, TG_KEY_REQUIRED, "beyond it, it fails again",
      PARTS(BY_KEY, MAYBE_LOOSER) },
    END
};
static const struct tg_key waiver_keys[] = {
    { "rule", &id, TG_KEY_REQUIRED, "id of the rule", ASIDE },
    { "name", &waived_name, 0,
      "exact normalised name, or the metric of the whole trace; a pattern needs many: true",
      ADDED(TIGHTER) },
    { "many", &yes_no, 0, "name is a pattern on purpose", ADDED(LOOSER) },
    { "ceiling", &limit, TG_KEY_REQUIRED, "beyond it, it fails again",
      PARTS(BY_KEY, MAYBE_LOOSER) },
    { "with",
      SHAPE(LIST("a list of names",
                 SHAPE(MAP("a name", accepted_keys, "{name: \"aten::mm\", ceiling: {abs: 1}}")), 1,
                 1000, "- {name: \"aten::mm\", ceiling: {abs: 1}}")),
      0, "further names of the change, each with its ceiling", PARTS(BY_ITEM, LOOSER) },
    { "reason", &text, TG_KEY_REQUIRED, "why this is accepted", ASIDE },
    { "issue", &text, 0, "where it is followed up", ASIDE },
    { "owner", &text, 0, "who answers for it", ASIDE },
    { "expires", SHAPE(.kind = TG_KEY_DATE, .example = "2027-02-28"), TG_KEY_REQUIRED,
      "last day, at most 180 days ahead", EFFECT(MAYBE_LOOSER, LOOSER) },
    { "when", &when, 0, "only there", PARTS(OPPOSITE_KEYS, TIGHTER) },
    END
};
static const struct tg_key ab_keys[] = {
    { "detect", &percent_above_zero, 0, "the slowdown that matters: --detect", ASIDE },
    { "budget", SHAPE(.kind = TG_KEY_TIME, .example = "5min"), 0,
      "no run begins that would end later than that: --budget", ASIDE },
    { "max_runs", SHAPE(INT(1, 999)), 0, "the most runs per side: --max-runs", ASIDE },
    { "measured", &text, 0, "what `calibrate --format yaml` measured of it: verdicts quote it",
      ASIDE },
    END
};
static const struct tg_key report_keys[] = {
    { "top", SHAPE(INT(1, 1000)), 0, "rows of the short table", ASIDE },
    { "junit_max", SHAPE(INT(1, 100000)), 0, "cases of the JUnit file", ASIDE },
    END
};

/* What a file and a profile have in common. */
#define SECTIONS                                                                                   \
    { "suites", &suites, TG_KEY_BY_NAME,                                                           \
      "the programs that are gated; the same name changes an earlier suite",                       \
      PARTS(BY_ITEM, TIGHTER) },                                                                   \
        { "baseline", SHAPE(MAP("baseline settings", baseline_keys, "{ref: merge-base}")),         \
          TG_KEY_MERGE, "the commit to compare with", PARTS(BY_KEY, MAYBE_LOOSER) },               \
        { "baselines",                                                                             \
          SHAPE(LIST("a list of baselines", &tg_key_shape_baselines, 1, TG_POLICY_BASELINES,       \
                     "- {name: release, ref: release(v*)}")),                                      \
          TG_KEY_BY_NAME, "other commits that rules are against; keys as in baseline",             \
          PARTS(BY_ITEM, TIGHTER) },                                                               \
        { "require", SHAPE(MAP("requirements", require_keys, "{steps: 3}")), TG_KEY_MERGE,         \
          "what a trace must contain for a verdict", PARTS(BY_KEY, TIGHTER) },                     \
        { "noise", &noise, TG_KEY_MERGE, "the evidence that a duration needs",                     \
          PARTS(BY_KEY, MAYBE_LOOSER) },                                                           \
        { "aliases",                                                                               \
          SHAPE(LIST("a list of aliases", SHAPE(MAP("an alias", alias_keys, "{from: a, to: b}")),  \
                     0, 1000, NULL)),                                                              \
          TG_KEY_APPEND, "names that are the same operation", EFFECT(LOOSER, LOOSER) },            \
        { "rules", &rules, TG_KEY_BY_ID, "what may change, and by how much",                       \
          PARTS(BY_ITEM, TIGHTER) },                                                               \
        { "waivers",                                                                               \
          SHAPE(LIST("a list of waivers",                                                          \
                     SHAPE(MAP("a waiver", waiver_keys,                                            \
                               "{rule: x, ceiling: {pct: 20%}, reason: y, "                        \
                               "expires: 2027-02-28}")),                                           \
                     0, 1000, NULL)),                                                              \
          TG_KEY_APPEND, "violations that are accepted until a date", PARTS(BY_ITEM, LOOSER) },    \
        { "report", SHAPE(MAP("report settings", report_keys, "{top: 10}")), TG_KEY_MERGE,         \
          "sizes of the reports", ASIDE },                                                         \
        { "ab", SHAPE(MAP("settings of tracegate ab", ab_keys, "{detect: 10%, budget: 5min}")),    \
          TG_KEY_MERGE, "how long tracegate ab asks; the command line wins", ASIDE },              \
    {                                                                                              \
        "fail_on", SHAPE(LIST("a list of states", SHAPE(WORD(tg_words_fail_on)), 1, 5, "[fail]")), \
            0, "states that fail the verdict", EFFECT(MAYBE_LOOSER, TIGHTER)                       \
    }

static const struct tg_key profile_keys[] = { SECTIONS, END };

static const struct tg_key class_keys[] = {
    { "name", &glob, TG_KEY_REQUIRED, "name as the trace has it: a glob, whatever the case", OPEN },
    { "class", SHAPE(WORD(tg_words_class)), TG_KEY_REQUIRED, "compute, comm, memory or other",
      OPEN },
    END
};
static const struct tg_key_shape class_rows = { LIST(
    "a list of classes",
    SHAPE(MAP("a class of names", class_keys, "{name: \"*my_allreduce*\", class: comm}")), 0, 1000,
    "- {name: \"*my_allreduce*\", class: comm}") };
/* Of changes: what judges has the number that `decisions` says; layers count by their effect. */
static const struct tg_key policy_keys[] = {
    { "version", SHAPE(.kind = TG_KEY_VERSION, .what = "1", .example = "1"),
      TG_KEY_REQUIRED | TG_KEY_MAIN, "version of the language: 1", ASIDE },
    { "decisions", SHAPE(INT(1, 1000), .example = "2"), 0,
      "number of the rules of evidence to judge by; another program's number is refused", ASIDE },
    { "extends",
      SHAPE(LIST("a list of presets and files", &path, 0, 20, "[tracegate:recommended]")),
      TG_KEY_MAIN, "earlier layers: presets (tracegate:recommended) or files of this repository",
      ASIDE },
    SECTIONS,
    { "profiles",
      SHAPE(.kind = TG_KEY_MAP_OF, .what = "profiles by name", .min = 1, .max = 32,
            .example = "{nightly: {...}}",
            .item = SHAPE(MAP("a profile", profile_keys, "{rules: [...]}"))),
      TG_KEY_MAIN, "later layers, chosen with --profile", ASIDE },
    { "classes", &class_rows, 0,
      "what device work is for, before the built-in table; the first that matches decides", OPEN },
    END
};
const struct tg_key_shape tg_key_shape_policy = { MAP("a policy", policy_keys, "version: 1") };

/* ---- look-up ---- */

const struct tg_key *tg_key_find(const struct tg_key *keys, tg_sv name)
{
    for (; keys->name; keys++)
        if (tg_sv_eq(name, tg_sv_of(keys->name)))
            return keys;
    return NULL;
}

const char *tg_same_name(enum tg_same s)
{
    return tg_words_same[s];
}
