#ifndef TG_NUMBER_FORMATS_H
#define TG_NUMBER_FORMATS_H
/* The formats, a file each. Private to core/number. */
#include "core/number/sheet.h"

struct tg_number_format {
    const char *name;
    bool (*begins)(tg_sv head); /* of its first bytes, at most 256 */
    bool (*read)(struct tg_number_sheet *s, tg_sv text);
};
extern const struct tg_number_format tg_number_lines, tg_number_serving, tg_number_pytest,
    tg_number_google;
#endif
