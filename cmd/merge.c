/* `tracegate merge`: the union of summaries, the same bytes in any order and grouping. */
#include "cmd/gate/inputs.h"
#include "core/base/file.h"
#include "core/summary/unite.h"

struct merge_opts {
    const char *output;
    bool keep_going;
};
static const struct tg_opt merge_options[] = {
    { "out", TG_OPT_STR, offsetof(struct merge_opts, output), "FILE",
      "the file of the joined summary; - (the default) is standard output" },
    { "keep-going", TG_OPT_FLAG, offsetof(struct merge_opts, keep_going), NULL,
      "omit damaged parts, name them, and end with exit code 4" },
    { 0 },
};

/* What cannot be opened twice is kept in memory. */
struct buffered {
    struct tg_buf bytes;
    bool buffered;
};

struct merging {
    const struct tg_input_list *inputs;
    struct tg_repo *repo;
    struct buffered *buffered; /* per input */
    struct tg_outputs *files;
    size_t handle;
};

static bool hold_all(struct buffered *h, const char *path, struct tg_err *err)
{
    int64_t got = 1;
    struct tg_source *s = tg_source_open(path, NULL, err);
    while (s && got > 0) {
        got = tg_source_fill(s, tg_buf_room(&h->bytes, 65536), 65536, err);
        h->bytes.n += got > 0 ? (size_t)got : 0;
    }
    tg_source_close(s);
    h->buffered = s && got == 0;
    return h->buffered;
}

static struct tg_source *open_input(void *arg, size_t i, struct tg_err *err)
{
    const struct merging *g = arg;
    const struct tg_input_item *item = &g->inputs->v[i];
    struct buffered *h = &g->buffered[i];
    tg_sv head;
    if (!item->from_git && !h->buffered && !tg_file_is_regular(item->label) &&
        !hold_all(h, item->label, err))
        return NULL;
    struct tg_source *s = h->buffered
                              ? tg_source_memory(tg_buf_sv(&h->bytes), item->label, NULL, err)
                              : tg_inputs_open(item, g->repo, NULL, &h->bytes, err);
    if (!s || (tg_source_peek(s, &head, err) && tg_summary_looks_like(head)))
        return s;
    if (err->kind == TG_ERR_NONE)
        (void)tg_err_say(err, TG_ERR_SUMMARY, TG_AT_FILE(item->label), "this is not a summary",
                         "Make one of a trace with tracegate summarize.");
    tg_source_close(s);
    return NULL;
}

static bool put(void *arg, tg_sv bytes, struct tg_err *err)
{
    const struct merging *g = arg;
    return tg_outputs_put(g->files, g->handle, bytes, err);
}

static int merge_run(const struct tg_cmd_call *c, struct tg_err *err)
{
    const struct merge_opts *o = c->opts;
    struct tg_damage damage = { 0 };
    struct tg_input_list inputs = { 0 };
    struct tg_outputs files = { .standard = c->io->out };
    struct merging g = { &inputs, c->repo, NULL, &files, 0 };
    struct tg_unite m = {
        .open = open_input, .put = put, .arg = &g, .damage = o->keep_going ? &damage : NULL
    };
    if (c->args->n == 0) {
        (void)tg_err_usage(err, "merge needs summaries",
                           "For example: tracegate merge rank*.tgs -o all.tgs.");
        return 2;
    }
    bool ok = tg_outputs_open(&files, o->output ? o->output : "-", &g.handle, err) &&
              tg_inputs_add_all(&inputs, c->args, c->repo, c->arena, err);
    g.buffered = TG_NEW_N(c->arena, struct buffered, inputs.n + 1);
    m.n = inputs.n;
    ok = ok && tg_inputs_spare(&inputs, &files, err) && tg_unite_run(&m, err) &&
         tg_outputs_commit(&files, err);
    tg_outputs_release(&files);
    for (size_t i = 0; i < inputs.n; i++)
        tg_buf_release(&g.buffered[i].bytes);
    if (ok && damage.n)
        tg_io_note(c->io, "INCONCLUSIVE: damaged and omitted:\n%s", damage.text.p);
    int code = !ok ? tg_err_exit_code(err->kind) : damage.n ? 4 : 0;
    tg_damage_release(&damage);
    return code;
}

const struct tg_cmd tg_cmd_merge = {
    .name = "merge",
    .summary = "join summaries",
    .synopsis = "SUMMARY... [-o FILE]",
    .about = "Joins the summaries of ranks, hosts and runs. The same run and rank twice counts "
             "once if the content is equal, and is an error if it differs. The order of the "
             "arguments does not change the result.",
    .options = merge_options,
    .opts_size = sizeof(struct merge_opts),
    .run = merge_run,
};
