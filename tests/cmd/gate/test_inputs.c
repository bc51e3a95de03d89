/* What a user names, outside a repository: files, folders, globs, standard input. */
#include "tests/cmd/gate/room.h"

#include "cmd/gate/inputs.h"

static bool add(struct room *r, struct tg_input_list *list, const char *text)
{
    struct tg_repo repo = { 0 };
    bool ok = tg_inputs_add(list, text, &repo, r->arena, &r->err);
    tg_repo_release(&repo);
    return ok;
}

IN_ROOM(files_are_sorted_and_hidden_ones_are_not_taken)
{
    struct tg_input_list list = { 0 };
    room_file("b.json", "{}");
    room_file("a.json.gz", "x");
    room_file("s.tgs", "x");
    room_file(".hidden.json", "{}");
    room_file("notes.txt", "x");
    assert_true(add(r, &list, "."));
    assert_int_equal(list.n, 3);
    assert_string_equal(list.v[0].label, "./a.json.gz");
    assert_string_equal(list.v[2].label, "./s.tgs");
    list = (struct tg_input_list){ 0 };
    assert_true(add(r, &list, "*.json") && add(r, &list, "notes.txt") && add(r, &list, "-"));
    assert_int_equal(list.n, 3); /* a file that is named may be called anything */
    assert_string_equal(list.v[0].label, "b.json");
    assert_string_equal(list.v[2].label, "-");
}

IN_ROOM(what_is_not_there_is_said)
{
    struct tg_input_list list = { 0 };
    assert_false(add(r, &list, "no*.json"));
    assert_failed(r, TG_ERR_IO, "no file matches 'no*.json'");
    assert_false(add(r, &list, "main"));
    assert_failed(r, TG_ERR_IO, "'main' is neither a file, a folder nor a revision");
    assert_false(add(r, &list, "main:perf"));
    assert_true(r->err.kind != TG_ERR_NONE);
    tg_err_init(&r->err);
    assert_false(add(r, &list, "."));
    assert_failed(r, TG_ERR_IO, "folder '.' holds no trace");
    assert_int_equal(list.n, 0);
}
