/* Launch attributes at equal counts (attr_changes.c). */
#include "by_hand.h"

enum { STEPS = 3 };

/* Appends to the first row of a run: in `times` events. */
static void give(struct fixture *f, int side, size_t run, enum tg_attr_kind kind, const char *value,
                 uint64_t times)
{
    add_attr(f, &shard(f, side, run)->rows[0], kind, value, times);
}

static void start(struct fixture *f, size_t runs, enum tg_kind kind, uint32_t calls)
{
    make(f, runs, 1, STEPS);
    add_same(f, kind, "x", "", calls, 5001);
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
           BOTH("[\"c10::BFloat16\",\"long int\"]", "[\"float\",\"long int\"]"),
           BOTH("bf16", "float"));
    differ(f, TG_ATTR_KIND_TYPES, BOTH("[\"float\"]", "[\"float\"]"), NULL);
    /* The same pair twice is told once; another length tells all. */
    differ(f, TG_ATTR_KIND_TYPES, BOTH("[\"c10::Half\",\"c10::Half\"]", "[\"int\",\"int\"]"),
           BOTH("half", "int"));
    differ(f, TG_ATTR_KIND_TYPES, BOTH("[\"int\",\"long int\"]", "[\"int\"]"),
           BOTH("int, long", "int"));
    /* What is no tensor has no type. */
    differ(f, TG_ATTR_KIND_TYPES, BOTH("[\"int\",\"\",\"Scalar\"]", "[\"Scalar\",\"int\"]"), NULL);
    differ(f, TG_ATTR_KIND_TYPES, BOTH("[\"\",\"Scalar\"]", "[\"Scalar\",\"\"]"), NULL);
    /* A comma inside an element ends nothing. */
    differ(f, TG_ATTR_KIND_SHAPES, BOTH("[[8,16],[16,4]]", "[[8,16],[16,5]]"),
           BOTH("[16,4]", "[16,5]"));
    /* A key is named unless it is the kind's; one that a side lacks is none. */
    differ(f, TG_ATTR_KIND_LAUNCH,
           BOTH("grid=[4,1,1]\nregisters=32", "grid=[4,1,1]\nregisters=64\nshared=8"),
           BOTH("registers 32, shared none", "registers 64, shared 8"));
}

/* What a view is called with another operator made. */
BY_HAND(views_have_no_attributes)
{
    const char *const names[] = { "aten::add", "aten::slice" };
    for (size_t i = 0; i < 2; i++) {
        make(f, 1, 1, STEPS);
        for (int side = 0; side < 2; side++) {
            add_all(f, side, TG_KIND_OP, names[i], "", 1, 5001);
            give(f, side, 0, TG_ATTR_KIND_SHAPES, side ? "[[2]]" : "[[1]]", STEPS);
        }
        compare(f);
        assert_int_equal(find(f, names[i])->n_attrs, i == 0);
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

/* "a3 b2": of five steps of one call each, three have [a] and two [b]. */
static void give_run(struct fixture *f, int side, size_t run, const char *text)
{
    for (; text && *text; text += text[2] ? 3 : 2)
        give(f, side, run, TG_ATTR_KIND_SHAPES, tg_arena_printf(f->a, "[%c]", text[0]),
             (uint64_t)(text[1] - '0'));
}

enum { BASE = 1, FRESH = 2, BOTH_SIDES = 3 }; /* bits of tg_attr_state.sides */

/* What was compared and what was not, by hand: values a step has by itself are no change of it. */
BY_HAND(compared_or_why_not)
{
    static const struct {
        const char *run[2][2]; /* NULL: one run; "": nothing recorded */
        int what;
        unsigned sides;
        const char *change[2]; /* NULL: none */
        uint32_t fresh_calls;  /* by the step; 0: one */
    } cases[] = {
        { { { "a5", "a5" }, { "a5", "a5" } }, TG_ATTR_COMPARED, 0, { 0 }, 0 },
        { { { "a5" }, { "b5" } }, TG_ATTR_COMPARED, 0, { "[a]", "[b]" }, 0 },
        { { { "a5", "b5" }, { "a5", "a5" } }, TG_ATTR_VARIES, BASE, { 0 }, 0 },
        { { { "a5", "a5" }, { "a5", "b5" } }, TG_ATTR_VARIES, FRESH, { 0 }, 0 },
        /* None of the baseline's: a change only if its own come again from run to run. */
        { { { "a5", "b5" }, { "c5", "d5" } }, TG_ATTR_VARIES, BOTH_SIDES, { 0 }, 0 },
        { { { "a5", "b5" }, { "c5", "c5" } }, TG_ATTR_VARIES, BASE, { 0 }, 0 },
        { { { "a5", "a5" }, { "c5", "d5" } }, TG_ATTR_COMPARED, 0, { "[a]", "[c] and 1 more" }, 0 },
        { { { "a3 b2", "a2 b3" }, { "c3 d2", "c2 d3" } },
          TG_ATTR_COMPARED,
          0,
          { "[a] and 1 more", "[c] and 1 more" },
          0 },
        { { { "a3 b2", "a2 b3" }, { "a3 c2", "a2 c3" } }, TG_ATTR_VARIES, BOTH_SIDES, { 0 }, 0 },
        { { { "a3 b2", "a2 b3" }, { "a3 b2", "b5" } }, TG_ATTR_VARIES, BOTH_SIDES, { 0 }, 0 },
        /* All runs have the same steps, as with one seed. */
        { { { "a3 b2", "a3 b2" }, { "a3 b2", "a3 b2" } }, TG_ATTR_COMPARED, 0, { 0 }, 0 },
        { { { "a3 b2", "a3 b2" }, { "a2 b3", "a2 b3" } },
          TG_ATTR_COMPARED,
          0,
          { "[a]", "[b]" },
          0 },
        { { { "a3 b2", "a3 b2" }, { "a3 c2", "a3 c2" } },
          TG_ATTR_COMPARED,
          0,
          { "[a] and 1 more", "[c] in some calls" },
          0 },
        { { { "a3 b2" }, { "a3 c2" } }, TG_ATTR_VARIES, BOTH_SIDES, { 0 }, 0 },
        { { { "a2 b2 c1" }, { "d2 e2 f1" } }, TG_ATTR_VARIES, BOTH_SIDES, { 0 }, 0 },
        /* In some steps of every fresh run; one step may be a cold one. */
        { { { "a5" }, { "a4 b1" } }, TG_ATTR_COMPARED, 0, { 0 }, 0 },
        { { { "a5" }, { "a3 b2" } }, TG_ATTR_COMPARED, 0, { "[a]", "[b] in some calls" }, 0 },
        { { { "a5", "a5" }, { "a3 b2", "a4 b1" } }, TG_ATTR_VARIES, FRESH, { 0 }, 0 },
        /* Other counts: the same values, or none of them. */
        { { { "a5" }, { "a9 a1" } }, TG_ATTR_COMPARED, 0, { 0 }, 2 },
        { { { "a5" }, { "b9 b1" } }, TG_ATTR_COMPARED, 0, { "[a]", "[b]" }, 2 },
        { { { "a5" }, { "a5 b5" } }, TG_ATTR_OTHER_COUNT, 0, { 0 }, 2 },
        { { { "a5 b5" }, { "a5" } }, TG_ATTR_OTHER_COUNT, 0, { 0 }, 1 },
        /* Not recorded. */
        { { { "" }, { "" } }, TG_ATTR_NONE, 0, { 0 }, 0 },
        { { { "a5" }, { "" } }, TG_ATTR_LACKS, FRESH, { 0 }, 0 },
        { { { "", "" }, { "a5", "a5" } }, TG_ATTR_LACKS, BASE, { 0 }, 0 },
        { { { "a5", "" }, { "a5", "a5" } }, TG_ATTR_LACKS, BASE, { 0 }, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, cases[i].run[TG_BASE][1] ? 2 : 1, cases[i].run[TG_TEST][1] ? 2 : 1, 5);
        for (int side = 0; side < 2; side++) {
            uint32_t calls = side && cases[i].fresh_calls ? cases[i].fresh_calls : 1;
            add_all(f, side, TG_KIND_OP, "x", "", calls, 5001);
            for (size_t run = 0; run < 2; run++)
                give_run(f, side, run, cases[i].run[side][run]);
        }
        compare(f);
        const struct tg_op *x = find(f, "x");
        struct tg_attr_state state = x->attr[TG_ATTR_KIND_SHAPES];
        if ((int)state.what != cases[i].what || state.sides != cases[i].sides ||
            (x->n_attrs == 1) != (cases[i].change[TG_BASE] != NULL))
            fail_msg("case %zu: %d of sides %u, %zu changes", i, (int)state.what, state.sides,
                     x->n_attrs);
        for (int side = 0; side < 2 && x->n_attrs; side++)
            is_text(side ? x->attrs[0].test : x->attrs[0].base, cases[i].change[side]);
    }
}

/* Of the kind that has most values some may be left out, of no other. */
BY_HAND(values_left_out)
{
    for (int side = 0; side < 2; side++) {
        start(f, 1, TG_KIND_OP, 2);
        for (int k = 0; k < 2; k++) {
            give(f, k, 0, TG_ATTR_KIND_SHAPES, "[[1]]", STEPS);
            give(f, k, 0, TG_ATTR_KIND_SHAPES, "[[2]]", STEPS);
            give(f, k, 0, TG_ATTR_KIND_TYPES, k ? "[\"int\"]" : "[\"float\"]", 2 * STEPS);
        }
        shard(f, side, 0)->rows[0].attrs_capped = true;
        compare(f);
        const struct tg_op *x = find(f, "x");
        assert_int_equal(x->attr[TG_ATTR_KIND_SHAPES].what, TG_ATTR_CUT);
        assert_int_equal(x->attr[TG_ATTR_KIND_SHAPES].sides, side ? FRESH : BASE);
        assert_int_equal(x->attr[TG_ATTR_KIND_TYPES].what, TG_ATTR_COMPARED);
        assert_int_equal(x->n_attrs, 1);
    }
}

BY_HAND(reasons_in_words)
{
    static const struct {
        struct tg_attr_state state;
        const char *text;
    } cases[] = {
        { { TG_ATTR_COMPARED, 0 }, NULL },
        { { TG_ATTR_NONE, 0 }, "no input types" },
        { { TG_ATTR_LACKS, FRESH }, "input types are not in every run of the fresh traces" },
        { { TG_ATTR_CUT, BASE }, "more input types than a summary keeps, in the baseline" },
        { { TG_ATTR_VARIES, BOTH_SIDES },
          "input types differ between runs, steps or ranks of both sides" },
        { { TG_ATTR_OTHER_COUNT, 0 }, "the input types are those of more or fewer calls" },
        { { TG_ATTR_OTHER_DEVICE, 0 }, "input types of different devices" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_op op = { .kind = TG_KIND_OP };
        op.attr[TG_ATTR_KIND_TYPES] = cases[i].state;
        const char *text = tg_attr_state_text(&op, TG_ATTR_KIND_TYPES, f->a);
        assert_int_equal(!text, !cases[i].text);
        if (text)
            assert_string_equal(text, cases[i].text);
    }
}

/* Another device has other launches by nature, but not other shapes. */
BY_HAND(launches_of_another_device)
{
    for (int other = 0; other < 2; other++)
        for (int kernel = 0; kernel < 2; kernel++) {
            start(f, 1, kernel ? TG_KIND_KERNEL : TG_KIND_OP, 1);
            for (int side = 0; side < 2; side++) {
                give(f, side, 0, TG_ATTR_KIND_LAUNCH, side ? "registers=64" : "registers=32",
                     STEPS);
                set_env(f, shard(f, side, 0), "device", other && side ? "H100" : "A100");
            }
            compare(f);
            assert_int_equal(find(f, "x")->n_attrs, !(other && kernel));
        }
}
