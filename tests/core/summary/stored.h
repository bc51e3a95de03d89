#ifndef TG_TESTS_CORE_SUMMARY_STORED_H
#define TG_TESTS_CORE_SUMMARY_STORED_H
/* A shard made by hand and what a stored document says of it. */
#include "tests/core/diff/by_hand.h"

#include "core/base/doc.h"
#include "core/summary/columns.h"
#include "core/summary/internal.h"

/* Rows in their order, with keys, attributes and slots that differ. */
static inline struct tg_shard *stored_shard(struct fixture *f)
{
    static const uint32_t calls[] = { 2, 0, 3 };
    struct tg_shard *h = empty_shard(f, 4, 3);
    struct tg_row *row;
    add_to(f, h, TG_KIND_OP, "aten::add", "", calls, 1500);
    row = add_to(f, h, TG_KIND_OP, "aten::mm", "aten::linear", calls, 2500);
    row->attrs = TG_NEW(f->a, struct tg_attr);
    row->attrs[0] =
        (struct tg_attr){ .kind = TG_ATTR_KIND_SHAPES, .value = TG_SV("[2, 3]"), .count = 5 };
    row->n_attrs = 1;
    row->count[3] = 7; /* outside every step */
    row->total[3] = 70000;
    row->self[3] = 60000;
    row = add_to(f, h, TG_KIND_KERNEL, "gemm", "aten::mm", calls, 500);
    row->slots[1] = 900;
    row->self[0] = row->total[0] = 1400;
    h->gap_count[0] = 2;
    h->gaps = TG_NEW_N(f->a, tg_ns, 2);
    h->gaps[0] = 100;
    h->gaps[1] = 300;
    h->window = TG_SV("auto");
    h->classes = TG_SV("0123456789abcdef");
    return h;
}

static inline void same_numbers(const struct tg_row *a, const struct tg_row *b, size_t n)
{
    for (size_t k = 0; k < n; k++)
        if (a->count[k] != b->count[k] || a->total[k] != b->total[k] || a->self[k] != b->self[k])
            fail_msg("%.*s, step %zu", TG_SV_ARG(a->key->name), k);
}
#endif
