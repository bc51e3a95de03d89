/*
 * Launch attributes at equal counts: same launches with other registers, same calls with other
 * types. Needs no statistics; one run per side is enough. Only differences are reported.
 */
#include <stdlib.h>

#include "core/diff/internal.h"

/* How often a step has an attribute: events over steps, rounded, so that a cold first step drops
 * out. */
struct attr_use {
    enum tg_attr_kind kind;
    tg_sv value;
    uint64_t per_step;
};

struct attr_set {
    struct attr_use *v;
    size_t n;
    bool cut; /* some were left out of the summary */
};

/* Ranks share most texts: those are not read. */
static int compare_texts(tg_sv a, tg_sv b)
{
    return a.p == b.p && a.n == b.n ? 0 : tg_sv_cmp(a, b);
}

static int by_kind_and_value(const void *pa, const void *pb)
{
    const struct attr_use *a = pa, *b = pb;
    return a->kind != b->kind ? (a->kind > b->kind) - (a->kind < b->kind)
                              : compare_texts(a->value, b->value);
}

static struct attr_set attrs_of_run(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                    size_t run)
{
    struct attr_set s = { 0 };
    TG_FREE struct attr_use *all = NULL; /* of every rank */
    size_t n = 0, kept = 0, steps = 0;

    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank);
        const struct tg_diff_cell *cell = &op->rows->cell[at];
        steps += w->shard[at]->n_steps;
        for (size_t r = 0; r < cell->n; r++)
            n += cell->row[r]->n_attrs;
    }
    all = tg_xrealloc(NULL, n + 1, sizeof *all);
    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        const struct tg_diff_cell *cell = &op->rows->cell[tg_diff_cell_index(w, side, run, rank)];
        for (size_t r = 0; r < cell->n; r++) {
            s.cut |= cell->row[r]->attrs_capped;
            for (size_t i = 0; i < cell->row[r]->n_attrs; i++) {
                const struct tg_attr *f = &cell->row[r]->attrs[i];
                all[s.n++] = (struct attr_use){ f->kind, f->value, f->count };
            }
        }
    }
    if (s.n)
        qsort(all, s.n, sizeof *all, by_kind_and_value);
    for (size_t i = 0, j; i < s.n; i = j) {
        struct attr_use sum = all[i];
        for (j = i + 1; j < s.n && by_kind_and_value(&all[i], &all[j]) == 0; j++)
            sum.per_step += all[j].per_step;
        sum.per_step = steps ? (sum.per_step + steps / 2) / steps : 0;
        if (sum.per_step)
            all[kept++] = sum;
    }
    s.n = kept;
    s.v = TG_NEW_N(w->a, struct attr_use, kept + 1);
    memcpy(s.v, all, kept * sizeof *all);
    return s;
}

static bool same_sets(const struct attr_set *a, const struct attr_set *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (by_kind_and_value(&a->v[i], &b->v[i]) != 0 || a->v[i].per_step != b->v[i].per_step)
            return false;
    return true;
}

/* True if all runs of the side agree (dynamic shapes do not); `out` is what they agree on. */
static bool attrs_of_side(const struct tg_diff_work *w, const struct tg_op *op, int side,
                          struct attr_set *out)
{
    for (size_t run = 0; run < w->c->n_runs[side]; run++) {
        struct attr_set one = attrs_of_run(w, op, side, run);
        if (one.cut || (run > 0 && !same_sets(out, &one)))
            return false;
        *out = one;
    }
    return true;
}

/* ---- text ---- */

/* Types as people write them. */
static void put_word(struct tg_buf *b, tg_sv s)
{
    static const char *const words[][2] = {
        { "c10::BFloat16", "bf16" },      { "c10::Half", "half" },
        { "c10::Float8_e4m3fn", "fp8" },  { "c10::Float8_e5m2", "fp8 e5m2" },
        { "c10::complex<float>", "c64" }, { "c10::complex<double>", "c128" },
        { "long int", "long" },           { "unsigned char", "uint8" },
        { "signed char", "int8" },
    };
    if (s.n >= 2 && s.p[0] == '"' && s.p[s.n - 1] == '"')
        s = (tg_sv){ s.p + 1, s.n - 2 };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tg_sv_eq(s, tg_sv_of(words[i][0])))
            s = tg_sv_of(words[i][1]);
    tg_buf_add(b, s.n ? s : TG_SV("none"));
}

/* Cuts the next top-level element off a JSON array's inside. */
static bool next_element(tg_sv *rest, tg_sv *out)
{
    size_t depth = 0, i = 0;
    bool text = false;

    if (rest->n == 0)
        return false;
    for (; i < rest->n; i++) {
        char ch = rest->p[i];
        if (text && ch == '\\')
            i++;
        else if (ch == '"')
            text = !text;
        else if (!text && (ch == '[' || ch == '{'))
            depth++;
        else if (!text && (ch == ']' || ch == '}'))
            depth -= depth > 0;
        else if (!text && ch == ',' && depth == 0)
            break;
    }
    i = i < rest->n ? i : rest->n;
    *out = (tg_sv){ rest->p, i };
    *rest = i < rest->n ? (tg_sv){ rest->p + i + 1, rest->n - i - 1 } : (tg_sv){ rest->p + i, 0 };
    return true;
}

static bool is_array(tg_sv s)
{
    return s.n >= 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';
}

static void put_array(struct tg_buf *b, tg_sv s)
{
    tg_sv rest = { s.p + 1, s.n - 2 }, e;

    for (bool first = true; next_element(&rest, &e); first = false) {
        if (!first)
            tg_buf_puts(b, ", ");
        put_word(b, e);
    }
}

/* Elements of two arrays that differ; all of them when the lengths differ. Equal pairs are listed
 * once. */
static void put_arrays(struct tg_buf text[2], tg_sv a, tg_sv b)
{
    tg_sv ra = { a.p + 1, a.n - 2 }, rb = { b.p + 1, b.n - 2 }, ea, eb, last_a = { 0 },
          last_b = { 0 };
    size_t start[2] = { text[0].n, text[1].n };

    for (;;) {
        bool more_a = next_element(&ra, &ea), more_b = next_element(&rb, &eb);
        if (!more_a && !more_b)
            return;
        if (more_a != more_b) {
            text[0].n = start[0];
            text[1].n = start[1];
            put_array(&text[0], a);
            put_array(&text[1], b);
            return;
        }
        if (tg_sv_eq(ea, eb) || (tg_sv_eq(ea, last_a) && tg_sv_eq(eb, last_b)))
            continue;
        for (int i = 0; i < 2; i++) {
            if (text[i].n > start[i])
                tg_buf_puts(&text[i], ", ");
            put_word(&text[i], i ? eb : ea);
        }
        last_a = ea;
        last_b = eb;
    }
}

static void put_pair(struct tg_buf text[2], tg_sv key, tg_sv a, tg_sv b)
{
    for (int i = 0; i < 2; i++) {
        if (text[i].n)
            tg_buf_puts(&text[i], ", ");
        if (key.n) {
            tg_buf_add(&text[i], key);
            tg_buf_putc(&text[i], ' ');
        }
    }
    if (is_array(a) && is_array(b) && a.p[1] != '[' && (a.p[1] == '"' || b.p[1] == '"'))
        put_arrays(text, a, b);
    else if (is_array(a) && is_array(b) && (a.p[1] == '[' || b.p[1] == '['))
        put_arrays(text, a, b);
    else {
        put_word(&text[0], a);
        put_word(&text[1], b);
    }
}

/* Splits "key=value"; a line without '=' is a value. */
static tg_sv line_key(tg_sv line, tg_sv *value)
{
    *value = line;
    for (size_t i = 0; i < line.n && i < 24; i++) {
        char ch = line.p[i];
        if (ch == '=') {
            *value = (tg_sv){ line.p + i + 1, line.n - i - 1 };
            return (tg_sv){ line.p, i };
        }
        if (!((ch >= 'a' && ch <= 'z') || ch == '_'))
            break;
    }
    return TG_SV("");
}

static tg_sv value_of(tg_sv lines, tg_sv key)
{
    while (lines.n) {
        tg_sv value, line = tg_sv_cut(&lines, '\n');
        if (tg_sv_eq(line_key(line, &value), key))
            return value;
    }
    return TG_SV("");
}

/* The key names the kind of attribute already; repeating it tells nothing. */
static bool is_plain_key(tg_sv key, enum tg_attr_kind kind)
{
    return key.n == 0 || tg_sv_eq(key, tg_attr_kind_name(kind));
}

static void put_difference(struct tg_buf text[2], enum tg_attr_kind kind, tg_sv a, tg_sv b)
{
    tg_sv rest = a, other = b;

    while (rest.n) {
        tg_sv va, line = tg_sv_cut(&rest, '\n'), key = line_key(line, &va);
        tg_sv vb = value_of(b, key);
        if (!tg_sv_eq(va, vb))
            put_pair(text, is_plain_key(key, kind) ? TG_SV("") : key, va, vb);
    }
    while (other.n) {
        tg_sv vb, line = tg_sv_cut(&other, '\n'), key = line_key(line, &vb);
        if (value_of(a, key).n == 0 && vb.n)
            put_pair(text, is_plain_key(key, kind) ? TG_SV("") : key, TG_SV(""), vb);
    }
}

/* The entries of one kind that only one side has, or more often than the other. */
static size_t only_here(const struct attr_set *here, const struct attr_set *there,
                        enum tg_attr_kind kind, const struct attr_use **first)
{
    size_t n = 0;

    for (size_t i = 0; i < here->n; i++) {
        bool found = false;
        if (here->v[i].kind != kind)
            continue;
        for (size_t j = 0; j < there->n && !found; j++)
            found = by_kind_and_value(&here->v[i], &there->v[j]) == 0 &&
                    here->v[i].per_step <= there->v[j].per_step;
        if (!found && n++ == 0)
            *first = &here->v[i];
    }
    return n;
}

static bool describe(const struct tg_diff_work *w, const struct attr_set set[2],
                     enum tg_attr_kind kind, struct tg_attr_change *out)
{
    const struct attr_use *first[2] = { NULL, NULL };
    size_t n[2] = { only_here(&set[0], &set[1], kind, &first[0]),
                    only_here(&set[1], &set[0], kind, &first[1]) };
    struct tg_buf text[2] = { { 0 }, { 0 } };

    if (n[0] == 0 || n[1] == 0) /* at equal counts a difference has two sides; else not recorded */
        return false;
    put_difference(text, kind, first[0]->value, first[1]->value);
    for (int i = 0; i < 2; i++) {
        if (first[0]->per_step != first[1]->per_step || n[0] > 1 || n[1] > 1)
            tg_buf_printf(&text[i], " (%llu a step)", (unsigned long long)first[i]->per_step);
        if (n[i] > 1)
            tg_buf_printf(&text[i], " and %zu more", n[i] - 1);
    }
    out->kind = kind;
    out->base = tg_arena_sv(w->a, tg_buf_sv(&text[0]));
    out->test = tg_arena_sv(w->a, tg_buf_sv(&text[1]));
    tg_buf_release(&text[0]);
    tg_buf_release(&text[1]);
    return true;
}

static unsigned kinds_of(const struct attr_set *s)
{
    unsigned kinds = 0;
    for (size_t i = 0; i < s->n; i++)
        kinds |= 1u << s->v[i].kind;
    return kinds;
}

static void compare_op(struct tg_diff_work *w, struct tg_op *op)
{
    static const enum tg_attr_kind kinds[] = { TG_ATTR_KIND_LAUNCH, TG_ATTR_KIND_TYPES,
                                               TG_ATTR_KIND_SHAPES, TG_ATTR_KIND_BYTES,
                                               TG_ATTR_KIND_COLLECTIVE };
    enum { N = sizeof kinds / sizeof *kinds };
    struct attr_set set[2];
    struct tg_attr_change found[N];
    size_t n = 0;

    if (!attrs_of_side(w, op, TG_BASE, &set[TG_BASE]) ||
        !attrs_of_side(w, op, TG_TEST, &set[TG_TEST]) || set[0].n == 0 || set[1].n == 0)
        return;
    op->compared_attrs = kinds_of(&set[TG_BASE]) & kinds_of(&set[TG_TEST]);
    for (size_t k = 0; k < N; k++)
        n += describe(w, set, kinds[k], &found[n]);
    if (n == 0)
        return;
    struct tg_attr_change *list = TG_NEW_N(w->a, struct tg_attr_change, n);
    memcpy(list, found, n * sizeof *list);
    op->attrs = list;
    op->n_attrs = n;
}

void tg_compare_attrs(struct tg_diff_work *w)
{
    for (size_t i = 0; i < w->c->n_ops; i++) {
        struct tg_op *op = &w->c->ops[i];
        if (op->change != TG_SAME || !op->present[TG_BASE] || !op->present[TG_TEST])
            continue;
        if (op->kind == TG_KIND_KERNEL && !w->c->same_device)
            continue; /* another device has other launches by nature */
        compare_op(w, op);
    }
}
