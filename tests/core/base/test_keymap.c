/* Numbers to dense ids, against a search through a list, and by text, against a pass over all. */
#include "core/base/keymap.h"

#include "core/base/buckets.h"
#include "tests/support.h"

TEST(ids_come_in_order_of_first_appearance)
{
    static const uint64_t keys[][2] = { { 7, 0 }, { 0, 7 }, { 7, 0 }, { 0, 0 }, { 0, 7 } };
    static const uint32_t ids[] = { 0, 1, 0, 2, 1 };
    const uint64_t absent[2] = { 7, 7 };
    struct tg_keymap m;
    tg_keymap_init(&m, 2);
    assert_int_equal(tg_keymap_find(&m, keys[0]), TG_NO_ID);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(tg_keymap_add(&m, keys[i]), ids[i]);
    assert_int_equal(m.n, 3);
    assert_int_equal(tg_keymap_find(&m, keys[1]), 1);
    assert_int_equal(tg_keymap_find(&m, absent), TG_NO_ID);
    tg_keymap_release(&m);
    tg_keymap_release(&m); /* the zero state */
}

/* Keys that differ in one bit of any word, and many more than the first table holds. */
TEST(many_keys_stay_apart)
{
    enum { N = 3000 };
    uint64_t(*list)[3] = malloc(N * sizeof *list);
    struct tg_keymap m;
    assert_non_null(list);
    tg_keymap_init(&m, 3);
    for (uint64_t i = 0; i < N; i++) {
        uint64_t key[3] = { 0 };
        size_t known = 0;
        key[i % 3] = i % 2 ? UINT64_C(1) << i % 64 : i / 7;
        while (known < m.n && memcmp(list[known], key, sizeof key) != 0)
            known++;
        memcpy(list[known], key, sizeof key);
        assert_int_equal(tg_keymap_add(&m, key), known);
    }
    assert_true(m.n > 500);
    for (size_t i = 0; i < m.n; i++)
        assert_int_equal(tg_keymap_find(&m, list[i]), i);
    tg_keymap_release(&m);
    free(list);
}

/* ---- buckets ---- */

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
