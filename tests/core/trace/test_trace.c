#include "tests/core/trace/reader_support.h"
#include "tests/support.h"

/* JSON with ' for ". */
static struct tg_trace *load(const char *text, const struct tg_load_opts *o)
{
    struct tg_err err = TG_ERR_INIT;
    TG_BUF bytes = { 0 };
    struct tg_source *s = tg_source_memory(json(&bytes, text), "test", NULL, &err);
    struct tg_trace *t;
    assert_non_null(s);
    t = tg_trace_load(s, o, NULL, &err);
    if (!t)
        fail_msg("%s", err.message);
    tg_source_close(s);
    return t;
}

/* "cat|name start dur stream/device correlation #index", in the total order. */
static void put_spans(struct tg_buf *out, const struct tg_trace *t)
{
    uint32_t *order = malloc((t->n_spans + 1) * sizeof *order);
    assert_non_null(order);
    tg_trace_sort(t, order);
    for (size_t i = 0; i < t->n_spans; i++) {
        const struct tg_span *s = tg_span_at(t, order[i]);
        const struct tg_name *name = tg_span_name(t, s);
        const struct tg_track *k = &t->tracks[s->track];
        tg_buf_printf(out, "%.*s|%.*s %" PRId64 " %" PRId64, TG_SV_ARG(name->cat),
                      TG_SV_ARG(name->name), s->start, s->dur);
        if (k->stream != TG_NO_STREAM || k->device != -1)
            tg_buf_printf(out, " %" PRId64 "/%" PRId64, tg_track_hta_stream(k), k->device);
        if (tg_correlation(t, order[i]) != TG_NO_CORRELATION)
            tg_buf_printf(out, " c%" PRId64, tg_correlation(t, order[i]));
        tg_buf_printf(out, " #%u\n", s->index);
    }
    free(order);
}

static void assert_spans(const char *text, const struct tg_load_opts *o, const char *want)
{
    struct tg_trace *t = load(text, o);
    TG_BUF got = { 0 };
    put_spans(&got, t);
    assert_string_equal(got.p ? got.p : "", want);
    tg_trace_free(t);
}

/* 2^31 - 1 is the last number of the narrow column; what was there before the first that is larger
 * stays, and so does what is absent. */
TEST(correlations_of_any_size)
{
    struct tg_load_opts o = { 0 };
    assert_spans(
        "[{'ph':'X','cat':'x','name':'a','ts':1,'dur':1,'args':{'correlation':2147483647}},"
        "{'ph':'X','name':'b','ts':2,'dur':1},"
        "{'ph':'X','name':'c','ts':3,'dur':1,'args':{'correlation':2147483648}},"
        "{'ph':'X','name':'d','ts':4,'dur':1,'args':{'correlation':9007199254740993}},"
        "{'ph':'X','name':'e','ts':5,'dur':1,'args':{'correlation':7}},"
        "{'ph':'X','name':'f','ts':6,'dur':1}]",
        &o,
        "x|a 1000 1000 c2147483647 #0\n|b 2000 1000 #1\n|c 3000 1000 c2147483648 #2\n"
        "|d 4000 1000 c9007199254740993 #3\n|e 5000 1000 c7 #4\n|f 6000 1000 #5\n");
}

TEST(spans_are_what_has_a_duration)
{
    struct tg_load_opts o = { 0 };
    assert_spans("[{'ph':'X','name':'a','ts':2,'dur':1},{'name':'no ph','ts':1,'dur':1},"
                 "{'ph':'X','name':'no dur','ts':1},{'ph':'X','name':'no ts','dur':1},"
                 "{'ph':'i','name':'instant','ts':1,'dur':1},{'ph':'X','ts':3,'dur':0},"
                 "{'ph':'X','cat':'python_function','name':'p','ts':4,'dur':1}]",
                 &o, "|no ph 1000 1000 #1\n|a 2000 1000 #0\n| 3000 0 #5\n");
    o.keep_python = true;
    assert_spans("[{'ph':'X','cat':'python_function','name':'p','ts':4,'dur':1}]", &o,
                 "python_function|p 4000 1000 #0\n");
}

TEST(begin_and_end_make_a_span)
{
    static const struct {
        const char *text, *spans;
        uint64_t begins, ends; /* left over */
    } cases[] = {
        /* Nested, and the file's order does not matter. */
        { "[{'ph':'B','name':'a','ts':1},{'ph':'B','name':'b','ts':2},"
          "{'ph':'E','name':'b','ts':3},{'ph':'E','name':'a','ts':5}]",
          "|a 1000 4000 #0\n|b 2000 1000 #1\n", 0, 0 },
        { "[{'ph':'E','name':'a','ts':5},{'ph':'E','name':'b','ts':3},"
          "{'ph':'B','name':'b','ts':2},{'ph':'B','name':'a','ts':1}]",
          "|a 1000 4000 #3\n|b 2000 1000 #2\n", 0, 0 },
        /* An end without a name closes the innermost; with one, its own. */
        { "[{'ph':'B','name':'a','ts':1},{'ph':'B','name':'b','ts':2},{'ph':'E','ts':3},"
          "{'ph':'E','ts':5}]",
          "|a 1000 4000 #0\n|b 2000 1000 #1\n", 0, 0 },
        { "[{'ph':'B','name':'a','ts':1},{'ph':'B','name':'b','ts':2},"
          "{'ph':'E','name':'a','ts':3},{'ph':'E','name':'b','ts':5}]",
          "|a 1000 2000 #0\n|b 2000 3000 #1\n", 0, 0 },
        /* Two that end together; one that begins as the other ends; length zero. */
        { "[{'ph':'B','name':'a','ts':1},{'ph':'B','name':'b','ts':2},"
          "{'ph':'E','name':'a','ts':5},{'ph':'E','name':'b','ts':5}]",
          "|a 1000 4000 #0\n|b 2000 3000 #1\n", 0, 0 },
        { "[{'ph':'B','name':'a','ts':1},{'ph':'E','name':'a','ts':2},"
          "{'ph':'B','name':'a','ts':2},{'ph':'E','name':'a','ts':4}]",
          "|a 1000 1000 #0\n|a 2000 2000 #2\n", 0, 0 },
        { "[{'ph':'B','name':'a','ts':1},{'ph':'E','name':'a','ts':1}]", "|a 1000 0 #0\n", 0, 0 },
        /* Threads do not see each other. What has no partner is counted. */
        { "[{'ph':'B','name':'a','tid':1,'ts':1},{'ph':'E','name':'a','tid':2,'ts':2},"
          "{'ph':'E','name':'x','tid':2,'ts':3}]",
          "", 1, 2 },
        /* The category may stand at the begin alone; args come from either side. */
        { "[{'ph':'B','cat':'kernel','name':'k','pid':3,'ts':1},"
          "{'ph':'E','name':'k','pid':3,'ts':2,'args':{'stream':7,'correlation':9}}]",
          "kernel|k 1000 1000 7/3 c9 #0\n", 0, 0 },
    };
    struct tg_load_opts o = { 0 };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_trace *t = load(cases[i].text, &o);
        assert_spans(cases[i].text, &o, cases[i].spans);
        assert_int_equal(t->integrity.unmatched_begin, cases[i].begins);
        assert_int_equal(t->integrity.unmatched_end, cases[i].ends);
        tg_trace_free(t);
    }
}

TEST(tracks_name_device_and_stream)
{
    struct tg_load_opts o = { 0 };
    assert_spans("[{'ph':'X','cat':'kernel','name':'k','pid':5,'ts':1,'dur':1,'args':{'device':2,'"
                 "stream':7,'correlation':3}},"
                 "{'ph':'X','cat':'kernel','name':'pid is the "
                 "device','pid':5,'ts':2,'dur':1,'args':{'stream':0}},"
                 "{'ph':'X','cat':'kernel','name':'neither','pid':'gpu','ts':3,'dur':1},"
                 "{'ph':'X','cat':'cpu_op','name':'triton','pid':5,'ts':4,'dur':1,'args':{'device':"
                 "2,'stream':172722288}}]",
                 &o,
                 "kernel|k 1000 1000 7/2 c3 #0\n"
                 "kernel|pid is the device 2000 1000 0/5 #1\n"
                 "kernel|neither 3000 1000 #2\n"
                 "cpu_op|triton 4000 1000 172722288/-1 #3\n");
}

/* The total order: start, longer first, category, name, pid, tid, correlation, index. */
TEST(order_is_total)
{
    struct tg_load_opts o = { 0 };
    assert_spans("[{'ph':'X','cat':'b','name':'b','ts':1,'dur':1,'args':{'correlation':2}},"
                 "{'ph':'X','cat':'b','name':'b','ts':1,'dur':1,'args':{'correlation':1}},"
                 "{'ph':'X','cat':'b','name':'a','ts':1,'dur':1},"
                 "{'ph':'X','cat':'a','name':'z','tid':2,'ts':1,'dur':1},"
                 "{'ph':'X','cat':'a','name':'z','tid':10,'ts':1,'dur':1},"
                 "{'ph':'X','cat':'a','name':'z','tid':10,'ts':1,'dur':1},"
                 "{'ph':'X','cat':'z','name':'z','ts':1,'dur':2},"
                 "{'ph':'X','cat':'z','name':'z','ts':-1,'dur':1},"
                 "{'ph':'X','cat':'z','name':'z','ts':9000000000000000,'dur':1}]",
                 &o,
                 "z|z -1000 1000 #7\nz|z 1000 2000 #6\na|z 1000 1000 #4\na|z 1000 1000 #5\n"
                 "a|z 1000 1000 #3\nb|a 1000 1000 #2\nb|b 1000 1000 c1 #1\nb|b 1000 1000 c2 #0\n"
                 "z|z 9000000000000000000 1000 #8\n");
}

TEST(attrs_are_canonical)
{
    static const struct {
        const char *event, *attr;
    } cases[] = {
        { "'cat':'kernel','args':{'block': [ 256, 1, 1 ],'grid': [864,1 ,1],'est. achieved "
          "occupancy %': 63, 'registers per thread': 47,'shared memory': 0,'queued': 0}",
          "grid=[864,1,1]\nblock=[256,1,1]\nregisters=47\nshared=0\noccupancy=63" },
        { "'cat':'kernel','args':{'Collective name':'all reduce','dtype':'Float','In msg "
          "nelems':4,'Out msg nelems':8,'Group size':2,'Process Group Name':'0'}",
          "collective=\"all reduce\"\ndtype=\"Float\"\nnelems_in=4\nnelems_out=8\ngroup_size=2\n"
          "group=\"0\"" },
        { "'cat':'gpu_memcpy','args':{'memory bandwidth (GB/s)': 7.5,'bytes':'92928'}",
          "bytes=\"92928\"\nbandwidth=7.5" },
        { "'cat':'cpu_op','args':{'Input type':['c10::Half', '', 'a \\' b'],'Input Dims':[[2, 3], "
          "[]]}",
          "shapes=[[2,3],[]]\ntypes=[\"c10::Half\",\"\",\"a \\\" b\"]" },
        { "'cat':'cpu_op','args':{'Ev Idx':1}", NULL },
        { "'cat':'cpu_op'", NULL },
        { "'cat':'cuda_runtime','args':{'bytes':1,'grid':[1,1,1]}", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tg_load_opts o = { .want_attrs = true };
        TG_BUF text = { 0 };
        struct tg_trace *t;
        uint32_t attr;
        tg_buf_printf(&text, "[{'ph':'X','ts':1,'dur':1,'name':'n',%s}]", cases[i].event);
        t = load(text.p, &o);
        attr = tg_span_at(t, 0)->attr;
        if (cases[i].attr)
            assert_true(tg_sv_eq(t->attrs.text[attr], tg_sv_of(cases[i].attr)));
        else
            assert_int_equal(attr, TG_NO_ID);
        tg_trace_free(t);
        o.want_attrs = false;
        t = load(text.p, &o);
        assert_int_equal(tg_span_at(t, 0)->attr, TG_NO_ID);
        tg_trace_free(t);
    }
}

TEST(memory_instants)
{
    static const char text[] =
        "[{'ph':'i','name':'[memory]','ts':1.5,'args':{'Device Type':1,'Device "
        "Id':0,'Bytes':-512,'Total Allocated':1024,'Total Reserved':4096}},"
        "{'ph':'i','name':'[memory]','ts':2,'args':{'Bytes':4}},"
        "{'ph':'i','name':'other','ts':3}]";
    struct tg_load_opts o = { .want_memory = true };
    struct tg_trace *t = load(text, &o);
    assert_int_equal(t->n_memory, 2);
    assert_int_equal(t->memory[0].ts, 1500);
    assert_int_equal(t->memory[0].device_type, 1);
    assert_int_equal(t->memory[0].device, 0);
    assert_int_equal(t->memory[0].bytes, -512);
    assert_int_equal(t->memory[0].total_allocated, 1024);
    assert_int_equal(t->memory[0].total_reserved, 4096);
    assert_int_equal(t->memory[1].bytes, 4);
    assert_int_equal(t->memory[1].device, -1);
    assert_int_equal(t->memory[1].total_allocated, -1);
    tg_trace_free(t);
    o.want_memory = false;
    t = load(text, &o);
    assert_int_equal(t->n_memory, 0);
    tg_trace_free(t);
}

/* HTA keeps what has dur and cat (not "Trace"), never asking ph; its doubles are Python's. */
TEST(rows_of_hta)
{
    struct tg_load_opts o = { .keep_hta = true };
    struct tg_trace *t =
        load("[{'ph':'X','cat':'Trace','ts':1,'dur':1},"
             "{'ph':'i','cat':'c','ts':1661203462934220.1,'dur':2},{'ph':'X','ts':1,'dur':1},"
             "{'ph':'X','cat':'python_function','dur':0.3},{'ph':'B','cat':'c','ts':1}]",
             &o);
    assert_int_equal(t->n_spans, 2);
    assert_int_equal(tg_span_at(t, 0)->index, 1);
    assert_int_equal(tg_span_at(t, 1)->index, 3);
    assert_true(t->hta_ts[0] == 1661203462934220.1);
    assert_true(t->hta_dur[0] == 2.0);
    assert_true(t->ts_float[0]);
    assert_true(isnan(t->hta_ts[1]));
    assert_true(t->hta_dur[1] == 0.3);
    assert_false(t->ts_float[1]);
    tg_trace_free(t);
}

TEST(damage_is_counted)
{
    struct tg_load_opts o = { 0 };
    struct tg_trace *t = load(
        "[{'ph':'X','cat':'cuda_runtime','name':'launch','ts':0,'dur':1,'args':{'correlation':1}},"
        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#1','ts':0,'dur':100},"
        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#2','ts':100,'dur':1},"
        /* Runs 5 us into the next of its stream; the other stream does not count. */
        "{'ph':'X','cat':'kernel','name':'a','ts':10,'dur':15,'args':{'device':0,'stream':7,'"
        "correlation':1}},"
        "{'ph':'X','cat':'kernel','name':'b','ts':20,'dur':10,'args':{'device':0,'stream':7,'"
        "correlation':1}},"
        "{'ph':'X','cat':'kernel','name':'c','ts':25,'dur':1,'args':{'device':0,'stream':8,'"
        "correlation':1}},"
        /* Back to back is no overlap; without a launch; longer than both steps, and than the
         * 200 us from the first start on the device to the last. */
        "{'ph':'X','cat':'kernel','name':'d','ts':30,'dur':201,'args':{'device':0,'stream':10,'"
        "correlation':2}},"
        "{'ph':'X','cat':'gpu_memset','name':'m','ts':200,'dur':-3,'args':{'device':0,'stream':7}},"
        "{'ph':'X','cat':'kernel','name':'z','ts':0,'dur':0,'args':{'device':0,'stream':9,'"
        "correlation':1}}]",
        &o);
    assert_int_equal(t->integrity.overlapping, 1);
    assert_int_equal(t->integrity.overlapping_ns, 5000);
    assert_int_equal(t->integrity.longer_than_step, 1);
    assert_int_equal(t->integrity.negative_durations, 1);
    assert_int_equal(t->integrity.zero_kernels, 1);
    tg_trace_free(t);
}

/* The host is done when the device begins, and a kernel takes half of all the device's time. */
TEST(host_ahead_is_no_damage)
{
    struct tg_load_opts o = { 0 };
    struct tg_trace *t = load(
        "[{'ph':'X','cat':'user_annotation','name':'ProfilerStep#1','ts':0,'dur':10},"
        "{'ph':'X','cat':'user_annotation','name':'ProfilerStep#2','ts':10,'dur':10},"
        "{'ph':'X','cat':'kernel','name':'a','ts':10,'dur':300,'args':{'device':0,'stream':7}},"
        "{'ph':'X','cat':'kernel','name':'a','ts':320,'dur':300,'args':{'device':0,'stream':7}}]",
        &o);
    assert_int_equal(t->integrity.longer_than_step, 0);
    tg_trace_free(t);
}

TEST(limits_are_reached)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_load_opts o = { .reader = { .limits = &limits } };
    struct tg_err err = TG_ERR_INIT;
    TG_BUF bytes = { 0 };
    struct tg_source *s = tg_source_memory(
        json(&bytes, "[{'ph':'X','ts':1,'dur':1},{'ph':'X','ts':1,'dur':1}]"), "test", NULL, &err);
    limits.max_spans = 1;
    assert_null(tg_trace_load(s, &o, NULL, &err));
    assert_int_equal(err.kind, TG_ERR_LIMIT);
    assert_string_equal(err.message, "more than 1 events to keep");
    tg_source_close(s);
}

/* Totals are the sums of the spans, whichever way they were written. */
TEST(totals_are_sums_of_spans)
{
    static const char text[] =
        "[{'ph':'X','cat':'c','name':'a','ts':1,'dur':1.25},"
        "{'ph':'X','cat':'c','name':'a','ts':2,'dur':2},{'ph':'M','name':'only metadata'},"
        "{'ph':'B','cat':'c','name':'a','ts':1},{'ph':'E','ts':11},"
        "{'ph':'X','cat':'python_function','name':'p','ts':2,'dur':7}]";
    struct tg_totals t;
    struct tg_err err = TG_ERR_INIT;
    TG_BUF bytes = { 0 };
    struct tg_source *s = tg_source_memory(json(&bytes, text), "test", NULL, &err);
    assert_true(tg_totals_read(&t, s, NULL, &err));
    assert_int_equal(t.names->n, 3);
    assert_int_equal(t.v[0].count, 3);
    assert_int_equal(t.v[0].total, 13250);
    assert_int_equal(t.v[1].count, 0);
    assert_int_equal(t.v[2].count, 1);
    assert_int_equal(t.v[2].total, 7000);
    tg_totals_release(&t);
    tg_source_close(s);
    tg_err_init(&err);
    s = tg_source_memory(TG_SV("[{]"), "test", NULL, &err);
    assert_false(tg_totals_read(&t, s, NULL, &err));
    assert_int_equal(err.kind, TG_ERR_TRACE);
    tg_source_close(s);
}

/* ---- shuffling: the file's order is neither time nor cause ---- */

#define EVENTS 60

static void put_event_text(struct tg_buf *out, uint64_t *rng)
{
    static const char *const shapes[] = {
        "{'ph':'X','cat':'cpu_op','name':'op%u','pid':1,'tid':%u,'ts':%u,'dur':%u}",
        "{'ph':'X','cat':'kernel','name':'k%u','pid':0,'tid':%u,'ts':%u,'dur':%u,'args':{'stream':"
        "7}}",
        "{'ph':'B','cat':'cpu_op','name':'b%u','pid':1,'tid':%u,'ts':%u}",
        "{'ph':'E','cat':'cpu_op','name':'b%u','pid':1,'tid':%u,'ts':%u}",
    };
    uint64_t shape = roll(rng) % 4;
    unsigned name = (unsigned)(roll(rng) % 3), tid = (unsigned)(roll(rng) % 2);
    unsigned ts = (unsigned)(roll(rng) % 20), dur = (unsigned)(roll(rng) % 4);
    if (shape == 0)
        tg_buf_printf(out, shapes[0], name, tid, ts, dur);
    else if (shape == 1)
        tg_buf_printf(out, shapes[1], name, tid, ts, dur);
    else if (shape == 2)
        tg_buf_printf(out, shapes[2], name, tid, ts);
    else
        tg_buf_printf(out, shapes[3], name, tid, ts);
}

static void put_shuffled(struct tg_buf *out, const struct tg_buf *events, size_t n, uint64_t *rng)
{
    size_t at[EVENTS];
    for (size_t i = 0; i < n; i++)
        at[i] = i;
    for (size_t i = n; i > 1; i--) {
        size_t k = roll(rng) % i, swap = at[i - 1];
        at[i - 1] = at[k];
        at[k] = swap;
    }
    tg_buf_clear(out);
    tg_buf_putc(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i)
            tg_buf_putc(out, ',');
        tg_buf_add(out, tg_buf_sv(&events[at[i]]));
    }
    tg_buf_putc(out, ']');
}

/* The spans in total order without their position in the file, and what was left over. */
static void put_essence(struct tg_buf *out, const struct tg_trace *t)
{
    TG_BUF spans = { 0 };
    put_spans(&spans, t);
    for (size_t i = 0; i < spans.n; i++) {
        if (spans.p[i] == '#')
            while (spans.p[i] != '\n')
                i++;
        tg_buf_putc(out, spans.p[i]);
    }
    tg_buf_printf(out, "%" PRIu64 " %" PRIu64 " %" PRIu64, t->integrity.unmatched_begin,
                  t->integrity.unmatched_end, t->integrity.overlapping);
}

TEST(shuffling_changes_nothing)
{
    uint64_t rng = 99;
    struct tg_load_opts o = { 0 };
    for (int round = 0; round < 30; round++) {
        struct tg_buf events[EVENTS] = { { 0 } }, text = { 0 }, first = { 0 };
        for (size_t i = 0; i < EVENTS; i++)
            put_event_text(&events[i], &rng);
        for (int k = 0; k < 5; k++) {
            TG_BUF got = { 0 };
            struct tg_trace *t;
            put_shuffled(&text, events, EVENTS, &rng);
            t = load(text.p, &o);
            put_essence(&got, t);
            if (k == 0)
                tg_buf_add(&first, tg_buf_sv(&got));
            assert_string_equal(got.p, first.p);
            tg_trace_free(t);
        }
        for (size_t i = 0; i < EVENTS; i++)
            tg_buf_release(&events[i]);
        tg_buf_release(&text);
        tg_buf_release(&first);
    }
}

struct ticks {
    int n;
    uint64_t done;
};

static void on_tick(void *arg, const char *name, uint64_t bytes, uint64_t total)
{
    struct ticks *t = arg;
    assert_string_equal(name, "test");
    t->done += bytes;
    assert_true(t->done <= total);
    t->n++;
}

TEST(ticks_tell_the_progress)
{
    struct ticks ticks = { 0 };
    struct tg_progress progress = { .tick = on_tick, .arg = &ticks };
    TG_BUF text = { 0 };
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    struct tg_trace *t;
    tg_buf_puts(&text, "[{\"name\":\"a\",\"ph\":\"i\"}");
    for (int i = 0; i < 10000; i++)
        tg_buf_puts(&text, ",{}");
    tg_buf_putc(&text, ']');
    s = tg_source_memory(tg_buf_sv(&text), "test", NULL, &err);
    t = tg_trace_load(s, NULL, &progress, &err);
    assert_non_null(t);
    assert_int_equal(t->info->events, 10001);
    assert_true(ticks.n >= 1);
    tg_trace_free(t);
}
