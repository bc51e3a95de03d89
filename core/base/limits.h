#ifndef TG_BASE_LIMITS_H
#define TG_BASE_LIMITS_H
/* Every limit of the program in one place, each reached by a test. They bound what a hostile file
 * can cost; a real trace stays far below them. Reaching one is TG_ERR_LIMIT, never a crash. */
#include "core/base/sv.h"

struct tg_limits {
    size_t max_event;      /* bytes of one event's text */
    size_t max_depth;      /* nesting of JSON */
    size_t max_names;      /* distinct (category, name) pairs in a trace */
    size_t max_name_bytes; /* text of all distinct names */
    size_t max_spans;      /* events kept of one trace */
    uint64_t max_inflated; /* bytes out of one compressed file */
    size_t max_ratio;      /* output : input of a decompressor, once 64 MiB are out */
    size_t max_doc;        /* a summary or another small JSON document, bytes */
    size_t max_summary;    /* stored form we write; above it slots are dropped */
    size_t max_policy;     /* policy file, bytes */
    size_t max_blob;       /* a git blob that is read through libgit2, bytes */
    size_t max_files;      /* traces of one side */
    size_t max_attrs;      /* distinct launch attributes kept per row */
    size_t max_nodes; /* of the calling context tree of a shard; the rest is cut, and counted */
};

#define TG_LIMITS_DEFAULT                                                                          \
    ((struct tg_limits){ .max_event = (size_t)64 << 20,                                            \
                         .max_depth = 128,                                                         \
                         .max_names = (size_t)4 << 20,                                             \
                         .max_name_bytes = (size_t)1 << 30,                                        \
                         .max_spans = (size_t)1 << 30,                                             \
                         .max_inflated = (uint64_t)1 << 40,                                        \
                         .max_ratio = 1000,                                                        \
                         .max_doc = (size_t)64 << 20,                                              \
                         .max_summary = (size_t)8 << 20,                                           \
                         .max_policy = (size_t)1 << 20,                                            \
                         .max_blob = (size_t)512 << 20,                                            \
                         .max_files = 4096,                                                        \
                         .max_attrs = 64,                                                          \
                         .max_nodes = (size_t)1 << 16 })
#endif
