/* One SQLite database, read only, and one query at a time. The library is loaded when the first
 * database is opened. What a file can cost is bounded: it may neither call functions nor recurse in
 * its views, its values are at most 16 MiB, and the work of all queries together is limited by its
 * size. Memory is SQLite's page cache (2 MB). */
#include "core/trace/database.h"

#include <string.h>

#ifdef TG_HAVE_SQLITE
#include <inttypes.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <sqlite3.h>
#ifdef TG_LAZY
#include <pthread.h>

#include "core/base/lazy.h"
#include "core/trace/sqlite3_lazy.h" /* made; from here on SQLite is called through a table */
#endif

#include "core/base/arena.h"

#define MOST_VALUE (16 << 20) /* bytes of one text or row */
/* Instructions of SQLite's machine. A row takes about a hundred and fills fifty bytes or more, so
 * that a real file stays far below; a join without an index over a hostile file does not. */
#define WORK_AT_LEAST ((int64_t)100 << 20)
#define WORK_PER_BYTE ((int64_t)20)
#define WORK_UNIT 10000

enum stage { AT_HEAD, IN_DEVICES, BEFORE_QUERY, IN_QUERY, AT_END };

struct tg_database {
    sqlite3 *db;
    sqlite3_stmt *statement;
    int64_t work; /* units left */
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

/* ---- the library ---- */

#ifdef TG_LAZY
/* Written once, by load_once, before anything of SQLite is called. */
union tg_lazy_sqlite3 tg_lazy_sqlite3;
static char lazy_failure[TG_LAZY_WHY]; /* "": it is loaded */
static pthread_once_t lazy_once = PTHREAD_ONCE_INIT;

static void load_once(void)
{
    static const char *const names[] = { TG_LAZY_NAMES };
    (void)tg_lazy_load(TG_LAZY_SONAME, names, tg_lazy_sqlite3.at, sizeof names / sizeof *names,
                       lazy_failure);
}

static bool load(const char *name, struct tg_err *err)
{
    (void)pthread_once(&lazy_once, load_once);
    if (!lazy_failure[0])
        return true;
    return tg_err_say(err, TG_ERR_IO, TG_AT_FILE(name),
                      "'%s' is an SQLite database, and SQLite cannot be loaded: %s",
                      "Install " TG_LAZY_SONAME ".", name, lazy_failure);
}
#else
static bool load(const char *name, struct tg_err *err)
{
    (void)name, (void)err; /* it is linked */
    return true;
}
#endif

/* ---- errors ---- */

static bool failed(const struct tg_database *d, int code, struct tg_err *err)
{
    const char *why = sqlite3_errmsg(d->db);
    struct tg_loc at = TG_AT_FILE(d->name);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tg_err_say(err, TG_ERR_IO, at, "'%s' is locked: another program writes it",
                          "Wait until the profiler or its export has ended.", d->name);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return tg_err_say(err, TG_ERR_TRACE, at, "the database '%s' is damaged: %s",
                          "The export was interrupted, the disk was full, or the transfer "
                          "stopped: export it again.",
                          d->name, why);
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
        return tg_err_say(err, TG_ERR_LIMIT, at, "the database '%s' needs too much work: %s",
                          "Its tables lack their keys, or its views are not the profiler's: "
                          "export it again.",
                          d->name, why);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_FULL:
        return tg_err_say(err, TG_ERR_IO, at, "cannot read the database '%s': %s",
                          "A database that was not closed needs its -wal or -journal file beside "
                          "it: copy them together, or let the profiler end.",
                          d->name, why);
    default:
        return tg_err_say(err, TG_ERR_TRACE, at, "cannot read the database '%s': %s",
                          "Export it again with a current version of the profiler's tool.", d->name,
                          why);
    }
}

/* ---- queries ---- */

/* SQLITE_OK, SQLITE_ERROR (a name that is not there), or what went wrong. */
static int prepares(struct tg_database *d, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(d->db, sql, -1, &statement, NULL);
    (void)sqlite3_finalize(statement);
    return code & 0xff;
}

/* Is there this column ("": any) in a table or view of this name? A view that names what is not
 * there is in the schema and cannot be read: that is damage, and fails. */
static bool has(struct tg_database *d, const char *table, tg_sv column, bool *out,
                struct tg_err *err)
{
    TG_BUF sql = { 0 };
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(
        d->db, "SELECT 1 FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", -1,
        &statement, NULL);
    *out = false;
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(statement, 1, table, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(statement);
    (void)sqlite3_finalize(statement);
    if (code == SQLITE_DONE)
        return true;
    if (code != SQLITE_ROW)
        return failed(d, code, err);
    tg_buf_printf(&sql, "SELECT 1 FROM [%s] LIMIT 0", table);
    code = prepares(d, sql.p);
    if (code == SQLITE_OK && column.n) {
        tg_buf_clear(&sql);
        tg_buf_printf(&sql, "SELECT [%.*s] FROM [%s] LIMIT 0", TG_SV_ARG(column), table);
        code = prepares(d, sql.p);
        if (code == SQLITE_ERROR)
            return true;
    }
    *out = code == SQLITE_OK;
    return *out || failed(d, code, err);
}

static tg_sv word(const char *p)
{
    size_t n = 0;
    while ((p[n] >= 'a' && p[n] <= 'z') || (p[n] >= 'A' && p[n] <= 'Z') || p[n] == '_')
        n++;
    return (tg_sv){ p, n };
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

/* Is this the form of its table? A table of no known form, or without a column that its rows need,
 * is an error. */
static bool applies(struct tg_database *d, const struct tg_db_query *q, bool is_last, bool *out,
                    struct tg_err *err)
{
    bool there = true;
    if (!has(d, q->table, TG_SV(""), out, err))
        return false;
    if (!*out)
        return true;
    if (q->when && !has(d, q->table, tg_sv_of(q->when), &there, err))
        return false;
    *out = there;
    if (!there && is_last && !(d->used && strcmp(d->used, q->table) == 0))
        return tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                          "the database '%s' has an unknown form of %s",
                          "This version of tracegate knows the two forms with times in the rows "
                          "and in rocpd_timestamp.",
                          d->name, q->table);
    for (const char *p = q->need; there && *p;) {
        tg_sv column = word(p);
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

static bool begin(struct tg_database *d, const struct tg_db_query *q, bool is_last, bool *begun,
                  struct tg_err *err)
{
    TG_BUF sql = { 0 };
    if (!applies(d, q, is_last, begun, err))
        return false;
    if (!*begun)
        return true;
    d->used = q->table;
    if (!expand(d, &sql, q, err))
        return false;
    (void)sqlite3_finalize(d->statement);
    d->statement = NULL;
    int code = sqlite3_prepare_v2(d->db, sql.p, -1, &d->statement, NULL);
    return code == SQLITE_OK || failed(d, code, err);
}

/* `*there`: the next row; it is the current one. */
static bool next_row(struct tg_database *d, bool *there, struct tg_err *err)
{
    int code = sqlite3_step(d->statement);
    *there = code == SQLITE_ROW;
    return *there || code == SQLITE_DONE || failed(d, code, err);
}

/* Of the current row. False: the column is absent, NULL or not an integer. */
static bool int_at(struct tg_database *d, int column, int64_t *out)
{
    if (column >= sqlite3_column_count(d->statement) ||
        sqlite3_column_type(d->statement, column) != SQLITE_INTEGER)
        return false;
    *out = sqlite3_column_int64(d->statement, column);
    return true;
}

/* "" if the column is absent or NULL; valid until the next row. */
static tg_sv text_at(struct tg_database *d, int column)
{
    bool absent = column >= sqlite3_column_count(d->statement);
    const unsigned char *text = absent ? NULL : sqlite3_column_text(d->statement, column);
    return text ? (tg_sv){ (const char *)text, (size_t)sqlite3_column_bytes(d->statement, column) }
                : TG_SV("");
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
    if (!int_at(d, column, &v))
        return;
    put_member(&d->text, key);
    tg_buf_printf(&d->text, "%" PRId64, v);
}

/* A number, or a text that is not a number. */
static void put_id(struct tg_database *d, const char *key, int column)
{
    int64_t v;
    if (int_at(d, column, &v)) {
        put_int(d, key, column);
        return;
    }
    put_member(&d->text, key);
    put_text(&d->text, text_at(d, column));
}

static void put_triple(struct tg_database *d, const char *key, int column)
{
    int64_t v[3];
    for (int i = 0; i < 3; i++)
        if (!int_at(d, column + i, &v[i]))
            return;
    put_member(&d->text, key);
    tg_buf_printf(&d->text, "[%" PRId64 ",%" PRId64 ",%" PRId64 "]", v[0], v[1], v[2]);
}

/* Work whose launch cannot be in the file, because its number is outside of those of all calls, was
 * launched before the recording or after it: it has no correlation, so that no launch is missed. */
static void put_correlation(struct tg_database *d, bool is_call)
{
    int64_t v;
    if (!int_at(d, TG_DB_CORRELATION, &v))
        return;
    if (is_call ||
        ((v & UINT32_MAX) >= (d->first_launch & UINT32_MAX) &&
         (v & UINT32_MAX) <= (d->last_launch & UINT32_MAX) && d->first_launch <= d->last_launch))
        put_int(d, "correlation", TG_DB_CORRELATION);
}

static bool put_row(struct tg_database *d, struct tg_err *err)
{
    struct tg_buf *out = &d->text;
    tg_sv category = text_at(d, TG_DB_CATEGORY), name = text_at(d, TG_DB_NAME);
    int64_t start, end, dur, device;
    bool on_device = int_at(d, TG_DB_DEVICE, &device);
    if (!int_at(d, TG_DB_START, &start) || !int_at(d, TG_DB_END, &end) ||
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

/* The head with the devices, then the rows of each query. */
static bool more(struct tg_database *d, struct tg_err *err)
{
    static const char events[] = "],\"traceEvents\":[";
    const struct tg_db_query *q = d->dialect->queries + d->query;
    bool there;
    switch (d->stage) {
    case AT_HEAD:
        d->first_launch = 1;
        d->last_launch = 0;
        if (!begin(d, &d->dialect->launches, true, &there, err))
            return false;
        if (there) {
            if (!next_row(d, &there, err))
                return false;
            if (!int_at(d, 0, &d->first_launch) || !int_at(d, 1, &d->last_launch)) {
                d->first_launch = 1;
                d->last_launch = 0;
            }
        }
        if (!begin(d, &d->dialect->devices, true, &there, err))
            return false;
        tg_buf_puts(&d->text, "{\"deviceProperties\":[");
        if (!there)
            tg_buf_puts(&d->text, events);
        d->stage = there ? IN_DEVICES : BEFORE_QUERY;
        return true;
    case IN_DEVICES:
        if (!next_row(d, &there, err))
            return false;
        if (!there) {
            tg_buf_puts(&d->text, events);
            d->stage = BEFORE_QUERY;
            return true;
        }
        tg_buf_puts(&d->text, d->has_devices ? ",{" : "{");
        d->has_devices = true;
        put_id(d, "id", 0);
        put_member(&d->text, "name");
        put_text(&d->text, text_at(d, 1));
        tg_buf_putc(&d->text, '}');
        return true;
    case BEFORE_QUERY:
        if (d->query == d->dialect->n) {
            d->stage = AT_END;
            tg_buf_puts(&d->text, "\n]}\n");
            return d->rows > 0 ||
                   tg_err_say(err, TG_ERR_TRACE, TG_AT_FILE(d->name),
                              "the database '%s' of %s holds no kernel, call or range",
                              d->dialect->hint, d->name, d->dialect->profiler);
        }
        if (!begin(d, q, d->query + 1 == d->dialect->n || strcmp(q[1].table, q->table) != 0, &there,
                   err))
            return false;
        d->query++;
        d->stage = there ? IN_QUERY : BEFORE_QUERY;
        return true;
    case IN_QUERY:
        if (!next_row(d, &there, err))
            return false;
        if (there)
            return put_row(d, err);
        d->stage = BEFORE_QUERY;
        return true;
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

static int spend(void *arg)
{
    struct tg_database *d = arg;
    return --d->work <= 0;
}

/* Views are the file's: they may read, and no more. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    static const char *const functions[] = { "coalesce", "min", "max" };
    (void)arg, (void)a, (void)c, (void)d;
    if (action == SQLITE_SELECT || action == SQLITE_READ)
        return SQLITE_OK;
    for (size_t i = 0; action == SQLITE_FUNCTION && i < sizeof functions / sizeof *functions; i++)
        if (b && strcmp(b, functions[i]) == 0)
            return SQLITE_OK;
    return SQLITE_DENY;
}

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
    struct stat st = { 0 };
    if (!load(path, err))
        return NULL;
    struct tg_database *d = tg_xcalloc(1, sizeof *d);
    d->name = path;
    int code = sqlite3_open_v2(
        memory ? ":memory:" : path, &d->db,
        (memory ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code == SQLITE_OK && memory) /* read only: the bytes are never written */
        code = sqlite3_deserialize(d->db, "main", (unsigned char *)(uintptr_t)memory->p,
                                   (sqlite3_int64)memory->n, (sqlite3_int64)memory->n,
                                   SQLITE_DESERIALIZE_READONLY);
    if (code == SQLITE_OK) {
        int64_t most = INT64_MAX / WORK_PER_BYTE / 2, size = stat(path, &st) == 0 ? st.st_size : 0;
        size = memory ? (int64_t)memory->n : size;
        d->work = (WORK_AT_LEAST + (size < most ? size : most) * WORK_PER_BYTE) / WORK_UNIT;
        (void)sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, MOST_VALUE);
        (void)sqlite3_limit(d->db, SQLITE_LIMIT_ATTACHED, 0);
        (void)sqlite3_db_config(d->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        (void)sqlite3_db_config(d->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        code = sqlite3_exec(d->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    }
    if (code != SQLITE_OK) {
        (void)failed(d, code, err);
        tg_database_close(d);
        return NULL;
    }
    sqlite3_progress_handler(d->db, WORK_UNIT, spend, d);
    (void)sqlite3_set_authorizer(d->db, authorize, NULL);
    if (identify(d, err))
        return d;
    tg_database_close(d);
    return NULL;
}

void tg_database_close(struct tg_database *d)
{
    if (!d)
        return;
    (void)sqlite3_finalize(d->statement);
    (void)sqlite3_close(d->db);
    tg_buf_release(&d->text);
    free(d);
}
#else
struct tg_database *tg_database_open(const char *path, const tg_sv *memory, struct tg_err *err)
{
    (void)memory;
    (void)tg_err_say(
        err, TG_ERR_TRACE, TG_AT_FILE(path), "'%s' is an SQLite database",
        "This build of tracegate reads none. Build it from source where libsqlite3-dev is "
        "installed; `tracegate summarize` there makes summaries that every build "
        "reads.",
        path);
    return NULL;
}

void tg_database_close(struct tg_database *d)
{
    (void)d;
}

int64_t tg_database_fill(struct tg_database *d, char *to, size_t n, struct tg_err *err)
{
    (void)d, (void)to, (void)n, (void)err;
    return -1;
}

void tg_database_rewind(struct tg_database *d)
{
    (void)d;
}
#endif
