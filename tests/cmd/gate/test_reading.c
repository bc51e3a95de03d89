/* Threads for files: how many, what each file gets, and whose error is reported. */
#include "tests/support.h"

#include "cmd/cmd.h"
#include "cmd/gate/reading.h"

static bool set_up(int64_t threads, struct tg_err *err)
{
    tg_err_init(err);
    return tg_reading_setup(threads, NULL, NULL, err);
}

TEST(threads_are_a_small_number)
{
    static const int64_t wrong[] = { 0, -1, 1000000 };
    struct tg_err err;
    assert_true(set_up(1, &err) && set_up(4, &err) && set_up(TG_OPT_UNSET, &err));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(set_up(wrong[i], &err));
        assert_int_equal(err.kind, TG_ERR_USAGE);
    }
}

/* With four threads, of six files the first four have one each, the last two share: two each. */
TEST(the_last_files_share_the_threads)
{
    static const struct {
        int64_t threads;
        size_t n;
        unsigned share[6];
    } cases[] = {
        { 4, 6, { 1, 1, 1, 1, 2, 2 } }, { 4, 1, { 4 } },       { 4, 3, { 1, 1, 1 } },
        { 4, 4, { 1, 1, 1, 1 } },       { 1, 3, { 1, 1, 1 } }, { 8, 3, { 2, 2, 2 } },
    };
    struct tg_err err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(set_up(cases[i].threads, &err));
        for (size_t k = 0; k < cases[i].n; k++)
            assert_int_equal(tg_reading_share(k, cases[i].n), cases[i].share[k]);
    }
}

static bool task(void *arg, size_t i, struct tg_err *err)
{
    const char *fails = arg;
    if (fails[i] == 'x')
        return tg_err_set(err, TG_ERR_IO, TG_NOWHERE, "file %zu", i);
    return true;
}

TEST(the_first_file_in_order_is_reported)
{
    struct tg_err err;
    for (int64_t threads = 1; threads <= 4; threads += 3) {
        assert_true(set_up(threads, &err));
        assert_true(tg_reading_each(5, task, (void *)(uintptr_t) "-----", NULL, &err));
        assert_false(tg_reading_each(5, task, (void *)(uintptr_t) "--x-x", NULL, &err));
        assert_string_equal(err.message, "file 2");
        assert_true(tg_reading_each(0, task, NULL, NULL, &err));
    }
}

static void count(void *arg, int64_t change)
{
    *(int64_t *)arg += change;
}

TEST(progress_counts_files_down)
{
    int64_t left = 0;
    struct tg_progress progress = { .arg = &left, .files = count };
    struct tg_reader_opts o = { 0 };
    struct tg_err err;
    assert_true(set_up(2, &err));
    assert_true(tg_reading_each(5, task, (void *)(uintptr_t) "-----", &progress, &err));
    assert_int_equal(left, 0);
    assert_true(tg_reading_setup(2, "c", "4096", &err));
    tg_reading_opts(&o, 3);
    assert_true(o.threads == 3 && o.part == 4096);
    assert_string_equal(o.isa, "c");
}
