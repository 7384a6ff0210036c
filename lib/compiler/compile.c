// Compiling: run the pipeline to kernels, read the host functions into a plan, lower the kernels to code in memory.
#include "compile.h"

#include "log.h"
#include "pass.h"
#include "plan_builder.h"
#include "runtime/exec.h"

#include <stdio.h>

static tc_status attach_code(MlirModule module, const tc__compile_options *options, tc__plan *plan) {
  if (plan->n_kernels == 0)
    return TC_OK;
  MlirOperation root = mlirModuleGetOperation(module);
  char pipeline[128]; // tc-cpu-kernels for this CPU's registers
  snprintf(pipeline, sizeof pipeline, "lower-kernels-to-cpu{vector-bits=%d},tc-expand-math", tc__cpu_vector_bits(options->cpu));
  TC_TRY(tc__pipeline_run(root, pipeline));
  tc__log_phase("lower kernels");
  for (int i = 0; i < plan->n_kernels; i++)
    TC_TRY(tc__plan_read_kernel(root, plan, i));
  TC_TRY(tc__pipeline_run(root, tc__pipeline_text("tc-kernels-to-llvm")));
  tc__log_phase("to LLVM dialect");
  const char **names = tc__alloc(sizeof *names * (size_t)plan->n_kernels);
  void **fns = tc__calloc((size_t)plan->n_kernels, sizeof *fns);
  tc_status status = names && fns ? TC_OK : tc__oom();
  for (int i = 0; i < plan->n_kernels && status == TC_OK; i++)
    names[i] = plan->kernels[i].name;
  int threads = options->threads > 0 ? options->threads : tc__threads_get();
  if (status == TC_OK)
    status = tc__jit_create(module, options->cpu, threads, names, (size_t)plan->n_kernels, fns, &plan->code);
  if (status == TC_OK)
    plan->destroy_code = tc__jit_destroy;
  for (int i = 0; i < plan->n_kernels && status == TC_OK; i++)
    memcpy(&plan->kernels[i].fn, &fns[i], sizeof fns[i]); // ISO C has no cast from object to function pointers
  tc__log_phase("LLVM");
  tc__free(names);
  tc__free(fns);
  return status;
}

tc_status tc__compile(MlirModule module, const tc__compile_options *options, tc__plan **out_plan) {
  static const tc__compile_options defaults = {0};
  *out_plan = NULL;
  if (!options)
    options = &defaults;
  MlirOperation root = mlirModuleGetOperation(module);
  const char *backend = options->backend && *options->backend ? options->backend : "default";
  const char *front;
  if (strcmp(backend, "default") == 0)
    front = "tc-to-kernels";
  else if (strcmp(backend, "interp") == 0)
    front = "tc-to-interp";
  else if (strcmp(backend, "eager") == 0)
    front = "tc-to-eager-kernels";
  else {
    static const char *const names[] = {"default", "interp", "eager"};
    const char *near = tc__did_you_mean(backend, names, TC_COUNTOF(names));
    return near ? tc__error(TC_ERR_NOT_FOUND, NULL, "Invalid backend: '%s', did you mean: '%s'?", backend, near)
                : tc__error(TC_ERR_NOT_FOUND, NULL, "Invalid backend: '%s'; there are: default, eager, interp", backend);
  }
  tc__log_phase(NULL);
  TC_TRY(tc__pipeline_run(root, tc__pipeline_text(front)));
  tc__log_phase("graph and fusion");
  tc__plan *plan = NULL;
  TC_TRY(tc__plan_build(module, &plan));
  tc_status status = attach_code(module, options, plan);
  if (status != TC_OK) {
    tc__plan_destroy(plan);
    return status;
  }
  *out_plan = plan;
  return TC_OK;
}
