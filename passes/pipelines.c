// The named pipelines, one a target, each readable top to bottom. A name stands for its text in --pass-pipeline, as a flag of tc-opt, and in
// another pipeline.
#include "pass.h"

typedef struct pipeline {
  const char *name, *text, *summary;
} pipeline;

static const pipeline pipelines[] = {
    {"tc-graph",
     "tc-verify,tc-decompose,tc-fold,tc-hoist-constants,tc-cse,tc-dce",
     "Simplify at tc level"},
    {"tc-fusion",
     "convert-tc-to-linalg,fuse-pointwise,form-kernels",
     "From tc ops to kernel functions"},
    {"tc-to-kernels",
     "tc-graph,convert-tc-to-linalg,fuse-pointwise,tc-pack-weights,form-kernels,plan-memory",
     "What the CPU backend does before code generation"},
    {"tc-to-eager-kernels",
     "tc-verify,tc-decompose,tc-dce,convert-tc-to-linalg,form-kernels{fuse=false},plan-memory",
     "One kernel an op, unfused"},
    {"tc-to-interp",
     "tc-verify,tc-dce,plan-memory",
     "Every op a step of the interpreter"},
    {"tc-cpu-kernels",
     "lower-kernels-to-cpu,tc-expand-math",
     "Kernel functions to loops over pointers"},
    {"tc-kernels-to-llvm",
     "canonicalize,cse,convert-scf-to-cf,convert-vector-to-llvm,convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,convert-cf-to-llvm,"
     "convert-func-to-llvm,convert-index-to-llvm,reconcile-unrealized-casts,canonicalize",
     "Lowered kernels to the LLVM dialect"},
    {"tc-to-cpu",
     "tc-to-kernels,tc-cpu-kernels,tc-kernels-to-llvm",
     "tc or linalg to LLVM for the CPU"},
    {"tc-gpu-kernels",
     "tc-graph,tc-fusion",
     "What the GPU backends do before code generation"},
    {"tc-to-nvptx",
     "tc-gpu-kernels,lower-kernels-to-gpu{target=nvptx},tc-expand-math,tc-kernels-to-llvm",
     "tc or linalg to LLVM for NVIDIA GPUs"},
    {"tc-to-spirv",
     "tc-gpu-kernels,lower-kernels-to-gpu{target=spirv},tc-expand-math,tc-kernels-to-llvm",
     "tc or linalg to LLVM for SPIR-V devices"},
};

const char *tc__pipeline_text(const char *name) {
  for (size_t i = 0; i < TC_COUNTOF(pipelines); i++)
    if (strcmp(pipelines[i].name, name) == 0)
      return pipelines[i].text;
  return NULL;
}

const char *tc__pipeline_name(size_t i) { return i < TC_COUNTOF(pipelines) ? pipelines[i].name : NULL; }
const char *tc__pipeline_summary(size_t i) { return i < TC_COUNTOF(pipelines) ? pipelines[i].summary : NULL; }
