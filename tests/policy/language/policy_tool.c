/*
 * What the schema test needs from the program: the schema, and policies as JSON with the types that
 * an editor's YAML 1.2 gives them. `schema` | `samples` (a JSON object a line: code, good, bad) |
 * `json FILE` (null: no YAML).
 */
#include <stdio.h>
#include <string.h>

#include "core/base/decimal.h"
#include "core/base/file.h"
#include "policy/language/load.h"
#include "policy/language/yaml.h"
#include "samples.h"

static void add_scalar(struct tg_doc *parent, const char *key, const struct tg_yaml *n)
{
    double v;
    tg_sv t = n->text;
    bool number = t.n && (t.p[0] == '-' || (t.p[0] >= '0' && t.p[0] <= '9'));
    if (n->plain && (t.n == 0 || tg_sv_eq(t, TG_SV("null")) || tg_sv_eq(t, TG_SV("~"))))
        tg_doc_add_null(parent, key);
    else if (n->plain && (tg_sv_eq(t, TG_SV("true")) || tg_sv_eq(t, TG_SV("false"))))
        tg_doc_add_bool(parent, key, t.p[0] == 't');
    else if (n->plain && number && tg_dec_double(t, &v))
        tg_doc_add_num(parent, key, v);
    else
        tg_doc_add_str(parent, key, t);
}

static void add(struct tg_doc *parent, const char *key, const struct tg_yaml *n)
{
    if (n->type == TG_YAML_SCALAR) {
        add_scalar(parent, key, n);
        return;
    }
    bool map = n->type == TG_YAML_MAP;
    struct tg_doc *o = map ? tg_doc_add_object(parent, key) : tg_doc_add_array(parent, key);
    for (size_t i = 0; i < n->n; i++)
        add(o, map ? n->pairs[i].key->text.p : NULL, map ? n->pairs[i].value : n->items[i]);
}

static void add_text(struct tg_doc *parent, const char *key, const char *text)
{
    TG_ARENA *a = tg_arena_new();
    TG_AUTO(tg_diags_release) struct tg_diags d;
    TG_BUF clean = { 0 };
    const char *mark = strstr(text, "§");
    tg_buf_add(&clean, (tg_sv){ text, mark ? (size_t)(mark - text) : strlen(text) });
    if (mark)
        tg_buf_puts(&clean, mark + strlen("§"));
    tg_diags_init(&d);
    const struct tg_yaml *n = tg_yaml_parse(tg_buf_sv(&clean), "x", a, &d);
    if (n && d.errors == 0)
        add(parent, key, n);
    else
        tg_doc_add_null(parent, key);
}

static void print_samples(struct tg_buf *out)
{
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct tg_doc *root = tg_doc_new_object();
        tg_doc_add_i64(root, "code", samples[i].code);
        tg_doc_add_str(root, "text", tg_sv_of(samples[i].bad));
        add_text(root, "bad", samples[i].bad);
        add_text(root, "good", samples[i].good);
        tg_doc_write(root, TG_DOC_COMPACT, out);
        tg_doc_free(root);
    }
}

int main(int argc, char **argv)
{
    TG_BUF out = { 0 }, text = { 0 };
    struct tg_err err = TG_ERR_INIT;
    if (argc == 2 && strcmp(argv[1], "schema") == 0) {
        tg_policy_schema(&out);
    } else if (argc == 2 && strcmp(argv[1], "samples") == 0) {
        print_samples(&out);
    } else if (argc == 3 && strcmp(argv[1], "json") == 0 &&
               tg_file_read(&text, argv[2], 1 << 20, &err)) {
        struct tg_doc *root = tg_doc_new_object();
        add_text(root, "document", text.p);
        tg_doc_write(root, TG_DOC_COMPACT, &out);
        tg_doc_free(root);
    } else {
        return 2;
    }
    (void)fwrite(out.p, 1, out.n, stdout);
    return 0;
}
