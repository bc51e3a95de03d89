#include "core/base/utf8.h"
#include "policy/language/internal.h"
#include "policy/language/load.h"

enum { COMMENT_COLUMN = 60 };

struct show {
    struct tg_buf *out;
    size_t line; /* where the current line begins in out */
};

/* ---- values on one line ---- */

static bool is_plain_safe(tg_sv s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool ok = tg_is_word(c) || c == '/' || c == '.' || c == '%' || c == '+' || c == '-';
        /* These have a meaning at the beginning of a YAML scalar. */
        if (!ok || (i == 0 && (c == '%' || (c == '-' && s.n == 1))))
            return false;
    }
    return s.n > 0 && !tg_sv_starts(s, TG_SV("---")) && !tg_sv_starts(s, TG_SV("..."));
}

void tg_show_flow(struct tg_buf *out, const struct tg_yaml *n)
{
    if (n->type == TG_YAML_SCALAR) {
        if (n->plain && is_plain_safe(n->text)) {
            tg_buf_add(out, n->text);
        } else {
            tg_sv s = n->text;
            tg_buf_putc(out, '"');
            for (size_t k = 0; k < s.n;) {
                tg_sv rest = { s.p + k, s.n - k };
                size_t len = tg_utf8_len(rest);
                uint32_t c = len ? tg_utf8_code(rest, len) : 0xFFFD;
                len = len ? len : 1;
                if (c == '"' || c == '\\')
                    tg_buf_printf(out, "\\%c", (char)c);
                else if (c < 0x20 || (c >= 0x7F && c <= 0x9F))
                    tg_buf_printf(out, "\\x%02x", (unsigned)c);
                else if (c == 0x2028 || c == 0x2029 || c == 0xFEFF ||
                         (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) ||
                         (c >= 0x2066 && c <= 0x2069))
                    tg_buf_printf(out, "\\u%04x", (unsigned)c);
                else
                    tg_buf_add(out, (tg_sv){ rest.p, len });
                k += len;
            }
            tg_buf_putc(out, '"');
        }
        return;
    }
    bool map = n->type == TG_YAML_MAP;
    tg_buf_putc(out, map ? '{' : '[');
    for (size_t i = 0; i < n->n; i++) {
        tg_buf_puts(out, i ? ", " : "");
        if (map) {
            tg_buf_add(out, n->pairs[i].key->text);
            tg_buf_puts(out, ": ");
        }
        tg_show_flow(out, map ? n->pairs[i].value : n->items[i]);
    }
    tg_buf_putc(out, map ? '}' : ']');
}

/* ---- lines with their origin ---- */

static void end_line(struct show *s, const struct tg_yaml *from)
{
    size_t used = tg_utf8_count(tg_sv_from(tg_buf_sv(s->out), s->line));
    if (from && from->at.file) {
        tg_buf_printf(s->out, "%*s  # ", used < COMMENT_COLUMN ? (int)(COMMENT_COLUMN - used) : 0,
                      "");
        tg_utf8_visible(s->out, tg_sv_of(from->at.file));
        tg_buf_printf(s->out, ":%u", (unsigned)from->at.line);
    }
    tg_buf_putc(s->out, '\n');
    s->line = s->out->n;
}

/* In the order of the grammar, so that the same policy always reads the same. */
static void put_block(struct show *s, const struct tg_key *keys, const struct tg_yaml *map,
                      size_t indent, bool in_item)
{
    for (; keys->name; keys++) {
        const struct tg_yaml *v = tg_yaml_get(map, keys->name);
        if (!v)
            continue;
        if (!in_item)
            tg_buf_printf(s->out, "%*s", (int)indent, "");
        in_item = false;
        tg_buf_printf(s->out, "%s:", keys->name);
        const struct tg_key_shape *list = keys->shape->kind == TG_KEY_CHOICE ? keys->shape->list
                                          : keys->shape->kind == TG_KEY_LIST ? keys->shape
                                                                             : NULL;
        if (v->type == TG_YAML_MAP && (keys->flags & TG_KEY_MERGE)) {
            end_line(s, NULL);
            put_block(s, keys->shape->keys, v, indent + 2, false);
        } else if (v->type == TG_YAML_SEQ && v->n && list && list->item->kind == TG_KEY_MAP &&
                   list->item->keys && v->items[0]->type == TG_YAML_MAP && keys->flags) {
            /* Lists of mappings: one item a block, so that each of its values has its own line. */
            size_t item_indent = indent + 2;
            end_line(s, NULL);
            for (size_t i = 0; i < v->n; i++) {
                tg_buf_printf(s->out, "%*s- ", (int)item_indent, "");
                put_block(s, list->item->keys, v->items[i], item_indent + 2, true);
            }
        } else {
            tg_buf_putc(s->out, ' ');
            tg_show_flow(s->out, v);
            end_line(s, v);
        }
    }
}

void tg_policy_show(const struct tg_policy *p, struct tg_buf *out)
{
    struct show s = { out, 0 };
    tg_buf_puts(out, "# effective policy: ");
    tg_utf8_visible(out, p->built_in ? TG_SV("built in, tracegate:recommended") : p->file);
    if (p->profile.n)
        tg_buf_printf(out, ", profile %.*s", TG_SV_ARG(p->profile));
    tg_buf_putc(out, '\n');
    for (size_t i = 0; i < p->n_removed; i++)
        tg_buf_printf(out, "# removed rule: %.*s\n", TG_SV_ARG(p->removed[i]));
    tg_buf_puts(out, "version: 1\n");
    s.line = out->n;
    put_block(&s, tg_key_shape_policy.keys, p->private_->tree, 0, false);
}
