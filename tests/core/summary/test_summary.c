#include "core/base/file.h"
#include "core/summary/layout.h"
#include "core/summary/summary.h"
#include "tests/core/summary/traced.h"

/* Two steps with an operator around a launch, two kernels on one stream, a copy, unlinked work. */
static void two_steps(struct bt *b, tg_ns slower)
{
    const struct {
        tg_ns at;
        const char *name;
    } steps[] = { { 1000, "ProfilerStep#5" }, { 2000, "ProfilerStep#6" } };
    for (int k = 0; k < 2; k++) {
        tg_ns at = steps[k].at;
        bt_host(b, "user_annotation", steps[k].name, "1", at, 900, -1);
        bt_add(b, (struct bt_row){ "cpu_op", "aten::mm", "1", "1", at + 100, 100, -1, -1,
                                   TG_NO_STREAM, "shapes=[[2,3]]\ntypes=[\"float\"]" });
        bt_host(b, "cuda_runtime", "cudaLaunchKernel", "1", at + 120, 10, 10 + k);
        bt_host(b, "cpu_op", "aten::add", "1", at + 300, 50 + slower, -1);
        bt_host(b, "cuda_runtime", "cudaMemcpyAsync", "1", at + 310, 10, 20 + k);
        bt_add(b, (struct bt_row){ "kernel", "gemm", "0", "7", at + 400, 200, 10 + k, 0, 7,
                                   "grid=[1,1,1]\nregisters=128" });
        bt_add(b, (struct bt_row){ "gpu_memcpy", "Memcpy HtoD", "0", "7", at + 650, 20, 20 + k, 0,
                                   7, k ? "bytes=\"64\"\nbandwidth=1.5" : "bytes=64" });
    }
    bt_device(b, "kernel", "gemm", 7, 5000, 30, 99);
    b->info.rank = 0;
    b->info.world_size = 2;
}

static bool add(struct traced *f, struct tg_summary *to, uint64_t seed,
                const struct tg_summarize_opts *o)
{
    return traced_add(to, &f->b, seed, o, &f->err);
}

static const struct tg_summarize_opts PLAIN = { .rank = -1 };

static const struct tg_row *row(const struct tg_shard *s, const char *name, const char *parent)
{
    for (size_t i = 0; i < s->n_rows; i++)
        if (tg_sv_eq(s->rows[i].key->name, tg_sv_of(name)) &&
            tg_sv_eq(s->rows[i].key->parent, tg_sv_of(parent)))
            return &s->rows[i];
    fail_msg("no row %s in %s", name, parent);
    return NULL;
}

static char *text_of(const struct tg_summary *s, struct tg_buf *out)
{
    struct tg_err err;
    tg_buf_clear(out);
    assert_true(tg_summary_write(s, NULL, out, &err));
    return out->p;
}

/* mm: 100 less the launch inside, 90. add: 50 less 10, 40. Gaps of step 5: [1000,1100) 100,
 * [1200,1300) 100, [1350,1900) 550. */
TRACED(a_shard_by_hand)
{
    const struct tg_shard *s;
    const struct tg_row *r;
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &PLAIN));
    assert_int_equal(f->s.n, 1);
    s = f->s.shards[0];
    assert_int_equal(s->rank, 0);
    assert_int_equal(s->n_steps, 2);
    assert_true(s->marked);
    assert_int_equal(s->steps[0].start, 0);
    assert_int_equal(s->steps[1].start, 1000);
    assert_int_equal(s->steps[1].number, 6);
    r = row(s, "aten::mm", "ProfilerStep");
    assert_int_equal(r->key->kind, TG_KIND_OP);
    assert_int_equal(r->key->device, -1);
    assert_int_equal(r->count[0], 1);
    assert_int_equal(r->count[2], 0);
    assert_int_equal(r->total[1], 100);
    assert_int_equal(r->self[1], 90);
    assert_int_equal(r->slots[1], 90);
    assert_int_equal(r->order, 0);
    assert_int_equal(r->n_attrs, 2);
    assert_true(r->attrs[0].kind == TG_ATTR_KIND_SHAPES);
    assert_true(tg_sv_eq(r->attrs[0].value, TG_SV("[[2,3]]")));
    assert_int_equal(r->attrs[0].count, 2);
    r = row(s, "gemm", "aten::mm");
    assert_int_equal(r->key->device, 0);
    assert_int_equal(r->key->stream, 7);
    assert_int_equal(r->count[0], 1);
    assert_int_equal(r->count[2], 0);
    assert_int_equal(r->order, 0);
    assert_true(r->attrs[0].kind == TG_ATTR_KIND_LAUNCH);
    assert_true(tg_sv_eq(r->attrs[0].value, TG_SV("grid=[1,1,1]\nregisters=128")));
    r = row(s, "gemm", ""); /* unlinked, behind the last step: outside */
    assert_int_equal(r->count[2], 1);
    assert_int_equal(r->order, 1); /* the second kernel to start */
    assert_int_equal(r->total[2], 30);
    assert_int_equal(s->unassigned, 1);
    r = row(s, "Memcpy HtoD", "aten::add"); /* 64 and "64" are one attribute, bandwidth is none */
    assert_int_equal(r->n_attrs, 1);
    assert_int_equal(r->attrs[0].count, 2);
    assert_int_equal(row(s, "cudaLaunchKernel", "aten::mm")->count[0], 1);
    assert_int_equal(s->gap_count[0], 3);
    assert_int_equal(s->gaps[0], 100);
    assert_int_equal(s->gaps[1], 100);
    assert_int_equal(s->gaps[2], 550);
    assert_int_equal(row(s, "ProfilerStep#5", "")->self[0], 750);
    assert_true(tg_sv_eq(s->run, s->hash));
    assert_int_equal(s->hash.n, 16);
    assert_true(tg_sv_eq(tg_shard_env(s, "world_size"), TG_SV("2")));
    assert_true(tg_sv_eq(tg_shard_env(s, "device_type"), TG_SV("cuda")));
    assert_true(tg_sv_eq(tg_shard_env(s, "record_shapes"), TG_SV("1")));
    assert_true(tg_sv_eq(tg_shard_env(s, "with_stack"), TG_SV("0")));
    assert_int_equal(tg_shard_env(s, "cpu").n, 0);
}

TRACED(the_order_of_the_file_changes_no_byte)
{
    TG_BUF first = { 0 }, other = { 0 };
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &PLAIN));
    text_of(&f->s, &first);
    for (uint64_t seed = 1; seed < 20; seed++) {
        SUMMARY s = no_shards();
        assert_true(add(f, &s, seed, &PLAIN));
        assert_string_equal(text_of(&s, &other), first.p);
    }
}

TRACED(what_is_read_is_what_was_written)
{
    TG_BUF first = { 0 }, again = { 0 };
    SUMMARY back = no_shards();
    const struct tg_row *r;
    two_steps(&f->b, 3);
    assert_true(add(f, &f->s, 0, &PLAIN));
    text_of(&f->s, &first);
    assert_true(tg_summary_looks_like(tg_buf_sv(&first)));
    assert_true(tg_summary_looks_like(TG_SV(" {\n \"tracegate_summary\": 1")));
    assert_false(tg_summary_looks_like(TG_SV("{\"traceEvents\":[")));
    assert_true(tg_summary_parse(&back, tg_buf_sv(&first), "dir/x.json", &f->err));
    assert_string_equal(text_of(&back, &again), first.p);
    assert_true(tg_sv_eq(back.shards[0]->source, TG_SV("x.json")));
    r = row(back.shards[0], "aten::add", "ProfilerStep");
    assert_int_equal(r->slots[0], 43);
    assert_int_equal(r->total[1], 53);
    /* In itself it collapses. */
    assert_true(tg_summary_merge(&back, &f->s, &f->err));
    assert_int_equal(back.n, 1);
}

/* Three runs, merged as ((0+1)+2), (2+(1+0)), through their stored forms or not. */
TRACED(merging_is_a_union)
{
    struct tg_summary one[3], a, b;
    TG_BUF text = { 0 }, want = { 0 };
    for (int k = 0; k < 3; k++) {
        tg_summary_init(&one[k]);
        f->b.n = 0;
        two_steps(&f->b, k);
        assert_true(add(f, &one[k], 0, &PLAIN));
    }
    tg_summary_init(&a);
    for (int k = 0; k < 3; k++)
        assert_true(tg_summary_merge(&a, &one[k], &f->err));
    text_of(&a, &want);
    tg_summary_init(&b);
    assert_true(tg_summary_merge(&b, &one[1], &f->err));
    assert_true(tg_summary_merge(&b, &one[0], &f->err));
    text_of(&b, &text);
    tg_summary_release(&b);
    tg_summary_init(&b);
    assert_true(tg_summary_merge(&b, &one[2], &f->err));
    assert_true(tg_summary_parse(&b, tg_buf_sv(&text), "x", &f->err));
    assert_true(tg_summary_merge(&b, &one[2], &f->err));
    assert_string_equal(text_of(&b, &text), want.p);
    for (int k = 0; k < 3; k++)
        tg_summary_release(&one[k]);
    tg_summary_release(&a);
    tg_summary_release(&b);
}

TRACED(the_same_key_with_other_content_is_refused)
{
    struct tg_summarize_opts named = { .rank = -1, .run = TG_SV("nightly") };
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &named));
    assert_true(tg_sv_eq(f->s.shards[0]->run, TG_SV("nightly")));
    assert_false(add(f, &f->s, 1, &named)); /* the same trace again */
    assert_int_equal(f->err.kind, TG_ERR_USAGE);
    assert_string_equal(f->err.message, "'made.json' holds the same trace as 'made.json'");
    tg_err_init(&f->err);
    f->b.n = 0;
    two_steps(&f->b, 1);
    assert_false(add(f, &f->s, 0, &named));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    assert_string_equal(f->err.message,
                        "run 'nightly', rank 0 is there twice with different content");
    named.rank = 1;
    assert_true(add(f, &f->s, 0, &named));
    assert_int_equal(f->s.n, 2);
}

TRACED(meta_is_added_and_wins)
{
    const struct tg_kv meta[] = { { TG_SV("cpu"), TG_SV("Xeon \xff") },
                                  { TG_SV("world_size"), TG_SV("4") } };
    struct tg_summarize_opts o = { .rank = -1, .meta = meta, .n_meta = 2 };
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &o));
    assert_true(tg_sv_eq(tg_shard_env(f->s.shards[0], "cpu"), TG_SV("Xeon \xef\xbf\xbd")));
    assert_true(tg_sv_eq(tg_shard_env(f->s.shards[0], "world_size"), TG_SV("4")));
}

/* Names that are the same once they are valid UTF-8 are one row, and survive the stored form. */
TRACED(broken_names_become_one_row)
{
    TG_BUF first = { 0 }, again = { 0 };
    SUMMARY back = no_shards();
    bt_host(&f->b, "cpu_op", "a\xff", "1", 10, 5, -1);
    bt_host(&f->b, "cpu_op", "a\xfe", "1", 20, 5, -1);
    bt_host(&f->b, "cpu_op", "\"<&\n\x01", "1", 30, 5, -1);
    assert_true(add(f, &f->s, 0, &PLAIN));
    assert_int_equal(f->s.shards[0]->n_rows, 2);
    assert_int_equal(row(f->s.shards[0], "a\xef\xbf\xbd", "")->count[0], 2);
    text_of(&f->s, &first);
    assert_true(tg_summary_parse(&back, tg_buf_sv(&first), "x", &f->err));
    assert_string_equal(text_of(&back, &again), first.p);
}

TRACED(attrs_beyond_the_limit_are_cut_and_marked)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    struct tg_summarize_opts o = { .rank = -1 };
    const struct tg_row *r;
    limits.max_attrs = 2;
    o.load.reader.limits = &limits;
    for (int k = 0; k < 4; k++)
        bt_add(&f->b,
               (struct bt_row){ "cpu_op", "op", "1", "1", 10 * k, 5, -1, -1, TG_NO_STREAM,
                                tg_arena_printf(f->b.arena, "shapes=[%d]\ntypes=[1]", k % 3) });
    assert_true(add(f, &f->s, 3, &o));
    r = row(f->s.shards[0], "op", "");
    assert_true(r->attrs_capped);
    assert_int_equal(r->n_attrs, 3); /* shapes [0] (twice) and [1] in time order; types [1] */
    assert_int_equal(r->attrs[0].count, 2);
    assert_int_equal(r->attrs[2].count, 4);
    o.load.reader.limits = NULL;
    o.run = TG_SV("x");
    assert_true(add(f, &f->s, 0, &o));
    assert_false(row(f->s.shards[1], "op", "")->attrs_capped);
}

/* Random slots do not compress: 4000 calls of 16 random bits need 8000 bytes or 10 667 as base64,
 * 4000 of 8 bits 5 333 more. So 8 KiB have room for none, 15 KiB for those of "big" alone. */
TRACED(the_smallest_rows_lose_their_slots)
{
    const struct tg_summary_form whole = { SIZE_MAX, TG_ZLIB_USUAL, true };
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    TG_BUF text = { 0 }, again = { 0 };
    struct tg_summary back;
    uint64_t r = 1;
    for (int k = 0; k < 4000; k++) {
        r = r * 6364136223846793005u + 1442695040888963407u;
        bt_host(&f->b, "cpu_op", "big", "1", 100000 * k, 1000 + (tg_ns)(r >> 48), -1);
        bt_host(&f->b, "cpu_op", "small", "2", 100000 * k, (tg_ns)(r >> 40) % 256, -1);
    }
    assert_true(add(f, &f->s, 0, &PLAIN));
    limits.max_summary = 8 << 10;
    tg_summary_init(&back);
    assert_false(tg_summary_write_form(&f->s, &limits, whole, &text, &f->err));
    assert_true(tg_summary_write(&f->s, &limits, &text, &f->err));
    assert_true(tg_summary_parse(&back, tg_buf_sv(&text), "x", &f->err));
    assert_null(row(back.shards[0], "small", "")->slots);
    assert_null(row(back.shards[0], "big", "")->slots);
    tg_summary_release(&back);
    limits.max_summary = 15 << 10;
    tg_buf_clear(&text);
    assert_true(tg_summary_write(&f->s, &limits, &text, &f->err));
    assert_true(text.n <= (size_t)(15 << 10) + 512); /* the frame around the shards */
    tg_summary_init(&back);
    assert_true(tg_summary_parse(&back, tg_buf_sv(&text), "x", &f->err));
    assert_null(row(back.shards[0], "small", "")->slots);
    assert_non_null(row(back.shards[0], "big", "")->slots);
    assert_int_equal(row(back.shards[0], "small", "")->count[0], 4000);
    assert_true(tg_summary_write(&back, &limits, &again, &f->err));
    assert_string_equal(again.p, text.p);
    /* Merged with the complete one, the slots are back. */
    assert_true(tg_summary_merge(&back, &f->s, &f->err));
    assert_non_null(row(back.shards[0], "small", "")->slots);
    tg_summary_release(&back);
    assert_true(tg_summary_write_form(&f->s, NULL, whole, &text, &f->err));
}

/* 17,000 ranks may be more than max_doc; what all of them share, the first line, may not. */
TRACED(only_the_first_line_of_a_document_is_limited)
{
    struct tg_limits limits = TG_LIMITS_DEFAULT;
    TG_BUF text = { 0 }, again = { 0 };
    struct tg_summary back;
    two_steps(&f->b, 0);
    for (int k = 0; k < 9; k++) {
        struct tg_summarize_opts o = { .rank = k, .run = TG_SV("run") };
        assert_true(add(f, &f->s, 0, &o));
    }
    text_of(&f->s, &text);
    limits.max_doc = (size_t)(strchr(text.p, '\n') - text.p) + 1;
    assert_true(text.n > 2 * limits.max_doc);
    assert_true(tg_summary_write(&f->s, &limits, &again, &f->err));
    assert_string_equal(again.p, text.p);
    tg_summary_init(&back);
    assert_true(tg_summary_parse(&back, tg_buf_sv(&again), "x", &f->err));
    assert_int_equal(back.n, 9);
    tg_summary_release(&back);
    limits.max_doc--;
    assert_false(tg_summary_write(&f->s, &limits, &again, &f->err));
    assert_string_equal(f->err.message,
                        "the names of 9 runs and ranks do not fit into one summary");
    assert_string_equal(f->err.hint,
                        "Store the runs in several files: a side may have more than one.");
}

/* Two runs of two steps of seven spans (two_steps) have 28. What is not stored comes back, too. */
TRACED(what_waits_comes_back)
{
    struct tg_summarize_opts b = { .rank = -1, .run = TG_SV("b") }, a = { .rank = -1 };
    struct tg_aside aside;
    TG_BUF before = { 0 }, after = { 0 };
    a.run = TG_SV("a");
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &b) && add(f, &f->s, 0, &a));
    const struct tg_shard *was = f->s.shards[0];
    (void)text_of(&f->s, &before);
    tg_summary_set_aside(&f->s, 29, &aside);
    assert_null(aside.a);
    assert_ptr_equal(f->s.shards[0], was);
    tg_summary_set_aside(&f->s, 28, &aside);
    assert_non_null(aside.a);
    assert_int_equal(f->s.n, 0);
    assert_true(tg_summary_bring_back(&f->s, &aside, &f->err));
    assert_string_equal(text_of(&f->s, &after), before.p);
    assert_sv_equal(f->s.shards[0]->run, TG_SV("a"));
    assert_int_equal(f->s.shards[0]->arrival, 1);
    assert_int_equal(f->s.shards[1]->arrival, 0);
    assert_sv_equal(f->s.shards[1]->source, TG_SV("made.json"));
    assert_int_equal(f->s.arrivals, 2);
    assert_non_null(row(f->s.shards[0], "aten::mm", "ProfilerStep")->slots);
    f->s.shards[1]->unnamed = true; /* of which not everything is stored */
    tg_summary_set_aside(&f->s, 0, &aside);
    assert_null(aside.a);
    assert_true(tg_summary_bring_back(&f->s, &aside, &f->err));
    assert_int_equal(f->s.n, 2);
}

/* 5000 steps are 5000 names (ProfilerStep#N): 25 million places, over 64 Mi / 3. */
TRACED(too_many_steps_are_a_limit)
{
    for (int k = 0; k < 5000; k++)
        bt_host(&f->b, "user_annotation", tg_arena_printf(f->b.arena, "ProfilerStep#%d", k), "1",
                10 * k, 9, -1);
    assert_false(add(f, &f->s, 0, &PLAIN));
    assert_int_equal(f->err.kind, TG_ERR_LIMIT);
    assert_string_equal(f->err.message, "5000 names times 5000 steps do not fit into a summary");
    f->b.n = 100;
    tg_err_init(&f->err);
    assert_true(add(f, &f->s, 0, &PLAIN));
    assert_int_equal(f->s.shards[0]->n_steps, 100);
}

static void replace(struct tg_buf *b, const char *from, const char *to)
{
    struct tg_buf out = { 0 };
    char *at = strstr(b->p, from);
    assert_non_null(at);
    tg_buf_add(&out, (tg_sv){ b->p, (size_t)(at - b->p) });
    tg_buf_puts(&out, to);
    tg_buf_puts(&out, at + strlen(from));
    tg_buf_release(b);
    *b = out;
}

#define TEXT_OF(x) #x
#define VALUE_OF(x) TEXT_OF(x)
#define FORMAT VALUE_OF(TG_SUMMARY_FORMAT)

struct damage {
    const char *from, *to;
    const char *message; /* of the file: begins with "damaged" or "summary"; else of its shard */
};

static void is_refused(struct traced *f, tg_sv whole, const struct damage *d)
{
    TG_BUF text = { 0 };
    SUMMARY back = no_shards();
    tg_buf_add(&text, whole);
    replace(&text, d->from, d->to);
    tg_err_init(&f->err);
    assert_false(tg_summary_parse(&back, tg_buf_sv(&text), "bad.json", &f->err));
    assert_int_equal(f->err.kind, TG_ERR_SUMMARY);
    tg_buf_clear(&text);
    if (strncmp(d->message, "damaged", 7) == 0 || strncmp(d->message, "summary", 7) == 0)
        tg_buf_puts(&text, d->message);
    else
        tg_buf_printf(&text, "damaged summary: rank 0 of run '%.*s': %s",
                      TG_SV_ARG(f->s.shards[0]->run), d->message);
    assert_string_equal(f->err.message, text.p);
    assert_string_equal(f->err.file, "bad.json");
}

TRACED(damaged_summaries_are_refused)
{
    static const struct damage cases[] = {
        { "\"tracegate_summary\":", "\"tracegate_summary\":9",
          "summary of format 9" FORMAT ", this tracegate reads format " FORMAT },
        { "\"tracegate_summary\":", "\"tracegate_summary\":null,\"was\":",
          "damaged summary: it does not name its format" },
        { "\"index\":\"", "\"index\":\"7", "damaged summary: index" },
        { "\"index\":\"", "\"index\":\"1:eJwDAAAAAAE=\",\"was\":\"", "damaged summary: index" },
        { "\"texts\":[\"", "\"texts\":[\"1", "damaged summary: texts, rows, frames or attributes" },
        { "\"texts\":[", "\"text\":[", "damaged summary: texts, rows, frames or attributes" },
        { "],\"attributes\":[", "],\"attribute\":[",
          "damaged summary: texts, rows, frames or attributes" },
        { "\"shards\":[\n", "\"shards\":[\n7\n",
          "its run, hash or rank are not those of the index" },
        { "\n{\"run\"", "\n7{\"run\"", "it is not JSON" },
        { "\n{\"run\"", "\n{\"r\"", "its run, hash or rank are not those of the index" },
        { "\"rank\":0", "\"rank\":-2", "its run, hash or rank are not those of the index" },
        { "\"rank\":0", "\"rank\":1", "its run, hash or rank are not those of the index" },
        { "\"world_size\":\"2\"", "\"world_size\":\"3\"",
          "its content does not have the hash that it names" },
        { "\"steps\":[[5,0,900]", "\"steps\":[[5,0,1900]", "steps" },
        { "\"steps\":[[5,0,900]", "\"steps\":[[5,0]", "steps" },
        { "\"step_time\":[[", "\"step_time\":[[]", "it is not JSON" },
        { "\"step_time\":", "\"step_tim\":", "measures" },
        { "\"step_time\":[[", "\"step_time\":[[1],[", "measures" },
        { "\"spans\":", "\"spams\":", "counters" },
        { "\"lost_kernels\":", "\"lost_kernel\":", "counters" },
        { "\"rows\":\"", "\"rows\":\"9", "rows or pattern" },
        { "\"rows\":\"", "\"rows\":7,\"was\":\"", "rows or pattern" },
        { "\"pattern\":\"", "\"pattern\":\"99999999999999999999", "rows or pattern" },
        { "\"pattern\":\"", "\"pattern\":0,\"was\":\"", "rows or pattern" },
        { "\"pattern\":\"", "\"pattern\":\"-", "rows or pattern" },
        { "\"values\":\"", "\"values\":\"1", "values" },
        { "\"values\":\"", "\"values\":\"x\",\"old\":\"", "values" },
        { "\n]}\n", "\n]}\n\n", "damaged summary: something follows its end" },
        { "\n]}\n", "\n]]\n", "damaged summary: it does not end as it should" },
        { "]}\n", "", "damaged summary: it ends before its last line" },
    };
    TG_BUF whole = { 0 };
    two_steps(&f->b, 0);
    assert_true(add(f, &f->s, 0, &PLAIN));
    text_of(&f->s, &whole);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_refused(f, tg_buf_sv(&whole), &cases[i]);
    /* Every cut, and every byte changed: refused, or (blanks apart) nothing else was there. */
    for (size_t n = 0; n + 1 < whole.n; n++) {
        SUMMARY back = no_shards();
        assert_false(tg_summary_parse(&back, (tg_sv){ whole.p, n }, "cut", &f->err));
    }
    for (size_t n = 0; n + 1 < whole.n; n++) {
        SUMMARY back = no_shards();
        char was = whole.p[n];
        bool read;
        whole.p[n] = (char)(was ^ 4);
        read = tg_summary_parse(&back, tg_buf_sv(&whole), "flip", &f->err);
        whole.p[n] = was;
        /* Only the run's own name and the truth of nothing else can change unnoticed. */
        if (read) {
            assert_int_equal(back.n, 1);
            assert_true(tg_sv_eq(back.shards[0]->hash, f->s.shards[0]->hash));
        }
    }
}

/*
 * Python functions around what two_steps launches. In step 5 f (line 3) holds the module, which
 * holds the launch of a kernel of 200; the copy of 20 is launched by f alone, from a nested call of
 * f of another line. In step 6 nothing is called, so both are launched outside.
 */
static void stacks(struct bt *b)
{
    two_steps(b, 0);
    bt_host(b, "python_function", "a.py(3): f", "1", 1050, 500, -1);
    bt_host(b, "python_function", "nn.Module: Net_0", "1", 1090, 120, -1);
    bt_host(b, "python_function", "a.py(90): f", "1", 1300, 40, -1);
    bt_host(b, "python_function", "<built-in method mm>", "1", 1100, 40, -1);
}

static bool add_stacks(struct traced *f, struct tg_summary *to, uint64_t seed, unsigned sorts)
{
    struct tg_summarize_opts o = { .rank = -1, .frame_sorts = sorts };
    TG_AUTO(tg_steps_release) struct tg_steps steps;
    bool ok;
    (void)bt_trace(&f->b, seed);
    tg_trace_set_python_apart(&f->b.trace);
    ok = tg_steps_build(&steps, &f->b.trace, &o.window, &f->err) &&
         tg_summary_of_trace(to, &f->b.trace, &steps, &o, &f->err);
    return ok;
}

static const struct tg_row *frame(const struct tg_shard *s, enum tg_kind kind, const char *name,
                                  int64_t device)
{
    for (const struct tg_row *r = s->rows + s->n_rows; r < s->rows + s->n_rows + s->n_frames; r++)
        if (r->key->kind == kind && r->key->device == device &&
            tg_sv_eq(r->key->name, tg_sv_of(name)))
            return r;
    fail_msg("no frame %s", name);
    return NULL;
}

static void assert_row(const struct tg_row *r, size_t step, uint32_t count, tg_ns total, tg_ns self)
{
    assert_int_equal(r->count[step], count);
    assert_int_equal(r->total[step], total);
    assert_int_equal(r->self[step], self);
}

/* f: 500, its nested call not again; own time 500 - 0 (the module is no function). */
TRACED(frames_by_hand)
{
    const struct tg_shard *s;
    stacks(&f->b);
    assert_true(add_stacks(f, &f->s, 0, TG_STACK_ALL));
    s = f->s.shards[0];
    assert_int_equal(s->n_frames, 6);
    assert_row(frame(s, TG_KIND_MODULE, "nn.Module: Net_0", -1), 0, 1, 120, 120);
    assert_row(frame(s, TG_KIND_MODULE, "nn.Module: Net_0", 0), 0, 1, 200, 200);
    assert_row(frame(s, TG_KIND_MODULE, "nn.Module: Net_0", 0), 1, 0, 0, 0);
    assert_row(frame(s, TG_KIND_SOURCE, "a.py: f", -1), 0, 2, 500, 500);
    assert_row(frame(s, TG_KIND_SOURCE, "a.py: f", 0), 0, 2, 220, 220);
    assert_row(frame(s, TG_KIND_MODULE, "(launched outside every module)", 0), 0, 1, 20, 20);
    assert_row(frame(s, TG_KIND_MODULE, "(launched outside every module)", 0), 1, 2, 220, 220);
    assert_row(frame(s, TG_KIND_SOURCE, "(launched outside every Python function)", 0), 1, 2, 220,
               220);
    /* behind the last step, never launched */
    assert_row(frame(s, TG_KIND_SOURCE, "(launched outside every Python function)", 0), 2, 1, 30,
               30);
    assert_null(s->rows[s->n_rows].slots);
}

/*
 * All but the frames is what it is without them: the same bytes, and the format that others read.
 */
TRACED(frames_change_nothing_else)
{
    TG_BUF with = { 0 }, without = { 0 }, again = { 0 };
    SUMMARY plain, back;
    tg_summary_init(&plain);
    tg_summary_init(&back);
    stacks(&f->b);
    assert_true(add_stacks(f, &f->s, 0, TG_STACK_ALL));
    assert_true(add_stacks(f, &plain, 7, 0));
    assert_int_equal(f->s.shards[0]->n_rows, plain.shards[0]->n_rows);
    assert_int_equal(f->s.shards[0]->spans, plain.shards[0]->spans);
    assert_memory_equal(f->s.shards[0]->metrics, plain.shards[0]->metrics,
                        2 * TG_METRICS * sizeof(struct tg_metric_value));
    text_of(&plain, &without);
    text_of(&f->s, &with);
    assert_non_null(strstr(with.p, "\"frames\":[\"module\",\"source\"]"));
    assert_null(strstr(without.p, "frame"));
    /* Together in one file, each keeps its hash. */
    plain.shards[0]->rank = 1;
    tg_summary_set_rank(&plain, 1);
    assert_true(tg_summary_merge(&f->s, &plain, &f->err));
    text_of(&f->s, &with);
    assert_true(tg_summary_parse(&back, tg_buf_sv(&with), "both.json", &f->err));
    assert_int_equal(back.n, 2);
    assert_string_equal(text_of(&back, &again), with.p);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(back.shards[i]->frame_sorts, back.shards[i]->rank == 1 ? 0 : TG_STACK_ALL);
}

TRACED(damaged_frames_are_refused)
{
    static const struct damage cases[] = {
        { "\"frames\":[\"module\"", "\"frame\":[\"module\"", "frames" },
        { "\"module\",\"source\"]", "\"source\",\"module\"]", "frames" },
        { "[\"module\",\"source\"]", "[\"module\"]", "frames" },
        { "[\"module\",\"source\"]", "[\"module\",\"python\"]", "frames" },
        { "[\"module\",\"source\"]", "[]", "frames" },
        { "\"frames\":[\"", "\"frames\":[\"1",
          "damaged summary: texts, rows, frames or attributes" },
        { "\"frames\":[\"", "\"framed\":[\"", "rows or pattern" },
    };
    TG_BUF whole = { 0 };
    stacks(&f->b);
    assert_true(add_stacks(f, &f->s, 0, TG_STACK_ALL));
    text_of(&f->s, &whole);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        is_refused(f, tg_buf_sv(&whole), &cases[i]);
}

#define ROW(cat, name, ph, ts, rest)                                                               \
    "{\"ph\":\"" ph "\",\"cat\":\"" cat "\",\"name\":\"" name                                      \
    "\",\"pid\":1,\"tid\":1,\"ts\":" ts rest "}"
/* A row each. */
/* clang-format off */
#define OPERATORS "{\"traceEvents\":["                                                             \
    ROW("user_annotation", "ProfilerStep#1", "X", "0", ",\"dur\":90") ","                          \
    ROW("cpu_op", "aten::mm", "X", "20", ",\"dur\":9,\"args\":{\"Sequence number\":7}") ","        \
    ROW("cpu_op", "aten::add", "X", "40", ",\"dur\":9")
#define PYTHON ","                                                                                 \
    ROW("python_function", "a.py(1): f", "X", "10", ",\"dur\":70") ","                             \
    ROW("python_function", "a.py(2): g", "X", "15", ",\"dur\":-5") ","                             \
    ROW("python_function", "a.py(3): h", "E", "60", "")
#define MOVED "{\"traceEvents\":["                                                                 \
    ROW("python_function", "a.py(1): f", "X", "10", ",\"dur\":70") ","                             \
    ROW("cpu_op", "aten::add", "X", "40", ",\"dur\":9") ","                                        \
    ROW("python_function", "a.py(2): g", "X", "41", ",\"dur\":5") ","                              \
    ROW("cpu_op", "aten::mm", "X", "50",                                                           \
        ",\"dur\":9,\"args\":{\"Same\":\"\",\"Sequence number\": 12}") "]}"
/* mm is in the step, in add and after it: three rows by parent. */
#define NESTED "{\"traceEvents\":["                                                                \
    ROW("user_annotation", "ProfilerStep#3", "X", "10", ",\"dur\":90") ","                         \
    ROW("cpu_op", "aten::mm", "X", "12", ",\"dur\":9") ","                                         \
    ROW("cuda_runtime", "cudaLaunchKernel", "X", "13",                                             \
        ",\"dur\":2,\"args\":{\"correlation\":7}") ","                                             \
    ROW("cpu_op", "aten::add", "X", "30", ",\"dur\":40") ","                                       \
    ROW("cpu_op", "aten::mm", "X", "40", ",\"dur\":8") ","                                         \
    ROW("cuda_runtime", "cudaLaunchKernel", "X", "41",                                             \
        ",\"dur\":3,\"args\":{\"correlation\":8}") ","                                             \
    ROW("cpu_op", "aten::mm", "X", "200", ",\"dur\":5") "]}"
/* clang-format on */

/* The stored form of what was read; `k` NULL: nothing is kept. */
static void read_text(const char *text, struct tg_kept_trace *k, struct tg_buf *out)
{
    struct tg_summarize_opts o = { .rank = -1, .keep = k };
    SUMMARY s = no_shards();
    TG_SOURCE *source;
    struct tg_err err = TG_ERR_INIT;
    source = tg_source_memory(tg_sv_of(text), "made.json", NULL, &err);
    assert_true(source && tg_summary_add(&s, source, &o, NULL, &err));
    tg_buf_clear(out);
    assert_true(tg_summary_write(&s, NULL, out, &err));
}

/* Also where the functions are damaged: they are no part of what is judged. */
TRACED(a_kept_trace_changes_no_summary)
{
    struct tg_kept_trace k = { .any = false };
    TG_BUF without = { 0 }, with = { 0 };
    read_text(OPERATORS PYTHON "]}", NULL, &without);
    read_text(OPERATORS PYTHON "]}", &k, &with);
    assert_int_equal(with.n, without.n);
    assert_memory_equal(with.p, without.p, with.n);
    assert_non_null(k.trace);
    assert_int_equal(k.trace->n_spans, 3);
    assert_int_equal(k.trace->n_python, 2); /* the lone end is no span */
    assert_int_equal(k.trace->sequence[1], 7);
    assert_int_equal(k.steps.n, 1);
    tg_kept_release(&k);
}

/* Above 262,144 spans, self times take the place of the durations; a kept trace has both. */
TRACED(a_large_trace_has_the_summary_of_a_kept_one)
{
    struct tg_kept_trace k = { .any = true };
    TG_BUF text = { 0 }, without = { 0 }, with = { 0 };
    tg_buf_puts(&text, OPERATORS);
    for (int i = 0; i < 1 << 17; i++)
        tg_buf_printf(&text,
                      "," ROW("cpu_op", "aten::mm", "X", "%d00", ",\"dur\":%d") "," ROW(
                          "cpu_op", "aten::add", "X", "%d01", ",\"dur\":%d"),
                      i + 1, 50 + i % 7, i + 1, 9 + i % 5);
    tg_buf_puts(&text, "]}");
    read_text(text.p, NULL, &without);
    read_text(text.p, &k, &with);
    assert_true(k.trace->n_spans > 1 << 18);
    assert_int_equal(with.n, without.n);
    assert_memory_equal(with.p, without.p, with.n);
    tg_kept_release(&k);
}

TRACED(a_trace_without_stacks_is_kept_only_if_any_is_wanted)
{
    struct tg_kept_trace k = { .any = false };
    TG_BUF out = { 0 };
    read_text(OPERATORS "]}", &k, &out);
    assert_null(k.trace);
    k.any = true;
    read_text(OPERATORS "]}", &k, &out);
    assert_non_null(k.trace);
    tg_kept_release(&k);
    assert_true(k.any);
}

/* A number stays with its operator when functions before it move. */
TRACED(numbers_move_with_their_spans)
{
    struct tg_load_opts o = { .keep_python = true, .want_sequence = true };
    TG_SOURCE *source;
    struct tg_trace *t;
    struct tg_err err = TG_ERR_INIT;
    source = tg_source_memory(tg_sv_of(MOVED), "made.json", NULL, &err);
    assert_non_null(source);
    t = tg_trace_load(source, &o, NULL, &err);
    assert_non_null(t);
    tg_trace_set_python_apart(t);
    assert_int_equal(t->n_spans, 2);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(t->sequence[i],
                         tg_sv_eq(tg_span_name(t, tg_span_at(t, i))->name, TG_SV("aten::mm")) ? 12
                                                                                              : -1);
    tg_trace_free(t);
}

static void read_shard(struct tg_summary *out, const char *text, bool totals_only)
{
    const struct tg_summarize_opts o = { .rank = -1, .totals_only = totals_only };
    struct tg_err err = TG_ERR_INIT;
    struct tg_source *source = tg_source_memory(tg_sv_of(text), "made.json", NULL, &err);
    tg_summary_init(out);
    assert_true(source && tg_summary_add(out, source, &o, NULL, &err));
    tg_source_close(source);
}

/* mm: 9 + 8 us in the step, 5 after it; launches: 2 + 3. */
TRACED(totals_alone_are_those_of_the_whole)
{
    SUMMARY whole, flat;
    const struct tg_row *mm;
    read_shard(&whole, NESTED, false);
    read_shard(&flat, NESTED, true);
    assert_int_equal(whole.shards[0]->n_rows, 6);
    assert_int_equal(flat.shards[0]->n_rows, 4);
    assert_int_equal(flat.shards[0]->n_steps, 1);
    assert_int_equal(flat.shards[0]->tree.n, 0);
    mm = row(flat.shards[0], "aten::mm", "");
    assert_int_equal(mm->count[0], 2);
    assert_int_equal(mm->total[0], 17000);
    assert_int_equal(mm->count[1], 1);
    assert_int_equal(mm->total[1], 5000);
    assert_null(mm->slots);
    assert_int_equal(row(flat.shards[0], "cudaLaunchKernel", "")->total[0], 5000);
    assert_int_equal(row(flat.shards[0], "ProfilerStep#3", "")->total[0], 90000);
}
