#ifndef TG_POLICY_LANGUAGE_VALUE_H
#define TG_POLICY_LANGUAGE_VALUE_H
/* Texts of a policy -> values. Numbers are decimal digits with one point, nothing else. */
#include "policy/language/rule_metric.h"

/* "+12.5ms" -> 12.5 and "ms"; a leading '+' or '-' belongs to the number. False: not a number (hex,
 * exponents, underscores and blanks are not allowed). */
TG_MUST bool tg_value_quantity(tg_sv text, double *number, tg_sv *unit);

/* The factor of a unit: "ms" -> NS, 1e6. False: unknown. "" is COUNT, 1. */
struct tg_value_unit {
    enum tg_unit unit;
    double factor;
    bool of_step;   /* "%step" */
    bool is_points; /* "pp" */
};
TG_MUST bool tg_value_unit(tg_sv text, struct tg_value_unit *out);

/* "90s", "5min" or "5m", "1h", "90" -> ms: a whole number up to 999999 and its unit; seconds
 * without one. */
TG_MUST bool tg_value_time(tg_sv text, int64_t *ms);

/* "2027-02-28" -> days since 1970-01-01; only days that exist, years 1970 to 9999. */
TG_MUST bool tg_value_date(tg_sv text, int64_t *days);
/* Days -> "2027-02-28", NUL-terminated. */
void tg_value_date_text(int64_t days, char out[16]);
#endif
