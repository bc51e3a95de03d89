#include "reporters/reporter.h"

const struct tg_reporter *const tg_reporters[] = {
    &tg_reporter_text,
    &tg_reporter_json,
    &tg_reporter_csv,
    NULL,
};
