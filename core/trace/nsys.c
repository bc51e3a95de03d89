/*
 * The SQLite export of Nsight Systems (`nsys export --type sqlite`). Tables are made when something
 * is in them, and columns differ by version. Correlations count within a process, whose number is
 * in bits 24 to 47 of globalPid and globalTid; a file may have several processes.
 */
#include "core/trace/database.h"

#include <string.h>

#define CALLS "CUPTI_ACTIVITY_KIND_RUNTIME"
#define PID(of) "((t." of " >> 24) & 16777215)"
#define CORRELATION(of) "((" PID(of) " << 32) | (t.correlationId & 4294967295))"
#define ENDED " WHERE t.[end] IS NOT NULL" /* what ran when the recording ended has no end */
#define DEVICE_ROW                                                                                 \
    "t.start, t.[end], t.deviceId, t.streamId, " CORRELATION("globalPid") ", t.deviceId, "         \
                                                                          "t.streamId"
#define DEVICE_NEEDS "start end deviceId streamId correlationId globalPid"

static const struct tg_db_query queries[] = {
    { CALLS, NULL, "start end globalTid correlationId nameId",
      "SELECT 'call', s.value, t.start, t.[end], " PID(
          "globalTid") ", t.globalTid & 16777215, " CORRELATION("globalTid") " FROM " CALLS
                                                                             " t LEFT JOIN "
                                                                             "StringIds s ON s.id "
                                                                             "= t.nameId" ENDED },
    { "CUPTI_ACTIVITY_KIND_KERNEL", NULL, DEVICE_NEEDS " demangledName",
      "SELECT 'kernel', s.value, " DEVICE_ROW ", NULL, $gridX, $gridY, $gridZ, $blockX, $blockY, "
      "$blockZ, $registersPerThread, $staticSharedMemory + $dynamicSharedMemory "
      "FROM CUPTI_ACTIVITY_KIND_KERNEL t LEFT JOIN StringIds s ON s.id = t.demangledName" ENDED },
    { "CUPTI_ACTIVITY_KIND_MEMCPY", NULL, DEVICE_NEEDS " bytes copyKind",
      "SELECT 'gpu_memcpy', 'Memcpy ' || CASE t.copyKind WHEN 1 THEN 'HtoD' WHEN 2 THEN 'DtoH' "
      "WHEN 3 THEN 'HtoA' WHEN 4 THEN 'AtoH' WHEN 5 THEN 'AtoA' WHEN 6 THEN 'AtoD' "
      "WHEN 7 THEN 'DtoA' WHEN 8 THEN 'DtoD' WHEN 9 THEN 'HtoH' WHEN 10 THEN 'PtoP' "
      "ELSE 'Unknown' END || coalesce(' (' || $a:ENUM_CUDA_MEM_KIND.label || ' -> ' || "
      "$b:ENUM_CUDA_MEM_KIND.label || ')', ''), " DEVICE_ROW ", t.bytes "
      "FROM CUPTI_ACTIVITY_KIND_MEMCPY t "
      "{ENUM_CUDA_MEM_KIND LEFT JOIN ENUM_CUDA_MEM_KIND a ON a.id = $srcKind "
      "LEFT JOIN ENUM_CUDA_MEM_KIND b ON b.id = $dstKind}" ENDED },
    { "CUPTI_ACTIVITY_KIND_MEMSET", NULL, DEVICE_NEEDS " bytes",
      "SELECT 'gpu_memset', 'Memset (Device)', " DEVICE_ROW ", t.bytes "
      "FROM CUPTI_ACTIVITY_KIND_MEMSET t" ENDED },
    { "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", NULL, DEVICE_NEEDS " syncType",
      "SELECT 'cuda_sync', CASE t.syncType WHEN 1 THEN 'Event Sync' WHEN 2 THEN "
      "'Stream Wait Event' WHEN 3 THEN 'Stream Sync' WHEN 4 THEN 'Context Sync' "
      "ELSE 'Unknown Sync' END, " DEVICE_ROW " FROM CUPTI_ACTIVITY_KIND_SYNCHRONIZATION t" ENDED },
    /* Graphs as wholes: what is in them is unknown, but the device was busy. */
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", NULL, DEVICE_NEEDS,
      "SELECT 'kernel', 'CUDA graph', " DEVICE_ROW
      " FROM CUPTI_ACTIVITY_KIND_GRAPH_TRACE t" ENDED },
    /* 59: push and pop; 60: start and end, which need not nest, on another thread not at all. */
    { "NVTX_EVENTS", NULL, "start end eventType globalTid",
      "SELECT 'range', coalesce($text, s.value), t.start, t.[end], " PID(
          "globalTid") ", "
                       "CASE WHEN t.eventType = 60 AND coalesce($endGlobalTid, t.globalTid) <> "
                       "t.globalTid "
                       "THEN 'ranges' ELSE t.globalTid & 16777215 END "
                       "FROM NVTX_EVENTS t LEFT JOIN StringIds s ON s.id = $textId " ENDED
                       " AND t.eventType IN (59, 60)" },
};

/* cudaLaunchKernel_v7000 is cudaLaunchKernel. */
static tg_sv without_version(tg_sv name)
{
    size_t n = name.n;
    while (n && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
        n--;
    if (n < name.n && n > 2 && name.p[n - 1] == 'v' && name.p[n - 2] == '_')
        name.n = n - 2;
    return name;
}

/* cuLaunchKernel is the driver's, cudaLaunchKernel the runtime's. */
static void clean(tg_sv *category, tg_sv *name)
{
    if (tg_sv_eq(*category, TG_SV("range"))) {
        tg_nvtx_range(category, name);
    } else if (tg_sv_eq(*category, TG_SV("call"))) {
        bool driver = name->n > 2 && name->p[2] >= 'A' && name->p[2] <= 'Z';
        *name = without_version(*name);
        *category = driver ? TG_SV("cuda_driver") : TG_SV("cuda_runtime");
    }
}

const struct tg_db_dialect tg_nsys = {
    .profiler = "Nsight Systems",
    .hint = "Record with `nsys profile --trace=cuda,nvtx --cuda-graph-trace=node` and export with "
            "`nsys export --type sqlite`.",
    .devices = { "TARGET_INFO_GPU", NULL, "id name",
                 "SELECT t.id, t.name FROM TARGET_INFO_GPU t WHERE t.name <> '' LIMIT 1024" },
    .launches = { CALLS, NULL, "correlationId",
                  "SELECT min(correlationId), max(correlationId) FROM " CALLS },
    .queries = queries,
    .n = sizeof queries / sizeof *queries,
    .name = clean,
};

void tg_nvtx_range(tg_sv *category, tg_sv *name)
{
    static const tg_sv ends[] = { { ", seq = ", 8 }, { ", op_id = ", 10 } };
    size_t n = name->n;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const char *at = memmem(name->p, n, ends[i].p, ends[i].n);
        if (at)
            n = (size_t)(at - name->p);
    }
    *category = n < name->n ? TG_SV("cpu_op") : TG_SV("user_annotation");
    name->n = n;
}
