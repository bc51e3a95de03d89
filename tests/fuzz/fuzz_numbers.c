/* A file of numbers of any bytes: it is read or refused with a reason. What is read is stored, and
 * what is stored reads back the same; a union with itself adds nothing. */
#include "core/base/buf.h"
#include "core/number/number.h"
#include "tests/fuzz/target.h"

static void stores(const struct tg_number_runs *runs, struct tg_arena *a)
{
    struct tg_number_runs back = { 0 };
    struct tg_err err = TG_ERR_INIT;
    TG_BUF text = { 0 }, again = { 0 };
    TG_AUTO(tg_doc_drop) struct tg_doc *array = tg_doc_new_array();
    TG_AUTO(tg_doc_drop) struct tg_doc *read = NULL;
    TG_AUTO(tg_doc_drop) struct tg_doc *second = tg_doc_new_array();
    tg_number_put(array, runs);
    tg_doc_write(array, TG_DOC_COMPACT, &text);
    read = tg_doc_parse(tg_buf_sv(&text), "stored", &err);
    abort_if(!read || !tg_number_take(&back, read, a));
    tg_number_unite(&back, runs, a);
    tg_number_put(second, &back);
    tg_doc_write(second, TG_DOC_COMPACT, &again);
    abort_if(!tg_sv_eq(tg_buf_sv(&text), tg_buf_sv(&again)));
}

FUZZ_TARGET(0)
{
    struct tg_number_runs runs = { 0 };
    struct tg_err err = TG_ERR_INIT;
    TG_ARENA *a = tg_arena_new();
    bool ok = tg_number_read(&runs, bytes, "f.numbers", a, &err);
    abort_if(ok != (err.kind == TG_ERR_NONE) || (ok && !runs.n));
    if (ok)
        stores(&runs, a);
}
