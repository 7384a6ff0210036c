// From a module at tc level to a plan with code in memory.
#ifndef TC_LIB_COMPILER_COMPILE_H
#define TC_LIB_COMPILER_COMPILE_H

#include "runtime/plan.h"
#include "tc/tc_ir.h"

struct tc__model;

typedef struct tc__compile_options {
  const char *backend; ///< "" or NULL = generated code; "interp" = every op a step of the interpreter; "eager" = one kernel an op, unfused
  const char *cpu;     ///< "" or NULL = the host's; else an LLVM CPU name
  int threads;         ///< for compiling; 0 = all cores
} tc__compile_options;

/// Compiles the entry function. The module is changed (pass a clone to keep it). The plan does not refer to the module or its context afterwards.
tc_status tc__compile(MlirModule module, const tc__compile_options *options, tc__plan **out_plan);

/// The values of a plan's parameters from the model, in the plan's order, borrowed from the model. *out_params is freed with tc__free, also
/// on failure. An error names the parameter that has no value.
tc_status tc__model_bind(const struct tc__model *model, const tc__plan *plan, tc__buffer **out_params);

// ---- code emission (emit.c) ----
/// LLVM-dialect module -> optimised code loaded in this process. `names` are looked up into out_fns. *out_code is freed by tc__jit_destroy.
tc_status tc__jit_create(MlirModule module, const char *cpu, int threads, const char *const *names, size_t n_names, void **out_fns, void **out_code);
void tc__jit_destroy(void *code);

/// Width of a vector register that code for a CPU (NULL or "": the host) should use: 128, 256 or 512.
int tc__cpu_vector_bits(const char *cpu);

typedef enum tc__emit_kind { TC__EMIT_LLVMIR, TC__EMIT_ASM, TC__EMIT_OBJECT, TC__EMIT_PTX, TC__EMIT_SPIRV } tc__emit_kind;
typedef struct tc__emit_options {
  tc__emit_kind kind;
  const char *cpu;      ///< CPU targets: LLVM CPU name ("" = host); PTX: chip, "sm_90"
  const char *features; ///< "+ptx80" or ""
  int opt_level;        ///< 0..3
} tc__emit_options;
/// Checks an LLVM CPU name and a list such as "+avx2,-fma" for the triple's architecture, with did-you-mean (cpu_names.c).
tc_status tc__cpu_check(const char *triple, const char *cpu, const char *features);
/// The least PTX version that a chip needs, 78 for 7.8; 0 when it is unknown.
int tc__cpu_least_ptx(const char *chip);
/// LLVM-dialect module -> text or bytes appended to out.
tc_status tc__emit(MlirModule module, const tc__emit_options *options, tc__str *out);

#endif
