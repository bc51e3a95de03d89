/* Reads one text in parts: stops, continues elsewhere, and guesses where an event begins. */

#include "core/trace/reader_state.h"

void tg_reader_stop(struct tg_reader *r, uint64_t offset)
{
    r->stop = offset;
    tg_reader_place_stop(r);
    if (offset > r->base)
        tg_source_expect_end(r->source, offset);
}

bool tg_reader_stopped(const struct tg_reader *r)
{
    return r->stopped;
}

struct tg_place tg_reader_place(const struct tg_reader *r)
{
    return (struct tg_place){ r->base + r->at, (int)r->state };
}

bool tg_reader_at_event(const struct tg_reader *r)
{
    return r->state == AT_EVENT;
}

/* An empty window at `offset`. */
static void move_to(struct tg_reader *r, uint64_t offset)
{
    tg_source_seek(r->source, offset);
    r->base = offset;
    r->at = r->n = 0;
    r->last = false;
    memset(r->buf, 0, TG_SCAN_PAD);
    tg_reader_place_stop(r);
}

void tg_reader_resume(struct tg_reader *r, const struct tg_place *p)
{
    move_to(r, p->offset);
    r->state = (enum tg_reader_state)p->state;
    tg_reader_tick(r);
}

struct tg_reader *tg_reader_of_parts(const struct tg_reader *whole, struct tg_source *s)
{
    struct tg_reader_opts opts = whole->opts;
    opts.threads = 1;
    opts.progress = NULL;
    struct tg_reader *r = tg_reader_new(s, &opts);
    r->is_part = true;
    r->bare = whole->bare;
    r->first_member = false;
    tg_reader_begin_events(r);
    return r;
}

/* ---- the guess ---- */

#define LOOK_BACK ((uint64_t)128) /* a comma and the blanks before an event */
#define TRIES 64

static const char *over_blanks(const char *p)
{
    while (tg_is_blank(*p))
        p++;
    return p;
}

/* "}," before, a key after: most braces inside an event have neither. */
static bool may_begin(const char *start, const char *brace)
{
    const char *p = brace;
    while (p > start && tg_is_blank(p[-1]))
        p--;
    if (p == start || *--p != ',')
        return false;
    while (p > start && tg_is_blank(p[-1]))
        p--;
    return p > start && p[-1] == '}' && *over_blanks(brace + 1) == '"';
}

bool tg_reader_guess(struct tg_reader *r, uint64_t from, uint64_t to, uint64_t *at)
{
    uint64_t start = from > LOOK_BACK ? from - LOOK_BACK : 0;
    struct tg_err ignored = TG_ERR_INIT;
    int tries = 0;
    r->info = (struct tg_trace_info){ .rank = -1, .world_size = -1 };
    r->stopped = false;
    move_to(r, start);
    tg_source_expect_end(r->source, to);
    if (!tg_reader_refill(r, &ignored) || r->n <= from - start)
        return false;
    const char *p = r->buf + (from - start);
    for (;; p++) {
        p = memchr(p, '{', (size_t)(r->buf + r->n - p));
        if (!p || start + (uint64_t)(p - r->buf) >= to || tries == TRIES)
            return false;
        if (!may_begin(r->buf, p))
            continue;
        /* An object with a phase, followed by a comma or the array's end, all in the window. */
        struct tg_scan s = { .p = p,
                             .start = p,
                             .end = r->buf + r->n,
                             .last = r->last,
                             .depth = r->shapes.depth,
                             .max_depth = (unsigned)r->limits.max_depth };
        struct tg_raw_event raw;
        if (tg_kineto_event(&s, TG_ARGS_SKIPPED, &raw) && raw.ev.ph && raw.ev.has_name &&
            (*over_blanks(s.p) == ',' || *over_blanks(s.p) == ']'))
            break;
        tries++;
    }
    r->at = (size_t)(p - r->buf);
    r->state = AT_EVENT;
    *at = start + r->at;
    return true;
}

/* ---- joining ---- */

bool tg_reader_has_room(const struct tg_reader *r, size_t names, size_t bytes, size_t threads)
{
    return names <= r->limits.max_names && r->names.n <= r->limits.max_names - names &&
           bytes <= r->limits.max_name_bytes &&
           r->names.bytes <= r->limits.max_name_bytes - bytes && threads <= r->limits.max_names &&
           r->threads.n <= r->limits.max_names - threads;
}

void tg_reader_count(struct tg_reader *r, const struct tg_trace_info *part)
{
    struct tg_trace_info *all = &r->info;
    all->events += part->events;
    all->invalid_escapes += part->invalid_escapes;
    all->control_bytes += part->control_bytes;
    all->bad_utf8 += part->bad_utf8;
    all->non_finite += part->non_finite;
    all->huge_integers += part->huge_integers;
    all->rounded_numbers += part->rounded_numbers;
    all->any_ts_float |= part->any_ts_float;
    all->any_ts_missing |= part->any_ts_missing;
}
