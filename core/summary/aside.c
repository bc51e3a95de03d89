/* A summary that waits packed, while another side is read. */
#include <stdlib.h>

#include "core/summary/internal.h"

static uint64_t slots_of(const struct tg_summary *s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t r = 0; r < s->shards[i]->n_rows; r++)
            n += tg_row_calls(s->shards[i], &s->shards[i]->rows[r]);
    return n;
}

static bool is_whole(const struct tg_summary *s)
{
    bool whole = !s->numbers.n;
    for (size_t i = 0; i < s->n; i++)
        whole = whole && !s->shards[i]->unnamed;
    return whole;
}

void tg_summary_set_aside(struct tg_summary *s, size_t least, struct tg_aside *to)
{
    struct tg_err ignored = TG_ERR_INIT;
    *to = (struct tg_aside){ 0 };
    if (slots_of(s) < least || !is_whole(s) || !tg_summary_write_quick(s, &to->text, &ignored))
        return;
    to->a = tg_arena_new();
    to->was = TG_NEW_N(to->a, struct tg_shard, s->n);
    for (size_t i = 0; i < s->n; i++) {
        to->was[i].source = tg_arena_sv(to->a, s->shards[i]->source);
        to->was[i].arrival = s->shards[i]->arrival;
    }
    tg_summary_release(s);
    tg_summary_init(s);
}

bool tg_summary_bring_back(struct tg_summary *s, struct tg_aside *from, struct tg_err *err)
{
    bool ok = !from->a || tg_summary_parse(s, tg_buf_sv(&from->text), "what was set aside", err);
    for (size_t i = 0; from->a && ok && i < s->n; i++) { /* in their order: by run and rank */
        s->shards[i]->source = tg_arena_sv(s->arena, from->was[i].source);
        s->shards[i]->arrival = from->was[i].arrival;
    }
    tg_arena_free(from->a);
    tg_buf_release(&from->text);
    *from = (struct tg_aside){ 0 };
    return ok;
}
