#include "core/trace/database.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/arena.h"
#include "core/trace/sqlite.h"

enum stage { AT_HEAD, IN_DEVICES, BEFORE_QUERY, IN_QUERY, AT_END };

struct tg_database {
    struct tg_sqlite *db;
    const struct tg_db_dialect *dialect;
    const char *name, *used; /* used: the table of the last query that was run */
    enum stage stage;
    size_t query;
    int64_t first_launch, last_launch; /* correlations of calls; first > last: there are none */
    uint64_t rows;
    bool has_devices;   /* one was written */
    struct tg_buf text; /* not handed out yet, from `at` on */
    size_t at;
};

/* ---- queries ---- */

static tg_sv word(const char *p)
{
    size_t n = 0;
    while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') || p[n] == '_')
        n++;
    return (tg_sv){ p, n };
}

static bool has(struct tg_database *d, const char *table, tg_sv column, bool *out,
                struct tg_err *err)
{
    TG_BUF text = { 0 };
    tg_buf_add(&text, column);
    enum tg_sqlite_has found = tg_sqlite_has(d->db, table, column.n ? text.p : NULL, err);
    *out = found == TG_SQLITE_PRESENT;
    return found != TG_SQLITE_FAILED;
}

/* $column or $alias:table.column at `*p`, which moves after it. */
static bool put_column(struct tg_database *d, struct tg_buf *out, const char *table, const char **p,
                       struct tg_err *err)
{
    TG_BUF other = { 0 };
    tg_sv alias = TG_SV("t"), column = word(*p + 1);
    const char *end = column.p + column.n;
    bool there;
    if (*end == ':') {
        tg_sv name = word(end + 1);
        alias = column;
        tg_buf_add(&other, name);
        column = word(name.p + name.n + 1);
        end = column.p + column.n;
        table = other.p;
    }
    *p = end;
    if (!has(d, table, column, &there, err))
        return false;
    if (there)
        tg_buf_printf(out, "%.*s.[%.*s]", TG_SV_ARG(alias), TG_SV_ARG(column));
    else
        tg_buf_puts(out, "NULL");
    return true;
}

/* "{table text}", "{table.column text}": the text belongs to the
 * query if there is such a table or column. */
static bool expand(struct tg_database *d, struct tg_buf *out, const struct tg_db_query *q,
                   struct tg_err *err)
{
    bool there;
    for (const char *p = q->sql; *p;) {
        size_t n = strcspn(p, "${}");
        tg_buf_add(out, (tg_sv){ p, n });
        p += n;
        if (*p == '$') {
            if (!put_column(d, out, q->table, &p, err))
                return false;
        } else if (*p == '{') {
            TG_BUF table = { 0 };
            tg_sv column = TG_SV("");
            tg_buf_add(&table, word(p + 1));
            p += 1 + table.n;
            if (*p == '.') {
                column = word(p + 1);
                p = column.p + column.n;
            }
            if (!has(d, table.p, column, &there, err))
                return false;
            p += there ? 0 : strcspn(p, "}");
        } else if (*p == '}') {
            p++;
        }
    }
    return true;
}

static bool check_columns(struct tg_database *d, const struct tg_db_query *q, struct tg_err *err)
{
    for (const char *p = q->need; *p;) {
        tg_sv column = word(p);
        bool there;
        if (!has(d, q->table, column, &there, err))
            return false;
        if (!there)
            return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                              "the database '%s' has no column '%.*s' in %s",
                              "Export it again with a current version of the profiler's tool.",
                              d->name, TG_SV_ARG(column), q->table);
        p = column.p + column.n;
        p += *p == ' ';
    }
    return true;
}

/* Is this the form of its table? A table of no known form is an error. */
static bool applies(struct tg_database *d, const struct tg_db_query *q, bool is_last, bool *out,
                    struct tg_err *err)
{
    bool known = true;
    if (!has(d, q->table, TG_SV(""), out, err))
        return false;
    if (!*out)
        return true;
    if (q->when && !has(d, q->table, tg_sv_of(q->when), &known, err))
        return false;
    *out = known;
    if (known)
        return check_columns(d, q, err);
    if (!is_last || (d->used && strcmp(d->used, q->table) == 0))
        return true;
    return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                      "the database '%s' has an unknown form of %s",
                      "This version of tracegate knows the two forms with times in the rows and in "
                      "rocpd_timestamp.",
                      d->name, q->table);
}

static bool begin(struct tg_database *d, const struct tg_db_query *q, bool is_last, bool *begun,
                  struct tg_err *err)
{
    TG_BUF sql = { 0 };
    if (!applies(d, q, is_last, begun, err))
        return false;
    if (!*begun)
        return true;
    d->used = q->table;
    return expand(d, &sql, q, err) && tg_sqlite_query(d->db, sql.p, err);
}

/* ---- rows as text ---- */

static void put_text(struct tg_buf *out, tg_sv s)
{
    tg_buf_putc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c == '"' || c == '\\')
            tg_buf_putc(out, '\\');
        if (c < ' ')
            tg_buf_printf(out, "\\u%04x", c);
        else
            tg_buf_putc(out, (char)c);
    }
    tg_buf_putc(out, '"');
}

/* Nanoseconds as microseconds with three decimals. */
static void put_us(struct tg_buf *out, const char *key, int64_t ns)
{
    uint64_t n = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
    tg_buf_printf(out, ",\"%s\":%s%" PRIu64 ".%03" PRIu64, key, ns < 0 ? "-" : "", n / 1000,
                  n % 1000);
}

static void put_member(struct tg_buf *out, const char *key)
{
    tg_buf_printf(out, "%s\"%s\":", out->p[out->n - 1] == '{' ? "" : ",", key);
}

static void put_int(struct tg_database *d, const char *key, int column)
{
    int64_t v;
    if (!tg_sqlite_int(d->db, column, &v))
        return;
    put_member(&d->text, key);
    tg_buf_printf(&d->text, "%" PRId64, v);
}

/* A number, or a text that is not a number. */
static void put_id(struct tg_database *d, const char *key, int column)
{
    int64_t v;
    if (tg_sqlite_int(d->db, column, &v)) {
        put_int(d, key, column);
        return;
    }
    put_member(&d->text, key);
    put_text(&d->text, tg_sqlite_text(d->db, column));
}

static void put_triple(struct tg_database *d, const char *key, int column)
{
    int64_t v[3];
    for (int i = 0; i < 3; i++)
        if (!tg_sqlite_int(d->db, column + i, &v[i]))
            return;
    put_member(&d->text, key);
    tg_buf_printf(&d->text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", v[0], v[1], v[2]);
}

/* Work whose launch cannot be in the file, because its number is outside of those of all calls, was
 * launched before the recording or after it: it has no correlation, so that no launch is missed. */
static void put_correlation(struct tg_database *d, bool is_call)
{
    int64_t v;
    if (!tg_sqlite_int(d->db, TG_DB_CORRELATION, &v))
        return;
    if (is_call ||
        ((v & UINT32_MAX) >= (d->first_launch & UINT32_MAX) &&
         (v & UINT32_MAX) <= (d->last_launch & UINT32_MAX) && d->first_launch <= d->last_launch))
        put_int(d, "correlation", TG_DB_CORRELATION);
}

static bool put_row(struct tg_database *d, struct tg_err *err)
{
    struct tg_buf *out = &d->text;
    tg_sv category = tg_sqlite_text(d->db, TG_DB_CATEGORY),
          name = tg_sqlite_text(d->db, TG_DB_NAME);
    int64_t start, end, dur, device;
    bool on_device = tg_sqlite_int(d->db, TG_DB_DEVICE, &device);
    if (!tg_sqlite_int(d->db, TG_DB_START, &start) || !tg_sqlite_int(d->db, TG_DB_END, &end) ||
        __builtin_sub_overflow(end, start, &dur))
        return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                          "the database '%s' is damaged: a row of %s has no times",
                          "Record and export it again.", d->name, d->used);
    d->dialect->name(&category, &name);
    tg_buf_puts(out, d->rows ? ",\n{\"ph\":\"X\",\"cat\":" : "\n{\"ph\":\"X\",\"cat\":");
    put_text(out, category);
    tg_buf_puts(out, ",\"name\":");
    put_text(out, name);
    put_us(out, "ts", start);
    put_us(out, "dur", dur);
    put_id(d, "pid", TG_DB_PID);
    put_id(d, "tid", TG_DB_TID);
    tg_buf_puts(out, ",\"args\":{");
    put_correlation(d, !on_device);
    put_int(d, "device", TG_DB_DEVICE);
    put_int(d, "stream", TG_DB_STREAM);
    put_int(d, "bytes", TG_DB_BYTES);
    put_triple(d, "grid", TG_DB_GRID);
    put_triple(d, "block", TG_DB_BLOCK);
    put_int(d, "registers per thread", TG_DB_REGISTERS);
    put_int(d, "shared memory", TG_DB_SHARED);
    tg_buf_puts(out, "}}");
    d->rows++;
    return true;
}

/* ---- the text, piece by piece ---- */

static bool find_launches(struct tg_database *d, struct tg_err *err)
{
    bool begun;
    d->first_launch = 1;
    d->last_launch = 0;
    if (!begin(d, &d->dialect->launches, true, &begun, err))
        return false;
    if (!begun)
        return true;
    if (tg_sqlite_step(d->db, err) == TG_SQLITE_STOPPED)
        return false;
    if (!tg_sqlite_int(d->db, 0, &d->first_launch) || !tg_sqlite_int(d->db, 1, &d->last_launch))
        d->last_launch = d->first_launch - 1;
    return true;
}

static bool put_head(struct tg_database *d, struct tg_err *err)
{
    bool begun;
    if (!find_launches(d, err) || !begin(d, &d->dialect->devices, true, &begun, err))
        return false;
    tg_buf_puts(&d->text, "{\"deviceProperties\":[");
    d->stage = begun ? IN_DEVICES : BEFORE_QUERY;
    if (!begun)
        tg_buf_puts(&d->text, "],\"traceEvents\":[");
    return true;
}

static bool put_device(struct tg_database *d, struct tg_err *err)
{
    switch (tg_sqlite_step(d->db, err)) {
    case TG_SQLITE_STOPPED:
        return false;
    case TG_SQLITE_DONE:
        tg_buf_puts(&d->text, "],\"traceEvents\":[");
        d->stage = BEFORE_QUERY;
        return true;
    case TG_SQLITE_ROW:
        break;
    }
    tg_buf_puts(&d->text, d->has_devices ? ",{" : "{");
    d->has_devices = true;
    put_id(d, "id", 0);
    put_member(&d->text, "name");
    put_text(&d->text, tg_sqlite_text(d->db, 1));
    tg_buf_putc(&d->text, '}');
    return true;
}

static bool next_query(struct tg_database *d, struct tg_err *err)
{
    const struct tg_db_query *q = d->dialect->queries + d->query;
    bool begun;
    if (d->query == d->dialect->n) {
        d->stage = AT_END;
        tg_buf_puts(&d->text, "\n]}\n");
        return d->rows > 0 || tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                                         "the database '%s' of %s holds no kernel, call or range",
                                         d->dialect->hint, d->name, d->dialect->profiler);
    }
    if (!begin(d, q, d->query + 1 == d->dialect->n || strcmp(q[1].table, q->table) != 0, &begun,
               err))
        return false;
    d->query++;
    if (begun)
        d->stage = IN_QUERY;
    return true;
}

static bool next_row(struct tg_database *d, struct tg_err *err)
{
    switch (tg_sqlite_step(d->db, err)) {
    case TG_SQLITE_ROW:
        return put_row(d, err);
    case TG_SQLITE_DONE:
        d->stage = BEFORE_QUERY;
        return true;
    case TG_SQLITE_STOPPED:
        break;
    }
    return false;
}

static bool more(struct tg_database *d, struct tg_err *err)
{
    switch (d->stage) {
    case AT_HEAD:
        return put_head(d, err);
    case IN_DEVICES:
        return put_device(d, err);
    case BEFORE_QUERY:
        return next_query(d, err);
    case IN_QUERY:
        return next_row(d, err);
    case AT_END:
        break;
    }
    return true;
}

int64_t tg_database_fill(struct tg_database *d, char *to, size_t n, struct tg_err *err)
{
    if (d->at) {
        d->text.n -= d->at;
        memmove(d->text.p, d->text.p + d->at, d->text.n);
        d->at = 0;
    }
    while (d->text.n < n && d->stage != AT_END)
        if (!more(d, err))
            return -1;
    size_t have = d->text.n < n ? d->text.n : n;
    if (have)
        memcpy(to, d->text.p, have);
    d->at = have;
    return (int64_t)have;
}

void tg_database_rewind(struct tg_database *d)
{
    d->stage = AT_HEAD;
    d->query = d->at = 0;
    d->rows = 0;
    d->used = NULL;
    d->has_devices = false;
    tg_buf_clear(&d->text);
}

/* ---- opening ---- */

/* A table by which a profiler's file is known; without a dialect it is refused by name. */
static const struct {
    const char *table;
    const struct tg_db_dialect *dialect;
    const char *profiler;
} known[] = {
    { "META_DATA_EXPORT", &tg_nsys, NULL },        { "CUPTI_ACTIVITY_KIND_KERNEL", &tg_nsys, NULL },
    { "rocpd_kernel_dispatch", &tg_rocpd, NULL },  { "rocpd_region", &tg_rocpd, NULL },
    { "rocpd_op", NULL, "rocmProfileData (RPD)" }, { "rocpd_metadata", &tg_rocpd, NULL },
};

static bool identify(struct tg_database *d, struct tg_err *err)
{
    bool there = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (!has(d, known[i].table, TG_SV(""), &there, err))
            return false;
        if (there && known[i].dialect) {
            d->dialect = known[i].dialect;
            return true;
        }
        if (there)
            return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name), "'%s' is a database of %s",
                              "tracegate reads what rocprofv3 (rocpd) and torch.profiler write.",
                              d->name, known[i].profiler);
    }
    return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                      "'%s' is an SQLite database, but not of a profiler that is known",
                      "tracegate reads what `nsys export --type sqlite` and rocprofv3 (rocpd) "
                      "write, and what torch.profiler exports.",
                      d->name);
}

struct tg_database *tg_database_open(const char *path, const tg_sv *memory, struct tg_err *err)
{
    struct tg_database *d = tg_xcalloc(1, sizeof *d);
    d->name = path;
    d->db = memory ? tg_sqlite_memory(*memory, path, err) : tg_sqlite_open(path, err);
    if (d->db && identify(d, err))
        return d;
    tg_database_close(d);
    return NULL;
}

void tg_database_close(struct tg_database *d)
{
    if (!d)
        return;
    tg_sqlite_close(d->db);
    tg_buf_release(&d->text);
    free(d);
}
