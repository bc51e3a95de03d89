/*
 * Launch attributes at equal counts: same launches with other registers, same calls with other
 * types. Needs no statistics; one run per side is enough. Only differences are reported.
 */
#include <stdlib.h>

#include "core/diff/internal.h"
#include "core/diff/names.h"

/* A value of one kind, and how many events have it, all ranks together: of each run, those of the
 * baseline first, and of each side. */
struct value {
    tg_sv text;
    uint64_t *times, all[2];
};

struct run {
    uint64_t steps;
    uint64_t of_step; /* events of a step: as many may have another value in one step alone */
};

struct table {       /* of one operator */
    struct value *v; /* by text */
    size_t n;
    struct run *run;
    size_t first[2], end[2]; /* runs of a side */
    unsigned lack,
        cut; /* sides that have a run without any value, or with more than a summary keeps */
};

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

/* A tensor's type begins with a small letter; "Scalar",
 * "Device" and "" stand for other arguments. */
static bool is_number_type(tg_sv e)
{
    return e.n > 1 && e.p[0] == '"' && e.p[1] >= 'a' && e.p[1] <= 'z';
}

/* The inside of an array; "" if it is not an array. */
static tg_sv elements_of(tg_sv array)
{
    return is_array(array) ? (tg_sv){ array.p + 1, array.n - 2 } : TG_SV("");
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
    TG_BUF b = { 0 };
    bool others = false;
    while (!others && next_element(&rest, &e))
        others = !is_number_type(e);
    if (!others)
        return value;
    for (rest = elements_of(value); next_element(&rest, &e);)
        if (is_number_type(e))
            tg_buf_printf(&b, "%s%.*s", b.n ? "," : "[", TG_SV_ARG(e));
    tg_buf_putc(&b, ']');
    return tg_arena_sv(a, tg_buf_sv(&b));
}

/* One value in one row. */
struct event {
    tg_sv text;
    size_t run;
    uint64_t times;
};

/* Ranks share most texts: those are not read. */
static int by_text(const void *pa, const void *pb)
{
    const struct event *a = pa, *b = pb;
    return a->text.p == b->text.p && a->text.n == b->text.n ? 0 : tg_sv_cmp(a->text, b->text);
}

static struct table table_of(const struct tg_diff_work *w, const struct tg_op *op,
                             enum tg_attr_kind kind)
{
    size_t n_base = w->c->n_runs[TG_BASE], n_runs = n_base + w->c->n_runs[TG_TEST];
    struct table t = { .first = { 0, n_base }, .end = { n_base, n_runs } };
    struct event *v = NULL;
    size_t n = 0, cap = 0;
    t.run = tg_xcalloc(n_runs + 1, sizeof *t.run);
    for (size_t run = 0, at = 0; run < n_runs; run++) {
        int side = run >= n_base;
        size_t known = n;
        uint64_t all = 0, steps = 0;
        for (size_t rank = 0; rank < w->c->n_ranks[side]; rank++, at++) {
            const struct tg_diff_cell *cell = &op->rows->cell[at];
            steps += w->shard[at]->n_steps;
            for (size_t r = 0; r < cell->n; r++) {
                const struct tg_row *row = cell->row[r];
                size_t of[TG_ATTR_KINDS] = { 0 };
                bool most = row->attrs_capped;
                TG_EACH(const struct tg_attr, f, row->attrs, row->n_attrs) {
                    of[f->kind]++;
                    if (f->kind != kind || !tells(f))
                        continue;
                    all += f->count;
                    *TG_PUSH(v, n, cap) = (struct event){ kind == TG_ATTR_KIND_TYPES
                                                              ? types_of_tensors(f->value, w->a)
                                                              : f->value,
                                                          run, f->count };
                }
                /* Values were left out of the summary: of the kind that has the most of them. */
                for (size_t k = 0; k < TG_ATTR_KINDS; k++)
                    most &= of[k] <= of[kind];
                t.cut |= (unsigned)most << side;
            }
        }
        t.run[run] = (struct run){ steps, steps ? (all + steps - 1) / steps : 0 };
        t.lack |= (unsigned)(n == known) << side;
    }
    TG_SORT(v, n, by_text);
    t.v = tg_xcalloc(n + 1, sizeof *t.v);
    for (size_t i = 0; i < n; i++) {
        if (!i || by_text(&v[i - 1], &v[i]) != 0)
            t.v[t.n++] = (struct value){ v[i].text, tg_xcalloc(n_runs, sizeof *t.v->times), { 0 } };
        t.v[t.n - 1].times[v[i].run] += v[i].times;
        t.v[t.n - 1].all[v[i].run >= n_base] += v[i].times;
    }
    free(v);
    return t;
}

/* ---- what a side has ---- */

/* Events by the step, rounded, so that a cold first step drops out. */
static uint64_t usual(const struct table *t, size_t value, size_t run)
{
    uint64_t steps = t->run[run].steps;
    return steps ? (t->v[value].times[run] + steps / 2) / steps : 0;
}

/* Have the runs the same usual values, as often? Maybe none. */
static bool agrees(const struct table *t, int side)
{
    for (size_t i = 0; i < t->n; i++)
        for (size_t run = t->first[side]; run < t->end[side]; run++)
            if (usual(t, i, run) != usual(t, i, t->first[side]))
                return false;
    return true;
}

/* Does more drop out of a run than one step has? */
static bool is_uneven(const struct table *t, int side)
{
    for (size_t run = t->first[side]; run < t->end[side]; run++) {
        uint64_t dropped = 0;
        for (size_t i = 0; i < t->n; i++)
            dropped += usual(t, i, run) ? 0 : t->v[i].times[run];
        if (dropped > t->run[run].of_step)
            return true;
    }
    return false;
}

/* Events of a run with values that no run of the side has: of its own side,
 * that no other run has. */
static uint64_t foreign(const struct table *t, size_t run, int side)
{
    uint64_t times = 0;
    for (size_t i = 0; i < t->n; i++) {
        bool own = t->first[side] <= run && run < t->end[side];
        times += t->v[i].all[side] == (own ? t->v[i].times[run] : 0) ? t->v[i].times[run] : 0;
    }
    return times;
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

/* Of two arrays the elements that differ, equal pairs once; all of them when the lengths differ. */
static void put_pair(struct tg_buf text[2], tg_sv key, tg_sv a, tg_sv b)
{
    tg_sv rest[2] = { elements_of(a), elements_of(b) }, e[2], last[2] = { { 0 } };
    size_t start[2], length[2] = { 0 };
    bool more[2] = { true, true };
    for (int i = 0; i < 2; i++) {
        if (text[i].n)
            tg_buf_puts(&text[i], ", ");
        if (key.n)
            tg_buf_printf(&text[i], "%.*s ", TG_SV_ARG(key));
    }
    if (!is_array(a) || !is_array(b) || !(strchr("[\"", a.p[1]) || strchr("[\"", b.p[1]))) {
        put_word(&text[0], a);
        put_word(&text[1], b);
        return;
    }
    for (int i = 0; i < 2; i++) {
        start[i] = text[i].n;
        for (tg_sv of = rest[i]; next_element(&of, &e[i]);)
            length[i]++;
    }
    while (more[0] || more[1]) {
        for (int i = 0; i < 2; i++)
            more[i] = next_element(&rest[i], &e[i]);
        if (length[0] == length[1] &&
            (tg_sv_eq(e[0], e[1]) || (tg_sv_eq(e[0], last[0]) && tg_sv_eq(e[1], last[1]))))
            continue;
        for (int i = 0; i < 2; i++) {
            if (more[i] && text[i].n > start[i])
                tg_buf_puts(&text[i], ", ");
            if (more[i])
                put_word(&text[i], e[i]);
        }
        memcpy(last, e, sizeof last);
    }
}

/* What the text of a difference has: how often a usual step has a value, or what is new. */
enum told { BY_STEP, NEW };

static uint64_t told_times(const struct table *t, size_t value, int side, enum told told)
{
    return told == BY_STEP                               ? usual(t, value, t->first[side])
           : side == TG_TEST && t->v[value].all[TG_BASE] ? 0
                                                         : t->v[value].all[side];
}

/* Is there a value that both sides have? */
static bool any_stays(const struct table *t)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->v[i].all[TG_BASE] && t->v[i].all[TG_TEST])
            return true;
    return false;
}

/* Two sides that differ; at equal counts a difference has two sides. */
static bool describe(const struct tg_diff_work *w, enum tg_attr_kind kind, const struct table *t,
                     enum told told, struct tg_attr_change *out)
{
    struct tg_buf text[2] = { { 0 }, { 0 } };
    size_t n[2] = { 0 }, first[2] = { 0 }; /* values that a side has more often */
    uint64_t times[2] = { 0 };
    for (size_t i = 0; i < t->n; i++) {
        uint64_t of[2] = { told_times(t, i, TG_BASE, told), told_times(t, i, TG_TEST, told) };
        int more = of[TG_TEST] > of[TG_BASE];
        if (of[TG_TEST] == of[TG_BASE] || n[more]++)
            continue;
        first[more] = i;
        times[more] = of[more];
    }
    if (n[0] == 0 || n[1] == 0)
        return false;
    /* Lines of "key=value", or one bare value; the key that names the kind itself tells nothing. */
    tg_sv b = t->v[first[1]].text;
    tg_sv name = tg_attr_kind_name(kind);
    if (kind != TG_ATTR_KIND_LAUNCH && kind != TG_ATTR_KIND_COLLECTIVE)
        put_pair(text, TG_SV(""), t->v[first[0]].text, b);
    else
        for (int side = 0; side < 2; side++)
            for (tg_sv rest = side ? b : t->v[first[0]].text; rest.n;) {
                tg_sv line = tg_sv_cut(&rest, '\n'), key = tg_sv_cut(&line, '=');
                tg_sv va = tg_sv_value(t->v[first[0]].text, key), vb = tg_sv_value(b, key);
                if (!tg_sv_eq(va, vb) && (side == 0 || !va.n))
                    put_pair(text, tg_sv_eq(key, name) ? TG_SV("") : key, va, vb);
            }
    for (int i = 0; i < 2; i++) {
        if (told == BY_STEP && (times[0] != times[1] || n[0] > 1 || n[1] > 1))
            tg_buf_printf(&text[i], " (%llu a step)", (unsigned long long)times[i]);
        if (n[i] > 1)
            tg_buf_printf(&text[i], " and %zu more", n[i] - 1);
    }
    if (told == NEW && any_stays(t))
        tg_buf_puts(&text[1], " in some calls");
    out->kind = kind;
    out->base = tg_arena_sv(w->a, tg_buf_sv(&text[0]));
    out->test = tg_arena_sv(w->a, tg_buf_sv(&text[1]));
    tg_buf_release(&text[0]);
    tg_buf_release(&text[1]);
    return true;
}

/* Have several runs, those from `first` on, the same values in as many events, as with one seed? */
static bool are_alike(const struct table *t, size_t first, size_t end)
{
    bool alike = end - first > 1;
    for (size_t run = first; run < end; run++) {
        alike &= t->run[run].steps == t->run[first].steps;
        for (size_t i = 0; alike && i < t->n; i++)
            alike = t->v[i].times[run] == t->v[i].times[first];
    }
    return alike;
}

/* Have the steps and runs of a side one set of values, cold first steps aside? */
static bool is_steady(const struct table *t, int side)
{
    bool any = false;
    for (size_t i = 0; i < t->n; i++)
        any |= usual(t, i, t->first[side]) > 0;
    return any && agrees(t, side) && !is_uneven(t, side);
}

/* Each fresh run has values in more than a step that the baseline has never. Other data have, too:
 * so none of those of the baseline stays, which come again from run to run,
 * or its steps or runs have the same. */
static bool has_new(const struct tg_op *op, const struct table *t)
{
    for (size_t run = t->first[TG_TEST]; run < t->end[TG_TEST]; run++)
        if (foreign(t, run, TG_BASE) <= t->run[run].of_step)
            return false;
    /* Do the values of its runs come again from run to run, but for those of one step? One run must
     * have the same in its steps. */
    if (!any_stays(t) && t->end[TG_BASE] == 1)
        return !is_uneven(t, TG_BASE);
    if (!any_stays(t)) {
        for (size_t run = 0; run < t->end[TG_BASE]; run++)
            if (foreign(t, run, TG_BASE) > t->run[run].of_step)
                return false;
        return true;
    }
    return op->change == TG_SAME &&
           (is_steady(t, TG_BASE) || are_alike(t, t->first[TG_BASE], t->end[TG_BASE]));
}

static struct tg_attr_state compare_kind(const struct tg_diff_work *w, const struct tg_op *op,
                                         enum tg_attr_kind kind, struct tg_attr_change *out,
                                         size_t *n)
{
    struct table t = table_of(w, op, kind);
    struct tg_attr_state state = { TG_ATTR_COMPARED, 0 };
    unsigned vary = is_steady(&t, TG_BASE) ? 0 : 1u << TG_BASE;
    vary |= is_steady(&t, TG_TEST) ? 0 : 1u << TG_TEST;
    bool same = op->change == TG_SAME, equal = true;
    /* The same usual values, and as often; at other counts the same values. */
    for (size_t i = 0; i < t.n; i++) {
        uint64_t a = usual(&t, i, t.first[TG_BASE]), b = usual(&t, i, t.first[TG_TEST]);
        equal = equal && (same ? a == b : !a == !b);
    }
    if (t.lack)
        state = (struct tg_attr_state){ TG_ATTR_LACKS, t.lack };
    else if (t.cut)
        state = (struct tg_attr_state){ TG_ATTR_CUT, t.cut };
    else if ((same && agrees(&t, TG_BASE) && agrees(&t, TG_TEST) &&
              describe(w, kind, &t, BY_STEP, &out[*n])) ||
             (has_new(op, &t) && describe(w, kind, &t, NEW, &out[*n])))
        ++*n; /* neither other data nor other counts explain it */
    else if (vary && !are_alike(&t, 0, t.end[TG_TEST]))
        state = (struct tg_attr_state){ TG_ATTR_VARIES, vary };
    else if (!vary && !equal)
        state = (struct tg_attr_state){ TG_ATTR_OTHER_COUNT, 0 };
    for (size_t i = 0; i < t.n; i++)
        free(t.v[i].times);
    free(t.v);
    free(t.run);
    return state;
}

void tg_compare_attrs(struct tg_diff_work *w)
{
    static const enum tg_attr_kind kinds[] = { TG_ATTR_KIND_LAUNCH, TG_ATTR_KIND_TYPES,
                                               TG_ATTR_KIND_SHAPES, TG_ATTR_KIND_BYTES,
                                               TG_ATTR_KIND_COLLECTIVE };
    enum { N = sizeof kinds / sizeof *kinds };
    TG_EACH(struct tg_op, op, w->c->ops, w->c->n_ops) {
        struct tg_attr_change found[N];
        /* The kinds that any call has, as 1 << kind; none of a view, whose input another operator
         * made. */
        unsigned has = 0;
        for (size_t at = 0; !op->view && at < w->n_cells; at++)
            for (size_t r = 0; r < op->rows->cell[at].n; r++) {
                const struct tg_row *row = op->rows->cell[at].row[r];
                for (size_t k = 0; k < row->n_attrs; k++)
                    has |= tells(&row->attrs[k]) ? 1u << row->attrs[k].kind : 0;
            }
        for (size_t k = 0; k < N; k++) {
            struct tg_attr_state *state = &op->attr[kinds[k]];
            if (op->kind == TG_KIND_KERNEL && !tg_same_device(w->c))
                state->what = TG_ATTR_OTHER_DEVICE; /* other launches by nature */
            else if (has & 1u << kinds[k])
                *state = compare_kind(w, op, kinds[k], found, &op->n_attrs);
        }
        if (op->n_attrs)
            op->attrs = tg_arena_copy(w->a, found, op->n_attrs, sizeof *found);
    }
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
        [TG_ATTR_LACKS] = { "", " are not in every run of " },
        [TG_ATTR_CUT] = { "more ", " than a summary keeps, in " },
        [TG_ATTR_VARIES] = { "", " differ between runs, steps or ranks of " },
        [TG_ATTR_OTHER_COUNT] = { "the ", " are those of more or fewer calls" },
        [TG_ATTR_OTHER_DEVICE] = { "", " of different devices" },
    };
    const struct tg_attr_state *s = &op->attr[kind];
    return s->what == TG_ATTR_COMPARED
               ? NULL
               : tg_arena_printf(a, "%s%s%s%s", text[s->what].before, of[kind], text[s->what].after,
                                 side[s->sides]);
}
