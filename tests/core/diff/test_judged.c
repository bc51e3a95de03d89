/* Whose durations are judged, and why others are not (judged.c). */
#include "by_hand.h"

BY_HAND(every_reason_has_words_of_its_own)
{
    assert_null(tg_judged_text(TG_JUDGED));
    for (enum tg_judged j = TG_JUDGED + 1; j <= TG_NOT_OTHER_DATA; j++)
        for (enum tg_judged k = TG_JUDGED + 1; k < j; k++)
            assert_string_not_equal(tg_judged_text(j), tg_judged_text(k));
}

/* A step time that is 0 or 1 run a side: the reason that holds for all is told for all. */
BY_HAND(reasons_that_hold_for_all)
{
    for (size_t runs = 2; runs <= 3; runs++) {
        make(f, runs, 3, 3);
        add_all(f, TG_BASE, TG_KIND_OP, "x", "", 1, 10001);
        add_all(f, TG_TEST, TG_KIND_OP, "x", "", 1, 20001);
        compare(f);
        assert_int_equal(find(f, "x")->ev.why_not, runs < 3 ? TG_NOT_FEW_RUNS : TG_JUDGED);
        assert_int_equal(find(f, "x")->ev.slower, runs == 3);
    }
    make(f, 3, 3, 3);
    add_all(f, TG_BASE, TG_KIND_OP, "x", "", 1, 10001);
    add_all(f, TG_TEST, TG_KIND_OP, "x", "", 1, 20001);
    shard(f, TG_TEST, 1)->truncated = true;
    compare(f);
    assert_int_equal(find(f, "x")->ev.why_not, TG_NOT_INTEGRITY);
}

BY_HAND(why_one_operator_is_not)
{
    static const struct {
        enum tg_kind kind;
        const char *name;
        uint32_t base[3], test[3];
        enum tg_judged judged;
    } cases[] = {
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 2, 2, 2 }, TG_NOT_COUNT_CHANGED },
        { TG_KIND_OP, "x", { 1, 2, 3 }, { 2, 3, 1 }, TG_NOT_COUNT_VARIES },
        { TG_KIND_OP, "x", { 1, 1, 1 }, { 0, 0, 0 }, TG_NOT_ONE_SIDED },
        { TG_KIND_MEMCPY, "Memcpy HtoD", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_MEMSET, "Memset (Device)", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
        { TG_KIND_SYNC, "cudaStreamSynchronize", { 1, 1, 1 }, { 1, 1, 1 }, TG_NOT_WAIT },
        { TG_KIND_RUNTIME, "cudaEventQuery", { 1, 1, 1 }, { 1, 1, 1 }, TG_NOT_POLLING },
        { TG_KIND_RUNTIME, "cudaMalloc", { 1, 1, 1 }, { 1, 1, 1 }, TG_JUDGED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        make(f, 3, 3, 3);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                const uint32_t *count = side == TG_BASE ? cases[i].base : cases[i].test;
                if (count[0] + count[1] + count[2])
                    add_counts(f, side, run, cases[i].kind, cases[i].name, "", count, 10001);
            }
        compare(f);
        if (find(f, cases[i].name)->ev.why_not != cases[i].judged)
            fail_msg("row %zu: %s", i, tg_judged_text(find(f, cases[i].name)->ev.why_not));
    }
}

BY_HAND(no_steps_and_other_devices)
{
    static const struct tg_kv h100[] = { { { "device", 6 }, { "H100", 4 } } },
                              a100[] = { { { "device", 6 }, { "A100", 4 } } };
    for (int i = 0; i < 3; i++) {
        make(f, 3, 3, 1);
        for (int side = 0; side < 2; side++)
            for (size_t run = 0; run < 3; run++) {
                struct tg_shard *h = shard(f, side, run);
                h->marked = i != 1;
                h->env = (struct tg_kv *)(uintptr_t)(i == 2 && side ? a100 : h100);
                h->n_env = 1;
                add_row(f, side, run, TG_KIND_OP, "x", "", 1, 10001);
            }
        compare(f);
        assert_int_equal(find(f, "x")->ev.why_not, i == 0   ? TG_JUDGED
                                                   : i == 1 ? TG_NOT_NO_STEPS
                                                            : TG_NOT_OTHER_DEVICE);
    }
}
