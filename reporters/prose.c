#include "reporters/prose.h"

#include "core/base/sort.h"
#include "core/base/strmap.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/findings.h"

static int longest_first(const void *pa, const void *pb)
{
    const tg_sv *a = pa, *b = pb;
    int c = TG_CMP(b->n, a->n);
    return c ? c : tg_sv_cmp(*a, *b);
}

bool tg_prose_begin(struct tg_buf *out, tg_sv name)
{
    tg_sv head = tg_utf8_prefix(name, 60);
    if (head.n == name.n)
        return false;
    tg_buf_add(out, head);
    tg_buf_puts(out, "\xe2\x80\xa6");
    return true;
}

static void add_name(struct tg_strmap *m, tg_sv name)
{
    TG_BUF begun = { 0 };
    if (name.n)
        (void)tg_strmap_add(m, name);
    if (tg_prose_begin(&begun, name))
        (void)tg_strmap_add(m, tg_buf_sv(&begun));
}

static void add_risky(struct tg_strmap *m, tg_sv name)
{
    if (name.n > 2 && !tg_esc_md_is_plain(name))
        add_name(m, name);
}

void tg_prose_init(struct tg_prose *p, const struct tg_verdict *v)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap m;
    *p = (struct tg_prose){ .arena = tg_arena_new() };
    tg_strmap_init(&m);
    for (size_t i = 0; i < v->n_results; i++) {
        const struct tg_result *r = &v->results[i];
        bool word = r->subject == TG_SUBJECT_TRACE || r->subject == TG_SUBJECT_REQUIRE ||
                    r->subject == TG_SUBJECT_NOTE;
        if (tg_result_shown(r) && r->op_normalised.n > 2 && !word)
            add_name(&m, r->op_normalised);
        if (tg_result_shown(r) && r->cause && r->cause->function)
            add_name(&m, r->cause->function->text);
        add_risky(&m, r->op_normalised);
        add_risky(&m, r->calling_op);
    }
    for (size_t i = 0; v->comparison && i < v->comparison->n_ops; i++)
        add_risky(&m, v->comparison->ops[i].name);
    p->names = TG_NEW_N(p->arena, tg_sv, m.n + 1);
    for (; p->n < m.n; p->n++)
        p->names[p->n] = tg_arena_sv(p->arena, m.text[p->n]);
    TG_SORT(p->names, p->n, longest_first);
}

void tg_prose_release(struct tg_prose *p)
{
    tg_arena_free(p->arena);
}

/* ---- finding ---- */

static bool part_of_word(char c)
{
    return tg_is_word(c) || (unsigned char)c >= 0x80;
}

/* Not "mm" in "comms": a letter of the name has no letter beside it. */
static bool stands_alone(tg_sv s, size_t at, size_t n)
{
    bool before = at && part_of_word(s.p[at]) && (part_of_word(s.p[at - 1]) || s.p[at - 1] == ':');
    size_t end = at + n;
    bool after = end < s.n && part_of_word(s.p[end - 1]) && part_of_word(s.p[end]);
    return !before && !after;
}

static bool is_free(const uint32_t *owner, size_t at, size_t n)
{
    for (size_t i = at; i < at + n; i++)
        if (owner[i])
            return false;
    return true;
}

/* owner[i]: 0, or which occurrence byte i belongs to. */
static void find_names(const struct tg_prose *p, tg_sv s, uint32_t *owner)
{
    uint32_t found = 0;
    for (size_t i = 0; i < p->n; i++) {
        tg_sv name = p->names[i];
        const char *at = name.n <= s.n ? memmem(s.p, s.n, name.p, name.n) : NULL;
        while (at) {
            size_t from = (size_t)(at - s.p);
            if (stands_alone(s, from, name.n) && is_free(owner, from, name.n)) {
                found++;
                for (size_t k = from; k < from + name.n; k++)
                    owner[k] = found;
            }
            at = memmem(at + 1, s.n - from - 1, name.p, name.n);
        }
    }
}

/* What a number is kept together with, and how it is printed. */
static const struct {
    const char *said, *printed;
} units[] = { { " us", "\xc2\xa0\xc2\xb5s" },
              { " ms", "\xc2\xa0ms" },
              { " ns", "\xc2\xa0ns" },
              { " %", "\xc2\xa0%" } };

/* The unit that `rest` begins with, after a digit; NULL. */
static const char *unit_at(tg_sv rest, size_t *n)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        tg_sv said = tg_sv_of(units[i].said);
        if (tg_sv_starts(rest, said) && (rest.n == said.n || !part_of_word(rest.p[said.n]))) {
            *n = said.n;
            return units[i].printed;
        }
    }
    return NULL;
}

/* "12 us -> 34 us" as it is printed: sentences are written for terminals. */
void tg_prose_typeset(struct tg_buf *out, tg_sv words)
{
    for (size_t i = 0, n = 0; i < words.n; i++) {
        tg_sv rest = { words.p + i, words.n - i };
        bool after_digit = i && tg_is_digit(words.p[i - 1]);
        const char *unit = after_digit ? unit_at(rest, &n) : NULL;
        if (unit) {
            tg_buf_puts(out, unit);
            i += n - 1;
        } else if (tg_sv_starts(rest, TG_SV(" -> "))) {
            tg_buf_puts(out, " \xe2\x86\x92 ");
            i += 3;
        } else {
            tg_buf_putc(out, words.p[i]);
        }
    }
}

static void put_words(struct tg_buf *out, tg_sv words, const struct tg_prose_style *style)
{
    tg_sv inner = tg_sv_strip(words, " ");
    TG_BUF set = { 0 };
    if (style->as_written)
        tg_buf_add(&set, inner);
    else
        tg_prose_typeset(&set, inner);
    if (words.n && words.p[0] == ' ')
        tg_buf_putc(out, ' ');
    if (inner.n)
        style->words(out, tg_buf_sv(&set));
    if (inner.n && words.p[words.n - 1] == ' ')
        tg_buf_putc(out, ' ');
}

void tg_prose_put(struct tg_buf *out, const struct tg_prose *p, tg_sv s,
                  const struct tg_prose_style *style)
{
    TG_FREE uint32_t *owner = tg_xcalloc(s.n + 1, sizeof *owner);
    find_names(p, s, owner);
    for (size_t at = 0, end; at < s.n; at = end) {
        for (end = at + 1; end < s.n && owner[end] == owner[at];)
            end++;
        if (owner[at])
            style->name(out, (tg_sv){ s.p + at, end - at }, style->with);
        else
            put_words(out, (tg_sv){ s.p + at, end - at }, style);
    }
}
