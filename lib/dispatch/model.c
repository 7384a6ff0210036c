// Saved models: load, compile, bind weights, run.
#include "compiler/compile.h"
#include "frontend/trace.h"
#include "runtime/exec.h"
#include "runtime/explain.h"
#include "tc/compile.h"

struct tc_model {
  tc__model *source;
  tc__executable *exe;
  int *outputs; // plan outputs that the user sees
  int n_outputs;
  tc__str explain;
};

static tc_status load(const char *path, const tc_model_options *options, tc_model *m) {
  static const tc_model_options defaults = {0};
  if (!options)
    options = &defaults;
  TC_TRY(tc__model_load(path, &m->source));
  if (options->synthesize_weights)
    TC_TRY(tc__model_synthesize(m->source, path));
  tc__compile_options compile = {options->compile.backend, options->compile.cpu, options->compile.threads};
  tc__plan *plan;
  tc__buffer *params = NULL;
  TC_TRY(tc__compile(m->source->module, &compile, &plan));
  tc_status status = tc__model_bind(m->source, plan, &params);
  if (status == TC_OK)
    status = tc__executable_create(plan, params, &m->exe);
  else
    tc__plan_destroy(plan);
  tc__free(params);
  TC_TRY(status);
  const tc__plan *kept = tc__executable_plan(m->exe);
  if (!(m->outputs = tc__calloc((size_t)kept->n_outputs + 1, sizeof *m->outputs)))
    return tc__oom();
  for (int i = 0; i < kept->n_outputs; i++)
    if (!kept->outputs[i].mutates)
      m->outputs[m->n_outputs++] = i;
  tc__plan_explain(kept, false, &m->explain);
  return m->explain.oom ? tc__oom() : TC_OK;
}

tc_status tc_model_load(const char *path, const tc_model_options *options, tc_model **out_model) {
  *out_model = NULL;
  tc_model *m = tc__calloc(1, sizeof *m);
  if (!m)
    return tc__oom();
  tc_status status = load(path, options, m);
  if (status != TC_OK) {
    tc_model_release(m);
    return status;
  }
  *out_model = m;
  return TC_OK;
}

void tc_model_release(tc_model *m) {
  if (!m)
    return;
  tc__executable_destroy(m->exe);
  tc__model_destroy(m->source);
  tc__free(m->outputs);
  tc__str_free(&m->explain);
  tc__free(m);
}

int tc_model_input_count(const tc_model *m) { return tc__executable_plan(m->exe)->n_inputs; }
int tc_model_output_count(const tc_model *m) { return m->n_outputs; }

static void describe(const tc__plan *plan, const tc__plan_io *io, const char **name, tc_dtype *dtype, int *rank, const int64_t **shape) {
  const tc__type *type = &plan->values[io->value].type;
  if (name)
    *name = io->name;
  if (dtype)
    *dtype = type->dtype;
  if (rank)
    *rank = type->rank;
  if (shape)
    *shape = type->shape;
}

tc_status tc_model_input(const tc_model *m, int i, const char **name, tc_dtype *dtype, int *rank, const int64_t **shape) {
  const tc__plan *plan = tc__executable_plan(m->exe);
  if (i < 0 || i >= plan->n_inputs)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "input %d: the model has %d", i, plan->n_inputs);
  describe(plan, &plan->inputs[i], name, dtype, rank, shape);
  return TC_OK;
}

tc_status tc_model_output(const tc_model *m, int i, const char **name, tc_dtype *dtype, int *rank, const int64_t **shape) {
  const tc__plan *plan = tc__executable_plan(m->exe);
  if (i < 0 || i >= m->n_outputs)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "output %d: the model has %d", i, m->n_outputs);
  describe(plan, &plan->outputs[m->outputs[i]], name, dtype, rank, shape);
  return TC_OK;
}

tc_status tc_model_run(tc_model *m, tc_tensor *const *inputs, size_t n_inputs, tc_tensor **outputs, size_t n_outputs) {
  for (size_t i = 0; i < n_outputs; i++)
    outputs[i] = NULL;
  if (n_inputs != (size_t)tc_model_input_count(m) || n_outputs != (size_t)m->n_outputs)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "expected %d inputs and %d outputs, found %zu and %zu", tc_model_input_count(m),
                     m->n_outputs, n_inputs, n_outputs);
  tc__buffer *buffers = tc__calloc(n_inputs + n_outputs + 1, sizeof *buffers);
  if (!buffers)
    return tc__oom();
  tc_status status = TC_OK;
  for (size_t i = 0; i < n_inputs && status == TC_OK; i++) {
    if (!inputs[i] || inputs[i]->trace)
      status = tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "input %zu has no data", i);
    else
      buffers[i] = inputs[i]->buffer;
  }
  for (size_t i = 0; i < n_outputs && status == TC_OK; i++) {
    tc_dtype dtype;
    int rank;
    const int64_t *shape;
    status = tc_model_output(m, (int)i, NULL, &dtype, &rank, &shape);
    if (status == TC_OK)
      status = tc_tensor_create(dtype, rank, shape, &outputs[i]);
    if (status == TC_OK)
      buffers[n_inputs + i] = outputs[i]->buffer;
  }
  if (status == TC_OK)
    status = tc__executable_run(m->exe, buffers, n_inputs, buffers + n_inputs, n_outputs);
  tc__free(buffers);
  for (size_t i = 0; i < n_outputs && status != TC_OK; i++) {
    tc_tensor_release(outputs[i]);
    outputs[i] = NULL;
  }
  return status;
}

const char *tc_model_explain(const tc_model *m) { return m->explain.data ? m->explain.data : ""; }
