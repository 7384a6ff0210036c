// Writing scalar code: arith and math ops by short names, and linalg.generic.
#ifndef TC_PASSES_SUPPORT_BODY_H
#define TC_PASSES_SUPPORT_BODY_H

#include "tc/tc_ir.h"

MlirValue tc__unary(tc__builder *b, const char *op, MlirValue x);               ///< result type = operand type
MlirValue tc__binary(tc__builder *b, const char *op, MlirValue x, MlirValue y); ///< likewise
MlirValue tc__ternary(tc__builder *b, const char *op, MlirValue x, MlirValue y, MlirValue z);
MlirValue tc__convert(tc__builder *b, const char *op, MlirValue x, MlirType to); ///< arith.extf, arith.sitofp, ...
/// A constant of a float, integer or index type (of a vector of one: splat).
MlirValue tc__const_f(tc__builder *b, MlirType type, double v);
MlirValue tc__const_i(tc__builder *b, MlirType type, int64_t v);

enum { TC__CMPF_OEQ = 1, TC__CMPF_OGT, TC__CMPF_OGE, TC__CMPF_OLT, TC__CMPF_OLE, TC__CMPF_ONE, TC__CMPF_ORD, TC__CMPF_UEQ, TC__CMPF_UGT, TC__CMPF_UGE,
       TC__CMPF_ULT, TC__CMPF_ULE, TC__CMPF_UNE, TC__CMPF_UNO };
enum { TC__CMPI_EQ, TC__CMPI_NE, TC__CMPI_SLT, TC__CMPI_SLE, TC__CMPI_SGT, TC__CMPI_SGE, TC__CMPI_ULT, TC__CMPI_ULE, TC__CMPI_UGT, TC__CMPI_UGE };
MlirValue tc__cmpf(tc__builder *b, int predicate, MlirValue x, MlirValue y);
MlirValue tc__cmpi(tc__builder *b, int predicate, MlirValue x, MlirValue y);
MlirValue tc__select(tc__builder *b, MlirValue cond, MlirValue x, MlirValue y);

/// The scalar type of v, or of its elements when it is a vector.
MlirType tc__scalar_type(MlirValue v);
/// An i1 (or vector of i1) of x's shape.
MlirType tc__bool_like(MlirType t);

/// A linalg.generic under construction. Fill in, call tc__generic_begin (which makes the body block with one argument for each in and out and points
/// `body` at it), emit the body with `body`, then tc__generic_end with the yielded values.
typedef struct tc__generic {
  MlirValue ins[72];
  MlirAffineMap in_maps[72];
  size_t n_ins;
  MlirValue outs[8];
  MlirAffineMap out_maps[8];
  size_t n_outs;
  bool reduction[TC_MAX_RANK * 2]; ///< per loop
  size_t n_loops;
  tc__builder body;
  MlirBlock block;
} tc__generic;

tc__builder *tc__generic_begin(tc__builder *b, tc__generic *g);
static inline MlirValue tc__generic_arg(const tc__generic *g, size_t i) { return mlirBlockGetArgument(g->block, (intptr_t)i); }
/// Inserts the op with `attrs` beside the structural ones. Returns it.
MlirOperation tc__generic_end(tc__builder *b, tc__generic *g, const MlirValue *yields, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs);

/// tensor.empty of a static type, or with sizes for its dynamic dims.
MlirValue tc__empty(tc__builder *b, MlirType type, const MlirValue *sizes, size_t n_sizes);
/// linalg.fill of a tensor with a scalar.
MlirValue tc__fill(tc__builder *b, MlirValue scalar, MlirValue tensor);

MlirAffineMap tc__identity_map(MlirContext ctx, size_t n);
MlirAffineExpr tc__expr_add(MlirAffineExpr a, int64_t c);
MlirAffineExpr tc__expr_mul(MlirAffineExpr a, int64_t c);

#endif // TC_PASSES_SUPPORT_BODY_H
