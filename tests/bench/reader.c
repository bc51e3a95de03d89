/* The reader alone, for callgrind and for paired runs: tg_bench_reader totals|load|facts|drain
 * FILE... Prints what was read, so that two builds can be compared byte for byte. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/trace/trace.h"

static int fail(const struct tg_err *err)
{
    TG_BUF text = { 0 };
    tg_err_format(err, &text);
    (void)fputs(text.p, stderr);
    return 3;
}

static unsigned threads(void)
{
    const char *n = getenv("THREADS");
    return n ? (unsigned)strtoul(n, NULL, 10) : 1;
}

static int totals(struct tg_source *s, struct tg_err *err)
{
    struct tg_reader_opts o = { .isa = getenv("TRACEGATE_ISA"), .threads = threads() };
    struct tg_totals t;
    if (!tg_totals_read(&t, s, &o, err))
        return fail(err);
    for (size_t i = 0; i < t.names->n; i++)
        if (t.v[i].count)
            printf("%.*s\t%.*s\t%" PRIu64 "\t%" PRId64 "\n", TG_SV_ARG(t.names->v[i].cat),
                   TG_SV_ARG(t.names->v[i].name), t.v[i].count, t.v[i].total);
    tg_totals_release(&t);
    return 0;
}

static int load(struct tg_source *s, bool attrs, struct tg_err *err)
{
    struct tg_load_opts o = { .keep_python = true,
                              .want_attrs = attrs,
                              .reader = { .isa = getenv("TRACEGATE_ISA"), .threads = threads() } };
    struct tg_trace *t = tg_trace_load(s, &o, NULL, err);
    if (!t)
        return fail(err);
    printf("%zu spans, %zu tracks, %zu names\n", t->n_spans, t->n_tracks, t->names->n);
    tg_trace_free(t);
    return 0;
}

static int drain(struct tg_source *s, struct tg_err *err)
{
    static char to[262144];
    uint64_t sum = 0;
    int64_t got;
    while ((got = tg_source_fill(s, to, sizeof to, err)) > 0)
        sum += (uint64_t)got;
    printf("%" PRIu64 " bytes\n", sum);
    return got < 0 ? fail(err) : 0;
}

int main(int argc, char **argv)
{
    int rc = 0;
    for (int i = 2; i < argc && rc == 0; i++) {
        struct tg_err err = TG_ERR_INIT;
        TG_SOURCE *s;
        s = tg_source_open(argv[i], NULL, &err);
        if (!s)
            return fail(&err);
        rc = argv[1][0] == 't'   ? totals(s, &err)
             : argv[1][0] == 'l' ? load(s, false, &err)
             : argv[1][0] == 'f' ? load(s, true, &err)

                                 : drain(s, &err);
    }
    return rc;
}
