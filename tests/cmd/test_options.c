/* The option parser on a table of its own: forms, lists, errors with their hints. */

#include "cmd/help.h"
#include "cmd/options.h"
#include "tests/support.h"

struct opts {
    bool fast;
    enum tg_format format;
    enum { MOOD_NOT_GIVEN, MOOD_MILD, MOOD_STERN } mood;
    const char *output;
    int64_t top, rank;
    struct tg_strs exclude;
};
static const struct tg_opt table[] = {
    { "fast", TG_OPT_FLAG, offsetof(struct opts, fast), NULL, "be fast" },
    { "format", TG_OPT_FORMAT, offsetof(struct opts, format), "text|csv", "form of the output" },
    { "mood", TG_OPT_CHOICE, offsetof(struct opts, mood), "mild|stern", "how" },
    { "out", TG_OPT_STR, offsetof(struct opts, output), "FILE", "where to" },
    { "top", TG_OPT_INT, offsetof(struct opts, top), "N", "make: rows; default: 3; take: pieces" },
    { "rank", TG_OPT_INT, offsetof(struct opts, rank), "N", "rank" },
    { "exclude", TG_OPT_LIST, offsetof(struct opts, exclude), "GLOB", "leave out" },
    { 0 },
};
static const struct tg_opt_was was[] = { { "best", "top" },
                                         { "mood=strict", "mood=stern" },
                                         { "sternly", "mood=stern" },
                                         { "mine", "exclude=mine=" },
                                         { 0 } };
static const struct tg_opt_needs needs[] = { { "mood", "fast top make" }, { 0 } };
static const struct tg_verb verbs[] = { { "make", "A", "makes it.", "fast top mood" },
                                        { "take", "", "takes it.", "top out" },
                                        { 0 } };
static const struct tg_cmd cmd = { .name = "try",
                                   .summary = "a trial",
                                   .synopsis = "A B",
                                   .about = "About it.",
                                   .options = table,
                                   .was = was,
                                   .needs = needs,
                                   .verbs = verbs,
                                   .for_scripts = "rank",
                                   .opts_size = sizeof(struct opts) };

struct parsed {
    struct tg_arena *arena;
    struct opts o;
    struct tg_global_opts common;
    struct tg_strs args;
    struct tg_err err;
    bool ok;
};

static struct parsed parse(const char *const *argv)
{
    struct parsed p = { .arena = tg_arena_new() };
    size_t n = 0;
    while (argv[n])
        n++;
    tg_err_init(&p.err);
    p.ok = tg_options_parse(&cmd, argv, n, &p.o, &p.common, &p.args, p.arena, &p.err);
    return p;
}

TEST(all_forms_are_read)
{
    const char *const argv[] = { "a",          "--fast",    "--format=csv", "-o",
                                 "f",          "--mood",    "stern",        "--top",
                                 "3",          "--exclude", "x*",           "b",
                                 "--exclude=", "--",        "--top",        NULL };
    struct parsed p = parse(argv);
    assert_true(p.ok);
    assert_true(p.o.fast);
    assert_int_equal(p.o.format, TG_FORMAT_CSV);
    assert_int_equal(p.o.mood, MOOD_STERN);
    assert_string_equal(p.o.output, "f");
    assert_int_equal(p.o.top, 3);
    assert_true(p.o.rank == TG_OPT_UNSET);
    assert_int_equal(p.o.exclude.n, 2);
    assert_string_equal(p.o.exclude.v[0], "x*");
    assert_string_equal(p.o.exclude.v[1], "");
    assert_int_equal(p.args.n, 3);
    assert_string_equal(p.args.v[2], "--top");
    tg_arena_free(p.arena);
}

TEST(common_options_are_read)
{
    const char *const argv[] = { "--color=never", "-ofile", "-", "--threads", "3", "-h", NULL };
    const char *const none[] = { "-", NULL };
    struct parsed p = parse(none);
    assert_true(p.ok && p.common.threads == TG_OPT_UNSET);
    tg_arena_free(p.arena);
    p = parse(argv);
    assert_true(p.ok && p.common.help);
    assert_int_equal(p.common.threads, 3);
    assert_int_equal(p.common.color, TG_COLOR_NEVER);
    assert_string_equal(p.o.output, "file");
    assert_int_equal(p.args.n, 1);
    assert_string_equal(p.args.v[0], "-");
    tg_arena_free(p.arena);
}

TEST(mistakes_are_named)
{
    static const struct {
        const char *argv[4], *message, *hint;
    } cases[] = {
        { { "--fats", NULL }, "try has no option '--fats'", "Did you mean --fast?" },
        { { "--exclud=x", NULL }, "try has no option '--exclud'", "Did you mean --exclude?" },
        { { "--zzzzz", NULL }, "try has no option '--zzzzz'", "tracegate try --help lists" },
        { { "-x", NULL }, "try has no option '-x'", "tracegate try --help lists" },
        { { "--", NULL }, NULL, NULL },
        { { "--o=x", NULL }, "try has no option '--o'", "" },
        { { "--fast=1", NULL }, "--fast takes no value", "" },
        { { "--top", NULL }, "--top needs a value: N", "" },
        { { "--top", "many", NULL }, "--top needs a whole number, not 'many'", "" },
        { { "--top", "-3", NULL }, "--top needs a whole number, not '-3'", "" },
        { { "--top", "", NULL }, "--top needs a whole number, not ''", "" },
        { { "--format", "xml", NULL }, "--format does not know 'xml'", "Use one of text|csv;" },
        { { "--format", "tex", NULL }, "--format does not know 'tex'", "Use one of text|csv;" },
        { { "--mood", "mil", NULL }, "--mood does not know 'mil'", "Use one of mild|stern;" },
        { { "make", "-o", "f", NULL },
          "try make has no option '--out'",
          "option of tracegate try take." },
        { { "take", "--fast", NULL }, "try take has no option '--fast'", "try make." },
        { { "take", "--rank=1", NULL }, "try take has no option '--rank'", "tracegate try." },
        { { "take", "--top=1", NULL }, NULL, NULL },
        { { "take", "--fast", "--help", NULL }, NULL, NULL },
        { { "--color", "red", NULL }, "--color does not know 'red'", "auto|always|never" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct parsed p = parse(cases[i].argv);
        if (!cases[i].message) {
            assert_true(p.ok);
        } else {
            assert_false(p.ok);
            assert_int_equal(p.err.kind, TG_ERR_USAGE);
            assert_string_equal(p.err.message, cases[i].message);
            assert_non_null(strstr(p.err.hint, cases[i].hint));
        }
        tg_arena_free(p.arena);
    }
}

/* As tracegate ab hands them on to check. */
TEST(options_of_another_command_have_their_old_spellings)
{
    static const struct tg_cmd wrap = { .name = "wrap", .others = &cmd };
    const char *argv[] = { "--best", "5", "--best=6", "--top", "7" };
    struct tg_global_opts common = { 0 };
    struct tg_strs args = { 0 }, words = { 0 };
    TG_ARENA *a = tg_arena_new();
    struct tg_err err = TG_ERR_INIT;
    assert_true(tg_options_parse(&wrap, argv, 5, &words, &common, &args, a, &err));
    assert_int_equal(words.n, 5);
    assert_string_equal(words.v[0], "--top");
    assert_string_equal(words.v[2], "--top=6");
    assert_int_equal(common.was.n, 1);
    assert_non_null(strstr(common.was.v[0], "--best is now --top"));
}

/* They work, and each is said once. */
TEST(spellings_of_the_release_before)
{
    const char *argv[] = { "--best", "5", "--best=6", "--mood", "strict", NULL };
    const char *values[] = { "--fast", "--sternly", "--mine", "x", "--mine=y", NULL };
    struct parsed p = parse(argv);
    assert_true(p.ok);
    assert_int_equal(p.o.top, 6);
    assert_int_equal(p.o.mood, MOOD_STERN);
    assert_int_equal(p.common.was.n, 2);
    assert_non_null(strstr(p.common.was.v[0], "--best is now --top"));
    assert_non_null(strstr(p.common.was.v[1], "--mood=strict is now --mood=stern"));
    tg_arena_free(p.arena);
    p = parse((const char *const[]){ "--top", "5", "--mood=stern", NULL });
    assert_true(p.ok);
    assert_int_equal(p.common.was.n, 0);
    tg_arena_free(p.arena);
    p = parse(values);
    assert_true(p.ok);
    assert_int_equal(p.o.mood, MOOD_STERN);
    assert_string_equal(p.o.exclude.v[0], "mine=x");
    assert_string_equal(p.o.exclude.v[1], "mine=y");
    assert_non_null(strstr(p.common.was.v[0], "--sternly is now --mood=stern"));
    tg_arena_free(p.arena);
}

/* An argument that is called like what is missing is not it. */
TEST(an_option_that_has_no_effect_alone)
{
    static const struct {
        const char *argv[4];
        bool ok;
    } rows[] = {
        { { "--mood", "mild" }, false },
        { { "--mood", "mild", "fast" }, false },
        { { "--mood", "mild", "--fast" }, true },
        { { "--top=3", "--mood=mild" }, true },
        { { "make", "--mood", "mild" }, true },
        { { "--mood", "mild", "--help" }, true },
        { { "--fast" }, true },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct parsed p = parse(rows[i].argv);
        assert_int_equal(p.ok, rows[i].ok);
        if (!p.ok)
            assert_string_equal(p.err.message, "--mood needs --fast, --top or try make");
        tg_arena_free(p.arena);
    }
}

/* An action's help has its own options, and of their texts what is said of it */
TEST(help_of_an_action)
{
    TG_BUF out = { 0 };
    assert_null(tg_verb_find(&cmd, "bake"));
    tg_help_command(&out, &cmd, "make", 80);
    assert_non_null(strstr(out.p, "usage: tracegate try make A [options]\n\nMakes it.\n"));
    assert_non_null(strstr(out.p, "--fast"));
    assert_non_null(strstr(out.p, "  rows; default: 3\n"));
    assert_null(strstr(out.p, "-o, --out FILE"));
    tg_buf_clear(&out);
    tg_help_command(&out, &cmd, "take", 80);
    assert_non_null(strstr(out.p, "usage: tracegate try take [options]\n\nTakes it.\n"));
    assert_non_null(strstr(out.p, "  pieces\n"));
    assert_non_null(strstr(out.p, "-o, --out FILE"));
    assert_null(strstr(out.p, "--fast"));
}

TEST(help_names_every_option)
{
    const struct tg_cmd *const commands[] = { &cmd, NULL };
    TG_BUF out = { 0 };
    tg_help_command(&out, &cmd, NULL, 80);
    for (const struct tg_opt *o = table; o->name; o++)
        assert_non_null(strstr(out.p, o->help));
    assert_non_null(strstr(out.p, "--format text|csv"));
    assert_non_null(strstr(out.p, "  -o, --out FILE"));
    assert_non_null(strstr(out.p, "actions\n  make        makes it.\n"));
    assert_true(strstr(out.p, "for scripts\n  --rank") > strstr(out.p, "--help"));
    tg_buf_clear(&out);
    tg_help_man(&out, commands);
    assert_non_null(strstr(out.p, ".B \\-\\-format \\fItext|csv\\fR\n"));
    tg_buf_clear(&out);
    tg_help_bash(&out, commands);
    assert_non_null(strstr(out.p, "try:--format) COMPREPLY=( $(compgen -W 'text csv' --"));
    tg_buf_clear(&out);
    tg_help_zsh(&out, commands);
    assert_non_null(strstr(out.p, "'*--exclude[leave out]:GLOB:_files'"));
}
