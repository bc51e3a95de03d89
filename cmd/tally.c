#include "cmd/tally.h"

#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/names.h"

void tg_tally_release(struct tg_tally_sums *t)
{
    tg_strmap_release(&t->keys);
    tg_strmap_release(&t->names);
    tg_buf_release(&t->text);
    free(t->v);
}

size_t tg_tally_add(struct tg_tally_sums *t, int side, const struct tg_trace *trace,
                    const struct tg_steps *steps, const int64_t *numbers, size_t n_numbers)
{
    size_t taken = 0;
    for (size_t i = 0; i < steps->n; i++)
        taken += tg_listed(numbers, n_numbers, steps->v[i].number);
    t->units[side] += taken;
    for (size_t i = 0; i < trace->n_spans; i++) {
        const struct tg_span *s = tg_span_at(trace, i);
        const struct tg_name *name = tg_span_name(trace, s);
        size_t known = t->keys.n;
        tg_buf_clear(&t->text);
        tg_buf_putc(&t->text, (char)name->kind);
        tg_buf_add(&t->text, name->name);
        /* The lines of an attribute text (core/trace/trace.h) that split: shapes alone, grid and
         * block as they are. */
        tg_sv attr = s->attr != TG_NO_ID ? trace->attrs.text[s->attr] : TG_SV("");
        while (attr.n) {
            tg_sv line = tg_sv_cut(&attr, '\n'), value = line, key = tg_sv_cut(&value, '=');
            bool splits = t->by == TG_TALLY_SHAPE
                              ? tg_sv_eq(key, TG_SV("shapes"))
                              : tg_sv_eq(key, TG_SV("grid")) || tg_sv_eq(key, TG_SV("block"));
            if (!splits)
                continue;
            tg_buf_putc(&t->text, ' ');
            tg_buf_add(&t->text, t->by == TG_TALLY_SHAPE ? value : line);
        }
        uint32_t id = tg_strmap_add(&t->keys, tg_buf_sv(&t->text));
        if (id == known) {
            t->v = tg_grow(t->v, &t->cap, known + 1, sizeof *t->v);
            uint32_t raw_id = tg_strmap_add(&t->names, name->name);
            tg_sv raw = t->names.text[raw_id];
            t->v[id] = (struct tg_op){ .kind = name->kind,
                                       .raw = { raw, raw },
                                       .partner = TG_NO_ID,
                                       .region = TG_NO_ID,
                                       .leader = TG_NO_ID };
        }
        struct tg_op *sum = &t->v[id];
        int32_t step = steps->step_of[i];
        sum->whole_count[side]++;
        sum->whole_total[side] += s->dur;
        if (step >= 0 && tg_listed(numbers, n_numbers, steps->v[step].number)) {
            sum->step_count[side]++;
            sum->step_total[side] += s->dur;
        }
    }
    return taken;
}

void tg_tally_comparison(struct tg_comparison *out, const struct tg_tally_sums *t,
                         struct tg_arena *a)
{
    *out = (struct tg_comparison){ .arena = a, .n_ops = t->keys.n };
    out->ops = tg_arena_copy(a, t->v, t->keys.n, sizeof *t->v);
    for (size_t i = 0; i < t->keys.n; i++) {
        struct tg_op *op = &out->ops[i];
        tg_sv raw = tg_arena_sv(a, op->raw[0]);
        op->name = tg_arena_sv(a, tg_sv_from(t->keys.text[i], 1));
        for (int side = 0; side < 2; side++) {
            op->present[side] = op->whole_count[side] > 0;
            op->raw[side] = op->present[side] ? raw : TG_SV("");
        }
    }
    for (int side = 0; side < 2; side++) {
        out->n_units[side] = t->units[side];
        out->n_runs[side] = out->n_ranks[side] = out->n_steps[side] = 1;
    }
}

/* ---- joined names ---- */

void tg_join_names(struct tg_comparison *c, bool short_names, struct tg_arena *a)
{
    TG_AUTO(tg_strmap_release) struct tg_strmap keys = { 0 };
    TG_BUF text = { 0 };
    size_t kept = 0;
    for (size_t i = 0; i < c->n_ops; i++) {
        tg_buf_clear(&text);
        tg_buf_putc(&text, (char)c->ops[i].kind);
        if (tg_step_number(c->ops[i].name) >= 0)
            tg_buf_puts(&text, "ProfilerStep");
        else if (short_names)
            tg_name_short(c->ops[i].name, &text);
        else
            tg_buf_add(&text, c->ops[i].name);
        uint32_t id = tg_strmap_add(&keys, tg_buf_sv(&text));
        if (id < kept) {
            struct tg_op *to = &c->ops[id];
            const struct tg_op *op = &c->ops[i];
            for (int side = 0; side < 2; side++) {
                to->present[side] |= op->present[side];
                if (!to->raw[side].n)
                    to->raw[side] = op->raw[side];
                to->step_count[side] += op->step_count[side];
                to->step_total[side] += op->step_total[side];
                to->whole_count[side] += op->whole_count[side];
                to->whole_total[side] += op->whole_total[side];
            }
            continue;
        }
        c->ops[kept] = c->ops[i];
        c->ops[kept++].name = tg_arena_sv(a, (tg_sv){ text.p + 1, text.n - 1 });
    }
    c->n_ops = kept;
}
