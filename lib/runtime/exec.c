// Runs plans. A run resolves every value to an address, then performs the steps in order; a step's tasks are spread over the thread pool
// when its estimated time is worth it.
#include "exec.h"

#include "interp/interp.h"

#include <pthread.h>
#include <time.h>

// Waking a spinning worker costs well under a microsecond, but below this a second thread does not pay for its cache misses.
enum { MIN_THREADED_NS = 8000 };

struct tc__executable {
  tc__plan *plan;
  pthread_mutex_t lock; // one run at a time: the arena is one
  void **addresses;     // of values; inputs and outputs are filled in at each run
  char *arena, *prepared, *scratch;
  void **owned_params; // private copies of the parameters that runs mutate, else NULL
  void **mutation_buffers; // per output: where a mutated value is computed
  int64_t scratch_stride;
  int workers;
  int64_t *profile; // borrowed; NULL when off
};

typedef struct kernel_call {
  tc__kernel_fn fn;
  void *const *args;
  char *scratch;
  int64_t scratch_stride;
} kernel_call;

static void run_tasks(void *user, int64_t begin, int64_t end, int worker) {
  const kernel_call *call = user;
  call->fn(call->args, NULL, begin, end, call->scratch + worker * call->scratch_stride);
}

static tc_status run_step(tc__executable *exe, const tc__plan_step *step) {
  const tc__plan *plan = exe->plan;
  int n_args = step->n_in + step->n_out;
  void *local[64];
  void **args = n_args <= (int)TC_COUNTOF(local) ? local : tc__alloc(sizeof(void *) * (size_t)n_args);
  if (!args)
    return tc__oom();
  for (int i = 0; i < n_args; i++)
    args[i] = exe->addresses[step->args[i]];
  tc_status status = TC_OK;
  if (step->kind == TC__STEP_KERNEL) {
    kernel_call call = {plan->kernels[step->kernel].fn, args, exe->scratch, exe->scratch_stride};
    int threads = exe->workers;
    if (step->task_cost >= 0 && step->n_tasks * (double)step->task_cost < MIN_THREADED_NS)
      threads = 1;
    if (threads <= 1 || step->n_tasks <= 1)
      run_tasks(&call, 0, step->n_tasks, 0);
    else
      tc__parallel_for(step->n_tasks, threads, run_tasks, &call);
  } else if (step->kind == TC__STEP_COPY) {
    int64_t bytes = tc__type_bytes(&plan->values[step->args[0]].type);
    if (args[0] != args[1])
      memmove(args[1], args[0], (size_t)bytes);
  } else {
    tc__buffer small_ins[16], small_outs[2], *ins = small_ins;
    if (step->n_in > (int)TC_COUNTOF(small_ins) && !(ins = tc__alloc(sizeof *ins * (size_t)step->n_in)))
      status = tc__oom();
    if (status == TC_OK) {
      for (int i = 0; i < step->n_in; i++)
        ins[i] = (tc__buffer){plan->values[step->args[i]].type, args[i]};
      for (int i = 0; i < step->n_out; i++)
        small_outs[i] = (tc__buffer){plan->values[step->args[step->n_in + i]].type, args[step->n_in + i]};
      status = tc__interp_run(step->op, ins, (size_t)step->n_in, small_outs, (size_t)step->n_out, &step->attrs);
      if (status != TC_OK && step->location && *step->location)
        status = tc__error(status, step->location, "%s: %s", tc__op_info_get(step->op)->name, tc_last_error());
    }
    if (ins != small_ins)
      tc__free(ins);
  }
  if (args != local)
    tc__free(args);
  return status;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Addresses that do not change from run to run.
static void resolve_static(tc__executable *exe, const tc__buffer *params, char *arena) {
  const tc__plan *plan = exe->plan;
  for (int i = 0; i < plan->n_values; i++) {
    const tc__plan_value *v = &plan->values[i];
    switch (v->kind) {
    case TC__VALUE_PARAM:
      exe->addresses[i] = exe->owned_params[v->index] ? exe->owned_params[v->index] : params[v->index].data;
      break;
    case TC__VALUE_CONST:
      exe->addresses[i] = (void *)v->data;
      break;
    case TC__VALUE_PREPARED:
      exe->addresses[i] = exe->prepared + v->offset;
      break;
    case TC__VALUE_ARENA:
      exe->addresses[i] = arena + v->offset;
      break;
    default:
      break;
    }
  }
}

static void resolve_aliases(tc__executable *exe) {
  const tc__plan *plan = exe->plan;
  for (int i = 0; i < plan->n_values; i++) {
    int at = i;
    while (plan->values[at].kind == TC__VALUE_ALIAS)
      at = (int)plan->values[at].index;
    exe->addresses[i] = exe->addresses[at];
  }
}

static tc_status check_arguments(const char *what, const tc__plan *plan, const tc__plan_io *ios, int n, const tc__buffer *buffers) {
  for (int i = 0, k = 0; i < n; i++) {
    if (ios[i].mutates)
      continue;
    const tc__type *want = &plan->values[ios[i].value].type, *got = &buffers[k].type;
    char expected[128], found[128];
    if (!tc__type_equal(want, got)) {
      bool dtype = want->dtype != got->dtype;
      return tc__error(dtype ? TC_ERR_DTYPE_MISMATCH : TC_ERR_SHAPE_MISMATCH, NULL, "%s %d (%s): expected %s, found %s", what, k,
                       ios[i].name ? ios[i].name : "", tc__type_format(want, expected, sizeof expected),
                       tc__type_format(got, found, sizeof found));
    }
    if (!buffers[k].data && tc__type_bytes(want) > 0)
      return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "%s %d (%s): no data (NULL)", what, k, ios[i].name ? ios[i].name : "");
    k++;
  }
  return TC_OK;
}

static int user_outputs(const tc__plan *plan) {
  int n = 0;
  for (int i = 0; i < plan->n_outputs; i++)
    n += !plan->outputs[i].mutates;
  return n;
}

static int find_io(const tc__plan_io *ios, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (ios[i].name && strcmp(ios[i].name, name) == 0)
      return i;
  return -1;
}

static size_t io_bytes(const tc__plan *plan, const tc__plan_io *io) {
  int64_t bytes = tc__type_bytes(&plan->values[io->value].type);
  return bytes > 0 ? (size_t)bytes : 0;
}

tc_status tc__executable_create(tc__plan *plan, const tc__buffer *params, tc__executable **out) {
  *out = NULL;
  tc__executable *exe = tc__calloc(1, sizeof *exe);
  if (!exe) {
    tc__plan_destroy(plan);
    return tc__oom();
  }
  exe->plan = plan;
  pthread_mutex_init(&exe->lock, NULL);
  tc_status status = check_arguments("parameter", plan, plan->params, plan->n_params, params);
  if (status != TC_OK)
    goto fail;
  exe->workers = tc__threads_get();
  for (int i = 0; i < plan->n_kernels; i++)
    if (plan->kernels[i].scratch_bytes > exe->scratch_stride)
      exe->scratch_stride = plan->kernels[i].scratch_bytes;
  // A page between two workers' scratch keeps them off each other's cache lines and TLB entries.
  exe->scratch_stride = (exe->scratch_stride + 4096 + 4095) / 4096 * 4096;
  status = TC_ERR_OUT_OF_MEMORY;
  exe->addresses = tc__calloc((size_t)plan->n_values + 1, sizeof *exe->addresses);
  exe->owned_params = tc__calloc((size_t)plan->n_params + 1, sizeof *exe->owned_params);
  exe->mutation_buffers = tc__calloc((size_t)plan->n_outputs + 1, sizeof *exe->mutation_buffers);
  exe->prepared = tc__aligned_alloc((size_t)plan->prepared_bytes + 64);
  exe->arena = tc__aligned_alloc((size_t)plan->arena_bytes + 64);
  exe->scratch = tc__aligned_alloc((size_t)exe->scratch_stride * (size_t)exe->workers);
  if (!exe->addresses || !exe->owned_params || !exe->mutation_buffers || !exe->prepared || !exe->arena || !exe->scratch) {
    tc__oom();
    goto fail;
  }
  for (int i = 0; i < plan->n_outputs; i++) {
    if (!plan->outputs[i].mutates)
      continue;
    size_t bytes = io_bytes(plan, &plan->outputs[i]);
    if (!(exe->mutation_buffers[i] = tc__aligned_alloc(bytes + 64))) {
      tc__oom();
      goto fail;
    }
    int p = find_io(plan->params, plan->n_params, plan->outputs[i].mutates);
    if (p >= 0 && !exe->owned_params[p]) {
      if (!(exe->owned_params[p] = tc__aligned_alloc(bytes + 64))) {
        tc__oom();
        goto fail;
      }
      memcpy(exe->owned_params[p], params[p].data, bytes);
    }
  }
  char *prepare_arena = tc__aligned_alloc((size_t)plan->prepare_arena_bytes + 64);
  if (!prepare_arena) {
    tc__oom();
    goto fail;
  }
  resolve_static(exe, params, prepare_arena);
  resolve_aliases(exe);
  status = TC_OK;
  for (int i = 0; i < plan->n_prepare && status == TC_OK; i++)
    status = run_step(exe, &plan->prepare[i]);
  tc__aligned_free(prepare_arena);
  if (status != TC_OK)
    goto fail;
  resolve_static(exe, params, exe->arena);
  *out = exe;
  return TC_OK;
fail:
  tc__executable_destroy(exe);
  return status;
}

void tc__executable_destroy(tc__executable *exe) {
  if (!exe)
    return;
  tc__plan *plan = exe->plan;
  for (int i = 0; exe->owned_params && i < plan->n_params; i++)
    tc__aligned_free(exe->owned_params[i]);
  for (int i = 0; exe->mutation_buffers && i < plan->n_outputs; i++)
    tc__aligned_free(exe->mutation_buffers[i]);
  tc__free(exe->owned_params);
  tc__free(exe->mutation_buffers);
  tc__free(exe->addresses);
  tc__aligned_free(exe->prepared);
  tc__aligned_free(exe->arena);
  tc__aligned_free(exe->scratch);
  pthread_mutex_destroy(&exe->lock);
  tc__plan_destroy(plan);
  tc__free(exe);
}

void tc__executable_profile(tc__executable *exe, int64_t *ns) { exe->profile = ns; }

const tc__plan *tc__executable_plan(const tc__executable *exe) { return exe->plan; }

tc_status tc__executable_run(tc__executable *exe, const tc__buffer *inputs, size_t n_inputs, tc__buffer *outputs, size_t n_outputs) {
  const tc__plan *plan = exe->plan;
  if (n_inputs != (size_t)plan->n_inputs)
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "expected %d inputs, found %zu", plan->n_inputs, n_inputs);
  if (n_outputs != (size_t)user_outputs(plan))
    return tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "expected %d outputs, found %zu", user_outputs(plan), n_outputs);
  TC_TRY(check_arguments("input", plan, plan->inputs, plan->n_inputs, inputs));
  TC_TRY(check_arguments("output", plan, plan->outputs, plan->n_outputs, outputs));
  pthread_mutex_lock(&exe->lock);
  for (int i = 0; i < plan->n_inputs; i++)
    exe->addresses[plan->inputs[i].value] = inputs[i].data;
  for (int i = 0, k = 0; i < plan->n_outputs; i++) {
    int at = plan->outputs[i].value; // a returned reshape: the step that made its bytes writes them there
    while (plan->values[at].kind == TC__VALUE_ALIAS)
      at = (int)plan->values[at].index;
    exe->addresses[at] = plan->outputs[i].mutates ? exe->mutation_buffers[i] : outputs[k++].data;
  }
  resolve_aliases(exe);
  tc_status status = TC_OK;
  for (int i = 0; i < plan->n_steps && status == TC_OK; i++) {
    int64_t start = exe->profile ? now_ns() : 0;
    status = run_step(exe, &plan->steps[i]);
    if (exe->profile)
      exe->profile[i] += now_ns() - start;
  }
  // Nothing is mutated by a run that failed.
  for (int i = 0; i < plan->n_outputs && status == TC_OK; i++) {
    if (!plan->outputs[i].mutates)
      continue;
    int p = find_io(plan->params, plan->n_params, plan->outputs[i].mutates);
    int in = p < 0 ? find_io(plan->inputs, plan->n_inputs, plan->outputs[i].mutates) : -1;
    void *to = p >= 0 ? exe->owned_params[p] : in >= 0 ? inputs[in].data : NULL;
    if (to)
      memcpy(to, exe->mutation_buffers[i], io_bytes(plan, &plan->outputs[i]));
  }
  pthread_mutex_unlock(&exe->lock);
  return status;
}
