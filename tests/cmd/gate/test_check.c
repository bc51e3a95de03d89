/* `check` as a function, on the traces of examples/: verdict, reports, what stops it before. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/check.h"

#define TRACES TG_SOURCE_DIR "/examples/traces/"

struct asked {
    struct room room;
    struct tg_check_opts o;
    const char *baseline[1], *fresh[1];
};

static void ask(struct asked *a, const char *fresh)
{
    *a = (struct asked){ .baseline = { TRACES "base" }, .fresh = { fresh } };
    room_open(&a->room);
    a->o.baseline = (struct tg_strs){ a->baseline, 1, 1 };
    a->o.given.runs = true;
    a->o.top = TG_OPT_UNSET;
}

static int check(struct asked *a)
{
    const struct tg_strs args = { a->fresh, 1, 1 };
    return tg_check_run(&a->o, &args, &a->room.io, &a->room.err);
}

/* examples/traces/manifest.csv says what was changed in each. */
static void the_code_is_the_verdicts(void **state)
{
    struct asked a;
    (void)state;
    ask(&a, TRACES "base");
    assert_int_equal(check(&a), 0);
    assert_non_null(strstr(room_text(&a.room, "stdout"), "PASS"));
    room_close(&a.room);
    ask(&a, TRACES "extra_copy");
    assert_int_equal(check(&a), 1);
    assert_non_null(strstr(room_text(&a.room, "stdout"), "FAIL"));
    a.o.exit_zero = a.o.quiet = true;
    assert_int_equal(ftruncate(a.room.io.out, 0), 0);
    assert_int_equal(check(&a), 0);
    assert_string_equal(room_text(&a.room, "stdout"), "");
    room_close(&a.room);
}

static void reports_are_written_beside_the_text(void **state)
{
    struct asked a;
    (void)state;
    ask(&a, TRACES "extra_copy");
    a.o.report[TG_REPORT_json] = "report.json";
    a.o.report[TG_REPORT_markdown] = "report.md";
    assert_int_equal(check(&a), 1);
    assert_int_equal(room_text(&a.room, "report.json")[0], '{');
    assert_non_null(strstr(room_text(&a.room, "report.md"), "aten::copy_"));
    assert_non_null(strstr(room_text(&a.room, "stdout"), "FAIL"));
    room_close(&a.room);
}

static void mistakes_stop_it_before_a_trace_is_read(void **state)
{
    struct asked a;
    (void)state;
    ask(&a, TRACES "base");
    a.o.given.ranks = true;
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "--runs and --ranks");
    a.o.given.ranks = false;
    a.o.suite = "x";
    room_file(".tracegate.yml", "version: 1\nextends: [\"tracegate:recommended\"]\n"
                                "suites: [{name: main, trace: 'a.json', baseline: 'b.json'}]\n");
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "no suite 'x'");
    a.o.suite = NULL;
    room_file("fresh.json", "{\"traceEvents\": []}");
    a.fresh[0] = "fresh.json";
    a.o.report[TG_REPORT_json] = "./fresh.json";
    assert_int_equal(check(&a), 2);
    assert_failed(&a.room, TG_ERR_USAGE, "would overwrite the input 'fresh.json'");
    assert_string_equal(room_text(&a.room, "fresh.json"), "{\"traceEvents\": []}");
    room_close(&a.room);
}

static void an_unusable_trace_is_a_verdict_of_its_own(void **state)
{
    struct asked a;
    (void)state;
    ask(&a, "broken.json");
    room_file("broken.json", "{\"traceEvents\": [");
    a.o.report[TG_REPORT_json] = "report.json";
    assert_int_equal(check(&a), 3);
    assert_non_null(strstr(room_text(&a.room, "report.json"), "\"error\""));
    assert_non_null(strstr(room_text(&a.room, "stderr"), "broken.json"));
    room_close(&a.room);
}

static void a_dry_run_only_says_what_it_would_compare(void **state)
{
    struct asked a;
    (void)state;
    ask(&a, TRACES "extra_copy");
    a.o.dry_run = true;
    a.o.report[TG_REPORT_json] = "report.json";
    assert_int_equal(check(&a), 0);
    assert_non_null(strstr(room_text(&a.room, "stdout"), "suite default\n  policy: built-in"));
    assert_int_not_equal(access("report.json", F_OK), 0);
    room_close(&a.room);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_is_the_verdicts),
        cmocka_unit_test(reports_are_written_beside_the_text),
        cmocka_unit_test(mistakes_stop_it_before_a_trace_is_read),
        cmocka_unit_test(an_unusable_trace_is_a_verdict_of_its_own),
        cmocka_unit_test(a_dry_run_only_says_what_it_would_compare),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
