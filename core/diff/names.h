#ifndef TG_DIFF_NAMES_H
#define TG_DIFF_NAMES_H
/*
 * The three forms of a name: raw, short (HTA's rule, for display), normalised (identity).
 * Both functions append to `out` and take time linear in the name, whatever it holds.
 */
#include "core/base/buf.h"
#include "core/trace/kind.h"

/* HTA's short name, bug for bug: it may be empty, and may merge different kernels. */
void tg_name_short(tg_sv raw, struct tg_buf *out);

/*
 * Identity for gating: the same for builds and runs of the same program. Idempotent. Rules:
 *   ProfilerStep#12                       ProfilerStep
 *   execute_8_context_1(a)_generation_0   execute_*_context_*_generation_*   (not of kernels)
 *   step[DECODE bs=32]                    step[DECODE bs=*]                  (not of kernels)
 *   Torch-Compiled Region: 2/1            Torch-Compiled Region: * / *   (without the blanks)
 *   0x7f00c0de                            0x*
 *   nn.Module: Linear_0                   Linear_0                            (modules only)
 *   base32 hash of 32 and more            *       (graphs: "## Call CompiledFxGraph * ##")
 *   model.py(123): forward                model.py: forward        (and "<string>(1): f")
 *   /tmp/torchinductor_me/x/chash.py      /tmp/torchinductor_* /hash.py   (without the blank)
 *   triton_poi_fused_add_mul_3            triton_poi_fused_add_mul (also graph_0_cpp_fused_add_1,
 *                                         a hash or number after it, any number of them)
 *   all-reduce-start.3.clone.1            all-reduce-start       (XLA's, on devices only; in front
 *   loop_add_fusion_12                    loop_add_fusion         of a last ".remat" as well)
 *   {lambda(float)#2}, 'lambda3', $_4     {lambda(float)}, 'lambda', $_
 *   {unnamed type#1}                      {unnamed type}
 *   _GLOBAL__N__1f2e_7_Foo_cu_99          (anonymous namespace)
 * Argument types stay: float against double under one number-less lambda is a real change.
 */
void tg_name_normalise(enum tg_kind kind, tg_sv raw, struct tg_buf *out);

/* Is its time somebody else's: a copy, a synchronising call, a wait? (A collective's is, too.) */
bool tg_name_waits(enum tg_kind kind, tg_sv name);

/* Is it a row of autograd's around what a node calls: "MulBackward0",
 * "torch::autograd::AccumulateGrad"? */
bool tg_name_is_node(tg_sv name);

/*
 * Is `node` autograd's for the operator, by the way its generator names nodes: "_to_copy" has
 * "ToCopyBackward0"? Also of the row around a node, "autograd::engine::evaluate_function: …".
 */
bool tg_name_is_backward_of(tg_sv node, tg_sv op);
/*
 * The letters that it compares, to find one among many: a node and an operator with the same
 * letters are such a pair. False: the name is not a node of autograd, or none of ATen's operators.
 */
bool tg_name_put_node_letters(tg_sv node, struct tg_buf *out);
bool tg_name_put_letters(tg_sv op, struct tg_buf *out);

/*
 * Does the operator of this name, where it neither copies nor allocates, cost nothing in a program:
 * a view, a question about metadata (names.c), or autograd's node of one?
 */
bool tg_name_is_view(tg_sv name);
#endif
