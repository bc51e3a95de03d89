/* Files of JSON: which documents are in one, and which format they have. The first bytes tell a
 * file of numbers from a trace; what it is, its members tell, in whatever order they come. */
#include <stdlib.h>

#include "core/base/buf.h"
#include "core/number/formats.h"

static const struct tg_number_json *const formats[] = { &tg_number_pytest, &tg_number_google,
                                                        &tg_number_list, &tg_number_serving };
enum { FORMATS = sizeof formats / sizeof *formats };

const char *tg_documents_format(size_t i)
{
    return i < FORMATS ? formats[i]->name : NULL;
}

bool tg_documents_begin(tg_sv head)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i]->begins(head))
            return true;
    return false;
}

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
    if (tg_doc_type(root) == TG_DOC_ARRAY && !tg_number_list.fits(root)) {
        for (const struct tg_doc *one = tg_doc_first(root); one; one = tg_doc_next(one))
            *TG_PUSH(d->v, d->n, d->cap) = (struct tg_number_object){ one, line };
        return true;
    }
    *TG_PUSH(d->v, d->n, d->cap) = (struct tg_number_object){ root, line };
    return true;
}

/* Is there a document on the first line, and more after it? */
static bool is_one_a_line(tg_sv text)
{
    tg_sv first = tg_sv_trim(tg_sv_cut(&text, '\n'));
    return tg_sv_past(text, " \t\r\n").n && first.n &&
           ((first.p[0] == '{' && tg_sv_ends(first, TG_SV("}"))) ||
            (first.p[0] == '[' && tg_sv_ends(first, TG_SV("]"))));
}

static bool split(struct documents *d, struct tg_number_file *s, tg_sv text)
{
    size_t line = 0;
    if (!is_one_a_line(text))
        return add(d, s, text, 0);
    while (text.n) {
        tg_sv one = tg_sv_trim(tg_sv_cut(&text, '\n'));
        line++;
        if (one.n && !add(d, s, one, line))
            return false;
    }
    return true;
}

bool tg_documents_read(struct tg_number_file *s, tg_sv text)
{
    struct documents d = { 0 };
    TG_BUF spared = { 0 };
    const struct tg_number_json *format = &tg_number_serving;
    tg_buf_add(&spared, text);
    spare_words(spared.p, spared.n);
    bool ok = split(&d, s, tg_buf_sv(&spared));
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
