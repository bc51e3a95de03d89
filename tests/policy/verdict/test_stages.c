/* Whether a verdict is final, what it asks for and what it says (stages.c),
 * on results made by hand. */
#include "by_hand.h"

#include "core/diff/confirm.h"

static void in_stages(struct hand *h, struct tg_asking *asking, size_t first, size_t new)
{
    *asking = tg_asking_of(first, new, 17, .2);
    h->c.asking = asking;
}

static struct tg_result asked(struct hand *h, const char *name, enum tg_asked what)
{
    struct tg_evidence *ev = TG_NEW(h->a, struct tg_evidence);
    struct tg_result r = hand_row(name, 1);
    *ev = hand_evidence(1000, .3);
    ev->asked = what;
    ev->noise = .3;
    ev->tell_runs = 40;
    r.state = TG_STATE_NOT_JUDGED;
    r.ev = ev;
    return r;
}

WITH_HAND(open_names_ask_for_new_runs)
{
    struct tg_asking asking;
    struct tg_result rows[5];
    in_stages(h, &asking, 5, 0);
    for (size_t i = 0; i < 5; i++)
        rows[i] = asked(h, (const char *[]){ "a", "b", "c", "d", "e" }[i], TG_ASKED_OPEN);
    (void)hand_results(h, rows, 5);
    tg_stages_close(&h->e);
    assert_int_equal((int)h->v.n_suspects, 5);
    assert_int_equal(h->e.results[5].state, TG_STATE_INCONCLUSIVE);
    hand_text(h->e.results[5].message,
              "look slower, and are asked again: a +30.0 % (+30.0 to +30.0 %), b +30.0 % (+30.0 to "
              "+30.0 %), c +30.0 % (+30.0 to +30.0 %) and 2 more");
    hand_text(h->e.results[5].next, "Record 9 runs a side in all: new ones tell.");
    h->v.outcome = TG_OUTCOME_INCONCLUSIVE;
    assert_int_equal((int)tg_stages_next(&h->e), 9);
    h->v.outcome = TG_OUTCOME_FAIL; /* whatever is open */
    assert_int_equal((int)tg_stages_next(&h->e), 0);
}

WITH_HAND(what_cannot_be_told_says_how_many_runs_would)
{
    struct tg_asking asking;
    struct tg_result row = asked(h, "wild", TG_ASKED_UNTOLD);
    in_stages(h, &asking, 5, 12);
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    hand_text(h->e.results[1].message,
              "cannot be told within 17 runs a side: wild (varies by 30.0 %)");
    hand_text(h->e.results[1].next,
              "About 45 runs a side would tell (--max-runs), or a larger --detect.");
    h->v.outcome = TG_OUTCOME_INCONCLUSIVE;
    assert_int_equal((int)tg_stages_next(&h->e), 0);
    struct tg_evidence ev = *row.ev; /* there are no new runs */
    ev.tell_runs = 0;
    row.ev = &ev;
    asking = tg_asking_of(3, 0, 3, .2);
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    hand_text(h->e.results[1].message,
              "cannot be told within 3 runs a side: wild +30.0 % (+30.0 to +30.0 %)");
    hand_text(h->e.results[1].next, "Allow more runs a side (--max-runs): new ones have to tell.");
    h->c.other_data = true;
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    hand_text(h->e.results[1].next, "Record both sides with the same data and seeds.");
    h->c.busy = h->c.in_turn = true;
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    hand_text(h->e.results[1].next, "Run it again on an idle machine, after a warm-up.");
}

WITH_HAND(a_failure_is_told_alone)
{
    struct tg_asking asking;
    struct tg_result rows[] = { hand_row("a", 1), asked(h, "b", TG_ASKED_OPEN) };
    in_stages(h, &asking, 5, 0);
    (void)hand_results(h, rows, 2);
    tg_stages_close(&h->e);
    assert_int_equal(h->e.n, 2);
}

/* The first run a side: an operator's constant number of calls is final; a kernel's, one that
 * varies, a time are not. */
WITH_HAND(one_run_a_side_proves_constant_counts_alone)
{
    struct tg_asking asking;
    struct tg_op op = hand_op("aten::clone", TG_KIND_OP);
    struct tg_result row = hand_row("aten::clone", 1);
    in_stages(h, &asking, 1, 0);
    hand_ops(h, &op, 1);
    h->v.results = &row;
    h->v.n_results = 1;
    h->v.outcome = TG_OUTCOME_FAIL;
    assert_int_equal((int)tg_stages_next(&h->e), 0);
    op.counted.shape = TG_COUNT_VARIES;
    assert_int_equal((int)tg_stages_next(&h->e), 5);
    op.counted.shape = TG_COUNT_CONSTANT;
    row.grounds = TG_GROUNDS_RUNS;
    assert_int_equal((int)tg_stages_next(&h->e), 5);
    row.grounds = TG_GROUNDS_COUNT;
    op.kind = row.op_kind = TG_KIND_KERNEL;
    assert_int_equal((int)tg_stages_next(&h->e), 5);
    row.because = TG_NEED_FRESH_EVENTS; /* nothing was recorded */
    assert_int_equal((int)tg_stages_next(&h->e), 0);
    row.because = TG_REASON_NONE;
    tg_stages_close(&h->e);
    tg_stages_note(&h->e);
    assert_int_equal(h->e.n + h->v.n_notes, 0);
}

WITH_HAND(a_step_that_grew_is_asked_again)
{
    struct tg_asking asking;
    in_stages(h, &asking, 5, 0);
    h->v.outcome = TG_OUTCOME_INCONCLUSIVE;
    assert_int_equal((int)tg_stages_next(&h->e), 0);
    h->e.asks_again = true;
    assert_int_equal((int)tg_stages_next(&h->e), 9);
    h->c.asking = NULL;
    assert_int_equal((int)tg_stages_next(&h->e), 0);
}

/* Times of a device that does not keep its speed are asked again, and not for ever. */
WITH_HAND(a_device_that_is_not_settled_is_asked_again)
{
    struct tg_asking asking;
    struct tg_result row = asked(h, "kernel", TG_ASKED_NOT);
    struct tg_evidence ev = *row.ev;
    ev.why_not = TG_NOT_WARM;
    row.ev = &ev;
    in_stages(h, &asking, 5, 0);
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    assert_int_equal((int)h->e.n, 2);
    assert_int_equal(h->e.results[1].state, TG_STATE_INCONCLUSIVE);
    hand_text(h->e.results[1].message,
              "the device's speed changes within the runs: its times are asked again");
    hand_text(h->e.results[1].next, "Record 9 runs a side in all. Warm the device up for two "
                                    "seconds before recording.");
    assert_int_equal((int)tg_stages_next(&h->e), 9);
    in_stages(h, &asking, 5, 12);
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    assert_int_equal((int)h->e.n, 1);
    assert_int_equal((int)tg_stages_next(&h->e), 0);
    ev.why_not = TG_JUDGED;
    in_stages(h, &asking, 5, 0);
    (void)hand_results(h, &row, 1);
    tg_stages_close(&h->e);
    assert_int_equal((int)h->e.n, 1);
    assert_int_equal((int)tg_stages_next(&h->e), 0);
}

/* ln 1.2 = .182. Of a pass of 5v5, e + 2 SE: a .21, c .19 (cleared by 12 new ones), d .18
 * (excluded); b is 0.2 % of the step. a needs 5 (.16 / .182)^2 = 3.9,
 * at least the 5 that it has. */
WITH_HAND(a_pass_names_what_could_hide_the_size_that_matters)
{
    static const struct {
        const char *name;
        double wide, ns, p; /* runs vary by up to a factor of 1.02, or 1.8 */
        enum tg_asked asked;
    } of[] = { { "d", .02, 9000, .1, TG_ASKED_NOT },
               { "c", .6, 9000, .3, TG_ASKED_CLEARED },
               { "b", .6, 2000, .1, TG_ASKED_NOT },
               { "a", .6, 2500, .2, TG_ASKED_NOT } };
    double x[4][2][5];
    uint32_t state = 3;
    struct tg_asking asking;
    struct tg_result rows[4];
    in_stages(h, &asking, 5, 12);
    for (size_t i = 0; i < 4; i++) {
        struct tg_evidence *ev = TG_NEW(h->a, struct tg_evidence);
        *ev = hand_evidence(of[i].ns, 0);
        ev->p = of[i].p;
        for (int k = 0; k < 10; k++) {
            state = state * 1664525u + 1013904223u;
            x[i][k % 2][k / 2] = of[i].wide * (double)(state >> 8) / (1 << 24);
        }
        for (int side = 0; side < 2; side++) {
            ev->x[side] = x[i][side];
            ev->n_x[side] = 5;
        }
        ev->noise = .3;
        ev->asked = of[i].asked;
        ev->tell_runs = 15;
        rows[i] = hand_row(of[i].name, 0);
        rows[i].state = TG_STATE_PASS;
        rows[i].unit_id = TG_UNIT_NS;
        rows[i].of_rank = -1;
        rows[i].share = of[i].ns / 1e6;
        rows[i].ev = ev;
    }
    (void)hand_results(h, rows, 4);
    tg_stages_close(&h->e);
    assert_int_equal(h->v.n_notes, 1);
    hand_text(h->v.notes[0].text,
              "+20 % could hide in 2 names, 1.1 % of the step: a (varies by 30.0 %), c (varies by "
              "30.0 %)");
    hand_text(h->v.notes[0].next,
              "One look at 15 runs a side would tell (`ab --once`), or a larger --detect.");
    assert_false(h->v.notes[0].warning);
    ((struct tg_evidence *)(uintptr_t)rows[1].ev)->tell_runs = 101;
    tg_stages_close(&h->e);
    hand_text(h->v.notes[1].next,
              "More runs would not tell: record on a quieter machine, or name a larger --detect.");
    asking.detect = 3; /* four times as slow is seen */
    h->v.n_notes = 0;
    tg_stages_close(&h->e);
    assert_int_equal(h->v.n_notes, 0);
}

WITH_HAND(the_note_says_what_was_done)
{
    struct tg_asking asking;
    in_stages(h, &asking, 5, 8);
    tg_stages_note(&h->e);
    assert_int_equal(h->v.n_notes, 1);
    hand_text(
        h->v.notes[0].text,
        "judged in stages: 5 runs a side, then 8 new ones for what looked slower; a time that "
        "looks slower fails only if new runs confirm it, from +4.0 % on; the size that "
        "matters is +20 %");
    assert_true(tg_sv_has(h->v.notes[0].next, TG_SV("On recorded CPU models")));
    h->policy.ab.measured = TG_SV("40 runs: so often");
    h->v.n_notes = 0;
    tg_stages_note(&h->e);
    hand_text(h->v.notes[0].next, "Measured by `tracegate calibrate` on 40 runs: so often.");
    asking = tg_asking_of(5, 0, 10, .2); /* 5 new ones confirm nothing */
    tg_stages_note(&h->e);
    hand_text(h->v.notes[1].text,
              "judged in stages, without room for new runs after 5 a side: no time could fail, and "
              "+20 % may be missed");
    hand_text(h->v.notes[1].next, "Allow 11 runs a side or more (--max-runs, --budget).");
}
