// Reading and building IR.
#include "tc_ir.h"

#include <stdio.h>

void tc__print_to_str(MlirStringRef text, void *str) { tc__str_append_n(str, text.data, text.length); }

// ---- reading
// ------------------------------------------------------------------------------------------------------------------------------

bool tc__op_is(MlirOperation op, const char *full_name) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  return name.length == strlen(full_name) && memcmp(name.data, full_name, name.length) == 0;
}

tc_op_kind tc__op_kind(MlirOperation op) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  if (name.length < 4 || memcmp(name.data, "tc.", 3) != 0)
    return TC_OP_COUNT;
  return tc__op_kind_from_name(name.data + 3, name.length - 3);
}

MlirOperation tc__def_op(MlirValue v) { return mlirValueIsAOpResult(v) ? mlirOpResultGetOwner(v) : (MlirOperation){NULL}; }

bool tc__dtype_from_mlir(MlirType t, tc_dtype *out) {
  if (mlirTypeIsAF32(t))
    *out = TC_F32;
  else if (mlirTypeIsAF64(t))
    *out = TC_F64;
  else if (mlirTypeIsAF16(t))
    *out = TC_F16;
  else if (mlirTypeIsABF16(t))
    *out = TC_BF16;
  else if (mlirTypeIsAInteger(t)) {
    unsigned width = mlirIntegerTypeGetWidth(t);
    if (mlirIntegerTypeIsUnsigned(t)) {
      *out = TC_U8;
      return width == 8;
    }
    if (!mlirIntegerTypeIsSignless(t))
      return false;
    switch (width) {
    case 1:
      *out = TC_BOOL;
      break;
    case 8:
      *out = TC_I8;
      break;
    case 16:
      *out = TC_I16;
      break;
    case 32:
      *out = TC_I32;
      break;
    case 64:
      *out = TC_I64;
      break;
    default:
      return false;
    }
  } else {
    return false;
  }
  return true;
}

MlirType tc__dtype_to_mlir(MlirContext ctx, tc_dtype dtype) {
  switch (dtype) {
  case TC_F16:
    return mlirF16TypeGet(ctx);
  case TC_BF16:
    return mlirBF16TypeGet(ctx);
  case TC_F32:
    return mlirF32TypeGet(ctx);
  case TC_F64:
    return mlirF64TypeGet(ctx);
  case TC_U8:
    return mlirIntegerTypeUnsignedGet(ctx, 8);
  case TC_BOOL:
    return mlirIntegerTypeGet(ctx, 1);
  default:
    return mlirIntegerTypeGet(ctx, (unsigned)tc_dtype_size(dtype) * 8);
  }
}

bool tc__type_from_mlir(MlirType t, tc__type *out) {
  if (!mlirTypeIsARankedTensor(t) || mlirShapedTypeGetRank(t) > TC_MAX_RANK)
    return false;
  if (!tc__dtype_from_mlir(mlirShapedTypeGetElementType(t), &out->dtype))
    return false;
  out->rank = (int)mlirShapedTypeGetRank(t);
  for (int i = 0; i < out->rank; i++)
    out->shape[i] = mlirShapedTypeIsDynamicDim(t, i) ? TC__DYNAMIC : mlirShapedTypeGetDimSize(t, i);
  return true;
}

bool tc__value_type(MlirValue v, tc__type *out) {
  if (!tc__type_from_mlir(mlirValueGetType(v), out))
    return false;
  MlirOperation cast = tc__def_op(v);
  tc__type source;
  if (!mlirOperationIsNull(cast) && tc__op_is(cast, "tensor.cast") && tc__value_type(mlirOperationGetOperand(cast, 0), &source) &&
      source.rank == out->rank)
    for (int i = 0; i < out->rank; i++)
      if (out->shape[i] == TC__DYNAMIC)
        out->shape[i] = source.shape[i];
  return true;
}

MlirType tc__type_to_mlir(MlirContext ctx, const tc__type *t) {
  int64_t shape[TC_MAX_RANK];
  for (int i = 0; i < t->rank; i++)
    shape[i] = t->shape[i] == TC__DYNAMIC ? mlirShapedTypeGetDynamicSize() : t->shape[i];
  return mlirRankedTensorTypeGet(t->rank, shape, tc__dtype_to_mlir(ctx, t->dtype), mlirAttributeGetNull());
}

// The innermost file location, else the name of the innermost name location.
static bool find_file(MlirLocation loc, MlirLocation *out) {
  if (mlirLocationIsAFileLineColRange(loc)) {
    *out = loc;
    return true;
  }
  if (mlirLocationIsAName(loc))
    return find_file(mlirLocationNameGetChildLoc(loc), out);
  if (mlirLocationIsACallSite(loc))
    return find_file(mlirLocationCallSiteGetCallee(loc), out) || find_file(mlirLocationCallSiteGetCaller(loc), out);
  if (mlirLocationIsAFused(loc)) {
    MlirLocation parts[16];
    unsigned n = mlirLocationFusedGetNumLocations(loc);
    if (n > 0 && n <= 16) {
      mlirLocationFusedGetLocations(loc, parts);
      for (unsigned i = 0; i < n; i++)
        if (find_file(parts[i], out))
          return true;
    }
  }
  return false;
}

void tc__loc_format(MlirLocation loc, tc__str *out) {
  MlirLocation file;
  if (!find_file(loc, &file)) {
    if (mlirLocationIsAName(loc)) {
      MlirStringRef name = mlirIdentifierStr(mlirLocationNameGetName(loc));
      tc__str_append_n(out, name.data, name.length);
    }
    return;
  }
  MlirStringRef name = mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(file));
  tc__str_append_n(out, name.data, name.length);
  int line = mlirLocationFileLineColRangeGetStartLine(file), column = mlirLocationFileLineColRangeGetStartColumn(file);
  if (line > 0)
    tc__str_printf(out, ":%d", line);
  if (line > 0 && column > 0)
    tc__str_printf(out, ":%d", column);
}

tc_status tc__error_at(MlirLocation loc, tc_status status, const char *fmt, ...) {
  tc__str text = {0};
  va_list args;
  va_start(args, fmt);
  tc__str_vprintf(&text, fmt, args);
  va_end(args);
  mlirEmitError(loc, text.data ? text.data : "out of memory while reporting an error");
  tc__str_free(&text);
  return status;
}

int64_t tc__get_int(MlirOperation op, const char *name, int64_t otherwise) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? otherwise : mlirIntegerAttrGetValueInt(a);
}

double tc__get_float(MlirOperation op, const char *name, double otherwise) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(name));
  if (mlirAttributeIsNull(a))
    return otherwise;
  if (mlirAttributeIsAFloat(a))
    return mlirFloatAttrGetValueDouble(a);
  return mlirAttributeIsAInteger(a) ? (double)mlirIntegerAttrGetValueInt(a) : otherwise;
}

bool tc__get_bool(MlirOperation op, const char *name, bool otherwise) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(name));
  return mlirAttributeIsNull(a) || !mlirAttributeIsABool(a) ? otherwise : mlirBoolAttrGetValue(a);
}

size_t tc__get_ints(MlirOperation op, const char *name, int64_t *out, size_t max) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(name));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsADenseI64Array(a))
    return 0;
  size_t n = (size_t)mlirDenseArrayGetNumElements(a);
  if (n > max)
    n = max;
  for (size_t i = 0; i < n; i++)
    out[i] = mlirDenseI64ArrayGetElement(a, (intptr_t)i);
  return n;
}

bool tc__get_str(MlirOperation op, const char *name, MlirStringRef *out) {
  MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(name));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return false;
  *out = mlirStringAttrGetValue(a);
  return true;
}

// ---- attributes of tc ops as plain data
// -----------------------------------------------------------------------------------------------------

tc_status tc__elements_read(MlirAttribute attr, const tc__buffer *out, MlirLocation loc) {
  int64_t n = tc__type_elements(&out->type);
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsADenseElements(attr) || mlirElementsAttrGetNumElements(attr) != n)
    return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a constant whose value is no dense elements attribute of its type");
  if (out->type.dtype == TC_BOOL) { // i1 is packed in the attribute
    for (int64_t i = 0; i < n; i++)
      ((uint8_t *)out->data)[i] = mlirDenseElementsAttrIsSplat(attr) ? mlirDenseElementsAttrGetBoolSplatValue(attr) != 0
                                                                     : mlirDenseElementsAttrGetBoolValue(attr, i);
    return TC_OK;
  }
  size_t size = tc_dtype_size(out->type.dtype);
  const char *raw = mlirDenseElementsAttrGetRawData(attr);
  if (!mlirDenseElementsAttrIsSplat(attr)) {
    if (n)
      memcpy(out->data, raw, size * (size_t)n);
    return TC_OK;
  }
  for (int64_t i = 0; i < n; i++)
    memcpy((char *)out->data + (size_t)i * size, raw, size);
  return TC_OK;
}

static double parse_double(const char *text) { return strtod(text, NULL); }

// The default of a row as an attribute; false when there is none.
static bool default_attr(const tc__op_field *field, tc__attr *out) {
  *out = (tc__attr){.name = field->name};
  if (!*field->fallback || strcmp(field->fallback, "none") == 0) {
    if (strcmp(field->cls, "str") != 0 || !*field->fallback)
      return false;
  }
  if (strcmp(field->cls, "bool") == 0) {
    out->kind = TC__ATTR_BOOL;
    out->i = strcmp(field->fallback, "true") == 0;
  } else if (strcmp(field->cls, "i64") == 0) {
    out->kind = TC__ATTR_INT;
    out->i = strtoll(field->fallback, NULL, 10);
  } else if (strcmp(field->cls, "f64") == 0 || strcmp(field->cls, "num") == 0) {
    out->kind = TC__ATTR_FLOAT;
    out->f = parse_double(field->fallback);
  } else if (strcmp(field->cls, "str") == 0) {
    out->kind = TC__ATTR_STR;
    out->s = field->fallback;
  } else {
    return false;
  }
  return true;
}

typedef struct attr_block {
  struct attr_block *next;
} attr_block;

static void *attr_alloc(tc__op_attrs *owner, size_t bytes) {
  attr_block *block = tc__calloc(1, sizeof(attr_block) + 8 + bytes);
  if (!block)
    return NULL;
  block->next = owner->storage;
  owner->storage = block;
  return (char *)block + sizeof(attr_block) + 8;
}

static tc_status unexpected_attr(MlirOperation op, const tc__op_field *field, MlirAttribute a) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  const char *expected = field->cls;
  if (strcmp(expected, "type") == 0)
    expected = TC__DTYPES_TEXT;
  else if (strcmp(expected, "elements") == 0)
    expected = "dense elements of " TC__DTYPES_TEXT;
  tc__str found = {0};
  if (mlirAttributeIsAType(a)) // not with the quotes of a TypeAttr in a message
    mlirTypePrint(mlirTypeAttrGetValue(a), tc__print_to_str, &found);
  else
    mlirAttributePrint(a, tc__print_to_str, &found);
  tc_status status =
      tc__error_at(mlirOperationGetLocation(op), TC_ERR_VERIFY, "'%.*s' op attribute '%s': expected %s, found %.100s",
                   (int)name.length, name.data, field->name, expected, found.data ? found.data : "?");
  tc__str_free(&found);
  return status;
}

static tc_status convert_attr(tc__op_attrs *owner, MlirOperation op, const tc__op_field *field, MlirAttribute a, tc__attr *out) {
  *out = (tc__attr){.name = field->name};
  if (mlirAttributeIsABool(a)) {
    out->kind = TC__ATTR_BOOL;
    out->i = mlirBoolAttrGetValue(a);
  } else if (mlirAttributeIsAInteger(a)) {
    out->kind = TC__ATTR_INT;
    MlirType type = mlirAttributeGetType(a);
    bool is_unsigned = mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type);
    out->i = is_unsigned ? (int64_t)mlirIntegerAttrGetValueUInt(a) : mlirIntegerAttrGetValueInt(a);
  } else if (mlirAttributeIsAFloat(a)) {
    out->kind = TC__ATTR_FLOAT;
    out->f = mlirFloatAttrGetValueDouble(a);
  } else if (mlirAttributeIsAString(a)) {
    MlirStringRef s = mlirStringAttrGetValue(a);
    char *copy = attr_alloc(owner, s.length + 1);
    if (!copy)
      return tc__oom();
    memcpy(copy, s.data, s.length);
    out->kind = TC__ATTR_STR;
    out->s = copy;
  } else if (mlirAttributeIsADenseI64Array(a)) {
    out->count = (size_t)mlirDenseArrayGetNumElements(a);
    int64_t *v = attr_alloc(owner, sizeof *v * (out->count + 1));
    if (!v)
      return tc__oom();
    for (size_t i = 0; i < out->count; i++)
      v[i] = mlirDenseI64ArrayGetElement(a, (intptr_t)i);
    out->kind = TC__ATTR_INTS;
    out->ints = v;
  } else if (mlirAttributeIsADenseF64Array(a)) {
    out->count = (size_t)mlirDenseArrayGetNumElements(a);
    double *v = attr_alloc(owner, sizeof *v * (out->count + 1));
    if (!v)
      return tc__oom();
    for (size_t i = 0; i < out->count; i++)
      v[i] = mlirDenseF64ArrayGetElement(a, (intptr_t)i);
    out->kind = TC__ATTR_FLOATS;
    out->floats = v;
  } else if (mlirAttributeIsAType(a)) {
    tc_dtype dtype;
    if (!tc__dtype_from_mlir(mlirTypeAttrGetValue(a), &dtype))
      return unexpected_attr(op, field, a);
    out->kind = TC__ATTR_DTYPE;
    out->i = dtype;
  } else if (mlirAttributeIsADenseElements(a)) {
    out->kind = TC__ATTR_TENSOR;
    if (!tc__type_from_mlir(mlirAttributeGetType(a), &out->tensor.type) || !tc__type_is_static(&out->tensor.type))
      return unexpected_attr(op, field, a);
    if (!(out->tensor.data = attr_alloc(owner, (size_t)tc__type_bytes(&out->tensor.type) + 1)))
      return tc__oom();
    return tc__elements_read(a, &out->tensor, mlirOperationGetLocation(op));
  } else {
    return unexpected_attr(op, field, a);
  }
  return TC_OK;
}

tc_status tc__op_attrs_read(MlirOperation op, tc__op_attrs *out) {
  *out = (tc__op_attrs){{NULL, 0}, NULL};
  const tc__op_info *info = tc__op_info_get(tc__op_kind(op));
  tc__attr *items = attr_alloc(out, sizeof *items * (size_t)(info->n_attrs + 1));
  if (!items)
    return tc__oom();
  size_t n = 0;
  for (int i = 0; i < info->n_attrs; i++) {
    MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(info->attrs[i].name));
    if (mlirAttributeIsNull(a)) {
      n += default_attr(&info->attrs[i], &items[n]);
      continue;
    }
    tc_status status = convert_attr(out, op, &info->attrs[i], a, &items[n]);
    if (status != TC_OK) {
      tc__op_attrs_free(out);
      return status;
    }
    n++;
  }
  out->attrs = (tc__attrs){items, n};
  return TC_OK;
}

void tc__op_attrs_free(tc__op_attrs *a) {
  for (attr_block *block = a->storage; block;) {
    attr_block *next = block->next;
    tc__free(block);
    block = next;
  }
  *a = (tc__op_attrs){{NULL, 0}, NULL};
}

// ---- building
// --------------------------------------------------------------------------------------------------------------------------------

tc__builder tc__builder_before(MlirOperation op) {
  return (tc__builder){mlirOperationGetContext(op), mlirOperationGetLocation(op), mlirOperationGetBlock(op), op};
}

tc__builder tc__builder_at_end(MlirBlock block, MlirLocation loc) {
  return (tc__builder){mlirLocationGetContext(loc), loc, block, {NULL}};
}

MlirOperation tc__build(tc__builder *b, const char *name, const MlirValue *operands, size_t n_operands, const MlirType *results,
                        size_t n_results, const MlirNamedAttribute *attrs, size_t n_attrs, MlirRegion *regions,
                        size_t n_regions) {
  MlirOperationState state = mlirOperationStateGet(tc__sref(name), b->loc);
  if (n_operands)
    mlirOperationStateAddOperands(&state, (intptr_t)n_operands, operands);
  if (n_results)
    mlirOperationStateAddResults(&state, (intptr_t)n_results, results);
  if (n_attrs)
    mlirOperationStateAddAttributes(&state, (intptr_t)n_attrs, attrs);
  if (n_regions)
    mlirOperationStateAddOwnedRegions(&state, (intptr_t)n_regions, regions);
  MlirOperation op = mlirOperationCreate(&state);
  if (mlirOperationIsNull(op))
    return op;
  if (mlirOperationIsNull(b->before))
    mlirBlockAppendOwnedOperation(b->block, op);
  else
    mlirBlockInsertOwnedOperationBefore(b->block, b->before, op);
  return op;
}

MlirValue tc__build1(tc__builder *b, const char *name, const MlirValue *operands, size_t n_operands, MlirType result,
                     const MlirNamedAttribute *attrs, size_t n_attrs) {
  MlirOperation op = tc__build(b, name, operands, n_operands, &result, 1, attrs, n_attrs, NULL, 0);
  return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

static MlirOperation build_checked(tc__builder *b, tc_op_kind kind, const MlirValue *operands, const tc__type *types,
                                   size_t n_operands, const MlirNamedAttribute *attrs, size_t n_attrs) {
  MlirOperation none = {NULL};
  tc__type results[2];
  char name[48], err[512];
  snprintf(name, sizeof name, "tc.%s", tc__op_info_get(kind)->name);
  // Created first with no results to read the attributes as they will be; then for good with the inferred types.
  MlirOperationState state = mlirOperationStateGet(tc__sref(name), b->loc);
  if (n_attrs)
    mlirOperationStateAddAttributes(&state, (intptr_t)n_attrs, attrs);
  MlirOperation draft = mlirOperationCreate(&state);
  tc__op_attrs read;
  size_t n_results = 0;
  tc_status status = mlirOperationIsNull(draft) ? TC_ERR_INTERNAL : tc__op_attrs_read(draft, &read);
  if (status == TC_OK) {
    status = tc__op_infer(kind, types, n_operands, &read.attrs, results, &n_results, err, sizeof err);
    if (status != TC_OK)
      tc__error_at(b->loc, status, "'%s' op %s", name, err);
    tc__op_attrs_free(&read);
  }
  if (!mlirOperationIsNull(draft))
    mlirOperationDestroy(draft);
  if (status != TC_OK)
    return none;
  MlirType mlir_results[2];
  for (size_t i = 0; i < n_results; i++)
    mlir_results[i] = tc__type_to_mlir(b->ctx, &results[i]);
  return tc__build(b, name, operands, n_operands, mlir_results, n_results, attrs, n_attrs, NULL, 0);
}

// IRDL wants one type for the operands of a variadic group: index tensors are broadcast, others lose the sizes in which they
// differ.
static tc_status unify_group(tc__builder *b, const tc__op_info *info, MlirValue *operands, tc__type *types, size_t n) {
  size_t first = 0;
  while ((int)first < info->n_operands && !info->operands[first].variadic)
    first++;
  if (info->n_operands == 0 || (int)first == info->n_operands || first + 1 >= n)
    return TC_OK;
  bool index = info->family == TC_FAMILY_INDEX, equal = true;
  tc__type common = types[first];
  for (size_t i = first + 1; i < n; i++) {
    if (types[i].dtype != common.dtype || (!index && types[i].rank != common.rank))
      return TC_OK; // the shape rule reports it
    equal &= tc__type_equal(&types[first], &types[i]);
    if (index) {
      tc__type wide = {.dtype = common.dtype, .rank = common.rank > types[i].rank ? common.rank : types[i].rank};
      for (int d = 0; d < wide.rank; d++) {
        int x = d - (wide.rank - common.rank), y = d - (wide.rank - types[i].rank);
        int64_t a = x < 0 ? 1 : common.shape[x], c = y < 0 ? 1 : types[i].shape[y];
        wide.shape[d] = a == 1 ? c : a;
      }
      common = wide;
    } else {
      for (int d = 0; d < common.rank; d++)
        if (common.shape[d] != types[i].shape[d])
          common.shape[d] = TC__DYNAMIC;
    }
  }
  if (equal)
    return TC_OK;
  for (size_t i = first; i < n; i++) {
    if (tc__type_equal(&common, &types[i]))
      continue;
    if (index) {
      MlirNamedAttribute shape = tc__named(b->ctx, "shape", tc__attr_ints(b->ctx, common.shape, (size_t)common.rank));
      operands[i] = tc__build_tc1(b, TC_OP_broadcast, &operands[i], 1, &shape, 1);
      types[i] = common;
    } else {
      operands[i] = tc__build1(b, "tensor.cast", &operands[i], 1, tc__type_to_mlir(b->ctx, &common), NULL, 0);
    }
    if (mlirValueIsNull(operands[i]))
      return TC_ERR_VERIFY;
  }
  return TC_OK;
}

MlirOperation tc__build_tc(tc__builder *b, tc_op_kind kind, const MlirValue *given, size_t n_operands,
                           const MlirNamedAttribute *attrs, size_t n_attrs) {
  const tc__op_info *info = tc__op_info_get(kind);
  char name[48];
  snprintf(name, sizeof name, "tc.%s", info->name);
  MlirOperation none = {NULL};
  tc__type *types = tc__alloc(sizeof *types * (n_operands + 1));
  MlirValue *operands = tc__alloc(sizeof *operands * (n_operands + 1));
  tc_status status = types && operands ? TC_OK : tc__oom();
  for (size_t i = 0; i < n_operands && status == TC_OK; i++) {
    operands[i] = given[i];
    if (!tc__value_type(operands[i], &types[i]))
      status = tc__error_at(b->loc, TC_ERR_VERIFY, "'%s' op operand %zu: no ranked tensor of a tc element type", name, i);
  }
  if (status == TC_OK)
    status = unify_group(b, info, operands, types, n_operands);
  MlirOperation op = none;
  if (status == TC_OK)
    op = build_checked(b, kind, operands, types, n_operands, attrs, n_attrs);
  tc__free(types);
  tc__free(operands);
  return op;
}
MlirValue tc__build_tc1(tc__builder *b, tc_op_kind kind, const MlirValue *operands, size_t n_operands,
                        const MlirNamedAttribute *attrs, size_t n_attrs) {
  MlirOperation op = tc__build_tc(b, kind, operands, n_operands, attrs, n_attrs);
  return mlirOperationIsNull(op) ? (MlirValue){NULL} : mlirOperationGetResult(op, 0);
}

MlirNamedAttribute tc__named(MlirContext ctx, const char *name, MlirAttribute attr) {
  return mlirNamedAttributeGet(mlirIdentifierGet(ctx, tc__sref(name)), attr);
}
MlirAttribute tc__attr_i64(MlirContext ctx, int64_t v) { return mlirIntegerAttrGet(mlirIntegerTypeGet(ctx, 64), v); }
MlirAttribute tc__attr_f64(MlirContext ctx, double v) { return mlirFloatAttrDoubleGet(ctx, mlirF64TypeGet(ctx), v); }
MlirAttribute tc__attr_bool(MlirContext ctx, bool v) { return mlirBoolAttrGet(ctx, v); }
MlirAttribute tc__attr_ints(MlirContext ctx, const int64_t *v, size_t n) { return mlirDenseI64ArrayGet(ctx, (intptr_t)n, v); }
MlirAttribute tc__attr_floats(MlirContext ctx, const double *v, size_t n) { return mlirDenseF64ArrayGet(ctx, (intptr_t)n, v); }
MlirAttribute tc__attr_str(MlirContext ctx, const char *s) { return mlirStringAttrGet(ctx, tc__sref(s)); }
MlirAttribute tc__attr_dtype(MlirContext ctx, tc_dtype dtype) { return mlirTypeAttrGet(tc__dtype_to_mlir(ctx, dtype)); }

// ---- walking and rewriting
// ---------------------------------------------------------------------------------------------------------------------

tc_status tc__walk(MlirOperation root, tc__walk_fn fn, void *user) {
  intptr_t n_regions = mlirOperationGetNumRegions(root);
  for (intptr_t r = 0; r < n_regions; r++) {
    MlirRegion region = mlirOperationGetRegion(root, r);
    for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
      MlirOperation op = mlirBlockGetFirstOperation(block);
      while (!mlirOperationIsNull(op)) {
        // fn may erase an op without regions; one with regions stays until its body was visited.
        MlirOperation next = mlirOperationGetNextInBlock(op);
        bool has_regions = mlirOperationGetNumRegions(op) > 0;
        TC_TRY(fn(op, user));
        if (has_regions)
          TC_TRY(tc__walk(op, fn, user));
        op = next;
      }
    }
  }
  return TC_OK;
}

void tc__replace_op(MlirOperation op, const MlirValue *values) {
  intptr_t n = mlirOperationGetNumResults(op);
  for (intptr_t i = 0; i < n; i++)
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), values[i]);
  mlirOperationDestroy(op);
}

MlirOperation tc__find_func(MlirOperation module, const char *name) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
  if (mlirBlockIsNull(block))
    return (MlirOperation){NULL};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    bool func = tc__op_is(op, "func.func");
    MlirStringRef symbol;
    if (name) {
      if ((func || tc__op_is(op, "llvm.func")) && tc__get_str(op, "sym_name", &symbol) && symbol.length == strlen(name) &&
          memcmp(symbol.data, name, symbol.length) == 0)
        return op;
    } else if (func && !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)))) {
      return op;
    }
  }
  return (MlirOperation){NULL};
}
