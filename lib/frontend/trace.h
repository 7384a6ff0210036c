// The tracing API's inside: tensors, and recording ops.
#ifndef TC_LIB_FRONTEND_TRACE_H
#define TC_LIB_FRONTEND_TRACE_H

#include "model.h"
#include "tc/tensor.h"

typedef struct tc__trace tc__trace;

struct tc_tensor {
  int references; ///< atomic
  tc__buffer buffer;
  bool owns_data, is_scalar; ///< is_scalar: takes the other operand's dtype
  tc__trace *trace;          ///< the trace this is a value of; NULL for a real tensor
  MlirValue value;
};

/// Runs or records one op; called by the generated functions of tc/ops.h. A NULL operand within the row's required ones gives NULL without a new
/// error. Optional operands that are NULL at the end are dropped. The result belongs to the innermost scope.
tc_tensor *tc__trace_op(tc_op_kind kind, tc_tensor *const *operands, size_t n_operands, const tc__attrs *attrs, tc_tensor **out_second,
                        const char *file, int line);

/// Reports that a variadic op was given more than 64 operands; NULL.
tc_tensor *tc__trace_too_many(tc_op_kind kind, size_t n, const char *file, int line);

/// Traces fn on values of the given types into a fresh model (tensors that fn captures become parameters, borrowed: they must outlive it).
tc_status tc__trace_function(void (*fn)(void), const tc__type *inputs, size_t n_inputs, tc__model **out_model);

/// Calls fn, whose type is a function of n (1 to 4) tensors.
tc_tensor *tc__call_fn(void (*fn)(void), tc_tensor *const *x, size_t n);

/// A real tensor over a buffer: owns the data (from tc__aligned_alloc) when `own`. NULL when out of memory (the data is then freed if owned).
tc_tensor *tc__tensor_from_buffer(const tc__buffer *buffer, bool own);
/// Hands a new tensor to the innermost scope and returns it; NULL stays NULL.
tc_tensor *tc__scope_add(tc_tensor *tensor);

#endif // TC_LIB_FRONTEND_TRACE_H
