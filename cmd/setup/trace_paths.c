#include "cmd/setup/trace_paths.h"

#include "core/base/buf.h"
#include "core/base/file.h"

#define MAX_NUMBERS 16 /* numbers in one path; what comes later is as it is in the first path */

static const char *const output_names[] = { "out",      "output",  "outputs", "trace",   "traces",
                                            "log",      "logs",    "prof",    "profile", "profiles",
                                            "profiler", "results", "build",   "tb_logs", "runs",
                                            "run*",     "rank*",   "worker*", "*",       NULL };
static const char *const baseline_names[] = { "perf", "baseline", "baselines", "base", NULL };

/* Numbers as '*'. */
static tg_sv starred(tg_sv s, struct tg_arena *a)
{
    char *out = TG_NEW_N(a, char, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++)
        if (!tg_is_digit(s.p[i]))
            out[n++] = s.p[i];
        else if (n == 0 || out[n - 1] != '*')
            out[n++] = '*';
    return (tg_sv){ out, n };
}

static tg_sv folder_of(tg_sv path)
{
    while (path.n && path.p[path.n - 1] != '/')
        path.n--;
    return path.n ? (tg_sv){ path.p, path.n - 1 } : path;
}

static tg_sv last_of(tg_sv path)
{
    tg_sv folder = folder_of(path);
    size_t skip = folder.n ? folder.n + 1 : 0;
    return tg_sv_from(path, skip);
}

tg_sv tg_path_group(tg_sv path, struct tg_arena *a)
{
    return starred(folder_of(path), a);
}

bool tg_path_is_output(tg_sv folder)
{
    return tg_sv_index(output_names, last_of(folder)) >= 0;
}

bool tg_path_is_baseline(tg_sv group)
{
    return tg_sv_index(baseline_names, last_of(group)) >= 0;
}

tg_sv tg_path_program(tg_sv group, struct tg_arena *a)
{
    tg_sv rest = group, before = { "", 0 };
    while (rest.n) {
        tg_sv part = tg_sv_cut(&rest, '/');
        if (tg_sv_index(output_names, part) >= 0 || tg_sv_index(baseline_names, part) >= 0)
            break;
        before = (tg_sv){ group.p, (size_t)(part.p + part.n - group.p) };
    }
    return tg_arena_sv(a, before);
}

tg_sv tg_path_suite(tg_sv group, struct tg_arena *a)
{
    tg_sv best = TG_SV("main");
    TG_BUF name = { 0 };
    while (group.n) {
        tg_sv part = tg_sv_cut(&group, '/');
        if (part.n && tg_sv_index(output_names, part) < 0 &&
            tg_sv_index(baseline_names, part) < 0 && !tg_sv_eq(part, TG_SV(".")) &&
            !tg_sv_eq(part, TG_SV("..")))
            best = part;
    }
    for (size_t i = 0; i < best.n; i++)
        tg_buf_putc(&name, tg_is_word(best.p[i]) || best.p[i] == '-' ? best.p[i] : '-');
    return tg_arena_sv(a, tg_buf_sv(&name));
}

/* ---- the form ---- */

struct number {
    tg_sv before; /* letters before it, with '-' and '_' */
    bool varies, is_rank;
};

/* The k-th number of a path; n 0: it has fewer. */
static tg_sv number_at(tg_sv path, size_t k)
{
    for (size_t i = 0; i < path.n; i++) {
        size_t from = i;
        i = tg_sv_digits(path, i);
        if (i > from && k-- == 0)
            return (tg_sv){ path.p + from, i - from };
    }
    return (tg_sv){ "", 0 };
}

/* What varies; a single path says it by its words alone: run0.json.gz. */
static size_t find_numbers(struct number *out, const tg_sv *paths, size_t n)
{
    size_t k = 0;
    for (; k < MAX_NUMBERS; k++) {
        tg_sv first = number_at(paths[0], k);
        if (!first.n)
            break;
        size_t end = (size_t)(first.p - paths[0].p), from = end;
        while (from &&
               (tg_is_letter(paths[0].p[from - 1]) || memchr("_-", paths[0].p[from - 1], 2)))
            from--;
        while (from < end && paths[0].p[from] == '-')
            from++;
        out[k] = (struct number){ .before = { paths[0].p + from, end - from } };
        tg_sv word = out[k].before;
        out[k].is_rank = tg_sv_glob_any_case(TG_SV("*rank*"), word) ||
                         tg_sv_glob_any_case(TG_SV("*worker*"), word);
        out[k].varies = n == 1 && (out[k].is_rank || tg_sv_glob_any_case(TG_SV("*run*"), word));
        for (size_t i = 1; i < n; i++)
            out[k].varies |= !tg_sv_eq(first, number_at(paths[i], k));
    }
    return k;
}

struct tg_path_form tg_path_form(const tg_sv *paths, size_t n, struct tg_arena *a)
{
    struct tg_path_form out = { .run = TG_SV(""), .rank = TG_SV("") };
    struct number numbers[MAX_NUMBERS];
    const struct number *run = NULL;
    size_t n_numbers, runs = 0;
    bool one_form = true;
    for (size_t i = 1; i < n && one_form; i++)
        one_form = tg_sv_eq(starred(paths[0], a), starred(paths[i], a));
    if (!one_form) {
        tg_sv folder = folder_of(paths[0]), suffix = tg_file_suffix(paths[0]);
        tg_sv stem = { paths[0].p, paths[0].n - suffix.n };
        /* PyTorch's own files are called NAME.pt.trace.json. */
        bool torch = suffix.n && tg_sv_ends(stem, TG_SV(".pt.trace"));
        out.files = TG_SV_PRINTF(a, "%.*s%s*%s%.*s", TG_SV_ARG(folder), folder.n ? "/" : "",
                                 torch ? ".pt.trace" : "", TG_SV_ARG(suffix));
        out.run = TG_SV("([^/]+)$");
        return out;
    }
    n_numbers = find_numbers(numbers, paths, n);
    /* The first path with '*' for each number that varies. */
    TG_BUF glob = { 0 };
    size_t at = 0;
    for (size_t k = 0; k < n_numbers; k++) {
        tg_sv number = number_at(paths[0], k);
        size_t from = (size_t)(number.p - paths[0].p);
        tg_buf_add(&glob, (tg_sv){ paths[0].p + at, from - at });
        tg_buf_add(&glob, numbers[k].varies ? TG_SV("*") : number);
        at = from + number.n;
    }
    tg_buf_add(&glob, tg_sv_from(paths[0], at));
    out.files = tg_arena_sv(a, tg_buf_sv(&glob));
    for (size_t k = 0; k < n_numbers; k++) {
        if (!numbers[k].varies)
            continue;
        if (numbers[k].is_rank)
            out.rank = TG_SV_PRINTF(a, "%.*s(\\d+)", TG_SV_ARG(numbers[k].before));
        else if (runs++ == 0)
            run = &numbers[k];
    }
    if (runs == 1 && run->before.n)
        out.run = TG_SV_PRINTF(a, "%.*s(\\d+)", TG_SV_ARG(run->before));
    else if (runs && !out.rank.n)
        out.run = TG_SV("([^/]+)$"); /* host_4711.1699999.pt.trace.json: the whole name */
    return out;
}
