#include "policy/verdict/reason.h"

_Static_assert((int)TG_REASON_RENAMED == (int)TG_EXCEPTION_RENAMED &&
                   (int)TG_REASON_CHANCE == (int)TG_EXCEPTION_CHANCE,
               "exceptions are the first reasons");

static const struct {
    const char *id, *means, *said;
} reasons[TG_REASONS] = {
#define ROW(constant, id, means, said) [constant] = { id, means, said },
    TG_REASONS_TABLE(ROW)
#undef ROW
};

const char *tg_reason_id(enum tg_reason r)
{
    return reasons[r].id;
}

const char *tg_reason_means(enum tg_reason r)
{
    return reasons[r].means;
}

const char *tg_reason_said(enum tg_reason r)
{
    return reasons[r].said;
}

bool tg_reason_is_exception(enum tg_reason r)
{
    return r >= TG_REASON_RENAMED && r <= TG_REASON_CHANCE;
}

enum tg_reason tg_reason_of_judged(enum tg_judged j)
{
    static const enum tg_reason need[] = {
        [TG_JUDGED] = TG_REASON_NONE,
        [TG_NOT_FEW_RUNS] = TG_NEED_RUNS,
        [TG_NOT_WAIT] = TG_NEED_OWN_TIME,
        [TG_NOT_POLLING] = TG_REASON_POLLING,
        [TG_NOT_COUNT_CHANGED] = TG_NEED_SAME_CALLS,
        [TG_NOT_COUNT_VARIES] = TG_NEED_STEADY_CALLS,
        [TG_NOT_ONE_SIDED] = TG_NEED_BOTH_SIDES,
        [TG_NOT_NO_STEPS] = TG_NEED_MARKERS,
        [TG_NOT_OTHER_DEVICE] = TG_REASON_DEVICE,
        [TG_NOT_OTHER_FLAGS] = TG_REASON_FLAGS,
        [TG_NOT_REPLACED] = TG_REASON_REPLACED,
        [TG_NOT_TOO_SMALL] = TG_NEED_SIZE,
        [TG_NOT_INTEGRITY] = TG_REASON_INTEGRITY,
        [TG_NOT_BUSY] = TG_REASON_MACHINE,
        [TG_NOT_OTHER_DATA] = TG_REASON_DATA,
    };
    return need[j];
}
