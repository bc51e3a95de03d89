#include "core/base/hash.h"
#include "core/metric/measure.h"

/*
 * First match decides; texts are lower case and occur anywhere in the lower-cased name. The order
 * matters: collectives before the plain words ("reduce", "copy") that their names contain. Names
 * come from NCCL, RCCL, MSCCL, vLLM, sglang, DeepEP, NVSHMEM, MORI, FlashInfer, ATen, Inductor,
 * cuBLAS(Lt), CUTLASS, cuDNN, MIOpen, Tensile, composable kernel and MTIA traces.
 */
static const struct {
    const char *text;
    enum tg_class class_;
} table[] = {
    { "nccl", TG_CLASS_COMM },
    { "rccl", TG_CLASS_COMM },
    { "msccl", TG_CLASS_COMM },
    { "hccl", TG_CLASS_COMM },
    { "oneccl", TG_CLASS_COMM },
    { "cross_device_reduce", TG_CLASS_COMM },
    { "deep_ep", TG_CLASS_COMM },
    { "ep::internode", TG_CLASS_COMM },
    { "ep::intranode", TG_CLASS_COMM },
    { "internode_ll::", TG_CLASS_COMM },
    { "nvshmem", TG_CLASS_COMM },
    { "rocshmem", TG_CLASS_COMM },
    { "mori::", TG_CLASS_COMM },
    { "epdispatch", TG_CLASS_COMM },
    { "epcombine", TG_CLASS_COMM },
    { "symm_mem", TG_CLASS_COMM },
    { "multimem_all", TG_CLASS_COMM },
    { "all_reduce", TG_CLASS_COMM },
    { "allreduce", TG_CLASS_COMM },
    { "all_gather", TG_CLASS_COMM },
    { "allgather", TG_CLASS_COMM },
    { "reduce_scatter", TG_CLASS_COMM },
    { "reducescatter", TG_CLASS_COMM },
    { "all_to_all", TG_CLASS_COMM },
    { "alltoall", TG_CLASS_COMM },
    { "sendrecv", TG_CLASS_COMM },
    { "two_shot_all", TG_CLASS_COMM },
    { "one_shot_all", TG_CLASS_COMM },

    { "amd_rocclr_copybuffer", TG_CLASS_MEMORY },
    { "amd_rocclr_fillbuffer", TG_CLASS_MEMORY },
    { "memcpy", TG_CLASS_MEMORY },
    { "memset", TG_CLASS_MEMORY },
    { "dma_request", TG_CLASS_MEMORY },

    { "event_record", TG_CLASS_OTHER },
    { "event_wait", TG_CLASS_OTHER },

    { "at::native", TG_CLASS_COMPUTE },
    { "at::", TG_CLASS_COMPUTE },
    { "multi_tensor", TG_CLASS_COMPUTE },
    { "matmul", TG_CLASS_COMPUTE },
    { "bmm_", TG_CLASS_COMPUTE },
    { "act_and_mul", TG_CLASS_COMPUTE },
    { "kvcache", TG_CLASS_COMPUTE },
    { "kv_cache", TG_CLASS_COMPUTE },
    { "subtensorop", TG_CLASS_COMPUTE },
    { "im2d2col", TG_CLASS_COMPUTE },
    { "index", TG_CLASS_COMPUTE },
    { "indices", TG_CLASS_COMPUTE },
    { "criterion", TG_CLASS_COMPUTE },
    { "gemm", TG_CLASS_COMPUTE },
    { "gemv", TG_CLASS_COMPUTE },
    { "splitk", TG_CLASS_COMPUTE },
    { "cijk_", TG_CLASS_COMPUTE },
    { "cutlass", TG_CLASS_COMPUTE },
    { "cublas", TG_CLASS_COMPUTE },
    { "cudnn", TG_CLASS_COMPUTE },
    { "miopen", TG_CLASS_COMPUTE },
    { "ck::", TG_CLASS_COMPUTE },
    { "ck_tile", TG_CLASS_COMPUTE },
    { "nvjet", TG_CLASS_COMPUTE },
    { "conv", TG_CLASS_COMPUTE },
    { "wgrad", TG_CLASS_COMPUTE },
    { "dgrad", TG_CLASS_COMPUTE },
    { "triton", TG_CLASS_COMPUTE },
    { "flash", TG_CLASS_COMPUTE },
    { "fmha", TG_CLASS_COMPUTE },
    { "attention", TG_CLASS_COMPUTE },
    { "attn", TG_CLASS_COMPUTE },
    { "softmax", TG_CLASS_COMPUTE },
    { "elementwise", TG_CLASS_COMPUTE },
    { "reduce", TG_CLASS_COMPUTE },
    { "norm", TG_CLASS_COMPUTE },
    { "embedding", TG_CLASS_COMPUTE },
    { "rotary", TG_CLASS_COMPUTE },
    { "moe", TG_CLASS_COMPUTE },
    { "topk", TG_CLASS_COMPUTE },
    { "sort", TG_CLASS_COMPUTE },
    { "scan", TG_CLASS_COMPUTE },
    { "pool", TG_CLASS_COMPUTE },
    { "quant", TG_CLASS_COMPUTE },
    { "transpose", TG_CLASS_COMPUTE },
    { "cub::", TG_CLASS_COMPUTE },
    { "thrust", TG_CLASS_COMPUTE },
    { "scatter", TG_CLASS_COMPUTE },
    { "gather", TG_CLASS_COMPUTE },
    { "aiter::", TG_CLASS_COMPUTE },
    { "vllm::", TG_CLASS_COMPUTE },
    { "pe_exe", TG_CLASS_COMPUTE },
};
#define N_ROWS (sizeof table / sizeof *table)

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Is the lower-case `text` anywhere in `s`, whatever its case? */
static bool has(tg_sv s, const char *text)
{
    for (size_t i = 0; i < s.n; i++) {
        size_t k = 0;
        while (text[k] && i + k < s.n && lower(s.p[i + k]) == text[k])
            k++;
        if (!text[k])
            return true;
    }
    return false;
}

enum tg_class tg_class_of(enum tg_kind kind, tg_sv name, bool *fallback)
{
    if (fallback)
        *fallback = false;
    if (kind == TG_KIND_MEMCPY || kind == TG_KIND_MEMSET)
        return TG_CLASS_MEMORY;
    if (kind != TG_KIND_KERNEL)
        return TG_CLASS_OTHER;
    for (size_t i = 0; i < N_ROWS; i++)
        if (has(name, table[i].text))
            return table[i].class_;
    if (fallback)
        *fallback = true;
    return TG_CLASS_COMPUTE;
}

const char *tg_class_name(enum tg_class c)
{
    static const char *const names[] = { "compute", "comm", "memory", "other" };
    return names[c];
}

uint64_t tg_class_table_hash(void)
{
    uint64_t h = 1;
    for (size_t i = 0; i < N_ROWS; i++)
        h = tg_hash(tg_sv_of(table[i].text), h * 4 + (uint64_t)table[i].class_);
    return h;
}
