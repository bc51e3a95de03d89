#include "core/hta/hta_sums.h"

#include <math.h>
#include <stdlib.h>

#include "core/hta/hta.h"
#include "core/hta/hta_timeline.h"

void tg_hta_init(struct tg_hta_side *s, bool no_rounding)
{
    *s = (struct tg_hta_side){ .no_rounding = no_rounding };
}

void tg_hta_rank_release(struct tg_hta_rank *r)
{
    tg_keymap_release(&r->ids);
    free(r->cells);
}

void tg_hta_release(struct tg_hta_side *s)
{
    for (size_t i = 0; i < s->n_ranks; i++)
        tg_hta_rank_release(&s->ranks[i]);
    free(s->ranks);
    free(s->steps);
    tg_strmap_release(&s->texts);
    *s = (struct tg_hta_side){ 0 };
}

void tg_hta_sum(double *total, double *lost, double v)
{
    double y = v - *lost, t = *total + y;
    if (isnan(v))
        return;
    *lost = (t - *total) - y;
    *total = t;
}

struct tg_hta_cell *tg_hta_cell_of(struct tg_hta_rank *r, const struct tg_hta_cell *key)
{
    const uint64_t words[] = { (uint64_t)key->cat << 32 | key->name, (uint64_t)key->step,
                               key->gpu };
    r->ids.words = sizeof words / sizeof *words;
    uint32_t id = tg_keymap_add(&r->ids, words);
    if (id == r->n)
        *TG_PUSH(r->cells, r->n, r->cap) = *key;
    return &r->cells[id];
}

/* ---- one trace ---- */

struct rows { /* of one trace, file order */
    const struct tg_trace *t;
    bool rounded;
    struct tg_hta_timeline line;
    struct tg_hta_partners partners;
};

/* A host row belongs to the window that contains its start, a device row to the step of its launch.
 * A partner at position 0 of the file means "unknown" to HTA. */
static int64_t step_of(const struct rows *r, const struct tg_hta_row *row)
{
    if (row->stream < 0 ||
        (row->stream == 0 && tg_sv_eq(r->t->names->v[row->name].cat, TG_SV("cpu_op"))))
        return tg_hta_timeline_find(&r->line, row->ts);
    if (row->stream == 0)
        return TG_HTA_NO_STEP;
    if (!tg_hta_links_as_device(r->t->names->v[row->name].name, row->stream, row->correlation))
        return -1;
    int64_t partner = tg_hta_partner_of(&r->partners, r->t, row);
    if (partner < 0)
        return -1;
    struct tg_hta_row launch = tg_hta_row_at(r->t, (size_t)partner, r->rounded);
    return launch.index == 0 ? -1 : step_of(r, &launch); /* a host row: no further recursion */
}

struct text_ids { /* trace name id -> ids in the side's texts */
    uint32_t cat, name;
    bool known;
};

static void name_ids(struct tg_hta_side *s, const struct tg_trace *t, uint32_t id,
                     struct text_ids *ids)
{
    int64_t number;
    tg_sv name = t->names->v[id].name;
    ids->cat = tg_strmap_add(&s->texts, t->names->v[id].cat);
    ids->name = tg_strmap_add(&s->texts, name);
    ids->known = true;
    if (tg_sv_starts(name, TG_SV("ProfilerStep#")) && tg_hta_step_number(name, &number))
        *TG_PUSH(s->steps, s->n_steps, s->steps_cap) = number;
}

static void fill_rank(struct tg_hta_side *s, struct tg_hta_rank *to, struct rows *r)
{
    const struct tg_trace *t = r->t;
    TG_FREE struct text_ids *ids = tg_xcalloc(t->names->n + 1, sizeof *ids);
    tg_hta_timeline_init(&r->line, t, r->rounded);
    tg_hta_partners_init(&r->partners);
    for (size_t i = 0; i < t->n_spans; i++) {
        struct tg_hta_row row = tg_hta_row_at(t, i, r->rounded);
        tg_hta_partners_add(&r->partners, t, &row);
    }
    for (size_t i = 0; i < t->n_spans; i++) {
        struct tg_hta_row row = tg_hta_row_at(t, i, r->rounded);
        struct tg_hta_cell key = { 0 }, *c;
        if (!ids[row.name].known)
            name_ids(s, t, row.name, &ids[row.name]);
        key.cat = ids[row.name].cat;
        key.name = ids[row.name].name;
        key.kind = tg_span_kind(t, tg_span_at(t, i));
        key.gpu = row.stream != -1;
        key.step = step_of(r, &row);
        c = tg_hta_cell_of(to, &key);
        c->count++;
        tg_hta_sum(&c->total, &c->lost, row.dur);
    }
    tg_hta_timeline_release(&r->line);
    tg_hta_partners_release(&r->partners);
}

static struct tg_hta_rank *rank_slot(struct tg_hta_side *s, int64_t rank, bool *replaced)
{
    size_t i = 0;
    while (i < s->n_ranks && s->ranks[i].rank < rank)
        i++;
    *replaced = i < s->n_ranks && s->ranks[i].rank == rank;
    if (*replaced) {
        tg_hta_rank_release(&s->ranks[i]);
    } else {
        s->ranks = tg_grow(s->ranks, &s->cap, s->n_ranks + 1, sizeof *s->ranks);
        memmove(s->ranks + i + 1, s->ranks + i, (s->n_ranks - i) * sizeof *s->ranks);
        s->n_ranks++;
    }
    s->ranks[i] = (struct tg_hta_rank){ .rank = rank };
    return &s->ranks[i];
}

void tg_hta_add(struct tg_hta_side *s, const struct tg_trace *t, int64_t rank, bool *replaced)
{
    struct rows r = { .t = t, .rounded = tg_hta_rounds(t, s->no_rounding) };
    fill_rank(s, rank_slot(s, rank, replaced), &r);
    s->n_steps = tg_sort_distinct(s->steps, s->n_steps);
}
