/*
 * Shards with step times only, as an object of the stored form's first line:
 *
 *     {"run":…,"window":…,"classes":…,"marked":…,"times":"packed","walls":"packed"}
 *
 * packed (pack.h): how many shards; per shard rank (difference to the one before), content hash (8
 * bytes), steps; per step its number (difference) and the step time: denominator, 0 when it is not
 * known, and numerator (difference to the step before). `times` are those of the metric step_time
 * as it was once: the device's extent, else the host's window. `walls` are wall clock; documents of
 * 0.2.0 have none. Versions that do not know this object refuse the file; they must not take the
 * whole ranks for all ranks.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "core/summary/internal.h"
#include "core/summary/pack.h"

#define HASH_BYTES 8
#define HASH_DIGITS (2 * HASH_BYTES)

bool tg_shard_steps_only_alike(const struct tg_shard *a, const struct tg_shard *b)
{
    return a->steps_only && b->steps_only && tg_sv_eq(a->run, b->run) &&
           tg_sv_eq(a->window, b->window) && tg_sv_eq(a->classes, b->classes) &&
           a->marked == b->marked;
}

/* ---- writing ---- */

void tg_content_hash_put(struct tg_buf *b, tg_sv hash)
{
    char digits[HASH_DIGITS + 1] = { 0 };
    memcpy(digits, hash.p, hash.n < HASH_DIGITS ? hash.n : HASH_DIGITS);
    uint64_t h = strtoull(digits, NULL, 16);
    for (int shift = 56; shift >= 0; shift -= 8)
        tg_buf_putc(b, (char)(unsigned char)(h >> shift));
}

static void put_times(struct tg_buf *b, const struct tg_shard *s, const struct tg_metric_value *v,
                      bool numbers)
{
    int64_t number = 0, time = 0;
    if (numbers)
        tg_pack_u64(b, s->n_steps);
    for (size_t k = 0; k < s->n_steps; k++) {
        if (numbers)
            tg_pack_i64(b, (int64_t)((uint64_t)s->steps[k].number - (uint64_t)number));
        number = s->steps[k].number;
        tg_pack_u64(b, v[k].known ? (uint64_t)v[k].den : 0);
        if (!v[k].known)
            continue;
        tg_pack_i64(b, (int64_t)((uint64_t)v[k].num - (uint64_t)time));
        time = v[k].num;
    }
}

/* Wall clock of all shards; nothing where one was stored without. */
static void add_walls(struct tg_doc *d, struct tg_shard *const *v, size_t n)
{
    TG_BUF raw = { 0 }, packed = { 0 };
    for (size_t i = 0; i < n; i++) {
        const struct tg_metric_value *wall = v[i]->metrics + TG_METRIC_STEP_TIME * v[i]->n_steps;
        if (!wall[0].known)
            return;
        put_times(&raw, v[i], wall, false);
    }
    tg_pack_text(tg_buf_sv(&raw), TG_ZLIB_USUAL, &packed);
    tg_doc_add_str(d, "walls", tg_buf_sv(&packed));
}

void tg_shard_steps_only_write(struct tg_doc *shards, struct tg_shard *const *v, size_t n)
{
    struct tg_doc *d = tg_doc_add_object(shards, NULL);
    TG_BUF raw = { 0 }, packed = { 0 };
    int64_t rank = 0;
    tg_doc_add_str(d, "run", v[0]->run);
    tg_doc_add_str(d, "window", v[0]->window);
    tg_doc_add_str(d, "classes", v[0]->classes);
    tg_doc_add_bool(d, "marked", v[0]->marked);
    tg_pack_u64(&raw, n);
    for (size_t i = 0; i < n; i++) {
        tg_pack_i64(&raw, v[i]->rank - rank);
        rank = v[i]->rank;
        tg_content_hash_put(&raw, v[i]->hash);
        /* The one that is known of all steps where any is; old documents do not tell which. */
        const struct tg_metric_value *m = v[i]->metrics + TG_METRIC_DEVICE_EXTENT * v[i]->n_steps;
        if (!m->known)
            m = v[i]->metrics + TG_METRIC_HOST_TIME * v[i]->n_steps;
        put_times(&raw, v[i], m, true);
    }
    tg_pack_text(tg_buf_sv(&raw), TG_ZLIB_USUAL, &packed);
    tg_doc_add_str(d, "times", tg_buf_sv(&packed));
    add_walls(d, v, n);
}

/* ---- reading ---- */

tg_sv tg_content_hash_read(struct tg_unpack *u, struct tg_arena *a)
{
    uint64_t h = 0;
    if (tg_unpack_left(u) < HASH_BYTES) {
        u->bad = true;
        return TG_SV("");
    }
    for (int i = 0; i < HASH_BYTES; i++)
        h = h << 8 | (unsigned char)*u->p++;
    return TG_SV_PRINTF(a, "%016" PRIx64, h);
}

/* The next time of a sequence; not known: denominator 0. */
static bool read_time(struct tg_unpack *u, struct tg_metric_value *v, int64_t *time)
{
    uint64_t den = tg_unpack_u64(u);
    if (den > INT64_MAX)
        return false;
    v->known = den > 0;
    if (!v->known)
        return true;
    v->num = *time = (int64_t)((uint64_t)*time + (uint64_t)tg_unpack_i64(u));
    v->den = (int64_t)den;
    return true;
}

static bool read_shards(struct tg_unpack *u, const struct tg_shard *model, struct tg_arena *a,
                        struct tg_shard ***v, size_t *n)
{
    size_t room = TG_MAX_STEPS_ONLY;
    int64_t rank = 0;
    *n = tg_unpack_count(u);
    *v = TG_NEW_N(a, struct tg_shard *, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        struct tg_shard *s = (*v)[i] = TG_NEW(a, struct tg_shard);
        int64_t more = tg_unpack_i64(u);
        *s = *model;
        if ((i && more <= 0) || __builtin_add_overflow(rank, more, &rank) || rank < 0)
            return false;
        s->rank = rank;
        s->hash = tg_content_hash_read(u, a);
        int64_t number = 0, time = 0;
        s->n_steps = tg_unpack_count(u);
        if (u->bad || s->n_steps == 0 || s->n_steps > room)
            return false;
        room -= s->n_steps;
        s->steps = TG_NEW_N(a, struct tg_step, s->n_steps);
        s->gap_count = TG_NEW_N(a, uint32_t, s->n_steps);
        s->metrics = TG_NEW_N(a, struct tg_metric_value, TG_METRICS * s->n_steps);
        for (size_t k = 0; k < TG_METRICS * s->n_steps; k++)
            s->metrics[k].den = 1;
        for (size_t k = 0; k < s->n_steps; k++) {
            number = (int64_t)((uint64_t)number + (uint64_t)tg_unpack_i64(u));
            s->steps[k] = (struct tg_step){ .number = number, .span = TG_NO_SPAN };
            if (!read_time(u, &s->metrics[TG_METRIC_DEVICE_EXTENT * s->n_steps + k], &time))
                return false;
        }
        if (u->bad)
            return false;
    }
    return !u->bad && u->p == u->end;
}

static bool get_text(const struct tg_doc *d, const char *key, struct tg_arena *a, tg_sv *out)
{
    const struct tg_doc *m = tg_doc_get(d, key);
    *out = tg_arena_sv(a, tg_doc_str(m, TG_SV("")));
    return tg_doc_type(m) == TG_DOC_STRING && out->n;
}

bool tg_shard_steps_only_read(const struct tg_doc *d, struct tg_arena *a, struct tg_shard ***v,
                              size_t *n)
{
    struct tg_shard model = { .steps_only = true };
    TG_BUF raw = { 0 }, wall = { 0 };
    tg_sv packed, walls;
    if (!get_text(d, "run", a, &model.run) || !get_text(d, "window", a, &model.window) ||
        !get_text(d, "classes", a, &model.classes) || !get_text(d, "times", a, &packed))
        return false;
    model.marked = tg_doc_bool(tg_doc_get(d, "marked"), false);
    bool ok = tg_unpack_text(packed, &raw);
    struct tg_unpack u = { raw.p, raw.p ? raw.p + raw.n : raw.p, false };
    ok = ok && read_shards(&u, &model, a, v, n) && *n;
    if (!ok || !tg_doc_get(d, "walls"))
        return ok;
    ok = get_text(d, "walls", a, &walls) && tg_unpack_text(walls, &wall);
    u = (struct tg_unpack){ wall.p, wall.p ? wall.p + wall.n : wall.p, false };
    for (size_t i = 0; ok && i < *n; i++) {
        struct tg_metric_value *times = (*v)[i]->metrics + TG_METRIC_STEP_TIME * (*v)[i]->n_steps;
        int64_t time = 0;
        for (size_t k = 0; ok && k < (*v)[i]->n_steps; k++)
            ok = read_time(&u, &times[k], &time);
    }
    return ok && !u.bad && u.p == u.end;
}
