#ifndef TG_SETUP_PROGRAM_H
#define TG_SETUP_PROGRAM_H
/* The programs that `init` knows: what writes their traces, what a step of theirs is called, how
 * many ranks they run. Found by what the repository depends on, or named by --for. */
#include <stdbool.h>
#include <stddef.h>

#include "core/base/sv.h"

enum tg_program {
    TG_PROGRAM_PLAIN, /* a script of its own */
    TG_PROGRAM_VLLM,
    TG_PROGRAM_SGLANG,
    TG_PROGRAM_TORCHTITAN,
    TG_PROGRAM_MEGATRON,
    TG_PROGRAM_TORCHRUN,
    TG_PROGRAM_PYTEST,
    TG_PROGRAM_N
};
#define TG_PROGRAM_CHOICES "vllm|sglang|torchtitan|megatron|torchrun|pytest"

struct tg_program_info {
    const char *name;     /* "SGLang" */
    const char *window;   /* the annotation that is a step, as a glob; NULL: ProfilerStep */
    const char *package;  /* as a dependency; NULL: none */
    const char *own_file; /* of the framework's own repository; NULL: none */
    size_t ranks;         /* of a run, if the repository says nothing */
    bool server;
    bool launched; /* it writes the traces itself when its command asks for them */
    bool gpu;      /* it runs on devices that hosted runners lack */
};
const struct tg_program_info *tg_program_info(enum tg_program p);

/* What a list of dependencies (requirements.txt, pyproject.toml) names; PLAIN: nothing known. */
enum tg_program tg_program_of_dependencies(tg_sv text);
/* Is a test in this text, or a setting of pytest, one of the plugin's? */
bool tg_program_tests(tg_sv text);
/* The number after --nproc-per-node in a command of torchrun; 0: none, SIZE_MAX: torchrun
 * without one. */
size_t tg_program_processes(tg_sv text);
#endif
