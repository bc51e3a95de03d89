/* The merge as a stream gives the bytes of the union in memory, whatever the tree. */
#include "core/summary/summary.h"
#include "core/summary/unite.h"
#include "tests/core/summary/traced.h"

enum { RANKS = 9 };

struct fixture {
    struct tg_buf one[RANKS]; /* a document of one rank each */
    struct tg_summary all;
    struct tg_buf whole; /* of `all` */
    struct tg_err err;
};

/* Rank `rank`: every third has a kernel and an attribute that the others lack. */
static void add_rank(struct tg_summary *to, int64_t rank, struct tg_err *err)
{
    TG_AUTO(bt_release) struct bt b;
    struct tg_summarize_opts o = { .rank = rank, .run = rank < 5 ? TG_SV("b") : TG_SV("a") };
    bt_init(&b);
    for (int k = 0; k < 2; k++) {
        tg_ns at = 1000 + 1000 * k;
        bt_host(&b, "user_annotation", k ? "ProfilerStep#6" : "ProfilerStep#5", "1", at, 900, -1);
        bt_add(&b, (struct bt_row){ "cpu_op", "aten::mm", "1", "1", at + 100, 100 + rank, -1, -1,
                                    TG_NO_STREAM, rank % 3 ? "shapes=[[2,3]]" : "shapes=[[2,4]]" });
        bt_host(&b, "cuda_runtime", "cudaLaunchKernel", "1", at + 120, 10, 10 + k);
        bt_device(&b, "kernel", rank % 3 ? "gemm" : "gemm_of_some", 7, at + 400, 200 + 7 * rank,
                  10 + k);
    }
    assert_true(traced_add(to, &b, 0, &o, err));
}

static void setup(struct fixture *f)
{
    tg_err_init(&f->err);
    tg_summary_init(&f->all);
    for (int i = 0; i < RANKS; i++) {
        SUMMARY s = no_shards();
        add_rank(&s, i, &f->err);
        assert_true(tg_summary_write(&s, NULL, &f->one[i], &f->err));
        assert_true(tg_summary_merge(&f->all, &s, &f->err));
    }
    assert_true(tg_summary_write(&f->all, NULL, &f->whole, &f->err));
}

static void teardown(struct fixture *f)
{
    for (int i = 0; i < RANKS; i++)
        tg_buf_release(&f->one[i]);
    tg_buf_release(&f->whole);
    tg_summary_release(&f->all);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

struct inputs {
    const struct tg_buf *const *text;
    struct tg_buf out;
};

static struct tg_source *open_text(void *arg, size_t i, struct tg_err *err)
{
    const struct inputs *in = arg;
    char name[16];
    (void)snprintf(name, sizeof name, "in%zu", i);
    return tg_source_memory(tg_buf_sv(in->text[i]), name, NULL, err);
}

static bool put(void *arg, tg_sv bytes, struct tg_err *err)
{
    struct inputs *in = arg;
    (void)err;
    tg_buf_add(&in->out, bytes);
    return true;
}

static bool merge_whole(struct fixture *f, const struct tg_buf *const *text, size_t n,
                        struct tg_damage *damage, struct tg_buf *out)
{
    struct inputs in = { text, { 0 } };
    struct tg_unite m = { n, open_text, put, &in, damage };
    bool ok;
    tg_err_init(&f->err);
    ok = tg_unite_run(&m, &f->err);
    tg_buf_release(out);
    *out = in.out;
    return ok;
}

static bool merge(struct fixture *f, const struct tg_buf *const *text, size_t n, struct tg_buf *out)
{
    return merge_whole(f, text, n, NULL, out);
}

static void assert_whole(const struct fixture *f, const struct tg_buf *out)
{
    assert_int_equal(out->n, f->whole.n);
    assert_memory_equal(out->p, f->whole.p, out->n);
}

CASE(all_at_once_in_any_order)
{
    const struct tg_buf *v[RANKS];
    TG_BUF out = { 0 };
    for (size_t i = 0; i < RANKS; i++)
        v[i] = &f->one[(i * 4 + 2) % RANKS];
    assert_true(merge(f, v, RANKS, &out));
    assert_whole(f, &out);
}

/* Two, and one more, and one more. */
CASE(one_after_the_other)
{
    TG_BUF so_far = { 0 }, out = { 0 };
    tg_buf_add(&so_far, tg_buf_sv(&f->one[RANKS - 1]));
    for (size_t i = RANKS - 1; i-- > 0;) {
        const struct tg_buf *v[] = { &so_far, &f->one[i] };
        assert_true(merge(f, v, 2, &out));
        tg_buf_release(&so_far);
        so_far = out;
        out = (struct tg_buf){ 0 };
    }
    assert_whole(f, &so_far);
}

/* Groups that overlap, whose shards come between each other, and the whole itself. */
CASE(groups_and_duplicates)
{
    struct tg_buf group[3] = { { 0 } };
    TG_BUF out = { 0 };
    for (size_t g = 0; g < 3; g++) {
        const struct tg_buf *v[RANKS];
        size_t n = 0;
        for (size_t i = 0; i < RANKS; i++)
            if (i % 3 == g || i == 4)
                v[n++] = &f->one[i];
        assert_true(merge(f, v, n, &group[g]));
    }
    const struct tg_buf *all[] = { &group[2], &group[0], &f->one[4], &group[1], &group[0] };
    assert_true(merge(f, all, 5, &out));
    assert_whole(f, &out);
    const struct tg_buf *again[] = { &f->whole, &group[1], &f->whole };
    assert_true(merge(f, again, 3, &out));
    assert_whole(f, &out);
    for (size_t g = 0; g < 3; g++)
        tg_buf_release(&group[g]);
}

/* More inputs than are open at a time, every one of which is needed again and again. */
CASE(more_inputs_than_are_open)
{
    enum { MANY = 150 };
    const struct tg_buf *v[MANY];
    TG_BUF out = { 0 };
    for (size_t i = 0; i < MANY; i++)
        v[i] = i % 2 ? &f->whole : &f->one[i % RANKS];
    assert_true(merge(f, v, MANY, &out));
    assert_whole(f, &out);
}

CASE(nothing_is_a_summary_too)
{
    TG_BUF none = { 0 }, out = { 0 };
    assert_true(merge(f, NULL, 0, &none));
    const struct tg_buf *v[] = { &none, &f->whole, &none };
    assert_true(merge(f, v, 3, &out));
    assert_whole(f, &out);
}

/* Of ranks 2, 5 and 8 the step times alone: they are left out where the rank is whole, whatever
 * comes before and after it, and stay where it is not. */
CASE(step_times_give_way_to_the_whole)
{
    SUMMARY both = no_shards();
    TG_BUF few = { 0 }, out = { 0 }, want = { 0 };
    struct tg_summary less = f->all;
    struct tg_shard copy[3], *of[3];
    less.shards = of;
    less.n = 0;
    for (size_t i = 0; i < RANKS; i++)
        if (f->all.shards[i]->rank % 3 == 2) {
            copy[less.n] = *f->all.shards[i];
            copy[less.n].steps_only = true;
            of[less.n] = &copy[less.n];
            less.n++;
        }
    assert_true(tg_summary_write(&less, NULL, &few, &f->err));
    const struct tg_buf *v[] = { &few, &f->whole };
    assert_true(merge(f, v, 2, &out));
    assert_whole(f, &out);
    v[1] = &f->one[8];
    for (int k = 0; k < 2; k++)
        assert_true(tg_summary_parse(&both, tg_buf_sv(v[k]), "both", &f->err));
    assert_true(tg_summary_write(&both, NULL, &want, &f->err));
    assert_true(merge(f, v, 2, &out));
    assert_int_equal(out.n, want.n);
    assert_memory_equal(out.p, want.p, out.n);
    assert_non_null(strstr(out.p, "steps_only"));
    assert_null(strstr(f->whole.p, "steps_only"));
}

/* It is no damage: which of them is right is not known. */
CASE(other_content_is_refused)
{
    struct tg_damage damage = { 0 };
    SUMMARY s = no_shards();
    TG_BUF other = { 0 }, out = { 0 };
    add_rank(&s, 3, &f->err);
    s.shards[0]->rows[0].total[0]++;
    tg_summary_set_rank(&s, 2);
    assert_true(tg_summary_write(&s, NULL, &other, &f->err));
    const struct tg_buf *v[] = { &f->whole, &other };
    for (int named = 0; named < 2; named++) {
        assert_false(merge_whole(f, v, 2, named ? &damage : NULL, &out));
        assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
        assert_string_equal(f->err.message,
                            "run 'b', rank 2 is there twice with different content");
    }
    assert_int_equal(damage.n, 0);
}

CASE(damage_names_the_rank)
{
    TG_BUF cut = { 0 }, out = { 0 };
    const char *at = strstr(f->whole.p, "\"run\":\"b\",\"hash\"");
    assert_non_null(at);
    tg_buf_add(&cut, (tg_sv){ f->whole.p, (size_t)(at - f->whole.p) + 20 });
    const struct tg_buf *v[] = { &f->one[1], &cut };
    assert_false(merge(f, v, 2, &out));
    assert_string_equal(f->err.message,
                        "damaged summary: it ends before rank 0 of run 'b', with 4 of 9 parts");
    assert_string_equal(f->err.file, "in1");
    tg_buf_clear(&cut);
    tg_buf_add(&cut, tg_buf_sv(&f->whole));
    cut.p[(at - f->whole.p) + 20] ^= 1; /* a digit of its hash */
    assert_false(merge(f, v, 2, &out));
    assert_string_equal(f->err.message, "damaged summary: rank 0 of run 'b': its run, hash or rank "
                                        "are not those of the index");
}

/* One document whose fifth shard has another hash than the index says, and one that is no JSON. */
CASE(what_is_whole_is_merged)
{
    TG_BUF bad = { 0 }, none = { 0 }, out = { 0 }, rest = { 0 };
    struct tg_damage damage = { 0 };
    const struct tg_buf *others[RANKS - 1];
    for (size_t i = 1; i < RANKS; i++)
        others[i - 1] = &f->one[i];
    assert_true(merge(f, others, RANKS - 1, &rest));
    tg_buf_add(&bad, tg_buf_sv(&f->whole));
    bad.p[(strstr(bad.p, "\"run\":\"b\",\"hash\"") - bad.p) + 20] ^= 1;
    tg_buf_puts(&none, "{\"tracegate_summary\":");
    const struct tg_buf *v[] = { &none, &bad, &f->one[1] };
    assert_true(merge_whole(f, v, 3, &damage, &out));
    assert_int_equal(damage.n, 2);
    assert_string_equal(damage.text.p,
                        "in0: damaged summary: its first line is not JSON\n"
                        "in1: damaged summary: rank 0 of run 'b': its run, hash or rank are not "
                        "those of the index\n");
    assert_int_equal(out.n, rest.n);
    assert_memory_equal(out.p, rest.p, rest.n);
    tg_damage_release(&damage);
    assert_false(merge_whole(f, v, 1, &damage, &out)); /* nothing is left */
    assert_string_equal(f->err.message, "no part can be read: in0: damaged summary: its first line "
                                        "is not JSON");
    tg_damage_release(&damage);
}
