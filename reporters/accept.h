#ifndef TG_REPORTERS_ACCEPT_H
#define TG_REPORTERS_ACCEPT_H
/* What to do about a failure: the next step in one sentence, and waivers to paste. */
#include "core/base/strmap.h"
#include "policy/verdict/verdict.h"

/* What is next of the verdict as a whole, and whether a verdict that tells nothing blocks; a
 * message. */
void tg_accept_put_hint(struct tg_buf *out, const struct tg_verdict *v);

/* What the first finding itself says is next to do, a sentence to be escaped; "". */
tg_sv tg_accept_next(const struct tg_verdict *v);

/*
 * After it, the first step after a failure or a warning: where to look or how to find out, and how
 * to accept it (`accept`: a sentence of the report, put as it is), or else what explains the limit.
 * Nothing for other outcomes. `put_code` marks places and commands, and escapes; NULL: plain.
 */
void tg_accept_put_next(struct tg_buf *out, const struct tg_verdict *v, const char *accept,
                        void (*put_code)(struct tg_buf *out, tg_sv text));

/* "create `.tracegate.yml`", "add to `.tracegate.yml`": where the text of tg_accept_put_all
 * goes. */
void tg_accept_put_where(struct tg_buf *out, const struct tg_verdict *v,
                         void (*put_code)(struct tg_buf *out, tg_sv text));

/* Does a waiver cover more names than it has? Then a report says so. */
bool tg_accept_covers_more(const struct tg_verdict *v);
#define TG_ACCEPT_COVERS "What follows from a name, as calls that it makes, is accepted with it."

/* The largest changes that one waiver is to cover. */
struct tg_accept_change {
    enum tg_rule_metric metric; /* of its rule */
    enum tg_bound_kind
        bound; /* of the budget that was exceeded, MAX or MIN, and the value; else PCT */
    double value;
    /* In the metric's unit (ns for times), percent of the baseline; signs do not count, NaN:
     * none. */
    double delta, pct;
};
void tg_accept_widen(struct tg_accept_change *c, double delta, double pct);
/* A budget is about the value, not the change: so is what accepts it (tg_result.ceiling). PCT:
 * nothing. */
void tg_accept_budget(struct tg_accept_change *c, enum tg_bound_kind bound, double value);
/* "{abs: 4}", "{pct: 18%}", of a budget "{max: 9017us}": a ceiling above them, in a bound that the
 * metric has; a quarter more unless they are exact numbers. */
void tg_accept_put_ceiling(struct tg_buf *out, const struct tg_accept_change *c);

/* One name to be waived under a rule. Those of one `finding` are one item of `waivers`, or several
 * where they are many. */
struct tg_accept_waiver {
    tg_sv rule, name;
    size_t finding, order, first; /* first: order of the first of its finding under its rule */
    struct tg_accept_change change;
};
struct tg_accept_list {
    struct tg_accept_waiver *v;
    size_t n, cap;
    struct tg_strmap at; /* to be initialised: "rule name" -> its place in `v` */
};
/* The one of a name under a rule; until the next call. A new one is of that finding. */
struct tg_accept_waiver *tg_accept_for(struct tg_accept_list *l, tg_sv rule, tg_sv name,
                                       enum tg_rule_metric metric, size_t finding);
void tg_accept_release(struct tg_accept_list *l);

struct tg_accept_words {
    tg_sv rest;   /* YAML: "reason: why, owner: me, expires: 2027-02-28" */
    bool visible; /* to be pasted: not too many, and names that are what they look like */
};
enum {
    TG_ACCEPT_ITEMS = 8,
    TG_ACCEPT_NAMES = 40,
    TG_ACCEPT_NAME = 512, /* bytes */
    TG_ACCEPT_MOST = 1000 /* a policy takes no more */
};
/* The items of `waivers`, in the order of findings. Returns how many names they do not have. Sorts
 * the list. */
size_t tg_accept_put_list(struct tg_buf *out, struct tg_accept_list *l,
                          const struct tg_accept_words *words);
/*
 * Waivers for all failures, without reason, owner and date: of each finding one item, with those of
 * its consequences that it does not cover. Text that loads where tg_accept_put_where says: a whole
 * policy, `waivers:`, or the items of that list alone. Nothing if there is no waiver. Returns how
 * many did not fit; `*first`: the first finding, or NULL.
 */
size_t tg_accept_put_all(struct tg_buf *out, const struct tg_verdict *v,
                         const struct tg_result **first);
#endif
