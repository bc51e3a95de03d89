#ifndef TG_REPORTERS_ESCAPE_H
#define TG_REPORTERS_ESCAPE_H
/*
 * Hostile text into each kind of report. Names of kernels, paths, refs and messages come from
 * traces and repositories that a stranger may have written. Every function here first makes the
 * text one visible line (tg_utf8_visible: CR, LF and TAB become a blank, controls and
 * direction-changing characters become "\u202e" in letters, bad bytes become U+FFFD), then escapes
 * what has a meaning in its format. All append.
 */
#include "core/base/buf.h"

/* Where the Markdown is: in the cell of a table '|' is escaped, which would end it. */
enum tg_esc_place { TG_ESC_PROSE, TG_ESC_CELL };

/*
 * A Markdown code span: the only form in which GitHub links no @mention, #123, SHA, URL or e-mail.
 * The fence is the shortest run of backticks that does not occur in the text. Empty text gives
 * nothing.
 */
void tg_esc_md_code(struct tg_buf *out, tg_sv text, enum tg_esc_place place);
void tg_esc_md_name(struct tg_buf *out, tg_sv text); /* the same in prose */

/*
 * A sentence that may contain hostile words: words of plain letters, digits and harmless
 * punctuation stay, all others become code spans (neighbours share one). "->" becomes an arrow. Not
 * for the start of a line, at which '-' or '1.' would begin a list.
 */
void tg_esc_md_text(struct tg_buf *out, tg_sv text);

void tg_esc_xml(struct tg_buf *out, tg_sv text); /* text and attributes; XML 1.0 characters only */
void tg_esc_xml_lines(struct tg_buf *out, tg_sv text); /* the same, but LF stays */

/* A scalar on one line, the same text when it is read: single quotes, or double ones with
 * escapes. */
void tg_esc_yaml(struct tg_buf *out, tg_sv text);

/* A quoted Mermaid label: no quotes, backticks, semicolons; guillemets for angle brackets. */
void tg_esc_mermaid(struct tg_buf *out, tg_sv text);

/* GitHub workflow commands; ':' and ',' have a meaning in properties only. */
void tg_esc_command(struct tg_buf *out, tg_sv text);
void tg_esc_command_property(struct tg_buf *out, tg_sv text);

/* A text of ours with hostile ones in it: each "{}" is the next of them, escaped. */
void tg_esc_put(struct tg_buf *out, void (*escape)(struct tg_buf *out, tg_sv text),
                const char *ours, const tg_sv *texts, size_t n);
#define TG_PUT(out, escape, ours, ...)                                                             \
    tg_esc_put(out, escape, ours, (const tg_sv[]){ __VA_ARGS__ },                                  \
               sizeof((const tg_sv[]){ __VA_ARGS__ }) / sizeof(tg_sv))

/* Would a CI runner take a line that begins so for a command? Blanks before it do not matter. */
bool tg_esc_is_command(tg_sv line);

/* For a terminal or a CI log; "##[" is broken, because the runner executes "##[name]" anywhere in a
 * line. Callers never start a line with it ("::name::" is a command there). */
void tg_esc_terminal(struct tg_buf *out, tg_sv text);

/* At most `width` code points of an already visible text: the middle gives way to an ellipsis,
 * because both ends of a kernel's name tell it apart. width >= 3. */
void tg_shorten(struct tg_buf *out, tg_sv visible, size_t width);
void tg_shorten_visible(struct tg_buf *out, tg_sv text, size_t width); /* of any text */

/* ---- addresses ---- */

/*
 * Addresses of a commit and of lines on the repository's site. `repo` is "https://HOST/OWNER/NAME"
 * without a slash at its end; "" gives nothing, as does a commit or a path that is unknown. GitLab
 * has "/-/" before its pages, and so have hosts with "gitlab" in their name.
 */
void tg_link_put_commit(struct tg_buf *out, tg_sv repo, tg_sv sha);
/* "#L20-L22"; GitLab's "#L20-22"; first 0: the file alone. */
void tg_link_put_lines(struct tg_buf *out, tg_sv repo, tg_sv sha, tg_sv file, uint32_t first,
                       uint32_t last);
/* Percent-encodes what could end an address in Markdown or HTML. */
void tg_link_put_encoded(struct tg_buf *out, tg_sv url);
bool tg_link_is_web(tg_sv url); /* http:// or https:// */
/* Perfetto with this trace, at a span: "…/#!/?url=TRACE&ts=START&dur=LENGTH&visStart=…&visEnd=…",
 * in ns of the trace's clock. Perfetto takes addresses of https:// alone; others give nothing. */
void tg_link_put_perfetto(struct tg_buf *out, tg_sv trace, tg_ns start, tg_ns dur);
#endif
