/*
 * rocpd, what rocprofv3 writes: views of bare names over tables with a suffix. Two generations:
 * times, process and thread in the rows, or (with start_id and end_id) times in rocpd_timestamp,
 * and a track that has the rest. A launch and its work share the stack id of their events.
 */
#include "core/trace/database.h"

/* Only what gives a row its meaning is required:
 * tables and columns differ between versions and merges. */
#define AGENT "coalesce($a:rocpd_info_agent.type_index, $a:rocpd_info_agent.id, $agent_id, 0)"
#define BLOCKS(axis) "($grid_size_" axis " + $workgroup_size_" axis " - 1) / $workgroup_size_" axis
#define SHAPE                                                                                      \
    BLOCKS("x")                                                                                    \
    ", " BLOCKS("y") ", " BLOCKS("z") ", $workgroup_size_x, $workgroup_size_y, "                   \
                                      "$workgroup_size_z, NULL, $group_segment_size"
#define STRING " LEFT JOIN rocpd_string n ON n.id = t.name_id"
#define EVENT                                                                                      \
    " {rocpd_event LEFT JOIN rocpd_event e ON e.id = $event_id}"                                   \
    " LEFT JOIN rocpd_string c ON c.id = $e:rocpd_event.category_id"
#define TIMES                                                                                      \
    " LEFT JOIN rocpd_timestamp b ON b.id = t.start_id"                                            \
    " LEFT JOIN rocpd_timestamp f ON f.id = t.end_id"                                              \
    " {rocpd_track LEFT JOIN rocpd_track k ON k.id = $track_id}"
/* What ran when the recording ended has no end. */
#define ENDED " WHERE t.[end] IS NOT NULL"
#define STAMPED " WHERE t.end_id IS NOT NULL"
/* Stack ids count within a process; a file may have several, merged. If calls do not tell theirs,
 * one is taken for granted. */
#define IN_PROCESS(pid) "((coalesce(" pid ", 0) << 32) | ($e:rocpd_event.stack_id & 4294967295))"
#define CORRELATION IN_PROCESS("{rocpd_region.pid $pid,} 0")
#define TRACK_CORRELATION IN_PROCESS("$pid, $k:rocpd_track.pid")
#define STREAM "coalesce($stream_id, $queue_id, 0)"
/* Where work ran is in its row, or in that of its track. */
#define TRACK_STREAM                                                                               \
    "coalesce($stream_id, $k:rocpd_track.stream_id, $queue_id, $k:rocpd_track.queue_id, 0)"
#define SYMBOL " LEFT JOIN rocpd_info_kernel_symbol s ON s.id = t.kernel_id"
#define KERNEL_NAME                                                                                \
    "coalesce($s:rocpd_info_kernel_symbol.display_name, $s:rocpd_info_kernel_symbol.kernel_name)"
#define COPY_NAME                                                                                  \
    "CASE n.string WHEN 'MEMORY_COPY_HOST_TO_DEVICE' THEN 'Memcpy HtoD' "                          \
    "WHEN 'MEMORY_COPY_DEVICE_TO_HOST' THEN 'Memcpy DtoH' "                                        \
    "WHEN 'MEMORY_COPY_DEVICE_TO_DEVICE' THEN 'Memcpy DtoD' "                                      \
    "WHEN 'MEMORY_COPY_HOST_TO_HOST' THEN 'Memcpy HtoH' ELSE n.string END"
#define KERNEL_AGENT                                                                               \
    " {rocpd_info_agent LEFT JOIN rocpd_info_agent a ON a.id = "                                   \
    "coalesce($agent_id, $k:rocpd_track.agent_id)}"
/* The device of a copy: where it goes to, unless that is the host. */
#define COPY_AGENT                                                                                 \
    " {rocpd_info_agent LEFT JOIN rocpd_info_agent d ON d.id = $dst_agent_id "                     \
    "LEFT JOIN rocpd_info_agent a ON a.id = coalesce("                                             \
    "CASE WHEN d.type = 'GPU' THEN $dst_agent_id ELSE $src_agent_id END, $agent_id)}"

static const struct tg_db_query queries[] = {
    { "rocpd_region", "start_id", "end_id name_id",
      "SELECT coalesce(c.string, ''), n.string, b.value, f.value, "
      "coalesce($pid, $k:rocpd_track.pid, 0), coalesce($tid, $k:rocpd_track.tid, "
      "0), " TRACK_CORRELATION " FROM rocpd_region t" TIMES STRING EVENT STAMPED },
    { "rocpd_region", "start", "end name_id",
      "SELECT coalesce(c.string, ''), n.string, t.start, t.[end], coalesce($pid, 0), "
      "coalesce($tid, 0), " CORRELATION " FROM rocpd_region t" STRING EVENT ENDED },
    { "rocpd_kernel_dispatch", "start_id", "end_id kernel_id",
      "SELECT 'kernel', " KERNEL_NAME ", b.value, f.value, " AGENT ", " TRACK_STREAM
      ", " TRACK_CORRELATION ", " AGENT ", " TRACK_STREAM ", NULL, " SHAPE
      " FROM rocpd_kernel_dispatch t" TIMES SYMBOL EVENT KERNEL_AGENT STAMPED },
    { "rocpd_kernel_dispatch", "start", "end kernel_id",
      "SELECT 'kernel', " KERNEL_NAME ", t.start, t.[end], " AGENT ", " STREAM ", " CORRELATION
      ", " AGENT ", " STREAM ", NULL, " SHAPE
      " FROM rocpd_kernel_dispatch t" SYMBOL EVENT KERNEL_AGENT ENDED },
    { "rocpd_memory_copy", "start_id", "end_id name_id size",
      "SELECT 'gpu_memcpy', " COPY_NAME ", b.value, f.value, " AGENT ", " TRACK_STREAM
      ", " TRACK_CORRELATION ", " AGENT ", " TRACK_STREAM
      ", t.size FROM rocpd_memory_copy t" TIMES STRING EVENT COPY_AGENT STAMPED },
    { "rocpd_memory_copy", "start", "end name_id size",
      "SELECT 'gpu_memcpy', " COPY_NAME ", t.start, t.[end], " AGENT ", " STREAM ", " CORRELATION
      ", " AGENT ", " STREAM ", t.size FROM rocpd_memory_copy t" STRING EVENT COPY_AGENT ENDED },
};

/* Markers are ranges whatever their text; calls of HIP and HSA are known by their names. */
static void clean(tg_sv *category, tg_sv *name)
{
    if (tg_sv_eq(*category, TG_SV("kernel")) || tg_sv_eq(*category, TG_SV("gpu_memcpy")))
        return;
    if (!tg_sv_has(*category, TG_SV("MARKER")) && tg_sv_starts(*name, TG_SV("hip")))
        *category = TG_SV("hip_runtime");
    else if (!tg_sv_has(*category, TG_SV("MARKER")) && tg_sv_starts(*name, TG_SV("hsa")))
        *category = TG_SV("hip_driver");
    else
        tg_nvtx_range(category, name);
}

const struct tg_db_dialect tg_rocpd = {
    .profiler = "rocprofv3",
    .hint =
        "Record with `rocprofv3 --hip-trace --kernel-trace --memory-copy-trace --marker-trace`.",
    .devices = { "rocpd_info_agent", NULL, "id type",
                 "SELECT coalesce($type_index, t.id), coalesce($product_name, $name) "
                 "FROM rocpd_info_agent t WHERE t.type = 'GPU' AND "
                 "coalesce($product_name, $name, '') <> '' LIMIT 1024" },
    .launches = { "rocpd_region", NULL, "name_id",
                  "SELECT min($e:rocpd_event.stack_id), max($e:rocpd_event.stack_id) "
                  "FROM rocpd_region t" EVENT },
    .queries = queries,
    .n = sizeof queries / sizeof *queries,
    .name = clean,
};
