#include "core/trace/sqlite.h"

#ifdef TG_HAVE_SQLITE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <sqlite3.h>
#ifdef TG_LAZY
#include <pthread.h>

#include "core/base/lazy.h"
#include "core/trace/sqlite3_lazy.h" /* made; from here on SQLite is called through a table */
#endif

#include "core/base/arena.h"
#include "core/base/buf.h"

#define MOST_VALUE (16 << 20) /* bytes of one text or row */
/* Instructions of SQLite's machine. A row takes about a hundred and fills fifty bytes or more, so
 * that a real file stays far below; a join without an index over a hostile file does not. */
#define WORK_AT_LEAST ((int64_t)100 << 20)
#define WORK_PER_BYTE ((int64_t)20)
#define WORK_UNIT 10000

struct tg_sqlite {
    sqlite3 *db;
    sqlite3_stmt *query;
    const char *name;
    int64_t work; /* units left */
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

static bool failed(const struct tg_sqlite *db, int code, struct tg_err *err)
{
    const char *why = sqlite3_errmsg(db->db);
    struct tg_loc at = TG_AT_FILE(db->name);
    switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return tg_err_say(err, TG_ERR_IO, at, "'%s' is locked: another program writes it",
                          "Wait until the profiler or its export has ended.", db->name);
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return tg_err_say(err, TG_ERR_TRACE, at, "the database '%s' is damaged: %s",
                          "The export was interrupted, the disk was full, or the transfer "
                          "stopped: export it again.",
                          db->name, why);
    case SQLITE_INTERRUPT:
    case SQLITE_TOOBIG:
    case SQLITE_NOMEM:
        return tg_err_say(err, TG_ERR_LIMIT, at, "the database '%s' needs too much work: %s",
                          "Its tables lack their keys, or its views are not the profiler's: "
                          "export it again.",
                          db->name, why);
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_READONLY:
    case SQLITE_FULL:
        return tg_err_say(err, TG_ERR_IO, at, "cannot read the database '%s': %s",
                          "A database that was not closed needs its -wal or -journal file beside "
                          "it: copy them together, or let the profiler end.",
                          db->name, why);
    default:
        return tg_err_say(err, TG_ERR_TRACE, at, "cannot read the database '%s': %s",
                          "Export it again with a current version of the profiler's tool.",
                          db->name, why);
    }
}

/* ---- opening ---- */

static int spend(void *arg)
{
    struct tg_sqlite *db = arg;
    return --db->work <= 0;
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

static bool settle(struct tg_sqlite *db, uint64_t bytes, struct tg_err *err)
{
    int64_t most = INT64_MAX / WORK_PER_BYTE / 2;
    int64_t size = bytes < (uint64_t)most ? (int64_t)bytes : most;
    db->work = (WORK_AT_LEAST + size * WORK_PER_BYTE) / WORK_UNIT;
    (void)sqlite3_limit(db->db, SQLITE_LIMIT_LENGTH, MOST_VALUE);
    (void)sqlite3_limit(db->db, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(db->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    int code = sqlite3_exec(db->db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
    if (code != SQLITE_OK)
        return failed(db, code, err);
    sqlite3_progress_handler(db->db, WORK_UNIT, spend, db);
    (void)sqlite3_set_authorizer(db->db, authorize, NULL);
    return true;
}

static struct tg_sqlite *opened(struct tg_sqlite *db, int code, uint64_t bytes, struct tg_err *err)
{
    if (code == SQLITE_OK ? settle(db, bytes, err) : failed(db, code, err))
        return db;
    tg_sqlite_close(db);
    return NULL;
}

static struct tg_sqlite *new_database(const char *name, struct tg_err *err)
{
    if (!load(name, err))
        return NULL;
    struct tg_sqlite *db = tg_xmalloc(sizeof *db);
    *db = (struct tg_sqlite){ .name = name };
    return db;
}

struct tg_sqlite *tg_sqlite_open(const char *path, struct tg_err *err)
{
    struct tg_sqlite *db = new_database(path, err);
    struct stat st = { 0 };
    if (!db)
        return NULL;
    int code = sqlite3_open_v2(path, &db->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_FULLMUTEX, NULL);
    return opened(db, code, stat(path, &st) == 0 ? (uint64_t)st.st_size : 0, err);
}

struct tg_sqlite *tg_sqlite_memory(tg_sv bytes, const char *name, struct tg_err *err)
{
    struct tg_sqlite *db = new_database(name, err);
    int code;
    if (!db)
        return NULL;
    code =
        sqlite3_open_v2(":memory:", &db->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_FULLMUTEX, NULL);
    if (code == SQLITE_OK) /* read only: the bytes are never written */
        code = sqlite3_deserialize(db->db, "main", (unsigned char *)(uintptr_t)bytes.p,
                                   (sqlite3_int64)bytes.n, (sqlite3_int64)bytes.n,
                                   SQLITE_DESERIALIZE_READONLY);
    return opened(db, code, bytes.n, err);
}

void tg_sqlite_close(struct tg_sqlite *db)
{
    if (!db)
        return;
    (void)sqlite3_finalize(db->query);
    (void)sqlite3_close(db->db);
    free(db);
}

/* ---- reading ---- */

/* SQLITE_OK, SQLITE_ERROR (a name that is not there), or what went wrong. */
static int prepares(struct tg_sqlite *db, const char *sql)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(db->db, sql, -1, &query, NULL);
    (void)sqlite3_finalize(query);
    return code & 0xff;
}

/* Does the schema have a table or a view of this name? SQLITE_ROW or SQLITE_DONE, or an error. */
static int in_schema(struct tg_sqlite *db, const char *table)
{
    sqlite3_stmt *query = NULL;
    int code = sqlite3_prepare_v2(
        db->db, "SELECT 1 FROM sqlite_master WHERE name = ? AND type IN ('table', 'view')", -1,
        &query, NULL);
    if (code == SQLITE_OK)
        code = sqlite3_bind_text(query, 1, table, -1, SQLITE_STATIC);
    if (code == SQLITE_OK)
        code = sqlite3_step(query);
    (void)sqlite3_finalize(query);
    return code;
}

static enum tg_sqlite_has cannot_tell(const struct tg_sqlite *db, int code, struct tg_err *err)
{
    (void)failed(db, code, err);
    return TG_SQLITE_FAILED;
}

/* A view that names what is not there is in the schema and cannot be read: that is damage. */
enum tg_sqlite_has tg_sqlite_has(struct tg_sqlite *db, const char *table, const char *column,
                                 struct tg_err *err)
{
    TG_BUF sql = { 0 };
    int code = in_schema(db, table);
    if (code == SQLITE_DONE)
        return TG_SQLITE_ABSENT;
    if (code != SQLITE_ROW)
        return cannot_tell(db, code, err);
    tg_buf_printf(&sql, "SELECT 1 FROM [%s] LIMIT 0", table);
    if ((code = prepares(db, sql.p)) != SQLITE_OK)
        return cannot_tell(db, code, err);
    if (!column)
        return TG_SQLITE_PRESENT;
    tg_buf_clear(&sql);
    tg_buf_printf(&sql, "SELECT [%s] FROM [%s] LIMIT 0", column, table);
    code = prepares(db, sql.p);
    if (code == SQLITE_OK)
        return TG_SQLITE_PRESENT;
    return code == SQLITE_ERROR ? TG_SQLITE_ABSENT : cannot_tell(db, code, err);
}

bool tg_sqlite_query(struct tg_sqlite *db, const char *sql, struct tg_err *err)
{
    (void)sqlite3_finalize(db->query);
    db->query = NULL;
    int code = sqlite3_prepare_v2(db->db, sql, -1, &db->query, NULL);
    return code == SQLITE_OK || failed(db, code, err);
}

enum tg_sqlite_step tg_sqlite_step(struct tg_sqlite *db, struct tg_err *err)
{
    int code = sqlite3_step(db->query);
    if (code == SQLITE_ROW)
        return TG_SQLITE_ROW;
    if (code == SQLITE_DONE)
        return TG_SQLITE_DONE;
    (void)failed(db, code, err);
    return TG_SQLITE_STOPPED;
}

bool tg_sqlite_int(struct tg_sqlite *db, int column, int64_t *out)
{
    if (column >= sqlite3_column_count(db->query) ||
        sqlite3_column_type(db->query, column) != SQLITE_INTEGER)
        return false;
    *out = sqlite3_column_int64(db->query, column);
    return true;
}

tg_sv tg_sqlite_text(struct tg_sqlite *db, int column)
{
    const unsigned char *text =
        column < sqlite3_column_count(db->query) ? sqlite3_column_text(db->query, column) : NULL;
    return text ? (tg_sv){ (const char *)text, (size_t)sqlite3_column_bytes(db->query, column) }
                : TG_SV("");
}
#else
static struct tg_sqlite *cannot(const char *name, struct tg_err *err)
{
    (void)tg_err_say(
        err, TG_ERR_TRACE, TG_AT_FILE(name), "'%s' is an SQLite database",
        "This build of tracegate reads none. Build it from source where libsqlite3-dev is "
        "installed; `tracegate summarize` there makes summaries that every build "
        "reads.",
        name);
    return NULL;
}

struct tg_sqlite *tg_sqlite_open(const char *path, struct tg_err *err)
{
    return cannot(path, err);
}

struct tg_sqlite *tg_sqlite_memory(tg_sv bytes, const char *name, struct tg_err *err)
{
    (void)bytes;
    return cannot(name, err);
}

void tg_sqlite_close(struct tg_sqlite *db)
{
    (void)db;
}

enum tg_sqlite_has tg_sqlite_has(struct tg_sqlite *db, const char *table, const char *column,
                                 struct tg_err *err)
{
    (void)db, (void)table, (void)column, (void)err;
    return TG_SQLITE_ABSENT;
}

bool tg_sqlite_query(struct tg_sqlite *db, const char *sql, struct tg_err *err)
{
    (void)db, (void)sql, (void)err;
    return false;
}

enum tg_sqlite_step tg_sqlite_step(struct tg_sqlite *db, struct tg_err *err)
{
    (void)db, (void)err;
    return TG_SQLITE_DONE;
}

bool tg_sqlite_int(struct tg_sqlite *db, int column, int64_t *out)
{
    (void)db, (void)column, (void)out;
    return false;
}

tg_sv tg_sqlite_text(struct tg_sqlite *db, int column)
{
    (void)db, (void)column;
    return TG_SV("");
}
#endif
