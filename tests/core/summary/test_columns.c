/* The numbers of a shard as columns: what goes in comes out, and damage is noticed. */
#include "stored.h"

struct columns {
    struct tg_book_read book;
    struct tg_listing list;
    struct tg_buf pattern, values;
};

static void write_columns(struct fixture *f, struct columns *c, const struct tg_shard *s,
                          const bool *kept)
{
    struct tg_doc *d = tg_doc_new_object();
    struct tg_listing list;
    TG_BUF raw = { 0 };
    struct tg_book b;
    *c = (struct columns){ .list = { .n_attrs = 0 } };
    tg_book_init(&b);
    tg_book_list(&b, s, &list);
    tg_book_write(&b, d);
    tg_listing_put(&raw, &list, &b);
    assert_true(tg_book_read(&c->book, d, f->a));
    assert_true(tg_listing_read(&c->list, tg_buf_sv(&raw), &c->book, f->a));
    tg_shared_rows_put(&c->pattern, s);
    tg_shard_values_put(&c->values, s, kept);
    tg_listing_release(&list);
    tg_book_release(&b);
    tg_doc_free(d);
}

static bool read_columns(struct fixture *f, const struct columns *c, struct tg_shard *out,
                         const struct tg_shard *s)
{
    struct tg_shared_rows shared;
    *out = (struct tg_shard){ .n_steps = s->n_steps, .steps = s->steps };
    return tg_shared_rows_read(&shared, tg_buf_sv(&c->pattern), &c->list, &c->book, s->n_steps,
                               f->a) &&
           tg_shard_values_read(out, tg_buf_sv(&c->values), &shared, f->a);
}

static void close_columns(struct columns *c)
{
    tg_buf_release(&c->pattern);
    tg_buf_release(&c->values);
}

BY_HAND(what_goes_in_comes_out)
{
    static const bool all[] = { true, true, true }, first[] = { true, false, false };
    struct tg_shard *s = stored_shard(f), out;

    for (int some = 0; some < 2; some++) {
        struct columns c;
        write_columns(f, &c, s, some ? first : all);
        assert_true(read_columns(f, &c, &out, s));
        assert_int_equal(out.n_rows, 3);
        for (size_t i = 0; i < 3; i++) {
            is_text(out.rows[i].key->name, tg_arena_sv(f->a, s->rows[i].key->name).p);
            same_numbers(&out.rows[i], &s->rows[i], 4);
            assert_int_equal(out.rows[i].slots != NULL, !some || i == 0);
            for (size_t k = 0; out.rows[i].slots && k < 5; k++)
                assert_int_equal(out.rows[i].slots[k], s->rows[i].slots[k]);
        }
        assert_int_equal(out.rows[1].attrs[0].count, 5);
        assert_int_equal(out.gap_count[0], 2);
        assert_int_equal(out.gaps[1], 300);
        close_columns(&c);
    }
}

/* Shards of one pattern share it; times alone do not change it, a call does. */
BY_HAND(the_pattern_is_that_of_calls)
{
    static const bool all[] = { true, true, true };
    struct tg_shard *s = stored_shard(f), *slower = stored_shard(f), *more = stored_shard(f);
    struct columns a, b, c;

    slower->rows[0].self[0] += 3000;
    slower->rows[0].total[0] += 3000;
    slower->rows[0].slots[0] += 3000;
    more->rows[0].count[3]++;
    write_columns(f, &a, s, all);
    write_columns(f, &b, slower, all);
    write_columns(f, &c, more, all);
    assert_true(tg_sv_eq(tg_buf_sv(&a.pattern), tg_buf_sv(&b.pattern)));
    assert_false(tg_sv_eq(tg_buf_sv(&a.values), tg_buf_sv(&b.values)));
    assert_false(tg_sv_eq(tg_buf_sv(&a.pattern), tg_buf_sv(&c.pattern)));
    close_columns(&a);
    close_columns(&b);
    close_columns(&c);
}

BY_HAND(damage_is_noticed)
{
    static const bool all[] = { true, true, true };
    struct tg_shard *s = stored_shard(f), out;
    struct columns c;

    write_columns(f, &c, s, all);
    for (size_t n = c.values.n; c.values.n-- && n - c.values.n < 8;)
        assert_false(read_columns(f, &c, &out, s)); /* cut */
    close_columns(&c);
    write_columns(f, &c, s, all);
    tg_buf_putc(&c.values, 0);
    assert_false(read_columns(f, &c, &out, s)); /* too long */
    close_columns(&c);
    write_columns(f, &c, s, all);
    c.pattern.n--;
    assert_false(read_columns(f, &c, &out, s));
    close_columns(&c);
}
