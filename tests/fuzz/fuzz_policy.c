/*
 * A policy file of any bytes: it loads or it does not, with at least one reason. What loads can be
 * shown, and what is shown loads again and shows the same; lint and rendering take whatever comes.
 */
#include "policy/language/load.h"
#include "tests/fuzz/target.h"

/* The one file there is; every other name is unreadable. */
static bool read_it(void *arg, const char *path, struct tg_buf *out, struct tg_err *err)
{
    const tg_sv *text = arg;
    if (strcmp(path, "p.yml") != 0)
        return tg_err_set(err, TG_ERR_IO, TG_AT_FILE(path), "cannot open '%s'", path);
    tg_buf_add(out, *text);
    return true;
}

static struct tg_policy *load(tg_sv text, struct tg_diags *d)
{
    struct tg_policy_opts o = {
        .path = "p.yml", .today = 20000, .lint_refused = true, .read = read_it, .read_arg = &text
    };
    struct tg_err err = TG_ERR_INIT;
    struct tg_policy *p = tg_policy_load(&o, d, &err);
    abort_if((p == NULL) != (d->errors > 0));
    return p;
}

static void render(const struct tg_diags *d)
{
    TG_BUF out = { 0 };
    struct tg_doc *root = tg_doc_new_object();
    tg_diags_text(d, &out);
    tg_diags_json(d, root, "diagnostics");
    tg_doc_write(root, TG_DOC_INDENTED, &out);
    tg_doc_free(root);
}

/* `shown` without its first line and without origins, which name other lines the second time. */
static void without_origins(struct tg_buf *out, tg_sv shown)
{
    while (shown.n) {
        tg_sv line = tg_sv_cut(&shown, '\n');
        for (size_t i = 0; i + 4 <= line.n; i++)
            if (memcmp(line.p + i, "  # ", 4) == 0)
                line.n = i;
        while (line.n && line.p[line.n - 1] == ' ')
            line.n--;
        if (line.n && line.p[0] != '#')
            tg_buf_add(out, line);
        tg_buf_putc(out, '\n');
    }
}

FUZZ_TARGET(0)
{
    static const tg_sv names[] = { { "aten::mm", 8 }, { "ncclKernel", 10 } };
    TG_AUTO(tg_diags_release) struct tg_diags d;
    TG_BUF first = { 0 }, second = { 0 }, a = { 0 }, b = { 0 };
    tg_diags_init(&d);
    struct tg_policy *p = load(bytes, &d);
    if (p) {
        TG_AUTO(tg_diags_release) struct tg_diags again;
        tg_policy_lint(p, names, 2, &d);
        tg_policy_show(p, &first);
        tg_diags_init(&again);
        struct tg_policy *q = load(tg_buf_sv(&first), &again);
        abort_if(!q);
        tg_policy_show(q, &second);
        without_origins(&a, tg_buf_sv(&first));
        without_origins(&b, tg_buf_sv(&second));
        /* Removed rules are told once; below them everything is the same. */
        abort_if(p->n_removed == 0 && !tg_sv_eq(tg_buf_sv(&a), tg_buf_sv(&b)));
        tg_policy_free(q);
    }
    render(&d);
    tg_policy_free(p);
}
