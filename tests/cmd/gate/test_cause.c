/* Which results get a cause, and what is said where there is none. Traces are made here. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/cause.h"

/* aten::mm of `us` us, called by step() of train.py; "": without Python frames. */
static const char *trace(struct room *r, unsigned us, const char *frame)
{
    const char *python =
        *frame ? tg_arena_printf(r->arena,
                                 ",{\"ph\":\"X\",\"cat\":\"python_function\",\"name\":\"%s\","
                                 "\"pid\":1,\"tid\":1,\"ts\":50,\"dur\":900,"
                                 "\"args\":{\"Python id\":1}}",
                                 frame)
               : "";
    return tg_arena_printf(
        r->arena,
        "{\"traceEvents\":[{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":\"ProfilerStep#1\","
        "\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":%u}%s,"
        "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":1,\"ts\":100,"
        "\"dur\":%u}]}",
        1000 + us, python, us);
}

static struct tg_result failed(void)
{
    return (struct tg_result){ .state = TG_STATE_FAIL,
                               .subject = TG_SUBJECT_NAME,
                               .unit_id = TG_UNIT_NS,
                               .op = TG_SV("aten::mm"),
                               .op_normalised = TG_SV("aten::mm"),
                               .op_kind = TG_KIND_OP,
                               .metric = TG_RULE_METRIC_SELF,
                               .has_values = true,
                               .base = 100000,
                               .test = 300000,
                               .delta = 200000 };
}

static void find(struct room *r, struct tg_result *v, size_t n, bool stacks)
{
    static const struct tg_window_spec window = { .by = TG_WINDOW_AUTO };
    struct tg_load_opts load = { .keep_python = false };
    struct tg_input_item base = { .label = "base.json" }, test = { .label = "test.json" };
    struct tg_input_list side[2] = { { .v = &base, .n = 1 }, { .v = &test, .n = 1 } };
    struct tg_repo repo = { 0 };
    struct tg_verdict verdict = { .results = v, .n_results = n };
    tg_cause_find(&verdict, &(struct tg_cause_ask){ .from.side = { &side[0], &side[1] },
                                                    .from.load = &load,
                                                    .from.window = &window,
                                                    .from.repo = &repo,
                                                    .stacks = stacks,
                                                    .arena = r->arena });
    tg_repo_release(&repo);
}

TEST(the_function_that_calls_it)
{
    struct tg_result r = failed();
    TG_AUTO(room_close) struct room room;
    room_open(&room);
    room_file("base.json", trace(&room, 100, "train.py(12): step"));
    room_file("test.json", trace(&room, 300, "train.py(12): step"));
    find(&room, &r, 1, true);
    assert_non_null(r.cause);
    assert_non_null(r.cause->function);
    assert_true(tg_sv_has(r.cause->function->text, TG_SV("step")));
    assert_sv_equal(r.cause->function->file, TG_SV("train.py"));
    assert_int_equal(r.cause->function->line, 12);
    assert_false(r.cause->change_known); /* outside a repository */
    assert_int_equal(r.source.n, 0);
}

static void judge_with(struct room *room, struct tg_result *r, const char *frame, unsigned us,
                       bool stacks)
{
    *r = failed();
    room_open(room);
    room_file("base.json", trace(room, 100, frame));
    room_file("test.json", trace(room, us, frame));
    find(room, r, 1, stacks);
}

/* Frames that are not the program's own: the place is the step, no function is blamed. */
TEST(a_place_without_a_function)
{
    static const char *const frames[] = { "", "<built-in method mm>",
                                          "/usr/lib/python3/site-packages/torch/nn.py(1): f" };
    struct tg_result r;
    struct room room;
    for (size_t i = 0; i < sizeof frames / sizeof *frames; i++) {
        judge_with(&room, &r, frames[i], 300, true);
        if (!r.cause || r.cause->function)
            fail_msg("%s", frames[i]);
        room_close(&room);
    }
}

TEST(why_there_is_none)
{
    struct tg_result r;
    struct room room;
    judge_with(&room, &r, "train.py(12): step", 300, false);
    assert_null(r.cause);
    assert_sv_equal(r.no_cause, TG_SV("the fresh traces have no Python stacks"));
    room_close(&room);
    judge_with(&room, &r, "train.py(12): step", 100, true);
    assert_null(r.cause);
    assert_sv_equal(r.no_cause,
                    TG_SV("the first traces of the two sides do not show this difference"));
    room_close(&room);
}

/* No operator is blamed for time between operators; with stacks the function is. */
TEST(host_time_between_operators_needs_stacks)
{
    static const char *const frames[] = { "", "train.py(12): step" };
    for (size_t i = 0; i < 2; i++) {
        struct tg_result r = failed();
        TG_AUTO(room_close) struct room room;
        r.subject = TG_SUBJECT_STEP;
        room_open(&room);
        room_file("base.json", trace(&room, 100, frames[i]));
        room_file("test.json", trace(&room, 300, frames[i]));
        find(&room, &r, 1, true);
        if (!r.cause != !i)
            fail_msg("frame '%s': %.*s", frames[i], TG_SV_ARG(r.no_cause));
        assert_true(tg_sv_has(r.no_cause, TG_SV("no Python stacks")) == !i);
    }
}

TEST(only_shown_values_of_names_are_followed)
{
    struct tg_result r[4] = { failed(), failed(), failed(), failed() };
    TG_AUTO(room_close) struct room room;
    r[0].state = TG_STATE_PASS;
    r[1].state = TG_STATE_INCONCLUSIVE;
    r[2].unit_id = TG_UNIT_ATTR;
    r[3].subject = TG_SUBJECT_TRACE;
    room_open(&room);
    room_file("base.json", trace(&room, 100, "train.py(12): step"));
    room_file("test.json", trace(&room, 300, "train.py(12): step"));
    find(&room, r, 4, true);
    for (size_t i = 0; i < 4; i++)
        assert_true(!r[i].cause && !r[i].no_cause.n);
}
