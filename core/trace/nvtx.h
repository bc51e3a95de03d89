#ifndef TG_TRACE_NVTX_H
#define TG_TRACE_NVTX_H
/*
 * Names of NVTX's and rocTX's ranges; internal to core/trace. torch.autograd.profiler.emit_nvtx
 * writes "aten::add, seq = 3, op_id = 7": that is the operator aten::add. Any other range is an
 * annotation.
 */
#include "core/base/sv.h"

/* Kineto's category of the range `name`, which loses the numbers of an operator. */
void tg_nvtx_range(tg_sv *category, tg_sv *name);
#endif
