#ifndef TG_METRIC_METRIC_TABLE_H
#define TG_METRIC_METRIC_TABLE_H
/*
 * The one table of whole-trace metrics. Ids (metric.h), metrics of the policy
 * (policy/language/rule_metric.c), its documentation, linter, JSON schema, help and the stored
 * form are made from it. Never reorder rows. A new row changes the stored form: raise
 * TG_SUMMARY_FORMAT, unless it is derived from what is stored (tg_metrics_derive).
 *
 * X(ID, name, unit, worse, how, by, counts, meaning)
 *   unit   NS, PERCENT, COUNT, BYTES, RATE (GB/s, that is bytes per ns)
 *   worse  MORE or LESS
 *   how    how steps become one number: MEAN of the steps' values, or RATIO of the sums of
 *          numerators and denominators, so that long steps weigh as long as they are
 *   by     what settles the value: RUNS, measured, so a change needs evidence; PROGRAM, equal in
 *          every run; DEVICE, equal in every run on one device, but another one changes it
 *   counts the calls that it counts: LAUNCHES, SYNCS, or NOTHING; a report names the operator whose
 *          calls changed it
 * Formulas, pitfalls and what makes a metric unknown: docs/metrics.md.
 */
/* clang-format off */
#define TG_METRIC_TABLE(X)                                                                         \
    X(DEVICE_EXTENT, "device_extent", NS, MORE, MEAN, RUNS, NOTHING,                               \
      "a step's device work, from its first start to its last end")                                \
    X(GPU_BUSY, "gpu_busy", NS, MORE, MEAN, RUNS, NOTHING,                                         \
      "time in which the device ran something")                                                    \
    X(IDLE, "idle", PERCENT, MORE, RATIO, RUNS, NOTHING,                                           \
      "share of the step in which the device ran nothing")                                         \
    X(IDLE_HOST_WAIT, "idle_host_wait", PERCENT, MORE, RATIO, RUNS, NOTHING,                       \
      "share of the step idle because the next work was launched too late")                        \
    X(IDLE_KERNEL_WAIT, "idle_kernel_wait", PERCENT, MORE, RATIO, RUNS, NOTHING,                   \
      "share of the step idle in gaps under 30 us before work already launched")                   \
    X(IDLE_OTHER, "idle_other", PERCENT, MORE, RATIO, RUNS, NOTHING,                               \
      "share of the step idle for any other reason")                                               \
    X(COMPUTE_SHARE, "compute_share", PERCENT, LESS, RATIO, RUNS, NOTHING,                         \
      "share of the step in which the device computed")                                            \
    X(NON_COMPUTE_SHARE, "non_compute_share", PERCENT, MORE, RATIO, RUNS, NOTHING,                 \
      "share of the step in which the device ran something, but computed nothing")                 \
    X(COMM_SHARE, "comm_share", PERCENT, MORE, RATIO, RUNS, NOTHING,                               \
      "share of the step in which communication ran")                                              \
    X(MEMORY_SHARE, "memory_share", PERCENT, MORE, RATIO, RUNS, NOTHING,                           \
      "share of the step in which copies and sets ran")                                            \
    X(COMPUTE_TIME, "compute_time", NS, MORE, MEAN, RUNS, NOTHING,                                 \
      "time in which the device computed")                                                         \
    X(COMM_TIME, "comm_time", NS, MORE, MEAN, RUNS, NOTHING, "time in which communication ran")    \
    X(MEMORY_TIME, "memory_time", NS, MORE, MEAN, RUNS, NOTHING,                                   \
      "time in which copies and sets ran")                                                         \
    X(COMM_EXPOSED, "comm_exposed", NS, MORE, MEAN, RUNS, NOTHING,                                 \
      "communication that no computation hides")                                                   \
    X(COMM_OVERLAP, "comm_overlap", PERCENT, LESS, RATIO, RUNS, NOTHING,                           \
      "share of communication hidden behind computation")                                          \
    X(LAUNCH_COUNT, "launch_count", COUNT, MORE, MEAN, DEVICE, LAUNCHES,                           \
      "kernels, copies, sets and graphs launched")                                                 \
    X(LAUNCH_TIME, "launch_time", NS, MORE, MEAN, RUNS, NOTHING, "host time inside launch calls")  \
    X(LAUNCH_GAP, "launch_gap", NS, MORE, MEAN, RUNS, NOTHING,                                     \
      "device time lost because a launch came late")                                               \
    X(LAUNCH_DELAY, "launch_delay", NS, MORE, RATIO, RUNS, NOTHING,                                \
      "mean time from the end of a launch call to the start of its work")                          \
    X(SHORT_KERNELS, "short_kernels", COUNT, MORE, MEAN, RUNS, NOTHING,                            \
      "device work that took less time than its launch call")                                      \
    X(RUNTIME_OUTLIERS, "runtime_outliers", COUNT, MORE, MEAN, RUNS, NOTHING,                      \
      "launch calls that took more than 50 us")                                                    \
    X(DELAY_OUTLIERS, "delay_outliers", COUNT, MORE, MEAN, RUNS, NOTHING,                          \
      "device work that started more than 100 us after its launch call")                           \
    X(QUEUE_MEAN, "queue_mean", COUNT, LESS, RATIO, RUNS, NOTHING,                                 \
      "launched work that waits on a stream, mean over time")                                      \
    X(QUEUE_MAX, "queue_max", COUNT, LESS, MEAN, RUNS, NOTHING,                                    \
      "launched work that waits on a stream, at most")                                             \
    X(QUEUE_FULL, "queue_full", PERCENT, MORE, RATIO, RUNS, NOTHING,                               \
      "share of time with 1024 or more launches waiting on a stream")                              \
    X(SYNC_COUNT, "sync_count", COUNT, MORE, MEAN, PROGRAM, SYNCS, "synchronising calls")          \
    X(MEMCPY_BYTES, "memcpy_bytes", BYTES, MORE, MEAN, PROGRAM, NOTHING, "bytes copied")           \
    X(BYTES_HTOD, "bytes_htod", BYTES, MORE, MEAN, PROGRAM, NOTHING,                               \
      "bytes copied from host to device")                                                          \
    X(BYTES_DTOH, "bytes_dtoh", BYTES, MORE, MEAN, PROGRAM, NOTHING,                               \
      "bytes copied from device to host")                                                          \
    X(BYTES_DTOD, "bytes_dtod", BYTES, MORE, MEAN, PROGRAM, NOTHING,                               \
      "bytes copied within a device")                                                              \
    X(BYTES_PTOP, "bytes_ptop", BYTES, MORE, MEAN, PROGRAM, NOTHING,                               \
      "bytes copied between devices")                                                              \
    X(BYTES_SET, "bytes_set", BYTES, MORE, MEAN, PROGRAM, NOTHING, "bytes set (memset)")           \
    X(BANDWIDTH_HTOD, "bandwidth_htod", RATE, LESS, RATIO, RUNS, NOTHING,                          \
      "mean bandwidth while copies from host to device run")                                       \
    X(BANDWIDTH_DTOH, "bandwidth_dtoh", RATE, LESS, RATIO, RUNS, NOTHING,                          \
      "mean bandwidth while copies from device to host run")                                       \
    X(BANDWIDTH_DTOD, "bandwidth_dtod", RATE, LESS, RATIO, RUNS, NOTHING,                          \
      "mean bandwidth while copies within a device run")                                           \
    X(BANDWIDTH_PTOP, "bandwidth_ptop", RATE, LESS, RATIO, RUNS, NOTHING,                          \
      "mean bandwidth while copies between devices run")                                           \
    X(BANDWIDTH_SET, "bandwidth_set", RATE, LESS, RATIO, RUNS, NOTHING,                            \
      "mean bandwidth while sets run")                                                             \
    X(PEAK_HTOD, "bandwidth_peak_htod", RATE, LESS, MEAN, RUNS, NOTHING,                           \
      "highest bandwidth from host to device")                                                     \
    X(PEAK_DTOH, "bandwidth_peak_dtoh", RATE, LESS, MEAN, RUNS, NOTHING,                           \
      "highest bandwidth from device to host")                                                     \
    X(PEAK_DTOD, "bandwidth_peak_dtod", RATE, LESS, MEAN, RUNS, NOTHING,                           \
      "highest bandwidth of copies within a device")                                               \
    X(PEAK_PTOP, "bandwidth_peak_ptop", RATE, LESS, MEAN, RUNS, NOTHING,                           \
      "highest bandwidth of copies between devices")                                               \
    X(PEAK_SET, "bandwidth_peak_set", RATE, LESS, MEAN, RUNS, NOTHING,                             \
      "highest bandwidth of sets")                                                                 \
    X(KERNEL_NAMES, "kernel_names", COUNT, MORE, MEAN, DEVICE, NOTHING, "distinct kernel names")   \
    X(GRAPH_LAUNCHES, "graph_launches", COUNT, LESS, MEAN, PROGRAM, NOTHING, "graph launches")     \
    X(MEM_PEAK, "mem_peak", BYTES, MORE, MEAN, DEVICE, NOTHING,                                    \
      "largest allocated device memory (needs profile_memory=True)")                               \
    X(MEM_RESERVED, "mem_reserved", BYTES, MORE, MEAN, DEVICE, NOTHING,                            \
      "largest device memory that the allocator holds (needs profile_memory=True)")                \
    X(HOST_TIME, "host_time", NS, MORE, MEAN, RUNS, NOTHING, "the host's step window")             \
    X(STEP_TIME, "step_time", NS, MORE, MEAN, RUNS, NOTHING,                                       \
      "wall clock from the start of a step to the start of the next")
/* clang-format on */
#endif
