/* What a change lets pass that the target branch's policy does not, and where that policy is. */
#include "tests/cmd/gate/job.h"

#define RULE(limits) "version: 1\nrules: [{id: t, metric: step_time, fail: {" limits "}}]\n"
#define COMMIT(text) "cat > .tracegate.yml <<'X'\n" text "X\n"

/* All notes of the change's own policy against that of the commit before, '|' between them. */
static const char *notes(struct job *k)
{
    TG_BUF b = { 0 };
    const char *text;
    tg_check_note_policy(&k->c, &k->j);
    for (size_t i = 0; i < k->j.verdict.n_notes; i++) {
        assert_true(k->j.verdict.notes[i].policy && k->j.verdict.notes[i].warning);
        tg_buf_printf(&b, "%s%s%.*s", i ? "|" : "", k->j.verdict.notes[i].reason ? "! " : "",
                      TG_SV_ARG(k->j.verdict.notes[i].text));
    }
    text = tg_arena_sv(k->box->a, tg_buf_sv(&b)).p;
    return text ? text : "";
}

IN_BOX(each_looser_value_is_told)
{
    static const char *const before[] = { COMMIT(RULE("pct: 5%")), "echo x > x", NULL };
    static const char *const not_looser[] = { RULE("pct: 5%"), RULE("pct: 4%") };
    struct job k;
    job_repository(b, before);
    for (size_t i = 0; i < 2; i++) {
        k = (struct job){ 0 };
        job_open(&k, b, not_looser[i]);
        assert_string_equal(notes(&k), "");
        job_close(&k);
    }
    k = (struct job){ 0 };
    job_open(&k, b, RULE("pct: 9%"));
    assert_string_equal(notes(&k), "! the policy is looser than the baseline's: "
                                   "rules.t.fail.pct 5% -> 9% (.tracegate.yml:2)");
    is_text(k.j.verdict.notes[0].next,
            tg_arena_printf(k.box->a, "`tracegate policy diff %.12s:.tracegate.yml %.*s`",
                            job_commit(&k, "HEAD~1").sha, TG_SV_ARG(k.c.suites.policy->file)));
    job_close(&k);
}

/* Another profile than the selected one, or none, may judge the same change in another job. */
IN_BOX(each_looser_profile_is_told)
{
#define PROFILES(pct, pr, night)                                                                   \
    RULE("pct: " pct)                                                                              \
    "profiles:\n  pr: {rules: [{id: t, fail: {pct: " pr "}}]}\n"                                   \
    "  night: {rules: [{id: t, fail: {pct: " night "}}]}\n"
#define LOOSER "! the policy is looser than the baseline's: "
    static const char *const before[] = { COMMIT(PROFILES("5%", "6%", "7%")), "echo x > x", NULL };
    static const struct {
        const char *profile, *now, *want;
    } rows[] = {
        { NULL, PROFILES("5%", "6%", "7%"), "" },
        { NULL, PROFILES("5%", "6%", "4%"), "" },
        { NULL, PROFILES("5%", "6%", "9%"),
          LOOSER "profiles.night.rules.t.fail.pct 7% -> 9% (.tracegate.yml:5)" },
        { "pr", PROFILES("5%", "6%", "7%"), "" },
        { "pr", PROFILES("5%", "6%", "9%"),
          LOOSER "profiles.night.rules.t.fail.pct 7% -> 9% (.tracegate.yml:5)" },
        { "pr", PROFILES("8%", "6%", "7%"), LOOSER "rules.t.fail.pct 5% -> 8% (.tracegate.yml:2)" },
        { "night", PROFILES("5%", "8%", "9%"), /* the selected one first, and once */
          LOOSER "rules.t.fail.pct 7% -> 9% (.tracegate.yml:5)|" LOOSER
                 "profiles.pr.rules.t.fail.pct 6% -> 8% (.tracegate.yml:4)" },
        { NULL,
          RULE("pct: 5%") "profiles:\n  pr: {rules: [{id: t, fail: {pct: 6%}}]}\n"
                          "  night: {rules: [{id: t, fail: off}]}\n",
          LOOSER "profiles.night.rules.t.fail {pct: 7%} -> off (.tracegate.yml:5)" },
        { NULL, PROFILES("5%", "6%", "7%") "  week: {rules: [{id: t, fail: {pct: 30%}}]}\n",
          LOOSER "profiles.week.rules.t.fail.pct 5% -> 30% (.tracegate.yml:6)" },
    };
    job_repository(b, before);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { .o.profile = rows[i].profile };
        const char *told;
        job_open(&k, b, rows[i].now);
        told = notes(&k);
        if (strcmp(told, rows[i].want) != 0)
            fail_msg("row %zu: %s", i, told);
    }
}

IN_BOX(a_policy_that_is_gone_or_unreadable)
{
    static const char *const before[] = { COMMIT(RULE("pct: 5%")), "echo x > x", NULL };
    static const char *const broken[] = { COMMIT("version: 1\nrules: 7\n"), "echo x > x", NULL };
    const char *told;
    TG_AUTO(job_close) struct job k = { 0 };
    job_repository(b, before);
    job_open(&k, b, "");
    told = notes(&k);
    is_in(told, "the policy of the baseline's commit is .tracegate.yml, the built-in policy "
                "judges now|! the policy is looser than the baseline's: ");
    is_in(told, "looser than the baseline's: rules.t is gone (");
    assert_null(strstr(told, "{")); /* a whole rule is named, not printed */
    job_close(&k);
    k = (struct job){ .o.policy = "../elsewhere.yml" }; /* no part of the repository */
    box_sh(b, "git -C w show HEAD:.tracegate.yml > elsewhere.yml");
    job_open(&k, b, NULL);
    is_in(notes(&k), "the policy of the baseline's commit is .tracegate.yml, ");
    is_in(k.j.verdict.notes[0].text.p, "elsewhere.yml judges now");
    assert_int_equal(k.j.verdict.n_notes, 1);
    job_close(&k);
    job_repository(b, broken);
    job_open(&k, b, RULE("pct: 5%"));
    is_in(notes(&k), "! whether the policy is looser than the baseline's is not known: ");
    assert_int_equal(k.j.verdict.n_notes, 1);
}

IN_BOX(a_policy_that_moves)
{
    static const char *const before[] = { COMMIT(RULE("pct: 5%")), "echo x > x", NULL };
    TG_AUTO(job_close) struct job k = { .o.policy = "perf/p.yml" };
    job_repository(b, before);
    box_sh(b, "cp w/.tracegate.yml w/perf/p.yml");
    job_open(&k, b, NULL);
    assert_string_equal(notes(&k), "the policy of the baseline's commit is .tracegate.yml, "
                                   "perf/p.yml judges now");
}

/* As many rules, with one limit each. */
static const char *rules(struct tg_arena *a, int n, const char *limit)
{
    TG_BUF b = { 0 };
    const char *text;
    tg_buf_puts(&b, "version: 1\nrules:\n");
    for (int i = 0; i < n; i++)
        tg_buf_printf(&b, "  - {id: t%d, metric: step_time, fail: {pct: %s}}\n", i, limit);
    text = tg_arena_sv(a, tg_buf_sv(&b)).p;
    return text;
}

/* 50 values are told; of more, how many there are. */
IN_BOX(many_values_are_counted)
{
    static const char *const before[] = { "cp ../many.yml .tracegate.yml", "echo x > x", NULL };
    for (int n = 50; n <= 52; n += 2) {
        TG_AUTO(job_close) struct job k = { 0 };
        const struct tg_note *last;
        assert_no_error(
            tg_file_write(box_path(b, "many.yml"), tg_sv_of(rules(b->a, n, "5%")), &k.err), &k.err);
        job_repository(b, before);
        job_open(&k, b, rules(b->a, n, "9%"));
        (void)notes(&k);
        last = &k.j.verdict.notes[k.j.verdict.n_notes - 1];
        assert_int_equal(k.j.verdict.n_notes, n == 50 ? 50 : 51);
        is_in(last->text.p, n == 50 ? "5% -> 9%" : "the policy is looser in 2 more values");
    }
}

/* Nothing was compared with a commit, or what judges is no part of the change: nothing is told. */
IN_BOX(the_first_policy_against_the_built_in_one)
{
    static const char *const brought[] = { "echo x > x", COMMIT(RULE("pct: 5%")), NULL };
    static const char *const same[] = { "echo x > x",
                                        COMMIT("version: 1\nextends: ['tracegate:recommended']\n"),
                                        NULL };
    static const char *const none[] = { "echo x > x", "echo y > x", NULL };
    static const struct {
        const char *const *commits;
        const char *policy; /* NULL: what is committed */
        enum tg_situation situation;
        bool told;
    } rows[] = {
        { brought, NULL, TG_SITUATION_FOUND, true },
        { brought, NULL, TG_SITUATION_GAP, true },
        { brought, NULL, TG_SITUATION_FIRST_RUN, false },
        { brought, NULL, TG_SITUATION_PATH, false },
        { same, NULL, TG_SITUATION_FOUND, false },
        { none, "", TG_SITUATION_FOUND, false },
        { none, RULE("pct: 5%"), TG_SITUATION_FOUND, false }, /* not committed */
    };
    static const char head[] = "the baseline's commit has no policy, so the built-in one judged "
                               "there; .tracegate.yml judges now|! the policy is looser than the "
                               "baseline's: ";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { .j.info.situation = rows[i].situation };
        const char *told;
        job_repository(b, rows[i].commits);
        job_open(&k, b, rows[i].policy);
        told = notes(&k);
        if (rows[i].told ? strncmp(told, head, sizeof head - 1) != 0 : *told)
            fail_msg("row %zu: %s", i, told);
        if (rows[i].told)
            is_in(k.j.verdict.notes[1].next.p,
                  "`tracegate policy diff tracegate:recommended .tracegate.yml`");
    }
}

/* The change's own start; else, on the first commit of all or off every branch, the baseline's. */
IN_BOX(the_commit_that_is_compared_with)
{
    static const char *const one[] = { COMMIT(RULE("pct: 5%")), NULL };
    static const char *const two[] = { COMMIT(RULE("pct: 5%")), COMMIT(RULE("pct: 7%")), NULL };
    static const struct {
        const char *const *commits;
        const char *script, *baseline, *was; /* baseline NULL: a path; was NULL: nothing is told */
    } rows[] = {
        { two, "true", NULL, "5%" },
        { two, "true", "HEAD", "5%" },
        { one, "true", NULL, NULL },
        { one, "true", "HEAD", "5%" },
        { two, "git branch -m work", NULL, NULL },
        { two, "git branch -m work", "HEAD", "7%" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { .j.info.situation = TG_SITUATION_FOUND };
        const char *told;
        job_repository(b, rows[i].commits);
        box_sh(b, tg_arena_printf(b->a, "cd w; %s", rows[i].script));
        job_open(&k, b, RULE("pct: 9%"));
        if (rows[i].baseline)
            memcpy(k.j.commit, job_commit(&k, rows[i].baseline).sha, sizeof k.j.commit);
        told = notes(&k);
        if (rows[i].was ? !strstr(told, tg_arena_printf(k.box->a, " %s -> 9%%", rows[i].was))
                        : *told)
            fail_msg("row %zu: %s", i, told);
    }
}

IN_BOX(a_day_in_the_past_is_told_where_waivers_are)
{
    static const char *const none[] = { "echo x > x", NULL };
    static const char waiver[] =
        "waivers: [{rule: t, reason: r, issue: 'https://example.org/1', owner: me, "
        "ceiling: {pct: 9%}, expires: 2026-01-01}]\n";
    static const struct {
        const char *day, *waivers, *want;
    } rows[] = {
        { "SOURCE_DATE_EPOCH=1760000000", "", "" },
        { "SOURCE_DATE_EPOCH=1760000000", waiver,
          "waivers are judged as of 2025-10-09: SOURCE_DATE_EPOCH is set" }, /* date -u -d @ */
        { NULL, waiver, "" },
        { "SOURCE_DATE_EPOCH=yesterday", waiver, "" }, /* the clock's day counts then */
    };
    job_repository(b, none);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { .environ_ = { rows[i].day } };
        job_open(&k, b, tg_arena_printf(b->a, "%s%s", RULE("pct: 5%"), rows[i].waivers));
        assert_string_equal(notes(&k), rows[i].want);
    }
}

/* The place in the commit: as found from this folder, else in a folder beside or below. */
IN_BOX(where_a_commit_has_its_policy)
{
    static const struct {
        const char *script, *folder, *want, *policy; /* --policy */
    } cases[] = {
        { "echo 'version: 1' > .tracegate.yml", ".", ".tracegate.yml", NULL },
        { "echo 'version: 1' > .tracegate.yaml", ".", ".tracegate.yaml", NULL },
        { "mkdir a; echo 'version: 1' > .tracegate.yml; cp .tracegate.yml a", "a",
          "a/.tracegate.yml", NULL },
        { "mkdir a; echo x > a/x; echo 'version: 1' > .tracegate.yml", "a", ".tracegate.yml",
          NULL },
        { "mkdir a b; echo x > a/x; echo 'version: 1' > b/.tracegate.yml", "a", "b/.tracegate.yml",
          NULL },
        { "mkdir -p a b/c; echo x > a/x; echo 'version: 1' > b/c/.tracegate.yaml", "a",
          "b/c/.tracegate.yaml", NULL },
        { "mkdir -p a/b/c; echo 'version: 1' > a/b/c/.tracegate.yml", ".", NULL, NULL },
        { "echo 'version: 1' > .tracegate.yml; cp .tracegate.yml p.yml", ".", "p.yml", "p.yml" },
        { "echo 'version: 1' > .tracegate.yml; cp .tracegate.yml ../p.yml", ".", ".tracegate.yml",
          "../p.yml" },
        { "ln -s x .tracegate.yml", ".", NULL, NULL },
        { "echo 'version: 1' > policy.yml", ".", NULL, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *const commits[] = { cases[i].script, NULL };
        TG_AUTO(job_close) struct job k = { 0 };
        const char *at;
        job_repository(b, commits);
        k.folder = cases[i].folder;
        k.o.policy = cases[i].policy;
        job_open(&k, b, *k.folder == '.' && !k.o.policy ? "" : NULL);
        at = tg_check_policy_at(&k.c, job_git(&k), job_commit(&k, "HEAD").sha);
        if (!at != !cases[i].want || (at && strcmp(at, cases[i].want) != 0))
            fail_msg("%s: got %s", cases[i].script, at ? at : "none");
        assert_null(tg_check_policy_at(&k.c, job_git(&k), ""));
    }
}

/* What judged in folder a was a's own policy, which the change removes. */
IN_BOX(a_policy_that_is_removed_judged_before)
{
    static const char *const commits[] = {
        "mkdir a; echo 'version: 1' > .tracegate.yml; cp .tracegate.yml a", NULL
    };
    TG_AUTO(job_close) struct job k = { .folder = "a" };
    job_repository(b, commits);
    box_sh(b, "rm w/a/.tracegate.yml");
    job_open(&k, b, NULL);
    assert_string_equal(tg_check_policy_at(&k.c, job_git(&k), job_commit(&k, "HEAD").sha),
                        "a/.tracegate.yml");
}
