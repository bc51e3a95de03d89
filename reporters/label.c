#include "reporters/label.h"

#include <stdlib.h>

#include "core/base/strmap.h"
#include "core/base/utf8.h"

/* ---- what is dropped ---- */

static void hide(struct tg_label *l, size_t at, size_t n, enum tg_label_hide how)
{
    for (size_t i = at; i < at + n; i++)
        l->hide[i] = (unsigned char)how;
}

static void drop_word(struct tg_label *l, const char *word)
{
    size_t n = strlen(word);
    for (size_t at = 0; at + n < l->name.n; at++)
        if (memcmp(l->name.p + at, word, n) == 0)
            hide(l, at, n, TG_LABEL_DROPPED);
}

/* Template arguments that every elementwise kernel has: where its operands are, and how many. */
static void drop_operands(struct tg_label *l)
{
    static const char *const begin[] = { ", at::detail::Array<char*, ", ", std::array<char*, " };
    tg_sv s = tg_buf_sv(&l->name);
    for (size_t k = 0; k < sizeof begin / sizeof *begin; k++) {
        size_t n = strlen(begin[k]);
        for (size_t at = 0; at + n < s.n; at++) {
            const char *end =
                memcmp(s.p + at, begin[k], n) == 0 ? memchr(s.p + at + n, '>', s.n - at - n) : NULL;
            if (end && (size_t)(end - s.p) - at - n < 6) /* "2", "3ul" */
                hide(l, at, (size_t)(end - s.p) + 1 - at, TG_LABEL_DROPPED);
        }
    }
    drop_word(l, "(at::TensorIteratorBase&)");
}

/* Where the bracket that the last byte closes was opened; 0: it closes none. */
static size_t opening(tg_sv s)
{
    size_t depth = 0;
    for (size_t i = s.n; i-- > 0;) {
        depth += s.p[i] == ')';
        if (s.p[i] == '(' && --depth == 0)
            return i;
    }
    return 0;
}

/* Of "sum<float>(float*, int)", but not of "Memcpy HtoD (Pageable -> Device)". */
static void drop_arguments(struct tg_label *l)
{
    tg_sv s = tg_buf_sv(&l->name);
    bool signature = tg_sv_starts(s, TG_SV("void ")) || tg_sv_has(s, TG_SV("::")) ||
                     memchr(s.p, '<', s.n) != NULL;
    size_t at;
    if (!signature || !tg_sv_ends(s, TG_SV(")")))
        return;
    at = opening(s);
    if (at && s.p[at - 1] != ' ' && s.p[at - 1] != ':' &&
        !tg_sv_ends(s, TG_SV("(anonymous namespace)")))
        hide(l, at, s.n - at, TG_LABEL_DROPPED);
}

static void drop_noise(struct tg_label *l)
{
    if (tg_sv_starts(tg_buf_sv(&l->name), TG_SV("void ")) && l->name.n > 5)
        hide(l, 0, 5, TG_LABEL_DROPPED);
    drop_word(l, "(anonymous namespace)::");
    drop_word(l, "at::native::");
    drop_operands(l);
    drop_arguments(l);
}

/* ---- the width ---- */

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

static size_t shown_points(const struct tg_label *l)
{
    size_t n = 0;
    for (size_t i = 0; i < l->name.n; i++)
        n += l->hide[i] == TG_LABEL_SHOWN && begins_point(l, i);
    return n;
}

static void cut_middle(struct tg_label *l, size_t width)
{
    size_t n = shown_points(l), head = (width - 1) * 3 / 5;
    if (n > width)
        cut(l, head, n - (width - 1 - head));
}

/* Where the two names first differ, at the beginning of a code point. */
static size_t first_difference(const struct tg_label *a, const struct tg_label *b)
{
    size_t i = 0;
    while (i < a->name.n && i < b->name.n && a->name.p[i] == b->name.p[i])
        i++;
    while (i && i < a->name.n && !begins_point(a, i))
        i--;
    return i;
}

/* Of what is dropped the part before the difference; the rest is shown again. */
static size_t show_from(struct tg_label *l, size_t at)
{
    size_t point = 0;
    hide(l, 0, l->name.n, TG_LABEL_SHOWN);
    if (at >= 5 && tg_sv_starts(tg_buf_sv(&l->name), TG_SV("void ")))
        hide(l, 0, 5, TG_LABEL_DROPPED);
    drop_word(l, "(anonymous namespace)::");
    drop_word(l, "at::native::");
    hide(l, at, l->name.n - at, TG_LABEL_SHOWN);
    for (size_t i = 0; i < at; i++)
        point += l->hide[i] == TG_LABEL_SHOWN && begins_point(l, i);
    return point;
}

/* "vectorized_ele…Functor<float>, …": the beginning, and what comes from the difference on. */
static void cut_around(struct tg_label *l, const struct tg_label *other, size_t width)
{
    enum { BEFORE = 3 }; /* code points shown before the difference */
    size_t at = show_from(l, first_difference(l, other)), n = shown_points(l);
    size_t head = (width - 2) * 2 / 5;
    if (n <= width)
        return;
    if (at > head + BEFORE) {
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
    for (size_t i = 0; i < l->name.n; i++) {
        if (l->hide[i] == TG_LABEL_SHOWN)
            tg_buf_putc(out, l->name.p[i]);
        else if (l->hide[i] == TG_LABEL_CUT && !dots)
            tg_buf_puts(out, "\xe2\x80\xa6");
        dots = l->hide[i] == TG_LABEL_CUT || (dots && l->hide[i] == TG_LABEL_DROPPED);
    }
    tg_buf_add(out, tg_buf_sv(&l->after));
}

bool tg_label_is_whole(const struct tg_label *l)
{
    return !memchr(l->hide, TG_LABEL_CUT, l->name.n) &&
           !memchr(l->hide, TG_LABEL_DROPPED, l->name.n);
}

static void make_one(struct tg_label *l, tg_sv name, size_t width)
{
    *l = (struct tg_label){ .hide = NULL };
    tg_utf8_visible(&l->name, name);
    if (!l->name.n)
        tg_buf_puts(&l->name, "");
    l->hide = tg_xmalloc(l->name.n + 1);
    hide(l, 0, l->name.n, TG_LABEL_SHOWN);
    drop_noise(l);
    if (!shown_points(l))
        hide(l, 0, l->name.n, TG_LABEL_SHOWN);
    cut_middle(l, width);
}

/* For each label the first that looks like it. */
static void find_twins(const struct tg_labels *l, uint32_t *first)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap seen;
    TG_BUF text = { 0 };
    TG_FREE uint32_t *owner = tg_xmalloc((l->n + 1) * sizeof *owner);
    tg_strmap_init(&seen);
    for (size_t i = 0; i < l->n; i++) {
        uint32_t id;
        size_t before = seen.n;
        tg_buf_clear(&text);
        tg_label_put(&text, &l->v[i]);
        id = tg_strmap_add(&seen, tg_buf_sv(&text));
        if (seen.n > before)
            owner[id] = (uint32_t)i;
        first[i] = owner[id];
    }
}

static bool same_name(const struct tg_label *a, const struct tg_label *b)
{
    return tg_sv_eq(tg_buf_sv(&a->name), tg_buf_sv(&b->name));
}

/* Different names that look alike, around their difference: the first of them, too. */
static void part_lookalikes(struct tg_labels *l, const uint32_t *first, size_t width)
{
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
}

/* Equal names by their kind; what still looks like another gets a number. */
static void number_twins(struct tg_labels *l, const char *const *kinds, uint32_t *first)
{
    for (size_t i = 0; i < l->n; i++)
        if (first[i] != i && kinds && same_name(&l->v[i], &l->v[first[i]]))
            tg_buf_printf(&l->v[i].after, " [%s]", kinds[i]);
    find_twins(l, first);
    for (size_t i = 0, k = 2; i < l->n; i++)
        if (first[i] != i)
            tg_buf_printf(&l->v[i].after, " (%zu)", k++);
}

void tg_labels_make(struct tg_labels *l, const tg_sv *names, const char *const *kinds, size_t n,
                    size_t width)
{
    TG_FREE uint32_t *first = tg_xmalloc((n + 1) * sizeof *first);
    *l = (struct tg_labels){ .v = tg_xmalloc((n + 1) * sizeof *l->v), .n = n };
    for (size_t i = 0; i < n; i++)
        make_one(&l->v[i], names[i], width);
    find_twins(l, first);
    part_lookalikes(l, first, width);
    find_twins(l, first);
    number_twins(l, kinds, first);
}

void tg_labels_of_rows(struct tg_labels *l, const struct tg_comparison *c, const uint32_t *rows,
                       size_t n, size_t width)
{
    TG_FREE tg_sv *names = tg_xmalloc((n + 1) * sizeof *names);
    TG_FREE const char **kinds = tg_xmalloc((n + 1) * sizeof *kinds);
    for (size_t i = 0; i < n; i++) {
        const struct tg_op *op = &c->ops[rows ? rows[i] : i];
        names[i] = op->name;
        kinds[i] = tg_kind_name(op->kind);
    }
    tg_labels_make(l, names, kinds, n, width);
}

void tg_labels_release(struct tg_labels *l)
{
    for (size_t i = 0; i < l->n; i++) {
        tg_buf_release(&l->v[i].name);
        tg_buf_release(&l->v[i].after);
        free(l->v[i].hide);
    }
    free(l->v);
    *l = (struct tg_labels){ .n = 0 };
}

void tg_label_put_one(struct tg_buf *out, tg_sv name, size_t width)
{
    struct tg_labels l;
    tg_labels_make(&l, &name, NULL, 1, width);
    tg_label_put(out, &l.v[0]);
    tg_labels_release(&l);
}
