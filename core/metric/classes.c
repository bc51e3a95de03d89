#include "core/metric/classes.h"

#include "core/base/hash.h"

#include <string.h>

/*
 * The built-in table. First match decides; texts are lower case and occur anywhere in the
 * lower-cased name. The order of the lists matters, too: collectives before the plain words
 * ("reduce", "copy") that their names contain. The names come from NCCL, RCCL, MSCCL, vLLM, sglang,
 * DeepEP, NVSHMEM, MORI, FlashInfer, XLA ("all-reduce-start.3"), ATen, Inductor, cuBLAS(Lt),
 * CUTLASS, cuDNN, MIOpen, Tensile, composable kernel and MTIA traces.
 */
static const char *const comm[] = { "nccl",           "rccl",          "msccl",
                                    "hccl",           "oneccl",        "cross_device_reduce",
                                    "deep_ep",        "ep::internode", "ep::intranode",
                                    "internode_ll::", "nvshmem",       "rocshmem",
                                    "mori::",         "epdispatch",    "epcombine",
                                    "symm_mem",       "multimem_all",  "all_reduce",
                                    "allreduce",      "all_gather",    "allgather",
                                    "reduce_scatter", "reducescatter", "all_to_all",
                                    "alltoall",       "sendrecv" };
static const char *const more_comm[] = { "all-reduce",           "all-gather",
                                         "reduce-scatter",       "all-to-all",
                                         "collective-permute",   "collective_permute",
                                         "collective-broadcast", "two_shot_all",
                                         "one_shot_all" };
static const char *const memory[] = { "amd_rocclr_copybuffer", "amd_rocclr_fillbuffer", "memcpy",
                                      "memset", "dma_request" };
static const char *const other[] = { "event_record", "event_wait" };
static const char *const compute[] = {
    "at::native", "at::",        "multi_tensor", "matmul",  "bmm_",    "act_and_mul", "kvcache",
    "kv_cache",   "subtensorop", "im2d2col",     "index",   "indices", "criterion",   "gemm",
    "gemv",       "splitk",      "cijk_",        "cutlass", "cublas",  "cudnn",       "miopen",
    "ck::",       "ck_tile",     "nvjet",        "conv",    "wgrad",   "dgrad",       "triton",
    "flash",      "fmha",        "attention",    "attn",    "softmax", "elementwise", "reduce",
    "norm",       "embedding",   "rotary",       "moe",     "topk",    "sort",        "scan",
    "pool",       "quant",       "transpose",    "cub::",   "thrust",  "scatter",     "gather",
    "aiter::",    "vllm::",      "pe_exe",       "fusion"
};

#define COUNT(list) (sizeof(list) / sizeof *(list))
#define N_ROWS (COUNT(comm) + COUNT(more_comm) + COUNT(memory) + COUNT(other) + COUNT(compute))

/* Row `i` of all lists. */
static const char *row_at(size_t i, enum tg_class *class_)
{
    static const struct {
        const char *const *v;
        size_t n;
        enum tg_class class_;
    } lists[] = { { comm, COUNT(comm), TG_CLASS_COMM },
                  { more_comm, COUNT(more_comm), TG_CLASS_COMM },
                  { memory, COUNT(memory), TG_CLASS_MEMORY },
                  { other, COUNT(other), TG_CLASS_OTHER },
                  { compute, COUNT(compute), TG_CLASS_COMPUTE } };
    size_t k = 0;
    for (; i >= lists[k].n; k++)
        i -= lists[k].n;
    *class_ = lists[k].class_;
    return lists[k].v[i];
}

/*
 * The table's rows by the hash of their first two letters, so that a name is searched once for all
 * of them. Rows count from 1, in a chain from the first row to the last; 0 ends it. Made for the
 * first name.
 */
struct rows {
    bool made;
    unsigned char first[1024];
    unsigned char next[N_ROWS + 1];
    const char *text[N_ROWS + 1];
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

/* The class of the first row whose text is anywhere in `name`, ignoring case; false: none is. */
static bool find_row(struct rows *rows, tg_sv name, enum tg_class *out)
{
    size_t best = N_ROWS;
    char c = name.n ? tg_lower(name.p[0]) : 0;
    if (!rows->made)
        memset(rows->first, 0, sizeof rows->first);
    for (size_t i = N_ROWS; i > 0 && !rows->made; i--) {
        const char *text = rows->text[i] = row_at(i - 1, out);
        unsigned char *first = &rows->first[pair_hash(text[0], text[1])];
        rows->next[i] = *first;
        *first = (unsigned char)i;
    }
    rows->made = true;
    for (size_t i = 1; i < name.n; i++) {
        char d = tg_lower(name.p[i]);
        size_t r = rows->first[pair_hash(c, d)];
        for (; r && r <= best; r = rows->next[r])
            if (begins((tg_sv){ name.p + i - 1, name.n - i + 1 }, rows->text[r]))
                best = r - 1;
        c = d;
    }
    if (best < N_ROWS)
        (void)row_at(best, out);
    return best < N_ROWS;
}

static enum tg_class class_of(struct rows *rows, const struct tg_classes *extra, enum tg_kind kind,
                              tg_sv name, bool *fallback)
{
    *fallback = false;
    if (!tg_kind_is_device(kind))
        return TG_CLASS_OTHER;
    for (size_t i = 0; extra && i < extra->n; i++)
        if (tg_sv_glob_any_case(extra->v[i].glob, name))
            return extra->v[i].class_;
    if (kind != TG_KIND_KERNEL)
        return TG_CLASS_MEMORY;
    enum tg_class class_;
    *fallback = !find_row(rows, name, &class_);
    return *fallback ? TG_CLASS_COMPUTE : class_;
}

enum tg_class tg_class_of(const struct tg_classes *extra, enum tg_kind kind, tg_sv name,
                          bool *fallback)
{
    struct rows rows;
    bool ignored;
    rows.made = false;
    return class_of(&rows, extra, kind, name, fallback ? fallback : &ignored);
}

struct tg_name_class *tg_classes_of(const struct tg_classes *extra, const struct tg_names *names)
{
    struct tg_name_class *c = tg_xrealloc(NULL, names->n + 1, sizeof *c);
    struct rows rows;
    rows.made = false;
    for (size_t i = 0; i < names->n; i++) {
        const struct tg_name *n = &names->v[i];
        c[i].class_ = (unsigned char)class_of(&rows, extra, n->kind, n->name, &c[i].fallback);
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
    int c = tg_sv_index(class_names, name);
    if (c >= 0)
        *out = (enum tg_class)c;
    return c >= 0;
}

uint64_t tg_class_table_hash(const struct tg_classes *extra)
{
    uint64_t h = 1;
    for (size_t i = 0; i < N_ROWS; i++) {
        enum tg_class class_;
        const char *text = row_at(i, &class_);
        h = tg_hash(tg_sv_of(text), h * (uint64_t)TG_CLASSES + (uint64_t)class_);
    }
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
