// The reference interpreter: every tc op in plain C, element by element, no vectorisation tricks, no LLVM. It is the oracle for compiled
// code, the `interp` backend, and what runs an op that a target has no generated kernel for.
#ifndef TC_LIB_RUNTIME_INTERP_H
#define TC_LIB_RUNTIME_INTERP_H

#include "tc/tc_op.h"

/// Runs one op. Output buffers are allocated by the caller with the types that tc__op_infer gives. All buffers are contiguous, row-major,
/// and outputs alias nothing. attrs may omit what has a default. f16/bf16 are computed in f32 and rounded once; f32 sums accumulate in f64
/// (it is the oracle). Errors: TC_ERR_INVALID_ARGUMENT (an index out of range, naming it, its position and the size), TC_ERR_OUT_OF_MEMORY.
tc_status tc__interp_run(tc_op_kind kind, const tc__buffer *ins, size_t n_ins, tc__buffer *outs, size_t n_outs, const tc__attrs *attrs);

#endif // TC_LIB_RUNTIME_INTERP_H
