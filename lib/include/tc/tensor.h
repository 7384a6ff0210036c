//===- tc/tensor.h - tensors in host memory, and scopes ---------------------------------------------------------------===//
//
// Part of tc. Licensed under the Apache License v2.0 with LLVM Exceptions. See LICENSE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef TC_TENSOR_H
#define TC_TENSOR_H

#include "tc/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A dense, row-major tensor of rank 0 to TC_MAX_RANK; or, inside a function that is being compiled, a value of its graph, which has a dtype
/// and a shape but no data. Reference-counted; the count is atomic.
typedef struct tc_tensor tc_tensor;

/// A new tensor, uninitialised, owned by the caller. shape has `rank` entries >= 0 and may be NULL when rank is 0.
TC_API tc_status tc_tensor_create(tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) TC_MUST_CHECK;
/// As tc_tensor_create, filled with a copy of `data` (row-major, tc_tensor_bytes bytes).
TC_API tc_status tc_tensor_create_copy(const void *data, tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) TC_MUST_CHECK;
/// A tensor over the caller's memory, which must outlive it. Nothing is copied.
TC_API tc_status tc_tensor_wrap(void *data, tc_dtype dtype, int rank, const int64_t *shape, tc_tensor **out_tensor) TC_MUST_CHECK;
/// Reads a .npy file.
TC_API tc_status tc_tensor_load_npy(const char *path, tc_tensor **out_tensor) TC_MUST_CHECK;
/// Writes a .npy file (bf16 as raw 2-byte values of descr '<V2'); nothing half-written is left on failure.
TC_API tc_status tc_tensor_save_npy(const tc_tensor *tensor, const char *path) TC_MUST_CHECK;

/// One more owner; returns tensor. NULL is allowed.
TC_API tc_tensor *tc_tensor_retain(tc_tensor *tensor);
/// One owner less; the last one frees it. NULL is allowed.
TC_API void tc_tensor_release(tc_tensor *tensor);

TC_API tc_dtype tc_tensor_dtype(const tc_tensor *tensor);
TC_API int tc_tensor_rank(const tc_tensor *tensor);
/// The sizes, tc_tensor_rank of them. Borrowed.
TC_API const int64_t *tc_tensor_shape(const tc_tensor *tensor);
/// The elements in row-major order, 64-byte aligned unless wrapped; NULL for a value of a graph that is being traced. Borrowed.
TC_API void *tc_tensor_data(const tc_tensor *tensor);
/// Number of elements, and their size in bytes.
TC_API int64_t tc_tensor_elements(const tc_tensor *tensor);
TC_API int64_t tc_tensor_bytes(const tc_tensor *tensor);

/// A rank-0 tensor with a value, of dtype f32 (tc_scalar) or i64 (tc_scalar_i64). It takes the other operand's dtype in a binary op, as a
/// number does in PyTorch. Owned by the innermost scope, as every result of an op.
TC_API tc_tensor *tc_scalar(double value);
TC_API tc_tensor *tc_scalar_i64(int64_t value);

/// Scopes own what ops return, so that expressions nest: tc_sin(tc_cos(x)). A scope is a thread's; scopes nest. What outlives its scope is
/// kept with tc_tensor_retain. With no scope open, results belong to the thread and are freed by tc_scope_clear or at the thread's end.
typedef struct tc_scope {
  size_t mark;
} tc_scope;
TC_API tc_scope tc_scope_open(void);
/// Releases what ops returned on this thread since the scope was opened.
TC_API void tc_scope_close(tc_scope scope);
/// Releases everything that ops returned on this thread.
TC_API void tc_scope_clear(void);

#ifdef __cplusplus
}
#endif
#endif // TC_TENSOR_H
