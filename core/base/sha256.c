#include "core/base/sha256.h"

#include <sha256.h>

void tg_sha256_hex(tg_sv bytes, char hex[65])
{
    (void)SHA256Data((const uint8_t *)bytes.p, bytes.n, hex);
}

bool tg_sha256_file(const char *path, char hex[65])
{
    return SHA256File(path, hex) != NULL;
}
