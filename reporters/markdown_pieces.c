/* What the files of the comment share: the budget, names, sentences, places, icons. */
#include "core/base/message.h"
#include "reporters/escape.h"
#include "reporters/label.h"
#include "reporters/link.h"
#include "reporters/markdown.h"
#include "reporters/number.h"

enum {
    RESERVE = 400, /* closing tags and the last line */
    LINE_MAX = 600 /* of one sentence */
};

bool tg_markdown_add(struct tg_markdown *m, struct tg_buf *part)
{
    bool fits = m->out->n + part->n + RESERVE + m->r->report_url.n * 3 <= m->budget;
    if (fits)
        tg_buf_add(m->out, tg_buf_sv(part));
    tg_buf_clear(part);
    return fits;
}

void tg_markdown_add_or_drop(struct tg_markdown *m, struct tg_buf *part)
{
    if (part->n && !tg_markdown_add(m, part))
        m->dropped_parts++;
}

void tg_markdown_put_name(struct tg_buf *out, tg_sv name)
{
    TG_BUF text = { 0 };
    tg_label_put_one(&text, name, TG_MARKDOWN_NAME);
    tg_esc_md_code(out, tg_buf_sv(&text), TG_ESC_PROSE);
}

static void put_short(const struct tg_markdown *m, struct tg_buf *out, tg_sv name)
{
    const struct tg_markdown_names *s = &m->names;
    uint32_t id = tg_strmap_find(&s->ids, name);
    TG_BUF text = { 0 };
    if (id != TG_NO_ID)
        tg_label_put(&text, &s->labels.v[s->label[id]]);
    else
        tg_label_put_one(&text, name, TG_MARKDOWN_SHORT);
    tg_esc_md_code(out, tg_buf_sv(&text), TG_ESC_PROSE);
}

void tg_markdown_put_text(const struct tg_markdown *m, struct tg_buf *out, tg_sv text)
{
    struct tg_piece piece;
    while (tg_message_next(&text, &piece)) {
        TG_BUF part = { 0 };
        if (piece.type == TG_PIECE_NAME)
            put_short(m, &part, piece.text);
        else if (piece.type == TG_PIECE_CODE) {
            tg_esc_md_code(&part, piece.text, TG_ESC_PROSE);
        } else {
            /* With the blanks at its ends, which the escape omits. */
            tg_sv words = piece.text;
            TG_BUF printed = { 0 }, shorter = { 0 };
            tg_put_printed(&printed, tg_sv_strip(words, " "));
            tg_shorten_visible(&shorter, tg_buf_sv(&printed), LINE_MAX);
            tg_buf_puts(&part, words.p[0] == ' ' ? " " : "");
            tg_esc_md_text(&part, tg_buf_sv(&shorter));
            tg_buf_puts(&part, shorter.n && words.p[words.n - 1] == ' ' ? " " : "");
        }
        if (tg_sv_ends(tg_buf_sv(out), TG_SV("`")) && tg_sv_starts(tg_buf_sv(&part), TG_SV("`")))
            tg_buf_putc(out, ' '); /* side by side two spans of code are one */
        tg_buf_add(out, tg_buf_sv(&part));
    }
}

void tg_markdown_put_sentence(const struct tg_markdown *m, struct tg_buf *out, const char *ours,
                              tg_sv text)
{
    const char *hole = strstr(ours, "{}");
    if (!text.n)
        return;
    tg_buf_add(out, (tg_sv){ ours, (size_t)(hole - ours) });
    tg_markdown_put_text(m, out, text);
    tg_buf_puts(out, hole + 2);
}

void tg_markdown_put_place(const struct tg_markdown *m, struct tg_buf *out, tg_sv text, tg_sv file,
                           uint32_t first, uint32_t last)
{
    TG_BUF url = { 0 };
    tg_link_put_lines(&url, m->r->repo_url, m->v->test_commit, file, first, last);
    tg_buf_puts(out, url.n ? "[" : "");
    tg_markdown_put_name(out, text);
    if (url.n)
        tg_buf_printf(out, "](%s)", url.p);
}

void tg_markdown_put_link(struct tg_buf *out, const char *text, tg_sv url)
{
    tg_buf_printf(out, "[%s](", text);
    tg_link_put_encoded(out, url);
    tg_buf_putc(out, ')');
}

#define CHECK_MARK "\xe2\x9c\x85"
#define WARNING_SIGN "\xe2\x9a\xa0\xef\xb8\x8f"
#define QUESTION_MARK "\xe2\x9d\x94"
#define CROSS_MARK "\xe2\x9d\x8c"

const char *tg_markdown_outcome_icon(enum tg_outcome o)
{
    static const char *const icon[] = {
        [TG_OUTCOME_PASS] = CHECK_MARK,  [TG_OUTCOME_WARN] = WARNING_SIGN,
        [TG_OUTCOME_FAIL] = CROSS_MARK,  [TG_OUTCOME_INCONCLUSIVE] = QUESTION_MARK,
        [TG_OUTCOME_ERROR] = CROSS_MARK,
    };
    return icon[o];
}

const char *tg_markdown_icon(enum tg_state s)
{
    static const char *const icon[] = {
        [TG_STATE_FAIL] = CROSS_MARK,
        [TG_STATE_INCONCLUSIVE] = QUESTION_MARK,
        [TG_STATE_WARN] = WARNING_SIGN,
        [TG_STATE_SUSPICIOUS] = "\xf0\x9f\x94\x8d", /* magnifying glass */
        [TG_STATE_PASS] = CHECK_MARK,
        [TG_STATE_WAIVED] = "\xf0\x9f\x8e\xab", /* ticket */
        [TG_STATE_SKIP] = WARNING_SIGN,
        [TG_STATE_NOT_JUDGED] = WARNING_SIGN,
    };
    return icon[s];
}
