#ifndef TG_POLICY_LANGUAGE_VALIDATE_H
#define TG_POLICY_LANGUAGE_VALIDATE_H
/* Checks one file against the grammar of keys.h: unknown and missing keys, types, words, ranges,
 * repeated ids. Everything is reported; valid parts stay usable. */
#include "policy/language/keys.h"
#include "policy/language/yaml.h"

void tg_validate_file(const struct tg_yaml *root, struct tg_diags *d);
#endif
