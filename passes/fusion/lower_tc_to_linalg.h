// Inside --convert-tc-to-linalg: its families.
#ifndef TC_PASSES_FUSION_LOWER_TC_TO_LINALG_H
#define TC_PASSES_FUSION_LOWER_TC_TO_LINALG_H

#include "support/body.h"

/// One tc op being lowered. Operands and results are in the linalg level's types (ui8 as i8).
typedef struct tc__lowering {
  tc__builder b;
  MlirOperation op;
  tc_op_kind kind;
  tc__attrs attrs;
  size_t n;
  MlirValue in[72];
  tc__type in_types[72]; ///< with their tc dtype (ui8 stays TC_U8)
  tc__type out_types[2];
  MlirValue out[2]; ///< what the op is replaced by
} tc__lowering;

/// Whether lowered; false leaves the op as a step of the interpreter.
typedef bool (*tc__lower_fn)(tc__lowering *l);
bool tc__lower_pointwise(tc__lowering *l);
bool tc__lower_shape(tc__lowering *l);
bool tc__lower_reduce(tc__lowering *l);
bool tc__lower_contraction(tc__lowering *l);
bool tc__lower_pool(tc__lowering *l);

/// The scalar computation of a pointwise op on block arguments (in the storage types); the result has the storage type of out.
/// A null value when the op has no scalar form here.
MlirValue tc__lower_scalar(tc__builder *b, tc_op_kind kind, const MlirValue *args, size_t n, tc_dtype in, tc_dtype out, const tc__attrs *attrs);

/// The type of a value at the linalg level: ui8 becomes i8.
MlirType tc__storage_type(MlirContext ctx, const tc__type *t);
MlirType tc__storage_element(MlirContext ctx, tc_dtype dtype);
/// Element conversion as tc.cast.
MlirValue tc__lower_cast(tc__builder *b, MlirValue x, tc_dtype from, tc_dtype to);
/// Broadcast map of an operand into an iteration space of result type out.
MlirAffineMap tc__broadcast_map(MlirContext ctx, const tc__type *operand, const tc__type *out);
/// tensor.empty for out type i of the op (dynamic sizes taken from operands that broadcast to it).
MlirValue tc__lower_empty(tc__lowering *l, const tc__type *type);
/// tc.op = "<name>" and the bytes the op alone would move.
size_t tc__lower_labels(tc__lowering *l, MlirNamedAttribute *out);
/// A generic that reads one operand through map and yields it: permute, broadcast, slice, flip.
MlirValue tc__lower_view(tc__lowering *l, MlirValue x, MlirAffineMap map, const tc__type *out);
/// Reshape of a static tensor by collapse_shape / expand_shape.
MlirValue tc__lower_reshape(tc__builder *b, MlirValue x, MlirType to);

#endif // TC_PASSES_FUSION_LOWER_TC_TO_LINALG_H
