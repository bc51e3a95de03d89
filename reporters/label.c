#include "reporters/label.h"

#include <stdlib.h>

#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/rows.h"

/* ---- what is dropped ---- */

static void hide(struct tg_label *l, size_t at, size_t n, enum tg_label_hide how)
{
    memset(l->hide + at, (int)how, n);
}

/* Where `word` is from `at` on, with something after it; the length of the name: nowhere. */
static size_t find_word(const struct tg_label *l, size_t at, const char *word)
{
    size_t n = l->name.n ? l->name.n - 1 : 0;
    const char *found = at < n ? memmem(l->name.p + at, n - at, word, strlen(word)) : NULL;
    return found ? (size_t)(found - l->name.p) : l->name.n;
}

static void drop_word(struct tg_label *l, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; (at = find_word(l, at, word)) < l->name.n; at += n)
        hide(l, at, n, TG_LABEL_DROPPED);
}

/* Template arguments that every elementwise kernel has: where its operands are, and how many. */
static void drop_operands(struct tg_label *l)
{
    static const char *const begin[] = { ", at::detail::Array<char*, ", ", std::array<char*, " };
    tg_sv s = tg_buf_sv(&l->name);
    for (size_t k = 0; k < sizeof begin / sizeof *begin; k++) {
        size_t n = strlen(begin[k]);
        for (size_t at = 0; (at = find_word(l, at, begin[k])) < s.n; at++) {
            const char *end = memchr(s.p + at + n, '>', s.n - at - n);
            if (end && (size_t)(end - s.p) - at - n < 6) /* "2", "3ul" */
                hide(l, at, (size_t)(end - s.p) + 1 - at, TG_LABEL_DROPPED);
        }
    }
    drop_word(l, "(at::TensorIteratorBase&)");
}

/* Of "sum<float>(float*, int)", but not of "Memcpy HtoD (Pageable -> Device)". */
static void drop_arguments(struct tg_label *l)
{
    tg_sv s = tg_buf_sv(&l->name);
    bool signature = tg_sv_starts(s, TG_SV("void ")) || tg_sv_has(s, TG_SV("::")) ||
                     memchr(s.p, '<', s.n) != NULL;
    if (!signature || !tg_sv_ends(s, TG_SV(")")))
        return;
    /* Where the bracket that the last byte closes was opened; 0: it closes none. */
    size_t at = s.n, depth = 0;
    do {
        at--;
        depth += s.p[at] == ')';
        depth -= s.p[at] == '(';
    } while (at && depth);
    if (at && s.p[at - 1] != ' ' && s.p[at - 1] != ':' &&
        !tg_sv_ends(s, TG_SV("(anonymous namespace)")))
        hide(l, at, s.n - at, TG_LABEL_DROPPED);
}

/* ---- the frame of a kernel, and the functor in it ---- */

struct piece {
    size_t at, end;
};

/* The first of `stops` outside all brackets; `end`: there is none. */
static size_t find_outside(tg_sv s, size_t at, size_t end, const char *stops)
{
    size_t depth = 0;
    for (; at < end; at++) {
        char c = s.p[at];
        if (!depth && strchr(stops, c))
            return at;
        if (c == '<' || c == '(' || c == '{')
            depth++;
        else if (c == ')' || c == '}' || (c == '>' && at && s.p[at - 1] != '-'))
            depth -= depth > 0;
    }
    return end;
}

/* "at::native::(anonymous namespace)::sum<float>(int)": the place and length of "sum". */
static struct piece own_name(tg_sv s, struct piece of)
{
    for (;;) {
        size_t stop = find_outside(s, of.at + (s.p[of.at] == '('), of.end, ":<(");
        if (s.p[of.at] == '(') /* after the closing bracket of an unnamed namespace */
            stop = find_outside(s, of.at, of.end, ":");
        if (stop + 2 >= of.end || s.p[stop] != ':' || s.p[stop + 1] != ':')
            return (struct piece){ of.at, stop };
        of.at = stop + 2;
    }
}

/* Kernels and wrappers that run any functor: their own name tells nothing of the work. */
static bool is_frame(tg_sv name)
{
    static const char *const frames[] = { "reduce_kernel",
                                          "Kernel",
                                          "Kernel2",
                                          "device_kernel",
                                          "gpu_kernel_impl",
                                          "ReduceOp",
                                          "BinaryFunctor",
                                          "AUnaryFunctor",
                                          "BUnaryFunctor",
                                          "gpu_kernel_impl_nocast",
                                          "func_wrapper_t",
                                          "gpu_index_kernel",
                                          NULL };
    return tg_sv_has(name, TG_SV("multi_tensor_apply")) ||
           (tg_sv_has(name, TG_SV("elementwise")) && tg_sv_has(name, TG_SV("kernel"))) ||
           tg_sv_index(frames, name) >= 0;
}

/* No number, no type, no list of tensors: "gelu_kernel(…)", "MulFunctor<float>". */
static bool is_functor(tg_sv arg)
{
    static const char *const others[] = { "c10::", "std::", "at::detail::Array", "__" };
    bool plain = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (tg_sv_starts(arg, tg_sv_of(others[i])))
            return false;
    for (size_t i = 0; i < arg.n; i++)
        plain = plain && ((arg.p[i] >= 'a' && arg.p[i] <= 'z') || arg.p[i] == ' ');
    return arg.n && !plain && !strchr("0123456789(-", arg.p[0]) &&
           !tg_sv_has(arg, TG_SV("ListMetadata")) &&
           !(tg_sv_ends(arg, TG_SV("_t")) && !memchr(arg.p, '<', arg.n));
}

static struct piece next_argument(tg_sv s, size_t *at, size_t end)
{
    struct piece p = { *at, find_outside(s, *at, end, ",") };
    *at = p.end + 1;
    while (*at < end && s.p[*at] == ' ')
        ++*at;
    while (p.end > p.at && s.p[p.end - 1] == ' ') /* of "<f<int> >" */
        p.end--;
    return p;
}

static tg_sv text_of(tg_sv s, struct piece p)
{
    return (tg_sv){ s.p + p.at, p.end - p.at };
}

/*
 * The functor in a frame, with its template arguments; `*within`: the argument it was found in.
 * What it does to elements may be the argument after it: "UnaryOpFunctor<float>,
 * std::negate<float>".
 */
static struct piece find_functor(tg_sv s, struct piece *within)
{
    struct piece name = own_name(s, *within), arg, next;
    size_t at = name.end + 1, end;
    if (name.end >= within->end || s.p[name.end] != '<')
        return name;
    end = find_outside(s, at, within->end, ">");
    if (is_frame(text_of(s, name)))
        while (at < end) {
            arg = next_argument(s, &at, end);
            if (!is_functor(text_of(s, arg)))
                continue;
            *within = arg;
            name = find_functor(s, within);
            next = next_argument(s, &at, end);
            if (next.end <= end && tg_sv_starts(text_of(s, next), TG_SV("std::")) &&
                !tg_sv_starts(text_of(s, next), TG_SV("std::array")))
                name.end = next.end;
            return name;
        }
    name.end = end < within->end ? end + 1 : end;
    return name;
}

/* "…::{lambda(float)#1}": "(float)", what a functor without template arguments works on. */
static struct piece lambda_arguments(tg_sv s, struct piece of)
{
    static const char lambda[] = "{lambda(";
    for (size_t at = of.end; at-- > of.at;) {
        size_t open = at + sizeof lambda - 2;
        if (open < of.end && memcmp(s.p + at, lambda, sizeof lambda - 1) == 0) {
            size_t close = find_outside(s, open + 1, of.end, ")");
            return (struct piece){ open, close > open + 1 && close < of.end ? close + 1 : open };
        }
    }
    return (struct piece){ of.at, of.at };
}

/* "_ZN2at6native13reduce_kernelILi512E…": "reduce_kernel", the last name before the template's
 * arguments. */
static struct piece mangled_name(tg_sv s)
{
    size_t at = tg_sv_starts(s, TG_SV("_ZN")) ? 3 : tg_sv_starts(s, TG_SV("_Z")) ? 2 : s.n, n;
    struct piece name = { 0, 0 };
    while (at < s.n && tg_is_digit(s.p[at])) {
        for (n = 0; at < s.n && tg_is_digit(s.p[at]) && n < s.n; at++)
            n = 10 * n + (size_t)(s.p[at] - '0');
        if (!n || n > s.n - at)
            break;
        name = (struct piece){ at, at + n };
        at += n;
    }
    return name;
}

/* Of a kernel that is a frame only the functor stays; of a mangled name the function's. */
static void drop_frame(struct tg_label *l)
{
    tg_sv s = tg_buf_sv(&l->name);
    size_t begin = tg_sv_starts(s, TG_SV("void ")) ? 5 : 0;
    struct piece within = { begin, s.n }, functor = mangled_name(s), work = { 0, 0 };
    if (begin == s.n)
        return;
    if (functor.at >= functor.end) {
        functor = find_functor(s, &within);
        if (within.at == begin || functor.at >= functor.end)
            return;
        work = lambda_arguments(s, within);
    }
    l->framed = true;
    hide(l, 0, s.n, TG_LABEL_DROPPED);
    hide(l, functor.at, functor.end - functor.at, TG_LABEL_SHOWN);
    if (functor.end <= work.at && !memchr(s.p + functor.at, '<', functor.end - functor.at))
        hide(l, work.at, work.end - work.at, TG_LABEL_SHOWN);
}

/* ---- the width ---- */

static const size_t NOT_AT_ALL = (size_t)-1;

static bool begins_point(const struct tg_label *l, size_t i)
{
    return ((unsigned char)l->name.p[i] & 0xc0) != 0x80;
}

/* Cuts the shown code points from..to (ordinals among those shown). */
static void cut(struct tg_label *l, size_t from, size_t to)
{
    size_t point = 0;
    bool in = false;
    for (size_t i = 0; i < l->name.n; i++) {
        if (l->hide[i] == TG_LABEL_DROPPED)
            continue;
        if (begins_point(l, i)) {
            in = point >= from && point < to;
            point++;
        }
        if (in)
            l->hide[i] = TG_LABEL_CUT;
    }
}

/* How many code points are shown before byte `at`. */
static size_t points_before(const struct tg_label *l, size_t at)
{
    size_t n = 0;
    for (size_t i = 0; i < at; i++)
        n += l->hide[i] == TG_LABEL_SHOWN && begins_point(l, i);
    return n;
}

static size_t shown_points(const struct tg_label *l)
{
    return points_before(l, l->name.n);
}

/* "cudnn::ops::scale_kernel<float>": the namespaces go before anything of the name does. */
static void drop_qualifiers(struct tg_label *l)
{
    tg_sv s = tg_buf_sv(&l->name);
    size_t begin = tg_sv_starts(s, TG_SV("void ")) ? 5 : 0;
    if (!l->framed && begin < s.n && (begin || memchr(s.p, '<', s.n)))
        hide(l, begin, own_name(s, (struct piece){ begin, s.n }).at - begin, TG_LABEL_DROPPED);
}

/* Of "a::b: name" and "a::b: c::name" the name is the end, where it leaves room for a beginning. */
static size_t end_points(const struct tg_label *l, size_t width)
{
    enum { LEAST = 8 };
    tg_sv s = tg_buf_sv(&l->name);
    const char *colon = memmem(s.p, s.n, ": ", 2);
    size_t at = colon ? (size_t)(colon - s.p) : s.n, n = points_before(l, s.n);
    for (; colon && at + 1 < s.n; at++)
        if (s.p[at] == ':' && s.p[at - 1] != ':' && n - points_before(l, at) + LEAST < width)
            return n - points_before(l, at);
    return 0;
}

/* "cutlass_80_tensorop_s1688gemm_64x64": "s1688gemm" tells the work; 0: there is no such word. */
static size_t before_gemm(const struct tg_label *l, size_t *end)
{
    const char *gemm = memmem(l->name.p, l->name.n, "gemm", 4), *word = gemm;
    while (word && word > l->name.p && word[-1] != '_')
        word--;
    *end = gemm ? points_before(l, (size_t)(gemm - l->name.p)) + 4 : 0;
    return gemm ? points_before(l, (size_t)(word - l->name.p)) : 0;
}

/* Of a function or functor the name stays whole, if it fits, with its bracket if that fits; so does
 * what ends "a: name". Else two thirds are the beginning: "splitKreduce_kernel<fl…lse, false>". */
static void cut_middle(struct tg_label *l, size_t width)
{
    enum { SHORTEST = 6, BEGIN = 7 };
    size_t tail = (width - 1) / 3, head = width - 1 - tail, n, own = 0, end, gemm, gemm_end;
    if (shown_points(l) > width)
        drop_qualifiers(l);
    n = shown_points(l);
    if (n <= width)
        return;
    /* Up to the first bracket, that of "sum<" or "copy(" with it. */
    for (size_t i = 1; i < l->name.n && !own; i++)
        if (l->hide[i] == TG_LABEL_SHOWN && strchr("<(", l->name.p[i]) && l->name.p[i - 1] != ' ')
            own = points_before(l, i) + 1;
    end = end_points(l, width);
    gemm = before_gemm(l, &gemm_end);
    if (own > head && own <= width) {
        head = own + 2 <= width ? own : own - 1;
        tail = own + 2 > width ? 0 : width - 1 - own < SHORTEST ? 1 : width - 1 - own;
    } else if (end > tail) {
        head = width - 1 - (tail = end);
    } else if (!own && gemm_end > head && gemm > BEGIN && n - gemm >= width - 1 - BEGIN) {
        cut(l, gemm + width - 2 - BEGIN, n);
        cut(l, BEGIN, gemm);
        return;
    }
    cut(l, head, n - tail);
}

/* What is hidden: what the rules drop, then less, then nothing. */
enum level { BY_RULES, NAMESPACES, RESULT_TYPE, NOTHING };

static void hide_only(struct tg_label *l, enum level what)
{
    bool rules = what == BY_RULES, frame = rules && l->framed;
    hide(l, 0, l->name.n, TG_LABEL_SHOWN);
    if (frame)
        drop_frame(l);
    else if (what != NOTHING && tg_sv_starts(tg_buf_sv(&l->name), TG_SV("void ")) &&
             (!rules || l->name.n > 5))
        hide(l, 0, 5, TG_LABEL_DROPPED);
    if (rules || what == NAMESPACES) {
        drop_word(l, "(anonymous namespace)::");
        drop_word(l, "at::native::");
    }
    if (frame) {
        drop_word(l, "c10::");
    } else if (rules) {
        drop_operands(l);
        drop_arguments(l);
    }
    if (rules && !shown_points(l))
        hide(l, 0, l->name.n, TG_LABEL_SHOWN);
}

/* Where the two differ, in code points, once no more is hidden than lets them differ; NOT_AT_ALL:
 * equal functors of two frames, which get numbers: their frames would leave no room for them. */
static size_t show_difference(struct tg_label *l, struct tg_label *other)
{
    size_t i = 0;
    for (enum level what = BY_RULES; what <= NOTHING; what++) {
        TG_BUF x = { 0 }, y = { 0 };
        hide_only(l, what);
        hide_only(other, what);
        tg_label_put(&x, l);
        tg_label_put(&y, other);
        for (i = 0; i < x.n && i < y.n && x.p[i] == y.p[i];)
            i++;
        bool differ = i < x.n || i < y.n;
        while (i && i < x.n && ((unsigned char)x.p[i] & 0xc0) == 0x80)
            i--;
        i = tg_utf8_count((tg_sv){ x.p, i });
        if (differ)
            break;
        if (l->framed && other->framed)
            return NOT_AT_ALL;
    }
    return i;
}

/* "…s16816gemm_fp16_256x64…" or "…s16816gemm_fp16…64x4_tn": from the word of a gemm on, with the
 * end if the difference is there; false: no gemm, or both do not fit. */
static bool cut_gemm(struct tg_label *l, size_t at, size_t n, size_t width)
{
    enum { BEFORE = 3 };
    size_t gemm_end, gemm = before_gemm(l, &gemm_end), least = (width - 2) / 3;
    size_t tail = at > BEFORE && n - at + BEFORE > least ? n - at + BEFORE : least, head;
    if (!gemm || at < gemm)
        return false;
    if (at + BEFORE < gemm + width - 2 && gemm + width - 2 < n) {
        cut(l, gemm + width - 2, n);
        cut(l, 0, gemm);
        return true;
    }
    head = width - 2 - tail;
    if (tail + 2 + gemm_end - gemm > width || gemm + head >= n - tail)
        return false;
    cut(l, gemm + head, n - tail);
    cut(l, 0, gemm);
    return true;
}

/* "vectorized_ele…Functor<float>, …": the beginning, and what comes from the difference on. */
static void cut_around(struct tg_label *l, struct tg_label *other, size_t width)
{
    enum { BEFORE = 3 }; /* code points shown before the difference */
    TG_FREE unsigned char *keep = tg_xmalloc(other->name.n + 1);
    size_t at, n, head = (width - 2) * 2 / 5;
    memcpy(keep, other->hide, other->name.n);
    at = show_difference(l, other);
    memcpy(other->hide, keep, other->name.n);
    n = shown_points(l);
    if (n <= width || (at != NOT_AT_ALL && cut_gemm(l, at, n, width)))
        return;
    if (at == NOT_AT_ALL) {
        cut_middle(l, width);
    } else if (at > head + BEFORE) {
        size_t from = at - BEFORE, rest = width - 2 - head;
        if (from + rest > n) /* all of the end fits */
            from = n - rest;
        cut(l, head, from);
        cut(l, from + rest, n);
    } else {
        cut(l, width - 1, n);
    }
}

/* ---- labels ---- */

void tg_label_put(struct tg_buf *out, const struct tg_label *l)
{
    bool dots = false; /* one ellipsis for a cut, whatever was dropped in it */
    for (size_t i = 0, end; i < l->name.n; i = end) {
        unsigned char how = l->hide[i];
        for (end = i + 1; end < l->name.n && l->hide[end] == how;)
            end++;
        if (how == TG_LABEL_SHOWN)
            tg_buf_add(out, (tg_sv){ l->name.p + i, end - i });
        else if (how == TG_LABEL_CUT && !dots)
            tg_buf_puts(out, "\xe2\x80\xa6");
        dots = how == TG_LABEL_CUT || (dots && how == TG_LABEL_DROPPED);
    }
    tg_buf_add(out, tg_buf_sv(&l->after));
}

bool tg_label_is_whole(const struct tg_label *l)
{
    return !memchr(l->hide, TG_LABEL_CUT, l->name.n) &&
           !memchr(l->hide, TG_LABEL_DROPPED, l->name.n);
}

/* The rank stays, whatever the width. */
static void make_one(struct tg_label *l, tg_sv name, size_t width)
{
    /* " [rank 5]", " [ranks 0-3, 7]", " [8 ranks]" at its end; "": it has none. */
    size_t at = name.n;
    while (tg_sv_ends(name, TG_SV("]")) && at && name.p[at - 1] != '[')
        at--;
    tg_sv rank = tg_sv_from(name, at < 2 ? name.n : at - 2);
    if (!tg_sv_starts(rank, TG_SV(" [")) || !tg_sv_has(rank, TG_SV("rank")))
        rank = TG_SV("");
    *l = (struct tg_label){ .hide = NULL };
    tg_utf8_visible(&l->name, (tg_sv){ name.p, name.n - rank.n });
    tg_utf8_visible(&l->after, rank);
    if (!l->name.n)
        tg_buf_puts(&l->name, "");
    l->hide = tg_xmalloc(l->name.n + 1);
    hide_only(l, BY_RULES);
    if (shown_points(l) > width) {
        drop_frame(l);
        hide_only(l, BY_RULES);
    }
    cut_middle(l, width);
}

/* For each label the first that looks like it. */
static void find_twins(const struct tg_labels *l, uint32_t *first)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap seen = { 0 };
    TG_BUF text = { 0 };
    TG_FREE uint32_t *owner = tg_xmalloc((l->n + 1) * sizeof *owner);
    for (size_t i = 0; i < l->n; i++) {
        size_t before = seen.n;
        tg_buf_clear(&text);
        tg_label_put(&text, &l->v[i]);
        uint32_t id = tg_strmap_add(&seen, tg_buf_sv(&text));
        if (seen.n > before)
            owner[id] = (uint32_t)i;
        first[i] = owner[id];
    }
}

static bool same_name(const struct tg_label *a, const struct tg_label *b)
{
    return tg_sv_eq(tg_buf_sv(&a->name), tg_buf_sv(&b->name));
}

/* " (2)" or the next number that makes a text of its own. */
static void number(struct tg_label *l, size_t k, struct tg_strmap *used)
{
    size_t stem = l->after.n, before = used->n;
    for (; used->n == before; k++) {
        TG_BUF text = { 0 };
        l->after.n = stem;
        tg_buf_printf(&l->after, " (%zu)", k);
        tg_label_put(&text, l);
        (void)tg_strmap_add(used, tg_buf_sv(&text));
    }
}

/* `kinds`, and `callers`, what launches a kernel ("": not known): NULL: there are none. */
static void make_all(struct tg_labels *l, const tg_sv *names, const char *const *kinds,
                     const tg_sv *callers, size_t n, size_t width)
{
    TG_FREE uint32_t *first = tg_xmalloc((n + 1) * sizeof *first);
    *l = (struct tg_labels){ .v = tg_xmalloc((n + 1) * sizeof *l->v), .n = n };
    for (size_t i = 0; i < n; i++)
        make_one(&l->v[i], names[i], /* our own words are always whole */
                 tg_sv_eq(names[i], TG_SV(TG_HOST_GAP)) ? SIZE_MAX : width);
    find_twins(l, first);
    /* Different names that look alike, around their difference: the first of them, too. */
    TG_FREE bool *done = tg_xcalloc(l->n + 1, 1);
    for (size_t i = 0; i < l->n; i++) {
        size_t k = first[i];
        if (k == i || same_name(&l->v[i], &l->v[k]))
            continue;
        cut_around(&l->v[i], &l->v[k], width);
        if (!done[k])
            cut_around(&l->v[k], &l->v[i], width);
        done[k] = true;
    }
    find_twins(l, first);
    /* Equal names by their kind; what still looks like another gets a number. */
    TG_AUTO(tg_strmap_release) struct tg_strmap used = { 0 };
    TG_FREE uint32_t *twins = tg_xcalloc(l->n + 1, sizeof *twins);
    if (callers) {
        /* Different names of one form by what calls them. */
        TG_FREE bool *alike = tg_xcalloc(l->n + 1, 1);
        for (size_t k = 0; k < l->n; k++)
            if (first[k] != k && !same_name(&l->v[k], &l->v[first[k]]))
                alike[k] = alike[first[k]] = true;
        for (size_t k = 0; k < l->n; k++)
            if (alike[k] && callers[k].n)
                tg_buf_printf(&l->v[k].after, " of %.*s", TG_SV_ARG(callers[k]));
    }
    for (size_t i = 0; i < l->n; i++)
        if (first[i] != i && kinds && same_name(&l->v[i], &l->v[first[i]]))
            tg_buf_printf(&l->v[i].after, " [%s]", kinds[i]);
    find_twins(l, first);
    for (size_t i = 0; i < l->n; i++) {
        TG_BUF text = { 0 };
        tg_label_put(&text, &l->v[i]);
        (void)tg_strmap_add(&used, tg_buf_sv(&text));
    }
    for (size_t i = 0; i < l->n; i++)
        if (first[i] != i)
            number(&l->v[i], ++twins[first[i]] + 1, &used);
}

void tg_labels_make(struct tg_labels *l, const tg_sv *names, size_t n, size_t width)
{
    make_all(l, names, NULL, NULL, n, width);
}

static void release_from(struct tg_labels *l, size_t n)
{
    for (size_t i = n; i < l->n; i++) {
        tg_buf_release(&l->v[i].name);
        tg_buf_release(&l->v[i].after);
        free(l->v[i].hide);
    }
    l->n = n;
}

void tg_labels_make_among(struct tg_labels *l, const tg_sv *names, const char *const *kinds,
                          size_t n, size_t width, const struct tg_comparison *c)
{
    size_t n_ops = c ? c->n_ops : 0, all = n, room = n + n_ops + 1;
    TG_FREE tg_sv *every = tg_xmalloc(room * sizeof *every);
    TG_FREE const char **kind = tg_xmalloc(room * sizeof *kind);
    TG_FREE tg_sv *callers = tg_xcalloc(room, sizeof *callers);
    TG_FREE uint32_t *at = tg_xmalloc(room * sizeof *at); /* by id: the first of its name */
    TG_AUTO(tg_strmap_release) struct tg_strmap own = { 0 };
    for (size_t i = 0; i < n; i++) {
        size_t before = own.n;
        uint32_t id = tg_strmap_add(&own, names[i]);
        at[id] = own.n > before ? (uint32_t)i : at[id];
        every[i] = names[i];
        kind[i] = kinds ? kinds[i] : "";
    }
    for (size_t i = 0; i < n_ops; i++) {
        const struct tg_op *op = &c->ops[i];
        if (op->kind != TG_KIND_KERNEL)
            continue;
        uint32_t id = tg_strmap_find(&own, op->name);
        callers[id == TG_NO_ID ? all : at[id]] = op->parent;
        if (id != TG_NO_ID)
            continue;
        every[all] = op->name;
        kind[all++] = tg_kind_name(op->kind);
    }
    make_all(l, every, kinds ? kind : NULL, callers, all, width);
    release_from(l, n);
}

void tg_labels_of_rows(struct tg_labels *l, const struct tg_comparison *c, const uint32_t *rows,
                       size_t n, size_t width)
{
    TG_FREE tg_sv *names = tg_xmalloc((n + 1) * sizeof *names);
    TG_FREE const char **kinds = tg_xmalloc((n + 1) * sizeof *kinds);
    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &c->ops[rows[i]];
        names[i] = tg_row_called(op);
        kinds[i] = tg_kind_name(op->kind);
    }
    tg_labels_make_among(l, names, kinds, n, width, c);
}

void tg_labels_release(struct tg_labels *l)
{
    release_from(l, 0);
    free(l->v);
    *l = (struct tg_labels){ .n = 0 };
}

/* ---- one form of each name of a report ---- */

void tg_shorts_init(struct tg_shorts *s, const struct tg_verdict *v, size_t width)
{
    const struct tg_comparison *c = v->comparison;
    for (size_t i = 0; i < v->n_results; i++)
        (void)tg_strmap_add(&s->ids, v->results[i].op_normalised);
    for (size_t i = 0; c && i < c->n_ops; i++)
        (void)tg_strmap_add(&s->ids, c->ops[i].name);
    tg_labels_make_among(&s->labels, s->ids.text, NULL, s->ids.n, width, c);
    s->width = width;
}

void tg_shorts_release(struct tg_shorts *s)
{
    tg_labels_release(&s->labels);
    tg_strmap_release(&s->ids);
}

void tg_shorts_put(struct tg_buf *out, tg_sv name, const struct tg_shorts *s)
{
    uint32_t id = tg_strmap_find(&s->ids, name);
    if (id == TG_NO_ID)
        tg_label_put_one(out, name, s->width);
    else
        tg_label_put(out, &s->labels.v[id]);
}

void tg_label_put_one(struct tg_buf *out, tg_sv name, size_t width)
{
    TG_AUTO(tg_labels_release) struct tg_labels l;
    tg_labels_make(&l, &name, 1, width);
    tg_label_put(out, &l.v[0]);
}

/* Without what tells twins apart. */
static tg_sv without_number(tg_sv text)
{
    const char *of = memmem(text.p, text.n, " of ", 4);
    if (of)
        return (tg_sv){ text.p, (size_t)(of - text.p) };
    size_t end = text.n && strchr(")]", text.p[text.n - 1]) ? text.n - 1 : 0, at = end;
    bool kind = end && text.p[end] == ']';
    while (at && (kind ? text.p[at - 1] != '[' : tg_is_digit(text.p[at - 1])))
        at--;
    if (at < 2 || at == end || text.p[at - 2] != ' ' || text.p[at - 1] != (kind ? '[' : '('))
        return text;
    return (tg_sv){ text.p, at - 2 };
}

/* The forms that a label can have before its middle is cut: `how` from 0 on. */
static bool take_form(struct tg_label *l, unsigned how, struct tg_buf *out)
{
    unsigned levels = NOTHING + 1;
    if (how == 2 * levels && !l->framed)
        drop_frame(l);
    hide_only(l, how < 2 * levels ? (enum level)(how / 2) : BY_RULES);
    if (how % 2)
        drop_qualifiers(l);
    tg_buf_clear(out);
    tg_label_put(out, l);
    return how <= 2 * levels;
}

bool tg_label_stands_for(tg_sv text, tg_sv name)
{
    TG_AUTO(tg_labels_release) struct tg_labels l = { .v = tg_xmalloc(sizeof *l.v), .n = 1 };
    TG_BUF pattern = { 0 }, form = { 0 };
    bool fits = false;
    /* An ellipsis is for anything, and a star for a byte such as itself. */
    static const tg_sv ellipsis = { "\xe2\x80\xa6", 3 };
    const tg_sv words = without_number(text);
    for (size_t i = 0; i < words.n; i++) {
        bool cut = tg_sv_starts(tg_sv_from(words, i), ellipsis);
        tg_buf_putc(&pattern, cut ? '*' : words.p[i] == '*' ? '?' : words.p[i]);
        i += cut ? ellipsis.n - 1 : 0;
    }
    make_one(l.v, name, SIZE_MAX);
    for (unsigned how = 0; !fits && take_form(l.v, how, &form); how++)
        fits = pattern.n && tg_sv_glob(tg_buf_sv(&pattern), tg_buf_sv(&form));
    return fits;
}

bool tg_label_is_of(tg_sv text, tg_sv parent)
{
    const char *of = memmem(text.p, text.n, " of ", 4);
    tg_sv by = of ? tg_sv_from(text, (size_t)(of - text.p) + 4) : parent;
    return !parent.n || tg_sv_eq(by, parent) || tg_label_stands_for(by, parent);
}
