#ifndef TG_CMD_HISTORY_H
#define TG_CMD_HISTORY_H
/* What the files of `tracegate history` share. */
#include "cmd/gate/given.h"
#include "cmd/gate/nights.h"
#include "core/base/file.h"
#include "core/baseline/event.h"
#include "reporters/history.h"

/* In the order of the words of --fail-on; 0: not given, as NEW. */
enum tg_history_fail_on {
    TG_HISTORY_FAIL_ON_DEFAULT,
    TG_HISTORY_FAIL_ON_OPEN,
    TG_HISTORY_FAIL_ON_NEW,
    TG_HISTORY_FAIL_ON_NEVER
};
struct tg_history_cmd_opts {
    const char *suite, *since, *until, *output, *markdown, *html, *svg, *reason;
    enum tg_format format;
    enum tg_history_fail_on fail_on;
    int64_t last;
    struct tg_strs name;
    struct tg_given given;
};

struct tg_history_cmd {
    const struct tg_history_cmd_opts *o;
    const struct tg_io *io;
    struct tg_arena *arena;
    struct tg_repo *repo;
    struct tg_git *git;
    struct tg_store store; /* of `git` */
    struct tg_commit until;
    struct tg_nights *nights; /* a suite each */
    struct tg_history_suite *suite;
    size_t n;
    struct tg_outputs files;
    struct tg_err unread; /* the first record of an event that cannot be read */
};

/* What is printed of a suite: events, series, releases, from the first night shown. */
TG_MUST bool tg_history_cmd_tell(struct tg_history_cmd *c, struct tg_nights *n,
                                 struct tg_history_suite *out, struct tg_err *err);
#endif
