#include "policy/language/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/base/utf8.h"

struct tg_diag_source {
    const char *file;
    tg_sv text;
};

enum { COLUMNS = 100 }; /* bytes of a source line that are shown */

void tg_diags_init(struct tg_diags *d)
{
    *d = (struct tg_diags){ .arena = tg_arena_new() };
}

void tg_diags_release(struct tg_diags *d)
{
    tg_arena_free(d->arena);
    free(d->v);
    free(d->sources);
    *d = (struct tg_diags){ 0 };
}

/* Position in loading order; n_sources: not loaded. */
static size_t source_of(const struct tg_diags *d, const char *file)
{
    for (size_t i = 0; file && i < d->n_sources; i++)
        if (strcmp(d->sources[i].file, file) == 0)
            return i;
    return d->n_sources;
}

void tg_diags_source(struct tg_diags *d, const char *file, tg_sv text)
{
    if (source_of(d, file) < d->n_sources)
        return;
    *TG_PUSH(d->sources, d->n_sources, d->cap_sources) = (struct tg_diag_source){
        tg_arena_sv(d->arena, tg_sv_of(file)).p,
        tg_arena_sv(d->arena, text),
    };
}

bool tg_diags_add(struct tg_diags *d, enum tg_diag_code code, struct tg_loc at, size_t length,
                  const char *fix, const char *fmt, ...)
{
    char text[1024];
    va_list args;
    va_start(args, fmt);
    (void)vsnprintf(text, sizeof text, fmt, args);
    va_end(args);

    struct tg_diag one = {
        .code = code,
        .severity = (int)code >= 200 ? TG_SEV_WARNING : TG_SEV_ERROR,
        .at = at,
        .length = length > UINT32_MAX ? UINT32_MAX
                  : length            ? (uint32_t)length
                                      : 1,
        .message = tg_sv_of(text),
    };
    d->refusals += one.severity == TG_SEV_ERROR;
    for (const struct tg_diag *x = d->v; x < d->v + d->n; x++)
        if (x->code == code && x->at.line == at.line && x->at.col == at.col &&
            tg_loc_same_file(x->at, at) && tg_sv_eq(x->message, one.message))
            return false;
    if (one.severity == TG_SEV_ERROR)
        d->errors++;
    else
        d->warnings++;
    if (d->n == TG_DIAGS_KEPT)
        return false;
    /* The caller's file name may die before the diagnostics do. */
    size_t source = source_of(d, at.file);
    one.at.file = !at.file                ? NULL
                  : source < d->n_sources ? d->sources[source].file
                                          : tg_arena_sv(d->arena, tg_sv_of(at.file)).p;
    one.message = tg_arena_sv(d->arena, one.message);
    one.fix = fix ? tg_arena_sv(d->arena, tg_sv_of(fix)) : TG_SV("");
    one.order = d->n;
    *TG_PUSH(d->v, d->n, d->cap) = one;
    return false;
}

static int compare(const void *pa, const void *pb)
{
    const struct tg_diag *a = pa, *b = pb;
    int c = TG_CMP(a->source, b->source);
    c = c ? c : TG_CMP(a->at.line, b->at.line);
    c = c ? c : TG_CMP(a->at.col, b->at.col);
    return c ? c : TG_CMP(a->order, b->order);
}

void tg_diags_sort(struct tg_diags *d)
{
    for (size_t i = 0; i < d->n; i++)
        d->v[i].source = source_of(d, d->v[i].at.file);
    if (d->n)
        TG_SORT(d->v, d->n, compare);
}

const char *tg_diags_guess(struct tg_diags *d, tg_sv typed, const char *const *words)
{
    const char *near = tg_sv_nearest(typed, words);
    return near ? tg_arena_printf(d->arena, "did you mean '%s'?", near) : NULL;
}

/* ---- rendering ---- */

/* The first `n` code points (or bad bytes) of `s`. */
static tg_sv points(tg_sv s, size_t n)
{
    size_t at = 0;
    for (; n > 0 && at < s.n; n--) {
        size_t len = tg_utf8_len(tg_sv_from(s, at));
        at += len ? len : 1;
    }
    return (tg_sv){ s.p, at };
}

static void put_number(struct tg_buf *out, size_t n, const char *what)
{
    tg_buf_printf(out, "%zu %s%s", n, what, n == 1 ? "" : "s");
}

void tg_diags_text(const struct tg_diags *d, struct tg_buf *out)
{
    size_t shown = d->n < TG_DIAGS_MAX ? d->n : TG_DIAGS_MAX, all = d->errors + d->warnings;
    for (size_t i = 0; i < shown; i++) {
        const struct tg_diag *g = &d->v[i];
        size_t source = source_of(d, g->at.file);
        if (g->at.file) {
            tg_utf8_visible(out, tg_sv_of(g->at.file));
            if (g->at.line)
                tg_buf_printf(out, ":%u:%u", (unsigned)g->at.line, (unsigned)g->at.col);
            tg_buf_puts(out, ": ");
        }
        tg_buf_printf(out, "%s[TG%d]: ", g->severity == TG_SEV_ERROR ? "error" : "warning",
                      (int)g->code);
        tg_utf8_visible(out, g->message);
        tg_buf_putc(out, '\n');
        if (source < d->n_sources && g->at.line && g->at.col) {
            /* The source line, without its end, and, under it, the caret with the fix. Lines end
             * with LF, CR LF or CR, as in YAML; one that does not exist is empty. */
            tg_sv text = d->sources[source].text, end = TG_SV("\n"), line = TG_SV("");
            for (uint32_t k = 0; k < g->at.line; k++)
                line = end.n ? tg_utf8_line(&text, &end) : TG_SV("");
            size_t from = g->at.col > COLUMNS - 20 ? g->at.col - (COLUMNS - 20) : 0;
            tg_sv cut = points(tg_sv_from(line, points(line, from).n), COLUMNS);
            tg_sv before = points(cut, g->at.col - 1 - from);
            tg_sv marked = points(tg_sv_from(cut, before.n), g->length);
            TG_BUF visible = { 0 };

            tg_buf_printf(out, "%5u | %s", (unsigned)g->at.line, from ? "…" : "");
            tg_utf8_visible(out, cut);
            tg_utf8_visible(&visible, before);
            tg_buf_printf(out, "\n      | %*s^",
                          (int)(tg_utf8_count(tg_buf_sv(&visible)) + (from > 0)), "");
            tg_buf_clear(&visible);
            tg_utf8_visible(&visible, marked);
            for (size_t k = 1; k < tg_utf8_count(tg_buf_sv(&visible)); k++)
                tg_buf_putc(out, '~');
            if (g->fix.n) {
                tg_buf_putc(out, ' ');
                tg_utf8_visible(out, g->fix);
            }
            tg_buf_putc(out, '\n');
        } else if (g->fix.n) {
            tg_buf_puts(out, "      = ");
            tg_utf8_visible(out, g->fix);
            tg_buf_putc(out, '\n');
        }
    }
    if (all == 0)
        return;
    if (shown < all)
        tg_buf_printf(out, "(%zu more are not shown)\n", all - shown);
    if (d->errors)
        put_number(out, d->errors, "error");
    if (d->errors && d->warnings)
        tg_buf_puts(out, ", ");
    if (d->warnings)
        put_number(out, d->warnings, "warning");
    tg_buf_puts(out, d->errors ? ". The gate did not run (exit 2).\n" : ".\n");
}

void tg_diags_json(const struct tg_diags *d, struct tg_doc *parent, const char *key)
{
    struct tg_doc *list = tg_doc_add_array(parent, key);
    for (size_t i = 0; i < d->n && i < TG_DIAGS_MAX; i++) {
        const struct tg_diag *g = &d->v[i];
        struct tg_doc *o = tg_doc_add_object(list, NULL);
        char code[16];
        (void)snprintf(code, sizeof code, "TG%d", (int)g->code);
        tg_doc_add_str(o, "code", tg_sv_of(code));
        tg_doc_add_str(o, "severity",
                       g->severity == TG_SEV_ERROR ? TG_SV("error") : TG_SV("warning"));
        if (g->at.file)
            tg_doc_add_str(o, "file", tg_sv_of(g->at.file));
        if (g->at.line) {
            tg_doc_add_i64(o, "line", g->at.line);
            tg_doc_add_i64(o, "column", g->at.col);
            tg_doc_add_i64(o, "length", g->length);
        }
        tg_doc_add_str(o, "message", g->message);
        if (g->fix.n)
            tg_doc_add_str(o, "fix", g->fix);
    }
}
