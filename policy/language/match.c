#include "policy/language/match.h"

#include <stdio.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "core/base/utf8.h"

struct tg_pattern {
    tg_sv text;
    pcre2_code *code; /* NULL: a glob */
    pcre2_match_data *data;
    pcre2_match_context *limits;
    unsigned *given_up; /* searches that ran out of budget */
};

/* UTF-8 matching only over valid text; \C could leave it in the middle of a character. No JIT: it
 * ignores the depth limit. */
static const uint32_t compile_options = PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C;

/* A failed allocation is not a mistake of the policy: the process ends as for our own (exit 3). */
static bool compile(struct tg_pattern *p, tg_sv body, char *why, size_t size, size_t *at)
{
    int code = 0;
    PCRE2_SIZE offset = 0;
    pcre2_compile_context *cc = pcre2_compile_context_create(NULL);
    if (!cc)
        tg_out_of_memory();
    (void)pcre2_set_parens_nest_limit(cc, 50);
    (void)pcre2_set_max_pattern_length(cc, TG_PATTERN_MAX);
    p->code = pcre2_compile((PCRE2_SPTR)body.p, body.n, compile_options, &code, &offset, cc);
    pcre2_compile_context_free(cc);
    if (!p->code && code == PCRE2_ERROR_HEAP_FAILED)
        tg_out_of_memory();
    if (!p->code) {
        PCRE2_UCHAR text[160];
        if (pcre2_get_error_message(code, text, sizeof text) < 0)
            text[0] = '\0';
        (void)snprintf(why, size, "%s", (const char *)text);
        *at = 1 + (offset < body.n ? offset : body.n); /* 1: the slash */
        return false;
    }
    p->data = pcre2_match_data_create(2, NULL);
    p->limits = pcre2_match_context_create(NULL);
    if (!p->data || !p->limits)
        tg_out_of_memory();
    (void)pcre2_set_match_limit(p->limits, TG_PATTERN_STEPS);
    (void)pcre2_set_depth_limit(p->limits, TG_PATTERN_DEPTH);
    (void)pcre2_set_heap_limit(p->limits, TG_PATTERN_HEAP_KIB);
    return true;
}

struct tg_pattern *tg_pattern_of_name(tg_sv name, struct tg_arena *a)
{
    struct tg_pattern *p = TG_NEW(a, struct tg_pattern);
    p->text = tg_arena_sv(a, name);
    p->given_up = TG_NEW(a, unsigned);
    return p;
}

struct tg_pattern *tg_pattern_new(tg_sv text, struct tg_arena *a, char *why, size_t size,
                                  size_t *at)
{
    *at = 0;
    if (text.n == 0 || text.n > TG_PATTERN_MAX) {
        (void)snprintf(why, size, text.n ? "longer than %d bytes" : "empty", TG_PATTERN_MAX);
        return NULL;
    }
    bool regex = text.p[0] == '/' && text.n >= 2 && text.p[text.n - 1] == '/';
    if (regex && text.n == 2) {
        (void)snprintf(why, size, "empty");
        return NULL;
    }
    struct tg_pattern *p = tg_pattern_of_name(text, a);
    if (regex && !compile(p, (tg_sv){ p->text.p + 1, text.n - 2 }, why, size, at)) {
        tg_pattern_release(p);
        return NULL;
    }
    return p;
}

void tg_pattern_release(struct tg_pattern *p)
{
    if (!p)
        return;
    pcre2_code_free(p->code);
    pcre2_match_data_free(p->data);
    pcre2_match_context_free(p->limits);
    p->code = NULL;
    p->data = NULL;
    p->limits = NULL;
}

static enum tg_hit search(const struct tg_pattern *p, tg_sv name)
{
    if (*p->given_up >= TG_PATTERN_GIVE_UPS || name.n > TG_PATTERN_SUBJECT_MAX ||
        !tg_utf8_valid(name))
        return TG_HIT_GAVE_UP;
    int found = pcre2_match(p->code, (PCRE2_SPTR)(name.p ? name.p : ""), name.n, 0,
                            PCRE2_NO_UTF_CHECK, p->data, p->limits);
    if (found >= 0)
        return TG_HIT_YES;
    if (found == PCRE2_ERROR_NOMATCH)
        return TG_HIT_NO;
    ++*p->given_up;
    return TG_HIT_GAVE_UP;
}

enum tg_hit tg_pattern_test(const struct tg_pattern *p, tg_sv name)
{
    if (p->code)
        return search(p, name);
    return tg_sv_glob(p->text, name) ? TG_HIT_YES : TG_HIT_NO;
}

bool tg_pattern_group(const struct tg_pattern *p, tg_sv text, tg_sv *out)
{
    if (!p->code || tg_pattern_groups(p) == 0 || search(p, text) != TG_HIT_YES)
        return false;
    const PCRE2_SIZE *at = pcre2_get_ovector_pointer(p->data);
    /* A lookaround with \K can end before it begins. */
    if (at[2] == PCRE2_UNSET || at[3] < at[2])
        return false;
    *out = (tg_sv){ text.p + at[2], at[3] - at[2] };
    return true;
}

size_t tg_pattern_groups(const struct tg_pattern *p)
{
    uint32_t n = 0;
    if (p->code)
        (void)pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &n);
    return n;
}

tg_sv tg_pattern_text(const struct tg_pattern *p)
{
    return p->text;
}

bool tg_pattern_is_regex(const struct tg_pattern *p)
{
    return p->code != NULL;
}

/* Within brackets a star is a pointer: "void kern(float*)", "std::array<char*, 2>". */
static bool has_wildcard(tg_sv name)
{
    int depth = 0;
    for (size_t i = 0; i < name.n; i++) {
        depth += name.p[i] == '(' || name.p[i] == '<' || name.p[i] == '[';
        depth -= name.p[i] == ')' || name.p[i] == '>' || name.p[i] == ']';
        if (name.p[i] == '?' || (name.p[i] == '*' && depth <= 0))
            return true;
    }
    return false;
}

enum tg_waiver_naming tg_waiver_naming(tg_sv name)
{
    bool regex = name.n > 1 && name.p[0] == '/' && name.p[name.n - 1] == '/';
    if (name.n > TG_PATTERN_MAX)
        return name.n > TG_WAIVER_NAME_MAX ? TG_WAIVER_NEVER : TG_WAIVER_EXACT;
    if (!name.n || regex)
        return TG_WAIVER_NEVER;
    return has_wildcard(name) ? TG_WAIVER_MANY : TG_WAIVER_EXACT;
}

bool tg_waiver_write(struct tg_buf *out, tg_sv name, bool *many)
{
    size_t start = out->n;
    *many = tg_waiver_naming(name) != TG_WAIVER_EXACT;
    if (!*many) {
        tg_buf_add(out, name);
        return true;
    }
    tg_buf_puts(out, "/\\A");
    for (size_t i = 0; i < name.n; i++) {
        if (!tg_is_letter(name.p[i]) && !tg_is_digit(name.p[i]) && (unsigned char)name.p[i] < 0x80)
            tg_buf_putc(out, '\\');
        tg_buf_putc(out, name.p[i]);
    }
    tg_buf_puts(out, "\\z/");
    if (name.n && out->n - start <= TG_PATTERN_MAX)
        return true;
    out->n = start;
    return false;
}

enum tg_hit tg_patterns_test(const struct tg_patterns *list, tg_sv name)
{
    enum tg_hit hit = TG_HIT_NO;
    for (size_t i = 0; i < list->n; i++) {
        enum tg_hit one = tg_pattern_test(list->v[i], name);
        if (one == TG_HIT_YES)
            return one;
        if (one == TG_HIT_GAVE_UP)
            hit = one;
    }
    return hit;
}
