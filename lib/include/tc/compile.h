//===- tc/compile.h - compiling C functions and saved models ----------------------------------------------------------===//
//
// Part of tc. Licensed under the Apache License v2.0 with LLVM Exceptions. See LICENSE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef TC_COMPILE_H
#define TC_COMPILE_H

#include "tc/tensor.h"

#ifdef __cplusplus
extern "C" {
#endif

/// How to compile. Zero-initialise for the defaults.
typedef struct tc_compile_options {
  const char *backend; ///< NULL = generated code; "eager" = one kernel an op; "interp" = the reference interpreter
  const char *cpu;     ///< NULL = this machine's; otherwise an LLVM CPU name ("x86-64-v3")
  int threads;         ///< threads for compiling; 0 = all cores
} tc_compile_options;

/// Threads that kernels run on: 0 = all cores (the default; TC_NUM_THREADS sets it too).
TC_API void tc_set_num_threads(int threads);
TC_API int tc_get_num_threads(void);

// ---- functions ----------------------------------------------------------------------------------------------------------------

/// A compiled C function of tensors. Safe to call from several threads.
typedef struct tc_function tc_function;

typedef tc_tensor *(*tc_fn1)(tc_tensor *);
typedef tc_tensor *(*tc_fn2)(tc_tensor *, tc_tensor *);
typedef tc_tensor *(*tc_fn3)(tc_tensor *, tc_tensor *, tc_tensor *);
typedef tc_tensor *(*tc_fn4)(tc_tensor *, tc_tensor *, tc_tensor *, tc_tensor *);
typedef void (*tc_any_fn)(void);

/// Compiles fn, a function of n_inputs (1 to 4) tensors that returns one. It is traced and compiled at the first call with each set of
/// dtypes and shapes, and replayed afterwards. Whatever ops fn calls are recorded with their file and line. options may be NULL.
TC_API tc_status tc_compile_fn(tc_any_fn fn, int n_inputs, const tc_compile_options *options, tc_function **out_function) TC_MUST_CHECK;
TC_API void tc_function_release(tc_function *function);
/// Calls a compiled function. The result belongs to the innermost scope, as an op's does; NULL on failure (see tc_last_error), also when
/// an input is NULL.
TC_API tc_tensor *tc_call_array(tc_function *function, tc_tensor *const *inputs, size_t n_inputs);
/// What the last compilation of the function made, as text: kernels, bytes read and written, fused and unfused. Borrowed; "" before the first call.
TC_API const char *tc_function_explain(tc_function *function);

#ifndef __cplusplus
/// tc_compile(fn, options, &function): tc_compile_fn with the number of inputs taken from fn's type.
#define tc_compile(fn, options, out_function)                                                                                    \
  tc_compile_fn((tc_any_fn)(fn), _Generic((fn), tc_fn1: 1, tc_fn2: 2, tc_fn3: 3, tc_fn4: 4), options, out_function)
/// tc_call(function, x, y, ...): tc_call_array on the tensors named.
#define tc_call(function, ...)                                                                                                   \
  tc_call_array(function, (tc_tensor *[]){__VA_ARGS__}, sizeof((tc_tensor *[]){__VA_ARGS__}) / sizeof(tc_tensor *))
#endif

// ---- models -------------------------------------------------------------------------------------------------------------------

/// A model read from a file and compiled, with its weights. Safe to run from several threads (runs take turns).
typedef struct tc_model tc_model;

typedef struct tc_model_options {
  tc_compile_options compile;
  /// Give parameters that the file has no values for (a bare model.json) the values of the rule in docs/model-fixtures.md, for tests and
  /// benchmarks. Otherwise a missing value is an error.
  bool synthesize_weights;
} tc_model_options;

/// Loads and compiles a torch.export archive (.pt2), its model.json, a folder holding either, or an .mlir file. options may be NULL.
TC_API tc_status tc_model_load(const char *path, const tc_model_options *options, tc_model **out_model) TC_MUST_CHECK;
TC_API void tc_model_release(tc_model *model);
TC_API int tc_model_input_count(const tc_model *model);
TC_API int tc_model_output_count(const tc_model *model);
/// Name, dtype, rank and shape of input or output i (0 <= i < count). Each out pointer may be NULL. What is given is borrowed.
TC_API tc_status tc_model_input(const tc_model *model, int i, const char **out_name, tc_dtype *out_dtype, int *out_rank, const int64_t **out_shape);
TC_API tc_status tc_model_output(const tc_model *model, int i, const char **out_name, tc_dtype *out_dtype, int *out_rank, const int64_t **out_shape);
/// Runs once. outputs receives tc_model_output_count new tensors, owned by the caller. On failure outputs are NULL. A dtype or shape that does not
/// fit gives TC_ERR_DTYPE_MISMATCH or TC_ERR_SHAPE_MISMATCH with the input's name, what was expected and what was found.
TC_API tc_status tc_model_run(tc_model *model, tc_tensor *const *inputs, size_t n_inputs, tc_tensor **outputs, size_t n_outputs) TC_MUST_CHECK;
/// As tc_function_explain. Borrowed.
TC_API const char *tc_model_explain(const tc_model *model);

#ifdef __cplusplus
}
#endif
#endif // TC_COMPILE_H
