/* Numbers to dense ids, against a search through a list. */
#include "core/base/keymap.h"
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
