/*
 * Included before each source that tests/mutation/run.py has rewritten: TG_MUT(id, condition) is
 * the condition, unless TG_MUTANT names 2 * id (always false) or 2 * id + 1 (always true). With
 * TG_MUTANT_COVER=FILE the values that each condition had are appended to FILE at the end, a line
 * "id seen" with bit 0 for false and bit 1 for true.
 */
#ifndef TG_MUTATE_H
#define TG_MUTATE_H
#include <stdio.h>
#include <stdlib.h>

#define TG_MUT_MOST 16384
__attribute__((weak)) unsigned char tg_mut_seen[TG_MUT_MOST];
__attribute__((weak)) int tg_mut_chosen = -1;
__attribute__((weak)) int tg_mut_ready;

__attribute__((weak)) void tg_mut_write(void);
__attribute__((weak)) void tg_mut_write(void)
{
    const char *path = getenv("TG_MUTANT_COVER");
    FILE *f = path ? fopen(path, "a") : NULL;
    for (int i = 0; f && i < TG_MUT_MOST; i++)
        if (tg_mut_seen[i])
            fprintf(f, "%d %d\n", i, tg_mut_seen[i]);
    if (f)
        fclose(f);
}

__attribute__((weak)) void tg_mut_start(void);
__attribute__((weak)) void tg_mut_start(void)
{
    const char *chosen = getenv("TG_MUTANT");
    tg_mut_ready = 1;
    tg_mut_chosen = chosen ? atoi(chosen) : -1;
    if (getenv("TG_MUTANT_COVER"))
        atexit(tg_mut_write);
}

__attribute__((weak)) int tg_mut(int id, int value);
__attribute__((weak)) int tg_mut(int id, int value)
{
    if (!tg_mut_ready)
        tg_mut_start();
    tg_mut_seen[id] |= (unsigned char)(value ? 2 : 1);
    if (tg_mut_chosen >> 1 == id && tg_mut_chosen >= 0)
        return tg_mut_chosen & 1;
    return value;
}

/* For a change that is no value: whether it is wanted. Seen as false, so that 2 * id + 1 wants
 * it. */
__attribute__((weak)) int tg_mut_is(int id);
__attribute__((weak)) int tg_mut_is(int id)
{
    return tg_mut(id, 0);
}

/* Two comparisons that differ in a tie; only a tie is seen. */
__attribute__((weak)) int tg_mut_tie(int id, int other, int value);
__attribute__((weak)) int tg_mut_tie(int id, int other, int value)
{
    if (other == value)
        return value;
    return tg_mut_is(id) ? other : value;
}
#define TG_MUT(id, ...) tg_mut(id, !!(__VA_ARGS__))
#endif
