/* Summaries of what is in git are kept (cache.h): which of them, under which name, and what comes
 * back. */
#include "cmd/gate/cache.h"
#include "tests/cmd/gate/room.h"
#include "tests/cmd/gate/traces.h"

struct kept {
    struct room room;
    struct tg_cache cache;
    struct tg_input_item item;
    struct tg_summarize_opts o;
    struct tg_summary s, out;
};

/* A summary of one trace. */
static void begin(struct kept *k)
{
    struct tg_input_list list = { 0 };
    struct tg_repo none = { 0 };
    *k = (struct kept){ .o = { .rank = -1 } };
    room_open(&k->room);
    tg_summary_init(&k->s);
    tg_summary_init(&k->out);
    room_file("t.json", trace_text(k->room.arena, 0, 2, 10));
    assert_true(tg_inputs_add(&list, "t.json", &none, k->room.arena, &k->room.err));
    assert_true(tg_inputs_load(&k->s, &list, &k->o, &none, NULL, &k->room.err));
    k->cache = (struct tg_cache){ ".", 1 };
    k->item = (struct tg_input_item){ .label = "REV:t.json",
                                      .from_git = true,
                                      .blob = { .path = TG_SV("t.json") } };
    (void)snprintf(k->item.blob.oid, sizeof k->item.blob.oid, "%040d", 7);
}

static void end(struct kept *k)
{
    tg_summary_release(&k->s);
    tg_summary_release(&k->out);
    room_close(&k->room);
}

static bool gets(struct kept *k)
{
    tg_summary_release(&k->out);
    tg_summary_init(&k->out);
    return tg_cache_get(&k->cache, &k->item, &k->o, &k->out);
}

TEST(what_is_kept)
{
    struct kept k;
    struct tg_trace *trace = NULL;
    struct tg_kept_trace keep = { .trace = trace };
    const struct tg_limits limits = { .max_summary = 1 };
    begin(&k);
    assert_true(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.cache.folder = NULL;
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.cache.folder = ".";
    k.item.from_git = false;
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.item.from_git = k.item.stored = true;
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.item.stored = false;
    k.o.keep = &keep; /* the trace itself is asked for */
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.o.keep = NULL;
    k.o.n_meta = 1;
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.o.n_meta = 0;
    k.o.load.reader.limits = &limits;
    assert_false(tg_cache_takes(&k.cache, &k.item, &k.o));
    k.o.load.reader.limits = NULL;
    end(&k);
}

TEST(what_was_put_comes_back)
{
    struct kept k;
    begin(&k);
    assert_false(gets(&k));
    assert_int_equal(k.out.n, 0);
    tg_cache_put(&k.cache, &k.item, &k.o, &k.s);
    assert_true(gets(&k));
    assert_int_equal(k.out.n, 1);
    assert_int_equal(k.out.shards[0]->n_steps, k.s.shards[0]->n_steps);
    assert_int_equal(k.out.shards[0]->spans, k.s.shards[0]->spans);
    end(&k);
}

/* Whatever a summary depends on is a part of its name. */
TEST(each_key_has_a_file_of_its_own)
{
    struct kept k, was;
    begin(&k);
    tg_cache_put(&k.cache, &k.item, &k.o, &k.s);
    was = k;
    for (int i = 0; i < 11; i++) {
        k.cache = was.cache;
        k.item = was.item;
        k.o = was.o;
        switch (i) {
        case 0:
            k.cache.program = 2;
            break;
        case 1:
            k.item.blob.oid[0] = 'a';
            break;
        case 2:
            k.item.blob.path = TG_SV("rank1/t.json");
            break;
        case 3:
            k.o.rank = 0;
            break;
        case 4:
            k.o.named_ranks = 64;
            break;
        case 5:
            k.o.frame_sorts = 1;
            break;
        case 6:
            k.o.window.by = TG_WINDOW_WHOLE;
            break;
        case 7:
            k.o.window.name = TG_SV("step*");
            break;
        case 8:
            k.o.load.reader.strict_json = true;
            break;
        case 9:
            k.o.load.reader.allow_truncated = true;
            break;
        default: /* none of these: it is the one that was put */
            assert_true(gets(&k));
            continue;
        }
        if (gets(&k))
            fail_msg("key %d is not in the name", i);
    }
    end(&k);
}

/* A reader never sees half a file; one that is not whole is none. */
TEST(what_is_not_whole_is_none)
{
    struct kept k;
    const char *path;
    size_t n;
    begin(&k);
    tg_cache_put(&k.cache, &k.item, &k.o, &k.s);
    {
        DIR *d = opendir(".");
        const struct dirent *e;
        assert_non_null(d);
        path = NULL;
        while ((e = readdir(d)))
            if (e->d_name[0] == '0')
                path = tg_arena_printf(k.room.arena, "%s", e->d_name);
        (void)closedir(d);
        assert_non_null(path);
    }
    {
        TG_BUF text = { 0 };
        assert_true(tg_file_read(&text, path, 1 << 20, &k.room.err));
        n = text.n;
        for (size_t cut = 0; cut < n; cut += n / 7 + 1) {
            TG_BUF part = { 0 };
            tg_buf_add(&part, (tg_sv){ text.p, cut });
            assert_true(tg_file_write(path, tg_buf_sv(&part), &k.room.err));
            assert_false(gets(&k));
            assert_int_equal(k.out.n, 0);
        }
        assert_true(tg_file_write(path, tg_buf_sv(&text), &k.room.err));
    }
    assert_true(gets(&k));
    end(&k);
}
