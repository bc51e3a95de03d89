#ifndef TG_CAUSE_RENAMED_H
#define TG_CAUSE_RENAMED_H
/*
 * Joins frames that were renamed. Two frames are one where the name of the first is nowhere in the
 * fresh side, that of the second nowhere in the baseline, both hang at the same place, are called
 * equally often, and
 *
 *   call the same things: half or more of what either calls is called by both, or
 *   call nothing that tells, and are the only such pair at their place.
 *
 * The joined frame has the new name. From the outside in, so that a renamed class comes before its
 * methods. O(nodes) a round, at most TG_RENAMED_ROUNDS of them.
 */
#include "core/cause/paths.h"

enum { TG_RENAMED_ROUNDS = 8 };

void tg_paths_join_renamed(struct tg_paths *p);
#endif
