/* What a shard says beside its columns, as JSON, and what its hash covers. */
#include "stored.h"

static struct tg_shard *whole(struct fixture *f)
{
    struct tg_shard *h = stored_shard(f);
    h->env = TG_NEW(f->a, struct tg_kv);
    h->env[0] = (struct tg_kv){ TG_SV("device"), TG_SV("NVIDIA H100") };
    h->n_env = 1;
    h->truncated = true;
    h->events = 17;
    h->integrity.lost_kernels = 2;
    h->metrics[TG_METRIC_SYNC_COUNT * 3 + 1] = (struct tg_metric_value){ true, 5, 1 };
    h->hints = TG_NEW(f->a, struct tg_window_hint);
    h->hints[0] = (struct tg_window_hint){ TG_SV("execute_model"), 12, 0.25 };
    h->n_hints = 1;
    h->frame_sorts = 1u << TG_STACK_MODULES;
    return h;
}

/* As text. */
static void write_content(const struct tg_shard *s, struct tg_buf *out)
{
    struct tg_doc *d = tg_doc_new_object();
    tg_content_add(d, s);
    tg_doc_write(d, false, out);
    tg_buf_putc(out, '\0');
    tg_doc_free(d);
}

BY_HAND(what_is_written_is_read)
{
    const struct tg_shard *s = whole(f);
    TG_BUF text = { 0 };
    struct tg_doc *d;
    struct tg_shard r = { .n_steps = 0 };
    const char *why;

    write_content(s, &text);
    d = tg_doc_parse(tg_sv_of(text.p), "x", &f->err);
    why = tg_content_read(&r, d, f->a);
    if (why)
        fail_msg("%s", why);
    is_text(r.window, "auto");
    is_text(r.env[0].value, "NVIDIA H100");
    assert_true(r.marked && r.truncated && r.events == 17 && r.integrity.lost_kernels == 2);
    assert_int_equal(r.n_steps, 3);
    assert_int_equal(r.steps[2].number, 5);
    assert_int_equal(r.steps[2].end, 3000000);
    assert_true(r.metrics[TG_METRIC_SYNC_COUNT * 3 + 1].known);
    assert_int_equal(r.metrics[TG_METRIC_SYNC_COUNT * 3 + 1].num, 5);
    assert_false(r.metrics[TG_METRIC_SYNC_COUNT * 3].known);
    is_text(r.hints[0].name, "execute_model");
    near(r.hints[0].covered, 0.25);
    assert_int_equal(r.frame_sorts, 1u << TG_STACK_MODULES);
    tg_doc_free(d);
}

/* The first member that does not make sense is named. */
BY_HAND(damage_is_named)
{
    static const struct {
        const char *from, *to, *member;
    } cases[] = {
        { "\"auto\"", "5", "window or classes" },
        { "\"env\":{", "\"env\":[{", NULL }, /* no JSON */
        { "\"device\":\"NVIDIA H100\"", "\"device\":1", "env" },
        { "\"lost_kernels\":2", "\"lost_kernels\":\"x\"", "counters" },
        { "\"lost_kernels\":2", "\"lost_kernels\":-2", "counters" },
        { "[\"execute_model\",12,", "[\"execute_model\",-1,", "hints" },
        { "[\"module\"]", "[\"other\"]", "frames" },
    };
    TG_BUF text = { 0 };
    struct tg_doc *d;

    write_content(whole(f), &text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *at = strstr(text.p, cases[i].from), *why;
        struct tg_shard r = { .n_steps = 0 };
        if (!at)
            fail_msg("no %s in %s", cases[i].from, text.p);
        d = tg_doc_parse(tg_sv_of(tg_arena_printf(f->a, "%.*s%s%s", (int)(at - text.p), text.p,
                                                  cases[i].to, at + strlen(cases[i].from))),
                         "x", &f->err);
        assert_int_equal(d == NULL, cases[i].member == NULL);
        why = d ? tg_content_read(&r, d, f->a) : NULL;
        if (d && (!why || strcmp(why, cases[i].member) != 0))
            fail_msg("%s: %s", cases[i].to, why ? why : "fine");
        tg_doc_free(d);
        tg_err_init(&f->err);
    }
}

/* Every field but run, source and slots; the shape alone: keys, calls, attributes. */
BY_HAND(what_the_hash_covers)
{
    struct tg_shard *s = whole(f);
    tg_sv before = tg_shard_hash(s, f->a);
    uint64_t shape = tg_content_shape_hash(s);

    assert_int_equal(before.n, 16);
    s->run = TG_SV("another");
    s->source = TG_SV("other.json");
    s->rows[0].slots[0]++;
    assert_true(tg_sv_eq(tg_shard_hash(s, f->a), before));
    s->rows[0].self[0]++;
    assert_false(tg_sv_eq(tg_shard_hash(s, f->a), before));
    assert_int_equal(tg_content_shape_hash(s), shape);
    s->rows[0].self[0]--;
    s->gaps[0]++;
    assert_false(tg_sv_eq(tg_shard_hash(s, f->a), before));
    s->gaps[0]--;
    s->rank++;
    assert_false(tg_sv_eq(tg_shard_hash(s, f->a), before));
    s->rank--;
    assert_true(tg_sv_eq(tg_shard_hash(s, f->a), before));
    s->rows[0].count[3]++;
    assert_true(tg_content_shape_hash(s) != shape);
}

/* Rank, environment and file are what somebody says of a recording; its times are its own. */
BY_HAND(one_recording_under_two_names)
{
    struct tg_shard *s = whole(f), copy = *s;

    copy.rank = 9;
    copy.n_env = 0;
    copy.source = TG_SV("rank9.json");
    assert_true(tg_shard_same_recording(s, &copy));
    copy.events++;
    assert_false(tg_shard_same_recording(s, &copy));
    copy.events--;
    copy.n_steps--;
    assert_false(tg_shard_same_recording(s, &copy));
    copy.n_steps++;
    copy.unnamed =
        true; /* of two ranks without names only the steps are known, which ranks share */
    assert_false(tg_shard_same_recording(s, &copy));
    copy = *whole(f);
    assert_true(tg_shard_same_recording(s, &copy));
    copy.rows[0].self[0]++;
    assert_false(tg_shard_same_recording(s, &copy));
    copy.n_rows = s->n_rows = 0; /* nothing but step times is kept */
    assert_false(tg_shard_same_recording(s, &copy));
}
