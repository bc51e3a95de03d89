#include "core/baseline/event.h"

#include "core/base/doc.h"
#include "core/base/sort.h"
#include "core/baseline/git.h"
#include "core/baseline/store.h"

enum { ID_DIGITS = 12, RECORD_DIGITS = 16 };

/* In the order of enum tg_event_word. */
static const char *const words[] = { "accepted", "reopened" };

/* What it says is not known: an acceptance, or the end of one. */
static bool unreadable(const struct tg_git_ref_at *ref, const char *why, struct tg_err *err)
{
    tg_err_set(err, TG_ERR_SUMMARY, TG_NOWHERE, "the record of an event cannot be read: %.*s: %s",
               TG_SV_ARG(ref->name), why);
    return tg_err_hint(err,
                       "If no newer tracegate wrote it, delete it with `git update-ref -d`, and "
                       "say again what it said: `tracegate history accept` or `reopen`.");
}

bool tg_event_parse(tg_sv text, tg_sv id, struct tg_arena *a, struct tg_event_record *out)
{
    struct tg_err why = TG_ERR_INIT;
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_doc_parse(text, "event", &why);
    bool ok = false;
    if (!d)
        return false;
    *out = (struct tg_event_record){
        .id = tg_arena_sv(a, id),
        .actor = tg_arena_sv(a, tg_doc_str(tg_doc_get(d, "actor"), TG_SV(""))),
        .reason = tg_arena_sv(a, tg_doc_str(tg_doc_get(d, "reason"), TG_SV(""))),
        .after = tg_arena_sv(a, tg_doc_str(tg_doc_get(d, "after"), TG_SV(""))),
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (tg_sv_eq(tg_doc_str(tg_doc_get(d, "state"), TG_SV("")), tg_sv_of(words[i]))) {
            out->word = (enum tg_event_word)i;
            ok = tg_doc_i64(tg_doc_get(d, "time"), &out->time);
        }
    return ok && tg_sv_eq(tg_doc_str(tg_doc_get(d, "event"), TG_SV("")), id);
}

static int by_time(const void *x, const void *y)
{
    const struct tg_event_record *a = x, *b = y;
    int c = tg_sv_cmp(a->id, b->id);
    c = c ? c : (a->time > b->time) - (a->time < b->time);
    c = c ? c : (a->word > b->word) - (a->word < b->word);
    return c ? c : tg_sv_cmp(a->reason, b->reason);
}

/* A ref of another form is skipped: *read is false. False: what the record says is not known. */
static bool read_record(const struct tg_store *store, const struct tg_git_ref_at *ref, tg_sv prefix,
                        struct tg_arena *a, struct tg_event_record *out, bool *read,
                        struct tg_err *err)
{
    tg_sv rest = ref->name, id;
    TG_BUF bytes = { 0 };
    uint64_t size;
    *read = false;
    (void)tg_sv_skip(&rest, prefix);
    id = tg_sv_cut(&rest, '/');
    if (!tg_is_hex(id, ID_DIGITS) || !tg_is_hex(rest, RECORD_DIGITS))
        return true;
    out->id = id;
    if (ref->why)
        return tg_err_again(err, ref->why);
    if (memcmp(rest.p, ref->oid, RECORD_DIGITS) != 0)
        return tg_store_misnamed(ref, err);
    if (!tg_git_size(store->git, ref->oid, &size, err))
        return false;
    if (size > TG_EVENT_MAX_RECORD && size != TG_SIZE_UNKNOWN)
        return unreadable(ref, "it is too large", err);
    if (!tg_git_blob(store->git, ref->oid, ref->name.p, &bytes, err))
        return false;
    *read = tg_event_parse(tg_buf_sv(&bytes), id, a, out);
    out->name = rest;
    return *read || unreadable(ref, "it is damaged", err);
}

bool tg_event_records(const struct tg_store *store, tg_sv suite, struct tg_arena *a,
                      struct tg_event_record **out, size_t *n, struct tg_err *err)
{
    struct tg_git_ref_at *refs;
    size_t n_refs;
    tg_sv prefix, damaged = TG_SV("");
    bool ok = true;
    *n = 0;
    *out = NULL;
    if (!tg_store_suite(suite, a, &prefix, err) || /* one without a name is refused */
        !tg_store_below(TG_EVENT_PREFIX, suite, a, &prefix, err) ||
        !tg_git_refs_all(store->git, prefix.p, a, &refs, &n_refs, err))
        return false;
    *out = TG_NEW_N(a, struct tg_event_record, n_refs + 1);
    for (size_t i = 0; i < n_refs; i++) { /* by name: those of one event are neighbours */
        struct tg_event_record *r = &(*out)[*n];
        struct tg_err why = TG_ERR_INIT;
        bool read;
        if (!read_record(store, &refs[i], prefix, a, r, &read, &why)) {
            ok = tg_err_again(err, &why);
            damaged = tg_arena_sv(a, r->id);
        }
        *n += read;
        while (damaged.n && *n && tg_sv_eq((*out)[*n - 1].id, damaged))
            (*n)--; /* what was said last of this event is not known */
    }
    TG_SORT(*out, *n, by_time);
    return ok;
}

bool tg_event_refs(const struct tg_store *store, tg_sv suite, struct tg_arena *a,
                   struct tg_stored **out, size_t *n, struct tg_err *err)
{
    struct tg_git_ref_at *refs;
    tg_sv prefix;
    *n = 0;
    if (!tg_store_below(TG_EVENT_PREFIX, suite, a, &prefix, err) ||
        !tg_git_refs_all(store->git, prefix.p, a, &refs, n, err))
        return false;
    *out = TG_NEW_N(a, struct tg_stored, *n + 1);
    for (size_t i = 0; i < *n; i++) {
        if (refs[i].why)
            return tg_err_again(err, refs[i].why);
        (*out)[i] = (struct tg_stored){ .suite = suite, .ref = refs[i].name };
        memcpy((*out)[i].oid, refs[i].oid, sizeof refs[i].oid);
    }
    return true;
}

/* Does another record come after `r`? Records of 0.2.0 say so by their times (v is sorted by
 * them). */
static bool is_answered(const struct tg_event_record *v, size_t n, const struct tg_event_record *r)
{
    for (size_t i = 0; i < n; i++)
        if (&v[i] != r && tg_sv_eq(v[i].id, r->id) &&
            (v[i].after.n ? tg_sv_has(v[i].after, r->name) : !r->after.n && &v[i] > r))
            return true;
    return false;
}

const struct tg_event_record *tg_event_latest(const struct tg_event_record *v, size_t n, tg_sv id)
{
    const struct tg_event_record *found = NULL;
    for (size_t i = 0; i < n; i++)
        if (tg_sv_eq(v[i].id, id) && !is_answered(v, n, &v[i]) &&
            (!found || v[i].word >= found->word)) /* reopened comes after accepted */
            found = &v[i];
    return found;
}

bool tg_event_write(const struct tg_store *store, tg_sv suite, const struct tg_event_record *record,
                    struct tg_arena *a, struct tg_err *err)
{
    char oid[TG_SHA_SIZE], there[TG_SHA_SIZE];
    TG_AUTO(tg_doc_drop) struct tg_doc *d = tg_doc_new_object();
    TG_BUF bytes = { 0 }, after = { 0 };
    struct tg_event_record *v;
    tg_sv component;
    size_t n;
    if (!tg_event_records(store, suite, a, &v, &n, err))
        return false;
    /* The records that nobody answered yet: the new one answers them all. */
    for (size_t i = 0; i < n; i++)
        if (tg_sv_eq(v[i].id, record->id) && !is_answered(v, n, &v[i]))
            tg_buf_printf(&after, "%s%.*s", after.n ? " " : "", TG_SV_ARG(v[i].name));
    if (!tg_store_suite(suite, a, &component, err))
        return false;
    tg_doc_add_i64(d, "tracegate_event", 1);
    tg_doc_add_str(d, "event", record->id);
    tg_doc_add_str(d, "state", tg_sv_of(words[record->word]));
    tg_doc_add_str(d, "actor", record->actor);
    tg_doc_add_str(d, "reason", record->reason);
    tg_doc_add_i64(d, "time", record->time);
    if (after.n)
        tg_doc_add_str(d, "after", tg_buf_sv(&after));
    tg_doc_write(d, TG_DOC_INDENTED, &bytes);
    tg_buf_putc(&bytes, '\n');
    if (bytes.n > TG_EVENT_MAX_RECORD) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "the record of an event has %zu bytes", bytes.n);
        return tg_err_hint(err, "The limit is %u: shorten the reason.", TG_EVENT_MAX_RECORD);
    }
    if (!tg_git_write_blob(store->git, tg_buf_sv(&bytes), oid, err))
        return false;
    const char *ref = tg_arena_printf(a, TG_EVENT_PREFIX "%.*s/%.*s/%.*s", TG_SV_ARG(component),
                                      TG_SV_ARG(record->id), RECORD_DIGITS, oid);
    if (tg_git_ref_create(store->git, ref, oid, there, err) == TG_SEEN_FAILED ||
        !tg_event_records(store, suite, a, &v, &n, err))
        return false;
    const struct tg_event_record *now = tg_event_latest(v, n, record->id);
    if (now && now->word == record->word)
        return true;
    tg_err_set(err, TG_ERR_OUTPUT, TG_NOWHERE, "the record is written, and event %.*s is still %s",
               TG_SV_ARG(record->id), now ? words[now->word] : "open");
    return tg_err_hint(err, "Somebody else spoke at the same time; run the command again.");
}
