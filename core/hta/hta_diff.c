#include "core/hta/hta_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/diff/names.h"
#include "core/hta/hta_sums.h"

/* ---- selection ---- */

static void put_numbers(char *to, size_t size, const int64_t *v, size_t n)
{
    size_t used = 0;
    to[0] = '\0';
    for (size_t i = 0; i < n && used + 24 < size; i++)
        used += (size_t)snprintf(to + used, size - used, "%s%" PRId64, i ? ", " : "", v[i]);
}

static bool check_steps(const struct tg_hta_side *s, const struct tg_hta_select *q,
                        const char *label, struct tg_err *err)
{
    char have[160];
    if (q->whole)
        return true;
    if (s->n_steps == 0)
        return tg_err_usage(err, "%s has no ProfilerStep, and HTA compares steps",
                            "add --whole to compare everything in the traces.", label);
    for (size_t i = 0; i < q->n_steps; i++)
        if (!tg_is_among(s->steps, s->n_steps, q->steps[i])) {
            put_numbers(have, sizeof have, s->steps, s->n_steps);
            tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no ProfilerStep#%" PRId64, label,
                       q->steps[i]);
            return tg_err_hint(err, "Its steps are %s.", have);
        }
    return true;
}

static bool check_ranks(const struct tg_hta_side *s, const struct tg_hta_select *q,
                        const char *label, struct tg_err *err)
{
    char have[160];
    int64_t ranks[8];
    size_t n = s->n_ranks < 8 ? s->n_ranks : 8;
    for (size_t i = 0; i < q->n_ranks; i++) {
        size_t k = 0;
        while (k < s->n_ranks && s->ranks[k].rank != q->ranks[i])
            k++;
        if (k < s->n_ranks)
            continue;
        for (k = 0; k < n; k++)
            ranks[k] = s->ranks[k].rank;
        put_numbers(have, sizeof have, ranks, n);
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "%s has no rank %" PRId64, label, q->ranks[i]);
        return tg_err_hint(err, "Its ranks are %s%s.", have, n < s->n_ranks ? ", …" : "");
    }
    return true;
}

static bool selects_rank(const struct tg_hta_side *s, const struct tg_hta_select *q, size_t i)
{
    return q->ranks ? tg_is_among(q->ranks, q->n_ranks, s->ranks[i].rank) : i == 0;
}

static bool selects_step(const struct tg_hta_side *s, const struct tg_hta_select *q, int64_t step)
{
    if (q->whole)
        return true;
    return q->steps ? tg_is_among(q->steps, q->n_steps, step) : step == s->steps[0];
}

/* ---- tables ---- */

struct sum {
    uint64_t count[2];
    double total[2], lost[2];
    enum tg_kind kind;
};
struct table {
    struct tg_strmap names;
    struct sum *v;
    size_t n, cap;
};

static void add_side(struct table *t, int side, const struct tg_hta_side *s,
                     const struct tg_hta_select *q, enum tg_hta_device device, bool short_names)
{
    TG_BUF text = { 0 };
    for (size_t r = 0; r < s->n_ranks; r++) {
        if (!selects_rank(s, q, r))
            continue;
        for (size_t i = 0; i < s->ranks[r].n; i++) {
            const struct tg_hta_cell *c = &s->ranks[r].cells[i];
            tg_sv name = s->texts.text[c->name];
            size_t known = t->names.n;
            if ((device != TG_HTA_ALL && c->gpu != (device == TG_HTA_GPU)) ||
                !selects_step(s, q, c->step))
                continue;
            if (short_names) {
                tg_buf_clear(&text);
                tg_name_short(name, &text);
                name = tg_buf_sv(&text);
            }
            uint32_t id = tg_strmap_add(&t->names, name);
            if (id == known)
                *TG_PUSH(t->v, t->n, t->cap) = (struct sum){ .kind = c->kind };
            t->v[id].count[side] += c->count;
            tg_hta_sum(&t->v[id].total[side], &t->v[id].lost[side], c->total);
        }
    }
}

static tg_ns us_to_ns(double us)
{
    double ns = round(us * 1000);
    return ns > 9.2e18 ? INT64_MAX : ns < -9.2e18 ? -INT64_MAX : isnan(ns) ? 0 : (tg_ns)ns;
}

static void fill_comparison(struct tg_comparison *out, const struct table *t, struct tg_arena *a)
{
    *out = (struct tg_comparison){ .arena = a };
    out->n_ops = t->names.n;
    out->ops = TG_NEW_N(a, struct tg_op, t->names.n + 1);
    for (size_t i = 0; i < t->names.n; i++) {
        struct tg_op *op = &out->ops[i];
        op->name = tg_arena_sv(a, t->names.text[i]);
        op->kind = t->v[i].kind;
        op->partner = op->region = op->leader = TG_NO_ID;
        for (int s = 0; s < 2; s++) {
            op->present[s] = t->v[i].count[s] > 0;
            op->raw[s] = op->present[s] ? op->name : TG_SV("");
            op->whole_count[s] = t->v[i].count[s];
            op->whole_total[s] = us_to_ns(t->v[i].total[s]);
        }
    }
    for (int s = 0; s < 2; s++)
        out->n_runs[s] = out->n_ranks[s] = out->n_steps[s] = 1;
}

bool tg_hta_compare(struct tg_comparison *out, const struct tg_hta_side *side[2],
                    const struct tg_hta_select select[2], enum tg_hta_device device,
                    bool short_names, const char *const label[2], struct tg_arena *a,
                    struct tg_err *err)
{
    struct table t = { 0 };
    for (int s = 0; s < 2; s++)
        if (!check_ranks(side[s], &select[s], label[s], err) ||
            !check_steps(side[s], &select[s], label[s], err))
            return false;
    for (int s = 0; s < 2; s++)
        add_side(&t, s, side[s], &select[s], device, short_names);
    fill_comparison(out, &t, a);
    free(t.v);
    tg_strmap_release(&t.names);
    return true;
}

bool tg_hta_ops(struct tg_hta_op **out, size_t *n, const struct tg_hta_side *side,
                const struct tg_hta_select *select, const char *label, struct tg_arena *a,
                struct tg_err *err)
{
    struct tg_hta_rank sums = { 0 };
    if (!check_ranks(side, select, label, err) || !check_steps(side, select, label, err))
        return false;
    for (size_t r = 0; r < side->n_ranks; r++)
        for (size_t i = 0; selects_rank(side, select, r) && i < side->ranks[r].n; i++) {
            const struct tg_hta_cell *from = &side->ranks[r].cells[i];
            struct tg_hta_cell key = { .cat = from->cat, .name = from->name }, *c;
            if (!selects_step(side, select, from->step))
                continue;
            c = tg_hta_cell_of(&sums, &key);
            c->count += from->count;
            tg_hta_sum(&c->total, &c->lost, from->total);
        }
    *n = sums.n;
    *out = TG_NEW_N(a, struct tg_hta_op, sums.n + 1);
    for (size_t i = 0; i < sums.n; i++)
        (*out)[i] = (struct tg_hta_op){ tg_arena_sv(a, side->texts.text[sums.cells[i].cat]),
                                        tg_arena_sv(a, side->texts.text[sums.cells[i].name]),
                                        sums.cells[i].count, sums.cells[i].total };
    tg_hta_rank_release(&sums);
    return true;
}
