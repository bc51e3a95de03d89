/* In place of inflate_zlib.c where there is no zlib for the machine: plain traces only. */
#include "core/trace/inflate.h"

const struct tg_inflate_ops *tg_inflate_zlib(void)
{
    return NULL;
}
