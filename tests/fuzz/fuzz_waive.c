/* A report of any bytes, read back by `policy waive`: it is refused with a reason, or the waivers
 * are YAML with one entry a name, and nothing in them reaches a terminal or a log as a command. */
#include "cmd/policy.h"
#include "policy/language/diag.h"
#include "policy/language/yaml.h"
#include "tests/fuzz/target.h"

static void read_back(tg_sv text)
{
    TG_ARENA *a = tg_arena_new();
    TG_AUTO(tg_diags_release) struct tg_diags d;
    const struct tg_yaml *root;

    for (size_t i = 0; i < text.n; i++)
        abort_if((unsigned char)text.p[i] < 0x20 && text.p[i] != '\n');
    for (tg_sv rest = text; rest.n;)
        abort_if(tg_sv_starts(tg_sv_cut(&rest, '\n'), TG_SV("::")));
    tg_diags_init(&d);
    root = tg_yaml_parse(text, "waivers.yml", a, &d);
    abort_if(!root || d.errors || !tg_yaml_get(root, "waivers"));
}

FUZZ_TARGET(0)
{
    struct tg_policy_waive_ask ask = { .report = bytes, .file = "report.json", .today = 20000 };
    TG_BUF out = { 0 };
    struct tg_err err = TG_ERR_INIT;
    bool ok = tg_policy_waive(&out, &ask, &err);
    must_say(ok, &err);
    if (ok)
        read_back(tg_buf_sv(&out));
}
