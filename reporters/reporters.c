#include "reporters/reporter.h"

#define ROW(id, name, extension, to, summary) { name, extension, summary, tg_reporter_##id },
const struct tg_reporter tg_reporters[TG_REPORTS] = { TG_REPORTERS(ROW) };
