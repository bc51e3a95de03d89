#ifndef TG_POLICY_LANGUAGE_DIAG_H
#define TG_POLICY_LANGUAGE_DIAG_H
/*
 * Everything that is wrong with a policy, at once. A diagnostic has a code (TG1xx error, TG2xx
 * warning), the place of the value, a reason in lower case and a fix.
 * Rendered sorted by file (in loading order) and position; at most TG_DIAGS_MAX are shown, the rest
 * is counted. Equal reports about one place are kept once.
 */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/doc.h"
#include "core/base/err.h"

#define TG_DIAGS_MAX 50    /* shown */
#define TG_DIAGS_KEPT 1000 /* kept for sorting; after that only counted, repeats included */

/*
 * Every code, once. Numbers are stable: people search for them. 15x/16x the YAML itself, 10x the
 * shape, 11x-12x limits and rules, 13x identities, 14x waivers and layers, 2xx warnings. The
 * comments are the list of docs/policy-diagnostics.md (tests/e2e/reference.py): one on each line.
 */
enum tg_diag_code {
    TG_DIAG_UNKNOWN_KEY = 101, /* unknown key */
    TG_DIAG_TYPE = 102,        /* a list where a mapping belongs, or nothing at all */
    TG_DIAG_MISSING = 103,     /* a required key is missing */
    TG_DIAG_WORD = 104,        /* not one of the words that are allowed here */
    TG_DIAG_NUMBER = 105,      /* not a whole number, or outside its range */
    TG_DIAG_VERSION = 106,     /* another version of the language */
    TG_DIAG_TEXT = 107, /* a text that is empty, too long, or has characters not allowed here */
    TG_DIAG_DECISIONS = 108,  /* `decisions` asks for other rules of evidence than this program's */
    TG_DIAG_EMPTY_LIST = 109, /* a list or mapping that is empty or too long */
    TG_DIAG_BOUND_NUMBER = 111,   /* a bound that is not a number */
    TG_DIAG_BOUND_UNIT = 112,     /* a bound without its unit */
    TG_DIAG_BOUND_FIT = 113,      /* a unit that does not fit the metric */
    TG_DIAG_BOUND_LEGAL = 114,    /* a bound that the metric does not have */
    TG_DIAG_PCT_OF_PERCENT = 115, /* `pct` of a metric that is itself a percentage */
    TG_DIAG_BOUND_RANGE = 116,    /* a bound with a sign, or beyond every real value */
    TG_DIAG_ATTR_LIMIT = 117,     /* an amount of change for a launch attribute */
    TG_DIAG_NEVER = 118,        /* bounds that cannot all be exceeded, or a ceiling never reached */
    TG_DIAG_DIRECTION = 119,    /* `direction` of a metric that has only one */
    TG_DIAG_MATCH_SCOPE = 120,  /* match keys or overrides that mean nothing for the metric */
    TG_DIAG_NEEDS_ABS = 121,    /* `added` and `removed` need `abs` or `max` */
    TG_DIAG_NEEDS_MATCH = 122,  /* a metric per name without `match` */
    TG_DIAG_NO_LIMIT = 123,     /* a rule or override without any limit */
    TG_DIAG_PATTERN = 125,      /* a pattern that does not compile */
    TG_DIAG_RULE_TWICE = 130,   /* two rules with one id in a file */
    TG_DIAG_RULE_UNKNOWN = 131, /* a rule to remove or to waive that does not exist */
    TG_DIAG_SUITE_TWICE = 132,  /* two suites with one name */
    TG_DIAG_BASELINE_TWICE = 133,   /* two baselines with one name */
    TG_DIAG_BASELINE_UNKNOWN = 134, /* `against` a baseline that does not exist */
    TG_DIAG_PROFILE = 135,          /* the selected profile does not exist */
    TG_DIAG_WAIVER_NAME =
        140, /* a waiver's name that is missing, unknown, or a pattern without `many` */
    TG_DIAG_WAIVER_EXPIRES = 141,  /* a waiver without a usable last day, at most 180 days ahead */
    TG_DIAG_EXTENDS_READ = 145,    /* a file to extend cannot be read */
    TG_DIAG_EXTENDS_CYCLE = 146,   /* a file extends itself */
    TG_DIAG_EXTENDS_DEPTH = 147,   /* too many files or too deep */
    TG_DIAG_EXTENDS_OUTSIDE = 148, /* a file to extend is outside the repository */
    TG_DIAG_PRESET = 149,          /* no such preset */
    TG_DIAG_READ = 150,            /* the policy cannot be read, or is larger than 1 MiB */
    TG_DIAG_UTF8 = 151,            /* not UTF-8 */
    TG_DIAG_SYNTAX = 152,          /* not YAML */
    TG_DIAG_TAB = 153,             /* a tab */
    TG_DIAG_DOCUMENTS = 154,       /* several documents */
    TG_DIAG_TAG = 155,             /* a tag */
    TG_DIAG_MERGE = 156,           /* a merge key */
    TG_DIAG_ALIAS = 157,           /* an alias without anchor, inside its anchor, or too large */
    TG_DIAG_DEPTH = 158,           /* nested too deep */
    TG_DIAG_DUPLICATE_KEY = 159,   /* a key that is used twice */
    TG_DIAG_KEY = 160,             /* a key that is not text */
    TG_DIAG_EMPTY = 161,           /* an empty file */
    TG_DIAG_NODES = 162,           /* too many values */
    TG_DIAG_BARE_PCT = 204,        /* `pct` without `abs` on a duration */
    TG_DIAG_SILENT = 206,          /* a rule whose limits are all off */
    TG_DIAG_WARN_ABOVE = 210,      /* `warn` is not below `fail` */
    TG_DIAG_SHADOWED = 211,        /* an override that a later one hides */
    TG_DIAG_NO_MATCH = 221,        /* a pattern that matches none of the trace's names */
    TG_DIAG_NO_STEPS = 222,    /* `skip_first` and `skip_last` leave no step of the given traces */
    TG_DIAG_NO_EVIDENCE = 230, /* durations that fail without, or with too little, evidence */
    TG_DIAG_WAIVER_EXPIRED = 231,  /* a waiver that expired or ends within 14 days */
    TG_DIAG_WAIVER_WORDS = 232,    /* a waiver whose reason or owner nobody wrote yet */
    TG_DIAG_NOTHING = 240,         /* a policy without rules */
    TG_DIAG_UNUSED_BASELINE = 241, /* a baseline that no rule is against */
    TG_DIAG_PLACEHOLDER = 250,     /* a workflow beside it whose action is still a placeholder */
};

enum tg_severity { TG_SEV_ERROR, TG_SEV_WARNING };

struct tg_diag {
    enum tg_diag_code code; /* 101: "TG101" */
    enum tg_severity severity;
    struct tg_loc at;     /* file NULL: not about a file */
    uint32_t length;      /* columns underlined, at least 1 */
    tg_sv message, fix;   /* fix may be "" */
    size_t source, order; /* for sorting */
};

struct tg_diags {
    struct tg_arena *arena; /* owns the texts */
    struct tg_diag *v;
    size_t n, cap;
    size_t errors, warnings;        /* including those beyond the cap: a policy with an error
                                       never loads */
    size_t refusals;                /* errors reported, repeats included: > 0 more is wrong */
    struct tg_diag_source *sources; /* texts of the files, for the source lines */
    size_t n_sources, cap_sources;
};

void tg_diags_init(struct tg_diags *d);
void tg_diags_release(struct tg_diags *d);

/* Remembers the text of a file (copied), in loading order. */
void tg_diags_source(struct tg_diags *d, const char *file, tg_sv text);
/* Adds one; codes from 200 on are warnings; `fix` may be NULL. Always returns false. */
bool tg_diags_add(struct tg_diags *d, enum tg_diag_code code, struct tg_loc at, size_t length,
                  const char *fix, const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* "did you mean 'X'?", as a fix; NULL: none of the words is near. */
const char *tg_diags_guess(struct tg_diags *d, tg_sv typed, const char *const *words);
void tg_diags_sort(struct tg_diags *d); /* before rendering; the loader and lint have done it */

/* Text: one block a diagnostic with source line, caret and fix, then the line of totals. LF only;
 * controls of the source are made visible. */
void tg_diags_text(const struct tg_diags *d, struct tg_buf *out);
/*
 * The same data as an array of objects {code, severity, file, line, column, length, message, fix}.
 */
void tg_diags_json(const struct tg_diags *d, struct tg_doc *parent, const char *key);
#endif
