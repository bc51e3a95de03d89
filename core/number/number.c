/* Files of numbers: which format, runs as sets, and their stored form. The first bytes tell a file
 * of numbers from a trace; which format of JSON it has, its members tell, in whatever order they
 * come. */
#include "core/number/number.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/base/decimal.h"
#include "core/base/file.h"
#include "core/base/hash.h"
#include "core/base/sort.h"
#include "core/base/utf8.h"
#include "core/number/internal.h"

#define HEAD ((size_t)256) /* of bytes, which tell the format */

static const struct tg_number_json *const formats[] = { &tg_number_pytest, &tg_number_google,
                                                        &tg_number_list, &tg_number_serving };
enum { FORMATS = sizeof formats / sizeof *formats };

/* Editors of other systems begin a text with this mark. */
static tg_sv without_mark(tg_sv text)
{
    (void)tg_sv_skip(&text, TG_SV("\xef\xbb\xbf"));
    return text;
}

bool tg_number_looks_like(tg_sv head)
{
    head = without_mark(head);
    head.n = head.n < HEAD ? head.n : HEAD;
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->begins(head))
            return true;
    return tg_lines_begin(head);
}

/* ---- documents of JSON ---- */

/* Python writes infinities and NaN as words that JSON lacks; a request rate without a limit is
 * Infinity. They become empty texts of the same length, which nobody takes for a number. */
static void spare_words(char *text, size_t n)
{
    static const char *const words[] = { "NaN", "Infinity", "-Infinity" };
    bool quoted = false;
    for (size_t i = 0; i < n; i++) {
        if (text[i] == '"')
            quoted = !quoted;
        else if (quoted && text[i] == '\\')
            i++;
        for (size_t k = 0; !quoted && k < sizeof words / sizeof *words; k++) {
            size_t length = strlen(words[k]);
            if (n - i >= length && memcmp(text + i, words[k], length) == 0) {
                memset(text + i, ' ', length);
                text[i] = text[i + 1] = '"';
                i += length - 1;
            }
        }
    }
}

struct documents {
    struct tg_doc **root;
    struct tg_number_object *v;
    size_t n_roots, cap_roots, n, cap;
};

/* A list of results is a run each; a list of numbers is one document. */
static bool add(struct documents *d, struct tg_number_file *s, tg_sv text, size_t line)
{
    struct tg_doc *root = tg_doc_parse(text, s->file, s->err);
    if (!root) {
        s->err->kind = TG_ERR_TRACE;
        s->err->line = line ? (uint32_t)line : s->err->line;
        return false;
    }
    *TG_PUSH(d->root, d->n_roots, d->cap_roots) = root;
    bool listed = tg_doc_type(root) == TG_DOC_ARRAY && !tg_number_list.fits(root);
    for (const struct tg_doc *one = listed ? tg_doc_first(root) : root; one;
         one = listed ? tg_doc_next(one) : NULL)
        *TG_PUSH(d->v, d->n, d->cap) = (struct tg_number_object){ one, line };
    return true;
}

static bool split_documents(struct documents *d, struct tg_number_file *s, tg_sv text)
{
    tg_sv rest = text, first = tg_sv_trim(tg_sv_cut(&rest, '\n'));
    /* Is there a document on the first line, and more after it? */
    bool one_a_line = tg_sv_past(rest, " \t\r\n").n && first.n &&
                      ((first.p[0] == '{' && tg_sv_ends(first, TG_SV("}"))) ||
                       (first.p[0] == '[' && tg_sv_ends(first, TG_SV("]"))));
    if (!one_a_line)
        return add(d, s, text, 0);
    for (size_t line = 1; text.n; line++) {
        tg_sv one = tg_sv_trim(tg_sv_cut(&text, '\n'));
        if (one.n && !add(d, s, one, line))
            return false;
    }
    return true;
}

static bool read_documents(struct tg_number_file *s, tg_sv text)
{
    struct documents d = { 0 };
    TG_BUF spared = { 0 };
    const struct tg_number_json *format = &tg_number_serving;
    tg_buf_add(&spared, text);
    spare_words(spared.p, spared.n);
    bool ok = split_documents(&d, s, tg_buf_sv(&spared));
    for (size_t i = FORMATS; ok && d.n && i-- > 0;)
        if (formats[i]->fits(d.v[0].doc))
            format = formats[i];
    ok = ok && (!d.n || format->read(s, d.v, d.n));
    for (size_t i = 0; i < d.n_roots; i++)
        tg_doc_free(d.root[i]);
    free(d.root);
    free(d.v);
    return ok;
}

/* ---- runs ---- */

static int by_run_and_name(const void *pa, const void *pb)
{
    const struct tg_number_cell *a = pa, *b = pb;
    int c = TG_CMP(a->run, b->run);
    return c ? c : tg_sv_cmp(a->number.name, b->number.name);
}

static tg_sv id_of(const struct tg_number *v, size_t n, size_t run, tg_sv file, struct tg_arena *a)
{
    TG_BUF b = { 0 };
    tg_buf_add(&b, file);
    tg_buf_printf(&b, "%c%zu", 0, run);
    for (size_t i = 0; i < n; i++) {
        tg_buf_putc(&b, 0);
        tg_buf_add(&b, v[i].name);
        tg_buf_putc(&b, 0);
        tg_buf_add(&b, v[i].unit);
        tg_buf_putc(&b, 0);
        tg_dec_put_double(&b, v[i].value);
    }
    return TG_SV_PRINTF(a, "%016" PRIx64, tg_hash(tg_buf_sv(&b), 0));
}

static void insert(struct tg_number_runs *out, struct tg_number_run run, struct tg_arena *a)
{
    size_t at = 0; /* where the id is or would be */
    while (at < out->n && tg_sv_cmp(out->v[at].id, run.id) < 0)
        at++;
    if (at < out->n && tg_sv_eq(out->v[at].id, run.id))
        return;
    struct tg_number_run *v = TG_NEW_N(a, struct tg_number_run, out->n + 1);
    for (size_t i = 0; i < out->n; i++)
        v[i + (i >= at)] = out->v[i];
    v[at] = run;
    out->v = v;
    out->n++;
}

void tg_number_unite(struct tg_number_runs *out, const struct tg_number_runs *more,
                     struct tg_arena *a)
{
    for (size_t i = 0; i < more->n; i++) {
        const struct tg_number_run *run = &more->v[i];
        struct tg_number *v = TG_NEW_N(a, struct tg_number, run->n);
        for (size_t k = 0; k < run->n; k++)
            v[k] = (struct tg_number){ tg_arena_sv(a, run->v[k].name),
                                       tg_arena_sv(a, run->v[k].unit), run->v[k].value };
        insert(
            out,
            (struct tg_number_run){ tg_arena_sv(a, run->id), v, run->n, tg_arena_sv(a, run->file) },
            a);
    }
}

/* A name that comes twice in a run contradicts itself. */
static bool add_runs(struct tg_number_runs *out, struct tg_number_file *s)
{
    tg_sv file = tg_sv_of(s->file);
    if (!s->n)
        return tg_number_file_refuse(s, 0, "no number is in this file");
    TG_SORT(s->v, s->n, by_run_and_name);
    for (size_t i = 0, n; i < s->n; i += n) {
        size_t run = s->v[i].run;
        for (n = 1; i + n < s->n && s->v[i + n].run == run;)
            n++;
        struct tg_number *v = TG_NEW_N(s->a, struct tg_number, n);
        for (size_t k = 0; k < n; k++) {
            v[k] = s->v[i + k].number;
            if (k && tg_sv_eq(v[k].name, v[k - 1].name))
                return tg_err_say(s->err, TG_ERR_TRACE, TG_AT_FILE(s->file),
                                  "'%.60s' is there twice in one run",
                                  "Give each number its own name.", v[k].name.p);
        }
        tg_sv id = id_of(v, n, run, tg_file_name(file), s->a);
        insert(out, (struct tg_number_run){ id, v, n, tg_arena_sv(s->a, file) }, s->a);
    }
    return true;
}

bool tg_number_read(struct tg_number_runs *out, tg_sv text, const char *file, struct tg_arena *a,
                    struct tg_err *err)
{
    struct tg_number_file s = { .a = a, .file = file ? file : "", .err = err };
    text = without_mark(text);
    if (!tg_number_is_json(text) && !tg_lines_begin(text)) {
        TG_BUF known = { 0 };
        for (size_t i = 0; i < FORMATS; i++)
            tg_buf_printf(&known, "%s, ", formats[i]->name);
        tg_buf_puts(&known, "lines `name value unit`");
        tg_err_set(err, TG_ERR_TRACE, TG_AT_FILE(s.file), "not a file of numbers");
        return tg_err_hint(err, "Formats: %s.", known.p);
    }
    bool ok = (tg_number_is_json(text) ? read_documents(&s, text) : tg_lines_read(&s, text)) &&
              add_runs(out, &s);
    free(s.v);
    return ok;
}

/* ---- the stored form: [{"id": …, "values": [[name, unit, value] …]} …] ---- */

void tg_number_put(struct tg_doc *array, const struct tg_number_runs *runs)
{
    for (size_t i = 0; i < runs->n; i++) {
        struct tg_doc *run = tg_doc_add_object(array, NULL), *values;
        tg_doc_add_str(run, "id", runs->v[i].id);
        values = tg_doc_add_array(run, "values");
        for (size_t k = 0; k < runs->v[i].n; k++) {
            struct tg_doc *one = tg_doc_add_array(values, NULL);
            tg_doc_add_str(one, NULL, runs->v[i].v[k].name);
            tg_doc_add_str(one, NULL, runs->v[i].v[k].unit);
            tg_doc_add_num(one, NULL, runs->v[i].v[k].value);
        }
    }
}

static bool take_number(struct tg_number *out, const struct tg_doc *d, struct tg_arena *a)
{
    const struct tg_doc *name = tg_doc_first(d), *unit = name ? tg_doc_next(name) : NULL,
                        *value = unit ? tg_doc_next(unit) : NULL;
    *out =
        (struct tg_number){ tg_arena_sv(a, tg_doc_str(name, TG_SV(""))),
                            tg_arena_sv(a, tg_doc_str(unit, TG_SV(""))), tg_doc_num(value, NAN) };
    return out->name.n && tg_doc_type(unit) == TG_DOC_STRING && isfinite(out->value) &&
           !tg_doc_next(value);
}

bool tg_number_take(struct tg_number_runs *out, const struct tg_doc *array, struct tg_arena *a)
{
    if (tg_doc_count(array) > TG_MAX_NUMBER_RUNS)
        return false;
    for (const struct tg_doc *d = tg_doc_first(array); d; d = tg_doc_next(d)) {
        const struct tg_doc *values = tg_doc_get(d, "values");
        size_t n = tg_doc_count(values), k = 0;
        struct tg_number *v = TG_NEW_N(a, struct tg_number, n + 1);
        tg_sv id = tg_doc_str(tg_doc_get(d, "id"), TG_SV(""));
        if (id.n != 16 || !n)
            return false;
        for (const struct tg_doc *one = tg_doc_first(values); one; one = tg_doc_next(one), k++)
            if (!take_number(&v[k], one, a) || (k && tg_sv_cmp(v[k - 1].name, v[k].name) >= 0))
                return false;
        insert(out, (struct tg_number_run){ tg_arena_sv(a, id), v, n, TG_SV("") }, a);
    }
    return true;
}

/* ---- which way is better ---- */

bool tg_number_more_is_better(tg_sv name, tg_sv unit)
{
    static const char *const names[] = {
        "*throughput*", "*per_s",      "*per_sec",  "*per_second*", "*goodput*", "*accept*",
        "*hit_rate*",   "*accuracy*",  "*flops*",   "*bandwidth*",  "*mfu*",     "*rtfx*",
        "*speedup*",    "*completed*", "*success*", "*score*"
    };
    static const char *const units[] = {
        "*/s", "*/sec", "*/second", "*flops", "fps", "qps", "rps"
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (tg_sv_glob_any_case(tg_sv_of(names[i]), name))
            return true;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (tg_sv_glob_any_case(tg_sv_of(units[i]), unit))
            return true;
    return false;
}
