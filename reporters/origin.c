#include "reporters/origin.h"

#include <math.h>

#include "core/base/message.h"
#include "core/base/utf8.h"
#include "core/cause/choose.h"

static void put_name(struct tg_buf *out, tg_sv name)
{
    tg_buf_printf(out, TG_NAME, TG_SV_ARG(name));
}

static int percent(double share)
{
    return (int)lround(share * 100);
}

static void put_lines(struct tg_buf *out, const struct tg_cause *c)
{
    const struct tg_cause_lines *l = c->changed;
    bool one = c->n_changed == 1 && l->first == l->last;
    tg_buf_puts(out, one ? "line " : "lines ");
    for (size_t i = 0; i < c->n_changed && i < 3; i++) {
        tg_buf_printf(out, "%s%u", i ? ", " : "", (unsigned)l[i].first);
        if (l[i].last != l[i].first)
            tg_buf_printf(out, "-%u", (unsigned)l[i].last);
    }
    if (c->n_changed > 3)
        tg_buf_puts(out, " …");
}

bool tg_origin_put_others(struct tg_buf *out, const struct tg_cause *c, const char *before,
                          void (*put_code)(struct tg_buf *out, tg_sv text))
{
    static const char *const what[TG_CAUSE_OTHERS] = { "dependencies", "build or compiled files",
                                                       "configuration", "data" };
    bool any = false;
    for (size_t i = 0; i < TG_CAUSE_OTHERS; i++)
        if (c->other[i].n) {
            tg_buf_printf(out, "%s%s (", any ? ", " : before, what[i]);
            put_code(out, c->other[i]);
            tg_buf_putc(out, ')');
            any = true;
        }
    return any;
}

static void put_changed_in(struct tg_buf *out, const struct tg_cause *c)
{
    tg_buf_printf(out, TG_NAME ", changed in this pull request (", TG_SV_ARG(c->changed_in));
    if (c->changed_file.n)
        tg_buf_printf(out, TG_NAME " ", TG_SV_ARG(c->changed_file));
    put_lines(out, c);
    tg_buf_putc(out, ')');
}

/* How the change relates to it. */
static void put_change(struct tg_buf *out, const struct tg_cause *c)
{
    static const struct {
        const char *before;
        void (*put)(struct tg_buf *out, const struct tg_cause *c);
        const char *after;
    } words[] = {
        [TG_CAUSE_LINK_OUTSIDE] = { ", whose file changed outside every function (", put_lines,
                                    ")" },
        [TG_CAUSE_LINK_SETUP_FILE] = { ", beside ", put_changed_in, "" },
        [TG_CAUSE_LINK_CALLEE] = { ", which calls ", put_changed_in, "" },
        [TG_CAUSE_LINK_FEEDS] = { ", changed in this pull request (", put_lines, ")" },
        [TG_CAUSE_LINK_SETUP] = { ", set up by ", put_changed_in, "" },
        [TG_CAUSE_LINK_SELF] = { ", changed in this pull request (", put_lines, ")" },
    };
    if (!c->change_known || !words[c->link].put)
        return;
    tg_buf_puts(out, words[c->link].before);
    words[c->link].put(out, c);
    tg_buf_puts(out, words[c->link].after);
}

struct tg_origin_place tg_origin_look(const struct tg_cause *c)
{
    const struct tg_cause_frame *f = c->function;
    struct tg_origin_place p = { f->file, f->text, f->line, f->line };
    if (!tg_cause_blames(c))
        return p;
    p.first = c->changed[0].first;
    p.last = c->changed[c->n_changed - 1].last;
    p.file = c->changed_file.n ? c->changed_file : p.file;
    p.function = c->changed_in.n ? c->changed_in : p.function;
    return p;
}

struct tg_origin_place tg_origin_place(const struct tg_cause *c)
{
    const struct tg_cause_frame *f = c->function;
    return c->changed_in.n ? (struct tg_origin_place){ f->file, f->text, f->line, f->line }
                           : tg_origin_look(c);
}

void tg_origin_put_place(struct tg_buf *out, const struct tg_origin_place *p)
{
    tg_buf_printf(out, "%.*s:%u", TG_SV_ARG(p->file), (unsigned)p->first);
    if (p->last > p->first)
        tg_buf_printf(out, "-%u", (unsigned)p->last);
}

bool tg_origin_put_quote(struct tg_buf *out, const struct tg_cause *c)
{
    tg_sv shown = c ? tg_utf8_prefix(c->quoted, 120) : TG_SV("");
    if (!shown.n)
        return false;
    tg_buf_printf(out, "%u | %.*s%s", (unsigned)c->quoted_line, TG_SV_ARG(shown),
                  shown.n < c->quoted.n ? "\xe2\x80\xa6" : "");
    return true;
}

void tg_origin_put_unquoted(struct tg_buf *out, const struct tg_cause *c)
{
    uint32_t n = 0;
    for (size_t i = 0; i < c->n_changed; i++)
        n += c->changed[i].last - c->changed[i].first + 1;
    if (n > 1)
        tg_buf_printf(out, " (1 of %u changed lines)", (unsigned)n);
}

/* "78 % of it" */
static void put_part(struct tg_buf *out, const struct tg_cause *c, double share)
{
    if (!c->whole && percent(share) == 100)
        tg_buf_puts(out, "all of it");
    else
        tg_buf_printf(out, "%d %% of %s", percent(share),
                      c->whole ? "all of it (the baseline has no call paths)" : "it");
}

/* " in layer `Block_1`": one instance, as the profiler numbers them; a class stands for several
 * layers. */
static void put_layer(struct tg_buf *out, const struct tg_cause *c)
{
    tg_sv rest = c->module;
    while (rest.n && tg_is_digit(rest.p[rest.n - 1]))
        rest.n--;
    if (rest.n == c->module.n || !tg_sv_ends(rest, TG_SV("_")))
        return;
    tg_buf_printf(out, " in layer " TG_NAME, TG_SV_ARG(c->module));
}

void tg_origin_put_path(struct tg_buf *out, const struct tg_cause *c)
{
    for (size_t i = 0; i < c->path.n; i++) {
        const struct tg_cause_frame *f = &c->path.frames[i];
        TG_BUF one = { 0 };
        if (f->kind == TG_PATH_FUNCTION)
            tg_buf_printf(&one, "%.*s: ", TG_SV_ARG(f->file));
        tg_buf_add(&one, f->text);
        tg_buf_puts(out, i ? " > " : "");
        put_name(out, tg_buf_sv(&one));
    }
}

void tg_origin_put(struct tg_buf *out, const struct tg_result *r, enum tg_origin_part where)
{
    const struct tg_cause *c = r->cause;
    if (!c)
        return;
    if (c->function) {
        /* Of several names, others may be of the forward pass. */
        bool one_name = !r->ev || !r->ev->pooled;
        struct tg_origin_place place = tg_origin_place(c);
        TG_BUF at = { 0 };
        tg_origin_put_place(&at, &place);
        if (where == TG_ORIGIN_WHOLE)
            tg_buf_printf(out, TG_NAME " ", TG_SV_ARG(tg_buf_sv(&at)));
        put_name(out, c->function->text);
        put_layer(out, c);
        if (c->path.backward && !c->holder.n && one_name)
            tg_buf_puts(out, " (its backward pass)");
        put_change(out, c);
        if (c->holder.n)
            tg_buf_printf(out, ", gives a tensor to " TG_NAME, TG_SV_ARG(c->holder));
        tg_buf_puts(out, c->holder.n ? ", whose backward pass" : ",");
        if (c->waits) {
            tg_buf_puts(out, " where the host waits for what takes longer");
        } else {
            tg_buf_puts(out, " accounts for ");
            put_part(out, c, c->share);
        }
    } else {
        /* No function holds half of it: how far the path goes, and what comes next. */
        size_t n = c->path.n; /* of the deepest place above the result itself */
        while (n && (tg_sv_eq(c->path.frames[n - 1].text, r->op) ||
                     tg_sv_eq(c->path.frames[n - 1].text, r->op_normalised)))
            n--;
        const struct tg_cause_frame *last = n ? &c->path.frames[n - 1] : NULL;
        if (last) {
            put_name(out, last->text);
            if (!tg_sv_eq(last->text, c->module))
                put_layer(out, c);
            tg_buf_puts(out, " accounts for ");
            put_part(out, c, c->path.share);
        } else {
            tg_buf_puts(out, c->path.n ? "no place above it is known"
                                       : "no single place accounts for most of it");
        }
        if (c->path.next.share > 0 && (last || !c->path.n)) {
            tg_buf_puts(out, last ? "; below it, " : "; the largest part is ");
            tg_buf_printf(out, TG_NAME " with %d %%", TG_SV_ARG(c->path.next.text),
                          percent(c->path.next.share));
        }
    }
    if (c->change_known && c->link <= TG_CAUSE_LINK_FILE)
        tg_buf_puts(out, "; no changed function is on the path");
    if (c->change_known && c->confidence != TG_CAUSE_HIGH)
        (void)tg_origin_put_others(
            out, c, tg_cause_blames(c) ? "; the change also touches " : "; the change touches ",
            put_name);
}
