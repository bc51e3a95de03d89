/* `tracegate merge`: the union of summaries, the same bytes in any order and grouping. */
#include <stddef.h>
#include <stdlib.h>

#include "cmd/gate/inputs.h"
#include "cmd/gate/reading.h"
#include "core/base/file.h"

struct merge_opts {
    const char *output;
};
static const struct tg_opt merge_options[] = {
    { "o", TG_OPT_STR, offsetof(struct merge_opts, output), "FILE",
      "where the union goes; - (the default) is standard output" },
    { 0 },
};

struct reading {
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct tg_summary *one; /* per file */
};

static bool read_one(void *arg, size_t i, struct tg_err *err)
{
    const struct reading *r = arg;
    const struct tg_input_item *item = &r->inputs->v[i];
    struct tg_summarize_opts so = { .rank = -1 };
    struct tg_buf bytes = { 0 };
    struct tg_source *s = tg_inputs_open(item, r->repo, NULL, &bytes, err);
    tg_sv head;
    bool ok = s && tg_source_peek(s, &head, err);
    if (ok && !tg_summary_looks_like(head)) {
        ok = tg_err_set(err, TG_ERR_SUMMARY, TG_AT_FILE(item->label), "this is not a summary");
        (void)tg_err_hint(err, "Make one of a trace with tracegate summarize.");
    }
    ok = ok && tg_summary_add(&r->one[i], s, &so, NULL, err);
    tg_source_close(s);
    tg_buf_release(&bytes);
    return ok;
}

static bool read_all(struct tg_summary *all, const struct tg_input_list *inputs,
                     struct tg_repo *repo, struct tg_err *err)
{
    struct reading r = { inputs, repo, tg_xrealloc(NULL, inputs->n + 1, sizeof *r.one) };
    bool ok;
    for (size_t i = 0; i < inputs->n; i++)
        tg_summary_init(&r.one[i]);
    ok = tg_reading_each(inputs->n, read_one, &r, NULL, err);
    for (size_t i = 0; i < inputs->n; i++) {
        ok = ok && tg_summary_merge(all, &r.one[i], err);
        tg_summary_release(&r.one[i]);
    }
    free(r.one);
    return ok;
}

static bool merge(const struct merge_opts *o, const struct tg_strs *args, struct tg_arena *a,
                  struct tg_err *err)
{
    struct tg_input_list inputs = { 0 };
    struct tg_repo repo = { 0 };
    struct tg_summary all;
    struct tg_outputs files = { 0 };
    struct tg_buf out = { 0 };
    size_t handle;
    bool ok = tg_outputs_open(&files, o->output ? o->output : "-", &handle, err);
    tg_summary_init(&all);
    for (size_t i = 0; ok && i < args->n; i++)
        ok = tg_inputs_add(&inputs, args->v[i], NULL, &repo, a, err);
    ok = ok && read_all(&all, &inputs, &repo, err);
    ok = ok && tg_summary_write(&all, NULL, &out, err) &&
         tg_outputs_put(&files, handle, tg_buf_sv(&out), err) && tg_outputs_commit(&files, err);
    tg_outputs_release(&files);
    tg_buf_release(&out);
    tg_summary_release(&all);
    tg_repo_release(&repo);
    return ok;
}

static int merge_run(const void *opts, const struct tg_strs *args, const struct tg_io *io,
                     struct tg_err *err)
{
    struct tg_arena *a;
    bool ok;
    (void)io;
    if (args->n == 0) {
        tg_err_set(err, TG_ERR_USAGE, TG_NOWHERE, "merge needs summaries");
        (void)tg_err_hint(err, "For example: tracegate merge rank*.tgs -o all.tgs.");
        return 2;
    }
    a = tg_arena_new();
    ok = merge(opts, args, a, err);
    tg_arena_free(a);
    return ok ? 0 : tg_err_exit_code(err->kind);
}

const struct tg_cmd tg_cmd_merge = {
    .name = "merge",
    .summary = "the union of summaries",
    .synopsis = "SUMMARY... [-o FILE]",
    .about = "Joins the summaries of ranks, hosts and runs. The same run and rank twice with equal "
             "content counts once; with different content it is an error. The order of the "
             "arguments changes no byte.",
    .options = merge_options,
    .opts_size = sizeof(struct merge_opts),
    .run = merge_run,
};
