/* Nights of a suite -> what `history` reports of them. */
#include "cmd/history.h"

#include <math.h>

#include "cmd/gate/gate.h"
#include "cmd/gate/suite.h"
#include "core/base/sort.h"
#include "core/baseline/changed.h"
#include "core/baseline/git.h"
#include "reporters/label.h"

/* ---- a change of calls ---- */

/* The night before and the night after it, as they are judged. */
struct pair {
    struct tg_gate gate;
    struct tg_verdict verdict;
    const struct tg_store *store;
    const struct tg_stored_night *after;
    bool judged;
    struct tg_err why;
};

static void take_after(void *arg, size_t i, const struct tg_side *side, bool damaged,
                       const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_TEST] = *side;
    p->judged = tg_gate_judge(&p->verdict, &p->gate, &p->why);
}

/* A side is there until its call ends: the night after is read within that of the night before. */
static void take_before(void *arg, size_t i, const struct tg_side *side, bool damaged,
                        const struct tg_err *why)
{
    struct pair *p = arg;
    (void)i, (void)damaged, (void)why;
    if (!side)
        return;
    p->gate.side[TG_BASE] = *side;
    p->judged = tg_nights_each(p->store, p->after, 1, take_after, p, NULL, &p->why) && p->judged;
}

static bool is_slower_by_the_clock(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].worse && (e->v[i].what == TG_MOVED_STEP || e->v[i].what == TG_MOVED_DRIFT))
            return true;
    return false;
}

/* A name that replaced another has turned out to be slower, some nights after it came. */
static bool has_slower_replacement(const struct tg_history_event *e)
{
    for (size_t i = 0; i < e->n; i++)
        if (e->v[i].other)
            return e->grew != e->fired && !tg_history_is_slow(e) && is_slower_by_the_clock(e);
    return false;
}

/*
 * What changes calls alone is for `check` to judge, or what took a name's place would be red at
 * night and green in the pull request. `*pass`: the first night with it passes against the night
 * before, by the built-in policy.
 */
TG_MUST static bool calls_pass(struct tg_history_cmd *c, const struct tg_nights *n,
                               const struct tg_history_event *e, bool *pass, struct tg_err *err)
{
    TG_ARENA *a = tg_arena_new();
    struct tg_suites s = { .io = c->io, .repo = c->repo, .arena = a };
    struct pair p = { .store = &c->store, .after = &n->runs[e->to], .why = TG_ERR_INIT };
    *pass = false;
    bool ok = tg_suites_load(&s, "tracegate:recommended", NULL, err) &&
              tg_suites_choose(&s, NULL, TG_SUITES_ONE, err);
    if (ok) {
        p.gate = (struct tg_gate){
            .policy = s.policy, .suite = s.v[0], .io = c->io, .arena = a, .more_suites = true
        };
        tg_gate_compare_opts(&p.gate.compare, s.policy, s.v[0], a);
        ok = tg_nights_each(&c->store, &n->runs[e->from], 1, take_before, &p, NULL, err);
    }
    *pass = ok && p.judged &&
            (p.verdict.outcome == TG_OUTCOME_PASS || p.verdict.outcome == TG_OUTCOME_WARN);
    tg_policy_free(s.policy);
    return ok;
}

/* ---- series ---- */

enum {
    SERIES_SHOWN = 13,
    NUMBERS_SHOWN = 8,
    SERIES_OF_PAGE = 1000,
    EVENTS_WITH_FILES = 20,
    TAGS = 1000
};

/* Nights before the first one that --since and --last leave. */
static bool first_shown(const struct tg_history_cmd *c, const struct tg_nights *n, size_t *first,
                        struct tg_err *err)
{
    struct tg_commit since;
    size_t nights = n->history.n;
    *first = 0;
    if (c->o->since) {
        size_t place = 0;
        if (!tg_git_resolve(c->git, c->o->since, c->arena, &since, err))
            return false;
        while (place < n->n_line && strcmp(n->line[place].sha, since.sha) != 0)
            place++;
        for (size_t i = 0; place < n->n_line && i < nights; i++)
            if (n->place[i] <= place)
                *first = i + 1;
    }
    if (c->o->last > 0 && nights - *first > (size_t)c->o->last)
        *first = nights - (size_t)c->o->last;
    return true;
}

struct weighed {
    uint32_t series;
    double weight;
};

static int by_weight(const void *x, const void *y)
{
    const struct weighed *a = x, *b = y;
    int c = TG_CMP(b->weight, a->weight);
    return c ? c : TG_CMP(a->series, b->series);
}

static bool is_asked_for(const struct tg_history_cmd_opts *o, const struct tg_series *s)
{
    for (size_t i = 0; i < o->name.n; i++) {
        tg_sv glob = tg_sv_of(o->name.v[i]);
        if (tg_sv_glob(glob, s->name) ||
            (tg_series_is_name(s) && tg_label_stands_for(glob, s->name)))
            return true;
    }
    return false;
}

/* Step time first; then what moved, by cost; then numbers of benchmarks, those that measure
 * something first; then what takes most time. */
static double weight_of(const struct tg_nights *n, uint32_t id)
{
    const struct tg_history *h = &n->history;
    const struct tg_series *s = &n->series.v[id];
    double plain = h->n ? tg_history_plain(h, h->n - 1, id) : (double)NAN, moved = 0;
    if (s->what == TG_SERIES_METRIC)
        return s->metric == TG_METRIC_STEP_TIME ? INFINITY : 0;
    for (size_t i = 0; i < h->n_events; i++)
        for (size_t k = 0; k < h->event[i].n; k++)
            if (h->event[i].v[k].series == id)
                moved = fmax(moved, fabs(h->event[i].v[k].cost_ns) + 1);
    if (moved > 0)
        return 1e18 + moved;
    if (s->what == TG_SERIES_NUMBER)
        return s->unit.n ? 2e17 : 1e17;
    return isnan(plain) ? 0 : plain;
}

/* All series that have a value in the nights shown, by weight. */
static size_t weigh_all(const struct tg_history_cmd *c, const struct tg_nights *n, size_t first,
                        struct weighed **out)
{
    struct weighed *v = TG_NEW_N(c->arena, struct weighed, n->series.n + 1);
    bool *seen = TG_NEW_N(c->arena, bool, n->series.n + 1);
    size_t k = 0;
    for (size_t i = first; i < n->history.n; i++)
        for (size_t j = 0; j < n->history.night[i].n; j++)
            seen[n->history.night[i].v[j].series] = true;
    for (uint32_t i = 0; i < n->series.n; i++)
        if (seen[i])
            v[k++] = (struct weighed){ i, weight_of(n, i) };
    TG_SORT(v, k, by_weight);
    *out = v;
    return k;
}

/* ---- releases ---- */

static int by_night(const void *x, const void *y)
{
    const struct tg_history_release *a = x, *b = y;
    int c = TG_CMP(a->night, b->night);
    return c ? c : tg_sv_cmp(a->name, b->name);
}

/* Tags of commits on the line, each at the first night that has its commit in it. */
static bool find_releases(const struct tg_history_cmd *c, const struct tg_nights *n,
                          struct tg_history_suite *out, struct tg_err *err)
{
    struct tg_git_ref_at *tags;
    size_t n_tags;
    if (!tg_git_refs(c->git, "refs/tags/", c->arena, &tags, &n_tags, err))
        return false;
    struct tg_history_release *v = TG_NEW_N(c->arena, struct tg_history_release, n_tags + 1);
    for (size_t i = 0; i < n_tags && i < TAGS; i++) {
        char sha[TG_SHA_SIZE];
        size_t place = 0, night = 0;
        enum tg_seen seen = tg_git_ref(c->git, tags[i].name.p, sha, err);
        if (seen == TG_SEEN_FAILED)
            return false;
        if (seen == TG_ABSENT)
            continue;
        while (place < n->n_line && strcmp(n->line[place].sha, sha) != 0)
            place++;
        while (night < n->history.n && n->place[night] < place)
            night++;
        if (place < n->n_line && night < n->history.n)
            v[out->n_releases++] =
                (struct tg_history_release){ night, { tags[i].name.p + 10, tags[i].name.n - 10 } };
    }
    TG_SORT(v, out->n_releases, by_night);
    out->releases = v;
    return true;
}

/* ---- events ---- */

static bool tell_event(struct tg_history_cmd *c, const struct tg_nights *n,
                       struct tg_history_event *e, const struct tg_event_record *record,
                       struct tg_history_entry *t, struct tg_err *err)
{
    bool pass = false;
    /* what failed when the name came is not news again when its time is proven */
    if (has_slower_replacement(e)) {
        if (!calls_pass(c, n, e, &pass, err))
            return false;
        e->grew = pass ? e->grew : e->fired;
        pass = false;
    }
    *t = (struct tg_history_entry){ .event = e,
                                    .state = e->state,
                                    .fails = tg_history_is_worse(e),
                                    .fresh = e->fired + 1 == n->history.n,
                                    .grown = e->grew != e->fired && e->grew + 1 == n->history.n,
                                    .from = n->history.night[e->from].commit,
                                    .to = n->history.night[e->to].commit };
    if (t->state == TG_EVENT_STATE_OPEN && t->fails && !record && !is_slower_by_the_clock(e) &&
        !calls_pass(c, n, e, &pass, err))
        return false;
    if (pass) {
        e->kind = TG_EVENT_CALLS;
        t->fails = false;
    }
    /* Nobody has to accept improvements and new environments. */
    if (t->state == TG_EVENT_STATE_OPEN &&
        (e->kind == TG_EVENT_IMPROVEMENT || e->kind == TG_EVENT_ENVIRONMENT ||
         (e->kind == TG_EVENT_CALLS && !t->fails)))
        t->state = TG_EVENT_STATE_ACCEPTED;
    if (record) {
        t->actor = record->actor;
        t->reason = record->reason;
        t->time = record->time;
        /* Who accepted the beginning of a drift did not accept what has come since. */
        if (t->state == TG_EVENT_STATE_OPEN && record->word == TG_EVENT_WORD_ACCEPTED &&
            (e->grew == e->fired || record->time >= n->history.night[e->grew].date))
            t->state = TG_EVENT_STATE_ACCEPTED;
    }
    size_t from = n->place[t->event->from], to = n->place[t->event->to], k = 0;
    struct tg_history_commit *v = TG_NEW_N(c->arena, struct tg_history_commit, to - from + 1);
    for (size_t i = from + 1; i <= to; i++) {
        const struct tg_commit *x = &n->line[i];
        bool night = false;
        for (size_t j = t->event->from; j <= t->event->to; j++)
            night = night || n->place[j] == i;
        v[k++] =
            (struct tg_history_commit){ tg_sv_of(x->sha), x->summary, x->author, x->date, night };
    }
    t->commits = v;
    t->n_commits = k;
    return true;
}

static bool tell_events(struct tg_history_cmd *c, struct tg_nights *n, struct tg_history_suite *out,
                        struct tg_err *err)
{
    const struct tg_history *h = &n->history;
    struct tg_history_entry *v = TG_NEW_N(c->arena, struct tg_history_entry, h->n_events + 1);
    struct tg_event_record *records;
    size_t n_records, k = 0, asked = 0;
    if (!tg_event_records(&c->store, n->suite, c->arena, &records, &n_records, &c->unread))
        tg_io_note(c->io, "suite %.*s: %s", TG_SV_ARG(n->suite), c->unread.message);
    tg_nights_keep_ids(n, records, n_records);
    for (size_t i = 0; i < h->n_events; i++) {
        struct tg_history_event *e = &h->event[i];
        if (!tell_event(c, n, e, tg_event_latest(records, n_records, tg_sv_of(e->id)), &v[k], err))
            return false;
        k += v[k].state == TG_EVENT_STATE_OPEN || e->fired >= out->first;
    }
    for (size_t i = k; i-- > 0 && asked < EVENTS_WITH_FILES;)
        if (v[i].state == TG_EVENT_STATE_OPEN) {
            /* Costs a run of git per event, so only for events that somebody may look into. */
            struct tg_changed changed = { 0 };
            struct tg_err ignored = TG_ERR_INIT;
            v[i].files_known =
                tg_git_changed(c->git, v[i].from.p, v[i].to.p, c->arena, &changed, &ignored);
            v[i].files = changed.paths;
            v[i].n_files = v[i].files_known ? changed.n_paths : 0;
            asked++;
        }
    out->events = v;
    out->n_events = k;
    return true;
}

bool tg_history_cmd_tell(struct tg_history_cmd *c, struct tg_nights *n,
                         struct tg_history_suite *out, struct tg_err *err)
{
    if (!first_shown(c, n, &out->first, err) || !tell_events(c, n, out, err))
        return false;
    static const size_t most[] = { SERIES_SHOWN, NUMBERS_SHOWN };
    bool asked = c->o->name.n > 0;
    struct weighed *v;
    size_t n_of[] = { 0, 0 }, k = weigh_all(c, n, out->first, &v);
    uint32_t *shown = TG_NEW_N(c->arena, uint32_t, k + 1),
             *all = TG_NEW_N(c->arena, uint32_t, k + 1);
    for (size_t i = 0; i < k; i++) {
        const struct tg_series *s = &n->series.v[v[i].series];
        bool number = s->what == TG_SERIES_NUMBER;
        if (asked ? is_asked_for(c->o, s) : v[i].weight > 0 && n_of[number] < most[number]) {
            shown[out->n_series++] = v[i].series;
            n_of[number]++;
        }
        if (i < SERIES_OF_PAGE)
            all[out->n_all++] = v[i].series;
    }
    out->series = shown;
    out->all = all;
    if (!out->n_series && n->history.n && c->o->name.n)
        tg_io_note(c->io, "suite %.*s: no name matches '%s' (* is any run, ? one character)",
                   TG_SV_ARG(n->suite), c->o->name.v[0]);
    return (!c->o->svg && !c->o->html) || find_releases(c, n, out, err);
}
