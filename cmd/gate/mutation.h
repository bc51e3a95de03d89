#ifndef TG_CMD_GATE_MUTATION_H
#define TG_CMD_GATE_MUTATION_H
/*
 * Can a rule fail? Regressions that its metric, match and direction are about are injected into the
 * fresh side, small ones first, up to three times as long or as often; the rule's result is the
 * answer. If a threefold regression of its largest names survives, the rule cannot work as
 * intended.
 */
#include "cmd/gate/gate.h"

enum tg_mutation_outcome {
    TG_MUTATION_RED,   /* an injected regression failed */
    TG_MUTATION_WARNS, /* the rule has no `fail` limit; an injected regression warned */
    TG_MUTATION_SURVIVES,
    TG_MUTATION_NO_MATCH, /* the traces have no name that the rule is about */
    TG_MUTATION_SKIPPED,  /* optional, and the traces have nothing that it is about */
    TG_MUTATION_UNTESTED  /* more runs are needed to tell */
};
const char *
tg_mutation_outcome_name(enum tg_mutation_outcome s); /* "red", "warns", "survived", … */

struct tg_mutation_result {
    const struct tg_rule *rule;
    enum tg_mutation_outcome outcome;
    tg_sv injected;  /* "aten::mm is called once more a step" */
    tg_sv said;      /* the rule's result */
    bool not_judged; /* that is why it did not turn red */
    tg_sv reason;    /* SURVIVES, SKIPPED, UNTESTED: why, and */
    tg_sv fix;       /* what to do */
    tg_sv unfused; /* "aten::mm is replaced by two"; "": not tried, the rule counts no more calls */
    bool sees_unfused;
    size_t tried;
};

struct tg_mutation {
    const struct tg_policy *policy;
    const struct tg_suite *suite;
    const struct tg_io *io;
    const struct tg_compare_opts *compare;
    struct tg_side side[2];                 /* the fresh side gets the injections */
    const struct tg_comparison *uninjected; /* of the two; NULL: each rule compares them again */
    struct tg_arena *arena;                 /* texts of the answers */
};
TG_MUST bool tg_mutation_try(struct tg_mutation_result *out, const struct tg_mutation *b,
                             const struct tg_rule *rule, struct tg_err *err);
#endif
