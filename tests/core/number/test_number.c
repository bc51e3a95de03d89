/* Runs as sets, their stored form, and which way is better. */
#include "by_hand.h"

/* Equal runs of two files are two; the same file again adds nothing. */
WITH_FILE(runs_are_a_set_by_content_and_file)
{
    struct tg_number_runs all = { 0 };
    for (int again = 0; again < 2; again++) {
        static const char *const file[] = { "x/a.numbers", "y/a.numbers", "x/b.numbers" };
        for (size_t i = 0; i < 3; i++)
            assert_true(tg_number_read(&all, TG_SV("n 1\nn 1\n"), file[i], f->a, &f->err));
        assert_int_equal(all.n, 4); /* two of a.numbers, whatever its folder, two of b.numbers */
    }
}

WITH_FILE(a_union_has_each_once_in_any_order)
{
    struct tg_number_runs one = { 0 }, other = { 0 }, all = { 0 }, back = { 0 };
    assert_true(tg_number_read(&one, TG_SV("n 1\nm 2 s\n"), "a", f->a, &f->err));
    assert_true(tg_number_read(&other, TG_SV("n 3\n"), "b", f->a, &f->err));
    tg_number_unite(&all, &one, f->a);
    tg_number_unite(&all, &other, f->a);
    tg_number_unite(&all, &one, f->a);
    tg_number_unite(&back, &other, f->a);
    tg_number_unite(&back, &one, f->a);
    assert_int_equal(all.n, 2);
    assert_int_equal(back.n, 2);
    for (size_t i = 0; i < 2; i++)
        assert_sv_equal(all.v[i].id, back.v[i].id);
}

static struct tg_doc *stored(const char *text, struct tg_err *err)
{
    return tg_doc_parse(tg_sv_of(text), NULL, err);
}

WITH_FILE(what_is_stored_comes_back)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *array = tg_doc_new_array();
    TG_AUTO(tg_doc_drop) struct tg_doc *read = NULL;
    struct tg_number_runs back = { 0 };
    TG_BUF text = { 0 };
    assert_true(file_is(f, "ttft 0.1 ms\nrate 3\nrate 4\n"));
    tg_number_put(array, &f->runs);
    tg_doc_write(array, TG_DOC_COMPACT, &text);
    read = stored(text.p, &f->err);
    assert_true(tg_number_take(&back, read, f->a));
    assert_int_equal(back.n, f->runs.n);
    for (size_t i = 0; i < back.n; i++) {
        assert_sv_equal(back.v[i].id, f->runs.v[i].id);
        assert_int_equal(back.v[i].n, f->runs.v[i].n);
        for (size_t k = 0; k < back.v[i].n; k++) {
            assert_sv_equal(back.v[i].v[k].name, f->runs.v[i].v[k].name);
            assert_sv_equal(back.v[i].v[k].unit, f->runs.v[i].v[k].unit);
            assert_true(back.v[i].v[k].value == f->runs.v[i].v[k].value);
        }
    }
}

WITH_FILE(a_damaged_form_is_refused)
{
    static const char good[] =
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"a\",\"\",1],[\"b\",\"s\",2]]}]";
    static const char *const bad[] = {
        "[{\"id\":\"0123\",\"values\":[[\"a\",\"\",1]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"a\",\"\"]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"a\",1,1]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"a\",\"\",null]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"b\",\"\",1],[\"a\",\"\",2]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"\",\"\",1]]}]",
        "[{\"id\":\"0123456789abcdef\",\"values\":[[\"a\",\"\",1,2]]}]",
    };
    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        struct tg_number_runs back = { 0 };
        TG_AUTO(tg_doc_drop) struct tg_doc *d = stored(i ? bad[i - 1] : good, &f->err);
        assert_non_null(d);
        assert_int_equal(tg_number_take(&back, d, f->a), i == 0);
    }
}

TEST(words_and_units_say_which_way_is_better)
{
    static const struct {
        const char *name, *unit;
        bool more;
    } rows[] = {
        { "output_throughput", "", true },
        { "Throughput", "", true },
        { "x", "tok/s", true },
        { "x", "ops/sec", true },
        { "x", "TFLOPS", true },
        { "max_output_tokens_per_s", "", true },
        { "accept_length", "", true },
        { "completed", "", true },
        { "median_ttft_ms", "ms", false },
        { "x", "s", false },
        { "failed", "", false },
        { "per_step_ms", "ms", false },
        { "loss", "", false },
        { "x", "s/iter", false },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(tg_number_more_is_better(tg_sv_of(rows[i].name), tg_sv_of(rows[i].unit)),
                         rows[i].more);
}
