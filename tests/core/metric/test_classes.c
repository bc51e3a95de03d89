#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "core/metric/measure.h"

/* Names as real traces have them; the class is what the kernel does, by its documentation. */
static void kernels_are_classified_by_name(void **state)
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
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool fallback;
        enum tg_class got = tg_class_of(TG_KIND_KERNEL, tg_sv_of(cases[i].name), &fallback);
        if (got != cases[i].want || fallback != cases[i].fallback)
            fail_msg("%s: %s%s", cases[i].name, tg_class_name(got), fallback ? " (fallback)" : "");
    }
}

static void the_category_comes_first(void **state)
{
    (void)state;
    assert_int_equal(tg_class_of(TG_KIND_MEMCPY, TG_SV("nccl copy"), NULL), TG_CLASS_MEMORY);
    assert_int_equal(tg_class_of(TG_KIND_MEMSET, TG_SV("Memset"), NULL), TG_CLASS_MEMORY);
    assert_int_equal(tg_class_of(TG_KIND_OP, TG_SV("nccl:all_reduce"), NULL), TG_CLASS_OTHER);
    assert_int_equal(tg_class_of(TG_KIND_DEVICE_SYNC, TG_SV("Event Sync"), NULL), TG_CLASS_OTHER);
    assert_string_equal(tg_class_name(TG_CLASS_COMM), "comm");
    assert_true(tg_class_table_hash() != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_are_classified_by_name),
        cmocka_unit_test(the_category_comes_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
