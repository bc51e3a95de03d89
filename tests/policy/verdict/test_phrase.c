/* Numbers in sentences (phrase.c). */
#include "by_hand.h"
#include "policy/verdict/internal.h"

TEST(values_have_their_unit)
{
    static const struct {
        double v;
        enum tg_unit unit;
        const char *want;
    } rows[] = {
        { 3, TG_UNIT_COUNT, "3" },
        { 2.5, TG_UNIT_COUNT, "2.50" },
        { -3, TG_UNIT_COUNT, "-3" },
        { 0, TG_UNIT_ATTR, "0" },
        { 1500, TG_UNIT_NS, "1.50 us" },
        { 12.34, TG_UNIT_PERCENT, "12.3 %" },
        { 1.234, TG_UNIT_RATE, "1.23 GB/s" },
        { 1023, TG_UNIT_BYTES, "1023 B" },
        { 1024, TG_UNIT_BYTES, "1.0 KiB" },
        { -1536, TG_UNIT_BYTES, "-1.5 KiB" },
        { 1048576, TG_UNIT_BYTES, "1.0 MiB" },
        { 1099511627776.0, TG_UNIT_BYTES, "1.0 TiB" },
        { 1125899906842624.0, TG_UNIT_BYTES, "1024.0 TiB" }, /* the largest unit */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(TG_VALUE(rows[i].v, rows[i].unit), rows[i].want);
    }
}

TEST(changes_have_a_sign)
{
    static const struct {
        double v;
        const char *change, *pct;
    } rows[] = { { 3, "+3", "+3.0 %" },
                 { 0, "+0", "+0.0 %" },
                 { -3, "-3", "-3.0 %" },
                 { 10, "+10", "+10 %" },
                 { -10, "-10", "-10 %" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(TG_SIGNED(rows[i].v, TG_UNIT_COUNT), rows[i].change);
        assert_string_equal(TG_PCT(rows[i].v), rows[i].pct);
    }
}

/* What the one bound of a budget reads as. */
WITH_HAND(a_budget_in_words)
{
    struct tg_buf b = { 0 };
    tg_phrase_budget(&b, &(struct tg_bound){ .kind = TG_BOUND_MAX, .text = TG_SV("52") });
    tg_buf_puts(&b, ", ");
    tg_phrase_budget(&b, &(struct tg_bound){ .kind = TG_BOUND_MIN, .text = TG_SV("3us") });
    hand_text(tg_phrase_take(&b, h->a), "over the limit of 52, under the limit of 3 us");
}

/* Only where some of the calls stay as they were. */
WITH_HAND(a_part_of_the_calls)
{
    static const struct {
        double part, all;
        const char *want;
    } rows[] = { { 12, 27, "12 of 27 calls of " },
                 { 0.5, 1, "0.50 of 1 calls of " },
                 { 12, 12.4, "" },
                 { 12, 12, "" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_buf b = { 0 };
        tg_phrase_part(&b, rows[i].part, rows[i].all);
        hand_text(tg_phrase_take(&b, h->a), rows[i].want);
    }
}

/* In one unit, and told apart; of what is far apart, or no time, as it is alone. */
TEST(a_time_beside_another_one)
{
    static const struct {
        double v, other;
        const char *want;
    } rows[] = {
        { 980e3, 1030e3, "0.980 ms" },  { 1030e3, 980e3, "1.030 ms" },
        { 1031e3, 1034e3, "1.031 ms" }, { 1030e3, 1030e3, "1.03 ms" },
        { 3200, 19200, "3.20 us" },     { 8000, 1030e3, "8.00 us" },
        { 250, 900, "250 ns" },         { 2.5e9, 2.6e9, "2.50 s" },
        { 120e6, 121e6, "120 ms" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(TG_BESIDE(rows[i].v, rows[i].other, TG_UNIT_NS), rows[i].want);
    assert_string_equal(TG_BESIDE(3, 4, TG_UNIT_COUNT), "3");
}

/* As libraries name their kernels; a name that says nothing has no type. */
TEST(the_data_type_of_a_kernel)
{
    static const char *const rows[][2] = {
        { "ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_64x4_tn", "fp16" },
        { "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", "bf16" },
        { "ampere_sgemm_128x64_tn", "fp32" },
        { "volta_dgemm_64x64_nn", "fp64" },
        { "sm80_xmma_gemm_f32f32_tf32f32_f32_tn_n", "tf32" },
        { "cutlass_80_tensorop_f16_s16816gemm_f16_256x128", "fp16" },
        { "void kern<c10::Half>(int)", "fp16" },
        { "void kern<c10::BFloat16>(float)", "bf16" },
        { "void kern<float>(int)", "fp32" },
        { "flash_fwd_kernel", NULL },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = tg_phrase_type(tg_sv_of(rows[i][0]));
        if (!got != !rows[i][1] || (got && strcmp(got, rows[i][1]) != 0))
            fail_msg("%s: %s", rows[i][0], got ? got : "no type");
    }
}

/* Names of a replacement but one, the one that changed most first: two, and how many more. */
WITH_HAND(what_else_came)
{
    static const struct {
        int but;
        size_t n;
        const char *want;
    } rows[] = {
        { -1, 4, "a, b and 2 more" },
        { 0, 3, "b, c, d" }, /* one more is written */
        { 1, 3, "a, c, d" },
        { 2, 3, "a, b, d" },
    };
    struct tg_region region = { .calls = { 1, 4 } };
    struct tg_op ops[4];
    hand_ops(h, ops, 4);
    h->c.regions = &region;
    h->c.n_regions = 1;
    for (int i = 0; i < 4; i++) {
        ops[i] = hand_op((const char *const[]){ "a", "b", "c", "d" }[i], TG_KIND_KERNEL);
        ops[i].change = TG_ADDED;
        ops[i].region = 0;
        ops[i].self[TG_TEST] = 10 - i;
    }
    hand_regions(h);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_buf b = { 0 };
        const struct tg_op *but = rows[i].but < 0 ? NULL : &ops[rows[i].but];
        assert_int_equal(tg_phrase_region(&b, &h->c, 0, TG_TEST, but), rows[i].n);
        hand_text(tg_phrase_take(&b, h->a), rows[i].want);
    }
}
