#include "cmd/setup/program.h"

#include <stdint.h>

/* A window is a glob on annotations; the numbers in them (SGLang's bs=32) are not part of a
 * name. */
static const struct tg_program_info programs[TG_PROGRAM_N] = {
    [TG_PROGRAM_PLAIN] = { .name = "a script", .ranks = 1 },
    [TG_PROGRAM_VLLM] = { "vLLM", "execute_*", "vllm", "vllm/__init__.py", 1, .server = true,
                          .gpu = true },
    [TG_PROGRAM_SGLANG] = { "SGLang", "step[*", "sglang", "python/sglang/__init__.py", 1,
                            .server = true, .gpu = true },
    [TG_PROGRAM_TORCHTITAN] = { "torchtitan", NULL, "torchtitan", "torchtitan/train.py", 8,
                                .launched = true, .gpu = true },
    [TG_PROGRAM_MEGATRON] = { "Megatron", NULL, "megatron-core", "megatron/training/training.py", 8,
                              .launched = true, .gpu = true },
    [TG_PROGRAM_TORCHRUN] = { .name = "torchrun", .ranks = 2 },
    [TG_PROGRAM_PYTEST] = { .name = "pytest", .ranks = 1 },
};

const struct tg_program_info *tg_program_info(enum tg_program p)
{
    return &programs[p];
}

/* Does a line begin with the package: `vllm>=0.13`, `"vllm[audio]"`, `- vllm`? `vllm-flash-attn`
 * is another. */
static bool names(tg_sv line, const char *package)
{
    tg_sv word = tg_sv_past(line, " \t\"'-");
    size_t n = strlen(package);
    return tg_sv_starts(word, tg_sv_of(package)) &&
           (word.n == n || !(tg_is_word(word.p[n]) || word.p[n] == '-' || word.p[n] == '.'));
}

enum tg_program tg_program_of_dependencies(tg_sv text)
{
    while (text.n) {
        tg_sv line = tg_sv_cut(&text, '\n');
        while (line.n) { /* dependencies = ["torch", "vllm"] */
            tg_sv part = tg_sv_cut(&line, ',');
            for (size_t i = 0; i < part.n; i++)
                if (part.p[i] == '[' && i + 1 < part.n &&
                    (part.p[i + 1] == '"' || part.p[i + 1] == '\''))
                    part = tg_sv_from(part, i + 1);
            for (int p = 0; p < TG_PROGRAM_N; p++)
                if (programs[p].package && names(part, programs[p].package))
                    return (enum tg_program)p;
        }
    }
    return TG_PROGRAM_PLAIN;
}

bool tg_program_tests(tg_sv text)
{
    return tg_sv_has(text, TG_SV("(tracegate)")) || tg_sv_has(text, TG_SV("--tracegate=")) ||
           tg_sv_has(text, TG_SV("tracegate_baseline"));
}

size_t tg_program_processes(tg_sv text)
{
    size_t found = 0;
    while (text.n) {
        tg_sv line = tg_sv_past(tg_sv_cut(&text, '\n'), " \t");
        bool runs =
            tg_sv_has(line, TG_SV("torchrun ")) || tg_sv_has(line, TG_SV("torch.distributed.run "));
        if (tg_sv_starts(line, TG_SV("#")) || (!runs && !found))
            continue;
        found = found ? found : SIZE_MAX;
        for (size_t i = 0; i < line.n; i++) {
            tg_sv word = tg_sv_from(line, i);
            size_t value = 0;
            if (!tg_sv_skip(&word, TG_SV("--nproc-per-node")) &&
                !tg_sv_skip(&word, TG_SV("--nproc_per_node")))
                continue;
            word = tg_sv_past(word, " =");
            for (size_t k = 0; k < word.n && k < 4 && tg_is_digit(word.p[k]); k++)
                value = 10 * value + (size_t)(word.p[k] - '0');
            if (value)
                return value;
        }
    }
    return found;
}
