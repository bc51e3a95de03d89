#include "core/metric/classes.h"

#include "core/base/hash.h"

#include <string.h>

/*
 * The built-in table. First match decides; texts are lower case and occur anywhere in the
 * lower-cased name. The order matters: collectives before the plain words ("reduce", "copy")
 * that their names contain. The names come from NCCL, RCCL, MSCCL, vLLM, sglang, DeepEP,
 * NVSHMEM, MORI, FlashInfer, XLA, ATen, Inductor, cuBLAS(Lt), CUTLASS, cuDNN, MIOpen, Tensile,
 * composable kernel and MTIA traces.
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
    { "all-reduce", TG_CLASS_COMM }, /* XLA: "all-reduce-start.3" */
    { "all-gather", TG_CLASS_COMM },
    { "reduce-scatter", TG_CLASS_COMM },
    { "all-to-all", TG_CLASS_COMM },
    { "collective-permute", TG_CLASS_COMM },
    { "collective_permute", TG_CLASS_COMM },
    { "collective-broadcast", TG_CLASS_COMM },
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
    { "fusion", TG_CLASS_COMPUTE },
};
#define N_ROWS (sizeof table / sizeof *table)

/*
 * The table's rows by the hash of their first two letters, so that a name is searched once for all
 * of them. Rows count from 1, in a chain from the first row to the last; 0 ends it. Rebuilt for
 * every name: that costs less than searching a short name.
 */
struct rows {
    unsigned char first[1024];
    unsigned char next[N_ROWS + 1];
};
_Static_assert(N_ROWS < 256, "a row's number is a byte");

static unsigned pair_hash(char a, char b)
{
    return ((unsigned char)a * 37u + (unsigned char)b) % 1024;
}

/* Does `s` begin with the lower-case `text`, ignoring case? */
static bool begins(tg_sv s, const char *text)
{
    size_t k = 0;
    while (text[k] && k < s.n && tg_lower(s.p[k]) == text[k])
        k++;
    return !text[k];
}

/* The first row whose text is anywhere in `name`, ignoring case; N_ROWS if there is none. */
static size_t first_row(tg_sv name)
{
    struct rows rows;
    size_t best = N_ROWS;
    char c = name.n ? tg_lower(name.p[0]) : 0;
    memset(rows.first, 0, sizeof rows.first);
    for (size_t i = N_ROWS; i > 0; i--) {
        unsigned char *first = &rows.first[pair_hash(table[i - 1].text[0], table[i - 1].text[1])];
        rows.next[i] = *first;
        *first = (unsigned char)i;
    }
    for (size_t i = 1; i < name.n; i++) {
        char d = tg_lower(name.p[i]);
        size_t r = rows.first[pair_hash(c, d)];
        for (; r && r <= best; r = rows.next[r])
            if (begins((tg_sv){ name.p + i - 1, name.n - i + 1 }, table[r - 1].text))
                best = r - 1;
        c = d;
    }
    return best;
}

enum tg_class tg_class_of(const struct tg_classes *extra, enum tg_kind kind, tg_sv name,
                          bool *fallback)
{
    if (fallback)
        *fallback = false;
    if (!tg_kind_is_device(kind))
        return TG_CLASS_OTHER;
    for (size_t i = 0; extra && i < extra->n; i++)
        if (tg_sv_glob_any_case(extra->v[i].glob, name))
            return extra->v[i].class_;
    if (kind != TG_KIND_KERNEL)
        return TG_CLASS_MEMORY;
    size_t row = first_row(name);
    if (row < N_ROWS)
        return table[row].class_;
    if (fallback)
        *fallback = true;
    return TG_CLASS_COMPUTE;
}

struct tg_name_class *tg_classes_of(const struct tg_classes *extra, const struct tg_names *names)
{
    struct tg_name_class *c = tg_xrealloc(NULL, names->n + 1, sizeof *c);
    for (size_t i = 0; i < names->n; i++) {
        const struct tg_name *n = &names->v[i];
        c[i].class_ = (unsigned char)tg_class_of(extra, n->kind, n->name, &c[i].fallback);
    }
    return c;
}

static const char *const class_names[] = { "compute", "comm", "memory", "other", NULL };

const char *tg_class_name(enum tg_class c)
{
    return class_names[c];
}

bool tg_class_from_name(tg_sv name, enum tg_class *out)
{
    for (int c = 0; class_names[c]; c++)
        if (tg_sv_eq(name, tg_sv_of(class_names[c]))) {
            *out = (enum tg_class)c;
            return true;
        }
    return false;
}

uint64_t tg_class_table_hash(const struct tg_classes *extra)
{
    uint64_t h = 1;
    for (size_t i = 0; i < N_ROWS; i++)
        h = tg_hash(tg_sv_of(table[i].text), h * (uint64_t)TG_CLASSES + (uint64_t)table[i].class_);
    for (size_t i = 0; extra && i < extra->n; i++)
        h = tg_hash(extra->v[i].glob, h * (uint64_t)TG_CLASSES + (uint64_t)extra->v[i].class_);
    return h;
}

/* ---- a table as text ---- */

static bool parse_row(struct tg_class_row *out, tg_sv line, struct tg_loc at, struct tg_err *err)
{
    tg_sv word = line;
    while (word.n && !tg_is_blank(*word.p))
        word = tg_sv_from(word, 1);
    out->glob = tg_sv_trim(word);
    word = (tg_sv){ line.p, line.n - word.n };
    if (!tg_class_from_name(word, &out->class_)) {
        const char *meant = tg_sv_nearest(word, class_names);
        tg_err_set(err, TG_ERR_USAGE, at, "'%.*s' is not a class", TG_SV_ARG(word));
        return tg_err_hint(err,
                           "%s%s%sA line is CLASS GLOB, for example: comm *my_allreduce*; the "
                           "classes are compute, comm, memory and other.",
                           meant ? "Did you mean " : "", meant ? meant : "", meant ? "? " : "");
    }
    if (out->glob.n)
        return true;
    at.col += (uint32_t)word.n;
    tg_err_set(err, TG_ERR_USAGE, at, "class '%.*s' has no names", TG_SV_ARG(word));
    return tg_err_hint(err, "A line is CLASS GLOB, for example: comm *my_allreduce*.");
}

bool tg_classes_parse(struct tg_classes *out, tg_sv text, const char *file, struct tg_arena *a,
                      struct tg_err *err)
{
    size_t n = 1;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    struct tg_class_row *rows = TG_NEW_N(a, struct tg_class_row, n);
    *out = (struct tg_classes){ rows, 0 };
    for (uint32_t number = 1; text.n; number++) {
        tg_sv line = tg_sv_cut(&text, '\n'), row = tg_sv_trim(line);
        struct tg_loc at = { file, number, (uint32_t)(row.p - line.p) + 1, TG_NO_OFFSET };
        if (!row.n || *row.p == '#')
            continue;
        if (!parse_row(&rows[out->n], row, at, err))
            return false;
        rows[out->n].glob = tg_arena_sv(a, rows[out->n].glob);
        out->n++;
    }
    return true;
}
