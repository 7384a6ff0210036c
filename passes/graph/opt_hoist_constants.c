// tc-hoist-constants: what depends on parameters and constants only moves into @<entry>.prepare, which runs once at load.
//
//   func.func @main(%x {tc.kind = "input"}, %w {tc.kind = "parameter"}) { %0 = "tc.exp"(%w)  %1 = "tc.mul"(%x, %0)  return %1 }
// becomes
//   func.func @main.prepare(%w {tc.kind = "parameter"}) { %0 = "tc.exp"(%w)  return %0 }
//   func.func @main(%x, %0 {tc.kind = "prepared", tc.index = 0 : i64}) { %1 = "tc.mul"(%x, %0)  return %1 }
//
// Not hoisted: what depends on a parameter that a run mutates; and values that cost nothing but space (a broadcast, an iota, a reshape of a parameter),
// unless something hoisted needs them. Parameters that the entry function no longer reads are dropped from it.
#include "pass.h"

#include <stdio.h>

typedef struct argument {
  MlirAttribute dict;
  bool is_parameter;
} argument;

static bool dict_str(MlirAttribute dict, const char *name, MlirStringRef *out) {
  MlirAttribute a = mlirAttributeIsNull(dict) ? dict : mlirDictionaryAttrGetElementByName(dict, tc__sref(name));
  if (mlirAttributeIsNull(a) || !mlirAttributeIsAString(a))
    return false;
  *out = mlirStringAttrGetValue(a);
  return true;
}

static bool equal(MlirStringRef a, MlirStringRef b) { return a.length == b.length && memcmp(a.data, b.data, a.length) == 0; }

static MlirAttribute list_item(MlirOperation func, const char *list, intptr_t i) {
  MlirAttribute array = mlirOperationGetAttributeByName(func, tc__sref(list));
  return mlirAttributeIsNull(array) || i >= mlirArrayAttrGetNumElements(array) ? mlirAttributeGetNull() : mlirArrayAttrGetElement(array, i);
}

static bool is_mutated(MlirOperation func, intptr_t n_results, MlirStringRef name) {
  MlirStringRef target;
  for (intptr_t i = 0; i < n_results; i++)
    if (dict_str(list_item(func, "res_attrs", i), "tc.mutates", &target) && equal(target, name))
      return true;
  return false;
}

// Worth a place in the prepared block: it computes, or it rearranges a parameter.
static bool is_free(MlirOperation op) {
  switch (tc__op_kind(op)) {
  case TC_OP_constant:
  case TC_OP_full:
  case TC_OP_iota:
  case TC_OP_broadcast:
  case TC_OP_reshape:
  case TC_OP_unsqueeze:
  case TC_OP_squeeze:
    return true;
  default:
    return tc__op_is(op, "tensor.cast");
  }
}

// The ops of the entry block with marks: 1 = depends on parameters and constants only.
typedef struct marks {
  MlirOperation *ops;
  bool *constant, *reads_parameter, *moved;
  size_t n;
} marks;

static bool value_is_constant(const marks *m, const argument *args, MlirValue v, bool *reads_parameter) {
  if (mlirValueIsABlockArgument(v)) {
    bool p = args[mlirBlockArgumentGetArgNumber(v)].is_parameter;
    *reads_parameter |= p;
    return p;
  }
  int64_t at = tc__get_int(mlirOpResultGetOwner(v), "tc.at", -1);
  if (at < 0 || !m->constant[at])
    return false;
  *reads_parameter |= m->reads_parameter[at];
  return true;
}

static void move_with_operands(marks *m, size_t i) {
  if (m->moved[i])
    return;
  m->moved[i] = true;
  for (intptr_t k = 0; k < mlirOperationGetNumOperands(m->ops[i]); k++) {
    MlirOperation def = tc__def_op(mlirOperationGetOperand(m->ops[i], k));
    if (!mlirOperationIsNull(def))
      move_with_operands(m, (size_t)tc__get_int(def, "tc.at", 0));
  }
}

// Leaves a copy of a moved literal for the ops that stay.
static void keep_copy(const marks *m, size_t i) {
  MlirOperation copy = {NULL};
  MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(m->ops[i], 0));
  while (!mlirOpOperandIsNull(use)) {
    MlirOpOperand next = mlirOpOperandGetNextUse(use);
    MlirOperation owner = mlirOpOperandGetOwner(use);
    int64_t user = tc__get_int(owner, "tc.at", -1);
    if (user < 0 || !m->moved[user]) {
      if (mlirOperationIsNull(copy)) {
        copy = mlirOperationClone(m->ops[i]);
        mlirOperationRemoveAttributeByName(copy, tc__sref("tc.at"));
        mlirBlockInsertOwnedOperationAfter(mlirOperationGetBlock(m->ops[i]), m->ops[i], copy);
      }
      mlirOperationSetOperand(owner, (intptr_t)mlirOpOperandGetOperandNumber(use), mlirOperationGetResult(copy, 0));
    }
    use = next;
  }
}

static tc_status set_signature(MlirOperation func, MlirBlock block, const MlirAttribute *arg_dicts, const MlirType *results, size_t n_results) {
  MlirContext ctx = mlirOperationGetContext(func);
  intptr_t n = mlirBlockGetNumArguments(block);
  MlirType *types = tc__alloc(sizeof *types * (size_t)(n + 1));
  if (!types)
    return tc__oom();
  for (intptr_t i = 0; i < n; i++)
    types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
  mlirOperationSetAttributeByName(func, tc__sref("function_type"),
                                  mlirTypeAttrGet(mlirFunctionTypeGet(ctx, n, types, (intptr_t)n_results, results)));
  mlirOperationSetAttributeByName(func, tc__sref("arg_attrs"), mlirArrayAttrGet(ctx, n, arg_dicts));
  tc__free(types);
  return TC_OK;
}

static tc_status split(MlirOperation func, MlirBlock block, marks *m, argument *args, MlirValue *outside, size_t n_outside) {
  MlirContext ctx = mlirOperationGetContext(func);
  MlirLocation loc = mlirOperationGetLocation(func);
  intptr_t n_args = mlirBlockGetNumArguments(block);
  size_t total = (size_t)n_args + n_outside;
  MlirAttribute *dicts = tc__calloc(total + 1, sizeof *dicts);
  MlirType *types = tc__calloc(n_outside + 1, sizeof *types);
  MlirValue *fresh = tc__calloc((size_t)n_args + 1, sizeof *fresh);
  tc_status status = dicts && types && fresh ? TC_OK : tc__oom();
  if (status != TC_OK)
    goto done;

  // @<entry>.prepare takes the parameters that moved ops read.
  MlirBlock prepared = mlirBlockCreate(0, NULL, NULL);
  size_t n_prepared_args = 0;
  for (size_t i = 0; i < m->n; i++) {
    if (!m->moved[i])
      continue;
    for (intptr_t k = 0; k < mlirOperationGetNumOperands(m->ops[i]); k++) {
      MlirValue v = mlirOperationGetOperand(m->ops[i], k);
      if (!mlirValueIsABlockArgument(v))
        continue;
      intptr_t at = mlirBlockArgumentGetArgNumber(v);
      if (mlirValueIsNull(fresh[at])) {
        fresh[at] = mlirBlockAddArgument(prepared, mlirValueGetType(v), loc);
        dicts[n_prepared_args++] = args[at].dict;
      }
      mlirOperationSetOperand(m->ops[i], k, fresh[at]);
    }
    mlirOperationRemoveFromParent(m->ops[i]);
    mlirBlockAppendOwnedOperation(prepared, m->ops[i]);
  }
  for (size_t i = 0; i < n_outside; i++)
    types[i] = mlirValueGetType(outside[i]);
  tc__builder end = tc__builder_at_end(prepared, loc);
  // What the entry function reads becomes an argument there; then the values are returned here.
  MlirAttribute *entry_dicts = tc__calloc(total + 1, sizeof *entry_dicts);
  if (!entry_dicts) {
    status = tc__oom();
    goto done;
  }
  for (intptr_t i = 0; i < n_args; i++)
    entry_dicts[i] = args[i].dict;
  for (size_t i = 0; i < n_outside; i++) {
    MlirNamedAttribute attrs[2] = {tc__named(ctx, "tc.index", tc__attr_i64(ctx, (int64_t)i)), tc__named(ctx, "tc.kind", tc__attr_str(ctx, "prepared"))};
    entry_dicts[(size_t)n_args + i] = mlirDictionaryAttrGet(ctx, 2, attrs);
    MlirValue arg = mlirBlockAddArgument(block, types[i], loc);
    // Uses in the entry function only: those of moved ops keep the value.
    MlirOpOperand use = mlirValueGetFirstUse(outside[i]);
    while (!mlirOpOperandIsNull(use)) {
      MlirOpOperand next = mlirOpOperandGetNextUse(use);
      MlirOperation owner = mlirOpOperandGetOwner(use);
      if (mlirBlockEqual(mlirOperationGetBlock(owner), block))
        mlirOperationSetOperand(owner, (intptr_t)mlirOpOperandGetOperandNumber(use), arg);
      use = next;
    }
  }
  tc__build(&end, "func.return", outside, n_outside, NULL, 0, NULL, 0, NULL, 0);

  // Parameters nobody reads any more leave the entry function.
  size_t kept = 0;
  for (intptr_t i = 0, at = 0; i < (intptr_t)total; i++) {
    MlirValue v = mlirBlockGetArgument(block, at);
    bool drop = i < n_args && args[i].is_parameter && mlirOpOperandIsNull(mlirValueGetFirstUse(v));
    if (drop) {
      mlirBlockEraseArgument(block, (unsigned)at);
      continue;
    }
    entry_dicts[kept++] = entry_dicts[i];
    at++;
  }
  MlirType function_type = mlirTypeAttrGetValue(mlirOperationGetAttributeByName(func, tc__sref("function_type")));
  size_t n_results = (size_t)mlirFunctionTypeGetNumResults(function_type);
  MlirType *results = tc__calloc(n_results + 1, sizeof *results);
  if (results) {
    for (size_t i = 0; i < n_results; i++)
      results[i] = mlirFunctionTypeGetResult(function_type, (intptr_t)i);
    status = set_signature(func, block, entry_dicts, results, n_results);
  } else {
    status = tc__oom();
  }
  tc__free(results);
  tc__free(entry_dicts);

  MlirStringRef name = tc__sref("main");
  tc__get_str(func, "sym_name", &name);
  char symbol[512];
  snprintf(symbol, sizeof symbol, "%.*s.prepare", (int)name.length, name.data);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, prepared);
  MlirNamedAttribute attrs[2] = {tc__named(ctx, "sym_name", tc__attr_str(ctx, symbol)),
                                 tc__named(ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(ctx, 0, NULL, 0, NULL)))};
  // Behind the entry function: the first function with a body stays the entry.
  tc__builder b = tc__builder_before(func);
  MlirOperation prepare = tc__build(&b, "func.func", NULL, 0, NULL, 0, attrs, 2, &region, 1);
  mlirOperationMoveAfter(prepare, func);
  if (status == TC_OK)
    status = set_signature(prepare, prepared, dicts, types, n_outside);
done:
  tc__free(dicts);
  tc__free(types);
  tc__free(fresh);
  return status;
}

static tc_status hoist(MlirOperation func, MlirBlock block) {
  MlirContext ctx = mlirOperationGetContext(func);
  intptr_t n_args = mlirBlockGetNumArguments(block);
  MlirOperation ret = mlirBlockGetTerminator(block);
  marks m = {0};
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op))
    m.n++;
  argument *args = tc__calloc((size_t)n_args + 1, sizeof *args);
  m.ops = tc__calloc(m.n + 1, sizeof *m.ops);
  m.constant = tc__calloc(m.n + 1, 1);
  m.reads_parameter = tc__calloc(m.n + 1, 1);
  m.moved = tc__calloc(m.n + 1, 1);
  MlirValue *outside = NULL;
  size_t n_outside = 0, capacity = 0;
  tc_status status = args && m.ops && m.constant && m.reads_parameter && m.moved ? TC_OK : tc__oom();
  if (status != TC_OK)
    goto done;
  for (intptr_t i = 0; i < n_args; i++) {
    MlirStringRef kind, name = {NULL, 0};
    args[i].dict = list_item(func, "arg_attrs", i);
    if (mlirAttributeIsNull(args[i].dict))
      args[i].dict = mlirDictionaryAttrGet(ctx, 0, NULL);
    if (!dict_str(args[i].dict, "tc.kind", &kind) || !dict_str(args[i].dict, "tc.name", &name))
      continue;
    bool fixed = equal(kind, tc__sref("parameter")) || equal(kind, tc__sref("buffer")) || equal(kind, tc__sref("constant"));
    args[i].is_parameter = fixed && !is_mutated(func, mlirOperationGetNumOperands(ret), name);
  }
  size_t at = 0;
  bool any = false;
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op), at++) {
    m.ops[at] = op;
    mlirOperationSetAttributeByName(op, tc__sref("tc.at"), tc__attr_i64(ctx, (int64_t)at));
    bool pure = tc__op_kind(op) != TC_OP_COUNT || tc__op_is(op, "tensor.cast"), constant = pure, reads = false;
    for (intptr_t i = 0; i < mlirOperationGetNumOperands(op) && constant; i++)
      constant = value_is_constant(&m, args, mlirOperationGetOperand(op, i), &reads);
    m.constant[at] = constant;
    m.reads_parameter[at] = reads;
  }
  // Ops that compute something from parameters and are read by what is not constant; with everything they need.
  for (size_t i = 0; i < m.n; i++) {
    if (!m.constant[i] || is_free(m.ops[i]))
      continue;
    bool read_outside = false;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(m.ops[i]) && !read_outside; r++)
      for (MlirOpOperand use = mlirValueGetFirstUse(mlirOperationGetResult(m.ops[i], r)); !mlirOpOperandIsNull(use) && !read_outside;
           use = mlirOpOperandGetNextUse(use)) {
        int64_t user = tc__get_int(mlirOpOperandGetOwner(use), "tc.at", -1);
        read_outside = user < 0 || !m.constant[user] || is_free(m.ops[user]);
      }
    if (read_outside) {
      move_with_operands(&m, i);
      any = true;
    }
  }
  // A literal that is also needed in the entry function stays there, as a copy. Values of moved ops that are read outside are returned.
  for (size_t i = 0; i < m.n && any && status == TC_OK; i++) {
    if (!m.moved[i])
      continue;
    if (mlirOperationGetNumOperands(m.ops[i]) == 0) {
      keep_copy(&m, i);
      continue;
    }
    for (intptr_t r = 0; r < mlirOperationGetNumResults(m.ops[i]); r++) {
      MlirValue v = mlirOperationGetResult(m.ops[i], r);
      bool needed = false;
      for (MlirOpOperand use = mlirValueGetFirstUse(v); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        int64_t user = tc__get_int(mlirOpOperandGetOwner(use), "tc.at", -1);
        needed |= user < 0 || !m.moved[user];
      }
      if (!needed)
        continue;
      if (n_outside == capacity) {
        capacity = capacity ? capacity * 2 : 64;
        MlirValue *more = tc__realloc(outside, capacity * sizeof *more);
        if (!more) {
          status = tc__oom();
          break;
        }
        outside = more;
      }
      outside[n_outside++] = v;
    }
  }
  for (size_t i = 0; i < m.n; i++)
    mlirOperationRemoveAttributeByName(m.ops[i], tc__sref("tc.at"));
  if (any && status == TC_OK)
    status = split(func, block, &m, args, outside, n_outside);
done:
  tc__free(outside);
  tc__free(args);
  tc__free(m.ops);
  tc__free(m.constant);
  tc__free(m.reads_parameter);
  tc__free(m.moved);
  return status;
}

tc_status tc__pass_hoist_constants(MlirOperation module, const tc__pass_options *options) {
  (void)options;
  MlirOperation func = tc__find_func(module, "main");
  if (mlirOperationIsNull(func))
    func = tc__find_func(module, NULL);
  if (mlirOperationIsNull(func) || !tc__op_is(func, "func.func"))
    return TC_OK;
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  if (mlirBlockIsNull(block) || !mlirBlockIsNull(mlirBlockGetNextInRegion(block)))
    return TC_OK;
  MlirStringRef name;
  char symbol[512];
  if (tc__get_str(func, "sym_name", &name)) {
    snprintf(symbol, sizeof symbol, "%.*s.prepare", (int)name.length, name.data);
    if (!mlirOperationIsNull(tc__find_func(module, symbol)))
      return TC_OK; // done before
  }
  return hoist(func, block);
}
