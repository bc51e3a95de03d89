#ifndef TG_REPORTERS_LINK_H
#define TG_REPORTERS_LINK_H
/*
 * Addresses of a commit and of lines on the repository's site. `repo` is "https://HOST/OWNER/NAME"
 * without a slash at its end; "" gives nothing, as does a commit or a path that is unknown. GitLab
 * has "/-/" before its pages, and so have hosts with "gitlab" in their name.
 */
#include "core/base/buf.h"

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
