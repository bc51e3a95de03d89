#ifndef TG_TRACE_SQLITE_H
#define TG_TRACE_SQLITE_H
/*
 * One SQLite database, read only, and one query at a time; internal to core/trace. The library is
 * loaded when the first database is opened. What a file can cost is bounded: it may neither call
 * functions nor recurse in its views, its values are at most 16 MiB, and the work of all queries
 * together is limited by its size. Memory is SQLite's page cache (2 MB).
 */
#include "core/base/err.h"

struct tg_sqlite; /* one open database */

/* `name` is for messages and must outlive the database. NULL with err set. */
TG_MUST struct tg_sqlite *tg_sqlite_open(const char *path, struct tg_err *err);
/* The same of bytes in memory, which must outlive the database. */
TG_MUST struct tg_sqlite *tg_sqlite_memory(tg_sv bytes, const char *name, struct tg_err *err);
void tg_sqlite_close(struct tg_sqlite *db); /* accepts NULL */

/* Is there this column (NULL: any) in a table or view of this name? A damaged file fails. */
enum tg_sqlite_has { TG_SQLITE_ABSENT, TG_SQLITE_PRESENT, TG_SQLITE_FAILED };
TG_MUST enum tg_sqlite_has tg_sqlite_has(struct tg_sqlite *db, const char *table,
                                         const char *column, struct tg_err *err);

/* Begins a query; one before it ends. */
TG_MUST bool tg_sqlite_query(struct tg_sqlite *db, const char *sql, struct tg_err *err);
enum tg_sqlite_step { TG_SQLITE_ROW, TG_SQLITE_DONE, TG_SQLITE_STOPPED }; /* STOPPED: err is set */
TG_MUST enum tg_sqlite_step tg_sqlite_step(struct tg_sqlite *db, struct tg_err *err);
/* Of the current row. False: the column is absent, NULL or not an integer. */
bool tg_sqlite_int(struct tg_sqlite *db, int column, int64_t *out);
/* "" if the column is absent or NULL; valid until the next step. */
tg_sv tg_sqlite_text(struct tg_sqlite *db, int column);
#endif
