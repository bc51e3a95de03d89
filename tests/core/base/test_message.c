/* Pieces of messages. A name is shown as [name], code as {code}, words as they are. */
#include "core/base/doc.h"
#include "core/base/message.h"
#include "core/base/utf8.h"
#include "tests/support.h"

static void pieces(tg_sv message, const char *want)
{
    static const char *const around[][2] = { { "", "" }, { "[", "]" }, { "{", "}" } };
    struct tg_piece piece;
    TG_BUF out = { 0 };
    while (tg_message_next(&message, &piece)) {
        assert_true(piece.text.n || piece.type == TG_PIECE_NAME);
        tg_buf_printf(&out, "%s%.*s%s", around[piece.type][0], TG_SV_ARG(piece.text),
                      around[piece.type][1]);
    }
    assert_string_equal(out.p ? out.p : "", want);
}

static void plain(tg_sv message, const char *want)
{
    TG_BUF out = { 0 }, visible = { 0 };
    tg_message_put_plain(&out, message);
    assert_string_equal(out.p ? out.p : "", want);
    tg_utf8_visible(&visible, message); /* what does not know of pieces */
    assert_string_equal(visible.p ? visible.p : "", want);
}

static void both(const char *message, const char *want_pieces, const char *want_plain)
{
    pieces(tg_sv_of(message), want_pieces);
    plain(tg_sv_of(message), want_plain);
}

TEST(names_and_code_are_pieces)
{
    TG_BUF b = { 0 };
    both("", "", "");
    both("no names", "no names", "no names");
    tg_buf_printf(&b, TG_NAME " +2, " TG_NAME, TG_SV_ARG(TG_SV("a::b: c")),
                  TG_SV_ARG(TG_SV("`t`")));
    both(b.p, "[a::b: c] +2, [`t`]", "a::b: c +2, `t`");
    both("run `git a b` (`c`), or not", "run {git a b} ({c}), or not",
         "run `git a b` (`c`), or not");
    both("`no end", "`no end", "`no end");
    both("`` and `", "`{ and }", "`` and `");
    both("it's `a", "it's `a", "it's `a");
}

TEST(a_long_name_is_said_short_and_known_whole)
{
    TG_BUF b = { 0 };
    tg_message_put_name(&b, TG_SV("abcdef"), 6);
    tg_buf_puts(&b, ", ");
    tg_message_put_name(&b, TG_SV("abcd\xc3\xa9g"), 5);
    both(b.p, "[abcdef], [abcd\xc3\xa9g]", "abcdef, abcd\xe2\x80\xa6");
}

/* A path may hold any byte: all of it is printed, or nothing of a name before how it is said. */
TEST(forged_marks_print_their_text)
{
    both("a\xf8"
         "b",
         "a[b]", "ab");
    both("a\xf9"
         "b\xfa",
         "a\xf9"
         "b\xfa",
         "ab");
    both("\xf8"
         "a\xf9"
         "b",
         "[a]", "b");
    both("\xf8\xfa", "[]", "");
}

/* Three are listed, a fourth is written, of five two are counted. */
TEST(a_list_counts_two_at_least)
{
    static const char *const want[] = {
        "", "a", "a, b", "a, b, c", "a, b, c, d", "a, b, c and 2 more", "a, b, c and 3 more"
    };
    for (size_t n = 0; n < sizeof want / sizeof *want; n++) {
        struct tg_message_list list = { .most = 3 };
        TG_BUF b = { 0 };
        for (size_t i = 0; i < n; i++)
            if (tg_message_list_next(&list, &b))
                tg_buf_putc(&b, (char)('a' + i));
        assert_int_equal(tg_message_list_end(&list, &b), n > 4);
        assert_string_equal(b.n ? b.p : "", want[n]);
    }
}

TEST(a_prefix_ends_after_a_name)
{
    const tg_sv m = TG_SV("is \xf8name\xfa so");
    for (size_t n = 0; n <= m.n; n++) {
        size_t want = n <= 3 ? n : n < 9 ? 9 : n;
        assert_int_equal(tg_message_prefix(m, n).n, want);
    }
    assert_int_equal(tg_message_prefix(TG_SV("\xf8no end"), 3).n, 7);
}

TEST(json_has_no_marks)
{
    struct tg_doc *d = tg_doc_new_array();
    TG_BUF out = { 0 };
    tg_doc_add_str(d, NULL, TG_SV("a \xf8name\xfa \xff"));
    tg_doc_write(d, TG_DOC_COMPACT, &out);
    assert_non_null(strstr(out.p, "\"a name \xef\xbf\xbd\""));
    tg_doc_free(d);
}
