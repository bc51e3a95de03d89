#ifndef TG_ANALYSIS_INTERNAL_H
#define TG_ANALYSIS_INTERNAL_H
/* The analyses, each in its file, for the table in analysis.c; internal. */
#include "core/analysis/analysis.h"
#include "core/base/sort.h"

void tg_temporal(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_overlap(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_idle(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_kernel_types(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_kernels(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_bandwidth(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_queue(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_launches(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_sequences(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_step_table(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_modules(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_sources(const struct tg_analysis_in *in, struct tg_tables *out);
void tg_skew(const struct tg_analysis_in *in, struct tg_tables *out);
#endif
