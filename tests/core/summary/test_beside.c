#include "core/summary/beside.h"
#include "tests/support.h"

enum { SPANS = 40, TRACKS = 3, DEVICES = 2 };

static tg_ns common(const struct tg_beside_span *x, const struct tg_beside_span *y)
{
    tg_ns from = x->start > y->start ? x->start : y->start;
    tg_ns to = x->end < y->end ? x->end : y->end;
    return to > from ? to - from : 0;
}

/* By the definition, over all pairs; a track's spans follow each other, as a stream's do. */
TEST(each_span_has_what_other_tracks_of_its_device_overlap)
{
    uint64_t seed = 1;
    for (int round = 0; round < 200; round++) {
        struct tg_beside_span x[SPANS];
        struct tg_beside b = { 0 };
        uint8_t got[SPANS] = { 0 };
        tg_ns free_at[DEVICES * TRACKS] = { 0 }, now = 0;
        for (size_t i = 0; i < SPANS; i++) {
            seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
            uint32_t track = (uint32_t)(seed >> 33) % (DEVICES * TRACKS);
            now = free_at[track] > now ? free_at[track] : now + (tg_ns)(seed >> 60);
            x[i] = (struct tg_beside_span){ track, track / TRACKS,
                                            now,   now + 1 + (tg_ns)(seed >> 40) % 90,
                                            0,     &got[i] };
            free_at[track] = x[i].end;
            tg_beside_add(&b, &x[i]);
        }
        tg_beside_end(&b);
        for (size_t i = 0; i < SPANS; i++) {
            tg_ns over = 0, whole = x[i].end - x[i].start;
            for (size_t j = 0; j < SPANS; j++)
                if (x[j].track != x[i].track && x[j].device == x[i].device)
                    over += common(&x[i], &x[j]);
            tg_ns want = over >= whole ? TG_BESIDE_ALL : (TG_BESIDE_ALL * over + whole - 1) / whole;
            assert_int_equal(got[i], want);
        }
    }
}

TEST(a_column_comes_back_and_damage_is_noticed)
{
    TG_ARENA *a = tg_arena_new();
    const struct tg_row_key kernel = { .kind = TG_KIND_KERNEL }, op = { .kind = TG_KIND_OP };
    uint32_t two[] = { 1, 1, 0 }, none[] = { 0, 0, 0 };
    uint8_t of[2][2] = { { 3, 0 }, { TG_BESIDE_ALL, 1 } };
    struct tg_row rows[] = { { .key = &op, .count = two },
                             { .key = &kernel, .count = two, .beside = of[0] },
                             { .key = &kernel, .count = none },
                             { .key = &kernel, .count = two, .beside = of[1] } };
    struct tg_shard s = { .rows = rows, .n_rows = 4, .n_steps = 2 };
    TG_BUF b = { 0 };
    tg_beside_put(&b, &s);
    tg_sv whole = tg_buf_sv(&b);
    const tg_sv bad[] = { TG_SV("\1\3"),
                          TG_SV("\0\0\0"),
                          TG_SV("\1\3\0\0\3\0"),
                          TG_SV("\1\3\21"),
                          TG_SV("\2\0\0"),
                          TG_SV("\4\0\0"),
                          TG_SV("\377\377\377\377\377\377\377\377\177\0\0") };

    for (size_t i = 0; i <= sizeof bad / sizeof *bad; i++) {
        bool ends = i == sizeof bad / sizeof *bad;
        rows[1].beside = rows[3].beside = NULL;
        s.beside_known = false;
        assert_int_equal(tg_beside_read(&s, ends ? whole : bad[i], a), ends);
        assert_int_equal(s.beside_known, ends);
    }
    assert_memory_equal(rows[1].beside, of[0], 2);
    assert_memory_equal(rows[3].beside, of[1], 2);
}
