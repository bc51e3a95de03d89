/*
 * The reader's half of tests/bench/differential.py: texts on standard input, what it makes of each
 * on standard output. In: u32 length, u32 window, the text. Out: u8 verdict, then u32 length and
 * that many bytes: the rows (u32 and bytes of category, of name, u64 count, i64 ns), or the error.
 * All little-endian, as on every machine that this runs on.
 *
 * Strictly, by the generic path over the whole text; then by each fast path over windows of the
 * given size, some with three threads, and leniently by all of them. They must agree, or the
 * verdict is '!'.
 */
#include <stdio.h>

#include "core/trace/shape.h"
#include "core/trace/trace.h"

static void put(struct tg_buf *out, const void *p, size_t n)
{
    tg_buf_add(out, (tg_sv){ p, n });
}

static void put_text(struct tg_buf *out, tg_sv s)
{
    uint32_t n = (uint32_t)s.n;
    put(out, &n, sizeof n);
    put(out, s.p, s.n);
}

/* '1': read, '0': refused, 'L': refused by a limit. */
static char read_one(tg_sv text, const struct tg_reader_opts *o, struct tg_buf *out)
{
    struct tg_totals t = { 0 };
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *s;
    bool ok;
    tg_buf_clear(out);
    s = tg_source_memory(text, "text", NULL, &err);
    ok = s && tg_totals_read(&t, s, o, &err);
    if (!ok)
        tg_buf_printf(out, "%s", err.message);
    for (size_t i = 0; ok && i < t.names->n; i++) {
        if (!t.v[i].count)
            continue;
        put_text(out, t.names->v[i].cat);
        put_text(out, t.names->v[i].name);
        put(out, &t.v[i].count, sizeof t.v[i].count);
        put(out, &t.v[i].total, sizeof t.v[i].total);
    }
    if (ok)
        tg_totals_release(&t);
    tg_source_close(s);
    return ok ? '1' : err.kind == TG_ERR_LIMIT ? 'L' : '0';
}

static const char *const isas[] = { "c", "sse2", "avx2", "neon" };
#define PART_MOST 4096

static bool agrees(tg_sv text, size_t window, bool strict, char verdict, const struct tg_buf *want)
{
    TG_BUF got = { 0 };
    bool same = true;
    for (size_t i = 0; same && i < sizeof isas / sizeof *isas; i++) {
        /* Every other path by three threads too, in parts of any size. */
        struct tg_reader_opts o = { .strict_json = strict,
                                    .isa = isas[i],
                                    .window = window,
                                    .threads = i % 2 ? 3 : 1,
                                    .part = 16 + window % PART_MOST };
        same = read_one(text, &o, &got) == verdict && tg_sv_eq(tg_buf_sv(&got), tg_buf_sv(want));
    }
    return same;
}

static char judge(tg_sv text, size_t window, struct tg_buf *out)
{
    struct tg_reader_opts o = { .strict_json = true, .isa = "generic" };
    struct tg_buf lenient = { 0 };
    char verdict = read_one(text, &o, out), loose;
    bool same = agrees(text, window, true, verdict, out);
    o.strict_json = false;
    loose = read_one(text, &o, &lenient);
    same = same && agrees(text, window, false, loose, &lenient) &&
           (verdict != '1' || (loose == '1' && tg_sv_eq(tg_buf_sv(out), tg_buf_sv(&lenient))));
    tg_buf_release(&lenient);
    return same ? verdict : '!';
}

int main(void)
{
    TG_BUF text = { 0 }, out = { 0 };
    uint32_t head[2], n;
    while (fread(head, sizeof *head, 2, stdin) == 2) {
        char verdict;
        tg_buf_clear(&text);
        if (fread(tg_buf_room(&text, head[0]), 1, head[0], stdin) != head[0])
            return 2;
        text.n = head[0];
        verdict = judge(tg_buf_sv(&text), head[1], &out);
        n = (uint32_t)out.n;
        if (putchar(verdict) == EOF || fwrite(&n, sizeof n, 1, stdout) != 1 ||
            fwrite(out.p ? out.p : "", 1, n, stdout) != n || fflush(stdout) != 0)
            return 2;
    }
    return 0;
}
