/* A history for programs: docs/history.schema.json. */
#include <math.h>

#include "core/base/doc.h"
#include "reporters/history.h"
#include "reporters/label.h"

enum { SHORT = 40 }; /* of a name in an issue's title */

static void add_date(struct tg_doc *d, const char *key, int64_t seconds)
{
    tg_doc_add_str(d, key, tg_sv_of(TG_DATE(seconds)));
}

static void add_operator(struct tg_doc *operators, const struct tg_history *h,
                         const struct tg_moved_series *m)
{
    const struct tg_series *s = m->series == UINT32_MAX ? NULL : &h->series->v[m->series];
    struct tg_doc *d = tg_doc_add_object(operators, NULL);
    TG_BUF label = { 0 };
    tg_label_put_one(&label, tg_history_moved_name(h, m), SHORT);
    tg_doc_add_str(d, "name", tg_history_moved_name(h, m));
    tg_doc_add_str(d, "short", tg_buf_sv(&label));
    tg_doc_add_str(d, "kind", s ? tg_sv_of(tg_history_series_kind(s)) : TG_SV("machine"));
    tg_doc_add_str(d, "change", tg_sv_of(tg_moved_name(m->what)));
    tg_doc_add_num(d, "delta_pct", 100 * (tg_history_in_points(h, m) ? m->e : expm1(m->e)));
    tg_doc_add_num(d, "cost_ns_per_step", m->cost_ns);
    tg_doc_add_num(d, "before", m->before);
    tg_doc_add_num(d, "after", m->after);
    tg_doc_add_bool(d, "worse", m->worse);
    tg_doc_add_bool(d, "back", m->back);
}

static void add_event(struct tg_doc *events, const struct tg_history_suite *s,
                      const struct tg_history_entry *t)
{
    const struct tg_history_event *e = t->event;
    struct tg_doc *d = tg_doc_add_object(events, NULL), *operators;
    tg_doc_add_str(d, "id", tg_sv_of(e->id));
    tg_doc_add_str(d, "suite", s->name);
    tg_doc_add_str(d, "state", tg_sv_of(tg_event_state_name(t->state)));
    tg_doc_add_str(d, "kind", tg_sv_of(tg_event_kind_name(e->kind)));
    tg_doc_add_bool(d, "new", t->fresh);
    tg_doc_add_bool(d, "grown", t->grown);
    tg_doc_add_bool(d, "fails", t->fails);
    add_date(d, "since", s->history->night[tg_history_since(e)].date);
    if (tg_history_is_over(s->history, e))
        add_date(d, "until", s->history->night[e->to].date);
    tg_doc_add_str(d, "from", t->from);
    tg_doc_add_str(d, "to", t->to);
    struct tg_doc *commits = tg_doc_add_array(d, "commits");
    for (size_t i = 0; i < t->n_commits; i++) {
        struct tg_doc *commit = tg_doc_add_object(commits, NULL);
        tg_doc_add_str(commit, "commit", t->commits[i].sha);
        add_date(commit, "date", t->commits[i].date);
        tg_doc_add_str(commit, "author", t->commits[i].author);
        tg_doc_add_str(commit, "subject", t->commits[i].subject);
        tg_doc_add_bool(commit, "night", t->commits[i].night);
    }
    if (t->files_known) {
        struct tg_doc *files = tg_doc_add_array(d, "files");
        for (size_t i = 0; i < t->n_files && i < 100; i++)
            tg_doc_add_str(files, NULL, t->files[i]);
        tg_doc_add_i64(d, "files_changed", (int64_t)t->n_files);
    }
    operators = tg_doc_add_array(d, "operators");
    for (size_t i = 0; i < e->n; i++)
        add_operator(operators, s->history, &e->v[i]);
    tg_doc_add_num(d, "delta_pct", 100 * e->delta);
    tg_doc_add_num(d, "cost_ns_per_step", e->cost_ns);
    tg_doc_add_num(d, "cost_pct_of_step", tg_history_share(s->history, e));
    struct tg_doc *evidence = tg_doc_add_object(d, "evidence");
    tg_doc_add_str(evidence, "night", s->history->night[e->fired].commit);
    if (e->kind == TG_EVENT_ENVIRONMENT) {
        tg_doc_add_str(evidence, "was", e->was);
        tg_doc_add_str(evidence, "is", e->is);
    } else {
        tg_doc_add_str(evidence, "series", tg_history_moved_name(s->history, &e->v[0]));
        if (tg_history_is_exact(&e->v[0])) {
            tg_doc_add_bool(evidence, "exact", true);
        } else {
            tg_doc_add_num(evidence, "rank_z", e->v[0].rank_z);
            tg_doc_add_num(evidence, "z", e->v[0].z);
            tg_doc_add_num(evidence, "p", e->v[0].p);
        }
    }
    if (e->ended)
        tg_doc_add_str(d, "ended", s->history->night[e->ended].commit);
    if (t->actor.n || t->reason.n) {
        struct tg_doc *x = tg_doc_add_object(d, "record");
        tg_doc_add_str(x, "actor", t->actor);
        tg_doc_add_str(x, "reason", t->reason);
        tg_doc_add_i64(x, "time", t->time);
    }
}

void tg_history_put_json(struct tg_buf *out, const struct tg_history_report *r)
{
    TG_AUTO(tg_doc_drop) struct tg_doc *root = tg_doc_new_object();
    tg_doc_add_i64(root, "tracegate_history", 1);
    struct tg_doc *nights = tg_doc_add_array(root, "nights");
    struct tg_doc *events = tg_doc_add_array(root, "events");
    struct tg_doc *series = tg_doc_add_array(root, "series");
    for (size_t i = 0; i < r->n; i++) {
        const struct tg_history_suite *s = &r->suites[i];
        for (size_t k = s->first; k < s->history->n; k++) {
            const struct tg_night *n = &s->history->night[k];
            struct tg_doc *night = tg_doc_add_object(nights, NULL);
            tg_doc_add_str(night, "suite", s->name);
            tg_doc_add_str(night, "commit", n->commit);
            add_date(night, "date", n->date);
            tg_doc_add_str(night, "subject", n->subject);
            tg_doc_add_str(night, "author", n->author);
            tg_doc_add_str(night, "environment", n->environment);
            tg_doc_add_i64(night, "runs", (int64_t)n->runs);
            tg_doc_add_num(night, "step_ns", n->step_ns);
        }
        for (size_t k = 0; k < s->n_events; k++)
            add_event(events, s, &s->events[k]);
        for (size_t k = 0; k < s->n_series; k++) {
            const struct tg_series *x = &s->history->series->v[s->series[k]];
            struct tg_doc *d = tg_doc_add_object(series, NULL), *values;
            tg_doc_add_str(d, "suite", s->name);
            tg_doc_add_str(d, "kind", tg_sv_of(tg_history_series_kind(x)));
            tg_doc_add_str(d, "name", x->name);
            tg_doc_add_str(d, "unit", x->unit);
            values = tg_doc_add_array(d, "values");
            for (size_t j = s->first; j < s->history->n; j++)
                tg_doc_add_num(values, NULL, tg_history_plain(s->history, j, s->series[k]));
        }
    }
    tg_doc_write(root, TG_DOC_INDENTED, out);
    tg_buf_putc(out, '\n');
}
