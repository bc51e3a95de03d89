/* Launch attributes at equal counts (attr_changes.c). */
#include "by_hand.h"

enum { STEPS = 3 };

/* Appends to the first row of a run: in `times` events. */
static void give(struct fixture *f, int side, size_t run, enum tg_attr_kind kind, const char *value,
                 uint64_t times)
{
    struct tg_row *r = &shard(f, side, run)->rows[0];

    if (!r->attrs)
        r->attrs = TG_NEW_N(f->a, struct tg_attr, 8);
    assert_true(r->n_attrs < 8);
    r->attrs[r->n_attrs++] = (struct tg_attr){ kind, tg_sv_of(value), times };
}

static void start(struct fixture *f, size_t runs, enum tg_kind kind, uint32_t calls)
{
    f->c = (struct tg_comparison){ 0 };
    make(f, runs, 1, STEPS);
    for (int side = 0; side < 2; side++)
        add_all(f, side, kind, "x", "", calls, 5001);
}

/* One attribute a side in every step; NULL: no difference is told. */
static void differ(struct fixture *f, enum tg_attr_kind kind, const char *const value[2],
                   const char *const want[2])
{
    start(f, 1, TG_KIND_OP, 1);
    for (int side = 0; side < 2; side++)
        give(f, side, 0, kind, value[side], STEPS);
    compare(f);
    const struct tg_op *x = find(f, "x");
    assert_int_equal(x->n_attrs, want ? 1 : 0);
    if (!want)
        return;
    assert_int_equal(x->attrs[0].kind, kind);
    is_text(x->attrs[0].base, want[TG_BASE]);
    is_text(x->attrs[0].test, want[TG_TEST]);
}

#define BOTH(a, b) ((const char *const[2]){ a, b })

/* Of lines and of arrays only what differs, with types as people write them. */
BY_HAND(only_what_differs_is_told)
{
    differ(f, TG_ATTR_KIND_TYPES,
           BOTH("types=[\"c10::Half\",\"long int\"]", "types=[\"float\",\"long int\"]"),
           BOTH("half", "float"));
    differ(f, TG_ATTR_KIND_TYPES, BOTH("types=[\"float\"]", "types=[\"float\"]"), NULL);
    /* The same pair twice is told once; another length tells all. */
    differ(f, TG_ATTR_KIND_TYPES,
           BOTH("types=[\"c10::Half\",\"c10::Half\"]", "types=[\"int\",\"int\"]"),
           BOTH("half", "int"));
    differ(f, TG_ATTR_KIND_TYPES, BOTH("types=[\"int\",\"\"]", "types=[\"int\"]"),
           BOTH("int, none", "int"));
    /* A comma inside an element ends nothing. */
    differ(f, TG_ATTR_KIND_SHAPES, BOTH("shapes=[[8,16],[16,4]]", "shapes=[[8,16],[16,5]]"),
           BOTH("[16,4]", "[16,5]"));
    /* A key is named unless it is the kind's; one that a side lacks is none. */
    differ(f, TG_ATTR_KIND_LAUNCH,
           BOTH("grid=[4,1,1]\nregisters=32", "grid=[4,1,1]\nregisters=64\nshared=8"),
           BOTH("registers 32, shared none", "registers 64, shared 8"));
}

/* A step has an attribute once if two of three steps have it, and not at all if one of three has.
 * */
BY_HAND(a_cold_step_drops_out)
{
    for (uint64_t times = 1; times <= 2; times++) {
        start(f, 1, TG_KIND_OP, 1);
        give(f, TG_BASE, 0, TG_ATTR_KIND_SHAPES, "[[1]]", STEPS);
        give(f, TG_TEST, 0, TG_ATTR_KIND_SHAPES, "[[1]]", STEPS - times);
        give(f, TG_TEST, 0, TG_ATTR_KIND_SHAPES, "[[2]]", times);
        compare(f);
        assert_int_equal(find(f, "x")->n_attrs, times == 2);
    }
}

/* Two calls a step: both had [[1]], now one has [[2]] and the other [[3]]. */
BY_HAND(how_often_and_how_many)
{
    start(f, 1, TG_KIND_OP, 2);
    give(f, TG_BASE, 0, TG_ATTR_KIND_SHAPES, "[[1]]", 2 * STEPS);
    give(f, TG_TEST, 0, TG_ATTR_KIND_SHAPES, "[[2]]", STEPS);
    give(f, TG_TEST, 0, TG_ATTR_KIND_SHAPES, "[[3]]", STEPS);
    compare(f);
    is_text(find(f, "x")->attrs[0].base, "[1] (2 a step)");
    is_text(find(f, "x")->attrs[0].test, "[2] (1 a step) and 1 more");
}

/* Runs that do not agree, attributes left out, other counts, or nothing recorded on a side. */
BY_HAND(what_cannot_be_held_against_each_other)
{
    for (int why = 0; why < 5; why++) {
        start(f, 2, TG_KIND_OP, 1);
        for (size_t run = 0; run < 2; run++)
            give(f, TG_BASE, run, TG_ATTR_KIND_SHAPES, why == 1 && run ? "[[9]]" : "[[1]]", STEPS);
        if (why != 4)
            give(f, TG_TEST, 0, TG_ATTR_KIND_SHAPES, "[[2]]", STEPS);
        shard(f, TG_TEST, 0)->rows[0].attrs_capped = why == 2;
        if (why == 3)
            add_row(f, TG_TEST, 0, TG_KIND_OP, "x", "", 1, 5001);
        compare(f);
        assert_int_equal(find(f, "x")->n_attrs, why == 0);
        assert_int_equal(find(f, "x")->compared_attrs, why ? 0 : 1u << TG_ATTR_KIND_SHAPES);
    }
}

/* Another device has other launches by nature, but not other shapes. */
BY_HAND(launches_of_another_device)
{
    static struct tg_kv env[2] = { { { "device", 6 }, { "A100", 4 } },
                                   { { "device", 6 }, { "H100", 4 } } };

    for (int other = 0; other < 2; other++)
        for (int kernel = 0; kernel < 2; kernel++) {
            start(f, 1, kernel ? TG_KIND_KERNEL : TG_KIND_OP, 1);
            for (int side = 0; side < 2; side++) {
                give(f, side, 0, TG_ATTR_KIND_LAUNCH, side ? "registers=64" : "registers=32",
                     STEPS);
                shard(f, side, 0)->env = &env[other && side];
                shard(f, side, 0)->n_env = 1;
            }
            compare(f);
            assert_int_equal(find(f, "x")->n_attrs, !(other && kernel));
        }
}
