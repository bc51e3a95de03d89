/* How many names an item of `waivers` has: to be pasted no more than a reader looks through, else no more than a policy takes. */
#include <string.h>

#include "core/base/arena.h"
#include "reporters/accept.h"
#include "tests/support.h"

static size_t count_of(const char *text, const char *word)
{
    size_t n = 0;
    while ((text = strstr(text, word)) != NULL)
        n++, text++;
    return n;
}

/* `n` names of one finding; how many did not fit. */
static size_t put(struct tg_buf *out, size_t n, bool visible)
{
    const struct tg_accept_words words = { TG_SV("reason: r"), 1, visible };
    TG_AUTO(tg_accept_release) struct tg_accept_list l = { 0 };
    struct tg_arena *a = tg_arena_new();
    size_t left;
    tg_strmap_init(&l.at);
    for (size_t i = 0; i < n; i++) {
        tg_sv name = TG_SV_PRINTF(a, "op%zu", i);
        tg_accept_widen(
            &tg_accept_for(&l, TG_SV("more"), name, TG_RULE_METRIC_COUNT, 0)->change, 1, 100);
    }
    left = tg_accept_put_list(out, &l, &words);
    tg_arena_free(a);
    return left;
}

TEST(one_finding_is_one_item)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, 3, true), 0);
    assert_int_equal(count_of(out.p, "{rule: more"), 1);
    assert_int_equal(count_of(out.p, "{name: "), 2);
}

TEST(a_comment_shows_no_more_names_than_fit)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, 500, true), 500 - TG_ACCEPT_NAMES);
    assert_int_equal(count_of(out.p, "name: "), TG_ACCEPT_NAMES);
}

TEST(no_item_is_too_long_for_a_policy)
{
    TG_BUF out = { 0 };
    assert_int_equal(put(&out, TG_ACCEPT_MOST + 1, false), 0);
    assert_int_equal(count_of(out.p, "{rule: more"), 2);
    assert_int_equal(count_of(out.p, "name: "), TG_ACCEPT_MOST + 1);
}
