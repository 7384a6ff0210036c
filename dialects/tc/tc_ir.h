// Working with IR from C: registration of the dialect, conversion between MLIR's and our plain types and attributes, and a builder
// that makes the C API bearable. Everything that makes or reads IR uses this header.
#ifndef TC_DIALECTS_TC_IR_H
#define TC_DIALECTS_TC_IR_H

#include "mlir-c/AffineExpr.h"
#include "mlir-c/AffineMap.h"
#include "mlir-c/BuiltinAttributes.h"
#include "mlir-c/BuiltinTypes.h"
#include "mlir-c/Diagnostics.h"
#include "mlir-c/IR.h"
#include "tc_op.h"

// ---- context and dialect (tc_dialect.c) -------------------------------------------------------------------------------------------

/// A context with every upstream dialect registered, the tc dialect loaded, and its diagnostics fed to tc's handler.
/// Multithreading off. NULL context on failure. Free with mlirContextDestroy.
MlirContext tc__context_create(void);
/// The IRDL text of the dialect (static storage).
const char *tc__dialect_irdl(void);

// ---- reading IR (tc_ir.c) ------------------------------------------------------------------------------------------------------------

static inline MlirStringRef tc__sref(const char *s) { return mlirStringRefCreate(s, strlen(s)); }
/// The element types of TC_DTYPE_TABLE, for messages.
#define TC__DTYPES_TEXT "f16, bf16, f32, f64, i8, i16, i32, i64, ui8 or i1"
/// TC_OP_COUNT when op is not a tc op.
tc_op_kind tc__op_kind(MlirOperation op);
bool tc__op_is(MlirOperation op, const char *full_name);
/// The op that defines v; null when v is a block argument.
MlirOperation tc__def_op(MlirValue v);
/// false when t is no ranked tensor of a tc element type and rank <= TC_MAX_RANK. Signless iN is signed here, ui8 is TC_U8.
bool tc__type_from_mlir(MlirType t, tc__type *out);
/// As tc__type_from_mlir on v's type, with the sizes that a tensor.cast in front of v hides.
bool tc__value_type(MlirValue v, tc__type *out);
bool tc__dtype_from_mlir(MlirType element, tc_dtype *out);
MlirType tc__type_to_mlir(MlirContext ctx, const tc__type *t);
MlirType tc__dtype_to_mlir(MlirContext ctx, tc_dtype dtype);
/// "file:line:col" of a location (the innermost file location of name, call-site and fused ones), or "" .
void tc__loc_format(MlirLocation loc, tc__str *out);
/// tc__error at a location, as an MLIR diagnostic (so --verify-diagnostics sees it). Returns status.
tc_status tc__error_at(MlirLocation loc, tc_status status, const char *fmt, ...) TC_PRINTF(3, 4);

/// The attributes of a tc op as plain data with the table's defaults filled in. Owns its arrays; free with tc__op_attrs_free.
typedef struct tc__op_attrs {
  tc__attrs attrs;
  void *storage;
} tc__op_attrs;
tc_status tc__op_attrs_read(MlirOperation op, tc__op_attrs *out);
void tc__op_attrs_free(tc__op_attrs *a);

/// The elements of a dense attribute as row-major bytes into out (a buffer of out->type, static). Errors at loc.
tc_status tc__elements_read(MlirAttribute attr, const tc__buffer *out, MlirLocation loc);
/// An MlirStringCallback that appends to the tc__str that is its user data.
void tc__print_to_str(MlirStringRef text, void *str);

int64_t tc__get_int(MlirOperation op, const char *name, int64_t otherwise);
double tc__get_float(MlirOperation op, const char *name, double otherwise);
bool tc__get_bool(MlirOperation op, const char *name, bool otherwise);
/// Copies at most max entries; returns the count, 0 when absent.
size_t tc__get_ints(MlirOperation op, const char *name, int64_t *out, size_t max);
/// true and *out set when the string attribute is there.
bool tc__get_str(MlirOperation op, const char *name, MlirStringRef *out);

/// Checks every tc op below root against the table (tc_verify.c): operand count and classes, attributes, result types. Every error is
/// reported at its op's location: "'tc.add' op operand 1 (b): expected f32, found f64". TC_ERR_VERIFY on any.
tc_status tc__verify(MlirOperation root);

/// Writes the readable listing of a module: "%1: f32[10000] = cos(%x)  # model.py:65" (tc_printer.c).
tc_status tc__print_readable(MlirOperation module, tc__str *out);

// ---- building IR (tc_ir.c) -------------------------------------------------------------------------------------------------------------

/// Where ops go and what location they carry. Copy freely.
typedef struct tc__builder {
  MlirContext ctx;
  MlirLocation loc;
  MlirBlock block;
  MlirOperation before; ///< insert before this op; null = at the end of block
} tc__builder;

tc__builder tc__builder_before(MlirOperation op);                   ///< before op, with op's location
tc__builder tc__builder_at_end(MlirBlock block, MlirLocation loc);
/// Any op. Returns it inserted. Types, attributes and regions may be NULL when their count is 0. Regions are taken over.
MlirOperation tc__build(tc__builder *b, const char *name, const MlirValue *operands, size_t n_operands, const MlirType *results,
                        size_t n_results, const MlirNamedAttribute *attrs, size_t n_attrs, MlirRegion *regions, size_t n_regions);
/// One result of type `result`.
MlirValue tc__build1(tc__builder *b, const char *name, const MlirValue *operands, size_t n_operands, MlirType result,
                     const MlirNamedAttribute *attrs, size_t n_attrs);
/// A tc op; result types by the shape rule. Reports at b->loc and returns a null op on failure.
MlirOperation tc__build_tc(tc__builder *b, tc_op_kind kind, const MlirValue *operands, size_t n_operands,
                           const MlirNamedAttribute *attrs, size_t n_attrs);
/// As tc__build_tc, and gives result 0 (null value on failure).
MlirValue tc__build_tc1(tc__builder *b, tc_op_kind kind, const MlirValue *operands, size_t n_operands,
                        const MlirNamedAttribute *attrs, size_t n_attrs);

MlirNamedAttribute tc__named(MlirContext ctx, const char *name, MlirAttribute attr);
MlirAttribute tc__attr_i64(MlirContext ctx, int64_t v);
MlirAttribute tc__attr_f64(MlirContext ctx, double v);
MlirAttribute tc__attr_bool(MlirContext ctx, bool v);
MlirAttribute tc__attr_ints(MlirContext ctx, const int64_t *v, size_t n);   ///< array<i64: ...>
MlirAttribute tc__attr_floats(MlirContext ctx, const double *v, size_t n);  ///< array<f64: ...>
MlirAttribute tc__attr_str(MlirContext ctx, const char *s);
MlirAttribute tc__attr_dtype(MlirContext ctx, tc_dtype dtype);              ///< TypeAttr

// ---- walking and rewriting ---------------------------------------------------------------------------------------------------------------

/// Calls fn for each op below root in pre-order (root itself not included). fn may erase the op it is given unless it has regions. A status other than TC_OK stops.
typedef tc_status (*tc__walk_fn)(MlirOperation op, void *user);
tc_status tc__walk(MlirOperation root, tc__walk_fn fn, void *user);
/// Replaces all uses of op's results by values and erases op.
void tc__replace_op(MlirOperation op, const MlirValue *values);
/// The function named `name`, or the first func.func with a body when name is NULL; null when there is none.
MlirOperation tc__find_func(MlirOperation module, const char *name);

#endif // TC_DIALECTS_TC_IR_H
