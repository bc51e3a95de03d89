/* `history accept ID` and `reopen ID`: somebody's word about an event, kept in git. */
#include <time.h>

#include "cmd/gate/site.h"
#include "cmd/history.h"
#include "core/baseline/git.h"

/* Whose word it is: the CI's actor, else the name git knows. */
static tg_sv actor(const struct tg_history_cmd *c)
{
    const char *ci = tg_io_env(c->io, "GITHUB_ACTOR");
    tg_sv name = ci ? tg_sv_of(ci) : tg_site_config(c->git, "user.name", c->arena);
    return name.n ? name : TG_SV("unknown");
}

/* The one event whose id begins with `id`. */
static bool find_event(const struct tg_history_cmd *c, const char *id, size_t *suite,
                       const struct tg_history_event **out, struct tg_err *err)
{
    size_t found = 0;
    for (size_t i = 0; i < c->n; i++)
        for (size_t k = 0; k < c->nights[i].history.n_events; k++) {
            const struct tg_history_event *e = &c->nights[i].history.event[k];
            if (strncmp(e->id, id, strlen(id)) != 0 || !*id)
                continue;
            *suite = i;
            *out = e;
            found++;
        }
    if (found == 1)
        return true;
    return tg_err_usage(
        err, "'%s' is %s",
        "`tracegate history` lists them; the first digits of an id are enough if they are unique.",
        id, found ? "more than one event" : "not an event of this history");
}

bool tg_history_cmd_accept(struct tg_history_cmd *c, enum tg_event_word word, const char *id,
                           struct tg_err *err)
{
    struct tg_event_record record = { .word = word };
    const struct tg_history_event *e = NULL;
    const char *now = tg_io_env(c->io, "SOURCE_DATE_EPOCH");
    TG_BUF b = { 0 };
    size_t suite = 0;
    if (!find_event(c, id, &suite, &e, err))
        return false;
    record.id = tg_sv_of(e->id);
    record.reason = tg_sv_of(c->o->reason);
    record.actor = actor(c);
    if (!now || !tg_sv_i64(tg_sv_of(now), &record.time))
        record.time = (int64_t)time(NULL);
    if (!tg_event_write(&c->store, c->nights[suite].suite, &record, c->arena, err))
        return false;
    tg_buf_printf(&b, "%s %s: %s\n", word == TG_EVENT_WORD_ACCEPTED ? "accepted" : "reopened",
                  e->id, tg_event_kind_name(e->kind));
    return tg_io_put(c->io, tg_buf_sv(&b), err);
}
