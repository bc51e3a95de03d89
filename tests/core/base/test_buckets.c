/* Numbers by text, against a pass over all of them. */

#include "core/base/buckets.h"
#include "tests/support.h"

TEST(a_bucket_has_its_numbers_in_the_order_of_the_adds)
{
    static const char *const of[] = { "a", "b", "", "a", "b", "a" };
    static const uint32_t want[] = { 0, 3, 5 };
    struct tg_buckets g;
    uint32_t k;

    tg_buckets_init(&g, 6);
    assert_int_equal(tg_buckets_first(&g, TG_SV("a")), TG_NO_ID);
    for (uint32_t i = 0; i < 6; i++)
        tg_buckets_add(&g, tg_sv_of(of[i]), i);
    k = tg_buckets_first(&g, TG_SV("a"));
    for (size_t i = 0; i < 3; i++, k = tg_buckets_next(&g, k))
        assert_int_equal(k, want[i]);
    assert_int_equal(k, TG_NO_ID);
    assert_int_equal(tg_buckets_first(&g, TG_SV("")), 2);
    assert_int_equal(tg_buckets_first(&g, TG_SV("c")), TG_NO_ID);
    tg_buckets_release(&g);
    tg_buckets_release(&g); /* the zero state */
}

/* Many more groups than the first table holds; the numbers are added in another order than
 * theirs. */
TEST(many_buckets_stay_apart)
{
    enum { N = 3000, BUCKETS = 700 };
    struct tg_buckets g;
    char text[16];
    size_t seen = 0;

    tg_buckets_init(&g, N);
    for (uint32_t i = N; i-- > 0;) {
        snprintf(text, sizeof text, "%u", i % BUCKETS);
        tg_buckets_add(&g, tg_sv_of(text), i);
    }
    for (uint32_t id = 0; id < BUCKETS; id++) {
        uint32_t last = N;
        snprintf(text, sizeof text, "%u", id);
        for (uint32_t k = tg_buckets_first(&g, tg_sv_of(text)); k != TG_NO_ID;
             k = tg_buckets_next(&g, k)) {
            assert_int_equal(k % BUCKETS, id);
            assert_true(k < last);
            last = k;
            seen++;
        }
    }
    assert_int_equal(seen, N);
    tg_buckets_release(&g);
}
