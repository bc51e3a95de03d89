#include "core/cause/choose.h"

#include <string.h>

const char *tg_cause_confidence_name(enum tg_cause_confidence c)
{
    static const char *const names[] = { "low", "medium", "high" };
    return names[c];
}

unsigned tg_cause_other_of(tg_sv path)
{
    static const struct {
        const char *end;
        unsigned bit;
    } ends[] = {
        { ".lock", TG_CAUSE_DEPENDENCIES },
        { "-lock.json", TG_CAUSE_DEPENDENCIES },
        { "pyproject.toml", TG_CAUSE_DEPENDENCIES },
        { "setup.py", TG_CAUSE_DEPENDENCIES },
        { "setup.cfg", TG_CAUSE_DEPENDENCIES },
        { "Pipfile", TG_CAUSE_DEPENDENCIES },
        { "environment.yml", TG_CAUSE_DEPENDENCIES },
        { "environment.yaml", TG_CAUSE_DEPENDENCIES },
        { ".c", TG_CAUSE_BUILD },
        { ".cc", TG_CAUSE_BUILD },
        { ".cpp", TG_CAUSE_BUILD },
        { ".cu", TG_CAUSE_BUILD },
        { ".cuh", TG_CAUSE_BUILD },
        { ".h", TG_CAUSE_BUILD },
        { ".hpp", TG_CAUSE_BUILD },
        { ".hip", TG_CAUSE_BUILD },
        { ".rs", TG_CAUSE_BUILD },
        { ".pyx", TG_CAUSE_BUILD },
        { ".cmake", TG_CAUSE_BUILD },
        { "CMakeLists.txt", TG_CAUSE_BUILD },
        { "Makefile", TG_CAUSE_BUILD },
        { "Dockerfile", TG_CAUSE_BUILD },
        { "Containerfile", TG_CAUSE_BUILD },
        { ".bazel", TG_CAUSE_BUILD },
        { ".yml", TG_CAUSE_CONFIG },
        { ".yaml", TG_CAUSE_CONFIG },
        { ".toml", TG_CAUSE_CONFIG },
        { ".ini", TG_CAUSE_CONFIG },
        { ".cfg", TG_CAUSE_CONFIG },
        { ".json", TG_CAUSE_CONFIG },
        { ".csv", TG_CAUSE_DATA },
        { ".parquet", TG_CAUSE_DATA },
        { ".npy", TG_CAUSE_DATA },
        { ".npz", TG_CAUSE_DATA },
        { ".pt", TG_CAUSE_DATA },
        { ".bin", TG_CAUSE_DATA },
        { ".safetensors", TG_CAUSE_DATA },
        { ".jsonl", TG_CAUSE_DATA },
    };
    const char *slash = path.n ? memrchr(path.p, '/', path.n) : NULL;
    tg_sv name = slash ? (tg_sv){ slash + 1, path.n - (size_t)(slash + 1 - path.p) } : path;
    if (tg_sv_starts(name, TG_SV("requirements")) && tg_sv_ends(name, TG_SV(".txt")))
        return TG_CAUSE_DEPENDENCIES;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (tg_sv_ends(name, tg_sv_of(ends[i].end)))
            return ends[i].bit;
    return 0;
}

static const struct tg_cause_file *file_of(const struct tg_cause_change *c, tg_sv path)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (tg_sv_eq(c->files[i].path, path))
            return &c->files[i];
    return NULL;
}

static const struct tg_py_function *function_of(const struct tg_cause_file *f,
                                                const struct tg_cause_frame *frame)
{
    for (size_t i = 0; i < f->n_functions; i++)
        if (tg_sv_eq(f->functions[i].qualified, frame->text))
            return &f->functions[i];
    return NULL;
}

/* The changed lines whose innermost function this is (NULL: those outside every function). */
static size_t lines_in(const struct tg_cause_file *f, const struct tg_py_function *in,
                       struct tg_cause_lines *out)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_lines; i++)
        for (uint32_t line = f->lines[i].first; line <= f->lines[i].last; line++)
            if (tg_py_function_at(f->functions, f->n_functions, line) == in) {
                out[n] = f->lines[i];
                if (in && out[n].first < in->first)
                    out[n].first = in->first;
                if (in && out[n].last > in->last)
                    out[n].last = in->last;
                n++;
                break;
            }
    return n;
}

struct candidate {
    const struct tg_cause_frame *frame;
    const struct tg_cause_file *file;
    const struct tg_py_function *function;
    struct tg_cause_lines *lines;
    size_t n_lines;
    int score;
};

static struct candidate candidate_of(const struct tg_cause_frame *frame,
                                     const struct tg_cause_change *change, struct tg_arena *a)
{
    struct candidate c = { .frame = frame, .file = file_of(change, frame->file) };
    if (!c.file)
        return c;
    c.function = function_of(c.file, frame);
    c.lines = TG_NEW_N(a, struct tg_cause_lines, c.file->n_lines + 1);
    if (c.function)
        c.n_lines = lines_in(c.file, c.function, c.lines);
    c.score = c.n_lines ? 3 : 1;
    if (c.score == 1)
        c.n_lines = lines_in(c.file, NULL, c.lines);
    return c;
}

static void use(struct tg_cause *out, const struct candidate *c)
{
    out->function = c->frame;
    out->share = c->frame->share;
    out->score = c->score;
    out->changed = c->lines;
    out->n_changed = c->n_lines;
    out->confidence = c->score == 3                                    ? TG_CAUSE_HIGH
                      : c->score == 2 || (c->score == 1 && c->n_lines) ? TG_CAUSE_MEDIUM
                                                                       : TG_CAUSE_LOW;
}

/* Functions come deepest first, so a later one must be better, not equal. */
static void choose_function(struct tg_cause *out, const struct tg_cause_change *change,
                            struct tg_arena *a)
{
    bool callee_changed = false;
    for (size_t i = 0; i < out->path.n_functions; i++) {
        struct candidate c = candidate_of(&out->path.functions[i], change, a);
        if (c.score == 3 && c.frame->share < TG_CAUSE_ENOUGH) {
            callee_changed = true;
            continue;
        }
        if (c.frame->share < TG_CAUSE_ENOUGH)
            continue;
        if (c.score < 2 && callee_changed)
            c.score = 2;
        if (!out->function || c.score > out->score)
            use(out, &c);
    }
}

static bool names_class(const struct tg_cause_frame *f, tg_sv qualified)
{
    tg_sv rest = qualified, class_name = tg_sv_cut(&rest, '.'), instance = f->text;
    if (f->kind == TG_PATH_ANNOTATION)
        return tg_sv_eq(f->text, qualified) || (rest.n && tg_sv_eq(f->text, rest)) ||
               (!rest.n && tg_sv_has(f->text, qualified) && qualified.n > 3);
    if (f->kind != TG_PATH_MODULE || !rest.n || !tg_sv_starts(instance, class_name))
        return false;
    return instance.n == class_name.n || instance.p[class_name.n] == '_';
}

/* Without stacks: a changed function whose class or name is that of a module or an annotation. */
static void choose_by_name(struct tg_cause *out, const struct tg_cause_change *change,
                           struct tg_arena *a)
{
    for (size_t i = out->path.n; i-- > 0 && !out->function;) {
        const struct tg_cause_frame *f = &out->path.frames[i];
        for (size_t k = 0; k < change->n_files && !out->function; k++)
            for (size_t j = 0; j < change->files[k].n_functions && !out->function; j++) {
                const struct tg_cause_file *file = &change->files[k];
                const struct tg_py_function *fn = &file->functions[j];
                struct candidate c = { .file = file, .function = fn, .score = 3 };
                struct tg_cause_frame *frame;
                if (f->share < TG_CAUSE_ENOUGH || !names_class(f, fn->qualified))
                    continue;
                c.lines = TG_NEW_N(a, struct tg_cause_lines, file->n_lines + 1);
                c.n_lines = lines_in(file, fn, c.lines);
                if (!c.n_lines)
                    continue;
                frame = TG_NEW(a, struct tg_cause_frame);
                *frame = (struct tg_cause_frame){ TG_PATH_FUNCTION, fn->qualified, file->path,
                                                  fn->def, f->share };
                c.frame = frame;
                use(out, &c);
                out->confidence = TG_CAUSE_MEDIUM;
            }
    }
}

void tg_cause_choose(struct tg_cause *out, const struct tg_cause_path *path,
                     const struct tg_cause_change *change, struct tg_arena *a)
{
    *out = (struct tg_cause){ .path = *path, .module = TG_SV("") };
    choose_function(out, change, a);
    if (!out->function && !path->n_functions)
        choose_by_name(out, change, a);
    for (size_t i = 0; i < path->n; i++)
        if (path->frames[i].kind == TG_PATH_MODULE)
            out->module = path->frames[i].text;
    if (!out->function)
        out->share = path->share;
}
