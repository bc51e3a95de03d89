/* Inside which annotation work lies: by the path of each call, not by what a name is mostly called from. */
#include "core/diff/where.h"
#include "place_by_hand.h"

/* A helper that is called twice in `one` and once in `two`; what it calls there differs. */
static void program(struct fixture *f, int side, const char *in_one, const char *in_two)
{
    put(f, side, TG_KIND_ANNOTATION, "step/one", 1, 100001);
    put(f, side, TG_KIND_ANNOTATION, "step/two", 1, 100001);
    put(f, side, TG_KIND_OP, "step/one/helper", 2, 10001);
    put(f, side, TG_KIND_OP, "step/two/helper", 1, 10001);
    put(f, side, TG_KIND_OP, tg_arena_printf(f->a, "step/one/helper/%s", in_one), 1, 5001);
    put(f, side, TG_KIND_OP, tg_arena_printf(f->a, "step/two/helper/%s", in_two), 1, 5001);
}

static const struct tg_region *region(struct fixture *f, const char *encloser)
{
    for (size_t i = 0; i < f->c.n_regions; i++)
        if (tg_sv_eq(f->c.regions[i].encloser, tg_sv_of(encloser)))
            return &f->c.regions[i];
    fail_msg("no region '%s'", encloser);
    return NULL;
}

BY_HAND(a_path_tells_the_annotation)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "old");
    program(f, TG_TEST, "same", "new");
    /* in one annotation, with times that are no rename's */
    put(f, TG_BASE, TG_KIND_OP, "step/two/was", 1, 50001);
    put(f, TG_TEST, TG_KIND_OP, "step/two/is", 1, 20001);
    compare(f);
    assert_int_equal(region(f, "two")->calls[TG_BASE], region(f, "two")->calls[TG_TEST]);
    assert_int_equal(find(f, "is")->relation, TG_REL_REPLACED);
    is_text(find(f, "is")->place, "two");
    is_text(find(f, "same")->place, "one");
    is_text(find(f, "helper")->place, "one");
}

/* What went in one annotation excuses nothing that came in the other. */
BY_HAND(what_came_elsewhere_is_not_replaced)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "same");
    program(f, TG_TEST, "same", "same");
    put(f, TG_BASE, TG_KIND_OP, "step/one/helper/was", 1, 50001);
    put(f, TG_TEST, TG_KIND_OP, "step/two/helper/is", 1, 20001);
    compare(f);
    is_text(find(f, "was")->place, "one");
    is_text(find(f, "is")->place, "two");
    assert_int_equal(find(f, "is")->relation, TG_REL_NONE);
}

/* The nearest of two annotations; other threads and what no annotation holds are the step's. */
BY_HAND(the_nearest_annotation_and_none)
{
    make(f, 1, 1, 3);
    put_both(f, TG_KIND_ANNOTATION, "step/outer", 1, 100001);
    put_both(f, TG_KIND_ANNOTATION, "step/outer/inner", 1, 50001);
    put_both(f, TG_KIND_OP, "step/outer/a", 1, 5001);
    put_both(f, TG_KIND_OP, "step/outer/inner/b", 1, 5001);
    put_both(f, TG_KIND_KERNEL, "step/outer/inner/b/k", 1, 5001);
    put_both(f, TG_KIND_OP, "threads/c", 1, 5001);
    put(f, TG_TEST, TG_KIND_OP, "step/d", 1, 5001);
    compare(f);
    is_text(find(f, "a")->place, "outer");
    is_text(find(f, "b")->place, "inner");
    is_text(find(f, "k")->place, "inner");
    is_text(find(f, "c")->place, "");
    is_text(find(f, "d")->place, "");
}

/* Without trees the name around most of the helper's calls is all that is known: both are in `one`. */
BY_HAND(rows_alone_know_less)
{
    make(f, 3, 3, 3);
    program(f, TG_BASE, "same", "old");
    program(f, TG_TEST, "same", "new");
    for (int side = 0; side < 2; side++)
        for (size_t run = 0; run < 3; run++)
            shard(f, side, run)->tree = (struct tg_tree){ 0 };
    compare(f);
    is_text(find(f, "new")->place, "one");
}
