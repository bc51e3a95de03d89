/* Standard output and error as a CI runner and a terminal read them. */
#include "tests/cmd/gate/room.h"

#include <signal.h>

IN_ROOM(an_empty_variable_is_not_set)
{
    r->environ_[1] = "EMPTY=";
    r->environ_[2] = "SOURCE=1";
    assert_null(tg_io_env(&r->io, "EMPTY"));
    assert_null(tg_io_env(&r->io, "SOURCE_DATE"));
    assert_string_equal(tg_io_env(&r->io, "SOURCE"), "1");
    /* 1760000000 / 86400 = 20370.37 */
    assert_int_equal(tg_io_today(&r->io), 20370);
}

IN_ROOM(colour_is_decided_in_order)
{
    static const struct {
        enum tg_color asked;
        const char *a, *b;
        bool color;
    } cases[] = {
        { TG_COLOR_DEFAULT, "X=1", NULL, false }, /* standard output is a file */
        { TG_COLOR_ALWAYS, "NO_COLOR=1", NULL, true },
        { TG_COLOR_NEVER, "FORCE_COLOR=1", NULL, false },
        { TG_COLOR_AUTO, "FORCE_COLOR=1", NULL, true },
        { TG_COLOR_DEFAULT, "CLICOLOR_FORCE=0", NULL, false },
        { TG_COLOR_DEFAULT, "FORCE_COLOR=1", "NO_COLOR=1", false },
        { TG_COLOR_DEFAULT, "FORCE_COLOR=1", "NO_COLOR=", true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r->environ_[1] = cases[i].a;
        r->environ_[2] = cases[i].b;
        tg_io_setup(&r->io, cases[i].asked);
        assert_int_equal(r->io.color, cases[i].color);
    }
}

IN_ROOM(no_line_is_a_command_of_the_runner)
{
    assert_true(tg_io_put(&r->io, TG_SV("a\n::error::x\n  ##[group]y\nb :: c"), &r->err));
    assert_string_equal(room_text(r, "stdout"), "a\n| ::error::x\n|   ##\\u200b[group]y\nb :: c");
    assert_true(tg_io_put_commands(&r->io, TG_SV("\n::notice::ours\n"), &r->err));
    assert_non_null(strstr(room_text(r, "stdout"), "\n::notice::ours\n"));
}

/* What a report may hold by mistake; the sink makes it harmless, and colours of our own stay. */
IN_ROOM(no_byte_moves_the_cursor_or_ends_a_line)
{
    static const struct {
        const char *text, *want;
        bool color;
    } cases[] = {
        { "a\r::error::x\n", "a\n| ::error::x\n", false },
        { "a\r\n::error::x\r\n", "a\r\n| ::error::x\r\n", false }, /* CSV has CRLF */
        { "a\r\r##[x]", "a\n\n| ##\\u200b[x]", false },
        { "a ##[error]b", "a ##\\u200b[error]b", false },
        { "\033[31mred\033[0m", "\\u001b[31mred\\u001b[0m", false },
        { "\033[31mred\033[0m", "\033[31mred\033[0m", true },
        { "\033[2Jx\033]0;t\a", "\\u001b[2Jx\\u001b]0;t\\u0007", true },
        { "\t#\xc2\x85::x\xe2\x80\xa8y\x7f", "\t#\\u0085::x\\u2028y\\u007f", true },
        { "\xc3\xa4 \xff", "\xc3\xa4 \xff", false },
    };
    size_t used = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        r->io.color = cases[i].color;
        assert_true(tg_io_put(&r->io, tg_sv_of(cases[i].text), &r->err));
        if (strcmp(room_text(r, "stdout") + used, cases[i].want) != 0)
            fail_msg("case %zu: '%s'", i, room_text(r, "stdout") + used);
        used = strlen(room_text(r, "stdout"));
    }
}

IN_ROOM(a_reader_that_left_is_not_an_error)
{
    int ends[2];
    (void)signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    (void)close(ends[0]);
    (void)close(r->io.out);
    r->io.out = ends[1];
    assert_true(tg_io_put(&r->io, TG_SV("x\n"), &r->err));
    (void)close(r->io.out);
    r->io.out = open("/dev/full", O_WRONLY);
    assert_true(r->io.out >= 0);
    assert_false(tg_io_put(&r->io, TG_SV("x\n"), &r->err));
    assert_failed(r, TG_ERR_OUTPUT, "cannot write to standard output");
}
