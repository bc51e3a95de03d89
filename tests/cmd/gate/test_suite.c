/* Which suites a command is about, and how the files of one are read and grouped. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/suite.h"

#define TWO                                                                                        \
    "version: 1\nsuites:\n"                                                                        \
    "  - {name: a, trace: {files: 'x/*.json', run: 'run(\\d+)'}, baseline: 'b/*.json',\n"          \
    "     window: {by: annotation, name: 'execute_*'}}\n"                                          \
    "  - {name: b, trace: 'y.json', window: {by: trace}}\n"

struct chosen {
    struct room room;
    struct tg_repo repo;
    struct tg_suites suites;
};

static void open_suites(struct chosen *c, const char *policy)
{
    *c = (struct chosen){ .repo = { 0 } };
    room_open(&c->room);
    if (policy)
        room_file(".tracegate.yml", policy);
    c->suites = (struct tg_suites){ .io = &c->room.io, .repo = &c->repo, .arena = c->room.arena };
    assert_true(tg_suites_load(&c->suites, NULL, NULL, &c->room.err));
}

static bool choose(struct chosen *c, const char *name, enum tg_suites_wanted wanted)
{
    c->suites.n = 0;
    return tg_suites_choose(&c->suites, name, wanted, &c->room.err);
}

static void close_suites(struct chosen *c)
{
    tg_policy_free(c->suites.policy);
    tg_repo_release(&c->repo);
    room_close(&c->room);
}

TEST(all_or_one_by_name)
{
    struct chosen c;
    open_suites(&c, TWO);
    assert_true(choose(&c, NULL, TG_SUITES_ALL));
    assert_int_equal(c.suites.n, 2);
    assert_true(choose(&c, "b", TG_SUITES_ONE));
    assert_int_equal(c.suites.n, 1);
    assert_sv_equal(c.suites.v[0]->name, TG_SV("b"));
    assert_false(choose(&c, NULL, TG_SUITES_ONE));
    assert_failed(&c.room, TG_ERR_USAGE, "2 suites: which one do these traces belong to?");
    assert_false(choose(&c, "c", TG_SUITES_ALL));
    assert_failed(&c.room, TG_ERR_USAGE, "the policy has no suite 'c'");
    close_suites(&c);
}

TEST(without_a_policy_any_name_is_a_stored_suite)
{
    struct chosen c;
    open_suites(&c, NULL);
    assert_true(choose(&c, "anything", TG_SUITES_ONE) && !c.suites.v[0]->baseline.n);
    assert_sv_equal(c.suites.v[0]->name, TG_SV("anything"));
    assert_true(choose(&c, NULL, TG_SUITES_ALL) && c.suites.n == 1);
    assert_sv_equal(c.suites.v[0]->name, TG_SV("default"));
    close_suites(&c);
}

TEST(steps_are_cut_as_the_suite_says)
{
    struct chosen c;
    struct tg_summarize_opts so;
    open_suites(&c, TWO);
    assert_true(choose(&c, NULL, TG_SUITES_ALL));
    so = tg_suite_reading(c.suites.policy, c.suites.v[0]);
    assert_int_equal(so.window.by, TG_WINDOW_ANNOTATION);
    assert_sv_equal(so.window.name, TG_SV("execute_*"));
    assert_true(so.rank == -1 && so.load.want_attrs && so.load.want_memory);
    so = tg_suite_reading(c.suites.policy, c.suites.v[1]);
    assert_int_equal(so.window.by, TG_WINDOW_WHOLE);
    close_suites(&c);
}

TEST(a_path_must_say_its_run)
{
    struct tg_input_item items[] = { { .label = "x/run07.json" },
                                     { .label = "stored:a", .stored = true },
                                     { .label = "x/other.json" } };
    struct tg_input_list list = { .v = items, .n = 2 };
    struct chosen c;
    open_suites(&c, TWO);
    assert_true(choose(&c, "a", TG_SUITES_ONE));
    assert_true(tg_suite_groups(&list, c.suites.v[0], TG_GROUPS_REQUIRED, &c.room.err));
    assert_sv_equal(items[0].run, TG_SV("07"));
    assert_sv_equal(items[1].run, TG_SV("")); /* what is stored knows it */
    list.n = 3;
    assert_false(tg_suite_groups(&list, c.suites.v[0], TG_GROUPS_REQUIRED, &c.room.err));
    assert_failed(&c.room, TG_ERR_USAGE, "'x/other.json' does not match the suite's `run: ");
    assert_true(tg_suite_groups(&list, c.suites.v[0], TG_GROUPS_OPTIONAL, &c.room.err));
    close_suites(&c);
}

TEST(traces_are_named_or_the_suites_own)
{
    const char *named[] = { "here.json" };
    const struct tg_strs none = { 0 }, one = { named, 1, 1 };
    struct tg_input_list list = { 0 };
    struct chosen c;
    open_suites(&c, TWO);
    room_file("y.json", "{}");
    room_file("here.json", "{}");
    assert_true(choose(&c, "b", TG_SUITES_ONE));
    assert_true(tg_suite_traces(&list, &c.suites, c.suites.v[0], &none, &c.room.err));
    assert_int_equal(list.n, 1);
    assert_non_null(strstr(list.v[0].label, "y.json"));
    list = (struct tg_input_list){ 0 };
    assert_true(tg_suite_traces(&list, &c.suites, c.suites.v[0], &one, &c.room.err));
    assert_string_equal(list.v[0].label, "here.json");
    close_suites(&c);
    open_suites(&c, NULL);
    list = (struct tg_input_list){ 0 };
    assert_true(choose(&c, NULL, TG_SUITES_ALL));
    assert_false(tg_suite_traces(&list, &c.suites, c.suites.v[0], &none, &c.room.err));
    assert_failed(&c.room, TG_ERR_USAGE, "no trace given");
    close_suites(&c);
}

/* Paths of a policy are relative to its folder, unless they begin with '/'. */
TEST(traces_beside_the_policy)
{
    const struct tg_strs none = { 0 };
    for (int absolute = 0; absolute < 2; absolute++) {
        struct tg_input_list list = { 0 };
        struct chosen c = { .repo = { 0 } };
        const char *want;
        room_open(&c.room);
        assert_int_equal(mkdir("sub", 0700), 0);
        want = absolute ? tg_arena_printf(c.room.arena, "%s/here.json", c.room.folder)
                        : "sub/here.json";
        room_file(want, "{}");
        room_file("sub/p.yml", tg_arena_printf(c.room.arena,
                                               "version: 1\nsuites: [{name: a, trace: '%s', "
                                               "baseline: x}]\n",
                                               absolute ? want : "here.json"));
        c.suites = (struct tg_suites){ .io = &c.room.io, .repo = &c.repo, .arena = c.room.arena };
        assert_true(tg_suites_load(&c.suites, "sub/p.yml", NULL, &c.room.err));
        assert_true(choose(&c, "a", TG_SUITES_ONE));
        assert_true(tg_suite_traces(&list, &c.suites, c.suites.v[0], &none, &c.room.err));
        assert_int_equal(list.n, 1);
        assert_string_equal(list.v[0].label, want);
        (void)unlink("sub/here.json");
        (void)unlink("sub/p.yml");
        assert_int_equal(rmdir("sub"), 0);
        close_suites(&c);
    }
}

/* Named on the command line, or by the suite; of the suite's own each path must say its run. */
TEST(traces_that_are_not_there)
{
    static const struct {
        const char *policy, *named, *says, *context;
    } rows[] = {
        { TWO, "nofile.json", "no such file: 'nofile.json'", "" },
        { TWO, NULL, "y.json", "looking for the fresh traces of suite 'b'" },
        { "version: 1\nsuites: [{name: b, trace: {files: 'n*.json', run: 'run(\\d+)'}, baseline: "
          "x}]\n",
          NULL, "'n1.json' does not match the suite's `run: ", "" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *named[] = { rows[i].named };
        const struct tg_strs args = { named, rows[i].named != NULL, 1 };
        struct tg_input_list list = { 0 };
        struct chosen c;
        open_suites(&c, rows[i].policy);
        room_file("n1.json", "{}");
        assert_true(choose(&c, "b", TG_SUITES_ONE));
        assert_false(tg_suite_traces(&list, &c.suites, c.suites.v[0], &args, &c.room.err));
        assert_non_null(strstr(c.room.err.context, rows[i].context));
        assert_int_equal(c.room.err.context[0] != 0, rows[i].context[0] != 0);
        assert_failed(&c.room, c.room.err.kind, rows[i].says);
        close_suites(&c);
    }
}

/* A report of each suite, and of each baseline; there is one standard output. */
TEST(a_report_of_each_suite)
{
    TG_ARENA *a = tg_arena_new();
    assert_string_equal(tg_suites_path("-", TG_SV("main"), TG_SV("old"), a), "-");
    assert_string_equal(tg_suites_path("r.json", TG_SV(""), TG_SV(""), a), "r.json");
    assert_string_equal(tg_suites_path("o/r.json", TG_SV("main"), TG_SV("old"), a),
                        "o/r-main@old.json");
}
