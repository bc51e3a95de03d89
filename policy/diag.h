#ifndef TG_POLICY_DIAG_H
#define TG_POLICY_DIAG_H
/*
 * Everything that is wrong with a policy, at once. A diagnostic has a code (TG1xx error, TG2xx
 * warning; docs/policy.md lists them), the place of the value, a reason in lower case and a fix.
 * Rendered sorted by file (in loading order) and position; at most TG_DIAGS_MAX are kept, the rest
 * is counted. Equal reports about one place are kept once.
 */
#include "core/base/arena.h"
#include "core/base/buf.h"
#include "core/base/doc.h"
#include "core/base/err.h"

#define TG_DIAGS_MAX 50

enum tg_severity { TG_SEV_ERROR, TG_SEV_WARNING };

struct tg_diag {
    int code; /* 101: "TG101" */
    enum tg_severity severity;
    struct tg_loc at;   /* file NULL: about no file */
    uint32_t length;    /* columns underlined, at least 1 */
    tg_sv message, fix; /* fix may be "" */
};

struct tg_diags {
    struct tg_arena *arena; /* owns the texts */
    struct tg_diag *v;
    size_t n, cap;
    size_t errors, warnings;        /* including those beyond the cap */
    struct tg_diag_source *sources; /* texts of the files, for the source lines */
    size_t n_sources, cap_sources;
};

void tg_diags_init(struct tg_diags *d);
void tg_diags_release(struct tg_diags *d);

/* Remembers the text of a file (copied), in loading order. */
void tg_diags_source(struct tg_diags *d, const char *file, tg_sv text);
/* Adds one; `fix` may be NULL. Always returns false. */
bool tg_diags_add(struct tg_diags *d, int code, struct tg_loc at, size_t length, const char *fix,
                  const char *fmt, ...) __attribute__((format(printf, 6, 7)));
void tg_diags_sort(struct tg_diags *d);

/*
 * Text: one block a diagnostic with source line, caret and fix, then the line of totals. LF only;
 * controls of the source are made visible.
 */
void tg_diags_text(const struct tg_diags *d, struct tg_buf *out);
/* The same data as an array of objects {code, severity, file, line, column, length, message, fix}.
 */
void tg_diags_json(const struct tg_diags *d, struct tg_doc *parent, const char *key);
#endif
