// The op table as data, and the shape rules. No MLIR here: the runtime's interpreter and the tracing API use it too.
#ifndef TC_DIALECTS_TC_OP_H
#define TC_DIALECTS_TC_OP_H

#include "base/base.h"

typedef enum tc_op_kind {
#define TC_OP(name, family, traits, operands, results, attributes, rule, doc) TC_OP_##name,
#include "tc_ops.def"
#undef TC_OP
  TC_OP_COUNT
} tc_op_kind;

typedef enum tc_op_family {
  TC_FAMILY_UNARY, TC_FAMILY_BINARY, TC_FAMILY_COMPARE, TC_FAMILY_LOGICAL, TC_FAMILY_BITWISE, TC_FAMILY_SELECT, TC_FAMILY_CAST,
  TC_FAMILY_REDUCE, TC_FAMILY_SCAN, TC_FAMILY_SHAPE, TC_FAMILY_CREATE, TC_FAMILY_INDEX, TC_FAMILY_CONTRACT, TC_FAMILY_POOL,
  TC_FAMILY_RESIZE, TC_FAMILY_NORM, TC_FAMILY_SOFTMAX, TC_FAMILY_ATTENTION, TC_FAMILY_SORT,
} tc_op_family;

enum { TC_TRAIT_POINTWISE = 1, TC_TRAIT_COMMUTATIVE = 2, TC_TRAIT_COMPOSITE = 4 };

/// One operand, result or attribute of a row, parsed from its spec.
typedef struct tc__op_field {
  char name[24];
  char cls[12];      ///< operand class ("any", "float", ...) or attribute kind ("i64", "i64[]", ...)
  char fallback[24]; ///< attributes: the default's text; "" = required; "none" = optional without default
  bool optional, variadic;
} tc__op_field;

#define TC__MAX_FIELDS 8

typedef struct tc__op_info {
  tc_op_kind kind;
  const char *name; ///< "cos"; the MLIR op is "tc.cos"
  tc_op_family family;
  unsigned traits;
  const char *doc;
  int n_operands, n_results, n_attrs; ///< of fields
  tc__op_field operands[TC__MAX_FIELDS], results[2], attrs[TC__MAX_FIELDS];
} tc__op_info;

/// The row of `kind`. Thread-safe (parsed once).
const tc__op_info *tc__op_info_get(tc_op_kind kind);
/// TC_OP_COUNT when there is none. `name` without "tc.".
tc_op_kind tc__op_kind_from_name(const char *name, size_t size);
/// Did-you-mean over op names, or NULL.
const char *tc__op_suggest(const char *name);

/// Appends the dialect's IRDL definition.
void tc__op_table_irdl(tc__str *out);

/// Computes the result types of an op (two at most) and checks operand counts, classes, attributes and shapes. On failure writes a
/// message that names the operand, what was expected and what was found into err (no op name, no location: the caller adds both)
/// and returns TC_ERR_SHAPE_MISMATCH, TC_ERR_DTYPE_MISMATCH or TC_ERR_INVALID_ARGUMENT. Reports nothing itself.
tc_status tc__op_infer(tc_op_kind kind, const tc__type *operands, size_t n_operands, const tc__attrs *attrs, tc__type *out_results,
                       size_t *out_n_results, char *err, size_t err_size);

#endif // TC_DIALECTS_TC_OP_H
