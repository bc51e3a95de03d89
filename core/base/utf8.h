#ifndef TG_BASE_UTF8_H
#define TG_BASE_UTF8_H
#include "core/base/buf.h"

/* Length of the valid UTF-8 sequence at `s` (1-4; no surrogates, no overlongs), or 0 if the bytes
 * are not one. */
size_t tg_utf8_len(tg_sv s);
bool tg_utf8_valid(tg_sv s);
uint32_t tg_utf8_code(tg_sv s, size_t len); /* code point of a valid sequence */
void tg_utf8_put(struct tg_buf *out, uint32_t code);
/* Appends `s` with each bad byte, and each NUL, replaced by U+FFFD. */
void tg_utf8_clean(struct tg_buf *out, tg_sv s);
/*
 * Where a line ends for those who read what we write: at LF, at CRLF and at a CR alone (runners and
 * terminals), and nowhere else. Cuts the line off the front of *rest; *end is what it ended with,
 * "" at the end of the text.
 */
tg_sv tg_utf8_line(tg_sv *rest, tg_sv *end);
/* Does it move a cursor, hide, or turn round what is beside it? Controls, C1, format characters. */
bool tg_utf8_is_invisible(uint32_t code);
/* "\u202e"; above U+FFFF the two of JSON, "\udb40\udc41". */
void tg_utf8_spell(struct tg_buf *out, uint32_t code);
/*
 * Appends `s` for a one-line text sink: CR, LF and TAB become one blank, other controls and the
 * invisible or direction-changing code points become visible "\u200b", bad bytes become U+FFFD,
 * marks (message.h) nothing.
 */
void tg_utf8_visible(struct tg_buf *out, tg_sv s);
/* Marks around the names in a message (message.h): bytes that UTF-8 does not have. */
#define TG_MARK_NAME '\xf8' /* a name begins; */
#define TG_MARK_SAID '\xf9' /* so it is printed: nothing since its beginning is; */
#define TG_MARK_END '\xfa'  /* it ends */
bool tg_utf8_is_mark(char c);
/* Is there one? Then *s continues where something is printed. */
bool tg_utf8_skip_mark(tg_sv *s);
/* The longest prefix of at most `max` bytes that does not split a sequence. */
tg_sv tg_utf8_prefix(tg_sv s, size_t max);
/* Code points, as an estimate of columns on a terminal. */
size_t tg_utf8_count(tg_sv s);
#endif
