#include "core/diff/names.h"

#include <stdlib.h>

static bool is_lower(char c)
{
    return c >= 'a' && c <= 'z';
}

/* ---- HTA's short name ---- */

/* Shortens [from, b->n) back through the nearest `opener`; without one, to nothing. */
static void pop_through(struct tg_buf *b, size_t from, char opener)
{
    while (b->n > from)
        if (b->p[--b->n] == opener)
            return;
}

/* Every byte is pushed and popped at most once. */
void tg_name_short(tg_sv raw, struct tg_buf *out)
{
    size_t from = out->n, cut;
    if (raw.n == 0)
        return;
    if (tg_sv_starts(raw, TG_SV("Memcpy")) || tg_sv_starts(raw, TG_SV("Memset")) ||
        tg_sv_starts(raw, TG_SV("hipMemcpy")) || tg_sv_starts(raw, TG_SV("hipMemset")) ||
        tg_sv_starts(raw, TG_SV("dma")) ||
        (!memchr(raw.p, '<', raw.n) && !memchr(raw.p, '(', raw.n))) {
        tg_buf_add(out, raw);
        return;
    }
    for (size_t i = 0; i < raw.n; i++) {
        if (raw.p[i] == '-' && i + 1 < raw.n && raw.p[i + 1] == '>')
            i++;
        else if (raw.p[i] == '>')
            pop_through(out, from, '<');
        else if (raw.p[i] == ')')
            pop_through(out, from, '(');
        else
            tg_buf_putc(out, raw.p[i]);
    }
    for (cut = out->n; cut > from && out->p[cut - 1] != ' '; cut--)
        continue;
    if (out->n == from) /* maybe nothing was ever written */
        tg_buf_room(out, 0);
    memmove(out->p + from, out->p + cut, out->n - cut);
    out->n -= cut - from;
    out->p[out->n] = '\0';
}

/* ---- identity ---- */

struct scan {
    tg_sv s;
    size_t i;
    struct tg_buf *out;
};

static bool all_digits(tg_sv w)
{
    return w.n && tg_sv_digits(w, 0) == w.n;
}

static bool is_address(tg_sv w)
{
    if (w.n < 3 || w.p[0] != '0' || w.p[1] != 'x')
        return false;
    for (size_t i = 2; i < w.n; i++)
        if (!tg_is_digit(w.p[i]) && !(tg_lower(w.p[i]) >= 'a' && tg_lower(w.p[i]) <= 'f'))
            return false;
    return true;
}

/* Base32 text of a cache key (52 characters in Inductor's); a C++ word of lower case letters and
 * digits that long has fewer digits. */
static bool is_hash(tg_sv w, size_t least)
{
    size_t digits = 0;
    for (size_t i = 0; i < w.n; i++) {
        if (!tg_is_digit(w.p[i]) && !is_lower(w.p[i]))
            return false;
        digits += tg_is_digit(w.p[i]);
    }
    return w.n >= least && digits >= 3 && digits < w.n;
}

/* "triton_poi_fused", "cpp_fused": the length of the fixed part, 0 for other words. */
static size_t inductor_prefix(tg_sv w)
{
    static const char kinds[][4] = { "poi", "red", "per", "tem", "for" };
    if (tg_sv_starts(w, TG_SV("cpp_fused")))
        return sizeof "cpp_fused" - 1;
    if (w.n < 16 || !tg_sv_starts(w, TG_SV("triton_")) || memcmp(w.p + 10, "_fused", 6) != 0)
        return 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (memcmp(w.p + 7, kinds[i], 3) == 0)
            return 16;
    return 0;
}

/* Triton's argument signature: "0d1d2de". */
static bool is_signature(tg_sv w)
{
    if (w.n < 2 || w.p[0] != '0' || (w.p[1] != 'd' && w.p[1] != 'c'))
        return false;
    for (size_t i = 0; i < w.n; i++)
        if (!tg_is_digit(w.p[i]) && !strchr("dcei", w.p[i]))
            return false;
    return true;
}

static tg_sv last_part(tg_sv w, size_t from)
{
    size_t i = w.n;
    while (i > from && w.p[i - 1] != '_')
        i--;
    return tg_sv_from(w, i);
}

/* Numbers and hashes are removed, a signature after them stays. */
static void put_inductor(struct tg_buf *out, tg_sv w, size_t prefix)
{
    tg_sv part = last_part(w, prefix), signature = { NULL, 0 };
    if (part.n < w.n - prefix && is_signature(part)) {
        signature = (tg_sv){ part.p - 1, part.n + 1 };
        w.n -= signature.n;
        part = last_part(w, prefix);
    }
    while (part.n < w.n - prefix && (all_digits(part) || is_hash(part, 20))) {
        w.n -= part.n + 1;
        part = last_part(w, prefix);
    }
    tg_buf_add(out, w);
    tg_buf_add(out, signature);
}

static void word(struct scan *z)
{
    size_t i = z->i;
    while (i < z->s.n && tg_is_word(z->s.p[i]))
        i++;
    size_t end = i;
    tg_sv w = { z->s.p + z->i, end - z->i }, plain = w;
    if (tg_sv_starts(w, TG_SV("graph_"))) { /* "graph_0_cpp_fused_add_1" -> "cpp_fused_add_1" */
        i = tg_sv_digits(w, 6);
        if (i > 6 && tg_sv_starts(tg_sv_from(w, i), TG_SV("_cpp_fused")))
            plain = tg_sv_from(w, i + 1);
    }
    char before = z->i ? z->s.p[z->i - 1] : '\0', after = end < z->s.n ? z->s.p[end] : '\0';
    size_t prefix = inductor_prefix(plain);
    if (tg_sv_starts(w, TG_SV("torchinductor_"))) {
        /* Its cache folder is named after the user and the hash: only the file is kept. */
        size_t slash = 0;
        for (end = z->i; end < z->s.n && !strchr(" (:", z->s.p[end]); end++)
            slash = z->s.p[end] == '/' ? end : slash;
        tg_buf_puts(z->out, slash ? "torchinductor_*/" : "torchinductor_*");
        z->i = slash ? slash + 1 : end;
        return;
    }
    z->i = end;
    if (is_address(w))
        tg_buf_puts(z->out, "0x*");
    else if (prefix)
        put_inductor(z->out, plain, prefix);
    else if (is_hash(w, 32))
        tg_buf_puts(z->out, "*");
    else if (tg_sv_starts(w, TG_SV("_GLOBAL__N__")))
        tg_buf_puts(z->out, "(anonymous namespace)");
    else if (before == '\'' && after == '\'' && tg_sv_starts(w, TG_SV("lambda")) &&
             tg_sv_digits(w, 6) == w.n)
        tg_buf_puts(z->out, "lambda");
    else if (before == '$' && w.p[0] == '_' && tg_sv_digits(w, 1) == w.n)
        tg_buf_puts(z->out, "_");
    else
        tg_buf_add(z->out, w);
}

/* "(12)", any number of them: a line number after ".py", or before ": " of a Python function. */
static bool line_number(struct scan *z, enum tg_kind kind)
{
    size_t end = z->i, d;
    bool python;
    while (end < z->s.n && z->s.p[end] == '(' && (d = tg_sv_digits(z->s, end + 1)) > end + 1 &&
           d < z->s.n && z->s.p[d] == ')')
        end = d + 1;
    if (end == z->i)
        return false;
    python = tg_sv_ends((tg_sv){ z->s.p, z->i }, TG_SV(".py"));
    if (!(python && (end == z->s.n || z->s.p[end] == ':' || z->s.p[end] == ' ')) &&
        !(kind == TG_KIND_PYTHON && tg_sv_starts(tg_sv_from(z->s, end), TG_SV(": "))))
        tg_buf_add(z->out, (tg_sv){ z->s.p + z->i, end - z->i });
    z->i = end;
    return true;
}

/* "#2}" after "{lambda(float)" or "{unnamed type". */
static bool closure_number(struct scan *z)
{
    tg_sv before = { z->s.p, z->i };
    size_t d = tg_sv_digits(z->s, z->i + 1);
    if (d == z->i + 1 || d == z->s.n || z->s.p[d] != '}' ||
        tg_sv_ends(before, TG_SV("namespace)")) ||
        !(tg_sv_ends(before, TG_SV(")")) || tg_sv_ends(before, TG_SV("{unnamed type"))))
        return false;
    z->i = d;
    return true;
}

/* Where the number ends that begins at `i`: "32", "36.1", "1.2e+09", "1.2G". */
static size_t number_end(tg_sv s, size_t i)
{
    size_t n = tg_sv_digits(s, i), e;
    if (n + 1 < s.n && s.p[n] == '.' && tg_is_digit(s.p[n + 1]))
        n = tg_sv_digits(s, n + 1);
    e = n < s.n && (s.p[n] == 'e' || s.p[n] == 'E') ? n + 1 : s.n;
    e += e < s.n && (s.p[e] == '+' || s.p[e] == '-');
    if (e < s.n && tg_is_digit(s.p[e]))
        n = tg_sv_digits(s, e);
    if (n < s.n && strchr("kKMGT", s.p[n]) && (n + 1 == s.n || !tg_is_word(s.p[n + 1])))
        n++;
    return n;
}

/* Names that count: "step[DECODE bs=32]" of a server. Numbers become '*', (…) goes. */
static void without_numbers(tg_sv s, struct tg_buf *out)
{
    size_t depth = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '(')
            depth++;
        else if (s.p[i] == ')')
            depth -= depth > 0;
        else if (depth == 0 && tg_is_digit(s.p[i])) {
            i = number_end(s, i) - 1;
            tg_buf_putc(out, '*');
        } else if (depth == 0)
            tg_buf_putc(out, s.p[i]);
    }
}

/* ---- XLA's instructions: fusion.3, all-reduce-start.1.clone.2, loop_add_fusion_4 ---- */

/* False, and nothing written: the name has no number of this sort. */
static bool put_instruction(struct tg_buf *out, tg_sv raw)
{
    size_t before = out->n;
    tg_sv rest = raw;
    bool ok = raw.n && is_lower(raw.p[0]);
    for (size_t i = 1; ok && i < raw.n; i++)
        ok = tg_is_digit(raw.p[i]) || is_lower(raw.p[i]) || raw.p[i] == '_' || raw.p[i] == '-' ||
             raw.p[i] == '.';
    if (!ok)
        return false;
    /* On GPUs the number is a word of the kernel's name. */
    tg_sv first = tg_sv_cut(&rest, '.'), stem = first;
    for (tg_sv part = last_part(stem, 0); part.n < stem.n && all_digits(part);
         part = last_part(stem, 0))
        stem.n -= part.n + 1;
    bool numbered = tg_sv_ends(stem, TG_SV("fusion")) || tg_sv_starts(stem, TG_SV("wrapped_")) ||
                    tg_sv_starts(stem, TG_SV("triton_gemm_")) ||
                    tg_sv_starts(stem, TG_SV("triton_softmax"));
    tg_buf_add(out, numbered ? stem : first);
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '.');
        if (all_digits(part) || tg_sv_eq(part, TG_SV("clone")))
            continue;
        tg_buf_putc(out, '.');
        tg_buf_add(out, part);
    }
    if (out->n - before < raw.n)
        return true;
    out->n = before;
    return false;
}

void tg_name_normalise(enum tg_kind kind, tg_sv raw, struct tg_buf *out)
{
    struct scan z = { raw, 0, out };
    /* A name around others is normalised as an operator's. */
    bool nests =
        kind == TG_KIND_ANNOTATION || kind == TG_KIND_DEVICE_ANNOTATION || kind == TG_KIND_OP;
    tg_sv number = raw;
    if (tg_sv_skip(&number,
                   TG_SV("ProfilerStep#"))) { /* the parser of HTA allows blanks, and so do we */
        number = tg_sv_past(number, " ");
        if (all_digits(number)) {
            tg_buf_puts(out, "ProfilerStep");
            return;
        }
    }
    /* Of a compiled region the frame and its recompilation. */
    if (tg_sv_starts(raw, TG_SV("Torch-Compiled Region: ")) ||
        (nests && (tg_sv_starts(raw, TG_SV("execute_")) || tg_sv_starts(raw, TG_SV("step["))))) {
        without_numbers(raw, out);
        return;
    }
    if (kind == TG_KIND_MODULE && tg_sv_starts(raw, TG_SV("nn.Module: ")))
        z.i = sizeof "nn.Module: " - 1;
    if (tg_kind_is_device(kind) && put_instruction(out, raw))
        return;
    while (z.i < raw.n) {
        char c = raw.p[z.i];
        if (tg_is_word(c))
            word(&z);
        else if (!(c == '(' && line_number(&z, kind)) && !(c == '#' && closure_number(&z))) {
            tg_buf_putc(out, c);
            z.i++;
        }
    }
}

bool tg_name_waits(enum tg_kind kind, tg_sv name)
{
    /* PyTorch's operators that wait for a collective of theirs;
     * other namespaces are the program's. */
    static const char *const collective[] = { "c10d::*wait*", "_c10d_functional::*wait*",
                                              "c10d_functional::*wait*" };
    if (kind == TG_KIND_MEMCPY || kind == TG_KIND_MEMSET || kind == TG_KIND_SYNC ||
        kind == TG_KIND_DEVICE_SYNC)
        return true;
    for (size_t i = 0; kind == TG_KIND_OP && i < sizeof collective / sizeof *collective; i++)
        if (tg_sv_glob(tg_sv_of(collective[i]), name))
            return true;
    return false;
}

/* ---- backward nodes ---- */

/* The next letter of a name written one way or the other,
 * without regard to underscores and case; 0: none. */
static int next_letter(tg_sv *s)
{
    *s = tg_sv_past(*s, "_");
    if (!s->n)
        return 0;
    char c = s->p[0];
    *s = tg_sv_from(*s, 1);
    return (unsigned char)tg_lower(c);
}

#define AROUND_NODE TG_SV("autograd::engine::evaluate_function: ")

static tg_sv without_digits(tg_sv name)
{
    while (name.n && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9')
        name.n--;
    return name;
}

bool tg_name_is_node(tg_sv name)
{
    const tg_sv end = TG_SV("Backward"), bare = without_digits(name);
    return tg_sv_starts(name, AROUND_NODE) || tg_sv_starts(name, TG_SV("torch::autograd::")) ||
           (bare.n > end.n && tg_sv_ends(bare, end) && !tg_sv_has(name, TG_SV("::")));
}

/* The part of a node's name before "Backward"; false: it has none. */
static bool cut_node(tg_sv *node)
{
    const tg_sv end = TG_SV("Backward");
    (void)tg_sv_skip(node, AROUND_NODE);
    *node = without_digits(*node);
    if (!tg_sv_ends(*node, end) || node->n == end.n)
        return false;
    node->n -= end.n;
    return true;
}

static bool is_backward_of_bare(tg_sv node, tg_sv op)
{
    int a, b;
    if (!cut_node(&node))
        return false;
    do {
        a = next_letter(&node);
        b = next_letter(&op);
    } while (a && a == b);
    return a == b;
}

bool tg_name_is_backward_of(tg_sv node, tg_sv op)
{
    return tg_sv_skip(&op, TG_SV("aten::")) && is_backward_of_bare(node, op);
}

static bool put_letters(tg_sv name, struct tg_buf *out)
{
    for (int c = next_letter(&name); c; c = next_letter(&name))
        tg_buf_putc(out, (char)c);
    return true;
}

bool tg_name_put_node_letters(tg_sv node, struct tg_buf *out)
{
    return cut_node(&node) && put_letters(node, out);
}

bool tg_name_put_letters(tg_sv op, struct tg_buf *out)
{
    return tg_sv_skip(&op, TG_SV("aten::")) && put_letters(op, out);
}

/* ---- views ---- */

/*
 * Views of the same storage, the same in place, what has nothing to do or calls what does it, and
 * questions about metadata. One that copies after all calls clone, copy_ or _to_copy, which count,
 * or takes longer than views do (place_small.c). Of aten, in the order of their bytes.
 */
/* clang-format off */
static const char *const views[] = {
    "_conj", "_neg_view", "_reshape_alias", "_unsafe_view", "adjoint", "alias", "as_strided",
    "as_strided_", "atleast_1d", "atleast_2d", "atleast_3d", "broadcast_tensors", "broadcast_to",
    "can_cast", "chunk", "conj", "contiguous", "detach", "detach_", "diagonal", "dim", "dsplit",
    "expand", "expand_as", "flatten", "hsplit", "imag", "is_complex", "is_contiguous",
    "is_floating_point", "is_same_size", "lift_fresh", "mH", "mT", "matrix_H", "moveaxis",
    "movedim", "narrow", "numel", "numpy_T", "permute", "positive", "promote_types", "ravel",
    "real", "requires_grad_", "reshape", "reshape_as", "resolve_conj", "resolve_neg", "result_type",
    "retain_grad", "select", "size", "slice", "split", "split_with_sizes", "squeeze", "squeeze_",
    "stride", "swapaxes", "swapaxes_", "swapdims", "swapdims_", "sym_numel", "sym_size",
    "sym_storage_offset", "sym_stride", "t", "t_", "tensor_split", "to", "transpose", "transpose_",
    "type_as", "unbind", "unflatten", "unfold", "unsafe_chunk", "unsafe_split",
    "unsafe_split_with_sizes", "unsqueeze", "unsqueeze_", "view", "view_as", "view_as_complex",
    "view_as_real", "vsplit",
};
/* clang-format on */

static int by_view(const void *name, const void *view)
{
    return tg_sv_cmp(*(const tg_sv *)name, tg_sv_of(*(const char *const *)view));
}

bool tg_name_is_view(tg_sv name)
{
    enum { N = sizeof views / sizeof *views };
    size_t i = 0;
    if (!tg_name_is_node(name)) {
        /* The profiler's second row of what dispatches by hand has no namespace. */
        (void)tg_sv_skip(&name, TG_SV("aten::"));
        return bsearch(&name, views, N, sizeof *views, by_view) != NULL;
    }
    while (i < N && !is_backward_of_bare(name, tg_sv_of(views[i])))
        i++;
    return i < N;
}
