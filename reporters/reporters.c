#include "reporters/reporter.h"

const struct tg_reporter *const tg_reporters[] = {
    &tg_reporter_text,     &tg_reporter_json,        &tg_reporter_junit,
    &tg_reporter_markdown, &tg_reporter_svg_counts,  &tg_reporter_svg_durations,
    &tg_reporter_csv,      &tg_reporter_annotations, NULL,
};
