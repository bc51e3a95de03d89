/* The table of HTA's compare_traces, durations in microseconds, per step. */
#include "reporters/csv.h"

#include <math.h>

#include "core/base/decimal.h"
#include "core/base/utf8.h"
#include "reporters/escape.h"
#include "reporters/reporter.h"

/* The high bit of each byte of `x` that equals `c`; of other bytes only above one that does. */
static uint64_t bytes_equal(uint64_t x, unsigned char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t y = x ^ ones * c;
    return (y - ones) & ~y & (ones << 7);
}

/* Is any byte not printable ASCII, or a quote? */
static bool any_special(uint64_t x)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), below_space = (x - ones * 0x20) & ~x;
    return ((x | below_space) & (ones << 7)) != 0 || bytes_equal(x, '"') || bytes_equal(x, 0x7f);
}

/* Printable ASCII without quotes (almost every name) is written unchanged. */
static bool csv_plain(tg_sv text, bool *comma)
{
    size_t i = 0;
    *comma = false;
    for (; i + 8 <= text.n; i += 8) {
        uint64_t x;
        memcpy(&x, text.p + i, sizeof x);
        if (any_special(x))
            return false;
        *comma |= bytes_equal(x, ',') != 0;
    }
    for (; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];
        if (c < 0x20 || c >= 0x7f || c == '"')
            return false;
        *comma |= c == ',';
    }
    return true;
}

/* What a spreadsheet would take for a formula is text after an apostrophe, as it shows it
 * itself. */
bool tg_csv_is_formula(tg_sv text)
{
    text = tg_sv_past(text, " \t\r\n");
    return text.n > 1 && memchr("=+-@", text.p[0], 4) != NULL;
}

void tg_csv_text(struct tg_buf *out, tg_sv text)
{
    TG_BUF safe = { 0 };
    if (tg_csv_is_formula(text)) {
        tg_buf_putc(&safe, '\'');
        tg_buf_add(&safe, text);
        text = tg_buf_sv(&safe);
    }
    TG_BUF clean = { 0 };
    bool quote, plain = csv_plain(text, &quote);
    if (!plain) {
        tg_utf8_clean(&clean, text);
        text = tg_buf_sv(&clean);
        quote = false;
        for (size_t i = 0; i < clean.n; i++) {
            if (strchr("\n\r", clean.p[i]) && tg_esc_is_command(tg_sv_from(text, i + 1)))
                clean.p[i] = ' ';
            quote |= strchr(",\"\n\r", clean.p[i]) != NULL;
        }
    }
    quote |= tg_esc_is_command(text); /* with a quote before it, it is not */
    if (quote)
        tg_buf_putc(out, '"');
    if (plain)
        tg_buf_add(out, text);
    for (size_t i = 0; !plain && i < text.n; i++) {
        if (text.p[i] == '"')
            tg_buf_putc(out, '"');
        tg_buf_putc(out, text.p[i]);
    }
    if (quote)
        tg_buf_putc(out, '"');
}

void tg_csv_number(struct tg_buf *out, double v)
{
    if (!isfinite(v))
        return;
    if (v == floor(v) && fabs(v) < 9e15)
        tg_dec_put_fixed(out, v, 0);
    else
        tg_dec_put_double(out, v);
}

void tg_csv_header(struct tg_buf *out)
{
    tg_buf_puts(out, "name,control_counts,control_total_duration,test_counts,test_total_duration,"
                     "diff_counts,diff_duration,counts_change_categories\n");
}

void tg_csv_row(struct tg_buf *out, tg_sv name, const struct tg_row_numbers *n)
{
    tg_csv_text(out, name);
    for (int s = 0; s < 2; s++) {
        tg_buf_putc(out, ',');
        tg_csv_number(out, n->count[s]);
        tg_buf_putc(out, ',');
        tg_csv_number(out, n->ns[s] / 1000);
    }
    tg_buf_putc(out, ',');
    tg_csv_number(out, n->d_count);
    tg_buf_putc(out, ',');
    tg_csv_number(out, n->d_ns / 1000);
    tg_buf_printf(out, ",%c\n", tg_row_category(n));
}

void tg_reporter_csv(struct tg_buf *out, const struct tg_verdict *v, const struct tg_render *r)
{
    const struct tg_comparison *c = v->comparison;
    (void)r;
    tg_csv_header(out);
    for (size_t i = 0; c && i < c->n_ops; i++) {
        struct tg_row_numbers n = tg_row_numbers(c, &c->ops[i], TG_BASIS_PER_STEP);
        tg_csv_row(out, c->ops[i].name, &n);
    }
}
