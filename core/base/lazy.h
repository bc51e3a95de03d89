#ifndef TG_BASE_LAZY_H
#define TG_BASE_LAZY_H
/* Shared libraries that are loaded when they are first needed (cmake/lazy.cmake), and stay. */
#include "core/base/sv.h"

#define TG_LAZY_WHY 256
/* The functions `names` of a library into `at`, `n` of each. Else false, and `why` says what is
 * missing; it is "" otherwise. */
bool tg_lazy_load(const char *soname, const char *const *names, void **at, size_t n,
                  char why[TG_LAZY_WHY]);
#endif
