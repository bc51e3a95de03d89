/* Shards without the rows that no rule about metrics asks (unnamed.c, layout_read.c). */
#include "stored.h"

#include "core/summary/internal.h"
#include "tests/core/summary/traced.h"

static const uint32_t CALLS[] = { 2, 0, 3 };

/* Rows of stored_shard, and a collective; a metric; of `rank`. */
static struct tg_shard *with_collective(struct fixture *f, int64_t rank)
{
    struct tg_shard *h = stored_shard(f);
    struct tg_row_key *key = TG_NEW(f->a, struct tg_row_key);
    struct tg_row *row = add_to(f, h, TG_KIND_KERNEL, "ncclAllReduce", "", CALLS, 700 + rank);
    *key = *row->key;
    key->cat = TG_SV("kernel"); /* the stored form has kinds by category */
    row->key = key;
    h->rank = rank;
    h->run = TG_SV("a");
    h->metrics[TG_METRIC_GPU_BUSY * h->n_steps] = (struct tg_metric_value){ true, 40 + rank, 1 };
    h->hash = tg_shard_hash(h, f->a);
    return h;
}

static void is_unnamed(const struct tg_shard *h, int64_t rank)
{
    assert_true(h->unnamed);
    assert_int_equal(h->rank, rank);
    assert_int_equal(h->n_rows, 1);
    is_text(h->rows[0].key->name, "ncclAllReduce");
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(h->rows[0].slots[i], 700 + rank);
    assert_int_equal(h->n_steps, 3);
    assert_int_equal(h->metrics[TG_METRIC_GPU_BUSY * 3].num, 40 + rank);
    assert_int_equal(h->gap_count[0], 0);
    is_text(h->window, "auto");
}

BY_HAND(collectives_and_metrics_stay)
{
    struct tg_kept_rows kept = { 0 };
    struct tg_shard *h = with_collective(f, 1), *other = empty_shard(f, 2, 1);

    is_unnamed(tg_shard_unnamed(h, NULL, &kept, f->a), 1);
    assert_int_equal(h->n_rows, 4); /* what came is not touched */
    assert_int_equal(h->gap_count[0], 2);
    assert_false(h->unnamed);
    /* Other rows than those of the shard before. */
    (void)add_to(f, other, TG_KIND_KERNEL, "ncclAllGather", "", CALLS, 9);
    (void)add_to(f, other, TG_KIND_OP, "ncclAllReduce", "", CALLS, 9); /* runs on the host */
    other = tg_shard_unnamed(other, NULL, &kept, f->a);
    assert_int_equal(other->n_rows, 1);
    is_text(other->rows[0].key->name, "ncclAllGather");
    tg_kept_rows_release(&kept);
}

/* A rank whose rows are left out is empty only if it was: marks of steps alone are nothing that
 * ran. */
BY_HAND(a_rank_of_host_work_is_not_empty)
{
    struct tg_kept_rows kept = { 0 };
    struct tg_shard *host = empty_shard(f, 2, 1), *marks = empty_shard(f, 2, 1), *few;
    (void)add_to(f, host, TG_KIND_OP, "aten::mm", "", CALLS, 9);
    (void)add_to(f, marks, TG_KIND_STEP, "ProfilerStep", "", CALLS, 9);
    few = tg_shard_unnamed(host, NULL, &kept, f->a);
    assert_int_equal(few->n_rows, 0);
    assert_false(tg_shard_is_empty(host) || tg_shard_is_empty(few));
    few = tg_shard_unnamed(marks, NULL, &kept, f->a);
    assert_true(tg_shard_is_empty(marks) && tg_shard_is_empty(few));
    tg_kept_rows_release(&kept);
}

/* Ranks 4, 5 and 6 of a document, of which names are asked below 5; hashes stay what they are. */
BY_HAND(ranks_from_a_number_on)
{
    struct tg_summarize_opts o = { .named_ranks = 5 };
    SUMMARY all, few;
    TG_BUF b = { 0 };
    struct tg_source *s;

    tg_summary_init(&all);
    tg_summary_init(&few);
    for (int64_t rank = 4; rank < 7; rank++)
        assert_true(tg_summary_insert(&all, with_collective(f, rank), &f->err));
    assert_true(tg_summary_write(&all, NULL, &b, &f->err));
    s = tg_source_memory(tg_buf_sv(&b), "s", NULL, &f->err);
    if (!s || !tg_summary_read(&few, s, &o, &f->err))
        fail_msg("%s", f->err.message);
    assert_int_equal(few.n, 3);
    assert_false(few.shards[0]->unnamed);
    assert_int_equal(few.shards[0]->n_rows, 4);
    for (size_t i = 1; i < 3; i++) {
        is_unnamed(few.shards[i], 4 + (int64_t)i);
        assert_true(tg_sv_eq(few.shards[i]->hash, all.shards[i]->hash));
    }
    tg_source_close(s);
    /* The same of what was loaded whole; a second time changes nothing. */
    for (int i = 0; i < 2; i++) {
        tg_summary_drop_names(&all, &o);
        assert_int_equal(all.shards[0]->n_rows, 4);
        is_unnamed(all.shards[1], 5);
        is_unnamed(all.shards[2], 6);
    }
    o.named_ranks = 0;
    tg_summary_drop_names(&few, &o);
    assert_int_equal(few.shards[0]->n_rows, 4);
}
