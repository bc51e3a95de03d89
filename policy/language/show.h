#ifndef TG_POLICY_LANGUAGE_SHOW_H
#define TG_POLICY_LANGUAGE_SHOW_H
/* Values of a policy's tree as text, for show, diff and explain. */
#include "policy/language/yaml.h"

/* On one line, as YAML that loads again. */
void tg_show_flow(struct tg_buf *out, const struct tg_yaml *n);
#endif
