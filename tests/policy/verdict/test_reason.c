/* The table of reasons (reason.h): each has an id of its own, exceptions have the names that a
 * policy gives them, and every duration that is not judged names what it lacks. */
#include "by_hand.h"

#include "core/base/file.h"

TEST(ids_are_different_and_plain)
{
    assert_null(tg_reason_id(TG_REASON_NONE));
    for (int i = TG_REASON_NONE + 1; i < TG_REASONS; i++) {
        const char *id = tg_reason_id((enum tg_reason)i);
        if (!id || !*id || id[strspn(id, "abcdefghijklmnopqrstuvwxyz-")])
            fail_msg("reason %d has the id '%s'", i, id ? id : "");
        for (int k = TG_REASON_NONE + 1; k < i; k++)
            assert_string_not_equal(id, tg_reason_id((enum tg_reason)k));
    }
}

/* The keys that docs/policy.md documents, in the order of enum tg_exception. */
TEST(exceptions_are_those_of_a_policy)
{
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_RENAMED), "renamed");
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_REPLACED), "replaced");
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_SMALL), "small");
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_POLLING), "polling");
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_COUNTED), "counted");
    assert_string_equal(tg_reason_id((enum tg_reason)TG_EXCEPTION_CHANCE), "chance");
}

TEST(what_is_not_judged_lacks_something)
{
    assert_int_equal(tg_reason_of_judged(TG_JUDGED), TG_REASON_NONE);
    for (int j = TG_JUDGED + 1; j <= TG_NOT_OTHER_DATA; j++)
        assert_int_not_equal(tg_reason_of_judged((enum tg_judged)j), TG_REASON_NONE);
    assert_int_equal(tg_reason_of_judged(TG_NOT_FEW_RUNS), TG_NEED_RUNS);
    assert_int_equal(tg_reason_of_judged(TG_NOT_WAIT), TG_NEED_OWN_TIME);
}

/* The page says what each means, and the schema lets a report say it: of a note its row does. */
TEST(the_page_and_the_schema_list_all)
{
    static const struct {
        const char *path, *item;
    } lists[] = { { "docs/reasons.md", "\n- `%s`: " },
                  { "docs/report.schema.json", "\n            \"%s\"" } };
    TG_BUF text = { 0 }, item = { 0 };
    struct tg_err err = TG_ERR_INIT;
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        char path[4096];
        (void)snprintf(path, sizeof path, TG_SOURCE_DIR "/%s", lists[i].path);
        tg_buf_clear(&text);
        assert_true(tg_file_read(&text, path, 1 << 20, &err));
        for (enum tg_reason r = TG_REASON_RENAMED; r < TG_REASON_LIMIT; r++) {
            tg_buf_clear(&item);
            tg_buf_printf(&item, lists[i].item, tg_reason_id(r));
            if (r != TG_REASON_NOTE && !strstr(text.p, item.p))
                fail_msg("%s lacks %s", lists[i].path, tg_reason_id(r));
        }
    }
}
