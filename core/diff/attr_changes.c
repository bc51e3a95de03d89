/*
 * Launch attributes at equal counts: same launches with other registers, same calls with other
 * types. Needs no statistics; one run per side is enough. Only differences are reported.
 */
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

/* How often the calls of a run have a value: events in its steps, or events by the step. */
struct attr_use {
    tg_sv value;
    uint64_t times;
};

struct attr_list { /* by value */
    struct attr_use *v;
    size_t n;
};

/* The values of one kind in one run, all ranks together. */
struct attr_set {
    struct attr_list all;   /* with the number of events */
    struct attr_list usual; /* by the step, rounded, so that a cold first step drops out */
    uint64_t steps;
    uint64_t of_step; /* events of a step: as many may have another value in one step alone */
    bool cut;         /* some were left out of the summary */
    bool uneven;      /* more dropped out than one step has */
};

struct attr_side {
    struct attr_set *run;
    size_t n, lacking; /* runs; those of them without any */
    bool cut, uneven;
    bool agreed; /* the runs have the same usual values, as often: maybe none */
    bool alike;  /* the runs have the same values in as many of their events, and as many steps */
};

/* Ranks share most texts: those are not read. */
static int compare_texts(tg_sv a, tg_sv b)
{
    return a.p == b.p && a.n == b.n ? 0 : tg_sv_cmp(a, b);
}

static int by_value(const void *pa, const void *pb)
{
    const struct attr_use *a = pa, *b = pb;
    return compare_texts(a->value, b->value);
}

static void sort_and_add_up(struct attr_list *l)
{
    size_t kept = 0;

    TG_SORT(l->v, l->n, by_value);
    for (size_t i = 0; i < l->n; i++) {
        if (kept && by_value(&l->v[kept - 1], &l->v[i]) == 0)
            l->v[kept - 1].times += l->v[i].times;
        else
            l->v[kept++] = l->v[i];
    }
    l->n = kept;
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
    *rest = i < rest->n ? tg_sv_from(*rest, i + 1) : (tg_sv){ rest->p + i, 0 };
    return true;
}

static bool is_array(tg_sv s)
{
    return s.n >= 2 && s.p[0] == '[' && s.p[s.n - 1] == ']';
}

/* A tensor's type begins with a small letter; "Scalar", "Device" and "" stand for other arguments. */
static bool is_number_type(tg_sv e)
{
    return e.n > 1 && e.p[0] == '"' && e.p[1] >= 'a' && e.p[1] <= 'z';
}

/* The inside of an array of types, with its key or without; "" if it is not an array. */
static tg_sv elements_of(tg_sv types)
{
    (void)tg_sv_skip(&types, TG_SV("types="));
    return is_array(types) ? (tg_sv){ types.p + 1, types.n - 2 } : TG_SV("");
}

/* Is it a value to compare? An operator without tensors has no types. */
static bool tells(const struct tg_attr *f)
{
    tg_sv rest = elements_of(f->value), e;
    bool number = f->kind != TG_ATTR_KIND_TYPES || !rest.n;

    while (!number && next_element(&rest, &e))
        number = is_number_type(e);
    return f->count && number;
}

/* The types of its tensors alone, in their order. */
static tg_sv types_of_tensors(tg_sv value, struct tg_arena *a)
{
    tg_sv rest = elements_of(value), e;
    struct tg_buf b = { 0 };
    bool others = false;

    while (next_element(&rest, &e)) {
        if (is_number_type(e))
            tg_buf_printf(&b, "%s%.*s", b.n ? "," : "[", TG_SV_ARG(e));
        else
            others = true;
    }
    tg_buf_putc(&b, ']');
    if (others)
        value = tg_arena_sv(a, tg_buf_sv(&b));
    tg_buf_release(&b);
    return value;
}

/* Adds the row's values of a kind. The kind that is cut has the most of them. */
static void add_values(struct attr_set *s, const struct tg_row *row, enum tg_attr_kind kind,
                       size_t *cap, struct tg_arena *a)
{
    size_t n[TG_ATTR_KINDS] = { 0 };
    bool most = true;

    for (size_t i = 0; i < row->n_attrs; i++) {
        const struct tg_attr *f = &row->attrs[i];
        n[f->kind]++;
        if (f->kind != kind || !tells(f))
            continue;
        s->all.v = tg_grow(s->all.v, cap, s->all.n + 1, sizeof *s->all.v);
        s->all.v[s->all.n++] = (struct attr_use){
            kind == TG_ATTR_KIND_TYPES ? types_of_tensors(f->value, a) : f->value, f->count
        };
    }
    for (size_t k = 0; k < TG_ATTR_KINDS; k++)
        most &= n[k] <= n[kind];
    s->cut |= row->attrs_capped && most;
}

static struct attr_set set_of_run(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                  size_t run, enum tg_attr_kind kind)
{
    struct attr_set s = { 0 };
    uint64_t total = 0, dropped = 0;
    size_t cap = 0;

    for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++) {
        size_t at = tg_diff_cell_index(w, side, run, rank);
        const struct tg_diff_cell *cell = &op->rows->cell[at];
        s.steps += w->shard[at]->n_steps;
        for (size_t r = 0; r < cell->n; r++)
            add_values(&s, cell->row[r], kind, &cap, w->a);
    }
    sort_and_add_up(&s.all);
    s.usual.v = tg_xrealloc(NULL, s.all.n + 1, sizeof *s.usual.v);
    for (size_t i = 0; i < s.all.n; i++) {
        uint64_t times = s.all.v[i].times, by_step = s.steps ? (times + s.steps / 2) / s.steps : 0;
        total += times;
        if (by_step)
            s.usual.v[s.usual.n++] = (struct attr_use){ s.all.v[i].value, by_step };
        else
            dropped += times;
    }
    s.of_step = s.steps ? (total + s.steps - 1) / s.steps : 0;
    s.uneven = dropped > s.of_step;
    return s;
}

static bool same_lists(const struct attr_list *a, const struct attr_list *b)
{
    bool same = a->n == b->n;

    for (size_t i = 0; same && i < a->n; i++)
        same = by_value(&a->v[i], &b->v[i]) == 0 && a->v[i].times == b->v[i].times;
    return same;
}

static struct attr_side side_of(const struct tg_diff_work *w, const struct tg_op *op, int side,
                                enum tg_attr_kind kind)
{
    struct attr_side s = { .n = w->c->n_runs[side], .agreed = true, .alike = true };

    s.run = tg_xrealloc(NULL, s.n + 1, sizeof *s.run);
    for (size_t i = 0; i < s.n; i++) {
        s.run[i] = set_of_run(w, op, side, i, kind);
        s.lacking += !s.run[i].all.n;
        s.cut |= s.run[i].cut;
        s.uneven |= s.run[i].uneven;
        s.agreed &= same_lists(&s.run[0].usual, &s.run[i].usual);
        s.alike &= s.run[0].steps == s.run[i].steps && same_lists(&s.run[0].all, &s.run[i].all);
    }
    return s;
}

static void release(struct attr_side *s)
{
    for (size_t i = 0; i < s->n; i++) {
        free(s->run[i].all.v);
        free(s->run[i].usual.v);
    }
    free(s->run);
}

static const struct attr_use *value_in(const struct attr_list *l, const struct attr_use *x)
{
    return l->n ? bsearch(x, l->v, l->n, sizeof *l->v, by_value) : NULL;
}

/* What one list has and another lacks, or has less often. */
struct surplus {
    size_t n; /* values */
    const struct attr_use *first;
    uint64_t more;    /* events: by how many more there are */
    uint64_t foreign; /* those of them whose value the other list lacks */
};

static struct surplus surplus_of(const struct attr_list *here, const struct attr_list *there)
{
    struct surplus s = { 0 };

    for (size_t i = 0; i < here->n; i++) {
        const struct attr_use *x = &here->v[i], *y = value_in(there, x);
        uint64_t had = y ? y->times : 0;
        if (x->times <= had)
            continue;
        s.more += x->times - had;
        s.foreign += y ? 0 : x->times;
        if (s.n++ == 0)
            s.first = x;
    }
    return s;
}

static bool share_values(const struct attr_list *a, const struct attr_list *b)
{
    for (size_t i = 0; i < a->n; i++)
        if (value_in(b, &a->v[i]))
            return true;
    return false;
}

/* The values of all runs. */
static struct attr_list together(const struct attr_side *s)
{
    struct attr_list l = { 0 };
    size_t n = 0;

    for (size_t i = 0; i < s->n; i++)
        n += s->run[i].all.n;
    l.v = tg_xrealloc(NULL, n + 1, sizeof *l.v);
    for (size_t i = 0; i < s->n; i++) {
        memcpy(l.v + l.n, s->run[i].all.v, s->run[i].all.n * sizeof *l.v);
        l.n += s->run[i].all.n;
    }
    sort_and_add_up(&l);
    return l;
}

/* Values come again: each run shares some with each other one. One run must have the same in its steps. */
static bool comes_again(const struct attr_side *s)
{
    for (size_t i = 0; i < s->n; i++)
        for (size_t k = 0; k < i; k++)
            if (!share_values(&s->run[i].all, &s->run[k].all))
                return false;
    return s->n > 1 || !s->uneven;
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
    s = tg_sv_unquoted(s);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tg_sv_eq(s, tg_sv_of(words[i][0])))
            s = tg_sv_of(words[i][1]);
    tg_buf_add(b, s.n ? s : TG_SV("none"));
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
            *value = tg_sv_from(line, i + 1);
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

/* What the text of a difference is about. */
enum told { BY_STEP, AT_ALL, IN_SOME_CALLS };

/* Two lists that differ; at equal counts a difference has two sides. */
static bool describe(const struct tg_diff_work *w, enum tg_attr_kind kind,
                     const struct attr_list *base, const struct attr_list *test, enum told told,
                     struct tg_attr_change *out)
{
    const struct surplus s[2] = { surplus_of(base, test), surplus_of(test, base) };
    struct tg_buf text[2] = { { 0 }, { 0 } };

    if (s[0].n == 0 || s[1].n == 0)
        return false;
    put_difference(text, kind, s[0].first->value, s[1].first->value);
    for (int i = 0; i < 2; i++) {
        if (told == BY_STEP && (s[0].first->times != s[1].first->times || s[0].n > 1 || s[1].n > 1))
            tg_buf_printf(&text[i], " (%llu a step)", (unsigned long long)s[i].first->times);
        if (s[i].n > 1)
            tg_buf_printf(&text[i], " and %zu more", s[i].n - 1);
    }
    if (told == IN_SOME_CALLS)
        tg_buf_puts(&text[1], " in some calls");
    out->kind = kind;
    out->base = tg_arena_sv(w->a, tg_buf_sv(&text[0]));
    out->test = tg_arena_sv(w->a, tg_buf_sv(&text[1]));
    tg_buf_release(&text[0]);
    tg_buf_release(&text[1]);
    return true;
}

/* At equal counts, where each side agrees with itself: false says nothing. */
static bool differ_exactly(const struct tg_diff_work *w, enum tg_attr_kind kind,
                           const struct attr_side s[2], struct tg_attr_change *out)
{
    bool several = s[TG_BASE].n > 1 && s[TG_TEST].n > 1;

    if (s[TG_BASE].agreed && s[TG_TEST].agreed &&
        describe(w, kind, &s[TG_BASE].run->usual, &s[TG_TEST].run->usual, BY_STEP, out))
        return true;
    return several && s[TG_BASE].alike && s[TG_TEST].alike &&
           s[TG_BASE].run->steps == s[TG_TEST].run->steps &&
           surplus_of(&s[TG_TEST].run->all, &s[TG_BASE].run->all).more > s[TG_TEST].run->of_step &&
           describe(w, kind, &s[TG_BASE].run->all, &s[TG_TEST].run->all, AT_ALL, out);
}

/*
 * The baseline has the same values in all its runs, and each fresh run has others in more than a
 * step: `had` are all values of the baseline.
 */
static bool differ_in_part(const struct tg_diff_work *w, enum tg_attr_kind kind,
                           const struct attr_side s[2], const struct attr_list *had,
                           struct tg_attr_change *out)
{
    const struct attr_set *fresh = s[TG_TEST].run;
    struct attr_list other = { tg_xrealloc(NULL, fresh->all.n + 1, sizeof *other.v), 0 };
    bool differ = s[TG_BASE].agreed && !s[TG_BASE].uneven;

    for (size_t i = 0; i < s[TG_TEST].n; i++)
        differ &= surplus_of(&fresh[i].all, had).foreign > fresh[i].of_step;
    for (size_t i = 0; i < fresh->all.n; i++)
        if (!value_in(had, &fresh->all.v[i]))
            other.v[other.n++] = fresh->all.v[i];
    differ = differ && describe(w, kind, &s[TG_BASE].run->usual, &other, IN_SOME_CALLS, out);
    free(other.v);
    return differ;
}

/* Is there a difference that neither other data nor other counts explain? */
static bool differ(const struct tg_diff_work *w, const struct tg_op *op, enum tg_attr_kind kind,
                   const struct attr_side s[2], struct tg_attr_change *out)
{
    struct attr_list had = together(&s[TG_BASE]), has = together(&s[TG_TEST]);
    bool same_count = op->change == TG_SAME, found;

    found = same_count && differ_exactly(w, kind, s, out);
    found = found || (!share_values(&had, &has) && comes_again(&s[TG_BASE]) &&
                      comes_again(&s[TG_TEST]) && describe(w, kind, &had, &has, AT_ALL, out));
    found = found || (same_count && differ_in_part(w, kind, s, &had, out));
    free(had.v);
    free(has.v);
    return found;
}

/* Each side agrees with itself, and both have the same: at other counts the same values. */
static bool are_equal(const struct tg_op *op, const struct attr_side s[2])
{
    const struct attr_set *a = s[TG_BASE].run, *b = s[TG_TEST].run;

    if (s[TG_BASE].alike && s[TG_TEST].alike && a->steps == b->steps &&
        same_lists(&a->all, &b->all))
        return true;
    if (!s[TG_BASE].agreed || !s[TG_TEST].agreed || s[TG_BASE].uneven || s[TG_TEST].uneven)
        return false;
    return op->change == TG_SAME ? same_lists(&a->usual, &b->usual)
                                 : !surplus_of(&a->usual, &b->usual).foreign &&
                                       !surplus_of(&b->usual, &a->usual).foreign;
}

/* The bits of the sides of which something holds. */
static unsigned sides(bool base, bool test)
{
    return (base ? 1u << TG_BASE : 0) | (test ? 1u << TG_TEST : 0);
}

/* Why nothing can be said of what every run has. */
static struct tg_attr_state why_not(const struct tg_op *op, const struct attr_side s[2])
{
    const struct attr_side *b = &s[TG_BASE], *t = &s[TG_TEST];
    unsigned by_step = sides(b->uneven || !b->run->usual.n, t->uneven || !t->run->usual.n);

    if (!b->agreed || !t->agreed)
        return (struct tg_attr_state){ TG_ATTR_RUNS_DIFFER, sides(!b->agreed, !t->agreed) };
    if (op->change != TG_SAME && !by_step)
        return (struct tg_attr_state){ TG_ATTR_OTHER_COUNT, 0 };
    return (struct tg_attr_state){ TG_ATTR_STEPS_DIFFER, by_step ? by_step : sides(true, true) };
}

/* Each side's runs: false if that tells why nothing can be compared. */
static bool all_recorded(const struct attr_side s[2], struct tg_attr_state *out)
{
    const struct attr_side *b = &s[TG_BASE], *t = &s[TG_TEST];

    if (b->lacking || t->lacking)
        *out = (struct tg_attr_state){ TG_ATTR_RUNS_LACK, sides(b->lacking, t->lacking) };
    else if (b->cut || t->cut)
        *out = (struct tg_attr_state){ TG_ATTR_CUT, sides(b->cut, t->cut) };
    return !b->lacking && !t->lacking && !b->cut && !t->cut;
}

static struct tg_attr_state compare_kind(const struct tg_diff_work *w, const struct tg_op *op,
                                         enum tg_attr_kind kind, struct tg_attr_change *out,
                                         size_t *n)
{
    struct attr_side s[2] = { side_of(w, op, TG_BASE, kind), side_of(w, op, TG_TEST, kind) };
    struct tg_attr_state state = { TG_ATTR_COMPARED, 0 };

    if (all_recorded(s, &state)) {
        bool found = differ(w, op, kind, s, &out[*n]);
        *n += found;
        if (!found && !are_equal(op, s))
            state = why_not(op, s);
    }
    release(&s[TG_BASE]);
    release(&s[TG_TEST]);
    return state;
}

/* The kinds that any call of a side has, as 1 << kind; none of a view, whose input another operator made. */
static unsigned kinds_of(const struct tg_diff_work *w, const struct tg_op *op, int side)
{
    unsigned kinds = 0;

    for (size_t at = w->first[side]; at < (side ? w->n_cells : w->first[TG_TEST]); at++) {
        const struct tg_diff_cell *cell = &op->rows->cell[at];
        for (size_t r = 0; r < cell->n; r++)
            for (size_t i = 0; i < cell->row[r]->n_attrs; i++)
                kinds |= tells(&cell->row[r]->attrs[i]) ? 1u << cell->row[r]->attrs[i].kind : 0;
    }
    return kinds && op->kind == TG_KIND_OP && tg_name_is_view(op->name) ? 0 : kinds;
}

static void compare_op(struct tg_diff_work *w, struct tg_op *op)
{
    static const enum tg_attr_kind kinds[] = { TG_ATTR_KIND_LAUNCH, TG_ATTR_KIND_TYPES,
                                               TG_ATTR_KIND_SHAPES, TG_ATTR_KIND_BYTES,
                                               TG_ATTR_KIND_COLLECTIVE };
    enum { N = sizeof kinds / sizeof *kinds };
    unsigned had = kinds_of(w, op, TG_BASE), has = kinds_of(w, op, TG_TEST);
    bool one_side = !op->present[TG_BASE] || !op->present[TG_TEST];
    struct tg_attr_change found[N];
    size_t n = 0;

    for (size_t k = 0; k < N; k++) {
        unsigned bit = 1u << kinds[k];
        unsigned lack = sides(!(had & bit), !(has & bit));
        struct tg_attr_state *state = &op->attr[kinds[k]];
        if (op->kind == TG_KIND_KERNEL && !w->c->same_device)
            *state =
                (struct tg_attr_state){ TG_ATTR_OTHER_DEVICE, 0 }; /* other launches by nature */
        else if (lack == sides(true, true))
            *state = (struct tg_attr_state){ TG_ATTR_NONE, 0 };
        else if (lack)
            *state = (struct tg_attr_state){ one_side ? TG_ATTR_NAME_LACKS : TG_ATTR_LACKS, lack };
        else
            *state = compare_kind(w, op, kinds[k], found, &n);
    }
    if (n)
        op->attrs = tg_arena_copy(w->a, found, n, sizeof *found);
    op->n_attrs = n;
}

void tg_compare_attrs(struct tg_diff_work *w)
{
    for (size_t i = 0; i < w->c->n_ops; i++)
        compare_op(w, &w->c->ops[i]);
}

const char *tg_attr_state_text(const struct tg_op *op, enum tg_attr_kind kind, struct tg_arena *a)
{
    static const char *const of[TG_ATTR_KINDS] = { "bytes", "collectives", "launch configurations",
                                                   "input shapes", "input types" };
    static const char *const side[] = { "", "the baseline", "the fresh traces", "both sides" };
    static const struct {
        const char *before, *after;
    } text[] = {
        [TG_ATTR_NONE] = { "no ", "" },
        [TG_ATTR_NAME_LACKS] = { "no ", " to compare with in " },
        [TG_ATTR_LACKS] = { "no ", " in " },
        [TG_ATTR_RUNS_LACK] = { "no ", " in some runs of " },
        [TG_ATTR_CUT] = { "more ", " than a summary keeps, in " },
        [TG_ATTR_RUNS_DIFFER] = { "", " differ from run to run in " },
        [TG_ATTR_STEPS_DIFFER] = { "", " differ from step to step or rank to rank in " },
        [TG_ATTR_OTHER_COUNT] = { "the ", " are those of more or fewer calls" },
        [TG_ATTR_OTHER_DEVICE] = { "", " of different devices" },
    };
    const struct tg_attr_state *s = &op->attr[kind];

    return s->what == TG_ATTR_COMPARED
               ? NULL
               : tg_arena_printf(a, "%s%s%s%s", text[s->what].before, of[kind], text[s->what].after,
                                 side[s->sides]);
}
