#include "core/trace/kineto.h"

#include "core/base/decimal.h"

bool tg_kineto_key(const struct tg_value *key, tg_sv word)
{
    if (!key->escaped)
        return tg_sv_eq(key->raw, word);
    TG_BUF text = { 0 };
    tg_unescape(&text, key->raw);
    return tg_sv_eq(tg_buf_sv(&text), word);
}

int64_t tg_kineto_int(const struct tg_value *v, int64_t fallback)
{
    int64_t n;
    tg_ns thousandths;
    if (v->type != TG_TOKEN_NUMBER && v->type != TG_TOKEN_STRING)
        return fallback;
    if (tg_sv_i64(v->raw, &n))
        return n;
    if (tg_dec_us_to_ns(v->raw, &thousandths) == TG_DEC_OK && thousandths % 1000 == 0)
        return thousandths / 1000;
    return fallback;
}

static bool read_args(struct tg_scan *s, struct tg_raw_event *out)
{
    struct tg_event *ev = &out->ev;
    const char *start = s->p;
    struct tg_value key, value;
    TG_BUF text = { 0 };
    bool first = true;
    int more;
    if (!tg_scan_enter(s))
        return false;
    while ((more = tg_scan_member(s, &first, &key)) > 0) {
        const char *at = s->p;
        if (!tg_scan_value(s, &value))
            return false;
        tg_buf_clear(&text);
        if (key.escaped)
            tg_unescape(&text, key.raw);
        enum tg_attr_key attr = tg_attr_of_key(key.escaped ? tg_buf_sv(&text) : key.raw);
        if (attr != TG_ATTRS) {
            out->attrs.have |= (uint32_t)1 << attr;
            out->attrs.v[attr] = (tg_sv){ at, (size_t)(s->p - at) };
        }
        if (tg_kineto_key(&key, TG_SV("stream")))
            ev->stream = tg_kineto_int(&value, TG_NO_STREAM);
        else if (tg_kineto_key(&key, TG_SV("correlation")))
            ev->correlation = tg_kineto_int(&value, TG_NO_CORRELATION);
        else if (tg_kineto_key(&key, TG_SV("External id")) ||
                 tg_kineto_key(&key, TG_SV("external id")))
            ev->external_id = tg_kineto_int(&value, -1);
        else if (tg_kineto_key(&key, TG_SV("device")))
            ev->device = tg_kineto_int(&value, -1);
    }
    ev->args = (tg_sv){ start, (size_t)(s->p - start) };
    return more == 0;
}

static void forget_args(struct tg_raw_event *out)
{
    struct tg_event *ev = &out->ev;
    out->attrs.have = 0;
    ev->stream = TG_NO_STREAM;
    ev->correlation = TG_NO_CORRELATION;
    ev->external_id = ev->device = -1;
    ev->args = (tg_sv){ "", 0 };
}

bool tg_kineto_time(struct tg_scan *s, const struct tg_value *v, uint64_t *rounded, bool *has,
                    bool *is_float, tg_ns *ns)
{
    *has = v->type != TG_TOKEN_NULL;
    if (!*has)
        return true;
    if (v->type != TG_TOKEN_NUMBER)
        return tg_scan_bad(s, v->raw.p, "a time that is not a number",
                           "'ts' and 'dur' are microseconds, written as numbers.");
    *is_float = v->is_float;
    if (!v->finite)
        return true;
    enum tg_dec result = tg_dec_us_to_ns(v->raw, ns);
    if (result == TG_DEC_RANGE)
        return tg_scan_bad(s, v->raw.p, "a time outside +-292 years",
                           "'ts' and 'dur' are microseconds; this event is corrupt.");
    *rounded += result == TG_DEC_ROUNDED;
    return true;
}

static char first_byte(const struct tg_value *v)
{
    char c = v->type == TG_TOKEN_STRING && v->raw.n ? v->raw.p[0] : '\0';
    if (c != '\\')
        return c;
    TG_BUF text = { 0 };
    tg_unescape(&text, v->raw);
    return text.p[0];
}

static bool read_member(struct tg_scan *s, const struct tg_value *key, bool want_args,
                        struct tg_raw_event *out)
{
    static const struct {
        tg_sv word;
        size_t field;
    } fields[] = {
        { { "ph", 2 }, offsetof(struct tg_raw_event, ph) },
        { { "cat", 3 }, offsetof(struct tg_raw_event, cat) },
        { { "name", 4 }, offsetof(struct tg_raw_event, name) },
        { { "pid", 3 }, offsetof(struct tg_raw_event, pid) },
        { { "tid", 3 }, offsetof(struct tg_raw_event, tid) },
        { { "ts", 2 }, offsetof(struct tg_raw_event, ts) },
        { { "dur", 3 }, offsetof(struct tg_raw_event, dur) },
    };
    struct tg_value ignored, *to = &ignored;
    if (tg_kineto_key(key, TG_SV("args"))) {
        forget_args(out);
        if (want_args && *s->p == '{')
            return read_args(s, out);
        return tg_scan_value(s, &ignored);
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (tg_kineto_key(key, fields[i].word))
            to = (struct tg_value *)(void *)((char *)out + fields[i].field);
    return tg_scan_value(s, to);
}

bool tg_kineto_event(struct tg_scan *s, enum tg_kineto_args args, struct tg_raw_event *out)
{
    struct tg_value key;
    bool first = true;
    int more;
    *out = (struct tg_raw_event){ .ev = { 0 } };
    forget_args(out);
    if (!tg_scan_enter(s))
        return false;
    while ((more = tg_scan_member(s, &first, &key)) > 0)
        if (!read_member(s, &key, args == TG_ARGS_READ, out))
            return false;
    if (more < 0 ||
        !tg_kineto_time(s, &out->ts, &out->rounded, &out->ev.has_ts, &out->ev.ts_float,
                        &out->ev.ts) ||
        !tg_kineto_time(s, &out->dur, &out->rounded, &out->ev.has_dur, &out->ev.dur_float,
                        &out->ev.dur))
        return false;
    out->ev.ph = first_byte(&out->ph);
    out->ev.has_name = out->name.type != TG_TOKEN_NULL;
    out->ev.has_cat = out->cat.type != TG_TOKEN_NULL;
    out->ev.ts_text = out->ts.raw;
    out->ev.dur_text = out->dur.raw;
    return true;
}
