/* tracegate selftest: can the policy fail? The baseline must pass against itself, and an injected
 * violation must turn each rule red. Exit 1 if one survives. */
#include <malloc.h>

#include "cmd/gate/gate.h"
#include "cmd/gate/mutation.h"
#include "core/base/message.h"
#include "policy/language/keys.h"

/* From this many runs on they are split, so that the sides differ by real noise. */
#define SPLIT_RUNS 6

struct selftest_opts {
    struct tg_gate_opts gate;
    enum tg_format format;
};
static const struct tg_opt selftest_options[] = {
    TG_GATE_OPTIONS(struct selftest_opts, gate),
    { "format", TG_OPT_FORMAT, offsetof(struct selftest_opts, format), "text|json",
      "text is the default" },
    { 0 },
};

struct job {
    const struct selftest_opts *o;
    const struct tg_io *io;
    struct tg_gate_same same;
    struct tg_mutation mutation;
    struct tg_verdict self;               /* base against base */
    const struct tg_comparison *compared; /* the last one */
    tg_sv sides;                          /* which runs were compared */
    struct tg_mutation_result *seen;      /* of each rule */
    size_t n[TG_MUTATION_UNTESTED + 1];
};

/* What is compared serves every rule. */
static bool judge(struct job *j, const struct tg_side side[2], struct tg_verdict *v,
                  struct tg_err *err)
{
    struct tg_gate *g = TG_NEW(j->same.arena, struct tg_gate);
    *g = (struct tg_gate){ .policy = j->same.policy,
                           .suite = j->mutation.suite,
                           .io = j->io,
                           .compare = j->same.compare,
                           .arena = j->same.arena };
    g->side[TG_BASE] = side[TG_BASE];
    g->side[TG_TEST] = side[TG_TEST];
    j->compared = &g->comparison;
    return tg_gate_judge(v, g, err);
}

/*
 * Every second run against the others, so that both halves cover the time of recording. If the
 * halves differ by themselves, an injected change would prove nothing; then, and with few runs, all
 * runs are compared with themselves.
 */
static bool choose_sides(struct job *j, struct tg_err *err)
{
    size_t n = j->same.all.n_runs, *pick = TG_NEW_N(j->same.arena, size_t, n + 1),
           half[2] = { 0, 0 };
    struct tg_side side[2];
    struct tg_verdict v;
    j->mutation.side[TG_BASE] = j->mutation.side[TG_TEST] = j->same.all;
    j->sides = TG_SV_PRINTF(j->same.arena, "all %zu run%s against themselves, changed", n,
                            n == 1 ? "" : "s");
    j->mutation.uninjected = j->compared;
    if (n < SPLIT_RUNS)
        return true;
    for (int k = 0; k < 2; k++) {
        for (size_t i = (size_t)k; i < n; i += 2)
            pick[half[k]++] = i;
        side[k] = tg_gate_subset(&j->same.all, pick, half[k], j->same.arena);
    }
    if (!judge(j, side, &v, err))
        return false;
    if (v.outcome == TG_OUTCOME_FAIL) {
        j->sides = TG_SV_PRINTF(
            j->same.arena,
            "all %zu runs against themselves, changed: the halves differ unchanged (%.*s)", n,
            TG_SV_ARG(v.headline));
        return true;
    }
    j->mutation.uninjected = j->compared;
    j->mutation.side[TG_BASE] = side[TG_BASE];
    j->mutation.side[TG_TEST] = side[TG_TEST];
    j->sides =
        TG_SV_PRINTF(j->same.arena, "%zu runs, every second one, against the other %zu, changed",
                     half[0], half[1]);
    return true;
}

/* ---- the answer ---- */

/* Rules that found nothing to judge speak for themselves below; a guard (`require`) does not. */
static bool self_passes(const struct job *j)
{
    for (size_t i = 0; i < j->self.n_results; i++)
        if (j->self.results[i].subject == TG_SUBJECT_REQUIRE)
            return false;
    return j->self.outcome != TG_OUTCOME_FAIL;
}

/* The rules with this outcome: "rule 'a'", "rules 'a', 'b'". */
static const char *rules_with(const struct job *j, enum tg_mutation_outcome outcome)
{
    TG_BUF b = { 0 };
    tg_buf_printf(&b, "rule%s", j->n[outcome] == 1 ? "" : "s");
    for (size_t i = 0, n = 0; i < j->same.policy->n_rules; i++)
        if (j->seen[i].outcome == outcome)
            tg_buf_printf(&b, "%s '%.*s'", n++ ? "," : "", TG_SV_ARG(j->seen[i].rule->id));
    return tg_arena_sv(j->same.arena, tg_buf_sv(&b)).p;
}

/* NULL: the policy sees. */
static const char *why_survives(const struct job *j)
{
    if (!self_passes(j))
        return "the baseline does not pass against itself";
    if (j->n[TG_MUTATION_SURVIVES])
        return tg_arena_printf(j->same.arena, "%zu of %zu rules cannot work as intended",
                               j->n[TG_MUTATION_SURVIVES], j->same.policy->n_rules);
    if (j->n[TG_MUTATION_NO_MATCH])
        return tg_arena_printf(j->same.arena, "%s match%s nothing on these traces",
                               rules_with(j, TG_MUTATION_NO_MATCH),
                               j->n[TG_MUTATION_NO_MATCH] == 1 ? "es" : "");
    if (j->n[TG_MUTATION_RED])
        return NULL;
    if (j->n[TG_MUTATION_WARNS] && !j->n[TG_MUTATION_UNTESTED])
        return "no rule can fail, they only warn: give one a `fail` limit, or set fail_on: [warn]";
    return "no rule was seen to fail";
}

static void put_text(const struct job *j, struct tg_buf *out)
{
    const char *why = why_survives(j);
    tg_buf_printf(out, "base against base: %.*s\ninjected: %.*s\n\n", TG_SV_ARG(j->self.headline),
                  TG_SV_ARG(j->sides));
    for (size_t i = 0; i < j->same.policy->n_rules; i++) {
        const struct tg_mutation_result *s = &j->seen[i];
        tg_sv what = s->reason.n ? s->reason : s->injected;
        if (s->outcome == TG_MUTATION_SKIPPED)
            continue;
        /* As in JSON; what has to be looked at is in capitals. */
        tg_buf_printf(out, "  %-8s  %.*s: %.*s\n",
                      s->outcome == TG_MUTATION_SURVIVES   ? "SURVIVED"
                      : s->outcome == TG_MUTATION_NO_MATCH ? "NO MATCH"
                                                           : tg_mutation_outcome_name(s->outcome),
                      TG_SV_ARG(s->rule->id), TG_SV_ARG(what));
        if (s->unfused.n)
            tg_buf_printf(out, "            %s %.*s\n", s->sees_unfused ? "and" : "NOT",
                          TG_SV_ARG(s->unfused));
        /* What a rule lets pass as a warning, or does not judge: "renamed, polling". */
        const char *before = "            excepts: ";
        for (int x = TG_EXCEPTION_NONE + 1; x <= TG_EXCEPTION_CHANCE; x++)
            if (s->rule->exceptions & 1u << x) {
                tg_buf_printf(out, "%s%s%s", before, tg_reason_said((enum tg_reason)x),
                              x == TG_EXCEPTION_POLLING ? " (not judged)" : " (only warns)");
                before = ", ";
            }
        tg_buf_puts(out, s->rule->exceptions ? "\n" : "");
        if (s->outcome == TG_MUTATION_RED || s->outcome == TG_MUTATION_WARNS)
            continue;
        if ((s->outcome == TG_MUTATION_SURVIVES || s->outcome == TG_MUTATION_NO_MATCH) &&
            s->rule->at.file)
            tg_buf_printf(out, "            %s:%u\n", s->rule->at.file, s->rule->at.line);
        tg_buf_printf(out, "            -> %.*s\n", TG_SV_ARG(s->fix));
    }
    if (j->n[TG_MUTATION_SKIPPED])
        tg_buf_printf(
            out, "  skipped   %s: optional, and these traces have nothing to judge by %s\n",
            rules_with(j, TG_MUTATION_SKIPPED), j->n[TG_MUTATION_SKIPPED] == 1 ? "it" : "them");
    if (why)
        tg_buf_printf(out, "\n%s: %s\n",
                      j->n[TG_MUTATION_NO_MATCH] && !j->n[TG_MUTATION_SURVIVES] && self_passes(j)
                          ? "NO MATCH"
                          : "FAIL",
                      why);
    else
        tg_buf_printf(out, "\nOK: %zu rule%s turned red, %zu warned, %zu skipped, %zu untested\n",
                      j->n[TG_MUTATION_RED], j->n[TG_MUTATION_RED] == 1 ? "" : "s",
                      j->n[TG_MUTATION_WARNS], j->n[TG_MUTATION_SKIPPED],
                      j->n[TG_MUTATION_UNTESTED]);
}

static bool run_job(struct job *j, struct tg_err *err)
{
    TG_BUF out = { 0 }, plain = { 0 };
    j->mutation = (struct tg_mutation){ .policy = j->same.policy,
                                        .suite = j->same.suite,
                                        .io = j->io,
                                        .compare = &j->same.compare,
                                        .arena = j->same.arena };
    struct tg_side same[2] = { j->same.all, j->same.all };
    if (!judge(j, same, &j->self, err) || !choose_sides(j, err))
        return false;
    j->seen = TG_NEW_N(j->same.arena, struct tg_mutation_result, j->same.policy->n_rules + 1);
    for (size_t i = 0; i < j->same.policy->n_rules; i++) {
        if (!tg_mutation_try(&j->seen[i], &j->mutation, &j->same.policy->rules[i], err))
            return tg_err_context(err, "injecting a violation of rule '%.*s'",
                                  TG_SV_ARG(j->same.policy->rules[i].id));
        j->n[j->seen[i].outcome]++;
    }
    if (j->o->format == TG_FORMAT_JSON) {
        struct tg_doc *root = tg_doc_new_object(), *rules;
        const char *why = why_survives(j);
        tg_doc_add_str(root, "schema", TG_SV("tracegate-selftest-v2"));
        tg_doc_add_bool(root, "passed", !why);
        tg_doc_add_str(root, "why", tg_sv_of(why ? why : ""));
        tg_doc_add_str(root, "self", tg_sv_of(tg_outcome_name(j->self.outcome)));
        tg_doc_add_str(root, "sides", j->sides);
        rules = tg_doc_add_array(root, "rules");
        for (size_t i = 0; i < j->same.policy->n_rules; i++) {
            const struct tg_mutation_result *s = &j->seen[i];
            struct tg_doc *r = tg_doc_add_object(rules, NULL);
            tg_doc_add_str(r, "id", s->rule->id);
            tg_doc_add_str(r, "outcome", tg_sv_of(tg_mutation_outcome_name(s->outcome)));
            tg_doc_add_str(r, "injected", s->injected);
            tg_doc_add_str(r, "said", s->said);
            tg_doc_add_str(r, "reason", s->reason);
            tg_doc_add_str(r, "fix", s->fix);
            tg_doc_add_str(r, "unfused", s->unfused);
            tg_doc_add_bool(r, "sees_unfused", s->sees_unfused);
            tg_doc_add_i64(r, "tried", (int64_t)s->tried);
            struct tg_doc *list = tg_doc_add_array(r, "exceptions");
            for (int x = 0; tg_words_exception[x]; x++)
                if (s->rule->exceptions & 2u << x)
                    tg_doc_add_str(list, NULL, tg_sv_of(tg_words_exception[x]));
            tg_doc_add_str(r, "file", tg_sv_of(s->rule->at.file ? s->rule->at.file : ""));
            tg_doc_add_i64(r, "line", s->rule->at.line);
        }
        tg_doc_write(root, TG_DOC_INDENTED, &out);
        tg_doc_free(root);
    } else {
        put_text(j, &out);
    }
    tg_message_put_plain(&plain, tg_buf_sv(&out));
    return tg_io_put(j->io, tg_buf_sv(&plain), err);
}

static int selftest_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    struct job j = { .o = c->opts, .io = c->io };
#ifdef M_TRIM_THRESHOLD
    /* Each violation is judged in memory of its own, 40 MB with 3,200 names: the next one's. */
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
    bool ok = tg_gate_same_open(&j.same, &j.o->gate, c, "selftest", 1, err) && run_job(&j, err);
    int code = !ok ? tg_err_exit_code(err->kind) : why_survives(&j) ? 1 : 0;
    tg_gate_same_release(&j.same);
    return code;
}

const struct tg_cmd tg_cmd_selftest = {
    .name = "selftest",
    .summary = "prove that a policy can fail",
    .synopsis = "[TRACE...] [--policy FILE]",
    .about =
        "Compares runs of one commit with themselves, which must pass. Then it injects a violation "
        "for each rule: a slower operator, one more call, a name that is gone, other launches, a "
        "longer step. For a rule that sees one more call it also replaces one operator by two; NOT "
        "means that the rule does not see that. A rule that passes even a threefold regression "
        "lets it survive: it is listed with the reason and the fix. Rules that match no name of "
        "these traces, and exceptions of a rule, are listed too.\n\n"
        "TRACE are runs of one commit; default: the stored runs of the suite at HEAD or before it, "
        "or its baseline in HEAD. With six or more runs, every second one is the baseline and the "
        "others are changed; with fewer, all runs are compared with themselves. Durations need "
        "three runs.\n\n"
        "Exit codes: 0 the policy sees every injected regression, 1 one survives or a rule matches "
        "nothing, 2 bad policy or command line, 3 unusable input.",
    .options = selftest_options,
    .opts_size = sizeof(struct selftest_opts),
    .run = selftest_run,
};
