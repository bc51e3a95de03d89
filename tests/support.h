#ifndef TG_TESTS_SUPPORT_H
#define TG_TESTS_SUPPORT_H
/* What our domain needs on top of cmocka. Include first; it brings cmocka and its prerequisites. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "core/base/sv.h"

#define assert_sv_equal(got, want)                                                                 \
    do {                                                                                           \
        tg_sv got_ = (got), want_ = (want);                                                        \
        if (!tg_sv_eq(got_, want_))                                                                \
            fail_msg("got '%.*s', want '%.*s'", TG_SV_ARG(got_), TG_SV_ARG(want_));                \
    } while (0)
#endif
