#ifndef TG_CAUSE_PATH_TREE_H
#define TG_CAUSE_PATH_TREE_H
/* The tree of call paths: a node is its parent, a kind and a name. Node 0 is the root. O(1). */
#include "core/cause/paths.h"

/* The node below `parent`; made if it is not there yet, which may move the nodes in memory. */
uint32_t tg_path_node_of(struct tg_paths *p, int tree, uint32_t parent, enum tg_path_kind kind,
                         uint32_t text);
#endif
