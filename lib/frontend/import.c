// Walking an ExportedProgram's graph. In-place ops rebind the names that share the storage; what the program mutates comes back as further results.
#include "import.h"

#include <stdio.h>

typedef MlirValue V;

void tc__import_fail(tc__import *p, tc_status status, const char *fmt, ...) {
  if (p->status != TC_OK)
    return;
  tc__str text = {0};
  va_list args;
  va_start(args, fmt);
  tc__str_vprintf(&text, fmt, args);
  va_end(args);
  p->status = p->node ? tc__error(status, p->file, "node %zu (%s%s%s%s): %s", p->index, p->op, *p->place ? ", " : "", p->place, "", text.data ? text.data : "")
                      : tc__error(status, p->file, "%s", text.data ? text.data : "");
  tc__str_free(&text);
}

// ---- names ------------------------------------------------------------------------------------------------------------------------------------------

static tc__import_name *find(tc__import *p, const char *name) {
  for (size_t i = p->n_names; i-- > 0;) // most uses are near
    if (strcmp(p->names[i].name, name) == 0)
      return &p->names[i];
  return NULL;
}

static tc__import_name *define(tc__import *p, const char *name) {
  if (p->n_names == p->capacity) {
    size_t capacity = p->capacity ? p->capacity * 2 : 256;
    tc__import_name *names = tc__realloc(p->names, capacity * sizeof *names);
    if (!names) {
      tc__import_fail(p, TC_ERR_OUT_OF_MEMORY, "out of memory");
      return NULL;
    }
    p->names = names;
    p->capacity = capacity;
  }
  tc__import_name *n = &p->names[p->n_names++];
  *n = (tc__import_name){.name = name, .alias = p->n_aliases++, .whole = true};
  return n;
}

// ---- arguments --------------------------------------------------------------------------------------------------------------------------------------

const json_t *tc__import_arg(tc__import *p, const char *name) {
  json_t *inputs = json_object_get(p->node, "inputs"), *entry;
  size_t i;
  json_array_foreach(inputs, i, entry) {
    const char *n = json_string_value(json_object_get(entry, "name"));
    if (!n || strcmp(n, name) != 0)
      continue;
    json_t *arg = json_object_get(entry, "arg");
    return json_object_get(arg, "as_none") ? NULL : arg;
  }
  return NULL;
}

static V tensor_named(tc__import *p, const json_t *ref) {
  const char *name = json_string_value(json_object_get(ref, "name"));
  tc__import_name *n = name ? find(p, name) : NULL;
  if (!n) {
    tc__import_fail(p, TC_ERR_PARSE, "no value '%s'", name ? name : "?");
    return (V){NULL};
  }
  if (mlirValueIsNull(n->value))
    return tc__import_scalar(p, n->number, n->number == (double)(int64_t)n->number ? TC_I64 : TC_F32);
  return n->value;
}

V tc__import_tensor_or(tc__import *p, const char *name) {
  const json_t *arg = tc__import_arg(p, name), *ref = json_object_get(arg, "as_tensor");
  if (!ref)
    ref = json_object_get(json_object_get(arg, "as_optional_tensor"), "as_tensor");
  return ref ? tensor_named(p, ref) : (V){NULL};
}

V tc__import_tensor(tc__import *p, const char *name) {
  V v = tc__import_tensor_or(p, name);
  if (mlirValueIsNull(v))
    tc__import_fail(p, TC_ERR_PARSE, "argument '%s': expected a tensor", name);
  return v;
}

size_t tc__import_tensors(tc__import *p, const char *name, V *out, size_t max) {
  const json_t *arg = tc__import_arg(p, name), *list = json_object_get(arg, "as_tensors");
  bool optional = !list;
  if (!list)
    list = json_object_get(arg, "as_optional_tensors");
  size_t n = json_array_size(list);
  if (!json_is_array(list) || n > max) {
    tc__import_fail(p, TC_ERR_PARSE, "argument '%s': expected a list of at most %zu tensors", name, max);
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    const json_t *entry = json_array_get(list, i), *ref = optional ? json_object_get(entry, "as_tensor") : entry;
    out[i] = ref ? tensor_named(p, ref) : (V){NULL};
  }
  return n;
}

// A number written as such, or the name of one.
static bool number_of(tc__import *p, const json_t *arg, double *out) {
  static const char *const keys[] = {"as_int", "as_float", "as_number"};
  for (size_t i = 0; i < TC_COUNTOF(keys); i++) {
    const json_t *v = json_object_get(arg, keys[i]);
    if (v)
      return tc__json_number(v, out);
  }
  const json_t *b = json_object_get(arg, "as_bool");
  if (b) {
    *out = json_is_true(b);
    return true;
  }
  static const char *const symbolic[] = {"as_sym_int", "as_sym_float", "as_sym_bool"};
  for (size_t i = 0; i < TC_COUNTOF(symbolic); i++) {
    const json_t *s = json_object_get(arg, symbolic[i]);
    if (!s)
      continue;
    if (number_of(p, s, out))
      return true;
    const char *name = json_string_value(json_object_get(s, "as_name"));
    tc__import_name *n = name ? find(p, name) : NULL;
    if (n && mlirValueIsNull(n->value)) {
      *out = n->number;
      return true;
    }
  }
  const char *name = json_string_value(json_object_get(arg, "as_name"));
  tc__import_name *n = name ? find(p, name) : NULL;
  if (n && mlirValueIsNull(n->value)) {
    *out = n->number;
    return true;
  }
  return false;
}

double tc__import_float(tc__import *p, const char *name, double otherwise) {
  const json_t *arg = tc__import_arg(p, name);
  double v;
  if (!arg)
    return otherwise;
  if (!number_of(p, arg, &v)) {
    tc__import_fail(p, TC_ERR_PARSE, "argument '%s': expected a number", name);
    return otherwise;
  }
  return v;
}

int64_t tc__import_int(tc__import *p, const char *name, int64_t otherwise) {
  const json_t *arg = tc__import_arg(p, name);
  int64_t exact;
  if (arg && tc__json_int(json_object_get(arg, "as_int"), &exact))
    return exact;
  double v = tc__import_float(p, name, (double)otherwise);
  return arg ? (v >= 9.2e18 ? INT64_MAX : v <= -9.2e18 ? INT64_MIN : (int64_t)v) : otherwise;
}

bool tc__import_bool(tc__import *p, const char *name, bool otherwise) { return tc__import_float(p, name, otherwise) != 0; }

const char *tc__import_str(tc__import *p, const char *name, const char *otherwise) {
  const char *s = json_string_value(json_object_get(tc__import_arg(p, name), "as_string"));
  return s ? s : otherwise;
}

size_t tc__import_ints(tc__import *p, const char *name, int64_t *out, size_t max) {
  const json_t *arg = tc__import_arg(p, name);
  if (!arg)
    return 0;
  const json_t *list = json_object_get(arg, "as_ints");
  bool symbolic = !list;
  if (!list)
    list = json_object_get(arg, "as_sym_ints");
  double v;
  if (!list && number_of(p, arg, &v)) {
    out[0] = (int64_t)v;
    return 1;
  }
  size_t n = json_array_size(list);
  if (!json_is_array(list) || n > max) {
    tc__import_fail(p, TC_ERR_PARSE, "argument '%s': expected a list of at most %zu integers", name, max);
    return 0;
  }
  for (size_t i = 0; i < n; i++) {
    const json_t *e = json_array_get(list, i);
    if (!symbolic && tc__json_int(e, &out[i]))
      continue;
    if (!symbolic || !number_of(p, e, &v)) {
      tc__import_fail(p, TC_ERR_PARSE, "argument '%s': entry %zu is no integer", name, i);
      return 0;
    }
    out[i] = (int64_t)v;
  }
  return n;
}

// ---- types ------------------------------------------------------------------------------------------------------------------------------------------

bool tc__import_dtype_code(int64_t code, tc_dtype *out) {
  static const int map[] = {-1, TC_U8, TC_I8, TC_I16, TC_I32, TC_I64, TC_F16, TC_F32, TC_F64, -1, -1, -1, TC_BOOL, TC_BF16};
  if (code < 0 || code >= (int64_t)TC_COUNTOF(map) || map[code] < 0)
    return false;
  *out = (tc_dtype)map[code];
  return true;
}

static bool size_of(const json_t *size, int64_t *out) {
  if (tc__json_int(json_object_get(size, "as_int"), out))
    return true;
  const json_t *expr = json_object_get(size, "as_expr"), *hint = json_object_get(expr, "hint");
  return tc__json_int(hint, out) || tc__json_int(json_object_get(hint, "as_int"), out);
}

static bool meta_type(tc__import *p, const char *name, tc__type *out) {
  const json_t *meta = json_object_get(json_object_get(p->graph, "tensor_values"), name);
  const json_t *sizes = json_object_get(meta, "sizes");
  int64_t code;
  if (!json_is_array(sizes) || json_array_size(sizes) > TC_MAX_RANK || !tc__json_int(json_object_get(meta, "dtype"), &code) ||
      !tc__import_dtype_code(code, &out->dtype))
    return false;
  out->rank = (int)json_array_size(sizes);
  for (int i = 0; i < out->rank; i++)
    if (!size_of(json_array_get(sizes, (size_t)i), &out->shape[i]) || out->shape[i] < 0)
      return false;
  return true;
}

static const char *output_name(tc__import *p, size_t i) {
  const json_t *outputs = json_object_get(p->node, "outputs"), *first = json_array_get(outputs, 0), *list = json_object_get(first, "as_tensors");
  const json_t *o = list ? json_array_get(list, i) : json_array_get(outputs, i);
  if (!list && json_object_get(o, "as_tensor"))
    o = json_object_get(o, "as_tensor");
  else if (!list)
    for (int k = 0; k < 3; k++) {
      static const char *const kinds[] = {"as_sym_int", "as_sym_float", "as_sym_bool"};
      const json_t *s = json_object_get(o, kinds[k]);
      if (s)
        return json_string_value(json_object_get(s, "as_name"));
    }
  return json_string_value(json_object_get(o, "name"));
}

bool tc__import_meta(tc__import *p, size_t i, tc__type *out) {
  const char *name = output_name(p, i);
  return name && meta_type(p, name, out);
}

tc__type tc__import_type(V v) {
  tc__type t = {.dtype = TC_F32};
  if (!mlirValueIsNull(v))
    tc__value_type(v, &t);
  return t;
}

// ---- building ---------------------------------------------------------------------------------------------------------------------------------------

V tc__import_op(tc__import *p, tc_op_kind kind, const V *operands, size_t n, const MlirNamedAttribute *attrs, size_t n_attrs) {
  V none = {NULL};
  if (p->status != TC_OK)
    return none;
  while (n > 0 && mlirValueIsNull(operands[n - 1])) // trailing optional operands
    n--;
  for (size_t i = 0; i < n; i++)
    if (mlirValueIsNull(operands[i])) {
      tc__import_fail(p, TC_ERR_UNSUPPORTED, "operand %zu is missing before a given one", i);
      return none;
    }
  V v = tc__build_tc1(&p->b, kind, operands, n, attrs, n_attrs);
  if (mlirValueIsNull(v)) {
    char reason[512];
    snprintf(reason, sizeof reason, "%s", tc_last_error());
    tc__import_fail(p, TC_ERR_VERIFY, "%s", reason);
  }
  return v;
}

V tc__import_cast(tc__import *p, V v, tc_dtype dtype) {
  if (mlirValueIsNull(v) || tc__import_type(v).dtype == dtype)
    return v;
  MlirNamedAttribute attr = tc__named(p->b.ctx, "dtype", tc__attr_dtype(p->b.ctx, dtype));
  return tc__import_op(p, TC_OP_cast, &v, 1, &attr, 1);
}

V tc__import_scalar(tc__import *p, double v, tc_dtype dtype) {
  bool whole = !tc_dtype_is_float(dtype);
  MlirNamedAttribute attrs[3] = {tc__named(p->b.ctx, "shape", tc__attr_ints(p->b.ctx, NULL, 0)),
                                 tc__named(p->b.ctx, "value", whole ? tc__attr_i64(p->b.ctx, (int64_t)v) : tc__attr_f64(p->b.ctx, v)),
                                 tc__named(p->b.ctx, "dtype", tc__attr_dtype(p->b.ctx, dtype))};
  return tc__import_op(p, TC_OP_full, NULL, 0, attrs, 3);
}

V tc__import_reshape(tc__import *p, V v, const int64_t *shape, size_t n) {
  MlirNamedAttribute attr = tc__named(p->b.ctx, "shape", tc__attr_ints(p->b.ctx, shape, n));
  return tc__import_op(p, TC_OP_reshape, &v, 1, &attr, 1);
}

// ---- results ----------------------------------------------------------------------------------------------------------------------------------------

static tc__import_name *arg_name(tc__import *p, const char *arg) {
  const char *name = json_string_value(json_object_get(json_object_get(tc__import_arg(p, arg), "as_tensor"), "name"));
  return name ? find(p, name) : NULL;
}

// A write to self's storage: every name that sees all of it takes the new value.
static void write_self(tc__import *p, size_t i, V v) {
  tc__import_name *self = arg_name(p, "self");
  if (!self || mlirValueIsNull(v))
    return;
  tc__type t = tc__import_type(self->value), got = tc__import_type(v);
  v = tc__import_cast(p, v, t.dtype);
  bool same = got.rank == t.rank && memcmp(got.shape, t.shape, sizeof *t.shape * (size_t)t.rank) == 0;
  if (!same) {
    MlirNamedAttribute attr = tc__named(p->b.ctx, "shape", tc__attr_ints(p->b.ctx, t.shape, (size_t)t.rank));
    v = tc__import_op(p, TC_OP_broadcast, &v, 1, &attr, 1);
  }
  size_t alias = self->alias;
  for (size_t k = 0; k < p->n_names; k++) {
    if (p->names[k].alias != alias)
      continue;
    if (!p->names[k].whole || !self->whole) {
      tc__import_fail(p, TC_ERR_UNSUPPORTED, "in-place '%s' on a view that other values share ('%s')", p->op, p->names[k].name);
      return;
    }
    tc__type u = tc__import_type(p->names[k].value);
    p->names[k].value = tc__type_equal(&u, &t) ? v : tc__import_reshape(p, v, u.shape, (size_t)u.rank);
  }
  const char *name = output_name(p, i);
  tc__import_name *n = name ? define(p, name) : NULL;
  if (n) {
    n->value = v;
    n->alias = alias;
  }
}

void tc__import_out(tc__import *p, size_t i, V v) {
  if (p->status != TC_OK)
    return;
  if (p->in_place && i == 0) {
    write_self(p, i, v);
    return;
  }
  const char *name = output_name(p, i);
  tc__type meta, got = tc__import_type(v);
  if (!name)
    return; // not used
  if (meta_type(p, name, &meta) && !tc__type_equal(&meta, &got)) {
    char want[160], found[160];
    tc__import_fail(p, TC_ERR_INTERNAL, "result %zu: the file says %s, the importer made %s", i, tc__type_format(&meta, want, sizeof want),
                    tc__type_format(&got, found, sizeof found));
    return;
  }
  tc__import_name *n = define(p, name);
  if (n)
    n->value = v;
}

void tc__import_out_number(tc__import *p, size_t i, double v) {
  const char *name = output_name(p, i);
  tc__import_name *n = name && p->status == TC_OK ? define(p, name) : NULL;
  if (n)
    n->number = v;
}

void tc__import_out_view(tc__import *p, size_t i, V v, const char *base, bool whole) {
  const tc__import_name *b = arg_name(p, base);
  size_t alias = b ? b->alias : 0;
  whole &= b && b->whole;
  bool known = b != NULL;
  size_t before = p->n_names;
  tc__import_out(p, i, v);
  if (known && p->n_names > before) {
    p->names[p->n_names - 1].alias = alias;
    p->names[p->n_names - 1].whole = whole;
  }
}

// ---- the walk ---------------------------------------------------------------------------------------------------------------------------------------

// The last "File "path", line N" of a stack trace: the innermost frame.
static void read_location(tc__import *p) {
  const char *trace = json_string_value(json_object_get(json_object_get(p->node, "metadata"), "stack_trace"));
  const char *name = json_string_value(json_object_get(p->node, "name"));
  p->b.loc = mlirLocationUnknownGet(p->b.ctx);
  p->place[0] = 0;
  const char *last = NULL;
  for (const char *at = trace; at && (at = strstr(at, "File \"")); at += 6)
    last = at;
  if (last) {
    const char *path = last + 6, *end = strchr(path, '"'), *line = end ? strstr(end, "line ") : NULL;
    if (line) {
      const char *file = end;
      while (file > path && file[-1] != '/')
        file--;
      char text[160];
      snprintf(text, sizeof text, "%.*s", (int)(end - file), file);
      snprintf(p->place, sizeof p->place, "%s:%d", text, atoi(line + 5));
      p->b.loc = mlirLocationFileLineColGet(p->b.ctx, tc__sref(text), (unsigned)atoi(line + 5), 0);
    }
  }
  if (name)
    p->b.loc = mlirLocationNameGet(p->b.ctx, tc__sref(name), p->b.loc);
}

// "torch.ops.aten.add_.Tensor" -> "add", "Tensor", in place
static void split_target(tc__import *p, const char *target) {
  static const char *const prefixes[] = {"torch.ops.aten.", "torch.ops.", "_operator."};
  const char *at = target;
  for (size_t i = 0; i < TC_COUNTOF(prefixes); i++)
    if (strncmp(target, prefixes[i], strlen(prefixes[i])) == 0) {
      at = target + (i == 2 ? 1 : strlen(prefixes[i])); // "operator.add" keeps its module
      break;
    }
  snprintf(p->op, sizeof p->op, "%s", at);
  char *dot = strrchr(p->op, '.');
  p->overload[0] = 0;
  if (dot && strncmp(at, "operator.", 9) != 0) {
    snprintf(p->overload, sizeof p->overload, "%s", dot + 1);
    *dot = 0;
  }
  size_t n = strlen(p->op);
  p->in_place = n > 2 && p->op[n - 1] == '_' && p->op[n - 2] != '_';
  if (p->in_place)
    p->op[n - 1] = 0;
}

static bool is_ignored(const tc__import *p) {
  static const char *const names[] = {"_assert_tensor_metadata", "_assert_scalar", "sym_constrain_range_for_size", "sym_constrain_range", "_assert_async"};
  for (size_t i = 0; i < TC_COUNTOF(names); i++)
    if (strcmp(p->op, names[i]) == 0)
      return true;
  return false;
}

// All missing ops at once, each with its count and first place.
static tc_status check_ops(tc__import *p, const json_t *nodes) {
  typedef struct missing {
    char name[128], place[192];
    size_t count;
  } missing;
  missing *list = NULL;
  size_t n = 0, i;
  json_t *node;
  json_array_foreach(nodes, i, node) {
    const char *target = json_string_value(json_object_get(node, "target"));
    int kind;
    p->node = node;
    p->index = i;
    if (!target)
      return tc__error(TC_ERR_PARSE, p->file, "node %zu has no 'target'", i);
    split_target(p, target);
    if (is_ignored(p) || tc__import_find(p->op, &kind))
      continue;
    read_location(p);
    size_t k = 0;
    while (k < n && strcmp(list[k].name, target) != 0)
      k++;
    if (k == n) {
      missing *more = tc__realloc(list, sizeof *list * (n + 1));
      if (!more) {
        tc__free(list);
        return tc__oom();
      }
      list = more;
      memset(&list[n], 0, sizeof list[n]);
      snprintf(list[n].name, sizeof list[n].name, "%s", target);
      snprintf(list[n++].place, sizeof list[k].place, "%s", p->place);
    }
    list[k].count++;
  }
  p->node = NULL;
  if (!n)
    return TC_OK;
  tc__str text = {0};
  tc__str_printf(&text, "%zu unsupported ops:", n);
  for (size_t k = 0; k < n; k++) {
    split_target(p, list[k].name);
    const char *near = tc__import_suggest(p->op);
    tc__str_printf(&text, "\n  %s (%zu time%s%s%s%s%s)", list[k].name, list[k].count, list[k].count > 1 ? "s" : "", *list[k].place ? ", first at " : "",
                   list[k].place, near ? "; nearest supported: " : "", near ? near : "");
  }
  tc_status status = tc__error(TC_ERR_UNSUPPORTED, p->file, "%s", text.data ? text.data : "");
  tc__str_free(&text);
  tc__free(list);
  return status;
}

static MlirAttribute dict(MlirContext ctx, const char *k1, const char *v1, const char *k2, const char *v2) {
  MlirNamedAttribute attrs[2];
  size_t n = 0;
  if (v1)
    attrs[n++] = tc__named(ctx, k1, tc__attr_str(ctx, v1));
  if (v2)
    attrs[n++] = tc__named(ctx, k2, tc__attr_str(ctx, v2));
  return mlirDictionaryAttrGet(ctx, (intptr_t)n, attrs);
}

typedef struct input_spec {
  const char *kind, *arg, *name;
} input_spec;

static bool read_input_spec(const json_t *spec, input_spec *out) {
  static const struct {
    const char *key, *name_key, *kind;
  } kinds[] = {{"parameter", "parameter_name", "parameter"}, {"buffer", "buffer_name", "buffer"}, {"tensor_constant", "tensor_constant_name", "constant"}};
  for (size_t i = 0; i < TC_COUNTOF(kinds); i++) {
    const json_t *s = json_object_get(spec, kinds[i].key);
    if (!s)
      continue;
    out->kind = kinds[i].kind;
    out->arg = json_string_value(json_object_get(json_object_get(s, "arg"), "name"));
    out->name = json_string_value(json_object_get(s, kinds[i].name_key));
    return out->arg && out->name;
  }
  const json_t *user = json_object_get(json_object_get(spec, "user_input"), "arg");
  out->kind = "input";
  out->arg = out->name = json_string_value(json_object_get(json_object_get(user, "as_tensor"), "name"));
  return user != NULL;
}

static tc_status add_inputs(tc__import *p, const json_t *specs, MlirAttribute **out_dicts, tc__model *model) {
  size_t n = json_array_size(specs), n_args = 0;
  MlirAttribute *dicts = tc__calloc(n + 1, sizeof *dicts);
  model->params = tc__calloc(n + 1, sizeof *model->params);
  *out_dicts = dicts;
  if (!dicts || !model->params)
    return tc__oom();
  for (size_t i = 0; i < n; i++) {
    input_spec spec;
    if (!read_input_spec(json_array_get(specs, i), &spec))
      return tc__error(TC_ERR_UNSUPPORTED, p->file, "signature.input_specs[%zu]: no parameter, buffer, constant or user input", i);
    if (!spec.arg) // a number, fixed by the export
      continue;
    tc__type t;
    if (!meta_type(p, spec.arg, &t))
      return tc__error(TC_ERR_UNSUPPORTED, p->file, "signature.input_specs[%zu] (%s): no tensor type of ours in tensor_values", i, spec.arg);
    if (tc__type_bytes(&t) < 0)
      return tc__error(TC_ERR_PARSE, p->file, "signature.input_specs[%zu] (%s): the size overflows", i, spec.arg);
    tc__import_name *name = define(p, spec.arg);
    if (!name)
      return p->status;
    name->value = mlirBlockAddArgument(p->b.block, tc__type_to_mlir(p->b.ctx, &t), p->b.loc);
    dicts[n_args++] = dict(p->b.ctx, "tc.kind", spec.kind, "tc.name", spec.name);
    if (strcmp(spec.kind, "input") == 0)
      continue;
    tc__model_param *param = &model->params[model->n_params];
    if (!(param->name = tc__strdup(spec.name)))
      return tc__oom();
    param->value.type = t;
    model->n_params++;
  }
  return TC_OK;
}

// User outputs and mutations in the signature's order; then what in-place ops did to user inputs and buffers behind the signature's back.
static tc_status add_outputs(tc__import *p, const json_t *specs, const json_t *inputs, V *values, MlirAttribute *dicts, size_t max, size_t *out_n) {
  MlirContext ctx = p->b.ctx;
  size_t n = 0, i;
  json_t *spec;
  json_array_foreach((json_t *)specs, i, spec) {
    const char *target = NULL, *name = NULL;
    const json_t *user = json_object_get(json_object_get(spec, "user_output"), "arg");
    const json_t *buffer = json_object_get(spec, "buffer_mutation"), *mutated = json_object_get(spec, "user_input_mutation");
    if (user) {
      name = json_string_value(json_object_get(json_object_get(user, "as_tensor"), "name"));
      if (!name)
        continue; // None or a number
    } else if (buffer) {
      name = json_string_value(json_object_get(json_object_get(buffer, "arg"), "name"));
      target = json_string_value(json_object_get(buffer, "buffer_name"));
    } else if (mutated) {
      name = json_string_value(json_object_get(json_object_get(mutated, "arg"), "name"));
      target = json_string_value(json_object_get(mutated, "user_input_name"));
    } else if (json_object_get(spec, "loss_output")) {
      name = json_string_value(json_object_get(json_object_get(json_object_get(spec, "loss_output"), "arg"), "name"));
    }
    tc__import_name *found = name ? find(p, name) : NULL;
    if (!found || mlirValueIsNull(found->value))
      return tc__error(TC_ERR_UNSUPPORTED, p->file, "signature.output_specs[%zu]: no tensor result", i);
    if (n == max)
      return tc__error(TC_ERR_UNSUPPORTED, p->file, "more than %zu results", max);
    values[n] = found->value;
    dicts[n++] = dict(ctx, "tc.mutates", target, "tc.name", name);
  }
  size_t arg = 0;
  json_array_foreach((json_t *)inputs, i, spec) {
    input_spec in;
    if (!read_input_spec(spec, &in) || !in.arg)
      continue;
    V original = mlirBlockGetArgument(p->b.block, (intptr_t)arg++);
    tc__import_name *now = find(p, in.arg);
    if (!now || mlirValueEqual(now->value, original))
      continue;
    bool listed = false;
    for (size_t k = 0; k < n && !listed; k++) {
      MlirAttribute m = mlirDictionaryAttrGetElementByName(dicts[k], tc__sref("tc.mutates"));
      listed = !mlirAttributeIsNull(m) && mlirStringRefEqual(mlirStringAttrGetValue(m), tc__sref(in.name));
    }
    if (listed)
      continue;
    if (n == max)
      return tc__error(TC_ERR_UNSUPPORTED, p->file, "more than %zu results", max);
    values[n] = now->value;
    dicts[n++] = dict(ctx, "tc.mutates", in.name, "tc.name", in.name);
  }
  *out_n = n;
  return TC_OK;
}

static tc_status walk(tc__import *p, const json_t *nodes) {
  size_t i;
  json_t *node;
  json_array_foreach((json_t *)nodes, i, node) {
    p->node = node;
    p->index = i;
    split_target(p, json_string_value(json_object_get(node, "target")));
    if (is_ignored(p))
      continue;
    read_location(p);
    int kind = 0;
    tc__import_fn fn = tc__import_find(p->op, &kind);
    fn(p, kind);
    if (p->status != TC_OK)
      return p->status;
  }
  p->node = NULL;
  return TC_OK;
}

// Tied weights: the export names one of the two parameters everywhere, and the other stays unused. A weight that both looks tokens up and multiplies is taken
// to be tied to an unused parameter of its type that comes before it: its values by rule are those of that name, under which PyTorch lists it.
static void find_tied(tc__import *p, tc__model *model, const json_t *specs, MlirBlock block) {
  size_t n = 0, i;
  json_t *spec;
  MlirValue args[2];
  json_array_foreach((json_t *)specs, i, spec) {
    input_spec in;
    if (!read_input_spec(spec, &in) || !in.arg)
      continue;
    size_t at = n++;
    if (strcmp(in.kind, "parameter") != 0)
      continue;
    args[0] = mlirBlockGetArgument(block, (intptr_t)at);
    bool looked_up = false, multiplied = false;
    for (MlirOpOperand use = mlirValueGetFirstUse(args[0]); !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
      bool embedding = tc__op_kind(mlirOpOperandGetOwner(use)) == TC_OP_embedding;
      looked_up |= embedding;
      multiplied |= !embedding;
    }
    bool table = looked_up && multiplied;
    if (!multiplied)
      continue;
    size_t m = 0, k;
    json_t *other;
    json_array_foreach((json_t *)specs, k, other) {
      input_spec unused;
      if (k >= i)
        break;
      if (!read_input_spec(other, &unused) || !unused.arg)
        continue;
      args[1] = mlirBlockGetArgument(block, (intptr_t)m++);
      if (strcmp(unused.kind, "parameter") != 0 || !mlirOpOperandIsNull(mlirValueGetFirstUse(args[1])) ||
          !mlirTypeEqual(mlirValueGetType(args[0]), mlirValueGetType(args[1])))
        continue;
      // Or it repeats a parameter of a module around its own: "predictions.decoder.bias" that of "predictions.bias".
      const char *last = strrchr(unused.name, '.'), *mine = strrchr(in.name, '.');
      bool nested = last && mine && strcmp(last, mine) == 0 && strncmp(unused.name, in.name, (size_t)(last - unused.name) + 1) == 0;
      if (!table && !nested)
        continue;
      for (size_t q = 0; q < model->n_params; q++)
        if (strcmp(model->params[q].name, in.name) == 0 && !model->params[q].rule_name)
          model->params[q].rule_name = tc__strdup(unused.name);
      break;
    }
  }
  (void)p;
}

tc_status tc__import_program(const char *file, json_t *program, tc__model *model) {
  enum { MAX_RESULTS = 256 };
  json_t *module = json_object_get(program, "graph_module"), *graph = json_object_get(module, "graph"), *signature = json_object_get(module, "signature");
  json_t *nodes = json_object_get(graph, "nodes"), *in_specs = json_object_get(signature, "input_specs"),
         *out_specs = json_object_get(signature, "output_specs");
  if (!json_is_array(nodes) || !json_is_array(in_specs) || !json_is_array(out_specs))
    return tc__error(TC_ERR_PARSE, file, "no exported program: expected graph_module.graph.nodes and graph_module.signature (torch.export.save writes them; "
                                         "a state dict or a torch.jit file is not one)");
  MlirContext ctx = model->ctx;
  MlirLocation loc = mlirLocationUnknownGet(ctx);
  model->module = mlirModuleCreateEmpty(loc);
  MlirBlock block = mlirBlockCreate(0, NULL, NULL);
  MlirRegion region = mlirRegionCreate();
  mlirRegionAppendOwnedBlock(region, block);
  MlirNamedAttribute attrs[2] = {tc__named(ctx, "sym_name", tc__attr_str(ctx, "main")),
                                 tc__named(ctx, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(ctx, 0, NULL, 0, NULL)))};
  tc__builder at = tc__builder_at_end(mlirModuleGetBody(model->module), loc);
  MlirOperation func = tc__build(&at, "func.func", NULL, 0, NULL, 0, attrs, 2, &region, 1);

  tc__import p = {.file = file, .graph = graph, .b = tc__builder_at_end(block, loc)};
  MlirAttribute *arg_dicts = NULL, *result_dicts = tc__calloc(MAX_RESULTS, sizeof *result_dicts);
  V *values = tc__calloc(MAX_RESULTS, sizeof *values);
  MlirType *types = NULL;
  size_t n_results = 0;
  tc_status status = result_dicts && values ? check_ops(&p, nodes) : tc__oom();
  if (status == TC_OK)
    status = add_inputs(&p, in_specs, &arg_dicts, model);
  if (status == TC_OK)
    status = walk(&p, nodes);
  if (status == TC_OK)
    status = add_outputs(&p, out_specs, in_specs, values, result_dicts, MAX_RESULTS, &n_results);
  intptr_t n_args = mlirBlockGetNumArguments(block);
  if (status == TC_OK && !(types = tc__calloc((size_t)n_args + n_results + 1, sizeof *types)))
    status = tc__oom();
  if (status == TC_OK) {
    for (intptr_t i = 0; i < n_args; i++)
      types[i] = mlirValueGetType(mlirBlockGetArgument(block, i));
    for (size_t i = 0; i < n_results; i++)
      types[(size_t)n_args + i] = mlirValueGetType(values[i]);
    mlirOperationSetAttributeByName(func, tc__sref("function_type"),
                                    mlirTypeAttrGet(mlirFunctionTypeGet(ctx, n_args, types, (intptr_t)n_results, types + n_args)));
    mlirOperationSetAttributeByName(func, tc__sref("arg_attrs"), mlirArrayAttrGet(ctx, n_args, arg_dicts));
    mlirOperationSetAttributeByName(func, tc__sref("res_attrs"), mlirArrayAttrGet(ctx, (intptr_t)n_results, result_dicts));
    tc__build(&p.b, "func.return", values, n_results, NULL, 0, NULL, 0, NULL, 0);
    status = tc__verify(mlirModuleGetOperation(model->module));
    find_tied(&p, model, in_specs, block);
  }
  tc__free(types);
  tc__free(arg_dicts);
  tc__free(result_dicts);
  tc__free(values);
  tc__free(p.names);
  return status;
}
