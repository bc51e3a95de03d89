#include "core/trace/kind.h"
#include "tests/support.h"

/* Categories and names as they stand in real traces of both generations (HTA_SEMANTICS 13). */
TEST(category_decides_first)
{
    static const struct {
        const char *cat, *name;
        enum tg_kind kind;
    } cases[] = {
        { "cpu_op", "aten::mm", TG_KIND_OP },
        { "Operator", "aten::mm", TG_KIND_OP },
        { "cpu_op", "cudaDeviceSynchronize", TG_KIND_OP },
        { "cuda_runtime", "cudaLaunchKernel", TG_KIND_RUNTIME },
        { "Runtime", "cudaLaunchKernel", TG_KIND_RUNTIME },
        { "cuda_driver", "cuLaunchKernelEx", TG_KIND_RUNTIME },
        { "cuda_runtime", "hipExtModuleLaunchKernel", TG_KIND_RUNTIME },
        { "cuda_runtime", "cudaStreamSynchronize", TG_KIND_SYNC },
        { "cuda_runtime", "hipDeviceSynchronize", TG_KIND_SYNC },
        { "cuda_runtime", "cudaStreamSynchronize_ptsz", TG_KIND_SYNC },
        { "cuda_runtime", "cudaStreamWaitEvent", TG_KIND_RUNTIME },
        { "cuda_runtime", "cudaGraphLaunch", TG_KIND_GRAPH },
        { "cuda_runtime", "hipGraphLaunch", TG_KIND_GRAPH },
        { "cuda_driver", "cuGraphLaunch", TG_KIND_GRAPH },
        { "cuda_runtime", "cudaGraphInstantiate", TG_KIND_RUNTIME },
        { "mtia_runtime", "synchronizeStream", TG_KIND_SYNC },
        { "mtia_ccp_events", "pe_exe", TG_KIND_KERNEL },
        { "kernel", "SyncBatchNorm_Synchronize", TG_KIND_KERNEL },
        { "Kernel", "x", TG_KIND_KERNEL },
        { "gpu_memcpy", "Memcpy HtoD", TG_KIND_MEMCPY },
        { "Memcpy", "Memcpy HtoD", TG_KIND_MEMCPY },
        { "gpu_memset", "Memset (Device)", TG_KIND_MEMSET },
        { "cuda_sync", "Stream Sync", TG_KIND_DEVICE_SYNC },
        { "user_annotation", "forward", TG_KIND_ANNOTATION },
        { "user_annotation", "ProfilerStep#7", TG_KIND_STEP },
        { "cpu_op", "ProfilerStep#12", TG_KIND_STEP },
        { "Operator", "ProfilerStep# 12", TG_KIND_STEP },
        { "user_annotation", "ProfilerStep#7x", TG_KIND_ANNOTATION },
        { "user_annotation", "ProfilerStep", TG_KIND_ANNOTATION },
        { "gpu_user_annotation", "ProfilerStep#7", TG_KIND_DEVICE_ANNOTATION },
        { "python_function", "ProfilerStep#7", TG_KIND_PYTHON },
        { "overhead", "Activity Buffer Request", TG_KIND_OVERHEAD },
        { "Trace", "PyTorch Profiler (0)", TG_KIND_OTHER },
        { "", "", TG_KIND_OTHER },
        { "kernels", "x", TG_KIND_OTHER },
        /* Kineto's categories of 2025 and 2026. */
        { "hpu_op", "gemm", TG_KIND_RUNTIME },
        { "hpu_op", "hpuStreamSynchronize", TG_KIND_SYNC },
        { "glow_runtime", "run", TG_KIND_RUNTIME },
        { "collective_comm", "allreduce", TG_KIND_KERNEL },
        { "cuda_event", "Event Record", TG_KIND_DEVICE_SYNC },
        { "xpu_sync", "Stream Sync", TG_KIND_DEVICE_SYNC },
        { "mtia_insight", "x", TG_KIND_OTHER },
        { "hardware_counters", "x", TG_KIND_OTHER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tg_kind_of(tg_sv_of(cases[i].cat), tg_sv_of(cases[i].name)) != cases[i].kind)
            fail_msg("%s/%s is not %s", cases[i].cat, cases[i].name, tg_kind_name(cases[i].kind));
}

TEST(names_of_kinds_read_back)
{
    enum tg_kind k;
    for (int i = 0; i < TG_KINDS; i++) {
        assert_true(tg_kind_from_name(tg_sv_of(tg_kind_name((enum tg_kind)i)), &k));
        assert_int_equal(k, i);
    }
    assert_false(tg_kind_from_name(TG_SV("kernels"), &k));
    assert_false(tg_kind_from_name(TG_SV(""), &k));
}

TEST(step_numbers)
{
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep#0")), 0);
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep#1009")), 1009);
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep#-1")), -1);
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep#")), -1);
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep*")), -1);
    assert_int_equal(tg_step_number(TG_SV("ProfilerStep#99999999999999999999")), -1);
}

TEST(polling)
{
    assert_true(tg_is_polling(TG_SV("cudaEventQuery")));
    assert_true(tg_is_polling(TG_SV("hipStreamIsCapturing")));
    assert_true(tg_is_polling(TG_SV("cudaStreamGetCaptureInfo_v2")));
    assert_false(tg_is_polling(TG_SV("cudaEventRecord")));
    assert_false(tg_is_polling(TG_SV("cudaStreamWaitEvent")));
}
