#ifndef TG_REPORTERS_JSON_H
#define TG_REPORTERS_JSON_H
#include "core/base/doc.h"
#include "policy/verdict/verdict.h"
#include "reporters/rows.h"

#define TG_REPORT_SCHEMA "tracegate.report/1"
#define TG_DIFF_SCHEMA "tracegate.diff/1"

/* Two members: `cause`, `no_cause`; one of them is null. */
void tg_json_cause(struct tg_doc *o, const struct tg_result *r);
void tg_json_pair(struct tg_doc *o, const char *key, const double v[2]); /* [baseline, test] */
#endif
