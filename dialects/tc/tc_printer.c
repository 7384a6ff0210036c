// The readable listing of a module: one line a value, attributes only where they differ from the table's defaults.
//
//   func.func @main(%arg0: tensor<4xf32> {tc.name = "x"}) -> tensor<4xf32> {         func @main(%x: f32[4]) -> f32[4] {
//     %0 = "tc.cos"(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("model.py":65:1)     %0: f32[4] = cos(%x)  # model.py:65
//     return %0 : tensor<4xf32>                                                        return %0
//   }                                                                                }
//
// It is for people: attributes of other dialects are cut short, and it is not read back.
#include "tc_ir.h"

#include <ctype.h>
#include <stdio.h>

enum { TEXT_MAX = 60 }; // characters of an attribute of another dialect

typedef struct name_entry {
  const void *key; ///< an MlirValue's or an MlirBlock's pointer
  char *name;
} name_entry;

typedef struct printer {
  tc__str *out;
  name_entry *names; ///< open addressing, a power of two
  size_t capacity, count;
  int next; ///< number of the next unnamed value of this function
  int next_block;
  bool oom;
} printer;

// ---- names
// ------------------------------------------------------------------------------------------------------------------------

static size_t slot_of(const printer *p, const void *key) {
  size_t i = (size_t)(((uintptr_t)key >> 3) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (p->capacity - 1);
  while (p->names[i].key && p->names[i].key != key)
    i = (i + 1) & (p->capacity - 1);
  return i;
}

static void forget_names(printer *p) {
  for (size_t i = 0; i < p->capacity; i++)
    tc__free(p->names[i].name);
  tc__free(p->names);
  p->names = NULL;
  p->capacity = p->count = 0;
  p->next = p->next_block = 0;
}

static bool grow(printer *p) {
  printer old = *p;
  p->capacity = old.capacity ? old.capacity * 2 : 64;
  p->names = tc__calloc(p->capacity, sizeof *p->names);
  if (!p->names) {
    p->names = old.names;
    p->capacity = old.capacity;
    p->oom = true;
    return false;
  }
  for (size_t i = 0; i < old.capacity; i++)
    if (old.names[i].key)
      p->names[slot_of(p, old.names[i].key)] = old.names[i];
  tc__free(old.names);
  return true;
}

static const char *name_of(printer *p, const void *key) {
  const char *name = p->capacity ? p->names[slot_of(p, key)].name : NULL;
  return name ? name : "%?"; // defined outside of what is printed
}

static void set_name(printer *p, const void *key, const char *name) {
  if ((p->count + 1) * 2 > p->capacity && !grow(p))
    return;
  name_entry *entry = &p->names[slot_of(p, key)];
  char *copy = tc__strdup(name);
  if (!copy) {
    p->oom = true;
    return;
  }
  p->count += !entry->key;
  tc__free(entry->name);
  *entry = (name_entry){key, copy};
}

static void number(printer *p, MlirValue v) {
  char name[24];
  snprintf(name, sizeof name, "%%%d", p->next++);
  set_name(p, v.ptr, name);
}

static const char *value_name(printer *p, MlirValue v) { return name_of(p, v.ptr); }

// ---- types, attributes, locations
// ------------------------------------------------------------------------------------------------

// At most TEXT_MAX characters, on one line.
static void append_short(tc__str *out, const char *text, size_t size) {
  size_t n = size > TEXT_MAX ? TEXT_MAX - 3 : size;
  for (size_t i = 0; i < n; i++)
    tc__str_append_n(out, text[i] == '\n' ? " " : text + i, 1);
  if (n < size)
    tc__str_append(out, "...");
}

static void print_type(printer *p, MlirType t) {
  tc__type type;
  if (tc__type_from_mlir(t, &type)) {
    char text[320];
    tc__str_append(p->out, tc__type_format(&type, text, sizeof text));
  } else {
    mlirTypePrint(t, tc__print_to_str, p->out);
  }
}

static void print_attr(printer *p, MlirAttribute a) {
  tc_dtype dtype;
  if (mlirAttributeIsABool(a)) {
    tc__str_append(p->out, mlirBoolAttrGetValue(a) ? "true" : "false");
  } else if (mlirAttributeIsAInteger(a)) {
    MlirType type = mlirAttributeGetType(a);
    bool is_unsigned = mlirTypeIsAInteger(type) && mlirIntegerTypeIsUnsigned(type);
    tc__str_printf(p->out, "%lld",
                   (long long)(is_unsigned ? (int64_t)mlirIntegerAttrGetValueUInt(a) : mlirIntegerAttrGetValueInt(a)));
  } else if (mlirAttributeIsAFloat(a)) {
    tc__str_printf(p->out, "%g", mlirFloatAttrGetValueDouble(a));
  } else if (mlirAttributeIsADenseI64Array(a)) {
    intptr_t n = mlirDenseArrayGetNumElements(a);
    tc__str_append(p->out, "[");
    for (intptr_t i = 0; i < n; i++)
      tc__str_printf(p->out, "%s%lld", i ? "," : "", (long long)mlirDenseI64ArrayGetElement(a, i));
    tc__str_append(p->out, "]");
  } else if (mlirAttributeIsADenseF64Array(a)) {
    intptr_t n = mlirDenseArrayGetNumElements(a);
    tc__str_append(p->out, "[");
    for (intptr_t i = 0; i < n; i++)
      tc__str_printf(p->out, "%s%g", i ? "," : "", mlirDenseF64ArrayGetElement(a, i));
    tc__str_append(p->out, "]");
  } else if (mlirAttributeIsAType(a) && tc__dtype_from_mlir(mlirTypeAttrGetValue(a), &dtype)) {
    tc__str_append(p->out, tc_dtype_name(dtype));
  } else {
    tc__str text = {0};
    if (mlirAttributeIsADenseElements(a)) { // "dense<[1, 2]> : tensor<2xi64>": the type stands before the "="
      // A large literal would be printed in full only to be cut: print its size instead.
      if (mlirElementsAttrGetNumElements(a) > 16 && !mlirDenseElementsAttrIsSplat(a)) {
        tc__str_printf(p->out, "[%lld elements]", (long long)mlirElementsAttrGetNumElements(a));
        return;
      }
      mlirAttributePrint(a, tc__print_to_str, &text);
      char *end = text.data ? strstr(text.data, "> : ") : NULL;
      if (end && strncmp(text.data, "dense<", 6) == 0)
        append_short(p->out, text.data + 6, (size_t)(end - text.data) - 6);
    } else {
      mlirAttributePrint(a, tc__print_to_str, &text);
      append_short(p->out, text.data ? text.data : "", text.size);
    }
    p->oom |= text.oom;
    tc__str_free(&text);
  }
}

// "  # model.py:65": the file's own name and the line.
static void print_location(printer *p, MlirLocation loc) {
  tc__str text = {0};
  tc__loc_format(loc, &text);
  if (text.size) {
    const char *slash = strrchr(text.data, '/'), *start = slash ? slash + 1 : text.data;
    const char *first = strrchr(start, ':'), *end = start + strlen(start);
    if (first && isdigit((unsigned char)first[1])) { // drop the column of file:line:column
      const char *before = first;
      while (before > start && isdigit((unsigned char)before[-1]))
        before--;
      if (before < first && before > start && before[-1] == ':')
        end = first;
    }
    tc__str_append(p->out, "  # ");
    tc__str_append_n(p->out, start, (size_t)(end - start));
  }
  tc__str_free(&text);
}

// ---- ops
// --------------------------------------------------------------------------------------------------------------------------

static void print_block(printer *p, MlirBlock block, int indent);

static void separate(printer *p, bool *first) {
  if (!*first)
    tc__str_append(p->out, ", ");
  *first = false;
}

// Whether the attribute has the row's default value, or says nothing: an empty list, a dilation of 1, an output padding of 0.
static bool is_default(const tc__op_field *field, MlirAttribute a) {
  if (mlirAttributeIsADenseI64Array(a)) {
    bool dilation = strcmp(field->name, "dilation") == 0, neutral = dilation || strcmp(field->name, "output_padding") == 0;
    intptr_t n = mlirDenseArrayGetNumElements(a);
    for (intptr_t i = 0; i < n && neutral; i++)
      neutral = mlirDenseI64ArrayGetElement(a, i) == dilation;
    return (n == 0 && strcmp(field->name, "shape") != 0) || (n > 0 && neutral);
  }
  if (!*field->fallback)
    return false;
  if (mlirAttributeIsABool(a))
    return mlirBoolAttrGetValue(a) == (strcmp(field->fallback, "true") == 0);
  if (strcmp(field->cls, "str") == 0 && mlirAttributeIsAString(a)) {
    MlirStringRef s = mlirStringAttrGetValue(a);
    return s.length == strlen(field->fallback) && memcmp(s.data, field->fallback, s.length) == 0;
  }
  if (strcmp(field->fallback, "none") == 0)
    return false;
  if (mlirAttributeIsAInteger(a))
    return mlirIntegerAttrGetValueInt(a) == strtoll(field->fallback, NULL, 10);
  return mlirAttributeIsAFloat(a) && mlirFloatAttrGetValueDouble(a) == strtod(field->fallback, NULL);
}

static void print_tc_attrs(printer *p, MlirOperation op, const tc__op_info *info, bool *first) {
  for (int i = 0; i < info->n_attrs; i++) {
    const tc__op_field *field = &info->attrs[i];
    MlirAttribute a = mlirOperationGetAttributeByName(op, tc__sref(field->name));
    if (mlirAttributeIsNull(a) || is_default(field, a))
      continue;
    separate(p, first);
    if (strcmp(field->cls, "elements") != 0)
      tc__str_printf(p->out, "%s=", field->name);
    print_attr(p, a);
  }
}

// Attributes that only repeat what the listing shows otherwise.
static bool is_noise(MlirStringRef name) {
  static const char *const names[] = {"operandSegmentSizes",
                                      "operand_segment_sizes",
                                      "resultSegmentSizes",
                                      "indexing_maps",
                                      "iterator_types",
                                      "function_type",
                                      "sym_name",
                                      "callee",
                                      "sym_visibility",
                                      "arg_attrs",
                                      "res_attrs",
                                      "fastmath",
                                      "overflowFlags"};
  if (memchr(name.data, '.', name.length))
    return true;
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (strlen(names[i]) == name.length && memcmp(names[i], name.data, name.length) == 0)
      return true;
  return false;
}

static void print_other_attrs(printer *p, MlirOperation op, bool *first) {
  intptr_t n = mlirOperationGetNumAttributes(op);
  for (intptr_t i = 0; i < n; i++) {
    MlirNamedAttribute a = mlirOperationGetAttribute(op, i);
    MlirStringRef name = mlirIdentifierStr(a.name);
    if (is_noise(name))
      continue;
    separate(p, first);
    if (n != 1 || name.length != 5 || memcmp(name.data, "value", 5) != 0) // a constant is only its value
      tc__str_printf(p->out, "%.*s=", (int)name.length, name.data);
    print_attr(p, a.attribute);
  }
}

// "generic[sin cos]": what the body computes; "generic[copy]" when it only moves; "sum" stands for a loop that reduces.
static void print_generic_name(printer *p, MlirOperation op) {
  tc__str_append(p->out, "generic[");
  MlirStringRef given;
  bool first = true;
  if (tc__get_str(op, "tc.op", &given) || tc__get_str(op, "tc.contraction", &given)) {
    tc__str_append_n(p->out, given.data, given.length);
    first = false;
  } else {
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o); o = mlirOperationGetNextInBlock(o)) {
      MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(o));
      if (tc__op_is(o, "linalg.yield") || tc__op_is(o, "arith.constant"))
        continue;
      const char *dot = memchr(name.data, '.', name.length);
      size_t skip = dot ? (size_t)(dot - name.data) + 1 : 0;
      tc__str_append(p->out, first ? "" : " ");
      tc__str_append_n(p->out, name.data + skip, name.length - skip);
      first = false;
    }
  }
  if (first)
    tc__str_append(p->out, "copy");
  MlirAttribute iterators = mlirOperationGetAttributeByName(op, tc__sref("iterator_types"));
  tc__str text = {0};
  if (!mlirAttributeIsNull(iterators))
    mlirAttributePrint(iterators, tc__print_to_str, &text);
  if (text.data && strstr(text.data, "reduction"))
    tc__str_append(p->out, " | reduce");
  tc__str_free(&text);
  tc__str_append(p->out, "]");
}

// The operands of a linalg op without the tensor.empty ops that only give its results their type.
static bool is_placeholder(MlirOperation op, MlirValue operand) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
  MlirOperation def = tc__def_op(operand);
  return name.length > 7 && memcmp(name.data, "linalg.", 7) == 0 && !mlirOperationIsNull(def) && tc__op_is(def, "tensor.empty");
}

static void print_op(printer *p, MlirOperation op, int indent) {
  MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op)), callee;
  if (tc__op_is(op, "tensor.empty"))
    return;
  tc__str_printf(p->out, "%*s", indent, "");
  intptr_t n_results = mlirOperationGetNumResults(op), n_operands = mlirOperationGetNumOperands(op);
  for (intptr_t i = 0; i < n_results; i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    number(p, result);
    tc__str_printf(p->out, "%s%s: ", i ? ", " : "", value_name(p, result));
    print_type(p, mlirValueGetType(result));
  }
  if (n_results)
    tc__str_append(p->out, " = ");

  tc_op_kind kind = tc__op_kind(op);
  bool returns = tc__op_is(op, "func.return") || tc__op_is(op, "llvm.return"), generic = tc__op_is(op, "linalg.generic");
  MlirAttribute symbol = mlirOperationGetAttributeByName(op, tc__sref("callee"));
  if (kind != TC_OP_COUNT)
    tc__str_append(p->out, tc__op_info_get(kind)->name);
  else if (returns)
    tc__str_append(p->out, "return");
  else if (generic)
    print_generic_name(p, op);
  else if (!mlirAttributeIsNull(symbol) && mlirAttributeIsAFlatSymbolRef(symbol)) {
    callee = mlirFlatSymbolRefAttrGetValue(symbol);
    tc__str_printf(p->out, "call @%.*s", (int)callee.length, callee.data);
  } else
    tc__str_append_n(p->out, name.data, name.length);

  tc__str_append(p->out, returns ? (n_operands ? " " : "") : "(");
  bool first = true;
  for (intptr_t i = 0; i < n_operands; i++) {
    MlirValue operand = mlirOperationGetOperand(op, i);
    if (is_placeholder(op, operand))
      continue;
    separate(p, &first);
    tc__str_append(p->out, value_name(p, operand));
  }
  if (kind != TC_OP_COUNT)
    print_tc_attrs(p, op, tc__op_info_get(kind), &first);
  else if (!returns)
    print_other_attrs(p, op, &first);
  if (!returns)
    tc__str_append(p->out, ")");
  intptr_t n_successors = mlirOperationGetNumSuccessors(op);
  for (intptr_t i = 0; i < n_successors; i++)
    tc__str_printf(p->out, "%s%s", i ? ", " : " -> ", name_of(p, mlirOperationGetSuccessor(op, i).ptr));

  intptr_t n_regions = generic ? 0 : mlirOperationGetNumRegions(op);
  bool open = false;
  for (intptr_t r = 0; r < n_regions; r++) {
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, r));
    if (mlirBlockIsNull(block))
      continue;
    tc__str_append(p->out, open ? " else {" : " {");
    if (!open)
      print_location(p, mlirOperationGetLocation(op));
    tc__str_append(p->out, "\n");
    open = true;
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      print_block(p, block, indent + 2);
    tc__str_printf(p->out, "%*s}", indent, "");
  }
  if (!open && !returns)
    print_location(p, mlirOperationGetLocation(op));
  tc__str_append(p->out, "\n");
}

static void print_block(printer *p, MlirBlock block, int indent) {
  intptr_t n = mlirBlockGetNumArguments(block);
  MlirBlock first = mlirRegionGetFirstBlock(mlirBlockGetParentRegion(block));
  bool label = !mlirBlockEqual(first, block) || n > 0;
  for (intptr_t i = 0; i < n; i++)
    if (strcmp(value_name(p, mlirBlockGetArgument(block, i)), "%?") == 0)
      number(p, mlirBlockGetArgument(block, i));
    else
      label = false; // a function's entry block: its header names the arguments
  if (label) {
    tc__str_printf(p->out, "%*s%s(", indent - 2, "", mlirBlockEqual(first, block) ? "^" : name_of(p, block.ptr));
    for (intptr_t i = 0; i < n; i++) {
      tc__str_printf(p->out, "%s%s: ", i ? ", " : "", value_name(p, mlirBlockGetArgument(block, i)));
      print_type(p, mlirValueGetType(mlirBlockGetArgument(block, i)));
    }
    tc__str_append(p->out, "):\n");
  }
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    print_op(p, op, indent);
}

// ---- functions
// --------------------------------------------------------------------------------------------------------------------

// The dictionary of argument or result i, null when there is none.
static MlirAttribute dictionary(MlirOperation func, const char *which, intptr_t i) {
  MlirAttribute all = mlirOperationGetAttributeByName(func, tc__sref(which));
  if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all) || i >= mlirArrayAttrGetNumElements(all))
    return mlirAttributeGetNull();
  MlirAttribute one = mlirArrayAttrGetElement(all, i);
  return mlirAttributeIsADictionary(one) ? one : mlirAttributeGetNull();
}

static bool entry(MlirAttribute dict, const char *key, MlirStringRef *out) {
  MlirAttribute a = mlirAttributeIsNull(dict) ? dict : mlirDictionaryAttrGetElementByName(dict, tc__sref(key));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return false;
  *out = mlirStringAttrGetValue(a);
  return true;
}

static void name_argument(printer *p, MlirOperation func, MlirValue arg, intptr_t i) {
  tc__str text = {0};
  MlirStringRef name;
  tc__str_append(&text, "%");
  if (entry(dictionary(func, "arg_attrs", i), "tc.name", &name) && name.length) {
    for (size_t k = 0; k < name.length; k++) {
      unsigned char c = (unsigned char)name.data[k];
      tc__str_append_n(&text, isalnum(c) || strchr("._/-", c) ? (const char *)&name.data[k] : "_", 1);
    }
    // A name of digits only, or one that is taken, would be taken for another value.
    bool taken = isdigit((unsigned char)name.data[0]);
    for (size_t k = 0; k < p->capacity && !taken; k++)
      taken = p->names[k].name && text.data && strcmp(p->names[k].name, text.data) == 0;
    if (taken)
      tc__str_printf(&text, "_arg%d", (int)i);
  } else {
    tc__str_printf(&text, "arg%d", (int)i);
  }
  if (text.data)
    set_name(p, arg.ptr, text.data);
  p->oom |= text.oom;
  tc__str_free(&text);
}

static void print_results(printer *p, MlirOperation func) {
  MlirAttribute attr = mlirOperationGetAttributeByName(func, tc__sref("function_type"));
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAType(attr) || !mlirTypeIsAFunction(mlirTypeAttrGetValue(attr)))
    return;
  MlirType type = mlirTypeAttrGetValue(attr);
  intptr_t n = mlirFunctionTypeGetNumResults(type);
  bool parens = n != 1;
  for (intptr_t i = 0; i < n; i++)
    parens |= !mlirAttributeIsNull(dictionary(func, "res_attrs", i)) &&
              mlirDictionaryAttrGetNumElements(dictionary(func, "res_attrs", i)) > 0;
  if (!n)
    return;
  tc__str_append(p->out, parens ? " -> (" : " -> ");
  for (intptr_t i = 0; i < n; i++) {
    MlirStringRef name;
    MlirAttribute dict = dictionary(func, "res_attrs", i);
    tc__str_append(p->out, i ? ", " : "");
    if (entry(dict, "tc.name", &name))
      tc__str_printf(p->out, "%.*s: ", (int)name.length, name.data);
    print_type(p, mlirFunctionTypeGetResult(type, i));
    if (entry(dict, "tc.mutates", &name))
      tc__str_printf(p->out, " mutates %%%.*s", (int)name.length, name.data);
  }
  tc__str_append(p->out, parens ? ")" : "");
}

static void print_func(printer *p, MlirOperation func) {
  MlirStringRef symbol = {"?", 1}, kind, summary;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  forget_names(p);
  tc__get_str(func, "sym_name", &symbol);
  tc__str_printf(p->out, "%s @%.*s(", tc__op_is(func, "func.func") ? "func" : "llvm.func", (int)symbol.length, symbol.data);
  if (mlirBlockIsNull(block)) { // a declaration
    MlirAttribute type = mlirOperationGetAttributeByName(func, tc__sref("function_type"));
    bool known = !mlirAttributeIsNull(type) && mlirAttributeIsAType(type) && mlirTypeIsAFunction(mlirTypeAttrGetValue(type));
    intptr_t n_inputs = known ? mlirFunctionTypeGetNumInputs(mlirTypeAttrGetValue(type)) : 0;
    for (intptr_t i = 0; i < n_inputs; i++) {
      tc__str_append(p->out, i ? ", " : "");
      print_type(p, mlirFunctionTypeGetInput(mlirTypeAttrGetValue(type), i));
    }
    tc__str_append(p->out, ")");
    print_results(p, func);
    tc__str_append(p->out, "\n");
    return;
  }
  intptr_t n = mlirBlockGetNumArguments(block);
  bool lines = n > 4; // one argument a line
  for (intptr_t i = 0; i < n; i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    name_argument(p, func, arg, i);
    tc__str_printf(p->out, "%s%s: ", lines ? "\n    " : i ? ", " : "", value_name(p, arg));
    print_type(p, mlirValueGetType(arg));
    if (entry(dictionary(func, "arg_attrs", i), "tc.kind", &kind) && !(kind.length == 5 && memcmp(kind.data, "input", 5) == 0))
      tc__str_printf(p->out, " %.*s", (int)kind.length, kind.data);
    if (lines && i + 1 < n)
      tc__str_append(p->out, ",");
  }
  tc__str_append(p->out, ")");
  print_results(p, func);
  tc__str_append(p->out, " {");
  if (tc__get_str(func, "tc.kernel", &kind)) {
    tc__str_printf(p->out, "  # %.*s kernel", (int)kind.length, kind.data);
    if (tc__get_str(func, "tc.summary", &summary))
      tc__str_printf(p->out, ": %.*s", (int)summary.length, summary.data);
  }
  tc__str_append(p->out, "\n");
  for (MlirBlock b = mlirBlockGetNextInRegion(block); !mlirBlockIsNull(b); b = mlirBlockGetNextInRegion(b)) {
    char label[24];
    snprintf(label, sizeof label, "^bb%d", ++p->next_block);
    set_name(p, b.ptr, label);
  }
  for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
    print_block(p, block, 2);
  tc__str_append(p->out, "}\n");
}

tc_status tc__print_readable(MlirOperation module, tc__str *out) {
  printer p = {.out = out};
  intptr_t n_regions = mlirOperationGetNumRegions(module);
  bool module_like = !tc__op_is(module, "func.func") && !tc__op_is(module, "llvm.func"), first = true;
  if (!module_like)
    print_func(&p, module);
  for (intptr_t r = 0; module_like && r < n_regions; r++) {
    MlirRegion region = mlirOperationGetRegion(module, r);
    for (MlirBlock block = mlirRegionGetFirstBlock(region); !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block))
      for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
        tc__str_append(out, first ? "" : "\n");
        first = false;
        if (tc__op_is(op, "func.func") || tc__op_is(op, "llvm.func"))
          print_func(&p, op);
        else
          print_op(&p, op, 0);
      }
  }
  forget_names(&p);
  return p.oom || out->oom ? tc__oom() : TC_OK;
}
