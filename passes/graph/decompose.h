// Inside tc-decompose: building tc ops, and the families.
#ifndef TC_PASSES_GRAPH_DECOMPOSE_H
#define TC_PASSES_GRAPH_DECOMPOSE_H

#include "tc/tc_ir.h"

/// One composite op being rewritten.
typedef struct tc__composite {
  tc__builder b;
  tc_op_kind kind;
  tc__attrs attrs;
  size_t n;
  MlirValue in[8];
  tc__type types[8];
  tc__type out;
} tc__composite;

/// The replacement of the op's one result; null when the op stays (an error was reported, or it has no decomposition for these types).
typedef MlirValue (*tc__decompose_fn)(tc__composite *c);
MlirValue tc__decompose_norm(tc__composite *c);
MlirValue tc__decompose_softmax(tc__composite *c);
MlirValue tc__decompose_attention(tc__composite *c);

// tc ops in short.
MlirValue tc__tc1(tc__composite *c, tc_op_kind kind, MlirValue x);
MlirValue tc__tc2(tc__composite *c, tc_op_kind kind, MlirValue x, MlirValue y);
MlirValue tc__tc_cast(tc__composite *c, MlirValue x, tc_dtype dtype);            ///< x itself when it has that dtype
MlirValue tc__tc_reduce(tc__composite *c, tc_op_kind kind, MlirValue x, const int64_t *dims, size_t n, bool keepdim);
MlirValue tc__tc_scalar(tc__composite *c, double value, tc_dtype dtype);         ///< a rank-0 tc.full
MlirValue tc__tc_reshape(tc__composite *c, MlirValue x, const int64_t *shape, size_t n);
MlirValue tc__tc_matmul(tc__composite *c, MlirValue a, MlirValue b, bool transpose_b);
tc_dtype tc__tc_dtype(MlirValue v);
/// f32 for 16-bit floats, else the type itself: what statistics are computed in.
tc_dtype tc__compute_dtype(tc_dtype d);

#endif // TC_PASSES_GRAPH_DECOMPOSE_H
