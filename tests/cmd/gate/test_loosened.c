/* What a change lets pass that the target branch's policy does not, and where that policy is. */
#include "tests/cmd/gate/job.h"

#define RULE(limits) "version: 1\nrules: [{id: t, metric: step_time, fail: {" limits "}}]\n"
#define COMMIT(text) "cat > .tracegate.yml <<'X'\n" text "X\n"

/* All notes of the change's own policy against that of the commit before, '|' between them. */
static const char *notes(struct job *k)
{
    struct tg_buf b = { 0 };
    const char *text;
    tg_check_note_policy(&k->c, &k->j);
    for (size_t i = 0; i < k->j.verdict.n_notes; i++) {
        assert_true(k->j.verdict.notes[i].policy && k->j.verdict.notes[i].warning);
        tg_buf_printf(&b, "%s%s%.*s", i ? "|" : "", k->j.verdict.notes[i].lifts ? "! " : "",
                      TG_SV_ARG(k->j.verdict.notes[i].text));
    }
    text = tg_arena_sv(k->box->a, tg_buf_sv(&b)).p;
    tg_buf_release(&b);
    return text ? text : "";
}

static void each_looser_value_is_told(void **state)
{
    static const char *const before[] = { COMMIT(RULE("pct: 5%")), "echo x > x", NULL };
    static const char *const not_looser[] = { RULE("pct: 5%"), RULE("pct: 4%") };
    struct job k;
    job_repository(*state, before);
    for (size_t i = 0; i < 2; i++) {
        k = (struct job){ 0 };
        job_open(&k, *state, not_looser[i]);
        assert_string_equal(notes(&k), "");
        job_close(&k);
    }
    k = (struct job){ 0 };
    job_open(&k, *state, RULE("pct: 9%"));
    assert_string_equal(notes(&k), "! the policy is looser than the baseline's: "
                                   "rules.t.fail.pct 5% -> 9% (.tracegate.yml:2)");
    is_text(k.j.verdict.notes[0].next,
            tg_arena_printf(k.box->a, "tracegate policy diff %.12s:.tracegate.yml %.*s",
                            job_commit(&k, "HEAD~1").sha, TG_SV_ARG(k.c.suites.policy->file)));
    job_close(&k);
}

static void a_policy_that_is_gone_or_unreadable(void **state)
{
    static const char *const before[] = { COMMIT(RULE("pct: 5%")), "echo x > x", NULL };
    static const char *const broken[] = { COMMIT("version: 1\nrules: 7\n"), "echo x > x", NULL };
    const char *told;
    struct job k = { 0 };
    job_repository(*state, before);
    job_open(&k, *state, "");
    told = notes(&k);
    is_in(told, "the policy of the baseline's commit is .tracegate.yml, the built-in policy "
                "judges now|! the policy is looser than the baseline's: ");
    is_in(told, " -> gone");
    job_close(&k);
    k = (struct job){ 0 };
    job_repository(*state, broken);
    job_open(&k, *state, RULE("pct: 5%"));
    is_in(notes(&k), "! whether the policy is looser than the baseline's is not known: ");
    job_close(&k);
}

static void a_day_in_the_past_is_told_where_waivers_are(void **state)
{
    static const char *const none[] = { "echo x > x", NULL };
    static const char waiver[] =
        "waivers: [{rule: t, reason: r, issue: 'https://example.org/1', owner: me, "
        "ceiling: {pct: 9%}, expires: 2026-01-01}]\n";
    struct job k = { .environ_ = { "SOURCE_DATE_EPOCH=1760000000" } }; /* date -u -d @1760000000 */
    job_repository(*state, none);
    job_open(&k, *state, RULE("pct: 5%"));
    assert_string_equal(notes(&k), "");
    job_close(&k);
    k = (struct job){ .environ_ = { "SOURCE_DATE_EPOCH=1760000000" } };
    job_open(&k, *state,
             tg_arena_printf(((const struct box *)*state)->a, "%s%s", RULE("pct: 5%"), waiver));
    assert_string_equal(notes(&k), "waivers are judged as of 2025-10-09: SOURCE_DATE_EPOCH is set");
    job_close(&k);
}

/* The place in the commit: as found from this folder, else in a folder beside or below. */
static void where_a_commit_has_its_policy(void **state)
{
    static const struct {
        const char *script, *folder, *want;
    } cases[] = {
        { "echo 'version: 1' > .tracegate.yml", ".", ".tracegate.yml" },
        { "echo 'version: 1' > .tracegate.yaml", ".", ".tracegate.yaml" },
        { "mkdir a; echo 'version: 1' > .tracegate.yml; cp .tracegate.yml a", "a",
          "a/.tracegate.yml" },
        { "mkdir a; echo x > a/x; echo 'version: 1' > .tracegate.yml", "a", ".tracegate.yml" },
        { "mkdir a b; echo x > a/x; echo 'version: 1' > b/.tracegate.yml", "a",
          "b/.tracegate.yml" },
        { "mkdir -p a/b/c; echo 'version: 1' > a/b/c/.tracegate.yml", ".", NULL },
        { "echo 'version: 1' > policy.yml", ".", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const commits[] = { cases[i].script, NULL };
        struct job k = { 0 };
        const char *at;
        job_repository(*state, commits);
        k.folder = cases[i].folder;
        job_open(&k, *state, *k.folder == '.' ? "" : NULL);
        at = tg_check_policy_at(&k.c, job_git(&k), job_commit(&k, "HEAD").sha);
        if (!at != !cases[i].want || (at && strcmp(at, cases[i].want) != 0))
            fail_msg("%s: got %s", cases[i].script, at ? at : "none");
        assert_null(tg_check_policy_at(&k.c, job_git(&k), ""));
        job_close(&k);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define CASE(name) cmocka_unit_test_setup_teardown(name, box_setup, box_teardown)
        CASE(each_looser_value_is_told),
        CASE(a_policy_that_is_gone_or_unreadable),
        CASE(a_day_in_the_past_is_told_where_waivers_are),
        CASE(where_a_commit_has_its_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
