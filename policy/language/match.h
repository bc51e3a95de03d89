#ifndef TG_POLICY_LANGUAGE_MATCH_H
#define TG_POLICY_LANGUAGE_MATCH_H
/*
 * Name patterns, compiled once when the policy loads. A text between slashes is a PCRE2 regular
 * expression, searched anywhere in the name (anchor it yourself); anything else is a glob over the
 * whole name, '*' any run and '?' one byte. Regexes run interpreted under a step, depth and heap
 * budget; if the budget runs out, the answer is GAVE_UP, never a silent "no": the rule is
 * inconclusive. After a few such answers a pattern is spent and answers GAVE_UP at once, so that a
 * hostile policy costs milliseconds, not milliseconds a name. Not thread-safe: a pattern owns the
 * scratch memory of its matches.
 */
#include "core/base/arena.h"
#include "core/base/err.h"

#define TG_PATTERN_MAX 512           /* bytes of one pattern */
#define TG_PATTERN_SUBJECT_MAX 65536 /* bytes of a name a regex looks at; longer: GAVE_UP */
#define TG_PATTERN_STEPS 200000u     /* match() calls of one search: some milliseconds */
#define TG_PATTERN_DEPTH 10000u      /* nested backtracking points */
#define TG_PATTERN_HEAP_KIB 8192u    /* memory of one search */
#define TG_PATTERN_GIVE_UPS 3u       /* after that a pattern is spent */

struct tg_pattern; /* lives in the arena it was made in; release before the arena is freed */

enum tg_hit { TG_HIT_NO, TG_HIT_YES, TG_HIT_GAVE_UP };

/* How a waiver gives a name as it is: by itself, with `many: true` because it reads as a pattern,
 * or not at all. A text that is too long for a pattern is read as a name. */
enum tg_waiver_naming { TG_WAIVER_EXACT, TG_WAIVER_MANY, TG_WAIVER_NEVER };
enum tg_waiver_naming tg_waiver_naming(tg_sv name);
/* What stands where whoever accepts it has to write: `policy lint` finds it. */
#define TG_WAIVER_REASON "why this is accepted"
#define TG_WAIVER_OWNER "who removes it"
#define TG_WAIVER_UNSAID "\xe2\x80\xa6"
#define TG_WAIVER_NAME_MAX TG_PATTERN_SUBJECT_MAX /* bytes; kernels have names of 5,000 */
/*
 * Appends what a waiver writes for this name alone: the name, or, if that would be a pattern, a
 * regex that matches nothing else (*many: such a waiver needs `many: true`). False: no waiver can
 * name it.
 */
TG_MUST bool tg_waiver_write(struct tg_buf *out, tg_sv name, bool *many);

/* Compiles `text`. NULL: it does not compile; `why` (size bytes) is the reason and `*at` the byte
 * of `text` that it is about. */
TG_MUST struct tg_pattern *tg_pattern_new(tg_sv text, struct tg_arena *a, char *why, size_t size,
                                          size_t *at);
/* Of a name of any length; never a regex. */
struct tg_pattern *tg_pattern_of_name(tg_sv name, struct tg_arena *a);
void tg_pattern_release(struct tg_pattern *p); /* accepts NULL */

enum tg_hit tg_pattern_test(const struct tg_pattern *p, tg_sv name);
/*
 * The text of the first group of a regex; false: no match, gave up, or the group did not take part.
 */
bool tg_pattern_group(const struct tg_pattern *p, tg_sv text, tg_sv *out);
size_t tg_pattern_groups(const struct tg_pattern *p); /* of a regex; 0 for a glob */
tg_sv tg_pattern_text(const struct tg_pattern *p);
bool tg_pattern_is_regex(const struct tg_pattern *p);

/* A list means "any of them"; the empty list is "not given" and never tested. */
struct tg_patterns {
    struct tg_pattern **v;
    const struct tg_loc *at; /* where each was written */
    size_t n;
};

/* YES if one matches; else GAVE_UP if one gave up; else NO. */
enum tg_hit tg_patterns_test(const struct tg_patterns *list, tg_sv name);
#endif
