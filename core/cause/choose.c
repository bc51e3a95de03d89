#include "core/cause/choose.h"

#include <math.h>
#include <string.h>

#include "core/base/file.h"

const char *tg_cause_confidence_name(enum tg_cause_confidence c)
{
    static const char *const names[] = { "low", "medium", "high" };
    return names[c];
}

static const char *const dependencies[] = { ".lock",           "-lock.json",       "pyproject.toml",
                                            "setup.py",        "setup.cfg",        "Pipfile",
                                            "environment.yml", "environment.yaml", NULL };
static const char *const build[] = {
    ".c",     ".cc",  ".cpp", ".cu",    ".cuh",           ".h",       ".hpp",       ".hip",
    ".rs",    ".pyx", ".so",  ".cmake", "CMakeLists.txt", "Makefile", "Dockerfile", "Containerfile",
    ".bazel", NULL
};
static const char *const config[] = { ".yml", ".yaml", ".toml", ".ini", ".cfg", ".json", NULL };
static const char *const data[] = { ".csv", ".parquet",     ".npy",   ".npz", ".pt",
                                    ".bin", ".safetensors", ".jsonl", ".tsv", ".txt",
                                    ".pth", ".h5",          ".arrow", ".pkl", NULL };
/* The first that has an ending of the name counts. */
static const char *const *const others[TG_CAUSE_OTHERS] = {
    [TG_CAUSE_DEPENDENCIES] = dependencies,
    [TG_CAUSE_BUILD] = build,
    [TG_CAUSE_CONFIG] = config,
    [TG_CAUSE_DATA] = data,
};

enum tg_cause_other tg_cause_other_of(tg_sv path)
{
    tg_sv name = tg_file_name(path);
    if (tg_sv_starts(name, TG_SV("requirements")) && tg_sv_ends(name, TG_SV(".txt")))
        return TG_CAUSE_DEPENDENCIES;
    for (enum tg_cause_other i = 0; i < TG_CAUSE_OTHERS; i++)
        for (const char *const *end = others[i]; *end; end++)
            if (tg_sv_ends(name, tg_sv_of(*end)))
                return i;
    return TG_CAUSE_OTHERS;
}

static const struct tg_cause_file *file_of(const struct tg_cause_change *c, tg_sv path)
{
    for (size_t i = 0; i < c->n_files; i++)
        if (tg_sv_eq(c->files[i].path, path))
            return &c->files[i];
    return NULL;
}

/* The changed lines whose innermost function this is (NULL: those outside every function). */
static size_t lines_in(const struct tg_cause_file *f, const struct tg_py_function *in,
                       struct tg_cause_lines *out)
{
    size_t n = 0;
    for (size_t i = 0; i < f->n_lines; i++)
        for (uint32_t line = f->lines[i].first; line <= f->lines[i].last; line++)
            if (tg_py_function_at(f->functions, f->n_functions, line) == in &&
                !(in && in->doc && in->doc <= line && line <= in->doc_last)) {
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
    struct tg_cause_lines *lines;
    size_t n_lines;
    enum tg_cause_link link;
    tg_sv changed_in, changed_file;
};

/* How closely a link ties, where links that tie equally are told apart by depth alone; and how sure
 * it is. */
static const struct {
    int rank;
    enum tg_cause_confidence confidence;
} links[] = {
    [TG_CAUSE_LINK_NONE] = { 0, TG_CAUSE_LOW },
    [TG_CAUSE_LINK_FILE] = { 1, TG_CAUSE_LOW },
    [TG_CAUSE_LINK_OUTSIDE] = { 1, TG_CAUSE_MEDIUM },
    [TG_CAUSE_LINK_SETUP_FILE] = { 1, TG_CAUSE_MEDIUM },
    [TG_CAUSE_LINK_CALLEE] = { 2, TG_CAUSE_MEDIUM },
    [TG_CAUSE_LINK_FEEDS] = { 2, TG_CAUSE_MEDIUM },
    [TG_CAUSE_LINK_SETUP] = { 3, TG_CAUSE_MEDIUM },
    [TG_CAUSE_LINK_SELF] = { 3, TG_CAUSE_HIGH },
};

bool tg_cause_blames(const struct tg_cause *c)
{
    return c->n_changed && links[c->link].rank >= 2;
}

static tg_sv class_of(tg_sv qualified)
{
    const char *dot = memrchr(qualified.p, '.', qualified.n);
    return dot ? (tg_sv){ qualified.p, (size_t)(dot - qualified.p) } : TG_SV("");
}

/* A changed function that only prepares: a constructor, most often. */
static bool find_setup(struct candidate *c, const struct tg_cause_file *f,
                       const struct tg_cause_change *change, bool of_class)
{
    tg_sv own = class_of(c->frame->text);
    for (size_t i = 0; i < f->n_functions; i++) {
        const struct tg_py_function *fn = &f->functions[i];
        uint32_t line;
        if (of_class && (!own.n || !tg_sv_eq(class_of(fn->qualified), own)))
            continue;
        c->n_lines = lines_in(f, fn, c->lines);
        if (!c->n_lines || !change->paths ||
            tg_paths_ran(change->paths, f->path, fn->qualified, &line))
            continue;
        c->changed_in = fn->qualified;
        return true;
    }
    return false;
}

static struct candidate candidate_of(const struct tg_cause_frame *frame,
                                     const struct tg_cause_change *change, struct tg_arena *a)
{
    const struct tg_cause_file *file = file_of(change, frame->file);
    const struct tg_py_function *function = NULL;
    struct candidate c = { .frame = frame, .changed_in = TG_SV(""), .changed_file = TG_SV("") };
    if (!file)
        return c;
    c.lines = TG_NEW_N(a, struct tg_cause_lines, file->n_lines + 1);
    for (size_t i = 0; !function && i < file->n_functions; i++)
        if (tg_sv_eq(file->functions[i].qualified, frame->text))
            function = &file->functions[i];
    if (function && (c.n_lines = lines_in(file, function, c.lines)) != 0)
        c.link = TG_CAUSE_LINK_SELF;
    else if (find_setup(&c, file, change, true))
        c.link = TG_CAUSE_LINK_SETUP;
    else if (find_setup(&c, file, change, false))
        c.link = TG_CAUSE_LINK_SETUP_FILE;
    else if ((c.n_lines = lines_in(file, NULL, c.lines)) != 0)
        c.link = TG_CAUSE_LINK_OUTSIDE;
    else
        c.link = file->n_lines ? TG_CAUSE_LINK_FILE : TG_CAUSE_LINK_NONE;
    return c;
}

static void use(struct tg_cause *out, const struct candidate *c, bool carried)
{
    out->function = c->frame;
    out->share = c->frame->share;
    out->link = c->link;
    out->changed = c->lines;
    out->n_changed = c->n_lines;
    out->changed_in = c->changed_in;
    out->changed_file = c->changed_file;
    out->confidence = links[c->link].confidence;
    if (carried && out->confidence == TG_CAUSE_HIGH)
        out->confidence = TG_CAUSE_MEDIUM;
}

/* A changed function that may hold none of the difference; no lines: it was not changed. */
static struct candidate candidate_in(const struct tg_cause_file *file,
                                     const struct tg_py_function *fn, enum tg_cause_link link,
                                     struct tg_arena *a)
{
    struct candidate c = { .lines = TG_NEW_N(a, struct tg_cause_lines, file->n_lines + 1),
                           .link = link,
                           .changed_in = TG_SV(""),
                           .changed_file = TG_SV("") };
    c.n_lines = lines_in(file, fn, c.lines);
    return c;
}

static void use_function(struct tg_cause *out, struct candidate *c, tg_sv path, tg_sv name,
                         uint32_t line, double share, struct tg_arena *a)
{
    struct tg_cause_frame *frame = TG_NEW(a, struct tg_cause_frame);
    *frame = (struct tg_cause_frame){ TG_PATH_FUNCTION, name, path, line, share, { 0, 0 } };
    c->frame = frame;
    use(out, c, false);
}

/* A changed function that holds too little to be named, and that this one was seen to call. Asked
 * of the deepest function that holds enough: those around it call everything. */
static void find_callee(struct candidate *c, const struct tg_cause *out,
                        const struct tg_cause_change *change, struct tg_arena *a)
{
    for (size_t i = 0; change->paths && i < out->path.n_functions; i++) {
        const struct tg_cause_frame *f = &out->path.functions[i];
        if (f->share >= TG_CAUSE_ENOUGH ||
            !tg_paths_calls(change->paths, c->frame->file, c->frame->text, f->file, f->text))
            continue;
        struct candidate callee = candidate_of(f, change, a);
        if (callee.link != TG_CAUSE_LINK_SELF)
            continue;
        c->link = TG_CAUSE_LINK_CALLEE;
        c->changed_in = f->text;
        c->changed_file = tg_sv_eq(f->file, c->frame->file) ? TG_SV("") : f->file;
        c->lines = callee.lines;
        c->n_lines = callee.n_lines;
        return;
    }
}

/* Backward work that came to an unchanged forward operator: a tensor that reaches it asks for a
 * gradient now. The changed function that shares the innermost frame with it made that tensor. */
static void choose_feeder(struct tg_cause *out, const struct tg_cause_change *change,
                          struct tg_arena *a)
{
    const struct tg_cause_frame *holder = out->function;
    uint32_t deepest = 0;
    if (!holder || links[out->link].rank > 1 || !out->path.backward || !out->path.is_new ||
        !change->paths)
        return;
    for (size_t k = 0; k < change->n_files; k++)
        for (size_t j = 0; j < change->files[k].n_functions; j++) {
            const struct tg_cause_file *file = &change->files[k];
            const struct tg_py_function *fn = &file->functions[j];
            struct candidate c = candidate_in(file, fn, TG_CAUSE_LINK_FEEDS, a);
            uint32_t line, depth;
            if (!c.n_lines || !tg_paths_ran(change->paths, file->path, fn->qualified, &line))
                continue;
            depth =
                tg_paths_meet(change->paths, holder->file, holder->text, file->path, fn->qualified);
            if (depth <= deepest)
                continue;
            deepest = depth;
            use_function(out, &c, file->path, fn->qualified, line ? line : fn->def, holder->share,
                         a);
            out->holder = holder->text;
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

/* Without stacks: the first changed function whose class or name is that of a module or an
 * annotation, the innermost first. */
static void choose_by_name(struct tg_cause *out, const struct tg_cause_change *change,
                           struct tg_arena *a)
{
    for (size_t i = out->path.n; i-- > 0;) {
        const struct tg_cause_frame *f = &out->path.frames[i];
        for (size_t k = 0; f->share >= TG_CAUSE_ENOUGH && k < change->n_files; k++)
            for (size_t j = 0; j < change->files[k].n_functions; j++) {
                const struct tg_py_function *fn = &change->files[k].functions[j];
                if (!names_class(f, fn->qualified))
                    continue;
                struct candidate c = candidate_in(&change->files[k], fn, TG_CAUSE_LINK_SELF, a);
                if (!c.n_lines)
                    continue;
                use_function(out, &c, change->files[k].path, fn->qualified, fn->def, f->share, a);
                out->confidence = TG_CAUSE_MEDIUM;
                return;
            }
    }
}

static bool is_changed(const struct tg_cause *c, uint32_t line)
{
    for (size_t i = 0; i < c->n_changed; i++)
        if (line >= c->changed[i].first && line <= c->changed[i].last)
            return true;
    return false;
}

/* Does a line call by its name what is on the path: "x.item()" aten::item? */
static bool calls_op_of(const struct tg_cause_path *path, tg_sv code)
{
    for (size_t i = 0; i < path->n; i++) {
        tg_sv name = path->frames[i].text, rest = code;
        if (path->frames[i].kind != TG_PATH_OP || !tg_sv_skip(&name, TG_SV("aten::")) || !name.n)
            continue;
        for (const char *at; (at = memmem(rest.p, rest.n, name.p, name.n)) != NULL;) {
            const char *end = at + name.n;
            rest = (tg_sv){ end, (size_t)(code.p + code.n - end) };
            if ((at == code.p || !tg_is_word(at[-1])) && (!rest.n || !tg_is_word(*end)))
                return true;
        }
    }
    return false;
}

void tg_cause_choose(struct tg_cause *out, const struct tg_cause_path *path,
                     const struct tg_cause_change *change, struct tg_arena *a)
{
    *out = (struct tg_cause){ .path = *path,
                              .module = TG_SV(""),
                              .changed_in = TG_SV(""),
                              .changed_file = TG_SV(""),
                              .quoted = TG_SV(""),
                              .holder = TG_SV("") };
    /* Functions come deepest first, so a later one must be better, not equal. */
    unsigned carriers = 0;
    for (size_t i = 0; i < out->path.n_functions; i++) {
        if (out->path.functions[i].share < TG_CAUSE_ENOUGH)
            continue;
        struct candidate c = candidate_of(&out->path.functions[i], change, a);
        /*
         * The outer functions of a program hold every difference. One that was edited is not told
         * for what two or more unchanged functions below it hold, called as often as before, if
         * dependencies or compiled files were changed as well: these explain it better.
         */
        if (c.link == TG_CAUSE_LINK_SELF && carriers >= 2 &&
            (change->other[TG_CAUSE_DEPENDENCIES].n || change->other[TG_CAUSE_BUILD].n))
            c.link = TG_CAUSE_LINK_NONE;
        if (links[c.link].rank < 2 && !out->function)
            find_callee(&c, out, change, a);
        if (!out->function || links[c.link].rank > links[out->link].rank)
            use(out, &c, carriers > 0);
        double was = c.frame->calls[TG_PATHS_BASE], is = c.frame->calls[TG_PATHS_TEST];
        bool as_often = was > 0 && fabs(was - is) <= 0.01 * was;
        carriers += c.frame->share >= TG_CAUSE_CHILD && c.link != TG_CAUSE_LINK_SELF && as_often;
    }
    choose_feeder(out, change, a);
    if (!out->function && !path->n_functions)
        choose_by_name(out, change, a);
    for (size_t i = 0; i < path->n; i++)
        if (path->frames[i].kind == TG_PATH_MODULE)
            out->module = path->frames[i].text;
    if (!out->function)
        out->share = path->share;
    /* A changed line that calls what is on the path; else the first that does something; else
     * what opens a block. Neither blank lines nor comments. O(bytes of the file). */
    tg_sv quote_path =
        out->changed_file.n || !out->function ? out->changed_file : out->function->file;
    const struct tg_cause_file *file = tg_cause_blames(out) ? file_of(change, quote_path) : NULL;
    tg_sv rest = file ? file->text : TG_SV("");
    int best = 0;
    for (uint32_t n = 1; rest.n && best < 3; n++) {
        tg_sv line = tg_sv_cut(&rest, '\n');
        tg_sv code = is_changed(out, n) ? tg_sv_trim(line) : TG_SV("");
        int tells = !code.n || *code.p == '#'       ? 0
                    : calls_op_of(&out->path, code) ? 3
                    : code.p[code.n - 1] != ':'     ? 2
                                                    : 1;
        if (tells <= best)
            continue;
        best = tells;
        out->quoted = code;
        out->quoted_line = n;
    }
}
