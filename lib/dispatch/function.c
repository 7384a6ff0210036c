// Compiled C functions: one entry for each set of input types.
#include "compiler/compile.h"
#include "frontend/trace.h"
#include "runtime/exec.h"
#include "runtime/explain.h"
#include "tc/compile.h"

#include <pthread.h>

enum { MAX_INPUTS = 4, RECOMPILE_LIMIT = 8 };

typedef struct entry {
  tc__type inputs[MAX_INPUTS];
  tc__executable *exe;
  tc__model *model; // holds what the plan borrows: captured tensors
  struct entry *next;
} entry;

struct tc_function {
  tc_any_fn fn;
  int n_inputs;
  tc__compile_options options;
  char *backend, *cpu;
  pthread_mutex_t lock; // guards the list; an entry never changes once it is in it
  entry *entries;
  int n_entries;
  tc__str explain;
};

tc_status tc_compile_fn(tc_any_fn fn, int n_inputs, const tc_compile_options *options, tc_function **out_function) {
  *out_function = NULL;
  if (!fn || n_inputs < 1 || n_inputs > MAX_INPUTS)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "expected a function of 1 to %d tensors, found %d", MAX_INPUTS, n_inputs);
  tc_function *f = tc__calloc(1, sizeof *f);
  if (!f)
    return tc__oom();
  f->fn = fn;
  f->n_inputs = n_inputs;
  pthread_mutex_init(&f->lock, NULL);
  if (options) {
    f->backend = options->backend ? tc__strdup(options->backend) : NULL;
    f->cpu = options->cpu ? tc__strdup(options->cpu) : NULL;
    f->options = (tc__compile_options){f->backend, f->cpu, options->threads};
    if ((options->backend && !f->backend) || (options->cpu && !f->cpu)) {
      tc_function_release(f);
      return tc__oom();
    }
  }
  *out_function = f;
  return TC_OK;
}

static void destroy_entry(entry *e) {
  tc__executable_destroy(e->exe);
  tc__model_destroy(e->model);
  tc__free(e);
}

void tc_function_release(tc_function *f) {
  if (!f)
    return;
  while (f->entries) {
    entry *next = f->entries->next;
    destroy_entry(f->entries);
    f->entries = next;
  }
  tc__str_free(&f->explain);
  tc__free(f->backend);
  tc__free(f->cpu);
  pthread_mutex_destroy(&f->lock);
  tc__free(f);
}

static entry *find(tc_function *f, const tc__type *types) {
  for (entry *e = f->entries; e; e = e->next) {
    bool equal = true;
    for (int i = 0; i < f->n_inputs && equal; i++)
      equal = tc__type_equal(&e->inputs[i], &types[i]);
    if (equal)
      return e;
  }
  return NULL;
}

static tc_status compile_entry(tc_function *f, const tc__type *types, entry **out) {
  entry *e = tc__calloc(1, sizeof *e);
  if (!e)
    return tc__oom();
  memcpy(e->inputs, types, sizeof *types * (size_t)f->n_inputs);
  tc__plan *plan = NULL;
  tc__buffer *params = NULL;
  tc_status status = tc__trace_function(f->fn, types, (size_t)f->n_inputs, &e->model);
  if (status == TC_OK)
    status = tc__compile(e->model->module, &f->options, &plan);
  if (status == TC_OK)
    status = tc__model_bind(e->model, plan, &params);
  if (status == TC_OK)
    status = tc__executable_create(plan, params, &e->exe);
  else
    tc__plan_destroy(plan);
  tc__free(params);
  if (status != TC_OK) {
    destroy_entry(e);
    return status;
  }
  f->explain.size = 0;
  tc__plan_explain(tc__executable_plan(e->exe), false, &f->explain);
  e->next = f->entries;
  f->entries = e;
  f->n_entries++;
  *out = e;
  return TC_OK;
}

tc_tensor *tc_call_array(tc_function *f, tc_tensor *const *inputs, size_t n_inputs) {
  if (!f || n_inputs != (size_t)f->n_inputs) {
    tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "expected %d inputs, found %zu", f ? f->n_inputs : 0, n_inputs);
    return NULL;
  }
  tc__type types[MAX_INPUTS];
  tc__buffer buffers[MAX_INPUTS];
  bool traced = false;
  for (size_t i = 0; i < n_inputs; i++) {
    if (!inputs[i])
      return NULL;
    traced |= inputs[i]->trace != NULL;
    buffers[i] = inputs[i]->buffer;
    types[i] = buffers[i].type;
  }
  if (traced) // a compiled function within a traced one: its ops join the trace
    return tc__call_fn(f->fn, inputs, n_inputs);
  pthread_mutex_lock(&f->lock);
  entry *e = find(f, types);
  tc_status status = TC_OK;
  if (!e && f->n_entries >= RECOMPILE_LIMIT)
    status = tc__error(TC_ERR_UNSUPPORTED, NULL, "the function was compiled for %d sets of input types already (recompile_limit)",
                       RECOMPILE_LIMIT);
  if (!e && status == TC_OK)
    status = compile_entry(f, types, &e);
  pthread_mutex_unlock(&f->lock);
  if (status != TC_OK)
    return NULL;
  const tc__plan *plan = tc__executable_plan(e->exe);
  const tc__type *type = &plan->values[plan->outputs[0].value].type;
  tc_tensor *result;
  if (tc_tensor_create(type->dtype, type->rank, type->shape, &result) != TC_OK)
    return NULL;
  if (tc__executable_run(e->exe, buffers, n_inputs, &result->buffer, 1) != TC_OK) {
    tc_tensor_release(result);
    return NULL;
  }
  return tc__scope_add(result);
}

const char *tc_function_explain(tc_function *f) { return f && f->explain.data ? f->explain.data : ""; }

void tc_set_num_threads(int threads) { tc__threads_set(threads); }
int tc_get_num_threads(void) { return tc__threads_get(); }
