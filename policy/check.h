#ifndef TG_POLICY_CHECK_H
#define TG_POLICY_CHECK_H
/*
 * One file against the grammar of keys.h: unknown and missing keys, types, words, ranges, ids that
 * stand twice. Everything is reported; what is right stays usable.
 */
#include "policy/keys.h"
#include "policy/yaml.h"

void tg_check_file(const struct tg_yaml *root, struct tg_diags *d);
#endif
