// The executable as data: values, steps and kernels. Built by lib/compiler, run here without any compiler. Everything is contiguous row-major.
#ifndef TC_LIB_RUNTIME_PLAN_H
#define TC_LIB_RUNTIME_PLAN_H

#include "tc/tc_op.h"

/// A generated CPU kernel. args: one pointer per step argument, inputs first, then outputs. It computes the tasks [begin, end) of
/// the step's n_tasks; different task ranges may run on different threads at once. dims: the step's dynamic sizes. scratch:
/// scratch_bytes private to the calling thread, 64-byte aligned.
typedef void (*tc__kernel_fn)(void *const *args, const int64_t *dims, int64_t begin, int64_t end, void *scratch);

typedef enum tc__value_kind {
  TC__VALUE_INPUT,    ///< index: position among the user's inputs
  TC__VALUE_PARAM,    ///< index: position among params (parameters, buffers, lifted constants); bound at load
  TC__VALUE_CONST,    ///< data: literal bytes owned by the plan
  TC__VALUE_PREPARED, ///< offset in the prepared block: written by prepare steps at load, read by every run
  TC__VALUE_ARENA,    ///< offset in the arena of a run (prepare steps have an arena of their own)
  TC__VALUE_OUTPUT,   ///< index: position among the outputs
  TC__VALUE_ALIAS,    ///< index: another value, whose bytes these are (a reshape)
} tc__value_kind;

typedef struct tc__plan_value {
  tc__type type;
  tc__value_kind kind;
  int64_t index, offset;
  const void *data;
} tc__plan_value;

typedef enum tc__step_kind {
  TC__STEP_KERNEL, ///< kernel: index into kernels
  TC__STEP_OP,     ///< op: run by tc__interp_run
  TC__STEP_COPY,   ///< args[0] -> args[1], same bytes
} tc__step_kind;

typedef struct tc__plan_step {
  tc__step_kind kind;
  int kernel;
  tc_op_kind op;
  tc__attrs attrs;
  int n_in, n_out;
  int *args;            ///< n_in + n_out value indices
  int64_t n_tasks;      ///< KERNEL: number of tasks
  int64_t task_cost;    ///< KERNEL: estimated nanoseconds a task on one thread; small steps are not threaded
  const char *location; ///< source line, "" when unknown
  int64_t bytes_read, bytes_written, unfused_read, unfused_written, flops; ///< for --explain
  const char *summary;  ///< for --explain: "sin cos", "convolution add relu"
} tc__plan_step;

typedef struct tc__plan_kernel {
  const char *name;
  tc__kernel_fn fn;
  int64_t scratch_bytes;
} tc__plan_kernel;

typedef struct tc__plan_io {
  const char *name;
  int value;
  const char *mutates; ///< outputs: name of the input or buffer that takes this value after a run; NULL for a user output
} tc__plan_io;

typedef struct tc__plan {
  tc__plan_value *values;
  int n_values;
  tc__plan_step *prepare, *steps;
  int n_prepare, n_steps;
  tc__plan_kernel *kernels;
  int n_kernels;
  tc__plan_io *inputs, *params, *outputs;
  int n_inputs, n_params, n_outputs;
  int64_t arena_bytes, prepare_arena_bytes, prepared_bytes;
  void *storage;                   ///< everything above that is owned (an arena), released by destroy_code then tc__plan_destroy
  void (*destroy_code)(void *code); ///< frees the JIT
  void *code;
} tc__plan;

/// Frees a plan and its code. The plan itself lies in its storage.
void tc__plan_destroy(tc__plan *plan);

/// Zeroed, 64-byte aligned memory that lives as long as the plan whose `storage` this becomes. NULL when out of memory.
void *tc__plan_alloc(void **storage, size_t bytes);
char *tc__plan_strdup(void **storage, const char *text);

#endif // TC_LIB_RUNTIME_PLAN_H
