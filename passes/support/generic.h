// Reading and rebuilding linalg.generic ops.
#ifndef TC_PASSES_SUPPORT_GENERIC_H
#define TC_PASSES_SUPPORT_GENERIC_H

#include "body.h"

/// A linalg.generic taken apart.
typedef struct tc__generic_view {
  MlirOperation op;
  size_t n_ins, n_outs, n_loops;
  MlirAffineMap maps[80]; ///< ins, then outs
  bool reduction[TC_MAX_RANK * 2];
  bool has_reduction;
  int64_t sizes[TC_MAX_RANK * 2]; ///< of the loops; TC__DYNAMIC when unknown
  MlirBlock body;
} tc__generic_view;

/// false when op is no linalg.generic on tensors (or too large to be one of ours).
bool tc__generic_read(MlirOperation op, tc__generic_view *out);
static inline MlirValue tc__generic_in(const tc__generic_view *g, size_t i) { return mlirOperationGetOperand(g->op, (intptr_t)i); }
static inline MlirValue tc__generic_out(const tc__generic_view *g, size_t i) { return mlirOperationGetOperand(g->op, (intptr_t)(g->n_ins + i)); }
/// All loops parallel, every result map the identity, no out's value read.
bool tc__generic_is_pointwise(const tc__generic_view *g);
/// A contraction (attribute tc.contraction).
bool tc__generic_is_contraction(const tc__generic_view *g);
/// The body only yields arguments, constants and casts of them: free to repeat.
bool tc__generic_is_cheap(const tc__generic_view *g);
/// The body only yields one of its arguments.
bool tc__generic_is_view(const tc__generic_view *g);
/// Sizes of the loops, from the shapes of the operands; TC__DYNAMIC when unknown.
void tc__generic_sizes(const tc__generic_view *g, int64_t *sizes);

/// Values in a table from old to new, for cloning bodies.
typedef struct tc__value_pairs {
  MlirValue from[512], to[512];
  size_t n;
} tc__value_pairs;
void tc__pairs_add(tc__value_pairs *p, MlirValue from, MlirValue to);
MlirValue tc__pairs_get(const tc__value_pairs *p, MlirValue v); ///< v itself when absent

/// Clones the ops of body but its terminator to b with operands replaced through pairs (which gains their results). linalg.index d becomes the value of
/// index_map's d-th result at the loops of the new op (linalg.index of the new op; index_map null = the same). Yielded values go to yields.
/// false when there are too many ops.
bool tc__body_clone(tc__builder *b, MlirBlock body, MlirAffineMap index_map, tc__value_pairs *pairs, MlirValue *yields, size_t *out_n);
/// The value of an affine expression, dims replaced by `dims` (index or i64 values, whose type the constants take).
MlirValue tc__expr_value(tc__builder *b, MlirAffineExpr e, const MlirValue *dims);

/// The number of uses of v, and whether all of them are by `user`.
size_t tc__use_count(MlirValue v);
bool tc__only_user_is(MlirValue v, MlirOperation user);
MlirOperation tc__use_owner(MlirOpOperand use);

#endif // TC_PASSES_SUPPORT_GENERIC_H
