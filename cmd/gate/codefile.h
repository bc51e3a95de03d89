#ifndef TG_CMD_GATE_CODEFILE_H
#define TG_CMD_GATE_CODEFILE_H
/*
 * The files of the repository that the Python frames of a trace name. Paths of a trace are hostile,
 * and may come from another machine: "train.py", "/__w/r/r/pkg/train.py". A path is joined to the
 * one file of the commit that it can mean, by its longest end; an ambiguous path means no file.
 *
 * The folders of the first two levels are listed once a commit; a file costs a look-up, and its
 * bytes where it is in the repository.
 */
#include "core/base/strmap.h"
#include "core/baseline/baseline.h"
#include "core/cause/python.h"

struct tg_codefile {
    tg_sv in_repo; /* "": not in the repository */
    tg_sv text;    /* its bytes in the commit */
    struct tg_py_function *functions;
    size_t n_functions;
};
struct tg_codefiles {
    struct tg_git *git;
    const char *commit;     /* 40 hex; the caller's */
    const char *workspace;  /* another prefix of absolute paths (GITHUB_WORKSPACE); may be NULL */
    struct tg_arena *arena; /* the caller's: texts and paths live there */
    struct tg_strmap paths; /* as traces have them; each is looked up once */
    struct tg_codefile *maps;
    size_t n_maps;
    size_t bytes;                      /* of the sources that were read */
    const char *not_searched;          /* what was left out first, and why; NULL: nothing was */
    struct tg_codefile_places *places; /* made by the first path that may be below a folder */
};
/* The budget of a search, by commit; what is beyond it is reported as "not searched".
 * docs/reports.md */
#define TG_CODEFILES_MOST 2000
#define TG_CODEFILES_MOST_BYTES ((size_t)64 << 20)
#define TG_CODEFILES_MOST_PLACES 50000
void tg_codefiles_init(struct tg_codefiles *s, struct tg_git *git, const char *commit,
                       const char *workspace, struct tg_arena *a);
void tg_codefiles_release(struct tg_codefiles *s);
/* Valid until the next call. */
const struct tg_codefile *tg_codefiles_file(struct tg_codefiles *s, tg_sv path);
/* Does the function's code begin at this line of the file, as the trace says? */
bool tg_codefile_holds(const struct tg_codefile *file, tg_sv function, uint32_t line);

/* "pkg/train.py(12): step" -> its parts; false: a builtin, a module or not a frame at all. */
struct tg_codefile_name {
    tg_sv file, function;
    uint32_t line;
};
bool tg_codefile_parse(struct tg_codefile_name *out, tg_sv name);
/* A file of an installed package, as far as its path tells; the rest is the program's own. */
bool tg_codefile_is_foreign(tg_sv path);
#endif
