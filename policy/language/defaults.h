#ifndef TG_POLICY_LANGUAGE_DEFAULTS_H
#define TG_POLICY_LANGUAGE_DEFAULTS_H
/* policy/language/defaults.yml, compiled into the program (cmake/embed.cmake). */
#include <stddef.h>

#define TG_POLICY_BUILT_IN "tracegate:recommended" /* its file name in positions */

extern const char tg_policy_defaults[]; /* NUL-terminated */
extern const size_t tg_policy_defaults_size;
#endif
