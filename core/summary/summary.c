/* Adding a trace, a stored summary or numbers; a summary that waits packed. */
#include "core/summary/summary.h"

#include "core/base/file.h"
#include "core/summary/internal.h"

void tg_summary_set_rank(struct tg_summary *one, int64_t rank)
{
    struct tg_shard *s = one->shards[0];
    bool unnamed = tg_sv_eq(s->run, s->hash);
    s->rank = rank;
    s->hash = tg_shard_hash(s, one->arena);
    if (unnamed)
        s->run = s->hash;
}

void tg_summary_note(struct tg_summary *one, const char *key, tg_sv value)
{
    struct tg_shard *s = one->shards[0];
    struct tg_kv *env = TG_NEW_N(one->arena, struct tg_kv, s->n_env + 1);
    size_t at = 0;
    if (tg_shard_env(s, key).n)
        return;
    while (at < s->n_env && tg_sv_cmp(s->env[at].key, tg_sv_of(key)) < 0)
        at++;
    for (size_t i = 0; i < s->n_env; i++)
        env[i + (i >= at)] = s->env[i];
    env[at] =
        (struct tg_kv){ tg_arena_sv(one->arena, tg_sv_of(key)), tg_clean_text(one->arena, value) };
    s->env = env;
    s->n_env++;
}

static bool add_shard(struct tg_summary *out, const struct tg_trace *t,
                      const struct tg_steps *steps, const struct tg_summarize_opts *o,
                      const struct tg_spent *own, struct tg_err *err)
{
    struct tg_shard *s = tg_shard_build(t, steps, o, own, out->arena, err);
    if (!s)
        return false;
    s->rank = o->rank >= 0         ? o->rank
              : t->info->rank >= 0 ? t->info->rank
                                   : tg_file_rank(tg_sv_of(t->path));
    s->source = tg_clean_text(out->arena, tg_file_name(tg_sv_of(t->path)));
    s->hash = tg_shard_hash(s, out->arena);
    s->run = o->run.n ? tg_clean_text(out->arena, o->run) : s->hash;
    const struct tg_shard *there = tg_summary_find(out, s->run, s->rank);
    if (there && tg_sv_eq(there->hash, s->hash)) {
        tg_err_set(err, TG_ERR_USAGE, TG_AT_FILE(t->path), "'%s' holds the same trace as '%.*s'",
                   t->path, TG_SV_ARG(there->source));
        return tg_err_hint(err, "A copy is not a second run: name each recording once.");
    }
    return tg_summary_insert(out, s, err);
}

bool tg_summary_of_trace(struct tg_summary *out, const struct tg_trace *t,
                         const struct tg_steps *steps, const struct tg_summarize_opts *o,
                         struct tg_err *err)
{
    return add_shard(out, t, steps, o, NULL, err);
}

void tg_kept_release(struct tg_kept_trace *k)
{
    tg_steps_release(&k->steps);
    tg_trace_free(k->trace);
    *k = (struct tg_kept_trace){ .any = k->any };
}

/* Self times in a column of their own cost 12 bytes per span, and save a walk over all spans. */
#define SPARING_FROM ((size_t)1 << 18)

/* Of a trace that nobody keeps, what is read for the last time goes before the rest is made. */
static bool add_spent(struct tg_summary *out, struct tg_trace *t, const struct tg_summarize_opts *o,
                      struct tg_err *err)
{
    TG_AUTO(tg_steps_release) struct tg_steps steps;
    const struct tg_spent own = { t, &steps };
    tg_trace_drop(t, TG_TRACE_SEQUENCE | (o->frame_sorts ? 0 : TG_TRACE_PYTHON));
    bool small = t->n_spans < SPARING_FROM && !o->totals_only;
    bool ok = o->frame_sorts || small ? tg_steps_build(&steps, t, &o->window, err)
              : o->totals_only        ? tg_steps_build_flat(&steps, t, &o->window, err)
                                      : tg_steps_build_sparing(&steps, t, &o->window, err);
    ok = ok && add_shard(out, t, &steps, o, &own, err);
    tg_trace_free(t);
    return ok;
}

/* The trace is the keeper's from here on, or gone. */
static bool add_kept(struct tg_summary *out, struct tg_trace *t, const struct tg_summarize_opts *o,
                     struct tg_err *err)
{
    struct tg_kept_trace new = { t, { 0 }, o->keep->any };
    bool ok = tg_steps_build(&new.steps, t, &o->window, err) &&
              tg_summary_of_trace(out, t, &new.steps, o, err);
    tg_kept_release(ok ? o->keep : &new);
    if (ok)
        *o->keep = new;
    return ok;
}

static bool add_trace(struct tg_summary *out, struct tg_source *s,
                      const struct tg_summarize_opts *o, const struct tg_progress *progress,
                      struct tg_err *err)
{
    struct tg_load_opts load = o->load;
    load.reader.want_args = true;
    load.want_attrs = load.want_memory = !o->totals_only;
    load.skip_check = o->totals_only;
    load.keep_hta = false;
    load.keep_python = o->frame_sorts != 0;
    load.python_aside = o->keep && !o->frame_sorts ? TG_KEPT_SPANS : 0;
    load.want_sequence = o->keep != NULL;
    struct tg_trace *t = tg_trace_load(s, &load, progress, err);
    if (!t)
        return false;
    if (load.keep_python || load.python_aside)
        tg_trace_set_python_apart(t);
    return o->keep && t->n_spans + t->n_python < TG_KEPT_SPANS && (o->keep->any || t->n_python)
               ? add_kept(out, t, o, err)
               : add_spent(out, t, o, err);
}

/* A file of numbers is small: all of it is read at once. */
static bool add_numbers(struct tg_summary *out, struct tg_source *s,
                        const struct tg_summarize_opts *o, struct tg_err *err)
{
    const struct tg_limits *limits = o->load.reader.limits;
    size_t most = (limits ? *limits : TG_LIMITS_DEFAULT).max_doc;
    TG_BUF text = { 0 };
    int64_t got;
    do {
        got = tg_source_fill(s, tg_buf_room(&text, TG_PEEK * 256), TG_PEEK * 256, err);
        text.n += got > 0 ? (size_t)got : 0;
    } while (got > 0 && text.n <= most);
    if (got > 0)
        return tg_err_say(err, TG_ERR_LIMIT, TG_AT_FILE(tg_source_name(s)),
                          "a file of numbers of more than %zu MiB",
                          "Write results without the times of each request.", most >> 20);
    return got == 0 &&
           tg_number_read(&out->numbers, tg_buf_sv(&text), tg_source_name(s), out->arena, err);
}

bool tg_summary_add(struct tg_summary *out, struct tg_source *s, const struct tg_summarize_opts *o,
                    const struct tg_progress *progress, struct tg_err *err)
{
    tg_sv head;
    if (!tg_source_peek(s, &head, err))
        return tg_damage_add(o->damage, err);
    if (!tg_summary_looks_like(head) && (o->numbers || tg_number_looks_like(head)))
        return add_numbers(out, s, o, err) || tg_damage_add(o->damage, err);
    if (!tg_summary_looks_like(head))
        return add_trace(out, s, o, progress, err) || tg_damage_add(o->damage, err);
    return tg_summary_read(out, s, o, err);
}

/* ---- set aside ---- */

void tg_summary_set_aside(struct tg_summary *s, size_t least, struct tg_aside *to)
{
    struct tg_err ignored = TG_ERR_INIT;
    bool whole = !s->numbers.n;
    uint64_t slots = 0;
    *to = (struct tg_aside){ 0 };
    for (size_t i = 0; i < s->n; i++) {
        whole = whole && !s->shards[i]->unnamed;
        for (size_t r = 0; r < s->shards[i]->n_rows; r++)
            slots += tg_row_calls(s->shards[i], &s->shards[i]->rows[r]);
    }
    if (slots < least || !whole || !tg_summary_write_quick(s, &to->text, &ignored))
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
