#include "plan_builder.h"

#include <stdio.h>

enum { ALIGNMENT = 64 };

// ---- from MLIR values to plan values: open addressing on the value's pointer --------------------------------------------------------

typedef struct value_map {
  const void **keys;
  int *indices;
  size_t capacity, count;
} value_map;

static size_t map_slot(const value_map *map, const void *key) {
  size_t at = ((uintptr_t)key >> 4) * 0x9e3779b97f4a7c15u;
  at ^= at >> 29;
  for (at &= map->capacity - 1; map->keys[at] && map->keys[at] != key; at = (at + 1) & (map->capacity - 1)) {
  }
  return at;
}

static tc_status map_put(value_map *map, const void *key, int index) {
  if (map->count * 2 >= map->capacity) {
    value_map grown = {.capacity = map->capacity ? map->capacity * 2 : 256};
    grown.keys = tc__calloc(grown.capacity, sizeof *grown.keys);
    grown.indices = tc__calloc(grown.capacity, sizeof *grown.indices);
    if (!grown.keys || !grown.indices) {
      tc__free(grown.keys);
      tc__free(grown.indices);
      return tc__oom();
    }
    for (size_t i = 0; i < map->capacity; i++)
      if (map->keys[i]) {
        size_t at = map_slot(&grown, map->keys[i]);
        grown.keys[at] = map->keys[i];
        grown.indices[at] = map->indices[i];
      }
    grown.count = map->count;
    tc__free(map->keys);
    tc__free(map->indices);
    *map = grown;
  }
  size_t at = map_slot(map, key);
  map->count += !map->keys[at];
  map->keys[at] = key;
  map->indices[at] = index;
  return TC_OK;
}

static int map_get(const value_map *map, const void *key) {
  if (!map->capacity)
    return -1;
  size_t at = map_slot(map, key);
  return map->keys[at] ? map->indices[at] : -1;
}

// ---- the builder -----------------------------------------------------------------------------------------------------------------------

typedef struct step_list {
  tc__plan_step *items;
  int count, capacity;
} step_list;

typedef struct builder {
  void *storage;
  MlirOperation module;
  value_map map;
  tc__plan_value *values;
  int n_values, values_capacity;
  tc__plan_kernel *kernels;
  int n_kernels, kernels_capacity;
  tc__plan_io *params;
  int n_params, params_capacity;
  step_list *steps; // the list being filled
  int *prepared;    // plan value of each result of .prepare
  int n_prepared;
  int64_t prepared_bytes;
} builder;

static tc_status grow(void **items, int count, int *capacity, size_t size) {
  if (count < *capacity)
    return TC_OK;
  int wanted = *capacity ? *capacity * 2 : 64;
  void *p = tc__realloc(*items, size * (size_t)wanted);
  if (!p)
    return tc__oom();
  *items = p;
  *capacity = wanted;
  return TC_OK;
}

static tc_status add_value(builder *b, const tc__plan_value *value, int *out_index) {
  TC_TRY(grow((void **)&b->values, b->n_values, &b->values_capacity, sizeof *b->values));
  b->values[b->n_values] = *value;
  *out_index = b->n_values++;
  return TC_OK;
}

static char *copy_text(builder *b, MlirStringRef s) {
  char *copy = tc__plan_alloc(&b->storage, s.length + 1);
  if (copy && s.length)
    memcpy(copy, s.data, s.length);
  return copy;
}

static tc_status value_type(MlirValue v, MlirLocation loc, tc__type *out) {
  if (!tc__value_type(v, out))
    return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a value that is no ranked tensor of a supported element type reaches the host function");
  if (!tc__type_is_static(out))
    return tc__error_at(loc, TC_ERR_UNSUPPORTED, "a dynamic shape reaches the host function: give the inputs' sizes at compile time");
  return TC_OK;
}

static bool arg_attr_str(MlirOperation func, const char *list, intptr_t i, const char *name, MlirStringRef *out) {
  MlirAttribute array = mlirOperationGetAttributeByName(func, tc__sref(list));
  if (mlirAttributeIsNull(array) || !mlirAttributeIsAArray(array) || i >= mlirArrayAttrGetNumElements(array))
    return false;
  MlirAttribute attr = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(array, i), tc__sref(name));
  if (mlirAttributeIsNull(attr) || !mlirAttributeIsAString(attr))
    return false;
  *out = mlirStringAttrGetValue(attr);
  return true;
}

static int64_t arg_attr_int(MlirOperation func, intptr_t i, const char *name, int64_t otherwise) {
  MlirAttribute array = mlirOperationGetAttributeByName(func, tc__sref("arg_attrs"));
  if (mlirAttributeIsNull(array) || !mlirAttributeIsAArray(array) || i >= mlirArrayAttrGetNumElements(array))
    return otherwise;
  MlirAttribute attr = mlirDictionaryAttrGetElementByName(mlirArrayAttrGetElement(array, i), tc__sref(name));
  return mlirAttributeIsNull(attr) || !mlirAttributeIsAInteger(attr) ? otherwise : mlirIntegerAttrGetValueInt(attr);
}

static bool same(MlirStringRef a, const char *b) { return a.length == strlen(b) && memcmp(a.data, b, a.length) == 0; }

// A parameter by name, shared by .prepare and the entry function.
static tc_status add_param(builder *b, const tc__type *type, MlirStringRef name, int *out_value) {
  for (int i = 0; i < b->n_params; i++)
    if (same(name, b->params[i].name)) {
      *out_value = b->params[i].value;
      return TC_OK;
    }
  TC_TRY(grow((void **)&b->params, b->n_params, &b->params_capacity, sizeof *b->params));
  TC_TRY(add_value(b, &(tc__plan_value){.type = *type, .kind = TC__VALUE_PARAM, .index = b->n_params}, out_value));
  char *text = copy_text(b, name);
  if (!text)
    return tc__oom();
  b->params[b->n_params++] = (tc__plan_io){text, *out_value, NULL};
  return TC_OK;
}

static tc_status add_arguments(builder *b, MlirOperation func, tc__plan *plan) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  intptr_t n = mlirBlockGetNumArguments(block);
  tc__plan_io *inputs = tc__plan_alloc(&b->storage, sizeof *inputs * (size_t)(n + 1));
  if (!inputs)
    return tc__oom();
  int n_inputs = 0;
  for (intptr_t i = 0; i < n; i++) {
    MlirValue arg = mlirBlockGetArgument(block, i);
    tc__type type;
    TC_TRY(value_type(arg, mlirOperationGetLocation(func), &type));
    MlirStringRef kind = tc__sref("input"), name = tc__sref("");
    arg_attr_str(func, "arg_attrs", i, "tc.kind", &kind);
    arg_attr_str(func, "arg_attrs", i, "tc.name", &name);
    int value;
    if (same(kind, "prepared")) {
      int64_t k = arg_attr_int(func, i, "tc.index", -1);
      if (k < 0 || k >= b->n_prepared)
        return tc__error_at(mlirOperationGetLocation(func), TC_ERR_INTERNAL, "argument %d: no result %d of the prepare function", (int)i,
                            (int)k);
      value = b->prepared[k];
    } else if (same(kind, "input")) {
      TC_TRY(add_value(b, &(tc__plan_value){.type = type, .kind = TC__VALUE_INPUT, .index = n_inputs}, &value));
      char *text = copy_text(b, name);
      if (!text)
        return tc__oom();
      inputs[n_inputs++] = (tc__plan_io){text, value, NULL};
    } else {
      TC_TRY(add_param(b, &type, name, &value));
    }
    TC_TRY(map_put(&b->map, arg.ptr, value));
  }
  if (plan) {
    plan->inputs = inputs;
    plan->n_inputs = n_inputs;
  } else if (n_inputs) {
    return tc__error_at(mlirOperationGetLocation(func), TC_ERR_INTERNAL, "the prepare function takes an input");
  }
  return TC_OK;
}

static bool is_free_cast(MlirOperation op) {
  static const char *const names[] = {"tensor.expand_shape", "tensor.collapse_shape", "tensor.bitcast", "tensor.cast",
                                      "tensor.reshape", "builtin.unrealized_conversion_cast", "tc.reshape", "tc.unsqueeze", "tc.squeeze"};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (tc__op_is(op, names[i]))
      return true;
  return false;
}

static tc_status operand_value(builder *b, MlirOperation op, MlirValue operand, int *out) {
  *out = map_get(&b->map, operand.ptr);
  return *out >= 0 ? TC_OK : tc__error_at(mlirOperationGetLocation(op), TC_ERR_INTERNAL, "an operand of the host function has no value");
}

static tc_status new_step(builder *b, MlirOperation op, tc__plan_step **out) {
  step_list *list = b->steps;
  TC_TRY(grow((void **)&list->items, list->count, &list->capacity, sizeof *list->items));
  tc__plan_step *step = &list->items[list->count++];
  memset(step, 0, sizeof *step);
  tc__str loc = {0};
  tc__loc_format(mlirOperationGetLocation(op), &loc);
  step->location = tc__plan_strdup(&b->storage, loc.data ? loc.data : "");
  step->summary = "";
  tc__str_free(&loc);
  *out = step;
  return step->location ? TC_OK : tc__oom();
}

// Results get arena values at the offsets that plan-memory chose; what the function returns is re-bound afterwards.
static tc_status add_step_values(builder *b, MlirOperation op, tc__plan_step *step) {
  step->n_in = (int)mlirOperationGetNumOperands(op);
  step->n_out = (int)mlirOperationGetNumResults(op);
  step->args = tc__plan_alloc(&b->storage, sizeof *step->args * (size_t)(step->n_in + step->n_out + 1));
  if (!step->args)
    return tc__oom();
  for (int i = 0; i < step->n_in; i++) {
    TC_TRY(operand_value(b, op, mlirOperationGetOperand(op, i), &step->args[i]));
    step->bytes_read += tc__type_bytes(&b->values[step->args[i]].type);
  }
  int64_t offsets[TC_MAX_RANK + 4];
  size_t n_offsets = tc__get_ints(op, "tc.offsets", offsets, TC_COUNTOF(offsets));
  for (int i = 0; i < step->n_out; i++) {
    MlirValue result = mlirOperationGetResult(op, i);
    tc__plan_value value = {.kind = TC__VALUE_ARENA, .offset = (size_t)i < n_offsets ? offsets[i] : -1};
    TC_TRY(value_type(result, mlirOperationGetLocation(op), &value.type));
    TC_TRY(add_value(b, &value, &step->args[step->n_in + i]));
    TC_TRY(map_put(&b->map, result.ptr, step->args[step->n_in + i]));
    step->bytes_written += tc__type_bytes(&value.type);
  }
  step->unfused_read = step->bytes_read;
  step->unfused_written = step->bytes_written;
  return TC_OK;
}

static tc_status copy_attrs(builder *b, MlirOperation op, tc__attrs *out) {
  tc__op_attrs read;
  TC_TRY(tc__op_attrs_read(op, &read));
  tc__attr *items = tc__plan_alloc(&b->storage, sizeof *items * (read.attrs.count + 1));
  bool ok = items != NULL;
  for (size_t i = 0; ok && i < read.attrs.count; i++) {
    const tc__attr *from = &read.attrs.items[i];
    items[i] = *from;
    ok &= (items[i].name = tc__plan_strdup(&b->storage, from->name)) != NULL;
    if (from->s)
      ok &= (items[i].s = tc__plan_strdup(&b->storage, from->s)) != NULL;
    size_t bytes = from->count * sizeof(int64_t);
    if (from->ints) {
      int64_t *ints = tc__plan_alloc(&b->storage, bytes + 1);
      ok &= ints != NULL;
      if (ints)
        memcpy(ints, from->ints, bytes);
      items[i].ints = ints;
    }
    if (from->floats) {
      double *floats = tc__plan_alloc(&b->storage, bytes + 1);
      ok &= floats != NULL;
      if (floats)
        memcpy(floats, from->floats, bytes);
      items[i].floats = floats;
    }
  }
  *out = (tc__attrs){items, read.attrs.count};
  tc__op_attrs_free(&read);
  return ok ? TC_OK : tc__oom();
}

static tc_status add_constant(builder *b, MlirOperation op) {
  MlirValue result = mlirOperationGetResult(op, 0);
  MlirAttribute elements = mlirOperationGetAttributeByName(op, tc__sref("value"));
  tc__plan_value value = {.kind = TC__VALUE_CONST};
  if (!tc__type_from_mlir(mlirValueGetType(result), &value.type))
    return TC_OK; // a scalar: only kernels use those, and they hold their own
  TC_TRY(value_type(result, mlirOperationGetLocation(op), &value.type));
  void *data = tc__plan_alloc(&b->storage, (size_t)tc__type_bytes(&value.type) + 1);
  if (!data)
    return tc__oom();
  TC_TRY(tc__elements_read(elements, &(tc__buffer){value.type, data}, mlirOperationGetLocation(op)));
  value.data = data;
  int index;
  TC_TRY(add_value(b, &value, &index));
  return map_put(&b->map, result.ptr, index);
}

static tc_status add_kernel(builder *b, MlirOperation call, int *out) {
  MlirAttribute callee = mlirOperationGetAttributeByName(call, tc__sref("callee"));
  MlirStringRef name = mlirFlatSymbolRefAttrGetValue(callee);
  for (int i = 0; i < b->n_kernels; i++)
    if (same(name, b->kernels[i].name)) {
      *out = i;
      return TC_OK;
    }
  TC_TRY(grow((void **)&b->kernels, b->n_kernels, &b->kernels_capacity, sizeof *b->kernels));
  char *text = copy_text(b, name);
  if (!text)
    return tc__oom();
  b->kernels[b->n_kernels] = (tc__plan_kernel){.name = text};
  *out = b->n_kernels++;
  return TC_OK;
}

static tc_status add_call(builder *b, MlirOperation op) {
  tc__plan_step *step;
  TC_TRY(new_step(b, op, &step));
  step->kind = TC__STEP_KERNEL;
  TC_TRY(add_kernel(b, op, &step->kernel));
  TC_TRY(add_step_values(b, op, step));
  MlirOperation kernel = tc__find_func(b->module, b->kernels[step->kernel].name);
  if (mlirOperationIsNull(kernel))
    return tc__error_at(mlirOperationGetLocation(op), TC_ERR_INTERNAL, "no kernel function '%s'", b->kernels[step->kernel].name);
  MlirStringRef summary;
  if (tc__get_str(kernel, "tc.summary", &summary)) {
    char *text = copy_text(b, summary);
    if (!text)
      return tc__oom();
    step->summary = text;
  }
  step->unfused_read = tc__get_int(kernel, "tc.unfused_read", step->bytes_read);
  step->unfused_written = tc__get_int(kernel, "tc.unfused_write", step->bytes_written);
  step->flops = tc__get_int(kernel, "tc.flops", 0);
  return TC_OK;
}

static tc_status add_op(builder *b, MlirOperation op) {
  if (tc__op_is(op, "func.return"))
    return TC_OK;
  if (tc__op_is(op, "func.call"))
    return add_call(b, op);
  if (tc__op_is(op, "arith.constant") || tc__op_is(op, "tc.constant"))
    return add_constant(b, op);
  if (is_free_cast(op)) {
    int from, index;
    TC_TRY(operand_value(b, op, mlirOperationGetOperand(op, 0), &from));
    tc__plan_value value = {.kind = TC__VALUE_ALIAS, .index = from};
    MlirValue result = mlirOperationGetResult(op, 0);
    TC_TRY(value_type(result, mlirOperationGetLocation(op), &value.type));
    TC_TRY(add_value(b, &value, &index));
    return map_put(&b->map, result.ptr, index);
  }
  tc_op_kind kind = tc__op_kind(op);
  if (kind == TC_OP_COUNT) {
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    return tc__error_at(mlirOperationGetLocation(op), TC_ERR_UNSUPPORTED, "'%.*s' cannot run in the host function", (int)name.length,
                        name.data);
  }
  tc__plan_step *step;
  TC_TRY(new_step(b, op, &step));
  step->kind = TC__STEP_OP;
  step->op = kind;
  step->summary = tc__op_info_get(kind)->name;
  TC_TRY(copy_attrs(b, op, &step->attrs));
  return add_step_values(b, op, step);
}

static tc_status add_body(builder *b, MlirOperation func, MlirOperation *out_return) {
  MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
  for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
    TC_TRY(add_op(b, op));
    *out_return = op;
  }
  return TC_OK;
}

static int root_of(const builder *b, int value) {
  while (b->values[value].kind == TC__VALUE_ALIAS)
    value = (int)b->values[value].index;
  return value;
}

static int64_t align_up(int64_t v) { return (v + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static tc_status add_copy(builder *b, MlirOperation at, int from, int to) {
  tc__plan_step *step;
  TC_TRY(new_step(b, at, &step));
  step->kind = TC__STEP_COPY;
  step->summary = "copy";
  step->n_in = step->n_out = 1;
  if (!(step->args = tc__plan_alloc(&b->storage, 2 * sizeof *step->args)))
    return tc__oom();
  step->args[0] = from;
  step->args[1] = to;
  step->bytes_read = step->bytes_written = step->unfused_read = step->unfused_written = tc__type_bytes(&b->values[from].type);
  return TC_OK;
}

// What .prepare returns: computed values move to the prepared block; anything else is used where it is.
static tc_status bind_prepared(builder *b, MlirOperation ret) {
  b->n_prepared = (int)mlirOperationGetNumOperands(ret);
  if (!(b->prepared = tc__plan_alloc(&b->storage, sizeof *b->prepared * (size_t)(b->n_prepared + 1))))
    return tc__oom();
  for (int i = 0; i < b->n_prepared; i++) {
    TC_TRY(operand_value(b, ret, mlirOperationGetOperand(ret, i), &b->prepared[i]));
    tc__plan_value *root = &b->values[root_of(b, b->prepared[i])];
    if (root->kind != TC__VALUE_ARENA)
      continue;
    root->kind = TC__VALUE_PREPARED;
    root->offset = b->prepared_bytes;
    b->prepared_bytes = align_up(b->prepared_bytes + tc__type_bytes(&root->type));
  }
  return TC_OK;
}

static tc_status bind_outputs(builder *b, MlirOperation func, MlirOperation ret, tc__plan *plan) {
  plan->n_outputs = (int)mlirOperationGetNumOperands(ret);
  if (!(plan->outputs = tc__plan_alloc(&b->storage, sizeof *plan->outputs * (size_t)(plan->n_outputs + 1))))
    return tc__oom();
  for (int i = 0; i < plan->n_outputs; i++) {
    int value;
    TC_TRY(operand_value(b, ret, mlirOperationGetOperand(ret, i), &value));
    int root = root_of(b, value);
    if (b->values[root].kind == TC__VALUE_ARENA && b->values[root].offset < 0) {
      b->values[root].kind = TC__VALUE_OUTPUT;
      b->values[root].index = i;
    } else {
      int copy;
      TC_TRY(add_value(b, &(tc__plan_value){.type = b->values[value].type, .kind = TC__VALUE_OUTPUT, .index = i}, &copy));
      TC_TRY(add_copy(b, ret, value, copy));
      value = copy;
    }
    MlirStringRef text = tc__sref("");
    arg_attr_str(func, "res_attrs", i, "tc.name", &text);
    plan->outputs[i].value = value;
    if (!(plan->outputs[i].name = copy_text(b, text)))
      return tc__oom();
    if (arg_attr_str(func, "res_attrs", i, "tc.mutates", &text) && !(plan->outputs[i].mutates = copy_text(b, text)))
      return tc__oom();
  }
  return TC_OK;
}

// A value without a place in the arena (nothing returned it): give it one at the end.
static void place_rest(builder *b, int first, int64_t *arena_bytes) {
  for (int i = first; i < b->n_values; i++)
    if (b->values[i].kind == TC__VALUE_ARENA && b->values[i].offset < 0) {
      b->values[i].offset = align_up(*arena_bytes);
      *arena_bytes = b->values[i].offset + tc__type_bytes(&b->values[i].type);
    }
}

static void *keep(builder *b, const void *items, size_t bytes) {
  void *copy = tc__plan_alloc(&b->storage, bytes + 1);
  if (copy && bytes)
    memcpy(copy, items, bytes);
  return copy;
}

static tc_status build(builder *b, MlirOperation main, tc__plan *plan, step_list *prepare, step_list *steps) {
  MlirStringRef name = tc__sref("main");
  tc__get_str(main, "sym_name", &name);
  char prepare_name[512];
  snprintf(prepare_name, sizeof prepare_name, "%.*s.prepare", (int)name.length, name.data);
  MlirOperation prepare_func = tc__find_func(b->module, prepare_name), ret = {NULL};
  if (!mlirOperationIsNull(prepare_func)) {
    b->steps = prepare;
    TC_TRY(add_arguments(b, prepare_func, NULL));
    TC_TRY(add_body(b, prepare_func, &ret));
    TC_TRY(bind_prepared(b, ret));
    plan->prepare_arena_bytes = tc__get_int(prepare_func, "tc.arena", 0);
    place_rest(b, 0, &plan->prepare_arena_bytes);
  }
  int first = b->n_values;
  b->steps = steps;
  TC_TRY(add_arguments(b, main, plan));
  TC_TRY(add_body(b, main, &ret));
  TC_TRY(bind_outputs(b, main, ret, plan));
  plan->arena_bytes = tc__get_int(main, "tc.arena", 0);
  place_rest(b, first, &plan->arena_bytes);
  plan->prepared_bytes = b->prepared_bytes;
  plan->n_values = b->n_values;
  plan->n_kernels = b->n_kernels;
  plan->n_params = b->n_params;
  plan->n_prepare = prepare->count;
  plan->n_steps = steps->count;
  plan->values = keep(b, b->values, sizeof *b->values * (size_t)b->n_values);
  plan->kernels = keep(b, b->kernels, sizeof *b->kernels * (size_t)b->n_kernels);
  plan->params = keep(b, b->params, sizeof *b->params * (size_t)b->n_params);
  plan->prepare = keep(b, prepare->items, sizeof *prepare->items * (size_t)prepare->count);
  plan->steps = keep(b, steps->items, sizeof *steps->items * (size_t)steps->count);
  if (!plan->values || !plan->kernels || !plan->params || !plan->prepare || !plan->steps)
    return tc__oom();
  if (!mlirOperationIsNull(prepare_func))
    mlirOperationDestroy(prepare_func);
  mlirOperationDestroy(main);
  return TC_OK;
}

tc_status tc__plan_build(MlirModule module, tc__plan **out_plan) {
  *out_plan = NULL;
  builder b = {.module = mlirModuleGetOperation(module)};
  MlirOperation main = tc__find_func(b.module, "main");
  if (mlirOperationIsNull(main))
    main = tc__find_func(b.module, NULL);
  if (mlirOperationIsNull(main))
    return tc__error_at(mlirOperationGetLocation(b.module), TC_ERR_INVALID_ARGUMENT, "the module has no function with a body");
  tc__plan *plan = tc__plan_alloc(&b.storage, sizeof *plan);
  step_list prepare = {0}, steps = {0};
  tc_status status = plan ? build(&b, main, plan, &prepare, &steps) : tc__oom();
  tc__free(b.map.keys);
  tc__free(b.map.indices);
  tc__free(b.values);
  tc__free(b.kernels);
  tc__free(b.params);
  tc__free(prepare.items);
  tc__free(steps.items);
  if (status != TC_OK) {
    tc__plan local = {.storage = b.storage};
    tc__plan_destroy(&local);
    return status;
  }
  plan->storage = b.storage;
  *out_plan = plan;
  return TC_OK;
}

tc_status tc__plan_read_kernel(MlirOperation module, tc__plan *plan, int kernel) {
  MlirOperation func = tc__find_func(module, plan->kernels[kernel].name);
  if (mlirOperationIsNull(func))
    return tc__error_at(mlirOperationGetLocation(module), TC_ERR_INTERNAL, "kernel '%s' was lost while lowering", plan->kernels[kernel].name);
  plan->kernels[kernel].scratch_bytes = tc__get_int(func, "tc.scratch", 0);
  int64_t tasks = tc__get_int(func, "tc.tasks", 1), cost = tc__get_int(func, "tc.task_cost", -1);
  for (int list = 0; list < 2; list++) {
    tc__plan_step *steps = list ? plan->steps : plan->prepare;
    int n = list ? plan->n_steps : plan->n_prepare;
    for (int i = 0; i < n; i++)
      if (steps[i].kind == TC__STEP_KERNEL && steps[i].kernel == kernel) {
        steps[i].n_tasks = tasks;
        steps[i].task_cost = cost;
      }
  }
  return TC_OK;
}
