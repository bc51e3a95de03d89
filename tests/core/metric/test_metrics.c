#include "core/metric/metric.h"
#include "tests/build_steps.h"

#define MAX_STEPS 4

struct fixture {
    struct built x;
    struct tg_metric_value v[TG_METRICS * MAX_STEPS];
};

static void setup(struct fixture *f)
{
    bt_init(&f->x.b);
}

static void teardown(struct fixture *f)
{
    built_release(&f->x);
}

#define CASE(name) TEST_IN(struct fixture, f, setup, teardown, name)

static void measure(struct fixture *f, const struct tg_trace *t)
{
    TG_FREE struct tg_name_class *class_ = tg_classes_of(NULL, t->names);
    tg_metrics_compute(t, &f->x.s, class_, f->v);
}

static void compute(struct fixture *f, uint64_t seed)
{
    built_steps(&f->x, seed, &BUILT_AUTO);
    assert_true(f->x.s.n <= MAX_STEPS);
    measure(f, f->x.t);
}

static const struct tg_metric_value *get(struct fixture *f, enum tg_metric m, size_t step)
{
    return &f->v[(size_t)m * f->x.s.n + step];
}

/* What a step has of metrics: "idle 10/210" is ten of 210, "gpu_busy 200" a number, "mem_peak ?" is
 * not known. Blanks stand between them. */
static void expect(struct fixture *f, size_t step, const char *text)
{
    for (tg_sv rest = tg_sv_of(text), word; (rest = tg_sv_past(rest, " ")).n;) {
        enum tg_metric m;
        const struct tg_metric_value *v;
        int64_t num = 0, den = 1;
        tg_sv name = tg_sv_cut(&rest, ' ');
        assert_true(tg_metric_find(name, &m));
        v = get(f, m, step);
        word = tg_sv_cut(&rest, ' ');
        if (v->known != !tg_sv_eq(word, TG_SV("?")))
            fail_msg("%.*s is %sknown", TG_SV_ARG(name), v->known ? "" : "not ");
        if (!v->known)
            continue;
        assert_true(tg_sv_i64(tg_sv_cut(&word, '/'), &num) && (!word.n || tg_sv_i64(word, &den)));
        if (v->num != num || v->den != den)
            fail_msg("%.*s is %lld/%lld", TG_SV_ARG(name), (long long)v->num, (long long)v->den);
    }
}

/*
 * Step 0 on the device, by hand (ns):
 *   stream 7   gemm [100,200)            gemm [260,300)
 *   stream 8        nccl [150,       250)        copy [300,310)
 * busy: [100,250) + [260,310) = 200 of 210; idle 10. nccl 100, of which [150,200) is hidden: 50.
 * The gap [250,260) ends with a gemm launched at 255, after 250: the host was late, 10.
 * Launches: two kernels, one nccl kernel, one copy, a kernel whose rows are missing: 5; times
 * 5 + 5 + 5 + 5 + 7 = 27. The driver call inside the first launch does not count again.
 */
static void one_step(struct bt *b)
{
    bt_host(b, "user_annotation", "ProfilerStep#1", "1", 0, 400, -1);
    bt_host(b, "cuda_runtime", "cudaLaunchKernel", "1", 50, 5, 1);
    bt_host(b, "cuda_driver", "cuLaunchKernel", "1", 51, 2, 1);
    bt_host(b, "cuda_runtime", "cudaLaunchKernelExC", "1", 60, 5, 2);
    bt_host(b, "cuda_runtime", "cudaLaunchKernel", "1", 255, 5, 3);
    bt_host(b, "cuda_runtime", "cudaMemcpyAsync", "1", 270, 5, 4);
    bt_host(b, "cuda_runtime", "cudaLaunchKernel", "1", 280, 7, 5);
    bt_host(b, "cuda_runtime", "cudaStreamSynchronize", "1", 300, 9, 6);
    bt_host(b, "cuda_runtime", "cudaEventQuery", "1", 320, 1, 7);
    bt_device(b, "kernel", "gemm_a", 7, 100, 100, 1);
    bt_device(b, "kernel", "ncclDevKernel_AllReduce", 8, 150, 100, 2);
    bt_device(b, "kernel", "gemm_a", 7, 260, 40, 3);
    bt_add(b, (struct bt_row){ "gpu_memcpy", "Memcpy DtoH", "0", "8", 300, 10, 4, 0, 8,
                               "bytes=4096\nbandwidth=1.5" });
}

CASE(a_step_by_hand)
{
    one_step(&f->x.b);
    for (uint64_t seed = 0; seed < 6; seed++) {
        compute(f, seed);
        expect(f, 0,
               "device_extent 210 gpu_busy 200 idle 10/210 comm_exposed 50 "
               "comm_overlap 50/100 launch_count 5 launch_time 27 launch_gap 10 "
               "sync_count 1 memcpy_bytes 4096 kernel_names 2 graph_launches 0 "
               "host_time 400 mem_peak ?");
    }
}

/*
 * The same step. Length 210, busy 200. Computation [100,200) + [260,300) = 140, so 60 run without
 * it; communication 100, memory 10. Delays from the calls' ends: 100 - 55, 150 - 65, 260 - 260,
 * 300 - 275: 155 over 4. Queue of stream 7: one waits in [50,100) and [255,260), 55 of 50..260;
 * stream 8: [60,150) and [270,300), 120 of 60..300; 175 of 450. 4096 bytes in 10 ns.
 */
CASE(shares_launches_and_copies_by_hand)
{
    one_step(&f->x.b);
    for (uint64_t seed = 0; seed < 6; seed++) {
        compute(f, seed);
        expect(f, 0,
               "idle_host_wait 10/210 idle_kernel_wait 0/210 idle_other 0/210 "
               "compute_share 140/210 non_compute_share 60/210 comm_share 100/210 "
               "memory_share 10/210 compute_time 140 comm_time 100 memory_time 10 "
               "launch_delay 155/4 short_kernels 0 runtime_outliers 0 delay_outliers 0 "
               "queue_mean 175/450 queue_max 1 queue_full 0/450 bytes_dtoh 4096 "
               "bytes_htod 0 bytes_set 0 bandwidth_dtoh 4096/10 "
               "bandwidth_peak_dtoh 409600000000/1000000000 bandwidth_htod ? "
               "bandwidth_peak_set ?");
    }
}

/*
 * Copies [0,10) and [5,25) to the device, 100 and 60 bytes: 160 in 25 ns, at most 10 + 3 GB/s. The
 * third, [25,35) with 40 bytes, follows without a gap: 200 in 35 ns, still 13. One without bytes
 * makes the direction unknown, and the total with it; the other direction stays known.
 */
CASE(bandwidth_of_overlapping_copies)
{
    const struct bt_row copies[] = {
        { "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "7", 0, 10, 1, 0, 7, "bytes=100" },
        { "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "8", 5, 20, 2, 0, 8, "bytes=60" },
        { "gpu_memcpy", "CopyHostToDevice", "0", "7", 25, 10, 3, 0, 7, "bytes=\"40\"" },
        { "gpu_memset", "Memset (Device)", "0", "7", 40, 2, 4, 0, 7, "bytes=8" },
        { "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", "0", "7", 50, 2, 5, 0, 7, "" },
    };
    for (size_t i = 0; i < 4; i++)
        bt_add(&f->x.b, copies[i]);
    compute(f, 0);
    expect(f, 0,
           "bytes_htod 200 memcpy_bytes 200 bytes_set 8 bandwidth_htod 200/35 "
           "bandwidth_peak_htod 13000000000/1000000000 bandwidth_set 8/2");
    bt_add(&f->x.b, copies[4]);
    compute(f, 0);
    expect(f, 0,
           "bytes_htod ? memcpy_bytes ? bandwidth_htod ? bandwidth_peak_htod ? "
           "bytes_set 8");
}

/*
 * Gaps: [100,120) before work launched at 10: kernel_wait, 20 < 30 us by far. [200,40200) before
 * work launched at 11: other. [40300,40310) before work launched at 40305: host_wait. One call of
 * 60 us, whose work takes 100 ns; work that starts 40200 - 12 = 40188 ns after its call is late
 * only beyond 100 us. 40310 - 40305 - 60000 < 0: no delay.
 */
CASE(idle_causes_and_outliers)
{
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 0, 1, 1);
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 10, 1, 2);
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 11, 1, 3);
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 40305, 60000, 4);
    bt_device(&f->x.b, "kernel", "a", 7, 0, 100, 1);
    bt_device(&f->x.b, "kernel", "b", 7, 120, 80, 2);
    bt_device(&f->x.b, "kernel", "c", 7, 40200, 100, 3);
    bt_device(&f->x.b, "kernel", "d", 7, 40310, 100, 4);
    compute(f, 0);
    expect(f, 0,
           "idle 40030/40410 idle_kernel_wait 20/40410 idle_other 40000/40410 "
           "idle_host_wait 10/40410 launch_gap 10 short_kernels 1 runtime_outliers 1 "
           "delay_outliers 0");
    expect(f, 0, "launch_delay 40297/4"); /* 109 + 40188 */
}

/* The gap [250,260) is the device's own when its kernel was launched at 240. */
CASE(a_gap_after_an_early_launch_is_not_the_hosts)
{
    one_step(&f->x.b);
    f->x.b.v[4].ts = 240;
    compute(f, 0);
    expect(f, 0, "launch_gap 0");
}

CASE(what_a_trace_cannot_tell_is_unknown)
{
    bt_host(&f->x.b, "cpu_op", "aten::mm", "1", 10, 90, -1);
    compute(f, 0); /* CPU only, no markers */
    expect(f, 0,
           "step_time 90 host_time 90 device_extent ? gpu_busy ? idle ? comm_overlap ? "
           "launch_count ? sync_count ? memcpy_bytes ? kernel_names ?");
    bt_device(&f->x.b, "gpu_memcpy", "Memcpy DtoD", 7, 40, 5, 1);
    compute(f, 0); /* a copy without bytes; no links; no communication */
    expect(f, 0,
           "device_extent 5 gpu_busy 5 comm_exposed 0 comm_overlap ? memcpy_bytes ? "
           "launch_gap ? launch_count ?");
}

/* Wall clock: from the start of a step to that of the next one; the last one's, or one before a gap
 * in the numbers, is its window. PyTorch numbers the first two steps alike. Steps 0 [0,100), 0
 * [120,220), 1 [250,350), 7 [900,1000). */
TEST(wall_clock_of_steps)
{
    static const struct tg_step v[] = {
        { 0, 0, 100, 0 }, { 0, 120, 220, 0 }, { 1, 250, 350, 0 }, { 7, 900, 1000, 0 }
    };
    static const int64_t want[] = { 120, 130, 100, 100 };
    struct tg_metric_value m[TG_METRICS * 4] = { 0 };
    tg_metrics_derive(v, 4, m);
    for (size_t k = 0; k < 4; k++) {
        assert_true(m[TG_METRIC_STEP_TIME * 4 + k].known);
        assert_int_equal(m[TG_METRIC_STEP_TIME * 4 + k].num, want[k]);
    }
}

/* AMD writes bytes as text. A step without device work has no extent on it, but busy 0. */
CASE(bytes_as_text_and_empty_steps)
{
    one_step(&f->x.b);
    f->x.b.v[f->x.b.n - 1].attrs = "bytes=\"512\"";
    bt_host(&f->x.b, "user_annotation", "ProfilerStep#2", "1", 400, 50, -1);
    compute(f, 0);
    expect(f, 0, "memcpy_bytes 512");
    expect(f, 1, "gpu_busy 0 launch_count 0 host_time 50 device_extent ? idle ?");
}

/* Two devices: sums of busy and of lengths; the extent is the longer one's. Device 1 works
 * [0,30) and [50,60): 60 long, 40 busy; device 0 [100,310) as above. */
CASE(devices_are_not_merged)
{
    one_step(&f->x.b);
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 1, 1, 11);
    bt_host(&f->x.b, "cuda_runtime", "cudaLaunchKernel", "1", 3, 1, 12);
    bt_add(&f->x.b, (struct bt_row){ "kernel", "gemm_b", "1", "7", 0, 30, 11, 1, 7, "" });
    bt_add(&f->x.b, (struct bt_row){ "kernel", "gemm_b", "1", "7", 50, 10, 12, 1, 7, "" });
    compute(f, 0);
    expect(f, 0, "device_extent 210 gpu_busy 240 idle 30/270 kernel_names 3");
}

CASE(memory_peaks_are_those_of_the_device_in_the_step)
{
    struct tg_memory_event m[] = {
        { 5, 0, -1, 0, 900, 7000 },  /* CPU */
        { 6, 1, 0, 0, 100, 800 },    /* step 1 */
        { 7, 1, 0, 0, 300, 600 },    /* step 1 */
        { 8, 1, 0, 0, -1, -1 },      /* without a total */
        { 410, 1, 0, 0, 700, 5000 }, /* outside */
    };
    struct tg_trace with_memory;
    one_step(&f->x.b);
    compute(f, 0);
    with_memory = *f->x.t;
    with_memory.memory = m;
    with_memory.n_memory = 5;
    measure(f, &with_memory);
    expect(f, 0, "mem_peak 300 mem_reserved 800");
    with_memory.n_memory = 1;
    measure(f, &with_memory);
    expect(f, 0, "mem_peak 900");
}

/* The oracle: every ns of a short random trace is looked at by itself. */
struct oracle {
    bool busy[256], comm[256], comp[256];
};

CASE(random_traces_agree_with_a_sweep_over_every_ns)
{
    uint64_t r = 7;
    for (int round = 0; round < 300; round++) {
        struct oracle o = { 0 };
        int busy = 0, comm = 0, hidden = 0, first = 256, last = 0;
        char want[200];
        f->x.b.n = 0;
        for (int k = 0; k < 12; k++) {
            int64_t start, dur;
            int kind;
            r = r * 6364136223846793005u + 1442695040888963407u;
            start = (int64_t)(r >> 33) % 200;
            dur = (int64_t)(r >> 45) % 40 + 1;
            kind = (int)(r >> 60) % 3;
            bt_device(&f->x.b, kind == 2 ? "gpu_memcpy" : "kernel",
                      kind == 0   ? "nccl_x"
                      : kind == 1 ? "gemm"
                                  : "Memcpy",
                      (int64_t)(r >> 50) % 4, start + 1, dur, -1);
            for (int64_t x = start; x < start + dur; x++) {
                o.busy[x] = true;
                o.comm[x] |= kind == 0;
                o.comp[x] |= kind == 1;
            }
        }
        for (int x = 0; x < 256; x++) {
            busy += o.busy[x];
            comm += o.comm[x];
            hidden += o.comm[x] && o.comp[x];
            if (o.busy[x]) {
                first = x < first ? x : first;
                last = x + 1;
            }
        }
        compute(f, (uint64_t)round);
        (void)snprintf(want, sizeof want,
                       "gpu_busy %d device_extent %d idle %d/%d comm_exposed %d comm_overlap ",
                       busy, last - first, last - first - busy, last - first, comm - hidden);
        (void)snprintf(want + strlen(want), 40, comm ? "%d/%d" : "?", hidden, comm);
        expect(f, 0, want);
    }
}

CASE(names_lead_to_metrics_and_back)
{
    for (int m = 0; m < TG_METRICS; m++) {
        enum tg_metric back;
        assert_true(tg_metric_find(tg_sv_of(tg_metric_info((enum tg_metric)m)->name), &back));
        assert_int_equal(back, m);
    }
    assert_false(tg_metric_find(TG_SV("nothing"), &(enum tg_metric){ 0 }));
}
