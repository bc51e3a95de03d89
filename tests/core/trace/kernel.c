/*
 * The two kernels of one instruction set under names of their own, so that a test can call them.
 * Compiled once per set with -DTG_ISA=c (sse2, avx2, neon) and
 * -DTG_ISA_FILE="core/trace/shape_c.c".
 */
#include <stdbool.h>
#include <stddef.h>

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

/* The whole path comes along and must not collide with the library's. */
#define tg_shape_run_c unused_run_c
#define tg_shape_run_sse2 unused_run_sse2
#define tg_shape_run_avx2 unused_run_avx2
#define tg_shape_run_neon unused_run_neon
#include TG_ISA_FILE

bool JOIN(equals_, TG_ISA)(const char *p, const char *literal, size_t n);
const char *JOIN(special_, TG_ISA)(const char *p);

bool JOIN(equals_, TG_ISA)(const char *p, const char *literal, size_t n)
{
    return equals(p, literal, n);
}

const char *JOIN(special_, TG_ISA)(const char *p)
{
    return special(p);
}
