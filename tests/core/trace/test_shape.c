/* The fast path against the generic one: what it says about an event must be the same, byte for
 * byte, whatever the instruction set and the window. */
#include "core/base/file.h"
#include "core/trace/shape.h"
#include "tests/core/trace/reader_support.h"
#include "tests/support.h"

static const char *const isas[] = { "c", "sse2", "avx2", "neon" };
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool has_isa(const char *isa)
{
    struct tg_shapes f;
    bool has;
    tg_shapes_init(&f, isa);
    has = f.run != NULL;
    tg_shapes_release(&f);
    return has;
}

static void assert_all_agree(tg_sv text, const struct tg_reader_opts *o, const char *what)
{
    struct tg_reader_opts opts = *o;
    TG_BUF want = { 0 }, got = { 0 };
    opts.isa = "generic";
    dump(&want, text, &opts, true);
    for (size_t i = 0; i < COUNT(isas); i++) {
        if (!has_isa(isas[i]))
            continue;
        opts.isa = isas[i];
        tg_buf_clear(&got);
        dump(&got, text, &opts, true);
        if (!tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(&want)))
            fail_msg("%s, %s\n%.*s\n--- got:\n%s\n--- want:\n%s", what, isas[i], TG_SV_ARG(text),
                     got.p, want.p);
    }
}

/* ---- events as a profiler writes them: a few formats, values that vary and repeat ---- */

static unsigned below(uint64_t *rng, unsigned n)
{
    return (unsigned)(roll(rng) % n);
}

static void put_python(struct tg_buf *out, uint64_t *rng)
{
    static const char *const names[] = { "torch/nn/modules/module.py(1501): _call_impl",
                                         "<built-in function isinstance>", "a", "" };
    put_json(out,
             "{\n"
             "    'ph': 'X', 'cat': 'python_function', 'name': '%s', 'pid': 851, 'tid': %u,\n"
             "    'ts': 6520367%06u.%03u, 'dur': %u.%03u,\n"
             "    'args': {\n"
             "      'Python parent id': %s, 'Python id': %u, 'Ev Idx': %u\n"
             "    }\n"
             "  }",
             names[below(rng, COUNT(names))], 851 + below(rng, 2), below(rng, 1000000),
             below(rng, 1000), below(rng, 3), below(rng, 1000), below(rng, 4) ? "12" : "null",
             below(rng, 100000), below(rng, 100));
}

static void put_op(struct tg_buf *out, uint64_t *rng)
{
    static const char *const shapes[] = { "[[32, 64, 56, 56], [64, 64, 1, 1], []]", "[]",
                                          "[[979, 1024], [979, 1024], []]",
                                          "[[[1], []], '', {'a': [1]}]" };
    static const char *const types[] = { "['float', '', 'Scalar']", "[]", "['long']" };
    put_json(out,
             "{\n"
             "    'ph': 'X', 'cat': 'cpu_op', 'name': 'aten::op%u', 'pid': 1, 'tid': '%u',\n"
             "    'ts': %u, 'dur': %u,\n"
             "    'args': {\n"
             "      'External id': %u, 'Input Dims': %s, 'Input type': %s%s, 'Call stack': '%s'\n"
             "    }\n"
             "  }",
             below(rng, 4), below(rng, 2), below(rng, 1000000000), below(rng, 100),
             below(rng, 1000), shapes[below(rng, COUNT(shapes))], types[below(rng, COUNT(types))],
             below(rng, 3) ? "" : ", 'Fwd thread id': 2",
             below(rng, 2) ? "" : "a.py(3): f;b.py(4): g with a longer tail");
}

static void put_kernel(struct tg_buf *out, uint64_t *rng)
{
    static const char *const streams[] = { "7",          "0",    "'12'",
                                           "-1",         "7.0",  "18446744073709551615",
                                           "4294967295", "null", "[1]" };
    static const char *const fractions[] = { ".625", ".5925926", ".12345678901234567", ".5e2" };
    put_json(out,
             "{\n"
             "    'ph': 'X', 'cat': 'kernel', 'name': 'void k%u<float>(int)', 'pid': 0, 'tid': 7,\n"
             "    'ts': 1661203462%06u%s, 'dur': %s,\n"
             "    'args': {\n"
             "      'device': 0, 'stream': %s,\n"
             "      'correlation': %u, 'blocks per SM': %u%s, 'grid': [%u, 1, 1]\n"
             "    }\n"
             "  }",
             below(rng, 3), below(rng, 1000000), below(rng, 3) ? "" : ".5",
             below(rng, 5)   ? "12"
             : below(rng, 2) ? "0.25"
                             : "1e2",
             streams[below(rng, COUNT(streams))], below(rng, 100000), below(rng, 3),
             below(rng, 3) ? "" : fractions[below(rng, COUNT(fractions))], below(rng, 4));
}

static void put_flow(struct tg_buf *out, uint64_t *rng)
{
    put_json(out,
             "{\n"
             "    'ph': '%s', 'id': %u, 'pid': 0, 'tid': 7, 'ts': %u,\n"
             "    'cat': 'ac2g', 'name': 'ac2g'%s\n"
             "  }",
             below(rng, 2) ? "s" : "f", below(rng, 1000), below(rng, 100000),
             below(rng, 2) ? "" : ", 'bp': 'e'");
}

static void put_odd(struct tg_buf *out, uint64_t *rng)
{
    static const char *const odd[] = {
        "{}",
        "{'name': 'process_name', 'ph': 'M', 'ts': 5.000, 'pid': 1, 'tid': 0,\n"
        "    'args': {\n"
        "      'name': 'python'\n"
        "    }\n"
        "  }",
        "{'ph': 'X', 'name': 'a', 'name': 'b'}",
        "{'ph': 'X', 'name': '\\u0061\\n', 'args': {'a\\u0062': 1}}",
        "{'ph': 'X', 'name': '\xc3\xa9\xff', 'ts': NaN, 'dur': -1, 'pid': 99999999999999999999}",
        "{'ph': 'X', 'name': 'C:\\code', 'args': []}",
        "{'ph': 'X', 'name': 'C:\\code', 'args': {'stream': 3}}",
        "{'ph': 'X', 'name': null, 'cat': null, 'ts': null, 'tid': null}",
        "{'ph': 'X', 'name': 5, 'cat': 6, 'ts': 7, 'tid': [8]}",
    };
    put_json(out, "%s", odd[below(rng, COUNT(odd))]);
}

static void put_trace(struct tg_buf *out, uint64_t *rng, unsigned events)
{
    unsigned style = below(rng, 3), kinds = 1 + below(rng, 5);
    put_json(out, "%s", below(rng, 2) ? "[\n  " : "{'a': 1, 'traceEvents': [\n  ");
    for (unsigned i = 0; i < events; i++) {
        if (i)
            tg_buf_puts(out, style == 0 ? "," : style == 1 || below(rng, 9) ? ",\n  " : " ,\t ");
        switch (below(rng, kinds)) {
        case 0:
            put_python(out, rng);
            break;
        case 1:
            put_op(out, rng);
            break;
        case 2:
            put_kernel(out, rng);
            break;
        case 3:
            put_flow(out, rng);
            break;
        default:
            put_odd(out, rng);
        }
    }
    put_json(out, "%s", out->p[0] == '[' ? "\n]" : "\n], 'b': 2}");
}

TEST(repeated_events_read_alike)
{
    uint64_t rng = 1;
    for (int round = 0; round < 400; round++) {
        struct tg_reader_opts o = { .want_args = round % 2, .strict_json = round % 8 == 0 };
        TG_BUF text = { 0 };
        put_trace(&text, &rng, 1 + below(&rng, 60));
        assert_all_agree(tg_buf_sv(&text), &o, "whole");
        o.window = 1 + below(&rng, 3000);
        assert_all_agree(tg_buf_sv(&text), &o, "windows");
    }
}

/* One to three bytes changed somewhere: also what is refused is refused alike, at the same byte. */
TEST(damaged_events_read_alike)
{
    static const char alphabet[] = "\"\\{}[],:0123456789.-+eEtn \n\x01\xff\xc3";
    uint64_t rng = 2;
    for (int round = 0; round < 4000; round++) {
        struct tg_reader_opts o = { .want_args = round % 2, .strict_json = round % 8 == 0 };
        TG_BUF text = { 0 };
        put_trace(&text, &rng, 4 + below(&rng, 12));
        for (unsigned k = 0, n = 1 + below(&rng, 3); k < n; k++) {
            size_t at = roll(&rng) % text.n;
            char c = alphabet[below(&rng, sizeof alphabet - 1)];
            if (below(&rng, 3) == 0) {
                memmove(text.p + at, text.p + at + 1, text.n - at);
                text.n--;
            } else {
                text.p[at] = c;
            }
        }
        o.window = round % 3 ? 0 : 1 + below(&rng, 700);
        assert_all_agree(tg_buf_sv(&text), &o, "damaged");
    }
}

/* The fast path must be taken, or the tests above show nothing. */
TEST(repeated_events_are_fast)
{
    for (size_t i = 0; i < COUNT(isas); i++) {
        struct tg_shapes f;
        struct tg_intern names;
        TG_BUF text = { 0 };
        struct tg_raw_event raw;
        struct tg_event ev;
        struct tg_scan s;
        uint64_t rng = 3;
        if (!has_isa(isas[i]))
            continue;
        tg_shapes_init(&f, isas[i]);
        f.depth = 2;
        tg_intern_init(&names, sizeof(struct tg_name));
        put_python(&text, &rng);
        tg_shapes_learn(&f, tg_buf_sv(&text), true);
        assert_int_equal(f.n, 1);
        tg_shapes_learn(&f, tg_buf_sv(&text), true); /* known already */
        assert_int_equal(f.n, 1);
        for (int k = 0; k < 50; k++) {
            tg_buf_clear(&text);
            put_python(&text, &rng);
            memset(tg_buf_room(&text, TG_SCAN_PAD), 0, TG_SCAN_PAD);
            s = (struct tg_scan){ .p = text.p,
                                  .start = text.p,
                                  .end = text.p + text.n,
                                  .last = true,
                                  .depth = 2,
                                  .max_depth = 10 };
            assert_true(f.run(&f, &s, &names, &raw, &ev));
            assert_ptr_equal(s.p, text.p + text.n);
        }
        tg_buf_clear(&text);
        put_flow(&text, &rng);
        memset(tg_buf_room(&text, TG_SCAN_PAD), 0, TG_SCAN_PAD);
        s.p = text.p;
        assert_false(f.run(&f, &s, &names, &raw, &ev));
        tg_shapes_release(&f);
        tg_intern_release(&names);
    }
}

/* More formats than there is room for: the oldest make place, nothing is read wrongly. */
TEST(many_formats_are_forgotten)
{
    struct tg_reader_opts o = { .want_args = true };
    TG_BUF text = { 0 };
    uint64_t rng = 4;
    tg_buf_putc(&text, '[');
    for (int i = 0; i < 3000; i++) {
        unsigned k = below(&rng, 200);
        put_json(&text, "%s{'ph':'X','key%u':%d,'name':'n%u','ts':%d}", i ? "," : "", k, i, k % 7,
                 i);
    }
    tg_buf_putc(&text, ']');
    assert_all_agree(tg_buf_sv(&text), &o, "many formats");
}

/* ---- real traces ---- */

static uint64_t digest(const char *path, const char *isa, bool want_args, size_t window)
{
    struct tg_reader_opts o = { .want_args = want_args, .isa = isa, .window = window };
    TG_BUF line = { 0 };
    struct tg_err err = TG_ERR_INIT;
    TG_SOURCE *s;
    struct tg_reader *r;
    struct tg_event ev;
    enum tg_next next;
    uint64_t h = 0;
    s = tg_source_open(path, NULL, &err);
    assert_non_null(s);
    r = tg_reader_new(s, &o);
    while ((next = tg_reader_next(r, &ev, &err)) == TG_NEXT) {
        tg_buf_clear(&line);
        put_event(&line, &ev, r);
        h = tg_hash(tg_buf_sv(&line), h);
    }
    tg_buf_clear(&line);
    if (next == TG_NEXT_FAILED)
        put_error(&line, &err);
    else
        put_info(&line, tg_reader_info(r));
    h = tg_hash(tg_buf_sv(&line), h);
    tg_reader_free(r);
    return h;
}

TEST(real_traces_read_alike)
{
    static const char dir[] = TG_SHARED_DIR "/corpus/traces";
    struct tg_arena *a = tg_arena_new();
    struct tg_err err = TG_ERR_INIT;
    const char **paths = NULL;
    size_t n = 0, compared = 0;
    if (!tg_file_is_dir(dir) ||
        !tg_files_glob(TG_SHARED_DIR "/corpus/traces/*/*/*.gz", a, &paths, &n, &err)) {
        tg_arena_free(a);
        print_message("no corpus beside the repository\n");
        skip();
    }
    for (size_t i = 0; i < n; i++) {
        struct tg_source *s = tg_source_open(paths[i], NULL, &err);
        uint64_t done, size;
        assert_non_null(s);
        tg_source_progress(s, &done, &size);
        tg_source_close(s);
        if (size > 200000) /* the large ones belong to the benchmark */
            continue;
        for (int want = 0; want < 2; want++) {
            uint64_t h = digest(paths[i], "generic", want, 0);
            if (h != digest(paths[i], NULL, want, 0) || h != digest(paths[i], "c", want, 5000))
                fail_msg("%s", paths[i]);
        }
        compared++;
    }
    assert_true(compared > 30);
    tg_arena_free(a);
}
