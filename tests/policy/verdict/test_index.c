/* Rows by parent and by replacement, against passes over all of them. */
#include <stdlib.h>

#include "by_hand.h"
#include "policy/verdict/index.h"

WITH_HAND(each_row_is_found_in_order)
{
    enum { N = 200, REGIONS = 7 };
    static const char *const parents[] = { "", "aten::a", "aten::b", "module" };
    struct tg_op *ops = TG_NEW_N(h->a, struct tg_op, N);
    struct tg_op_index x;

    srand(7);
    for (size_t i = 0; i < N; i++) {
        ops[i].parent = tg_sv_of(parents[rand() % 4]);
        ops[i].region = rand() % 3 ? (uint32_t)(rand() % REGIONS) : TG_NO_ID;
    }
    h->c.ops = ops;
    h->c.n_ops = N;
    h->c.n_regions = REGIONS;
    tg_op_index_init(&x, &h->c);
    for (size_t p = 0; p < 4; p++) {
        uint32_t k = tg_buckets_first(&x.children, tg_sv_of(parents[p]));
        for (uint32_t i = 0; i < N; i++) {
            if (!tg_sv_eq(ops[i].parent, tg_sv_of(parents[p])))
                continue;
            assert_int_equal(k, i);
            k = tg_buckets_next(&x.children, k);
        }
        assert_int_equal(k, TG_NO_ID);
    }
    for (uint32_t region = 0; region < REGIONS; region++) {
        uint32_t k = tg_op_index_region(&x, region);
        for (uint32_t i = 0; i < N; i++) {
            if (ops[i].region != region)
                continue;
            assert_int_equal(k, i);
            k = x.next_of_region[k];
        }
        assert_int_equal(k, TG_NO_ID);
    }
    assert_int_equal(tg_op_index_region(&x, TG_NO_ID), TG_NO_ID);
    assert_int_equal(tg_buckets_first(&x.children, TG_SV("absent")), TG_NO_ID);
    tg_op_index_release(&x);
}
