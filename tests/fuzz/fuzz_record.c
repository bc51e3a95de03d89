/* What people said of an event, as any bytes behind a ref of the history: it is read, or the error
 * names the ref; what is read and written again is the same. */
#include "core/baseline/event.h"
#include "core/baseline/git.h"
#include "tests/fuzz/target.h"

#define OID "0123456789abcdef0123456789abcdef01234567"
#define EVENT "abcdef012345"

static tg_sv stored; /* the one record that there is */

static bool list(const struct tg_store *s, const char *prefix, struct tg_arena *a,
                 struct tg_git_ref_at **out, size_t *n, struct tg_err *err)
{
    (void)s, (void)err;
    *out = TG_NEW(a, struct tg_git_ref_at);
    (*out)->name = TG_SV_PRINTF(a, "%s" EVENT "/0123456789abcdef", prefix);
    memcpy((*out)->oid, OID, sizeof OID);
    *n = 1;
    return true;
}

static bool size_of(const struct tg_store *s, const char *id, uint64_t *size, struct tg_err *err)
{
    (void)s, (void)id, (void)err;
    *size = stored.n;
    return true;
}

static bool read_it(const struct tg_store *s, const char *id, const char *path, struct tg_buf *out,
                    struct tg_err *err)
{
    (void)s, (void)id, (void)path, (void)err;
    tg_buf_add(out, stored);
    return true;
}

FUZZ_TARGET(0)
{
    static const struct tg_store_place place = { .list = list, .size = size_of, .read = read_it };
    const struct tg_store store = { .place = &place };
    TG_ARENA *a = tg_arena_new();
    struct tg_event_record *v;
    struct tg_err err = TG_ERR_INIT;
    size_t n;

    stored = bytes;
    if (!tg_event_records(&store, TG_SV("s"), a, &v, &n, &err)) {
        abort_if(err.kind != TG_ERR_SUMMARY || !strstr(err.message, EVENT));
    } else if (n != 1 || !tg_sv_eq(v->id, TG_SV(EVENT)) || tg_event_latest(v, n, v->id) != v) {
        abort();
    }
}
