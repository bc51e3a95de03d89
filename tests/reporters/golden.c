#include "golden.h"

#include "core/base/file.h"
#include "tests/support.h"

void golden_check(const char *name, tg_sv bytes)
{
    char path[512];
    TG_BUF want = { 0 };
    struct tg_err err = TG_ERR_INIT;
    (void)snprintf(path, sizeof path, "%s/tests/golden/%s", TG_SOURCE_DIR, name);
    if (getenv("TG_UPDATE_GOLDEN")) {
        if (!tg_file_write(path, bytes, &err))
            fail_msg("%s: %s", path, err.message);
        return;
    }
    if (!tg_file_read(&want, path, (size_t)16 << 20, &err))
        fail_msg("%s: %s (TG_UPDATE_GOLDEN=1 writes it)", path, err.message);
    if (!tg_sv_eq(tg_buf_sv(&want), bytes)) {
        size_t at = 0, line = 1;
        while (at < want.n && at < bytes.n && want.p[at] == bytes.p[at])
            line += want.p[at++] == '\n';
        fail_msg("%s differs from line %zu on; TG_UPDATE_GOLDEN=1 rewrites it", path, line);
    }
}
