#include <cjson/cJSON.h>

#include "core/base/utf8.h"
#include "core/trace/inflate.h"
#include "tests/core/trace/reader_support.h"
#include "tests/support.h"

/* ---- tables: a text, and what must come out; JSON has ' for " ---- */

static const struct {
    const char *text, *events;
} good[] = {
    { "{'traceEvents':[]}", "" },
    { " [ ] ", "" },
    { "[{}]", "0 ph=- lacks-name-cat thread=0[|]\n" },
    { "[{'ph':'X','cat':'kernel','name':'k','pid':1,'tid':'stream 7','ts':5,'dur':2.5}]",
      "0 ph=X name=0[kernel|k]kernel thread=0[1|stream 7] ts=5000(5) dur=2500f(2.5)\n" },
    /* Keys of any order, blanks of any kind. */
    { "\t{\r\n"
      "'x' : [ ] , 'traceEvents' : [ { 'dur' : 1 , 'name' : 'a' } , { 'name' : 'a' } ] }\n",
      "0 ph=- name=0[|a]other lacks-cat thread=0[|] dur=1000(1)\n"
      "1 ph=- name=0[|a]other lacks-cat thread=0[|]\n" },
    /* Duplicate keys: the last wins, also when it is null, and also for args as a whole. */
    { "[{'name':'a','name':'b','ts':1,'ts':null,'args':{'stream':3},'args':{}}]",
      "0 ph=- name=0[|b]other lacks-cat thread=0[|] args={}\n" },
    { "[{'args':{'stream':3,'stream':4},'args':7}]", "0 ph=- lacks-name-cat thread=0[|]\n" },
    { "[{'args':{'stream':3,'stream':4}}]",
      "0 ph=- lacks-name-cat thread=0[|] stream=4 args={'stream':3,'stream':4}\n" },
    /* Escapes: in values and keys, surrogate pairs, lone surrogates (U+FFFD), NUL stays a byte. */
    { "[{'n\\u0061me':'a\\n\\'\\\\\\/\\u00e9\\ud83d\\ude00'}]",
      "0 ph=- name=0[|a\n'\\/\xc3\xa9\xf0\x9f\x98\x80]other lacks-cat thread=0[|]\n" },
    { "[{'name':'\\ud83d\\u0041\\udc00'}]", "0 ph=- name=0[|\xef\xbf\xbd"
                                            "A\xef\xbf\xbd]other lacks-cat thread=0[|]\n" },
    /* One text, spelled two ways, is one name and one thread. */
    { "[{'name':'a/b','pid':1},{'name':'a\\/b','pid':'1'}]",
      "0 ph=- name=0[|a/b]other lacks-cat thread=0[1|]\n"
      "1 ph=- name=0[|a/b]other lacks-cat thread=0[1|]\n" },
    /* Absent, null and empty are told apart where it matters. */
    { "[{'name':'','cat':null,'ph':''}]", "0 ph=- name=0[|]other lacks-cat thread=0[|]\n" },
    /* Names that are no texts keep their spelling. */
    { "[{'name':12.50,'cat':true,'ph':3,'tid':[1, 2]}]",
      "0 ph=- name=0[true|12.50]other thread=0[|[1, 2]]\n" },
    /* Exact times: 16-digit epochs, three decimals, exponents, signs; half to even beyond. */
    { "[{'ts':1661203462934220.123,'dur':0.001},{'ts':-1.5e3,'dur':-0.0005},"
      "{'ts':1E2,'dur':0.0015}]",
      "0 ph=- lacks-name-cat thread=0[|] ts=1661203462934220123f(1661203462934220.123) "
      "dur=1f(0.001)\n"
      "1 ph=- lacks-name-cat thread=0[|] ts=-1500000f(-1.5e3) dur=0f(-0.0005)\n"
      "2 ph=- lacks-name-cat thread=0[|] ts=100000f(1E2) dur=2f(0.0015)\n" },
    { "[{'ts':9223372036854775.807}]",
      "0 ph=- lacks-name-cat thread=0[|] ts=9223372036854775807f(9223372036854775.807)\n" },
    /* What args give: numbers, numeric texts, integral fractions; the rest is none. */
    { "[{'args':{'stream':'7','correlation':12.0,'External id':5,'device':1}},"
      "{'args':{'stream':'0x0','correlation':1.5,'external id':6,'device':null}},"
      "{'args':{'stream':4294967295,'correlation':-1,'x':{'stream':1}}}]",
      "0 ph=- lacks-name-cat thread=0[|] stream=7 correlation=12 external=5 device=1 "
      "args={'stream':'7','correlation':12.0,'External id':5,'device':1}\n"
      "1 ph=- lacks-name-cat thread=0[|] external=6 "
      "args={'stream':'0x0','correlation':1.5,'external id':6,'device':null}\n"
      "2 ph=- lacks-name-cat thread=0[|] stream=4294967295 "
      "args={'stream':4294967295,'correlation':-1,'x':{'stream':1}}\n" },
    /* Values of keys that nobody asked for are read over, however deep. */
    { "[{'x':[{'y':[[],{},']}',-0.5e-3,true,false,null]}],'name':'n'}]",
      "0 ph=- name=0[|n]other lacks-cat thread=0[|]\n" },
};

/* Leniencies: accepted and counted by default, refused by `strict_json`. */
static const struct {
    const char *text, *events, *count, *refusal;
} lenient[] = {
    { "[{'name':'C:\\code\\new'}]", "0 ph=- name=0[|C:\\code\new]other lacks-cat thread=0[|]\n",
      " escapes=1 ", "an escape that JSON does not know, at byte 12" },
    { "[{'name':'\\u12g4\\x'}]", "0 ph=- name=0[|\\u12g4\\x]other lacks-cat thread=0[|]\n",
      " escapes=2 ", "an escape that JSON does not know, at byte 10" },
    { "[{'name':'a\nb\tc'}]", "0 ph=- name=0[|a\nb\tc]other lacks-cat thread=0[|]\n",
      " controls=2 ", "a raw control byte in a text, at byte 11" },
    { "[{'name':'a\xff\xc3'}]", "0 ph=- name=0[|a\xff\xc3]other lacks-cat thread=0[|]\n",
      " utf8=2 ", "bytes that are not UTF-8, at byte 11" },
    { "[{'name':'\xed\xa0\x80'}]", "0 ph=- name=0[|\xed\xa0\x80]other lacks-cat thread=0[|]\n",
      " utf8=3 ", "bytes that are not UTF-8, at byte 10" },
    { "[{'ts':NaN,'dur':-Infinity,'args':{'a':[nan,-inf]}}]",
      "0 ph=- lacks-name-cat thread=0[|] ts=0f(NaN) dur=0f(-Infinity) args={'a':[nan,-inf]}\n",
      " nan=4 ", "a number that is not finite, at byte 7" },
    { "[{'args':{'stream':18446744073709551615,'b':9223372036854775807}}]",
      "0 ph=- lacks-name-cat thread=0[|] "
      "args={'stream':18446744073709551615,'b':9223372036854775807}\n",
      " huge=1 ", "an integer beyond 2^63, at byte 19" },
};

/* Refused always: kind, and a message with the byte. `at` is the offending byte (TG_NO_OFFSET:
 * none). */
static const struct {
    const char *text, *message, *hint;
    int64_t at;
    unsigned line, col;
} bad[] = {
    { "", "'test' is empty", "", -1, 0, 0 },
    { "  \n ", "'test' is empty", "", -1, 0, 0 },
    { "x", "neither a JSON object nor an array", "", 0, 1, 1 },
    { "{'rocprofiler-sdk-tool':[]}", "it has no traceEvents", "rocprofv3", -1, 0, 0 },
    { "{}", "it has no traceEvents", "torch.profiler", -1, 0, 0 },
    { "{'nodes':[]}", "it has no traceEvents", "execution trace", -1, 0, 0 },
    { "{'traceEvents':null}", "it has no traceEvents", "", -1, 0, 0 },
    { "{'traceEvents':[],'traceEvents':[]}", "a second traceEvents", "", 32, 1, 33 },
    { "[]x", "text after the end", "Two traces", 2, 1, 3 },
    { "[] []", "text after the end", "Two traces", 3, 1, 4 },
    { "[1]", "not an object", "", 1, 1, 2 },
    { "[{},]", "not an object", "comma too many", 4, 1, 5 },
    { "[{}\n{}]", "a comma or a closing bracket is missing", "", 4, 2, 1 },
    { "[{'a':1,}]", "a key is missing", "comma too many", 8, 1, 9 },
    { "[{\n'a':1\n'b':2}]", "a comma or a closing bracket is missing", "", 9, 3, 1 },
    { "[{'a' 1}]", "a colon is missing", "", 6, 1, 7 },
    { "[{name':1}]", "a key is missing", "opening quote", 2, 1, 3 },
    { "[{'name':'a 'b' c'}]", "a comma or a closing bracket is missing", "not escaped", 13, 1, 14 },
    { "[{'a':tru}]", "not a JSON value", "", 6, 1, 7 },
    { "[{'a':01}]", "leading zero", "", 7, 1, 8 },
    { "[{'a':1.}]", "a digit is missing", "", 8, 1, 9 },
    { "[{'a':1e}]", "a digit is missing", "", 8, 1, 9 },
    { "[{'a':-}]", "not a JSON number", "", 7, 1, 8 },
    { "[{'a':+1}]", "not a JSON value", "", 6, 1, 7 },
    { "[{'a':.5}]", "not a JSON value", "", 6, 1, 7 },
    { "[{'a':[1,]}]", "not a JSON value", "comma too many", 9, 1, 10 },
    { "[{'a':[1}]}]", "a comma or a closing bracket is missing", "", 8, 1, 9 },
    { "[{'a':{]}]", "a key is missing", "", 7, 1, 8 },
    { "[{'a':'x}]", "the text ends early", "truncated", 10, 1, 11 },
    { "[{'a':'x\\", "the text ends early", "truncated", 9, 1, 10 },
    { "[{'a':1", "the text ends early", "truncated", 7, 1, 8 },
    { "[{'a':tr", "the text ends early", "truncated", 8, 1, 9 },
    { "[{'a':1}", "the text ends early", "truncated", 8, 1, 9 },
    { "[{'a':1},", "the text ends early", "truncated", 9, 1, 10 },
    { "{'traceEvents':[]", "the text ends early", "truncated", 17, 1, 18 },
    { "{'traceEvents':[],\n'a'", "the text ends early", "truncated", 22, 2, 4 },
    { "[{'ts':'5'}]", "a time that is not a number", "microseconds", 8, 1, 9 },
    { "[{'dur':[5]}]", "a time that is not a number", "microseconds", 8, 1, 9 },
    { "[{'ts':9223372036854775.808}]", "a time outside", "corrupt", 7, 1, 8 },
    { "[{'ts':1e300}]", "a time outside", "corrupt", 7, 1, 8 },
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static void assert_same(const struct tg_buf *got, const struct tg_buf *want, const char *what)
{
    if (!tg_sv_eq(tg_buf_sv(got), tg_buf_sv(want)))
        fail_msg("%s\n--- got:\n%s--- want:\n%s", what, got->p, want->p);
}

/* Whatever the window: the same events, or the same error at the same byte. */
static void assert_any_window(tg_sv text, const struct tg_reader_opts *o)
{
    TG_BUF whole = { 0 }, part = { 0 };
    struct tg_reader_opts opts = *o;
    dump(&whole, text, &opts, true);
    for (opts.window = 1; opts.window <= 64; opts.window++) {
        char what[64];
        (void)snprintf(what, sizeof what, "window %zu", opts.window);
        tg_buf_clear(&part);
        dump(&part, text, &opts, true);
        assert_same(&part, &whole, what);
    }
}

TEST(events_of_good_texts)
{
    struct tg_reader_opts o = { .want_args = true };
    for (int strict = 0; strict < 2; strict++)
        for (size_t i = 0; i < COUNT(good); i++) {
            TG_BUF text = { 0 }, got = { 0 }, want = { 0 };
            o.strict_json = strict;
            dump(&got, json(&text, good[i].text), &o, false);
            (void)json(&want, good[i].events);
            assert_same(&got, &want, good[i].text);
            assert_any_window(tg_buf_sv(&text), &o);
        }
}

TEST(leniencies_are_counted_or_refused)
{
    for (size_t i = 0; i < COUNT(lenient); i++) {
        struct tg_reader_opts o = { .want_args = true };
        TG_BUF bytes = { 0 }, events = { 0 }, got = { 0 };
        tg_sv text = json(&bytes, lenient[i].text);
        dump(&got, text, &o, true);
        if (!tg_sv_starts(tg_buf_sv(&got), json(&events, lenient[i].events)) ||
            !strstr(got.p, lenient[i].count))
            fail_msg("%s\n--- got:\n%s", lenient[i].text, got.p);
        assert_any_window(text, &o);
        o.strict_json = true;
        tg_buf_clear(&got);
        dump(&got, text, &o, true);
        if (!strstr(got.p, lenient[i].refusal))
            fail_msg("%s\n--- got:\n%s", lenient[i].text, got.p);
        assert_any_window(text, &o);
    }
}

/* Frames by hand (RFC 8878): "[{x", which is no JSON, and behind it in one a block of a reserved
 * type. */
TEST(a_damaged_stream_is_not_called_bad_json)
{
    static const char whole[] = "\x28\xb5\x2f\xfd\x20\x03\x19\0\0[{x";
    static const char damaged[] = "\x28\xb5\x2f\xfd\x20\x03\x18\0\0[{x\x07\0\0";
    struct tg_reader_opts o = { 0 };
    TG_BUF got = { 0 };
    if (!tg_inflate_zstd())
        skip();
    dump(&got, (tg_sv){ whole, sizeof whole - 1 }, &o, true);
    assert_non_null(strstr(got.p, "at 1:3 byte 2: a key is missing"));
    assert_any_window((tg_sv){ whole, sizeof whole - 1 }, &o);
    tg_buf_clear(&got);
    dump(&got, (tg_sv){ damaged, sizeof damaged - 1 }, &o, true);
    assert_non_null(strstr(got.p, "the zstd stream is corrupt"));
    assert_non_null(strstr(got.p, "at compressed byte 9"));
    assert_any_window((tg_sv){ damaged, sizeof damaged - 1 }, &o);
}

/* Reading it fails, and stays so. */
static void read_to_failure(tg_sv text, const struct tg_reader_opts *o, struct tg_err *err)
{
    TG_SOURCE *s = tg_source_memory(text, "test", NULL, err);
    struct tg_reader *r = tg_reader_new(s, o);
    struct tg_event ev;
    enum tg_next next;
    while ((next = tg_reader_next(r, &ev, err)) == TG_NEXT)
        ;
    assert_int_equal(next, TG_NEXT_FAILED);
    assert_int_equal(tg_reader_next(r, &ev, err), TG_NEXT_FAILED);
    tg_reader_free(r);
}

TEST(bad_texts_are_refused_at_their_byte)
{
    struct tg_reader_opts o = { .want_args = true };
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct tg_err err = TG_ERR_INIT;
        TG_BUF text = { 0 };
        read_to_failure(json(&text, bad[i].text), &o, &err);
        if (err.kind != TG_ERR_TRACE || !strstr(err.message, bad[i].message) ||
            !strstr(err.hint, bad[i].hint) ||
            err.offset != (bad[i].at < 0 ? TG_NO_OFFSET : (uint64_t)bad[i].at) ||
            err.line != bad[i].line || err.col != bad[i].col)
            fail_msg("%s\n%u:%u byte %" PRId64 ": %s (%s)", bad[i].text, err.line, err.col,
                     (int64_t)err.offset, err.message, err.hint);
        assert_any_window(tg_buf_sv(&text), &o);
    }
}

/* ---- the text around the events ---- */

TEST(metadata_is_kept)
{
    static const char text[] =
        "{'schemaVersion': 1, 'deviceProperties': [ {'id': 0} ], 'traceName': "
        "'a\\/b','traceEvents': [{}], 'with_stack': 1, 'traceName': 'c','distributedInfo': "
        "{'backend': 'nccl', 'rank': 3, 'world_size': '8'}}";
    struct tg_reader_opts o = { 0 };
    TG_BUF bytes = { 0 }, got = { 0 }, want = { 0 };
    dump(&got, json(&bytes, text), &o, true);
    (void)json(&want, "events=1 bytes=200 rank=3/8 escapes=0 controls=0 utf8=0 nan=0 huge=0 "
                      "rounded=0 ts-missing\n"
                      "schemaVersion: 1\n"
                      "deviceProperties: [ {'id': 0} ]\n"
                      "traceName: c\n"
                      "with_stack: 1\n"
                      "distributedInfo: {'backend': 'nccl', 'rank': 3, 'world_size': '8'}\n");
    assert_string_equal(strchr(got.p, '\n') + 1, want.p);
    assert_any_window(tg_buf_sv(&bytes), &o);
}

TEST(rounding_rule_of_hta_sees_all_events)
{
    static const struct {
        const char *text, *flags;
    } cases[] = {
        { "[{'ts':1},{'ts':2,'dur':0.5}]", "rounded=0\n" },
        { "[{'ts':1},{'ph':'M','ts':2.0}]", "rounded=0 ts-float\n" },
        { "[{'ts':1},{'ph':'M'}]", "rounded=0 ts-missing\n" },
        { "[{'ts':1},{'ph':'M','ts':null}]", "rounded=0 ts-missing\n" },
        { "[{'ts':1.0005}]", "rounded=1 ts-float\n" },
    };
    struct tg_reader_opts o = { 0 };
    for (size_t i = 0; i < COUNT(cases); i++) {
        TG_BUF text = { 0 }, got = { 0 };
        dump(&got, json(&text, cases[i].text), &o, true);
        assert_non_null(strstr(got.p, cases[i].flags));
    }
}

TEST(args_are_checked_though_nobody_wants_them)
{
    struct tg_reader_opts o = { .want_args = false };
    TG_BUF text = { 0 }, got = { 0 };
    dump(&got, json(&text, "[{'args':{'stream':1}}]"), &o, false);
    assert_string_equal(got.p, "0 ph=- lacks-name-cat thread=0[|]\n");
    tg_buf_clear(&got);
    dump(&got, json(&text, "[{'args':{'stream':1,}}]"), &o, false);
    assert_non_null(strstr(got.p, "a key is missing, at byte 21"));
}

/* A truncated text is usable only when asked for, up to the last whole event, and then marked. */
TEST(truncation_can_be_allowed)
{
    TG_BUF bytes = { 0 };
    tg_sv text = json(&bytes, "{'a':1,'traceEvents':[{'name':'x'},{'name':'y'}],'b':2}");
    for (size_t n = 1; n < text.n; n++) {
        struct tg_reader_opts o = { .allow_truncated = true };
        TG_BUF got = { 0 };
        bool has_events = n >= strlen("{'a':1,'traceEvents':[");
        dump(&got, (tg_sv){ text.p, n }, &o, true);
        assert_int_equal(!strstr(got.p, "it has no traceEvents"), has_events);
        assert_int_equal(strstr(got.p, " truncated\n") != NULL, has_events);
        assert_int_equal(strstr(got.p, "|x]") != NULL, n >= 22 + 12);
        assert_int_equal(strstr(got.p, "|y]") != NULL, n >= 22 + 12 + 1 + 12);
        assert_any_window((tg_sv){ text.p, n }, &o);
        tg_buf_clear(&got);
        o.allow_truncated = false;
        dump(&got, (tg_sv){ text.p, n }, &o, true);
        assert_non_null(strstr(got.p, "the text ends early"));
    }
}

/* ---- limits ---- */

static void expect_limit(const char *text, const struct tg_limits *limits, const char *message)
{
    struct tg_reader_opts o = { .limits = limits };
    TG_BUF bytes = { 0 }, got = { 0 };
    char want[16];
    (void)snprintf(want, sizeof want, "error %d ", (int)TG_ERR_LIMIT);
    dump(&got, json(&bytes, text), &o, true);
    if (message ? !strstr(got.p, want) || !strstr(got.p, message) : strstr(got.p, "error ") != NULL)
        fail_msg("%s\n--- want: %s", got.p, message ? message : "no error");
    assert_any_window(tg_buf_sv(&bytes), &o);
}

TEST(limits_are_reached)
{
    struct tg_limits l = TG_LIMITS_DEFAULT;
    /* Depth counts the array of events and the event: [ { [ [ is four. */
    l.max_depth = 4;
    expect_limit("[{'a':[[]]}]", &l, NULL);
    expect_limit("[{'a':[[[]]]}]", &l, "nested more than 4 deep, at byte 8");
    expect_limit("[{'args':{'a':[{}]}}]", &l, "nested more than 4 deep, at byte 15");
    expect_limit("{'traceEvents':[{'args':{'a':[]}}]}", &l, "nested more than 4 deep");
    expect_limit("{'a':[[[[]]]],'traceEvents':[]}", &l, "nested more than 4 deep");
    l.max_depth = 2;
    expect_limit("{'traceEvents':[{}]}", &l, "nested more than 2 deep, at byte 16");

    l = TG_LIMITS_DEFAULT;
    l.max_event = 12;
    expect_limit("[{'a':'12345'}]", &l, "larger than 12 bytes, at byte 1");
    expect_limit("[{'a':'1234'}]", &l, NULL);
    expect_limit("[{},\n{'a':'12345'}]", &l, "larger than 12 bytes, at byte 5");
    expect_limit("{'abcdefgh':'1'}", &l, "larger than 12 bytes, at byte 1");

    l = TG_LIMITS_DEFAULT;
    l.max_names = 2;
    expect_limit("[{'name':'a'},{'name':'b'},{'name':'a'}]", &l, NULL);
    expect_limit("[{'name':'a'},{'name':'b'},{'name':'c'}]", &l, "more than 2 distinct names");
    expect_limit("[{'tid':1},{'tid':2},{'tid':3}]", &l, "more than 2 distinct threads");
    l = TG_LIMITS_DEFAULT;
    l.max_name_bytes = 3;
    expect_limit("[{'name':'abc'}]", &l, NULL);
    expect_limit("[{'name':'abcd'}]", &l, "3 bytes of them");
}

TEST(a_nesting_bomb_is_refused)
{
    struct tg_reader_opts o = { 0 };
    TG_BUF text = { 0 }, got = { 0 };
    put_json(&text, "[{'a':");
    for (int i = 0; i < 1000000; i++)
        tg_buf_putc(&text, '[');
    dump(&got, tg_buf_sv(&text), &o, true);
    assert_non_null(strstr(got.p, "nested more than 128 deep, at byte 132"));
}

/* Each with its place (the caret stands under it), the text before it, and the likely cause. */
TEST(quotes_are_explained)
{
    static const struct {
        const char *event;
        uint32_t col;
        const char *message, *hint;
    } cases[] = {
        { "{'name': 'say 'hello' twice'}", 16,
          "a comma or a closing bracket is missing, at byte 17, near '{\"name\": \"say \"h'",
          "A quote inside the text before it is probably not escaped" },
        { "{'cat': 'op, 'name': 'a'}", 15, "is missing, at byte 16, near '{\"cat\": \"op, \"n'",
          "the text's closing quote is missing" },
        { "{'ph': 'X', name': 'a'}", 13, "a key is missing, at byte 14, near '{\"ph\": \"X\", n'",
          "The opening quote of a key is probably missing" },
        { "{'ph': 'X', 'name: 'a'}", 21, "a colon is missing after a key, at byte 22",
          "or a closing quote is missing" },
        { "{'cat': op, 'name': 'a'}", 9, "not a JSON value, at byte 10, near '{\"cat\": o'",
          "The quotes of a text are probably missing" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        for (size_t window = 0; window < 40; window += 13) {
            struct tg_reader_opts o = { .window = window };
            struct tg_err err = TG_ERR_INIT;
            TG_BUF text = { 0 };
            put_json(&text, "[\n%s]", cases[i].event);
            read_to_failure(tg_buf_sv(&text), &o, &err);
            if (err.line != 2 || err.col != cases[i].col ||
                !strstr(err.message, cases[i].message) || !strstr(err.hint, cases[i].hint))
                fail_msg("case %zu: %u:%u %s / %s", i, err.line, err.col, err.message, err.hint);
        }
}

/* ---- random texts against cJSON ---- */

static const char *pick(uint64_t *rng, const char *const *from, size_t n)
{
    return from[roll(rng) % n];
}
#define PICK(rng, array) pick(rng, array, COUNT(array))

static void put_blanks(struct tg_buf *out, uint64_t *rng)
{
    static const char *const blanks[] = { "", "", "", " ", "\n  ", "\t", "\r\n" };
    tg_buf_puts(out, PICK(rng, blanks));
}

static void put_random_value(struct tg_buf *out, uint64_t *rng, int depth)
{
    static const char *const scalars[] = {
        "1",    "-7",    "0.25",       "1e3",      "true",           "false",    "null",
        "\"\"", "\"x\"", "\"}]{[,:\"", "\"\\\"\"", "12345678901234", "\"\\\\\"", "\"\xc3\xa9\"",
    };
    uint64_t kind = roll(rng) % 8;
    if (kind < 6 || depth > 3) {
        tg_buf_puts(out, PICK(rng, scalars));
        return;
    }
    tg_buf_putc(out, kind == 6 ? '[' : '{');
    put_blanks(out, rng);
    for (uint64_t i = 0, n = roll(rng) % 4; i < n; i++) {
        if (i)
            tg_buf_putc(out, ',');
        put_blanks(out, rng);
        if (kind == 7)
            tg_buf_printf(out, "\"k%d\" :", (int)i);
        put_random_value(out, rng, depth + 1);
        put_blanks(out, rng);
    }
    tg_buf_putc(out, kind == 6 ? ']' : '}');
}

static void put_random_member(struct tg_buf *out, uint64_t *rng, const char *key)
{
    static const char *const cats[] = { "\"kernel\"", "\"cpu_op\"", "\"ac2g\"", "\"\"" };
    static const char *const names[] = { "\"aten::mm\"",    "\"k<int>(float*)\"",
                                         "\"a \\\"b\\\"\"", "\"\\u00e9\\ud83d\\ude00\"",
                                         "\"n\\/m\"",       "\"\"" };
    static const char *const phs[] = { "\"X\"", "\"M\"", "\"i\"", "\"\\u0058\"" };
    static const char *const ids[] = { "1", "0", "3113936", "\"stream 7\"", "\"Spans\"", "\"\"" };
    tg_buf_printf(out, "\"%s\"", key);
    put_blanks(out, rng);
    tg_buf_putc(out, ':');
    put_blanks(out, rng);
    if (roll(rng) % 20 == 0)
        tg_buf_puts(out, "null");
    else if (strcmp(key, "cat") == 0)
        tg_buf_puts(out, PICK(rng, cats));
    else if (strcmp(key, "name") == 0)
        tg_buf_puts(out, PICK(rng, names));
    else if (strcmp(key, "ph") == 0)
        tg_buf_puts(out, PICK(rng, phs));
    else if (strcmp(key, "pid") == 0 || strcmp(key, "tid") == 0)
        tg_buf_puts(out, PICK(rng, ids));
    else if (strcmp(key, "ts") == 0)
        tg_buf_printf(out, "%u.%03u", (unsigned)(roll(rng) % 1000000000),
                      (unsigned)(roll(rng) % 1000));
    else if (strcmp(key, "dur") == 0)
        tg_buf_printf(out, "%u", (unsigned)(roll(rng) % 100000));
    else
        put_random_value(out, rng, 0);
}

static void put_random_event(struct tg_buf *out, uint64_t *rng)
{
    static const char *const keys[] = {
        "ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "s"
    };
    bool first = true;
    tg_buf_putc(out, '{');
    for (size_t i = 0; i < COUNT(keys); i++) {
        const char *key = roll(rng) % 10 ? keys[i] : PICK(rng, keys);
        if (roll(rng) % 10 == 0)
            continue;
        if (!first)
            tg_buf_putc(out, ',');
        first = false;
        put_blanks(out, rng);
        put_random_member(out, rng, key);
        put_blanks(out, rng);
    }
    tg_buf_putc(out, '}');
}

static void put_random_trace(struct tg_buf *out, uint64_t *rng)
{
    uint64_t events = roll(rng) % 12;
    tg_buf_puts(out, "{\"a\": ");
    put_random_value(out, rng, 0);
    tg_buf_puts(out, ", \"traceEvents\": [");
    for (uint64_t i = 0; i < events; i++) {
        if (i)
            tg_buf_putc(out, ',');
        put_blanks(out, rng);
        put_random_event(out, rng);
        put_blanks(out, rng);
    }
    tg_buf_puts(out, "]}\n");
}

/* cJSON keeps every member, so the last of a repeated key is the last of the list. */
static const cJSON *last_of(const cJSON *object, const char *key)
{
    const cJSON *found = NULL, *c;
    cJSON_ArrayForEach(c, object) if (strcmp(c->string, key) == 0) found = c;
    return found && cJSON_IsNull(found) ? NULL : found;
}

static void assert_id(tg_sv got, const cJSON *want)
{
    char number[32];
    const char *text = "";
    if (cJSON_IsString(want))
        text = want->valuestring;
    else if (want) {
        (void)snprintf(number, sizeof number, "%.0f", want->valuedouble);
        text = number;
    }
    assert_true(tg_sv_eq(got, tg_sv_of(text)));
}

static void assert_event(const struct tg_event *ev, struct tg_reader *r, const cJSON *want)
{
    const cJSON *name = last_of(want, "name"), *cat = last_of(want, "cat"),
                *ph = last_of(want, "ph"), *ts = last_of(want, "ts"), *dur = last_of(want, "dur");
    size_t n;
    const struct tg_thread *t = tg_reader_threads(r, &n);
    assert_int_equal(ev->has_name, name != NULL);
    assert_int_equal(ev->has_cat, cat != NULL);
    assert_int_equal(ev->has_ts, ts != NULL);
    assert_int_equal(ev->has_dur, dur != NULL);
    assert_int_equal(ev->ph, ph ? ph->valuestring[0] : 0);
    if (name)
        assert_true(tg_sv_eq(tg_reader_names(r)->v[ev->name].name, tg_sv_of(name->valuestring)));
    if (cat)
        assert_true(tg_sv_eq(tg_reader_names(r)->v[ev->name].cat, tg_sv_of(cat->valuestring)));
    if (ts) /* below 2^53 ns the double is near enough to round */
        assert_int_equal(ev->ts, (int64_t)llround(ts->valuedouble * 1000));
    if (dur)
        assert_int_equal(ev->dur, (int64_t)llround(dur->valuedouble * 1000));
    assert_id(t[ev->thread].pid, last_of(want, "pid"));
    assert_id(t[ev->thread].tid, last_of(want, "tid"));
}

TEST(random_texts_agree_with_cjson)
{
    uint64_t rng = 42;
    for (int round = 0; round < 2000; round++) {
        struct tg_reader_opts o = { .strict_json = true,
                                    .want_args = round % 2,
                                    .window = 1 + roll(&rng) % 200 };
        TG_BUF text = { 0 };
        struct tg_err err = TG_ERR_INIT;
        struct tg_source *s;
        struct tg_reader *r;
        struct tg_event ev;
        enum tg_next next;
        cJSON *tree;
        const cJSON *want;
        put_random_trace(&text, &rng);
        tree = cJSON_Parse(text.p);
        assert_non_null(tree);
        want = cJSON_GetObjectItem(tree, "traceEvents")->child;
        s = tg_source_memory(tg_buf_sv(&text), "random", NULL, &err);
        r = tg_reader_new(s, &o);
        while ((next = tg_reader_next(r, &ev, &err)) == TG_NEXT) {
            assert_non_null(want);
            assert_event(&ev, r, want);
            want = want->next;
        }
        if (next != TG_NEXT_END || want)
            fail_msg("round %d: %s\n%s", round, err.message, text.p);
        tg_reader_free(r);
        tg_source_close(s);
        cJSON_Delete(tree);
    }
}

/* ---- damaged texts against a second opinion on JSON ---- */

/* A recognizer by RFC 8259, recursive, with nothing of the reader's in it. NULL: not JSON. */
static const char *is_value(const char *p, int depth);

static const char *is_blank(const char *p)
{
    return p + strspn(p, " \t\r\n");
}

static const char *is_string(const char *p)
{
    if (*p++ != '"')
        return NULL;
    for (; *p != '"'; p++) {
        if ((unsigned char)*p < 0x20)
            return NULL;
        if (*p == '\\') {
            p++;
            if (*p == 'u' && strspn(p + 1, "0123456789abcdefABCDEF") >= 4)
                p += 4;
            else if (!*p || !strchr("\"\\/bfnrt", *p))
                return NULL;
        }
    }
    return p + 1;
}

static const char *is_number(const char *p)
{
    size_t n;
    p += *p == '-';
    n = strspn(p, "0123456789");
    if (!n || (n > 1 && *p == '0'))
        return NULL;
    p += n;
    if (*p == '.') {
        n = strspn(++p, "0123456789");
        if (!n)
            return NULL;
        p += n;
    }
    if (*p == 'e' || *p == 'E') {
        p++;
        p += *p == '+' || *p == '-';
        n = strspn(p, "0123456789");
        return n ? p + n : NULL;
    }
    return p;
}

static const char *is_list(const char *p, char close, int depth)
{
    p = is_blank(p + 1);
    if (*p == close)
        return p + 1;
    for (;;) {
        if (close == '}') {
            p = is_string(p);
            if (!p || *(p = is_blank(p)) != ':')
                return NULL;
            p = is_blank(p + 1);
        }
        p = is_value(p, depth + 1);
        if (!p)
            return NULL;
        p = is_blank(p);
        if (*p == close)
            return p + 1;
        if (*p != ',')
            return NULL;
        p = is_blank(p + 1);
    }
}

static const char *is_value(const char *p, int depth)
{
    if (depth > 128)
        return NULL;
    switch (*p) {
    case '{':
        return is_list(p, '}', depth);
    case '[':
        return is_list(p, ']', depth);
    case '"':
        return is_string(p);
    case 't':
        return strncmp(p, "true", 4) ? NULL : p + 4;
    case 'f':
        return strncmp(p, "false", 5) ? NULL : p + 5;
    case 'n':
        return strncmp(p, "null", 4) ? NULL : p + 4;
    default:
        return is_number(p);
    }
}

static bool is_json(const struct tg_buf *text)
{
    const char *end = is_value(is_blank(text->p), 0);
    return end && is_blank(end) == text->p + text->n && tg_utf8_valid(tg_buf_sv(text));
}

/* JSON that is no trace: what the reader may refuse though the recognizer accepts it. */
static bool is_refused_for_meaning(const char *dumped)
{
    static const char *const reasons[] = {
        "no traceEvents",
        "a second traceEvents",
        "that is not an object",
        "that is not a number",
        "a time outside",
        "beyond 2^63",
        "neither a JSON object nor an array",
    };
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (strstr(dumped, reasons[i]))
            return true;
    return false;
}

static void mutate(struct tg_buf *text, uint64_t *rng)
{
    static const char alphabet[] = "\"\\{}[],:0123456789.-+eEtrufalsn \n\x01\xff\xc3\xa9/NIab";
    for (uint64_t k = 0, n = 1 + roll(rng) % 3; k < n && text->n > 1; k++) {
        size_t at = roll(rng) % text->n;
        char c = alphabet[roll(rng) % (sizeof alphabet - 1)];
        switch (roll(rng) % 4) {
        case 0:
            memmove(text->p + at, text->p + at + 1, text->n - at); /* with the NUL */
            text->n--;
            break;
        case 1:
            tg_buf_putc(text, ' ');
            memmove(text->p + at + 1, text->p + at, text->n - at - 1);
            text->p[at] = c;
            break;
        case 2:
            text->n = roll(rng) % 8 ? text->n : at + 1;
            text->p[text->n] = '\0';
            break;
        default:
            text->p[at] = c;
        }
    }
}

TEST(damaged_texts_are_judged_alike)
{
    uint64_t rng = 7, valid = 0, invalid = 0;
    for (int round = 0; round < 5000; round++) {
        struct tg_reader_opts o = { .strict_json = true, .want_args = round % 2 };
        TG_BUF text = { 0 }, got = { 0 }, part = { 0 };
        bool accepted, json;
        put_random_trace(&text, &rng);
        mutate(&text, &rng);
        json = is_json(&text);
        dump(&got, tg_buf_sv(&text), &o, true);
        accepted = strstr(got.p, "error ") == NULL;
        if (json ? !accepted && !is_refused_for_meaning(got.p) : accepted)
            fail_msg("round %d: JSON %d, accepted %d\n%s\n%s", round, json, accepted, text.p,
                     got.p);
        valid += json;
        invalid += !json;
        o.strict_json = round % 4 < 2;
        tg_buf_clear(&got);
        dump(&got, tg_buf_sv(&text), &o, true);
        o.window = 1 + roll(&rng) % 64;
        dump(&part, tg_buf_sv(&text), &o, true);
        assert_same(&part, &got, text.p);
    }
    assert_true(valid > 500 && invalid > 500); /* the test sees both sides */
}
