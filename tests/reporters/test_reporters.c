/* Every reporter over every fixture: golden files, and properties that hold for all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants the headers above first */
#include <cmocka.h>

#include "core/base/arena.h"
#include "core/base/file.h"
#include "fixture.h"
#include "golden.h"
#include "reporters/reporter.h"

static void render(const struct tg_reporter *rep, enum fixture f, const struct tg_render *r,
                   struct tg_buf *out)
{
    struct tg_arena *a = tg_arena_new();
    struct tg_err err;
    tg_err_init(&err);
    assert_true(rep->write(out, fixture_make(f, a), r, &err));
    tg_arena_free(a);
}

static void golden_files(void **state)
{
    const struct tg_render plain = { 0 };
    (void)state;
    for (size_t k = 0; tg_reporters[k]; k++)
        for (int f = 0; f < FIXTURE_LARGE; f++) {
            struct tg_buf out = { 0 };
            char name[128];
            (void)snprintf(name, sizeof name, "%s_%s%s", tg_reporters[k]->name,
                           fixture_name((enum fixture)f), tg_reporters[k]->extension);
            render(tg_reporters[k], (enum fixture)f, &plain, &out);
            golden_check(name, tg_buf_sv(&out));
            tg_buf_release(&out);
        }
}

static void same_input_gives_same_bytes(void **state)
{
    const struct tg_render plain = { 0 };
    (void)state;
    for (size_t k = 0; tg_reporters[k]; k++)
        for (int f = 0; f < FIXTURES; f++) {
            struct tg_buf one = { 0 }, two = { 0 };
            render(tg_reporters[k], (enum fixture)f, &plain, &one);
            render(tg_reporters[k], (enum fixture)f, &plain, &two);
            assert_true(tg_sv_eq(tg_buf_sv(&one), tg_buf_sv(&two)));
            tg_buf_release(&one);
            tg_buf_release(&two);
        }
}

/* No report prints what is not a number: "nan" and "inf" as a word of their own. */
static void no_nan_no_inf(void **state)
{
    const struct tg_render plain = { 0 };
    static const char *const bad[] = { "nan", "-nan", "inf", "-inf", "NaN", "Infinity" };
    (void)state;
    for (size_t k = 0; tg_reporters[k]; k++)
        for (int f = 0; f < FIXTURE_LARGE; f++) {
            struct tg_buf out = { 0 };
            render(tg_reporters[k], (enum fixture)f, &plain, &out);
            for (char *word = strtok(out.n ? out.p : NULL, " \n\t,\"|:<>()=%"); word;
                 word = strtok(NULL, " \n\t,\"|:<>()=%"))
                for (size_t b = 0; b < sizeof bad / sizeof *bad; b++)
                    assert_string_not_equal(word, bad[b]);
            tg_buf_release(&out);
        }
}

/* Text at 80 columns: only lines whose single word is longer may exceed. No line starts with
 * hostile text, no escape sequence gets through, "##[" never stands. */
static void terminal_is_safe(void **state)
{
    static const int widths[] = { 40, 80, 200 };
    (void)state;
    for (size_t w = 0; w < 3; w++)
        for (int f = 0; f < FIXTURES; f++) {
            const struct tg_render r = { .columns = widths[w] };
            struct tg_buf out = { 0 };
            render(&tg_reporter_text, (enum fixture)f, &r, &out);
            for (char *line = out.p; line && *line;
                 line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
                size_t lead = strspn(line, " \t");
                assert_true(strncmp(line + lead, "::", 2) != 0);
            }
            assert_null(strstr(out.p, "##["));
            assert_null(strchr(out.p, '\033'));
            tg_buf_release(&out);
        }
}

static void colour_only_if_asked(void **state)
{
    const struct tg_render colour = { .color = true };
    struct tg_buf out = { 0 };
    (void)state;
    render(&tg_reporter_text, FIXTURE_FAIL, &colour, &out);
    assert_non_null(strstr(out.p, "\033[31m"));
    golden_check("text_fail_colour.txt", tg_buf_sv(&out));
    tg_buf_release(&out);
}

static void text_widths(void **state)
{
    static const int widths[] = { 80, 200 };
    (void)state;
    for (size_t w = 0; w < 2; w++) {
        const struct tg_render r = { .columns = widths[w] };
        struct tg_buf out = { 0 };
        char name[64];
        render(&tg_reporter_text, FIXTURE_FAIL, &r, &out);
        (void)snprintf(name, sizeof name, "text_fail_%d.txt", widths[w]);
        golden_check(name, tg_buf_sv(&out));
        tg_buf_release(&out);
    }
}

/* Writes all reports of all fixtures into a directory for tests/reporters/consumers. */
static int dump(const char *dir)
{
    const struct tg_render plain = { 0 }, strict = { .strict = true };
    struct tg_err err;
    tg_err_init(&err);
    for (size_t k = 0; tg_reporters[k]; k++)
        for (int f = 0; f < FIXTURES; f++)
            for (int s = 0; s < 2; s++) {
                struct tg_buf out = { 0 };
                char path[512];
                (void)snprintf(path, sizeof path, "%s/%s%s_%s%s", dir, tg_reporters[k]->name,
                               s ? "-strict" : "", fixture_name((enum fixture)f),
                               tg_reporters[k]->extension);
                if (s && strcmp(tg_reporters[k]->name, "junit") != 0)
                    continue;
                render(tg_reporters[k], (enum fixture)f, s ? &strict : &plain, &out);
                if (!tg_file_write(path, tg_buf_sv(&out), &err))
                    return 1;
                tg_buf_release(&out);
            }
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(golden_files),         cmocka_unit_test(same_input_gives_same_bytes),
        cmocka_unit_test(no_nan_no_inf),        cmocka_unit_test(terminal_is_safe),
        cmocka_unit_test(colour_only_if_asked), cmocka_unit_test(text_widths),
    };
    if (argc == 3 && strcmp(argv[1], "--dump") == 0)
        return dump(argv[2]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
