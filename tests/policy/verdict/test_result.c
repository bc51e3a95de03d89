/* Results and notes as the stages of an evaluation add them. */
#include "tests/core/diff/by_hand.h"

#include "policy/verdict/internal.h"

BY_HAND(a_result_knows_its_rule)
{
    struct tg_bound bound = { .kind = TG_BOUND_MAX, .value = 1 };
    struct tg_limit limit = { &bound, 1, TG_NOWHERE };
    const struct tg_rule rule = { .id = TG_SV("r"),
                                  .why = TG_SV("because"),
                                  .owner = TG_SV("team"),
                                  .at = { .file = "p.yml", .line = 3, .col = 5 },
                                  .fail = { TG_LIMIT_ON, &limit, 1, TG_NOWHERE } };
    struct tg_eval_state e = { .n = 0 };
    const struct tg_result *r = tg_eval_add(&e, &rule);
    is_text(r->rule, "r");
    is_text(r->why, "because");
    is_text(r->owner, "team");
    assert_true(r->line == 3 && r->col == 5 && r->budget);
    assert_true(isnan(r->delta_pct) && isnan(r->share));
    assert_int_equal(r->folded_under, TG_NO_ID);
    r = tg_eval_add(&e, NULL);
    is_text(r->rule, "guard");
    assert_true(!r->file && !r->budget);
    assert_int_equal(e.n, 2);
    is_text(e.results[0].rule, "r"); /* the list grew, the first is still there */
    free(e.results);
}

BY_HAND(a_message_has_no_values)
{
    struct tg_result r = { .rule = TG_SV("r") };
    tg_eval_message(&r, TG_STATE_INCONCLUSIVE, TG_SUBJECT_NO_MATCH, TG_NEED_MATCH, TG_SV("op"),
                    TG_SV("m"), TG_SV("n"));
    assert_int_equal(r.state, TG_STATE_INCONCLUSIVE);
    is_text(tg_result_kind(&r), "guard");
    is_text(r.op_normalised, "op");
    is_text(r.next, "n");
    assert_int_equal(r.because, TG_NEED_MATCH);
    assert_false(r.has_values);
    tg_eval_message(&r, TG_STATE_PASS, TG_SUBJECT_TRACE, TG_REASON_NONE, TG_SV("op"), TG_SV("m"),
                    TG_SV(""));
    is_text(tg_result_kind(&r), "trace");
}

/* Texts are copied: the caller's buffers go. */
BY_HAND(notes_are_kept_in_order)
{
    struct tg_verdict v = { .n_notes = 0 };
    char text[] = "first";
    tg_verdict_add_note(&v, f->a, TG_REASON_RANKS, tg_sv_of(text), TG_SV("do"));
    text[0] = 'X';
    tg_verdict_add_note(&v, f->a, TG_REASON_NONE, TG_SV("second"), TG_SV(""));
    assert_int_equal(v.n_notes, 2);
    is_text(v.notes[0].text, "first");
    is_text(v.notes[0].next, "do");
    assert_true(v.notes[0].warning);
    assert_int_equal(v.notes[0].reason, TG_REASON_RANKS);
    assert_false(v.notes[1].warning || v.notes[1].reason);
}
