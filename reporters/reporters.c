#include "reporters/reporter.h"

#define PRINTS_PRINT true
#define PRINTS_FILE false
#define ROW(id, name, file, to, summary) { name, file, summary, PRINTS_##to, tg_reporter_##id },
const struct tg_reporter tg_reporters[TG_REPORTS] = { TG_REPORTERS(ROW) };
