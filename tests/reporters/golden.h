#ifndef TG_TESTS_REPORTERS_GOLDEN_H
#define TG_TESTS_REPORTERS_GOLDEN_H
/* Compares with tests/golden/NAME; TG_UPDATE_GOLDEN=1 writes it instead. */
#include "core/base/buf.h"

void golden_check(const char *name, tg_sv bytes);
#endif
