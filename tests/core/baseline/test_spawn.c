#include <errno.h>
#include <signal.h>
#include <time.h>

#include "core/baseline/spawn.h"
#include "tests/support.h"

static struct tg_spawned run(const char *script, struct tg_spawn s, struct tg_buf *out)
{
    const char *argv[] = { "sh", "-c", script, NULL };
    struct tg_spawned r;
    s.argv = argv;
    tg_spawn_run(&s, out, &r);
    return r;
}

static double seconds(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

TEST(output_code_and_last_words)
{
    TG_BUF out = { 0 };
    struct tg_spawned r = run("printf abc; echo first >&2; echo last >&2; echo >&2; exit 3",
                              (struct tg_spawn){ .timeout_ms = 10000, .max_out = 100 }, &out);
    assert_int_equal(r.end, TG_SPAWN_EXIT);
    assert_int_equal(r.code, 3);
    assert_string_equal(out.p, "abc");
    assert_string_equal(r.last_words, "last");
}

/* More than a pipe holds (64 KiB), on both pipes at once: neither may block the other. */
TEST(large_output)
{
    TG_BUF out = { 0 };
    struct tg_spawned r = run("head -c 3000000 /dev/zero & head -c 3000000 /dev/zero >&2; wait",
                              (struct tg_spawn){ .timeout_ms = 20000, .max_out = 3000000 }, &out);
    assert_int_equal(r.end, TG_SPAWN_EXIT);
    assert_int_equal(out.n, 3000000);
}

TEST(too_much_is_stopped)
{
    TG_BUF out = { 0 };
    struct tg_spawned r = run("cat /dev/zero", (struct tg_spawn){ .max_out = 1000 }, &out);
    assert_int_equal(r.end, TG_SPAWN_TOO_MUCH);
    assert_true(out.n <= 1000);
}

TEST(timeout_kills_the_group)
{
    double t = seconds();
    struct tg_spawned r = run("sleep 30 & sleep 30", (struct tg_spawn){ .timeout_ms = 200 }, NULL);
    assert_int_equal(r.end, TG_SPAWN_TIMEOUT);
    assert_true(seconds() - t < 5);
}

/* The child ends, its grandchild keeps the pipe: ssh's ControlPersist does that. */
TEST(grandchild_holding_the_pipe)
{
    double t = seconds();
    TG_BUF out = { 0 };
    struct tg_spawned r =
        run("sleep 20 & echo done", (struct tg_spawn){ .timeout_ms = 10000, .max_out = 100 }, &out);
    assert_int_equal(r.end, TG_SPAWN_EXIT);
    assert_string_equal(out.p, "done\n");
    assert_true(seconds() - t < 5);
}

/* Closing the pipes is not ending: the timeout still holds. */
TEST(closed_pipes_still_time_out)
{
    double t = seconds();
    struct tg_spawned r =
        run("exec >&- 2>&-; sleep 30", (struct tg_spawn){ .timeout_ms = 200 }, NULL);
    assert_int_equal(r.end, TG_SPAWN_TIMEOUT);
    assert_true(seconds() - t < 5);
}

TEST(missing_program)
{
    const char *argv[] = { "tracegate-has-no-such-program", NULL };
    struct tg_spawn s = { .argv = argv };
    struct tg_spawned r;
    tg_spawn_run(&s, NULL, &r);
    assert_int_equal(r.end, TG_SPAWN_NOT_FOUND);
    assert_int_equal(r.code, ENOENT);
}

TEST(signal_is_no_exit)
{
    struct tg_spawned r = run("kill -TERM $$", (struct tg_spawn){ .timeout_ms = 10000 }, NULL);
    assert_int_equal(r.end, TG_SPAWN_SIGNAL);
    assert_int_equal(r.code, SIGTERM);
}

/* Set wins over inherited, dropped names are gone, the rest passes; stdin is empty, no terminal. */
TEST(environment_and_terminal)
{
    static const char *const set[] = { "TG_A=new", NULL }, *const drop[] = { "TG_B", NULL };
    char a[] = "TG_A=old", b[] = "TG_B=secret", c[] = "TG_C=kept", path[] = "PATH=/usr/bin:/bin";
    char *env[] = { a, b, c, path, NULL };
    TG_BUF out = { 0 };
    struct tg_spawned r =
        run("echo $TG_A-$TG_B-$TG_C; cat; (: < /dev/tty) 2>/dev/null || echo none",
            (struct tg_spawn){
                .env = env, .set = set, .drop = drop, .timeout_ms = 10000, .max_out = 100 },
            &out);
    assert_int_equal(r.end, TG_SPAWN_EXIT);
    assert_string_equal(out.p, "new--kept\nnone\n");
}

/* What a hint shows for pasting must not run anything else. */
TEST(shell_words)
{
    static const char *const cases[][2] = {
        { "origin/main", "origin/main" },
        { "a b", "'a b'" },
        { "$(touch x)", "'$(touch x)'" },
        { "a;b&c|d`e`", "'a;b&c|d`e`'" },
        { "it's", "…" },
        { "a\nb", "…" },
        { "", "''" },
        { "far too long for it", "…" },
    };
    char buf[16];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(tg_shell_word(buf, sizeof buf, cases[i][0]), cases[i][1]);
}
