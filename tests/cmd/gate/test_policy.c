/* The policy in force: found, named, built in; the profile that "auto" means; where mistakes go. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/policy.h"

static struct tg_policy *load(struct room *r, const struct tg_gate_policy_opts *o,
                              struct tg_diags *diags)
{
    struct tg_repo repo = { 0 };
    struct tg_policy *p = tg_gate_policy(o, diags, &r->io, &repo, r->arena, &r->err);
    tg_repo_release(&repo);
    return p;
}

IN_ROOM(without_a_file_it_is_built_in)
{
    const struct tg_gate_policy_opts found = { 0 };
    struct tg_policy *p;
    p = load(r, &found, NULL);
    assert_true(p && p->built_in);
    tg_policy_free(p);
    room_file(".tracegate.yml", "version: 1\nreport: {top: 3}\n");
    p = load(r, &found, NULL);
    assert_true(p && !p->built_in);
    assert_int_equal(p->report.top, 3);
    tg_policy_free(p);
}

IN_ROOM(auto_is_the_profile_of_the_event)
{
    static const struct {
        const char *asked, *event;
        int64_t top;
    } cases[] = {
        { NULL, "GITHUB_EVENT_NAME=schedule", 1 },  { "auto", "GITHUB_EVENT_NAME=schedule", 2 },
        { "auto", "GITHUB_EVENT_NAME=push", 1 },    { "auto", "GITHUB_EVENT_NAME=", 1 },
        { "nightly", "GITHUB_EVENT_NAME=push", 2 },
    };
    const struct tg_gate_policy_opts unknown = { .profile = "weekly" },
                                     may_lack = { .profile = "weekly", .profile_may_lack = true };
    struct tg_policy *p;
    room_file(".tracegate.yml",
              "version: 1\nreport: {top: 1}\nprofiles: {nightly: {report: {top: 2}}}\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_gate_policy_opts o = { .profile = cases[i].asked };
        r->environ_[1] = cases[i].event;
        p = load(r, &o, NULL);
        assert_non_null(p);
        assert_int_equal(p->report.top, cases[i].top);
        tg_policy_free(p);
    }
    assert_null(load(r, &unknown, NULL));
    assert_failed(r, TG_ERR_POLICY, "");
    p = load(r, &may_lack, NULL);
    assert_non_null(p);
    tg_policy_free(p);
}

IN_ROOM(mistakes_go_to_the_caller_or_to_standard_error)
{
    const struct tg_gate_policy_opts o = { .path = "bad.yml" };
    struct tg_diags diags;
    room_file("bad.yml", "version: 1\nreprot: {}\n");
    tg_diags_init(&diags);
    assert_null(load(r, &o, &diags));
    assert_failed(r, TG_ERR_POLICY, "");
    assert_int_equal(diags.n, 1);
    assert_string_equal(room_text(r, "stderr"), "");
    tg_diags_release(&diags);
    assert_null(load(r, &o, NULL));
    assert_failed(r, TG_ERR_POLICY, "");
    assert_non_null(strstr(room_text(r, "stderr"), "bad.yml:2:1"));
}

IN_ROOM(a_commit_needs_a_repository)
{
    const struct tg_gate_policy_opts o = { .path = "HEAD:gate.yml" };
    assert_null(load(r, &o, NULL));
    assert_true(r->err.kind != TG_ERR_NONE && r->err.kind != TG_ERR_POLICY);
}

/* A waiver that ended on the day before SOURCE_DATE_EPOCH (2025-10-09) is kept when no day
 * counts. */
IN_ROOM(undated_keeps_what_has_expired)
{
    struct tg_gate_policy_opts o = { .path = "w.yml" };
    struct tg_policy *p;
    room_file("w.yml", "version: 1\nextends: [\"tracegate:recommended\"]\nwaivers:\n"
                       "  - {rule: new-work, name: 'aten::mm', ceiling: {abs: 3}, reason: because, "
                       "expires: 2025-10-08}\n");
    o.undated = true;
    p = load(r, &o, NULL);
    assert_non_null(p);
    assert_int_equal(p->n_waivers, 1);
    tg_policy_free(p);
}
