#include <inttypes.h>
#include <stdlib.h>

#include "core/base/sort.h"
#include "core/summary/internal.h"

struct env {
    struct tg_arena *a;
    struct tg_kv *v;
    size_t n, cap;
};

/* Later values of a key win: --meta comes last. */
static void set(struct env *e, tg_sv key, tg_sv value)
{
    key = tg_clean_text(e->a, key);
    value = tg_clean_text(e->a, value);
    for (size_t i = 0; i < e->n; i++)
        if (tg_sv_eq(e->v[i].key, key)) {
            e->v[i].value = value;
            return;
        }
    *TG_PUSH(e->v, e->n, e->cap) = (struct tg_kv){ key, value };
}

static void set_text(struct env *e, const char *key, tg_sv value)
{
    if (value.n)
        set(e, tg_sv_of(key), value);
}

static void set_number(struct env *e, const char *key, int64_t value)
{
    set(e, tg_sv_of(key), TG_SV_PRINTF(e->a, "%" PRId64, value));
}

static tg_sv meta_of(const struct tg_trace *t, const char *key)
{
    for (size_t i = 0; i < t->info->n_meta; i++)
        if (tg_sv_eq(t->info->meta[i].key, tg_sv_of(key)))
            return t->info->meta[i].value;
    return TG_SV("");
}

/* The next value of `key` in raw JSON, from *at on: the text between quotes (escapes as they are),
 * or a bare number. A plain scan, so that a truncated value still gives what it has. */
static bool next_value(tg_sv json, size_t *at, const char *key, tg_sv *out)
{
    size_t n = strlen(key);
    for (size_t i = *at; i + n + 3 < json.n; i++) {
        size_t k = i + n + 2, end;
        if (json.p[i] != '"' || memcmp(json.p + i + 1, key, n) != 0 || json.p[i + n + 1] != '"')
            continue;
        while (k < json.n && tg_is_blank(json.p[k]))
            k++;
        if (k == json.n || json.p[k++] != ':')
            continue;
        while (k < json.n && tg_is_blank(json.p[k]))
            k++;
        bool quoted = k < json.n && json.p[k] == '"';
        k += quoted;
        for (end = k; end < json.n; end++) {
            char c = json.p[end];
            if (quoted ? c == '"' : c == ',' || c == '}' || c == ']' || tg_is_blank(c))
                break;
            if (quoted && c == '\\')
                end++;
        }
        if (end >= json.n)
            return false;
        *at = end;
        *out = (tg_sv){ json.p + k, end - k };
        return true;
    }
    return false;
}

static tg_sv value_in(tg_sv json, const char *key)
{
    tg_sv v;
    size_t at = 0;
    return next_value(json, &at, key, &v) ? v : TG_SV("");
}

/* Distinct names, sorted, joined by ", "; vLLM writes empty names, which are skipped. */
static void add_devices(struct env *e, const struct tg_trace *t)
{
    tg_sv json = meta_of(t, "deviceProperties"), name, *names = NULL;
    TG_BUF text = { 0 };
    size_t n = 0, cap = 0, devices = 0, at = 0;
    while (next_value(json, &at, "name", &name)) {
        devices++;
        if (!name.n)
            continue;
        *TG_PUSH(names, n, cap) = name;
    }
    TG_SORT(names, n, tg_by_sv);
    for (size_t i = 0; i < n; i++) {
        if (i && tg_sv_eq(names[i], names[i - 1]))
            continue;
        tg_buf_puts(&text, text.n ? ", " : "");
        tg_buf_add(&text, names[i]);
    }
    set_text(e, "device", tg_buf_sv(&text));
    if (devices)
        set_number(e, "devices", (int64_t)devices);
    free(names);
}

struct seen {
    bool cuda, hip, mtia, device, python, shapes;
};

static struct seen look(const struct tg_trace *t)
{
    struct seen s = { 0 };
    for (size_t i = 0; i < t->names->n; i++) {
        const struct tg_name *n = &t->names->v[i];
        bool runtime = tg_kind_is_call(n->kind);
        s.device |= tg_kind_is_device(n->kind);
        s.python |= n->kind == TG_KIND_PYTHON;
        s.mtia |= tg_sv_starts(n->cat, TG_SV("mtia_"));
        s.hip |= runtime && tg_sv_starts(n->name, TG_SV("hip"));
        s.cuda |= runtime && tg_sv_starts(n->name, TG_SV("cu"));
    }
    for (size_t i = 0; i < t->attrs.n && !s.shapes; i++)
        s.shapes = tg_sv_starts(t->attrs.text[i], TG_SV("shapes="));
    return s;
}

/* Kineto writes a flag only if it is on; what the flag records is evidence as well. */
static void add_flag(struct env *e, const struct tg_trace *t, const char *flag, bool shown)
{
    int64_t v;
    bool on = shown || (tg_sv_i64(meta_of(t, flag), &v) && v) ||
              tg_sv_eq(meta_of(t, flag), TG_SV("true"));
    set_number(e, flag, on);
}

static int by_key(const void *a, const void *b)
{
    const struct tg_kv *x = a, *y = b;
    return tg_sv_cmp(x->key, y->key);
}

void tg_env_build(struct tg_shard *out, const struct tg_trace *t, const struct tg_summarize_opts *o,
                  struct tg_arena *a)
{
    struct env e = { .a = a };
    struct seen s = look(t);
    tg_sv dist = meta_of(t, "distributedInfo");
    add_devices(&e, t);
    /* hip first: the category of HIP calls is cuda_runtime too. */
    const char *type = NULL;
    if (s.mtia)
        type = "mtia";
    else if (s.hip || meta_of(t, "roctracer_version").n || meta_of(t, "hip_runtime_version").n)
        type = "rocm";
    else if (s.cuda || meta_of(t, "cupti_version").n || meta_of(t, "cuda_runtime_version").n)
        type = "cuda";
    else if (!s.device)
        type = "cpu";
    if (type)
        set_text(&e, "device_type", tg_sv_of(type));
    /* 12040 -> 12.4 (CUDA); 60443483 -> 6.4.43483 (HIP). */
    int64_t v;
    if (tg_sv_i64(meta_of(t, "cuda_runtime_version"), &v) && v > 0)
        set_text(&e, "cuda", TG_SV_PRINTF(e.a, "%" PRId64 ".%" PRId64, v / 1000, v % 1000 / 10));
    if (tg_sv_i64(meta_of(t, "cuda_driver_version"), &v) && v > 0)
        set_text(&e, "cuda_driver",
                 TG_SV_PRINTF(e.a, "%" PRId64 ".%" PRId64, v / 1000, v % 1000 / 10));
    if (tg_sv_i64(meta_of(t, "hip_runtime_version"), &v) && v > 0)
        set_text(&e, "rocm",
                 TG_SV_PRINTF(e.a, "%" PRId64 ".%" PRId64 ".%" PRId64, v / 10000000,
                              v / 100000 % 100, v % 100000));
    set_text(&e, "torch", meta_of(t, "torch_version"));
    set_text(&e, "torch", meta_of(t, "pytorch_version"));
    /*
     * PyTorch does not write the processor; a program can (profiler.add_metadata("cpu", ...)).
     * Otherwise a trace from the time since this machine was started is taken for one of its own.
     */
    tg_ns at = 0; /* of the first event that was kept, since 1970; older traces count from there */
    if (t->n_spans)
        at = tg_ns_add(tg_sv_i64(meta_of(t, "baseTimeNanoseconds"), &v) ? v : 0,
                       tg_span_at(t, 0)->start);
    if (o->host.cpu.n && o->host.booted && at >= o->host.booted && at <= o->host.now)
        set_text(&e, "cpu", o->host.cpu);
    set_text(&e, "cpu", meta_of(t, "cpu"));
    if (t->info->world_size >= 0)
        set_number(&e, "world_size", t->info->world_size);
    set_text(&e, "backend", value_in(dist, "backend"));
    set_text(&e, "nccl", value_in(dist, "nccl_version"));
    add_flag(&e, t, "with_stack", s.python);
    add_flag(&e, t, "record_shapes", s.shapes);
    add_flag(&e, t, "profile_memory", t->n_memory > 0);
    if (meta_of(t, "with_flops").n)
        add_flag(&e, t, "with_flops", false);
    if (meta_of(t, "with_modules").n)
        add_flag(&e, t, "with_modules", false);
    for (size_t i = 0; i < o->n_meta; i++)
        set(&e, o->meta[i].key, o->meta[i].value);
    TG_SORT(e.v, e.n, by_key);
    out->env = tg_arena_copy(a, e.v, e.n, sizeof *e.v);
    out->n_env = e.n;
    free(e.v);
}
