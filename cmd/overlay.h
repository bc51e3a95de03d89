#ifndef TG_CMD_OVERLAY_H
#define TG_CMD_OVERLAY_H
/*
 * A trace written again with marks of ours: counter tracks (queue length by stream, memory traffic
 * by kind) and, where `operator_name` is given, the frequent sequences of device work. Every byte
 * of the original is copied unchanged; the marks go to the front of its traceEvents, on a
 * process named "tracegate". Compressed when the name ends in ".gz"; written whole or not at all.
 */
#include "cmd/analyze.h"
#include "core/analysis/analysis.h"

TG_MUST bool tg_overlay_write(const char *path, const struct tg_input_item *item,
                              const struct tg_analysis_in *in, const struct tg_analyze_request *q,
                              struct tg_err *err);
#endif
