#include <stdlib.h>

#include "core/base/buf.h"

#include "core/analysis/sequences.h"

enum { PATTERN, COUNT, GPU, CPU, LENGTH, REASON };
const struct tg_table_column tg_sequence_columns[TG_SEQUENCE_COLUMNS] = {
    { "pattern", TG_TABLE_TEXT },
    { "count", TG_TABLE_INT },
    { "GPU kernel duration (us)", TG_TABLE_US },
    { "CPU op duration (us)", TG_TABLE_US },
    { "length", TG_TABLE_INT },
    { "reason", TG_TABLE_TEXT },
};
const struct tg_table_column tg_sequence_hta_columns[TG_SEQUENCE_HTA_COLUMNS] = {
    { "pattern", TG_TABLE_TEXT },
    { "count", TG_TABLE_INT },
    { "GPU kernel duration (us)", TG_TABLE_REAL_US },
    { "CPU op duration (us)", TG_TABLE_REAL_US },
};

void tg_sequence_table_init(struct tg_sequence_table *t)
{
    *t = (struct tg_sequence_table){ 0 };
}

struct tg_sequence *tg_sequence_table_add(struct tg_sequence_table *t, const tg_sv *names, size_t n,
                                          const struct tg_sequence_at *at)
{
    size_t known = t->keys.n;
    t->ids = tg_grow(t->ids, &t->ids_cap, n, sizeof *t->ids);
    for (size_t i = 0; i < n; i++)
        t->ids[i] = tg_strmap_add(&t->names, names[i]);
    uint32_t id = tg_strmap_add(&t->keys, (tg_sv){ (const char *)t->ids, n * sizeof *t->ids });
    t->out.v = tg_grow(t->out.v, &t->cap, t->keys.n, sizeof *t->out.v);
    if (t->keys.n > known)
        t->out.v[id] = (struct tg_sequence){ .length = n - 1 };
    t->out.v[id].count++;
    struct tg_sequence_at *mine = TG_PUSH(t->out.at, t->out.n_at, t->at_cap);
    *mine = *at;
    mine->sequence = id;
    return &t->out.v[id];
}

static tg_sv pattern_of(const struct tg_sequence_table *t, uint32_t id, struct tg_buf *text,
                        struct tg_arena *a)
{
    tg_buf_clear(text);
    for (size_t i = 0; i < t->keys.text[id].n / sizeof(uint32_t); i++) {
        uint32_t name;
        memcpy(&name, t->keys.text[id].p + i * sizeof name, sizeof name);
        if (i)
            tg_buf_putc(text, '|');
        tg_buf_add(text, t->names.text[name]);
    }
    return tg_arena_sv(a, tg_buf_sv(text));
}

static int by_count(const void *pa, const void *pb, void *arg)
{
    const struct tg_sequence *v = arg;
    const struct tg_sequence *a = &v[*(const uint32_t *)pa], *b = &v[*(const uint32_t *)pb];
    int c = TG_CMP(b->count, a->count);
    return c ? c : tg_sv_cmp(a->pattern, b->pattern);
}

void tg_sequence_table_finish(struct tg_sequence_table *t, struct tg_sequences *out,
                              struct tg_arena *a)
{
    size_t n = t->keys.n;
    TG_FREE uint32_t *order = tg_xrealloc(NULL, n + 1, sizeof *order);
    TG_FREE uint32_t *place = tg_xrealloc(NULL, n + 1, sizeof *place);
    TG_BUF text = { 0 };
    *out = t->out;
    out->n = n;
    out->v = tg_xrealloc(NULL, n + 1, sizeof *out->v);
    for (uint32_t i = 0; i < n; i++) {
        t->out.v[i].pattern = pattern_of(t, i, &text, a);
        order[i] = i;
    }
    if (n)
        qsort_r(order, n, sizeof *order, by_count, t->out.v);
    for (uint32_t i = 0; i < n; i++) {
        out->v[i] = t->out.v[order[i]];
        place[order[i]] = i;
    }
    for (size_t i = 0; i < out->n_at; i++)
        out->at[i].sequence = place[out->at[i].sequence];
    free(t->out.v);
    free(t->ids);
    tg_strmap_release(&t->keys);
    tg_strmap_release(&t->names);
}

void tg_sequences_release(struct tg_sequences *s)
{
    free(s->v);
    free(s->at);
    *s = (struct tg_sequences){ 0 };
}

void tg_sequences_put(struct tg_table *f, const struct tg_sequences *s, size_t top,
                      enum tg_sequence_form form)
{
    bool hta = form == TG_SEQUENCE_HTA;
    for (size_t i = 0; i < s->n && (!top || i < top); i++) {
        struct tg_table_cell *row = tg_table_row(f);
        row[PATTERN] = tg_table_text(s->v[i].pattern);
        row[COUNT] = tg_table_int((int64_t)s->v[i].count);
        row[GPU] = hta ? tg_table_real(s->v[i].gpu_us) : tg_table_int(s->v[i].gpu);
        row[CPU] = hta ? tg_table_real(s->v[i].cpu_us) : tg_table_int(s->v[i].cpu);
        if (!hta)
            row[LENGTH] = tg_table_int((int64_t)s->v[i].length);
    }
}
