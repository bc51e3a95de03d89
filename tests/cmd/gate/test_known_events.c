/* What the nights before a change know: events of the history, and what failed in them. */
#include "tests/cmd/gate/stored.h"

#include "core/baseline/event.h"

static const char *const five[] = { "echo 1 > x", "echo 2 > x", "echo 3 > x",
                                    "echo 4 > x", "echo 5 > x", NULL };

/* What the check would answer: how far the nights count, and what failed in them. */
struct answers {
    struct job *k;
    const char *until; /* NULL: unknown */
    double after[5];   /* of HEAD~4 to HEAD: 100 ns became so much; 0: nothing failed */
    unsigned asked;
};

static enum tg_seen until(void *arg, struct tg_commit *out, struct tg_err *err)
{
    const struct answers *x = arg;
    if (x->until)
        *out = job_commit(x->k, x->until);
    (void)err;
    return x->until ? TG_SEEN : TG_ABSENT;
}

static bool failures(void *arg, const char *night, struct tg_known **out, size_t *n,
                     struct tg_err *err)
{
    struct answers *x = arg;
    (void)err;
    *n = 0;
    x->asked++;
    for (int i = 0; i < 5; i++) {
        const char *rev = tg_arena_printf(x->k->box->a, "HEAD~%d", 4 - i);
        if (strcmp(job_commit(x->k, rev).sha, night) != 0 || x->after[i] == 0)
            continue;
        *out = TG_NEW(x->k->box->a, struct tg_known);
        **out = (struct tg_known){ .what = TG_KNOWN_FAILURE,
                                   .rule = TG_SV("r"),
                                   .name = TG_SV("aten::mm"),
                                   .unit_id = TG_UNIT_NS,
                                   .before = 100,
                                   .after = x->after[i] };
        *n = 1;
    }
    return true;
}

static struct tg_known_ask asked(struct job *k, const char *since, struct answers *x)
{
    x->k = k;
    return (struct tg_known_ask){ .git = job_git(k),
                                  .suite = TG_SV("main"),
                                  .since = job_commit(k, since).sha[0]
                                               ? tg_arena_printf(k->box->a, "%s",
                                                                 job_commit(k, since).sha)
                                               : "",
                                  .until = until,
                                  .failures = failures,
                                  .arg = x,
                                  .arena = k->box->a };
}

/* Five nights; aten::mm is called once, from HEAD~1 on twice. */
static void open_nights(struct job *k, const struct box *b)
{
    job_repository(b, five);
    job_open(k, b, STORED_POLICY);
    for (int i = 4; i >= 0; i--)
        store_run(k, "main", tg_arena_printf(k->box->a, "HEAD~%d", i), i <= 1 ? 2 : 1);
}

/* The event of the calls, if it is known to a check of these. */
static const struct tg_known *event_of(struct job *k, const char *since, const char *limit)
{
    struct answers x = { .until = limit };
    struct tg_known_ask ask = asked(k, since, &x);
    const struct tg_known *v = NULL;
    size_t n = tg_known_find(&ask, TG_KNOWN_EVENTS, &v);
    for (size_t i = 0; i < n; i++)
        if (v[i].what == TG_KNOWN_NAME && tg_sv_eq(v[i].name, TG_SV("aten::mm")))
            return &v[i];
    return NULL;
}

/* After the baseline, and before the change: HEAD~1 is the night of the event. */
IN_BOX(events_between_the_baseline_and_the_change)
{
    TG_AUTO(job_close) struct job k = { 0 };
    const struct tg_known *e;
    open_nights(&k, b);
    e = event_of(&k, "HEAD~4", "HEAD");
    assert_non_null(e);
    assert_true(e->exact && e->before == 1 && e->after == 2 && !e->accepted);
    assert_int_equal(e->kind, TG_KIND_OP);
    is_in(e->text.p, "since night 4 (");
    is_in(e->text.p, tg_arena_printf(k.box->a, "), commit %.12s, open: event %s",
                                     job_commit(&k, "HEAD~1").sha, e->id.p));
    assert_non_null(event_of(&k, "HEAD~2", "HEAD~1"));
    assert_null(event_of(&k, "HEAD~1", "HEAD"));   /* the baseline has it as well */
    assert_null(event_of(&k, "HEAD~4", "HEAD~2")); /* it is the change's own */
    assert_null(event_of(&k, "HEAD~4", NULL));     /* nobody knows where the change begins */
}

/* Of the events that a check at HEAD against HEAD~4 knows: the names, and "step" for their cost,
 * blanks between them. */
static const char *names_known(struct job *k)
{
    struct answers x = { .until = "HEAD" };
    struct tg_known_ask ask = asked(k, "HEAD~4", &x);
    const struct tg_known *v = NULL;
    TG_BUF b = { 0 };
    size_t n = tg_known_find(&ask, TG_KNOWN_EVENTS, &v);
    const char *text;
    for (size_t i = 0; i < n; i++)
        tg_buf_printf(&b, "%.*s ",
                      TG_SV_ARG(v[i].what == TG_KNOWN_NAME ? v[i].name : TG_SV("step")));
    text = b.n ? tg_arena_sv(k->box->a, tg_buf_sv(&b)).p : "";
    return text;
}

/* Calls a night, a digit each, of aten::mm and of a synchronisation, which a metric counts too. */
IN_BOX(what_is_open_and_worse_is_known)
{
    static const struct {
        const char *mm, *sync, *known;
    } rows[] = {
        { "11333", "11111", "aten::mm step " },
        { "00333", "11111", "aten::mm step " },
        { "33111", "11111", "" },                            /* less is nothing to excuse */
        { "13111", "11111", "" },                            /* was mended */
        { "11111", "11333", "cudaDeviceSynchronize step " }, /* the metric is no name */
        { "13333", "13111", "aten::mm step " },              /* one of two is back */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        TG_AUTO(job_close) struct job k = { 0 };
        const char *got;
        job_repository(b, five);
        job_open(&k, b, STORED_POLICY);
        for (int night = 0; night < 5; night++) {
            const struct trace_calls v[] = { { "aten::mm", "cpu_op",
                                               (unsigned)(rows[i].mm[night] - '0'), 10 },
                                             { "cudaDeviceSynchronize", "cuda_runtime",
                                               (unsigned)(rows[i].sync[night] - '0'), 10 } };
            store_trace(&k, "main", tg_arena_printf(k.box->a, "HEAD~%d", 4 - night),
                        trace_of(k.box->a, -1, v, 2));
        }
        got = names_known(&k);
        if (strcmp(got, rows[i].known) != 0)
            fail_msg("row %zu: got '%s'", i, got);
    }
}

IN_BOX(accepted_with_who_and_why)
{
    TG_AUTO(job_close) struct job k = { 0 };
    struct tg_store store;
    struct tg_event_record said = { .word = TG_EVENT_WORD_ACCEPTED,
                                    .actor = TG_SV("Ann"),
                                    .reason = TG_SV("worth it"),
                                    .time = 1 };
    const struct tg_known *e;
    open_nights(&k, b);
    store = tg_store_open(job_git(&k));
    said.id = event_of(&k, "HEAD~4", "HEAD")->id;
    assert_no_error(tg_event_write(&store, TG_SV("main"), &said, k.box->a, &k.err), &k.err);
    e = event_of(&k, "HEAD~4", "HEAD");
    assert_true(e && e->accepted);
    is_in(e->text.p, ", accepted: event ");
    is_in(e->text.p, ", Ann: worth it");
    said.word = TG_EVENT_WORD_REOPENED;
    said.time = 2;
    assert_no_error(tg_event_write(&store, TG_SV("main"), &said, k.box->a, &k.err), &k.err);
    assert_false(event_of(&k, "HEAD~4", "HEAD")->accepted);
}

/* What was said last counts, whatever the clocks of those who spoke. */
IN_BOX(the_last_word_counts_and_not_the_latest_time)
{
    static const struct {
        enum tg_event_word word;
        int64_t time;
    } said[] = {
        { TG_EVENT_WORD_ACCEPTED, 4102444800 }, { TG_EVENT_WORD_REOPENED, 1 },
        { TG_EVENT_WORD_ACCEPTED, 0 },          { TG_EVENT_WORD_REOPENED, -5 },
        { TG_EVENT_WORD_REOPENED, -5 },         { TG_EVENT_WORD_ACCEPTED, -5 },
        { TG_EVENT_WORD_ACCEPTED, -5 },         { TG_EVENT_WORD_REOPENED, -5 },
    };
    TG_AUTO(job_close) struct job k = { 0 };
    struct tg_store store;
    struct tg_event_record r = { .actor = TG_SV("Ann"), .reason = TG_SV("r") };
    open_nights(&k, b);
    store = tg_store_open(job_git(&k));
    r.id = event_of(&k, "HEAD~4", "HEAD")->id;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        r.word = said[i].word;
        r.time = said[i].time;
        assert_no_error(tg_event_write(&store, TG_SV("main"), &r, k.box->a, &k.err), &k.err);
        if (event_of(&k, "HEAD~4", "HEAD")->accepted != (r.word == TG_EVENT_WORD_ACCEPTED))
            fail_msg("word %zu does not count", i);
    }
}

/* `after` as a record has it: "" is one of 0.2.0. */
static const struct tg_event_record *last_of(const char *const after[],
                                             const enum tg_event_word *word, size_t n)
{
    static struct tg_event_record v[4];
    static const char *const names[] = { "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb", "cccccccccccccccc",
                                         "dddddddddddddddd" };
    for (size_t i = 0; i < n; i++) /* sorted by time, as tg_event_records gives them */
        v[i] = (struct tg_event_record){ .id = TG_SV("e"),
                                         .word = word[i],
                                         .time = (int64_t)i,
                                         .name = tg_sv_of(names[i]),
                                         .after = tg_sv_of(after[i]) };
    return tg_event_latest(v, n, TG_SV("e"));
}

#define YES TG_EVENT_WORD_ACCEPTED
#define NO TG_EVENT_WORD_REOPENED
TEST(which_of_several_records_counts)
{
    static const struct {
        const char *after[4];
        enum tg_event_word word[4];
        size_t n;
        char counts;
    } cases[] = {
        { { "", "", "" }, { YES, NO, YES }, 3, 'c' },                 /* by their times */
        { { "", "", "aaaaaaaaaaaaaaaa" }, { YES, YES, NO }, 3, 'c' }, /* b is from another job */
        { { "bbbbbbbbbbbbbbbb", "" }, { NO, YES }, 2, 'a' }, /* an answer before what it answers */
        { { "", "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa" }, { YES, NO, YES }, 3, 'b' }, /* at once */
        { { "", "aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbb cccccccccccccccc" },
          { YES, NO, YES, YES },
          4,
          'd' },
        { { "eeeeeeeeeeeeeeee" }, { NO }, 1, 'a' }, /* what it answers was not fetched */
    };
    assert_null(tg_event_latest(NULL, 0, TG_SV("e")));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct tg_event_record *r = last_of(cases[i].after, cases[i].word, cases[i].n);
        if (!r || r->name.p[0] != cases[i].counts)
            fail_msg("case %zu: %c counts", i, r ? r->name.p[0] : '-');
    }
}

IN_BOX(a_damaged_record_is_an_error)
{
    TG_AUTO(job_close) struct job k = { 0 };
    struct tg_event_record *v;
    struct tg_store store;
    size_t n;
    open_nights(&k, b);
    store = tg_store_open(job_git(&k));
    box_sh(b, "cd w; o=$(echo '{\"tracegate_event\": 1}' | git hash-object -w --stdin)\n"
              "git update-ref refs/tracegate/events/v1/main/0123456789ab/$(printf %.16s $o) $o");
    assert_false(tg_event_records(&store, TG_SV("main"), k.box->a, &v, &n, &k.err));
    is_in(k.err.message, "record of an event cannot be read");
}

/* What failed in the newest night, since the night that it goes on from; nights are numbered from
 * HEAD~4 = 1. From 100 to 130 a quarter more is 138; night by night it may not creep further. */
IN_BOX(what_failed_since_when)
{
    static const struct {
        double after[5];
        const char *since;
        unsigned night; /* 0: nothing is known */
        double size;
        unsigned asked;
    } cases[] = {
        { { 0, 0, 0, 0, 130 }, "HEAD~4", 5, 130, 2 },
        { { 0, 0, 130, 130, 130 }, "HEAD~4", 3, 130, 4 },
        { { 0, 0, 130, 135, 138 }, "HEAD~4", 3, 130, 4 },
        { { 0, 0, 130, 138, 146 }, "HEAD~4", 5, 146, 4 },
        { { 0, 0, 130, 150, 150 }, "HEAD~4", 4, 150, 4 },
        { { 0, 130, 0, 130, 130 }, "HEAD~4", 4, 130, 3 },
        { { 0, 130, 130, 130, 0 }, "HEAD~4", 0, 0, 1 },
        { { 130, 130, 130, 130, 130 }, "HEAD~2", 4, 130, 2 },
        { { 130, 130, 130, 130, 130 }, "HEAD", 0, 0, 0 },
    };
    TG_AUTO(job_close) struct job k = { 0 };
    open_nights(&k, b);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct answers x = { .until = "HEAD" };
        struct tg_known_ask ask = asked(&k, cases[i].since, &x);
        const struct tg_known *v = NULL;
        memcpy(x.after, cases[i].after, sizeof x.after);
        (void)tg_known_find(&ask, TG_KNOWN_EVENTS, &v);
        if (tg_known_find(&ask, TG_KNOWN_NIGHTS, &v) != (cases[i].night > 0))
            fail_msg("case %zu", i);
        assert_int_equal(x.asked, cases[i].asked);
        if (!cases[i].night)
            continue;
        is_in(v->text.p, tg_arena_printf(k.box->a, "since night %u (", cases[i].night));
        is_in(v->text.p,
              tg_arena_printf(
                  k.box->a, "), commit %.12s, open",
                  job_commit(&k, tg_arena_printf(k.box->a, "HEAD~%u", 5 - cases[i].night)).sha));
        assert_true(v->after == cases[i].size);
    }
}
