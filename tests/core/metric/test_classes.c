#include "tests/support.h"

#include "core/metric/classes.h"

/* Names as real traces have them; the class is what the kernel does, by its documentation. */
TEST(kernels_are_classified_by_name)
{
    static const struct {
        const char *name;
        enum tg_class want;
        bool fallback;
    } cases[] = {
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
          TG_CLASS_COMM, false },
        { "ncclKernel_AllGather_RING_LL_Sum_int8_t(ncclWorkElem)", TG_CLASS_COMM, false },
        { "NCCLKERNEL_upper", TG_CLASS_COMM, false },
        { "mscclKernel_Sum_float_LL_false", TG_CLASS_COMM, false },
        { "void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>(vllm::RankData*)", TG_CLASS_COMM,
          false },
        { "void deep_ep::intranode::dispatch<8, 768>(int4*, float*)", TG_CLASS_COMM, false },
        { "deep_ep::internode_ll::combine", TG_CLASS_COMM, false },
        { "void mori::moe::EpDispatchIntraNodeKernel<bf16>", TG_CLASS_COMM, false },
        { "one_shot_all_reduce_kernel", TG_CLASS_COMM, false },
        { "all-reduce-start.3", TG_CLASS_COMM, false },
        { "collective-permute-done.1", TG_CLASS_COMM, false },
        { "reduce-scatter.2", TG_CLASS_COMM, false },
        { "reduce.2", TG_CLASS_COMPUTE, false },
        { "loop_add_fusion_3", TG_CLASS_COMPUTE, false },
        { "__amd_rocclr_copyBuffer", TG_CLASS_MEMORY, false },
        { "__amd_rocclr_fillBufferAligned", TG_CLASS_MEMORY, false },
        /* HTA calls these two OTHER and COMMUNICATION (bug C). */
        { "at::native::batch_norm_collect_statistics_SyncBatchNorm", TG_CLASS_COMPUTE, false },
        { "hip_gemm_kernel", TG_CLASS_COMPUTE, false },
        { "void at::native::reduce_kernel<512, 1>", TG_CLASS_COMPUTE, false },
        { "triton_poi_fused_add_0", TG_CLASS_COMPUTE, false },
        { "Cijk_Ailk_Bjlk_BBS_BH_MT128", TG_CLASS_COMPUTE, false },
        { "my_secret_kernel(float*)", TG_CLASS_COMPUTE, true },
        { "", TG_CLASS_COMPUTE, true },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fallback;
        enum tg_class got = tg_class_of(NULL, TG_KIND_KERNEL, tg_sv_of(cases[i].name), &fallback);
        if (got != cases[i].want || fallback != cases[i].fallback)
            fail_msg("%s: %s%s", cases[i].name, tg_class_name(got), fallback ? " (fallback)" : "");
    }
}

TEST(the_category_comes_first)
{
    assert_int_equal(tg_class_of(NULL, TG_KIND_MEMCPY, TG_SV("nccl copy"), NULL), TG_CLASS_MEMORY);
    assert_int_equal(tg_class_of(NULL, TG_KIND_MEMSET, TG_SV("Memset"), NULL), TG_CLASS_MEMORY);
    assert_int_equal(tg_class_of(NULL, TG_KIND_OP, TG_SV("nccl:all_reduce"), NULL), TG_CLASS_OTHER);
    assert_int_equal(tg_class_of(NULL, TG_KIND_DEVICE_SYNC, TG_SV("Event Sync"), NULL),
                     TG_CLASS_OTHER);
    assert_string_equal(tg_class_name(TG_CLASS_COMM), "comm");
    assert_true(tg_class_table_hash(NULL) != 0);
}

/* The user's rows come first, in their order, for all device work and for nothing else. */
TEST(rows_of_the_user_come_first)
{
    const struct tg_class_row v[] = { { TG_SV("*fused_MM_then_*"), TG_CLASS_COMM },
                                      { TG_SV("*fused_mm*"), TG_CLASS_OTHER },
                                      { TG_SV("memcpy ptop*"), TG_CLASS_COMM },
                                      { TG_SV("nccl?bench"), TG_CLASS_COMPUTE } };
    const struct tg_classes extra = { v, 4 };
    static const struct {
        enum tg_kind kind;
        const char *name;
        enum tg_class want;
        bool fallback;
    } cases[] = {
        { TG_KIND_KERNEL, "Fused_mm_THEN_gather", TG_CLASS_COMM, false },
        { TG_KIND_KERNEL, "fused_mm", TG_CLASS_OTHER, false },
        { TG_KIND_MEMCPY, "Memcpy PtoP (Device -> Device)", TG_CLASS_COMM, false },
        { TG_KIND_MEMCPY, "Memcpy HtoD", TG_CLASS_MEMORY, false },
        { TG_KIND_KERNEL, "nccl_bench", TG_CLASS_COMPUTE, false },
        { TG_KIND_KERNEL, "nccl__bench", TG_CLASS_COMM, false }, /* '?' is one byte */
        { TG_KIND_KERNEL, "my_kernel", TG_CLASS_COMPUTE, true },
        { TG_KIND_OP, "fused_mm", TG_CLASS_OTHER, false },
        { TG_KIND_OP, "nccl_bench", TG_CLASS_OTHER, false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fallback;
        enum tg_class got = tg_class_of(&extra, cases[i].kind, tg_sv_of(cases[i].name), &fallback);
        if (got != cases[i].want || fallback != cases[i].fallback)
            fail_msg("%s: %s%s", cases[i].name, tg_class_name(got), fallback ? " (fallback)" : "");
    }
}

TEST(every_row_is_part_of_the_version)
{
    const struct tg_class_row v[] = { { TG_SV("a"), TG_CLASS_COMM },
                                      { TG_SV("b"), TG_CLASS_COMM },
                                      { TG_SV("a"), TG_CLASS_COMM },
                                      { TG_SV("a"), TG_CLASS_OTHER } };
    struct tg_classes none = { NULL, 0 }, ab = { v, 2 }, ba = { v + 1, 2 }, b = { v + 1, 1 };
    struct tg_classes a = { v, 1 }, a_other = { v + 3, 1 };
    assert_true(tg_class_table_hash(&none) == tg_class_table_hash(NULL));
    assert_true(tg_class_table_hash(&ab) != tg_class_table_hash(NULL));
    assert_true(tg_class_table_hash(&ab) != tg_class_table_hash(&ba));
    assert_true(tg_class_table_hash(&ab) != tg_class_table_hash(&b));
    assert_true(tg_class_table_hash(&a) != tg_class_table_hash(&a_other));
}

TEST(a_table_is_read_from_text)
{
    TG_ARENA *arena = tg_arena_new();
    struct tg_classes c;
    struct tg_err err = TG_ERR_INIT;
    assert_true(tg_classes_parse(&c, TG_SV("# ours\n\n comm \t void my::all<int> (x)* \r\nother x"),
                                 "f", arena, &err));
    assert_int_equal(c.n, 2);
    assert_sv_equal(c.v[0].glob, TG_SV("void my::all<int> (x)*"));
    assert_int_equal(c.v[0].class_, TG_CLASS_COMM);
    assert_sv_equal(c.v[1].glob, TG_SV("x"));
    assert_int_equal(c.v[1].class_, TG_CLASS_OTHER);
    assert_true(tg_classes_parse(&c, TG_SV(""), "f", arena, &err) && c.n == 0);
}

TEST(a_bad_table_is_refused_with_its_place)
{
    const struct {
        tg_sv text;
        uint32_t line, col;
        const char *message, *hint;
    } cases[] = {
        { TG_SV("comm a\n  comn b\n"), 2, 3, "'comn' is not a class", "Did you mean comm?" },
        { TG_SV("x=comm"), 1, 1, "'x=comm' is not a class", "CLASS GLOB" },
        { TG_SV("\n\nmemory \n"), 3, 7, "class 'memory' has no names", "CLASS GLOB" },
        { TG_SV("Comm x"), 1, 1, "'Comm' is not a class", "comm, memory" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TG_ARENA *arena = tg_arena_new();
        struct tg_classes c;
        struct tg_err err = TG_ERR_INIT;
        assert_false(tg_classes_parse(&c, cases[i].text, "f.txt", arena, &err));
        assert_int_equal(err.kind, TG_ERR_USAGE);
        assert_string_equal(err.file, "f.txt");
        assert_int_equal(err.line, cases[i].line);
        assert_int_equal(err.col, cases[i].col);
        assert_string_equal(err.message, cases[i].message);
        if (!strstr(err.hint, cases[i].hint))
            fail_msg("hint '%s' lacks '%s'", err.hint, cases[i].hint);
    }
}
