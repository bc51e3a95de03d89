/* Files into one summary: which are ranks of one run, which are runs, which are one file twice. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/inputs.h"
#include "tests/cmd/gate/traces.h"

struct loaded {
    struct room room;
    struct tg_input_list list;
    struct tg_summary s;
};

static void begin(struct loaded *l)
{
    *l = (struct loaded){ .list = { 0 } };
    room_open(&l->room);
    tg_summary_init(&l->s);
}

static void add(struct loaded *l, const char *path, const char *text)
{
    struct tg_repo none = { 0 };
    room_file(path, text);
    assert_true(tg_inputs_add(&l->list, path, &none, l->room.arena, &l->room.err));
}

static bool load(struct loaded *l)
{
    const struct tg_summarize_opts o = { .rank = -1 };
    struct tg_repo none = { 0 };
    tg_summary_release(&l->s);
    tg_summary_init(&l->s);
    return tg_inputs_load(&l->s, &l->list, &o, &none, NULL, &l->room.err);
}

static void end(struct loaded *l)
{
    tg_summary_release(&l->s);
    room_close(&l->room);
}

static const struct tg_shard *at(const struct loaded *l, size_t i)
{
    const struct tg_shard *s = NULL;
    for (size_t k = 0; k < l->s.n; k++)
        if (l->s.shards[k]->arrival == i)
            s = l->s.shards[k];
    assert_non_null(s);
    return s;
}

/* The k-th file of each rank, by path, is run k: its shards share an id that no other run has. */
TEST(ranks_of_one_run_share_its_id)
{
    struct loaded l;
    begin(&l);
    add(&l, "a0.json", trace_text(l.room.arena, 0, 1, 10));
    add(&l, "a1.json", trace_text(l.room.arena, 1, 1, 11));
    add(&l, "b0.json", trace_text(l.room.arena, 0, 1, 12));
    add(&l, "b1.json", trace_text(l.room.arena, 1, 1, 13));
    assert_true(load(&l));
    assert_int_equal(l.s.n, 4);
    assert_int_equal(at(&l, 1)->rank, 1);
    assert_sv_equal(at(&l, 0)->run, at(&l, 1)->run);
    assert_sv_equal(at(&l, 2)->run, at(&l, 3)->run);
    assert_false(tg_sv_eq(at(&l, 0)->run, at(&l, 2)->run));
    end(&l);
}

TEST(the_policys_run_decides_where_it_says)
{
    struct loaded l;
    begin(&l);
    add(&l, "a0.json", trace_text(l.room.arena, 0, 1, 10));
    add(&l, "a1.json", trace_text(l.room.arena, 1, 1, 11));
    l.list.v[0].run = TG_SV("x");
    l.list.v[1].run = TG_SV("y");
    assert_true(load(&l));
    assert_false(tg_sv_eq(at(&l, 0)->run, at(&l, 1)->run));
    end(&l);
}

TEST(without_ranks_each_is_a_run_or_a_rank)
{
    struct loaded l;
    begin(&l);
    add(&l, "a.json", trace_text(l.room.arena, -1, 1, 10));
    add(&l, "b.json", trace_text(l.room.arena, -1, 1, 11));
    assert_true(load(&l));
    assert_true(at(&l, 0)->rank == -1 && at(&l, 1)->rank == -1);
    assert_false(tg_sv_eq(at(&l, 0)->run, at(&l, 1)->run));
    l.list.one_run = true;
    assert_true(load(&l));
    assert_true(at(&l, 0)->rank == 0 && at(&l, 1)->rank == 1);
    assert_sv_equal(at(&l, 0)->run, at(&l, 1)->run);
    end(&l);
}

TEST(the_path_may_say_the_rank)
{
    struct loaded l;
    begin(&l);
    add(&l, "a.json", trace_text(l.room.arena, -1, 1, 10));
    l.list.v[0].rank = TG_SV("5");
    assert_true(load(&l));
    assert_int_equal(at(&l, 0)->rank, 5);
    end(&l);
}

TEST(one_recording_twice_is_refused)
{
    struct loaded l;
    begin(&l);
    add(&l, "a.json", trace_text(l.room.arena, -1, 1, 10));
    add(&l, "copy.json", trace_text(l.room.arena, -1, 1, 10));
    assert_false(load(&l));
    assert_failed(&l.room, TG_ERR_USAGE, "'a.json' and 'copy.json' hold the same trace");
    end(&l);
}

TEST(a_stored_run_is_a_summary)
{
    TG_BUF stored = { 0 };
    struct loaded l;
    begin(&l);
    add(&l, "a.json", trace_text(l.room.arena, -1, 1, 10));
    l.list.v[0].stored = true;
    assert_false(load(&l));
    assert_failed(&l.room, TG_ERR_SUMMARY, "this stored run is not a summary");
    l.list.v[0].stored = false;
    assert_true(load(&l) && tg_summary_write(&l.s, NULL, &stored, &l.room.err));
    tg_buf_putc(&stored, '\0');
    l.list.n = 0;
    add(&l, "a.tgs", stored.p);
    l.list.v[0].stored = true;
    assert_true(load(&l));
    assert_int_equal(l.s.n, 1);
    end(&l);
}

TEST(the_first_file_that_fails_is_named)
{
    struct loaded l;
    begin(&l);
    add(&l, "a.json", trace_text(l.room.arena, -1, 1, 10));
    add(&l, "b.json", "{\"traceEvents\": [");
    add(&l, "c.json", "nothing");
    assert_false(load(&l));
    assert_string_equal(l.room.err.file, "b.json");
    end(&l);
}
