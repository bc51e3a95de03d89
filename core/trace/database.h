#ifndef TG_TRACE_DATABASE_H
#define TG_TRACE_DATABASE_H
/*
 * A profiler's SQLite database as a trace; internal to core/trace. Its rows are handed out as the
 * text of a Kineto trace, row after row, so that everything after a source reads it like any other
 * trace, in the memory of one row. A dialect (nsys.c, rocpd.c) is a list of queries whose columns
 * are those of enum tg_db_column.
 */
#include "core/base/buf.h"
#include "core/base/err.h"

#define TG_SQLITE_MAGIC "SQLite format 3" /* and a NUL */

struct tg_database;

/* The file at `path`; with `memory`, its bytes, and `path` is its name. Both must outlive it. */
TG_MUST struct tg_database *tg_database_open(const char *path, const tg_sv *memory,
                                             struct tg_err *err);
void tg_database_close(struct tg_database *d); /* accepts NULL */
/* As tg_source_fill. */
TG_MUST int64_t tg_database_fill(struct tg_database *d, char *to, size_t n, struct tg_err *err);
void tg_database_rewind(struct tg_database *d); /* to the first byte */

/* ---- dialects ---- */

enum tg_db_column {                 /* of a query; columns that are missing at the end are NULL */
                    TG_DB_CATEGORY, /* Kineto's, or what tg_db_dialect.name turns into one */
                    TG_DB_NAME,
                    TG_DB_START, /* ns */
                    TG_DB_END,
                    TG_DB_PID,
                    TG_DB_TID,
                    TG_DB_CORRELATION,
                    TG_DB_DEVICE, /* from here on: device rows */
                    TG_DB_STREAM,
                    TG_DB_BYTES,
                    TG_DB_GRID,
                    TG_DB_BLOCK = TG_DB_GRID + 3,
                    TG_DB_REGISTERS = TG_DB_BLOCK + 3,
                    TG_DB_SHARED
};

/*
 * In `sql`, $column is t.column if `table`, whose alias is t, has that column, and NULL if not;
 * $a:other.column is the same for the table `other` with alias a. {other text} is text if there is
 * a table `other`, {other.column text} if that has the column.
 */
struct tg_db_query {
    const char *table;
    const char *when; /* a column that only this form of the table has; NULL: all forms */
    const char *need; /* columns without which the rows mean nothing, between blanks */
    const char *sql;
};

struct tg_db_dialect {
    const char *profiler, *hint; /* how to record what is missing */
    /* id and name of each device; smallest and largest correlation of all calls: work with another
     * one was launched before the recording or after it, which is not damage. */
    struct tg_db_query devices, launches;
    const struct tg_db_query *queries;
    size_t n;
    /* Cleans the name, and turns the category of a host row into Kineto's. Views of the row. */
    void (*name)(tg_sv *category, tg_sv *name);
};

extern const struct tg_db_dialect tg_nsys, tg_rocpd;

/*
 * Kineto's category of a range of NVTX or rocTX, by its name. torch.autograd.profiler.emit_nvtx
 * writes "aten::add, seq = 3, op_id = 7": that is the operator aten::add, and its name loses the
 * numbers. Any other range is an annotation.
 */
void tg_nvtx_range(tg_sv *category, tg_sv *name);
#endif
