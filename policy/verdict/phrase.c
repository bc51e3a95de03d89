#include "policy/verdict/internal.h"

#include <math.h>
#include <string.h>

#include "core/base/decimal.h"

tg_sv tg_phrase_take(struct tg_buf *b, struct tg_arena *a)
{
    tg_sv s = tg_arena_sv(a, tg_buf_sv(b));
    tg_buf_release(b);
    return s;
}

static struct tg_phrase phrase_in(const struct tg_buf *b)
{
    struct tg_phrase p;
    memcpy(p.text, b->p, b->n + 1);
    return p;
}

struct tg_phrase tg_phrase_of(double v, enum tg_unit unit, const char *plus)
{
    static const char *const bytes[] = { "B", "KiB", "MiB", "GiB", "TiB" };
    size_t power = 0; /* of 1024 */
    TG_BUF b = { 0 };
    tg_buf_puts(&b, v >= 0 ? plus : "");
    switch (unit) {
    case TG_UNIT_NS:
        tg_dec_put_human_ns(&b, v);
        break;
    case TG_UNIT_PERCENT:
        tg_dec_put_fixed(&b, v, *plus && fabs(v) >= 10 ? 0 : 1);
        tg_buf_puts(&b, " %");
        break;
    case TG_UNIT_BYTES:
        for (; fabs(v) >= 1024 && power < 4; power++)
            v /= 1024;
        tg_dec_put_fixed(&b, v, power ? 1 : 0);
        tg_buf_printf(&b, " %s", bytes[power]);
        break;
    case TG_UNIT_RATE:
        tg_dec_put_fixed(&b, v, 2);
        tg_buf_puts(&b, " GB/s");
        break;
    case TG_UNIT_NUMBER:
        tg_dec_put_significant(&b, v);
        break;
    case TG_UNIT_COUNT:
    case TG_UNIT_ATTR:
        tg_dec_put_fixed(&b, v, v == floor(v) ? 0 : 2);
        break;
    }
    return phrase_in(&b);
}

struct tg_phrase tg_phrase_beside_of(double v, double other, enum tg_unit unit)
{
    static const struct {
        double below, unit;
        const char *name;
    } scale[] = { { 999.5e3, 1e3, "us" }, { 999.5e6, 1e6, "ms" }, { INFINITY, 1e9, "s" } };
    double most = fmax(fabs(v), fabs(other)), least = fmin(fabs(v), fabs(other));
    TG_BUF b = { 0 };
    size_t i = 0;
    if (unit != TG_UNIT_NS || !isfinite(most) || most < 999.5 || 20 * least < most)
        return tg_phrase_of(v, unit, "");
    while (most >= scale[i].below && i < 2)
        i++;
    double shown = least / scale[i].unit;
    int decimals = shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : shown >= 0.9995 ? 2 : 3;
    for (int more = 0; more < 2 && most - least >= 1e-3 * most; more++) /* equal as shown? */
        decimals += round(most / scale[i].unit * pow(10, decimals)) ==
                    round(least / scale[i].unit * pow(10, decimals));
    tg_dec_put_fixed(&b, v / scale[i].unit, decimals);
    tg_buf_printf(&b, " %s", scale[i].name);
    return phrase_in(&b);
}

const char *tg_phrase_kind(enum tg_kind kind)
{
    static const char *const name[TG_KINDS] = {
        [TG_KIND_KERNEL] = "kernels",
        [TG_KIND_MEMCPY] = "copies",
        [TG_KIND_MEMSET] = "memory sets",
        [TG_KIND_GRAPH] = "graph launches",
        [TG_KIND_OP] = "operators",
        [TG_KIND_SYNC] = "synchronisations",
        [TG_KIND_RUNTIME] = "other calls",
        [TG_KIND_ANNOTATION] = "annotations",
        [TG_KIND_OVERHEAD] = "rows of the profiler's overhead",
        [TG_KIND_OTHER] = "events of an unknown category",
    };
    return name[kind] ? name[kind] : tg_kind_name(kind);
}

size_t tg_phrase_region(struct tg_buf *out, const struct tg_comparison *c, uint32_t region,
                        int side, const struct tg_op *but)
{
    enum { SHOWN = 2, LONG = 30, ROOM = SHOWN + 2 }; /* `but`, and one instead of "1 more" */
    const struct tg_op *op[ROOM];
    struct tg_message_list list = { .most = SHOWN };
    size_t n = tg_region_names(c, region, side, op, ROOM);
    size_t kept = n < ROOM ? n : ROOM;
    for (size_t i = 0; i < kept; i++) {
        n -= op[i] == but;
        if (op[i] == but)
            continue;
        if (op[i]->name.n > LONG && list.n < list.most) /* a long one fills the line */
            list.most = list.n + 1;
        if (tg_message_list_next(&list, out))
            tg_buf_printf(out, TG_NAME, TG_SV_ARG(op[i]->name));
    }
    list.n = n;
    (void)tg_message_list_end(&list, out);
    return n;
}

void tg_phrase_part(struct tg_buf *out, double part, double all)
{
    if (all < part + 0.5)
        return;
    tg_buf_printf(out, "%s of %s calls of ", TG_VALUE(part, TG_UNIT_COUNT),
                  TG_VALUE(all, TG_UNIT_COUNT));
}

const char *tg_phrase_type(tg_sv kernel)
{
    static const char *const said[][2] = {
        { "bf16", "bf16" }, { "BFloat16", "bf16" }, { "bfloat16", "bf16" }, { "tf32", "tf32" },
        { "fp16", "fp16" }, { "_f16", "fp16" },     { "hgemm", "fp16" },    { "Half", "fp16" },
        { "half", "fp16" }, { "dgemm", "fp64" },    { "double", "fp64" },   { "sgemm", "fp32" },
        { "fp32", "fp32" }, { "_f32", "fp32" },     { "float", "fp32" },
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (tg_sv_has(kernel, tg_sv_of(said[i][0])))
            return said[i][1];
    return NULL;
}

/* "300 us" of "300us": as values are written, not as a policy has them. */
void tg_phrase_budget(struct tg_buf *out, const struct tg_bound *bound)
{
    tg_sv unit = bound->text;
    size_t n = 0;
    while (n < unit.n && memchr("0123456789.+-", unit.p[n], 13))
        n++;
    unit = tg_sv_from(unit, n);
    tg_buf_printf(out, "%s the limit of %.*s%s%.*s", bound->kind == TG_BOUND_MAX ? "over" : "under",
                  (int)n, bound->text.p, n && unit.n && unit.p[0] != ' ' ? " " : "",
                  TG_SV_ARG(unit));
}

/* Each run alike? Then a step of one run says it all. */
void tg_phrase_some_steps(struct tg_buf *out, const struct tg_count_evidence *ev, size_t n_runs)
{
    size_t alike =
        ev->runs_above == n_runs && n_runs && ev->above % n_runs == 0 && ev->steps % n_runs == 0
            ? n_runs
            : 1;
    tg_buf_printf(out, "up to %s call%s in ", TG_VALUE(ev->most, TG_UNIT_COUNT),
                  ev->most == 1 ? "" : "s");
    if (ev->shape == TG_COUNT_FIRST_STEP)
        tg_buf_puts(out, "the first ");
    if (ev->shape != TG_COUNT_FIRST_STEP || ev->above != alike)
        tg_buf_printf(out, "%zu ", ev->above / alike);
    tg_buf_printf(out, "of %zu steps", ev->steps / alike);
    if (n_runs > 1 && ev->runs_above == n_runs)
        tg_buf_puts(out, alike > 1 ? " of every run" : ", in every run");
    else if (n_runs > 1)
        tg_buf_printf(out, " (%u of %zu runs)", ev->runs_above, n_runs);
}

void tg_phrase_rank_alone(struct tg_buf *b, const struct tg_comparison *c)
{
    const struct tg_rank_alone *alone = c->rank_alone;
    const struct tg_op *named = NULL;
    for (size_t i = 0; i < c->n_ops && !named; i++)
        named = c->ops[i].on_rank_alone ? &c->ops[i] : NULL;
    if (alone->n_names > 1 || !named)
        tg_buf_printf(b, "%zu %s", alone->n_names, alone->device ? "kernels" : "operators");
    else
        tg_buf_printf(b, TG_NAME, TG_SV_ARG(named->name));
    double more = alone->of_names[TG_TEST] - alone->of_names[TG_BASE];
    double pct = 100 * more / alone->of_names[TG_BASE];
    if (tg_dec_pct_tells(pct))
        tg_buf_printf(b, " %s", TG_PCT(pct));
    tg_buf_printf(b, " (%s)", TG_SIGNED(more, TG_UNIT_NS));
}
