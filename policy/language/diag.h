#ifndef TG_POLICY_LANGUAGE_DIAG_H
#define TG_POLICY_LANGUAGE_DIAG_H
/*
 * Everything that is wrong with a policy, at once. A diagnostic has a code (TG1xx error, TG2xx
 * warning; docs/policy-diagnostics.md lists them), the place of the value, a reason in lower case and a fix.
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
 * shape, 11x-12x limits and rules, 13x identities, 14x waivers and layers, 2xx warnings.
 */
enum tg_diag_code {
    TG_DIAG_UNKNOWN_KEY = 101,
    TG_DIAG_TYPE = 102,         /* a list where a mapping belongs, ... */
    TG_DIAG_MISSING = 103,      /* a required key */
    TG_DIAG_WORD = 104,         /* not one of the words allowed here */
    TG_DIAG_NUMBER = 105,       /* not a whole number, or outside its range */
    TG_DIAG_VERSION = 106,      /* a version this program does not know */
    TG_DIAG_TEXT = 107,         /* empty, too long, or characters that are not allowed here */
    TG_DIAG_DECISIONS = 108,    /* this program judges by other rules of evidence */
    TG_DIAG_EMPTY_LIST = 109,   /* a list or mapping that must not be empty, or is too long */
    TG_DIAG_BOUND_NUMBER = 111, /* a bound that is not a number */
    TG_DIAG_BOUND_UNIT = 112,   /* a bound without its unit */
    TG_DIAG_BOUND_FIT = 113,    /* a unit that does not fit the metric */
    TG_DIAG_BOUND_LEGAL = 114,  /* a bound the metric does not have */
    TG_DIAG_PCT_OF_PERCENT = 115,
    TG_DIAG_BOUND_RANGE = 116, /* negative, or beyond every real value */
    TG_DIAG_ATTR_LIMIT = 117,  /* launch attributes are equal or not */
    TG_DIAG_NEVER = 118,       /* bounds that cannot all be exceeded */
    TG_DIAG_DIRECTION = 119,   /* the metric has no direction */
    TG_DIAG_MATCH_SCOPE = 120, /* match keys that mean nothing for this metric */
    TG_DIAG_NEEDS_ABS = 121,   /* added, removed */
    TG_DIAG_NEEDS_MATCH = 122, /* a metric per name without `match:` */
    TG_DIAG_NO_LIMIT = 123,    /* a rule or override that says nothing */
    TG_DIAG_PATTERN = 125,     /* a pattern that does not compile or is too long */
    TG_DIAG_RULE_TWICE = 130,
    TG_DIAG_RULE_UNKNOWN = 131, /* remove: or waiver: of a rule that does not exist */
    TG_DIAG_SUITE_TWICE = 132,
    TG_DIAG_BASELINE_TWICE = 133,
    TG_DIAG_BASELINE_UNKNOWN = 134, /* `against` a baseline that does not exist */
    TG_DIAG_PROFILE = 135,          /* the selected profile does not exist */
    TG_DIAG_WAIVER_NAME = 140,
    TG_DIAG_WAIVER_EXPIRES = 141,
    TG_DIAG_EXTENDS_READ = 145,
    TG_DIAG_EXTENDS_CYCLE = 146,
    TG_DIAG_EXTENDS_DEPTH = 147,
    TG_DIAG_EXTENDS_OUTSIDE = 148, /* leaves the repository, or is a URL */
    TG_DIAG_PRESET = 149,
    TG_DIAG_READ = 150, /* unreadable or too large */
    TG_DIAG_UTF8 = 151,
    TG_DIAG_SYNTAX = 152,
    TG_DIAG_TAB = 153,
    TG_DIAG_DOCUMENTS = 154,
    TG_DIAG_TAG = 155,
    TG_DIAG_MERGE = 156,
    TG_DIAG_ALIAS = 157,
    TG_DIAG_DEPTH = 158,
    TG_DIAG_DUPLICATE_KEY = 159,
    TG_DIAG_KEY = 160,
    TG_DIAG_EMPTY = 161,
    TG_DIAG_NODES = 162,
    TG_DIAG_BARE_PCT = 204,    /* warning: pct without an abs floor on a duration */
    TG_DIAG_SILENT = 206,      /* warning: every limit of a rule is off */
    TG_DIAG_WARN_ABOVE = 210,  /* warning: warn is not below fail */
    TG_DIAG_SHADOWED = 211,    /* warning: a later override of the same match hides this one */
    TG_DIAG_NO_MATCH = 221,    /* warning: a pattern matches none of the given names */
    TG_DIAG_NO_STEPS = 222,    /* warning: a window that leaves no step of the given traces */
    TG_DIAG_NO_EVIDENCE = 230, /* warning: durations judged without or with too little evidence */
    TG_DIAG_WAIVER_EXPIRED = 231,  /* warning: expired, or within 14 days of it */
    TG_DIAG_NOTHING = 240,         /* warning: the policy has no rules */
    TG_DIAG_UNUSED_BASELINE = 241, /* warning: a baseline that no rule is against */
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
void tg_diags_sort(struct tg_diags *d); /* before rendering; the loader and lint have done it */

/*
 * Text: one block a diagnostic with source line, caret and fix, then the line of totals. LF only;
 * controls of the source are made visible.
 */
void tg_diags_text(const struct tg_diags *d, struct tg_buf *out);
/*
 * The same data as an array of objects {code, severity, file, line, column, length, message, fix}.
 */
void tg_diags_json(const struct tg_diags *d, struct tg_doc *parent, const char *key);
#endif
