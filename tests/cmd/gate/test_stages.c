/* `check --ask` (stages.c): the file that says how many runs are asked for, and the options. Runs
 * of four calls of one operator in a step of 1 ms; the new ones are files of their own. */
#include "tests/cmd/gate/room.h"
#include "tests/cmd/gate/traces.h"

#include "cmd/gate/check.h"

struct asked {
    struct room room;
    struct tg_check_opts o;
    const char *baseline[1], *fresh[1];
};

static void ask(struct asked *a)
{
    *a = (struct asked){ .baseline = { "b*.json" }, .fresh = { "f*.json" } };
    room_open(&a->room);
    a->o.baseline = (struct tg_strs){ a->baseline, 1, 1 };
    a->o.given.runs = true;
    a->o.top = a->o.max_runs = TG_OPT_UNSET;
    a->o.ask = "ask";
}

/* Runs of `us` a call; another operator tells them apart, and those whose stem begins with n from
 * the others. */
static void record(struct asked *a, const char *stem, unsigned n, unsigned us)
{
    for (unsigned i = 0; i < n; i++) {
        const struct trace_calls calls[] = { { "aten::mm", "cpu_op", 4, us + i % 3 },
                                             { "aten::add", "cpu_op", 1,
                                               50 + i + (stem[0] == 'n' ? 10 : 0) } };
        char path[32];
        snprintf(path, sizeof path, "%s%u.json", stem, i);
        room_file(path, trace_of(a->room.arena, -1, calls, 2));
    }
}

static int check(struct asked *a)
{
    const struct tg_strs args = { a->fresh, 1, 1 };
    return tg_check_run(&a->o, &args, &a->room.io, &a->room.err);
}

TEST(the_file_says_what_is_asked_for)
{
    struct asked a;
    ask(&a);
    record(&a, "b", 1, 60);
    record(&a, "f", 1, 60);
    assert_int_equal(check(&a), 0);
    assert_string_equal(room_text(&a.room, "ask"), "5 0 0\n");
    record(&a, "b", 5, 60);
    record(&a, "f", 5, 60);
    assert_int_equal(check(&a), 0);
    assert_string_equal(room_text(&a.room, "ask"), "0 0 0\n");
    record(&a, "f", 5, 80); /* +33 % */
    assert_int_equal(check(&a), 4);
    assert_memory_equal(room_text(&a.room, "ask"), "5 4 ", 4);
    record(&a, "nb", 6, 60);
    record(&a, "nf", 6, 60);
    const char *again[] = { "baseline=nb*.json", "fresh=nf*.json" };
    a.o.again = (struct tg_strs){ again, 2, 2 };
    assert_int_equal(check(&a), 0); /* the new runs do not show it */
    assert_string_equal(room_text(&a.room, "ask"), "0 0 0\n");
    record(&a, "nf", 6, 80);
    assert_int_equal(check(&a), 1);
    assert_string_equal(room_text(&a.room, "ask"), "0 0 0\n");
    again[1] = "fresh=f*.json"; /* what made it a suspect would confirm it */
    assert_int_equal(check(&a), 3);
    assert_non_null(strstr(room_text(&a.room, "stderr"), ".json' is one of the first runs"));
    a.o.again.n = 0;
    a.o.max_runs = 10; /* five new ones confirm nothing */
    assert_int_equal(check(&a), 4);
    assert_string_equal(room_text(&a.room, "ask"), "0 0 0\n");
    room_close(&a.room);
}

/* `ab` of the policy is the plan, and the command line has precedence. */
TEST(the_policy_has_the_plan)
{
    struct asked a;
    ask(&a);
    room_file("p.yml", "version: 1\nextends: [tracegate:recommended]\nab: {max_runs: 5}\n");
    record(&a, "b", 5, 60);
    record(&a, "f", 5, 80);
    a.o.policy = "p.yml";
    assert_int_equal(check(&a), 4);
    assert_string_equal(room_text(&a.room, "ask"), "0 0 0\n"); /* no new runs */
    a.o.max_runs = 17;
    assert_int_equal(check(&a), 4);
    assert_memory_equal(room_text(&a.room, "ask"), "5 4 ", 4);
    room_close(&a.room);
}

TEST(mistakes)
{
    struct asked a;
    ask(&a);
    record(&a, "b", 1, 60);
    record(&a, "f", 1, 60);
    a.o.detect = "much";
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "--detect 'much' is not a size");
    a.o.detect = "0%";
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "--detect '0%' is not a size");
    a.o.detect = "7.5";
    a.o.max_runs = -3;
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "--max-runs '-3'");
    a.o.max_runs = TG_OPT_UNSET;
    a.o.ask = "/proc/no/such";
    assert_int_not_equal(check(&a), 0);
    tg_err_init(&a.room.err);
    a.o.ask = "ask";
    a.o.baseline.n = 0;
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "--ask needs the fresh traces and --baseline");
    room_close(&a.room);
}
