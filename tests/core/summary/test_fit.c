#include "core/summary/fit.h"
#include "core/summary/pack.h"
#include "tests/core/summary/traced.h"

#define RANKS 10
#define NAMES 40
#define CALLS 8

struct fixture {
    struct tg_summary all;
    struct tg_err err;
};

static uint32_t next(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 16;
}

/* Three steps of `step` ns with NAMES operators; their durations are this rank's own. */
static void add_rank(struct tg_summary *to, int64_t rank, tg_ns step, struct tg_err *err)
{
    static char name[NAMES][16];
    static const char *const markers[] = { "ProfilerStep#5", "ProfilerStep#6", "ProfilerStep#7" };
    struct tg_summarize_opts o = { .rank = rank, .run = TG_SV("r") };
    TG_AUTO(bt_release) struct bt b;
    uint32_t state = (uint32_t)rank + 1;
    bt_init(&b);
    for (int k = 0; k < 3; k++) {
        tg_ns at = 1000000 + k * 10000000;
        bt_host(&b, "user_annotation", markers[k], "1", at, step, -1);
        for (int i = 0; i < NAMES * CALLS; i++) {
            (void)snprintf(name[i % NAMES], sizeof *name, "aten::op%d", i % NAMES);
            bt_host(&b, "cpu_op", name[i % NAMES], "1", at + 100 + i * 10000,
                    1000 + (tg_ns)(next(&state) % 8000), -1);
        }
    }
    assert_true(traced_add(to, &b, 0, &o, err));
}

static void setup(struct fixture *f)
{
    tg_err_init(&f->err);
    tg_summary_init(&f->all);
    for (int64_t rank = 0; rank < RANKS; rank++)
        add_rank(&f->all, rank, rank == 9 ? 6000000 : 5000000 + rank, &f->err);
}

static void teardown(struct fixture *f)
{
    tg_summary_release(&f->all);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

static struct tg_buf written(const struct tg_summary *s)
{
    struct tg_buf out = { 0 };
    struct tg_err err;
    assert_true(tg_summary_write(s, NULL, &out, &err));
    return out;
}

static void assert_same(struct tg_buf *a, struct tg_buf *b)
{
    assert_int_equal(a->n, b->n);
    assert_memory_equal(a->p, b->p, a->n);
    tg_buf_release(a);
    tg_buf_release(b);
}

CASE(what_fits_is_as_it_was)
{
    struct tg_buf out = { 0 }, whole = written(&f->all);
    struct tg_fitted how;
    size_t size = tg_packed_size(tg_buf_sv(&whole));
    assert_true(tg_summary_fit(&f->all, size, &out, &how, &f->err));
    assert_int_equal(how.ranks, RANKS);
    assert_true(how.all_slots);
    assert_int_equal(how.packed, size);
    assert_same(&out, &whole);
}

/* One byte less: slots go, every rank and every row stays. */
CASE(slots_go_first)
{
    struct tg_buf out = { 0 }, whole = written(&f->all);
    struct tg_fitted how;
    SUMMARY back = no_shards();
    size_t most = tg_packed_size(tg_buf_sv(&whole)) - 1, without = 0, with = 0;
    tg_buf_release(&whole);
    tg_buf_puts(&out, "before");
    assert_true(tg_summary_fit(&f->all, most, &out, &how, &f->err));
    assert_int_equal(how.ranks, RANKS);
    assert_false(how.all_slots);
    assert_true(how.packed <= most);
    assert_memory_equal(out.p, "before", 6);
    assert_true(tg_summary_parse(&back, (tg_sv){ out.p + 6, out.n - 6 }, "f", &f->err));
    assert_int_equal(back.n, RANKS);
    for (size_t i = 0; i < back.n; i++) {
        assert_false(back.shards[i]->steps_only);
        assert_int_equal(back.shards[i]->n_rows, f->all.shards[i]->n_rows);
        for (size_t r = 0; r < back.shards[i]->n_rows; r++)
            *(back.shards[i]->rows[r].slots ? &with : &without) += 1;
    }
    assert_true(with > 0 && without > 0);
    tg_buf_release(&out);
}

static void assert_step_times(const struct tg_shard *a, const struct tg_shard *b)
{
    assert_int_equal(a->n_steps, b->n_steps);
    for (size_t k = 0; k < a->n_steps; k++) {
        const struct tg_metric_value *x = &a->metrics[TG_METRIC_STEP_TIME * a->n_steps + k];
        const struct tg_metric_value *y = &b->metrics[TG_METRIC_STEP_TIME * b->n_steps + k];
        assert_int_equal(a->steps[k].number, b->steps[k].number);
        assert_true(x->known && y->known);
        assert_int_equal(x->num, y->num);
        assert_int_equal(x->den, y->den);
    }
}

/* Room for five: the first, the slowest (9), and the multiples of the golden ratio .618, .236, .854
 * of ten ranks: 6, 2, 8. */
CASE(then_ranks_go)
{
    static const bool whole[RANKS] = { [0] = true, [2] = true, [6] = true, [8] = true, [9] = true };
    struct tg_buf out = { 0 }, again, full = written(&f->all);
    struct tg_fitted how;
    struct tg_summary back, both;
    size_t one, most;
    assert_true(tg_summary_fit(&f->all, SIZE_MAX, &out, &how, &f->err));
    /* without slots a rank takes about this */
    for (most = how.packed; how.ranks > 5; most -= 500) {
        tg_buf_clear(&out);
        assert_true(tg_summary_fit(&f->all, most, &out, &how, &f->err));
        assert_true(how.packed <= most);
        assert_int_equal(how.packed, tg_packed_size(tg_buf_sv(&out)));
    }
    assert_int_equal(how.ranks, 5);
    tg_summary_init(&back);
    assert_true(tg_summary_parse(&back, tg_buf_sv(&out), "f", &f->err));
    assert_int_equal(back.n, RANKS);
    for (size_t i = 0; i < RANKS; i++) {
        const struct tg_shard *s = back.shards[i], *was = f->all.shards[i];
        assert_int_equal(s->steps_only, !whole[i]);
        assert_int_equal(s->rank, was->rank);
        assert_true(tg_sv_eq(s->run, was->run));
        assert_true(tg_sv_eq(s->hash, was->hash));
        assert_int_equal(s->n_rows, whole[i] ? was->n_rows : 0);
        assert_true(tg_shard_comparable(s, was, &f->err));
        assert_step_times(s, was);
    }
    again = written(&back);
    assert_same(&again, &out);
    /* What is known of a rank elsewhere comes back, in either order. */
    for (one = 0; one < 2; one++) {
        TG_BUF text = { 0 };
        tg_summary_init(&both);
        assert_true(tg_summary_merge(&both, one ? &back : &f->all, &f->err));
        assert_true(tg_summary_merge(&both, one ? &f->all : &back, &f->err));
        text = written(&both);
        assert_int_equal(text.n, full.n);
        assert_memory_equal(text.p, full.p, full.n);
        tg_summary_release(&both);
    }
    tg_buf_release(&full);
    tg_summary_release(&back);
}

CASE(not_even_one)
{
    TG_BUF out = { 0 };
    struct tg_fitted how;
    tg_buf_puts(&out, "before");
    assert_false(tg_summary_fit(&f->all, 500, &out, &how, &f->err));
    assert_int_equal(f->err.kind, TG_ERR_LIMIT);
    assert_int_equal(out.n, 6);
}

#define MANY_STEPS 1000

/* A rank of MANY_STEPS steps with one operator each. */
static void add_long_rank(struct tg_summary *to, struct tg_err *err)
{
    static char marker[MANY_STEPS][24];
    struct tg_summarize_opts o = { .rank = 0, .run = TG_SV("r") };
    TG_AUTO(bt_release) struct bt b;
    bt_init(&b);
    for (int k = 0; k < MANY_STEPS; k++) {
        (void)snprintf(marker[k], sizeof *marker, "ProfilerStep#%d", k);
        bt_host(&b, "user_annotation", marker[k], "1", k * 10000, 9000, -1);
        bt_host(&b, "cpu_op", "aten::op", "1", k * 10000 + 100, 1000 + k * 7 % 501, -1);
    }
    assert_true(traced_add(to, &b, 0, &o, err));
}

/* Reading takes 131,072 steps of ranks that are left out: no more are written. */
CASE(what_is_written_can_be_read)
{
    static struct tg_shard copy[140];
    static struct tg_shard *shards[140];
    struct tg_summary one, run;
    tg_summary_init(&one);
    add_long_rank(&one, &f->err);
    for (int i = 0; i < 140; i++) {
        copy[i] = *one.shards[0];
        copy[i].rank = i;
        copy[i].hash = tg_sv_of(tg_arena_printf(one.arena, "%016d", i));
        shards[i] = &copy[i];
    }
    copy[0].hash = one.shards[0]->hash;
    run = one;
    run.shards = shards;
    for (run.n = 130; run.n <= 140; run.n += 10) {
        TG_BUF out = { 0 };
        struct tg_fitted how;
        bool ok = tg_summary_fit(&run, 100000, &out, &how, &f->err);
        assert_int_equal(ok, run.n == 130);
        assert_true(how.ranks < 8);
        assert_int_equal(out.n > 0, ok);
        if (ok)
            assert_non_null(strstr(out.p, "steps_only"));
    }
    assert_int_equal(f->err.kind, TG_ERR_LIMIT);
    assert_non_null(strstr(f->err.message, "of 140 ranks fit"));
    tg_summary_release(&one);
}

static void put_steps_only(struct tg_buf *text, const struct tg_buf *raw)
{
    tg_buf_clear(text);
    tg_buf_printf(text, "{\"tracegate_summary\":%d,\"index\":\"", TG_SUMMARY_FORMAT);
    tg_pack_text((tg_sv){ "\0", 1 }, TG_ZLIB_USUAL, text); /* no whole shard */
    tg_buf_puts(text,
                "\",\"texts\":[],\"rows\":[],\"attributes\":[],\"steps_only\":[{\"run\":\"r\","
                "\"window\":\"auto\",\"classes\":\"0\",\"marked\":true,\"times\":\"");
    tg_pack_text(tg_buf_sv(raw), TG_ZLIB_USUAL, text);
    tg_buf_puts(text, "\"}],\"shards\":[\n]}\n");
}

/* A shard of rank 3 with the steps `steps`, each of 1 ns. */
static void put_shard(struct tg_buf *raw, int64_t rank, size_t steps)
{
    tg_pack_i64(raw, rank);
    tg_buf_add(raw, TG_SV("12345678"));
    tg_pack_u64(raw, steps);
    for (size_t k = 0; k < steps; k++) {
        tg_pack_i64(raw, 1);
        tg_pack_u64(raw, 1);
        tg_pack_i64(raw, k == 0);
    }
}

static bool parses(struct fixture *f, struct tg_buf *raw, struct tg_shard *first)
{
    TG_BUF text = { 0 };
    SUMMARY s = no_shards();
    bool ok;
    put_steps_only(&text, raw);
    tg_err_init(&f->err);
    ok = tg_summary_parse(&s, tg_buf_sv(&text), "bad", &f->err);
    if (ok && first)
        *first = *s.shards[0];
    if (!ok)
        assert_string_equal(f->err.message, "damaged summary: steps_only");
    return ok;
}

CASE(damage_is_refused)
{
    TG_BUF raw = { 0 };
    struct tg_shard s;
    size_t whole;
    tg_pack_u64(&raw, 2);
    put_shard(&raw, 3, 2);
    put_shard(&raw, 1, 2);
    assert_true(parses(f, &raw, &s));
    assert_int_equal(s.rank, 3);
    assert_int_equal(s.n_steps, 2);
    whole = raw.n;
    for (raw.n = 0; raw.n < whole; raw.n++) /* every cut */
        assert_false(parses(f, &raw, NULL));
    tg_buf_putc(&raw, 'x'); /* something behind it */
    assert_false(parses(f, &raw, NULL));
    tg_buf_clear(&raw); /* no shard, no step, no rank, a rank twice */
    tg_pack_u64(&raw, 0);
    assert_false(parses(f, &raw, NULL));
    tg_buf_clear(&raw);
    tg_pack_u64(&raw, 1);
    put_shard(&raw, 3, 0);
    assert_false(parses(f, &raw, NULL));
    tg_buf_clear(&raw);
    tg_pack_u64(&raw, 1);
    put_shard(&raw, -1, 1);
    assert_false(parses(f, &raw, NULL));
    tg_buf_clear(&raw);
    tg_pack_u64(&raw, 2);
    put_shard(&raw, 3, 1);
    put_shard(&raw, 0, 1);
    assert_false(parses(f, &raw, NULL));
    /* 131,072 steps are read, one more would take memory out of proportion */
    tg_buf_clear(&raw);
    tg_pack_u64(&raw, 1);
    put_shard(&raw, 3, 1u << 17);
    assert_true(parses(f, &raw, NULL));
    tg_buf_clear(&raw);
    tg_pack_u64(&raw, 1);
    put_shard(&raw, 3, (1u << 17) + 1);
    assert_false(parses(f, &raw, NULL));
}
