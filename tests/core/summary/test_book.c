/* What the shards of a document share: texts, keys and attributes once, shards as ascending ids. */
#include "stored.h"

/* Writes the book of these shards and reads it again; `raw`: their listings. */
static void through(struct fixture *f, struct tg_shard *const *v, size_t n,
                    struct tg_book_read *out, struct tg_listing *list)
{
    struct tg_listing *written = TG_NEW_N(f->a, struct tg_listing, n), broken;
    struct tg_doc *d = tg_doc_new_object();
    struct tg_book b;
    tg_book_init(&b);
    for (size_t i = 0; i < n; i++)
        tg_book_list(&b, v[i], &written[i]);
    tg_book_write(&b, d);
    assert_true(tg_book_read(out, d, f->a));
    for (size_t i = 0; i < n; i++) {
        TG_BUF raw = { 0 };
        tg_listing_put(&raw, &written[i], &b);
        assert_true(tg_listing_read(&list[i], tg_buf_sv(&raw), out, f->a));
        raw.n--; /* its end is missing */
        assert_false(tg_listing_read(&broken, tg_buf_sv(&raw), out, f->a));
        tg_listing_release(&written[i]);
    }
    tg_book_release(&b);
    tg_doc_free(d);
}

BY_HAND(what_is_shared_is_written_once)
{
    struct tg_shard *v[2] = { stored_shard(f), stored_shard(f) };
    struct tg_book_read b;
    struct tg_listing list[2];

    through(f, v, 2, &b, list);
    assert_int_equal(b.n[TG_BOOK_ROWS], 3);
    assert_int_equal(b.n_attrs, 1);
    /* "", aten::add, aten::linear, aten::mm, cpu_op, gemm, [2, 3] */
    assert_int_equal(b.n_texts, 7);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(list[0].row[TG_BOOK_ROWS][i], i); /* ascending positions */
        assert_int_equal(list[1].row[TG_BOOK_ROWS][i], i);
        is_text(b.row[TG_BOOK_ROWS][i].name, i == 0 ? "aten::add" : i == 1 ? "aten::mm" : "gemm");
    }
    is_text(b.row[TG_BOOK_ROWS][1].parent, "aten::linear");
    assert_int_equal(b.row[TG_BOOK_ROWS][2].stream, 7);
    assert_int_equal(b.attr[0].row, 1);
    is_text(b.attr[0].attr.value, "[2, 3]");
}

/* A shard without the second row has the ids 0 and 2; one that is empty has none. */
BY_HAND(shards_that_differ_are_ids_of_one_book)
{
    struct tg_shard *v[3] = { stored_shard(f), stored_shard(f), empty_shard(f, 0, 1) };
    struct tg_book_read b;
    struct tg_listing list[3];

    v[1]->rows[1] = v[1]->rows[2];
    v[1]->n_rows = 2;
    through(f, v, 2, &b, list);
    assert_int_equal(list[1].n[TG_BOOK_ROWS], 2);
    assert_int_equal(list[1].row[TG_BOOK_ROWS][0], 0);
    assert_int_equal(list[1].row[TG_BOOK_ROWS][1], 2);
    assert_int_equal(list[1].n_attrs, 0);
    v[0] = v[2];
    through(f, v, 1, &b, list);
    assert_int_equal(b.n[TG_BOOK_ROWS] + b.n_attrs + b.n_texts, 0);
}

/* Merging: a document that was read is added to another book, whose order does not matter. */
BY_HAND(documents_join)
{
    struct tg_shard *v[1] = { stored_shard(f) };
    struct tg_shard *other = empty_shard(f, 0, 3);
    static const uint32_t calls[] = { 1, 1, 1 };
    struct tg_book_read read;
    struct tg_listing list[1], joined, mine;
    struct tg_book b;

    through(f, v, 1, &read, list);
    add_to(f, other, TG_KIND_OP, "aten::mm", "aten::linear", calls, 10);
    tg_book_init(&b);
    tg_book_list(&b, other, &mine);
    tg_book_join(&b, &read, &joined);
    assert_int_equal(b.keys[TG_BOOK_ROWS].n, 3); /* aten::mm was there */
    assert_int_equal(joined.row[TG_BOOK_ROWS][1], mine.row[TG_BOOK_ROWS][0]);
    tg_listing_release(&joined);
    tg_listing_release(&mine);
    tg_book_release(&b);
}
