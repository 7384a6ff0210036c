// ATen ops as tc ops. The file gives every result's type, so that views need no arithmetic on shapes, and promotion is a cast of the operands.
#include "import.h"

#include <math.h>

typedef MlirValue V;
typedef tc__import P;

#define INTS(name, v, n) tc__named(p->b.ctx, name, tc__attr_ints(p->b.ctx, v, n))
#define I64(name, v) tc__named(p->b.ctx, name, tc__attr_i64(p->b.ctx, v))
#define F64(name, v) tc__named(p->b.ctx, name, tc__attr_f64(p->b.ctx, v))
#define BOOL(name, v) tc__named(p->b.ctx, name, tc__attr_bool(p->b.ctx, v))
#define STR(name, v) tc__named(p->b.ctx, name, tc__attr_str(p->b.ctx, v))
#define DTYPE(name, v) tc__named(p->b.ctx, name, tc__attr_dtype(p->b.ctx, v))
#define OP(kind, operands, n, ...)                                                                                               \
  tc__import_op(p, kind, operands, n, (const MlirNamedAttribute[]){__VA_ARGS__}, sizeof((const MlirNamedAttribute[]){__VA_ARGS__}) / sizeof(MlirNamedAttribute))

static V op1(P *p, int kind, V x) { return tc__import_op(p, (tc_op_kind)kind, &x, 1, NULL, 0); }
static V op2(P *p, int kind, V x, V y) {
  V operands[2] = {x, y};
  return tc__import_op(p, (tc_op_kind)kind, operands, 2, NULL, 0);
}

static tc__type meta(P *p, size_t i) {
  tc__type t = {.dtype = TC_F32};
  if (!tc__import_meta(p, i, &t))
    tc__import_fail(p, TC_ERR_UNSUPPORTED, "result %zu has no tensor type of ours (complex numbers are not supported)", i);
  return t;
}

static int64_t normal(int64_t dim, int64_t rank) { return dim < 0 ? dim + (rank ? rank : 1) : dim; }
static int rank_of(V v) { return tc__import_type(v).rank; }

// ---- pointwise --------------------------------------------------------------------------------------------------------------------------------------

static tc_dtype result_dtype(P *p) { return p->in_place ? tc__import_type(tc__import_tensor(p, "self")).dtype : meta(p, 0).dtype; }

static void unary(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  const tc__op_info *info = tc__op_info_get((tc_op_kind)kind);
  if (strcmp(info->operands[0].cls, "float") == 0) // integers count as f32
    x = tc__import_cast(p, x, tc_dtype_is_float(result_dtype(p)) ? result_dtype(p) : TC_F32);
  tc__import_out(p, 0, op1(p, kind, x));
}

static int category(tc_dtype d) { return tc_dtype_is_float(d) ? 2 : d != TC_BOOL; }

static tc_dtype wider(tc_dtype a, tc_dtype b) {
  if (a == b)
    return a;
  if (category(a) != category(b))
    return category(a) > category(b) ? a : b;
  if (tc_dtype_size(a) == tc_dtype_size(b))
    return category(a) == 2 ? TC_F32 : TC_I16;
  return tc_dtype_size(a) > tc_dtype_size(b) ? a : b;
}

// An operand that may be a number: its tensor (null when a number) and its type for promotion.
typedef struct operand {
  V v;
  double number;
  tc_dtype dtype;
  int rank; // -1: a number
} operand;

static operand operand_of(P *p, const char *name) {
  operand o = {.rank = -1};
  o.v = tc__import_tensor_or(p, name);
  if (!mlirValueIsNull(o.v)) {
    tc__type t = tc__import_type(o.v);
    o.dtype = t.dtype;
    o.rank = t.rank;
    return o;
  }
  const json_t *arg = tc__import_arg(p, name);
  o.number = tc__import_float(p, name, 0);
  o.dtype = json_object_get(arg, "as_bool") ? TC_BOOL : json_object_get(arg, "as_float") || o.number != floor(o.number) ? TC_F32 : TC_I64;
  return o;
}

// torch.result_type: among tensors with dims first, then rank-0 tensors, then numbers; a lower class only counts with a higher category.
static tc_dtype common_dtype(const operand *o, int n) {
  tc_dtype result = TC_BOOL;
  bool any = false;
  for (int level = 0; level < 3; level++) {
    tc_dtype here = TC_BOOL;
    bool found = false;
    for (int i = 0; i < n; i++) {
      int l = o[i].rank > 0 ? 0 : o[i].rank == 0 ? 1 : 2;
      if (l != level)
        continue;
      here = found ? wider(here, o[i].dtype) : o[i].dtype;
      found = true;
    }
    if (found && (!any || category(here) > category(result))) {
      result = here;
      any = true;
    }
  }
  return result;
}

static V materialise(P *p, operand o, tc_dtype dtype) {
  return mlirValueIsNull(o.v) ? tc__import_scalar(p, o.number, dtype) : tc__import_cast(p, o.v, dtype);
}

static void binary(P *p, int kind) {
  operand o[2] = {operand_of(p, "self"), operand_of(p, "other")};
  tc_op_family family = tc__op_info_get((tc_op_kind)kind)->family;
  tc_dtype d = common_dtype(o, 2);
  if (kind == TC_OP_div && category(d) < 2)
    d = TC_F32;
  if (family == TC_FAMILY_BINARY && kind != TC_OP_div && !p->in_place)
    d = meta(p, 0).dtype;
  double alpha = tc__import_float(p, "alpha", 1);
  V x = materialise(p, o[0], d), y = materialise(p, o[1], d);
  if (alpha != 1)
    y = op2(p, TC_OP_mul, y, tc__import_scalar(p, alpha, d));
  const char *mode = kind == TC_OP_div ? tc__import_str(p, "rounding_mode", "") : "";
  if (*mode) {
    d = common_dtype(o, 2);
    x = materialise(p, o[0], d);
    y = materialise(p, o[1], d);
    kind = strcmp(mode, "floor") == 0 ? TC_OP_div_floor : TC_OP_div_trunc;
  }
  tc__import_out(p, 0, op2(p, kind, x, y));
}

static void rsub(P *p, int kind) {
  operand o[2] = {operand_of(p, "self"), operand_of(p, "other")};
  tc_dtype d = meta(p, 0).dtype;
  V x = materialise(p, o[0], d);
  double alpha = tc__import_float(p, "alpha", 1);
  if (alpha != 1)
    x = op2(p, TC_OP_mul, x, tc__import_scalar(p, alpha, d));
  tc__import_out(p, 0, op2(p, kind, materialise(p, o[1], d), x));
}

static void power(P *p, int kind) {
  bool scalar_base = !tc__import_arg(p, "self") || mlirValueIsNull(tc__import_tensor_or(p, "self"));
  operand base = operand_of(p, "self"), exponent = operand_of(p, "exponent");
  tc_dtype d = meta(p, 0).dtype;
  (void)scalar_base;
  tc__import_out(p, 0, op2(p, kind, materialise(p, base, d), materialise(p, exponent, d)));
}

static void where(P *p, int kind) {
  V cond = tc__import_tensor(p, "condition");
  operand o[2] = {operand_of(p, "self"), operand_of(p, "other")};
  tc_dtype d = meta(p, 0).dtype;
  V operands[3] = {tc__import_cast(p, cond, TC_BOOL), materialise(p, o[0], d), materialise(p, o[1], d)};
  tc__import_out(p, 0, tc__import_op(p, (tc_op_kind)kind, operands, 3, NULL, 0));
}

static void masked_fill(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc_dtype d = tc__import_type(x).dtype;
  V operands[3] = {tc__import_tensor(p, "mask"), materialise(p, operand_of(p, "value"), d), x};
  tc__import_out(p, 0, tc__import_op(p, (tc_op_kind)kind, operands, 3, NULL, 0));
}

static void clamp(P *p, int kind) {
  V x = tc__import_cast(p, tc__import_tensor(p, "self"), result_dtype(p));
  V low = tc__import_tensor_or(p, "min"), high = tc__import_tensor_or(p, "max");
  if (!mlirValueIsNull(low) || !mlirValueIsNull(high)) {
    if (!mlirValueIsNull(low))
      x = op2(p, TC_OP_maximum, x, tc__import_cast(p, low, tc__import_type(x).dtype));
    if (!mlirValueIsNull(high))
      x = op2(p, TC_OP_minimum, x, tc__import_cast(p, high, tc__import_type(x).dtype));
    tc__import_out(p, 0, x);
    return;
  }
  MlirNamedAttribute attrs[2];
  size_t n = 0;
  const char *low_name = kind == TC_OP_relu ? "min_val" : "min", *high_name = kind == TC_OP_relu ? "max_val" : "max"; // hardtanh
  double low_default = kind == TC_OP_relu ? -1 : NAN, high_default = kind == TC_OP_relu ? 1 : NAN;
  bool whole = !tc_dtype_is_float(tc__import_type(x).dtype);
  double a = tc__import_float(p, low_name, low_default), b = tc__import_float(p, high_name, high_default);
  if (a == a)
    attrs[n++] = whole ? I64("min", (int64_t)a) : F64("min", a);
  if (b == b)
    attrs[n++] = whole ? I64("max", (int64_t)b) : F64("max", b);
  tc__import_out(p, 0, tc__import_op(p, TC_OP_clamp, &x, 1, attrs, n));
}

static void gelu(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, STR("approximate", tc__import_str(p, "approximate", "none"))));
}

static void leaky_relu(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, F64("negative_slope", tc__import_float(p, "negative_slope", 0.01))));
}

static void elu(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, F64("alpha", tc__import_float(p, "alpha", 1)), F64("scale", tc__import_float(p, "scale", 1)),
                          F64("input_scale", tc__import_float(p, "input_scale", 1))));
}

static void softplus(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, F64("beta", tc__import_float(p, "beta", 1)), F64("threshold", tc__import_float(p, "threshold", 20))));
}

// to.*, _to_copy, type_as, contiguous, clone, dropout, ...: the value in the result's type.
static void same(P *p, int kind) {
  (void)kind;
  const char *arg = tc__import_arg(p, "self") ? "self" : tc__import_arg(p, "input") ? "input" : tc__import_arg(p, "src") ? "src" : "x";
  V x = tc__import_tensor(p, arg);
  if (p->in_place)
    tc__import_out(p, 0, x);
  else if (tc__import_type(x).dtype == meta(p, 0).dtype)
    tc__import_out_view(p, 0, x, arg, true);
  else
    tc__import_out(p, 0, tc__import_cast(p, x, meta(p, 0).dtype));
}

static void dropout(P *p, int kind) {
  if (tc__import_bool(p, "train", false) && tc__import_float(p, "p", 0) != 0)
    tc__import_fail(p, TC_ERR_UNSUPPORTED, "dropout in training mode is random: export the model in eval mode");
  same(p, kind);
}

// clone: a copy, which in-place ops on the original do not change. Values are immutable here, so it is a new name without the alias.
static void copy_of(P *p, int kind) {
  (void)kind;
  tc__import_out(p, 0, tc__import_cast(p, tc__import_tensor(p, "self"), meta(p, 0).dtype));
}

static void copy_into(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self"), src = tc__import_cast(p, tc__import_tensor(p, "src"), tc__import_type(x).dtype);
  tc__type t = tc__import_type(x);
  tc__import_out(p, 0, OP(TC_OP_broadcast, &src, 1, INTS("shape", t.shape, (size_t)t.rank)));
}

static void fill(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  tc__type t = tc__import_type(x);
  V v = tc__import_arg(p, "value") ? materialise(p, operand_of(p, "value"), t.dtype) : tc__import_scalar(p, 0, t.dtype);
  tc__import_out(p, 0, OP(TC_OP_broadcast, &v, 1, INTS("shape", t.shape, (size_t)t.rank)));
}

// ---- shape ------------------------------------------------------------------------------------------------------------------------------------------

static void reshape(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  tc__type t = meta(p, 0);
  tc__import_out_view(p, 0, tc__import_reshape(p, x, t.shape, (size_t)t.rank), "self", true);
}

static void expand(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  tc__type t = meta(p, 0);
  tc__import_out_view(p, 0, OP(TC_OP_broadcast, &x, 1, INTS("shape", t.shape, (size_t)t.rank)), "self", false);
}

static void permute(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t dims[TC_MAX_RANK], rank = rank_of(x);
  for (int i = 0; i < rank; i++)
    dims[i] = i;
  if (kind == 0) {
    tc__import_ints(p, "dims", dims, TC_MAX_RANK);
    for (int i = 0; i < rank; i++)
      dims[i] = normal(dims[i], rank);
  } else if (rank >= 2) { // transpose, swapaxes, t
    int64_t a = normal(tc__import_int(p, kind == 2 ? "axis0" : "dim0", kind == 3 ? -2 : 0), rank),
            b = normal(tc__import_int(p, kind == 2 ? "axis1" : "dim1", kind == 3 ? -1 : 1), rank);
    if (a < 0 || a >= rank || b < 0 || b >= rank) {
      tc__import_fail(p, TC_ERR_PARSE, "a dim is out of range");
      return;
    }
    dims[a] = b;
    dims[b] = a;
  }
  tc__import_out_view(p, 0, OP(TC_OP_permute, &x, 1, INTS("dims", dims, (size_t)rank)), "self", false);
}

static V slice_value(P *p, V x, int64_t dim, int64_t start, int64_t end, int64_t step) {
  int64_t size = tc__import_type(x).shape[dim];
  start = start < 0 ? start + size : start;
  end = end < 0 ? end + size : end;
  start = start < 0 ? 0 : start > size ? size : start;
  end = end < start ? start : end > size ? size : end;
  return OP(TC_OP_slice, &x, 1, I64("dim", dim), I64("start", start), I64("end", end), I64("step", step));
}

static void slice(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  tc__type t = tc__import_type(x);
  int64_t dim = normal(tc__import_int(p, "dim", 0), t.rank);
  if (dim < 0 || dim >= t.rank) {
    tc__import_fail(p, TC_ERR_PARSE, "dim is out of range");
    return;
  }
  int64_t start = tc__import_int(p, "start", 0), end = tc__import_int(p, "end", INT64_MAX), step = tc__import_int(p, "step", 1);
  if (start == 0 && end >= t.shape[dim] && step == 1) // all of it
    tc__import_out_view(p, 0, x, "self", true);
  else
    tc__import_out_view(p, 0, slice_value(p, x, dim, start, end, step), "self", false);
}

static void narrow(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(x)), start = tc__import_int(p, "start", 0);
  tc__import_out_view(p, 0, slice_value(p, x, dim, start, start + tc__import_int(p, "length", 0), 1), "self", false);
}

static void select_(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(x));
  tc__import_out_view(p, 0, OP(TC_OP_select, &x, 1, I64("dim", dim), I64("index", tc__import_int(p, "index", 0))), "self", false);
}

// unbind, split, split_with_sizes, chunk: the results' types say how
static void split(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(x)), at = 0;
  tc__type t = tc__import_type(x), part;
  for (size_t i = 0; p->status == TC_OK && tc__import_meta(p, i, &part); i++) {
    if (kind == 1) {
      tc__import_out_view(p, i, OP(TC_OP_select, &x, 1, I64("dim", dim), I64("index", (int64_t)i)), "self", false);
      continue;
    }
    int64_t size = part.rank == t.rank ? part.shape[dim] : 0;
    tc__import_out_view(p, i, slice_value(p, x, dim, at, at + size, 1), "self", false);
    at += size;
  }
}

static void concat(P *p, int kind) {
  V xs[256];
  tc__type t = meta(p, 0);
  size_t n = tc__import_tensors(p, "tensors", xs, TC_COUNTOF(xs)), kept = 0;
  int64_t dim = normal(tc__import_int(p, "dim", 0), t.rank);
  for (size_t i = 0; i < n; i++) {
    tc__type x = tc__import_type(xs[i]);
    if (kind == 0 && x.rank == 1 && x.shape[0] == 0 && t.rank != 1)
      continue; // ATen's legacy: an empty 1-D tensor among others
    V v = tc__import_cast(p, xs[i], t.dtype);
    if (kind == 1) // stack
      v = OP(TC_OP_unsqueeze, &v, 1, I64("dim", dim));
    xs[kept++] = v;
  }
  tc__import_out(p, 0, OP(TC_OP_concat, xs, kept, I64("dim", dim)));
}

static void pad(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t given[TC_MAX_RANK * 2], low[TC_MAX_RANK] = {0}, high[TC_MAX_RANK] = {0};
  size_t n = tc__import_ints(p, kind == 1 ? "pad" : "pad", given, TC_COUNTOF(given));
  int rank = rank_of(x);
  for (size_t i = 0; i + 1 < n && (int)(i / 2) < rank; i += 2) {
    low[rank - 1 - (int)(i / 2)] = given[i];
    high[rank - 1 - (int)(i / 2)] = given[i + 1];
  }
  const char *mode = tc__import_str(p, "mode", "constant");
  tc__import_out(p, 0, OP(TC_OP_pad, &x, 1, INTS("low", low, (size_t)rank), INTS("high", high, (size_t)rank), F64("value", tc__import_float(p, "value", 0)),
                          STR("mode", mode)));
}

static void flip_roll(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t dims[TC_MAX_RANK], shifts[TC_MAX_RANK];
  size_t n = tc__import_ints(p, "dims", dims, TC_MAX_RANK);
  for (size_t i = 0; i < n; i++)
    dims[i] = normal(dims[i], rank_of(x));
  if (kind == TC_OP_flip) {
    tc__import_out(p, 0, OP(TC_OP_flip, &x, 1, INTS("dims", dims, n)));
    return;
  }
  size_t m = tc__import_ints(p, "shifts", shifts, TC_MAX_RANK);
  if (n == 0) { // over the flat tensor
    tc__type t = tc__import_type(x);
    int64_t flat = tc__type_elements(&t), zero = 0;
    V y = tc__import_reshape(p, x, &flat, 1);
    y = OP(TC_OP_roll, &y, 1, INTS("shifts", shifts, m), INTS("dims", &zero, 1));
    tc__import_out(p, 0, tc__import_reshape(p, y, t.shape, (size_t)t.rank));
    return;
  }
  tc__import_out(p, 0, OP(TC_OP_roll, &x, 1, INTS("shifts", shifts, m), INTS("dims", dims, n)));
}

static void repeat(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t repeats[TC_MAX_RANK];
  size_t n = tc__import_ints(p, kind == 1 ? "dims" : "repeats", repeats, TC_MAX_RANK);
  int rank = rank_of(x);
  if ((int)n < rank) { // tile
    for (size_t i = n; i-- > 0;)
      repeats[i + (size_t)rank - n] = repeats[i];
    for (size_t i = 0; i < (size_t)rank - n; i++)
      repeats[i] = 1;
    n = (size_t)rank;
  }
  tc__import_out(p, 0, OP(TC_OP_repeat, &x, 1, INTS("repeats", repeats, n)));
}

static void repeat_interleave(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  tc__type t = tc__import_type(x);
  int64_t times = tc__import_int(p, "repeats", 1), dim = tc__import_arg(p, "dim") ? normal(tc__import_int(p, "dim", 0), t.rank) : -1;
  if (dim < 0) {
    int64_t flat = tc__type_elements(&t);
    x = tc__import_reshape(p, x, &flat, 1);
    t = tc__import_type(x);
    dim = 0;
  }
  int64_t wide[TC_MAX_RANK];
  V y = OP(TC_OP_unsqueeze, &x, 1, I64("dim", dim + 1));
  for (int i = 0; i <= t.rank; i++)
    wide[i] = i <= dim ? t.shape[i] : i == dim + 1 ? times : t.shape[i - 1];
  y = OP(TC_OP_broadcast, &y, 1, INTS("shape", wide, (size_t)t.rank + 1));
  t.shape[dim] *= times;
  tc__import_out(p, 0, tc__import_reshape(p, y, t.shape, (size_t)t.rank));
}

static void unfold(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dimension", 0), rank_of(x));
  tc__import_out_view(p, 0, OP(TC_OP_unfold, &x, 1, I64("dim", dim), I64("size", tc__import_int(p, "size", 1)), I64("step", tc__import_int(p, "step", 1))),
                      "self", false);
}

static void triangle(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, I64("diagonal", tc__import_int(p, "diagonal", 0))));
}

static void diff(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", -1), rank_of(x)), times = tc__import_int(p, "n", 1);
  V extra[3], all[3];
  size_t n = 0;
  extra[0] = tc__import_tensor_or(p, "prepend");
  extra[1] = x;
  extra[2] = tc__import_tensor_or(p, "append");
  for (int i = 0; i < 3; i++)
    if (!mlirValueIsNull(extra[i]))
      all[n++] = extra[i];
  if (n > 1)
    x = OP(TC_OP_concat, all, n, I64("dim", dim));
  for (int64_t i = 0; i < times && p->status == TC_OK; i++) {
    int64_t size = tc__import_type(x).shape[dim];
    V after = slice_value(p, x, dim, 1, size, 1), before = slice_value(p, x, dim, 0, size - 1, 1);
    x = op2(p, tc__import_type(x).dtype == TC_BOOL ? TC_OP_ne : TC_OP_sub, after, before);
  }
  tc__import_out(p, 0, x);
}

// ---- creation ---------------------------------------------------------------------------------------------------------------------------------------

static void full(P *p, int kind) { // kind: 0 zeros, 1 ones, 2 fill_value, 3 value
  tc__type t = meta(p, 0);
  double v = kind == 2 ? tc__import_float(p, "fill_value", 0) : kind == 3 ? tc__import_float(p, "s", 0) : kind;
  bool whole = !tc_dtype_is_float(t.dtype);
  tc__import_out(p, 0, tc__import_op(p, TC_OP_full, NULL, 0,
                                     (MlirNamedAttribute[]){INTS("shape", t.shape, (size_t)t.rank), whole ? I64("value", (int64_t)v) : F64("value", v),
                                                            DTYPE("dtype", t.dtype)},
                                     3));
}

static void arange(P *p, int kind) {
  (void)kind;
  tc__type t = meta(p, 0);
  double start = tc__import_float(p, "start", 0), step = tc__import_float(p, "step", 1);
  bool whole = start == floor(start) && step == floor(step);
  tc__import_out(p, 0, tc__import_op(p, TC_OP_iota, NULL, 0,
                                     (MlirNamedAttribute[]){INTS("shape", t.shape, (size_t)t.rank), whole ? I64("start", (int64_t)start) : F64("start", start),
                                                            whole ? I64("step", (int64_t)step) : F64("step", step), DTYPE("dtype", t.dtype)},
                                     4));
}

static void eye(P *p, int kind) {
  (void)kind;
  tc__type t = meta(p, 0);
  V i = OP(TC_OP_iota, NULL, 0, INTS("shape", t.shape, 2), I64("dim", 0), DTYPE("dtype", TC_I64)),
    j = OP(TC_OP_iota, NULL, 0, INTS("shape", t.shape, 2), I64("dim", 1), DTYPE("dtype", TC_I64));
  tc__import_out(p, 0, tc__import_cast(p, op2(p, TC_OP_eq, i, j), t.dtype));
}

// ---- reductions -------------------------------------------------------------------------------------------------------------------------------------

static size_t dims_of(P *p, int rank, int64_t *dims) {
  size_t n = tc__import_ints(p, "dim", dims, TC_MAX_RANK);
  for (size_t i = 0; i < n; i++) { // sorted
    dims[i] = normal(dims[i], rank);
    for (size_t k = i; k > 0 && dims[k] < dims[k - 1]; k--) {
      int64_t t = dims[k];
      dims[k] = dims[k - 1];
      dims[k - 1] = t;
    }
  }
  return rank == 0 ? 0 : n;
}

static void reduce(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__type t = meta(p, 0);
  int64_t dims[TC_MAX_RANK];
  size_t n = dims_of(p, rank_of(x), dims);
  bool keep = tc__import_bool(p, "keepdim", false);
  if (tc__import_arg(p, "dtype") || strcmp(tc__op_info_get((tc_op_kind)kind)->operands[0].cls, "float") == 0)
    x = tc__import_cast(p, x, t.dtype);
  MlirNamedAttribute attrs[3] = {INTS("dims", dims, n), BOOL("keepdim", keep)};
  size_t n_attrs = 2;
  if (kind == TC_OP_var || kind == TC_OP_norm) {
    double unbiased = tc__import_bool(p, "unbiased", true);
    attrs[n_attrs++] = kind == TC_OP_norm ? F64("p", tc__import_float(p, tc__import_arg(p, "p") ? "p" : "ord", 2))
                                          : F64("correction", tc__import_float(p, "correction", unbiased));
  }
  tc__import_out(p, 0, tc__import_cast(p, tc__import_op(p, (tc_op_kind)kind, &x, 1, attrs, n_attrs), t.dtype));
}

// max and min: over everything, over a dim with indices, or of two tensors.
static void extreme(P *p, int kind) {
  bool high = kind == TC_OP_amax;
  if (tc__import_arg(p, "other")) {
    binary(p, high ? TC_OP_maximum : TC_OP_minimum);
    return;
  }
  V x = tc__import_tensor(p, "self");
  if (!tc__import_arg(p, "dim")) {
    tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, INTS("dims", NULL, 0)));
    return;
  }
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(x));
  bool keep = tc__import_bool(p, "keepdim", false);
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, INTS("dims", &dim, 1), BOOL("keepdim", keep)));
  tc__import_out(p, 1, OP(high ? TC_OP_argmax : TC_OP_argmin, &x, 1, I64("dim", dim), BOOL("keepdim", keep)));
}

static void arg_extreme(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__type t = tc__import_type(x);
  int64_t flat = tc__type_elements(&t), dim = tc__import_arg(p, "dim") ? normal(tc__import_int(p, "dim", 0), t.rank) : 0;
  if (!tc__import_arg(p, "dim"))
    x = tc__import_reshape(p, x, &flat, 1);
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, I64("dim", dim), BOOL("keepdim", tc__import_bool(p, "keepdim", false))));
}

static void scan(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  if (tc__import_arg(p, "dtype"))
    x = tc__import_cast(p, x, meta(p, 0).dtype);
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, I64("dim", normal(tc__import_int(p, "dim", 0), rank_of(x)))));
}

static void softmax(P *p, int kind) {
  V x = tc__import_cast(p, tc__import_tensor(p, "self"), meta(p, 0).dtype);
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, I64("dim", normal(tc__import_int(p, "dim", -1), rank_of(x)))));
}

static void two_results(P *p, tc_op_kind kind, V x, const MlirNamedAttribute *attrs, size_t n) {
  if (p->status != TC_OK)
    return;
  MlirOperation op = tc__build_tc(&p->b, kind, &x, 1, attrs, n);
  if (mlirOperationIsNull(op)) {
    tc__import_fail(p, TC_ERR_VERIFY, "the arguments do not fit");
    return;
  }
  tc__import_out(p, 0, mlirOperationGetResult(op, 0));
  tc__import_out(p, 1, mlirOperationGetResult(op, 1));
}

static void sort(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", -1), rank_of(x));
  if (kind == TC_OP_topk)
    two_results(p, TC_OP_topk, x,
                (MlirNamedAttribute[]){I64("k", tc__import_int(p, "k", 1)), I64("dim", dim), BOOL("largest", tc__import_bool(p, "largest", true))}, 3);
  else
    two_results(p, TC_OP_sort, x, (MlirNamedAttribute[]){I64("dim", dim), BOOL("descending", tc__import_bool(p, "descending", false))}, 2);
}

// ---- contractions -----------------------------------------------------------------------------------------------------------------------------------

static V matmul_value(P *p, V a, V b) {
  tc__type ta = tc__import_type(a), tb = tc__import_type(b);
  bool row = ta.rank == 1, column = tb.rank == 1;
  if (row)
    a = OP(TC_OP_unsqueeze, &a, 1, I64("dim", 0));
  if (column)
    b = OP(TC_OP_unsqueeze, &b, 1, I64("dim", 1));
  V y = op2(p, TC_OP_matmul, a, b);
  int64_t dims[2], rank = rank_of(y);
  size_t n = 0;
  if (row)
    dims[n++] = rank - 2;
  if (column)
    dims[n++] = rank - 1;
  return n ? OP(TC_OP_squeeze, &y, 1, INTS("dims", dims, n)) : y;
}

static void matmul(P *p, int kind) {
  (void)kind;
  const char *other = tc__import_arg(p, "other") ? "other" : tc__import_arg(p, "mat2") ? "mat2" : "vec";
  tc__import_out(p, 0, matmul_value(p, tc__import_tensor(p, "self"), tc__import_tensor(p, other)));
}

static V scaled(P *p, V x, double factor) { return factor == 1 ? x : op2(p, TC_OP_mul, x, tc__import_scalar(p, factor, tc__import_type(x).dtype)); }

static void addmm(P *p, int kind) { // addmm, baddbmm
  V y = matmul_value(p, tc__import_tensor(p, kind ? "batch1" : "mat1"), tc__import_tensor(p, kind ? "batch2" : "mat2"));
  V x = tc__import_tensor(p, "self");
  double alpha = tc__import_float(p, "alpha", 1), beta = tc__import_float(p, "beta", 1);
  y = scaled(p, y, alpha);
  tc__import_out(p, 0, beta == 0 ? y : op2(p, TC_OP_add, scaled(p, x, beta), y));
}

static void linear(P *p, int kind) {
  V operands[3] = {tc__import_tensor(p, "input"), tc__import_tensor(p, "weight"), tc__import_tensor_or(p, "bias")};
  tc__import_out(p, 0, tc__import_op(p, (tc_op_kind)kind, operands, 3, NULL, 0));
}

static void spatial(P *p, const char *name, size_t n, int64_t otherwise, int64_t *out) {
  size_t got = tc__import_ints(p, name, out, 3);
  for (size_t i = got; i < n; i++)
    out[i] = got ? out[got - 1] : otherwise;
}

static void convolution(P *p, int kind) { // kind: 1 transposed
  V operands[3] = {tc__import_tensor(p, "input"), tc__import_tensor(p, "weight"), tc__import_tensor_or(p, "bias")};
  tc__type tx = tc__import_type(operands[0]), tw = tc__import_type(operands[1]);
  size_t n = (size_t)(tw.rank - 2);
  int64_t stride[3], padding[6], dilation[3], extra[3];
  if (tw.rank < 3 || n > 3) {
    tc__import_fail(p, TC_ERR_UNSUPPORTED, "a weight of rank %d", tw.rank);
    return;
  }
  bool batched = tx.rank == tw.rank, transposed = kind == 1 || tc__import_bool(p, "transposed", false);
  if (!batched)
    operands[0] = OP(TC_OP_unsqueeze, &operands[0], 1, I64("dim", 0));
  spatial(p, "stride", n, 1, stride);
  spatial(p, "dilation", n, 1, dilation);
  spatial(p, "output_padding", n, 0, extra);
  size_t n_padding = n;
  const char *word = tc__import_str(p, "padding", NULL);
  if (word) {
    n_padding = 2 * n;
    for (size_t i = 0; i < n; i++) { // "same": the odd element goes to the high side
      int64_t total = strcmp(word, "same") == 0 ? dilation[i] * (tw.shape[2 + i] - 1) : 0;
      padding[i] = total / 2;
      padding[n + i] = total - total / 2;
    }
  } else {
    spatial(p, "padding", n, 0, padding);
  }
  V y = OP(TC_OP_convolution, operands, 3, INTS("stride", stride, n), INTS("padding", padding, n_padding), INTS("dilation", dilation, n),
           BOOL("transposed", transposed), INTS("output_padding", extra, n), I64("groups", tc__import_int(p, "groups", 1)));
  if (!batched) {
    int64_t zero = 0;
    y = OP(TC_OP_squeeze, &y, 1, INTS("dims", &zero, 1));
  }
  tc__import_out(p, 0, y);
}

static void attention(P *p, int kind) {
  V operands[4] = {tc__import_tensor(p, "query"), tc__import_tensor(p, "key"), tc__import_tensor(p, "value"), tc__import_tensor_or(p, "attn_mask")};
  if (tc__import_float(p, "dropout_p", 0) != 0)
    tc__import_fail(p, TC_ERR_UNSUPPORTED, "attention with dropout is random: export the model in eval mode");
  MlirNamedAttribute attrs[3] = {BOOL("is_causal", tc__import_bool(p, "is_causal", false)), BOOL("enable_gqa", tc__import_bool(p, "enable_gqa", false))};
  size_t n = 2;
  if (tc__import_arg(p, "scale"))
    attrs[n++] = F64("scale", tc__import_float(p, "scale", 1));
  tc__import_out(p, 0, tc__import_op(p, (tc_op_kind)kind, operands, 4, attrs, n));
}

// ---- einsum: both operands to [shared, own, summed], a batched matmul, and the order asked for ---------------------------------------------------------

static void einsum(P *p, int kind) {
  (void)kind;
  const char *equation = tc__import_str(p, "equation", "");
  V xs[2];
  size_t n = tc__import_tensors(p, "tensors", xs, 2);
  char labels[2][TC_MAX_RANK + 1] = {"", ""}, out[TC_MAX_RANK + 1] = "";
  const char *arrow = strstr(equation, "->");
  if (n != 2 || !arrow || strchr(equation, '.')) {
    tc__import_fail(p, TC_ERR_UNSUPPORTED, "einsum '%s': only two tensors, with an explicit result and no ellipsis", equation);
    return;
  }
  int which = 0, counts[2] = {0, 0}, n_out = 0;
  for (const char *c = equation; c < arrow; c++) {
    if (*c == ',')
      which++;
    else if (*c != ' ' && which < 2 && counts[which] < TC_MAX_RANK)
      labels[which][counts[which]++] = *c;
  }
  for (const char *c = arrow + 2; *c && n_out < TC_MAX_RANK; c++)
    if (*c != ' ')
      out[n_out++] = *c;
  tc__type t[2] = {tc__import_type(xs[0]), tc__import_type(xs[1])};
  int64_t size_of[128] = {0};
  for (int i = 0; i < 2; i++) {
    if (counts[i] != t[i].rank) {
      tc__import_fail(p, TC_ERR_PARSE, "einsum '%s': operand %d has rank %d", equation, i, t[i].rank);
      return;
    }
    for (int d = 0; d < counts[i]; d++) {
      if (strchr(labels[i] + d + 1, labels[i][d])) {
        tc__import_fail(p, TC_ERR_UNSUPPORTED, "einsum '%s': a repeated label in one operand", equation);
        return;
      }
      size_of[(unsigned char)labels[i][d] & 127] = t[i].shape[d];
    }
  }
  // A label of one operand that is not in the result is summed first.
  for (int i = 0; i < 2; i++) {
    int64_t dims[TC_MAX_RANK];
    size_t m = 0;
    char kept[TC_MAX_RANK + 1] = "";
    for (int d = 0, k = 0; d < counts[i]; d++) {
      if (!strchr(labels[1 - i], labels[i][d]) && !strchr(out, labels[i][d]))
        dims[m++] = d;
      else
        kept[k++] = labels[i][d];
    }
    if (m) {
      xs[i] = OP(TC_OP_sum, &xs[i], 1, INTS("dims", dims, m));
      memcpy(labels[i], kept, sizeof kept);
      counts[i] = (int)strlen(kept);
    }
  }
  char shared[TC_MAX_RANK + 1] = "", summed[TC_MAX_RANK + 1] = "", own[2][TC_MAX_RANK + 1] = {"", ""};
  for (const char *c = labels[0]; *c; c++) {
    char one[2] = {*c, 0};
    bool both = strchr(labels[1], *c) != NULL, kept = strchr(out, *c) != NULL;
    strcat(both ? kept ? shared : summed : own[0], one);
  }
  for (const char *c = labels[1]; *c; c++)
    if (!strchr(labels[0], *c))
      strncat(own[1], c, 1);
  for (int i = 0; i < 2; i++) {
    char order[3 * TC_MAX_RANK + 1] = "";
    strcat(strcat(strcat(order, shared), i == 0 ? own[0] : summed), i == 0 ? summed : own[1]);
    int64_t dims[TC_MAX_RANK], shape[3] = {1, 1, 1};
    for (int d = 0; order[d]; d++) {
      dims[d] = strchr(labels[i], order[d]) - labels[i];
      int group = strchr(shared, order[d]) ? 0 : (strchr(summed, order[d]) != NULL) == (i == 0) ? 2 : 1;
      shape[group] *= size_of[(unsigned char)order[d] & 127];
    }
    xs[i] = OP(TC_OP_permute, &xs[i], 1, INTS("dims", dims, strlen(order)));
    xs[i] = tc__import_reshape(p, xs[i], shape, 3);
  }
  V y = op2(p, TC_OP_matmul, xs[0], xs[1]);
  char order[3 * TC_MAX_RANK + 1] = "";
  strcat(strcat(strcat(order, shared), own[0]), own[1]);
  int64_t shape[TC_MAX_RANK], dims[TC_MAX_RANK];
  size_t m = strlen(order);
  for (size_t d = 0; d < m; d++)
    shape[d] = size_of[(unsigned char)order[d] & 127];
  y = tc__import_reshape(p, y, shape, m);
  for (int d = 0; d < n_out; d++) {
    char *at = strchr(order, out[d]);
    if (!at) {
      tc__import_fail(p, TC_ERR_PARSE, "einsum '%s': label '%c' of the result is in no operand", equation, out[d]);
      return;
    }
    dims[d] = at - order;
  }
  tc__import_out(p, 0, OP(TC_OP_permute, &y, 1, INTS("dims", dims, (size_t)n_out)));
}

// ---- pooling, resize --------------------------------------------------------------------------------------------------------------------------------

static void pool(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t kernel[3], stride[3], padding[3], dilation[3];
  size_t n = strstr(p->op, "1d") ? 1 : strstr(p->op, "3d") ? 3 : 2;
  spatial(p, "kernel_size", n, 1, kernel);
  spatial(p, "stride", n, 0, stride);
  for (size_t i = 0; i < n; i++)
    stride[i] = stride[i] ? stride[i] : kernel[i];
  spatial(p, "padding", n, 0, padding);
  spatial(p, "dilation", n, 1, dilation);
  bool ceil_mode = tc__import_bool(p, "ceil_mode", false);
  if (kind == TC_OP_avg_pool)
    tc__import_out(p, 0, OP(TC_OP_avg_pool, &x, 1, INTS("kernel", kernel, n), INTS("stride", stride, n), INTS("padding", padding, n),
                            BOOL("ceil_mode", ceil_mode), BOOL("count_include_pad", tc__import_bool(p, "count_include_pad", true)),
                            I64("divisor_override", tc__import_int(p, "divisor_override", 0))));
  else if (kind == TC_OP_max_pool)
    tc__import_out(p, 0, OP(TC_OP_max_pool, &x, 1, INTS("kernel", kernel, n), INTS("stride", stride, n), INTS("padding", padding, n),
                            INTS("dilation", dilation, n), BOOL("ceil_mode", ceil_mode)));
  else
    two_results(p, TC_OP_max_pool_with_indices, x,
                (MlirNamedAttribute[]){INTS("kernel", kernel, n), INTS("stride", stride, n), INTS("padding", padding, n), INTS("dilation", dilation, n),
                                       BOOL("ceil_mode", ceil_mode)},
                5);
}

static void adaptive_pool(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  size_t n = strstr(p->op, "1d") ? 1 : strstr(p->op, "3d") ? 3 : 2;
  tc__type t = meta(p, 0);
  int64_t *size = &t.shape[t.rank - (int)n];
  if (kind == TC_OP_adaptive_max_pool)
    two_results(p, TC_OP_adaptive_max_pool, x, (MlirNamedAttribute[]){INTS("output_size", size, n)}, 1);
  else
    tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, INTS("output_size", size, n)));
}

static void resize(P *p, int kind) { // kind: 0 nearest, 1 linear, 2 bicubic, 3 nearest_exact
  static const char *const modes[] = {"nearest", "linear", "bicubic", "nearest_exact"};
  const char *arg = tc__import_arg(p, "input") ? "input" : "self";
  V x = tc__import_tensor(p, arg);
  tc__type t = meta(p, 0);
  size_t n = (size_t)t.rank - 2;
  MlirNamedAttribute attrs[5] = {INTS("size", &t.shape[2], n), STR("mode", modes[kind]), BOOL("align_corners", tc__import_bool(p, "align_corners", false)),
                                 BOOL("antialias", strstr(p->op, "_aa") != NULL)};
  size_t n_attrs = 4;
  const json_t *scales = json_object_get(tc__import_arg(p, "scale_factors"), "as_floats");
  double factors[3] = {0, 0, 0};
  for (size_t i = 0; i < n && json_array_size(scales) == n; i++)
    if (!tc__json_number(json_array_get(scales, i), &factors[i]))
      factors[i] = 0;
  if (json_array_size(scales) == n && n)
    attrs[n_attrs++] = tc__named(p->b.ctx, "scales", tc__attr_floats(p->b.ctx, factors, n));
  tc__import_out(p, 0, tc__import_op(p, TC_OP_resize, &x, 1, attrs, n_attrs));
}

static void columns(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  int64_t kernel[3], dilation[3], padding[3], stride[3], size[3];
  spatial(p, "kernel_size", 2, 1, kernel);
  spatial(p, "dilation", 2, 1, dilation);
  spatial(p, "padding", 2, 0, padding);
  spatial(p, "stride", 2, 1, stride);
  spatial(p, "output_size", 2, 1, size);
  bool batched = kind == TC_OP_im2col ? rank_of(x) == 4 : rank_of(x) == 3;
  if (!batched)
    x = OP(TC_OP_unsqueeze, &x, 1, I64("dim", 0));
  MlirNamedAttribute attrs[5] = {INTS("kernel", kernel, 2), INTS("dilation", dilation, 2), INTS("padding", padding, 2), INTS("stride", stride, 2),
                                 INTS("output_size", size, 2)};
  V y = tc__import_op(p, (tc_op_kind)kind, &x, 1, attrs, kind == TC_OP_im2col ? 4 : 5);
  int64_t zero = 0;
  tc__import_out(p, 0, batched ? y : OP(TC_OP_squeeze, &y, 1, INTS("dims", &zero, 1)));
}

// ---- normalisation ----------------------------------------------------------------------------------------------------------------------------------

static V ones_like(P *p, V model) {
  V one = tc__import_scalar(p, 1, tc__import_type(model).dtype);
  tc__type t = tc__import_type(model);
  return OP(TC_OP_broadcast, &one, 1, INTS("shape", t.shape, (size_t)t.rank));
}

static void norm(P *p, int kind) {
  V x = tc__import_tensor(p, "input"), weight = tc__import_tensor_or(p, "weight"), bias = tc__import_tensor_or(p, "bias");
  double eps = tc__import_float(p, kind == TC_OP_layer_norm || kind == TC_OP_batch_norm || kind == TC_OP_group_norm ? "eps" : "eps",
                                kind == TC_OP_rms_norm ? (tc__import_type(x).dtype == TC_F64 ? 2.220446049250313e-16 : 1.1920928955078125e-07) : 1e-5);
  if (mlirValueIsNull(weight) && !mlirValueIsNull(bias))
    weight = ones_like(p, bias);
  if (kind == TC_OP_batch_norm) {
    if (tc__import_bool(p, "training", false)) {
      tc__import_fail(p, TC_ERR_UNSUPPORTED, "batch norm in training mode: export the model in eval mode");
      return;
    }
    V operands[5] = {x, tc__import_tensor(p, "running_mean"), tc__import_tensor(p, "running_var"), weight, bias};
    tc__import_out(p, 0, OP(TC_OP_batch_norm, operands, 5, F64("eps", eps)));
    return;
  }
  V operands[3] = {x, weight, bias};
  if (kind == TC_OP_group_norm) {
    tc__import_out(p, 0, OP(TC_OP_group_norm, operands, 3, I64("groups", tc__import_int(p, "num_groups", 1)), F64("eps", eps)));
    return;
  }
  int64_t shape[TC_MAX_RANK];
  size_t axes = tc__import_ints(p, "normalized_shape", shape, TC_MAX_RANK);
  tc__import_out(p, 0, OP((tc_op_kind)kind, operands, 3, I64("axes", (int64_t)axes), F64("eps", eps)));
}

// ---- indexing ---------------------------------------------------------------------------------------------------------------------------------------

static void embedding(P *p, int kind) {
  V operands[2] = {tc__import_tensor(p, "weight"), tc__import_tensor(p, "indices")};
  tc__import_out(p, 0, tc__import_op(p, (tc_op_kind)kind, operands, 2, NULL, 0));
}

static void gather(P *p, int kind) {
  V operands[2] = {tc__import_tensor(p, "self"), tc__import_tensor(p, "index")};
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(operands[0]));
  tc__import_out(p, 0, OP((tc_op_kind)kind, operands, 2, I64("dim", dim)));
}

static size_t read_indices(P *p, V *indices, int64_t *dims) {
  V given[TC_MAX_RANK];
  size_t n = tc__import_tensors(p, "indices", given, TC_MAX_RANK), kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (mlirValueIsNull(given[i]))
      continue;
    if (tc__import_type(given[i]).dtype == TC_BOOL || tc__import_type(given[i]).dtype == TC_U8) {
      tc__import_fail(p, TC_ERR_UNSUPPORTED, "indexing by a mask gives a size that depends on data");
      return 0;
    }
    V v = given[i];
    if (tc__import_type(v).dtype != TC_I32)
      v = tc__import_cast(p, v, TC_I64);
    indices[kept] = v;
    dims[kept++] = (int64_t)i;
  }
  return kept;
}

static void index_(P *p, int kind) {
  V operands[TC_MAX_RANK + 1];
  int64_t dims[TC_MAX_RANK];
  operands[0] = tc__import_tensor(p, "self");
  size_t n = read_indices(p, operands + 1, dims);
  tc__import_out(p, 0, OP((tc_op_kind)kind, operands, n + 1, INTS("dims", dims, n)));
}

static void index_put(P *p, int kind) {
  V operands[TC_MAX_RANK + 2];
  int64_t dims[TC_MAX_RANK];
  operands[0] = tc__import_tensor(p, "self");
  operands[1] = tc__import_cast(p, tc__import_tensor(p, "values"), tc__import_type(operands[0]).dtype);
  size_t n = read_indices(p, operands + 2, dims);
  tc__import_out(p, 0, OP((tc_op_kind)kind, operands, n + 2, INTS("dims", dims, n), BOOL("accumulate", tc__import_bool(p, "accumulate", false))));
}

static void scatter(P *p, int kind) { // kind: 1 scatter_add
  V x = tc__import_tensor(p, "self");
  tc_dtype d = tc__import_type(x).dtype;
  V src = tc__import_arg(p, "src") ? tc__import_tensor(p, "src") : materialise(p, operand_of(p, "value"), d);
  const char *given = tc__import_str(p, "reduce", kind == 1 ? "add" : "none");
  static const char *const from[] = {"sum", "prod", "multiply"}, *const to[] = {"add", "mul", "mul"};
  for (int i = 0; i < 3; i++)
    if (strcmp(given, from[i]) == 0)
      given = to[i];
  V operands[3] = {x, tc__import_tensor(p, "index"), tc__import_cast(p, src, d)};
  tc__import_out(p, 0, OP(TC_OP_scatter, operands, 3, I64("dim", normal(tc__import_int(p, "dim", 0), rank_of(x))), STR("reduce", given),
                          BOOL("include_self", tc__import_bool(p, "include_self", true))));
}

static void index_add(P *p, int kind) {
  V operands[3] = {tc__import_tensor(p, "self"), tc__import_tensor(p, "index"), tc__import_tensor(p, "source")};
  tc__import_out(p, 0, OP((tc_op_kind)kind, operands, 3, I64("dim", normal(tc__import_int(p, "dim", 0), rank_of(operands[0]))),
                          F64("alpha", tc__import_float(p, "alpha", 1))));
}

static void histc(P *p, int kind) {
  V x = tc__import_tensor(p, "self");
  tc__import_out(p, 0, OP((tc_op_kind)kind, &x, 1, I64("bins", tc__import_int(p, "bins", 100)), F64("min", tc__import_float(p, "min", 0)),
                          F64("max", tc__import_float(p, "max", 0))));
}

// ---- losses, numbers --------------------------------------------------------------------------------------------------------------------------------

static void mse_loss(P *p, int kind) {
  (void)kind;
  V d = op2(p, TC_OP_sub, tc__import_tensor(p, "self"), tc__import_tensor(p, "target")), square = op2(p, TC_OP_mul, d, d);
  int64_t reduction = tc__import_int(p, "reduction", 1);
  tc__import_out(p, 0, reduction == 0 ? square : OP(reduction == 1 ? TC_OP_mean : TC_OP_sum, &square, 1, INTS("dims", NULL, 0)));
}

// Arithmetic on sizes: known numbers here.
static void number(P *p, int kind) {
  double a = tc__import_float(p, "a", 0), b = tc__import_float(p, "b", 0), y = 0;
  switch (kind) {
  case 0:
    y = a + b;
    break;
  case 1:
    y = a - b;
    break;
  case 2:
    y = a * b;
    break;
  case 3:
    y = floor(a / b);
    break;
  case 4:
    y = a == b;
    break;
  case 5:
    y = a >= b;
    break;
  case 6:
    y = a <= b;
    break;
  case 7:
    y = a > b;
    break;
  case 8:
    y = a < b;
    break;
  case 9:
    y = a != b;
    break;
  case 10:
    y = a - b * floor(a / b);
    break;
  }
  tc__import_out_number(p, 0, y);
}

static void sym_size(P *p, int kind) {
  (void)kind;
  V x = tc__import_tensor(p, "self");
  int64_t dim = normal(tc__import_int(p, "dim", 0), rank_of(x));
  tc__import_out_number(p, 0, dim >= 0 && dim < rank_of(x) ? (double)tc__import_type(x).shape[dim] : 0);
}

// ---- the table ----------------------------------------------------------------------------------------------------------------------------------------

static const struct {
  const char *name;
  tc__import_fn fn;
  int kind;
} table[] = {
    {"abs", unary, TC_OP_abs}, {"neg", unary, TC_OP_neg}, {"sign", unary, TC_OP_sign}, {"sgn", unary, TC_OP_sign}, {"ceil", unary, TC_OP_ceil},
    {"floor", unary, TC_OP_floor}, {"round", unary, TC_OP_round}, {"trunc", unary, TC_OP_trunc}, {"frac", unary, TC_OP_frac}, {"sqrt", unary, TC_OP_sqrt},
    {"rsqrt", unary, TC_OP_rsqrt}, {"reciprocal", unary, TC_OP_reciprocal}, {"square", unary, TC_OP_square}, {"exp", unary, TC_OP_exp},
    {"exp2", unary, TC_OP_exp2}, {"expm1", unary, TC_OP_expm1}, {"log", unary, TC_OP_log}, {"log2", unary, TC_OP_log2}, {"log10", unary, TC_OP_log10},
    {"log1p", unary, TC_OP_log1p}, {"sin", unary, TC_OP_sin}, {"cos", unary, TC_OP_cos}, {"tan", unary, TC_OP_tan}, {"asin", unary, TC_OP_asin},
    {"acos", unary, TC_OP_acos}, {"atan", unary, TC_OP_atan}, {"sinh", unary, TC_OP_sinh}, {"cosh", unary, TC_OP_cosh}, {"tanh", unary, TC_OP_tanh},
    {"asinh", unary, TC_OP_asinh}, {"acosh", unary, TC_OP_acosh}, {"atanh", unary, TC_OP_atanh}, {"erf", unary, TC_OP_erf}, {"erfc", unary, TC_OP_erfc},
    {"relu", unary, TC_OP_relu}, {"sigmoid", unary, TC_OP_sigmoid}, {"log_sigmoid", unary, TC_OP_log_sigmoid}, {"silu", unary, TC_OP_silu},
    {"mish", unary, TC_OP_mish}, {"hardsigmoid", unary, TC_OP_hardsigmoid}, {"hardswish", unary, TC_OP_hardswish},
    {"logical_not", unary, TC_OP_logical_not}, {"bitwise_not", unary, TC_OP_bitwise_not}, {"isnan", unary, TC_OP_isnan}, {"isinf", unary, TC_OP_isinf},
    {"isfinite", unary, TC_OP_isfinite}, {"gelu", gelu, TC_OP_gelu}, {"leaky_relu", leaky_relu, TC_OP_leaky_relu}, {"elu", elu, TC_OP_elu},
    {"softplus", softplus, TC_OP_softplus}, {"hardtanh", clamp, TC_OP_relu}, {"clamp", clamp, TC_OP_clamp}, {"clamp_min", clamp, TC_OP_clamp},
    {"clamp_max", clamp, TC_OP_clamp}, {"clip", clamp, TC_OP_clamp},
    {"add", binary, TC_OP_add}, {"sub", binary, TC_OP_sub}, {"mul", binary, TC_OP_mul}, {"div", binary, TC_OP_div}, {"true_divide", binary, TC_OP_div},
    {"floor_divide", binary, TC_OP_div_floor}, {"remainder", binary, TC_OP_remainder}, {"fmod", binary, TC_OP_fmod}, {"maximum", binary, TC_OP_maximum},
    {"minimum", binary, TC_OP_minimum}, {"fmax", binary, TC_OP_fmax}, {"fmin", binary, TC_OP_fmin}, {"atan2", binary, TC_OP_atan2},
    {"eq", binary, TC_OP_eq}, {"ne", binary, TC_OP_ne}, {"lt", binary, TC_OP_lt}, {"le", binary, TC_OP_le}, {"gt", binary, TC_OP_gt},
    {"ge", binary, TC_OP_ge}, {"logical_and", binary, TC_OP_logical_and}, {"logical_or", binary, TC_OP_logical_or},
    {"logical_xor", binary, TC_OP_logical_xor}, {"bitwise_and", binary, TC_OP_bitwise_and}, {"bitwise_or", binary, TC_OP_bitwise_or},
    {"bitwise_xor", binary, TC_OP_bitwise_xor}, {"__and__", binary, TC_OP_bitwise_and}, {"__or__", binary, TC_OP_bitwise_or},
    {"__xor__", binary, TC_OP_bitwise_xor}, {"rsub", rsub, TC_OP_sub}, {"pow", power, TC_OP_pow}, {"where", where, TC_OP_where},
    {"masked_fill", masked_fill, TC_OP_where},
    {"to", same, 0}, {"_to_copy", same, 0}, {"type_as", same, 0}, {"contiguous", same, 0}, {"detach", same, 0}, {"alias", same, 0},
    {"lift_fresh_copy", copy_of, 0}, {"lift_fresh", same, 0}, {"dropout", dropout, 0}, {"feature_dropout", dropout, 0}, {"native_dropout", dropout, 0},
    {"clone", copy_of, 0}, {"copy", copy_into, 0}, {"fill", fill, 0}, {"zero", fill, 0}, {"view_as", reshape, 0}, {"float", same, 0},
    {"view", reshape, 0}, {"reshape", reshape, 0}, {"_unsafe_view", reshape, 0}, {"flatten", reshape, 0}, {"unflatten", reshape, 0},
    {"unsqueeze", reshape, 0}, {"squeeze", reshape, 0}, {"reshape_as", reshape, 0}, {"expand", expand, 0}, {"expand_as", expand, 0},
    {"broadcast_to", expand, 0}, {"permute", permute, 0}, {"transpose", permute, 1}, {"swapaxes", permute, 2}, {"t", permute, 3},
    {"slice", slice, 0}, {"narrow", narrow, 0}, {"select", select_, 0}, {"unbind", split, 1}, {"split", split, 0}, {"split_with_sizes", split, 0},
    {"chunk", split, 0}, {"cat", concat, 0}, {"concat", concat, 0}, {"concatenate", concat, 0}, {"stack", concat, 1}, {"pad", pad, 0},
    {"constant_pad_nd", pad, 1}, {"flip", flip_roll, TC_OP_flip}, {"roll", flip_roll, TC_OP_roll}, {"repeat", repeat, 0}, {"tile", repeat, 1},
    {"repeat_interleave", repeat_interleave, 0}, {"unfold", unfold, 0}, {"tril", triangle, TC_OP_tril}, {"triu", triangle, TC_OP_triu}, {"diff", diff, 0},
    {"zeros", full, 0}, {"ones", full, 1}, {"full", full, 2}, {"zeros_like", full, 0}, {"ones_like", full, 1}, {"full_like", full, 2},
    {"new_zeros", full, 0}, {"new_ones", full, 1}, {"new_full", full, 2}, {"empty", full, 0}, {"empty_like", full, 0}, {"new_empty", full, 0},
    {"scalar_tensor", full, 3}, {"arange", arange, 0}, {"eye", eye, 0},
    {"sum", reduce, TC_OP_sum}, {"prod", reduce, TC_OP_prod}, {"mean", reduce, TC_OP_mean}, {"amax", reduce, TC_OP_amax}, {"amin", reduce, TC_OP_amin},
    {"var", reduce, TC_OP_var}, {"any", reduce, TC_OP_any}, {"all", reduce, TC_OP_all}, {"logsumexp", reduce, TC_OP_logsumexp},
    {"linalg_vector_norm", reduce, TC_OP_norm}, {"norm", reduce, TC_OP_norm}, {"max", extreme, TC_OP_amax}, {"min", extreme, TC_OP_amin},
    {"argmax", arg_extreme, TC_OP_argmax}, {"argmin", arg_extreme, TC_OP_argmin}, {"cumsum", scan, TC_OP_cumsum}, {"cumprod", scan, TC_OP_cumprod},
    {"softmax", softmax, TC_OP_softmax}, {"_softmax", softmax, TC_OP_softmax}, {"log_softmax", softmax, TC_OP_log_softmax},
    {"_log_softmax", softmax, TC_OP_log_softmax}, {"sort", sort, TC_OP_sort}, {"topk", sort, TC_OP_topk},
    {"matmul", matmul, 0}, {"mm", matmul, 0}, {"bmm", matmul, 0}, {"mv", matmul, 0}, {"addmm", addmm, 0}, {"baddbmm", addmm, 1},
    {"linear", linear, TC_OP_linear}, {"conv1d", convolution, 0}, {"conv2d", convolution, 0}, {"conv3d", convolution, 0}, {"convolution", convolution, 0},
    {"conv_transpose1d", convolution, 1}, {"conv_transpose2d", convolution, 1}, {"conv_transpose3d", convolution, 1}, {"einsum", einsum, 0},
    {"scaled_dot_product_attention", attention, TC_OP_attention},
    {"max_pool1d", pool, TC_OP_max_pool}, {"max_pool2d", pool, TC_OP_max_pool}, {"max_pool3d", pool, TC_OP_max_pool},
    {"max_pool2d_with_indices", pool, TC_OP_max_pool_with_indices}, {"avg_pool1d", pool, TC_OP_avg_pool}, {"avg_pool2d", pool, TC_OP_avg_pool},
    {"avg_pool3d", pool, TC_OP_avg_pool}, {"adaptive_avg_pool1d", adaptive_pool, TC_OP_adaptive_avg_pool},
    {"adaptive_avg_pool2d", adaptive_pool, TC_OP_adaptive_avg_pool}, {"_adaptive_avg_pool2d", adaptive_pool, TC_OP_adaptive_avg_pool},
    {"adaptive_avg_pool3d", adaptive_pool, TC_OP_adaptive_avg_pool}, {"adaptive_max_pool2d", adaptive_pool, TC_OP_adaptive_max_pool},
    {"upsample_nearest1d", resize, 0}, {"upsample_nearest2d", resize, 0}, {"upsample_nearest3d", resize, 0}, {"upsample_linear1d", resize, 1},
    {"upsample_bilinear2d", resize, 1}, {"upsample_trilinear3d", resize, 1}, {"upsample_bicubic2d", resize, 2}, {"_upsample_nearest_exact2d", resize, 3},
    {"_upsample_bicubic2d_aa", resize, 2}, {"_upsample_bilinear2d_aa", resize, 1}, {"im2col", columns, TC_OP_im2col}, {"col2im", columns, TC_OP_col2im},
    {"batch_norm", norm, TC_OP_batch_norm}, {"_native_batch_norm_legit_no_training", norm, TC_OP_batch_norm}, {"layer_norm", norm, TC_OP_layer_norm},
    {"native_layer_norm", norm, TC_OP_layer_norm}, {"group_norm", norm, TC_OP_group_norm}, {"rms_norm", norm, TC_OP_rms_norm},
    {"embedding", embedding, TC_OP_embedding}, {"gather", gather, TC_OP_gather}, {"index_select", gather, TC_OP_index_select}, {"index", index_, TC_OP_index},
    {"index_put", index_put, TC_OP_index_put}, {"scatter", scatter, 0}, {"scatter_add", scatter, 1}, {"scatter_reduce", scatter, 0},
    {"index_add", index_add, TC_OP_index_add}, {"histc", histc, TC_OP_histc}, {"mse_loss", mse_loss, 0},
    {"operator.add", number, 0}, {"operator.sub", number, 1}, {"operator.mul", number, 2}, {"operator.floordiv", number, 3}, {"operator.eq", number, 4},
    {"operator.ge", number, 5}, {"operator.le", number, 6}, {"operator.gt", number, 7}, {"operator.lt", number, 8}, {"operator.ne", number, 9},
    {"operator.mod", number, 10}, {"sym_size", sym_size, 0},
};

tc__import_fn tc__import_find(const char *name, int *out_kind) {
  for (size_t i = 0; i < TC_COUNTOF(table); i++)
    if (strcmp(table[i].name, name) == 0) {
      *out_kind = table[i].kind;
      return table[i].fn;
    }
  return NULL;
}

const char *tc__import_suggest(const char *name) {
  const char *names[TC_COUNTOF(table)];
  for (size_t i = 0; i < TC_COUNTOF(table); i++)
    names[i] = table[i].name;
  return tc__did_you_mean(name, names, TC_COUNTOF(table));
}
