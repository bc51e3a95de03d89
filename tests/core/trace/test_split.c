/* Reading in parts: whatever the number of threads and the size of a part, the same columns with
 * the same ids, the same totals, the same counts, or the same error at the same byte. */
#include "core/trace/split.h"

#include "tests/core/trace/reader_support.h"
#include "tests/support.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- everything that was read, as text ---- */

static void put_names(struct tg_buf *out, const struct tg_names *names)
{
    for (size_t i = 0; i < names->n; i++)
        tg_buf_printf(out, "name %zu %.*s|%.*s %d\n", i, TG_SV_ARG(names->v[i].cat),
                      TG_SV_ARG(names->v[i].name), (int)names->v[i].kind);
}

static void put_tables(struct tg_buf *out, const struct tg_trace *t)
{
    const struct tg_integrity *g = &t->integrity;
    put_names(out, t->names);
    for (size_t i = 0; i < t->n_threads; i++)
        tg_buf_printf(out, "thread %zu %.*s|%.*s\n", i, TG_SV_ARG(t->threads[i].pid),
                      TG_SV_ARG(t->threads[i].tid));
    for (size_t i = 0; i < t->n_tracks; i++)
        tg_buf_printf(out, "track %zu %u %" PRId64 " %" PRId64 "\n", i, t->tracks[i].thread,
                      t->tracks[i].stream, t->tracks[i].device);
    for (size_t i = 0; i < t->attrs.n; i++)
        tg_buf_printf(out, "fact %zu %.*s\n", i, TG_SV_ARG(t->attrs.text[i]));
    for (size_t i = 0; i < t->n_memory; i++)
        tg_buf_printf(out, "memory %" PRId64 " %" PRId64 " %" PRId64 "\n", t->memory[i].ts,
                      t->memory[i].bytes, t->memory[i].total_allocated);
    tg_buf_printf(out,
                  "unmatched %" PRIu64 " %" PRIu64 " undated %" PRIu64 " negative %" PRIu64
                  " overlapping %" PRIu64 "\n",
                  g->unmatched_begin, g->unmatched_end, g->undated, g->negative_durations,
                  g->overlapping);
}

static void put_spans(struct tg_buf *out, const struct tg_trace *t)
{
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, i);
        tg_buf_printf(out, "%" PRId64 "+%" PRId64 " c%" PRId64 " n%u t%u f%u i%u", s->start, s->dur,
                      tg_correlation(t, i), s->name, s->track, s->attr, s->index);
        if (t->hta_ts)
            tg_buf_printf(out, " %.17g %.17g %d", t->hta_ts[i], t->hta_dur[i], t->ts_float[i]);
        tg_buf_putc(out, '\n');
    }
}

static void put_trace(struct tg_buf *out, tg_sv text, const struct tg_load_opts *o)
{
    TG_SOURCE *s;
    struct tg_trace *t = NULL;
    struct tg_err err = TG_ERR_INIT;
    s = tg_source_memory(text, "test", o->reader.limits, &err);
    if (s)
        t = tg_trace_load(s, o, NULL, &err);
    if (t) {
        put_info(out, t->info);
        put_tables(out, t);
        put_spans(out, t);
    } else {
        put_error(out, &err);
    }
    tg_trace_free(t);
}

static void put_totals(struct tg_buf *out, tg_sv text, const struct tg_reader_opts *o)
{
    TG_SOURCE *s;
    struct tg_totals t;
    struct tg_err err = TG_ERR_INIT;
    s = tg_source_memory(text, "test", o->limits, &err);
    if (s && tg_totals_read(&t, s, o, &err)) {
        put_info(out, tg_reader_info(t.reader));
        put_names(out, t.names);
        for (size_t i = 0; i < t.names->n; i++)
            tg_buf_printf(out, "%" PRIu64 " %" PRId64 "\n", t.v[i].count, t.v[i].total);
        tg_totals_release(&t);
    } else {
        put_error(out, &err);
    }
}

static void assert_same(tg_sv text, const struct tg_load_opts *one, struct tg_load_opts *many,
                        const char *what)
{
    TG_BUF want = { 0 }, got = { 0 };
    put_trace(&want, text, one);
    put_trace(&got, text, many);
    put_totals(&want, text, &one->reader);
    put_totals(&got, text, &many->reader);
    if (!tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(&want)))
        fail_msg(
            "%s, %u threads, parts of %zu\n--- got:\n%.3000s\n--- want:\n%.3000s\n--- of:\n%.*s",
            what, many->reader.threads, many->reader.part, got.p, want.p,
            (int)(text.n < 2000 ? text.n : 2000), text.p);
}

static void assert_any_parts(tg_sv text, const struct tg_load_opts *o, const char *what)
{
    static const struct {
        unsigned threads;
        size_t part;
    } ways[] = { { 2, 1 },   { 3, 7 },   { 2, 64 },   { 8, 64 },
                 { 3, 150 }, { 2, 333 }, { 3, 4096 }, { 2, 65536 } };
    for (size_t i = 0; i < COUNT(ways); i++) {
        struct tg_load_opts many = *o;
        many.reader.threads = ways[i].threads;
        many.reader.part = ways[i].part;
        if (text.n / 4 >= ways[i].part)
            assert_same(text, o, &many, what);
    }
}

/* ---- adversaries ---- */

#define EVENT(name) "{'ph':'X','cat':'cpu_op','name':'" name "','pid':1,'tid':2,'ts':5,'dur':2}"
#define E10                                                                                        \
    EVENT("a")                                                                                     \
    ",\n" EVENT("b") ",\n" EVENT("c") ",\n" EVENT("d") ",\n" EVENT("a") ",\n" EVENT(               \
        "e") ",\n" EVENT("b") ",\n" EVENT("f") ",\n" EVENT("a") ",\n" EVENT("g")
/* Looks like the end of one event and a whole other one, but is a name. */
#define LURE "}, {\\'ph\\':1},{\\'name\\':\\'"

static const struct {
    const char *what, *text;
} cases[] = {
    { "bare array", "[" E10 "]" },
    { "object", "{'traceEvents':[" E10 "]}" },
    { "events last", "{'deviceProperties':[" E10 "],'x':{'y':[" E10 "]},'traceEvents':[" E10 "]}" },
    { "events first", "{'traceEvents':[" E10 "],'other':[" E10 "],'rank':" E10 "}" },
    { "metadata behind",
      "{'traceEvents':[" E10 "],'distributedInfo':{'rank':3},'other':[" E10 "]}" },
    { "no events", "{'traceEvents':[],'other':[" E10 "]}" },
    { "events in an event",
      "[{'ph':'X','name':'outer','ts':1,'dur':1,'args':{'list':[" E10 "]}}," E10
      ",{'ph':'X','name':'outer2','ts':1,'dur':1,'args':{'list':[" E10 "]}}]" },
    { "events in a text", "[" EVENT("a" LURE LURE LURE LURE LURE) "," EVENT(
                              "x" LURE) "," E10 "," EVENT("b" LURE LURE) "]" },
    { "raw braces in texts", "[" EVENT("},{") "," EVENT("}, {") "," EVENT("[{") "," EVENT(
                                 "}]}") "," E10 "," EVENT("{}") "]" },
    { "CRLF", "{\r\n'traceEvents' :\r\n[\r\n" EVENT("a") "\r\n,\r\n" EVENT("b") "\r\n,\r\n" EVENT(
                  "c") "\r\n,\r\n" EVENT("d") "\r\n,\r\n" EVENT("e") "\r\n]\r\n}\r\n" },
    { "byte order mark", "\xef\xbb\xbf{'traceEvents':[" E10 "]}" },
    { "escapes",
      "[" E10 "," EVENT("C:\\code\\new") "," E10 "," EVENT("\\u00e9\\ud83d\\ude00") "," E10 "]" },
    { "control bytes", "[" E10 "," EVENT("a\nb\tc") "," E10 "," EVENT("\x01") "]" },
    { "not UTF-8", "[" EVENT("\xff\xc3") "," E10 "," EVENT("\xed\xa0\x80") "," E10 "]" },
    { "NaN", "[" E10 ",{'ph':'X','name':'n','ts':NaN,'dur':-Infinity}," E10 "]" },
    { "huge", "[" E10 ",{'ph':'X','name':'n','args':{'stream':18446744073709551615}}," E10 "]" },
    { "rounded", "[" E10 ",{'ph':'X','name':'n','ts':1.0005,'dur':0.00051}," E10 "]" },
    { "marks over parts",
      "[{'ph':'B','name':'m','ts':1,'tid':1}," E10 ",{'ph':'E','ts':9,'tid':1}," E10
      ",{'ph':'E','ts':9,'tid':7},{'ph':'B','ts':3,'tid':8}," E10 "]" },
    { "nameless", "[" E10 ",{'ph':'X','ts':1,'dur':1}," E10 ",{'ph':'X','ts':1,'dur':1}," E10 "]" },
    { "no brace", "[" E10 "," E10 ",7," E10 "]" },
    { "no comma", "[" E10 "," E10 " " E10 "," E10 "]" },
    { "a comma too many", "[" E10 "," E10 ",," E10 "]" },
    { "a comma at the end", "[" E10 "," E10 "," E10 ",]" },
    { "an unescaped quote", "[" E10 "," EVENT("a 'b' c") "," E10 "," E10 "]" },
    { "a missing quote", "[" E10 ",{ph':1}," E10 "," E10 "]" },
    { "a bad time", "[" E10 ",{'ph':'X','name':'n','ts':'5'}," E10 "]" },
    { "two arrays", "{'traceEvents':[" E10 "],'traceEvents':[" E10 "]}" },
    { "text behind", "[" E10 "]" E10 },
    { "two errors", "[" E10 ",{'a':tru}," E10 ",{'a':01}," E10 "]" },
    { "unfinished", "{'traceEvents':[" E10 "," E10 },
    { "unfinished text", "{'traceEvents':[" E10 "," E10 ",{'name':'abc" },
    { "a comma and nothing", "[" E10 "," E10 "," },
};

TEST(adversaries_are_read_as_by_one_thread)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        for (int mode = 0; mode < 4; mode++) {
            struct tg_load_opts o = { .keep_python = mode & 1,
                                      .keep_hta = mode == 3,
                                      .want_attrs = true,
                                      .want_memory = true,
                                      .reader = { .strict_json = mode == 2,
                                                  .allow_truncated = mode & 1 } };
            TG_BUF text = { 0 };
            assert_any_parts(json(&text, cases[i].text), &o, cases[i].what);
        }
}

/* ---- random texts ---- */

static void put_name(struct tg_buf *out, uint64_t *rng)
{
    static const char *const odd[] = {
        LURE,     "}, {\\'ph\\': \\'X\\'", "},{", "[[", "\\\\", "C:\\q", "\xff", "\x02", "a\\/b",
        "\\u0041"
    };
    put_json(out, "op_%u", (unsigned)(roll(rng) % (roll(rng) % 8 ? 12 : 4000)));
    if (roll(rng) % 16 == 0)
        put_json(out, "%s", odd[roll(rng) % COUNT(odd)]);
}

static void put_args(struct tg_buf *out, uint64_t *rng)
{
    unsigned n = (unsigned)roll(rng);
    switch (roll(rng) % 6) {
    case 0:
        put_json(out, "{'stream': %u, 'correlation': %u, 'device': %u, 'grid': [%u, 1, 1]}", n % 3,
                 n % 500, n % 2, n % 7);
        break;
    case 1:
        put_json(out, "{'Input Dims': [[%u, 4], []], 'Input type': ['float']}", n % 50);
        break;
    case 2:
        put_json(out,
                 "{'list': [{'ph': 'X', 'name': 'no'}, {'ph': 'X', 'name': 'event'}, {'ph': 'M', "
                 "'name': '%u'}]}",
                 n);
        break;
    case 3:
        put_json(out, "{'Bytes': %u, 'Total Allocated': %u, 'Device Id': 0}", n % 999, n);
        break;
    default:
        put_json(out, "{'x': '}, {', 'External id': %u}", n % 300);
    }
}

static void put_random_event(struct tg_buf *out, uint64_t *rng)
{
    static const char *const phs[] = { "X", "X", "X", "X", "X", "M", "i", "B", "E" };
    static const char *const cats[] = { "cpu_op",          "kernel", "cuda_runtime",
                                        "python_function", "Trace",  "gpu_memcpy" };
    const char *ph = phs[roll(rng) % COUNT(phs)];
    put_json(out, "{'ph': '%s'", ph);
    if (roll(rng) % 12)
        put_json(out, ", 'cat': '%s'", cats[roll(rng) % COUNT(cats)]);
    if (roll(rng) % 20) {
        put_json(out, ", 'name': '");
        if (*ph == 'i' && roll(rng) % 2)
            tg_buf_puts(out, "[memory]");
        else
            put_name(out, rng);
        tg_buf_putc(out, '"');
    }
    put_json(out, ", 'pid': %u, 'tid': '%u'", (unsigned)(roll(rng) % 3),
             (unsigned)(roll(rng) % (roll(rng) % 30 ? 3 : 999)));
    if (roll(rng) % 25)
        put_json(out, ", 'ts': %u.%03u", (unsigned)(roll(rng) % 100000),
                 (unsigned)(roll(rng) % 1000));
    if (*ph == 'X')
        put_json(out, ", 'dur': %u", (unsigned)(roll(rng) % 400));
    if (roll(rng) % 4) {
        put_json(out, ", 'args': ");
        put_args(out, rng);
    }
    tg_buf_putc(out, '}');
}

static void put_text(struct tg_buf *out, uint64_t *rng)
{
    static const char *const between[] = { ",", ", ", ",\n  ", "\n,\n", ",\r\n\t" };
    const char *sep = between[roll(rng) % COUNT(between)];
    size_t n = 1 + roll(rng) % 120;
    bool bare = roll(rng) % 4 == 0;
    tg_buf_clear(out);
    if (!bare)
        put_json(out, "%s",
                 roll(rng) % 2
                     ? "{'traceEvents': ["
                     : "{'schemaVersion': 1, 'd': [{'id': 0}, {'id': 1}],\n'traceEvents': [\n  ");
    else
        tg_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            tg_buf_puts(out, roll(rng) % 50 ? sep : between[roll(rng) % COUNT(between)]);
        put_random_event(out, rng);
    }
    put_json(out, "%s",
             bare            ? "]"
             : roll(rng) % 2 ? "]}"
                             : "\n], 'distributedInfo': {'rank': 2}, 'e': [{}, {}]\n}\n");
}

static void random_limits(struct tg_limits *l, uint64_t *rng)
{
    *l = TG_LIMITS_DEFAULT;
    switch (roll(rng) % 8) {
    case 0:
        l->max_names = 1 + roll(rng) % 60;
        break;
    case 1:
        l->max_spans = 1 + roll(rng) % 60;
        break;
    case 2:
        l->max_event = 40 + roll(rng) % 300;
        break;
    case 3:
        l->max_depth = 1 + roll(rng) % 6;
        break;
    case 4:
        l->max_name_bytes = 1 + roll(rng) % 400;
        break;
    default:
        break;
    }
}

/* Whole, cut off, and with a byte that is another. */
TEST(random_texts_are_read_as_by_one_thread)
{
    TG_BUF text = { 0 };
    uint64_t rng = 20;
    for (int round = 0; round < 900; round++) {
        struct tg_limits limits;
        struct tg_load_opts o = { .keep_python = roll(&rng) % 2,
                                  .keep_hta = roll(&rng) % 4 == 0,
                                  .want_attrs = roll(&rng) % 2,
                                  .want_memory = roll(&rng) % 2,
                                  .reader = { .strict_json = roll(&rng) % 8 == 0,
                                              .allow_truncated = roll(&rng) % 2,
                                              .limits = &limits } };
        struct tg_load_opts many;
        char what[32];
        (void)snprintf(what, sizeof what, "round %d", round);
        random_limits(&limits, &rng);
        put_text(&text, &rng);
        if (round % 3 == 1)
            text.n = roll(&rng) % text.n;
        if (round % 3 == 2)
            text.p[roll(&rng) % text.n] = (char)("\"{}[],:\\ 0x"[roll(&rng) % 11]);
        many = o;
        many.reader.threads = 2 + (unsigned)(roll(&rng) % 3);
        many.reader.part = 1 + roll(&rng) % (roll(&rng) % 2 ? 100 : 2000);
        assert_same(tg_buf_sv(&text), &o, &many, what);
    }
}

/* ---- the guess itself ---- */

struct counted {
    struct tg_reader *reader;
    unsigned here, joined;
};

static bool count_here(void *whole, struct tg_err *err)
{
    struct counted *c = whole;
    struct tg_event ev;
    enum tg_next next;
    while ((next = tg_reader_next(c->reader, &ev, err)) == TG_NEXT)
        c->here++;
    return next == TG_NEXT_END;
}

static bool count_fits(const void *whole, const void *part, const struct tg_trace_info *info)
{
    (void)whole, (void)part, (void)info;
    return true;
}

static void count_join(void *whole, void *worker, void *part, const struct tg_split_ids *ids)
{
    struct counted *c = whole;
    (void)worker, (void)ids;
    c->joined += *(unsigned *)part;
}

static void count_release(void *own)
{
    (void)own;
}

static void count_init(void *worker, const void *whole, struct tg_reader *r)
{
    (void)whole;
    ((struct counted *)worker)->reader = r;
}

static bool count_read(void *worker, void *part, struct tg_err *err)
{
    struct counted *c = worker;
    c->here = 0;
    if (!count_here(c, err))
        return false;
    *(unsigned *)part = c->here;
    return true;
}

/*
 * That results agree says nothing if every part was read again: on what profilers write, none is.
 */
TEST(guesses_are_right_on_ordinary_traces)
{
    static const struct tg_split_ops ops = { .here = count_here,
                                             .fits = count_fits,
                                             .join = count_join,
                                             .part_size = sizeof(unsigned),
                                             .part_release = count_release,
                                             .worker_size = sizeof(struct counted),
                                             .worker_init = count_init,
                                             .worker_release = count_release,
                                             .read = count_read };
    static const char *const between[] = { ",\n  ", ", ", ",\n    ", "," };
    for (size_t layout = 0; layout < COUNT(between); layout++) {
        struct tg_reader_opts o = { .threads = 3, .part = 4096 };
        TG_BUF text = { 0 };
        struct counted c = { 0 };
        TG_SOURCE *s;
        struct tg_err err = TG_ERR_INIT;
        put_json(&text, "{'traceEvents': [");
        for (int i = 0; i < 1000; i++)
            put_json(
                &text,
                "%s{'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op_%d', 'pid': 1, 'tid': 2, 'ts': "
                "%d.250, 'dur': 3, 'args': {'Input Dims': [[%d, 3], [], {'a': 1}, {'b': 2}]}}",
                i ? between[layout] : "", i % 30, 10 * i, i);
        tg_buf_puts(&text, "]}");
        s = tg_source_memory(tg_buf_sv(&text), "test", NULL, &err);
        assert_true(tg_split_can(s, &o));
        c.reader = tg_reader_new(s, &o);
        assert_true(tg_split_read(c.reader, s, &o, &ops, &c, &err));
        assert_int_equal(c.here + c.joined, 1000);
        /* The first part, and the last where it holds the end of the array only. */
        if (c.here > 4096 * 2 / 100)
            fail_msg("layout %zu: %u events read again, %u joined", layout, c.here, c.joined);
        tg_reader_free(c.reader);
    }
}

TEST(small_or_packed_input_is_not_split)
{
    struct tg_reader_opts o = { .threads = 2 };
    TG_BUF text = { 0 };
    TG_SOURCE *s;
    struct tg_err err = TG_ERR_INIT;
    s = tg_source_memory(json(&text, "[" E10 "]"), "test", NULL, &err);
    assert_false(tg_split_can(s, &o));
    o.part = 64;
    assert_true(tg_split_can(s, &o));
    o.threads = 1;
    assert_false(tg_split_can(s, &o));
}
