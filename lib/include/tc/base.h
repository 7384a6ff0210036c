//===- tc/base.h - status, element types, diagnostics -----------------------------------------------------------------===//
//
// Part of tc. Licensed under the Apache License v2.0 with LLVM Exceptions. See LICENSE.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===------------------------------------------------------------------------------------------------------------------===//
#ifndef TC_BASE_H
#define TC_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define TC_API __attribute__((visibility("default")))
#define TC_MUST_CHECK __attribute__((warn_unused_result))
#define TC_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TC_API
#define TC_MUST_CHECK
#define TC_PRINTF(fmt, args)
#endif

/// The largest rank of a tensor.
#define TC_MAX_RANK 12

/// Every status a tc function can return: TC_OK (0) or what went wrong. The text of an error goes to the diagnostic handler and is
/// kept, per thread, for tc_last_error().
#define TC_STATUS_TABLE(X)                                                                                                       \
  X(OK, "ok")                                                                                                                    \
  X(ERR_INVALID_ARGUMENT, "invalid argument")                                                                                    \
  X(ERR_OUT_OF_MEMORY, "out of memory")                                                                                          \
  X(ERR_NOT_FOUND, "not found")                                                                                                  \
  X(ERR_IO, "input/output error")                                                                                                \
  X(ERR_PARSE, "malformed input")                                                                                                \
  X(ERR_UNSUPPORTED, "unsupported")                                                                                              \
  X(ERR_SHAPE_MISMATCH, "shape mismatch")                                                                                        \
  X(ERR_DTYPE_MISMATCH, "dtype mismatch")                                                                                        \
  X(ERR_VERIFY, "invalid IR")                                                                                                    \
  X(ERR_COMPILE, "compilation failed")                                                                                           \
  X(ERR_DEVICE, "device error")                                                                                                  \
  X(ERR_MISMATCH, "result differs from the reference")                                                                           \
  X(ERR_INTERNAL, "internal error")

typedef enum tc_status {
#define TC_STATUS_ENUM(name, text) TC_##name,
  TC_STATUS_TABLE(TC_STATUS_ENUM)
#undef TC_STATUS_ENUM
} tc_status;

/// The short text of a status, such as "shape mismatch". Never NULL.
TC_API const char *tc_status_name(tc_status status);

/// The message of the last error on this thread, or "" when there was none. Valid until this thread's next tc call.
TC_API const char *tc_last_error(void);

typedef enum tc_severity { TC_SEVERITY_ERROR, TC_SEVERITY_WARNING, TC_SEVERITY_NOTE, TC_SEVERITY_REMARK } tc_severity;

/// Receives each diagnostic. location is "file:line:column", a file name, or "" when there is none. Strings are valid during the call.
typedef void (*tc_diagnostic_fn)(tc_severity severity, const char *location, const char *message, void *user);

/// Sets the process-wide diagnostic handler (NULL = none, the default: nothing is printed). Not to be called while other threads use tc.
TC_API void tc_set_diagnostic_handler(tc_diagnostic_fn handler, void *user);

/// Element types: X(enum, name as in MLIR and tc listings, bytes an element in memory).
#define TC_DTYPE_TABLE(X)                                                                                                        \
  X(F16, "f16", 2)                                                                                                               \
  X(BF16, "bf16", 2)                                                                                                             \
  X(F32, "f32", 4)                                                                                                               \
  X(F64, "f64", 8)                                                                                                               \
  X(I8, "i8", 1)                                                                                                                 \
  X(I16, "i16", 2)                                                                                                               \
  X(I32, "i32", 4)                                                                                                               \
  X(I64, "i64", 8)                                                                                                               \
  X(U8, "ui8", 1)                                                                                                                \
  X(BOOL, "i1", 1)

typedef enum tc_dtype {
#define TC_DTYPE_ENUM(name, text, size) TC_##name,
  TC_DTYPE_TABLE(TC_DTYPE_ENUM)
#undef TC_DTYPE_ENUM
  TC_DTYPE_COUNT
} tc_dtype;

/// "f32", "i1", ... ; "?" for a value that is no dtype.
TC_API const char *tc_dtype_name(tc_dtype dtype);
/// Bytes an element takes in memory (i1 takes one byte); 0 for a value that is no dtype.
TC_API size_t tc_dtype_size(tc_dtype dtype);
/// Whether dtype is f16, bf16, f32 or f64.
TC_API bool tc_dtype_is_float(tc_dtype dtype);

#ifdef __cplusplus
}
#endif
#endif // TC_BASE_H
