// Running ops at once on real tensors, and recording them while a function is traced.
#include "trace.h"

#include "runtime/interp/interp.h"

#include <stdio.h>

enum { MAX_OPERANDS = 64, SMALL_CONSTANT_BYTES = 1024 };

struct tc__trace {
  tc__model *model;
  MlirBlock block;
  tc_tensor **captured; // parallel to model->params
  size_t capacity;
  bool failed;
};

static _Thread_local tc__trace *active_trace;

static tc_status fail(const char *file, int line, tc_op_kind kind, tc_status status, const char *message) {
  char where[512];
  snprintf(where, sizeof where, "%s:%d", file, line);
  if (active_trace)
    active_trace->failed = true;
  return tc__error(status, where, "%s: %s", tc__op_info_get(kind)->name, message);
}

static tc_tensor *value_tensor(tc__trace *trace, MlirValue value) {
  tc__buffer buffer = {0};
  if (!tc__type_from_mlir(mlirValueGetType(value), &buffer.type))
    return NULL;
  tc_tensor *tensor = tc__tensor_from_buffer(&buffer, false);
  if (tensor) {
    tensor->trace = trace;
    tensor->value = value;
  }
  return tensor;
}

// A real tensor used while tracing: a literal when small, else a parameter of the model.
static MlirValue capture(tc__trace *trace, tc_tensor *tensor, tc__builder *b) {
  const tc__type *type = &tensor->buffer.type;
  MlirType mlir_type = tc__type_to_mlir(trace->model->ctx, type);
  MlirValue none = {NULL};
  if (tc__type_bytes(type) <= SMALL_CONSTANT_BYTES) {
    MlirAttribute elements;
    if (type->dtype == TC_BOOL) { // one int an element here, packed in the attribute
      int values[SMALL_CONSTANT_BYTES];
      int64_t n = tc__type_elements(type);
      for (int64_t i = 0; i < n; i++)
        values[i] = ((const uint8_t *)tensor->buffer.data)[i];
      elements = mlirDenseElementsAttrBoolGet(mlir_type, n, values);
    } else {
      elements = mlirDenseElementsAttrRawBufferGet(mlir_type, (size_t)tc__type_bytes(type), tensor->buffer.data);
    }
    MlirNamedAttribute attr = tc__named(trace->model->ctx, "value", elements);
    return tc__build_tc1(b, TC_OP_constant, NULL, 0, &attr, 1);
  }
  for (size_t i = 0; i < trace->model->n_params; i++)
    if (trace->captured[i] == tensor)
      return mlirBlockGetArgument(trace->block, (intptr_t)i + mlirBlockGetNumArguments(trace->block) - (intptr_t)trace->model->n_params);
  tc__model *model = trace->model;
  if (model->n_params == trace->capacity) {
    size_t capacity = trace->capacity ? trace->capacity * 2 : 16;
    void *params = tc__realloc(model->params, capacity * sizeof *model->params);
    if (params)
      model->params = params;
    void *captured = tc__realloc(trace->captured, capacity * sizeof *trace->captured);
    if (captured)
      trace->captured = captured;
    if (!params || !captured) {
      tc__oom();
      return none;
    }
    trace->capacity = capacity;
  }
  char name[48];
  snprintf(name, sizeof name, "captured%zu", model->n_params);
  char *copy = tc__strdup(name);
  if (!copy) {
    tc__oom();
    return none;
  }
  trace->captured[model->n_params] = tc_tensor_retain(tensor);
  model->params[model->n_params++] = (tc__model_param){.name = copy, .value = tensor->buffer};
  return mlirBlockAddArgument(trace->block, mlir_type, b->loc);
}

// PyTorch's promotion, among bool < integers < floats: numbers (is_scalar) yield to tensors of their own or a higher category.
static int category(tc_dtype dtype) { return tc_dtype_is_float(dtype) ? 2 : dtype != TC_BOOL; }

static tc_dtype promote(tc_dtype a, tc_dtype b) {
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  if (category(a) == 2)
    return tc_dtype_size(a) == tc_dtype_size(b) ? TC_F32 : tc_dtype_size(a) > tc_dtype_size(b) ? a : b; // f16 with bf16: f32
  if (tc_dtype_size(a) == tc_dtype_size(b))
    return TC_I16; // i8 with ui8
  return tc_dtype_size(a) > tc_dtype_size(b) ? a : b;
}

static bool promotes(tc_op_family family) {
  return family == TC_FAMILY_BINARY || family == TC_FAMILY_COMPARE || family == TC_FAMILY_LOGICAL || family == TC_FAMILY_BITWISE;
}

static tc_tensor *cast(tc_tensor *x, tc_dtype dtype, const char *file, int line) {
  if (!x || x->buffer.type.dtype == dtype)
    return x;
  tc__attr attr = {.name = "dtype", .kind = TC__ATTR_DTYPE, .i = dtype};
  return tc__trace_op(TC_OP_cast, &x, 1, &(tc__attrs){&attr, 1}, NULL, file, line);
}

static MlirAttribute to_mlir_attr(MlirContext ctx, const tc__attr *attr) {
  switch (attr->kind) {
  case TC__ATTR_INT:
    return tc__attr_i64(ctx, attr->i);
  case TC__ATTR_BOOL:
    return tc__attr_bool(ctx, attr->i != 0);
  case TC__ATTR_FLOAT:
    return tc__attr_f64(ctx, attr->f);
  case TC__ATTR_STR:
    return tc__attr_str(ctx, attr->s);
  case TC__ATTR_INTS:
    return tc__attr_ints(ctx, attr->ints, attr->count);
  case TC__ATTR_FLOATS:
    return tc__attr_floats(ctx, attr->floats, attr->count);
  case TC__ATTR_DTYPE:
    return tc__attr_dtype(ctx, (tc_dtype)attr->i);
  default:
    return (MlirAttribute){NULL};
  }
}

static tc_tensor *record(tc__trace *trace, tc_op_kind kind, tc_tensor *const *operands, size_t n, const tc__attrs *attrs,
                         tc_tensor **out_second, const char *file, int line) {
  MlirContext ctx = trace->model->ctx;
  tc__builder b = tc__builder_at_end(trace->block, mlirLocationFileLineColGet(ctx, tc__sref(file), (unsigned)line, 1));
  MlirValue values[MAX_OPERANDS];
  for (size_t i = 0; i < n; i++) {
    if (operands[i]->trace && operands[i]->trace != trace) {
      fail(file, line, kind, TC_ERR_INVALID_ARGUMENT, "an operand belongs to another traced function");
      return NULL;
    }
    values[i] = operands[i]->trace ? operands[i]->value : capture(trace, operands[i], &b);
    if (mlirValueIsNull(values[i])) {
      trace->failed = true;
      return NULL;
    }
  }
  MlirNamedAttribute named[TC__MAX_FIELDS];
  for (size_t i = 0; i < attrs->count; i++)
    named[i] = tc__named(ctx, attrs->items[i].name, to_mlir_attr(ctx, &attrs->items[i]));
  MlirOperation op = tc__build_tc(&b, kind, values, n, named, attrs->count);
  if (mlirOperationIsNull(op)) {
    trace->failed = true;
    return NULL;
  }
  if (out_second)
    *out_second = tc__scope_add(value_tensor(trace, mlirOperationGetResult(op, 1)));
  return tc__scope_add(value_tensor(trace, mlirOperationGetResult(op, 0)));
}

static tc_tensor *run(tc_op_kind kind, tc_tensor *const *operands, size_t n, const tc__attrs *attrs, tc_tensor **out_second,
                      const char *file, int line) {
  tc__type types[MAX_OPERANDS], results[2];
  tc__buffer ins[MAX_OPERANDS], outs[2];
  size_t n_results = 0;
  char message[256];
  for (size_t i = 0; i < n; i++) {
    ins[i] = operands[i]->buffer;
    types[i] = ins[i].type;
  }
  tc_status status = tc__op_infer(kind, types, n, attrs, results, &n_results, message, sizeof message);
  if (status != TC_OK) {
    fail(file, line, kind, status, message);
    return NULL;
  }
  tc_tensor *made[2] = {NULL, NULL};
  for (size_t i = 0; i < n_results; i++) {
    if (tc_tensor_create(results[i].dtype, results[i].rank, results[i].shape, &made[i]) != TC_OK) {
      tc_tensor_release(made[0]);
      return NULL;
    }
    outs[i] = made[i]->buffer;
  }
  status = tc__interp_run(kind, ins, n, outs, n_results, attrs);
  if (status != TC_OK) {
    snprintf(message, sizeof message, "%s", tc_last_error());
    fail(file, line, kind, status, message);
    tc_tensor_release(made[0]);
    tc_tensor_release(made[1]);
    return NULL;
  }
  if (out_second)
    *out_second = tc__scope_add(made[1]);
  else
    tc_tensor_release(made[1]);
  return tc__scope_add(made[0]);
}

tc_tensor *tc__trace_op(tc_op_kind kind, tc_tensor *const *given, size_t n, const tc__attrs *attrs, tc_tensor **out_second, const char *file,
                        int line) {
  const tc__op_info *info = tc__op_info_get(kind);
  if (out_second)
    *out_second = NULL;
  while (n > 0 && !given[n - 1] && (int)n <= info->n_operands && info->operands[n - 1].optional)
    n--;
  tc_tensor *operands[MAX_OPERANDS];
  if (n > MAX_OPERANDS) {
    fail(file, line, kind, TC_ERR_INVALID_ARGUMENT, "more than 64 operands");
    return NULL;
  }
  bool traced = active_trace != NULL;
  for (size_t i = 0; i < n; i++) {
    if (!(operands[i] = given[i]))
      return NULL; // the error was reported where the NULL came from
    if (operands[i]->trace && operands[i]->trace != active_trace) {
      fail(file, line, kind, TC_ERR_INVALID_ARGUMENT, "an operand is a value of a function that is no longer being traced");
      return NULL;
    }
  }
  if (promotes(info->family) && n == 2) {
    tc_dtype a = operands[0]->buffer.type.dtype, b = operands[1]->buffer.type.dtype, common = promote(a, b);
    if (operands[0]->is_scalar != operands[1]->is_scalar) {
      tc_dtype number = operands[0]->is_scalar ? a : b, tensor = operands[0]->is_scalar ? b : a;
      common = category(number) <= category(tensor) ? tensor : number;
    }
    if (kind == TC_OP_div && category(common) < 2)
      common = TC_F32;
    operands[0] = cast(operands[0], common, file, line);
    operands[1] = cast(operands[1], common, file, line);
    if (!operands[0] || !operands[1])
      return NULL;
  }
  return traced ? record(active_trace, kind, operands, n, attrs, out_second, file, line)
                : run(kind, operands, n, attrs, out_second, file, line);
}

tc_tensor *tc__trace_too_many(tc_op_kind kind, size_t n, const char *file, int line) {
  char message[64];
  snprintf(message, sizeof message, "%zu operands: at most 64", n);
  fail(file, line, kind, TC_ERR_INVALID_ARGUMENT, message);
  return NULL;
}

// ---- tracing a function ------------------------------------------------------------------------------------------------------------------

tc_tensor *tc__call_fn(void (*fn)(void), tc_tensor *const *x, size_t n) {
  switch (n) {
  case 1:
    return ((tc_tensor * (*)(tc_tensor *)) fn)(x[0]);
  case 2:
    return ((tc_tensor * (*)(tc_tensor *, tc_tensor *)) fn)(x[0], x[1]);
  case 3:
    return ((tc_tensor * (*)(tc_tensor *, tc_tensor *, tc_tensor *)) fn)(x[0], x[1], x[2]);
  default:
    return ((tc_tensor * (*)(tc_tensor *, tc_tensor *, tc_tensor *, tc_tensor *)) fn)(x[0], x[1], x[2], x[3]);
  }
}

static void release_captured(void *storage) {
  tc_tensor **captured = storage;
  for (size_t i = 0; captured && captured[i]; i++)
    tc_tensor_release(captured[i]);
  tc__free(captured);
}

static MlirAttribute kind_and_name(MlirContext ctx, const char *kind, const char *name) {
  MlirNamedAttribute attrs[2] = {tc__named(ctx, "tc.kind", tc__attr_str(ctx, kind)), tc__named(ctx, "tc.name", tc__attr_str(ctx, name))};
  return mlirDictionaryAttrGet(ctx, 2, attrs);
}

// The function's attributes, once all of its arguments are known.
static tc_status finish_function(tc__trace *trace, size_t n_inputs, tc_tensor *result) {
  MlirContext ctx = trace->model->ctx;
  size_t n_args = n_inputs + trace->model->n_params;
  MlirType *types = tc__alloc(sizeof *types * (n_args + 1));
  MlirAttribute *dicts = tc__alloc(sizeof *dicts * (n_args + 1));
  if (!types || !dicts) {
    tc__free(types);
    tc__free(dicts);
    return tc__oom();
  }
  for (size_t i = 0; i < n_args; i++) {
    char name[48];
    snprintf(name, sizeof name, "x%zu", i);
    types[i] = mlirValueGetType(mlirBlockGetArgument(trace->block, (intptr_t)i));
    dicts[i] = i < n_inputs ? kind_and_name(ctx, "input", name) : kind_and_name(ctx, "constant", trace->model->params[i - n_inputs].name);
  }
  MlirType out = mlirValueGetType(result->value);
  MlirOperation func = mlirBlockGetParentOperation(trace->block);
  mlirOperationSetAttributeByName(func, tc__sref("function_type"),
                                  mlirTypeAttrGet(mlirFunctionTypeGet(ctx, (intptr_t)n_args, types, 1, &out)));
  mlirOperationSetAttributeByName(func, tc__sref("arg_attrs"), mlirArrayAttrGet(ctx, (intptr_t)n_args, dicts));
  tc__free(types);
  tc__free(dicts);
  tc__builder b = tc__builder_at_end(trace->block, mlirOperationGetLocation(func));
  tc__build(&b, "func.return", &result->value, 1, NULL, 0, NULL, 0, NULL, 0);
  return TC_OK;
}

static tc_status trace_into(tc__trace *trace, void (*fn)(void), const tc__type *inputs, size_t n_inputs) {
  tc__model *model = trace->model;
  model->ctx = tc__context_create();
  if (mlirContextIsNull(model->ctx) || !(model->name = tc__strdup("traced")))
    return tc__oom();
  MlirLocation loc = mlirLocationUnknownGet(model->ctx);
  model->module = mlirModuleCreateEmpty(loc);
  MlirRegion region = mlirRegionCreate();
  trace->block = mlirBlockCreate(0, NULL, NULL);
  mlirRegionAppendOwnedBlock(region, trace->block);
  MlirNamedAttribute attrs[2] = {tc__named(model->ctx, "sym_name", tc__attr_str(model->ctx, "main")),
                                 tc__named(model->ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(model->ctx, 0, NULL, 0, NULL)))};
  tc__builder b = tc__builder_at_end(mlirModuleGetBody(model->module), loc);
  tc__build(&b, "func.func", NULL, 0, NULL, 0, attrs, 2, &region, 1);

  tc_tensor *args[4] = {0};
  tc_scope scope = tc_scope_open();
  tc_status status = TC_OK;
  for (size_t i = 0; i < n_inputs && status == TC_OK; i++) {
    MlirValue arg = mlirBlockAddArgument(trace->block, tc__type_to_mlir(model->ctx, &inputs[i]), loc);
    if (!(args[i] = tc__scope_add(value_tensor(trace, arg))))
      status = TC_ERR_OUT_OF_MEMORY;
  }
  tc__trace *outer = active_trace;
  active_trace = trace;
  tc_tensor *result = status == TC_OK ? tc__call_fn(fn, args, n_inputs) : NULL;
  if (status == TC_OK && result && !result->trace) // a constant function
    result = tc__trace_op(TC_OP_cast, &result, 1,
                          &(tc__attrs){&(tc__attr){.name = "dtype", .kind = TC__ATTR_DTYPE, .i = result->buffer.type.dtype}, 1}, NULL,
                          __FILE__, __LINE__);
  active_trace = outer;
  if (status == TC_OK && (trace->failed || !result))
    status = trace->failed ? TC_ERR_COMPILE
                           : tc__error(TC_ERR_INVALID_ARGUMENT, NULL, "the traced function returned NULL without an error of an op");
  if (status == TC_OK)
    status = finish_function(trace, n_inputs, result);
  tc_scope_close(scope);
  return status;
}

tc_status tc__trace_function(void (*fn)(void), const tc__type *inputs, size_t n_inputs, tc__model **out_model) {
  *out_model = NULL;
  tc__trace trace = {.model = tc__calloc(1, sizeof(tc__model))};
  if (!trace.model)
    return tc__oom();
  tc_status status = trace_into(&trace, fn, inputs, n_inputs);
  // The captured tensors live as long as the model: a NULL-terminated list.
  if (trace.captured) {
    tc_tensor **list = tc__realloc(trace.captured, (trace.model->n_params + 1) * sizeof *list);
    if (list) {
      list[trace.model->n_params] = NULL;
      trace.model->storage = list;
      trace.model->destroy_storage = release_captured;
    } else {
      tc__free(trace.captured);
      status = tc__oom();
    }
  }
  if (status != TC_OK) {
    tc__model_destroy(trace.model);
    return status;
  }
  *out_model = trace.model;
  return TC_OK;
}
