/* Numbers in sentences (phrase.c). */
#include "by_hand.h"
#include "policy/verdict/phrase.h"

WITH_HAND(values_have_their_unit)
{
    static const struct {
        double v;
        enum tg_unit unit;
        const char *want;
    } rows[] = {
        { 3, TG_UNIT_COUNT, "3" },
        { 2.5, TG_UNIT_COUNT, "2.50" },
        { -3, TG_UNIT_COUNT, "-3" },
        { 0, TG_UNIT_ATTR, "0" },
        { 1500, TG_UNIT_NS, "1.50 us" },
        { 12.34, TG_UNIT_PERCENT, "12.3 %" },
        { 1.234, TG_UNIT_RATE, "1.23 GB/s" },
        { 1023, TG_UNIT_BYTES, "1023 B" },
        { 1024, TG_UNIT_BYTES, "1.0 KiB" },
        { -1536, TG_UNIT_BYTES, "-1.5 KiB" },
        { 1048576, TG_UNIT_BYTES, "1.0 MiB" },
        { 1099511627776.0, TG_UNIT_BYTES, "1.0 TiB" },
        { 1125899906842624.0, TG_UNIT_BYTES, "1024.0 TiB" }, /* the largest unit */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_buf b = { 0 };
        tg_phrase_value(&b, rows[i].v, rows[i].unit);
        hand_text(tg_phrase_take(&b, h->a), rows[i].want);
    }
}

WITH_HAND(changes_have_a_sign)
{
    static const struct {
        double v;
        const char *change, *pct;
    } rows[] = { { 3, "+3", "+3.0 %" },
                 { 0, "+0", "+0.0 %" },
                 { -3, "-3", "-3.0 %" },
                 { 10, "+10", "+10 %" },
                 { -10, "-10", "-10 %" } };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tg_buf b = { 0 };
        tg_phrase_signed(&b, rows[i].v, TG_UNIT_COUNT);
        hand_text(tg_phrase_take(&b, h->a), rows[i].change);
        tg_phrase_pct(&b, rows[i].v);
        hand_text(tg_phrase_take(&b, h->a), rows[i].pct);
    }
}
