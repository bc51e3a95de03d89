#include "tests/support.h"

#include <fcntl.h>

#include "core/base/arena.h"
#include "core/base/doc.h"
#include "core/base/file.h"
#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"

TEST(globs_match_whole_names)
{
    static const struct {
        const char *glob, *text;
        bool hit;
    } c[] = {
        { "*", "", true },
        { "aten::*", "aten::mm", true },
        { "aten::*", "Aten::mm", false },
        { "a?c", "abc", true },
        { "a?c", "ac", false },
        { "*mm*mm", "ammbmm", true },
        { "*mm*mm", "ammb", false },
        { "", "", true },
        { "", "x", false },
        { "a*b*c", "aXbYc", true },
        { "a*b*c", "aXcYb", false },
        { "***", "x", true },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++)
        if (tg_sv_glob(tg_sv_of(c[i].glob), tg_sv_of(c[i].text)) != c[i].hit)
            fail_msg("glob '%s' on '%s'", c[i].glob, c[i].text);
}

TEST(integers_are_whole_texts_in_range)
{
    int64_t v = 0;
    assert_true(tg_sv_i64(TG_SV("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(tg_sv_i64(TG_SV("9223372036854775807"), &v) && v == INT64_MAX);
    assert_false(tg_sv_i64(TG_SV("9223372036854775808"), &v));
    assert_false(tg_sv_i64(TG_SV("18446744073709551616"), &v));
    assert_false(tg_sv_i64(TG_SV(" 1"), &v));
    assert_false(tg_sv_i64(TG_SV("-"), &v));
}

TEST(values_of_lines_are_found_by_key)
{
    const tg_sv lines = TG_SV("a=1\nab=\"2=3\"\nc=\n\"");
    static const struct {
        const char *key, *value, *unquoted;
    } c[] = {
        { "a", "1", "1" },
        { "ab", "\"2=3\"", "2=3" },
        { "c", "", "" },
        { "b", "", "" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        tg_sv value = tg_sv_value(lines, tg_sv_of(c[i].key));
        if (!tg_sv_eq(value, tg_sv_of(c[i].value)) ||
            !tg_sv_eq(tg_sv_unquoted(value), tg_sv_of(c[i].unquoted)))
            fail_msg("%s: %.*s", c[i].key, TG_SV_ARG(value));
    }
    assert_int_equal(tg_sv_unquoted(TG_SV("\"")).n, 1);
}

TEST(bytes_are_taken_off_the_ends)
{
    static const struct {
        const char *text, *which, *past, *strip;
    } c[] = {
        { "  a b \t", " ", "a b \t", "a b \t" },
        { "  a b \t", " \t", "a b \t", "a b" },
        { "**", "*", "", "" },
        { "", "*", "", "" },
        { "a*", "", "a*", "a*" },
    };
    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        tg_sv text = tg_sv_of(c[i].text);
        if (!tg_sv_eq(tg_sv_past(text, c[i].which), tg_sv_of(c[i].past)) ||
            !tg_sv_eq(tg_sv_strip(text, c[i].which), tg_sv_of(c[i].strip)))
            fail_msg("'%s' without '%s'", c[i].text, c[i].which);
    }
    assert_int_equal(tg_sv_past(TG_SV("\0a"), "").n, 2); /* NUL is a byte as others are */
}

TEST(letters_and_words_are_ascii)
{
    for (int b = 0; b < 256; b++) {
        bool letter = b && strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", b);
        assert_int_equal(tg_is_letter((char)b), letter);
        assert_int_equal(tg_is_word((char)b), letter || (b && strchr("0123456789_", b)));
    }
}

/* kitten -> sitting: substitute k, substitute e, insert g. */
TEST(distance_counts_edits)
{
    assert_int_equal(tg_sv_distance(TG_SV("kitten"), TG_SV("sitting"), 5), 3);
    assert_int_equal(tg_sv_distance(TG_SV("kitten"), TG_SV("sitting"), 2), 3);
    assert_int_equal(tg_sv_distance(TG_SV("fail"), TG_SV("fail"), 3), 0);
}

TEST(names_get_dense_ids)
{
    struct tg_strmap m;
    char text[32];
    tg_strmap_init(&m);
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(text, sizeof text, "name %u", i);
        assert_int_equal(tg_strmap_add(&m, tg_sv_of(text)), i);
    }
    assert_int_equal(tg_strmap_add(&m, TG_SV("name 4321")), 4321);
    assert_int_equal(tg_strmap_find(&m, TG_SV("name 17")), 17);
    assert_int_equal(tg_strmap_find(&m, TG_SV("name 5000")), TG_NO_ID);
    assert_sv_equal(m.text[42], TG_SV("name 42"));
    tg_strmap_release(&m);
}

TEST(invisible_text_becomes_visible)
{
    TG_BUF b = { 0 };
    tg_utf8_visible(&b, TG_SV("a\r\nb\x01\xe2\x80\xae"
                              "c\xff\xc3\xa4"));
    assert_sv_equal(tg_buf_sv(&b), TG_SV("a  b\\u0001\\u202ec\xef\xbf\xbd\xc3\xa4"));
    tg_buf_clear(&b);
    /* U+FE0F, U+E0041, U+034F hide without being of Cf; U+FE10, U+E1000 and U+0350 do not */
    tg_utf8_visible(
        &b, TG_SV("\xef\xb8\x8f\xf3\xa0\x81\x81\xcd\x8f\xef\xb8\x90\xf3\xa1\x80\x80\xcd\x90"));
    assert_sv_equal(tg_buf_sv(&b), TG_SV("\\ufe0f\\udb40\\udc41\\u034f"
                                         "\xef\xb8\x90\xf3\xa1\x80\x80\xcd\x90"));
    assert_false(tg_utf8_valid(TG_SV("\xed\xa0\x80"))); /* a surrogate */
    assert_false(tg_utf8_valid(TG_SV("\xc0\xaf")));     /* overlong */
    assert_true(tg_utf8_valid(TG_SV("\xf0\x9f\x98\x80")));
    assert_int_equal(tg_utf8_prefix(TG_SV("a\xc3\xa4"), 2).n, 1);
}

/* A document may be printed to a log; what is read back is what was said. */
TEST(documents_are_visible_text)
{
    const tg_sv said =
        TG_SV("##[error]a #[b ### [c \xe2\x80\xae\xc2\x9b\xf3\xa0\x81\x81\xc3\xa4 ##");
    struct tg_doc *d = tg_doc_new_object(), *back;
    TG_BUF b = { 0 };
    struct tg_err err = TG_ERR_INIT;
    tg_doc_add_str(d, "a", said);
    tg_doc_write(d, TG_DOC_COMPACT, &b);
    assert_sv_equal(tg_buf_sv(&b),
                    TG_SV("{\"a\":\"##\\u005berror]a #[b ### [c \\u202e\\u009b\\udb40\\udc41"
                          "\xc3\xa4 ##\"}\n"));
    back = tg_doc_parse(tg_buf_sv(&b), "x", &err);
    assert_non_null(back);
    assert_sv_equal(tg_doc_str(tg_doc_get(back, "a"), TG_SV("")), said);
    tg_doc_free(back);
    tg_doc_free(d);
}

TEST(documents_keep_large_integers)
{
    struct tg_doc *d = tg_doc_new_object(), *back;
    TG_BUF b = { 0 };
    struct tg_err err = TG_ERR_INIT;
    int64_t v = 0;
    tg_doc_add_i64(d, "big", INT64_MAX);
    tg_doc_add_i64(d, "small", -3);
    tg_doc_add_num(d, "tenth", 0.1);
    tg_doc_add_str(d, "text", TG_SV("a\"\\\n\x01\xff"));
    tg_doc_write(d, TG_DOC_COMPACT, &b);
    assert_sv_equal(tg_buf_sv(&b),
                    TG_SV("{\"big\":\"9223372036854775807\",\"small\":-3,\"tenth\":0.1,"
                          "\"text\":\"a\\\"\\\\\\n\\u0001\xef\xbf\xbd\"}\n"));
    back = tg_doc_parse(tg_buf_sv(&b), "x", &err);
    assert_non_null(back);
    assert_true(tg_doc_i64(tg_doc_get(back, "big"), &v) && v == INT64_MAX);
    assert_false(tg_doc_i64(tg_doc_get(back, "tenth"), &v));
    tg_doc_free(back);
    assert_null(tg_doc_parse(TG_SV("{} x"), "x", &err));
    tg_err_init(&err);
    assert_null(tg_doc_parse(TG_SV("[\"a\xff\"]"), "x", &err)); /* cJSON takes both */
    assert_int_equal(err.offset, 3);
    tg_err_init(&err);
    assert_null(tg_doc_parse(TG_SV("[\"a\0b\"]"), "x", &err));
    assert_int_equal(err.offset, 3);
    assert_int_equal(err.kind, TG_ERR_SUMMARY);
    tg_doc_free(d);
}

/* What is sealed is one line of an indented document, and as visible as the rest. */
TEST(a_sealed_row_is_one_line)
{
    struct tg_doc *d = tg_doc_new_object(), *list = tg_doc_add_array(d, "rows");
    TG_BUF b = { 0 };
    for (int i = 0; i < 2; i++) {
        struct tg_doc *o = tg_doc_add_object(list, NULL);
        tg_doc_add_str(o, "op", TG_SV("##[a\"\n\xff"));
        tg_doc_add_i64(tg_doc_add_array(o, "ns"), NULL, INT64_MAX);
        tg_doc_seal(o);
    }
    tg_doc_seal(tg_doc_add_object(d, "empty"));
    tg_doc_write(d, TG_DOC_INDENTED, &b);
#define ROW "    {\"op\":\"##\\u005ba\\\"\\n\xef\xbf\xbd\",\"ns\":[\"9223372036854775807\"]}"
    assert_sv_equal(tg_buf_sv(&b), TG_SV("{\n  \"rows\": [\n" ROW ",\n" ROW "\n  ],\n"
                                         "  \"empty\": {}\n}\n"));
#undef ROW
    tg_doc_free(d);
}

static char *scratch(char *path)
{
    strcpy(path, "/tmp/tg-test-XXXXXX");
    assert_non_null(mkdtemp(path));
    return path;
}

TEST(reports_are_all_or_none)
{
    char dir[64], good[96], bad[96];
    struct tg_outputs o = { 0 };
    struct tg_err err = TG_ERR_INIT;
    size_t h;
    scratch(dir);
    (void)snprintf(good, sizeof good, "%s/a.json", dir);
    (void)snprintf(bad, sizeof bad, "/dev/null/b.json");
    assert_true(tg_outputs_open(&o, good, &h, &err));
    assert_true(tg_outputs_put(&o, h, TG_SV("hello"), &err));
    assert_false(tg_file_exists(good)); /* nothing before commit */
    assert_false(tg_outputs_open(&o, bad, &h, &err));
    assert_int_equal(err.kind, TG_ERR_OUTPUT);
    assert_int_equal(tg_err_exit_code(err.kind), 5);
    tg_outputs_release(&o);
    assert_false(tg_file_exists(good));
    assert_int_equal(rmdir(dir), 0); /* no temporary file is left */
}

/* A gate must not stop a merge because nobody made the folder of its reports. */
TEST(missing_folders_are_made)
{
    static const char *const parts[] = { "/a/b/c.json", "/a/b", "/a", "" };
    char dir[64], path[96];
    struct tg_err err = TG_ERR_INIT;
    scratch(dir);
    (void)snprintf(path, sizeof path, "%s/a/b/c.json", dir);
    assert_true(tg_file_write(path, TG_SV("hello"), &err));
    for (size_t i = 0; i < 4; i++) {
        (void)snprintf(path, sizeof path, "%s%s", dir, parts[i]);
        assert_int_equal(remove(path), 0); /* and nothing else lies there */
    }
}

/* Renaming over what is no regular file would put a file in the place of a device or a pipe. */
TEST(pipes_are_written_in_place_and_links_followed)
{
    char dir[64], pipe_path[96], link[96], file[96], got[8] = "";
    struct tg_outputs o = { 0 };
    struct tg_err err = TG_ERR_INIT;
    struct stat st;
    size_t h[2];
    scratch(dir);
    (void)snprintf(pipe_path, sizeof pipe_path, "%s/pipe", dir);
    (void)snprintf(link, sizeof link, "%s/link", dir);
    (void)snprintf(file, sizeof file, "%s/file", dir);
    assert_int_equal(mkfifo(pipe_path, 0600), 0);
    int reader = open(pipe_path, O_RDONLY | O_NONBLOCK);
    assert_true(tg_file_write(file, TG_SV("old"), &err));
    assert_int_equal(symlink(file, link), 0);
    assert_true(tg_outputs_open(&o, pipe_path, &h[0], &err));
    assert_true(tg_outputs_open(&o, link, &h[1], &err));
    assert_true(tg_outputs_put(&o, h[0], TG_SV("hello"), &err));
    assert_true(tg_outputs_put(&o, h[1], TG_SV("hello"), &err));
    assert_true(read(reader, got, sizeof got) <= 0); /* nothing before commit */
    assert_true(tg_outputs_commit(&o, &err));
    assert_int_equal(read(reader, got, sizeof got), 5);
    assert_memory_equal(got, "hello", 5);
    tg_outputs_release(&o);
    assert_true(lstat(pipe_path, &st) == 0 && S_ISFIFO(st.st_mode));
    assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    assert_true(stat(file, &st) == 0 && st.st_size == 5);
    (void)close(reader);
    assert_int_equal(unlink(link) | unlink(file) | unlink(pipe_path) | rmdir(dir), 0);
}

TEST(one_target_twice_is_an_error)
{
    struct tg_outputs o = { 0 };
    struct tg_err err = TG_ERR_INIT;
    size_t h;
    assert_true(tg_outputs_open(&o, "-", &h, &err));
    assert_false(tg_outputs_open(&o, "-", &h, &err));
    assert_int_equal(tg_err_exit_code(err.kind), 2);
    tg_err_init(&err);
    assert_true(tg_outputs_open(&o, "/dev/null", &h, &err)); /* where nothing meets */
    assert_true(tg_outputs_open(&o, "/dev/null", &h, &err));
    tg_outputs_release(&o);
}

TEST(a_full_disk_leaves_nothing)
{
    struct tg_outputs o = { 0 };
    struct tg_err err = TG_ERR_INIT;
    size_t h;
    if (access("/dev/full", W_OK) != 0)
        skip();
    o.files = calloc(1, sizeof *o.files); /* a target whose temporary file sits on a full device */
    o.n = o.cap = 1;
    o.files[0].path = strdup("/tmp/tg-never");
    o.files[0].temporary = strdup("/tmp/tg-never-temporary");
    FILE *full = fopen("/dev/full", "w");
    o.files[0].fd = dup(fileno(full));
    (void)fclose(full);
    h = 0;
    assert_false(tg_outputs_put(&o, h, TG_SV("x"), &err));
    assert_int_equal(err.kind, TG_ERR_OUTPUT);
    assert_true(strstr(err.message, "No space left") != NULL);
    tg_outputs_release(&o);
    assert_false(tg_file_exists("/tmp/tg-never"));
}

TEST(first_error_stays)
{
    struct tg_err err = TG_ERR_INIT;
    TG_BUF b = { 0 };
    assert_false(
        tg_err_set(&err, TG_ERR_TRACE, (struct tg_loc){ "t.json", 0, 0, 17 }, "bad '%s'", "x\ny"));
    assert_false(tg_err_set(&err, TG_ERR_IO, TG_NOWHERE, "later"));
    assert_false(tg_err_hint(&err, "Do this."));
    assert_false(tg_err_usage(&err, "later", "Do that."));
    assert_false(tg_err_context(&err, "reading"));
    tg_err_format(&err, &b);
    assert_sv_equal(tg_buf_sv(&b),
                    TG_SV("t.json: at byte 17: error: bad 'x y'\n  while reading\n  Do this.\n"));
}

TEST(usage_has_a_plain_hint)
{
    struct tg_err err = TG_ERR_INIT;
    assert_false(tg_err_usage(&err, "--%s is %d", "Give less than 100 %s.", "top", 7));
    assert_int_equal(tg_err_exit_code(err.kind), 2);
    assert_string_equal(err.message, "--top is 7");
    assert_string_equal(err.hint, "Give less than 100 %s.");
}

/* Room for 4, 8, 16 ... 128; what is there moves along, and a copy stays where room is. */
TEST(arrays_in_an_arena_grow)
{
    TG_ARENA *a = tg_arena_new();
    int *v = NULL;
    size_t n = 0, cap = 0;
    for (int i = 0; i < 100; i++) {
        const int *before = v;
        bool room = n < cap;
        *TG_ARENA_PUSH(a, v, n, cap) = i;
        assert_int_equal(v == before, room);
    }
    assert_int_equal(n, 100);
    assert_int_equal(cap, 128);
    for (int i = 0; i < 100; i++)
        assert_int_equal(v[i], i);
}

struct pair {
    int key;
    unsigned place;
};

static int by_pair_key(const void *pa, const void *pb, void *unused)
{
    const struct pair *a = pa, *b = pb;
    (void)unused;
    return (a->key > b->key) - (a->key < b->key);
}

TEST(numbers_are_sorted_each_once)
{
    int64_t v[] = { 3, INT64_MAX, -1, 3, INT64_MIN, -1 };
    assert_int_equal(tg_sort_distinct(NULL, 0), 0);
    assert_int_equal(tg_sort_distinct(v, 6), 4);
    assert_true(v[0] == INT64_MIN && v[1] == -1 && v[2] == 3 && v[3] == INT64_MAX);
    assert_true(tg_is_among(v, 4, 3) && !tg_is_among(v, 4, 4));
}

/* Ascending by key, equal keys in the order they had; with stretches of every length and number. */
TEST(runs_are_merged)
{
    enum { MOST = 1000 };
    struct pair v[MOST];
    for (unsigned n = 0; n < MOST; n += n < 40 ? 1 : 37)
        for (unsigned stretch = 1; stretch <= n + 1; stretch = stretch * 3 + 1) {
            unsigned long sum = 0;
            for (unsigned i = 0; i < n; i++) {
                v[i] = (struct pair){ (int)(i % stretch * (1 + i / stretch % 3) / 2), i };
                sum += i;
            }
            tg_sort_runs(v, n, sizeof *v, by_pair_key, NULL);
            for (unsigned i = 1; i < n; i++)
                assert_true(
                    v[i - 1].key < v[i].key ||
                    (v[i - 1].key == v[i].key && (v[i - 1].place < v[i].place || stretch <= 16)));
            for (unsigned i = 0; i < n; i++)
                sum -= v[i].place;
            assert_int_equal(sum, 0);
        }
}
