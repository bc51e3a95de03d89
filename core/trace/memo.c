/* Texts seen before, for the kernels of the fast path. */
#include <string.h>

#include "core/base/arena.h"
#include "core/trace/shape.h"

void tg_memo_add(struct tg_shapes *f, uint64_t hash, tg_sv text, unsigned tries)
{
    uint32_t *slot = &f->memo_slot[hash & (TG_MEMO_SLOTS - 1)];
    if (tries > 8 && !f->memo_wide) { /* too many shapes begin alike: look further, and start
                                         anew */
        f->memo_wide = true;
        f->memo_n = f->memo_bytes = 0;
        memset(f->memo_slot, 0, TG_MEMO_SLOTS * sizeof *f->memo_slot);
        tg_arena_free(f->memo_arena);
        f->memo_arena = tg_arena_new();
        return;
    }
    if (f->memo_bytes + text.n > TG_MEMO_BYTES || f->memo_n >= TG_MEMO_SLOTS || tries > 64)
        return;
    f->memo = tg_grow(f->memo, &f->memo_cap, f->memo_n + 1, sizeof *f->memo);
    struct tg_memo *m = &f->memo[f->memo_n];
    *m = (struct tg_memo){ .hash = hash, .n = (uint32_t)text.n, .next = *slot };
    m->text = tg_arena_alloc(f->memo_arena, text.n + TG_SHAPE_PAD, 1);
    memcpy(m->text, text.p, text.n);
    f->memo_bytes += text.n;
    *slot = (uint32_t)++f->memo_n;
}
