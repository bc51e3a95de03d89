#include "core/summary/fit.h"

#include "core/summary/internal.h"
#include "core/summary/layout.h"

#define OBJECT_HEADER 32u /* "blob 123456" and a pack's own: below this */

/* Slots get less room a few times; the text of the rest is known to fit. */
#define SLOT_TRIES 4

size_t tg_packed_size(tg_sv bytes)
{
    size_t loose = tg_zlib_packed_size(bytes, TG_ZLIB_QUICK),
           pack = tg_zlib_packed_size(bytes, TG_ZLIB_USUAL);
    return OBJECT_HEADER + (loose > pack ? loose : pack);
}

struct fit {
    const struct tg_summary *run;
    size_t most;
    struct tg_shard *copy;   /* [run->n], shallow: steps_only is set on these */
    struct tg_shard **shown; /* [run->n] */
    size_t *order;           /* which rank is kept first, second, … */
    struct tg_buf *out;
    size_t start; /* of out->n */
};

/* Mean of the known steps; 0: none is known. */
static double step_time(const struct tg_shard *s)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->n_steps; k++) {
        const struct tg_metric_value *v = &s->metrics[TG_METRIC_DEVICE_EXTENT * s->n_steps + k];
        if (!v->known)
            v = &s->metrics[TG_METRIC_STEP_TIME * s->n_steps + k];
        if (v->known && v->den > 0) {
            sum += (double)v->num / (double)v->den;
            n++;
        }
    }
    return n ? sum / (double)n : 0;
}

static size_t take(size_t *order, bool *taken, size_t n, size_t rank)
{
    if (taken[rank])
        return n;
    taken[rank] = true;
    order[n] = rank;
    return n + 1;
}

/* The first, the slowest, then multiples of the golden ratio modulo 1: each new one falls into one
 * of the largest gaps, and they share no factor with the sizes of a job's groups of ranks. */
static void choose_order(struct fit *f)
{
    size_t n = f->run->n, k = 0, slowest = 0;
    for (size_t i = 1; i < n; i++)
        if (step_time(f->run->shards[i]) > step_time(f->run->shards[slowest]))
            slowest = i;
    TG_FREE bool *taken = tg_xcalloc(n, 1);
    k = take(f->order, taken, k, 0);
    k = take(f->order, taken, k, slowest);
    for (uint32_t i = 1; k < n && i < 8 * n; i++) {
        uint32_t fraction = i * 2654435769u; /* 2^32 / golden ratio */
        k = take(f->order, taken, k, (size_t)((uint64_t)fraction * n >> 32));
    }
    for (size_t i = 0; k < n; i++)
        k = take(f->order, taken, k, i);
}

/* Writes the run with its first `ranks` ranks whole; false: more than f->most bytes. */
static bool attempt(struct fit *f, size_t ranks, size_t max_slots, struct tg_fitted *how)
{
    struct tg_summary view = *f->run;
    struct tg_err ignored = TG_ERR_INIT;
    view.shards = f->shown;
    for (size_t i = 0; i < view.n; i++) {
        f->copy[f->order[i]].steps_only = i >= ranks || f->run->shards[f->order[i]]->steps_only;
        f->shown[i] = &f->copy[i];
    }
    f->out->n = f->start;
    *how = (struct tg_fitted){ .packed = SIZE_MAX, .ranks = ranks };
    bool ok = tg_summary_write_form(
        &view, NULL, (struct tg_summary_form){ max_slots, TG_ZLIB_USUAL, false }, f->out, &ignored);
    if (ok)
        how->packed = tg_packed_size(tg_sv_from(tg_buf_sv(f->out), f->start));
    return how->packed <= f->most;
}

/* The most ranks that fit without slots; 0: not even one. The size of the second one tells where to
 * look; a job of a thousand ranks is never written whole just to learn that it is too large. */
static size_t most_ranks(struct fit *f, struct tg_fitted *one)
{
    size_t low = 0, high = f->run->n + 1, guess = 1; /* low fits (or is 0), high does not */
    struct tg_fitted how = { 0 };
    while (low + 1 < high) {
        if (guess <= low || guess >= high)
            guess = low + (high - low) / 2;
        if (!attempt(f, guess, 0, &how)) {
            high = guess;
            guess -= 1 + guess / 16;
        } else {
            low = guess;
            guess += 1 + guess / 16;
        }
        if (how.ranks == 1) {
            *one = how;
        } else if (how.ranks == 2 && low == 2) {
            size_t each = how.packed > one->packed ? how.packed - one->packed : 1;
            guess = 2 + (f->most - how.packed) / each;
            guess = guess < high ? guess : high - 1;
        }
    }
    return low;
}

bool tg_summary_fit(const struct tg_summary *run, size_t most, struct tg_buf *out,
                    struct tg_fitted *how, struct tg_err *err)
{
    struct fit f = { .run = run, .most = most, .out = out, .start = out->n };
    struct tg_fitted one = { 0 };
    size_t n = run->n, dropped = 0;
    *how = (struct tg_fitted){ 0 };
    if (!n)
        return tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "a run without traces");
    TG_FREE struct tg_shard *copy = f.copy = tg_xrealloc(NULL, n, sizeof *copy);
    TG_FREE struct tg_shard **shown = f.shown = tg_xrealloc(NULL, n, sizeof *shown);
    TG_FREE size_t *order = f.order = tg_xrealloc(NULL, n, sizeof *order);
    for (size_t i = 0; i < n; i++)
        copy[i] = *run->shards[i];
    choose_order(&f);
    size_t ranks = most_ranks(&f, &one);
    for (size_t i = ranks; i < n; i++)
        dropped += run->shards[order[i]]->n_steps;
    if (!ranks || dropped > TG_MAX_STEPS_ONLY) {
        const struct tg_shard *s = run->shards[0];
        out->n = f.start;
        if (ranks)
            tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                       "%zu of %zu ranks fit into %zu bytes; the others have %zu steps, and the "
                       "times of at most %zu are kept",
                       ranks, n, most, dropped, TG_MAX_STEPS_ONLY);
        else if (one.packed < SIZE_MAX)
            tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                       "one rank of this run takes %zu bytes without single durations, the limit "
                       "is %zu (%zu names, %zu steps, %zu ranks)",
                       one.packed, most, s->n_rows, s->n_steps, n);
        else
            tg_err_set(err, TG_ERR_LIMIT, TG_NOWHERE,
                       "one rank of this run cannot be stored (%zu names, %zu steps)", s->n_rows,
                       s->n_steps);
        return tg_err_hint(err, "Record fewer steps.");
    }
    how->all_slots = ranks == n && attempt(&f, n, SIZE_MAX, how);
    if (how->all_slots)
        return true;
    (void)attempt(&f, ranks, 0, how);
    /* As many slots as fit beside the rest. base64: four bytes of text pack to three. */
    double room = (double)(most - how->packed) * 4 / 3 / (double)ranks;
    for (int i = 0; i < SLOT_TRIES; i++, room *= 0.8)
        if (attempt(&f, ranks, (size_t)room, how))
            return true;
    (void)attempt(&f, ranks, 0, how);
    return true;
}
